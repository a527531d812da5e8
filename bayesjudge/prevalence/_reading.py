"""From a table of items to the six counts, wherever the table lives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesjudge.core.errors import InputError, Problem, checking
from bayesjudge.core.label_design import design_of
from bayesjudge.core.labels import folded, listed, pass_name_of, read_labels, spell
from bayesjudge.core.numbers import number_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import (
    columns_of,
    count_cells,
    require_columns,
    require_distinct,
)

#: External labels, in this order.
LABELS = ("correct_n", "correct_pass", "incorrect_n", "incorrect_fail")
#: Columns that identify items by custom, looked at where none is named.
ITEM_COLUMNS = (
    *("item", "item_id", "id", "sample_id", "question_id", "doc_id"),
    *("example_id", "prompt_id", "instance_id"),
)
#: Columns that name systems by custom, looked at where none is named.
SYSTEM_COLUMNS = ("system", "model", "generator", "model_name", "model_id", "system_id")
REPEATED = (
    "rows of one item are not independent: read them with prevalence.items.Items.from_frame, which "
    "asks what repeats (repeats='system': a new output of the system; repeats='judge': the same "
    "output judged again), keep one row for each, or name the column that identifies rows (item=)"
)
#: More probabilities of labelling than this are not strata any more.
MOST_PROPENSITIES = 20


def read_counts(
    table: Any,
    *,
    calibration: Any,
    verdict: str | Sequence[str],
    truth: str,
    groups: dict[str, Any],
    external_labels: Any,
    **how: Any,
) -> dict[str, Any]:
    """Count a table and external labels; the arguments are those of `Counts.from_frame`."""
    design = design_of(calibration)
    judges = [verdict] if isinstance(verdict, str) else list(verdict)
    given = {name: column for name, column in groups.items() if column is not None}
    with checking("prevalence.Counts.from_frame") as require:
        unparsed = how["unparsed"]
        require(unparsed in (None, "fail", "drop"), f"unparsed={unparsed!r}: fail or drop")
        require(len(set(judges)) == len(judges) > 0, f"verdict columns must differ, got {judges}")
        several = [*given, *(["several verdict columns"] if len(judges) > 1 else [])]
        words = f"{several}: one at a time, so take a part of the table first"
        if len(judges) > 1 and "by" in given:
            words = f"{several}: {_one_judge(judges[0], given['by'])}"
        require(len(several) < 2, words)
        known = design.name == "known_propensity"
        words = "calibration='known_propensity' and propensity= (a column) come together"
        require(known == ("propensity" in given), words)
        require(not known or external_labels is None, "known propensities take no external labels")
    kind, column = next(iter(given.items()), ("", None))
    if kind == "propensity":
        _require_few(table, str(column))

    def count(rows: Any) -> tuple[dict[str, Any], tuple[str, ...] | None, str]:
        each, problems = [], []
        for one in judges:
            try:
                each.append(count_items(rows, (one, truth), by=column, beside=judges, **how))
            except InputError as error:
                problems += error.problems
        if problems:
            raise InputError("table", list(dict.fromkeys(problems)))
        if len(judges) == 1:
            return each[0]
        told = dict.fromkeys(spelling for *_, spelling in each if spelling)
        fields = {f: np.array([cells[f] for cells, *_ in each]) for f in each[0][0]}
        return fields, tuple(judges), "; ".join(told)

    counted, names, spelling = count(table)
    covariates = counted.pop("covariates", None)
    made = {**counted, "calibration": calibration, "systems": names, "spelling": spelling}
    made["pass_name"] = pass_name_of(how["meanings"][0], spelling)
    kinds = {"by": "system", "": "system"}
    if covariates is not None:
        made["covariates"] = covariates
    made["distinct"] = bool(how["item"] or item_columns(table, None, (*judges, truth)))
    made["dim"] = "judge" if len(judges) > 1 else kinds.get(kind, "stratum")
    if not given:
        tables = [table] if external_labels is None else [table, external_labels]
        columns, apart = (*judges, truth), not design.same_items
        made["label_systems"] = _other_systems(tables, columns, how["meanings"], apart)
    if external_labels is not None:
        more, of, _ = count(external_labels)
        made["external_labels"] = _labels_alone(more, of, names)
    return _by_propensity(made) if kind == "propensity" else made


def _one_judge(judge: str, by: str) -> str:
    return (
        f"one at a time: read one judge's column (verdict={judge!r}, by={by!r}), for "
        "PooledErrorRates() to pool its rates over the systems, or all judges' votes with "
        "bayesjudge.panel"
    )


def _other_systems(
    tables: list[Any], columns: tuple[str, ...], meanings: Any, apart: bool
) -> tuple[str, ...]:
    """Systems that labels come from and the items asked about do not, if a column names systems.

    Labels in the first table count if they are not of the items asked about (`apart`), those in
    others do.
    """
    column = next((c for c in columns_of(tables[0]) if c.lower() in SYSTEM_COLUMNS), None)
    if column is None or column in columns:
        return ()
    asked: set[str] = set()
    labels: set[str] = set()
    for part in tables:
        if column not in columns_of(part):
            continue
        used = columns[0], columns[-1]  # labels are the same for all judges
        cells, _ = count_cells(part, *used, column)
        how = dict(zip(("pass_value", "fail_value", "missing_value"), meanings, strict=True))
        read, _ = read_labels({name: cells[name] for name in used}, **how)
        for name, label in zip(cells[column], read[used[-1]], strict=True):
            elsewhere = part is not tables[0] or (apart and not np.isnan(label))
            (labels if elsewhere else asked).add(str(name))
    return tuple(sorted(labels - asked))


def _labels_alone(
    counted: dict[str, Any], names: tuple[str, ...] | None, wanted: tuple[str, ...] | None
) -> np.ndarray:
    """Labels from external_labels, in the order of the table's systems."""
    with checking("external_labels") as require:
        rows = int(np.sum(counted["test_n"]))
        require(
            rows == 0,
            f"{how_many(rows, 'row', 'have')} no human label; leave them out: they tell nothing",
        )
        strange = sorted(set(names or ()) - set(wanted or ()))
        require(not strange, f"{strange} are not among those of the table, {list(wanted or ())}")
    cells = np.array([counted[name] for name in LABELS])
    if wanted is None or names is None:
        return cells
    places = [list(names).index(name) if name in names else None for name in wanted]
    return np.array([cells[:, i] if i is not None else 0 * cells[:, 0] for i in places]).T


def _require_few(table: Any, column: str) -> None:
    """Refuse what is far from strata before counting it."""
    import narwhals as nw

    require_columns(table, column)
    found = nw.from_native(table).lazy().select(nw.col(column).n_unique()).collect()
    distinct = int(found[column][0])
    with checking("column of propensities") as require:
        # 0.1 and 0.10 are one, as text they are two
        require(distinct <= 50 * MOST_PROPENSITIES, _too_many(distinct))


def _too_many(distinct: int) -> str:
    return (
        f"{distinct} different propensities make too many strata (at most {MOST_PROPENSITIES}); "
        "draw labels with a few, or give classes of them"
    )


def _by_propensity(made: dict[str, Any]) -> dict[str, Any]:
    """Make strata of one propensity each; a design that is no more than another is that one."""
    names = list(made["systems"])
    numbers = np.array([number_of(name) for name in names], float)
    with checking("column of propensities") as require:
        wrong = [name for name, x in zip(names, numbers, strict=True) if not 0 < x <= 1]
        require(not wrong, f"{wrong[:3]} are no probabilities in (0, 1]")
        known, which = np.unique(numbers, return_inverse=True)
        require(known.size <= MOST_PROPENSITIES, _too_many(known.size))
    # 0.1 and 0.10 are one
    counts = {f: v for f, v in made.items() if isinstance(v, np.ndarray)}
    made = made | {f: np.bincount(which, v).astype(int) for f, v in counts.items()}
    made["systems"] = tuple(f"{x:g}" for x in known)
    items = made["test_n"] + made["correct_n"] + made["incorrect_n"]
    passes = made["test_pass"] + made["correct_pass"] + made["incorrect_n"] - made["incorrect_fail"]
    # one propensity is a random sample; one for passes and one for fails are labels by verdict
    same = items.size == 1
    if same or (items.size == 2 and {0, 1} == set((passes / items).tolist())):
        totals = {f: v.sum() for f, v in made.items() if isinstance(v, np.ndarray)}
        design = "random" if same else "by_verdict"
        return {**totals, "calibration": design, "systems": None, "dim": "system"}
    return {**made, "propensity": known}


def _asked_fails(verdicts: Any, n_rows: np.ndarray, read: np.ndarray, fails: Any) -> str:
    """How many verdicts are fails only because that was asked for, beside the judge's own."""
    said = np.array([folded(one) for one in verdicts], object)
    asked = {folded(one): spell(one) for one in listed(fails) or ()}
    named = np.isin(said, list(asked))
    if not ((read == 0) & ~named).any():
        return ""
    counts = {word: int(n_rows[said == one].sum()) for one, word in asked.items()}
    told = [f"{n:,} {word}" for word, n in counts.items() if n]
    return f"; of the verdicts {', '.join(told)}, read as fail" if told else ""


def count_items(
    table: Any,
    columns: tuple[str, str],
    *,
    by: str | Sequence[str] | None,
    beside: Sequence[str] = (),
    item: str | None,
    meanings: tuple[Any, Any, Any],
    unparsed: str | None,
) -> tuple[dict[str, Any], tuple[str, ...] | None, str]:
    """Count items by verdict and label, and tell how labels were read; see `Counts.from_frame`.

    Other judges' verdicts, in columns `beside` them, do not name items.
    """
    verdict, truth = columns
    keys = [by] if isinstance(by, str) else list(by or ())
    if item is not None:
        require_distinct(table, *keys, item, remedy=REPEATED)
    for identifier in item_columns(table, item, (*columns, *keys, *beside)):
        require_distinct(table, *keys, identifier, remedy=REPEATED, optional=True)
    cells, n_rows = count_cells(table, verdict, truth, names=keys)
    passes, fails, none = meanings
    read, spelling = read_labels(
        {column: cells[column] for column in columns},
        pass_value=passes,
        fail_value=fails,
        missing_value=none,
    )
    v, t = read[verdict], read[truth]
    spelling += _asked_fails(cells[verdict], n_rows, v, fails)
    missing = np.isnan(v)
    with checking(f"column {verdict!r}") as require:
        n_missing = int(n_rows[missing].sum())
        words = (
            f"{how_many(n_missing, 'row', 'have')} no verdict; say what they are: unparsed='fail' "
            f"({not_passed(passes)}, and calibration corrects that) or unparsed='drop'"
        )
        require(n_missing == 0 or unparsed, Problem(words, "no-verdict", "unparsed", n_missing))
    if unparsed == "fail":
        v = np.where(missing, 0.0, v)
    told, test = ~np.isnan(v), np.isnan(t)
    kinds = {
        "test_n": test & told,
        "test_pass": test & (v == 1),
        "correct_n": (t == 1) & told,
        "correct_pass": (t == 1) & (v == 1),
        "incorrect_n": (t == 0) & told,
        "incorrect_fail": (t == 0) & (v == 0),
        "unparsed": missing,
    }
    if not keys:
        return {name: int(n_rows[mask].sum()) for name, mask in kinds.items()}, None, spelling
    rows = list(zip(*(cells[key] for key in keys), strict=True))
    labels = cells[by] if isinstance(by, str) else [_label(keys, row) for row in rows]
    systems, first, which = np.unique(
        np.array(labels, object), return_index=True, return_inverse=True
    )
    summed: dict[str, Any] = {
        name: np.bincount(which, n_rows * mask, systems.size).astype(int)
        for name, mask in kinds.items()
    }
    if not isinstance(by, str):  # what each stratum's covariates are
        summed["covariates"] = {k: tuple(rows[i][at] for i in first) for at, k in enumerate(keys)}
    return summed, tuple(systems.tolist()), spelling


def not_passed(passes: Any) -> str:
    """What it means that a verdict that could not be read is the judge's fail."""
    name = pass_name_of(passes)
    return f"the judge did not call them {name!r}" if name else "the judge did not pass them"


def _label(keys: Sequence[str], row: Sequence[str]) -> str:
    """For example ``topic=law, length=120``."""
    return ", ".join(f"{key}={value}" for key, value in zip(keys, row, strict=True))


def item_columns(table: Any, item: str | None, read: Iterable[str]) -> list[str]:
    """Columns that identify items by custom, if none is named and they are not read otherwise."""
    if item is not None:
        return []
    return [c for c in columns_of(table) if c.lower() in ITEM_COLUMNS and c not in read]
