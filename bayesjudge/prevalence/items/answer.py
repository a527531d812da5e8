"""The answer of the module: which system is better, by how much, how surely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    Claim,
    Quoted,
    difference_words,
    disagreements,
    how_chosen,
    is_bounded,
    judges_share,
    listed,
    quote,
    share_words,
    shares_of_two,
    would_pass,
)
from bayesjudge.core.comparing import differences_of
from bayesjudge.core.estimate import Estimate, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.periods import kind_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.worth import Worth
from bayesjudge.prevalence._worth import at_random, worth_of
from bayesjudge.prevalence.answer import answer as answer  # of every table of one judge
from bayesjudge.prevalence.answer import labels_to_buy, told_of, valid_of
from bayesjudge.prevalence.closed_form import naive
from bayesjudge.prevalence.items._same_labels import same_labels
from bayesjudge.prevalence.items.closed_form import errors_of, share_items
from bayesjudge.prevalence.items.closed_form import within_classes as of_classes
from bayesjudge.prevalence.items.data import Items
from bayesjudge.truth.influence import Errors
from bayesjudge.truth.pairs import Pairs, worth_of_sample

#: What systems with the same labels may be.
SAME_OUTPUTS = "If these are judges of the same outputs, bayesjudge panel compares them."


@told_of.register(Items)
def _answer(
    items: Items, estimates: Sequence[Estimate], results: Sequence[Estimate | Fit], ci_prob: float
) -> Answer:
    quoted = quote(
        estimates,
        "prevalence",
        methods.JUDGE,
        judge_of=lambda: naive(items, ci_prob=ci_prob),
        named=lambda at: " judged by ".join(str(at[d]) for d in ("system", "judge") if d in at),
    )
    gaps, alike, name = differences(*results, ci_prob=ci_prob), _alike(items), items.pass_name
    unknown = quoted.unknown
    more: tuple[str, ...] = ()
    lead: Claim | None = None
    if unknown and not any(is_bounded(row) for row in quoted.rows.values()):
        would = f"call {name!r}" if name else "pass"
        text = f"These data cannot tell what share of outputs people would {would}. "
        text += "Labels on a random sample of these items would tell."
    else:
        gaps = [] if alike else gaps
        text, more = _sentences(quoted, gaps, ci_prob, name)
        lead = Claim.of(gaps[0]) if len(quoted.rows) == 2 and gaps else None
        if alike:
            text, more = alike, (SAME_OUTPUTS, text, *more)
    bought = () if quoted.uncorrected else labels_to_buy(quoted.rows, items.pooled())
    against = disagreements(gaps, partial(difference_words, name=name))
    return Answer(
        text,
        basis=_basis(items),
        why=_why(quoted, items, gaps if len(quoted.rows) == 2 and not unknown else []),
        quoted=quoted.shares,
        judge=quoted.judge,
        notes=(*more, *bought, *(() if unknown or alike else against)),
        known=not unknown,
        lead=lead,
    )


@valid_of.register(Items)
def _valid(items: Items, declared: Answer, seen: Any, ci_prob: float) -> Answer | None:
    if declared.method == methods.WITHIN_CLASSES:
        return None  # several judges are valid already
    estimates = of_classes(items, ci_prob)
    return told_of(items, estimates, estimates, ci_prob)


@worth_of.register(Items)
def _worth(items: Items, ci_prob: float) -> Mapping[str, Worth]:
    """Of rows, of which whole items are weighed; nothing where every output has a label."""
    if not at_random(items):
        return {}
    worths, several = {}, len(items.systems) > 1
    for at, name in enumerate(items.systems):
        pairs = Pairs.of_verdicts(items.verdicts, 0, at if several else None)
        about = float(pairs.all_n.sum())
        if 2 <= pairs.labelled < about:
            worths[name * several] = worth_of_sample(pairs, items.design, about, ci_prob)
    return worths


def _sentences(
    quoted: Quoted, gaps: Sequence[dict[str, Any]], ci_prob: float, called: str
) -> tuple[str, tuple[str, ...]]:
    """The comparison of two systems, or else shares; and what is said after it."""
    rows = quoted.rows
    if len(rows) == 1:
        text = share_words(next(iter(rows.values())), "outputs like these", ci_prob, called)
        return f"{text}{judges_share(quoted.judge_rows, called)}.", ()
    shares, between = shares_of_two(rows, ci_prob)
    if len(rows) > 2 or not gaps:
        return f"{would_pass(shares, called)}.", between
    short, gap = short_names(rows), gaps[0]
    brief = {**gap, **{end: short.get(gap[end], gap[end]) for end in ("first", "second")}}
    return f"{difference_words(brief, ci_prob, name=called)}.", _not_subtracted(gap, rows)


def _not_subtracted(gap: dict[str, Any], rows: dict[str, Row]) -> tuple[str, ...]:
    """Why the difference that is told is not that of the shares in the table."""
    first, second = rows.get(gap["first"]), rows.get(gap["second"])
    if first is None or second is None:
        return ()
    shown = [round(100 * abs(gap["value"]))]
    shown.append(abs(round(100 * first.value) - round(100 * second.value)))
    if len({*shown}) == 1:
        return ()
    return (
        "The difference is estimated on shared items, so it need not equal the difference of the "
        "two shares below.",
    )


def _alike(items: Items) -> str:
    """That labels are the same under all systems, so that no difference can show."""
    if same_labels(items) is None:
        return ""
    many = len(items.systems) > MOST_NAMED
    names = "the systems" if many else listed(items.systems)
    return f"No difference of {names} can show: each labelled item has the same label under each."


def _basis(items: Items) -> str:
    labelled = round(float(sum(items.count @ items.rows(s).labelled for s in items.systems)))
    several = len(items.systems)
    systems = f" of {several} {kind_of(items.systems, several=True)}" if several > 1 else ""
    return (
        f"{how_many(items.n_items, 'item')}, {how_many(items.n_rows, 'output')}{systems}, "
        f"{labelled:,} of them labelled ({how_chosen(items.design)}){_shared(items)}."
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


def _why(quoted: Quoted, items: Items, gaps: Sequence[dict[str, Any]]) -> str:
    method = quoted.whole.method
    if quoted.uncorrected:
        return f"Shown: {method}, which no label corrects."
    of = f". The difference is by {gaps[0]['method']}" if gaps else ""
    if items.repeated:
        return f"Quoted: {method}, with variances by item, since rows repeat items{of}."
    kind = kind_of(items.systems)
    return f"Quoted: {method}, which takes verdicts and labels of each {kind} together{of}."


def differences(*results: Estimate | Fit, ci_prob: float = 0.95) -> list[dict[str, Any]]:
    """Differences on shared items: paired ones if there are labels that tell, else of a fit."""
    rows: list[dict[str, Any]] = []
    for result in sorted(results, key=lambda result: isinstance(result, Fit)):
        if isinstance(result, Estimate) and "difference" in result:
            if any(caution.id == "design-mismatch" for caution in result.cautions):
                continue
            known = isinstance(result.data, Items)
            errors: Mapping[Any, Errors] = errors_of(result) if known else {}
            for _, at, row in result.only("difference").rows():
                if np.isnan(row.value):  # of what labels bound, nobody is said to be better
                    continue
                pair = errors.get((at["first"], at["second"]))
                chance = {} if pair is None else {"probability": pair.probability}
                rows.append({**at, "method": result.method.title, **row._asdict(), **chance})
        elif isinstance(result, Fit):
            rows += differences_of(result, ci_prob)
    return rows
