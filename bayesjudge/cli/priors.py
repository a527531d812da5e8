"""The prior options of ``bayesjudge prevalence``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bayesjudge.core.priors import BetaPrior


class Priors(NamedTuple):
    """The priors that were asked for."""

    base: str
    beliefs: Mapping[str, str | None]
    better_than_chance: bool

    def of(self, predictive: bool, require: Any) -> dict[str, Any]:
        """Arguments of a model of error rates, or of predictive values."""
        base = BetaPrior.jeffreys() if self.base == "jeffreys" else BetaPrior()
        given = {name: text for name, text in self.beliefs.items() if text is not None}
        for name in given if predictive else ():
            words = "labels by verdict tell predictive values, and have no prior of the"
            require(False, f"--prior-{name}: {words} {name}")
        read = {name: _belief(name, text, require) for name, text in given.items()}
        rates: dict[str, Any] = {"better_than_chance": self.better_than_chance}
        if predictive:
            return rates | dict.fromkeys(("pass_rate", "ppv", "npv"), base)
        return rates | dict.fromkeys(("prevalence", "sensitivity", "specificity"), base) | read

    @property
    def asked(self) -> list[str]:
        """The options that are not the default ones."""
        given = [f"--prior-{name}" for name, text in self.beliefs.items() if text is not None]
        given += ["--prior"] if self.base != "flat" else []
        return given + ([] if self.better_than_chance else ["--no-better-than-chance"])


def _belief(name: str, text: str, require: Any) -> BetaPrior:
    """Read ``0.9:20``."""
    rate, _, n = text.partition(":")
    try:
        return BetaPrior.worth(rate=float(rate), n=float(n))
    except ValueError as error:  # an InputError is one too
        problems = getattr(error, "problems", ["write rate:n, for example 0.9:20"])
        require(False, f"--prior-{name} {text}: {'; '.join(problems)}")
        return BetaPrior()
