r"""The likelihood of a task's attempts: the unknown truths summed out, term by term.

An attempt's truth is unknown unless it is labelled. Attempts of one task and agent are alike but
for their verdict and label, so that a task is counts by kind of label and verdict, and a *term* is
one way to share out its unlabelled attempts: so many of the passes, and of the fails, are good. Its
probability is a product of two factors,

.. math:: \frac{B(a + g, b + n - g)}{B(a, b)} \quad\text{and}\quad
          (1 - \psi) \prod P(v \mid y) + \psi\, P(\text{one draw}),

the first of g good attempts among n at a task whose success is Beta(a, b), the second of the
verdicts: with probability ψ the judge errs on all good attempts of the task or on none, and so on
its bad ones. The first factor is mixed with that of tasks that are always or never done, which is 1
if g = n, or if g = 0, and else 0 (`success` has their shares). If some attempts have no verdict,
each lacks it by itself with a probability given its truth, and the second factor is of those that
have one. What each of several people said is no truth but a kind of label: a third factor has the
probability of each, given the truth that the term takes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.verdicts.labels import MISSING
from bayesjudge.verdicts.reading import BAD, GOOD

#: Kinds of label of one truth per attempt: bad, good and none.
PLAIN = np.array([[BAD], [GOOD], [MISSING]])
#: Nodes of the rule over the difficulty that agents share.
NODES = 21
#: What a term takes, in numbers of a node, and numbers that one draw's density may go through: all
#: draws of the exact posterior then take a minute.
TERM, MOST_NUMBERS = 6, 100_000
#: Logarithm of an impossible factor: its exponential is 0, and it has a gradient.
IMPOSSIBLE = -1e4
#: Verdicts, as the last axis of cells has them.
FAIL, PASS, NO_VERDICT = range(3)
#: Probabilities that a good and a bad attempt get no verdict, if some have none.
UNPARSED = ("unparsed_good", "unparsed_bad")
#: Rates of each of several people, if labels are theirs.
OF_PEOPLE = ("person_sensitivity", "person_specificity")
#: What one of them, drawn at random, would pass.
SAID = "people_pass"
#: Numbers of an array that is made of a block of draws: what fits a processor's cache.
LARGEST = 400_000

#: Draws by parameter: of agents with the axes draw and agent.
Values = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Terms:
    """Terms of the distinct tasks of one agent, by task and by good attempts in it."""

    task: np.ndarray  #: of each term, shape (n_terms,)
    log_ways: np.ndarray  #: in how many ways the unlabelled attempts can be shared out so
    #: Good passes, good fails, bad passes and bad fails, shape (n_terms, 4).
    verdicts: np.ndarray
    #: The same if the judge draws once a task: 1 where there are any.
    drawn: np.ndarray
    log_drawn: np.ndarray  #: 0, or `IMPOSSIBLE` where verdicts on good or on bad ones differ
    #: Good attempts without and with a verdict, bad ones without and with, shape (n_terms, 4).
    parsed: np.ndarray
    good: np.ndarray  #: good attempts whose truth tells the success
    total: np.ndarray  #: attempts whose truth tells it
    #: Good attempts that each person passed, and failed; bad ones failed, passed: a row per term.
    people: np.ndarray

    @functools.cached_property
    def alike(self) -> np.ndarray:
        """The first of terms of a task with as many good attempts, whose first factor is alike."""
        begins = np.diff(self.task, prepend=-1) | np.diff(self.good, prepend=-1)
        return np.flatnonzero(begins)

    @functools.cached_property
    def counted(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Distinct counts, good and in total, of the first factors; which of them each has."""
        counts = np.column_stack([self.good, self.total])[self.alike]
        first, place = distinct(counts)
        return *counts[first].T, place

    @classmethod
    def of(cls, cells: np.ndarray, tells: bool, kinds: np.ndarray) -> Self:
        """From cells by kind of label and verdict (fail, pass, none).

        Labels tell the success, or do not (`tells`).
        """
        telling = tells | (kinds == MISSING).all(axis=1)
        passed, failed = kinds[:, 1:] == 1, kinds[:, 1:] == 0
        rows = []
        for task, attempts in enumerate(cells):
            good, ways = _shared_out(attempts, kinds[:, 0])
            bad = attempts - good
            all_good, all_bad, each_good, each_bad = (
                x.sum(axis=axis) for axis in (1, 2) for x in (good, bad)
            )
            columns = [
                all_good[:, PASS], all_good[:, FAIL], all_bad[:, PASS], all_bad[:, FAIL],
                all_good[:, NO_VERDICT], all_good[:, :NO_VERDICT].sum(axis=1),
                all_bad[:, NO_VERDICT], all_bad[:, :NO_VERDICT].sum(axis=1),
                good[:, telling].sum(axis=(1, 2)), np.full(len(good), attempts[telling].sum()),
                each_good @ passed, each_good @ failed, each_bad @ failed, each_bad @ passed,
            ]  # fmt: skip
            rows.append(np.column_stack([np.full(len(good), task), ways, *columns]))
        table = np.concatenate(rows)
        table = table[np.lexsort((table[:, 10], table[:, 0]))]
        verdicts = table[:, 2:6]
        seen = verdicts > 0
        mixed = (seen[:, 0] & seen[:, 1]) | (seen[:, 2] & seen[:, 3])
        return cls(
            table[:, 0].astype(np.int64),
            table[:, 1],
            verdicts,
            seen.astype(float),
            np.where(mixed, IMPOSSIBLE, 0.0),
            table[:, 6:10],
            table[:, 10].astype(np.int64),
            table[:, 11].astype(np.int64),
            table[:, 12:],
        )


def _shared_out(attempts: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Good attempts of each kind and verdict, in each way, and the logarithm of its orders."""
    number = attempts.ravel()
    free = np.flatnonzero(np.where(truth[:, None] == MISSING, attempts, 0))
    # the first axis of one place is for kinds without such attempts
    shared = np.indices((1, *number[free] + 1)).reshape(1 + len(free), -1)[1:].T
    good = np.tile(np.where(truth[:, None] == GOOD, attempts, 0).ravel(), (len(shared), 1))
    good[:, free] = shared
    ways = log_binomial(number[free], shared).sum(axis=1)
    return good.reshape(-1, *attempts.shape), ways


class Tasks(NamedTuple):
    """Distinct tasks: the terms of each agent, which of them a task has, and how many there are."""

    terms: tuple[Terms, ...]
    of: np.ndarray  #: shape (n_patterns, n_agents)
    times: np.ndarray  #: shape (n_patterns,)
    cells: np.ndarray  #: shape (n_patterns, n_agents, n_kinds, 3)
    kinds: np.ndarray  #: of label: the truth, and what each person said; -1 for none

    @classmethod
    def of_cells(cls, cells: np.ndarray, tells: bool, kinds: np.ndarray = PLAIN) -> Self:
        """From cells of shape (n_tasks, n_agents, n_kinds, 3): `Attempts.states`."""
        parts, places = [], []
        for of_agent in np.moveaxis(cells, 1, 0):
            first, place = distinct(of_agent.reshape(len(of_agent), -1))
            parts.append(Terms.of(of_agent[first], tells, kinds))
            places.append(place)
        of = np.column_stack(places)
        first, place = distinct(of)
        return cls(tuple(parts), of[first], np.bincount(place), cells[first], kinds)

    def replicable(self, tells: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Group of each pattern, in how many orders its attempts can come, and its tasks.

        Tasks that could have had each other's attempts are a group, with one more pattern of no
        tasks, that stands for all that none of them is. Who gave a label is given, what it says is
        not; the truth is given if it does not tell the success.
        """
        given = (self.kinds != MISSING).astype(int)
        if not tells:
            given[:, 0] = self.kinds[:, 0] + 1
        orders, keys = np.ones(len(self.cells)), []
        for row in np.unique(given, axis=0):
            counts = self.cells[:, :, (given == row).all(axis=1)].reshape(*self.cells.shape[:2], -1)
            n = counts.sum(axis=-1)
            logs = _log_factorial(n) - _log_factorial(counts).sum(axis=-1)
            orders = orders * np.exp(logs.sum(axis=1))
            keys.append(n)
        group = distinct(np.concatenate(keys, axis=1))[1]
        none = np.zeros(int(group.max()) + 1)
        return (
            np.concatenate([group, np.arange(len(none))]).astype("int32"),
            np.concatenate([orders, none]),
            np.concatenate([self.times, none]).astype(float),
        )


def can_be_weighed(cells: np.ndarray, kinds: np.ndarray) -> bool:
    """Whether tasks have few enough distinct ones, and terms, for a density of all of them."""
    if not cells.size:
        return True
    places, terms = [], 0
    free = cells[:, :, kinds[:, 0] == MISSING].reshape(*cells.shape[:2], -1)
    for s, of_agent in enumerate(np.moveaxis(cells, 1, 0)):
        first, place = distinct(of_agent.reshape(len(of_agent), -1))
        terms += int(np.prod(free[first, s] + 1.0, axis=1).sum())
        places.append(place)
    patterns = len(distinct(np.column_stack(places))[0])
    nodes = NODES if len(places) > 1 else 1
    return TERM * terms + patterns * len(places) * nodes <= MOST_NUMBERS


def log_binomial(n: Any, k: np.ndarray) -> np.ndarray:
    """Logarithms of binomial coefficients."""
    return np.asarray(_log_factorial(np.asarray(n)) - _log_factorial(k) - _log_factorial(n - k))


def _log_factorial(n: np.ndarray) -> np.ndarray:
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(n.max(initial=0)) + 1)))])
    return np.asarray(logs[n])


@functools.cache
def nodes_of(shares: bool) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of a standard normal difficulty, or the one point of none."""
    if not shares:
        return np.zeros(1), np.ones(1)
    points, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return points, weights / weights.sum()


def success(values: Values, points: np.ndarray, xp: Any = np) -> tuple[Any, ...]:
    """What success at a task is like, each of shape (n_draws, n_agents, n_nodes).

    Both parameters of its Beta distribution; shares of the tasks that are done always and never.
    """
    mean = values["prevalence"][..., None]
    if len(points) > 1:
        below, quantile = _normal(xp)
        shared = values["shared_difficulty"][..., None, None]
        mean = below((quantile(mean) + xp.sqrt(shared) * points) / xp.sqrt(1 - shared))
    weight = (1 / values["task_correlation"] - 1)[..., None]
    always, never = mean * values["always"][..., None], (1 - mean) * values["never"][..., None]
    mean = (mean - always) / xp.maximum(1 - always - never, 1e-12)
    return (
        xp.maximum(mean * weight, 1e-12), xp.maximum((1 - mean) * weight, 1e-12), always, never,
    )  # fmt: skip


def _normal(xp: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The standard normal distribution function, and its inverse."""
    if xp is np:
        from scipy.special import ndtr, ndtri

        return ndtr, ndtri
    return lambda x: xp.erfc(-x / np.sqrt(2)) / 2, lambda p: np.sqrt(2) * xp.erfinv(2 * p - 1)


def log_likelihood(tasks: Tasks, values: Values) -> np.ndarray:
    """Log-likelihood of the tasks at draws of the parameters, shape (n_draws,)."""
    n = len(values["prevalence"])
    nodes = NODES if len(tasks.terms) > 1 else 1
    sizes = [max(len(agent.task), len(agent.alike) * nodes) for agent in tasks.terms]
    size = max(*sizes, len(tasks.times) * nodes)
    each = max(1, LARGEST // size)
    parts = [
        {name: value[begin : begin + each] for name, value in values.items()}
        for begin in range(0, n, each)
    ]
    return np.concatenate([by_pattern(tasks, part) @ tasks.times for part in parts])


#: Makes of an array what a graph reads, by a name and the names of its axes.
Held = Callable[..., Any]


def _as_it_is(name: str, array: np.ndarray, *dims: str) -> Any:
    return array


def by_pattern(tasks: Tasks, values: Values, xp: Any = np, held: Held = _as_it_is) -> Any:
    """Log-likelihood of one task of each pattern, shape (n_draws, n_patterns).

    In arrays or, with ``xp=pytensor.tensor``, as a graph, where `held` makes data of an array.
    Rates have the axes draw and agent; ``persistence`` and ``shared_difficulty`` draws alone. With
    ``unparsed_good`` and ``unparsed_bad`` some attempts have no verdict.
    """
    points, weights = nodes_of("shared_difficulty" in values)
    shapes = success(values, points, xp)
    joint: Any = 1.0
    scale: Any = 0.0
    for s, terms in enumerate(tasks.terms):

        def of(name: str, array: np.ndarray, *dims: str, s: int = s) -> Any:
            return held(f"{name}_of_agent_{s}", array, *(f"{dim}_of_agent_{s}" for dim in dims))

        verdicts = xp.exp(_log_verdicts(terms, values, s, of, xp))
        chance = _of_counts(terms, shapes, s, of, xp)
        first = terms.alike
        of_factors = _summed(verdicts, _Parts(("term", "factor"), len(terms.task), first), of, xp)
        chance = chance[..., of("chance", terms.counted[2], "factor")] * of_factors[:, None]
        tasks_at = np.flatnonzero(np.diff(terms.task[first], prepend=-1))
        summed = _summed(chance, _Parts(("factor", "task"), len(first), tasks_at), of, xp)
        # nodes come last, so that a pattern reads a row, and the highest is 1: no logarithm of each
        rows = xp.maximum(summed, 1e-300).swapaxes(1, 2)
        top = rows.max(axis=2, keepdims=True)
        at = of("task_of_pattern", tasks.of[:, s], "pattern")
        joint = joint * xp.take(rows / top, at, axis=1)
        scale = scale + xp.take(xp.log(top[..., 0]), at, axis=1)
    return scale + xp.log(xp.maximum(joint @ weights, 1e-300))


def _log_verdicts(terms: Terms, values: Values, s: int, of: Held, xp: Any) -> Any:
    """Log-probability of the verdicts of each term of agent `s`, given which attempts are good."""
    good_passes, good_fails, bad_fails, bad_passes = (
        log for name in ("sensitivity", "specificity") for log in _logs(values[name], xp)
    )
    of_agent = xp.stack([good_passes, good_fails, bad_passes, bad_fails])[..., s].T
    again = values["persistence"][:, None]
    alone = of_agent @ of("verdicts", terms.verdicts.T, "said", "term") + xp.log1p(-again)
    once = of_agent @ of("drawn", terms.drawn.T, "said", "term")
    once = once + of("log_drawn", terms.log_drawn, "term") + xp.log(again)
    verdicts = xp.logaddexp(alone, once) + of("log_ways", terms.log_ways, "term")
    if UNPARSED[0] in values:
        lost = [log for name in UNPARSED for log in _logs(values[name][:, [s]], xp)]
        parsed = of("parsed", terms.parsed.T, "read", "term")
        verdicts = verdicts + xp.concatenate(lost, axis=1) @ parsed
    if OF_PEOPLE[0] in values:
        said = [log for name in OF_PEOPLE for log in _logs(values[name], xp)]
        people = of("people", terms.people.T, "word", "term")
        verdicts = verdicts + xp.concatenate(said, axis=1) @ people
    return verdicts


def _of_counts(terms: Terms, shapes: Sequence[Any], s: int, of: Held, xp: Any) -> Any:
    """Probability of each number of good attempts of a task of agent `s`, at each node."""
    a, b, always, never = shapes
    good, total, _ = terms.counted
    no, every = of("none", (good == 0) * 1.0, "count"), of("all", (good == total) * 1.0, "count")
    steps = of("steps", np.arange(float(total.max())), "step")
    rise, fall, both = (_log_rising(x[:, s], steps, xp) for x in (a, b, a + b))
    at_good, at_bad = of("good", good, "count"), of("bad", total - good, "count")
    log_good = rise[..., at_good] + fall[..., at_bad] - both[..., of("total", total, "count")]
    done, undone = always[:, s, :, None], never[:, s, :, None]
    return (1 - done - undone) * xp.exp(log_good) + done * every + undone * no


def _logs(share: Any, xp: Any) -> tuple[Any, Any]:
    """Logarithms of a share and of its complement."""
    return xp.log(share), xp.log1p(-share)


class _Parts(NamedTuple):
    """Parts of an axis of some length, by where they begin; what it and they are called."""

    dims: tuple[str, str]
    size: int
    starts: np.ndarray


def _summed(values: Any, parts: _Parts, of: Held, xp: Any) -> Any:
    """Sums of the parts of the last axis."""
    if xp is np:
        return np.add.reduceat(values, parts.starts, axis=-1)
    part = np.searchsorted(parts.starts, np.arange(parts.size), side="right") - 1
    belongs = part[:, None] == np.arange(len(parts.starts))
    return values @ of("_of_".join(parts.dims), belongs.astype(float), *parts.dims)


def _log_rising(x: Any, steps: Any, xp: Any = np) -> Any:
    """Logarithms of x (x + 1) … (x + n - 1) on a last axis, n from 0 to how many `steps` there are:
    0, 1, ….
    """
    logs = xp.log(x[..., None] + steps)
    return xp.concatenate([xp.zeros_like(x)[..., None], xp.cumsum(logs, axis=-1)], axis=-1)


def said_by_people(values: Values) -> np.ndarray:
    """Share of attempts that one of several people, drawn at random, would pass, as `success`."""
    hit, right = (values[name].mean(axis=-1)[..., None] for name in OF_PEOPLE)
    good = values["prevalence"]
    return np.asarray(good * hit + (1 - good) * (1 - right))


def chances(values: Values, ks: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """pass@k and pass^k over the population of tasks, shape (n_draws, n_agents, n_ks)."""
    points, weights = nodes_of("shared_difficulty" in values)
    a, b, always, never = success(values, points)
    steps = np.arange(max(ks))
    whole = _log_rising(a + b, steps)[..., list(ks)]
    rest = (1 - always - never)[..., None]
    all_good, all_bad = (
        np.einsum(
            "z,sazk->sak",
            weights,
            rest * np.exp(_log_rising(x, steps)[..., list(ks)] - whole) + sure[..., None],
        )
        for x, sure in ((a, always), (b, never))
    )
    return 1 - all_bad, all_good
