"""Reader of long tables of answers: the counts that `Ratings` holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import check_several, checking
from bayesjudge.core.labels import spell
from bayesjudge.core.names import name_of
from bayesjudge.core.tables import count_rows
from bayesjudge.ratings.response_sets import default_response_sets, membership

SHOWN = 4


def read_answers(
    table: Any,
    *,
    columns: tuple[str, str, str | None, str | None],
    positive: str,
    judges: tuple[str, ...],
    separator: str,
    options: Sequence[str] | None,
    sets: Sequence[Sequence[str]] | None,
    missing: Any,
    recode: Mapping[str, Mapping[str, str]],
    repeated: str,
) -> dict[str, Any]:
    """Arguments of `Ratings`, from a table and the arguments of `Ratings.from_frame`."""
    choice, response_set = columns[2:]
    with checking("ratings.from_frame") as require:
        require(choice or response_set, "choice= or response_set= must name a column")
        require(repeated in ("error", "one"), f"repeated={repeated!r}: expected error or one")
    answers, n_rows = count_rows(table, *(c for c in columns[2:] if c), names=columns[:2])
    rows = _tidy(answers, n_rows, columns, missing, separator)
    rows = _recoded(rows, recode)
    known = _options(rows, positive, options)
    given = {s for s in rows["chosen_set"] if s is not None}
    each = () if sets is None else check_several(sets=sets)
    admissible = default_response_sets(known, given) if sets is None else tuple(map(tuple, each))
    _check(rows, judges, known, admissible, separator)
    people = ~rows["rater"].isin(judges)
    if repeated == "one":
        copies = people & rows.duplicated(["item", "rater", "choice", "chosen_set"])
        rows.loc[people, "n_rows"] = 1  # rows of the same cells were counted together
        rows, people = rows[~copies], people[~copies]
    _check_once(rows[people])
    sources = (*(["people"]), *judges)
    items = sorted(rows["item"].unique(), key=_natural)
    annotators = sorted(set(rows["rater"][people]))
    # positions of what each row is of; of a choice or a set that is not there, -1
    source = _places(rows["rater"], judges) + 1
    item = _places(rows["item"], items)
    option = _places(rows["choice"], known)
    given_set = _places(rows["chosen_set"], [frozenset(s) for s in admissible])
    chosen, endorsed = option >= 0, given_set >= 0
    held = membership(known, admissible)[option, given_set] > 0
    paired, named = chosen & endorsed & held, chosen & (source == 0)
    n = rows["n_rows"].to_numpy()
    n_sources, n_items, k, q = len(sources), len(items), len(known), len(admissible)

    def counted(there: np.ndarray, shape: tuple[int, ...], *at: np.ndarray) -> np.ndarray:
        table = np.zeros(shape, int)
        np.add.at(table, tuple(x[there] for x in at), n[there])
        return table

    who = _places(rows["rater"][named], annotators)
    return {
        "chosen": counted(chosen, (n_sources, n_items, k), source, item, option),
        "endorsed": counted(endorsed, (n_sources, n_items, q), source, item, given_set),
        "paired": counted(paired, (n_sources, k, q), source, option, given_set),
        "paired_chosen": counted(paired, (n_sources, n_items, k), source, item, option),
        "options": known,
        "positive": spell(positive),
        "sets": admissible,
        "items": tuple(items),
        "sources": sources,
        "stray": int(n[chosen & endorsed & ~held].sum()),
        "annotators": tuple(annotators),
        "annotations": np.column_stack([item[named], who, option[named]]),
    }


def _places(cells: pd.Series, names: Sequence[Any]) -> np.ndarray:
    at = {name: i for i, name in enumerate(names)}
    return np.array([at.get(cell, -1) for cell in cells], int)


def _tidy(
    rows: pd.DataFrame,
    n_rows: np.ndarray,
    columns: tuple[str, str, str | None, str | None],
    missing: Any,
    sep: str,
) -> pd.DataFrame:
    """One spelling for each answer; ``None`` if there is none."""
    none = {spell(m) for m in np.atleast_1d(np.asarray(missing, dtype=object)).tolist()}
    item, rater, choice, response_set = columns

    def text(column: str | None) -> list[Any]:
        if column is None:
            return [None] * len(rows)
        cells = rows[column]
        spelled = [None if pd.isna(x) else spell(x) for x in cells]
        return [None if x in none or x == "" else x for x in spelled]

    sets = [
        None if x is None else frozenset(p.strip() for p in x.split(sep))
        for x in text(response_set)
    ]
    return pd.DataFrame(
        {
            "item": rows[item],
            "rater": rows[rater],
            "choice": pd.Series(text(choice), dtype=object),
            "chosen_set": pd.Series(sets, dtype=object),
            "n_rows": n_rows,
        }
    )


def _recoded(rows: pd.DataFrame, recode: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    means = {
        name_of(rater): {spell(said): spell(meant) for said, meant in meaning.items()}
        for rater, meaning in recode.items()
    }
    with checking("ratings.from_frame") as require:
        raters = sorted(set(rows["rater"]))
        for rater, meaning in means.items():
            require(rater in raters, f"recode names {rater!r}; raters are {raters[:8]}")
            mine = rows.loc[rows["rater"] == rater]
            said = {c for c in mine["choice"] if c is not None}
            said |= {o for s in mine["chosen_set"] if s is not None for o in s}
            never = sorted(set(meaning) - said) if said else []
            require(not never, f"recode: {rater!r} never says {never}; it says {sorted(said)}")
    for column in ("choice", "chosen_set") if means else ():
        meant: list[Any] = []
        for rater, said in zip(rows["rater"], rows[column], strict=True):
            table = means.get(rater, {})
            if isinstance(said, frozenset):
                meant.append(frozenset(table.get(option, option) for option in said))
            else:
                meant.append(None if said is None else table.get(said, said))
        rows[column] = pd.Series(meant, dtype=object, index=rows.index)
    return rows


def _options(rows: pd.DataFrame, positive: str, options: Sequence[str] | None) -> tuple[str, ...]:
    if options is not None:
        return tuple(map(spell, check_several(options=options)))
    seen = {c for c in rows["choice"] if c is not None}
    seen |= {o for s in rows["chosen_set"] if s is not None for o in s}
    near = get_close_matches(spell(positive), seen, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"answers are {sorted(seen)[: 2 * SHOWN]}."
    with checking("ratings.from_frame") as require:
        require(
            spell(positive) in seen,
            f"positive={spell(positive)!r} is nobody's answer; {hint} If nobody happened to give "
            "it, declare options=",
        )
    return (spell(positive), *sorted(seen - {spell(positive)}))


def _check(
    rows: pd.DataFrame,
    judges: tuple[str, ...],
    options: tuple[str, ...],
    sets: tuple[tuple[str, ...], ...],
    separator: str,
) -> None:
    raters = set(rows["rater"])
    admissible = {frozenset(s) for s in sets}
    with checking("ratings.from_frame") as require:
        for judge in set(judges) - raters:
            near = get_close_matches(judge, raters, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"raters are {sorted(raters)[:8]}"
            require(False, f"no rater {judge!r} for a judge; {hint}")
        twice = sorted({j for j in judges if judges.count(j) > 1})
        require(not twice, f"judges {twice} are named twice")
        require(raters - set(judges), "every rater is a judge, so there is nobody to agree with")
        choices = {c for c in rows["choice"] if c is not None}
        joined = sorted(c for c in choices if separator in c)
        require(
            not joined,
            f"choices {joined[:SHOWN]} hold {separator!r}: if raters could name several options, "
            "all their answers are response sets, also those with one option; name that column in "
            "response_set=",
        )
        parts = {o: set(re.split(r"\W+", o)) for o in options}
        compound = sorted(o for o, p in parts.items() if len(p) > 1 and p <= set(options))
        several = [o for o in compound if o not in joined]
        require(
            not several,
            f"options {several[:SHOWN]} are made of other options: does separator={separator!r} "
            "stand between the options of a response set?",
        )
        strange = sorted(choices - set(options) - set(joined))
        require(not strange, f"choices {strange[:SHOWN]} are not among options {list(options)}")
        given = {s for s in rows["chosen_set"] if s is not None}
        odd = sorted(separator.join(sorted(s)) for s in given - admissible)
        require(not odd, f"response sets {odd[:SHOWN]} are not admissible; options are {options}")
        within = {option for each in given for option in each}
        # an engine that reads yes and no as booleans leaves "yes|no" a text
        apart = len(choices) > 1 and len(within) > 1 and not choices & within
        named = {"choices": sorted(choices)[:SHOWN], "within": sorted(within)[:SHOWN]}
        require(not apart, "choices-unlike-sets", **named)
        answered = any(c is not None for c in rows["choice"]) or bool(given)
        require(answered, "no row holds an answer")


def _check_once(people: pd.DataFrame) -> None:
    """Each person's answers to an item are one row: two of them would count as independent."""
    answered = people["choice"].notna() | people["chosen_set"].notna()
    n = people[answered].groupby(["item", "rater"])["n_rows"].sum()
    twice = n[n > 1]
    said = people[answered].drop_duplicates(["item", "rater", "choice", "chosen_set"])
    alike = not said.duplicated(["item", "rater"]).any()
    way = ", or pass repeated='one', which counts rows that say the same once" if alike else ""
    with checking("ratings.from_frame") as require:
        require(
            twice.empty,
            "answers-repeat",
            n=len(twice),
            what=[tuple(x) for x in twice.index[:3]],
            way=way,
        )


def _natural(name: str) -> tuple[Any, ...]:
    return (0, float(name), name) if name.replace(".", "", 1).isdecimal() else (1, 0.0, name)
