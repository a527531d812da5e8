"""Label designs: how the labelled items were chosen, and what that makes them tell."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Assumption, Caution

if TYPE_CHECKING:
    from collections.abc import Mapping

Identified = Literal["prevalence", "error_rates", "predictive_values"]

SAME_JUDGE = Assumption(
    "same-judge",
    "the judge has the same sensitivity and specificity on labelled and on test items",
)
RANDOM_LABELS = Assumption("random-labels", "labelled items are a random sample of the same items")
RANDOM_BY_VERDICT = Assumption(
    "random-labels-by-verdict",
    "within passes and within fails, labelled items are a random sample of the same items",
)
RANDOM_BY_PROPENSITY = Assumption(
    "random-labels-by-propensity",
    "within each class of propensity, labelled items are a random sample",
)
STATED_PROPENSITIES = Assumption(
    "stated-propensities",
    "each item was labelled with its stated probability, independently of the others",
)
ERRORS_CANCEL = Assumption("errors-cancel", "the judge never errs, or its errors cancel")
ROWS_ARE_ITEMS = Assumption(
    "rows-are-items", "each row is an item of its own (no column said which item it is)"
)
STRATUM_SHARES = Assumption("stratum-shares", "shares of the strata are those of these items")


@dataclass(frozen=True)
class LabelDesign:
    """How the labelled items were chosen: it decides which estimators are right.

    A design that is not among `DESIGNS` is one more of these: hand it to ``calibration=`` in place
    of a name. A fit's file holds its name only, so put it into `DESIGNS` before such a fit is
    saved or loaded.

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
    closed_forms : tuple of str or callable
        The closed forms that suit it, the judge's own pass rate first: names in
        `bayesjudge.prevalence`, or functions ``(counts, *, ci_prob)`` that return an `Estimate`.
    likelihood : callable, optional
        ``likelihood(counts, rates)`` adds what was observed to the PyMC model in whose context it
        is called; by default what `identifies` says.
    check : callable, optional
        ``check(counts)`` yields the cautions that contradict the assumption; by default the check
        of the assumption with the same id.
    """

    name: str
    meaning: str
    identifies: frozenset[Identified]
    same_items: bool
    assumption: Assumption
    closed_forms: tuple[str | Callable[..., Any], ...]
    likelihood: Callable[[Any, Mapping[str, Any]], None] | None = None
    check: Callable[[Any], Iterator[Caution]] | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def _stored(self) -> str:
        """What a fit's file holds."""
        return self.name


DESIGNS: dict[str, LabelDesign] = {
    design.name: design
    for design in (
        LabelDesign(
            "random",
            "labelled items are a random sample of the same items",
            frozenset({"prevalence", "error_rates", "predictive_values"}),
            same_items=True,
            assumption=RANDOM_LABELS,
            closed_forms=("naive", "human_only", "difference", "rogan_gladen"),
        ),
        LabelDesign(
            "by_truth",
            "a fixed number of good and of bad items was labelled (stratified by the human label)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGE,
            closed_forms=("naive", "rogan_gladen"),
        ),
        LabelDesign(
            "separate",
            "labelled items come from another data set or run, under the same judge, and the share "
            "of good ones may differ (label shift)",
            frozenset({"error_rates"}),
            same_items=False,
            assumption=SAME_JUDGE,
            closed_forms=("naive", "rogan_gladen"),
        ),
        LabelDesign(
            "by_verdict",
            "a fixed number of the judge's passes and of its fails was labelled",
            frozenset({"predictive_values"}),
            same_items=True,
            assumption=RANDOM_BY_VERDICT,
            closed_forms=("naive", "post_stratified"),
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


#: Designs that estimators other than those of `Counts` know.
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
        raise _unknown(str(name), known, own)
    return BUILT_IN[str(name)]


def _unknown(name: object, known: Collection[str], own: str) -> InputError:
    choices = "; ".join(f"{one!r}: {DESIGNS[one].meaning}" for one in known)
    problem = f"calibration={name!r}: how were the labelled items chosen? {choices}; {own}"
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
