"""Numbers that the source's own code gives, and those that other packages give."""

import json

import krippendorff
import numpy as np
import pytest
from conftest import shared
from evalica import alpha as evalica_alpha
from numpy.testing import assert_allclose
from statsmodels.stats.inter_rater import cohens_kappa, to_table
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from bayesjudge.ratings import Definition
from bayesjudge.ratings.metrics import Profile, fleiss_kappa, inter_rater_alpha
from bayesjudge.ratings.response_sets import (
    all_response_sets,
    forward,
    membership,
    reverse,
    shift_matrix,
)
from bayesjudge.ratings.sensitivity import _profile_under

#: Names in the source's code against ours. It computes KL(judge || human) under "lh".
OFFICIAL = {
    "HR_h_h": Definition("hit_rate", "hard", "hard"),
    "Fleiss_kappa_h_h": Definition("fleiss_kappa", "hard", "hard"),
    "Cohen_kappa_h_h": Definition("cohen_kappa", "hard", "hard"),
    "Krippendorff_h_h": Definition("krippendorff_alpha", "hard", "hard"),
    "KL_lh_s_s": Definition("kl_judge_human", "soft", "soft"),
    "KL_hl_s_s": Definition("kl_human_judge", "soft", "soft"),
    "CE_lh_s_s": Definition("cross_entropy_judge_human", "soft", "soft"),
    "CE_hl_s_s": Definition("cross_entropy_human_judge", "soft", "soft"),
    "MSE_srs_srs": Definition("mse", "srs", "srs"),
    "MSE_h_h": Definition("mse", "hard", "hard"),
    "MSE_s_s": Definition("mse", "soft", "soft"),
}


@pytest.fixture(scope="module")
def reference():
    return json.loads(shared("reference/ratings.json").read_text())


def profiles(case):
    return (
        Profile(np.array(case[f"O_{who}"]), np.array(case[f"Omega_{who}"]))
        for who in ("judge", "human")
    )


def test_metrics_are_those_of_the_sources_code(reference):
    assert len(reference["metrics"]) == 10
    for case in reference["metrics"]:
        judge, human = profiles(case)
        official, tau = case["official"], case["tau"]
        for name, definition in OFFICIAL.items():
            found = definition.value(judge, human, ties="first")
            assert_allclose(found, official[name], rtol=1e-9, atol=1e-12, err_msg=name)
        for name, definition in {
            "COV_h_hrs": Definition("coverage", "hard", "hrs", tau),
            "bias": Definition("prevalence_bias", cutoff=tau),
        }.items():
            assert_allclose(definition.value(judge, human), official[name], atol=1e-12)
        consistency = Definition("decision_consistency", cutoff=tau).value(judge, human)
        assert_allclose(consistency, case["consistency_with_ge"], atol=1e-12)
        js = Definition("js_divergence", "soft", "soft").value(judge, human)
        assert_allclose(js, case["jsd_divergence_mean_nats"], rtol=1e-9)
        # the source's code reports the mean of the roots under the name of the divergence
        assert abs(js - official["JSD_s_s"]) > 0.05


def test_forward_and_reverse_are_those_of_the_sources_code(reference):
    for case in reference["forward_reverse"]:
        f, e, members, theta = (np.array(case[n]) for n in ("F", "E", "Lambda", "theta_star"))
        chosen, endorsed = forward(theta, f, e, members)
        assert_allclose(chosen, case["O"], rtol=1e-12)
        assert_allclose(endorsed, case["Omega_observed"], rtol=1e-12)
        assert_allclose(members @ theta, case["Omega_star"], rtol=1e-12)
        set_given_choice, stable_given_set = reverse(theta, f, e)
        assert_allclose(set_given_choice, case["F_reverse_QxO"], atol=1e-12)
        assert_allclose(stable_given_set, case["E_reverse"], atol=1e-12)
        assert_allclose(stable_given_set @ set_given_choice @ chosen, theta, rtol=1e-12)


OPTIONS = ("very toxic", "toxic", "no or unsure")


def test_shifts_are_those_of_the_source(reference):
    sets = all_response_sets(OPTIONS)
    members = membership(OPTIONS, sets)
    for case in reference["civil_comments_beta"]:
        counts = np.array([case["counts"][o.replace(" ", "_")] for o in OPTIONS]).T
        chosen = counts / counts.sum(axis=1, keepdims=True)

        def endorsed(added, printed, chosen=chosen, beta=case["beta"]):
            settings = {"chosen": OPTIONS[2], "added": added, "shift_strength": beta}
            matrix = shift_matrix(OPTIONS, sets, **settings, as_printed=printed)
            return _profile_under(chosen, matrix, members).endorsed

        assert_allclose(endorsed("toxic", True), case["paper_table2_Omega_VT_T_NU"], atol=1e-12)
        assert_allclose(
            endorsed("toxic", False), case["model_consistent_Omega_beta_on_set_T_NU"], atol=1e-12
        )
        # the source's code sends them to {very toxic} instead
        assert_allclose(endorsed("very toxic", True), case["official_Omega"], atol=1e-12)


def test_appendix_c_with_its_two_slips_corrected(reference):
    first, second = reference["appendix_examples"]
    human, z, w = (
        Profile(np.array([first[n]]), np.array([first[n]])) for n in ("O_h", "O_z", "O_w")
    )
    hit, kl = Definition("hit_rate", "hard", "hard"), Definition("kl_human_judge", "soft", "soft")
    # as printed judge w hits too, so that nothing is violated; (.4, .5, .1) makes the example work
    assert (hit.value(z, human), hit.value(w, human)) == (1, 1)
    working = Profile(np.array([[0.4, 0.5, 0.1]]), np.array([[0.4, 0.5, 0.1]]))
    assert hit.value(working, human) == 0
    assert kl.value(working, human) < kl.value(z, human)
    assert_allclose(kl.value(z, human), first["KL_hz"], rtol=1e-9)
    members = membership(("a", "b"), all_response_sets(("a", "b")))
    choice_z = np.array([[1.0, 0, 1], [0, 1, 0]])
    chosen, endorsed = forward(np.array(second["theta_z"]), choice_z, np.eye(3), members)
    assert_allclose(chosen, [0.4, 0.6], rtol=1e-12)
    assert_allclose(endorsed, second["Omega_z"])  # the source prints (.4, .6)
    mse = Definition("mse", "srs", "srs").value(
        Profile(chosen[None], endorsed[None]), Profile(chosen[None], np.array([second["Omega_h"]]))
    )
    assert_allclose(mse, second["MSE_sum_z"])  # the source prints .01


# Other packages ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def verdicts():
    rng = np.random.default_rng(1)
    people = rng.integers(4, size=80)
    judge = np.where(rng.random(80) < 0.6, people, rng.integers(4, size=80))
    return people, judge


def test_chance_corrected_agreement_against_three_packages(verdicts):
    people, judge = verdicts
    sides = [Profile(np.eye(4)[v], np.eye(4)[v]) for v in (judge, people)]

    def ours(metric):
        return Definition(metric, "hard", "hard").value(*sides)

    both = np.stack([people, judge])
    counts = np.eye(4)[people] + np.eye(4)[judge]
    assert_allclose(
        ours("krippendorff_alpha"), krippendorff.alpha(both, level_of_measurement="nominal")
    )
    assert_allclose(ours("cohen_kappa"), cohens_kappa(to_table(both.T)[0])["kappa"])
    assert_allclose(ours("fleiss_kappa"), statsmodels_fleiss(counts))
    assert_allclose(ours("scott_pi"), statsmodels_fleiss(counts))


def test_alpha_among_raters_with_gaps_against_two_packages():
    rng = np.random.default_rng(2)
    codes = rng.integers(3, size=(6, 50)).astype(float)
    codes[:, :20] = codes[0, :20]
    codes[rng.random(codes.shape) < 0.3] = np.nan
    counts = np.stack([(codes == k).sum(axis=0) for k in range(3)], axis=1)
    found = inter_rater_alpha(counts)
    assert_allclose(found, krippendorff.alpha(codes, level_of_measurement="nominal"))
    import pandas as pd

    assert_allclose(found, evalica_alpha(pd.DataFrame(codes), distance="nominal").alpha)


def test_fleiss_kappa_against_statsmodels():
    counts = np.random.default_rng(3).multinomial(5, [0.5, 0.3, 0.2], size=40)
    assert_allclose(fleiss_kappa(counts), statsmodels_fleiss(counts))
    counts[0, 0] += 1
    assert np.isnan(fleiss_kappa(counts))
