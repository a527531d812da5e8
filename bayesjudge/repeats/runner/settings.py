"""Settings of a run of `sample_until`: precision, budgets, retries."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesjudge.core.errors import checking, expect
from bayesjudge.repeats.planning import required_repeats
from bayesjudge.repeats.stopping_rules import Method, next_batch


@dataclass(frozen=True)
class RetryPolicy:
    """Time-outs of calls, and further attempts after one that failed.

    Parameters
    ----------
    timeout : float, default 60
        Seconds after which a call is given up.
    retries : int, default 4
        Further attempts after one that failed.
    first_delay, longest_delay : float, default 1, 60
        Seconds before the first of them, which double, and the most.
    failures_in_a_row : int, default 20
        Calls that failed for good, with no answer between them, after which the run ends: then it
        is the connection, not the call.

    Raises
    ------
    InputError
        If a number is out of its range.
    """

    timeout: float = 60.0
    retries: int = 4
    first_delay: float = 1.0
    longest_delay: float = 60.0
    failures_in_a_row: int = 20

    def __post_init__(self) -> None:
        with checking("repeats.runner.RetryPolicy") as require:
            require(self.timeout > 0, "must be positive", timeout=self.timeout)
            require(self.retries >= 0, "must be 0 or more", retries=self.retries)
            require(self.first_delay >= 0, "must be 0 or more", first_delay=self.first_delay)
            require(
                self.failures_in_a_row >= 1,
                "must be 1 or more",
                failures_in_a_row=self.failures_in_a_row,
            )

    def delay(self, attempt: int, dice: random.Random) -> float:
        """Draw the time to wait after the n-th attempt failed.

        Parameters
        ----------
        attempt : int
            From 1.
        dice : random.Random
            For the jitter, which keeps calls that failed together from trying again together.

        Returns
        -------
        float
            Between half and all of ``first_delay * 2 ** (attempt - 1)``, capped.
        """
        most = min(self.longest_delay, self.first_delay * 2.0 ** (attempt - 1))
        return most * dice.uniform(0.5, 1.0)


@dataclass(frozen=True)
class Settings:
    """Precision that a run is after, and what it may spend.

    Parameters
    ----------
    scale : sequence of float
        Every value that a judge can give, in rising order.
    half_width : float
        Wanted half-width of each item's mean, in the units of the scale.
    ci_prob : float, default 0.95
        Probability of its interval.
    method : {"dirichlet", "sequence", "t", "z"}
        The stopping rule; see `next_batch`.
    pilot, batch : int, default 10
        Readable scores before the first decision, and most calls at once about one item.
    expected_sd : float, optional
        Standard deviation of one item's scores in earlier runs, in the units of the scale: no
        decision is taken before as many scores as it would need (`required_repeats`).
    most_per_item : int, default 200
        Calls about one item after which it is left unsettled.
    budget_calls : int, optional
        Most attempts, over all runs on the arm, failed ones and retries counted.
    budget_cost : float, optional
        No call begins once this much is spent; those in flight then end, and may pass it.
    concurrency : int, default 8
        Calls in flight at once.
    retry : RetryPolicy
        Time-outs and retries.
    random_seed : int, default 0
        Of the jitter between retries; it changes no result.
    arm : str, default "main"
        Name of this run's answers in the store. Another prompt, model or parser, or other items,
        need another arm, or another file; budgets hold for each arm.

    Raises
    ------
    InputError
        If a number is out of its range.
    """

    scale: Sequence[float]
    half_width: float
    ci_prob: float = 0.95
    method: Method = "dirichlet"
    pilot: int = 10
    batch: int = 10
    expected_sd: float | None = None
    most_per_item: int = 200
    budget_calls: int | None = None
    budget_cost: float | None = None
    concurrency: int = 8
    retry: RetryPolicy = RetryPolicy()
    random_seed: int = 0
    arm: str = "main"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(float(x) for x in self.scale))
        sd = self.expected_sd
        expect("repeats run", sd is None or sd >= 0, "must be 0 or more", expected_sd=sd)
        next_batch([], self.half_width, **self.rule)  # it checks what it is given
        with checking("repeats run") as require:
            for name in ("most_per_item", "concurrency"):
                value = getattr(self, name)
                require(value >= 1, "must be 1 or more", **{name: value})
            named = isinstance(self.arm, str) and self.arm.strip() and self.arm.isprintable()
            require(named, "must be a name", arm=self.arm)
            for name in ("budget_calls", "budget_cost"):
                value = getattr(self, name)
                require(value is None or value >= 0, "must be 0 or more", **{name: value})

    @property
    def rule(self) -> dict[str, Any]:
        """Arguments of `next_batch`."""
        names = ("scale", "ci_prob", "method", "pilot", "batch")
        rule = {name: getattr(self, name) for name in names}
        if self.expected_sd is not None:
            first = required_repeats(self.expected_sd, self.half_width, ci_prob=self.ci_prob)
            rule["pilot"] = max(self.pilot, min(first, self.most_per_item))
        return rule
