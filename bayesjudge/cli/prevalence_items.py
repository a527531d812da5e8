"""``bayesjudge prevalence --item``: rows that share items, systems on one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import bayesjudge as bj
from bayesjudge.cli.options import Shared, are
from bayesjudge.cli.output import Story, present
from bayesjudge.cli.priors import Priors
from bayesjudge.cli.source import Source
from bayesjudge.cli.systems import change_sections, difference_section, rank_section
from bayesjudge.core.answer import difference_words
from bayesjudge.core.comparing import with_value
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.periods import in_time, kind_of
from bayesjudge.prevalence.items import ItemEffects, Items
from bayesjudge.prevalence.items.answer import differences, share_items
from bayesjudge.render.page import Section

WORDS = {
    "sensitivity": "share of good outputs that the judge passes",
    "specificity": "share of bad outputs that it fails",
    "icc": "correlation of the truths of two outputs for one item",
    "design_effect": "variance of a mean over rows, in units of that of independent rows",
    "effective_items": "independent rows that tell as much",
}


def answer_items(
    shared: Shared,
    *,
    source: Source,
    verdicts: Sequence[str],
    item: str | None,
    repeats: Literal["system", "judge"] | None,
    refused: Mapping[str, Any],
    priors: Priors,
    all_methods: bool,
    **how: Any,
) -> None:
    """Estimate each system and the paired differences, and present."""
    with checking("options") as require:
        given = [name for name, value in refused.items() if value]
        way_out = "" if repeats else "; --pooling separate takes the rows as independent"
        require(not given, f"{are(given)} not for rows that share items{way_out}")
        require(item is not None, "--repeats needs --item, the column that identifies the item")
        if len(verdicts) > 1:
            unused = _for_one_judge(shared, priors, all_methods)
            words = "several judges have difference estimates only, without a model; name one judge"
            require(not unused, f"{unused}: {words}")
        predictive = "error_rates" not in bj.prevalence.DESIGNS[how["calibration"]].identifies
        rates = priors.of(predictive, require)
    # with labels by verdict the sampled model has the joint likelihood of truths and verdicts
    model = ItemEffects(**(priors.joint if predictive else rates))
    separates = bj.prevalence.PredictiveValues if predictive else bj.prevalence.ErrorRates
    separate = separates(**rates)
    module = bj.prevalence.items
    keys = [c for c in (how["by"], item) if c is not None]
    asked: dict[str, Any] = {"item": item or "", "repeats": repeats, **how}
    columns = [*verdicts, how["truth"], *keys]
    with source.counted(columns, quiet=shared.quiet) as table:
        read = {one: Items.from_frame(table, verdict=one, **asked) for one in verdicts}
    items = next(iter(read.values()))
    several, name = len(read) > 1, items.pass_name
    paired: list[Estimate] = []
    if several:
        instant = [module.by_judge(read, ci_prob=shared.ci_prob)]
    else:
        made = module.closed_forms(items, ci_prob=shared.ci_prob, mismatched=all_methods)
        instant = [one for one in made if "prevalence" in one]
        paired = [one for one in made if "difference" in one]
        kind = shared.interval or "eti_bounded"
        instant.append(module.exact(items, separate, ci_prob=shared.ci_prob, interval=kind))
    story = Story(
        command="prevalence",
        title=of_passes("Share of good outputs (prevalence), rows that share items", name),
        answer="prevalence",
        inputs=_inputs(items, source, read, model),
        words=WORDS,
        tell=lambda made: module.answer(
            *made, *paired, ci_prob=shared.ci_prob, interval=shared.interval
        ),
        waits=False,
    )
    present(
        instant,
        None if several else lambda: module.fit(items, model, **shared.sampling),
        shared,
        story,
        more=lambda made: (
            []
            if several
            else [
                *_changed(items, separate, shared),
                *_differences(items, made, paired, shared),
            ]
        ),
    )


def _for_one_judge(shared: Shared, priors: Priors, all_methods: bool) -> list[str]:
    """The options given that the estimates of several judges have no use for."""
    others = {
        "--all-methods": all_methods,
        "--interval": shared.interval is not None,
        "--save": shared.save is not None,
    }
    return [*priors.asked, *(name for name, given in others.items() if given)]


def _inputs(
    items: Items, source: Source, read: Mapping[str, Items], model: ItemEffects
) -> dict[str, Any]:
    about = {
        **source.inputs,
        "rows": repr(items),
        "calibration": f"{items.design.name}: {items.design.meaning}",
    }
    if items.repeats is not None:
        about["repeats"] = f"{items.repeats}: {bj.prevalence.items.REPEATS[items.repeats]}"
    if items.spelling:
        about["labels"] = items.spelling
    if len(items.systems) > 1:
        about[kind_of(items.systems, several=True)] = ", ".join(items.systems)
    if len(read) > 1:
        return about | {"judges": ", ".join(read)}
    return about | {"model": f"ItemEffects: {of_passes(str(model), items.pass_name)}"}


def _changed(items: Items, separate: Any, shared: Shared) -> list[Section]:
    """When the share changed: of periods whose items are independent."""
    if share_items(items) or not in_time(items.systems):
        return []
    from bayesjudge.prevalence.items.effective import counts_of

    each = {
        name: (counts_of(items, name, shared.ci_prob), separate.of_system(name))
        for name in items.systems
    }
    return change_sections(each, shared.ci_prob)


def _differences(
    items: Items,
    results: Sequence[Estimate | Fit],
    paired: Sequence[Estimate],
    shared: Shared,
) -> list[Section]:
    """By how much systems differ on the items that they share."""
    module = bj.prevalence.items
    if any(c.id == "same-labels" for one in results for c in one.cautions):
        return []
    fits = [one for one in results if isinstance(one, Fit)]
    rows = differences(*paired, *fits, ci_prob=shared.ci_prob)
    if not rows:
        return []
    heading = f"Differences of {kind_of(items.systems, several=True)}"
    heading += " on the items that they share" * share_items(items)
    name = items.pass_name
    made = [difference_section(rows, items.systems, heading, partial(difference_words, name=name))]
    if fits and with_value(fits[-1]).sum() > 2:
        table = module.ranking(fits[-1], ci_prob=shared.ci_prob)
        made.append(rank_section(table, f" ({fits[-1].method})", name))
    return made
