"""Who leads: sentences, standings, pairings and the command."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from refusals import refused

import bayesjudge as bj
from bayesjudge import leaderboard as lb
from bayesjudge.cli import main
from bayesjudge.core.prior_check import prior_table
from bayesjudge.leaderboard.standings import simultaneous_ranks

LENGTHS = {"lengths": ("length_a", "length_b")}


def battles_of(table, **about):
    return lb.Battles.from_frame(table, **{"people": "human", **about})


@pytest.fixture(scope="module")
def table():
    return lb.simulate(random_seed=4, items=60, labelled=0.4)


@pytest.fixture(scope="module")
def posterior(table):
    return lb.approximate(battles_of(table))


@pytest.mark.slow
def test_standings_are_those_of_the_draws(posterior):
    found = lb.standings(posterior, baseline="s3").loc[list(posterior.data.systems)]
    draws = posterior.draws("strength")
    points = 400 / np.log(10) * (draws - draws[:, [2]])
    np.testing.assert_allclose(found["elo"], points.mean(axis=0))
    np.testing.assert_allclose(found["high"], np.quantile(points, 0.975, axis=0))
    first = np.bincount(draws.argmax(axis=1), minlength=5) / len(draws)
    np.testing.assert_allclose(found["first"], first)
    assert found.loc["s3", ["elo", "low", "high"]].tolist() == [0, 0, 0]


def test_ranks_hold_at_once():
    rng = np.random.default_rng(0)
    draws = rng.normal([3, 0.5, 0, -4], 0.6, (4000, 4))
    low, high = simultaneous_ranks(draws, 0.9)
    ranks = 1 + np.argsort(np.argsort(-draws, axis=1), axis=1)
    assert ((ranks >= low) & (ranks <= high)).all(axis=1).mean() >= 0.9
    assert low.tolist() == [1, 2, 2, 4]
    assert high.tolist() == [1, 3, 3, 4]
    close = rng.normal(1.5 * np.arange(6), 0.7, (4000, 6))  # neighbours are ordered in .93
    low, high = simultaneous_ranks(close, 0.9)
    ranks = 1 + np.argsort(np.argsort(-close, axis=1), axis=1)
    assert ((ranks >= low) & (ranks <= high)).all(axis=1).mean() >= 0.9


@pytest.mark.slow
def test_win_rate_is_davidsons_at_each_draw(posterior):
    gap = posterior.draws("strength")[:, 0] - posterior.draws("strength")[:, 4]
    tie = posterior.draws("people_tie")
    worth = np.stack([np.exp(gap / 2), tie, np.exp(-gap / 2)])
    rate = (worth[0] + worth[1] / 2) / worth.sum(axis=0)
    assert lb.win_rate(posterior, "s5")["win_rate", "s1"].value == pytest.approx(rate.mean())


def test_ahead_of_each_other_adds_to_one(posterior):
    found = lb.ahead(posterior)
    both = (found + found.T).to_numpy()
    np.testing.assert_allclose(both[~np.eye(5, dtype=bool)], 1)


@pytest.mark.slow
def test_the_answer_names_favourites_and_order():
    made = lb.simulate(random_seed=1, items=300, labelled=0.6, favours=(0, 0, 1.2, 0, 0))
    answer = lb.answer(lb.approximate(battles_of(made)))
    told = " ".join(answer.notes)
    assert re.search(r"The judge likes s3 \d+ Elo points more \(", told)
    assert "being shown first is worth" in told
    assert answer.text.startswith("People prefer s1 to the rest")
    assert answer.known
    assert answer.worth[""].known


def test_a_judge_alone_is_no_answer_about_people(table):
    found = lb.answer(*lb.closed_forms(battles_of(table, people=None)))
    assert not found.known
    assert found.text.startswith("The judge prefers ")
    assert found.quoted.method.id == "battles-judge:judge"


def test_the_judge_is_named_without_the_settings_of_the_method(table):
    read = battles_of(
        table.rename(columns={"winner": "gpt"}), people=None, verdict="gpt", **LENGTHS
    )
    for target in ("any length", "equal length"):
        found = lb.answer(lb.davidson(read, "gpt", ties="half", target=target))
        assert found.text.startswith("The judge gpt prefers s2")


@pytest.mark.slow
def test_people_alone_learn_from_no_judge(table):
    found = lb.answer(lb.approximate(battles_of(table, verdict=None), draws=200))
    assert found.why == "Quoted: Bayesian (corrected Laplace), of people's verdicts alone."


@pytest.mark.slow
def test_worth_stands_on_top_of_the_labels_of_the_table(table):
    """Also if battles share items, or several people are averaged."""
    twice = battles_of(pd.concat([table, table]), item="item")
    assert lb.answer(lb.approximate(twice)).worth[""].labels == twice.labelled


@pytest.mark.slow
def test_an_undecided_first_place_is_not_claimed(table):
    level = table.assign(human=table["human"].where(table.index < 12))
    found = lb.answer(lb.approximate(battles_of(level)))
    assert found.text.startswith("No system leads for people yet")


@pytest.mark.slow
def test_the_average_of_several_people_is_named(table):
    rng = np.random.default_rng(1)
    second = table["human"].where(rng.random(len(table)) < 0.5)
    both = battles_of(table.assign(second=second), people=["human", "second"])
    found = lb.answer(*lb.closed_forms(both))
    assert "with a verdict of 2 people, their average where they differ;" in found.basis
    settled = table.assign(second=second, final=table["human"].where(table.index < 9))
    final = battles_of(settled, people=["human", "second"], adjudicated="final")
    found = lb.answer(*lb.closed_forms(final)).basis
    assert f"where they differ, {settled['final'].notna().sum()} settled;" in found
    one = battles_of(settled.assign(final="A"), people="human", adjudicated="final")
    assert f"people's verdict, {len(settled)} settled;" in lb.answer(*lb.closed_forms(one)).basis
    assert "people's verdict;" in lb.answer(*lb.closed_forms(battles_of(table))).basis


@pytest.mark.slow
def test_two_systems_are_named(table):
    two = table[table["model_a"].isin(["s1", "s5"]) & table["model_b"].isin(["s1", "s5"])]
    assert lb.answer(lb.approximate(battles_of(two))).text.startswith("People prefer s1 to s5")


@pytest.mark.parametrize(
    ("change", "caution"),
    [
        (lambda t: t[t["model_a"] < t["model_b"]], "one-order"),
        (lambda t: t.assign(winner=t["winner"].where(t.index % 9 > 0)), "unparsed-battles"),
        (lambda t: t.assign(human=t["human"].where(~_has(t, "s5"))), "unconnected"),
        (lambda t: t.assign(human=t["human"].where(~_has(t, "s1"), _wins(t, "s1"))), "one-sided"),
    ],
    ids=["one order", "unparsed", "without people", "wins all"],
)
@pytest.mark.slow
def test_why_an_interval_is_wide(table, change, caution):
    found = lb.approximate(battles_of(change(table)))
    assert caution in {c.id for c in found.cautions}
    assert np.isfinite(found.draws("strength")).all()


def _has(table, name):
    return (table["model_a"] == name) | (table["model_b"] == name)


def _wins(table, name):
    return pd.Series(np.where(table["model_a"] == name, "A", "B"), table.index)


@pytest.mark.slow
def test_of_a_table_labelled_throughout_no_worth_is_told(table):
    """No battle is left on which the judge could stand for people."""
    every = table.assign(human=table["human"].fillna("A"))
    found = lb.answer(lb.approximate(battles_of(every)))
    assert found.known
    assert not found.worth
    assert not any("more label" in note for note in found.notes)


@pytest.mark.slow
def test_the_target_is_named(table):
    battles = battles_of(table, **LENGTHS)
    equal = lb.CalibratedBattles(target="equal length")
    fit, formulas = lb.approximate(battles, equal), lb.closed_forms(battles, target=equal.target)
    assert " at equal length: " in lb.answer(fit, *formulas).text
    assert " at equal length: " in lb.answer(*formulas).text
    alone = battles_of(table, people=None, **LENGTHS)
    found = lb.answer(*lb.closed_forms(alone, target="equal length"))
    assert found.text.startswith("The judge prefers s2 at equal length: ")
    assert "equal length" not in lb.answer(*lb.closed_forms(battles)).text
    with pytest.raises(bj.InputError, match="target"):
        lb.CalibratedBattles(target="same length")
    with pytest.raises(bj.InputError, match="lengths="):
        lb.approximate(battles_of(table), equal)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stated", "statistic"),
    [
        ({"order_scale": 0.001}, "first_less_second"),
        ({"tie_location": -5.0}, "tie_share"),
        ({"judge_scale": 0.01}, "judge_gap"),
        ({"liking_scale": 0.001, "sharpness": 0.5}, "people_beside_judge"),
    ],
    ids=str,
)
def test_stated_priors_that_the_data_contradict(stated, statistic):
    table = lb.simulate(favours=(0, 2.5, 0, 0, 0), order_effect=1, labelled=0.7, random_seed=1)
    model = lb.CalibratedBattles(**stated)
    found = lb.check_prior(battles_of(table), model, random_seed=1)
    found = found.set_index("statistic")["surprising"]
    assert found[[statistic]].any()
    cautions = {c.id: c for c in lb.approximate(battles_of(table), model, draws=200).cautions}
    assert cautions["prior-data-conflict"].numbers["named"].startswith(statistic)
    mild = lb.CalibratedBattles(order_scale=0.4, tie_location=-0.9)
    told = {c.id for c in lb.approximate(battles_of(table), mild, draws=200).cautions}
    assert "prior-data-conflict" not in told


def test_only_statistics_of_stated_priors_are_looked_at(table):
    """Priors that nobody stated expect little, and raise nothing."""
    model, rng = lb.CalibratedBattles(order_scale=0.2), np.random.default_rng(1)
    found = prior_table(model, battles_of(table), rng, stated=True)
    assert found["statistic"].tolist() == ["first_less_second"]
    assert not lb.CalibratedBattles(target="equal length")._states_priors()


@pytest.mark.slow
def test_ties_only_have_no_closed_form_and_no_leader(table):
    tied = battles_of(table.assign(winner="tie", human="tie"))
    with pytest.raises(bj.InputError, match="only ties"):
        lb.closed_forms(tied)
    assert lb.answer(lb.approximate(tied)).text.startswith("No system leads")


def test_pairings_go_where_the_first_place_is_decided(posterior):
    plan = lb.next_pairings(posterior, decide=("s3", "s4"), probability=0.999)
    top = plan.pairs.iloc[0]
    assert {top["first"], top["second"]} == {"s3", "s4"}
    assert plan.needed == plan.pairs["battles"].sum() > 0
    assert lb.next_pairings(posterior, decide=("s5", "s1")).needed == 0
    assert plan.pairs["judged"].sum() == posterior.data.labelled
    for decide in (("s1", "s1"), ("s1",), ("s1", "s2", "s3")):
        with refused("s1", subject="leaderboard.next_pairings"):
            lb.next_pairings(posterior, decide=decide)


@pytest.mark.slow
def test_planned_battles_narrow_a_contrast_as_foretold():
    """Of two systems: m battles with information i each, beside the posterior's variance."""
    made = lb.simulate(strengths=(0.15, -0.15), favours=(0, 0), items=400, labelled=0.5,
                       random_seed=2)  # fmt: skip
    fit = lb.approximate(battles_of(made))
    plan = lb.next_pairings(fit, probability=0.999)
    gap = fit.draws("strength") @ [1, -1]
    tie = fit.draws("people_tie").mean()
    worth = np.array([np.exp(gap.mean() / 2), tie, np.exp(-gap.mean() / 2)])
    share = worth / worth.sum()
    told = (share[0] + share[2] - (share[0] - share[2]) ** 2) / 4
    sd = abs(gap.mean()) / 3.09
    assert plan.needed == pytest.approx((1 / sd**2 - 1 / gap.var()) / told, rel=0.25)


@pytest.mark.slow
def test_a_gate_on_a_contrast(posterior):
    gate = bj.decide.gate(posterior, entry=("strength", "s1"), against="s5")
    assert gate.outcome == "pass"
    assert len(gate.checks) == 1
    with pytest.raises(bj.InputError, match="no entry 's9'"):
        bj.decide.gate(posterior, entry=("strength", "s9"), against="s5")


@pytest.mark.slow
def test_command(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.to_csv("battles.csv", index=False)
    line = ["leaderboard", "battles.csv", "--people", "human", "--html", "page.html"]
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    answer = lb.answer(lb.approximate(battles_of(table)))
    assert found["answer"]["text"] == answer.text
    names = {row["system"] for row in found["leaderboard"]["standings"]}
    assert names == {"s1", "s2", "s3", "s4", "s5"}
    assert found["next_pairings"]["pairs"]
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") >= 3
    assert answer.text.split(":")[0] in page


@pytest.mark.slow
def test_known_columns_of_mt_bench_and_of_people_alone(tmp_path, monkeypatch, capsys, table):
    monkeypatch.chdir(tmp_path)
    games = pd.DataFrame({"question_id": range(40), "model_1": ["x", "y"] * 20,
                          "model_2": ["y", "z"] * 20,
                          "g1_winner": ["model_1", "model_2", "tie", "model_1"] * 10,
                          "g2_winner": ["model_1", "model_1", "tie", "error"] * 10})  # fmt: skip
    games.to_csv("games.csv", index=False)
    assert main(["leaderboard", "games.csv"]) == 0
    assert "The judge g1_winner prefers" in capsys.readouterr().out
    by_prompt = table.assign(question_id=table.index % 30).drop(columns="item")
    by_prompt.to_csv("prompts.csv", index=False)
    assert main(["leaderboard", "prompts.csv", "--people", "human", "--json"]) == 0
    named = lb.answer(lb.approximate(battles_of(by_prompt, item="question_id")))
    assert json.loads(capsys.readouterr().out)["answer"]["text"] == named.text
    users = [f"arena_user_{i % 90}" for i in range(len(table))]
    table.drop(columns="human").assign(judge=users).to_csv("arena.csv", index=False)
    assert main(["leaderboard", "arena.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["inputs"]["labelled"] == 600
    assert main(["doctor", "arena.csv"]) == 0
    assert "leaderboard arena.csv --people winner" in " ".join(capsys.readouterr().out.split())
    table.drop(columns="human").assign(judge="human-eval-7b").to_csv("judged.csv", index=False)
    assert main(["doctor", "judged.csv"]) == 0
    assert "leaderboard judged.csv --verdict winner" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_systems_called_like_an_empty_cell_are_systems(tmp_path, monkeypatch, capsys):
    """As verdicts, such words name a system where it took part, and are no verdict elsewhere."""
    monkeypatch.chdir(tmp_path)
    names = ["NA", "None", "null", "nan", "1.0", "1"]
    rows = [f"{a},{b},model_{'ab'[i % 2]},{a if i % 3 else ''}"
            for i, (a, b) in enumerate(itertools.permutations(names, 2))]  # fmt: skip
    Path("battles.csv").write_text("\n".join(["model_a,model_b,winner,human", *rows]))
    assert main(["leaderboard", "battles.csv", "--people", "human", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["system"] for row in printed["leaderboard"]["standings"]} == {*names}
    assert printed["inputs"] | {"battles": 30, "labelled": 20} == printed["inputs"]


@pytest.mark.slow
def test_logs_of_pairs(capsys):
    logs = [*shared("data/log_formats/arena_hard").glob("*.jsonl")]
    assert logs
    for log in logs:
        assert main(["leaderboard", str(log)]) == 0
        assert capsys.readouterr().out.startswith("People were not asked")


def test_a_log_of_weighted_preferences_is_read_as_probabilities(tmp_path, monkeypatch, capsys):
    """AlpacaEval's weighted annotators tell how probably the model wins: 2 is sure of it."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"instruction": f"q{i}", "generator_1": "old", "generator_2": "new",
         "annotator": "weighted", "preference": 1 + p}
        for i, p in enumerate([0.55, 0.6, 0.4, 0.58, 0.7, 0.45, 0.52, 0.65] * 5)
    ]  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(rows))
    assert main(["leaderboard", "log.json", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (row,) = [one for one in found["estimates"] if one["where"] == {"system": "new"}]
    share = np.mean([r["preference"] - 1 for r in rows])
    assert row["value"] == pytest.approx(200 / np.log(10) * np.log(share / (1 - share)), rel=1e-6)


@pytest.mark.slow
def test_a_judge_whose_column_is_empty_judged_nothing(table):
    found = lb.answer(lb.approximate(battles_of(table.assign(winner="")), draws=200))
    assert "judged by" not in found.basis
    assert found.why == "Quoted: Bayesian (corrected Laplace), of people's verdicts alone."


@pytest.mark.slow
def test_three_columns_of_one_verdict_are_not_three_judges(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}
    said = {column: table["winner"].eq(word).astype(int) for column, word in said.items()}
    table[["model_a", "model_b"]].assign(**said).to_csv("votes.csv", index=False)
    for asked in ([], ["--verdict", "winner_model_a"], ["--people", "winner_tie"]):
        assert main(["leaderboard", "votes.csv", *asked]) == 2
        assert "idxmax" in capsys.readouterr().err
    assert main(["doctor", "votes.csv", "--json"]) == 0
    assert "leaderboard" not in " ".join(
        one["command"] for one in json.loads(capsys.readouterr().out)["answers"]
    )


@pytest.mark.slow
def test_columns_and_systems_that_there_are_not(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.to_csv("battles.csv", index=False)
    for option, told in (("--baseline", "no system 'nope'"), ("--swapped", "no column 'nope'")):
        assert main(["leaderboard", "battles.csv", "--people", "human", option, "nope"]) == 2
        assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
@pytest.mark.parametrize("item", ["item", "prompt"])
def test_peoples_verdicts_may_be_in_a_file_of_their_own(item, table, tmp_path, monkeypatch, capsys):
    """Battles are told apart by the item and both systems, in whichever order the rows stand."""
    monkeypatch.chdir(tmp_path)
    of_two = table.assign(item=[f"q{i % 60}" for i in range(len(table))], second=table["human"])
    of_two.loc[of_two["human"] == "A", "second"] = "tie"
    of_two.to_csv("one.csv", index=False)
    people = ["human", "second"]
    of_two.drop(columns=people).to_csv("judge.csv", index=False)
    theirs = of_two.dropna(subset="human")[["item", "model_a", "model_b", *people]]
    theirs.sample(frac=1, random_state=1).rename(columns={"item": item}).to_csv(
        "people.csv", index=False
    )

    def numbers(*asked):
        assert main(["leaderboard", *asked, "--people", *people, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["estimates"]
        return np.array([[row[name] for name in ("low", "value", "high")] for row in rows], float)

    alone = numbers("judge.csv", "--labels", "people.csv", "--item", item)
    np.testing.assert_allclose(alone, numbers("one.csv"), rtol=1e-12)
    assert main(["leaderboard", "judge.csv", "--labels", "people.csv"]) == 2
    assert "--people" in capsys.readouterr().err
    assert main(["leaderboard", "one.csv", "--labels", "people.csv", "--people", *people]) == 2
    assert "one.csv has human and second" in " ".join(capsys.readouterr().err.split())


def test_all_met_one_system(tmp_path, monkeypatch, capsys):
    """The refusal of AlpacaEval's own columns has the option with which the line runs."""
    monkeypatch.chdir(tmp_path)
    chances = np.random.default_rng(1).random(90)
    rows = {"item": np.repeat(range(30), 3), "model": [*"abc"] * 30, "win_probability": chances}
    pd.DataFrame(rows).to_csv("battles.csv", index=False)
    assert main(["leaderboard", "battles.csv"]) == 2
    option = re.search(r"--baseline \w+", capsys.readouterr().err)
    assert option is not None
    assert main(["leaderboard", "battles.csv", *option[0].split(), "--json"]) == 0
    inputs = json.loads(capsys.readouterr().out)["inputs"]
    assert inputs["battles"] == 90


@pytest.mark.slow
def test_other_judges_are_no_other_method(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = lb.simulate(random_seed=4, items=60, labelled=0.4)
    rng = np.random.default_rng(1)
    table["noise"] = rng.choice(["A", "B"], len(table), p=[0.8, 0.2])
    table.to_csv("battles.csv", index=False)
    line = ["leaderboard", "battles.csv", "--verdict", "winner", "noise", "--people", "human"]
    assert main(line) == 0
    assert "Other methods differ by at most" in capsys.readouterr().out


@pytest.mark.slow
def test_large_gaps_between_methods_are_whole_points(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    far = lb.simulate(random_seed=3, items=60, labelled=0.03, strengths=(1.6, 0.5, 0, -0.5, -1.6))
    far.to_csv("battles.csv", index=False)
    assert main(["leaderboard", "battles.csv", "--people", "human"]) == 0
    assert re.search(r"  Other methods differ by at most \d{3} \(", capsys.readouterr().out)


@pytest.mark.slow
def test_both_games_of_a_log_share_their_prompt(tmp_path, monkeypatch, capsys):
    """A judge that says the same in both games tells no more than in one."""
    monkeypatch.chdir(tmp_path)
    won = [i % 5 < 3 for i in range(40)]
    rows = [
        {"question_id": f"q{i}", "model": "new", "judge": "j",
         "games": [{"score": "B>A" if w else "A>B"}, {"score": "A>B" if w else "B>A"}]}
        for i, w in enumerate(won)
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["leaderboard", "log.jsonl", "--json"]) == 0
    estimates = json.loads(capsys.readouterr().out)["estimates"]
    (row,) = [one for one in estimates if one["where"] == {"system": "new"}]
    table = pd.DataFrame({"model_a": "new", "model_b": "old", "winner": won}).astype(
        {"winner": int}
    )
    one_game = lb.davidson(lb.Battles.from_frame(table), "judge")["lead", "new"]
    points = 200 / np.log(10)
    assert row["value"] == pytest.approx(points * one_game.value, rel=1e-6)
    width = points * (one_game.high - one_game.low)
    assert row["high"] - row["low"] == pytest.approx(width, rel=0.02)


@pytest.mark.slow
def test_doctor_reads_battles(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.to_csv("battles.csv", index=False)
    assert main(["doctor", "battles.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (line,) = [one["command"] for one in found["answers"]]
    assert line == "bayesjudge leaderboard battles.csv --verdict winner --people human --item item"


@pytest.mark.slow
def test_draws_made_at_once_are_saved_and_loaded(posterior, tmp_path):
    loaded = bj.load(posterior.save(tmp_path / "fit.nc"))
    assert loaded.method == posterior.method
    np.testing.assert_array_equal(loaded.draws("strength"), posterior.draws("strength"))
    assert lb.answer(loaded).text == lb.answer(posterior).text
