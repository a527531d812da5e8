"""One reader of tables of verdicts: rows are counted where they live, and come as patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesjudge.core.errors import Problem, checking
from bayesjudge.core.item_keys import hash_items, keep_keys
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.labels import folded, listed, pass_name_of, spell
from bayesjudge.core.numbers import number_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import (
    columns_of,
    count_cells,
    is_in_memory,
    read_rows,
    require_columns,
    require_distinct,
)
from bayesjudge.verdicts.labels import Labels, Meanings, meanings_of
from bayesjudge.verdicts.table import MISSING, Verdicts

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
#: The response of rows without a verdict, if that is one more verdict.
UNPARSED = "(unparsed)"
#: What `unparsed` makes of rows without a verdict, of passes and fails and of classes.
OF_VERDICTS, OF_CLASSES = ("fail", "drop"), ("verdict", "drop")


@dataclass(frozen=True)
class Reading:
    """Which columns of a table say what, and how; the arguments of `Verdicts.from_frame`."""

    subject: str
    calibration: str | LabelDesign
    verdict: tuple[str, ...]
    truth: str
    groups: Mapping[str, Any]
    item: str | None
    meanings: Meanings
    classes: Sequence[Any] | None
    unparsed: str | None

    @property
    def grouped_by(self) -> tuple[str, list[str]]:
        """Which of `by`, `stratum`, `covariates` and `propensity` is given, and its columns."""
        for kind, columns in self.groups.items():
            if columns is not None:
                return kind, [columns] if isinstance(columns, str) else list(columns)
        return "", []

    def require_possible(self) -> None:
        """Refuse arguments that do not go together."""
        given = [kind for kind, columns in self.groups.items() if columns is not None]
        ways = OF_VERDICTS if self.classes is None else OF_CLASSES
        with checking(self.subject) as require:
            words = " or ".join(ways)
            require(self.unparsed in (None, *ways), f"unparsed={self.unparsed!r}: {words}")
            differ = len(set(self.verdict)) == len(self.verdict) > 0
            require(differ, f"verdict columns must differ, got {list(self.verdict)}")
            several = [*given, *(["several verdict columns"] if len(self.verdict) > 1 else [])]
            words = f"{several}: one at a time, so take a part of the table first"
            if len(self.verdict) > 1 and "by" in given:
                words = (
                    f"{several}: one at a time: read one judge's column (verdict="
                    f"{self.verdict[0]!r}, by={self.groups['by']!r}), for PooledErrorRates() to "
                    "pool its rates over the systems, or all judges' votes with bayesjudge.panel"
                )
            require(len(several) < 2, words)
            known = design_of(self.calibration).name == "known_propensity"
            words = "calibration='known_propensity' and propensity= (a column) come together"
            require(known == ("propensity" in given), words)


def reading(
    subject: str,
    *,
    calibration: str | LabelDesign,
    verdict: str | Sequence[str] = "verdict",
    truth: str = "truth",
    by: str | None = None,
    stratum: str | None = None,
    covariates: Sequence[str] | None = None,
    propensity: str | None = None,
    item: str | None = None,
    classes: Iterable[Any] | None = None,
    pass_value: Any = None,
    fail_value: Any = None,
    missing_value: Any = None,
    unparsed: str | None = None,
) -> Reading:
    """Say how a table is to be read; refuse what cannot be."""
    groups = {"by": by, "stratum": stratum, "propensity": propensity}
    groups["covariates"] = None if covariates is None else tuple(covariates)  # type: ignore[assignment]
    made = Reading(
        subject,
        calibration,
        (verdict,) if isinstance(verdict, str) else tuple(verdict),
        truth,
        groups,
        item,
        (pass_value, fail_value, missing_value),
        None if classes is None else tuple(classes),
        unparsed,
    )
    made.require_possible()
    return made


def read_verdicts(table: Any, how: Reading, *, guess_items: bool = False) -> Verdicts:
    """Count the rows of a table with a column a judge and a row an output.

    `guess_items` looks at a column that names items by custom, if none is named, and lets the
    table remember its items.
    """
    kind, keys = how.grouped_by
    if kind == "propensity":
        _require_few(table, keys[0])
    if how.item is not None:
        require_distinct(table, *keys, how.item, remedy=REPEATED)
    custom = item_columns(table, how) if guess_items else []
    for column in custom:
        require_distinct(table, *keys, column, remedy=REPEATED, optional=True)
    cells, n_rows = count_cells(table, *how.verdict, how.truth, names=keys)
    labels = read_cells(cells, n_rows, how)
    response, responses, parsed = _settled(cells, n_rows, labels, how)
    groups = _Groups(kind, keys, cells, how.subject)
    unparsed = np.zeros((len(groups.names), len(how.verdict)), np.int64)
    for judge, lost in enumerate((~parsed).T):
        np.add.at(unparsed[:, judge], groups.of_row[lost], n_rows[lost])
    kept = (response != MISSING).any(axis=1) | (len(how.verdict) > 1)
    made = Verdicts(
        response[kept],
        labels.of(how.truth, cells[how.truth])[kept],
        groups.of_row[kept],
        n_rows[kept],
        how.calibration,
        groups=groups.names,
        judges=how.verdict,
        classes=labels.classes,
        responses=responses,
        dim="system" if kind in ("", "by") else "stratum",
        propensity=groups.propensity,
        covariates=groups.covariates,
        unparsed=unparsed,
        distinct=bool(how.item or custom),
        spelling=labels.spelling + _asked_fails(cells, n_rows, labels, how),
        pass_name=pass_name_of(how.meanings[0], labels.spelling),
    ).collapsed()
    named = [how.item] if how.item else custom[:1]
    if guess_items and named and is_in_memory(table):
        rows = read_rows(table, names=keys, optional=named).dropna()
        keep_keys(made, hash_items(*(rows[column] for column in (*keys, *named))))
    return made


def read_cells(cells: Mapping[str, Sequence[Any]], n_rows: np.ndarray, how: Reading) -> Labels:
    """What the labels of counted combinations mean."""
    found: dict[str, dict[Any, int]] = {}
    for column in (*how.verdict, how.truth):
        seen: dict[Any, int] = {}
        for cell, n in zip(cells[column], n_rows.tolist(), strict=True):
            if cell is not None:
                seen[cell] = seen.get(cell, 0) + n
        found[column] = seen
    return meanings_of(found, how.meanings, how.classes, how.subject)


def _settled(
    cells: Mapping[str, Sequence[Any]], n_rows: np.ndarray, labels: Labels, how: Reading
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
    """The verdicts, what they can be, and where there was one, after `unparsed` had its say."""
    response = np.column_stack([labels.of(column, cells[column]) for column in how.verdict])
    parsed = response != MISSING
    lost = {
        column: n
        for column, there in zip(how.verdict, parsed.T, strict=True)
        if (n := int(n_rows[~there].sum()))
    }
    require_settled(lost, how)
    if how.unparsed == "fail":
        return np.where(parsed, response, 0), labels.classes, parsed
    if how.unparsed == "verdict" and lost:
        response = np.where(parsed, response, len(labels.classes))
        return response, (*labels.classes, UNPARSED), np.ones_like(parsed)
    return response, labels.classes, parsed


def require_settled(lost: Mapping[str, int], how: Reading) -> None:
    """Ask what rows without a verdict are, if there are any; `lost` are their numbers by column."""
    ways = "unparsed='verdict' (one more verdict, whose classes the labels tell)"
    if how.classes is None:
        ways = f"unparsed='fail' ({not_passed(how.meanings[0])}, and calibration corrects that)"
    one = len(how.verdict) == 1
    with checking(f"column {how.verdict[0]!r}" if one else "table") as require:
        for column, n in lost.items():
            where = "" if one else f"column {column!r}: "
            told = f"{how_many(n, 'row', 'have')} no verdict; say what they are: {ways}"
            words = f"{where}{told} or unparsed='drop'"
            require(how.unparsed, Problem(words, "no-verdict", "unparsed", n))


def not_passed(passes: Any) -> str:
    """What it means that a verdict that could not be read is the judge's fail."""
    name = pass_name_of(passes)
    return f"the judge did not call them {name!r}" if name else "the judge did not pass them"


def _asked_fails(
    cells: Mapping[str, Sequence[Any]], n_rows: np.ndarray, labels: Labels, how: Reading
) -> str:
    """How many verdicts are fails only because that was asked for, beside the judge's own."""
    asked = {folded(one): spell(one) for one in listed(how.meanings[1]) or ()}
    told: list[str] = []
    for column in how.verdict:
        said = np.array([folded(cell) for cell in cells[column]], object)
        own = (labels.of(column, cells[column]) == 0) & ~np.isin(said, list(asked))
        counts = {word: int(n_rows[said == one].sum()) for one, word in asked.items()}
        words = [f"{n:,} {word}" for word, n in counts.items() if n and own.any()]
        if words:
            told.append(f"; of the verdicts {', '.join(words)}, read as fail")
    return "".join(told)


class _Groups:
    """Systems or strata: their names in order, that of each counted row, and what they have."""

    def __init__(
        self, kind: str, keys: Sequence[str], cells: Mapping[str, Sequence[Any]], subject: str
    ):
        self.propensity: np.ndarray | None = None
        self.covariates: dict[str, tuple[Any, ...]] | None = None
        size = len(next(iter(cells.values())))
        if not keys:
            self.names: tuple[str, ...] = ("",)
            self.of_row = np.zeros(size, np.int64)
            return
        rows = list(zip(*(cells[key] for key in keys), strict=True))
        if kind == "propensity":
            self.propensity, self.of_row = np.unique(_chances(cells[keys[0]]), return_inverse=True)
            self.names = tuple(f"{x:g}" for x in self.propensity)
            return
        labels = [row[0] for row in rows]
        if kind == "covariates":  # for example topic=law, length=120
            pairs = [zip(keys, row, strict=True) for row in rows]
            labels = [", ".join(f"{key}={value}" for key, value in each) for each in pairs]
        found = np.unique(np.array(labels, object), return_index=True, return_inverse=True)
        names, first, self.of_row = found
        self.names = tuple(names.tolist())
        if kind == "covariates":
            columns = zip(*(rows[i] for i in first), strict=True)
            self.covariates = dict(zip(keys, columns, strict=True))


def _chances(names: Sequence[str]) -> np.ndarray:
    """Propensities as numbers: 0.1 and 0.10 are one."""
    numbers = np.array([number_of(name) for name in names], float)
    with checking("column of propensities") as require:
        inside = (numbers > 0) & (numbers <= 1)
        wrong = list(dict.fromkeys(np.array(names, object)[~inside]))
        require(not wrong, f"{wrong[:3]} are no probabilities in (0, 1]")
        distinct = np.unique(numbers).size
        require(distinct <= MOST_PROPENSITIES, _too_many(distinct))
    return numbers


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


def as_plain_design(verdicts: Verdicts) -> Verdicts:
    """Known propensities that are no more than another design, as that one.

    One propensity is a random sample; one for passes and one for fails are labels by verdict.
    """
    if verdicts.propensity is None:
        return verdicts
    counts = verdicts.counts[0].sum(axis=1)
    share = counts[:, 1] / counts.sum(axis=1)
    if verdicts.propensity.size == 1:
        return replace(verdicts.merged(), calibration="random")
    if verdicts.propensity.size == 2 and {*share.tolist()} == {0, 1}:
        return replace(verdicts.merged(), calibration="by_verdict")
    return verdicts


def item_columns(table: Any, how: Reading) -> list[str]:
    """Columns that identify items by custom, if none is named and they are not read otherwise."""
    if how.item is not None:
        return []
    read = {*how.verdict, how.truth, *how.grouped_by[1]}
    return [c for c in columns_of(table) if c.lower() in ITEM_COLUMNS and c not in read]


def other_systems(tables: Sequence[Any], how: Reading) -> tuple[str, ...]:
    """Systems that labels come from and the items asked about do not, if a column names systems.

    Labels in the first table count if they are not of the items asked about, those in others do.
    """
    column = next((c for c in columns_of(tables[0]) if c.lower() in SYSTEM_COLUMNS), None)
    if how.grouped_by[0] or column is None or column in (*how.verdict, how.truth):
        return ()
    apart = not design_of(how.calibration).same_items
    asked: set[str] = set()
    labels: set[str] = set()
    for part in tables:
        if column not in columns_of(part):
            continue
        # labels are the same for all judges
        one = replace(how, verdict=how.verdict[:1])
        cells, n_rows = count_cells(part, *one.verdict, how.truth, column)
        truth = read_cells(cells, n_rows, one).of(how.truth, cells[how.truth])
        for name, label in zip(cells[column], truth, strict=True):
            elsewhere = part is not tables[0] or (apart and label != MISSING)
            (labels if elsewhere else asked).add(str(name))
    return tuple(sorted(labels - asked))
