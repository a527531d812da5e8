"""Neighbours to judge again: answers formatted otherwise, and answers with a small error."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bayesjudge.core.errors import checking
from bayesjudge.core.tables import free_name, read_rows

if TYPE_CHECKING:
    import pandas as pd

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'(])")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w.,]*\w)")
_LISTED = re.compile(r"^\s*\d+[.)] ", re.MULTILINE)
_MARKS = re.compile(r"`|^#+ |^[-*] |^\d+\. ", re.MULTILINE)
_BOLD = re.compile(r"(?<!\w)\*\*(?=\S)(.+?)(?<=\S)\*\*(?!\w)")
#: Code, in which line breaks and marks are content.
_CODE = re.compile(r"```|~~~|^ {4,}\S", re.MULTILINE)
#: A word and what its negation is, each way.
_NEGATED = (
    ("is not", "is"),
    ("are not", "are"),
    ("cannot", "can"),
    ("does not", "does"),
    ("should not", "should"),
    ("is", "is not"),
    ("are", "are not"),
    ("can", "cannot"),
    ("should", "should not"),
)


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text.strip()) if part.strip()]


def _bullets(text: str, dice: random.Random) -> str:
    return "\n".join(f"- {sentence}" for sentence in _sentences(text))


def _numbered(text: str, dice: random.Random) -> str:
    return "\n".join(f"{i}. {sentence}" for i, sentence in enumerate(_sentences(text), 1))


def _heading(text: str, dice: random.Random) -> str:
    return f"## Answer\n\n{text}"


def _plain(text: str, dice: random.Random) -> str:
    return _MARKS.sub("", _BOLD.sub(r"\1", text))


def _one_line(text: str, dice: random.Random) -> str:
    return " ".join(text.split())


def _bold(text: str, dice: random.Random) -> str:
    first, *rest = _sentences(text) or [text]
    return " ".join([f"**{first}**", *rest])


def _number(text: str, dice: random.Random) -> str:
    """One whole number, changed by one or doubled."""
    listed = {end for number in _LISTED.finditer(text) for end in range(*number.span())}
    places = [number for number in _NUMBER.finditer(text) if number.start() not in listed]
    if not places:
        return text
    place = dice.choice(places)
    value = int(place.group())
    other = dice.choice([n for n in (value + 1, value - 1, 2 * value) if n >= 0 and n != value])
    return f"{text[: place.start()]}{other}{text[place.end() :]}"


def _negation(text: str, dice: random.Random) -> str:
    """One statement said the other way round."""
    places: list[tuple[int, int, str]] = []
    for words, instead in _NEGATED:
        for match in re.finditer(rf"\b{words}\b(?!['\u2019])", text):
            covered = any(start <= match.start() < end for start, end, _ in places)
            if not covered:
                places.append((*match.span(), instead))
    if not places:
        return text
    start, end, instead = dice.choice(sorted(places))
    return f"{text[:start]}{instead}{text[end:]}"


def _dropped(text: str, dice: random.Random) -> str:
    """One sentence left out."""
    parts = _sentences(text)
    if len(parts) < 2:
        return text
    del parts[dice.randrange(len(parts))]
    return " ".join(parts)


#: Changes that keep the content, and a judge should not mind.
FORMATTING: dict[str, Callable[[str, random.Random], str]] = {
    "bullets": _bullets,
    "numbered": _numbered,
    "heading": _heading,
    "bold": _bold,
    "plain": _plain,
    "one_line": _one_line,
}
#: Changes that put an error in, and a judge that agrees with everything overlooks.
ERRORS: dict[str, Callable[[str, random.Random], str]] = {
    "number": _number,
    "negation": _negation,
    "dropped": _dropped,
}


def make_variants(
    table: Any,
    *,
    text: str = "answer",
    item: str = "item",
    changes: Sequence[str] = tuple(FORMATTING),
    random_seed: int = 0,
) -> pd.DataFrame:
    r"""Write each answer in several ways, for a judge to score again.

    Parameters
    ----------
    table : dataframe
        One row per item.
    text, item : str
        Columns with the answer and what names the item.
    changes : sequence of str
        Formatting that keeps the content: ``"bullets"``, ``"numbered"``, ``"heading"``, ``"bold"``,
        ``"plain"`` (no markup), ``"one_line"``; or an error put in: ``"number"`` (one whole number
        changed), ``"negation"``, ``"dropped"`` (a sentence left out).
    random_seed : int, default 0
        Of the places of errors.

    Returns
    -------
    pandas.DataFrame
        Long: `item`, ``variant`` (``"baseline"`` first), `text`, and ``changed``: False where the
        change left the answer as it is (no number to change, one sentence only, code whose format
        is content); such a row is no neighbour. Scored by a judge and without those rows it is
        what `Shifts.from_frame` reads.

    Raises
    ------
    InputError
        If a column is missing, items repeat, an answer is empty, or a change is not known.

    Notes
    -----
    Rules change texts in English or of any language that ends sentences by a full stop; none is
    asked of a model. Read some before paying for judgements: an error that a rule puts in may still
    be true.

    References
    ----------
    Feuer et al. (2026), Definition 2.5.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"item": ["a"], "answer": ["Add 2 eggs. It is done."]})
    >>> made = make_variants(table, changes=["bullets", "number", "negation"])
    >>> made["answer"].tolist()[1:]
    ['- Add 2 eggs.\n- It is done.', 'Add 4 eggs. It is done.', 'Add 2 eggs. It is not done.']
    """
    import pandas as pd

    known = {**FORMATTING, **ERRORS}
    rows = read_rows(table, names=[item, text])
    answers = rows[text].astype(object)
    with checking("bias.make_variants") as require:
        unknown = [name for name in changes if name not in known]
        require(not unknown, f"no changes {unknown}; there are {list(known)}")
        require(len(changes) > 0, f"give at least one change of {list(known)}")
        twice = rows[item][rows[item].duplicated()]
        require(twice.empty, f"items repeat: {twice.head(3).tolist()}")
    variant, changed = free_name("variant", [item, text]), free_name("changed", [item, text])
    rewritten = [
        {item: i, variant: "baseline", text: answer, changed: False}
        for i, answer in zip(rows[item], answers, strict=True)
    ]
    for i, answer in zip(rows[item], answers, strict=True):
        for name in changes:
            kept = name in FORMATTING and name != "heading" and _CODE.search(answer)
            dice = random.Random(f"{random_seed}/{i}/{name}")
            new = answer if kept else known[name](answer, dice)
            rewritten.append({item: i, variant: name, text: new, changed: new != answer})
    return pd.DataFrame(rewritten)
