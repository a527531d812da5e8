"""Battles read from tables: what a cell means, and what is refused."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.estimate import Assumption
from bayesjudge.leaderboard import Battles, davidson, simulate
from bayesjudge.leaderboard.likelihood import agreement_of_neighbours

A, TIE, B, NONE = [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]


def battles_of(cells, **about):
    """One row per cell, x shown first, y second."""
    table = pd.DataFrame({"model_a": "x", "model_b": "y", "winner": cells, "sure": "A"})
    table["row"] = [f"r{i}" for i in range(len(cells))]
    return Battles.from_frame(table, verdict=["winner", "sure"], item="row", **about)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["A", "b", "tie", None], [A, B, TIE, NONE]),
        (["model_a", "model_b", "tie (bothbad)", "Tie"], [A, B, TIE, TIE]),
        (["winner_model_a", "winner_model_b", "winner_tie"], [A, B, TIE]),
        (["A>>B", "A>B", "A=B", "B>A", "B>>A", "[[B>>A]]"], [A, A, TIE, B, B, B]),
        (["x", "y", "x"], [A, B, A]),
        ([1, 2, 0], [A, B, TIE]),
        ([1, 2, 1], [A, B, A]),
        ([1, 0, -1], [A, TIE, B]),
        ([1, 0, 0.5], [A, B, TIE]),
        ([1.0, 2.0, 1.5, 0.0], [A, B, TIE, TIE]),
        ([0.7, 0.25, 0.5], [[0.7, 0, 0.3], [0.25, 0, 0.75], [0.5, 0, 0.5]]),
        ([1.25, 2.0, 1.5], [[0.75, 0, 0.25], B, [0.5, 0, 0.5]]),
    ],
)
def test_cells(cells, expected):
    np.testing.assert_allclose(battles_of(cells).verdict[:, 0], expected)


def test_own_words():
    read = battles_of(["neu", "alt", "?"], first_value=["neu"], second_value=["alt"],
                      missing_value=["?"])  # fmt: skip
    assert read.verdict[:, 0].tolist() == [A, B, NONE]


def test_unparsed_verdicts_are_counted():
    assert battles_of(["A", "", "B", "error"]).unparsed == (2, 0)


def test_every_problem_is_told_at_once():
    table = pd.DataFrame({"model_a": ["x", "x"], "model_b": ["y", "z"], "winner": ["great", "y"]})
    with pytest.raises(bj.InputError) as caught:
        Battles.from_frame(table)
    assert caught.value.has("unknown-verdict", value=["great"])
    assert caught.value.has("strange-winner")


def test_a_system_does_not_meet_itself():
    table = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["x", "z"], "winner": ["A", "B"]})
    with pytest.raises(bj.InputError, match="x met itself"):
        Battles.from_frame(table)


def test_one_row_a_verdict_with_people_among_the_judges():
    table = pd.DataFrame({
        "model_a": ["x"] * 4, "model_b": ["y"] * 4, "winner": ["A", "B", "tie", ""],
        "judge": ["gpt", "ann", "pair", "pair"],
    })  # fmt: skip
    read = Battles.from_frame(table, judge="judge", people=["ann"])
    assert read.judges == ("gpt", "pair")
    assert read.verdicts == {"gpt": 1, "pair": 1, "people": 1}
    assert read.unparsed == (0, 1)
    assert read.counted("people")[0, 1].tolist() == B


def test_several_people_are_averaged():
    table = pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["A"],
                          "p": ["A"], "q": ["B"], "r": ["A"]})  # fmt: skip
    read = Battles.from_frame(table, people=["p", "q", "r"])
    np.testing.assert_allclose(read.people, [[2 / 3, 0, 1 / 3]])


def test_what_people_settled_on_stands_before_their_average():
    table = simulate(items=20, random_seed=1).rename(columns={"human": "p"})
    table["q"] = table["p"].where(table.index % 3 > 0, "tie").where(table["p"].notna())
    differ = table["p"].notna() & (table["p"] != table["q"])
    table["settled"] = table["q"].where(differ & (table.index % 2 == 0))
    decided = table["settled"].notna()
    assert decided.any()
    assert (differ & ~decided).any()
    read = Battles.from_frame(table, people=["p", "q"], adjudicated="settled", item="item")
    assert read.settled == decided.sum()
    alone = {name: table[name].where(~decided, table["settled"]) for name in ("p", "q")}
    same = Battles.from_frame(table.assign(**alone), people=["p", "q"], item="item")
    np.testing.assert_allclose(read.people, same.people, atol=1e-12)
    assert (read.people != Battles.from_frame(table, people=["p", "q"], item="item").people).any()
    for about in ({}, {"judge": "p", "people": ["B"], "verdict": "q"}):
        with refused("adjudicated=", subject="leaderboard.Battles"):
            Battles.from_frame(table, adjudicated="settled", **about)


def test_swapped_verdicts_are_battles_in_the_other_order():
    table = pd.DataFrame({"model_1": ["x"], "model_2": ["y"], "g1_winner": ["model_1"],
                          "g2_winner": ["model_2"], "human": ["model_2"]})  # fmt: skip
    read = Battles.from_frame(table, first="model_1", second="model_2", verdict="g1_winner",
                              swapped="g2_winner", people="human")  # fmt: skip
    assert read.both_orders
    assert read.counted("g1_winner")[0, 1].tolist() == A
    assert read.counted("g1_winner")[1, 0].tolist() == A  # y, shown first then
    assert read.labelled == 1


def test_a_column_is_named_once():
    table = simulate(items=5, random_seed=1)
    for about in ({"people": "winner"}, {"people": ["human", "human"]}, {"swapped": "winner"}):
        with refused("verdict=", subject="leaderboard.Battles"):
            Battles.from_frame(table, **about)


def test_numbers_that_name_systems_may_be_floats():
    """An empty cell makes floats of a column of whole numbers."""
    table = pd.DataFrame({"model_a": [1, 2, 1], "model_b": [2, 1, 2], "winner": [1, 1, 2]})
    whole = Battles.from_frame(table).counted("judge")
    extra = pd.DataFrame({"model_a": [1], "model_b": [2], "winner": [None]})
    floats = pd.concat([table, extra]).astype({"winner": float})
    np.testing.assert_array_equal(Battles.from_frame(floats).counted("judge"), whole)


@pytest.mark.parametrize("cell", [">", "?", "model", "--"])
def test_a_word_without_a_place_is_not_silence(cell):
    with pytest.raises(bj.InputError) as caught:
        battles_of(["A", cell])
    assert caught.value.has("unknown-verdict", value=[cell])


def games():
    """Two games of each pair of answers."""
    table = simulate(items=40, random_seed=1)
    return table.assign(again=np.where(table.index % 5, table["winner"], ""))


def test_swapped_verdicts_go_with_one_column_of_verdicts():
    for verdict in (None, ["winner", "human"]):
        with refused("swapped=", subject="leaderboard.Battles"):
            Battles.from_frame(games(), verdict=verdict, swapped="again")


def test_swapped_verdicts_that_could_not_be_read_are_counted():
    assert Battles.from_frame(games(), swapped="again").unparsed == (80,)


def test_swapped_verdicts_belong_to_the_judge_of_their_row():
    table = games().assign(judge=lambda t: np.where(t.index % 2, "gpt", "ann"))
    read = Battles.from_frame(table, judge="judge", swapped="again", people=["ann"])
    assert read.verdicts == {"gpt": 200 + 160, "people": 200 + 160}
    assert read.unparsed == (40,)


@pytest.mark.slow
def test_both_games_of_two_answers_are_one_item():
    """A judge that says the same in both orders tells no more than in one."""
    table = games().assign(copy=lambda t: t["winner"])
    both, alone = (
        davidson(Battles.from_frame(table, **about), "judge", order=False).quantities["lead"]
        for about in ({"swapped": "copy"}, {})
    )
    np.testing.assert_allclose(both.value, alone.value, atol=1e-8)
    np.testing.assert_allclose(both.high - both.low, alone.high - alone.low, rtol=1e-6)


def test_everybody_against_one_baseline():
    table = pd.DataFrame({"model": ["x", "z"], "win_probability": [0.7, 0.2]})
    read = Battles.from_frame(table, first="model", second=None, verdict="win_probability",
                              baseline="gpt4")  # fmt: skip
    assert read.systems == ("gpt4", "x", "z")
    assert read.is_graded("win_probability")
    np.testing.assert_allclose(read.counted("win_probability")[1, 0], [0.7, 0, 0.3])


@pytest.mark.slow
def test_a_table_appended_to_itself_is_noticed():
    """By counts that are all multiples of 2 or 3, or by rows if lengths tell them apart."""
    table, lengths = simulate(items=40, random_seed=1), ("length_a", "length_b")
    for times in (1, 2, 3):
        copied = pd.concat([table] * times, ignore_index=True)
        assert Battles.from_frame(copied, people="human").copies == times
        assert Battles.from_frame(copied, people="human", lengths=lengths).copies == times
        assert Battles.from_frame(copied, people="human", item="item").copies == 1
    found = davidson(Battles.from_frame(pd.concat([table, table])), "judge")
    (caution,) = found.cautions
    assert caution.id == "copied-battles"
    assert caution.numbers["times"] == 2


@pytest.mark.slow
def test_prompts_whose_rows_stand_together_are_noticed_without_their_names():
    """On each prompt all pairs; an answer is better or worse than its system."""
    rng = np.random.default_rng(1)
    a, b = (np.tile(x, 60) for x in np.triu_indices(5, 1))
    prompt = np.repeat(np.arange(60), 10)
    effect = rng.normal(0, 1, (60, 5))
    won = rng.logistic(size=600) < effect[prompt, a] - effect[prompt, b]
    table = pd.DataFrame({"model_a": a, "model_b": b, "winner": np.where(won, "A", "B")})
    table = table.astype({"model_a": str, "model_b": str}).assign(prompt=prompt)

    def cautioned(rows, **about):
        battles = Battles.from_frame(rows, **about)
        return "neighbouring-battles" in {c.id for c in davidson(battles, "judge").cautions}

    assert cautioned(table)
    assert not cautioned(table, item="prompt")
    assert not cautioned(table.sample(frac=1, random_state=1))
    assert not cautioned(table.assign(winner=np.where(rng.random(600) < 0.5, "A", "B")))


@pytest.mark.slow
def test_a_judge_that_is_there_twice_makes_neighbours_no_more_alike():
    table = simulate(items=20, labelled=0, random_seed=1).assign(other=lambda t: t["winner"])
    once, twice = (Battles.from_frame(table, verdict=v) for v in ("winner", ["winner", "other"]))
    expected = agreement_of_neighbours(once)
    assert agreement_of_neighbours(twice) == pytest.approx(expected, rel=1e-9)
    assert abs(expected) > 0.1


@pytest.mark.slow
def test_a_table_is_let_go_once_its_cautions_are_made():
    battles = Battles.from_frame(simulate(items=5, random_seed=1))
    davidson(battles, "judge")
    gone = weakref.ref(battles)
    del battles
    gc.collect()
    assert gone() is None


@pytest.mark.slow
def test_battles_in_part_twice_are_counted_and_count_together():
    """Some again as they were, some with another verdict; the other order is no repetition."""
    table = simulate(items=40, order_effect=0, random_seed=1).drop(columns="human")
    turned = table.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned["winner"] = table["winner"].map({"A": "B", "B": "A", "tie": "tie"})
    other = table[:60].assign(winner=table["winner"][:60].map({"A": "B", "B": "tie", "tie": "A"}))
    once = davidson(Battles.from_frame(table, item="item"), "judge")
    assert not {c.id for c in once.cautions}
    both = Battles.from_frame(pd.concat([table, turned]), item="item")
    assert both.repeated == (0, 0)
    again = Battles.from_frame(pd.concat([table, table[:150], other]), item="item")
    assert again.repeated == (210, 60)
    (caution,) = davidson(again, "judge").cautions
    assert (caution.id, caution.numbers["again"]) == ("repeated-battles", 210)
    copies = Battles.from_frame(pd.concat([table, table[::2]]), item="item")
    for more in (both, copies):
        own, first = (x.quantities["strength"] for x in (davidson(more, "judge"), once))
        ratio = (own.high - own.low) / (first.high - first.low)
        assert ratio.min() > 0.95  # never as if they were new battles: .71 and .82
    # without an item all are new, and the assumption says so
    unnamed = davidson(Battles.from_frame(table), "judge")
    expected = Assumption.of("independent-items", "unnamed")
    assert unnamed.assumptions[0] == expected != once.assumptions[0]
    assert once.assumptions[0].id == expected.id


def test_people_s_numbers_have_no_cautions_of_the_judge_s_verdicts():
    table = simulate(items=40, labelled=0.5, random_seed=1)
    table["winner"] = table["winner"].where(table.index % 9 > 0)
    one = Battles.from_frame(
        table[table["model_a"] < table["model_b"]], people="human", item="item"
    )
    assert {c.id for c in davidson(one, "judge").cautions} >= {"unparsed-battles", "one-order"}
    assert not {c.id for c in davidson(one).cautions} & {"unparsed-battles", "one-order"}


@pytest.mark.slow
def test_few_even_counts_are_no_copies():
    """Few counts are even by chance, and a pair's last one by design."""
    rows = {"model_a": ["x"] * 3 + ["y"] * 3, "model_b": ["y"] * 3 + ["z"] * 3,
            "winner": ["A", "B", "tie"] * 2, "count": [2, 4, 6, 8, 2, 4]}  # fmt: skip
    assert Battles.from_counts(pd.DataFrame(rows)).copies == 1
    twice = pd.DataFrame([(f"s{i}", f"s{j}", "A", 2) for i in range(6) for j in range(i)],
                         columns=["model_a", "model_b", "winner", "count"])  # fmt: skip
    assert Battles.from_counts(twice).copies == 1
    tables = [simulate(items=12, favours=(0,) * 5, random_seed=seed) for seed in range(60)]
    assert {Battles.from_frame(t, people="human").copies for t in tables} == {1}
