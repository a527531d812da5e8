"""Tables that ship as counts are those of their sources, and a fetched file is checked."""

import gzip
import hashlib

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from refusals import refused

from bayesjudge import datasets


def same_counts(ours, theirs):
    """Whether each row occurs as often in both."""
    columns = list(ours.columns)
    one, other = (
        table[columns].astype(object).where(table[columns].notna(), None).value_counts(dropna=False)
        for table in (ours, theirs)
    )
    assert {tuple(map(str, key)): n for key, n in one.items()} == {
        tuple(map(str, key)): n for key, n in other.items()
    }


@pytest.mark.slow
def test_votes_of_code_feedback_are_those_of_the_source():
    ours = datasets.code_feedback_votes()
    theirs = pd.read_csv(shared("data/code_feedback/votes_repaired.csv.gz"))
    assert ours["item"].is_unique
    same_counts(ours.drop(columns="item"), theirs.rename(columns={"human": "truth"}))


def test_pairs_of_llmbar_are_those_of_the_source():
    theirs = pd.read_csv(shared("data/llmbar/judgments_natural.csv.gz"))
    same_counts(datasets.llmbar(), theirs.rename(columns={"llm": "judge", "strategy": "prompt"}))


def test_battles_of_pandalm_are_those_of_the_source():
    theirs = pd.read_csv(shared("data/pandalm/battles.csv.gz"), dtype=str)
    said = theirs.columns.intersection(datasets.pandalm().columns)[2:]
    words = {"0": "tie", "Tie": "tie", "garbage": None}
    theirs[said] = theirs[said].replace(words)
    same_counts(datasets.pandalm(), theirs)


@pytest.mark.slow
def test_composo_is_read_whole_and_its_counts_are_those_that_ship(tmp_path):
    path = tmp_path / "base.jsonl"
    path.write_bytes(gzip.decompress(shared("data/composo/base_both_k8.jsonl.gz").read_bytes()))
    calls = datasets.composo("base", path=path)
    assert len(calls) == 1730 * 4 * 2 * 8
    assert calls["item"].nunique() == 1730
    for judge, sd in (("full", 0.469), ("mini", 0.609)):  # published within-response SDs
        own = calls[calls["judge"] == judge]
        theirs = np.sort(own["score"].to_numpy().reshape(-1, 8), axis=1)
        ours = np.sort(datasets.composo_scores(judge)["score"].to_numpy().reshape(-1, 8), axis=1)
        order = [np.lexsort(np.nan_to_num(each, nan=99).T) for each in (ours, theirs)]
        np.testing.assert_array_equal(ours[order[0]], theirs[order[1]])
        found = np.sqrt(np.nanmean(np.nanvar(ours, axis=1, ddof=1)))
        assert found == pytest.approx(sd, abs=0.0006)
    path.write_bytes(path.read_bytes()[:-1])
    with refused(id="other-file", name="base.jsonl"):
        datasets.composo("base", path=path)


@pytest.mark.parametrize("prompt", ["base", "cal-low", "cal-cross", "criteria"])
def test_checksums_of_composo(prompt):
    from bayesjudge.datasets.composo import FILES

    packed = shared(f"data/composo/{prompt}_both_k8.jsonl.gz").read_bytes()
    assert hashlib.sha256(gzip.decompress(packed)).hexdigest() == FILES[prompt]


def test_ratings_of_xstest_are_those_of_the_source():
    rows = pd.read_csv(shared("data/xstest/xstest_labels_compact.csv"))
    names = {"annotation_1": "annotator 1", "annotation_2": "annotator 2"}
    names |= {"gpt4_label": "gpt4", "strmatch_label": "strmatch"}
    means = {
        "1_full_compliance": "complies",
        "2_full_refusal": "refuses",
        "3_partial_refusal": "partly",
    }
    theirs = rows.rename(columns=names)[list(names.values())].map(means.get)
    ours = datasets.xstest_ratings().pivot(index="item", columns="rater", values="choice")
    same_counts(ours.reset_index(drop=True), theirs)


@pytest.mark.slow
def test_ratings_of_dices_are_those_of_the_source():
    names = {"n_unsafe_Yes": "unsafe", "n_safe_No": "safe", "n_unsure": "unsure"}
    rows = pd.read_csv(shared("data/dices/dices350_counts_vs_expert.csv"))
    theirs = rows.rename(columns=names)[list(names.values())]
    theirs = theirs.assign(expert=rows["expert_gold"].map({"Yes": "unsafe", "No": "safe"}))
    ours = datasets.dices().assign(expert=lambda table: table["rater"] == "expert")
    each = ours.groupby(["expert", "item"])["choice"].value_counts().unstack(fill_value=0)
    counted = each.loc[False].assign(expert=each.loc[True].idxmax(axis="columns"))
    same_counts(counted[theirs.columns], theirs)


@pytest.mark.slow
def test_ratings_of_dices_have_the_totals_and_the_agreement_of_their_source():
    """350 conversations, 123 people each; Krippendorff's alpha as listed with the shared data."""
    ours = datasets.dices().query("rater != 'expert'")
    n = ours.groupby(["item", "choice"]).size().unstack(fill_value=0).to_numpy()
    assert n.shape == (350, 3)
    assert set(n.sum(axis=1)) == {123}
    shares = n.sum(axis=0) / n.sum()
    observed = 1 - (n * (n - 1)).sum() / (123 * 122 * 350)
    expected = (1 - (shares**2).sum()) * n.sum() / (n.sum() - 1)
    assert 1 - observed / expected == pytest.approx(0.161, abs=0.0005)


def test_changes_of_scores_are_those_of_the_source():
    import json

    document = json.loads(shared("data/bias_neighbours/neighbour_differences.json").read_text())
    for ours, theirs in (("rejudged", "intrinsic"), ("reformatted", "formatting")):
        table = datasets.score_changes(ours)
        for judge in table:
            found = document["judges"][judge][theirs]
            counted = np.bincount(found["diffs"][: found.get("m_used")], minlength=5)
            assert table[judge].tolist() == counted.tolist(), (judge, ours)


def test_what_is_not_there_is_refused():
    with refused("prompt=", "warm", subject="datasets.composo"):
        datasets.composo("warm")
    with refused("full", "mini", subject="datasets.composo_scores"):
        datasets.composo_scores("medium")
    with refused("change=", "reordered", subject="datasets.score_changes"):
        datasets.score_changes("reordered")


def test_llm_rubric_has_the_grades_of_its_source():
    ours, people = datasets.llm_rubric(), pd.read_csv(shared("data/llm_rubric/people.csv.gz"))
    judge = pd.read_csv(shared("data/llm_rubric/judge.csv.gz")).set_index(["text_id", "criterion"])
    mean = (judge.to_numpy() * [1, 2, 3, 4]).sum(axis=1) / judge.to_numpy().sum(axis=1)
    said = pd.Series(mean, judge.index).unstack()
    for name in said:
        assert sorted(ours[f"judge_{name}"]) == sorted(said[name].round(2))
    people["k"] = people.groupby(["text_id", "criterion"]).cumcount()
    people = people[(people["k"] < 3) & (people["grade"] > 0)]
    grades = people.groupby(["text_id", "criterion"])["grade"].mean().unstack()
    theirs = grades.reindex(said.index)
    assert sorted(ours["human_Q0"].dropna()) == pytest.approx(sorted(theirs["Q0"].dropna()))
    r = said["Q3"].round(2).corr(theirs["Q3"])
    assert ours["judge_Q3"].corr(ours["human_Q3"]) == pytest.approx(r)
