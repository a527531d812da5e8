"""``bayesjudge ratings`` from a file to a screen, a document and a page."""

import json

import pytest

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


def test_ratings_prints_every_definition(answers, capsys):
    assert main(arguments(answers)) == 0
    out = capsys.readouterr().out
    assert "endorsement" in out
    assert "choices-stand-in" in out


def test_ratings_as_json(answers, capsys):
    assert main(arguments(answers, "--json")) == 0
    text = capsys.readouterr().out
    json.loads(text)
    for definition in bj.ratings.definitions():
        assert str(definition).split(" ")[0] in text


def test_ratings_page_has_pictures(answers, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(arguments(answers, "--html", str(page))) == 0
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "Rank of each judge" in text


def test_ratings_teaches_what_positive_means(answers, capsys):
    assert main(["ratings", str(answers), "--judge", "gpt"]) == 2
    assert "unsafe" in capsys.readouterr().err


def test_ratings_names_what_it_does_not_understand(answers, capsys):
    assert main([*arguments(answers), "--error", "often"]) == 2
    assert "--error often: write rate:n" in capsys.readouterr().err
    assert main([*arguments(answers), "--rater", "who"]) == 2
    assert "who" in capsys.readouterr().err
