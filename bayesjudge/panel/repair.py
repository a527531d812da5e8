"""Repair what judges wrote, and say what was repaired."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import check_by_name, checking

if TYPE_CHECKING:
    import pandas as pd


#: Similarity, of 100, from which two texts are taken for the same (Jain et al. 2025).
SAME_TEXT = 85.0
SPELLINGS = {
    "valid": ("valid", "correct", "true", "yes", "pass", "1"),
    "invalid": ("invalid", "incorrect", "false", "no", "fail", "wrong", "0"),
}


@dataclass(frozen=True, eq=False)
class Repaired:
    """Repaired values with an account of what changed.

    Parameters
    ----------
    values : pandas.Series
        What to use; empty if nothing could be made of a value.
    changes : pandas.DataFrame
        One row per distinct change: ``before``, ``after``, ``why``, ``times``.
    """

    values: pd.Series
    changes: pd.DataFrame

    def __str__(self) -> str:
        lost = int(self.changes.loc[self.changes["after"].isna(), "times"].sum())
        done = int(self.changes["times"].sum()) - lost
        return f"{done} of {len(self.values)} values repaired, {lost} could not be read"


def repair_labels(
    values: Sequence[Any], spellings: Mapping[str, Sequence[str]] | None = None
) -> Repaired:
    """Unify the spellings of labels.

    Case, blanks and punctuation around a label do not matter. A label that is none of the known
    spellings becomes empty, and is counted; it is never guessed.

    Parameters
    ----------
    values : sequence
        What the judge wrote, one value per row.
    spellings : mapping, optional
        Known spellings by label; valid and invalid with their usual synonyms by default.

    Returns
    -------
    Repaired
        Labels, and what changed.

    Raises
    ------
    InputError
        If one spelling stands for two labels, or `spellings` is not a dict of lists.

    Examples
    --------
    >>> repair_labels(["Valid.", "incorrect", "maybe"]).values.tolist()
    ['valid', 'invalid', None]
    """
    import pandas as pd

    known: dict[str, str] = {}
    with checking("panel.repair_labels") as require:
        by_label = check_by_name(list, tuple, set, spellings=spellings or SPELLINGS)
        for label, words in by_label.items():
            for word in (label, *words):
                plain = _plain(word)
                other = known.setdefault(plain, label)
                require(other == label, f"{word!r} stands for both {other!r} and {label!r}")
    series = pd.Series(list(values), dtype=object)
    labels = series.map(lambda v: None if pd.isna(v) else known.get(_plain(v)))
    labels = labels.astype(object).where(labels.notna(), None)
    why = pd.Series("spelling", index=series.index).where(labels.notna(), "unknown label")
    return Repaired(labels, _changes(series, labels, why))


def align_texts(
    texts: Sequence[Any],
    expected: Sequence[str],
    *,
    text_lines: Sequence[Any] | None = None,
    expected_lines: Sequence[Any] | None = None,
    least: float = SAME_TEXT,
) -> Repaired:
    """Find for each text that a judge repeated the text that it was given.

    Judges quote what they judge, and misquote. A text is matched with the most similar one (by
    rapidfuzz's ratio), if the similarity is at least `least`; if lines are given, among the
    texts of the same line first, a range such as "2-3" counting as its exact self and then as its
    first line.

    Parameters
    ----------
    texts : sequence
        Texts that the judge wrote; empty ones match nothing.
    expected : sequence of str
        Texts that it was given.
    text_lines, expected_lines : sequence, optional
        The line that each text is about.
    least : float, default 85
        Similarity from 0 to 100.

    Returns
    -------
    Repaired
        Positions in `expected`, empty if nothing is similar enough, and what changed.

    Raises
    ------
    InputError
        If lengths differ or `least` is out of range.
    ImportError
        If rapidfuzz is not installed; the message says how to install it.

    References
    ----------
    Jain et al. (2025), Beyond Consensus, Section 4 and Appendix B.2.
    """
    import pandas as pd

    try:
        from rapidfuzz import fuzz, process
    except ImportError as error:
        raise ImportError(
            "repairs need rapidfuzz, which is an extra: pip install 'bayesjudge[repair]'"
        ) from error
    with checking("panel.align_texts") as require:
        require(0 <= least <= 100, f"least={least}, expected 0 to 100")
        require((text_lines is None) == (expected_lines is None), "give both lines, or neither")
        require(text_lines is None or len(text_lines) == len(texts), "a line for each text")
        require(
            expected_lines is None or len(expected_lines) == len(expected),
            "a line for each text expected",
        )
    positions: list[int | None] = []
    reasons: list[str] = []
    for i, text in enumerate(texts):
        groups = _candidates(i, len(expected), text_lines, expected_lines)
        match, why = None, "no similar text"
        for reason, places in groups if isinstance(text, str) and text.strip() else ():
            choices = {place: expected[place] for place in places}
            best = process.extractOne(text, choices, scorer=fuzz.ratio, score_cutoff=least)
            if best is not None:
                match, why = int(best[2]), "same text" if best[1] == 100 else reason
                break
        positions.append(match)
        reasons.append(why)
    matches = pd.Series(positions, dtype="Int64")
    matched = pd.Series([None if p is None else expected[p] for p in positions], dtype=object)
    series = pd.Series(list(texts), dtype=object)
    return Repaired(matches, _changes(series, matched, pd.Series(reasons)))


def _candidates(
    i: int, size: int, text_lines: Sequence[Any] | None, expected_lines: Sequence[Any] | None
) -> list[tuple[str, list[int]]]:
    everything = list(range(size))
    if text_lines is None or expected_lines is None:
        return [("similar text", everything)]
    line = str(text_lines[i]).strip()
    spelled = [str(other).strip() for other in expected_lines]
    first = _first_line(line)
    return [
        ("similar text, same line", [p for p in everything if spelled[p] == line]),
        (
            "similar text, first line of a range",
            [p for p in everything if first is not None and _first_line(spelled[p]) == first],
        ),
    ]


def _first_line(line: str) -> int | None:
    number = re.match(r"\D*(\d+)", line)
    return int(number.group(1)) if number else None


def _plain(value: Any) -> str:
    return re.sub(r"^\W+|\W+$", "", str(value)).casefold()


def _changes(before: pd.Series, after: pd.Series, why: pd.Series) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame({"before": before, "after": after, "why": why})
    changed = table[before.map(str) != after.map(str)]
    changed = changed[~(changed["before"].isna() & changed["after"].isna())]
    counted = changed.groupby(["before", "after", "why"], dropna=False, sort=False).size()
    result = counted.rename("times").reset_index()
    return result.astype({"times": np.int64})
