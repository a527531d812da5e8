"""Label designs: how the labelled items were chosen, and what that makes them tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bayesjudge.core.errors import InputError, Problem
from bayesjudge.core.estimate import Assumption, Caution

Identified = Literal["prevalence", "error_rates", "predictive_values"]

SAME_JUDGE = Assumption.of("same-judge", "verdicts")
RANDOM_LABELS = Assumption.of("random-labels", "items")
RANDOM_BY_VERDICT = Assumption.of("random-labels-by-verdict", "verdict")
RANDOM_BY_PROPENSITY = Assumption.of("random-labels-by-propensity")
STATED_PROPENSITIES = Assumption.of("stated-propensities")
ERRORS_CANCEL = Assumption.of("errors-cancel", "judge")
ROWS_ARE_ITEMS = Assumption.of("rows-are-items")
STRATUM_SHARES = Assumption.of("stratum-shares")


#: Closed forms by what they need of the labels; the last ones where labels tell nothing else.
SUITED: dict[Identified, tuple[str, ...]] = {
    "prevalence": ("human_only", "difference"),
    "error_rates": ("rogan_gladen",),
    "predictive_values": ("post_stratified",),
}


@dataclass(frozen=True)
class LabelDesign:
    """How the labelled items were chosen: it decides which estimators are right.

    A design that is not among `DESIGNS` is one more of these: hand it to ``calibration=`` in place
    of a name, of every table of verdicts, scores, classes and votes; one with a likelihood or
    closed forms of its own is about counts, and read as `Counts`. A fit's file holds its name only,
    so put it into `DESIGNS` before such a fit is saved or loaded.

    Parameters
    ----------
    name : str
        What users write: ``calibration="random"``.
    meaning : str
        The design in one sentence, for messages and reports.
    identifies : frozenset of {"prevalence", "error_rates", "predictive_values"}
        What shares of labelled items estimate without bias: the prevalence, the judge's
        sensitivity and specificity, or its positive and negative predictive value.
    same_items : bool
        Whether the labelled items are some of the items that the estimate is about, or others.
    assumption : Assumption
        What must hold for the labels to tell that.
    closed_forms : tuple of str or callable, default ()
        The closed forms that suit it, the judge's own pass rate first: names in
        `bayesjudge.prevalence`, or functions ``(counts, *, ci_prob)`` that return an `Estimate`. By
        default those that suit what it identifies.
    likelihood : callable, optional
        ``likelihood(counts, rates)`` adds what was observed to the PyMC model in whose context it
        is called; by default what `identifies` says.
    check : callable, optional
        ``check(data)`` yields the cautions that contradict the assumption, of whatever table has
        the design; by default the check of the assumption with the same id.
    """

    name: str
    meaning: str
    identifies: frozenset[Identified]
    same_items: bool
    assumption: Assumption
    closed_forms: tuple[str | Callable[..., Any], ...] = ()
    likelihood: Callable[[Any, Mapping[str, Any]], None] | None = None
    check: Callable[[Any], Iterator[Caution]] | None = None

    def __str__(self) -> str:
        return self.name

    def __post_init__(self) -> None:
        if not self.closed_forms:
            told = [what for what in SUITED if what in self.identifies]
            told = [what for what in told if what != "predictive_values" or len(told) == 1]
            suited = ("naive", *(name for what in told for name in SUITED[what]))
            object.__setattr__(self, "closed_forms", suited)

    @property
    def _stored(self) -> str:
        """What a fit's file holds."""
        return self.name

    @property
    def is_sample(self) -> bool:
        """Whether labelled items are like the others: any is as likely to be labelled."""
        return "prevalence" in self.identifies and self.name != "known_propensity"

    @property
    def _of_counts(self) -> bool:
        """Whether it says of counts what no other table has: a likelihood, or closed forms."""
        return self.likelihood is not None or any(map(callable, self.closed_forms))


DESIGNS: dict[str, LabelDesign] = {
    design.name: design
    for design in (
        LabelDesign(
            "random",
            "labelled items are a random sample of the same items",
            frozenset({"prevalence", "error_rates", "predictive_values"}),
            same_items=True,
            assumption=RANDOM_LABELS,
        ),
        LabelDesign(
            "by_truth",
            "a fixed number of good and of bad items was labelled (stratified by the human label)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGE,
        ),
        LabelDesign(
            "separate",
            "labelled items come from another data set or run, under the same judge, and the share "
            "of good ones may differ (label shift)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGE,
        ),
        LabelDesign(
            "by_verdict",
            "a fixed number of the judge's passes and of its fails was labelled",
            frozenset({"predictive_values"}),
            same_items=True,
            assumption=RANDOM_BY_VERDICT,
        ),
        LabelDesign(
            "known_propensity",
            "each item was labelled with a known probability of its own",
            frozenset({"prevalence", "error_rates", "predictive_values"}),
            same_items=True,
            assumption=RANDOM_BY_PROPENSITY,
            closed_forms=("naive", "difference", "propensity_weighted"),
        ),
    )
}


#: Designs that are always known; users' own stand beside them in `DESIGNS`.
BUILT_IN = dict(DESIGNS)


def design_of(calibration: object) -> LabelDesign:
    """Find the design that a user named."""
    if isinstance(calibration, LabelDesign):
        return calibration
    if calibration not in tuple(DESIGNS):
        own = "of your own: hand over the LabelDesign, or put it into prevalence.DESIGNS"
        raise _unknown(calibration, DESIGNS, own)
    return DESIGNS[str(calibration)]


def built_in_design(
    calibration: object, subject: str, known: Collection[str] = tuple(BUILT_IN)
) -> LabelDesign:
    """Find a design that a user named where one of the user's own would be ignored."""
    name = calibration.name if isinstance(calibration, LabelDesign) else calibration
    if name not in tuple(known) or design_of(calibration) is not BUILT_IN[str(name)]:
        own = f"{subject} knows these only; read verdicts of another design as prevalence.Counts"
        raise _unknown(name, {one: BUILT_IN[one] for one in known}, own)
    return BUILT_IN[str(name)]


def checked(design: LabelDesign, data: Any) -> tuple[Caution, ...]:
    """What a design's own check says of a table."""
    return () if design.check is None else tuple(design.check(data))


def suited_design(
    calibration: object,
    subject: str,
    built_in: Mapping[str, LabelDesign] | None = None,
    known: Collection[str] | None = None,
) -> LabelDesign:
    """Find the design of a table that is not of counts: a built-in one, or one of the user's own.

    `built_in` are the table's own words for designs; `known` are those that suit it.
    """
    built_in = built_in or BUILT_IN
    known = tuple(built_in if known is None else known)
    name = calibration.name if isinstance(calibration, LabelDesign) else calibration
    if name in known and calibration in (name, built_in[str(name)], BUILT_IN.get(str(name))):
        return built_in[str(name)]
    own = DESIGNS.get(calibration) if isinstance(calibration, str) else calibration
    if isinstance(own, LabelDesign) and name not in {*BUILT_IN, *built_in} and not own._of_counts:
        return own
    text = (
        f"{subject} knows these, and designs of your own without a likelihood or functions as "
        "closed forms (in prevalence.DESIGNS, or by value); read others as prevalence.Counts"
    )
    raise _unknown(name, {one: built_in[one] for one in known}, text)


def _unknown(name: object, known: Mapping[str, LabelDesign], own: str) -> InputError:
    choices = "; ".join(f"{one.name!r}: {one.meaning}" for one in known.values())
    told = f"calibration={name!r}: how were the labelled items chosen? {choices}; {own}"
    problem = Problem(told, "unknown-calibration", "calibration", name, tuple(known))
    return InputError("label design", [problem])


def about_others(design: LabelDesign, assumption: Assumption) -> Assumption:
    """Say what the answer is about if the labelled items are others: not about those."""
    if design.same_items or assumption.id != SAME_JUDGE.id:
        return assumption
    text = f"{assumption.text}, and the answer is about the test items: labelled ones do not count"
    return assumption._replace(text=text)


def declared(calibration: str | LabelDesign | None) -> str | LabelDesign:
    """What the user declared, or the error that explains what has to be declared."""
    design_of(calibration)
    assert calibration is not None
    return calibration
