"""Closed forms of numeric scores: difference estimators with a fitted prediction of the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.errors import check_ci_prob, expect
from bayesjudge.core.estimate import Caution, Estimate, Quantity
from bayesjudge.core.intervals import holding, wilson, z_score
from bayesjudge.core.label_design import RANDOM_LABELS, STATED_PROPENSITIES
from bayesjudge.core.methods import Method
from bayesjudge.core.randomness import rng_of
from bayesjudge.prevalence._samples import (
    PPI,
    Columns,
    Intervals,
    Inverted,
    Prediction,
    Sample,
    design_mismatch,
    no_better_than_chance,
    sample_of,
    worded,
)
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.scores.cautions import RANDOM_BY_BIN, SAME_SCORES
from bayesjudge.prevalence.scores.curves import CURVES, cross_fitted
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.truth import influence, inversion
from bayesjudge.truth.influence import Errors, Labelled, Moments, Others, t_quantile

#: Fewest labels of which curves are fitted.
CURVES_FROM = 20


class _ScoresSample(Sample):
    """Scores that predict a share or a mean number, all between 0 and 1."""

    predictions = ("linear", "identity", "binned", "isotonic", "spline", "stacked")

    def __init__(self, scores: Scores) -> None:
        self.data = self.scores = scores
        self.answer, self.places, self.coords = scores.answer, [""], {}
        self.lost = 1.0 if scores.numeric else 0.0
        by_student = {"interval": "t"} if scores.numeric else {}
        drawn = None if scores.propensity is None else STATED_PROPENSITIES
        self.words = worded(
            {
                "naive": {"method": methods.JUDGE_SCORE},
                "human_only": by_student,
                "difference": {"assumption": drawn or RANDOM_LABELS, **by_student},
                "post_stratified": {
                    "method": methods.BINNED,
                    "assumption": drawn or RANDOM_BY_BIN,
                    **by_student,
                },
                "rogan_gladen": {"method": methods.MEAN_SCORE, "assumption": SAME_SCORES},
            }
        )

    @property
    def how(self) -> dict[str, Any]:
        """Rules of scores: no largest weight, since they may be compressed."""
        return {"most": np.inf, "lost": self.lost}

    def in_units(self, values: Any) -> Any:
        return self.scores.in_units(values)

    def forms(self, mismatched: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        also = self.identifies("predictive_values") or mismatched
        suited = not self.scores.numeric and (mismatched or not self.identifies("prevalence"))
        for name, _ in super().forms(mismatched):
            if name == "difference":
                yield name, {"g": "identity"}
                yield name, {}
                if self.scores.n[self.scores.known].sum() >= CURVES_FROM:
                    yield name, {"g": "stacked"}
            elif name in ("naive", "human_only") or (name == "rogan_gladen" and suited):
                yield name, {}
        if also:
            yield "post_stratified", {}

    def free(self, means: int = 1) -> float:
        """Degrees of freedom of numbers, less one for each mean; of pass and fail, endless."""
        if not self.lost:
            return np.inf
        return max(int(self.scores.n[self.scores.known].sum()) - means, 1)

    def quantile(self, ci_prob: float) -> float:
        return t_quantile(self.free(), ci_prob)

    def mean(
        self, of: Literal["said", "truths"], ci_prob: float, find: Any = wilson, items: bool = False
    ) -> Intervals:
        scores = self.scores
        values = scores.unit if of == "said" else scores.unit_truth
        among = scores.about if of == "said" else scores.known
        moments = Moments.of(values[among], values[among], scores.n[among])
        if of == "truths" and self.lost:
            error = float(np.sqrt(moments.yy / max(moments.size - 1, 1e-9)))
            return Errors(moments.y, moments.y, error, self.free()).interval(ci_prob), None
        return find(*influence.as_binomial(moments), ci_prob), None

    def patterns(self) -> tuple[Labelled, Others]:
        scores, known = self.scores, self.scores.known
        n = scores.n.astype(float)
        labelled = Labelled(scores.unit[known], scores.unit_truth[known], n[known])
        return labelled, Others(scores.unit[~known], n[~known])

    def corners(self, labelled: Labelled) -> float:
        """1 if labels do not tell the variance of the errors of prediction by themselves."""
        if self.lost:
            return float(influence.few_differ(labelled.y - labelled.f, labelled.n))
        return float(influence.few(labelled))

    def require_folds(self, folds: int) -> None:
        """Refuse more folds than labels."""
        labels = int(self.scores.n[self.scores.known].sum())
        enough = 2 <= folds <= labels
        expect("difference", enough, f"must lie between 2 and the {labels} labels", folds=folds)

    def difference(
        self,
        ci_prob: float,
        g: Prediction,
        items: bool,
        *,
        folds: int = 5,
        random_seed: Any = 1,
        **more: Any,
    ) -> Intervals:
        (labelled, others), propensity = self.patterns(), self.propensities()
        quantile, lost = self.quantile(ci_prob), self.lost
        if g not in ("linear", "identity"):
            labelled, others, propensity, _ = self.predicted(g, folds, random_seed)
            # the weights of a sum of curves cost a degree of freedom, and Student's tells it
            lost += 1
            quantile = t_quantile(max(labelled.y.size - 2, 1), ci_prob)
        corners, weight = self.corners(labelled), 1.0 if g == "identity" else None
        if propensity is not None:
            weighted = influence.propensity_weighted(
                labelled, others, propensity, weight=weight, most=np.inf, corners=corners
            )
            half = quantile * weighted.error
            return (
                weighted.value,
                weighted.centre - half,
                weighted.centre + half,
                weighted.value,
            ), None
        how = {**self.how, "lost": lost}
        interval, _ = influence.difference(
            labelled, others, quantile, weight=weight, corners=corners, **how
        )
        return (*interval, interval.value), None

    def propensities(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Of labelled and of other patterns, if they are stated."""
        stated, known = self.scores.propensity, self.scores.known
        return None if stated is None else (stated[known], stated[~known])

    def predicted(
        self, g: str, folds: int = 5, random_seed: Any = 1
    ) -> tuple[Labelled, Others, Any, Mapping[str, float]]:
        """Items with what curves predict of them, and the part that each curve has."""
        self.require_folds(folds)
        rng, propensity = rng_of(random_seed), self.propensities()
        drawn = None if propensity is None else propensity[0]
        names = tuple(CURVES) if g == "stacked" else (g,)
        labelled, others, drawn, parts = cross_fitted(*self.patterns(), drawn, folds, rng, names)
        return labelled, others, propensity and (drawn, propensity[1]), parts

    def bins(self) -> tuple[Any, Any, Any, Any]:
        cells = self.scores.tally()
        return cells["test"] + cells["labels"], cells["labels"], cells["sums"], cells["squares"]

    def post_stratify(self, ci_prob: float, items: bool, bins: Any = None) -> Intervals:
        z = t_quantile(self.free(len(self.scores.bins)), ci_prob)
        corners = 0.0 if self.lost else 4.0
        return influence.post_stratified(*self.bins(), z, corners=corners), None

    def invert(self, ci_prob: float, interval: str, method: str, items: bool) -> Inverted:
        """The mean score, placed between those of bad and of good labelled items."""
        scores, z = self.scores, z_score(ci_prob)
        problem = "truths are numbers: use difference, or at_least"
        expect("rogan_gladen", not scores.numeric, problem)
        low, high = scores.unit.min(), scores.unit.max()
        f = (scores.unit - low) / (high - low if high > low else 1.0)
        groups = [~scores.known, scores.truth == 0, scores.truth == 1]
        if not all(mask.any() for mask in groups):
            raise no_better_than_chance("test items, passes and fails are needed")
        seen = [Moments.of(f[k], f[k], scores.n[k]) for k in groups]
        p, wrong, hit = (group.f for group in seen)
        if hit <= wrong:
            fails, passes = (np.average(scores.score[k], weights=scores.n[k]) for k in groups[1:])
            raise no_better_than_chance(
                f"labelled passes have a mean score of {passes:.3g}, fails of {fails:.3g}: scores "
                "that are not higher cannot be corrected"
            )
        raw = inversion.invert(p, 1 - wrong, hit)
        rates = p, 1 - wrong, hit
        n, m0, m1 = (group.size for group in seen)
        spread, spread0, spread1 = (group.f * (1 - group.f) - group.ff for group in seen)
        between = spread, spread0, spread1
        if interval == "lang_reiczigel":
            _, *ends = inversion.lang_reiczigel(*rates, n, m0, m1, z, between=between)
        else:
            variance = inversion.delta_variance(*rates, n, m0, m1, between=between)
            ends = [raw - z * np.sqrt(variance), raw + z * np.sqrt(variance)]
        return Inverted(((raw, *ends, raw), None))

    def errors(self, ci_prob: float) -> tuple[Method, Errors]:
        """Of the closed form that suits the label design best: its differences, and the mean truth.

        The centre and the standard error are those of the interval before it is cut at the ends of
        the scale.
        """
        means, name = 1, methods.UNPAIRED_PPI
        if "prevalence" in self.design.identifies:
            row, _ = self.difference(ci_prob, "linear", False)
        elif "predictive_values" in self.design.identifies:
            row, _ = self.post_stratify(ci_prob, False)
            means, name = len(self.scores.bins), methods.UNPAIRED_BINNED
        else:
            row, _ = self.invert(ci_prob, "lang_reiczigel", "", False).intervals
            name = methods.UNPAIRED_ROGAN_GLADEN
        value, low, high = self.in_units([np.clip(row[0], 0, 1), row[1], row[2]])
        error = (high - low) / 2 / t_quantile(self.free(means), ci_prob)
        return name, Errors(value, (low + high) / 2, error, self.free(means))

    def unanswered(self, columns: Columns, method: Method) -> Iterator[Caution]:
        if np.isnan(columns[0]).any():
            yield Caution.of("empty-bin", method=method)
        elif np.isnan(columns[1]).any():
            yield Caution.of("no-interval", "bin", method=method)


@sample_of.register
def _(scores: Scores) -> Sample:
    return _ScoresSample(scores)


def judge_bias(scores: Scores, *, ci_prob: float = 0.95) -> Estimate:
    """How much more the judge gives than people, on average: its bias on the truths' scale.

    The judge's mean score of all items less the mean truth by PPI++, as `difference` has it; if
    every item is labelled, the mean of their differences with Student's interval.

    Parameters
    ----------
    scores : Scores
        Scores and labels.
    ci_prob : float, default 0.95
        Coverage that the interval aims at.

    Returns
    -------
    Estimate
        ``judge_less_people``, above 0 if the judge is too lenient; of pass and fail the mean score
        as a probability less the share of good outputs. Normal interval of pass and fail, Student's
        of numbers.

    Raises
    ------
    InputError
        If `ci_prob` is out of range, or labels were drawn with known propensities.

    Notes
    -----
    An estimate of the mean truth has this bias taken out already; single scores have not. Scores
    that also stretch or compress the scale have a bias that depends on the score, of which this is
    the mean (`plot_residuals` draws it).

    References
    ----------
    Bland & Altman (1986), Lancet 327, 307-310; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453.

    Examples
    --------
    >>> scores = Scores([4, 5, 3, 2], [3, 5, 2, 2], [1] * 4, calibration="random", scale=(1, 5),
    ...                 truth_scale=(1, 5))
    >>> [round(x, 2) for x in judge_bias(scores)["judge_less_people"]]
    [0.5, -2.21, 2.71]
    """
    check_ci_prob(ci_prob)
    stated = scores.propensity is not None
    problem = "labels with known propensities: there is no such estimate yet"
    expect("judge_bias", not stated, problem)
    sample = _ScoresSample(scores)
    labelled, others = sample.patterns()
    z, corners, how = sample.quantile(ci_prob), sample.corners(labelled), sample.how
    _, weight = influence.difference(labelled, others, z, corners=corners, **how)
    # of the judge's mean of all items less PPI++'s of truths
    how["weight"] = others.n.sum() / (others.n.sum() + labelled.n.sum()) - weight
    errors = labelled._replace(y=labelled.f - labelled.y)
    bias, _ = influence.difference(errors, others, z, corners=0.0, **how)
    if corners:
        wide, _ = influence.difference(*_joined(errors, others, corners), z, corners=0.0, **how)
        bias = wide._replace(value=bias.value)
    assumptions, cautions = diagnose(scores, (RANDOM_LABELS,))
    method = methods.JUDGE_LESS_PEOPLE
    cautions = (*design_mismatch(sample, "prevalence", method), *cautions)
    low, high = scores.truth_scale or (0.0, 1.0)
    columns = holding(*((high - low) * np.clip(bias, -1, 1)))
    return Estimate(
        {"judge_less_people": Quantity.over(columns)},
        method=method,
        ci_prob=ci_prob,
        source=f"Bland & Altman (1986); {PPI}",
        interval="t" if scores.numeric else "normal",
        assumptions=assumptions,
        cautions=cautions,
        data=scores,
    )


# Arithmetic --------------------------------------------------------------------------------------


def _joined(labelled: Labelled, others: Others, corners: float) -> tuple[Labelled, Others]:
    """Scores and differences from truths, joined by items of the four extreme kinds."""
    kinds = np.array([0.0, 0, 1, 1]), np.array([0.0, -1, 1, 0]), np.full(4, corners)
    ends = np.array([0.0, 1.0]), np.full(2, 2 * corners)
    joined = Labelled(*(np.concatenate(pair) for pair in zip(labelled, kinds, strict=True)))
    if not others.n.sum():
        return joined, others
    return joined, Others(*(np.concatenate(pair) for pair in zip(others, ends, strict=True)))
