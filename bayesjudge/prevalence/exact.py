"""Posterior means and intervals by quadrature, or of these items by enumeration."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import InputError, check_ci_prob, checking, expect, problem
from bayesjudge.core.estimate import (
    INTERVALS,
    TARGETS,
    Caution,
    Estimate,
    Interval,
    Quantity,
    Target,
)
from bayesjudge.core.model import require_model
from bayesjudge.core.prior_check import conflicts
from bayesjudge.prevalence._boundary import depths_of, extended
from bayesjudge.prevalence._bounds import bounded, of_strata
from bayesjudge.prevalence._pooled import pooled_estimate
from bayesjudge.prevalence._unlabelled import NotEnumerated, good_items
from bayesjudge.prevalence.cautions import OVERALL, contradictions
from bayesjudge.prevalence.data import Counts
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.label_errors import with_people_err
from bayesjudge.prevalence.model import (
    SOURCE,
    ErrorRates,
    PooledErrorRates,
    PredictiveValues,
    PrevalenceModel,
    suited,
)
from bayesjudge.truth.quadrature import NotIntegrated, Posterior, posterior_of

#: Steps of the grid on which the strata's posteriors add up.
STEPS = 2**14


def exact(
    data: Any,
    model: Any = None,
    *,
    ci_prob: float = 0.95,
    interval: Interval = "eti_bounded",
    target: Target = "population",
) -> Estimate:
    """Posterior mean and interval by quadrature, in milliseconds and without sampling.

    Parameters
    ----------
    data : Counts, Items or ClassCounts
        Verdicts and labels.
    model : ErrorRates, PredictiveValues or PooledErrorRates, optional
        Priors, by default Jeffreys' of the share and flat of the rates (Jeffreys' of all for labels
        by verdict); each system or stratum has its own unknowns, unless they are pooled. Of classes
        `Confusions` or `PredictiveShares`.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti_bounded", "eti", "hdi"}
        Equal-tailed with an end moved to 0 or 1 where the data do not exclude it; equal-tailed; or
        the shortest. A plain equal-tailed interval never holds 0 or 1 themselves, so that it never
        covers a prevalence of exactly 0 or 1; the moved end repairs that. Of classes no end moves,
        and labels of several people have the shortest interval unless ``"eti"`` is asked for.
    target : {"population", "items"}
        About the process that the items come from, or about these very items. Of those the
        labelled ones are known, and the number of good ones among the others is enumerated: its
        intervals are whole numbers of items, with `ci_prob` or more, and hold 0 and 1 as they are.
        Of counts alone.

    Returns
    -------
    Estimate
        ``prevalence`` as `fit` estimates it if systems are separate, without Monte Carlo error;
        of strata, with their ``overall_prevalence``. ``nan`` with a caution if a system has no
        labels (``no-labels``), two rules for the same integral disagree (``no-quadrature``), there
        are more items than can be enumerated, some 8000 (``no-enumeration``), or priors that each
        stratum has of its own may move their sum (``stratum-priors``: unless labels tell the
        prevalence or predictive values, and each of S strata has 100 S; `fit` has an answer, since
        its strata share theirs). A caution ``contradiction`` says with which probability labels
        and verdicts as unlike as these would occur under the declared design and priors, if that
        is below one in a million; the numbers then describe a model that the data do not. Of labels
        by verdict that are all on passes, or all on fails, bounds: limits without a value
        (``empty-class``), whatever the others are worth, unless these are few or their predictive
        value has a prior that says more than a flat one (Manski 2003).

        Of rows that share items counts are divided by the design effect of the closed form that
        suits the labels (Rao & Scott 1992), and by what few labelled items cost (t for normal
        quantiles; Korn & Graubard 1998): the caution ``design-effect`` has the figure. Of classes
        what `fit` estimates, by independent draws (`PredictiveShares`) or a Gibbs sampler that
        draws the classes of the unlabelled items, run until chains from dispersed starting points
        agree (means are then off by about .02 standard deviations). With very many more unlabelled
        than labelled items they may not: the numbers are ``nan``, with the caution ``not-mixed``.

    Raises
    ------
    InputError
        If `ci_prob`, `interval` or `target` is unknown, the model does not suit the data, labels
        have known propensities (the shares of their classes are unknown too), or the design a
        likelihood of its own: both take `fit`.

    Notes
    -----
    ``"eti_bounded"`` moves an end where the likelihood there, the judge's rates integrated out, is
    more than exp(-z**2 / 2) of its maximum, with z the normal quantile of `ci_prob`: the values
    that a likelihood ratio test would not reject. With labels by verdict, one good item among them
    excludes 0 and one bad item 1.

    It is the default because of what ``python benchmarks/prevalence/intervals.py``
    counts (n = 1000, m = 200 and 500, rates .7 and .9): inside, for prevalences of .05 to .95, it
    covers .950 or more, as the plain equal-tailed interval does; at 0 and 1 it covers .969 to .972,
    where the plain one covers nothing; and it costs 0.4 to 1.6 % of mean width. The shortest
    interval falls to .927 inside.

    Examples
    --------
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> value, low, high = exact(counts)["prevalence"]
    >>> f"{value:.3f} ({low:.3f}, {high:.3f})"
    '0.535 (0.422, 0.640)'

    If half of the items are labelled, the others are all that is in doubt.

    >>> counts = Counts(200, 152, 140, 126, 60, 42, calibration="random")
    >>> for target in ("population", "items"):
    ...     value, low, high = exact(counts, target=target)["prevalence"]
    ...     print(f"{target}: {value:.3f} ({low:.3f}, {high:.3f})")
    population: 0.712 (0.654, 0.767)
    items: 0.713 (0.675, 0.748)
    """
    check_ci_prob(ci_prob)
    counted = isinstance(data, Counts)
    with checking("exact") as require:
        require(interval in INTERVALS, f"must be one of {list(INTERVALS)}", interval=interval)
        require(target in TARGETS, f"must be one of {list(TARGETS)}", target=target)
        require(counted or target == "population", "of these items there are counts only: Counts")
    estimate = posterior_estimate(data, model, ci_prob, interval, target)
    return with_people_err(estimate) if data.takes_labels_as_right else estimate


@functools.singledispatch
def posterior_estimate(
    data: Any, model: Any, ci_prob: float, interval: Interval, target: Target
) -> Estimate:
    """Make what `exact` returns; a kind of data registers its own."""
    raise InputError("exact", [problem("no-posterior", kind=type(data).__name__)])


@posterior_estimate.register(Counts)
def _of_counts(
    counts: Counts,
    model: PrevalenceModel | None,
    ci_prob: float,
    interval: Interval,
    target: Target,
) -> Estimate:
    kind = "known propensities" if counts.design.likelihood is None else counts.design.name
    expect("exact", counts.has_quadrature, "no-quadrature", kind=kind)
    require_model(Counts, model, "exact")
    model = model or (PredictiveValues() if counts.predictive else ErrorRates())
    if isinstance(model, PooledErrorRates) and target == "population":
        return pooled_estimate(counts, suited(counts, model, "exact"), ci_prob, interval)
    with checking("exact") as require:
        model._require_priors(require, system=counts.systems or ())
        if not counts.predictive:
            known = isinstance(model, ErrorRates) and not model._pools
            require(
                known, "these rates that systems share have no quadrature; use ErrorRates(), or fit"
            )
        else:
            require(isinstance(model, PredictiveValues), "labels by verdict: PredictiveValues()")
    find = _of_items if target == "items" else _of_population
    rows, whole, refused = find(counts, model, ci_prob, interval)
    rows = [
        bounded(row, *_of_system(counts, model, name), ci_prob, target)
        for name, row in zip(counts.systems or ("",), rows, strict=True)
    ]
    if whole is not None and np.isnan(whole).all():
        parts = [_of_system(counts, model, name) for name in counts.systems or ()]
        bounds = of_strata(rows, parts, counts.shares)
        if bounds is not None:  # priors of single strata are nothing beside what is open
            whole = bounds
            refused = [caution for caution in refused if caution.id != "stratum-priors"]
    assumptions, cautions = diagnose(counts, target=target)
    better = getattr(model, "better_than_chance", False)
    raised = [*refused, *contradictions(counts, better), *cautions, *conflicts(model, counts)]
    raised += model._rests_on_priors(counts)
    coords = None if counts.systems is None else {counts.dim: counts.systems}
    quantities: dict[str, Any] = {"prevalence": Quantity.over(tuple(np.transpose(rows)), coords)}
    if whole is not None:
        quantities = {OVERALL: whole, **quantities}
    extends = interval == "eti_bounded" and target == "population"
    return Estimate(
        quantities,
        method=methods.EXACT,
        ci_prob=ci_prob,
        source=f"{SOURCE}; {'enumeration' if target == 'items' else 'quadrature'}",
        interval=INTERVALS["eti" if interval == "eti_bounded" and not extends else interval],
        assumptions=assumptions,
        cautions=tuple(dict.fromkeys(raised)),
        data=counts,
        target=target,
    )


Row = tuple[float, float, float]
Depths = tuple[float, float]
Parts = tuple[list[Row], Row | None, list[Caution]]
NO_ROW: Row = (np.nan, np.nan, np.nan)


def _of_population(counts: Counts, model: PrevalenceModel, ci_prob: float, interval: str) -> Parts:
    """Rows of the process, the strata's overall one if there are strata, and what was refused."""
    posteriors, refused = _each(counts, model, posterior_of)
    rows, depths = _rows(counts, model, posteriors, ci_prob, interval)
    if not counts.adds_up:
        return rows, None, refused
    refusal = _few_labels(counts)
    if refusal is not None:
        return rows, NO_ROW, [refusal, *refused]
    whole = _overall(counts, posteriors, ci_prob, interval)
    if interval == "eti_bounded" and None not in posteriors:
        depth = tuple(np.sum(depths, axis=0))
        whole = (whole[0], *extended(whole[1:], depth, ci_prob))
    return rows, whole, refused


def _of_items(counts: Counts, model: PrevalenceModel, ci_prob: float, interval: str) -> Parts:
    """The same of these very items: good ones among the labelled are known."""
    every, refused = _each(counts, model, good_items)
    known, items = np.zeros_like(counts.test_n), np.asarray(counts.test_n)
    if counts.design.same_items:
        known, items = known + counts.correct_n, items + counts.labelled_n
    known, items = np.atleast_1d(known), np.atleast_1d(items)
    rows = [
        NO_ROW if chances is None or not of else _shares(chances, good, of, ci_prob, interval)
        for chances, good, of in zip(every, known, items, strict=True)
    ]
    if not counts.adds_up:
        return rows, None, refused
    refusal = _few_labels(counts) if np.any(counts.test_n) else None
    if refusal is not None:
        return rows, NO_ROW, [refusal, *refused]
    both = [chances for chances in every if chances is not None]
    if len(both) < len(every):
        return rows, NO_ROW, refused
    added = functools.reduce(np.convolve, both)
    return rows, _shares(added, known.sum(), items.sum(), ci_prob, interval), refused


def _shares(probability: np.ndarray, known: int, items: int, ci_prob: float, interval: str) -> Row:
    """Mean and interval of a share of items, from the probability of each number of good ones."""
    number = np.arange(probability.size)
    below = np.concatenate([[0.0], np.cumsum(probability)])
    if interval == "hdi":
        last = np.searchsorted(below[1:], below[:-1] + ci_prob * (1 - 1e-12))
        held = below[np.minimum(last, number.size - 1) + 1] - below[:-1]
        # of several that are as short, the one that holds most
        low = int(np.argmin(np.where(last < number.size, last - number - held, np.inf)))
        high = int(last[low])
    else:
        tail = (1 - ci_prob) / 2
        low, high = map(int, np.searchsorted(below[1:], [tail, 1 - tail]))
        high = min(high, number.size - 1)
    mean = float((probability * number).sum())
    return (
        float((known + mean) / items),
        float((known + low) / items),
        float((known + high) / items),
    )


def _rows(
    counts: Counts,
    model: PrevalenceModel,
    posteriors: list[Posterior | None],
    ci_prob: float,
    interval: str,
) -> tuple[list[Row], list[Depths]]:
    """Mean, low and high of each; and how far the likelihood falls at the ends."""
    rows, depths = [], []
    for name, posterior in zip(counts.systems or ("",), posteriors, strict=True):
        row, depth = row_of(posterior, *_of_system(counts, model, name), ci_prob, interval)
        rows.append(row)
        depths += [] if depth is None else [depth]
    return rows, depths


def row_of(
    posterior: Posterior | None, counts: Counts, priors: Any, ci_prob: float, interval: str
) -> tuple[Row, Depths | None]:
    """Mean, low and high of one posterior; how far the likelihood falls at ends that may move."""
    if posterior is None:
        return NO_ROW, None
    low, high = posterior.interval(ci_prob, "hdi" if interval == "hdi" else "eti")
    if interval != "eti_bounded":
        return (posterior.mean, low, high), None
    depths = depths_of(counts, priors, posterior)
    return (posterior.mean, *extended((low, high), depths, ci_prob)), depths


def _of_system(counts: Counts, model: PrevalenceModel, name: str) -> tuple[Counts, PrevalenceModel]:
    return (counts.system(name), model.of_system(name)) if name else (counts, model)


def _each(
    counts: Counts, model: PrevalenceModel, find: Callable[..., Any]
) -> tuple[list[Any], list[Caution]]:
    """One a system; None if there is none, with the reason unless a caution gives it anyway."""
    every: list[Any] = []
    refused = []
    for name, place in zip(counts.systems or ("",), counts.places, strict=True):
        every.append(None)
        if (name in counts.unlabelled_systems or counts.unlabelled) and not model._states(
            name or None
        ):
            continue
        try:
            every[-1] = find(*_of_system(counts, model, name))
        except NotIntegrated as error:
            refused.append(Caution.of("no-quadrature", "counts", place=place, error=error))
        except NotEnumerated as error:
            refused.append(Caution.of("no-enumeration", place=place, error=error))
    return every, refused


def _overall(
    counts: Counts, posteriors: list[Posterior | None], ci_prob: float, interval: str
) -> tuple[float, float, float]:
    """Mean and interval of the weighed sum: the strata's posteriors are independent."""
    whole, mean = np.ones(1), 0.0
    for share, posterior in zip(counts.shares, posteriors, strict=True):
        if posterior is None:
            return np.nan, np.nan, np.nan
        steps = int(np.ceil(share * STEPS)) + 1
        # half a step off, so that a step's mass stands at its middle
        below = posterior.cdf((np.arange(steps + 1) - 0.5) / (share * STEPS))
        size = whole.size + steps - 1
        whole = np.fft.irfft(np.fft.rfft(whole, size) * np.fft.rfft(np.diff(below), size), size)
        mean += float(share) * posterior.mean
    cumulated = np.concatenate([[0.0], np.cumsum(np.maximum(whole, 0))])
    cumulated /= cumulated[-1]
    edges = np.clip((np.arange(cumulated.size) - 0.5) / STEPS, 0, 1)
    spare = 1 - ci_prob
    tails = np.linspace(0, spare, 513) if interval == "hdi" else np.array([spare / 2])
    low, high = (np.interp(tails + more, cumulated, edges) for more in (0, ci_prob))
    best = int(np.argmin(high - low))
    return mean, float(low[best]), float(high[best])


#: Labels that each stratum needs for an overall value, times the number of strata.
LABELS_EACH = 100


def _few_labels(counts: Counts) -> Caution | None:
    """Say so if the priors of single strata may move the overall value: by the labels' numbers.

    A prior moves the posterior mean of a stratum with m labels by up to 1 / m, in all S strata to
    the same side, while the standard deviation of the whole is about 1 / sqrt(S m): what priors add
    up to is about half of it if m is 100 S and the prevalence .03 (55 of 57 tables covered; with
    25 S 51 of 57: ``benchmarks/prevalence/strata.py --rule``). Rates that are inverted move it
    by more. A rule that looked at what the posteriors say would select among tables, and those that
    it answers would be covered too rarely.
    """
    strata = len(counts.systems or ())
    if strata < 2:
        return None
    wanted, subject = LABELS_EACH * strata, "each of the strata has priors of its own"
    if not (counts.identifies("prevalence") or counts.identifies("predictive_values")):
        why = "and labels that tell only the judge's errors let them move the overall value"
    else:
        labels = counts.labelled_n
        if counts.predictive:
            labels = 2 * np.minimum(counts.labelled_pass, labels - counts.labelled_pass)
        if labels.min() >= wanted:
            return None
        half = ", half of them of either verdict" if counts.predictive else ""
        why = (
            "which are worth as much as labels: with "
            f"{strata} strata it takes {wanted} labels in each{half}"
        )
    return Caution.of("stratum-priors", subject=subject, why=why)
