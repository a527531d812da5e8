"""Every public way to read a table, with a small table for it, and the numbers that come of it.

What holds of one has to hold of all: the same rows in another library, file or type of column are
the same numbers (tests/test_routes.py), and so are the same columns under other names
(tests/test_names.py).
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from relations import entries

import bayesjudge as bj
from bayesjudge import attempts
from bayesjudge.prevalence import classes, items, people, scores

PACKAGE = Path(bj.__file__).parent
#: Ids that a reader could take for numbers, or cut in two.
IDS = ["007", "7", "7.0", "1e3", "1000", "+3", "None?", "ü, ö", 'say "x"', "a|b", "true", "0x10"]


class Reading(NamedTuple):
    """A function of a table, and which of its arguments name which columns."""

    function: Callable[..., Any]
    table: pd.DataFrame
    columns: Mapping[str, Any]
    settings: Mapping[str, Any]
    numbers: Callable[[Any], dict[Any, Any]]
    #: Whether rows have to be in order, which those of an engine are not.
    in_order: bool = False

    def of(self, table: Any, renamed: Mapping[str, str] | None = None) -> dict[Any, Any]:
        """The numbers of a table, perhaps with columns of other names."""
        called = renamed or {}
        columns = {
            argument: called.get(names, names)
            if isinstance(names, str)
            else [called.get(name, name) for name in names]
            for argument, names in self.columns.items()
        }
        return self.numbers(self.function(table, **columns, **self.settings))

    @property
    def used(self) -> list[str]:
        """The columns that are read."""
        each = ([n] if isinstance(n, str) else n for n in self.columns.values())
        return list(dict.fromkeys(name for names in each for name in names))


def same(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[Any]:
    """Keys in which two readings differ."""
    return [
        key
        for key in dict.fromkeys([*one, *other])
        if key not in one
        or key not in other
        or not np.allclose(one[key], other[key], rtol=1e-9, atol=1e-12, equal_nan=True)
    ]


def _ids(n: int) -> list[str]:
    return [IDS[i] if i < len(IDS) else f"q{i}" for i in range(n)]


def _log() -> pd.DataFrame:
    """Outputs of two systems for the same items, some without a verdict, a few with a label."""
    rng, n = np.random.default_rng(5), 60
    quality = rng.random(2 * n)
    rows = pd.DataFrame({"case": _ids(n) * 2, "system": ["sys 1"] * n + ["1"] * n})
    verdict = np.where(quality < 0.6, "PASS", "Fail").astype(object)
    verdict[::17], verdict[5::34] = None, ""  # a file does not tell these two apart
    truth = np.where(quality + 0.2 * rng.normal(size=2 * n) < 0.7, 1.0, 0.0)
    truth[rng.random(2 * n) < 0.5] = np.nan
    rows["verdict"], rows["truth"] = verdict, truth
    stars = np.clip(np.round(6 - 5 * quality), 1, 5)
    stars[::19] = np.nan
    rows["score"], rows["fine"] = stars, np.round(rng.random(2 * n), 6)
    rows["topic"] = np.where(rng.random(2 * n) < 0.5, "law", "art")
    rows["chance"] = np.where(rows["topic"] == "law", 0.25, 0.5)
    human = np.where(np.isnan(truth), None, np.where(truth == 1, "a", "b"))
    human[np.flatnonzero(human == None)[::2]] = ""  # noqa: E711
    rows["human"] = pd.Series(human, dtype=object)
    rows["kind"] = np.where(quality < 0.6, "a", np.where(quality < 0.8, "b", "c"))
    rows["other"] = np.where(rng.random(2 * n) < 0.8, rows["kind"], "a")
    rows["flag"] = pd.Series([*(quality < 0.6)], dtype=bool)
    rows["whole"] = np.where(quality < 0.6, 1, 0)
    return rows


def _votes() -> pd.DataFrame:
    table = bj.panel.simulate(items=30, labelled=12, missing=0.1, random_seed=3)
    names = dict(enumerate(_ids(60)))
    return table.assign(item=table["item"].map(names))


def _repeats() -> pd.DataFrame:
    table = bj.repeats.simulate(items=6, judges=2, repeats=4, random_seed=2)
    table["score"] = table["score"].astype(float)
    table.loc[[3, 11], "score"] = np.nan
    named = dict(zip(sorted(set(table["item"])), IDS, strict=False))
    table["item"] = table["item"].map(named)
    table["verdict"] = np.where(table["score"] >= 3, "PASS", "FAIL")
    return table


def _swaps() -> pd.DataFrame:
    rng, rows = np.random.default_rng(4), []
    for prompt in _ids(14):
        for first, second in (("new", "old"), ("old", "new")):
            for judge in ("gpt", "7"):
                rows.append((prompt, first, second, rng.choice(["A", "B", "tie"]), judge))
    return pd.DataFrame(rows, columns=["prompt", "shown", "beside", "won", "judge"])


def _battles() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    table = _swaps()
    n = len(table)
    table["other"] = rng.choice(["A", "B", "tie"], n)
    table["human"] = np.where(rng.random(n) < 0.5, rng.choice(["A", "B", "tie"], n), None)
    table["size"], table["size_too"] = rng.integers(10, 99, (2, n))
    return table.assign(times=rng.integers(1, 5, n))


def _counted(data: Any) -> dict[Any, Any]:
    """Verdicts of a table of battles, by source and pair."""
    return {
        (at, first, second): data.counted(source)[i, j]
        for at, source in enumerate(data.sources)
        for i, first in enumerate(data.systems)
        for j, second in enumerate(data.systems)
    }


def _pairs() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    rows = [
        (name, judge, *rng.choice([1.0, 2.0], size=2))
        for name in _ids(20)
        for judge in ("gpt", "7")
    ]
    table = pd.DataFrame(rows, columns=["pair", "judge", "first", "second"])
    table.loc[[4, 9], "first"] = np.nan
    return table


def _places() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = [
        (name, place, judge, float(np.round(5 + rng.normal() + 0.4 * (place == 1), 3)))
        for name in _ids(12)
        for place in (1, 2, 3)
        for judge in ("gpt", "7")
    ]
    return pd.DataFrame(rows, columns=["answer", "position", "judge", "score"])


def _shifts() -> pd.DataFrame:
    table = bj.bias.simulate(items=12, judges=["a", "b"], random_seed=3)
    named = dict(zip(sorted(set(table["item"])), _ids(12), strict=True))
    table["item"] = table["item"].map(named)
    table["second"] = np.round(table["score"] / 3, 3)
    table.loc[[5, 17], "score"] = np.nan
    return table


def _forms(module: Any, **quick: Any) -> Callable[[Any], dict[Any, Any]]:
    return lambda data: entries(module.closed_forms(data, **quick))


def _nameless(data: Any) -> dict[Any, Any]:
    """Numbers of strata or judges whose names are those of columns, in their own order."""
    found: dict[Any, list[Any]] = {}
    for (method, quantity, *_), row in entries(bj.prevalence.closed_forms(data)).items():
        found.setdefault((method, quantity), []).append(row)
    return {key: np.sort(rows, axis=0) for key, rows in found.items()}


def _of_scores(data: Any) -> dict[Any, Any]:
    """Counts by item and judge, and, where rows have an order, what came when."""
    cells = {
        (item, judge): data.counts[i, j]
        for i, item in enumerate(data.items)
        for j, judge in enumerate(data.judges)
    }
    return cells | {"unparsed": data.unparsed.sum()}


def _of_verdicts(table: Any) -> dict[Any, Any]:
    """Outputs by judge (whose name may be that of a column), group, truth and verdict."""
    return {
        (judge, group): table.counts[table.judge_of_column == judge].sum(axis=0)[g]
        for judge in range(len(table.judges))
        for g, group in enumerate(table.groups)
    }


def _of_paired(data: Any) -> dict[Any, Any]:
    gaps = {(*pair, "gap"): [d.score.sum(), np.nansum(d.truth)] for pair, d in
            data.differences.items()}  # fmt: skip
    return gaps | {(*pair, "shared"): n for pair, n in data.shared.items()}


def _of_doubtful(rows: pd.DataFrame) -> dict[Any, Any]:
    return {"wrong": np.sort(rows["wrong"].to_numpy())}


def _two_people() -> pd.DataFrame:
    """Outputs of two systems, of which two people labelled some, and differ now and then."""
    rng, log = np.random.default_rng(8), _log()
    again = np.where(rng.random(len(log)) < 0.1, 1 - log["truth"], log["truth"])
    return log.assign(again=np.where(rng.random(len(log)) < 0.3, np.nan, again))


def _a_row_a_person() -> pd.DataFrame:
    wide = _two_people()[["case", "system", "flag", "truth", "again"]]
    names = {"truth": "Ann", "again": "7"}
    rows = wide.rename(columns=names).melt(["case", "system", "flag"], var_name="who")
    return rows.sort_values(["system", "case", "who"], ignore_index=True)


def _of_monitor(monitor: Any) -> dict[Any, Any]:
    return dict(zip(monitor.names, monitor.verdicts, strict=True))


def _of_consensus(tables: Iterable[pd.DataFrame]) -> dict[Any, Any]:
    whole = pd.concat(tables)
    keys = [c for c in whole if whole[c].dtype.kind not in "fiub"]
    numbers = whole.select_dtypes("number")
    return dict(zip(map(tuple, whole[keys].astype(str).to_numpy()), numbers.to_numpy(),
                    strict=True))  # fmt: skip


def _drifted(table: Any, **how: Any) -> Any:
    """The same judge twice, so that both tables come by the same route."""
    return bj.decide.drift(table, table, **how).estimate


def _more_votes(labels: Any, **how: Any) -> Any:
    table = _votes()
    votes = bj.panel.Votes.from_frame(table, truth=None)
    return votes.with_labels(labels, calibration="random", **how)


def _more_counts(labels: Any, **how: Any) -> Any:
    counts = bj.prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="random")
    return counts.with_labels(labels, of_counted_items=False, **how)


def _in_consensus(table: Any, **how: Any) -> Any:
    votes = bj.panel.Votes.from_frame(_votes(), calibration="random")
    return list(bj.panel.consensus(votes).items(table, **how))


def _labelled(table: Any, truth: str, judge: str) -> Any:
    return bj.decide.Pilot.from_frame(table, judges={"judge": judge}, truth=truth)


def _of_pilot(pilot: Any) -> dict[Any, Any]:
    means = {"truth": pilot.truth.mean(), "judged": pilot.judged.mean()}
    return {**means, "n": len(pilot.truth), "seen": pilot.judged_n[0]}


def _of_rubric(rubric: Any) -> dict[Any, Any]:
    table = rubric.totals()
    sums = table.groupby("system")[["judged", "people"]].sum()
    return {"labelled": int(rubric.labelled.sum())} | {
        (system, who): sums.loc[system, who] for system in sums.index for who in sums
    }


def _of_judged(data: Any) -> dict[Any, Any]:
    """Labelled pairs by judge, which is called like its column, and system."""
    return {
        (data.judges.index(judge), system, i): number
        for (judge, system), pairs in data.pairs.items()
        for i, number in enumerate([*pairs.n, *pairs.all_n])
    }


@functools.cache
def readings() -> dict[str, Reading]:
    """Every public function of a table, by its name and what is special about it."""
    bias, leaderboard = bj.bias, bj.leaderboard
    log, votes, repeated, shifts = _log(), _votes(), _repeats(), _shifts()
    labelled = log[log["truth"].notna() & log["verdict"].isin(["PASS", "Fail"])].reset_index(
        drop=True
    )
    wide = votes.pivot(index=["item", "generator", "truth"], columns="judge", values="vote")
    wide = wide.reset_index().rename_axis(columns=None)
    one_each = votes.drop_duplicates(["item", "generator"]).dropna(subset="truth")
    runs = repeated.pivot(index=["item", "judge"], columns="repeat", values="score").reset_index()
    runs = runs.rename(columns={1: "run1", 2: "run2", 3: "run3", 4: "run4"})
    runs = runs.rename_axis(columns=None)
    rated = bj.ratings.simulate(items=15, random_seed=2)
    rated = rated.assign(item=[_ids(15)[i] for i in rated["item"]])
    versions = shifts[shifts["judge"] == "a"].drop(columns=["judge", "second"])
    versions = versions.dropna().pivot(index="item", columns="variant", values="score")
    versions = versions.dropna().reset_index().rename_axis(columns=None)
    marked = log.dropna(subset=["score"]).assign(tone=lambda t: t["score"] * 2 + t["fine"])
    prevalence, panel, bias = bj.prevalence, bj.panel, bj.bias
    random = {"calibration": "random"}
    of_log = {"verdict": "verdict", "truth": "truth"}
    of_votes = {"item": "item", "generator": "generator", "truth": "truth"}
    counts, of_counts = prevalence.Counts.from_frame, _forms(prevalence)
    drop = {**random, "unparsed": "drop"}
    scale = {"scale": (0, 1)}
    verdicts = bj.Verdicts.from_frame
    long = {"verdict": "vote", "judge": "judge", "item": "item", "by": "generator"}
    criteria = {**of_log, "criterion": "topic", "item": "case", "by": "system"}
    worst = {**random, "failed": "worst"}
    return {
        "Rubric": Reading(bj.rubric.Rubric.from_frame, log, criteria, worst, _of_rubric),
        "Pilot": Reading(_labelled, log, {"truth": "truth", "judge": "verdict"}, {}, _of_pilot),
        "Verdicts": Reading(verdicts, log, {**of_log, "by": "system"}, drop, _of_verdicts),
        "Verdicts of votes": Reading(
            verdicts, votes, {**long, "truth": "truth"}, random, _of_verdicts
        ),
        "Verdicts by item": Reading(
            verdicts,
            log,
            {**of_log, "by": "system", "item": "case"},
            {**drop, "repeats": "system"},
            _of_verdicts,
        ),
        "Judged": Reading(
            bj.judge.Judged.from_frame, log, {**of_log, "by": "system"}, drop, _of_judged
        ),
        "Judged scores": Reading(
            bj.judge.Judged.from_frame,
            log,
            {"score": "fine", "truth": "truth", "by": "system"},
            {**random, **scale},
            _of_judged,
        ),
        "untuned": Reading(
            bj.judge.untuned,
            log.assign(shown=[i % 7 == 0 for i in range(len(log))]),
            {"truth": "truth", "tuned_on": "shown"},
            {},
            lambda found: {"left out": found[1]},
        ),
        "disagreements": Reading(
            bj.judge.disagreements,
            labelled,
            of_log,
            {},
            lambda rows: {i: tuple(row[:3]) for i, row in enumerate(rows.values.tolist())},
            in_order=True,
        ),
        "where_it_errs": Reading(
            bj.judge.where_it_errs,
            labelled.assign(topic=["x" if i % 3 else "y" for i in range(len(labelled))]),
            {**of_log, "columns": ["topic"]},
            {},
            lambda found: {one.value: one.p_value for one in found},
        ),
        "Counts": Reading(counts, log, of_log, drop, of_counts),
        "Counts by": Reading(counts, log, {**of_log, "by": "system"}, drop, of_counts),
        "Counts of items": Reading(
            counts, log, {**of_log, "by": "system", "item": "case"}, drop, of_counts
        ),
        "Counts of strata": Reading(counts, log, {**of_log, "stratum": "topic"}, drop, of_counts),
        "Counts of covariates": Reading(
            counts, log, {**of_log, "covariates": ["topic", "chance"]}, drop, _nameless
        ),
        "Counts of propensities": Reading(
            counts,
            log,
            {**of_log, "propensity": "chance"},
            {"calibration": "known_propensity", "unparsed": "drop"},
            of_counts,
        ),
        "Counts of judges": Reading(
            counts, log, {"verdict": ["flag", "whole"], "truth": "truth"}, random, _nameless
        ),
        "Counts.with_labels": Reading(_more_counts, labelled, of_log, {}, of_counts),
        "ClassCounts": Reading(
            classes.ClassCounts.from_frame,
            log,
            {"verdict": "kind", "truth": "human", "by": "system", "item": "case"},
            random,
            _forms(classes),
        ),
        "ClassCounts of propensities": Reading(
            classes.ClassCounts.from_frame,
            log,
            {"verdict": "kind", "truth": "human", "propensity": "chance"},
            {"calibration": "known_propensity"},
            _forms(classes),
        ),
        "ClassCounts.from_pairs": Reading(
            classes.ClassCounts.from_pairs,
            log,
            {"verdict": "kind", "swapped": "other", "truth": "human"},
            {**random, "classes": ("a", "b", "c")},
            _forms(classes),
        ),
        "PeopleCounts": Reading(
            people.PeopleCounts.from_frame,
            _two_people(),
            {"verdict": "verdict", "truth": ["truth", "again"], "by": "system", "item": "case"},
            drop,
            _forms(people),
        ),
        "PeopleCounts of a row a person": Reading(
            people.PeopleCounts.from_frame,
            _a_row_a_person(),
            {"verdict": "flag", "truth": "value", "rater": "who", "by": "system", "item": "case"},
            random,
            _forms(people),
        ),
        "doubtful": Reading(
            people.doubtful,
            _two_people(),
            {"verdict": "verdict", "truth": ["truth", "again"], "by": "system", "item": "case"},
            random,
            _of_doubtful,
        ),
        "Items": Reading(
            items.Items.from_frame,
            log,
            {**of_log, "item": "case", "by": "system"},
            {**drop, "repeats": "system"},
            _forms(items),
        ),
        "Attempts": Reading(
            attempts.Attempts.from_frame,
            log,
            {**of_log, "task": "case", "by": "system"},
            drop,
            _forms(attempts),
        ),
        "Scores": Reading(
            scores.Scores.from_frame,
            log,
            {"score": "score", "truth": "truth"},
            {**random, "scale": (1, 5), "unscored": "drop"},
            _forms(scores),
        ),
        "Scores of propensities": Reading(
            scores.Scores.from_frame,
            log,
            {"score": "fine", "truth": "truth", "propensity": "chance"},
            {"calibration": "known_propensity", **scale},
            _forms(scores),
        ),
        "Scores of numbers": Reading(
            scores.Scores.from_frame,
            labelled,
            {"score": "fine", "truth": "score"},
            {**random, **scale, "truth_scale": (1, 5)},
            _forms(scores),
        ),
        "PairedScores": Reading(
            scores.PairedScores.from_frame,
            log,
            {"by": "system", "item": "case", "score": "fine", "truth": "truth"},
            {**random, **scale},
            _of_paired,
        ),
        "read_systems": Reading(
            scores.read_systems,
            log,
            {"by": "system", "score": "fine", "truth": "truth"},
            {**random, **scale},
            lambda found: {
                (name, *key): row
                for name, data in found.items()
                for key, row in entries(scores.closed_forms(data)).items()
            },
        ),
        "Votes": Reading(
            panel.Votes.from_frame,
            votes,
            {**of_votes, "judge": "judge", "vote": "vote"},
            random,
            _forms(panel),
        ),
        "Votes of a wide table": Reading(
            panel.Votes.from_frame,
            wide,
            {**of_votes, "judges": ["a", "b", "c", "d"]},
            random,
            lambda votes: {
                (*map(str, v), str(t), votes.generators[g]): n
                for v, t, g, n in zip(
                    votes.votes, votes.truth, votes.generator, votes.count, strict=True
                )
            },
        ),
        "Votes.with_labels": Reading(_more_votes, one_each, of_votes, {}, _forms(panel)),
        "Consensus.items": Reading(
            _in_consensus,
            votes,
            {**of_votes, "judge": "judge", "vote": "vote"},
            {},
            _of_consensus,
        ),
        "Ratings": Reading(
            bj.ratings.Ratings.from_frame,
            rated,
            {"item": "item", "rater": "rater", "choice": "choice", "response_set": "response_set"},
            {"positive": "yes", "judges": ["gpt", "claude"]},
            _forms(bj.ratings, replicates=20),
        ),
        "repeats.Scores": Reading(
            bj.repeats.Scores.from_frame,
            repeated,
            {"item": "item", "judge": "judge", "score": "score"},
            {"scale": range(1, 6)},
            _of_scores,
        ),
        "repeats.Scores in order": Reading(
            bj.repeats.Scores.from_frame,
            repeated,
            {"item": "item", "judge": "judge", "score": "score", "order": "repeat"},
            {"scale": range(1, 6)},
            lambda data: _of_scores(data) | {"sequence": data.sequence},
        ),
        "repeats.Scores of a wide table": Reading(
            bj.repeats.Scores.from_frame,
            runs,
            {"item": "item", "judge": "judge", "score": ["run1", "run2", "run3", "run4"]},
            {"scale": range(1, 6)},
            _of_scores,
        ),
        "consistency": Reading(
            bj.repeats.consistency,
            repeated,
            {"item": "item", "judge": "judge", "verdict": "verdict"},
            {},
            lambda made: entries([made.only("same_twice")]),
        ),
        "Shifts": Reading(
            bias.Shifts.from_frame,
            shifts,
            {"item": "item", "variant": "variant", "score": "score", "judge": "judge"},
            {"scale": (0, 100), "design": "item", "rerun": "rerun", "missing": "drop"},
            _forms(bias),
        ),
        "Shifts of two scores": Reading(
            bias.Shifts.from_frame,
            shifts,
            {"item": "item", "variant": "variant", "score": ["score", "second"],
             "judge": "judge"},
            {"scale": (0, 100), "design": "item", "rerun": "rerun", "missing": "worst"},
            lambda data: {"lengths": np.sort(data.lengths)},
        ),
        "Shifts of a wide table": Reading(
            bias.Shifts.from_frame,
            versions,
            {"item": "item", "score": [c for c in versions if c != "item"]},
            {"scale": (0, 100), "design": "item", "variant": None},
            lambda data: {"lengths": np.sort(data.lengths)},
        ),
        "Orders": Reading(
            bias.Orders.from_frame,
            _pairs(),
            {"first": "first", "second": "second", "judge": "judge", "item": "pair"},
            {"missing": "drop"},
            lambda data: entries([bias.position_bias(data)]),
        ),
        "Orders of verdicts": Reading(
            bias.Orders.from_verdicts,
            _swaps(),
            {"item": "prompt", "shown_first": "shown", "shown_second": "beside", "verdict": "won",
             "judge": "judge"},
            {"tie_value": "tie"},
            lambda data: entries([bias.position_bias(data)]),
        ),
        "Battles": Reading(
            leaderboard.Battles.from_frame,
            _battles(),
            {"first": "shown", "second": "beside", "verdict": "won", "people": "human",
             "judge": "judge"},
            {},
            _counted,
        ),
        "Battles by item": Reading(
            leaderboard.Battles.from_frame,
            _battles(),
            {"first": "shown", "second": "beside", "verdict": ["won", "other"], "people": "human",
             "item": "prompt", "lengths": ["size", "size_too"]},
            {},
            lambda data: {**_counted(data), "style": np.sort(data.style)},
        ),
        "Battles counted": Reading(
            leaderboard.Battles.from_counts,
            _battles(),
            {"first": "shown", "second": "beside", "verdict": "won", "count": "times"},
            {},
            _counted,
        ),
        "position_shift": Reading(
            bias.position_shift,
            _places(),
            {"score": "score", "position": "position", "answer": "answer", "judge": "judge"},
            {},
            lambda made: entries([made]),
        ),
        "make_variants": Reading(
            bias.make_variants,
            pd.DataFrame({"item": _ids(6), "answer": [f"Take {i}. Stir {i}." for i in range(6)]}),
            {"text": "answer", "item": "item"},
            {"changes": ["bullets", "number"]},
            lambda made: {
                (row[0], row[1], row[2]): row[3] for row in made.itertuples(index=False, name=None)
            },
        ),
        "schematic_adherence": Reading(
            bias.schematic_adherence,
            marked[marked["system"] == "1"].reset_index(drop=True),
            {"factors": ["score", "fine"], "overall": "tone", "item": "case"},
            {"resamples": 2, "random_seed": 1},
            lambda made: {k: row[:1] for k, row in entries([made]).items()},
        ),
        "drift": Reading(
            _drifted,
            log,
            {**of_log, "item": "case", "by": "system"},
            {},
            lambda made: entries([made]),
        ),
        "Monitor": Reading(
            bj.decide.Monitor.from_frame,
            log,
            {"verdict": "verdict", "item": "case"},
            {"at_least": 0.9, "random_seed": 1},
            _of_monitor,
        ),
    }  # fmt: skip


def public_readers() -> Iterator[str]:
    """Public functions whose first argument is a table of a user's, by their qualified names."""

    def walk(module: Any) -> Iterator[Any]:
        for name in getattr(module, "__all__", ()):
            found = getattr(module, name)
            if inspect.ismodule(found) and found.__name__.startswith("bayesjudge"):
                yield from walk(found)
            elif inspect.isclass(found):
                members = (getattr(found, one) for one in dir(found) if not one.startswith("_"))
                yield from members
            else:
                yield found

    seen = set()
    for function in walk(bj):
        if not (inspect.isfunction(function) or inspect.ismethod(function)):
            continue
        documented = inspect.getdoc(function) or ""
        first = documented.partition("Parameters\n----------\n")[2].partition("\n")[0]
        own = str(PACKAGE) in inspect.getfile(inspect.unwrap(function))  # not the template's
        if own and first.endswith((" : dataframe", " : data frame")):
            seen.add(f"{function.__module__}.{function.__qualname__}")
    yield from sorted(seen)


# The code's own words ----------------------------------------------------------------------------


def files_run_by(call: Callable[[], Any]) -> set[Path]:
    """Files of the package whose code a call runs."""
    files: set[str] = set()

    def note(frame: Any, event: str, argument: Any) -> None:
        files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {Path(one) for one in files if one.startswith(str(PACKAGE))}


@functools.cache
def words_of(file: Path) -> frozenset[str]:
    """What the code in a file calls things: its texts without blanks, and names of arguments."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return frozenset(word for word in found if re.fullmatch(r"[\w.=-]{1,30}", word))


def words(files: Iterable[Path] = ()) -> list[str]:
    """The words of some files of the package, or of all."""
    chosen = list(files) or sorted(PACKAGE.glob("**/*.py"))
    return sorted(set().union(*map(words_of, chosen)))
