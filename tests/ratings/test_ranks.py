"""Rank correlations of definitions, against ranks by hand and what the source says of them."""

import numpy as np
import pytest
from scipy.stats import spearmanr

import bayesjudge as bj
from bayesjudge.ratings import Definition
from bayesjudge.ratings.experiment import (
    Setting,
    error_rank_correlations,
    make_world,
    monotonicity_violations,
    rank_correlations,
)

HITS = Definition("hit_rate", "hard", "hard")
DIVERGENCE = Definition("js_divergence", "soft", "soft")
ERROR = Definition("mse")
THOSE = [HITS, DIVERGENCE, ERROR]


def test_correlations_are_spearmans_of_losses():
    setting = Setting(people=1.0, judges=-1.0, items=30, n_judges=12)
    table = rank_correlations(setting, of=[ERROR], worlds=2, random_seed=5)
    rng = np.random.default_rng(5)
    found = []
    for _ in range(2):
        world = make_world(setting, rng)
        used = np.mean(
            [
                Definition("decision_consistency", cutoff=c).value(world.judges, world.people)
                for c in (0.3, 0.5, 0.7)
            ],
            axis=0,
        )
        found.append(spearmanr(-ERROR.value(world.judges, world.people), used).statistic)
    assert table["decision_consistency"][0] == pytest.approx(np.mean(found))
    error = np.std(found, ddof=1) / np.sqrt(2)
    assert table["decision_consistency_error"][0] == pytest.approx(error)


@pytest.mark.slow
def test_choices_rank_judges_otherwise_where_selection_differs():
    # Figure 5: weak correlation of categorical agreement under asymmetric selection
    asymmetric = Setting(people=1.0, judges=-1.0)
    table = rank_correlations(asymmetric, of=THOSE, worlds=6, random_seed=1).set_index("definition")
    used = table["decision_consistency"]
    assert used[str(HITS)] < 0.7 < used[str(ERROR)]


def test_errors_change_ranks_by_hits_alone_if_they_are_skewed():
    # Figure 11
    without = Setting(people=1.0, judges=1.0)
    none = error_rank_correlations(without, of=THOSE, worlds=2, random_seed=1)
    assert none["correlation"].min() == pytest.approx(1.0)
    skewed = Setting(people=1.0, judges=1.0, error=0.3, skew=1.0)
    found = error_rank_correlations(skewed, of=THOSE, worlds=6, random_seed=1)
    found = found.set_index("definition")["correlation"]
    assert found[str(HITS)] < 0.93
    assert found[[str(DIVERGENCE), str(ERROR)]].min() > 0.97


@pytest.mark.slow
def test_a_definition_does_not_contradict_itself_and_others_do():
    finer = [ERROR, Definition("mse", "srs", "srs", 0.7)]  # the cutoff is not used
    assert monotonicity_violations(Setting(), finer, pairs=40, random_seed=1).empty
    found = monotonicity_violations(Setting(people=1.0), THOSE, pairs=60, random_seed=1)
    assert (found["share"] > 0.05).all()
    # two divergences of the same shares seldom contradict each other
    near = [DIVERGENCE, Definition("kl_human_judge", "soft", "soft")]
    assert monotonicity_violations(Setting(), near, pairs=60, random_seed=1)["share"][0] < 0.05
    with pytest.raises(bj.InputError, match="pairs"):
        monotonicity_violations(Setting(), THOSE, pairs=1)
