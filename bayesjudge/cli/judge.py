"""``bayesjudge judge``: is the judge good enough, and for what?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import narwhals as nw

import bayesjudge as bj
from bayesjudge.cli.one_judge import Asked
from bayesjudge.cli.options import (
    BY,
    FIRST,
    LOGS,
    OF_OUTPUT,
    OF_TABLE,
    SEVERAL,
    Adjudicated,
    LabelFile,
    LogJudge,
    Meanings,
    Metric,
    Rater,
    Shared,
    Truths,
    TunedOn,
    are,
    check_files,
    table_option,
)
from bayesjudge.cli.output import Results, Story, first_lines, present, tell, write_csv
from bayesjudge.cli.passport import text_of
from bayesjudge.cli.scores import read_scale
from bayesjudge.cli.source import Source, open_source
from bayesjudge.core.answer import Answer, chance, numbers, percent_of, percents, points
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate, in_words
from bayesjudge.core.words import words_for
from bayesjudge.judge.data import as_judged
from bayesjudge.judge.trust import ALPHA, PROMISED
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Most judges of which all pairs are told, and most findings on the screen.
MOST_JUDGES, MOST_FINDINGS = 6, 10
#: Caption of the picture of thresholds.
TRUST = "People's share of passes by score, and where verdicts can stand"


def judge(
    table: Annotated[Path, table_option("One row per output", LOGS)],
    /,
    *,
    verdict: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    truth: Annotated[Truths, FIRST] = None,
    calibration: Annotated[str | None, OF_TABLE, FIRST] = None,
    by: Annotated[str | None, BY, FIRST] = None,
    score: Annotated[list[str] | None, SEVERAL] = None,
    scale: Annotated[str | None, OF_TABLE] = None,
    truth_scale: Annotated[str | None, OF_TABLE] = None,
    truth_from: Annotated[float | None, OF_TABLE] = None,
    classes: Annotated[list[str] | None, SEVERAL] = None,
    item: Annotated[str | None, OF_TABLE] = None,
    repeats: Annotated[Literal["system", "judge"] | None, OF_TABLE] = None,
    propensity: Annotated[str | None, OF_TABLE] = None,
    labels: LabelFile = None,
    adjudicated: Adjudicated = None,
    rater: Rater = None,
    tuned_on: TunedOn = None,
    meanings: Meanings = Meanings(),
    unparsed: Annotated[Literal["fail", "drop"] | None, OF_TABLE] = None,
    metric: Metric = None,
    judge: LogJudge = None,
    trust: Annotated[bool, OF_OUTPUT] = False,
    wrong: Annotated[float, OF_OUTPUT] = ALPHA,
    promised: Annotated[float, OF_OUTPUT] = PROMISED,
    disagreements: Annotated[Path | None, OF_OUTPUT] = None,
    people: Annotated[list[str] | None, SEVERAL] = None,
    card: Annotated[Path | None, OF_OUTPUT] = None,
    name: Annotated[str | None, OF_OUTPUT] = None,
    valid_until: Annotated[str, OF_OUTPUT] = "",
    prompt: Annotated[Path | None, OF_OUTPUT] = None,
    rubric: Annotated[Path | None, OF_OUTPUT] = None,
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
    verdict : list[str]
        Column with the judge's verdict; several, if several judges or prompts saw the same outputs.
    calibration : str
        How the labelled outputs were chosen: random, by_truth, separate, by_verdict or
        known_propensity.
    by : str
        Column by whose values the judge is looked at: systems, criteria, topics.
    score : list[str]
        Column with the judge's numbers, in place of --verdict.
    scale : str
        Lowest and highest score that the judge can give, such as 1:5.
    truth_scale : str
        Lowest and highest number that people can give, if labels are numbers.
    truth_from : float
        Lowest human number that is a pass, if labels are numbers.
    classes : list[str]
        Classes that verdict and truth can be, if they are more than pass and fail.
    item : str
        Column that identifies the item of a row.
    repeats : str
        What repeats if an item has several rows: system or judge. Needs --item.
    propensity : str
        Column with the probability with which each row was to be labelled.
    unparsed : str
        What a row without a verdict is: the judge's fail, or dropped.
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

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    source = open_source(table, metric, judge=judge)
    with checking("options") as require:
        check_files(require, disagreements=disagreements, card=card)
        named = name or judge or source.judge
        words = "--card needs --name: the judge's name and version"
        require(card is None or named, words)
        single = not (verdict and score)
        require(single, "--verdict or --score: give one of them")
        require(not trust or score, "--trust takes --score: numbers or probabilities")
        require(not people or disagreements, "--people needs --disagreements FILE")
        kept: dict[str, Any] = {"--name": name, "--valid-until": valid_until}
        kept |= {"--prompt": prompt, "--rubric": rubric}
        unkept = [option for option, value in kept.items() if value]
        words = f"{are(unkept)} kept in the judge's card: name its file, --card"
        require(card is not None or not unkept, words)
        require(
            trust or (wrong, promised) == (ALPHA, PROMISED), "--wrong and --promised need --trust"
        )
    asked = Asked(
        truth=truth,
        calibration=calibration,
        verdict=verdict or (None if score or source.log is not None else ["verdict"]),
        score=score[0] if score else None,
        by=by,
        item=item,
        repeats=repeats,
        propensity=propensity,
        classes=classes,
        labels=labels,
        adjudicated=adjudicated,
        rater=rater,
        tuned_on=tuned_on,
        meanings=meanings,
    ).completed(source)
    given = score or asked.verdict or []
    read_of_people = ("truth", "adjudicated", "rater", "by", "propensity")
    how: dict[str, Any] = asked.values(*read_of_people, "classes", "calibration")
    how |= {**vars(meanings), "unparsed": unparsed, "truth_from": truth_from}
    repeats = asked.repeats if score is None else None
    how |= {"item": asked.item, "repeats": repeats} if asked.item else {}
    if not score and asked.item and not repeats and not rater:
        how.pop("item")
    with checking("options") as require:
        words = "--truth-from is for scores: give them by --score, in place of --verdict"
        require(score or truth_from is None, words)
        how |= {"scale": read_scale("--scale", scale, require)} if score else {}
        how |= {"truth_scale": read_scale("--truth-scale", truth_scale, require)} if score else {}
    column = given[0] if len(given) == 1 else given
    how |= {"score": column} if score else {"verdict": column}
    columns = [
        *source.verdicts(given, rater),
        *asked.columns(*read_of_people),
        *([how["item"]] if "item" in how else []),
    ]
    if asked.several_people:
        with checking("options") as require:
            words = "labels of several people take one --verdict column; of a --score name one of "
            words += "them (--truth), or make verdicts of it"
            require(len(given) == 1 and not score, words)
            require(card is None and disagreements is None, "--card and --disagreements: name one "
                    "column of labels (--truth), and the people's (--people)")  # fmt: skip
        how = {name: value for name, value in how.items() if name not in ("truth_from", "classes")}
    with source.counted(list(map(str, columns)), quiet=shared.quiet) as read:
        if asked.several_people:
            judged = as_judged(bj.prevalence.people.PeopleCounts.from_frame(read, **how))
        else:
            judged = bj.judge.Judged.from_frame(read, **how, tuned=source.left_out)
        once = judged
        if card is not None and repeats == "judge":  # a card counts items, each with a first call
            calls = nw.from_native(read).lazy().collect().to_pandas()
            label, outputs = str(asked.label), asked.columns("item", "by")
            labels = calls.groupby(outputs, observed=True)[label].transform("first")
            first = calls.assign(**{label: labels}).drop_duplicates(outputs)
            how |= {"item": None, "repeats": None}
            once = bj.judge.Judged.from_frame(first, **how, tuned=judged.tuned)
    quality = bj.judge.quality(judged, ci_prob=shared.ci_prob)
    how_sure = {"alpha": wrong, "promised": promised, "ci_prob": shared.ci_prob}
    trusted = bj.judge.trust(judged, **how_sure) if trust else None
    made_card = None
    if card is not None:
        made_card = bj.judge.Card.make(
            bj.prevalence.Counts.of(one_judge_of(once)),
            judge=str(named),
            source=table.name,
            valid_until=valid_until,
            tuned_labels=judged.tuned,
            repeat_correlation=judged.repeat_correlation,
            ci_prob=shared.ci_prob,
            prompt=text_of(prompt),
            rubric=text_of(rubric),
        )
    listed = None
    if disagreements is not None:
        with checking("--disagreements") as require:
            words = "judge and people must both give passes and fails, or numbers (--truth-scale)"
            require(judged.kind in ("verdicts", "grades"), words)
        listed = bj.judge.disagreements(
            source.whole([*given, asked.label]),
            verdict=given,
            truth=asked.label,
            numeric=judged.kind == "grades",
            people=people or (),
            **vars(meanings),
        )

    findings = _where(source, given, asked, judged, people or ())
    who = given[0] if len(given) > 1 else "it"

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

    story = Story(
        command="judge",
        title="Is the judge good enough, and for what?",
        answer="accuracy",
        words=words_for("of_judge"),
        instant=[quality], more=sections, draw=draw, source=source,
        inputs={"outputs": judged.seen, "labelled": judged.labelled,
                "calibration": f"{judged.design.name}: {judged.design.meaning}",
                "labels": judged.table.spelling or None},
        tell=answered,
        waits=False,
    )  # fmt: skip
    present(story, shared)
    if card is not None and made_card is not None:
        tell(f"card written to {made_card.save(card)}")
    if disagreements is not None and listed is not None:
        write_csv(listed, disagreements)
        tell(f"{len(listed):,} disagreements written to {disagreements}")


def one_judge_of(judged: bj.judge.Judged) -> bj.Verdicts:
    """The passes and fails of one judge, of which a card is made."""
    with checking("--card") as require:
        single = judged.kind == "verdicts" and len(judged.judges) == 1
        require(single, "a card holds passes and fails of one judge: name one --verdict")
        alone = judged.verdicts is None or judged.verdicts.item is None
        require(alone, "card-of-items")
    assert judged.verdicts is not None
    return judged.verdicts


def _both_said(judged: bj.judge.Judged, quality: Estimate) -> list[Section]:
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


def _of_which(judged: bj.judge.Judged) -> str:
    """Of which outputs shares are: of a random sample they are counted on that alone."""
    if not judged.design.is_sample or judged.people is not None or judged.complete:
        return "all outputs"
    return f"the {judged.labelled:,} labelled outputs"


def _by_others(judged: bj.judge.Judged, shared: Shared) -> list[Section]:
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
    source: Source,
    judges: Sequence[str],
    asked: Asked,
    judged: bj.judge.Judged,
    people: Sequence[str],
) -> list[bj.judge.Finding] | None:
    """Column values in which the first judge errs more, none of them what others said."""
    name, *others = judges
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
