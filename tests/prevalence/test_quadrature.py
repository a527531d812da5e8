"""The exact posterior against other integrals of the same thing, published figures and limits."""

import csv
import json

import numpy as np
import pytest
from conftest import shared, study_but
from numpy.testing import assert_allclose
from oracles import (
    NotResolved,
    flat_model,
    joint_prevalence_cdf,
    prevalence_cdf,
    prevalence_moments,
)
from scipy import stats

import bayesjudge as bj
from bayesjudge.truth import quadrature
from bayesjudge.truth.quadrature import Care, NotIntegrated, Rule, posterior_of
from benchmarks.prevalence.exact import drawn, grid_row, grid_tables, mirrored

P = bj.prevalence
FREE = P.ErrorRates(bj.BetaPrior(), better_than_chance=False)
ABOVE_CHANCE = P.ErrorRates(bj.BetaPrior())
UNRESTRICTED = {"better_than_chance": False}
JEFFREYS = {"prior": bj.BetaPrior.jeffreys()}
PROBS = np.array([0.025, 0.5, 0.975])


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts",
    [
        (1000, 400, 100, 90, 100, 70),
        (1000, 930, 170, 160, 30, 8),
        (50, 30, 20, 19, 20, 18),
        (1000, 0, 30, 30, 30, 30),
        (1000, 1000, 30, 28, 30, 20),
        (40, 20, 5, 5, 5, 5),
        (100_000, 62_000, 100, 90, 100, 70),
    ],
)
def test_labels_by_truth_against_incomplete_beta_functions(counts):
    n, k, m1, a1, m0, a0 = counts
    counts = P.Counts(n, k, m1, a1, m0, a0, calibration="by_truth")
    quantiles = posterior_of(counts, ABOVE_CHANCE).quantile(PROBS)
    found = prevalence_cdf(counts, quantiles, panels=60 if n < 10_000 else 120)
    assert_allclose(found, PROBS, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts",
    [
        (30, 20, 12, 11, 8, 5),
        (30, 0, 12, 11, 8, 8),
        (80, 0, 20, 19, 20, 20),
        (20, 20, 15, 15, 0, 0),
        (10, 7, 3, 0, 17, 2),
        (60, 40, 1, 1, 19, 12),
    ],
)
def test_random_labels_against_exact_polynomials(counts):
    counts = P.Counts(*counts, calibration="random")
    quantiles = posterior_of(counts, FREE).quantile(PROBS)
    assert_allclose(joint_prevalence_cdf(counts, quantiles), PROBS, rtol=0, atol=1e-6)


@pytest.mark.parametrize("counts", [(900, 650, 62, 46, 38, 34), (50, 40, 20, 19, 10, 10)])
def test_labels_by_verdict_against_moments_of_independent_betas(counts):
    counts = P.Counts(*counts, calibration="by_verdict")
    passed = counts.labelled_pass
    failed = counts.labelled_n - passed
    k, n = counts.test_pass + passed, counts.test_n + counts.labelled_n
    p = stats.beta(1 + k, 1 + n - k)
    a = stats.beta(1 + counts.correct_pass, 1 + passed - counts.correct_pass)
    b = stats.beta(1 + failed - counts.incorrect_fail, 1 + counts.incorrect_fail)
    # E theta and E theta^2 of theta = p a + (1 - p) b
    p1, p2, a1, a2, b1, b2 = (d.moment(i) for d in (p, a, b) for i in (1, 2))
    first = p1 * a1 + (1 - p1) * b1
    second = p2 * a2 + 2 * (p1 - p2) * a1 * b1 + (1 - 2 * p1 + p2) * b2
    found = posterior_of(counts, flat_model(counts, better_than_chance=False))
    assert_allclose([found.mean, found.sd**2], [first, second - first**2], rtol=1e-6)


def make_finer(patch):
    """More nodes, wider windows, and a density followed more closely than anybody needs."""
    patch.setattr(quadrature, "CARES", (quadrature.CARES[1]._replace(smooth=1e-8),))
    patch.setattr(quadrature, "FIRST_RULE", Rule(drop=32.0, step=0.15))
    patch.setattr(quadrature, "DROP", 30.0)


@pytest.mark.slow
def test_reference_values(monkeypatch):
    cases = json.loads(shared("reference/prevalence.json").read_text())[
        "bayes_posterior_quadrature"
    ]
    assert len(cases) == 4
    for case in cases:
        i, expected = case["inputs"], case["posterior"]
        counts = P.Counts(
            *(i[name] for name in ("n", "k", "m1", "s1", "m0", "s0")), calibration="by_truth"
        )
        found = posterior_of(counts, ABOVE_CHANCE)
        with monkeypatch.context() as patch:
            make_finer(patch)
            fine = posterior_of(counts, ABOVE_CHANCE)
        stated = np.array([expected["q025"], expected["q50"], expected["q975"]])
        # The reference's third case is itself off by 1.3e-5 in probability: its grid ends on the
        # line q0 + q1 = 1, where that posterior still has mass. The incomplete beta functions,
        # a third way, say how far off each stated quantile is, and we must be off by as much.
        truly = prevalence_cdf(counts, stated)
        assert_allclose(fine.cdf(stated), truly, rtol=0, atol=1e-8)
        # the ordinary care stops earlier: a thousandth of what the package promises
        assert_allclose(found.cdf(stated), truly, rtol=0, atol=1e-7)
        assert np.abs(truly - PROBS).max() < 2e-5
        if i["k"] != 930:
            ours = [found.mean, found.sd, *found.quantile(PROBS)]
            assert_allclose(ours, [expected["mean"], expected["sd"], *stated], rtol=0, atol=1e-5)


@pytest.mark.slow
def test_santa_clara():
    """Gelman & Carpenter (2020): 50 of 3330 positive, specificity 399/401, sensitivity 103/122."""
    facts = shared("data/santa_clara/pooled.csv").read_text().splitlines()
    row = next(csv.DictReader(facts))
    y, n, y0, n0, y1, n1 = (int(row[f"{a}_{b}"]) for b in ("sample", "spec", "sens") for a in "yn")
    assert (y, n, y0, n0, y1, n1) == (50, 3330, 399, 401, 103, 122)
    counts = P.Counts(n, y, n1, y1, n0, y0, calibration="separate")
    found = posterior_of(counts, P.ErrorRates(prevalence=bj.BetaPrior()))  # theirs
    # published: mean .0103, central 95 % .0013 to .0188, shortest 95 % .0008 to .0182
    # from some thousand draws: half a digit, and two standard errors of a mean of 2000
    error = 5e-5 + 2 * found.sd / np.sqrt(2000)
    assert_allclose(found.mean, 0.0103, rtol=0, atol=error)
    # an end of an interval has about 2.7 times the error of the mean
    assert_allclose(found.interval(0.95, "eti"), [0.0013, 0.0188], rtol=0, atol=2.7 * error)
    assert_allclose(found.interval(0.95, "hdi"), [0.0008, 0.0182], rtol=0, atol=2.7 * error)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["random", "by_truth", "by_verdict"])
@pytest.mark.parametrize(
    ("cells", "options"),
    [
        ((1000, 776, 156, 141, 44, 35), UNRESTRICTED),
        ((1000, 924, 15, 15, 5, 5), JEFFREYS),
        ((20, 15, 7, 6, 13, 4), {}),
        ((10_000_000, 6_200_000, 157, 142, 143, 143), UNRESTRICTED),
        ((1000, 958, 93, 93, 7, 3), {}),
        ((500, 0, 20, 18, 80, 80), JEFFREYS),
    ],
    ids=str,
)
def test_more_nodes_change_nothing(monkeypatch, design, cells, options):
    counts = P.Counts(*cells, calibration=design)
    model = flat_model(counts, **options)
    coarse = posterior_of(counts, model)
    make_finer(monkeypatch)
    fine = posterior_of(counts, model)
    assert_allclose([coarse.mean, coarse.sd], [fine.mean, fine.sd], rtol=0, atol=1e-7)
    assert_allclose(coarse.quantile(PROBS), fine.quantile(PROBS), rtol=0, atol=1e-6)


@pytest.mark.slow
def test_a_question_is_integrated_once_and_another_one_anew():
    counts = P.Counts(40, 25, 12, 11, 9, 6, calibration="random")
    found = posterior_of(counts, P.ErrorRates())
    assert (
        posterior_of(P.Counts(40, 25, 12, 11, 9, 6, calibration="random"), P.ErrorRates()) is found
    )
    others = {"prevalence": bj.BetaPrior(2, 1)}, {"better_than_chance": False}
    for other in (posterior_of(counts, P.ErrorRates(**more)) for more in others):
        assert abs(other.mean - found.mean) > 1e-5
    # without the second rule, which finds no number
    spared = posterior_of(counts, P.ErrorRates(), checked=False)
    assert spared is not found
    assert (spared.mean, spared.cdf(0.6)) == (found.mean, found.cdf(0.6))


@pytest.mark.slow
def test_much_data_gives_the_delta_method():
    n, m = 4_000_000, 1_000_000
    counts = P.Counts(n, int(0.62 * n), m, int(0.9 * m), m, int(0.7 * m), calibration="by_truth")
    found = posterior_of(counts, P.ErrorRates())
    value, low, high = P.rogan_gladen(counts, interval="delta")["prevalence"]
    assert_allclose(found.mean, value, atol=1e-5)
    assert_allclose(found.interval(0.95), [low, high], atol=1e-5)


def test_quantiles_of_nothing_and_of_all_are_the_ends():
    counts = P.Counts(40, 25, 20, 18, 20, 14, calibration="by_truth")
    found = posterior_of(counts, P.ErrorRates()).quantile([0.0, 0.5, 1.0])
    assert found[[0, 2]].tolist() == [0.0, 1.0]
    assert 0 < found[1] < 1


@pytest.mark.slow
def test_a_perfect_and_well_known_judge_gives_a_beta():
    counts = P.Counts(40, 25, 10**8, 10**8, 10**8, 10**8, calibration="by_truth")
    found = posterior_of(counts, P.ErrorRates())
    assert_allclose(found.quantile(PROBS), stats.beta(25.5, 15.5).ppf(PROBS), atol=1e-6)


@pytest.mark.slow
def test_swapping_the_labels_mirrors_the_posterior():
    one = posterior_of(P.Counts(200, 130, 20, 18, 30, 21, calibration="by_truth"), P.ErrorRates())
    other = posterior_of(P.Counts(200, 70, 30, 21, 20, 18, calibration="by_truth"), P.ErrorRates())
    assert_allclose(one.quantile(PROBS), 1 - other.quantile(PROBS)[::-1], atol=1e-8)


@pytest.mark.slow
def test_shortest_interval_is_shorter_and_holds_as_much():
    found = posterior_of(
        P.Counts(1000, 330, 100, 92, 100, 68, calibration="by_truth"), P.ErrorRates()
    )
    eti, hdi = found.interval(0.95, "eti"), found.interval(0.95, "hdi")
    assert np.diff(hdi) < np.diff(eti)
    for low, high in (eti, hdi):
        assert_allclose(found.cdf(high) - found.cdf(low), 0.95, atol=1e-8)


@pytest.mark.slow
def test_shortest_interval_can_hold_the_end_of_the_range():
    found = posterior_of(
        P.Counts(1000, 0, 100, 99, 100, 100, calibration="by_truth"), P.ErrorRates()
    )
    assert found.interval(0.95, "hdi")[0] == 0
    assert found.interval(0.95, "eti")[0] > 0
    mirrored = P.Counts(1000, 1000, 100, 100, 100, 99, calibration="by_truth")
    assert posterior_of(mirrored, P.ErrorRates()).interval(0.95, "hdi")[1] == 1


@pytest.mark.slow
def test_a_contradiction_is_said_with_its_p_value():
    # a judge that is clearly worse than chance, and a prior that says that it is not
    counts = P.Counts(10**4, 3840, 10**4, 1000, 10**4, 1000, calibration="by_truth")
    made = P.exact(counts, ABOVE_CHANCE)
    assert np.isfinite(made["prevalence"]).all()
    assert made.cautions[0].id == "contradiction"
    assert "probability 0.0e+00" in made.cautions[0].text
    assert "contradiction" not in [c.id for c in P.exact(counts, FREE).cautions]
    outside = P.Counts(10**5, 99_000, 500, 400, 500, 400, calibration="separate")
    names = [c.id for c in P.exact(outside).cautions]
    assert "contradiction" in names


def test_rules_that_disagree_give_no_number_and_say_so(monkeypatch):
    # a planted fault: a rule that cuts its integrals short
    monkeypatch.setattr(quadrature, "CARES", quadrature.CARES[:1])
    monkeypatch.setattr(quadrature, "SECOND_RULE", Rule(drop=2.0))
    made = P.exact(P.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth"))
    assert np.isnan(made["prevalence"]).all()
    assert made.cautions[0].id == "no-quadrature"


#: Nan, or wrong without a caution, where integration windows were guessed; with the prevalence
#: that Rogan and Gladen's formula gives.
ACCURATE = [
    ((30_000, 30, 3000, 3000, 3000, 3000), 0.001),
    ((209_160, 530, 9111, 9111, 628, 625), 0.0006),
    ((65_041, 64_925, 4889, 4889, 1614, 1614), 0.998),
    ((10_000, 0, 500, 500, 500, 500), 0.0),
    ((100_000, 100, 200, 200, 200, 200), 0.001),
    ((2_037_314, 55_313, 4808, 4790, 4039, 4039), 0.027),
]


@pytest.mark.slow
@pytest.mark.parametrize(("counts", "expected"), ACCURATE, ids=str)
@pytest.mark.parametrize("design", ["by_truth", "by_verdict", "random"])
def test_accurate_judges_and_many_items(counts, expected, design):
    counts = P.Counts(*counts, calibration=design)
    model = flat_model(counts)
    found = posterior_of(counts, model)
    mean, sd = prevalence_moments(counts, model, nodes=(84, 112))
    assert abs(found.mean - mean) < 1e-4 * sd
    assert abs(found.sd / sd - 1) < 1e-4
    if design == "by_truth":
        assert abs(found.mean - expected) < 2 * sd


@pytest.mark.slow
@pytest.mark.parametrize("setting", range(12))
def test_random_settings_against_another_integral_and_their_mirror(setting):
    counts, model = drawn(np.random.default_rng((5, setting)))
    found = posterior_of(counts, model)
    other = posterior_of(*mirrored(counts, model))
    ends = np.array([found.mean, *found.interval(0.95)])
    assert_allclose(ends, 1 - np.array([other.mean, *other.interval(0.95)[::-1]]), atol=1e-10)
    try:
        mean, sd = prevalence_moments(counts, model, nodes=(60, 80))
    except NotResolved:
        return
    assert abs(found.mean - mean) < 1e-4 * sd
    assert abs(found.sd / sd - 1) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("one", range(0, 360, 30))
def test_tables_of_the_grid_of_accurate_judges(one):
    row = grid_row(grid_tables()[one])
    offs = [row[f"{name}_off"] for name in ("mean", "sd", "low", "high")]
    assert np.abs(offs).max() < 1e-3
    assert abs(row["mean"] - row["rogan_gladen"]) < 3 * row["sd"]


#: A steep edge of an integrand that ordinary steps do not resolve: each was refused, wrong in the
#: fourth digit of a density, or took a minute, where steps were halved until a change was small.
EDGES = [
    ((59_585, 2, 5370, 4177, 1, 1), bj.BetaPrior.worth(rate=0.9, n=20), "separate"),
    ((11, 6, 1815, 1433, 43, 43), bj.BetaPrior(), "separate"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("cells", "prior", "design"), EDGES, ids=str)
def test_steep_edges_take_the_second_care(monkeypatch, cells, prior, design):
    counts = P.Counts(*cells, calibration=design)
    model = P.ErrorRates(prior)
    found = posterior_of(counts, model)
    monkeypatch.setattr(quadrature, "CARES", quadrature.CARES[:1])
    with pytest.raises(NotIntegrated):
        posterior_of(counts, model)
    monkeypatch.setattr(quadrature, "CARES", (Care(1e-7, 1e-5, 400),))
    fine = posterior_of(counts, model)
    ends = np.array([found.mean, *found.interval(0.95)]) - [fine.mean, *fine.interval(0.95)]
    assert np.abs(ends).max() < 1e-4 * fine.sd


#: A cliff behind a long slope, or a density that ordinary panels follow less closely than is held
#: of the second rule: few labels of a class, and priors without weight. Each was refused.
CLIFFS = [
    ((499, 2, 82_054, 69_656, 3, 3), "jeffreys"),
    ((2966, 742, 7, 7, 1104, 850), "flat"),
    ((283, 283, 338, 237, 11, 8), "jeffreys"),
    ((23_198, 0, 16, 8, 13_613, 9902), "flat"),
    ((75_172, 4, 98_652, 42_022, 2247, 2247), "flat"),
    ((538_192_101, 538_192_101, 33_377, 33_364, 6, 6), "jeffreys"),
]


@pytest.mark.slow
@pytest.mark.parametrize("cliff", study_but(CLIFFS, *CLIFFS[1:4]), ids=str)
def test_cliffs_in_the_third_care_and_in_panels(monkeypatch, cliff):
    cells, prior = cliff
    counts, rate = P.Counts(*cells, calibration="by_truth"), bj.BetaPrior.jeffreys()
    share = bj.BetaPrior() if prior == "flat" else rate
    model = P.ErrorRates(share, rate, rate, better_than_chance=cells[0] < 10**8)
    ordinary = posterior_of(counts, model)
    with monkeypatch.context() as patch:
        patch.setattr(quadrature, "CARES", quadrature.CARES[:2])
        patch.setattr(quadrature, "PANEL_HALVINGS", 0)
        with pytest.raises(NotIntegrated):
            posterior_of(counts, model)
    monkeypatch.setattr(quadrature, "CARES", quadrature.CARES[2:])
    found = posterior_of(counts, model)
    finer = quadrature.CARES[-1]._replace(settled=1e-8, further=24.0, shorter=0.5)
    monkeypatch.setattr(quadrature, "CARES", (finer,))
    fine = posterior_of(counts, model)
    ends = np.array([found.mean, *found.interval(0.95)]) - [fine.mean, *fine.interval(0.95)]
    assert np.abs(ends).max() < 1e-5 * fine.sd
    try:
        mean, sd = prevalence_moments(counts, model, nodes=(60, 80))
    except NotResolved:
        return
    for posterior in (ordinary, found):
        assert abs(posterior.mean - mean) < 1e-4 * sd
        assert abs(posterior.sd / sd - 1) < 1e-4


@pytest.mark.slow
def test_few_verdicts_of_a_judge_of_known_sensitivity():
    """A cliff to which no even step is short, against a grid of prevalences and false passes.

    Sensitivities, which a million labels tell, take five nodes.
    """
    cells = 5, 1, 10**6, 728_614, 20, 20
    items, passes, good, hits, bad, caught = cells
    found = posterior_of(P.Counts(*cells, "by_truth"), P.ErrorRates())
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    known = stats.beta(1 + hits, 1 + good - hits)
    # the prevalence is sin(x) ** 2: Jeffreys' prior is flat in x
    share, end = (
        np.sin((np.arange(1000) + at) / 1000 * np.pi / 2)[:, None] ** 2 for at in (0.5, 1)
    )
    false_pass = (np.arange(1000) + 0.5) / 1000
    labels = stats.beta(1 + bad - caught, 1 + caught).pdf(false_pass)
    mass = 0.0
    for hit, weight in zip(known.mean() + known.std() * nodes, weights, strict=True):
        rate = share * hit + (1 - share) * false_pass
        seen = rate**passes * (1 - rate) ** (items - passes) * (false_pass < hit)
        mass = mass + weight * (seen * labels).sum(axis=1, keepdims=True)
    mass = mass / mass.sum()
    mean = (mass * share).sum()
    assert abs(found.mean - mean) < 3e-4
    assert abs(found.sd - np.sqrt((mass * (share - mean) ** 2).sum())) < 3e-4
    quantiles = np.interp(PROBS, np.cumsum(mass), end[:, 0])
    assert_allclose(found.cdf(quantiles), PROBS, rtol=0, atol=1e-3)


@pytest.mark.study  # .7 GB
def test_every_output_passes_a_judge_of_known_specificity():
    """Against a grid of prevalences and sensitivities, and nodes of false passes."""
    items, bad, caught = 1409, 315_726, 166_234
    rate = bj.BetaPrior.jeffreys()
    asked = P.Counts(items, items, 1, 1, bad, caught, "by_truth"), P.ErrorRates(rate, rate, rate)
    found = posterior_of(*asked)
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    seen = stats.beta(
        bad - caught + 0.5, caught + 0.5
    )  # the other factors vary little in its width
    # 1 - prevalence = exp(x) and 1 - sensitivity = s ** 2 take the poles of the priors away
    x, s = np.linspace(-30, 0, 4001)[:-1, None], (np.arange(3000) + 0.5) / 3000
    mass, first, second = 0.0, 0.0, 0.0
    for false_pass, weight in zip(seen.mean() + seen.std() * nodes, weights, strict=True):
        share, bad_share, hit = 1 - np.exp(x), np.exp(x), 1 - s**2
        log = items * np.log(share * hit + bad_share * false_pass) + x / 2 - np.log(share) / 2
        density = weight * np.exp(log) * np.sqrt(hit) * (hit > false_pass)
        mass += density.sum()
        first += (density * bad_share).sum()
        second += (density * bad_share**2).sum()
    mean, sd = 1 - first / mass, np.sqrt(second / mass - (first / mass) ** 2)
    assert abs(found.mean - mean) < 2e-3 * sd
    assert abs(found.sd / sd - 1) < 2e-3


@pytest.mark.study
def test_no_setting_is_refused():
    for setting in range(3000):
        assert np.isfinite(posterior_of(*drawn(np.random.default_rng((991, setting)))).mean)


@pytest.mark.slow
def test_a_peak_between_the_nodes_is_found():
    """Verdicts that contradict the labels: a polynomial between nodes rose until memory ended."""
    counts = P.Counts(255_438_977, 25_622_804, 26_057, 26_057, 39, 5, calibration="random")
    model = P.ErrorRates(bj.BetaPrior(19, 3))
    found = posterior_of(counts, model)
    mean, sd = prevalence_moments(counts, model, nodes=(72, 96))
    assert abs(found.mean - mean) < 1e-4 * sd
    assert abs(found.sd / sd - 1) < 1e-4


@pytest.mark.slow
def test_systems_are_answered_one_by_one():
    table = P.simulate(systems=["a", "b"], prevalence=[0.3, 0.8], random_seed=4)
    counts = P.Counts.from_frame(table, calibration="random", by="system")
    both = P.exact(counts, interval="hdi", ci_prob=0.8)
    for name in "ab":
        one = P.exact(counts.system(name), interval="hdi", ci_prob=0.8)
        assert both["prevalence", name] == one["prevalence"]


def test_an_unknown_interval_is_refused():
    with pytest.raises(bj.InputError, match="'wald'"):
        P.exact(P.Counts(10, 5, 5, 4, 5, 4, calibration="random"), interval="wald")
