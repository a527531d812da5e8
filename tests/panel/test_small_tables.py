"""Every small table of judges that agree, contradict each other or never vary, in every function.

Each function answers, or refuses with `InputError`; it never fails in another way, and what it
answers is a share with an interval around it, or nothing (nan) with a caution.
"""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayesjudge as bj
from bayesjudge.core.errors import ConvergenceWarning

panel = bj.panel
KINDS = {
    "identical": lambda vote: vote,
    "opposite": lambda vote: np.where(vote < 0, vote, 1 - vote),
    "never passes": np.zeros_like,
    "always passes": np.ones_like,
}
RULES = [
    panel.VotingRule("majority"),
    *(panel.VotingRule(kind, n) for kind in ("veto", "at_least_valid") for n in (1, 2)),
]
FEW_STARTS = {"starts": 2}
#: Public functions that take votes alone.
FUNCTIONS = {
    "panel_mean": panel.panel_mean,
    "voting": lambda v: tuple(panel.voting(v, rule) for rule in RULES),
    "rogan_gladen": panel.rogan_gladen,
    "regression": lambda v: panel.regression(v, **FEW_STARTS),
    "regression, source": lambda v: panel.regression(v, solver="source", **FEW_STARTS),
    "logit_shift": panel.logit_shift,
    "logit_shift, identity": lambda v: panel.logit_shift(v, scale="identity"),
    "difference": panel.difference,
    "difference, population": lambda v: panel.difference(v, target="population"),
    "model_assisted": panel.model_assisted,
    "dawid_skene_em": panel.dawid_skene_em,
    "dawid_skene_em, likelihood": lambda v: panel.dawid_skene_em(v, prior_count=0),
    "dawid_skene_em, response": lambda v: panel.dawid_skene_em(v, missing="response"),
    "consensus": lambda v: panel.consensus(v).accuracy,
    "closed_forms": panel.closed_forms,
    "answer": lambda v: panel.answer(*panel.closed_forms(v)),
    "compare": panel.compare,
    "recommend": panel.recommend,
    "labels_needed": panel.labels_needed,
    "dependence": panel.dependence,
    "effective_judges": panel.effective_judges,
    "homogeneity": panel.homogeneity,
    "choose_threshold": panel.choose_threshold,
    "ensemble_rates": lambda v: [panel.ensemble_rates(v, rule) for rule in RULES],
    "cross_validate": lambda v: panel.cross_validate(
        v, ["panel_mean", "veto", "logit_shift", "linear_shift"], random_seed=1
    ),
    "cross_validate, items": lambda v: panel.cross_validate(
        v,
        ["veto", "difference", "model_assisted", "dawid_skene_em"],
        **{"hide": "items", "kept": 2, "repeats": 1, "random_seed": 1},
    ),
    "plot_correlation": panel.plot_correlation,
    "study": lambda v: panel.study(v, starts=1),
    "found_by": panel.found_by,
}
#: What takes a fit, a table of text or nothing, is a class, or compiles (below).
OTHERS = {
    *("align_texts", "repair_labels", "simulate", "label_next", "loo", "dependence_check"),
    *("plot_generators", "plot_judges", "build_model", "fit", "check_prior"),
}


def test_every_public_function_is_here():
    functions = {name for name in panel.__all__ if name[0].islower()}
    assert functions == {name.split(",")[0] for name in FUNCTIONS} | OTHERS


def answers(votes, functions=FUNCTIONS):
    for name, function in functions.items():
        try:
            found = function(votes)
        except bj.InputError:
            continue
        for one in found if isinstance(found, tuple) else (found,):
            if isinstance(one, bj.Estimate):
                about_shares(name, one)


def about_shares(name, estimate):
    for quantity, _, (value, low, high) in estimate.rows():
        told = f"{name}: {quantity} {value} ({low}, {high})"
        assert np.isnan(value) or 0 <= value <= 1, told
        if np.isnan(value):
            assert np.isnan(low), told
            assert np.isnan(high), told
        else:
            assert np.isnan(low) == np.isnan(high), told
            assert np.isnan(low) or 0 <= low <= value + 1e-9 <= high + 2e-9 <= 1 + 2e-9, told


def tables(size):
    """Every table of `size` items of one generator, or of as many generators."""
    cells = list(itertools.product((0, 1), (-1, 0, 1)))
    for chosen in itertools.combinations_with_replacement(cells, size):
        vote, truth = map(np.array, zip(*chosen, strict=True))
        for generator in [np.zeros(size, int), np.arange(size)][: min(size, 2)]:
            yield vote, truth, generator


def made(vote, truth, generator, kind, **settings):
    names = [f"g{i}" for i in range(generator.max() + 1)]
    given = np.column_stack([vote, KINDS[kind](vote)])
    return panel.Votes(given, truth, generator, names, ["a", "b"], **settings)


@pytest.mark.parametrize(
    ("size", "kind"),
    [
        *((1, kind) for kind in KINDS),
        pytest.param(2, "identical", marks=pytest.mark.slow),
        *(pytest.param(2, kind, marks=pytest.mark.study) for kind in [*KINDS][1:]),
    ],
)
@pytest.mark.slow
def test_small_tables_one_by_one(size, kind):
    cheap = {n: f for n, f in FUNCTIONS.items() if not n.startswith("plot")}
    for vote, truth, generator in tables(size):
        answers(made(vote, truth, generator, kind, calibration="random"), cheap)


DESIGNS = ["random", "by_generator", "by_truth", "separate", "by_verdict"]


@st.composite
def larger(draw):
    """Up to five patterns with many items each, of up to four generators."""
    size = draw(st.integers(1, 5))

    def several(low, high):
        return np.array(draw(st.lists(st.integers(low, high), min_size=size, max_size=size)))

    count = draw(st.lists(st.sampled_from([1, 2, 7, 25, 60]), min_size=size, max_size=size))
    settings = {"count": count, "calibration": draw(st.sampled_from(DESIGNS))}
    about = several(-1, 1), several(-1, 1), several(0, 3)
    return made(*about, draw(st.sampled_from(sorted(KINDS))), **settings)


@pytest.mark.study
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(votes=larger())
def test_larger_tables_as_they_come(votes):
    try:
        answers(votes)
    finally:
        from matplotlib import pyplot as plt

        plt.close("all")


@pytest.mark.study
@pytest.mark.parametrize("kind", ["identical", "opposite", "never passes"])
def test_models_sample_such_tables(kind):
    vote, truth = np.array([0, 1, 1, 0, 1]), np.array([0, 1, -1, -1, 0])
    votes = made(vote, truth, np.zeros(5, int), kind, count=[8, 30, 20, 9, 3], calibration="random")
    short = {"draws": 100, "tune": 200, "chains": 2, "random_seed": 1, "progress": False}
    for model in (panel.PooledDawidSkene(), panel.VoteRegression(), panel.BiasPooling()):
        with warnings.catch_warnings():  # 100 draws are too few for the diagnostics
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = panel.fit(votes, model, **short)
        about_shares(type(model).__name__, fit.estimate())
        if not isinstance(model, panel.BiasPooling):
            about_shares("consensus", panel.consensus(fit).accuracy)
            assert panel.loo(fit).n == 41
            assert len(panel.label_next(fit, "g0", n=3)) == 3
