"""The answer of the module: which system is better, by how much, how surely."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtr

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    as_estimates,
    difference_words,
    few_of,
    is_bounded,
    judge_passes,
    listed,
    otherwise,
    owned,
    percents,
    preferred,
    says_little,
    would_pass,
)
from bayesjudge.core.comparing import contrasts, with_value
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.prevalence.answer import CHOSEN, labels_to_buy
from bayesjudge.prevalence.items._same_labels import same_labels
from bayesjudge.prevalence.items.closed_form import contrast, naive
from bayesjudge.prevalence.items.data import Items


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say which system is better, by how much and how surely, on the items that they share.

    If rows are independent within each system, the exact posterior is quoted; if rows repeat an
    item, the closed form of the label design with variances by item, whose coverage was studied
    (``benchmarks/prevalence/items.py``).

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Items`, for example all of `closed_forms` and a fit.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi", "eti_bounded"}, optional
        Kind of interval of the fits.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given, or no result has a prevalence.
    """
    made = as_estimates(results, ci_prob, interval)
    items = next((one.data for one in made if isinstance(one.data, Items)), None)
    name = "" if items is None else items.pass_name
    quoted = preferred(made, "prevalence", lambda one: one.method.rank)
    judge = next((one for one in made if one.method == methods.JUDGE), None)
    if judge is None and items is not None:
        judge = naive(items, ci_prob=ci_prob)
    rows = _named(quoted)
    unknown = quoted.method == methods.JUDGE or all(says_little(row) for row in rows.values())
    found = differences(*results, ci_prob=ci_prob)
    alike = "" if items is None else _alike(items)
    told = not (unknown or alike)
    if unknown and not any(is_bounded(row) for row in rows.values()):
        would = f"call {name!r}" if name else "pass"
        text = f"These data cannot tell what share of outputs people would {would}. "
        text += "Labels on a random sample of these items would tell."
    else:
        found = [] if alike else found
        text = alike + _told(rows, judge, found, ci_prob, name)
    return Answer(
        text,
        basis=_basis(items),
        why=_why(quoted, items, found if len(rows) == 2 and not unknown else []),
        quoted=quoted.only("prevalence"),
        judge=judge and judge.only("prevalence"),
        notes=(
            *(
                ()
                if items is None or quoted.method == methods.JUDGE
                else labels_to_buy(rows, items.pooled())
            ),
            *(otherwise(found, partial(difference_words, name=name)) if told else ()),
        ),
        known=not unknown,
    )


def _told(
    rows: dict[str, Row],
    judge: Estimate | None,
    found: Sequence[dict[str, Any]],
    ci_prob: float,
    called: str,
) -> str:
    names, between = few_of(rows)
    own = {} if judge is None else {name: row.value for name, row in _named(judge).items()}
    if len(rows) == 1:
        share, _, interval = percents(rows[names[0]], ci_prob).partition(" (")
        text = f"{would_pass(f'{share} of outputs like these', called)} ({interval}"
    elif len(rows) == 2 and found:
        lead = difference_words(found[0], ci_prob, name=called)
        lead += _not_subtracted(found[0], rows)
        parts = [f"{percents(rows[name])} of {owned(name)}" for name in names]
        people = would_pass(f"{listed(parts)} outputs", called)
        text = f"{lead}; {people[:1].lower()}{people[1:]}"
    else:
        parts = [
            f"{percents(rows[name], None if i else ci_prob)} of {owned(name)}"
            for i, name in enumerate(names)
        ]
        text = f"{would_pass(f'{listed(parts)} outputs', called)}{between}"
    if len(rows) == 1 and judge is not None:
        text += f"; {judge_passes(f'{100 * next(iter(own.values())):.0f} %', called)}"
    elif all(name in own for name in names):
        shares = listed([f"{100 * own[name]:.0f} %" for name in names])
        text += f"; {judge_passes(shares, called)}"
    return f"{text}."


def _not_subtracted(found: dict[str, Any], rows: dict[str, Row]) -> str:
    """Why the difference that is told is not that of the shares that are told after it."""
    first, second = rows.get(found["first"]), rows.get(found["second"])
    if first is None or second is None:
        return ""
    shown = [round(100 * abs(found["value"]))]
    shown.append(abs(round(100 * first.value) - round(100 * second.value)))
    paired = " (compared item by item; each share by itself, so they need not differ by as much)"
    return paired if len({*shown}) > 1 else ""


def _alike(items: Items) -> str:
    """That labels are the same under all systems, so that no difference can show."""
    if same_labels(items) is None:
        return ""
    many = len(items.systems) > MOST_NAMED
    names = "the systems" if many else listed(items.systems)
    return (
        f"No difference of {names} can show: each labelled item has the same label under each, as "
        "of judges of the same outputs (compare judges: bayesjudge panel). "
    )


def _named(made: Estimate) -> dict[str, Row]:
    """Rows by system, and by judge if there are several."""
    return {
        " judged by ".join(str(at[d]) for d in ("system", "judge") if d in at): row
        for _, at, row in made.only("prevalence").rows()
    }


def _basis(items: Items | None) -> str:
    if items is None:
        return ""
    labelled = round(float(sum(items.count @ items.rows(s).labelled for s in items.systems)))
    chosen = CHOSEN.get(items.design.name, items.design.meaning)
    several = len(items.systems)
    systems = f" of {several} {kind_of(items.systems, several=True)}" if several > 1 else ""
    return (
        f"{how_many(items.n_items, 'item')}, {how_many(items.n_rows, 'output')}{systems}, "
        f"{labelled:,} of them labelled ({chosen}){_shared(items)}."
    )


def _shared(items: Items) -> str:
    """On what the systems are compared, and how many of those items have labels of all."""
    several = len(items.systems)
    if several < 2:
        return ""
    known = np.all([items.rows(s).labelled > 0 for s in items.systems], axis=0)
    whose = "both systems" if several == 2 else f"every {kind_of(items.systems)}"
    if not share_items(items):
        return ", which share no item"
    n = int(items.count[known].sum())
    both = how_many(n, "item", "have") if n else "no item has"
    return f", compared on the items that they share; {both} labels of {whose}"


def share_items(items: Items) -> bool:
    """Whether any item has outputs of two systems."""
    there = [(items.rows(s).labelled > 0) | (items.rows(s).test > 0) for s in items.systems]
    return bool((np.sum(there, axis=0) > 1).any())


def _why(quoted: Estimate, items: Items | None, found: Sequence[dict[str, Any]]) -> str:
    if quoted.method == methods.JUDGE:
        return f"Shown: {quoted.method}, which no label corrects."
    of = "; of the difference" * bool(found)
    of += " and its probability" * bool(found and "probability" in found[0])
    of += f": {found[0]['method']}" if found else ""
    kind = "system" if items is None else kind_of(items.systems)
    if items is not None and items.repeated:
        return f"Quoted: {quoted.method}, with variances by item, since rows repeat items{of}."
    return f"Quoted: {quoted.method}, which takes verdicts and labels of each {kind} together{of}."


def differences(*results: Estimate | Fit, ci_prob: float = 0.95) -> list[dict[str, Any]]:
    """Differences on shared items: paired ones if there are labels that tell, else of a fit."""
    rows: list[dict[str, Any]] = []
    for one in sorted(results, key=lambda one: isinstance(one, Fit)):
        if isinstance(one, Estimate) and "difference" in one:
            rows += [
                {**at, "method": one.method.title, **row._asdict(), **_probability(one, at)}
                for _, at, row in one.only("difference").rows()
            ]
        elif isinstance(one, Fit) and with_value(one).sum() > 1:
            table = contrasts(one, ci_prob=ci_prob)
            rows += [{**row, "method": one.method.title} for row in table.to_dict("records")]
    return rows


def _probability(made: Estimate, at: dict[str, Any]) -> dict[str, float]:
    """That the first is better, by the t distribution of the interval."""
    if not isinstance(made.data, Items):
        return {}
    gap = contrast(made.data, at["first"], at["second"])
    if gap.labelled <= 1 or gap.variance <= 0:
        return {}
    return {"probability": float(stdtr(gap.labelled - 1, gap.centre / np.sqrt(gap.variance)))}
