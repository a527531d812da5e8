"""Sheets for people: written blind to the verdict, read back by item, by one person or several."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect, problem
from bayesjudge.core.labels import read_labels
from bayesjudge.core.screen import FORMULA, how_many
from bayesjudge.truth import agreement

QUESTION = "Is the output good?"


class Agreement(NamedTuple):
    """How two or more people agree on the items that they all labelled.

    Parameters
    ----------
    items : int
        Items with labels of two people or more.
    share : float
        Of pairs of labels of one item, how many agree.
    kappa : float
        Cohen's (of several people, mean over pairs of them that chance leaves something to
        explain): agreement beyond chance; ``nan`` if chance alone explains all.
    """

    items: int
    share: float
    kappa: float

    def __str__(self) -> str:
        return (
            f"{self.share:.0%} agreement on {how_many(self.items, 'item')} (kappa {self.kappa:.2f})"
        )


class Labels(NamedTuple):
    """Labels read from sheets.

    Parameters
    ----------
    items : list of str
        Items with a label, in the order of the sheets.
    truth : numpy.ndarray
        Share of people that call each item good.
    agreement : Agreement or None
        If several people labelled the same items.
    """

    items: list[str]
    truth: np.ndarray
    agreement: Agreement | None


def write_sheet(
    items: Sequence[str],
    path: str | Path,
    *,
    texts: Mapping[str, Mapping[str, str]] | None = None,
    truth: str = "truth",
) -> Path:
    """Write a CSV sheet to fill in a spreadsheet.

    Parameters
    ----------
    items : sequence of str
        What is to be labelled, as `Monitor.draw` gave them.
    path : str or pathlib.Path
        A file that is there is replaced.
    texts : mapping, optional
        By column and item, what a person needs to see. The verdict does not belong there: who sees
        it tends to agree.
    truth : str, default "truth"
        Column to fill in; `read_sheets` reads the default one.

    Returns
    -------
    pathlib.Path
        Where it was written: columns ``item``, those of `texts`, `truth` (to fill in with 1 or 0,
        good or bad) and ``annotator``. Text that a spreadsheet would run has an apostrophe in
        front.
    """
    path = Path(path)
    columns = dict(texts or {})
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["item", *columns, truth, "annotator"])
        for item in items:
            row = [item, *(str(texts.get(item, "")) for texts in columns.values()), "", ""]
            writer.writerow([_inert(cell) for cell in row])
    return path


def _inert(cell: str) -> str:
    """Text that no spreadsheet runs, nor saves otherwise: +1 would come back as 1."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def write_form(
    items: Sequence[str],
    path: str | Path,
    *,
    texts: Mapping[str, Mapping[str, str]] | None = None,
    title: str = "Labels",
    question: str = QUESTION,
) -> Path:
    """Write one HTML page on which a person labels the items and saves a CSV file.

    Parameters
    ----------
    items : sequence of str
        What is to be labelled.
    path : str or pathlib.Path
        A file that is there is replaced. It needs no other file and no network.
    texts : mapping, optional
        By column and item, as in `write_sheet`.
    title, question : str
        At the top of the page.

    Returns
    -------
    pathlib.Path
        Where it was written. The CSV file that it saves has columns ``item``, ``truth``,
        ``annotator``; answers are kept in the browser meanwhile.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    path = Path(path)
    rows = [
        {
            "item": item,
            "texts": {
                name: str(texts_of.get(item, "")) for name, texts_of in (texts or {}).items()
            },
        }
        for item in items
    ]
    as_json = json.dumps([title, rows], ensure_ascii=False)
    about = {
        "id": hashlib.sha256(as_json.encode()).hexdigest()[:16],
        "name": f"{path.stem}.csv",
        "rows": rows,
    }
    # inside a script element no text may end it
    data = json.dumps(about, ensure_ascii=False)
    for mark in "<>&\u2028\u2029":
        data = data.replace(mark, f"\\u{ord(mark):04x}")
    page = files("bayesjudge.decide").joinpath("templates/form.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True).from_string(page)
    path.write_text(
        template.render(title=title, question=question, data=Markup(data)),
        encoding="utf-8",
    )
    return path


def read_sheets(
    *paths: str | Path,
    known: Sequence[str] | None = None,
    pass_value: Any = None,
    fail_value: Any = None,
    missing_value: Any = None,
) -> Labels:
    """Read what people filled in.

    Parameters
    ----------
    *paths : str or pathlib.Path
        CSV files with columns ``item`` and ``truth``, and perhaps ``annotator``; files without are
        taken for one person each.
    known : sequence of str, optional
        Names of items; others are an error.
    pass_value, fail_value, missing_value : scalar or list, optional
        Labels that mean good, bad and none. 1/0 and true/false are understood without.

    Returns
    -------
    Labels
        One label per item: the share of people that call it good. Items that nobody has labelled
        yet are left out.

    Raises
    ------
    InputError
        If a file or column is missing, a label is not understood, an item is unknown, or one
        person gave an item two labels.
    """
    rows: list[tuple[str, str, str]] = []
    for path in map(Path, paths):
        rows += _rows_of(path)
    names = set(known) if known is not None else None
    cells = [truth for _, truth, _ in rows]
    read, _ = read_labels(
        {"truth": cells}, pass_value=pass_value, fail_value=fail_value, missing_value=missing_value
    )
    by_person: dict[str, dict[str, float]] = {}
    problems = []
    for (item, _, person), value in zip(rows, read["truth"].tolist(), strict=True):
        # an apostrophe that keeps a spreadsheet from running it
        name = item[1:] if names and item not in names and item.startswith("'") else item
        if names is not None and name not in names:
            problems.append(name)
        elif value == value:
            before = by_person.setdefault(name, {}).setdefault(person, value)
            expect("sheets", before == value, f"{person or 'one person'} labels {name!r} 1 and 0")
    shown = ", ".join(map(repr, problems[:3]))
    problem = f"{how_many(len(problems), 'item', 'are')} not in this list, for example {shown}"
    expect("sheets", not problems, problem)
    truth = np.array([np.mean(list(labels.values())) for labels in by_person.values()])
    return Labels(list(by_person), truth, _agreement(by_person))


def _rows_of(path: Path) -> list[tuple[str, str, str]]:
    """Item, label and person of each row; a file that names nobody is a person."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(str(path), [problem("unreadable", error=error)]) from error
    with checking(str(path)) as require:
        have = set(rows[0]) if rows else set()
        for column in ("item", "truth"):
            require(column in have, f"no column {column!r}; it has {sorted(map(str, have))}")
    persons = {(row.get("annotator") or "").strip() for row in rows}
    person = str(path) if persons == {""} else ""
    return [
        (row["item"], row["truth"] or "", (row.get("annotator") or "").strip() or person)
        for row in rows
    ]


def _agreement(by_person: Mapping[str, Mapping[str, float]]) -> Agreement | None:
    """Agreement of every pair of people on the items that both labelled."""
    people = sorted({person for labels in by_person.values() for person in labels})
    pairs, agree, kappas = 0, 0, []
    several = sum(len(labels) > 1 for labels in by_person.values())
    if not several:
        return None
    for i, a in enumerate(people):
        for b in people[i + 1 :]:
            both = [(x[a], x[b]) for x in by_person.values() if a in x and b in x]
            if not both:
                continue
            first, second = np.array(both).T
            alike = agreement.of_classes(first, second, np.full(len(first), 1 / len(first)), 2)
            kappas.append(float(alike["kappa"]))
            pairs, agree = pairs + len(both), agree + int((first == second).sum())
    finite = [kappa for kappa in kappas if not np.isnan(kappa)]
    return Agreement(several, agree / pairs, float(np.mean(finite)) if finite else np.nan)
