"""``bayesjudge prevalence --item``: rows that share items, systems on one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import bayesjudge as bj
from bayesjudge.cli.output import Section, Shared, Story, present
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.prevalence.items import ItemEffects, Items

WORDS = {
    "sensitivity": "share of good outputs that the judge passes",
    "specificity": "share of bad outputs that it fails",
    "icc": "correlation of the truths of two outputs for one item",
    "design_effect": "variance of a mean over rows, in units of that of independent rows",
    "effective_items": "independent rows that tell as much",
}


def answer_items(
    table: Any,
    shared: Shared,
    *,
    source: str,
    verdicts: Sequence[str],
    item: str | None,
    repeats: Literal["system", "judge"] | None,
    refused: Mapping[str, Any],
    **how: Any,
) -> None:
    """Estimate each system and the paired differences, and present."""
    with checking("options") as require:
        given = [name for name, value in refused.items() if value]
        require(not given, f"{given} are not for rows that share items (--repeats)")
        require(item is not None, "--repeats needs --item, the column that identifies the item")
    module = bj.prevalence.items
    read = {
        verdict: Items.from_frame(table, item=item or "", repeats=repeats, verdict=verdict, **how)
        for verdict in verdicts
    }
    items = next(iter(read.values()))
    model, several = ItemEffects(), len(read) > 1
    if several:
        instant = [module.by_judge(read, ci_prob=shared.ci_prob)]
    else:
        made = module.closed_forms(items, ci_prob=shared.ci_prob)
        instant = [one for one in made if "prevalence" in one]
        kind = shared.interval or "eti_bounded"
        instant.append(module.exact(items, ci_prob=shared.ci_prob, interval=kind))
    story = Story(
        command="prevalence",
        title="Share of good outputs (prevalence), rows that share items",
        answer="prevalence",
        inputs=_inputs(items, source, read, model),
        words=WORDS,
    )
    present(
        instant,
        None
        if several
        else lambda: module.fit(items, model, random_seed=shared.seed, strict=shared.strict),
        shared,
        story,
        more=lambda made: [] if several else _differences(items, made, shared),
    )


def _inputs(
    items: Items, source: str, read: Mapping[str, Items], model: ItemEffects
) -> dict[str, Any]:
    about = {
        "data": source,
        "rows": repr(items),
        "calibration": f"{items.design.name}: {items.design.meaning}",
    }
    if items.repeats is not None:
        about["repeats"] = f"{items.repeats}: {bj.prevalence.items.REPEATS[items.repeats]}"
    if len(items.systems) > 1:
        about["systems"] = ", ".join(items.systems)
    if len(read) > 1:
        return about | {"judges": ", ".join(read)}
    return about | {"model": f"ItemEffects: {model}"}


def _differences(items: Items, results: Sequence[Estimate | Fit], shared: Shared) -> list[Section]:
    """By how much systems differ on the items that they share."""
    if len(items.systems) < 2:
        return []
    module, rows = bj.prevalence.items, []
    if "prevalence" in items.design.identifies:
        made = module.paired_difference(items, ci_prob=shared.ci_prob)
        for _, where, row in made.rows():
            rows.append({**where, "method": made.method, **row._asdict()})
    for fit in results:
        if isinstance(fit, Fit):
            table = module.contrasts(fit, ci_prob=shared.ci_prob)
            rows += [{**r, "method": fit.method} for r in table.to_dict("records")]
    rows.sort(key=lambda r: (items.systems.index(r["first"]), items.systems.index(r["second"])))
    lines = [
        f"{r['first']} - {r['second']}: {r['value']:+.3f} ({r['low']:+.3f} to {r['high']:+.3f}), "
        f"{r['method']}"
        + (
            f"; {r['first']} is better with probability {r['probability']:.3f}"
            if "probability" in r
            else ""
        )
        for r in rows
    ]
    return [
        Section("Differences of systems on the items that they share", lines, "differences", rows)
    ]
