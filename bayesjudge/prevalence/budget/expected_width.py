"""Expected widths: posteriors of many data sets at once, by weighted draws.

Under every design there are coordinates in which the unknowns are independent Betas, up to a weight
that is nearly constant. So draws are made at random and weighted. For one posterior quadrature is
better; for a thousand, this is quicker.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import xlog1py, xlogy

from bayesjudge.core.errors import InputError, check_ci_prob, checking
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence._quadrature import NotIntegrated, posterior_of
from bayesjudge.prevalence.budget.allocation import check_rates
from bayesjudge.prevalence.data import FIELDS, Counts
from bayesjudge.prevalence.labelling import design_of
from bayesjudge.prevalence.model import PrevalenceModel, default_model

if TYPE_CHECKING:
    import pandas as pd

#: Designs that need no more than counts.
PLAIN = ("random", "by_truth", "separate", "by_verdict")


def weighted_draws(
    counts: Counts, spec: Any, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draws and weights (n_systems, draws) from the posterior of every system at once.

    If labels tell the prevalence, the likelihood is one of the pass rate and both predictive
    values, which makes them independent; if not, of the pass rate and the judge's rates. What the
    change of variables and the priors add is the weight.
    """
    with checking("weighted_draws") as require:
        plain = counts.external_labels is None and counts.propensity is None
        require(plain, "takes no external labels and no propensities")
    passes, items = np.asarray(counts.test_pass), np.asarray(counts.test_n)
    passed, failed = counts.labelled_pass, counts.labelled_n - counts.labelled_pass
    good, caught = counts.correct_pass, counts.incorrect_fail

    def beta(prior: BetaPrior, right: Any, total: Any) -> np.ndarray:
        shape = np.array([prior.alpha + right, prior.beta + total - right], float)[..., None]
        return rng.beta(shape[0], shape[1], (*shape.shape[1:-1], draws))

    flat = BetaPrior()
    sampled = counts.labels_tell_prevalence
    if counts.predictive or sampled:
        # the Jacobian has the factor rate * (1 - rate), which raises both parameters by one
        start = BetaPrior(2, 2) if sampled else spec.pass_rate
        rate = beta(start, passes + passed, items + passed + failed)
        ppv = beta(flat if sampled else spec.ppv, good, passed)
        npv = beta(flat if sampled else spec.npv, caught, failed)
        theta, kept = rate * ppv + (1 - rate) * (1 - npv), ppv + npv > 1
        log = np.zeros_like(theta)
        if sampled:
            with np.errstate(divide="ignore", invalid="ignore"):
                hit, refused = rate * ppv / theta, (1 - rate) * npv / (1 - theta)
            log = -np.log(theta) - np.log1p(-theta)
            log += _log_prior(spec.sensitivity, hit) + _log_prior(spec.specificity, refused)
            log += _log_prior(spec.prevalence, theta)
    else:
        rate = beta(flat, passes, items)
        hit = beta(spec.sensitivity, good, counts.correct_n)
        refused = beta(spec.specificity, caught, counts.incorrect_n)
        youden = hit + refused - 1
        theta, kept = (rate + refused - 1) / youden, youden > 0
        inside = (theta > 0) & (theta < 1)
        theta = np.clip(theta, 1e-300, 1 - 1e-16)
        log = np.where(inside, _log_prior(spec.prevalence, theta), -np.inf)
        log -= np.log(np.abs(youden))
    if spec.better_than_chance:
        log = np.where(kept, log, -np.inf)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return theta, weights / weights.sum(axis=1, keepdims=True)


def _log_prior(prior: BetaPrior, share: np.ndarray) -> np.ndarray:
    return xlogy(prior.alpha - 1, share) + xlog1py(prior.beta - 1, -share)


def weighted_quantiles(
    values: np.ndarray, weights: np.ndarray, probs: tuple[float, ...]
) -> np.ndarray:
    """Quantiles (n_probs, rows) of weighted draws (rows, draws), linear between draws."""
    order = np.argsort(values, axis=1)
    values, weights = (np.take_along_axis(a, order, axis=1) for a in (values, weights))
    below = np.cumsum(weights, axis=1) - weights / 2
    return np.array([np.interp(probs, b, v) for b, v in zip(below, values, strict=True)]).T


class Expected(NamedTuple):
    """A width that is expected of data not yet seen.

    Parameters
    ----------
    width : float
        Mean width of the interval, as a share of items.
    sd : float
        How much the width varies from data set to data set.
    mc_error : float
        Standard error of `width`, from the number of data sets that were simulated.
    """

    width: float
    sd: float
    mc_error: float


def expected_width(
    *,
    prevalence: float,
    sensitivity: float,
    specificity: float,
    items: int,
    labelled: int | tuple[int, int],
    calibration: str,
    model: PrevalenceModel | None = None,
    ci_prob: float = 0.95,
    repeats: int = 64,
    draws: int = 2000,
    random_seed: Any = None,
) -> Expected:
    """Average the posterior's width over data sets that the design may give.

    Parameters
    ----------
    prevalence, sensitivity, specificity : float
        What is assumed to be true, in [0, 1].
    items : int
        Test items without a label.
    labelled : int or tuple of int
        Labels; by truth, a pair says how many good and how many bad items, by verdict, how many
        passed and how many failed ones. One number is halved.
    calibration : {"random", "by_truth", "separate", "by_verdict"}
        How the labelled items will be chosen.
    model : ErrorRates or PredictiveValues, optional
        That will be fitted; by default what suits the label design.
    ci_prob : float, default 0.95
        Probability of the equal-tailed interval.
    repeats : int, default 64
        Data sets.
    draws : int, default 2000
        Draws of each posterior.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same result.

    Returns
    -------
    Expected
        Width, its spread, and its Monte Carlo error.

    Raises
    ------
    InputError
        If a rate is not in [0, 1], a size is too small, or `calibration` is unknown.

    Examples
    --------
    >>> found = expected_width(prevalence=0.5, sensitivity=0.9, specificity=0.7, items=1000,
    ...                        labelled=200, calibration="by_truth", random_seed=1)
    >>> abs(found.width - 0.22) < 0.01
    True
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("expected_width", **rates)
    check_ci_prob(ci_prob)
    pair = _pair(labelled)
    design_of(calibration, PLAIN)
    with checking("expected_width") as require:
        require(items >= 1, f"items must be 1 or more, got {items}")
        require(min(pair) >= 0 and sum(pair) >= 1, f"labelled must be 1 or more, got {labelled}")
        require(repeats >= 2 and draws >= 100, f"repeats={repeats} >= 2, draws={draws} >= 100")
    rng = np.random.default_rng(random_seed)
    counts = _drawn(rates, items, pair, calibration, repeats, rng)
    theta, weights = weighted_draws(counts, model or default_model(counts), draws, rng)
    tail = (1 - ci_prob) / 2
    low, high = weighted_quantiles(theta, weights, (tail, 1 - tail))
    widths = high - low
    sd = float(widths.std(ddof=1))
    return Expected(float(widths.mean()), sd, sd / float(np.sqrt(repeats)))


def label_next(counts: Counts, model: PrevalenceModel | None = None) -> pd.DataFrame:
    """Ask which kind of item is best labelled next, given what is known by now.

    Parameters
    ----------
    counts : Counts
        One system's verdicts and labels, chosen by truth or by verdict (a random sample leaves
        nothing to choose).
    model : ErrorRates or PredictiveValues, optional
        Priors; by default flat ones.

    Returns
    -------
    pandas.DataFrame
        Index ``kind`` (good and bad items, or passed and failed ones), the best first; columns
        ``right``, the probability that the judge proves right on the next such item, ``sd``, the
        posterior standard deviation of the prevalence now, and ``expected_sd``, the root of its
        expected square after one more label.

    Raises
    ------
    InputError
        If there are several systems, labels are a random sample, or the data contradict each
        other.

    Notes
    -----
    Exact: five posteriors by quadrature. The probability of the next verdict follows from the law
    of total expectation, posterior mean now = mean of the posterior means then.

    Examples
    --------
    >>> counts = Counts(1000, 380, 100, 90, 100, 70, calibration="by_truth")
    >>> label_next(counts).index[0]
    'bad'
    """
    with checking("label_next") as require:
        require(counts.systems is None, "one system at a time: use counts.system(name)")
        own = counts.design.likelihood is not None
        require(not own, f"{counts.design.name}: its likelihood is its own, so no quadrature")
        choice = not counts.identifies("prevalence")
        require(choice, "labels are a random sample: the next one is a random item too")
    kinds = {"good": ("correct_pass", "correct_n"), "bad": ("incorrect_fail", "incorrect_n")}
    if counts.predictive:
        kinds = {"passed": ("correct_pass", ""), "failed": ("incorrect_fail", "")}
    spec = model or default_model(counts)
    try:
        now = posterior_of(counts, spec)
        rows = {kind: _after(counts, spec, kind, now) for kind in kinds}
    except NotIntegrated as error:
        raise InputError("label_next", [f"the posterior cannot be integrated: {error}"]) from error
    import pandas as pd

    table = pd.DataFrame.from_dict(rows, orient="index", columns=["right", "expected_sd"])
    table.insert(1, "sd", now.sd)
    return table.rename_axis("kind").sort_values("expected_sd")


def _after(counts: Counts, spec: Any, kind: str, now: Any) -> tuple[float, float]:
    """How likely the judge is right on one more item, and what its label leaves unknown."""
    # whether right or wrong, one more item of this kind; which of the counts it adds to
    added = {
        "good": (("correct_n", "correct_pass"), ("correct_n",)),
        "bad": (("incorrect_n", "incorrect_fail"), ("incorrect_n",)),
        "passed": (("correct_n", "correct_pass"), ("incorrect_n",)),
        "failed": (("incorrect_n", "incorrect_fail"), ("correct_n",)),
    }[kind]
    taken = {"passed": ("test_n", "test_pass"), "failed": ("test_n",)}.get(kind, ())
    right, wrong = (posterior_of(_moved(counts, up=names, down=taken), spec) for names in added)
    if abs(right.mean - wrong.mean) < 1e-8:  # the label tells nothing, whatever it will be
        return float("nan"), now.sd
    share = (now.mean - wrong.mean) / (right.mean - wrong.mean)
    return share, float(np.sqrt(share * right.sd**2 + (1 - share) * wrong.sd**2))


def _moved(counts: Counts, up: tuple[str, ...], down: tuple[str, ...]) -> Counts:
    values = {name: getattr(counts, name) + (name in up) - (name in down) for name in FIELDS}
    return replace(counts, **values)


def _pair(labelled: int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(labelled, tuple):
        return labelled
    return (labelled + 1) // 2, labelled // 2


def _drawn(
    rates: dict[str, float],
    items: int,
    pair: tuple[int, int],
    calibration: str,
    repeats: int,
    rng: np.random.Generator,
) -> Counts:
    """Draw data sets that may come, one a system."""
    good, hit, caught = rates.values()
    rate = good * hit + (1 - good) * (1 - caught)
    names = [str(i) for i in range(repeats)]
    if calibration == "by_verdict":
        passes = rng.binomial(items + sum(pair), rate, repeats)
        passed = np.minimum(pair[0], passes)
        failed = np.minimum(pair[1], items + sum(pair) - passes)
        ppv = good * hit / rate if rate > 0 else 0.0
        npv = (1 - good) * caught / (1 - rate) if rate < 1 else 0.0
        right, refused = rng.binomial(passed, ppv), rng.binomial(failed, npv)
        tested = items + sum(pair) - passed - failed
        good_ones, bad_ones = right + failed - refused, passed - right + refused
        cells: list[Any] = [tested, passes - passed, good_ones, right, bad_ones, refused]
        return Counts(
            **dict(zip(FIELDS, cells, strict=True)), calibration=calibration, systems=names
        )
    correct = np.full(repeats, pair[0])
    if calibration == "random":
        correct = rng.binomial(sum(pair), good, repeats)
    incorrect = sum(pair) - correct
    cells = [np.full(repeats, items), rng.binomial(items, rate, repeats), correct]
    cells += [rng.binomial(correct, hit), incorrect, rng.binomial(incorrect, caught)]
    return Counts(**dict(zip(FIELDS, cells, strict=True)), calibration=calibration, systems=names)
