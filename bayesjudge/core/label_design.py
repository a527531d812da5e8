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

    You can make a design that is not among `DESIGNS`: pass it to ``calibration=`` in place
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
            suits = [what for what in SUITED if what in self.identifies]
            suits = [what for what in suits if what != "predictive_values" or len(suits) == 1]
            suited = ("naive", *(name for what in suits for name in SUITED[what]))
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


#: What a table or function says of designs of the user's own, by which of them it takes: all,
#: those without a likelihood or functions as closed forms, which are about counts, or none.
OWN = {
    "all": "or pass a LabelDesign of your own",
    "plain": "{subject} knows these, and designs of your own without a likelihood or functions as "
    "closed forms (in prevalence.DESIGNS, or by value); read others as prevalence.Counts",
    "none": "{subject} knows these only; read verdicts of another design as prevalence.Counts",
}


def design_of(
    calibration: object,
    subject: str = "",
    custom: Literal["all", "plain", "none"] = "all",
    *,
    known: Collection[str] | None = None,
    words: Mapping[str, LabelDesign] = BUILT_IN,
) -> LabelDesign:
    """Find the design that a user declared, by its name or by value.

    `custom` says which designs of the user's the `subject` takes; `known` are the built-in ones
    that suit it, and `words` its own for them.
    """
    name = calibration.name if isinstance(calibration, LabelDesign) else calibration
    if isinstance(calibration, LabelDesign):
        design: LabelDesign | None = calibration
    else:
        design = DESIGNS.get(str(name), words.get(str(name)))
    if design is not None and design in (BUILT_IN.get(design.name), words.get(design.name)):
        if design.name in (words if known is None else known):
            return words[design.name]
    elif design is not None and custom != "none":
        new = design.name not in {*BUILT_IN, *words}
        if custom == "all" or (new and not design._of_counts):
            return design
    suited = DESIGNS if custom == "all" else {key: words[key] for key in known or words}
    choices = "; ".join(f"{choice.name}: {choice.meaning}" for choice in suited.values())
    given = "calibration= is needed" if name is None else f"calibration={name!r}"
    sentence = f"{given}: how were the labelled items chosen? {choices}; "
    sentence += OWN[custom].format(subject=subject)
    problem = Problem(sentence, "unknown-calibration", "calibration", name, tuple(suited))
    raise InputError("label design", [problem])


def checked(design: LabelDesign, data: Any) -> tuple[Caution, ...]:
    """What a design's own check says of a table."""
    return () if design.check is None else tuple(design.check(data))


def about_others(design: LabelDesign, assumption: Assumption) -> Assumption:
    """Say what the answer is about if the labelled items are others: not about those."""
    if design.same_items or assumption.id != SAME_JUDGE.id:
        return assumption
    return Assumption.of("same-judge", "others", assumption=assumption.text)


def declared(calibration: str | LabelDesign | None) -> str | LabelDesign:
    """What the user declared, or the error that explains what has to be declared."""
    design_of(calibration)
    assert calibration is not None
    return calibration
