"""``bayesjudge passport``: a judge's calibration as a file: show it, hold a run against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App

import bayesjudge as bj
from bayesjudge.cli.columns import Labelled
from bayesjudge.cli.commands import COMMANDS
from bayesjudge.cli.counts import view
from bayesjudge.cli.one_judge import OF_RATES, Asked, View, show
from bayesjudge.cli.options import (
    OF_OUTPUT,
    OF_TABLE,
    Shared,
    Written,
)
from bayesjudge.cli.output import deliver, tell
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import chance, entries, listed
from bayesjudge.core.calls import called
from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.estimate import Caution, Estimate
from bayesjudge.core.screen import few
from bayesjudge.core.tables import free_name
from bayesjudge.judge.card import MARGIN, SURE
from bayesjudge.render.page import Section

passport = App(name="passport", help=COMMANDS["passport"])


@passport.command(name="show")
def show_card(
    path: Annotated[Path, OF_TABLE],
    /,
    *,
    written: Written = Written(),
    badge: Annotated[Path | None, OF_OUTPUT] = None,
) -> None:
    """Tell what a judge's card says.

    Parameters
    ----------
    path : Path
        The card, or a passport of before.
    badge : Path
        Write a badge (SVG): what the judge is worth.

    Raises
    ------
    InputError
        If it is not a card.
    """
    with checking("options") as require:
        written.check_files(require, badge=badge)
    card = bj.judge.Card.load(path)
    page = replace(card.page(), command="passport show", line=called("passport show"))
    fields = {"answer": {"text": page.sentence}, "rows": card.numbers}
    deliver(replace(page, fields=lambda: fields), written)
    if badge is not None:
        badge.write_text(card.badge(), encoding="utf-8")
        tell(f"badge written to {badge}")


@passport.command
def check(
    path: Annotated[Path, OF_TABLE],
    table: Annotated[Path, OF_TABLE],
    /,
    *,
    asked: Labelled = Labelled(),
    prompt: Annotated[Path | None, OF_TABLE] = None,
    rubric: Annotated[Path | None, OF_TABLE] = None,
    fail: Annotated[bool, OF_OUTPUT] = False,
    shared: Shared = Shared(),
) -> int:
    r"""Hold a later run against a passport, and correct its pass rate with it.

    ```
    bayesjudge passport check gpt-4o.passport.json new.csv --verdict judge --prompt judge.txt
    ```

    Labels of this run are not needed; if it has some, --truth and --calibration say which. --judge
    is the judge's name and version now, of a log by default the one that it names.

    Parameters
    ----------
    path : Path
        A judge's card, as `bayesjudge judge --card` writes it.
    table : Path
        The later run, one row per item; or a log.
    prompt : Path
        The judge's prompt now: the calibration does not hold for another one.
    rubric : Path
        The judge's rubric now, likewise.
    fail : bool
        Exit with 1 if the passport is stale or does not carry over.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    asked = replace(asked, calibration=asked.calibration or "separate", verdict=asked.judged)
    asked = replace(asked, unparsed=asked.unparsed or "fail")
    source = _opened(table, asked)
    judge = asked.judge or source.judge
    card, counts = bj.judge.Card.load(path), _counts(source, asked)
    stale = card.check(counts, judge=judge, prompt=text_of(prompt), rubric=text_of(rubric))
    run = _view(path, card, counts, shared, stale)
    about: dict[str, Any] = {
        "command": "passport check",
        "title": "A later run, held against a passport",
    }
    show(replace(run, **about, source=source, inputs={**run.inputs, "judge": judge}), shared)
    return int(fail and bool(stale))


#: Rates that a system has.
SIDES = ("sensitivity", "specificity")
#: Most lines of rates that are still what a card says.
MOST_RATES = 6
#: Options of tables that a card does not correct.
NO_CARD = ("score", "edges", "stratum", "propensity", "external_labels", "adjudicated", "rater",
           "classes", "swapped", "repeats", "prior", "pooling", *OF_RATES)  # fmt: skip


def view_of_card(path: Path, asked: Asked, source: Source, shared: Shared) -> View:
    """A run's share of good outputs, by a card as far as the run's own labels bear it out.

    Beside it stand the closed forms of the run's own labels.
    """
    return _view(path, bj.judge.Card.load(path), _counts(source, asked), shared)


def _view(
    path: Path,
    card: bj.judge.Card,
    counts: bj.prevalence.Counts,
    shared: Shared,
    stale: Sequence[Caution] = (),
) -> View:
    """What a card makes of a run, beside the closed forms of the run's own labels."""
    with checking("--card") as require:
        require(not shared.nuts, "--nuts samples the model of a run's own labels: leave --nuts out")
        bounded = shared.interval in (None, "eti_bounded")
        require(bounded, f"--interval {shared.interval}: with a card intervals are eti_bounded")
    shares = card.estimate(counts, ci_prob=shared.ci_prob)
    shares = replace(shares, cautions=(*stale, *shares.cautions))
    head, labels = str(card).splitlines(), carried(shares)
    shown, further = [*labels[:MOST_RATES], *head[:4]], [*labels[MOST_RATES:], *head[4:]]
    said = Section("The judge's card", shown, "card", labels, detail=False, further=further)
    uncarded = view(counts, bj.prevalence.ErrorRates(), shared, Asked())
    read = {name: value for name, value in uncarded.inputs.items() if name != "model"}
    return replace(
        uncarded,
        closed=[shares, *uncarded.closed],
        exact=None,
        sample=None,
        waits=False,
        if_people_err=False,
        inputs={**read, "card": str(path), "transport": transport(shares)},
        more=lambda _: [said],
        draw=lambda _: {},
    )


def carried(estimate: Estimate) -> list[str]:
    """How far the run's own labels bear the passport out; of several systems in short."""
    rates = [
        (row.value, " of ".join(map(str, sorted(where.values(), key=lambda n: n not in SIDES))))
        for _, where, row in estimate.only("carries_over").rows()
        if not math.isnan(row.value)
    ]
    counted = "and the passport's labels count as much"
    lines = [
        f"The judge's {rate} is what the passport says with probability {chance(p)}, {counted}."
        for p, rate in rates
    ]
    if len(rates) > len(SIDES):
        (low, worst), (high, best) = min(rates), max(rates)
        lines = [
            f"The judge errs as the passport says with probability {chance(low)} ({worst}) to "
            f"{chance(high)} ({best}), {counted}."
        ]
    held, alike = transport(estimate), dict[str, dict[str, int]]()
    off = entries(estimate.only("shift"))
    for name, (outcome, within) in held.items():
        place, named = ((name,), f" of {name}") if ("shift", name) in off else ((), "")
        shift, more = off["shift", *place], int(estimate["more_probes", *place].value)
        if len(held) > 1 and outcome != "fail":
            alike.setdefault(outcome, {})[name] = more
            continue
        said = {"pass": "holds", "fail": "does not hold"}.get(outcome, "may or may not hold")
        probes = f" {more} more random labels would tell."
        lines.append(
            f"Transport{named}: {outcome.upper()}. The passport's calibration {said} within "
            f"± {100 * MARGIN:.0f} points (probability {chance(within)}; it alone is off by "
            f"{100 * shift.value:+.1f} points, {100 * shift.low:+.1f} to {100 * shift.high:+.1f})."
            f"{probes * (outcome == 'unknown' and more > 0)}"
        )
    for outcome, places in alike.items():
        most = max(places.values()) * (outcome == "unknown")
        probes = f" {most:,} more random labels of each would tell." * (most > 0)
        lines.append(f"Transport of {listed([*places])}: {outcome.upper()}.{probes}")
    return lines


def transport(estimate: Estimate) -> dict[str, tuple[str, float]]:
    """Whether a card's calibration holds, pass, fail or unknown, and how probably: by system."""
    known = {
        "".join(key[1:]) or "run": row.value
        for key, row in entries(estimate.only("within_margin")).items()
        if not math.isnan(row.value)
    }
    return {
        name: ("pass" if p >= SURE else "fail" if p <= 1 - SURE else "unknown", p)
        for name, p in known.items()
    }


def _opened(table: Path, asked: Labelled) -> Source:
    """A table, or a log, of whose judges one is meant."""
    source = open_source(table, asked.metric, judges=True)
    if source.log is not None:
        names = source.chosen.judges
        alone = names[0] if len(names) == 1 else None
        source.judge = asked.judge if asked.judge in names else alone
        several = source.judge or not names
        expect(str(table), several, "one-of-judges", metric=source.metric, names=few(names))
    return source


def _counts(source: Source, asked: Labelled) -> bj.prevalence.Counts:
    """What a card is held against: one judge's passes and fails, with labels or without."""
    with checking("--card") as require:
        asked.refuse(require, "of no use beside a card", *dict.fromkeys(NO_CARD))
    unlabelled = not (asked.truth or asked.labels or source.own_truth)
    asked = replace(asked.completed(source, unlabelled=unlabelled), repeats=None)
    design, verdicts = asked.calibration or "separate", asked.verdict or []
    with checking("--card") as require:
        single = len(verdicts) == 1 and not asked.several_people
        words = "a card corrects one judge's passes and fails: name one --verdict, one --truth"
        require(single, words)
        require(not unlabelled or design == "separate", f"--calibration {design} needs --truth")
        by_verdict = design in ("by_verdict", "known_propensity")
        require(not by_verdict, "card-not-tested", design=design)
    columns = asked.needs(source)
    rows, how = source.table(columns), asked.reading | {"calibration": design}
    if unlabelled:
        import pyarrow as pa

        how["truth"] = free_name("truth", columns)
        empty = pa.nulls(len(rows), pa.string()).dictionary_encode()
        rows = rows.append_column(how["truth"], empty)
    keys = asked.columns("by", "item")
    once = asked.item is None or (
        rows.select(keys).group_by(keys).aggregate([]).num_rows == len(rows)
    )
    problem = (
        "items have several rows: a passport counts items, and repeated rows of one would make "
        "it surer than it is; give one row per item, such as the first epoch"
    )
    problem += "" if asked.by else ", or name the column of systems, --by"
    expect(f"--item {asked.item}", once, problem)
    return bj.prevalence.Counts.from_frame(rows, **how)


def text_of(path: Path | None) -> str | None:
    """What is in a file of text; None of none."""
    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), [f"cannot be read: {error}"]) from error
