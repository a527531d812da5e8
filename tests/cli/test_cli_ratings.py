"""``bayesjudge ratings`` from a file to a screen, a document and a page."""

import json
import re

import pandas as pd
import pytest
from conftest import MODULES

import bayesjudge as bj
from bayesjudge.cli import main


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    path = tmp_path_factory.mktemp("ratings") / "answers.csv"
    bj.ratings.simulate(items=60, random_seed=1).to_csv(path, index=False)
    return path


def arguments(path, *more):
    named = ["--positive", "yes", "--judge", "gpt", "--judge", "claude"]
    return ["ratings", str(path), *named, "--response-set", "response_set", "--no-nuts", *more]


@pytest.mark.slow
def test_ratings_prints_every_definition(answers, capsys):
    assert main(arguments(answers, "--details")) == 0
    out = capsys.readouterr().out
    assert "endorsement" in out
    assert "choices-stand-in" in out


@pytest.mark.slow
def test_ratings_begins_with_who_agrees_with_people(answers, capsys):
    asked = arguments(answers, "--ties", "first", "--epsilon", "0.15")
    assert main(asked) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.match(
        r"People accept \w+'s answer in \d+ % of cases \(\d+ to \d+ %, 95 % interval\), "
        r"each other's in \d+ %\. ", said
    )  # fmt: skip
    assert main([*asked, "--details"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "gpt against the people's majority: hit rate 0." in said
    assert "Best by hit rate: " in said


@pytest.mark.slow
def test_a_duplicated_vote_is_refused_with_the_option_that_counts_it_once(
    answers, tmp_path, capsys
):
    table = pd.read_csv(answers)
    person = table[~table["rater"].isin(["gpt", "claude"])].head(1)
    copied = tmp_path / "copied.csv"
    pd.concat([table, person]).to_csv(copied, index=False)
    assert main(arguments(answers, "--json")) == 0
    expected = json.loads(capsys.readouterr().out)["answer"]
    assert main(arguments(copied, "--json")) == 2
    assert "--repeated one" in capsys.readouterr().err
    assert main(arguments(copied, "--json", "--repeated", "one")) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == expected


@pytest.mark.slow
def test_ratings_as_json(answers, capsys):
    assert main(arguments(answers, "--json")) == 0
    text = capsys.readouterr().out
    json.loads(text)
    for definition in bj.ratings.definitions():
        assert str(definition).split(" ")[0] in text


@pytest.mark.slow
def test_ratings_page_has_pictures(answers, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(arguments(answers, "--html", str(page))) == 0
    text = page.read_text()
    assert text.count("<svg") >= 2 * 5 - 1  # for a screen, and most for a phone
    assert "Rank of each judge" in text


@pytest.mark.slow
def test_ratings_teaches_what_positive_means(answers, capsys):
    assert main(["ratings", str(answers), "--judge", "gpt"]) == 2
    assert "unsafe" in capsys.readouterr().err


def test_ratings_sees_a_mistyped_option(answers, capsys):
    assert main(["ratings", str(answers), "--judge", "gpt", "--positve", "yes"]) == 2
    told = capsys.readouterr().err
    assert "--positve" in told
    assert "Did you mean --positive?" in told


@pytest.mark.slow
def test_the_best_grade_is_the_positive_one(tmp_path, capsys):
    path = tmp_path / "grades.csv"
    rows = [(i, who, 1 + (i + (i % 3) * n) % 5) for i in range(12) for n, who in enumerate("abj")]
    pd.DataFrame(rows, columns=["item", "rater", "choice"]).to_csv(path, index=False)
    asked = ["ratings", str(path), "--judge", "j", "--no-nuts", "--error", "0.05:20", "--json"]
    assert main([*asked, "--shift-from", "4"]) == 0
    assert main([*asked, "--shift-from", "5"]) == 2
    assert "name one of ['1', '2', '3', '4']" in capsys.readouterr().err


@pytest.mark.slow
def test_ratings_names_what_it_does_not_understand(answers, capsys):
    assert main([*arguments(answers), "--error", "often"]) == 2
    assert "--error often: write rate:n" in capsys.readouterr().err
    assert main([*arguments(answers), "--rater", "who"]) == 2
    assert "who" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("--shift-from", "maybe"), "--shift-from maybe: name one of ['no']"),
        (("--separator", ";"), "does --separator ';' stand between"),
        (("--judge", "gemini"), "no rater 'gemini' for a judge"),
    ],
)
def test_ratings_names_a_mistyped_value(answers, capsys, wrong, words):
    assert main(arguments(answers, *wrong)) == 2
    assert words in capsys.readouterr().err


def test_ratings_speaks_of_repeated_options_as_the_command_line_does(answers, capsys):
    assert main(["ratings", str(answers), "--positive", "yes", "--judge", "gpt"]) == 2
    assert "name judges in --judge, give people names" in capsys.readouterr().err


@pytest.mark.slow
def test_ratings_recodes_a_judge_that_was_asked_the_opposite(tmp_path, capsys):
    table = bj.ratings.simulate(items=300, random_seed=1)
    answers = tmp_path / "answers.csv"
    table.to_csv(answers, index=False)
    gpt = table["rater"] == "gpt"
    turn = {"yes": "no", "no": "yes"}
    opposite = table.assign(choice=table["choice"].mask(gpt, table["choice"].map(turn)))
    opposite = opposite.assign(
        response_set=table["response_set"].mask(gpt, table["response_set"].replace(turn))
    )
    path = tmp_path / "opposite.csv"
    opposite.to_csv(path, index=False)
    assert main(arguments(path, "--json")) == 0
    told = capsys.readouterr()
    assert "polarity" in told.out + told.err
    turned = ("--recode", "gpt:yes=no", "--recode", "gpt:no=yes")
    assert main(arguments(path, *turned, "--json")) == 0
    mended = json.loads(capsys.readouterr().out)
    assert main(arguments(answers, "--json")) == 0
    right = json.loads(capsys.readouterr().out)
    for result in (mended, right):
        result.pop("inputs", None)
    assert mended["estimates"] == right["estimates"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("gpt", "write judge:said=meant"),
        ("gtp:yes=no", "recode names 'gtp'"),
        ("gpt:Yes=no", "never says ['Yes']"),
    ],
)
def test_ratings_names_a_recoding_that_does_nothing(answers, capsys, wrong, words):
    assert main(arguments(answers, "--recode", wrong)) == 2
    assert words in capsys.readouterr().err


@pytest.mark.own_model
@pytest.mark.sampling
def test_what_follows_from_a_fit_is_reported(fit_of):
    from bayesjudge.cli.ratings import follow_up

    fit = fit_of(next(one for one in MODULES if one.name == "ratings"))
    worth = bj.ratings.performance(fit, of=[bj.ratings.Definition("mse")], draws=50)
    made = follow_up(fit, worth, 0.5, 0.95, 1)
    assert ("best", "mse (srs/srs)", "gpt") in {
        (name, *where.values()) for one in made for name, where, _ in one.rows()
    }
    assert 0 <= made[-1]["prevalence", 0.5, "people"].value <= 1
    assert 0 <= made[-1]["tracking", "claude"].value <= 1
    assert "tracking" in bj.report(fit, *made)


@pytest.mark.slow
def test_a_column_of_each_grader_counts_as_one_row_an_answer(tmp_path, monkeypatch, capsys):
    """Of choices and of response sets; the same numbers as of the long table."""
    monkeypatch.chdir(tmp_path)
    answers = ["a", "b", "a|b", "b", "a", "a|c", "c", "b|c"]
    graders = ("ann", "bob", "gpt")
    wide = pd.DataFrame({"id": range(24)})
    for k, name in enumerate(graders):
        wide[name] = [answers[(i * (k + 1)) % 8] for i in range(24)]
    for cells, option in (("sets", "--response-set"), ("choices", "--choice")):
        table = wide.copy()
        for name in graders if cells == "choices" else ():
            table[name] = table[name].str[0]
        table.to_csv("wide.csv", index=False)
        table.melt("id", var_name="who", value_name="said").to_csv("long.csv", index=False)
        asked = ["--item", "id", "--positive", "a", "--judge", "gpt", "--no-nuts", "--json"]
        told = []
        for words in (
            ["wide.csv", "--people", "ann", "--people", "bob"]
            + (["--separator", "|"] if cells == "sets" else []),
            ["long.csv", "--rater", "who", option, "said"],
        ):
            assert main(["ratings", *words, *asked]) == 0
            told.append(json.loads(capsys.readouterr().out)["estimates"])
        assert told[0] == told[1]
    assert main(["ratings", "wide.csv", "--people", "ann", "--choice", "x", *asked]) == 2
    assert "leave out --choice" in capsys.readouterr().err
