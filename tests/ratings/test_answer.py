"""The answer of ratings: who is named by how many definitions, and whether a person is replaced."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.core import methods
from bayesjudge.ratings.answer import _instead_of_people

MAIN = "hit_rate (h/h)"
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


def rates(best=0.99, **sources):
    rows = {source: (x, x - 0.05, x + 0.05) for source, x in sources.items()}
    judges = [source for source in sources if source != "people"]
    sure = {("accepted", j): (best if i == 0 else 0.0, *NONE) for i, j in enumerate(judges)}
    return bj.Estimate(
        {
            "accepted": bj.Quantity.of_rows(rows, ("source",)),
            "best": bj.Quantity.of_rows(sure, ("rate", "judge")),
        },
        method=methods.ANSWER_RATES,
        ci_prob=0.95,
        source="s",
    )


ALIKE = {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}
AHEAD = {"a": 0.7, "b": 0.2, "c": 0.1}
BEHIND = {"a": 0.1, "b": 0.2, "c": 0.7}
SURE = {"a": 0.98, "b": 0.01, "c": 0.01}


def notes(best, method=methods.AS_COUNTED, more=()):
    made = rates(a=0.6, b=0.5, c=0.5)
    return bj.ratings.answer(made, table(best, method), *more)


def counts(note):
    return re.findall(r"\d+(?:\.\d+)?", note)


def test_judges_that_tie_are_no_other_judge():
    told = notes({MAIN: AHEAD, "kappa": SURE, "predictive_efficiency": ALIKE})
    assert counts(told.notes[1]) == ["2", "1", "3", "1", "3", "0.975"]
    told = notes({MAIN: AHEAD, "kappa": AHEAD})
    assert counts(told.notes[1]) == ["2", "0", "2", "0.975"]
    assert " a is best" in told.notes[1]
    told = notes({MAIN: AHEAD, "kappa": BEHIND, "predictive_efficiency": ALIKE})
    assert counts(told.notes[1])[:2] == ["1", "3"]
    assert "another judge" in told.notes[1]


def test_definitions_of_a_fit_are_counted_in_whichever_estimate_they_stand():
    """Those that the screen shows last have another method's name; the counted ones stay out."""
    method = methods.RESPONSE_SETS
    last = table({MAIN: AHEAD}, method.variant("tracking", "judges tracking people"))
    counted = table({MAIN: BEHIND, "x": BEHIND, "y": BEHIND}, methods.AS_COUNTED)
    made = rates(a=0.6, b=0.5, c=0.5)
    rest = table({"kappa": SURE, "mse": SURE}, method.variant("share-of-draws", "share of draws"))
    told = bj.ratings.answer(made, rest, last, counted)
    assert counts(told.notes[1]) == ["3", "2", "3", "0.975"]
    assert "by the sampled model" in told.notes[1]


def test_the_answer_names_the_best_only_if_its_rate_is_surely_highest():
    told = bj.ratings.answer(rates(a=0.9, b=0.7, people=0.8))
    assert told.text == (
        "People accept a's answer in 90 % of cases (85 to 95 %, 95 % interval), each other's in "
        "80 %."
    )
    assert told.notes[0] == "a is the best of 2 judges (probability 0.990)."
    told = bj.ratings.answer(rates(best=0.7, a=0.9, b=0.85))
    assert told.notes[0] == "a may or may not be the best of 2 judges (probability 0.700)."


def one_choice_a_judge(n=90, good=0.85, poor=0.6, seed=1):
    """Three people choose a tag of four and name all that fit; each judge was asked once."""
    rng = np.random.default_rng(seed)
    tags, rows = np.array(list("pqrs")), []
    for i in range(n):
        p = rng.dirichlet([0.6] * 4)
        fit = np.flatnonzero(p > min(0.22, p.max() - 1e-9))
        for who, right in (("Anna", 0.9), ("Ben", 0.9), ("Cleo", 0.9), ("a", good), ("b", poor)):
            said = rng.choice(fit) if rng.random() < right else rng.integers(4)
            fits = "|".join(tags[sorted({said, *fit[rng.random(len(fit)) < 0.85]})])
            rows.append((i, who, tags[said], fits if who in ("Anna", "Ben", "Cleo") else None))
    return pd.DataFrame(rows, columns=["item", "rater", "choice", "fits"])


@pytest.mark.slow
def test_answer_rates_are_means_over_items_of_the_share_of_people_who_agree():
    table = one_choice_a_judge(n=40)
    sets = {"judges": ["a", "b"], "positive": "p", "response_set": "fits"}
    found = bj.ratings.answer_rates(bj.ratings.Ratings.from_frame(table, **sets))
    by_hand = {name: [] for name in ("matched", "accepted", "each match", "each accept")}
    for _, item in table.groupby("item"):
        people = item[item["fits"].notna()]
        (said,) = item.loc[item["rater"] == "b", "choice"]
        by_hand["matched"].append((people["choice"] == said).mean())
        by_hand["accepted"].append(np.mean([said in one.split("|") for one in people["fits"]]))
        pairs = [(x, y) for x in people.index for y in people.index if x != y]
        choice, fits = people["choice"], people["fits"]
        by_hand["each match"].append(np.mean([choice[x] == choice[y] for x, y in pairs]))
        by_hand["each accept"].append(np.mean([choice[x] in fits[y].split("|") for x, y in pairs]))
    means = {name: np.mean(values) for name, values in by_hand.items()}
    assert found["matched", "b"].value == pytest.approx(means["matched"])
    assert found["accepted", "b"].value == pytest.approx(means["accepted"])
    assert found["matched", "people"].value == pytest.approx(means["each match"])
    assert found["accepted", "people"].value == pytest.approx(means["each accept"])
    assert found["best", "accepted", "a"].value + found[
        "best", "accepted", "b"
    ].value == pytest.approx(1)
    # without response sets on half of the items, only choices are compared
    few = table.assign(fits=table["fits"].where(table["item"] < 19))
    found = bj.ratings.answer_rates(bj.ratings.Ratings.from_frame(few, **sets))
    assert "accepted" not in found
    assert "matched" in found


def test_an_answer_rate_without_an_error_still_has_an_interval():
    table = pd.DataFrame(
        [(i, who, "xy"[i % 2]) for i in range(30) for who in ("Anna", "Ben", "a")],
        columns=["item", "rater", "choice"],
    )
    data = bj.ratings.Ratings.from_frame(table, positive="x", judges=["a"])
    row = bj.ratings.answer_rates(data)["matched", "a"]
    assert row.value == row.high == 1
    assert 0.85 < row.low < 0.99


@pytest.mark.slow
def test_an_answer_rate_of_one_person_has_the_posterior_of_jeffreys_of_items_that_both_rated():
    rows = [(i, "Anna", "x") for i in range(60)]
    rows += [(i, "a", "x" if i < 28 else "y") for i in range(40)]
    table, n = pd.DataFrame(rows, columns=["item", "rater", "choice"]), 40_000
    data = bj.ratings.Ratings.from_frame(table, positive="x", judges=["a"])
    row = bj.ratings.answer_rates(data, ci_prob=0.9, draws=n)["matched", "a"]
    assert row.value == pytest.approx(28 / 40)
    exact = beta(28.5, 12.5)
    for end, prob in ((row.low, 0.05), (row.high, 0.95)):
        assert exact.cdf(end) == pytest.approx(prob, abs=4 * np.sqrt(0.05 * 0.95 / n))


def test_answer_rates_are_of_items_that_all_sources_rated():
    rows = [(i, who, "x") for i in range(40) for who in ("Anna", "Ben", "a")]
    rows += [(i, "b", "xy"[i % 2]) for i in range(20)]
    rows = [(i, who, "y" if who in ("Ben", "a") and i >= 10 else said) for i, who, said in rows]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    data = bj.ratings.Ratings.from_frame(table, positive="x", judges=["a", "b"])
    found = bj.ratings.answer_rates(data)
    assert found["matched", "a"].value == pytest.approx((10 + 10 / 2) / 20)
    assert found["matched", "people"].value == pytest.approx(10 / 20)


def test_items_of_one_person_leave_out_how_often_people_match():
    rows = [(i, who, "x") for i in range(60) for who in ("Anna", "a", "Ben")[: 3 - i // 30]]
    rows[:3] = [(0, who, "y") for who in ("Anna", "a", "Ben")]
    table = pd.DataFrame(rows, columns=["item", "rater", "choice"])
    data = bj.ratings.Ratings.from_frame(table, positive="x", judges=["a"])
    row = bj.ratings.answer_rates(data)["matched", "people"]
    assert row.value == 1
    assert row.low > 0.85  # all 30 pairs agree


@pytest.mark.slow
def test_a_judge_asked_once_is_named_best_with_and_without_sampling():
    """Its latent mode rests on the prior; how often its one answer is accepted does not."""
    data = bj.ratings.Ratings.from_frame(
        one_choice_a_judge(), positive="p", judges=["a", "b"], response_set="fits"
    )
    counted = bj.ratings.answer(*bj.ratings.closed_forms(data))
    assert "a is the best" in counted.notes[0]
    of = [bj.ratings.Definition("hit_rate", "hard", "hard")]
    open_ = bj.ratings.agreement(data, of=of, replicates=2)
    open_ = replace(
        open_,
        values=np.array([[0.72, 0.68]]),
        draws=np.array([[[0.72, 0.6]], [[0.66, 0.7]]]),
        method=methods.RESPONSE_SETS,
    )
    sampled = bj.ratings.answer(open_.estimate(), open_.best_estimate())
    assert sampled.text == counted.text
    assert sampled.quoted.method.id == "answer-rates"


def test_a_posterior_mean_lies_in_its_interval():
    data = bj.ratings.Ratings.from_frame(
        one_choice_a_judge(), positive="p", judges=["a", "b"], response_set="fits"
    )
    row = bj.ratings.alt_test_posterior(data, epsilon=0.2, random_seed=1)["winning_rate", "a"]
    assert row.low <= row.value <= row.high


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
    assert main(["ratings", str(path), *ASKED, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["estimates"]
    asked = [row["value"] for row in rows if row["quantity"] == "passes" and "good" in str(row)]
    # the judge's distance counts, not only whether it says the same
    data = bj.ratings.Ratings.from_frame(grades(), positive="5", judges=["good", "poor"])
    for scores in ("nominal", "numeric"):
        found = bj.ratings.alt_test_posterior(data, epsilon=0.1, scores=scores)
        same = asked == [pytest.approx(found["passes", "good"].value, abs=5e-3)]
        assert same or scores == "nominal"


@pytest.mark.slow
def test_three_annotators_are_a_consensus_and_names_need_no_positive_one(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    grades(("Anna", "Ben", "Cleo")).to_csv(path, index=False)
    assert main(["ratings", str(path), *ASKED]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "at least as well as half of the annotators do: good " in said
    names = grades().assign(choice=lambda t: t["choice"].map(lambda x: "fbdca"[x - 1]))
    names.to_csv(path, index=False)
    assert main(["ratings", str(path), *ASKED, "--error", "0.05:20"]) == 2
    assert "--positive is needed: by which option" in capsys.readouterr().err
    assert main(["ratings", str(path), *ASKED, "--positive", "a", "--details"]) == 0
    categorised = capsys.readouterr().out
    assert "grades-as-names" not in categorised
    assert "prevalence_bias" in categorised
    assert main(["ratings", str(path), *ASKED, "--details"]) == 0
    told = capsys.readouterr().out
    assert "prevalence_bias" not in told
    assert "positive: " not in told
    first = categorised.splitlines()[0]
    assert told.startswith(first)


def test_whether_a_judge_could_replace_a_person_is_told_with_what_is_proved():
    def of(quantity, **values):
        rows = {(judge,): (x, *NONE) for judge, x in values.items()}
        made = {quantity: bj.Quantity.of_rows(rows, ("judge",))}
        return bj.Estimate(made, method="m", ci_prob=0.95, source="s")

    proved = of("winning_rate", gpt=0.25, claude=0.75)
    for passes, few in ((0.8, True), (0.4, False)):
        (told,) = _instead_of_people([of("passes", gpt=passes, claude=0.9), proved])
        assert re.findall(r"gpt (\S+)", told) == [f"{passes:.3f}", "25"]
        assert re.findall(r"claude (\S+)", told) == ["0.900.", "75"]
        assert ("more items" in told) == few
    (told,) = _instead_of_people([of("passes", gpt=0.8)])
    assert "%" not in told
    assert _instead_of_people([proved]) == ()
