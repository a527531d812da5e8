"""Models as values: `BayesianModel`, whose fields are its priors and options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.public import public_name

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr


@dataclass(frozen=True)
class BayesianModel:
    """A model as a frozen value: every field is a prior or an option that its density reads."""

    #: Settings of the sampler that suit the model better than the package's defaults.
    sampling: ClassVar[Mapping[str, Any]] = {}

    def __post_init__(self) -> None:
        with checking(type(self).__name__) as require:
            for one in fields(self):
                if "BetaPrior" not in str(one.type):
                    continue
                value, by_label = getattr(self, one.name), "Mapping" in str(one.type)
                if value is None and "None" in str(one.type):
                    continue
                values = value.values() if by_label and isinstance(value, Mapping) else [value]
                for wrong in [v for v in values if not isinstance(v, BetaPrior)]:
                    remedy = f"BetaPrior.worth({wrong!r}, n), worth n labels"
                    named = f" or a mapping of them by {one.metadata.get('by', 'name')}"
                    require(
                        False,
                        f"{one.name} expected a BetaPrior{named if by_label else ''}, got "
                        f"{wrong!r}; write for example "
                        f"{remedy if isinstance(wrong, float | int) else 'BetaPrior(2, 1)'}",
                    )

    @classmethod
    def public_name(cls) -> str:
        """Name the class as users import it."""
        return public_name(cls)

    def describe(self) -> dict[str, str]:
        """Put priors and options in words, for a report."""
        return {one.name: _in_words(getattr(self, one.name)) for one in fields(self)}

    def __str__(self) -> str:
        return _joined(self.describe())

    def _words_for(self, data: Any) -> str:
        """Priors and options in words, but for those that the graph of `data` has no use for."""
        unread = self._unread(data)
        return _joined({k: words for k, words in self.describe().items() if k not in unread})

    def _unread(self, data: Any) -> Collection[str]:
        """Fields that the graph of `data` does not read: of several judges, if there is one."""
        return ()

    def _build(self, data: Any) -> pm.Model:
        """Build the model of the text: natural parameters as named random variables."""
        raise NotImplementedError

    def _sampling_form(self, data: Any) -> pm.Model | None:
        """Build what NUTS runs in its place: the same density in other coordinates.

        Every variable of the model of the text is one of its variables too, by the same name. None
        if NUTS runs the model of the text itself.
        """
        return None

    def _uncollapsed(self, data: Any) -> pm.Model:
        """Build the model with every latent truth a variable of its own: for small data."""
        name = type(self).__name__
        raise InputError(name, [f"{name} has no latent variable that is summed out"])

    #: The observed variable of which each entry, or row, is one item.
    _by_item: ClassVar[str | None] = None

    def _item_log_likelihood(
        self, data: Any, draws: xr.Dataset
    ) -> tuple[xr.DataArray, np.ndarray] | None:
        """Log-likelihood of one item of each kind (dim ``kind`` last), and the items of each.

        None if an observed variable has the items one by one (`_by_item`), or if the data are not
        items, each with a likelihood of its own.
        """
        return None

    def _with_derived(self, data: Any, draws: xr.Dataset) -> xr.Dataset:
        """Add to draws, of posterior or prior, quantities that are computed after sampling."""
        return draws

    def _extended_to(
        self, fit: Any, ci_prob: float
    ) -> dict[str, tuple[np.ndarray, np.ndarray]] | None:
        """For ``"eti_bounded"``: by quantity, which intervals reach 0 and which reach 1."""
        return None

    def _exact_means(self, data: Any) -> dict[str, np.ndarray]:
        """Posterior means without sampling, by quantity: what draws of this model have to meet."""
        return {}

    def _states_priors(self) -> bool:
        """Whether somebody chose the priors: those that nobody chose expect little."""
        return self != type(self)()

    def _about_items(self, fit: Any, rng: np.random.Generator) -> dict[str, np.ndarray] | None:
        """For ``target="items"``: draws (chain, draw, …) of quantities that differ from those of
        the population, the truths of unlabelled items drawn too; None if there are none.
        """
        return None


@singledispatch
def model_of(data: Any, model: Any = None, subject: str = "model") -> Any:
    """The model of the data, the default one if none is given; an error if it does not suit them.

    Each module registers its own for its data class.
    """
    raise InputError(subject, [f"expected data of one of the modules, got {type(data).__name__}"])


def _joined(words: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {text}" for name, text in words.items())


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_in_words(one)}" for name, one in value.items()) + "}"
    return f"{value:g}" if isinstance(value, float) else str(value)
