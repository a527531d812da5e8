"""Coverage studies: how often intervals hold the truth, and how wide they are."""

from __future__ import annotations

import inspect
import itertools
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import ConvergenceWarning, InputError, checking, expect
from bayesjudge.core.estimate import Estimate, label
from bayesjudge.core.intervals import wilson
from bayesjudge.lab.run import Task, header_of, run, seed_of

Setting = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class CoverageStudy:
    """How often intervals held the truth.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per setting, method and quantity: the setting's columns, then ``method``,
        ``quantity``, ``truth``; ``n`` answers and ``unanswered`` (share of data sets without an
        interval); ``coverage`` with its Monte Carlo interval ``coverage_low``, ``coverage_high``
        (Wilson, 95 %); ``too_high`` and ``too_low`` (share of intervals that lie wholly above or
        below the truth); ``width``, ``bias``, ``rmse`` and ``score``, each with its Monte Carlo
        standard error (``width_error``, ...; not for the score); ``cautions``, how many data sets
        raised which.
    about : mapping
        Header of the study's file.
    seconds : float
        Spent in all processes together.
    """

    table: pd.DataFrame
    about: Mapping[str, Any]
    seconds: float


def grid(**values: Iterable[Any]) -> list[dict[str, Any]]:
    """Combine every value of each name with every value of the others.

    Parameters
    ----------
    **values
        A list a name.

    Returns
    -------
    list of dict
        Settings, the last name running fastest.

    Examples
    --------
    >>> grid(prevalence=[0.1, 0.5], sensitivity=[0.9])
    [{'prevalence': 0.1, 'sensitivity': 0.9}, {'prevalence': 0.5, 'sensitivity': 0.9}]
    """
    return [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]


def coverage(
    methods: Mapping[str, Callable[..., Any]],
    settings: Sequence[Setting],
    *,
    draw_data: Callable[[Setting, np.random.Generator], Any],
    random_seed: int,
    replications: int = 1000,
    truth: Callable[[Setting], Mapping[str, float]] | None = None,
    batch: int = 100,
    path: str | Path | None = None,
    workers: int | None = None,
    resume: bool = True,
    progress: bool | None = None,
) -> CoverageStudy:
    """Draw data from known truths and count how often intervals hold them.

    Every method sees the same data. An `Estimate` of many systems counts as that many data sets of
    ``prevalence``, unless the truth names the entries (``prevalence[gpt]``): drawing 1000 systems
    at once makes vectorised closed forms a thousand times cheaper.

    Parameters
    ----------
    methods : mapping of str to callable
        By name, each from data to an `Estimate` or a `Fit`. One that has an argument
        ``random_seed`` is given a seed. One that refuses data with an `InputError` did not answer.
    settings : sequence of mapping
        What varies; see `grid`. Numbers and text.
    draw_data : callable
        ``draw_data(setting, rng)`` returns the data. For a module: `Simulated`.
    random_seed : int
        Same seed, same results, for any number of workers and any interruption.
    replications : int, default 1000
        Calls of `draw_data` for each setting.
    truth : callable, optional
        From a setting to the true value by quantity; by default the setting itself.
    batch : int, default 100
        Replications between two lines of the file: few for fits, many for closed forms.
    path : str or pathlib.Path, optional
        File (``.jsonl``) that keeps the results; a second run continues it.
    workers : int, optional
        Processes; as many as there are cores by default. The functions must then be defined at the
        top level of a module.
    resume : bool, default True
        Continue the file, rather than start over.
    progress : bool, optional
        Show progress; by default in a terminal only.

    Returns
    -------
    CoverageStudy
        With one table.

    Raises
    ------
    InputError
        If a number is out of its range, no row of an estimate has a truth, or the file holds
        another study.

    References
    ----------
    ``score`` is the interval score of Gneiting & Raftery (2007), J. Am. Stat. Assoc. 102, eq. (43),
    with ``ci_prob`` of each estimate: width plus a penalty for a truth outside; lower is better.

    Examples
    --------
    >>> from bayesjudge.core.intervals import wilson
    >>> def draw_data(setting, rng):
    ...     return rng.binomial(50, setting["rate"])
    >>> def wilson_of_50(passes):
    ...     about = {"method": "Wilson", "ci_prob": 0.95, "source": "Wilson (1927)"}
    ...     return Estimate({"rate": wilson(passes, 50)}, **about)
    >>> study = coverage({"Wilson": wilson_of_50}, grid(rate=[0.1, 0.5]), draw_data=draw_data,
    ...                  replications=200, random_seed=1, workers=1)
    >>> (study.table["coverage_high"] >= 0.95).tolist()
    [True, True]
    """
    with checking("coverage") as require:
        require(methods, "no-methods")
        require(len(settings) > 0, "no-settings")
        for name, value in {"replications": replications, "batch": batch}.items():
            require(value >= 1, "must be 1 or more", **{name: value})
        batch = min(batch, replications)
        require(replications % max(batch, 1) == 0, f"replications must be a multiple of {batch=}")
        names = {tuple(setting) for setting in settings}
        require(len(names) <= 1, f"settings must name the same things, got {sorted(names)}")
    settings = [dict(setting) for setting in settings]
    work = _Batch(dict(methods), settings, draw_data, truth, batch, random_seed)
    parts = {name: getattr(work, name) for name in work.__dataclass_fields__}
    header = header_of("coverage", parts.pop("random_seed"), parts)
    tasks = list(itertools.product(range(len(settings)), range(replications // batch)))
    how: dict[str, Any] = {"path": path, "workers": workers, "resume": resume, "progress": progress}
    results = run(work, tasks, header, **how)
    return _study(header, settings, truth, dict(zip(tasks, results, strict=True)))


@dataclass(frozen=True)
class _Batch:
    """Some replications of one setting, added up."""

    methods: Mapping[str, Callable[..., Any]]
    settings: Sequence[Setting]
    draw_data: Callable[[Setting, np.random.Generator], Any]
    truth: Callable[[Setting], Mapping[str, float]] | None
    batch: int
    random_seed: int

    def __call__(self, task: Task) -> dict[str, Any]:
        begin = time.perf_counter()
        setting = self.settings[task[0]]
        answers: dict[str, list[Estimate | None]] = {name: [] for name in self.methods}
        for replication in range(task[1] * self.batch, (task[1] + 1) * self.batch):
            seeds = seed_of(self.random_seed, task[0], replication).spawn(2)
            data = self.draw_data(setting, np.random.default_rng(seeds[0]))
            seed = int(np.random.default_rng(seeds[1]).integers(2**32))
            for name, method in self.methods.items():
                answers[name].append(_answer(method, data, seed))
        truths = truths_of(self.truth, setting)
        tallies = {name: tally(answers[name], truths) for name in self.methods}
        return {"tallies": tallies, "seconds": round(time.perf_counter() - begin, 4)}


def truths_of(truth: Callable[..., Any] | None, setting: Setting) -> dict[str, float]:
    """Take the true values of a setting: by default those of its entries that are numbers."""
    truths = setting if truth is None else truth(setting)
    return {k: float(v) for k, v in truths.items() if not isinstance(v, str)}


def _answer(method: Callable[..., Any], data: Any, seed: int) -> Estimate | None:
    seeded = "random_seed" in inspect.signature(method).parameters
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # counted, as a caution
            answer = method(data, random_seed=seed) if seeded else method(data)
    except InputError:
        return None
    return answer if isinstance(answer, Estimate) else answer.estimate()


def _study(
    header: Mapping[str, Any],
    settings: Sequence[Setting],
    truth: Callable[..., Any] | None,
    results: Mapping[Task, Any],
) -> CoverageStudy:
    rows = []
    for i, setting in enumerate(settings):
        batches = [result["tallies"] for task, result in results.items() if task[0] == i]
        truths = truths_of(truth, setting)
        totals = {name: merged(batch[name] for batch in batches) for name in batches[0]}
        answered = dict.fromkeys(name for total in totals.values() for name in total["sums"])
        for method, total in totals.items():
            # one that refused everything is shown to have answered nothing
            for quantity in total["sums"] or answered or truths:
                about = {"method": method, "quantity": quantity, "truth": truths[quantity]}
                rows.append({**setting, **about, **rates(total, quantity)})
    seconds = sum(result["seconds"] for result in results.values())
    return CoverageStudy(pd.DataFrame(rows), header, seconds)


#: What is added up over the data sets of one setting, method and quantity.
SUMS = (
    *("n", "missing", "covered", "too_high", "too_low"),
    *("width", "width_2", "error", "error_2", "error_4", "score"),
)


def tally(answers: Iterable[Estimate | None], truths: Mapping[str, float]) -> dict[str, Any]:
    """Add up what one method answered."""
    calls = refused = 0
    cautions: Counter[str] = Counter()
    sums: dict[str, np.ndarray] = {}
    for answer in answers:
        calls += 1
        if answer is None:
            refused += 1
            continue
        cautions.update({caution.id for caution in answer.cautions})
        entries = [
            (named if (named := label(name, tuple(where.values()))) in truths else name, row)
            for name, where, row in answer.rows()
        ]
        names = [name for name, _ in entries]
        known = [name for name in dict.fromkeys(names) if name in truths]
        expect("coverage", known, f"no truth for {names[:5]}; there is one for {list(truths)}")
        columns = np.array([row for _, row in entries], dtype=float)
        for name in known:
            rows = columns[[other == name for other in names]]
            added = _summed(rows, float(truths[name]), answer.ci_prob)
            sums[name] = sums.get(name, np.zeros(len(SUMS))) + added
    return {
        "calls": calls,
        "refused": refused,
        "cautions": dict(sorted(cautions.items())),
        "sums": {name: values.tolist() for name, values in sums.items()},
    }


def _summed(rows: np.ndarray, truth: float, ci_prob: float) -> np.ndarray:
    answered = np.isfinite(rows).all(axis=1)
    value, low, high = rows[answered].T
    error, width = value - truth, high - low
    above, below = np.maximum(low - truth, 0), np.maximum(truth - high, 0)
    score = width + 2 / (1 - ci_prob) * (above + below)
    covered = (low <= truth) & (truth <= high)
    parts = (covered, low > truth, high < truth)
    powers = (width, width**2, error, error**2, error**4, score)
    counted = [value.size, int((~answered).sum()), *(int(part.sum()) for part in parts)]
    return np.array([*counted, *(float(power.sum()) for power in powers)])


def merged(tallies: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add tallies of the same setting and method."""
    total: dict[str, Any] = {"calls": 0, "refused": 0, "cautions": Counter(), "sums": {}}
    for tally in tallies:
        total["calls"] += tally["calls"]
        total["refused"] += tally["refused"]
        total["cautions"].update(tally["cautions"])
        for name, values in tally["sums"].items():
            total["sums"][name] = total["sums"].get(name, np.zeros(len(SUMS))) + values
    return total


def rates(total: Mapping[str, Any], quantity: str) -> dict[str, Any]:
    """Turn sums into rates and means, with their Monte Carlo errors."""
    if quantity not in total["sums"]:
        return {"n": 0, "unanswered": 1.0, "cautions": ""}
    sums = dict(zip(SUMS, total["sums"][quantity], strict=True))
    n, missing = sums["n"], sums["missing"]
    # a refusal counts as many data sets as an answer to one call has
    lost = missing + total["refused"] * (n + missing) / (total["calls"] - total["refused"])
    about: dict[str, Any] = {"n": int(n), "unanswered": lost / (n + lost)}
    words = dict(total["cautions"])
    cautions = "; ".join(f"{name} {count}" for name, count in sorted(words.items()))
    if n == 0:
        return {**about, "cautions": cautions}
    mean = {name: float(value) / n for name, value in sums.items()}
    _, low, high = wilson(sums["covered"], n)
    rmse = np.sqrt(mean["error_2"])
    spread = np.sqrt(max(mean["error_4"] - mean["error_2"] ** 2, 0) / n)
    return {
        **about,
        "coverage": mean["covered"],
        "coverage_low": float(low),
        "coverage_high": float(high),
        "too_high": mean["too_high"],
        "too_low": mean["too_low"],
        "width": mean["width"],
        "width_error": np.sqrt(max(mean["width_2"] - mean["width"] ** 2, 0) / n),
        "bias": mean["error"],
        "bias_error": np.sqrt(max(mean["error_2"] - mean["error"] ** 2, 0) / n),
        "rmse": rmse,
        "rmse_error": spread / (2 * rmse) if rmse > 0 else 0.0,
        "score": mean["score"],
        "cautions": cautions,
    }
