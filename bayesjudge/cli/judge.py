"""``bayesjudge judge``: is the judge good enough, and for what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.columns import Scored
from bayesjudge.cli.one_judge import described
from bayesjudge.cli.options import (
    LOGS,
    OF_OUTPUT,
    OUTPUT,
    SEVERAL,
    Shared,
    are,
    check_files,
    table_option,
)
from bayesjudge.cli.output import Results, Story, first_lines, present, tell, write_csv
from bayesjudge.cli.passport import text_of
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import Answer, chance, numbers, percent_of, percents, points
from bayesjudge.core.errors import Require, checking
from bayesjudge.core.estimate import Estimate, in_words
from bayesjudge.core.words import words_for
from bayesjudge.judge.data import Judged, as_judged
from bayesjudge.judge.trust import ALPHA, PROMISED
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Most judges of which all pairs are told, and most findings on the screen.
MOST_JUDGES, MOST_FINDINGS = 6, 10
#: Caption of the picture of thresholds.
TRUST = "People's share of passes by score, and where verdicts can stand"


@Parameter(name="*", group=OUTPUT, negative="")
@dataclass(frozen=True)
class OfCard:
    """The judge's card, and what is kept in it.

    Parameters
    ----------
    card : Path
        Write the judge's card: a small file for later runs (`bayesjudge passport`), with all this.
    name : str
        For the card: the judge's name and version; of a log by default the one that it names.
    valid_until : str
        For the card: the date after which it is stale, such as 2027-06-30.
    prompt : Path
        For the card: the judge's prompt, of which its SHA-256 is kept.
    rubric : Path
        The judge's rubric, likewise.
    """

    card: Path | None = None
    name: str | None = None
    valid_until: str = ""
    prompt: Path | None = None
    rubric: Path | None = None

    def check(self, require: Require, name: str | None) -> None:
        """Refuse a card of no name, and what is kept in no card."""
        check_files(require, card=self.card)
        words = "--card needs --name: the judge's name and version"
        require(self.card is None or name, words)
        values = {n: value for n, value in vars(self).items() if value and n != "card"}
        unkept = [f"--{n.replace('_', '-')}" for n in values]
        words = f"{are(unkept)} kept in the judge's card: name its file, --card"
        require(self.card is not None or not unkept, words)

    def issue(self, judged: Judged, once: Judged, **about: Any) -> bj.judge.Card | None:
        """The card, of items with a call each; what repeats tell is of all of them."""
        if self.card is None:
            return None
        return bj.judge.Card.make(
            bj.prevalence.Counts.of(one_judge_of(once)),
            valid_until=self.valid_until,
            tuned_labels=judged.tuned,
            repeat_correlation=judged.repeat_correlation,
            prompt=text_of(self.prompt),
            rubric=text_of(self.rubric),
            **about,
        )


def judge(
    table: Annotated[Path, table_option("One row per output", LOGS)],
    /,
    *,
    asked: Scored = Scored(),
    trust: Annotated[bool, OF_OUTPUT] = False,
    wrong: Annotated[float, OF_OUTPUT] = ALPHA,
    promised: Annotated[float, OF_OUTPUT] = PROMISED,
    disagreements: Annotated[Path | None, OF_OUTPUT] = None,
    people: Annotated[list[str] | None, SEVERAL] = None,
    of_card: OfCard = OfCard(),
    shared: Shared = Shared(),
) -> None:
    r"""Say what a judge is worth, how it errs, and for what that is good enough.

    ```
    bayesjudge judge labels.csv --verdict gpt4_label --truth final_label --calibration random
    bayesjudge judge log.csv --verdict v1 v2 --truth human --calibration random
    bayesjudge judge log.csv --score p --scale 0:1 --truth human --calibration random --trust
    ```

    Parameters
    ----------
    table : Path
        One row per output, or a log.
    trust : bool
        Of scores: from which on passes, and down to which fails, can stand without a person.
    wrong : float
        Share of those that may be wrong.
    promised : float
        Probability that no more are.
    disagreements : Path
        Write the labelled outputs on which judge and people differ, the likeliest errors first.
    people : list[str]
        For the disagreements: two or more columns, one of each person's labels; --truth is what was
        settled, or one of them. They tell how often people err, which else is taken to be 5 %.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, asked.metric, judge=asked.judge)
    named = of_card.name or asked.judge or source.judge
    with checking("options") as require:
        of_card.check(require, named)
        check_files(require, disagreements=disagreements)
        single = not (asked.verdict and asked.score)
        require(single, "--verdict or --score: give one of them")
        require(not trust or asked.score, "--trust takes --score: numbers or probabilities")
        require(not people or disagreements, "--people needs --disagreements FILE")
        words = "--truth-from is for scores: give them by --score, in place of --verdict"
        require(asked.score or asked.truth_from is None, words)
        default = trust or (wrong, promised) == (ALPHA, PROMISED)
        require(default, "--wrong and --promised need --trust")
    verdicts = None if asked.score else asked.judged
    asked = replace(asked, verdict=verdicts).completed(source)
    if asked.several_people:
        _require_one_label(asked, alone=of_card.card is None and disagreements is None)
    keyed = asked.score or asked.repeats or asked.rater
    rows = asked if keyed else replace(asked, item=None)  # each is of its own
    with source.counted(rows.needs(source), quiet=shared.quiet) as read:
        judged = once = _read(read, rows, source)
        if of_card.card is not None and asked.repeats == "judge" and not asked.score:
            once = _read(_first_calls(read, asked), replace(asked, item=None), source)
    quality = bj.judge.quality(judged, ci_prob=shared.ci_prob)
    how_sure = {"alpha": wrong, "promised": promised, "ci_prob": shared.ci_prob}
    trusted = bj.judge.trust(judged, **how_sure) if trust else None
    about = {"judge": str(named), "source": table.name, "ci_prob": shared.ci_prob}
    made_card = of_card.issue(judged, once, **about)
    listed = None if disagreements is None else _disagreements(source, asked, judged, people or ())
    findings = _where(source, asked, judged, people or ())
    who = asked.judged[0] if len(asked.judged) > 1 else "it"

    def answered(results: Results) -> Answer:
        every = [*results, *([] if trusted is None else [trusted])]
        answer = bj.judge.answer(*every, ci_prob=shared.ci_prob)
        worst = [f"Where {who} errs most: {finding.text}." for finding in (findings or [])[:1]]
        return replace(answer, notes=(*worst, *answer.notes))

    def sections(_: Results) -> list[Section]:
        shown = [*_both_said(judged, quality), *_by_others(judged, shared)]
        shown += [] if trusted is None else [_trusted(trusted, wrong, promised)]
        return [*shown, *_weak_spots(findings, who)]

    def draw(_: Results) -> dict[str, Axes]:
        drawn = {"What the judge says of what people say": bj.judge.plot_judge(quality)}
        return drawn if trusted is None else {**drawn, TRUST: bj.judge.plot_trust(trusted)}

    counted = {"outputs": judged.seen, "labelled": judged.labelled}
    story = Story(
        command="judge",
        title="Is the judge good enough, and for what?",
        answer="accuracy",
        words=words_for("of_judge"),
        instant=[quality],
        more=sections,
        draw=draw,
        source=source,
        inputs=described(judged, counted, labels=judged.table.spelling),
        tell=answered,
        waits=False,
    )
    present(story, shared)
    if made_card is not None and of_card.card is not None:
        tell(f"card written to {made_card.save(of_card.card)}")
    if listed is not None and disagreements is not None:
        write_csv(listed, disagreements)
        tell(f"{len(listed):,} disagreements written to {disagreements}")


def _require_one_label(asked: Scored, *, alone: bool) -> None:
    """Refuse of several people's labels what takes one of each output."""
    with checking("options") as require:
        words = "labels of several people take one --verdict column; of a --score name one of them "
        words += "(--truth), or make verdicts of it"
        require(len(asked.judged) == 1 and not asked.score, words)
        words = "--card and --disagreements: name one column of labels (--truth), and the people's "
        require(alone, f"{words}(--people)")


def _read(table: Any, asked: Scored, source: Source) -> Judged:
    """What the judge said beside what people did, or several of them who err too."""
    how = asked.reading
    if asked.score or asked.item is None:
        how.pop("repeats", None)
    if asked.several_people:
        return as_judged(bj.prevalence.people.PeopleCounts.from_frame(table, **how))
    how |= asked.values("truth_from", "classes")
    if asked.score:
        how["score"] = how.pop("verdict")
        with checking("options") as require:
            how["scale"], how["truth_scale"] = asked.scales(require)
    return bj.judge.Judged.from_frame(table, **how, tuned=source.left_out)


def _first_calls(table: Any, asked: Scored) -> Any:
    """The first call on each output, with its label."""
    import narwhals as nw

    calls = nw.from_native(table).lazy().collect().to_pandas()
    outputs = asked.columns("item", "by")
    labels = calls.groupby(outputs, observed=True)[asked.label].transform("first")
    return calls.assign(**{asked.label: labels}).drop_duplicates(outputs)


def _disagreements(
    source: Source, asked: Scored, judged: Judged, people: Sequence[str]
) -> pd.DataFrame:
    """The labelled outputs on which judge and people differ."""
    with checking("--disagreements") as require:
        words = "judge and people must both give passes and fails, or numbers (--truth-scale)"
        require(judged.kind in ("verdicts", "grades"), words)
    return bj.judge.disagreements(
        source.whole([*asked.judged, asked.label]),
        verdict=asked.judged,
        truth=asked.label,
        numeric=judged.kind == "grades",
        people=people,
        **vars(asked.meanings),
    )


def one_judge_of(judged: Judged) -> bj.Verdicts:
    """The passes and fails of one judge, of which a card is made."""
    with checking("--card") as require:
        single = judged.kind == "verdicts" and len(judged.judges) == 1
        require(single, "a card holds passes and fails of one judge: name one --verdict")
        alone = judged.verdicts is None or judged.verdicts.item is None
        require(alone, "card-of-items")
    assert judged.verdicts is not None
    return judged.verdicts


def _both_said(judged: Judged, quality: Estimate) -> list[Section]:
    """The confusion table of one judge."""
    if len(judged.pairs) > 1:
        return []
    by: dict[str, list[str]] = {}
    name, alone = judged.pass_name, judged.people is None
    truth, other = ("people", "do not") if alone else ("in truth", "not")
    kinds = {"good": f"{name!r}" if name else "pass", "bad": other if name else "fail"}
    said = {"passed": f"judge {name!r}" if name else "judge passes"}
    said["failed"] = "judge does not" if name else "judge fails"
    if "good_passed" in quality:
        for kind, words in kinds.items():
            by[f"{truth} {words}"] = [
                f"{column} {percents(quality[f'{kind}_{verdict}'])}"
                for verdict, column in said.items()
            ]
    for _, at, row in quality.only("confusion").rows():
        heading = f"of outputs people call {at['truth']}"
        by.setdefault(heading, []).append(f"{at['verdict']} {percents(row)}")
    if not by:
        return []
    lines = [f"{words}: {', '.join(parts)}" for words, parts in by.items()]
    heading = "What people and judge said, shares of " + (
        _of_which(judged) if "good_passed" in quality else "each class"
    )
    return [Section(heading, lines, "confusion", lines, detail=False)]


def _of_which(judged: Judged) -> str:
    """Of which outputs shares are: of a random sample they are counted on that alone."""
    if not judged.design.is_sample or judged.people is not None or judged.complete:
        return "all outputs"
    return f"the {judged.labelled:,} labelled outputs"


def _by_others(judged: Judged, shared: Shared) -> list[Section]:
    """Every two of several judges."""
    if len(judged.judges) < 2 or judged.verdicts is None:
        return []
    measure: Any = "accuracy" if "prevalence" in judged.design.identifies else "youden"
    compared = bj.judge.select(judged, measure=measure, ci_prob=shared.ci_prob)
    value, less = (percents, points) if measure == "accuracy" else (numbers, numbers)
    lines = []
    for _, at, row in compared.only("difference").rows():
        better = compared["p_better", at["first"], at["second"]].value
        lines.append(
            f"{at['first']} less {at['second']}: {less(row)}, better with probability "
            f"{chance(better)}"
        )
    shown = lines if len(judged.judges) <= MOST_JUDGES else lines[: len(judged.judges)]
    fields = [{"quantity": name, "where": at, **row._asdict()} for name, at, row in compared.rows()]
    of = ", ".join(f"{at['judge']} {value(row)}" for _, at, row in compared.only(measure).rows())
    shown = [f"{in_words(measure)}, shrunk towards each other: {of}", *shown]
    heading = "Judges against each other, on the same outputs"
    return [Section(heading, shown, "judges", fields, detail=False)]


def _trusted(trust: Estimate, wrong: float, promised: float) -> Section:
    """From which score on verdicts can stand."""
    lines = []
    sides = (
        ("pass", "passes", "pass_from", "from", "on"), ("fail", "fails", "fail_to", "down to", "")
    )  # fmt: skip
    for side, many, name, word, on in sides:
        cut, share = trust[name].value, trust["traffic", side].value
        if cut != cut:
            lines.append(
                f"No {side} can stand: no threshold keeps wrong {many} at {percent_of(wrong)} with "
                f"{percent_of(promised)} certainty; with more labels one may."
            )
            continue
        lines.append(
            f"A {side} can stand {word} {cut:.3g}{f' {on}' if on else ''}: at most "
            f"{percent_of(wrong)} are wrong, with {percent_of(promised)} certainty; that is "
            f"{percent_of(round(share, 2))} of the outputs ({_of_labels(trust, side, cut)})."
        )
    (pairs,) = trust.data.pairs.values()
    good = float(pairs.shares(trust.data.design) @ pairs.truth)
    lines.append(
        f"Best cut: {numbers(trust['best_cut'])}; there judge and people agree on "
        f"{percents(trust['accuracy'])}, the commoner label alone and people on "
        f"{percent_of(round(max(good, 1 - good), 2))}; it passes {percents(trust['sensitivity'])} "
        f"of what people pass and fails {percents(trust['specificity'])} of what they fail."
    )
    gain, again = trust["gain"], trust["gain_recalibrated"]
    if gain.value == gain.value:  # labels differ
        lines.append(
            f"Gain over the base rate (Brier): {percents_of_gain(gain)} as given, "
            f"{percents_of_gain(again)} recalibrated."
        )
    further = [f"of outputs scored {at['score']} people pass {percents(row)}"
               for _, at, row in trust.only("people_mean").rows()]  # fmt: skip
    fields = [{"quantity": name, "where": at, **row._asdict()} for name, at, row in trust.rows()]
    heading = f"Where it can be trusted (at most {percent_of(wrong)} wrong, "
    heading += f"{percent_of(promised)} sure)"
    return Section(heading, lines, "trust", fields, detail=False, further=further)


def _of_labels(trust: Estimate, side: str, cut: float) -> str:
    """Of the labelled outputs beyond a threshold: ``3 of 80 labelled ones there are wrong``."""
    (pairs,) = trust.data.pairs.values()
    labels = int(pairs.n @ (pairs.said >= cut if side == "pass" else pairs.said <= cut))
    row = trust["wrong", side]
    share = f": {percents(row)}" if row.high > row.low else ""
    return f"{round(row.value * labels)} of {labels} labelled ones there are wrong{share}"


def percents_of_gain(row: Any) -> str:
    """A gain, which may be below 0."""
    value, low, high = (f"{100 * round(share, 2) + 0:.0f}" for share in row)  # no -0
    return f"{value} % ({low} to {high} %)"


def _where(
    source: Source, asked: Scored, judged: Judged, people: Sequence[str]
) -> list[bj.judge.Finding] | None:
    """Column values in which the first judge errs more, none of them what others said."""
    name, *others = asked.judged
    several = asked.rater or not asked.label
    if source.counts_in_place or judged.kind in ("classes", "scores") or several:
        return None
    whole = source.whole([name, asked.label])
    left_out = ({*people, *others, asked.item} - {asked.label}) & {*whole.column_names}
    return bj.judge.where_it_errs(
        whole.drop_columns(sorted(map(str, left_out))),
        verdict=name,
        truth=asked.label,
        numeric=judged.kind == "grades",
        **vars(asked.meanings),
    )


def _weak_spots(findings: list[bj.judge.Finding] | None, who: str) -> list[Section]:
    """Where the first judge errs more; a single finding is in the answer."""
    if findings is None:
        return []
    lines = first_lines([finding.text for finding in findings], MOST_FINDINGS)
    fields = [finding._asdict() for finding in findings]
    lines = lines or ["None of the other columns is surely linked to its errors."]
    heading = f"Where {who} errs more (false discoveries at most 5 %)"
    return [Section(heading, lines, "where", fields, detail=len(findings) < 2)]
