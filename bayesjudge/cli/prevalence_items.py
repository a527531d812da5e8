"""``bayesjudge prevalence --item``: rows that share items, systems on one benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import bayesjudge as bj
from bayesjudge.cli.one_judge import BELIEFS, Asked, View, described
from bayesjudge.cli.options import Shared
from bayesjudge.cli.source import Source
from bayesjudge.cli.systems import change_sections, difference_section, rank_sections
from bayesjudge.core.answer import difference_words
from bayesjudge.core.diagnosis import is_led_elsewhere
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.periods import in_time, kind_of
from bayesjudge.core.words import words_for
from bayesjudge.prevalence.items import ItemEffects, Items
from bayesjudge.prevalence.items.answer import differences
from bayesjudge.prevalence.items.closed_form import share_items, within_classes
from bayesjudge.render.page import Section

WORDS = words_for("of_items")


def view_of_items(asked: Asked, source: Source, shared: Shared) -> View:
    """Read the verdicts of one judge or of several, with the model of item effects."""
    module, verdicts = bj.prevalence.items, asked.verdict or []
    with checking("options") as require:
        unused = ("stratum", "propensity", "pooling", "external_labels", "target")
        way_out = "" if asked.repeats else "; --pooling separate takes the rows as independent"
        asked.refuse(require, f"not for rows that share items{way_out}", *unused)
        if len(verdicts) > 1:
            of_one = asked.given(*BELIEFS, "all_methods")
            kept = {"--interval": shared.interval, "--save": shared.save}
            of_one += [name for name, value in kept.items() if value is not None]
            words = "several judges have difference estimates only, without a model; name one judge"
            require(not of_one, f"{of_one}: {words}")
        design = bj.prevalence.DESIGNS[asked.calibration or ""]
        predictive = "error_rates" not in design.identifies
        rates = asked.priors.of(predictive, require)
    # with labels by verdict the sampled model has the joint likelihood of truths and verdicts
    model = ItemEffects(**(asked.priors.joint if predictive else rates))
    separates = bj.prevalence.PredictiveValues if predictive else bj.prevalence.ErrorRates
    separate = separates(**rates)
    with source.counted(asked.needs(source), quiet=shared.quiet) as table:
        read = {
            column: Items.from_frame(table, **{**asked.reading, "verdict": column})
            for column in verdicts
        }
    items, level = next(iter(read.values())), shared.ci_prob
    about: dict[str, Any] = {
        "title": of_passes("Share of {good} outputs (prevalence)", items.pass_name)
        + ", rows that share items" * (items.n_rows > items.n_items),
        "inputs": _inputs(items, read, model),
        "words": WORDS,
    }
    if len(read) > 1:
        return View(closed=[module.by_judge(read, ci_prob=level)], **about)
    closed = module.closed_forms(items, ci_prob=level, mismatched=asked.all_methods)
    paired = [estimate for estimate in closed if "difference" in estimate]
    if is_led_elsewhere(items):
        paired = [each for each in within_classes(items, level) if "difference" in each]
    kind = shared.interval or "eti_bounded"
    return View(
        closed=closed,
        exact=module.exact(items, separate, ci_prob=level, interval=kind),
        sample=lambda: module.fit(items, model, **shared.sampling),
        more=lambda results: [
            *_changed(items, separate, shared),
            *_differences(items, results, paired, shared),
        ],
        **about,
    )


def _inputs(items: Items, read: Mapping[str, Items], model: ItemEffects) -> dict[str, Any]:
    repeats = items.repeats and f"{items.repeats}: {bj.prevalence.items.REPEATS[items.repeats]}"
    more = {"repeats": repeats, "labels": items.spelling}
    if len(items.systems) > 1:
        more[kind_of(items.systems, several=True)] = ", ".join(items.systems)
    words = f"ItemEffects: {model._joined(model.describe(), items.pass_name)}"
    last = {"judges": ", ".join(read)} if len(read) > 1 else {"model": words}
    return described(items, {"rows": repr(items)}, **more, **last)


def _changed(items: Items, separate: Any, shared: Shared) -> list[Section]:
    """When the share changed: of periods whose items are independent."""
    if share_items(items) or not in_time(items.systems) or is_led_elsewhere(items):
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
    if any(c.id == "same-labels" for result in results for c in result.cautions):
        return []
    fits = [result for result in results if isinstance(result, Fit)]
    fits = [] if is_led_elsewhere(items) else fits
    rows = differences(*paired, *fits, ci_prob=shared.ci_prob)
    name, fit = items.pass_name, fits[-1] if fits and rows else None
    where = " on the items that they share" if share_items(items) else ", independent samples"
    in_words, method = partial(difference_words, name=name), f" ({fit.method})" if fit else ""
    return [
        *difference_section(rows, in_words, items.systems, where),
        *rank_sections(fit, shared.ci_prob, method, name),
    ]
