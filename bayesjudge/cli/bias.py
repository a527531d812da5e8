"""``bayesjudge bias``: how far irrelevant changes move scores, and what can be promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from cyclopts import App, Parameter

from bayesjudge import bias as room
from bayesjudge.cli.bias_certificates import Promise
from bayesjudge.cli.bias_release import Released, adherence_of
from bayesjudge.cli.output import DATA, MODEL, Section, Shared, Story, present, tell
from bayesjudge.cli.repeats import read_scale
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.tables import read_rows
from bayesjudge.readers import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

bias = App(name="bias")

_DATA = Parameter(group=DATA, negative="")
_MODEL = Parameter(group=MODEL, negative="")

#: An exact posterior of more sizes of shift takes longer than a closed form may.
MOST_SIZES = 1000
BRIEF = {"Dirichlet, prior worst": "Dirichlet, worst case", "Dirichlet, prior spread": "Dirichlet"}
#: The choice that says what the shift of a neighbour is.
LESSON = (
    "--design is needed: what is a neighbour of the judged items?\n"
    "  item   one item changed and judged again, all others as they were\n"
    "  batch  every item changed and judged again, together"
)


@bias.default
def shifts(
    table: Annotated[Path, _DATA],
    /,
    *,
    scale: Annotated[str, _DATA],
    design: Annotated[Literal["item", "batch"], _DATA],
    item: Annotated[str, _DATA] = "item",
    variant: Annotated[str, _DATA] = "variant",
    score: Annotated[list[str] | None, _DATA] = None,
    judge: Annotated[str | None, _DATA] = None,
    baseline: Annotated[str, _DATA] = "baseline",
    rerun: Annotated[list[str] | None, _DATA] = None,
    repeats: Annotated[Literal["mean", "neighbours"] | None, _DATA] = None,
    missing: Annotated[Literal["drop", "worst"] | None, _DATA] = None,
    factor: Annotated[list[str] | None, _DATA] = None,
    step: Annotated[float | None, _MODEL] = None,
    unit: Annotated[float | None, _MODEL] = None,
    promise: Promise = Promise(),
    released: Released = Released(),
    shared: Shared = Shared(),
) -> None:
    r"""Measure how far each change moves scores, and certify what is released.

    The table is long: one row an item and variant (and judge). One variant is the baseline, whose
    scores are released; the others are the same items, changed in a way that should not matter, or
    (`--rerun`) not changed at all. With `--tolerance` a certificate says by how much scores must
    be shrunk so that no measured change moves them further, few neighbours included. Where a judge
    compared two answers in both presentation orders, see `bayesjudge bias orders --help`.

    ```
    bayesjudge bias scores.csv --scale 0-100 --design item --rerun rerun \
        --tolerance 5 --units points --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row a score: .csv, .csv.gz, .tsv, .parquet, .jsonl or .ndjson.
    scale : str
        Lowest and highest possible score: 1-5, or 0,1. Never taken from the scores that occur.
    design : str
        What a neighbour is: one item changed (item), or all of them together (batch).
    item : str
        Column that names the item.
    variant : str
        Column that names the variant.
    score : list[str]
        Column of the score, `score` if not said; repeat it for a vector of scores.
    judge : str
        Column that names the judge.
    baseline : str
        Variant whose scores are released.
    rerun : list[str]
        Variant in which nothing was changed: the baseline judged again. May be repeated.
    repeats : str
        What several scores of one item and variant are: one score, their mean, or neighbours.
    missing : str
        What a missing score is: left out (drop), or the largest shift that the scale allows.
    factor : list[str]
        Column of a factor score: adds how much of the baseline's score the factors explain. May be
        repeated.
    step : float
        Distance between neighbouring scores, such as 1: spreads the prior of the RMS shift over
        all sizes that occur on the scale, which estimates better.
    unit : float
        Score points that the model's priors are fractions of, where the scale has no ends.

    Raises
    ------
    InputError
        Where an option, a column or a value is not understood.
    """
    shared.check()
    promise.check()
    released.check(promise)
    scores = score or ["score"]
    names = [c for c in (item, variant, judge) if c is not None]
    rows = read_table(table, names, numbers=[*scores, *(factor or ())])
    ends = read_scale(scale)
    read = room.Shifts.from_frame(
        rows,
        scale=(min(ends), max(ends)),
        design=design,
        baseline=baseline,
        rerun=rerun or (),
        item=item,
        variant=variant,
        score=scores,
        judge=judge,
        repeats=repeats,
        missing=missing,
    )
    before = read_rows(rows, *scores, *(factor or ()), names=names)
    before = before[before[variant] == baseline]
    instant = _closed_forms(read, step, shared)
    cards = promise.certificates(read)
    out = released.make(before, item, scores, judge, cards, shared.seed)

    def sample() -> Fit:
        how: dict[str, Any] = {"random_seed": shared.seed, "strict": shared.strict}
        return room.fit(read, room.Priors(unit=unit), **how)

    def more(made: Sequence[Estimate | Fit]) -> list[Section]:
        fits = [one for one in made if isinstance(one, Fit)]
        sections = promise.sections(cards, fits) + released.sections(out)
        return sections + adherence_of(before, scores[0], factor, judge, shared)

    def draw(made: Sequence[Estimate | Fit]) -> dict[str, Axes]:
        return _shifts_drawn(made) | promise.pictures(read, cards) | released.pictures(out)

    story = Story(
        command="bias",
        title="Bias: how far irrelevant changes move scores",
        answer="rms_shift",
        inputs={"data": str(table), **_inputs(read), "certificate": promise.asked},
        brief=lambda method: BRIEF.get(method, method.split(",")[0]),
    )
    fittable = _fittable(read, unit)
    present(instant, sample if fittable else None, shared, story, draw=draw, more=more)
    released.write(out)


# what `bayesjudge.cli.app` says where one of these options is missing
shifts.lessons = {"--design": LESSON}  # type: ignore[attr-defined]


def _fittable(read: room.Shifts, unit: float | None) -> bool:
    """Tell whether there is a model of these shifts, and say why not."""
    if len(read.scores) > 1:
        tell("nothing is sampled: the model is of one score; the other estimates are of all")
        return False
    if set(read.perturbations) <= set(read.reruns):
        tell("nothing is sampled: only reruns were measured, in which nothing was changed")
        return False
    if not np.isfinite(read.span) and unit is None:
        tell("nothing is sampled: the scale has no ends; give --unit, in score points")
        return False
    return True


def _closed_forms(read: room.Shifts, step: float | None, shared: Shared) -> list[Estimate]:
    made = [room.variance_parts(read, ci_prob=shared.ci_prob)]
    with checking("options") as require:
        grid = step is None or (np.isfinite(read.span) and len(read.scores) == 1)
        require(grid, "--step needs one score and a scale with ends")
    if not np.isfinite(read.span):
        return made
    if np.unique(read.lengths.round(12)).size <= MOST_SIZES:
        prior: Literal["spread", "worst"] = "worst" if step is None else "spread"
        made.append(room.exact(read, step=step, prior=prior, ci_prob=shared.ci_prob))
    else:
        tell("no Dirichlet posterior: there are too many different sizes of shift")
    return made


def _inputs(read: room.Shifts) -> Mapping[str, Any]:
    changed = [name for name in read.perturbations if name not in read.reruns]
    what = {"item": "one item changed and judged again", "batch": "all items judged again"}
    return {
        "items": len(read.items),
        "judges": ", ".join(read.judges),
        "perturbations": ", ".join(changed),
        "reruns": ", ".join(read.reruns) or "none",
        "neighbours": f"{len(read.lengths)}, each of them {what[read.design]}",
        "missing": int(read.missing.sum()),
        "scale": f"{read.scale[0]:g} to {read.scale[1]:g}",
    }


def _shifts_drawn(made: Sequence[Estimate | Fit]) -> dict[str, Axes]:
    drawn = {"Shifts by perturbation, as measured": room.plot_shifts(made[0])}
    for one in made:
        if isinstance(one, Fit):
            drawn["Shifts by perturbation, by the model"] = room.plot_shifts(one)
    return drawn
