"""Expected widths: exact posteriors of data sets that may come."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayesjudge.core.errors import InputError, check_ci_prob, checking
from bayesjudge.core.label_design import design_of
from bayesjudge.core.model import require_model
from bayesjudge.core.randomness import rng_of
from bayesjudge.prevalence.budget.allocation import check_rates
from bayesjudge.prevalence.data import FIELDS, Counts
from bayesjudge.prevalence.model import PrevalenceModel, default_model
from bayesjudge.truth.quadrature import NotIntegrated, posterior_of

if TYPE_CHECKING:
    import pandas as pd

#: Designs that need no more than counts.
PLAIN = ("random", "by_truth", "separate", "by_verdict")


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

    def at(self, chance: float = 0.9) -> float:
        """Width that a share of data sets reaches, by the normal distribution of widths.

        Parameters
        ----------
        chance : float, default 0.9
            That share, in (0, 1).

        Returns
        -------
        float
            The width, 1 at most.
        """
        return min(self.width + float(ndtri(chance)) * self.sd, 1.0)


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
    repeats: int = 16,
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
    repeats : int, default 16
        Data sets; each takes a posterior by quadrature.
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
    >>> abs(found.width - 0.23) < 0.01
    True
    """
    rates = {"prevalence": prevalence, "sensitivity": sensitivity, "specificity": specificity}
    check_rates("expected_width", **rates)
    check_ci_prob(ci_prob)
    require_model(Counts, model, "expected_width")
    pair = _pair(labelled)
    calibration = design_of(calibration, "expected_width", "none", known=PLAIN).name
    with checking("expected_width") as require:
        require(items >= 1, "must be 1 or more", items=items)
        require(min(pair) >= 0 and sum(pair) >= 1, "must be 1 or more", labelled=labelled)
        require(repeats >= 2, "must be 2 or more", repeats=repeats)
    rng = rng_of(random_seed)
    counts = _drawn(rates, items, pair, calibration, repeats, rng)
    widths = _widths(counts, model or default_model(counts), ci_prob)
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
        Priors; by default those of `build_model`.

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
        by_design = counts.design.likelihood is not None
        require(not by_design, "no-quadrature", kind=counts.design.name)
        choice = not counts.identifies("prevalence")
        require(choice, "labels are a random sample: the next one is a random item too")
    kinds = {"good": ("correct_pass", "correct_n"), "bad": ("incorrect_fail", "incorrect_n")}
    if counts.predictive:
        kinds = {"passed": ("correct_pass", ""), "failed": ("incorrect_fail", "")}
    require_model(Counts, model, "label_next")
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


def _widths(counts: Counts, model: PrevalenceModel, ci_prob: float) -> np.ndarray:
    """Width of each system's equal-tailed interval."""
    cells = np.column_stack([getattr(counts, name) for name in FIELDS]).tolist()
    return np.array([_width(tuple(row), counts.calibration, model, ci_prob) for row in cells])


@functools.lru_cache(maxsize=10_000)
def _width(
    cells: tuple[int, ...], calibration: str, model: PrevalenceModel, ci_prob: float
) -> float:
    """Width of one interval; plans come upon the same data sets again and again."""
    given: dict[str, Any] = dict(zip(FIELDS, cells, strict=True))
    counts = Counts(**given, calibration=calibration)
    try:
        low, high = posterior_of(counts, model, checked=False).interval(ci_prob)
    except NotIntegrated as error:
        problem = f"the posterior of {counts} cannot be integrated: {error}"
        raise InputError("expected_width", [problem]) from error
    return high - low


def _drawn(
    rates: dict[str, float],
    items: int,
    pair: tuple[int, int],
    calibration: str,
    repeats: int,
    rng: np.random.Generator,
) -> Counts:
    """Draw data sets that may come, one per system."""
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
