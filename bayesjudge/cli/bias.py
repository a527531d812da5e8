"""``bayesjudge bias``: shifts by irrelevant changes, certificates, and released scores."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from cyclopts import App, Group, Parameter

from bayesjudge import bias as module
from bayesjudge import decide
from bayesjudge.bias import certificates
from bayesjudge.bias.answer import points_of
from bayesjudge.cli.bias_orders import orders
from bayesjudge.cli.bias_positions import positions
from bayesjudge.cli.bias_shape import Shape, open_table
from bayesjudge.cli.bias_variants import variants
from bayesjudge.cli.options import (
    FIRST,
    LESSONS,
    OF_MODEL,
    OF_TABLE,
    OUTPUT,
    SEVERAL,
    JudgeColumn,
    Shared,
    check_files,
    needed,
    table_option,
)
from bayesjudge.cli.output import Story, present, tell, write_csv
from bayesjudge.cli.scales import scale_ends
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.numbers import scores_of
from bayesjudge.core.tables import free_name, read_rows
from bayesjudge.core.words import words_for
from bayesjudge.decide import Gate
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

bias = App(name="bias")
for _command in (orders, positions, variants):
    bias.command(_command)


WORDS = words_for("of_bias")
_LIMIT = Group("A limit", sort_key=2.4)
_CARD = Group("The certificate", sort_key=2.5)
_LIMITED = Parameter(group=_LIMIT)
#: Cautions that a certificate alone has.
_OWN = ("estimation-error-ignored", "average-over-measurements")


@Parameter(name="*", group=_CARD, negative="")
@dataclass(frozen=True)
class Promise:
    """What is to be certified.

    Parameters
    ----------
    tolerance : float
        How far released scores may move; asks for a certificate.
    units : {"points", "range"}
        What the tolerance is a number of: score points, or fractions of the scale's range.
    failure_prob : float
        Probability of moving further, the error of measuring few neighbours included.
    alpha : float
        Shrinkage factor to certify; by default the largest that can be. 1 leaves scores alone.
    center : {"fixed", "holdout", "mean"}
        What scores are shrunk towards: a number fixed beforehand, the mean of other items, or
        their own mean.
    noise_prob : float
        Part of the failure probability reserved for noise on the released scores.
    basis : {"tail", "rms", "predictive", "source"}
        What bounds the shifts: tail and rms hold for any distribution on the scale, and with these
        measurements; predictive promises of the next change only, on average over measurements,
        and needs far fewer; source takes the measured RMS shift as true.
    """

    tolerance: float | None = None
    units: Literal["points", "range"] | None = None
    failure_prob: float = 0.05
    alpha: float | None = None
    center: Literal["fixed", "holdout", "mean"] = "fixed"
    noise_prob: float = 0.0
    basis: Literal["tail", "rms", "predictive", "source"] = "tail"

    def check(self) -> None:
        """Refuse what does not go together."""
        with checking("options") as require:
            require(self.tolerance is None or self.units, needed("--units", LESSONS["units"]))
            for name in ("failure_prob", "noise_prob"):
                prob = getattr(self, name)
                require(0 <= prob < 1, "must be a probability below 1", **{name: prob})
            for name in ("units", "alpha"):
                alone = self.tolerance is None and getattr(self, name) is not None
                require(not alone, f"--{name} is about a certificate: give --tolerance too")

    @property
    def asked(self) -> str:
        """What was asked for, in words."""
        if self.tolerance is None:
            return "not asked for (--tolerance, --units)"
        of = "points" if self.units == "points" else "of the range"
        return f"within {self.tolerance:g} {of}, failure probability {self.failure_prob:g}"

    def issued(self, read: module.Shifts) -> dict[str, certificates.Certificate]:
        """Certify each judge by itself, from its measured shifts."""
        if self.tolerance is None:
            return {}
        about = {**self._about, "alpha": self.alpha, "basis": self.basis}
        return {name: certificates.certify(read.only(judge=name), **about) for name in read.judges}

    @property
    def _about(self) -> dict[str, Any]:
        names = ("tolerance", "units", "failure_prob", "center", "noise_prob")
        return {name: getattr(self, name) for name in names}

    def sections(
        self, cards: Mapping[str, certificates.Certificate], fits: Sequence[Fit]
    ) -> list[Section]:
        """Write certificates out: from the measured shifts, and by the model."""
        single = len(cards) == 1
        every = {"as measured" if single else name: card for name, card in cards.items()}
        for fit in fits if cards else ():
            every["by the model"] = certificates.certify(fit, **self._about, alpha=self.alpha)
        if not every:
            return []
        lines, fields, silent = [], [], True
        for name, card in every.items():
            lines += [card.promise if len(every) == 1 else f"{name}: {card.promise}"]
            # cautions of the shifts are told with the estimates
            of_card = [f"Caution, {c.id}: {c.text}." for c in card.cautions if c.id in _OWN]
            lines, silent = [*lines, *of_card], silent and not of_card
            fields.append({"about": name, **asdict(card), "text": card.text})
        heading = "Certificate" if len(every) == 1 else "Certificates"
        # the answer says what is promised
        return [Section(heading, lines, "certificates", fields, detail=silent)]

    def alternatives(
        self, read: module.Shifts, cards: Mapping[str, certificates.Certificate]
    ) -> list[Section]:
        """What --basis predictive would promise, where the scale alone is all that tail has."""
        ways = {}
        for name, card in cards.items():
            if self.basis != "tail" or not card.range_only:
                continue
            other = certificates.certify(
                read.only(judge=name), **self._about, alpha=self.alpha, basis="predictive"
            )
            if other.certified and (not card.certified or other.alpha > card.alpha):
                whole = other.alpha == 1
                ways[name] = "as they are" if whole else f"shrunk to {other.alpha:.2g}"
        if not ways:
            return []
        which = "; ".join(f"{name}: {how}" if len(cards) > 1 else how for name, how in ways.items())
        line = (
            "--basis predictive promises the same of the next change only, its probability an "
            f"average over what might have been measured: of scores released {which}"
        )
        return [Section("A weaker promise", [line], "weaker_promise", ways, detail=False)]

    def pictures(
        self, read: module.Shifts, cards: Mapping[str, certificates.Certificate]
    ) -> dict[str, Axes]:
        """Draw each judge's card, and what more neighbours would buy."""
        drawn = {}
        for name, card in cards.items():
            of = f": {name}" if len(cards) > 1 else ""
            drawn[f"Certificate{of}"] = certificates.plot_certificate(card)
            table = certificates.trade_off(
                read.only(judge=name),
                tolerances=[self.tolerance * x for x in (0.5, 1, 2)],  # type: ignore[operator]
                units=self.units,  # type: ignore[arg-type]
                failure_prob=self.failure_prob,
            )
            caption = f"What measuring more neighbours would allow{of}"
            drawn[caption] = certificates.plot_trade_off(table)
        return drawn


@Parameter(name="*", group=_CARD, negative="")
@dataclass(frozen=True)
class Released:
    """How scores are released under the certificate.

    Parameters
    ----------
    center_at : float
        Number that scores are shrunk towards, chosen without looking at them.
    release : Path
        Write the released scores to a CSV file, the judge's beside them. Text that a spreadsheet
        would run as a formula gets an apostrophe in front.
    """

    center_at: float | None = None
    release: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None

    def check(self, promise: Promise) -> None:
        """Refuse what does not go together."""
        path = self.release
        with checking("options") as require:
            asked = path is not None or self.center_at is not None
            require(
                not asked or promise.tolerance is not None,
                "scores are released under a certificate: give --tolerance too",
            )
            check_files(require, release=path)
            needs = path is not None and promise.center != "mean" and promise.alpha != 1
            require(
                not needs or self.center_at is not None,
                "--release needs --center-at: the number that scores are shrunk towards, such as "
                "the middle of the scale, chosen without looking at these scores",
            )

    def make(
        self,
        before: pd.DataFrame,
        item: str,
        scores: Sequence[str],
        judge: str | None,
        cards: Mapping[str, certificates.Certificate],
        seed: int,
    ) -> dict[str, tuple[pd.DataFrame, certificates.Release]]:
        """Release the baseline's scores of each judge that has a certificate."""
        out = {}
        for name, card in cards.items():
            shrinks = card.center != "mean" and card.alpha < 1
            if not card.certified or (shrinks and self.center_at is None):
                continue
            rows = before if judge is None else before[before[judge] == name]
            # a mean that lacks a score is none: `release` refuses it
            whole = rows.groupby(item, sort=False)[list(scores)].mean(skipna=False)
            each = whole.reset_index()
            at = None if card.center == "mean" else self.center_at
            out[name] = (
                each,
                certificates.release(each[list(scores)], card, center=at, random_seed=seed),
            )
        return out

    def sections(
        self, out: Mapping[str, tuple[pd.DataFrame, certificates.Release]]
    ) -> list[Section]:
        """Tell what survives of the judge's ranking."""
        lines, fields = [], []
        for name, (_, release) in out.items():
            kept = release.kept
            lines.append(f"{name}: {kept}" if len(out) > 1 else kept)
            correlation = release.correlation.to_dict()
            about = {"noise": release.noise, "center": release.center, **correlation}
            fields.append({"about": name, **about})
        return [Section("Released scores", lines, "released", fields, detail=False)] if out else []

    def pictures(
        self, out: Mapping[str, tuple[pd.DataFrame, certificates.Release]]
    ) -> dict[str, Axes]:
        """Draw the scores before and after."""
        return {
            "Scores before and after" + (f": {name}" if len(out) > 1 else ""): (
                certificates.plot_release(release)
            )
            for name, (_, release) in out.items()
        }

    def write(self, out: Mapping[str, tuple[pd.DataFrame, certificates.Release]]) -> None:
        """Write the released scores, where a file was named."""
        import pandas as pd

        if self.release is None:
            return
        tables = []
        for name, (each, release) in out.items():
            columns = [*each.columns]
            for column in each.columns[1:]:
                columns.append(free_name(f"released_{column}", columns))
            columns.append(free_name("judge", columns))
            scores = pd.DataFrame(release.scores).assign(judge=name)
            tables.append(pd.concat([each, scores], axis=1).set_axis(columns, axis=1))
        if not tables:
            tell("no scores were released: nothing is certified")
            return
        write_csv(pd.concat(tables), self.release)
        tell(f"released scores written to {self.release}")


@bias.default
def shifts(
    table: Annotated[Path, table_option("One row per score, or one row per item")],
    /,
    *,
    scale: Annotated[str, OF_TABLE, FIRST],
    design: Annotated[Literal["item", "batch"], OF_TABLE, FIRST],
    item: Annotated[str | None, OF_TABLE, FIRST] = None,
    variant: Annotated[str | None, OF_TABLE] = None,
    score: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    judge: JudgeColumn = None,
    baseline: Annotated[str | None, OF_TABLE] = None,
    rerun: Annotated[list[str] | None, OF_TABLE] = None,
    repeats: Annotated[Literal["mean", "neighbours"] | None, OF_TABLE] = None,
    missing: Annotated[Literal["drop", "worst"] | None, OF_TABLE] = None,
    step: Annotated[float | None, OF_MODEL] = None,
    unit: Annotated[float | None, OF_MODEL] = None,
    limit: Annotated[float | None, _LIMITED] = None,
    at_most: Annotated[float | None, _LIMITED] = None,
    promise: Promise = Promise(),
    released: Released = Released(),
    shared: Shared = Shared(),
) -> int | None:
    r"""Measure how far a change that should not matter (format, order, wording) moves scores.

    The table is long (one row per item and variant, and judge), or wide (one row per item, and a
    column of its score in each variant, named by `--score`, the baseline first). One variant is the
    baseline, whose scores are released; the others are the same items, changed in a way that should
    not matter, or (`--rerun`) not changed at all. With `--tolerance` a certificate says by how much
    scores must be shrunk so that no measured change moves them further, few neighbours included. If
    a judge compared two answers in both presentation orders, see `bayesjudge bias orders --help`.

    ```
    bayesjudge bias scores.csv --scale 0-100 --design item --rerun rerun \
        --tolerance 5 --units points --html report.html
    bayesjudge bias wide.csv --scale 1-5 --design item --item doc --score before after
    ```

    Parameters
    ----------
    table : Path
        One row per score, or an item.
    scale : str
        Lowest and highest possible score: 1-5, or 0,1. Never taken from the scores that occur.
    design : str
        What a neighbour is: one item changed (item), or all of them together (batch).
    item : str
        Column that names the item (default: `item`).
    variant : str
        Column that names the variant, in a long table (default: `variant`).
    score : list[str]
        Column of the score (default: `score`); several columns of a long table are a vector of
        scores. Of a wide table (no `--variant`, and no column of that name) the columns of the
        score, one per variant.
    baseline : str
        Variant whose scores are released (default: `baseline`); in a wide table its column
        (default: the first of `--score`).
    rerun : list[str]
        Variant in which nothing was changed: the baseline judged again. May be repeated.
    repeats : str
        What several scores of one item and variant are: one score, their mean, or neighbours.
    missing : str
        What a missing score is: left out (drop), or the largest shift that the scale allows.
    step : float
        Distance between neighbouring scores, such as 1: spreads the prior of the RMS shift over
        all sizes that occur on the scale, which estimates better.
    unit : float
        Score points that the model's priors are fractions of, if the scale has no ends.
    limit : float
        In score points: which share of scores moves by more? By default what --tolerance says.
    at_most : float
        Share of scores that may move by more than --limit under any change: the exit code is then
        0 for a pass, 1 for a fail, 3 for unknown, each wrong with probability 0.05 at most.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    shared.check()
    promise.check()
    released.check(promise)
    with checking("options") as require:
        require(at_most is None or limit is not None, "no-limit")
        share = at_most is None or 0 <= at_most < 1
        require(share, "must be a share, 0 or more and less than 1", at_most=at_most)
        ends = scale_ends("--scale", scale, require)
    source = open_table(table)
    shape = Shape.of(source, item, variant, score, baseline, rerun)
    names = [c for c in (shape.item, shape.variant, judge) if c is not None]
    rows = shape.rows(source, names)
    how: dict[str, Any] = {"scale": ends, "design": design, "judge": judge}
    how |= {"rerun": rerun or (), "repeats": repeats, "missing": missing}
    with shape.explained():
        read = module.Shifts.from_frame(rows, **shape.reading, **how)
    item, scores = shape.item, shape.released
    before = read_rows(rows, *scores, names=names)
    if shape.variant is not None:
        before = before[before[shape.variant] == shape.baseline]
    before = before.assign(**{name: scores_of(before[name], scale=ends) for name in scores})
    instant = module.closed_forms(read, ci_prob=shared.ci_prob, step=step)
    if limit is None and promise.tolerance is not None:
        limit = read.points(promise.tolerance, str(promise.units))
    if limit is not None:
        instant += (module.share_moved(read, limit=limit, ci_prob=shared.ci_prob),)
    decided = None if limit is None or at_most is None else _decided(read, limit, at_most)
    cards = promise.issued(read)
    out = released.make(before, item, scores, judge, cards, shared.seed)

    def sample() -> Fit:
        return module.fit(read, module.NormalShifts(unit=unit), **shared.sampling)

    def more(results: Sequence[Estimate | Fit]) -> list[Section]:
        fits = [result for result in results if isinstance(result, Fit)]
        sections = promise.sections(cards, fits) + promise.alternatives(read, cards)
        sections += released.sections(out)
        if decided is not None:
            sections.append(_decision(decided))
        return sections

    def draw(results: Sequence[Estimate | Fit]) -> dict[str, Axes]:
        return _shifts_drawn(results) | promise.pictures(read, cards) | released.pictures(out)

    fittable = _fittable(read, unit)
    story = Story(
        command="bias",
        title="Bias: how far irrelevant changes move scores",
        answer="rms_shift",
        heading="" if points_of(read.scale) else "RMS shift, {:g} to {:g}".format(*read.scale),
        beside="mean_shift",
        inputs={"data": str(table), **shape.inputs, **_inputs(read), "certificate": promise.asked},
        words=WORDS,
        instant=instant,
        sample=sample if fittable else None,
        tell=lambda results: module.answer(
            *results, *cards.values(), ci_prob=shared.ci_prob, interval=shared.interval
        ),
        more=more,
        draw=draw,
        waits=False,
    )
    present(story, shared)
    released.write(out)
    return None if decided is None else decided.exit_code()


def _decided(read: module.Shifts, limit: float, at_most: float) -> Gate:
    """Hold the share of each change against what is allowed; reruns are no change."""
    moved = module.share_moved(read, limit=limit, ci_prob=0.9)
    changed = [at for at in moved.quantities["share_moved"].labels if at[-1] not in read.reruns]
    gates = [decide.gate(moved, at_most=at_most, entry=("share_moved", *at)) for at in changed]
    return functools.reduce(lambda gate, other: gate & other, gates)


def _decision(gate: Gate) -> Section:
    """Each change's outcome, and the exit code."""
    lines = [*map(str, gate.checks), f"Exit code {gate.exit_code()}: {gate.outcome}."]
    fields = [{"where": check.where, "outcome": check.outcome} for check in gate.checks]
    return Section("Decision", lines, "decision", fields, detail=False)


# what `bayesjudge.cli.app` says where one of these options is missing
shifts.lessons = {"--design": LESSONS["design"]}  # type: ignore[attr-defined]


def _fittable(read: module.Shifts, unit: float | None) -> bool:
    """Tell whether there is a model of these shifts, and say why not."""
    if len(read.scores) > 1:
        tell("nothing is sampled: the model takes one score; the other estimates take all")
        return False
    if set(read.perturbations) <= set(read.reruns):
        tell("nothing is sampled: only reruns were measured, in which nothing was changed")
        return False
    if not np.isfinite(read.span) and unit is None:
        tell("nothing is sampled: the scale has no ends; give --unit, in score points")
        return False
    return True


def _inputs(read: module.Shifts) -> Mapping[str, Any]:
    changed = [name for name in read.perturbations if name not in read.reruns]
    what = {"item": "one item changed and judged again", "batch": "all items judged again"}
    return {
        "items": len(read.items),
        "judges": ", ".join(read.judges),
        "perturbations": ", ".join(changed),
        "reruns": ", ".join(read.reruns) or "none",
        "neighbours": f"{len(read.lengths)} in all, each of them {what[read.design]}",
        "missing": int(read.missing.sum()),
        "scale": f"{read.scale[0]:g} to {read.scale[1]:g}",
    }


def _shifts_drawn(results: Sequence[Estimate | Fit]) -> dict[str, Axes]:
    drawn = {"Shifts by perturbation, as measured": module.plot_shifts(results[0])}
    for result in results:
        if isinstance(result, Fit):
            drawn["Shifts by perturbation, by the model"] = module.plot_shifts(result)
    return drawn
