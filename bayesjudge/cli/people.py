"""``bayesjudge prevalence`` of labels of several people, who err too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bayesjudge as bj
from bayesjudge.cli.counts import _differences
from bayesjudge.cli.one_judge import Asked, View, described
from bayesjudge.cli.options import Shared
from bayesjudge.cli.source import Source
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, of_passes
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import few
from bayesjudge.core.words import words_for
from bayesjudge.render.page import Section

#: Labels of the list for a second look that a screen shows.
SHOWN = 10
#: Options that one column of labels has a use for.
OF_ONE_LABEL = (
    *("score", "classes", "swapped", "external_labels"),
    *("target", "all_methods"),
)


def view_of_people(asked: Asked, source: Source, shared: Shared) -> View:
    """Read the verdicts of one judge and each person's labels."""
    module, verdicts = bj.prevalence.people, asked.verdict or []
    with checking("options") as require:
        asked.refuse(require, "not for labels of several people: name one (--truth)", *OF_ONE_LABEL)
        require(len(verdicts) == 1, f"--verdict: labels of several people go with one, {verdicts}")
        known = asked.pooling not in ("partial", "shares")
        require(known, f"--pooling {asked.pooling}: with labels of several people separate or full")
        priors = asked.priors.of(False, require)
    model = module.PeopleErrors(**priors, pooling="full" if asked.pooling == "full" else "separate")
    how = asked.reading
    with source.counted(asked.needs(source), quiet=shared.quiet) as table:
        counts = module.PeopleCounts.from_frame(table, **how)
        exact = module.exact(
            counts, model, ci_prob=shared.ci_prob, interval=shared.interval or "hdi"
        )
        covered = not any(caution.id == "no-quadrature" for caution in exact.cautions)
        lists = covered and not source.counts_in_place
        looked = module.doubtful(table, model, **how) if lists else None
    strata = counts.adds_up

    def sections(results: Sequence[Estimate | Fit]) -> list[Section]:
        first = [] if strata else _differences(results, shared)
        return [*first, *([] if looked is None else [second_look(looked)])]

    inputs = {
        "items": counts.test_n + counts.labelled_n,
        "labelled": counts.labelled_n,
        "people": few(list(counts.people), 5),
        "labelled by two": counts.shared_n,
    }
    return View(
        closed=module.closed_forms(counts, ci_prob=shared.ci_prob),
        exact=exact,
        waits=not covered,
        sample=None if asked.repeats else lambda: module.fit(counts, model, **shared.sampling),
        title=of_passes("Share of {good} outputs (prevalence), people err too", counts.pass_name),
        answer="overall_prevalence" if strata else "prevalence",
        inputs=described(counts, inputs, labels=counts.spelling, model=str(model)),
        words=words_for("of_people"),
        if_people_err=False,
        more=sections,
    )


def second_look(labels: Any) -> Section:
    """The labels that look most wrong, and how many wrong ones are expected."""
    expected = float(labels["wrong"].sum())
    numbered = labels["item"].dtype.kind == "i"  # no column names items
    first = " (the first row is row 0)" * numbered
    lines = [f"About {expected:.0f} of {len(labels):,} labels are wrong; the most doubtful{first}:"]
    at = [name for name in labels if name not in ("person", "label", "verdict", "wrong")]
    for row in labels.head(SHOWN).to_dict("records"):
        where = "row " * numbered + " · ".join(str(row[name]) for name in at)
        said = "pass" if row["label"] == 1 else "fail"
        lines.append(
            f"{where}: {row['person']} says {said}, wrong with probability {row['wrong']:.2f}"
        )
    fields = {"expected": expected, "labels": labels.head(100).to_dict("records")}
    return Section("Labels for a second look", lines, "second_look", fields)
