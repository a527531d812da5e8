"""Every way to a prevalence by one name, with what it takes for granted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from bayesjudge.core.estimate import Estimate
from bayesjudge.panel.by_rates import regression, rogan_gladen
from bayesjudge.panel.closed_form import dawid_skene_em, model_assisted, panel_mean, voting
from bayesjudge.panel.data import Votes
from bayesjudge.panel.described import EXCHANGEABLE, INDEPENDENT, SAME_ERRORS, SAMPLED
from bayesjudge.panel.model import fit
from bayesjudge.panel.transport import difference, logit_shift
from bayesjudge.panel.voting import choose_threshold


class Method(NamedTuple):
    """One way to a prevalence, with what it takes for granted."""

    run: Callable[[Votes, float, Any], Estimate]
    assumption: str
    against: frozenset[str]


def _sampled(model: Literal["dawid_skene", "correlated", "bias_pooling", "vote_regression"]) -> Any:
    def run(votes: Votes, ci_prob: float, random_seed: Any) -> Estimate:
        sampled = fit(votes, model=model, random_seed=random_seed, road="full")
        return sampled.estimate(ci_prob=ci_prob)

    return run


_RATES_DIFFER = frozenset({"error-rates-differ"})
_CLASSES = frozenset({"error-rates-differ", "dependent-judges", "majority-contradicted"})
_NOTHING: frozenset[str] = frozenset()
METHODS: dict[str, Method] = {
    "panel_mean": Method(
        lambda votes, ci_prob, _: panel_mean(votes, ci_prob=ci_prob),
        "the judges never err, or their errors cancel",
        frozenset({"majority-contradicted"}),
    ),
    "veto": Method(
        lambda votes, ci_prob, _: voting(votes, choose_threshold(votes), ci_prob=ci_prob),
        "a threshold that suits the labelled generators suits the others",
        _RATES_DIFFER,
    ),
    "rogan_gladen": Method(
        lambda votes, ci_prob, _: rogan_gladen(votes, ci_prob=ci_prob), SAME_ERRORS, _RATES_DIFFER
    ),
    "regression_source": Method(
        lambda votes, *_: regression(votes, solver="source"), SAME_ERRORS, _RATES_DIFFER
    ),
    "regression_exact": Method(lambda votes, *_: regression(votes), SAME_ERRORS, _RATES_DIFFER),
    "difference": Method(
        lambda votes, ci_prob, _: logit_shift(votes, ci_prob=ci_prob, scale="identity"),
        EXCHANGEABLE,
        _NOTHING,
    ),
    "own_difference": Method(
        lambda votes, ci_prob, _: difference(votes, ci_prob=ci_prob), SAMPLED, _NOTHING
    ),
    "logit_shift": Method(
        lambda votes, ci_prob, _: logit_shift(votes, ci_prob=ci_prob), EXCHANGEABLE, _NOTHING
    ),
    "dawid_skene_em": Method(
        lambda votes, ci_prob, _: dawid_skene_em(votes, ci_prob=ci_prob),
        f"{INDEPENDENT}; {SAME_ERRORS}",
        _CLASSES,
    ),
    "model_assisted": Method(
        lambda votes, ci_prob, _: model_assisted(votes, ci_prob=ci_prob), SAMPLED, _NOTHING
    ),
    "dawid_skene": Method(_sampled("dawid_skene"), f"{INDEPENDENT}; {SAME_ERRORS}", _CLASSES),
    "correlated": Method(_sampled("correlated"), SAME_ERRORS, _CLASSES - {"dependent-judges"}),
    "bias_pooling": Method(_sampled("bias_pooling"), EXCHANGEABLE, _NOTHING),
    "vote_regression": Method(_sampled("vote_regression"), SAMPLED, _NOTHING),
}
#: What is compared where nobody says what: generators without labels, or with a few.
DEFAULT = (
    "panel_mean",
    "veto",
    "rogan_gladen",
    "regression_source",
    "regression_exact",
    "difference",
    "logit_shift",
    "dawid_skene_em",
    "bias_pooling",
)
FEW_LABELS = (
    "panel_mean",
    "veto",
    "own_difference",
    "model_assisted",
    "dawid_skene_em",
    "vote_regression",
)
