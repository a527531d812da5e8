"""Models as values: `BayesianModel`, whose fields are its priors and options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import singledispatch
from typing import TYPE_CHECKING, Any, ClassVar

from bayesjudge.core.errors import InputError, Problem, Require, checking, expect, problem
from bayesjudge.core.estimate import Caution, Diagnosis, Interval, Target, of_passes
from bayesjudge.core.methods import NUTS, Method
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.public import public_name
from bayesjudge.core.screen import few
from bayesjudge.core.words import words_for

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm
    import xarray as xr

#: Priors and options as a reader knows them, for `of_passes`.
WORDS = words_for("models")


@dataclass(frozen=True)
class BayesianModel:
    """A model as a frozen value: every field is a prior or an option that its density reads."""

    #: Settings of the sampler that suit the model better than the package's defaults.
    sampling: ClassVar[Mapping[str, Any]] = {}
    #: Methods by which a module draws from the posterior too, without a sampler.
    _drawn_at_once: ClassVar[tuple[Method, ...]] = ()
    #: Whether mode and curvature are near the posterior: of a hierarchy with few data they are not.
    _has_preview: ClassVar[bool] = True
    #: Which items the posterior's draws are about.
    _drawn_about: ClassVar[Target] = "population"
    #: Where the estimator comes from, for a report.
    _source: ClassVar[str]
    #: Kind of interval that a fit shows unless another is asked for.
    _interval: ClassVar[Interval] = "eti"
    #: Words for fields that mean something of their own in this model.
    _words: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        with checking(type(self).__name__) as require:
            for field in fields(self):
                if "BetaPrior" not in str(field.type):
                    continue
                value, by_label = getattr(self, field.name), "Mapping" in str(field.type)
                if value is None and "None" in str(field.type):
                    continue
                values = value.values() if by_label and isinstance(value, Mapping) else [value]
                for wrong in [v for v in values if not isinstance(v, BetaPrior)]:
                    remedy = f"BetaPrior.worth({wrong!r}, n), worth n labels"
                    named = f" or a mapping of them by {field.metadata.get('by', 'name')}"
                    require(
                        False,
                        f"{field.name} expected a BetaPrior{named if by_label else ''}, got "
                        f"{wrong!r}; write for example "
                        f"{remedy if isinstance(wrong, float | int) else 'BetaPrior(2, 1)'}",
                    )

    @classmethod
    def public_name(cls) -> str:
        """Name the class as users import it."""
        return public_name(cls)

    def describe(self) -> dict[str, str]:
        """Put priors and options in words, for a report."""
        return {field.name: _in_words(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        return self._joined(self.describe())

    def _words_for(self, data: Any) -> str:
        """Priors and options in words, but for those that the graph of `data` has no use for."""
        unread = self._unread(data)
        return self._joined({k: words for k, words in self.describe().items() if k not in unread})

    def _joined(self, texts: Mapping[str, str], pass_name: str = "") -> str:
        words = {name: name.replace("_", " ") for name in texts} | WORDS | dict(self._words)
        return "; ".join(f"{of_passes(words[k], pass_name)} {text}" for k, text in texts.items())

    def _unread(self, data: Any) -> Collection[str]:
        """Fields that the graph of `data` does not read: of several judges, if there is one."""
        return ()

    @property
    def _method(self) -> Method:
        """Name of the estimator, for a report."""
        return NUTS

    def _suits(self, data: Any, require: Require) -> None:
        """Note why the model cannot be had from these data."""

    def _require_priors(self, require: Require, **known: Sequence[str]) -> None:
        """Note what has no prior, and priors of what is not there: of systems, say, by name."""
        for field in fields(self):
            prior = getattr(self, field.name)
            if isinstance(prior, Mapping):
                names = list(known[field.metadata["by"]])
                missing = [name for name in names if name not in prior]
                strange = [name for name in prior if name not in names]
                require(not missing, f"{field.name} has no prior for {missing}")
                about = {"name": field.name, "strange": strange, "names": names}
                require(not strange, "other-priors", **about)

    def _quantities(self, data: Any) -> tuple[str, ...]:
        """Variables of the posterior that answer the question."""
        return ("prevalence",)

    def _diagnosis(self, data: Any) -> Diagnosis:
        """What must hold for the answer to mean what it says, and what data say against it."""
        return (), ()

    def _cautions_of_fit(self, fit: Any) -> tuple[Caution, ...]:
        """What draws say against the model, or against their own arithmetic."""
        return ()

    def _sampling(self, data: Any) -> Mapping[str, Any]:
        """Settings of the sampler that suit the model of these data."""
        return self.sampling

    def _build(self, data: Any) -> pm.Model:
        """Build the model of the text: natural parameters as named random variables."""
        raise NotImplementedError

    def _pymc_model(self, data: Any, collapsed: bool = True) -> pm.Model:
        """Build what a user may compile."""
        return self._build(data) if collapsed else self._uncollapsed(data)

    def _sampling_form(self, data: Any) -> pm.Model | None:
        """Build what NUTS runs in its place: the same density in other coordinates.

        Every variable of the model of the text is one of its variables too, by the same name. None
        if NUTS runs the model of the text itself.
        """
        return None

    def _uncollapsed(self, data: Any) -> pm.Model:
        """Build the model with every latent truth a variable of its own: for small data."""
        name = type(self).__name__
        raise InputError(name, [problem("no-latent-variable", name=name)])

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

    def _bounds(self, fit: Any, ci_prob: float, target: Target) -> dict[str, np.ndarray]:
        """By quantity, value, low and high of each entry, if data bound some, and ``nan`` if not.

        A value of ``nan`` beside two limits is one that the prior would decide.
        """
        return {}

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

    def _about_population(self, fit: Any, rng: np.random.Generator) -> dict[str, np.ndarray] | None:
        """For ``target="population"``, of a model whose draws are about these items."""
        return None


@singledispatch
def model_of(data: Any, model: Any = None, subject: str = "model") -> Any:
    """The model of the data, the default one if none is given; an error if it does not suit them.

    Each module registers its own for its data class.
    """
    raise InputError(subject, [problem("not-data", kind=type(data).__name__)])


def with_default(
    data_class: type, default: Callable[[Any], BayesianModel]
) -> Callable[[Any, Any, str], Any]:
    """Register the models of a data class: `default` makes one of data, `_suits` refuses others."""

    def suited(data: Any, model: Any = None, subject: str = "model") -> Any:
        require_model(data_class, model, subject)
        chosen = default(data) if model is None else model
        with checking(subject) as require:
            chosen._suits(data, require)
        return chosen

    return model_of.register(data_class, suited)


def require_model(data_class: type, model: Any, subject: str) -> None:
    """Refuse what is no model of a data class; one of another package says by itself what suits."""
    if model is None:
        return
    package = data_class.__module__.rpartition(".")[0] or data_class.__module__
    named = vars(sys.modules[package])  # what is imported when it is first named holds no models
    exported = [named.get(name) for name in named.get("__all__", ())]
    models = tuple(t for t in exported if isinstance(t, type) and issubclass(t, BayesianModel))
    ours = type(model).__module__.startswith(f"{__package__.partition('.')[0]}.")
    known = isinstance(model, models if ours else BayesianModel)
    names = few([f"{each.__name__}()" for each in models if fields(each)])
    words = f"model={repr(model)[:60]}: expected a model of {data_class.__name__}: {names}"
    expect(subject, known, Problem(words, "no-model", "model", model))


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_in_words(part)}" for name, part in value.items()) + "}"
    if isinstance(value, bool):
        return "assumed" if value else "not assumed"
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
