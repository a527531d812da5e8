"""The answer of ratings: who is named by how many definitions, and whether a person is replaced."""

import re

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.ratings.answer import MAIN

NONE = (np.nan, np.nan)


def table(best, method):
    """Shares of being best by definition and judge."""
    rows = {(d, j): (x, *NONE) for d, of in best.items() for j, x in of.items()}
    return bj.Estimate(
        {"best": bj.Quantity.of_rows(rows, ("definition", "judge"))},
        method=method,
        ci_prob=0.95,
        source="s",
    )


def rates(method, **judges):
    rows = {("hit_rate", j): (x, x - 0.05, x + 0.05) for j, x in judges.items()}
    quantity = bj.Quantity.of_rows({k[1]: v for k, v in rows.items()}, ("judge",))
    return bj.Estimate({"hit_rate": quantity}, method=method, ci_prob=0.95, source="s")


ALIKE = {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
AHEAD = {"a": 0.7, "b": 0.2, "c": 0.1}
BEHIND = {"a": 0.1, "b": 0.2, "c": 0.7}
SURE = {"a": 0.97, "b": 0.02, "c": 0.01}


def notes(best, method="As counted", more=()):
    made = rates(method, a=0.6, b=0.5, c=0.5)
    return bj.ratings.answer(made, table(best, f"{method}, share of draws"), *more)


def test_judges_that_tie_are_no_other_judge():
    told = notes({MAIN: AHEAD, "kappa": SURE, "predictive_efficiency": ALIKE})
    assert told.notes == (
        "All 2 definitions of agreement that tell the judges apart name a; 1 of 3 do not tell them "
        "apart; 1 of 3 surely (0.95 or more).",
    )
    told = notes({MAIN: AHEAD, "kappa": AHEAD})
    assert told.notes == (
        "All 2 definitions of agreement name a; none of 2 surely (0.95 or more).",
    )
    told = notes({MAIN: AHEAD, "kappa": BEHIND, "predictive_efficiency": ALIKE})
    assert told.notes[0].startswith("1 of 3 definitions of agreement name another judge")


def test_definitions_of_a_fit_are_counted_in_whichever_estimate_they_stand():
    """Those that the screen shows last have another method's name; the counted ones stay out."""
    method = "Bayesian (NUTS), response sets"
    last = table({MAIN: AHEAD}, f"{method}, judges tracking people")
    counted = table({MAIN: BEHIND, "x": BEHIND, "y": BEHIND}, "As counted, share of resamples")
    made = rates(f"{method}, judges tracking people", a=0.6, b=0.5, c=0.5)
    rest = table({"kappa": SURE, "mse": SURE}, f"{method}, share of draws")
    told = bj.ratings.answer(made, rest, last, counted)
    assert told.notes[0].startswith("All 3 definitions of agreement name a; 2 of 3 surely")
    assert "which is best is open: a (probability 0.70)" in told.text


def grades(people=("Anna", "Ben"), n=60, seed=1):
    rng = np.random.default_rng(seed)
    true = rng.integers(1, 6, n)
    rows = []
    for who, noise in [(p, 0.6) for p in people] + [("good", 0.5), ("poor", 2.0)]:
        said = np.clip(np.round(true + noise * rng.normal(size=n)), 1, 5).astype(int)
        rows += [(i, who, x) for i, x in enumerate(said)]
    return pd.DataFrame(rows, columns=["item", "rater", "choice"])


ASKED = ["--judge", "good", "--judge", "poor", "--no-nuts"]


@pytest.mark.slow
def test_grades_are_said_to_be_taken_as_names(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    grades().to_csv(path, index=False)
    assert main(["ratings", str(path), *ASKED]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "grades-as-names: agreement takes the grades 1 to 5 as names without an order" in said
    assert "a 4 for a 5 counts like a 1 for a 5" in said
    assert "--scale 1:5 --truth-scale 1:5" in said
    assert "Whether a judge could replace a person is not known: 2 annotators are compared" in said
    assert main(["ratings", str(path), *ASKED, "--details"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    test = re.search(
        r"good stands in \D* probability ([\d.]+); the published test, \D* \d+ %", said
    )
    assert 0 <= float(test[1]) <= 1
    assert "so that one may be 0 beside the other" in said
    # the judge's distance counts, not only whether it says the same
    data = bj.ratings.Ratings.from_frame(grades(), positive="5", judges=["good", "poor"])
    for scores in ("nominal", "numeric"):
        found = bj.ratings.alt_test_posterior(data, epsilon=0.1, scores=scores)
        same = f"{found['passes', 'good'].value:.2f}" == test[1]
        assert same or scores == "nominal"


@pytest.mark.slow
def test_three_annotators_are_a_consensus_and_names_need_a_positive_one(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    grades(("Anna", "Ben", "Cleo")).to_csv(path, index=False)
    assert main(["ratings", str(path), *ASKED]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Probability that a judge stands in for half of the annotators or more: good " in said
    names = grades().assign(choice=lambda t: t["choice"].map(lambda x: "fbdca"[x - 1]))
    names.to_csv(path, index=False)
    assert main(["ratings", str(path), *ASKED]) == 2
    assert "--positive is needed: by which option" in capsys.readouterr().err
    assert main(["ratings", str(path), *ASKED, "--positive", "a"]) == 0
    assert "grades-as-names" not in capsys.readouterr().out
