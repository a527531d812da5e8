"""What tables of one judge have in common: options, what is read of them, and their screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from cyclopts import Parameter

import bayesjudge as bj
from bayesjudge.cli.columns import Scored
from bayesjudge.cli.options import (
    MODEL,
    OF_MODEL,
    OF_TABLE,
    Shared,
    WhichItems,
)
from bayesjudge.cli.output import Results, Story, present
from bayesjudge.cli.priors import Priors
from bayesjudge.cli.source import Source
from bayesjudge.core.answer import Answer, listed, percent_of, percents
from bayesjudge.core.diagnosis import is_led_elsewhere
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Caution, Estimate, Interval, Row
from bayesjudge.core.methods import JUDGE
from bayesjudge.prevalence.label_errors import rows_if_people_err, with_people_err
from bayesjudge.render.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Options that say what the model of error rates believes, and of which items it is asked.
BELIEFS = ("prior_sensitivity", "prior_specificity", "prior", "better_than_chance")
#: Systems of which a line of a table tells.
MOST_SYSTEMS = 5
OF_RATES = (*BELIEFS, "all_methods", "target")


@Parameter(name="*")
@dataclass(frozen=True)
class Asked(Scored):
    """What is asked of a table of one judge.

    Parameters
    ----------
    truth_scale : str
        Lowest and highest number that people can give, if labels are numbers: asks for their mean.
    truth_from : float
        Lowest human number that is a pass, if labels are numbers: asks for the share of passes.
    pass_from : float
        Lowest score that is a pass: makes scores verdicts.
    edges : str
        Where bins of the score begin, but for the first, such as 2.5:4; needed with by_verdict.
    by : str
        Column that names the system of each row; each gets its own estimate, and they are compared,
        with --item on the items that they share.
    stratum : str
        Column that names the stratum of each row; estimates are weighed by the strata's shares.
    external_labels : Path
        Table with more labelled rows, chosen by truth or from another run: they tell how the judge
        errs and nothing else.
    classes : list[str]
        Classes that verdict and truth can be, if they are more than pass and fail, in the order
        wanted. With --swapped: win, tie and loss, in the table's words.
    swapped : str
        Column with the verdict on the same pair of answers in the other order; --verdict is then
        the verdict with our answer shown first.
    item : str
        Column that identifies the item of a row. With --by, systems are compared on the items that
        they share, unless --pooling asks for the model of independent rows.
    unparsed : str
        What a row without a verdict is: the judge's fail, a verdict of its own (with --classes; the
        default of random labels of one system), or dropped: then the share is of the rows that the
        judge could judge.
    prior : str
        Prior of every rate: flat, or Jeffreys'. By default Jeffreys' of the share of good outputs
        and flat of the judge's rates; Jeffreys' of all for labels by verdict.
    prior_sensitivity : str
        Prior of the judge's sensitivity (share of good outputs that it passes), as rate:n.
        0.9:20 is a belief worth 20 labels.
    prior_specificity : str
        The same of its specificity (share of bad outputs that it fails).
    prior_people : str
        With labels of several people: prior of their sensitivity and specificity, as rate:n;
        0.95:20 by default.
    better_than_chance : bool
        Whether the model leaves out judges that are no better than chance.
    pooling : str
        How far several systems share the judge's error rates: separate, partial (a system without
        labels borrows from the others), shares (partial, and shares of good outputs are shrunk to
        each other too, as suits many small groups), full (one judge who treats all alike). If not
        said, systems are separate, and strata pool rates and shares.
    all_methods : bool
        All estimators of the literature, each with what it assumes and which cautions contradict
        that.
    """

    pass_from: Annotated[float | None, OF_TABLE] = None
    edges: Annotated[str | None, OF_TABLE] = None
    stratum: Annotated[str | None, OF_TABLE] = None
    external_labels: Annotated[Path | None, OF_TABLE] = None
    swapped: Annotated[str | None, OF_TABLE] = None
    prior: Annotated[Literal["flat", "jeffreys"] | None, OF_MODEL] = None
    prior_sensitivity: Annotated[str | None, OF_MODEL] = None
    prior_specificity: Annotated[str | None, OF_MODEL] = None
    prior_people: Annotated[str | None, OF_MODEL] = None
    better_than_chance: Annotated[bool, Parameter(group=MODEL)] = True
    pooling: Annotated[Literal["separate", "partial", "shares", "full"] | None, OF_MODEL] = None
    target: WhichItems = "population"
    all_methods: Annotated[bool, OF_MODEL] = False

    @property
    def priors(self) -> Priors:
        """The priors that were asked for."""
        beliefs = {"sensitivity": self.prior_sensitivity, "specificity": self.prior_specificity}
        if self.several_people:
            beliefs["people"] = self.prior_people
        return Priors(self.prior, beliefs, self.better_than_chance)

    def _in_both_orders(self, source: Source) -> bool:
        return self.swapped is not None or super()._in_both_orders(source)

    def _of_log(self, source: Source) -> Self:
        both = "swapped" if self._in_both_orders(source) else None
        return replace(super()._of_log(source), swapped=self.swapped or both)


@dataclass(frozen=True, kw_only=True)
class View(Story):
    """A table of one judge, with what its screen has of its own."""

    command: str = "prevalence"
    answer: str = "prevalence"
    tell: Callable[[Results], Answer] = lambda results: bj.prevalence.answer(*results)
    waits: bool = False
    #: What is told of: closed forms first, paired differences among them.
    closed: Sequence[Estimate]
    #: The posterior without sampling, if it has one.
    exact: Estimate | None = None
    #: What is said after the answer, and what is made of it.
    note: str = ""
    retold: Callable[[Answer, Results], Answer] = lambda answer, _: answer
    #: Whether labels are taken as right, so that it is said what if some are not.
    if_people_err: bool = True


def show(view: View, shared: Shared) -> Results:
    """Show the closed forms and the exact posterior at once, then the sampled model."""
    instant = [estimate for estimate in view.closed if "difference" not in estimate]
    paired = [estimate for estimate in view.closed if "difference" in estimate]
    instant += [] if view.exact is None else [view.exact]

    def tell(results: Results) -> Answer:
        how: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
        answer = bj.prevalence.answer(*results, *paired, **how, target=view.target)
        answer = view.retold(answer, results)
        return replace(answer, notes=(*answer.notes, view.note)) if view.note else answer

    asked = _if_people_err(view, instant) if view.if_people_err else None
    if asked is not None and view.exact is None:  # which has the caution
        with_caution = with_people_err(asked)
        instant = [with_caution if estimate is asked else estimate for estimate in instant]

    def more(results: Results) -> list[Section]:
        return [*view.more(results), *([] if asked is None else [_table_of(asked)])]

    def draw(results: Results) -> Mapping[str, Axes]:
        pictures = view.draw(results)
        if asked is None:
            return pictures
        return {**pictures, IF_PEOPLE_ERR: bj.prevalence.plot_if_people_err(asked)}

    return present(replace(view, instant=instant, tell=tell, more=more, draw=draw), shared)


#: Heading of the table of what if labels are wrong, and caption of its picture.
IF_PEOPLE_ERR = "The share, if some of people's labels are wrong"


def _if_people_err(view: View, estimates: Sequence[Estimate]) -> Estimate | None:
    """What is quoted, if it takes labels for the truth of their items."""
    data = estimates[0].data if estimates else None
    if not getattr(data, "takes_labels_as_right", False) or is_led_elsewhere(data):
        return None
    shown = [e for e in estimates if view.answer in e and e.method.rank < JUDGE.rank]
    return min(shown, key=lambda e: e.method.rank, default=None)


def _table_of(estimate: Estimate) -> Section:
    """A line for each share of wrong labels."""
    table = rows_if_people_err(estimate)
    lines = []
    for error in sorted({row["error"] for row in table}):
        rows = [row for row in table if row["error"] == error]
        each = [
            f"{'' if len(rows) == 1 else f'{[*row.values()][1]} '}"
            f"{percents(Row(*(row[name] for name in Row._fields)))}"
            for row in rows[:MOST_SYSTEMS]
        ]
        more = f"; {len(rows) - MOST_SYSTEMS} more" * (len(rows) > MOST_SYSTEMS)
        lines.append(f"{percent_of(error)} of labels wrong: {'; '.join(each)}{more}")
    return Section(IF_PEOPLE_ERR, lines, "if_people_err", table)


def that_hold(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Of methods that the design does not support, the share only, and no interval without width.

    Their rates of the judge would look like those of methods that hold.
    """
    held, left = [], []
    for estimate in estimates:
        names = {c.id for c in estimate.cautions}
        if "design-mismatch" not in names:
            held.append(estimate)
        elif "zero-width" in names:
            left.append(estimate.method.title)
        else:
            held.append(estimate.only("prevalence", "overall_prevalence"))
    if left:
        more = (*held[0].cautions, Caution.of("design-mismatch", "left-out", methods=listed(left)))
        held[0] = replace(held[0], cautions=more)
    return held


def described(data: Any, counted: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """What was read: how many rows, how labels were chosen, and what else there is to say."""
    more = {name.replace("_", " "): value for name, value in more.items() if value}
    return {**counted, "calibration": f"{data.design.name}: {data.design.meaning}", **more}


def kind_of_interval(shared: Shared, of: str) -> Interval:
    """The interval of tables whose ends have no boundary to reach.

    Raises
    ------
    InputError
        If the boundary-extended one was asked for.
    """
    right = shared.interval != "eti_bounded"
    expect("options", right, f"--interval eti_bounded is not for {of}: take eti or hdi")
    return shared.interval or "eti"
