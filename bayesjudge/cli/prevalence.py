"""``bayesjudge prevalence``: from verdicts and a few labels to the share of good outputs."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from bayesjudge.cli.one_judge import Asked, View, show
from bayesjudge.cli.options import LOGS, CardFile, Shared, needed, table_option
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.errors import checking

#: Options of scores, which verdicts have no use for.
OF_SCORES = ("scale", "truth_scale", "truth_from", "pass_from", "edges")
#: Bytes of a table in which groups that are labelled as a whole are looked for.
MOST_BYTES = 5_000_000


def prevalence(
    table: Annotated[Path, table_option("One row per item", LOGS)],
    /,
    *,
    asked: Asked = Asked(),
    card: CardFile = None,
    shared: Shared = Shared(),
) -> None:
    r"""Estimate what share of outputs people would pass, from verdicts and a few human labels.

    Rows with a human label show how the judge errs (calibration); the verdicts on the other rows
    are corrected for it. An exact posterior and closed forms answer at once. Of a run without
    labels a judge's --card tells how it errs: then leave out --truth and --calibration.

    ```
    bayesjudge prevalence labels.csv --verdict gpt4_label --truth final_label \
        --calibration random --by system --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row per item, or a log.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, asked.metric, judge=asked.judge)
    if card is None:
        view = read(asked.completed(source), source, shared)
    else:
        from bayesjudge.cli.passport import view_of_card

        view = view_of_card(card, asked, source, shared)
    show(replace(view, source=source), shared)


def read(asked: Asked, source: Source, shared: Shared) -> View:
    """What the options say of the table decides as what it is read."""
    if asked.score:
        from bayesjudge.cli.scores import as_verdicts, view_of_scores

        if asked.pass_from is None:
            view = view_of_scores(asked, source, shared)
            return view if asked.by else replace(view, note=_whole_groups(asked, source))
        asked, source = as_verdicts(asked, asked.pass_from, source, shared)
    else:
        with checking("options") as require:
            words = "--verdict (or --score, if the judge gives numbers) is needed"
            require(asked.verdict, needed("--verdict", words))
            words = "for scores: give them by --score, in place of --verdict"
            asked.refuse(require, words, *OF_SCORES)
    if asked.several_people:
        from bayesjudge.cli.people import view_of_people

        return view_of_people(asked, source, shared)
    if asked.classes or asked.swapped:
        from bayesjudge.cli.classes import view_of_classes

        return view_of_classes(asked, source, shared)
    independent = asked.pooling or asked.stratum or asked.propensity
    if asked.repeats or (asked.item and asked.by and not independent):
        from bayesjudge.cli.prevalence_items import view_of_items

        return view_of_items(asked, source, shared)
    from bayesjudge.cli.counts import view_of_counts

    return replace(view_of_counts(asked, source, shared), note=_whole_groups(asked, source))


def _whole_groups(asked: Asked, source: Source) -> str:
    """Say so if labels cover whole groups of rows, such as conversations, which no option names."""
    if asked.item is not None or asked.calibration != "random" or not asked.label:
        return ""
    if source.labels is not None:  # rows of a file of their own, all labelled, are no group
        return ""
    size = source.path.stat().st_size if source.path.is_file() else MOST_BYTES + 1
    if source.log is not None or size > MOST_BYTES or source.counts_in_place:
        return ""
    from bayesjudge.cli.shapes.roles import describe

    truth, missing = asked.label, asked.meanings.missing_value or ()
    more = "" if asked.verdict is None else " --repeats system"
    cells = source.table_of_names([*source.readable(), truth])
    cells[truth] = ["" if cell in missing else cell for cell in cells[truth]]
    table = describe(cells, [truth]).but(verdicts=asked.judged)
    together = table.labelled_together(truth)
    if together is None:
        return ""
    name, labelled, groups = together
    return (
        f"Labels cover whole groups of {name}: {labelled:,} of {groups:,} have one on every row, "
        "the others on none. Rows of a group are not drawn one by one, so that this interval may "
        f"be too narrow: say --item {shlex.quote(name)}{more}."
    )
