"""Which method to believe: each predicts generators whose labels it does not see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.results import Estimate
from bayesjudge.panel.by_rates import regression, rogan_gladen
from bayesjudge.panel.checks import cautions_of, require_labelled
from bayesjudge.panel.closed_form import dawid_skene_em, model_assisted, panel_mean, voting
from bayesjudge.panel.data import Votes
from bayesjudge.panel.described import EXCHANGEABLE, INDEPENDENT, SAME_ERRORS, SAMPLED
from bayesjudge.panel.model import fit
from bayesjudge.panel.transport import logit_shift
from bayesjudge.panel.voting import choose_threshold, require_binary, true_prevalence

#: Labelled items that make a generator's own labels worth more than those of the others.
ENOUGH = 20


class Method(NamedTuple):
    """One way to a prevalence, with what it takes for granted."""

    run: Callable[[Votes, float, Any], Estimate]
    assumption: str
    against: frozenset[str]


def _sampled(model: Literal["dawid_skene", "correlated", "bias_pooling", "vote_regression"]) -> Any:
    def run(votes: Votes, ci_prob: float, random_seed: Any) -> Estimate:
        return fit(votes, model=model, random_seed=random_seed).estimate(ci_prob=ci_prob)

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


def compare(
    votes: Votes,
    methods: Sequence[str] = DEFAULT,
    *,
    ci_prob: float = 0.9,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Leave each labelled generator's labels out, and predict its share of good outputs.

    Parameters
    ----------
    votes : Votes
        With two classes, and at least three generators with labelled items.
    methods : sequence of str
        Among the names in the table of `METHODS`: closed forms by their names, models by that of
        ``fit(model=...)``.
    ci_prob : float, default 0.9
        Probability of the intervals that are scored.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``method``, the lowest mean error first: ``mean_error`` and ``max_error`` of the
        point, in shares; ``covered`` of ``generators``; mean ``width`` and ``interval_score``
        (Gneiting & Raftery 2007; lower is better) of the intervals, ``nan`` where a method has
        none; the ``assumption`` it needs, and ``rejected``: the cautions that these data raise
        against it.

    Raises
    ------
    InputError
        Where a method is unknown, or fewer than three generators are labelled.
    """
    long = held_out(votes, methods, ci_prob=ci_prob, random_seed=random_seed)
    raised = {caution.name for caution in cautions_of(votes)}
    rows = {}
    for name, part in long.groupby("method", sort=False):
        method = METHODS[str(name)]
        rows[name] = {
            "mean_error": part["error"].mean(),
            "max_error": part["error"].max(),
            "covered": int(part["covered"].sum()),
            "generators": len(part),
            "width": (part["high"] - part["low"]).mean(),
            "interval_score": part["interval_score"].mean(skipna=False),
            "assumption": method.assumption,
            "rejected": ", ".join(sorted(raised & method.against)),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return table.sort_values("mean_error", kind="stable")


def held_out(
    votes: Votes, methods: Sequence[str], *, ci_prob: float = 0.9, random_seed: Any = None
) -> pd.DataFrame:
    """Predict every labelled generator without its labels, one row a method and generator.

    Parameters
    ----------
    votes : Votes
        As in `compare`.
    methods : sequence of str
        As in `compare`.
    ci_prob : float, default 0.9
        Probability of the intervals.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        ``method``, ``generator``, ``truth``, ``value``, ``low``, ``high``, ``error``, ``covered``,
        ``interval_score``.

    Raises
    ------
    InputError
        As in `compare`.
    """
    require_binary(votes, "panel.compare")
    require_labelled(votes, "panel.compare", generators=3)
    check_ci_prob(ci_prob)
    unknown = [name for name in methods if name not in METHODS]
    with checking("panel.compare") as require:
        require(not unknown, f"no method {unknown}; there are {list(METHODS)}")
    seeds = np.random.default_rng(random_seed)
    truth = true_prevalence(votes)
    rows = []
    for i in np.flatnonzero(~np.isnan(truth)):
        name, share = votes.generators[int(i)], float(truth[i])
        hidden, seed = votes.hide(name), int(seeds.integers(2**31))
        for method in methods:
            row = METHODS[method].run(hidden, ci_prob, seed)[f"prevalence[{name}]"]
            outside = max(row.low - share, share - row.high, 0.0)
            score = row.high - row.low + 2 / (1 - ci_prob) * outside
            score = score if np.isfinite(row.high - row.low) else np.nan
            covered = row.low <= share <= row.high
            rows.append((method, name, share, *row, abs(row.value - share), covered, score))
    columns = ["method", "generator", "truth", "value", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "error", "covered", "interval_score"])


class Advice(NamedTuple):
    """What to fit, and why.

    Parameters
    ----------
    model : str
        For ``fit(votes, model=...)``.
    why : str
        In a sentence.
    """

    model: Literal["dawid_skene", "correlated", "bias_pooling", "vote_regression"]
    why: str


def recommend(votes: Votes) -> Advice:
    """Say which model suits these votes, from where the labels are and what they reject.

    Parameters
    ----------
    votes : Votes
        Of any classes.

    Returns
    -------
    Advice
        A model and the reason.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> recommend(Votes.from_frame(simulate(random_seed=1))).model
    'vote_regression'
    """
    if votes.n_classes > 2:
        return Advice("dawid_skene", "the other models need pass and fail")
    labelled = votes.labelled.sum(axis=1)
    raised = {caution.name for caution in cautions_of(votes)}
    if (labelled >= ENOUGH).all():
        return Advice(
            "vote_regression",
            f"every generator has {ENOUGH} labelled items or more; right if they are a random "
            "sample of its outputs",
        )
    if (labelled >= ENOUGH).sum() >= 3:
        rejected = f" (the data reject others: {', '.join(sorted(raised))})" if raised else ""
        return Advice(
            "bias_pooling",
            f"{int((labelled >= ENOUGH).sum())} generators are labelled and others are not: what "
            f"carries over is the panel's bias{rejected}",
        )
    if "dependent-judges" in raised:
        return Advice("correlated", "few generators are labelled, and the judges err together")
    return Advice("dawid_skene", "too few labels for anything that assumes less; label some items")
