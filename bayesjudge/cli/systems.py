"""What every command says of systems: their differences, their ranks and when they changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesjudge.cli.output import first_lines
from bayesjudge.core.answer import Claim, chance
from bayesjudge.core.comparing import ranking, with_value
from bayesjudge.core.errors import InputError
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.periods import in_time, kind_of
from bayesjudge.prevalence.answer import IN_TIME, neighbours
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from bayesjudge.prevalence import Counts

#: Most lines of a section on the screen.
MOST_LINES = 10
#: Most differences of which those that are open are lines, too.
MOST_OPEN = 5


def difference_section(
    rows: list[dict[str, Any]],
    in_words: Callable[..., str],
    systems: Sequence[str] = (),
    where: str = "",
    *,
    level: float | None = None,
) -> list[Section]:
    """Differences of systems: of more than two, those next to each other in rank are shown.

    With a level, the answer has told none of them, and the first line says how wide intervals are.
    """
    if not rows:
        return []
    systems = systems or list(
        dict.fromkeys(row[end] for end in ("first", "second") for row in rows)
    )
    rows.sort(key=lambda r: (systems.index(r["first"]), systems.index(r["second"])))
    near, far = neighbours(rows)
    first = rows[0]["method"]  # the one that is quoted; the others are told with --details
    if len(systems) == 2 and level is None:  # the answer has told that difference
        near, far = [], near + far
    far += [row for row in near if row["method"] != first]
    near = [row for row in near if row["method"] == first]
    short = short_names(systems)

    def in_brief(row: dict[str, Any], level: float | None = None) -> str:
        ends = {end: short.get(row[end], row[end]) for end in ("first", "second")}
        return in_words({**row, **ends}, level)

    shown, open_ = near, [row for row in near if Claim.of(row).strength == "open"]
    if len(near) > MOST_OPEN:  # of many, those that decide something
        shown = [row for row in near if row not in open_]
        far += open_
    lines = [in_brief(row, None if i else level) for i, row in enumerate(shown)]
    if len(shown) < len(near):
        count = f"{len(open_)} of {len(near)}" if shown else f"All {len(near)}"
        lines.append(f"{count} pairs next to each other in rank may or may not differ: --details")
    apart = [
        in_brief(row) + ("" if row["method"] == first else f" ({row['method']})") for row in far
    ]
    lines = first_lines(lines, MOST_LINES)
    heading = f"Differences of {kind_of(systems, several=True)}{where}"
    heading += f"{IN_TIME * bool(in_time(systems))} ({first})"
    return [Section(heading, lines, "differences", rows, detail=not lines, further=apart)]


def rank_sections(
    fit: Fit | Mapping[str, Fit] | None, ci_prob: float, method: str = "", name: str = ""
) -> list[Section]:
    """Ranks of three or more systems that were sampled, the best first.

    With a `name` of passes, the one with most outputs called so.
    """
    several = fit and (with_value(fit).sum() if isinstance(fit, Fit) else len(fit)) > 2
    if fit is None or not several:
        return []
    table = ranking(fit, ci_prob=ci_prob)
    rows = table.reset_index().to_dict("records")
    first = f"most {name!r}" if name else "best"
    lines = [
        f"{row['system']}: rank {row['rank_low']} to {row['rank_high']}, {first} with probability "
        f"{chance(row['best'])}"
        for row in rows[:MOST_LINES]
    ]
    kinds = kind_of(table.index, several=True)
    return [Section(f"Ranks of the {kinds}{method}", lines, "ranks", rows, detail=False)]


def change_sections(each: Mapping[str, tuple[Counts, Any]], ci_prob: float) -> list[Section]:
    """When the share changed, of counts and priors of each period; nothing of other systems."""
    from bayesjudge.prevalence.cautions import contradictions
    from bayesjudge.prevalence.change import change_of

    usable = all(
        counts.has_quadrature
        and not counts.predictive
        and counts.labelled_n
        and not any(contradictions(counts, model.better_than_chance))
        for counts, model in each.values()
    )
    if not in_time(each) or not usable:
        return []
    try:
        changes = change_of(each, ci_prob)
    except InputError:  # a period has no posterior
        return []
    fields = {
        "dates": [{"before": a, "after": b, "probability": p} for a, b, p in changes.dates()],
        "difference": changes.difference._asdict(),
        "bayes_factor": changes.bayes_factor,
    }
    return [Section("When it changed", [str(changes)], "change", fields, detail=False)]
