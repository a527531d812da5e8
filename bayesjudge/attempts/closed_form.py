r"""Closed forms: unbiased pass@k and pass^k from truths, and through a judge that errs.

Of c passes among n attempts at a task, C(c, k)/C(n, k) has the mean p^k if the success of each is p
(Chen et al. 2021; Yao et al. 2024); (c/n)^k has not. A judge with sensitivity and specificity whose
errors are independent passes an attempt with probability q = 1 - sp + J p, J = se + sp - 1, so that
p^k is a polynomial of q, whose powers verdicts estimate in the same way:

.. math:: E\, p^k = J^{-k} \sum_{j=0}^k \binom{k}{j} (-(1 - sp))^{k-j}\, E\, q^j

Every interval leaves out one task after another: tasks are the sample, whatever attempts, labels
and costs each has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.attempts.data import Attempts
from bayesjudge.core import methods
from bayesjudge.core.counting import distinct
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
from bayesjudge.core.intervals import wilson_by_units
from bayesjudge.core.methods import Method
from bayesjudge.verdicts.reading import GOOD, UNLABELLED

SOURCE = "Chen et al. (2021), Eq. 1, and Yao et al. (2024), Section 3; jackknife over tasks"
INDEPENDENT_TASKS = Assumption.of("independent-items", "tasks")
INDEPENDENT_ERRORS = Assumption.of("independent-attempts")
NO_SUCCESS = (
    "what a success costs is not known of an agent that succeeds at no task, or at one task only"
)
SIGNS = np.array([-1, 1])
#: Names of the two chances in results.
CHANCES = ("pass_at_k", "pass_hat_k")

#: What is summed over the tasks of one agent: the last axis is of tasks.
Sums = Mapping[str, np.ndarray]
Statistic = Callable[[Sums, Attempts], np.ndarray]


class LeftOut(NamedTuple):
    """A statistic of sums over tasks, and what it is without each task (its last axis)."""

    value: np.ndarray
    without: np.ndarray
    totals: Sums

    @property
    def error(self) -> np.ndarray:
        """The jackknife's standard error; unknown if one task decides whether there is a value."""
        n = self.without.shape[-1]
        if n < 2:
            return np.full_like(self.value, np.nan)
        with np.errstate(invalid="ignore"):
            away = self.without - self.without.mean(axis=-1, keepdims=True)
        return np.asarray(np.sqrt((n - 1) / n * (away**2).sum(axis=-1)))


def by_judge(attempts: Attempts, *, ci_prob: float = 0.95) -> Estimate:
    """pass@k and pass^k as the judge has them, which no label corrects.

    Parameters
    ----------
    attempts : Attempts
        Verdicts by task.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``pass_at_k`` and ``pass_hat_k`` by agent and k, unbiased for the judge's own verdicts;
        ``nan`` where no task has k attempts.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.
    """
    return _estimate(attempts, methods.JUDGE_TRIES, _judged, ci_prob, ())


def from_truths(attempts: Attempts, *, ci_prob: float = 0.95) -> Estimate:
    """pass@k and pass^k from truths alone, unbiased.

    Parameters
    ----------
    attempts : Attempts
        Of which tasks with k labelled attempts or more are used.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``pass_at_k`` and ``pass_hat_k`` by agent and k; ``nan`` where no task has k labelled
        attempts.

    Raises
    ------
    InputError
        If labels do not tell the share of good attempts, or `ci_prob` is out of range.

    References
    ----------
    Chen et al. (2021), arXiv:2107.03374, Eq. 1. Yao et al. (2024), arXiv:2406.12045.

    Examples
    --------
    Of two tasks the agent does one in four attempts of four, the other in two.

    >>> cells = [[[[0, 0], [0, 4], [0, 0]]], [[[2, 0], [0, 2], [0, 0]]]]
    >>> made = from_truths(Attempts(cells, ["a", "b"], ["agent"], "random", k=(2,)))
    >>> round(made["pass_hat_k", 2].value, 3), round(made["pass_at_k", 2].value, 3)
    (0.583, 0.917)
    """
    tells = "prevalence" in attempts.design.identifies
    problem = f"labels {attempts.design.name!r} do not tell the share of good attempts"
    expect("attempts.from_truths", tells, problem)
    assumed = (attempts.design.assumption,) if attempts.judged else ()
    return _estimate(attempts, methods.TRUE_TRIES, _true, ci_prob, assumed, "truths")


def corrected(attempts: Attempts, *, ci_prob: float = 0.95) -> Estimate:
    """pass@k and pass^k through a judge whose errors are independent.

    Parameters
    ----------
    attempts : Attempts
        Verdicts by task, and labels that tell the judge's sensitivity and specificity.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at, the error of both rates in them.

    Returns
    -------
    Estimate
        ``pass_at_k`` and ``pass_hat_k`` by agent and k, clipped to [0, 1]; ``nan`` if the judge is
        no better than chance on the labels, or no task has k attempts. Errors that persist on a
        task make it wrong by up to 9 points at k = 4: see `bayesjudge.attempts.PersistentErrors`.

    Raises
    ------
    InputError
        If `ci_prob` is out of range.

    Examples
    --------
    A judge without errors leaves the number as it is.

    >>> cells = [[[[0, 0], [0, 4], [0, 0]]], [[[2, 0], [0, 2], [0, 0]]]]
    >>> made = corrected(Attempts(cells, ["a", "b"], ["agent"], "random", k=(2,)))
    >>> round(made["pass_hat_k", 2].value, 3)
    0.583
    """
    assumed = (attempts.design.assumption, INDEPENDENT_ERRORS)
    estimate = _estimate(attempts, methods.CORRECTED_TRIES, _corrected, ci_prob, assumed)
    return replace(estimate, cautions=(*estimate.cautions, *too_many(attempts)))


def too_many(attempts: Attempts) -> tuple[Caution, ...]:
    """Whether tasks are too many for the model, whose judge may repeat its errors."""
    many = Caution.of("no-quadrature", "many-attempts", tasks=len(attempts.tasks))
    return () if attempts.can_be_weighed else (many,)


def paired(attempts: Attempts, *, ci_prob: float = 0.95) -> Estimate:
    """Compare agents in pass@k and pass^k on the tasks that both tried.

    Parameters
    ----------
    attempts : Attempts
        Of two agents or more.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``pass_at_k_difference`` and ``pass_hat_k_difference`` by ``first``, ``second`` and ``k``,
        from truths if all attempts have one, and through the judge otherwise.

    Raises
    ------
    InputError
        If there is one agent, or `ci_prob` is out of range.
    """
    check_ci_prob(ci_prob)
    pairs = list(combinations(attempts.systems, 2))
    expect("attempts.paired", bool(pairs), "a difference takes two agents")
    rows: dict[str, dict[Any, Any]] = {f"{name}_difference": {} for name in CHANCES}
    chances, why = _true if attempts.known else _corrected, set()
    for pair in pairs:
        both = attempts.system(*pair)
        cells = both.cells[(both.tries > 0).all(axis=1)]
        first, second = (_leave_out(chances, cells[:, s], both, both.k) for s in (0, 1))
        gap = LeftOut(first.value - second.value, first.without - second.without, {})
        half = _t(len(cells), ci_prob)
        for (of, name), (i, k) in product(enumerate(CHANCES), enumerate(both.k)):
            value, error = gap.value[of, i], gap.error[of, i]
            why.add(_lacks(value, [first.totals, second.totals], f"passes_{k}"))
            ends = value + half * error * SIGNS
            ends = SIGNS if np.isfinite(value) > np.isfinite(error) else ends
            inside = np.clip([value, *ends], -1, 1)
            rows[f"{name}_difference"][(*pair, k)] = (*inside, value)
    assumed = () if attempts.known else (INDEPENDENT_ERRORS,)
    about = (methods.PAIRED_TRIES, ci_prob, "t", assumed)
    return _of_rows(attempts, rows, ("first", "second", "k"), why, *about)


def cost_per_success(attempts: Attempts, *, ci_prob: float = 0.95) -> Estimate:
    """What a success costs, by task, if an agent stops at its first one or after k tries.

    Parameters
    ----------
    attempts : Attempts
        With costs.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    Estimate
        ``cost_per_success`` by agent and k: the mean cost of an attempt, times the tries that are
        made (1 + (1 - pass@1) + … + (1 - pass@(k-1))), by pass@k; from truths if all attempts have
        one, and through the judge otherwise. At k = 1 the cost of an attempt by its success.

    Raises
    ------
    InputError
        If there are no costs, or `ci_prob` is out of range.
    """
    check_ci_prob(ci_prob)
    problem = "no attempt has a cost; name its column (cost=)"
    expect("attempts.cost_per_success", attempts.cost is not None, problem)
    chances = _true if attempts.known else _corrected
    every = tuple(range(1, max(attempts.k) + 1))
    rows: dict[Any, Any] = {}
    why = set()
    for s, name in enumerate(attempts.systems):
        there = attempts.tries[:, s] > 0
        paid = attempts.cost[there, s]
        tries = _leave_out(chances, attempts.cells[there, s], attempts, every, _tries_by_success)
        cost = LeftOut(paid.sum() * tries.value, (paid.sum() - paid) * tries.without, tries.totals)
        for k in attempts.k:
            value, error = cost.value[k - 1], cost.error[k - 1]
            known = value > 0 and np.isfinite(error)
            if not known:
                why.add(_lacks(value, [cost.totals], f"passes_{k}") or "not-computed")
            spread = np.exp(_t(there.sum(), ci_prob) * error / value) if known else np.nan
            ends = (value / spread, value * spread)
            rows[(*attempts._named(name), k)] = (value if known else np.nan, *ends)
    assumed = () if attempts.known else (INDEPENDENT_ERRORS,)
    about = (methods.COST_BY_TASK, ci_prob, "log-normal", assumed)
    return _of_rows(attempts, {"cost_per_success": rows}, _dims(attempts), why, *about)


def closed_forms(attempts: Attempts, *, ci_prob: float = 0.95) -> tuple[Estimate, ...]:
    """Make every closed form that suits the data.

    Parameters
    ----------
    attempts : Attempts
        Verdicts and truths by task.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.

    Returns
    -------
    tuple of Estimate
        The judge's own numbers, from truths, corrected, differences of agents and costs, as far as
        there are such.
    """
    makers: list[Callable[..., Estimate]] = []
    if attempts.judged:
        makers += [by_judge, corrected]
    if "prevalence" in attempts.design.identifies:
        makers.append(from_truths)
    if attempts.paired:
        makers.append(paired)
    if attempts.cost is not None:
        makers.append(cost_per_success)
    return tuple(make(attempts, ci_prob=ci_prob) for make in makers)


def unbiased(passes: Any, attempts: Any, k: int) -> np.ndarray:
    """C(c, k)/C(n, k): the share of sets of k attempts of which all passed; 0 if n < k."""
    c, n = (np.asarray(x, float) for x in (passes, attempts))
    share = np.where(n >= k, 1.0, 0.0)
    for i in range(k):
        share = share * np.maximum(c - i, 0) / np.maximum(n - i, 1)
    return share


def _sums(cells: np.ndarray, ks: Sequence[int]) -> dict[str, np.ndarray]:
    """What is summed over the tasks of one agent, each of shape (…, n_tasks)."""
    known, tries = cells[:, :UNLABELLED], cells.sum(axis=(1, 2))
    right, labelled = known[:, GOOD].sum(axis=1), known.sum(axis=(1, 2))
    sums = {"n": tries[None], "passes": cells[..., 1].sum(axis=1)[None]}
    sums["labels"] = known.reshape(len(cells), 4).T
    for k in ks:
        there = tries >= k
        for name, c in (("passes", sums["passes"][0]), ("fails", tries - sums["passes"][0])):
            powers = [np.where(there, unbiased(c, tries, j), 0.0) for j in range(k + 1)]
            sums[f"{name}_{k}"] = np.stack(powers)
        of_truths = [labelled >= k]
        of_truths += [unbiased(c, labelled, k) for c in (right, labelled - right)]
        sums[f"truths_{k}"] = np.stack(of_truths).astype(float)
    return sums


def _judged(sums: Sums, attempts: Attempts) -> np.ndarray:
    """pass@k and pass^k of the verdicts: by chance, k and task."""
    with np.errstate(invalid="ignore", divide="ignore"):
        never, always = (
            np.stack([sums[f"{name}_{k}"][k] / sums[f"{name}_{k}"][0] for k in _ks(sums)])
            for name in ("fails", "passes")
        )
    return np.stack([1 - never, always])


def _true(sums: Sums, attempts: Attempts) -> np.ndarray:
    """The same of the truths."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [sums[f"truths_{k}"][1:] / sums[f"truths_{k}"][0] for k in _ks(sums)]
    always, never = np.stack(shares, axis=1)
    return np.stack([1 - never, always])


def _corrected(sums: Sums, attempts: Attempts) -> np.ndarray:
    """The same through the judge: powers of p as polynomials of those of q."""
    hit, right = _rates(sums, attempts)
    gain = hit + right - 1
    gain = np.where(gain > 0, gain, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        never, always = (
            np.stack([_power(sums[f"{name}_{k}"], wrong, gain, k) for k in _ks(sums)])
            for name, wrong in (("fails", 1 - hit), ("passes", 1 - right))
        )
    return np.stack([1 - never, always])


def _power(powers: np.ndarray, wrong: np.ndarray, gain: np.ndarray, k: int) -> np.ndarray:
    """E p^k, of sums of q^j over tasks and the probability that the judge errs so."""
    total, ways = np.zeros_like(gain), 1.0
    for j in range(k + 1):  # by Horner's rule
        total = ways * powers[j] - wrong * total
        ways = ways * (k - j) / (j + 1)
    return total / powers[0] / gain**k


def _rates(sums: Sums, attempts: Attempts) -> tuple[np.ndarray, np.ndarray]:
    """Sensitivity and specificity that the labels tell."""
    bad_fail, bad_pass, good_fail, good_pass = sums["labels"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if "error_rates" in attempts.design.identifies:
            return good_pass / (good_pass + good_fail), bad_fail / (bad_pass + bad_fail)
        passed = sums["passes"][0] / sums["n"][0]
        ppv, npv = good_pass / (good_pass + bad_pass), bad_fail / (bad_fail + good_fail)
        good = ppv * passed + (1 - npv) * (1 - passed)
        return ppv * passed / good, npv * (1 - passed) / (1 - good)


def _ks(sums: Sums) -> list[int]:
    return [int(name.removeprefix("truths_")) for name in sums if name.startswith("truths_")]


def _leave_out(
    chances: Statistic,
    cells: np.ndarray,
    attempts: Attempts,
    ks: Sequence[int],
    then: Callable[[np.ndarray, Sums], np.ndarray] = lambda chances, sums: chances,
) -> LeftOut:
    """Chances of one agent, or what follows from them, of all its tasks and without each.

    Tasks with the same counts are looked at once.
    """
    kinds, kind_of_task = distinct(cells.reshape(len(cells), math.prod(cells.shape[1:])))
    parts = _sums(cells[kinds], ks)
    tasks = np.bincount(kind_of_task, minlength=len(kinds))
    totals = {name: (part * tasks).sum(axis=-1, keepdims=True) for name, part in parts.items()}
    left = {name: totals[name] - part for name, part in parts.items()}
    value, without = (then(chances(sums, attempts), sums) for sums in (totals, left))
    return LeftOut(value[..., 0], without[..., kind_of_task], totals)


def _tries_by_success(chances: np.ndarray, sums: Sums) -> np.ndarray:
    """By k: tries until a success or the k-th one, by pass@k and by the number of all attempts."""
    solved = chances[0]
    failed = np.cumsum(1 - solved, axis=0) - (1 - solved)  # with fewer than k tries
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((1 + failed) / solved / sums["n"])


def _t(tasks: Any, ci_prob: float) -> float:
    """Quantile of Student's distribution with so many tasks."""
    from scipy.special import stdtrit

    return float(stdtrit(max(int(tasks) - 1, 1), (1 + ci_prob) / 2))


def _share(
    raw: float, error: float, tasks: float, ci_prob: float
) -> tuple[float, float, float, float]:
    """A share in [0, 1], with the Wilson interval of as many tasks as its error is worth."""
    if not np.isfinite(raw):
        return np.nan, np.nan, np.nan, raw
    value = min(max(raw, 0.0), 1.0)
    if not np.isfinite(error) or tasks < 2:
        return value, 0.0, 1.0, raw
    inside = min(max(value, 0.5 / tasks), 1 - 0.5 / tasks)  # at 0 and 1 tasks alone say how sure
    alike = error == 0 or value in (0, 1)
    worth = tasks if alike else inside * (1 - inside) / error**2
    return *wilson_by_units(value, worth, int(tasks), ci_prob), raw


def _lacks(chance: float, totals: Collection[Sums], tried: str) -> str:
    """Id of the caution that says why a chance is ``nan``, if it is."""
    if not np.isnan(chance):
        return ""
    return "weak-judge" if all(total[tried][0].any() for total in totals) else "few-attempts"


def _cautions(attempts: Attempts, why: Collection[str]) -> tuple[Caution, ...]:
    """Why some entries have no value, if any, and how many attempts were left out."""
    said = {
        "few-attempts": few_attempts(attempts),
        "weak-judge": Caution.of("weak-judge", "attempts"),
        "not-computed": Caution.of("not-computed", why=NO_SUCCESS),
    }
    return (*(caution for id, caution in said.items() if id in why), *left_out(attempts))


def few_attempts(attempts: Attempts) -> Caution:
    """Say that no task has as many attempts as the largest number of tries."""
    several = "several" if len(attempts.systems) > 1 else "one"
    return Caution.of("few-attempts", several, k=max(attempts.k))


def left_out(attempts: Attempts) -> Iterator[Caution]:
    """Say how many attempts without a verdict were dropped, if any."""
    n, what = int(attempts.dropped.sum()), "a verdict" if attempts.judged else "an outcome"
    if n:
        yield Caution.of("unparsed-verdicts", "attempts", n=n, what=what)


def _dims(attempts: Attempts) -> tuple[str, ...]:
    return ("system", "k") if len(attempts.systems) > 1 else ("k",)


def _estimate(
    attempts: Attempts,
    method: Method,
    chances: Statistic,
    ci_prob: float,
    assumed: tuple[Assumption, ...],
    of_tasks: str = "passes",
) -> Estimate:
    """Both chances of each agent at each k, with their intervals over tasks."""
    check_ci_prob(ci_prob)
    rows: dict[str, dict[Any, Any]] = {name: {} for name in CHANCES}
    why = set()
    for s, system in enumerate(attempts.systems):
        cells = attempts.cells[attempts.tries[:, s] > 0, s]
        share = _leave_out(chances, cells, attempts, attempts.k)
        for (of, name), (i, k) in product(enumerate(CHANCES), enumerate(attempts.k)):
            value, error, tried = share.value[of, i], share.error[of, i], f"{of_tasks}_{k}"
            why.add(_lacks(value, [share.totals], tried))
            tasks = float(share.totals[tried][0].sum())
            rows[name][(*attempts._named(system), k)] = _share(value, error, tasks, ci_prob)
    about = (method, ci_prob, "Wilson, effective number of tasks", assumed)
    return _of_rows(attempts, rows, _dims(attempts), why, *about)


def _of_rows(
    attempts: Attempts,
    rows: dict[str, dict[Any, Any]],
    dims: tuple[str, ...],
    why: Collection[str],
    method: Method,
    ci_prob: float,
    interval: str,
    assumed: tuple[Assumption, ...],
) -> Estimate:
    return Estimate(
        {name: Quantity.of_rows(entries, dims) for name, entries in rows.items()},
        method=method,
        ci_prob=ci_prob,
        source=SOURCE,
        interval=interval,
        assumptions=(INDEPENDENT_TASKS, *assumed),
        cautions=_cautions(attempts, why),
        data=attempts,
    )
