"""What a run of `sample_until` is after, and what it may spend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesjudge.core.errors import checking
from bayesjudge.repeats.calls import Patience
from bayesjudge.repeats.rules import Method, next_batch


@dataclass(frozen=True)
class Plan:
    """What a run is after, and what it may spend.

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
    most_per_item : int, default 200
        Calls about one item after which it is left unsettled.
    budget_calls : int, optional
        Most attempts, over all runs on the arm, failed ones and retries counted.
    budget_cost : float, optional
        No call begins once this much is spent; those in flight then end, and may pass it.
    concurrency : int, default 8
        Calls in flight at once.
    patience : Patience
        Time-outs and retries.
    random_seed : int, default 0
        Of the jitter between retries; it changes no result.
    arm : str, default "main"
        Name of this run's answers in the store. Another prompt, model or parser, or other items,
        need another arm, or another file; budgets hold for each arm.

    Raises
    ------
    InputError
        Where a number is out of its range.
    """

    scale: Sequence[float]
    half_width: float
    ci_prob: float = 0.95
    method: Method = "dirichlet"
    pilot: int = 10
    batch: int = 10
    most_per_item: int = 200
    budget_calls: int | None = None
    budget_cost: float | None = None
    concurrency: int = 8
    patience: Patience = Patience()
    random_seed: int = 0
    arm: str = "main"

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", tuple(float(x) for x in self.scale))
        next_batch([], self.half_width, **self.rule)  # it checks what it is given
        with checking("repeats run") as require:
            for name in ("most_per_item", "concurrency"):
                value = getattr(self, name)
                require(value >= 1, f"{name} must be 1 or more, got {value!r}")
            named = isinstance(self.arm, str) and self.arm.strip() and self.arm.isprintable()
            require(named, f"arm must be a name, got {self.arm!r}")
            for name in ("budget_calls", "budget_cost"):
                value = getattr(self, name)
                require(value is None or value >= 0, f"{name} must be 0 or more, got {value!r}")

    @property
    def rule(self) -> dict[str, Any]:
        """Arguments of `next_batch`."""
        names = ("scale", "ci_prob", "method", "pilot", "batch")
        return {name: getattr(self, name) for name in names}
