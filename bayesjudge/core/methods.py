"""`Method`: what computed a number; and the table of this package's methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Of a formula; by integration; by mode and curvature; by draws.
Computed = Literal["formula", "exact", "laplace", "sampled"]


@dataclass(frozen=True)
class Method:
    """What computed a number: code asks its fields, people read its title.

    Parameters
    ----------
    id : str
        Short and stable, for example ``"rogan-gladen"``. What stands behind a colon is a setting of
        the same method: ``"voting:majority"``.
    title : str
        As tables and sentences name it.
    brief : str, optional
        As a narrow table names it; the title if it is left out.
    rank : float, default 75
        Of methods that answer one question, the lowest is quoted, unless the data speak against it:
        in the order of their scores in the studies of ``benchmarks``. A method that the package
        does not know comes after all but the judge's own number, 100.
    computed : {"formula", "exact", "laplace", "sampled"}
        Whether it is a formula, or a posterior that was integrated, approximated or sampled.

    Examples
    --------
    >>> print(Method("wilson", "Wilson's interval"))
    Wilson's interval
    """

    id: str
    title: str
    brief: str = ""
    rank: float = 75
    computed: Computed = "formula"

    def __post_init__(self) -> None:
        if not self.brief:
            object.__setattr__(self, "brief", self.title)

    def __str__(self) -> str:
        return self.title

    @property
    def setting(self) -> str:
        """What stands behind the colon of the id."""
        return self.id.partition(":")[2]

    def variant(self, setting: str, title: str, *, also_brief: bool = False) -> Method:
        """Name the same method in another setting.

        Parameters
        ----------
        setting : str
            What the id gains, behind a colon.
        title : str
            What the title gains.
        also_brief : bool, default False
            Whether `brief` gains it too.

        Returns
        -------
        Method
            Of the same rank.
        """
        brief = f"{self.brief}, {title}" if also_brief else self.brief
        return Method(
            f"{self.id}:{setting}", f"{self.title}, {title}", brief, self.rank, self.computed
        )


def as_method(method: Method | str, computed: Computed = "formula") -> Method:
    """A method; of a name that somebody made up, one that is told by that name alone."""
    return method if isinstance(method, Method) else Method(method, method, computed=computed)


#: How a posterior is computed, as titles have it.
HOW = {"sampled": "NUTS", "exact": "exact", "laplace": "Laplace"}


def _bayesian(
    id: str, of: str = "", rank: float = 75, computed: Computed = "sampled", how: str = ""
) -> Method:
    """A posterior: how it was computed is its brief name, and what it is `of` its title's end."""
    brief = f"Bayesian ({how or HOW[computed]})"
    return Method(id, f"{brief}, {of}" if of else brief, brief, rank, computed)


# One judge: posteriors first, then the formulas. In settings drawn at random the posterior's
# interval score is 1.01 to 1.09 times that of the best method of each setting, whichever the design
# (benchmarks/prevalence/advice.py); closed forms by item are those whose coverage was studied where
# rows repeat an item (benchmarks/prevalence/items.py); formulas of scores, by their interval scores
# and coverage in benchmarks/prevalence/scores.py, where curves are weighed by risk on other labels.

FULLY_POOLED = _bayesian("nuts-fully-pooled", "rates fully pooled", 5)
PARTIALLY_POOLED = _bayesian("nuts-partially-pooled", "rates partially pooled", 5)
EXACT_POOLED = _bayesian("exact-partially-pooled", "rates partially pooled", 4, "exact")
EXACT = _bayesian("exact", rank=10, computed="exact")
EXACT_CLASSES = _bayesian("exact-classes", "classes", 10, "exact")
EXACT_PEOPLE = _bayesian("exact-people", "people err", 10, "exact")
NUTS = _bayesian("nuts", rank=20)
NUTS_PEOPLE = _bayesian("nuts-people", "people err", 20)
NUTS_CLASSES = _bayesian("nuts-classes", "classes", 20)
WITHIN_CLASSES = Method("within-classes", "Regression within classes of a column", rank=30)
PROPENSITY = Method("propensity-difference", "Propensity-weighted difference", rank=30)
STACKED = Method("difference-stacked", "Difference (curves)", rank=39)
PPI_TUNED = Method("difference-tuned", "Difference (PPI++)", rank=40)
TWO_PHASE = Method("two-phase", "Two-phase (PPI++)", rank=40)
BINNED = Method("binned-scores", "Binned scores", rank=44)
POST_STRATIFIED = Method("post-stratified", "Post-stratified", rank=46)
PPI = Method("difference", "Difference (PPI)", rank=50)
ROGAN_GLADEN = Method("rogan-gladen", "Rogan-Gladen", rank=52)
MEAN_SCORE = Method("rogan-gladen-mean", "Rogan-Gladen (mean score)", rank=53)
INVERSE = Method(
    "confusion-inverse", "Classes, confusion-matrix inverse", "confusion-matrix inverse", 54
)
LEAST_SQUARES = Method(
    "confusion-least-squares",
    "Classes, constrained least squares",
    "constrained least squares",
    54,
)
EXACT_EFFECTIVE = _bayesian("exact-effective-counts", "effective counts", 56, "exact")
ITEM_EFFECTS = _bayesian("nuts-item-effects", "item effects", 57)
NUTS_SCORES = _bayesian("nuts-scores", "scores", 58)
PEOPLE_AGREE = Method("agreed-labels", "Labels that two people gave alike", "Agreed labels", 57)
PEOPLE_SYMMETRIC = Method(
    "symmetric-errors", "Equal errors, from disagreement alone", "Equal errors", 59
)
HUMAN_ONLY = Method("human-only", "Human labels only", rank=60)
CONDITIONAL = Method("conditional-calibration", "Conditional calibration", rank=71)
BOOTSTRAP = Method("rogan-gladen:bootstrap", "Rogan-Gladen (bootstrap)", rank=72)
LINEAR_RATES = _bayesian("nuts-linear-rates", "rates linear in covariates")
PASSPORT = _bayesian("exact-passport", "robust passport", 9, "exact")
JUDGE = Method("judge", "Judge's pass rate", rank=100)
JUDGE_SHARES = Method("judge-shares", "Judge's shares", rank=100)
JUDGE_SCORE = Method("judge-score", "Judge's mean score", rank=100)

PEOPLE_SAY = Method("people-say", "Mean label of people")
JUDGE_LESS_PEOPLE = Method("judge-less-people", "Judge less people")
BY_CRITERION = Method("by-criterion", "Criterion by criterion")
QUALITY = Method("judge-quality", "Judge against people", computed="exact")
TRUST = Method("judge-trust", "Trusted beyond a threshold", computed="exact")
SELECTION = Method("judge-selection", "Judges side by side, shrunk", computed="exact")
AGREEMENT_WITHIN = Method("agreement-within-items", "Agreement within items")
PAIRED = Method("paired-difference", "Paired difference (PPI++)")
PAIRED_SIMULTANEOUS = Method(
    "paired-difference:simultaneous",
    "Paired difference (PPI++), simultaneous",
    "Paired difference (PPI++)",
)
UNPAIRED_PPI = Method("unpaired-difference:tuned", "Unpaired difference (PPI++)")
UNPAIRED_BINNED = Method("unpaired-difference:binned", "Unpaired difference (binned scores)")
UNPAIRED_ROGAN_GLADEN = Method(
    "unpaired-difference:rogan-gladen", "Unpaired difference (Rogan-Gladen)"
)
PAIRED_CHANGE = Method("paired-change", "Paired change")
CONFIDENCE_SEQUENCE = Method("confidence-sequence", "Confidence sequence")

# Panels: quoted is the model that suits the labels, approximated unless it was sampled.

PANEL_MEAN = Method("panel-mean", "Panel mean", rank=100)
EM_MODE = Method("dawid-skene-em:mode", "Dawid-Skene, posterior mode")
EM_LIKELIHOOD = Method("dawid-skene-em:likelihood", "Dawid-Skene, maximum likelihood")
JUDGE_BY_JUDGE = Method("rogan-gladen-by-judge", "Rogan-Gladen by judge, averaged")
PASS_RATES = Method("pass-rate-regression", "Regression on pass rates")
LOGIT_SHIFT = Method("logit-shift", "Logit shift")
OTHER_GENERATORS = Method("difference-others", "Difference estimator, other generators")
OWN_LABELS = Method("difference-own", "Difference estimator, own labels", rank=50)

# Bias: exact posteriors and normal models; see bayesjudge.bias.answer for shifts with outliers.

SPREAD_PRIOR = Method("dirichlet:spread", "Dirichlet, prior spread", "Dirichlet", 10, "exact")
VARIANCE_PARTS = Method("variance-parts", "Variance parts", rank=20)
NORMAL_SHIFTS = _bayesian("nuts-normal-shifts", "normal hierarchy", 30)
RMS_SHIFT = Method("rms-shift", "RMS shift", rank=40)
RMS_SHIFT_NORMAL = Method("rms-shift:normal", "RMS shift", rank=40)
WORST_CASE = Method(
    "dirichlet:worst", "Dirichlet, prior worst", "Dirichlet, worst case", 50, "exact"
)
ADHERENCE = Method("schematic-adherence", "Schematic adherence")
ORDERS = Method(
    "shares-of-pairs", "Shares of pairs, Dirichlet posterior", "Dirichlet posterior", 10, "exact"
)
SHIFT_BY_POSITION = Method(
    "shift-by-position", "Shift by position, least squares within answers", "Shift by position"
)

# Repeats

ANOVA = Method("anova", "Random-effects ANOVA")
ALIKE = Method("all-answers-alike", "All answers alike")
DIRICHLET = Method(
    "dirichlet", "Dirichlet posterior (exact)", "Dirichlet posterior", computed="exact"
)
CONSISTENCY = Method("consistency", "Consistency")
MODERATED = Method("moderated-variances", "Moderated variances")
SELF_CONTRADICTION = Method("self-contradiction", "Self-contradiction")
CALLS = Method("calls-by-components", "Calls by components of variance")

ORDINAL = Method(
    "nuts-ordinal", "Ordinal random effects (NUTS)", "Ordinal random effects", computed="sampled"
)
ORDINAL_BY_LEVEL = Method(
    "nuts-ordinal:by-level",
    "Ordinal random effects, noise by level (NUTS)",
    "Ordinal random effects, noise by level",
    computed="sampled",
)
CUTPOINTS = Method(
    "nuts-cutpoints",
    "Ordinal random effects, judges' own cutpoints (NUTS)",
    "Ordinal random effects, judges' own cutpoints",
    computed="sampled",
)
CUTPOINTS_BY_LEVEL = Method(
    "nuts-cutpoints:by-level",
    "Ordinal random effects, judges' own cutpoints, noise by level (NUTS)",
    "Ordinal random effects, judges' own cutpoints, noise by level",
    computed="sampled",
)

# Attempts

EXACT_ATTEMPTS = Method(
    "exact-attempts", "Bayesian (importance sampling)", "Bayesian", 10, computed="exact"
)
NUTS_ATTEMPTS = _bayesian("nuts-attempts", rank=12)
TRUE_TRIES = Method("tries-from-truths", "Unbiased, from truths", rank=55)
CORRECTED_TRIES = Method("tries-corrected", "Unbiased, through the judge", rank=50)
JUDGE_TRIES = Method("tries-judged", "Judge's verdicts", rank=100)
PAIRED_TRIES = Method("paired-tries", "Paired differences by task")
COST_BY_TASK = Method("cost-by-task", "Ratio by task")

# Ratings

ENDORSEMENT = Method("mean-endorsement", "Mean endorsement")
AS_COUNTED = Method("as-counted", "As counted")
ANSWER_RATES = Method("answer-rates", "Answer by answer")
ALT_TEST = Method("alt-test", "Alternative annotator test")
ALT_POSTERIOR = Method("alt-test-posterior", "Alternative annotator posterior", computed="exact")
RESPONSE_SETS = _bayesian("nuts-response-sets", "response sets")

# Leaderboards: the calibrated model first, then what people say alone, then the judge's own; see
# benchmarks/leaderboard/people_held.py.

CALIBRATED_BATTLES = _bayesian("nuts-battles", "people given judge", 5)
LAPLACE_BATTLES = _bayesian(
    "laplace-battles", "people given judge", 10, "laplace", how="corrected Laplace"
)
PLAIN_LAPLACE_BATTLES = _bayesian("laplace-battles:plain", "people given judge", 12, "laplace")
POWER_TUNED_BATTLES = Method(
    "battles-power-tuned", "Davidson, prediction-powered", "prediction-powered", 40
)
PEOPLE_BATTLES = Method("battles-people", "Davidson, people only", "labels only", 50)
JUDGE_BATTLES = Method("battles-judge", "Davidson, judge", "judge's battles", 100)

#: Before a model is sampled.
PREVIEW = Method("preview", "mode and curvature, an approximation", computed="laplace")
