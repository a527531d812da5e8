"""Closed forms: voting, Rogan-Gladen, Dawid-Skene by EM, difference estimators and regressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.special import expit, logit, stdtrit

from bayesjudge.core import methods
from bayesjudge.core.errors import (
    InputError,
    UninformativeJudgeError,
    check_ci_prob,
    checking,
    expect,
)
from bayesjudge.core.estimate import TARGETS, Assumption, Caution, Estimate, Quantity, Target
from bayesjudge.core.intervals import FEW, holding, jeffreys, wilson, z_score
from bayesjudge.core.methods import Method
from bayesjudge.core.screen import how_many
from bayesjudge.panel import _em
from bayesjudge.panel._approximations import share_estimate
from bayesjudge.panel._pass_rate_regression import PassRates, minimise
from bayesjudge.panel._summaries import Summary, mean_vote
from bayesjudge.panel.checks import (
    BETTER_THAN_CHANCE,
    ERRORS_CANCEL,
    EXCHANGEABLE,
    INDEPENDENT,
    RULE_ERRORS_CANCEL,
    SAME_ERRORS,
    about,
    against_labels,
    check_assumptions,
    require_identified,
)
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.label_design import RANDOM_LABELS
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.vote_regression import VoteRegression
from bayesjudge.panel.recommend import recommend
from bayesjudge.panel.voting import (
    VotingRule,
    prevalence_by,
    require_binary,
    true_prevalence,
    verdicts,
)
from bayesjudge.truth import inversion

JAIN = "Jain et al. (2025), Beyond Consensus"
#: Votes for each rate of a judge from which on it is not asked whether judges can be told apart.
VOTES_A_RATE = 10
#: Fewer votes than this do not tell.
FEWEST_VOTES = 100
#: Interval of a pass rate without any label.
BIAS_PRIOR = "normal on the logit scale, with a prior on the panel's bias"
#: Added to every expected count where curvature is looked at, so that no rate is 0 or 1.
PSEUDO = 0.5
NOT_INDEPENDENT = Caution.of("no-interval", "average")


def panel_mean(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Take the panel at its word: the mean of all votes.

    Parameters
    ----------
    votes : Votes
        With two classes.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the pass rate.

    Returns
    -------
    Estimate
        ``prevalence`` by generator. Items, and not votes, are the units of the interval.

    Raises
    ------
    InputError
        If there are more than two classes.
    """
    asked = about(votes)
    summary = Summary.of(asked)
    n = summary.labelled_n + summary.other_n
    error = summary.spread / np.sqrt(n)
    cautions: tuple[Caution, ...] = ()
    if votes.is_labelled.any():
        half = z_score(ci_prob) * error
        ends = [np.clip(summary.rate + s * half, 0, 1) for s in (-1, 1)]
    else:
        ends, caution = _ends_by_prior(summary.rate, error, asked.items, ci_prob)
        cautions = (caution,)
    return _described(
        votes,
        {"prevalence": _by_generator(votes, (summary.rate, *ends))},
        ERRORS_CANCEL,
        method=methods.PANEL_MEAN,
        ci_prob=ci_prob,
        source=f"{JAIN}, Section 3",
        interval="normal, by item" if votes.is_labelled.any() else BIAS_PRIOR,
        cautions=(*_without_votes(votes, summary.rate), *cautions),
    )


def _described(
    votes: Votes,
    quantities: dict[str, Quantity],
    *assumed: Assumption,
    cautions: Iterable[Caution] = (),
    **about: Any,
) -> Estimate:
    """Make the `Estimate`, with what contradicts its assumptions."""
    assumptions, against = check_assumptions(votes, *assumed)
    raised = (*cautions, *against)
    return Estimate(quantities, assumptions=assumptions, cautions=raised, data=votes, **about)


def _ends_by_prior(
    rate: np.ndarray, error: np.ndarray, items: np.ndarray, ci_prob: float
) -> tuple[list[np.ndarray], Caution]:
    """Ends of an interval that holds a pass rate's bias as `BiasPooling` believes it to be."""
    prior = BiasPooling()
    inside = _inside(rate, items)
    spread = np.sqrt(
        prior.bias.sd**2 + prior.bias_spread**2 + (error / (inside * (1 - inside))) ** 2
    )
    centre, half = logit(inside) - prior.bias.mean, z_score(ci_prob) * spread
    ends = [np.minimum(expit(centre - half), rate), np.maximum(expit(centre + half), rate)]
    return ends, prior.rests_on_prior(ci_prob)


def _human_only(votes: Votes, *, ci_prob: float) -> Estimate:
    """Leave the judges out: Wilson's interval of each generator's labelled items."""
    n = votes.labelled.sum(axis=1)
    good = np.array([votes.count[(votes.generator == g) & (votes.truth == 1)].sum()
                     for g in range(len(n))])  # fmt: skip
    return _described(
        votes,
        {"prevalence": _by_generator(votes, wilson(good, n, ci_prob))},
        RANDOM_LABELS,
        method=methods.HUMAN_ONLY,
        ci_prob=ci_prob,
        source="Wilson (1927)",
        interval="Wilson",
    )


def voting(
    votes: Votes, rule: VotingRule = VotingRule("majority"), *, ci_prob: float = 0.95
) -> Estimate:
    """Share of items that a voting rule calls valid.

    Parameters
    ----------
    votes : Votes
        With two classes.
    rule : VotingRule, default ``VotingRule("majority")``
        For example ``VotingRule("veto", 4)``, or what `choose_threshold` found.
    ci_prob : float, default 0.95
        Coverage that the interval aims at, for the rule's own pass rate.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, with Wilson's interval. A tie is no majority: with an even
        number of votes the rule calls fewer items valid than the mirrored rule would call invalid.

    Raises
    ------
    InputError
        If there are more than two classes.

    Examples
    --------
    >>> votes = Votes([[1, 1, 0], [1, 0, 0]], [-1, -1], [0, 0], ["gpt"], ["a", "b", "c"])
    >>> voting(votes, VotingRule("veto", 2))["prevalence", "gpt"].value
    0.5
    """
    asked = about(votes)
    rate = prevalence_by(asked, verdicts(asked, rule))
    passed = np.rint(np.nan_to_num(rate) * asked.items)
    with np.errstate(invalid="ignore", divide="ignore"):  # a generator without items: nan
        value, *ends = wilson(passed, asked.items, ci_prob)
        error = np.sqrt(
            _inside(value, asked.items) * (1 - _inside(value, asked.items)) / asked.items
        )
    cautions: tuple[Caution, ...] = ()
    if not votes.is_labelled.any():
        ends, caution = _ends_by_prior(value, error, asked.items, ci_prob)
        cautions = (caution,)
    return Estimate(
        {"prevalence": _by_generator(votes, (value, *ends))},
        method=Method(f"voting:{rule}", f"Voting: {rule}", "Voting"),
        ci_prob=ci_prob,
        source=f"{JAIN}, Section 4",
        interval="Wilson" if votes.is_labelled.any() else BIAS_PRIOR,
        assumptions=(RULE_ERRORS_CANCEL,),
        cautions=(*_without_votes(votes, value), *cautions),
        data=votes,
    )


def dawid_skene_em(
    votes: Votes,
    *,
    ci_prob: float = 0.95,
    missing: Literal["skip", "response"] = "skip",
    prior_count: float = PSEUDO,
) -> Estimate:
    """Dawid and Skene's model by expectation-maximisation, with labelled items observed.

    Parameters
    ----------
    votes : Votes
        Of two or more classes.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    missing : {"skip", "response"}
        Leave a missing vote out, or count it as a response of its own, which depends on the truth.
    prior_count : float, default 0.5
        Items of each class added to every generator, and to every judge and truth so many votes for
        each kind of vote, in the proportions that all judges have together; 0 is maximum
        likelihood. A rater of few items is like the others then: over ten crowds half a vote gives
        .845 right labels on average, none .823, and half a vote of every kind .809
        (benchmarks/panel/crowd.py).

    Returns
    -------
    Estimate
        ``prevalence`` by generator and ``sensitivity`` and ``specificity`` by judge; with more
        classes, ``share`` by generator and class and ``confusion`` by judge, truth and vote. The
        interval comes from the curvature after at least half an item is added to every count, so
        that an estimate of 0 or 1 has one too. There is none (``nan``, with the caution
        ``no-interval``) if there are more than 3,000 rates. Of more of the same data it can be
        wider: as the half items weigh less, a rate runs into 0 or 1, or another class takes the
        unlabelled items, and there the logit scale has next to no curvature (of 2,902 intervals on
        random small tables, 205 were wider after nine copies of the table, in each of which the
        value had moved so; of tables drawn later two rates were that kept their values while others
        ran into 1). `fit` does not rest on curvature.

    Raises
    ------
    InputError
        If `ci_prob` or `missing` is unknown, or `prior_count` is negative.

    References
    ----------
    Dawid & Skene (1979), Appl. Stat. 28, 20-28.
    """
    check_ci_prob(ci_prob)
    with checking("panel.dawid_skene_em") as require:
        require(missing in ("skip", "response"), f"missing={missing!r}: skip or response")
        require(prior_count >= 0, f"prior_count={prior_count}, expected 0 or more")
    problem, pseudo, best = _em.posterior_mode(votes, missing, prior_count)
    inner, within = best, max(prior_count, PSEUDO)
    if within != prior_count:
        pseudo = _em.pooled(votes, missing, within)
        inner = _em.solve(problem, start=best.posterior.copy(), pseudo=pseudo)
    if votes.is_labelled.any():
        errors = _em.covariance(problem, inner.rates, pseudo)
    else:
        errors = (
            np.full_like(inner.rates.shares, np.nan),
            np.full_like(best.rates.confusion, np.nan),
        )
    z = z_score(ci_prob)
    parts: list[tuple[Any, Any, Any]] = []
    for name, error in zip(("shares", "confusion"), errors, strict=True):
        value, centre = getattr(best.rates, name), logit(getattr(inner.rates, name))
        low, high = expit(centre - z * error), expit(centre + z * error)
        parts.append((value, np.minimum(low, value), np.maximum(high, value)))
    cautions = [*_without_interval_by_em(votes, errors[1]), *_sparse(votes, best, prior_count)]
    if not best.converged:
        cautions.insert(0, Caution.of("not-converged", "em", iterations=best.iterations))
    return _described(
        votes,
        _rates(votes, *parts),
        *(INDEPENDENT, SAME_ERRORS, BETTER_THAN_CHANCE, RANDOM_LABELS),
        method=methods.EM_MODE if prior_count else methods.EM_LIKELIHOOD,
        ci_prob=ci_prob,
        source="Dawid & Skene (1979)",
        interval="penalised Wald" if votes.is_labelled.any() else "none",
        cautions=cautions,
    )


def _sparse(votes: Votes, solution: _em.Solution, prior_count: float) -> Iterator[Caution]:
    """Judges with so few votes that rates of their own predict worse than rates of all."""
    given = int(((votes.votes != MISSING).sum(axis=1) * votes.count).sum())
    rates = len(votes.judges) * votes.n_classes * (votes.n_classes - 1)
    if given > VOTES_A_RATE * rates or given < FEWEST_VOTES:
        return
    apart, common = _em.predict_hidden_votes(votes, prior_count)
    if apart >= common:
        return
    tally = np.stack([(votes.votes == c).sum(axis=1) for c in range(votes.n_classes)], axis=1)
    label = solution.posterior.argmax(axis=1)
    lost = np.take_along_axis(tally, label[:, None], axis=1)[:, 0] < tally.max(axis=1)
    lost &= ~votes.is_labelled
    yield Caution.of(
        "too-few-votes",
        judges=len(votes.judges),
        votes=given / len(votes.judges),
        rates=votes.n_classes * (votes.n_classes - 1),
        common=common,
        apart=apart,
        share=votes.count[lost].sum() / votes.n_items,
    )


def _without_interval_by_em(votes: Votes, rates: np.ndarray) -> Iterator[Caution]:
    if not votes.is_labelled.any():
        yield Caution.of("no-interval", "no-labels")
        return
    if np.isnan(rates).any():
        yield Caution.of("no-interval", "rates", judges=len(votes.judges), most=_em.MOST_RATES)


def model_assisted(votes: Votes, *, ci_prob: float = 0.95, target: Target = "items") -> Estimate:
    """Predict the truth of unlabelled items from their votes, and average.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled, best some of every generator.
    ci_prob : float, default 0.95
        Probability of the interval.
    target : {"items", "population"}
        About these very items, or about the process that they come from.

    Returns
    -------
    Estimate
        ``prevalence`` by generator: the Laplace approximation of `VoteRegression`, summed over its
        spreads. Of these items it is exact for a generator whose items are all labelled.

    Raises
    ------
    InputError
        If no item is labelled, there are more than two classes, or `target` is unknown.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling; Tierney & Kadane (1986),
    J. Am. Stat. Assoc. 81, 82-86; Zou & Donner (2008), Stat. Med. 27, 1693-1702, for a population.
    """
    return _laplace(votes, VoteRegression(), ci_prob=ci_prob, target=target)


def _laplace(votes: Votes, model: PanelModel, *, ci_prob: float, target: Target) -> Estimate:
    """What a model says, by its Laplace approximation."""
    expect(
        "panel.closed_forms", target in TARGETS, f"must be one of {list(TARGETS)}", target=target
    )
    model._check(votes)
    columns = share_estimate(votes, model, ci_prob, target)
    cautions: tuple[Caution, ...] = ()
    if isinstance(model, BiasPooling) and not votes.is_labelled.any():
        cautions = (model.rests_on_prior(ci_prob),)
    return _described(
        votes,
        {"prevalence": _by_generator(votes, columns)},
        *model._assumptions,
        method=model._method_by("laplace"),
        ci_prob=ci_prob,
        source=model._source,
        interval="normal on the logit scale",
        cautions=(*cautions, *_without_votes(votes, columns[0])),
        target=target,
    )


def _by_generator(votes: Votes, columns: tuple[Any, ...]) -> Quantity:
    return Quantity.over(columns, {"generator": votes.generators})


def _by_judge(votes: Votes, columns: tuple[Any, ...]) -> Quantity:
    return Quantity.over(columns, {"judge": votes.judges})


def _rates(votes: Votes, shares: Any, confusion: Any) -> dict[str, Quantity]:
    """Rates in the words of two classes, or as shares and confusion matrices."""
    if votes.n_classes == 2:
        return {
            "prevalence": _by_generator(votes, tuple(c[:, 1] for c in shares)),
            "sensitivity": _by_judge(votes, tuple(c[:, 1, 1] for c in confusion)),
            "specificity": _by_judge(votes, tuple(c[:, 0, 0] for c in confusion)),
        }
    responses = [*votes.classes, "missing"][: confusion[0].shape[-1]]
    by_class = {"generator": votes.generators, "truth": votes.classes}
    by_vote = {"judge": votes.judges, "truth": votes.classes, "vote": responses}
    return {
        "share": Quantity.over(shares, by_class),
        "confusion": Quantity.over(confusion, by_vote),
    }


def rogan_gladen(votes: Votes, *, ci_prob: float = 0.95) -> Estimate:
    """Correct each judge's pass rate for its errors, and average over the judges.

    Parameters
    ----------
    votes : Votes
        With two classes; the labelled items of all generators give the error rates.
    ci_prob : float, default 0.95
        Coverage of the intervals of sensitivity and specificity.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, clipped to [0, 1] with the unclipped value as ``raw`` and
        without an interval: the judges' errors are not independent, and this average does not say
        how much they are not. ``sensitivity`` and ``specificity`` by judge, with the intervals of
        `judge.quality`.

    Raises
    ------
    UninformativeJudgeError
        If no judge does better than chance.
    InputError
        If a class has no labelled item, or there are more than two classes.

    References
    ----------
    Rogan & Gladen (1978), Am. J. Epidemiol. 107, 71-76.
    """
    require_identified(votes, "error_rates", "panel.rogan_gladen")
    known = PassRates.of(votes)
    by_truth = votes.tally()[..., :2].sum(axis=0)
    with checking("panel.rogan_gladen") as require:
        for t, word in ((1, "good"), (0, "bad")):
            require(by_truth[t].sum(), f"no labelled item is {word}; label some")
    gain = known.sensitivity + known.specificity - 1
    usable = gain > 0
    if not usable.any():
        raise UninformativeJudgeError(
            "panel.rogan_gladen", ["no judge has sensitivity + specificity above 1; use others"]
        )
    judges = known.rates[:, usable], known.specificity[usable], known.sensitivity[usable]
    by_judge = inversion.invert(*judges)
    seen = np.isfinite(by_judge).any(axis=1)
    raw, empty = np.full((2, len(seen)), np.nan)
    raw[seen] = np.nanmean(by_judge[seen], axis=1)
    cautions = [*_left_out(votes, gain), *_unseen(votes, seen), NOT_INDEPENDENT]
    rates = {
        "sensitivity": jeffreys(by_truth[1, :, 1], by_truth[1].sum(axis=-1), ci_prob),
        "specificity": jeffreys(by_truth[0, :, 0], by_truth[0].sum(axis=-1), ci_prob),
    }
    quantities = {"prevalence": _by_generator(votes, (np.clip(raw, 0, 1), empty, empty, raw))}
    quantities |= {name: _by_judge(votes, columns) for name, columns in rates.items()}
    return _described(
        votes,
        quantities,
        SAME_ERRORS,
        RANDOM_LABELS,
        method=methods.JUDGE_BY_JUDGE,
        ci_prob=ci_prob,
        source="Rogan & Gladen (1978)",
        interval=dict.fromkeys(rates, "equal-tailed"),
        cautions=cautions,
    )


def _left_out(votes: Votes, gain: np.ndarray) -> Iterator[Caution]:
    for name, above_chance in zip(votes.judges, gain, strict=True):
        if np.isnan(above_chance):
            yield Caution.of("error-rates-unknown", name=name)
        elif above_chance <= 0:
            yield Caution.of("no-better-than-chance", "panel", name=name)


def _unseen(votes: Votes, seen: np.ndarray) -> Iterator[Caution]:
    for name, has_votes in zip(votes.generators, seen, strict=True):
        if not has_votes:
            yield Caution.of("no-votes", "corrected", name=name)


def regression(
    votes: Votes,
    *,
    solver: Literal["exact", "source"] = "exact",
    weights: tuple[float, float, float] = (2.0, 1.0, 10.0),
    starts: int = 10,
    random_seed: int = 0,
) -> Estimate:
    r"""Fit generators' prevalences and judges' error rates to the table of pass rates.

    Parameters
    ----------
    votes : Votes
        With two classes; labelled items anchor the fit.
    solver : {"exact", "source"}
        ``"source"`` is the published optimiser, which stops early; ``"exact"`` reaches the minimum.
    weights : tuple of float, default (2, 1, 10)
        :math:`\lambda` of prevalence, sensitivity and specificity in eq. (3).
    starts : int, default 10
        Starting points.
    random_seed : int, default 0
        Of the starting points.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, ``sensitivity`` and ``specificity`` by judge, without
        intervals.

    Raises
    ------
    InputError
        If a generator or a judge has no vote, or there are more than two classes.

    Notes
    -----
    The published errors are small because the published optimiser stops early. Eq. (3) has a kink
    where the anchors are met; a quasi-Newton method halts near it, while the prevalences of new
    generators are still close to where they started, their raw pass rates. At the true minimum the
    loss is lower and the errors are several times larger: the loss, not the optimiser, is at fault.
    If ``"source"`` stops depends on the starts, which the source does not state to the digit:
    with one labelled generator it stops 2.7 to 3.5 points off on average, where 1.76 is published
    (tests/panel/test_pass_rate_regression.py). No setting that we tried gives that figure.

    References
    ----------
    Jain et al. (2025), Section 5, eqs. (1)-(3).
    """
    require_identified(votes, "error_rates", "panel.regression")
    minimum = minimise(
        PassRates.of(votes),
        solver=solver,
        weights=weights,
        starts=starts,
        random_seed=random_seed,
    )
    quantities = {"prevalence": _by_generator(votes, _without_interval(minimum.prevalence))}
    quantities["sensitivity"] = _by_judge(votes, _without_interval(minimum.sensitivity))
    quantities["specificity"] = _by_judge(votes, _without_interval(minimum.specificity))
    early = Caution.of("stops-early")
    return _described(
        votes,
        quantities,
        SAME_ERRORS,
        method=methods.PASS_RATES.variant(solver, f"{solver} solver", also_brief=True),
        ci_prob=0.95,
        source=f"{JAIN}, eqs. (1)-(3)",
        interval="none",
        cautions=(early,) if solver == "source" else (),
    )


def _without_interval(value: np.ndarray) -> tuple[np.ndarray, ...]:
    return value, np.full_like(value, np.nan), np.full_like(value, np.nan)


def logit_shift(
    votes: Votes, *, ci_prob: float = 0.95, scale: Literal["logit", "identity"] = "logit"
) -> Estimate:
    """Subtract the panel's average bias on the other, labelled generators.

    The bias of a labelled generator is its pass rate less its share of good outputs, on the chosen
    scale. Each generator's estimate uses the biases of the *other* labelled generators only.

    Parameters
    ----------
    votes : Votes
        With two classes, and at least two labelled generators.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    scale : {"logit", "identity"}
        Where biases are averaged. ``"identity"`` is the difference estimator across generators.

    Returns
    -------
    Estimate
        ``prevalence`` by generator, with a Student prediction interval: the spread of the other
        generators' biases holds sampling errors and true differences alike. No interval (``nan``,
        with a caution) for a generator with fewer than two others that are labelled, or whose
        others have one bias.

    Raises
    ------
    InputError
        If fewer than two generators are labelled, or an argument is unknown.

    Notes
    -----
    More items of the same generators do not narrow the interval beyond the true differences of the
    biases, and may widen it: half an item of each kind joins each share, so that shares of 0 and 1
    have a logit, which draws the biases of generators with few items together.
    """
    require_binary(votes, "panel.logit_shift")
    require_identified(votes, "prevalence", "panel.logit_shift")
    check_ci_prob(ci_prob)
    summary, truth = Summary.of(votes), true_prevalence(votes)
    with checking("panel.logit_shift") as require:
        require(scale in ("logit", "identity"), f"scale={scale!r}: logit or identity")
        known = ~np.isnan(truth)
        require(
            known.sum() >= 2,
            f"{how_many(int(known.sum()), 'generator', 'are')} labelled, at least 2 are needed",
        )
    items = votes.items
    forward = logit if scale == "logit" else np.asarray
    back = expit if scale == "logit" else lambda x: np.clip(x, 0, 1)
    rates = _inside(summary.rate, items) if scale == "logit" else summary.rate
    bias = forward(rates) - forward(_inside(truth, items) if scale == "logit" else truth)
    rows = {}
    for i, name in enumerate(votes.generators):
        others = known.copy()
        others[i] = False
        level, k = forward(rates[i]), int(others.sum())
        if k < 2 or np.ptp(bias[others]) <= 1e-12:
            rows[name] = (float(back(level - bias[others].mean())), *[np.nan] * 2)
            continue
        half = stdtrit(k - 1, (1 + ci_prob) / 2) * bias[others].std(ddof=1) * np.sqrt(1 + 1 / k)
        ends = level - bias[others].mean() + np.array([0, -half, half])
        rows[name] = tuple(float(x) for x in back(ends))
    return _described(
        votes,
        {"prevalence": Quantity.of_rows(rows, ("generator",))},
        EXCHANGEABLE,
        RANDOM_LABELS,
        method=methods.LOGIT_SHIFT if scale == "logit" else methods.OTHER_GENERATORS,
        ci_prob=ci_prob,
        source="Pooled bias of labelled generators; closed form of BiasPooling",
        interval="Student prediction",
        cautions=(*_without_votes(votes, rates), *_few_others(rows)),
    )


def _few_others(rows: dict[str, tuple[float, ...]]) -> Iterator[Caution]:
    lone = [name for name, row in rows.items() if np.isnan(row[1]) and not np.isnan(row[0])]
    if lone:
        yield Caution.of("no-interval", "few-generators", lone=lone)


def _without_votes(votes: Votes, rate: np.ndarray) -> Iterator[Caution]:
    names = [name for name, x in zip(votes.generators, rate, strict=True) if np.isnan(x)]
    if names:
        yield Caution.of("no-votes", "generators", names=names)


def difference(votes: Votes, *, ci_prob: float = 0.95, target: Target = "items") -> Estimate:
    """Correct the panel's pass rate by its error on the generator's own labelled items.

    Parameters
    ----------
    votes : Votes
        With two classes. Labels must be a random sample of each generator's items.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.
    target : {"items", "population"}
        About these very items, as survey sampling has it, or about the process that they come
        from: the same value, with an interval that holds the drawing of the items too.

    Returns
    -------
    Estimate
        ``prevalence`` by generator; ``nan``, with a caution, for one without two labelled items.

    Raises
    ------
    InputError
        If there are more than two classes, or `target` is unknown.

    Notes
    -----
    An item without any vote counts as one with the mean vote of all items that have one.

    If fewer than 5 of a generator's labelled items are misjudged (by half of the votes on them,
    or more), good, or bad, their spread says little of the errors that the others may hold. Then
    four imaginary items (good or bad, passed or failed by all) join them for the interval, as in
    `bayesjudge.prevalence.difference`.

    References
    ----------
    Särndal, Swensson & Wretman (1992), Model Assisted Survey Sampling, Section 6.3; Bonett & Price
    (2012), J. Educ. Behav. Stat. 37, 479-488.
    """
    require_binary(votes, "panel.difference")
    expect("panel.difference", target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
    require_identified(votes, "prevalence", "panel.difference")
    vote = _filled(votes)
    z, rows, cautions = z_score(ci_prob), {}, []
    rate = prevalence_by(votes, vote)
    for i, name in enumerate(votes.generators):
        mine = (votes.generator == i) & (votes.truth != MISSING)
        n, m = votes.items[i], votes.count[mine].sum()
        if m < 2:
            rows[name] = (np.nan, np.nan, np.nan)
            cautions.append(Caution.of("no-labels", "generator", name=name, m=m))
            continue
        mean, others, error = _corrections(votes.truth[mine], vote[mine], votes.count[mine])
        # what is known of the labelled items stays so
        centre = rate[i] + mean + (1 - m / n) * (others - mean)
        good = (n * np.clip(centre, 0, 1) + 2) / (n + 4)  # all good ones have a variance too
        of_items = good * (1 - good) / n if target == "population" else 0.0
        half = z * np.sqrt(error**2 * (1 - m / n) + of_items)
        ends = np.clip([rate[i] + mean, centre - half, centre + half], 0, 1)
        value, low, high = (float(x) for x in holding(*ends))
        rows[name] = (value, low, high)
    return _described(
        votes,
        {"prevalence": Quantity.of_rows(rows, ("generator",))},
        RANDOM_LABELS,
        method=methods.OWN_LABELS,
        ci_prob=ci_prob,
        source="Särndal et al. (1992), Section 6.3; prediction-powered inference",
        interval="normal",
        cautions=cautions,
        target=target,
    )


def _filled(votes: Votes) -> np.ndarray:
    """Mean vote of each pattern; where nobody voted, that of all items that have a vote."""
    vote = mean_vote(votes)
    voted = ~np.isnan(vote)
    typical = np.average(vote[voted], weights=votes.count[voted]) if voted.any() else 0.5
    return np.where(voted, vote, typical)


def _corrections(
    truth: np.ndarray, vote: np.ndarray, count: np.ndarray
) -> tuple[float, float, float]:
    """Mean of truth less vote; that to expect of other items; and its standard error."""
    error = truth - vote
    mean = np.average(error, weights=count)
    misjudged = np.abs(error) >= 0.5
    kinds = (count[misjudged].sum(), count[truth == 1].sum(), count[truth == 0].sum())
    if min(kinds) < FEW:
        error, count = np.append(error, [1, 0, 0, -1]), np.append(count, [1, 1, 1, 1])
    m, others = count.sum(), np.average(error, weights=count)
    variance = count @ (error - others) ** 2 / (m - 1)
    return float(mean), float(others), float(np.sqrt(variance / m))


def _inside(share: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Keep a share off 0 and 1, as if half an item of each kind were added."""
    return (share * items + 0.5) / (items + 1)


def closed_forms(
    votes: Votes, *, ci_prob: float = 0.95, target: Target = "population"
) -> tuple[Estimate, ...]:
    """Make every closed form with an interval that suits the votes.

    Parameters
    ----------
    votes : Votes
        Of any classes; more than two leave Dawid-Skene only.
    ci_prob : float, default 0.95
        Coverage that the intervals aim at.
    target : {"population", "items"}
        About the process that the items come from, or about these very items: then the closed
        forms that answer for the population alone are left out.

    Returns
    -------
    tuple of Estimate
        Ready for `bayesjudge.side_by_side`; among them the Laplace approximation of the model that
        `recommend` names. A closed form that needs labels which are not there is left out, and its
        reason is a caution of the first, ``not-computed``. One that a generator's own random labels
        contradict has the caution ``labels-contradict``.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, `target` is unknown, or no closed form answers for it.

    Examples
    --------
    >>> votes = Votes([[1, 1], [1, 0]], [-1, -1], [0, 0], ["gpt"], ["a", "b"])
    >>> [one.method.title for one in closed_forms(votes)][:2]
    ['Panel mean', 'Voting: valid if most of the votes given say so']
    """
    check_ci_prob(ci_prob)
    items = target == "items"
    with checking("panel.closed_forms") as require:
        require(target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        several = votes.n_classes > 2
        require(not (several and items), "of more than two classes ask for target='population'")
    if several:
        return (dawid_skene_em(votes, ci_prob=ci_prob),)
    tells = votes.labelled.any() and "prevalence" in votes.design.identifies
    named = recommend(votes).model
    alone: tuple[Callable[..., Estimate], ...] = (_human_only,) if tells else ()
    both = [partial(difference, target=target), partial(model_assisted, target=target)]
    if not isinstance(named, VoteRegression):
        both.append(partial(_laplace, model=named, target=target))
    of_population = (panel_mean, voting, *alone, rogan_gladen, logit_shift)
    forms: tuple[Callable[..., Estimate], ...] = (
        *(() if items else of_population),
        *both,
        *(() if items else (dawid_skene_em,)),
    )
    estimates, refused = [], []
    for form in forms:
        try:
            estimate = form(votes, ci_prob=ci_prob)
        except InputError as error:
            refused.append(Caution.of("not-computed", why=error))
        else:
            against = against_labels(votes, estimate.quantities["prevalence"])
            estimates.append(replace(estimate, cautions=(*estimate.cautions, *against)))
    first, *others = estimates
    return (replace(first, cautions=(*first.cautions, *refused)), *others)
