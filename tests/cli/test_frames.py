"""`read` and `ask`: from a data frame to answers, as one would guess."""

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.datasets import keep_labels, xstest

P = bj.prevalence


@pytest.fixture(scope="module")
def systems():
    return keep_labels(xstest(), 100, 2024, by="system")


@pytest.mark.slow
def test_read_gives_the_data_of_the_question(systems):
    one = systems[systems["system"] == "gpt4"]
    how = {"calibration": "random", "unparsed": "fail"}
    assert isinstance(bj.read(one, **how), P.Counts)
    assert isinstance(bj.read(systems, by="system", item="item", **how), P.items.Items)
    scores = P.scores.simulate(random_seed=1)
    read = bj.read(scores, score="score", scale=(0, 1), calibration="random")
    assert isinstance(read, P.scores.Scores)
    classes = P.classes.simulate(random_seed=1)
    read = bj.read(classes, classes=["a", "b", "c"], calibration="random")
    assert isinstance(read, P.classes.ClassCounts)


@pytest.mark.slow
def test_a_file_is_read_as_its_table_is(systems, tmp_path):
    one = systems[systems["system"] == "llama2new"]
    one.to_csv(tmp_path / "rows.csv", index=False)
    table, file = (bj.read(x, calibration="random") for x in (one, tmp_path / "rows.csv"))
    assert table.test_pass == file.test_pass
    assert table.labelled_n == file.labelled_n == 100


@pytest.mark.slow
def test_ask_answers_as_the_modules_functions_do(systems):
    counts = bj.read(systems[systems["system"] == "llama2new"], calibration="random")
    found = bj.ask(counts)
    direct = P.answer(*P.closed_forms(counts), P.exact(counts))
    assert list(found) == ["prevalence"]
    assert found.prevalence.text == direct.text
    assert found.prevalence.value == P.exact(counts)["prevalence"].value
    assert found.prevalence.interval == tuple(P.exact(counts)["prevalence"])[1:]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["panel", "ratings", "repeats", "bias", "attempts"])
def test_ask_takes_data_of_every_module(module):
    home = getattr(bj, module)
    read = {
        "panel": lambda t: home.Votes.from_frame(t, calibration="random"),
        "ratings": lambda t: home.Ratings.from_frame(
            t, positive="yes", judges=["gpt", "claude"], response_set="response_set"
        ),
        "repeats": lambda t: home.Scores.from_frame(t, scale=range(1, 6)),
        "bias": lambda t: home.Shifts.from_frame(t, scale=(0, 100), design="item"),
        "attempts": lambda t: home.Attempts.from_frame(t, calibration="random", k=(1, 2)),
    }[module]
    found = bj.ask(read(home.simulate(random_seed=1)))
    assert found[module].text
    assert module in dir(found)


@pytest.mark.slow
def test_ask_answers_what_a_table_allows_and_says_what_is_missing(systems):
    found = bj.ask(systems.drop(columns=["type", "focus"], errors="ignore"))
    assert "prevalence" in found
    assert set(found.prevalence.value) == set(systems["system"])
    assert "panel" in found.diagnosis.missing
    with pytest.raises(AttributeError, match="there are"):
        found.panel  # noqa: B018
    alone = bj.ask(pd.DataFrame({"item": range(30), "judge": ["pass", "fail"] * 15}))
    assert not len(alone)
    assert repr(alone) == repr(alone.diagnosis)


@pytest.mark.slow
def test_an_answer_is_numbers_a_table_and_a_picture(systems):
    answer = bj.ask(bj.read(systems, by="system", item="item", calibration="random",
                            unparsed="fail")).prevalence  # fmt: skip
    table = answer.table
    assert table.equals(answer.to_frame())
    assert table["value"].tolist() == list(answer.value.values())
    assert [*zip(table["low"], table["high"], strict=True)] == list(answer.interval.values())
    assert np.isfinite(table["judge"]).all()
    ax = answer.plot()
    assert len(ax.get_yticklabels()) == 5


@pytest.mark.slow
def test_ask_gives_the_intervals_that_were_asked_for(systems):
    one = systems[systems["system"] == "gpt4"]
    read = bj.read(one, calibration="random", unparsed="fail")
    for data in (one, read):
        answer = bj.ask(data, ci_prob=0.9).prevalence
        assert answer.quoted.ci_prob == 0.9
    with refused(ci_prob=95):
        bj.ask(one, ci_prob=95)


def test_ask_says_what_it_takes(systems):
    read = bj.read(systems[systems["system"] == "gpt4"], calibration="random", unparsed="fail")
    for data in ({}, [1, 2], None, P.naive(read)):
        with pytest.raises(bj.InputError, match="expected a"):
            bj.ask(data)
    with refused("labels=", "truth=", subject="ask"):
        bj.ask(read, systems, truth="truth")


@pytest.mark.slow
def test_a_diagnosis_names_no_folder_of_ours(systems):
    for found in (bj.ask(systems.drop(columns="truth")).diagnosis, bj.ask(systems).diagnosis):
        assert "tmp" not in found.screen(100)
        assert not any("tmp" in str(one) for one in found.answers)


def test_ask_takes_what_a_judge_is_measured_by(systems):
    one = systems[systems["system"] == "gpt4"]
    judged = bj.judge.Judged.from_frame(one, verdict="verdict", truth="truth", calibration="random",
                                        unparsed="fail")  # fmt: skip
    assert bj.ask(judged).judge.text


@pytest.mark.slow
def test_ask_takes_columns_by_their_names(systems):
    table = systems.rename(columns={"system": "x", "truth": "y"})
    answer = bj.ask(table, generator="x", truth="y").prevalence
    assert set(answer.value) == set(systems["system"])


def test_of_two_systems_the_value_is_the_difference_that_the_sentence_says(systems):
    """The better one less the other; the table keeps a share of each."""
    two = systems[systems["system"].isin(["gpt4", "llama2orig"])]
    read = bj.read(two, by="system", item="item", calibration="random", unparsed="fail")
    answer = bj.ask(read).prevalence
    low, high = answer.interval
    assert 0 < low < answer.value < high
    assert f"{100 * answer.value:.0f} points" in answer.text
    shares = answer.table.set_index("system")["value"]
    assert answer.value == pytest.approx(shares["gpt4"] - shares["llama2orig"], abs=0.05)
    scores = P.scores.simulate(random_seed=1).assign(system=["a", "b"] * 600)
    read = bj.read(scores, score="score", scale=(0, 1), by="system", calibration="random")
    gap = P.scores.unpaired_difference(read)
    answer = P.answer(*P.scores.by_system(read), gap)
    assert answer.value == abs(gap.quantities["difference"].value[0])


def test_read_refuses_with_the_call_to_paste(systems):
    table = systems[systems["system"] == "gpt4"]
    with pytest.raises(bj.InputError) as refusal:
        bj.read(table, unparsed="fail")
    (problem,) = refusal.value.problems
    assert problem.id == "calibration-not-given"
    pasted = eval(f"bj.read(table, {problem.numbers['call']})", {"bj": bj, "table": table})
    assert pasted.labelled_n == 100


@pytest.mark.slow
@pytest.mark.parametrize("column", ["verdict", "score"])
def test_a_frame_without_labels_gets_lines_of_python_that_run(column):
    rng = np.random.default_rng(1)
    said = {"verdict": ["pass", "fail"] * 30, "score": rng.integers(1, 6, 60)}[column]
    table = pd.DataFrame({"item": range(60), "judge": said}, index=np.arange(60) + 7)
    (_, draw), (_, read) = bj.doctor(table).labelling
    names = {"bj": bj, "table": table}
    exec(draw, names)
    people = {"verdict": [1, 0, 1, 1, 0], "score": [1, 5, 3, 4, 2]}[column]
    names["labels"]["truth"] = people * 4
    answers = eval(read, names)
    assert "prevalence" in answers
    assert "20" in answers.prevalence.basis
    screen = repr(bj.doctor(table))
    assert "bayesjudge label" not in screen
    assert "bj.ask(table, labels)" in screen
