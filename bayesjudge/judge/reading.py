"""What to read first: outputs on which judge and people differ, and where the judge errs more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import checking, expect
from bayesjudge.core.intervals import hypergeometric_tails, z_score
from bayesjudge.core.labels import read_labels
from bayesjudge.core.numbers import scores_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import columns_of, each_name, free_name
from bayesjudge.verdicts.reading import ITEM_COLUMNS

if TYPE_CHECKING:
    import pandas as pd

#: How often people's labels are wrong, if nobody says.
PEOPLE_ERR = 0.05
#: Share of false findings among all, on average; of tables without any, that of false alarms.
FALSE_DISCOVERY = 0.05
#: Most values of a column that is no number, and fewest labelled outputs of one.
MOST_VALUES, FEWEST = 20, 5
#: Letters, on average, from which on a column is a text, of which the length counts.
TEXT = 40


class Finding(NamedTuple):
    """Where a judge errs more than elsewhere, or moves with a number that people do not follow.

    Parameters
    ----------
    column : str
        The column.
    value : str
        Its value; empty of a number.
    text : str
        The finding in words.
    p_value : float
        Of this finding alone; Benjamini and Hochberg's rule covers all that were tried.
    labelled : int
        Labelled outputs.
    """

    column: str
    value: str
    text: str
    p_value: float
    labelled: int


class Rows(NamedTuple):
    """What each judge and people said, row by row; ``nan`` if nothing."""

    said: np.ndarray
    truth: np.ndarray
    numeric: bool


def disagreements(
    table: Any,
    *,
    verdict: str | Sequence[str] = "verdict",
    truth: str = "truth",
    numeric: bool = False,
    people: Sequence[str] = (),
    people_err: float = PEOPLE_ERR,
    pass_value: Any = None,
    fail_value: Any = None,
    missing_value: Any = None,
) -> pd.DataFrame:
    r"""List the outputs on which the judge and people differ, the likeliest judge's errors first.

    Parameters
    ----------
    table : dataframe
        One row per output; pandas, polars or Arrow.
    verdict : str or sequence of str
        Column with the judge's verdict or score. The first is the judge that is meant; others say
        who is probably wrong.
    truth : str
        Column with the human label.
    numeric : bool, default False
        Whether both are numbers: then those farthest apart come first.
    people : sequence of str, optional
        Columns with the label of each of several people, of which `truth` is what was settled, or
        one person's: how they err is then told by them (`prevalence.people`).
    people_err : float, default 0.05
        How often a label is wrong, in (0, 0.5), where several people gave none.
    pass_value, fail_value, missing_value : scalar or list, optional
        Labels that mean pass, fail and none.

    Returns
    -------
    pandas.DataFrame
        ``row`` (from 1), ``judge_wrong`` and ``label_wrong`` (probabilities; of numbers
        ``judge_less_people``), and all columns of the table.

    Raises
    ------
    InputError
        If a column is missing, a label is not understood, or `people_err` is out of range.

    Notes
    -----
    With verdicts independent given the truth, and rates of each judge as labels show them, the
    label is wrong by Bayes' rule; judges that agree with the label speak for it. With `people` the
    first judge and they err independently given the truth, at the rates of
    `prevalence.people.PeopleErrors`, over whose exact posterior it is averaged; `truth` itself
    tells nothing more.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"verdict": [1, 1, 0, 1], "truth": [1, 0, 0, None]})
    >>> disagreements(log)[["row", "verdict", "truth"]].astype(int).values.tolist()
    [[2, 1, 0]]
    """
    with checking("judge.disagreements") as require:
        inside = 0 < people_err < 0.5
        require(inside, "must lie in (0, 0.5)", people_err=people_err)
        require(not (people and numeric), "people= needs verdicts of pass and fail")
    frame, names = _pandas(table), each_name(verdict)
    meanings = pass_value, fail_value, missing_value
    rows = _rows(frame, names, truth, numeric, meanings)
    off = rows.said[0] - rows.truth
    apart = np.flatnonzero(~np.isnan(off) & (off != 0))
    listed = frame.iloc[apart].reset_index(drop=True)

    def put(name: str, values: np.ndarray) -> None:
        listed.insert(0, free_name(name, listed.columns), values)

    if numeric:
        put("judge_less_people", off[apart])
        order = np.argsort(-np.abs(off[apart]), kind="stable")
    else:
        wrong = _label_wrong(rows, people_err)
        if people:
            good = _good_by_people(frame, names[0], people, meanings)
            wrong = np.where(np.isnan(good), wrong, np.where(rows.truth == 1, 1 - good, good))
        wrong = wrong[apart]
        put("label_wrong", wrong.round(3))
        put("judge_wrong", (1 - wrong).round(3))
        order = np.argsort(wrong, kind="stable")
    put("row", apart + 1)
    return listed.iloc[order].reset_index(drop=True)


def where_it_errs(
    table: Any,
    *,
    verdict: str = "verdict",
    truth: str = "truth",
    numeric: bool = False,
    columns: Sequence[str] | None = None,
    pass_value: Any = None,
    fail_value: Any = None,
    missing_value: Any = None,
) -> list[Finding]:
    """Find values of columns in which the judge errs more, and numbers it follows beyond people.

    Parameters
    ----------
    table : dataframe
        One row per output; pandas, polars or Arrow.
    verdict, truth : str
        Columns of the judge and of people.
    numeric : bool, default False
        Whether both are numbers.
    columns : sequence of str, optional
        Which columns to look at; by default all others of few values, numbers, and texts, of which
        the length counts.
    pass_value, fail_value, missing_value : scalar or list, optional
        Labels that mean pass, fail and none.

    Returns
    -------
    list of Finding
        Those that Benjamini and Hochberg's rule keeps at 0.05, the surest first. Errors in a value
        against the rest: Fisher's exact test (of numbers Welch's, of how far the two are apart). A
        number: the slope of the verdict given the label, with the heteroscedasticity-consistent
        error HC3; of numbers above 0 that spread over more than a factor of four, and of the length
        of texts, by doubling.

    Raises
    ------
    InputError
        If a column is missing or a label is not understood.

    References
    ----------
    Benjamini & Hochberg (1995), J. R. Stat. Soc. B 57, 289-300; Long & Ervin (2000), Am. Stat. 54,
    217-224.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"verdict": [1, 0] * 40, "truth": [1, 0] * 20 + [1] * 40,
    ...                     "topic": ["law"] * 40 + ["art"] * 40})
    >>> [(one.column, one.value) for one in where_it_errs(log)]
    [('topic', 'art')]
    """
    # without a column that could tell where, nothing is read
    names, both = {*columns_of(table)}, {verdict, truth}
    if columns is None and both <= names <= both | {*ITEM_COLUMNS}:
        return []
    frame = _pandas(table)
    rows = _rows(frame, [verdict], truth, numeric, (pass_value, fail_value, missing_value))
    known = ~np.isnan(rows.said[0] - rows.truth)
    said, people, labelled = rows.said[0][known], rows.truth[known], frame[known]
    if columns is None:
        columns = [str(c) for c in frame.columns if c not in (verdict, truth)]
        columns = [
            c for c in columns if c.lower() not in ITEM_COLUMNS and not _names_rows(labelled[c])
        ]
    missing = [c for c in columns if c not in frame.columns]
    problem = f"no columns {missing}; there are {list(map(str, frame.columns))}"
    expect("judge.where_it_errs", not missing, problem)
    findings = [
        finding for c in columns for finding in _looked_at(labelled[c], said, people, numeric)
    ]
    order = sorted(findings, key=lambda finding: finding.p_value)
    ranks = np.arange(1, len(order) + 1)
    p_values = np.array([finding.p_value for finding in order])
    kept = p_values <= FALSE_DISCOVERY * ranks / max(len(order), 1)
    return order[: int(ranks[kept].max(initial=0))]


def _names_rows(cells: pd.Series) -> bool:
    """Whether short words, or whole numbers in order, name each row."""
    text = cells.astype(str)
    if not text.is_unique:
        return False
    whole = bool(text.str.fullmatch(r"\d+").all()) and cells.is_monotonic_increasing
    return whole or bool(text.str.fullmatch(r"(?=.*[^\d.\-+e])\S+").all())


def _pandas(table: Any) -> pd.DataFrame:
    import narwhals as nw

    frame = nw.from_native(table)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return frame.to_pandas().reset_index(drop=True)


def _rows(
    frame: pd.DataFrame, names: Sequence[str], truth: str, numeric: bool, meanings: Any
) -> Rows:
    missing = [c for c in (*names, truth) if c not in frame.columns]
    expect("table", not missing, f"no columns {missing}; there are {list(map(str, frame.columns))}")
    if numeric:
        read = {name: scores_of(frame[name], meanings[2]) for name in (*names, truth)}
    else:
        cells = {
            name: frame[name].astype(object).where(frame[name].notna(), None).tolist()
            for name in (*names, truth)
        }
        passes, fails, none = meanings
        meant, _ = read_labels(cells, pass_value=passes, fail_value=fails, missing_value=none)
        read = {name: np.asarray(column, float) for name, column in meant.items()}
    return Rows(np.array([read[name] for name in names]), read[truth], numeric)


def _label_wrong(rows: Rows, people_err: float) -> np.ndarray:
    """Probability that each label is wrong, given the verdicts of all judges."""
    known = ~np.isnan(rows.truth)
    good = (np.nansum(rows.truth) + 1) / (known.sum() + 2)
    odds = np.where(rows.truth == 1, (1 - people_err) / people_err, people_err / (1 - people_err))
    odds = odds * good / (1 - good)
    for said in rows.said:
        both = known & ~np.isnan(said)
        rates = [  # of a pass, given a label; with one more of each
            (said[both & (rows.truth == t)].sum() + 1) / ((both & (rows.truth == t)).sum() + 2)
            for t in (0, 1)
        ]
        passed, failed = rates[1] / rates[0], (1 - rates[1]) / (1 - rates[0])
        odds = odds * np.where(said == 1, passed, np.where(said == 0, failed, 1.0))
    chance = odds / (1 + odds)
    return np.where(rows.truth == 1, 1 - chance, chance)


def _good_by_people(
    frame: pd.DataFrame, verdict: str, people: Sequence[str], meanings: Any
) -> np.ndarray:
    """Probability that an output is good, by each person's label and the verdict; ``nan`` of none.

    Which design chose the labels moves the share of good outputs only, not how labels err.
    """
    from bayesjudge.prevalence.people import doubtful

    with checking("judge.disagreements") as require:
        words = f"people= takes a column of each of two people or more, got {[*people]}"
        require(len(people) > 1, f"{words}: name the other person's too, which truth= may be")
        missing = [c for c in people if c not in frame.columns]
        require(not missing, f"no columns {missing}; there are {list(map(str, frame.columns))}")
    row, names = free_name("row", frame.columns), ("pass_value", "fail_value", "missing_value")
    table = frame[[verdict, *people]].assign(**{row: np.arange(len(frame))})
    how = {name: value for name, value in zip(names, meanings, strict=True) if value is not None}
    labels = doubtful(
        table, verdict=verdict, truth=list(people), item=row, calibration="random", **how
    )
    good = np.full(len(frame), np.nan)
    chance = np.where(labels["label"] == 1, 1 - labels["wrong"], labels["wrong"])
    good[labels["item"].to_numpy(int)] = chance
    return good


def _looked_at(
    cells: pd.Series, said: np.ndarray, people: np.ndarray, numeric: bool
) -> Iterator[Finding]:
    """All that one column says, whether it is kept or not."""
    import pandas as pd

    name = str(cells.name)
    number = pd.to_numeric(cells, errors="coerce").to_numpy(float)
    text = cells.astype(str)
    some = ~(cells.isna() | (text == "")).to_numpy()
    values = text[some].value_counts()
    is_number = bool(np.isfinite(number[some]).all()) and len(values) > MOST_VALUES / 2
    if some.sum() < 2 * FEWEST:
        return
    if is_number or text[some].str.len().mean() >= TEXT:
        x = number if is_number else text.str.len().to_numpy(float)
        what = name if is_number else f"length of {name}"
        yield from _slope(name, what, x, said, people, some, numeric)
    elif len(values) <= MOST_VALUES:
        off = np.abs(said - people)
        for value, n in values.items():
            here = some & (text == value).to_numpy()
            if n >= FEWEST and (some & ~here).sum() >= FEWEST:
                yield _more_errors(name, str(value), off[here], off[some & ~here], numeric)


def _more_errors(
    name: str, value: str, within: np.ndarray, rest: np.ndarray, numeric: bool
) -> Finding:
    if numeric:
        p = _larger_mean(within, rest)
        here, there = (f"{part.mean():.2g}" for part in (within, rest))
        words = f"judge and people are {here} apart on average, elsewhere {there}"
    else:
        wrong, n = within.sum(), len(within)
        _, p = hypergeometric_tails(wrong, n + len(rest), wrong + rest.sum(), n)  # Fisher's test
        here, there = (f"{100 * part.mean():.0f} %" for part in (within, rest))
        words = f"the judge is wrong on {here}, elsewhere on {there}"
    text = f"{name} {value}: {words} ({how_many(len(within), 'labelled output')})"
    return Finding(name, value, text, p, len(within))


def _larger_mean(within: np.ndarray, rest: np.ndarray) -> float:
    """Welch's test that the first mean is larger, by its p-value; 1 of numbers that do not vary."""
    from scipy.special import stdtr

    parts = np.array([x.var(ddof=1) / len(x) for x in (within, rest)])
    if parts.sum() == 0:
        return float(within.mean() <= rest.mean())
    free = parts.sum() ** 2 / (parts**2 / (np.array([len(within), len(rest)]) - 1)).sum()
    return float(stdtr(free, (rest.mean() - within.mean()) / np.sqrt(parts.sum())))


def _slope(
    name: str,
    what: str,
    x: np.ndarray,
    said: np.ndarray,
    people: np.ndarray,
    some: np.ndarray,
    numeric: bool,
) -> Iterator[Finding]:
    """How the verdict moves with a number, at the same label."""
    from scipy.special import stdtr

    x, said, people = x[some], said[some], people[some]
    doubling = bool(x.min() > 0 and x.max() > 4 * x.min())
    x = np.log2(x) if doubling else (x - x.mean()) / (x.std() or 1.0)
    design = np.column_stack([np.ones_like(x), people, x])
    if np.linalg.matrix_rank(design) < 3 or len(x) < 2 * FEWEST:
        return
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ said
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    left = (said - design @ slopes) / np.maximum(1 - leverage, 1e-6)
    error = np.sqrt((inverse @ (design.T * left**2) @ design @ inverse)[2, 2])
    free = len(x) - 3
    p = 2 * float(stdtr(free, -abs(slopes[2]) / error)) if error > 1e-12 else 1.0
    unit = "doubling" if doubling else "standard deviation"
    half = z_score(0.95) * error
    size, low, high = abs(slopes[2]), abs(slopes[2]) - half, abs(slopes[2]) + half
    more = "more" if slopes[2] > 0 else "less"
    if numeric:
        words = f"at the same label the judge gives {size:.2g} {more} ({low:.2g} to {high:.2g})"
    else:
        words = (
            f"at the same label the judge passes {100 * size:.0f} points {more} "
            f"({100 * low:.0f} to {100 * high:.0f})"
        )
    text = f"{what}: {words} per {unit} ({how_many(len(x), 'labelled output')})"
    yield Finding(name, "", text, p, len(x))
