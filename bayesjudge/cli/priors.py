"""The prior options of ``bayesjudge prevalence``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bayesjudge.core.priors import BetaPrior


class Priors(NamedTuple):
    """The priors that were asked for."""

    base: str | None
    beliefs: Mapping[str, str | None]
    better_than_chance: bool

    def of(self, predictive: bool, require: Any) -> dict[str, Any]:
        """Arguments of a model of error rates, or of predictive values."""
        given = {name: text for name, text in self.beliefs.items() if text is not None}
        for name in given if predictive else ():
            require(False, "no-prior-of", name=name)
        read = {name: belief(f"--prior-{name}", text, require) for name, text in given.items()}
        if not predictive:
            return self.joint | read
        return self._everywhere("pass_rate", "ppv", "npv")

    @property
    def joint(self) -> dict[str, Any]:
        """Arguments of a model of error rates, without beliefs about one of them."""
        return self._everywhere("prevalence", "sensitivity", "specificity")

    def _everywhere(self, *names: str) -> dict[str, Any]:
        """The prior of ``--prior`` for each of these; without one the model has its own."""
        prior = BetaPrior() if self.base == "flat" else BetaPrior.jeffreys()
        same = dict.fromkeys(names, prior) if self.base else {}
        return {"better_than_chance": self.better_than_chance, **same}

    @property
    def asked(self) -> list[str]:
        """The options that are not the default ones."""
        given = [f"--prior-{name}" for name, text in self.beliefs.items() if text is not None]
        given += ["--prior"] if self.base else []
        return given + ([] if self.better_than_chance else ["--no-better-than-chance"])


def belief(option: str, text: str, require: Any, example: str = "0.9:20") -> BetaPrior:
    """Read ``0.9:20``."""
    rate, _, n = text.partition(":")
    try:
        return BetaPrior.worth(rate=float(rate), n=float(n))
    except ValueError as error:  # an InputError is one too
        wrong = getattr(error, "message", f"write rate:n, for example {example}")
        require(False, f"{option} {text}: {wrong}")
        return BetaPrior()
