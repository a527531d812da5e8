"""``bayesjudge panel``: from the votes of many judges to generators' shares of good outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayesjudge.cli.options import (
    FIRST,
    GENERATOR,
    OF_MODEL,
    OF_TABLE,
    OUTPUT,
    SEVERAL,
    LabelFile,
    Meanings,
    Metric,
    Randomized,
    Shared,
    Truth,
    TunedOn,
    WhichItems,
    check_files,
    table_option,
)
from bayesjudge.cli.output import Story, meanwhile, present, tell, write_csv
from bayesjudge.cli.source import open_source, repeating
from bayesjudge.core.answer import Answer
from bayesjudge.core.diagnosis import is_led_elsewhere
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import LOGIT_SHIFT, OWN_LABELS, Method
from bayesjudge.core.priors import BetaPrior
from bayesjudge.core.screen import how_many
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesjudge.panel import Votes
    from bayesjudge.panel.consensus import Consensus
    from bayesjudge.panel.models._base import PanelModel

#: Most generators that a line names.
MOST_NAMED = 10


def panel(
    table: Annotated[
        Path, table_option("One row per item, or a vote", "a log with the votes of a panel")
    ],
    /,
    *,
    judges: Annotated[list[str] | None, SEVERAL, FIRST] = None,
    item: Annotated[str | None, OF_TABLE] = "item",
    generator: Annotated[str | None, GENERATOR, FIRST] = None,
    judge: Annotated[str, OF_TABLE] = "judge",
    vote: Annotated[str, OF_TABLE] = "vote",
    truth: Annotated[Truth, FIRST] = None,
    labels: LabelFile = None,
    tuned_on: TunedOn = None,
    randomized: Randomized = None,
    metric: Metric = None,
    meanings: Meanings = Meanings(),
    classes: Annotated[list[str] | None, SEVERAL] = None,
    calibration: Annotated[
        Literal["random", "by_generator", "by_truth", "separate", "by_verdict"] | None,
        OF_TABLE,
        FIRST,
    ] = None,
    model: Annotated[
        Literal["auto", "dawid_skene", "correlated", "bias_pooling", "vote_regression"], OF_MODEL
    ] = "auto",
    missing: Annotated[Literal["skip", "response"], OF_MODEL] = "skip",
    target: WhichItems = "population",
    width: Annotated[float | None, OF_MODEL] = None,
    items: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None,
    study: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None,
    shared: Shared = Shared(),
) -> None:
    r"""Estimate how good each system is, and how reliable each of several judges.

    The table is long (one row per item and judge), or wide (one column per judge, named by
    `--judges`). Cautions name the assumptions that the labelled items contradict. Which judge is
    better, and how good each is: `bayesjudge judge`.

    ```
    bayesjudge panel votes.csv --truth human --judges gpt --judges claude --html report.html
    ```

    Parameters
    ----------
    table : Path
        One row per item, or a vote, or a log.
    judges : list[str]
        Columns with the votes of a wide table; leave out for a long table.
    item : str
        Column that identifies an item within its generator. Without one (`item`, `id` …) each row
        of a table with `--judges` is an item.
    generator : str
        Column that names what made the item: `generator`, if there is one. Without it all items
        are of one generator, and the panel tells how reliable its judges are.
    judge : str
        Column that names the judge, in a long table.
    vote : str
        Column with the vote, in a long table.
    classes : list[str]
        What can be voted, if that is not pass and fail.
    calibration : str
        How the labelled items were chosen: at random within each generator, all items of some
        generators, a fixed number of good and of bad ones, other items, or by their votes.
        Asked for if some of a generator's items are labelled and others are not.
    model : str
        What to sample; auto takes what suits the votes and labels.
    missing : str
        Leave a missing vote out, or count it as a response of its own (dawid_skene and correlated).
    width : float
        Say how many labels are needed for intervals of this width, from the lower to the upper end
        (of 0.1 with --details).
    items : Path
        Write every item's consensus label and class probabilities to this .csv file.
    study : Path
        Hide the labels of all systems but some, in every combination, and write to this .csv file
        how far off the regression, the judges' mean, a veto, and the best and the worst judge are.

    Raises
    ------
    InputError
        If an option, a column or a value is not understood.
    """
    from bayesjudge.panel import Votes, answer, closed_forms, fit, recommend
    from bayesjudge.verdicts.reading import ITEM_COLUMNS

    shared.check()
    with checking("options") as require:
        check_files(require, items=items, study=study)
        wrong = width is not None and not 0 < width < 1
        require(not wrong, f"--width={width}, expected a number inside (0, 1)")
    source = open_source(table, metric, judges=True)
    repeated: Literal["error", "keep"] = "error"
    if source.log is not None:
        vote = "verdict" if vote == "vote" else vote
        system = "system" if source.log.systems else None
        generator = generator or system
        truth = truth or source.own_truth
        repeated = "keep" if repeating(source) == "judge" else "error"
    elif generator is None and "generator" in source.columns():
        generator = "generator"
    if judges and item == "item" and not (labels or source.log):
        called = [c for c in source.columns() if c.lower() in ITEM_COLUMNS]
        # without such a column each row is an item of its own
        item = "item" if "item" in called else next(iter(called), None)
    if labels is not None:
        truth, voted = truth or "truth", judges or [vote]
        item, generator = source.add_labels(
            labels, truth=truth, verdicts=voted, item=item, by=generator
        )
    source.set_randomized(randomized)
    if truth is not None:
        source.leave_out(tuned_on, [truth], () if judges else (item, generator))
    named = [item, generator, truth, *(judges or [judge, vote])]
    columns = [column for column in named if column is not None]
    reading: dict[str, Any] = {
        **{"judges": judges, "item": item, "generator": generator, "judge": judge, "vote": vote},
        **{"truth": truth, "classes": classes, "calibration": calibration, "repeated": repeated},
        **asdict(meanings),
    }
    with source.counted(columns, quiet=shared.quiet) as read:
        votes = Votes.from_frame(read, **reading)
    instant = closed_forms(votes, ci_prob=shared.ci_prob, target=target)
    early = answer(*instant, ci_prob=shared.ci_prob, target=target)
    # of systems without labels the approximation has been seen to hold no less than what is sampled
    # (benchmarks/panel/systems.py), and of few labels their own correction (own_labels.py)
    enough = early.method.computed == "laplace" or early.method == OWN_LABELS
    at_once = model == "auto" and early.known and enough
    if not at_once:
        meanwhile(early, shared)
    advice = recommend(votes)
    chosen = advice.model if model == "auto" else _named(model, len(votes.classes))
    if missing == "response":
        chosen = _with_responses(chosen)
    why = f" ({advice.why})" if model == "auto" else ""

    def sample() -> Fit:
        return fit(votes, chosen, **shared.sampling)

    def tell_all(results: Sequence[Estimate | Fit]) -> Answer:
        how: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
        return answer(*results, **how, target=target)

    whose = "outputs" if votes._unnamed else "each generator's outputs"
    would = f"call {votes.pass_name!r}" if votes.pass_name else "pass"
    consensuses: list[Consensus] = []

    def more(results: Sequence[Estimate | Fit]) -> list[Section]:
        if items is not None:
            consensuses.append(_consensus(votes, results, tell_all(results).method))
        sections = [
            _study(votes, study, shared),
            _budget(votes, width, shared.ci_prob),
            *(_accuracy(each, str(items)) for each in consensuses),
        ]
        return [each for each in sections if each is not None]

    story = Story(
        command="panel",
        title=f"Panel: the share of {whose} "
        + ("in each class" if classes else f"that people would {would} (prevalence)"),
        answer="share" if classes else "prevalence",
        inputs=_inputs(votes, f"{type(chosen).__name__}{why}", truth),
        alone=True,
        aside=(LOGIT_SHIFT,) if votes.labelled.sum(axis=1).all() else (),
        announced=True,
        waits=not at_once or shared.samples(needed=False),
        judges="judge" if len(votes.judges) == 1 else "judges' mean",
        target=target,
        tell=tell_all,
        source=source,
        instant=instant,
        sample=sample,
        more=more,
        draw=lambda results: _draw(results, votes),
    )
    present(story, shared)
    for each in consensuses:
        assert items is not None
        for i, part in enumerate(each.items(read, **reading)):
            write_csv(part, items, append=i > 0)
        tell(f"{how_many(votes.n_items, 'item')} written to {items}")


def _consensus(votes: Votes, results: Sequence[Estimate | Fit], quoted: Method) -> Consensus:
    """Of the fit, if it is quoted and its model knows single items."""
    from bayesjudge.panel import BiasPooling, consensus

    fits = [r for r in results if isinstance(r, Fit) and not isinstance(r.spec, BiasPooling)]
    return consensus(next((r for r in fits if r.method == quoted), votes))


def _accuracy(agreed: Consensus, path: str) -> Section:
    value, low, high = agreed.accuracy["accuracy"]
    interval = "" if math.isnan(low) else f" ({low:.3f} to {high:.3f})"
    line = f"{agreed.accuracy.method}; written to {path}"
    if not math.isnan(value):
        line = (
            f"expected to be right on {value:.3f}{interval} of the items without a label, if the "
            f"assumptions hold; {line}"
        )
    lines = [line, *(c.text for c in agreed.accuracy.cautions if c.id == "accuracy-by-the-model")]
    shown: dict[str, Any] = {"accuracy": value, "low": low, "high": high}
    shown["method"] = agreed.accuracy.method.title
    shown["cautions"] = [c.id for c in agreed.accuracy.cautions]
    fields = {k: None if v != v else v for k, v in shown.items()}
    return Section("Consensus labels", lines, "consensus", fields)


def _study(votes: Votes, path: Path | None, shared: Shared) -> Section | None:
    """Errors on systems whose labels are hidden, by how many keep theirs."""
    if path is None:
        return None
    from bayesjudge.panel import study

    table = study(votes, random_seed=shared.seed, progress=False if shared.quiet else None)
    write_csv(table.assign(combination=table["combination"].map(", ".join)), path)
    worst = table.groupby(["labelled", "method"])["max_error"].mean().unstack()
    lines = [
        f"labels of {s} systems: "
        + ", ".join(f"{name} {100 * value:.1f}" for name, value in row.dropna().items())
        for s, row in worst.iterrows()
    ]
    heading = f"Largest error on the systems without labels, in points (all in {path})"
    return Section(heading, lines, "study", worst.reset_index().to_dict("records"), detail=False)


def _budget(votes: Votes, asked: float | None, ci_prob: float) -> Section | None:
    """How many labels are needed, if the design of today's labels goes with more of them."""
    from bayesjudge.panel.budget import needed_labels

    tells = "prevalence" in votes.design.identifies or not votes.is_labelled.any()
    if len(votes.classes) > 2 or not tells or is_led_elsewhere(votes):
        return None
    width = asked or 0.1
    needed = needed_labels(votes, width, ci_prob)["more"].tolist()
    more = {name: n for name, n in zip(votes.generators, needed, strict=True) if n}
    each = ", ".join(f"{name} {n:,}" for name, n in list(more.items())[:MOST_NAMED])
    each += f" and {len(more) - MOST_NAMED} others" if len(more) > MOST_NAMED else ""
    each = "" if votes._unnamed else f": {each}"
    wide = f"{100 * ci_prob:g} % intervals {width:g} wide"
    line = f"there are enough for {wide}"
    if more:
        line = f"{wide} need {sum(more.values()):,} more labels, at random{each}"
    if more and not votes.is_labelled.any():
        line += (
            ". This takes each share to be the judges' pass rate, which no label has checked; a "
            "share nearer one half needs more"
        )
    numbers = {"width": width, "more": more}
    heading = "Labels needed for the shares of these items"
    return Section(heading, [line], "labels_needed", numbers, detail=asked is None)


def _named(model: str, classes: int) -> PanelModel:
    from bayesjudge import panel

    several = panel.MulticlassDawidSkene if classes > 2 else panel.PooledDawidSkene
    models: dict[str, type[PanelModel]] = {
        "dawid_skene": several,
        "correlated": panel.Correlated,
        "bias_pooling": panel.BiasPooling,
        "vote_regression": panel.VoteRegression,
    }
    return models[model]()


def _with_responses(model: PanelModel) -> PanelModel:
    """The same model with a missing vote as one more response."""
    names = {field.name for field in fields(model)}
    problem = f"--missing response is for dawid_skene and correlated, not {type(model).__name__}"
    expect("options", names & {"answering", "missing"}, problem)
    change: dict[str, Any] = (
        {"answering": BetaPrior()} if "answering" in names else {"missing": "response"}
    )
    return replace(model, **change)


def _inputs(votes: Votes, model: str, truth: str | None) -> dict[str, Any]:
    assumed = "taken as one; if there are several, --generator NAME"
    return {
        "items": votes.n_items,
        "distinct patterns": len(votes.count),
        "labelled": int(votes.labelled.sum()),
        **({"labels chosen": votes.design.meaning} if votes.labelled.any() else {}),
        **({"truth": "no column; --truth NAME adds people's labels"} if truth is None else {}),
        "generators": assumed if votes._unnamed else ", ".join(votes.generators),
        "judges": ", ".join(votes.judges),
        "missing votes": f"{votes.missing_share:.1%}",
        **({"labels": votes.spelling} if votes.spelling else {}),
        "model": model,
    }


def _draw(results: Sequence[Estimate | Fit], votes: Votes) -> dict[str, Axes]:
    from bayesjudge.panel import plot_correlation, plot_judges

    drawn: dict[str, Axes] = {}
    for result in results:
        if isinstance(result, Fit) and "sensitivity" in result.quantities:
            caption = "Judges: specificity and sensitivity, 95 % posterior contours"
            drawn[caption] = plot_judges(result)
    if len(votes.classes) == 2 and votes.labelled[:, 0].sum() >= 20:
        drawn["Judges' votes on items that people call bad"] = plot_correlation(votes)
    return drawn
