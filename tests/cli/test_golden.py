"""Screens, Markdown and JSON of each command, kept: a change of words is seen in review.

``BAYESJUDGE_GOLDEN=write pytest tests/cli/test_golden.py`` writes them anew.
"""

import functools
import html
import itertools
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from commands import options_by_command, run

import bayesjudge as bj
from bayesjudge.cli import main, output
from bayesjudge.cli.options import Files, Shared
from bayesjudge.cli.output import Story, present
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.render.json import to_json
from bayesjudge.render.markdown import to_markdown
from bayesjudge.render.page import Page

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("BAYESJUDGE_GOLDEN") == "write"
LABELS = "--verdict verdict --truth truth --calibration random"
COMMANDS = {
    "prevalence": f"prevalence one.csv {LABELS}",
    "systems": f"prevalence all.csv {LABELS} --by system --unparsed fail --pooling separate",
    "items": f"prevalence all.csv {LABELS} --by system --item item --unparsed fail",
    "scores": "prevalence scores.csv --score score --truth truth --scale 0:1 --calibration random",
    "score_systems": "prevalence score_systems.csv --score score --truth truth --scale 0:1 "
    "--calibration random --by system",
    "score_pairs": "prevalence score_pairs.csv --score score --truth truth --scale 0:1 "
    "--truth-scale 1:5 --calibration random --by system --item item",
    "classes": f"prevalence classes.csv --classes a --classes b --classes c {LABELS}",
    "many": f"prevalence many.csv {LABELS} --by system --item item",
    "panel": "panel votes.csv --truth truth --calibration random",
    "leaderboard": "leaderboard leaderboard.csv --people human",
    "repeats": "repeats report repeats.csv --scale 1-5 --judge judge",
    "bias": "bias bias.csv --scale 0-100 --design item --rerun rerun",
    "ratings": "ratings ratings.csv --positive yes --judge gpt --judge claude "
    "--response-set response_set",
    "judge": f"judge one.csv {LABELS}",
}
#: Whose screens alone are kept: other formats are those of the commands above.
SCREENS = {
    "many": COMMANDS.pop("many"),
    "attempts": "attempts attempts.csv --task task --verdict verdict --truth truth --by system "
    "--calibration random --k 4",
    "orders": "bias orders orders.csv",
    "rubric": "rubric rubric.csv --calibration random",
    "verdicts": "repeats report verdicts.csv --scale 0-1",
}
#: Whose pages alone are looked at.
PAGES = {
    "categories": "repeats categories categories.csv",
    "doctor": "doctor all.csv --truth truth",
    "drift": "drift one.csv old.csv --item item --truth truth",
    "gate": f"gate one.csv {LABELS} --at-least 0.9",
    "gate_pass": f"gate one.csv {LABELS} --at-least 0.2",
    "gate_systems": f"gate all.csv {LABELS} --by system --unparsed fail --at-least 0.5",
    "label": "label one.csv --item item --verdict verdict --gate 0.5 --sheet sheet.csv "
    "--state state.json --form form.html",
    "passport_check": f"passport check card.json one.csv {LABELS}",
    "passport_show": "passport show card.json",
    "pilot": "plan --pilot one.csv --truth truth --judge verdict --price label=1 call=0 --width .1",
    "plan": "plan --at-least 0.8 --agreement 0.85 --prevalence 0.9",
    "plan_guesses": "plan --at-least 0.8",
    "plan_widths": "plan --width 0.1 --prevalence 0.7 --agreement 0.9 --labelled 50",
    "positions": "bias positions positions.csv",
}
#: Commands that answer no question, or of a page that another test writes.
NO_PAGE = {"bias variants", "completion", "explain"}
FORMS = {"txt": "", "md": "--markdown -", "json": "--json"}


def simulated_items(random_seed):
    """Verdicts of one system, on items that have names."""
    table = bj.prevalence.simulate(items=100, labelled=30, random_seed=random_seed)
    return table.reset_index(names="item")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The tables that the commands read."""
    made = tmp_path_factory.mktemp("golden")
    table = keep_labels(xstest(), 100, 2024, by="system")
    table.to_csv(made / "all.csv", index=False)
    one = table[table["system"] == "llama2new"]
    one.to_csv(made / "one.csv", index=False)
    one.assign(verdict=one["verdict"].mask(one["item"] % 10 == 0, 0)).to_csv(
        made / "old.csv", index=False
    )
    names = [f"provider/the-model-{i}-instruct-turbo-2026-05-{i:02d}" for i in range(10, 30)]
    many = [simulated_items(20 + i).assign(system=name) for i, name in enumerate(names)]
    pd.concat(many).to_csv(made / "many.csv", index=False)
    simulated = {
        "votes": bj.panel,
        "leaderboard": bj.leaderboard,
        "repeats": bj.repeats,
        "bias": bj.bias,
        "ratings": bj.ratings,
        "scores": bj.prevalence.scores,
        "classes": bj.prevalence.classes,
    }
    simulated |= {"attempts": bj.attempts, "rubric": bj.rubric}
    order = [("1", "1")] * 30 + [("1", "2")] * 20 + [("2", "1")] * 4
    pd.DataFrame(order, columns=["order1", "order2"]).to_csv(made / "orders.csv", index=False)
    calls = pd.DataFrame({"item": np.repeat(np.arange(60), 5)})
    calls["score"] = (np.arange(300) * 7 % 11 < calls["item"] % 13).astype(int)
    calls.to_csv(made / "verdicts.csv", index=False)
    places = [(i, place, 3 + (i % 3) + (place == "a")) for i in range(40) for place in "ab"]
    places = pd.DataFrame(places, columns=["answer", "position", "score"])
    places.to_csv(made / "positions.csv", index=False)
    words = calls.assign(verdict=np.where(calls["score"] == 1, "good", "bad"))
    words.to_csv(made / "categories.csv", index=False)
    card = str(made / "card.json")
    main(["judge", str(made / "one.csv"), *LABELS.split(), "--name", "j", "--card", card])
    for name, module in simulated.items():
        module.simulate(random_seed=1).to_csv(made / f"{name}.csv", index=False)
    several = simulated["scores"].simulate(random_seed=1)
    several["system"] = ["a", "b"] * (len(several) // 2)
    several.to_csv(made / "score_systems.csv", index=False)
    numbers = simulated["scores"].simulate(numeric=True, random_seed=1)
    other = numbers.assign(truth=(numbers["truth"] - 0.5).clip(1), score=numbers["score"] * 0.9)
    pairs = pd.concat([numbers.assign(system="a"), other.iloc[10:].assign(system="b")])
    pairs.reset_index(names="item").to_csv(made / "score_pairs.csv", index=False)
    return made


class Shown(NamedTuple):
    """What one run of a command showed, and of what it made that."""

    screen: str
    #: The file that it wrote, and the page, which another option writes in another format.
    html: str
    page: Page
    #: What it told, as `present` takes it; and titles of pictures, with the results that they show.
    told_of: list[tuple[Story, Shared]]
    drawn: list[tuple[Page, Sequence[Any], list[str]]]

    def text(self, form: str) -> str:
        """The page as it is kept."""
        if form == "txt":
            return self.screen
        page = replace(self.page, line=re.sub("--html=.*", FORMS[form], self.page.line))
        if form == "md":
            return to_markdown(page)
        document = _rounded(json.loads(to_json(page)))
        return json.dumps(document | {"bayesjudge": ""}, indent=1, ensure_ascii=False) + "\n"


@pytest.fixture(scope="module")
def shown(folder, tmp_path_factory):
    """Run a command once, for all that is asked of what it shows."""

    @functools.cache
    def run_once(name):
        told_of, drawn, pages = [], [], []
        figures, page_of = output._figures, Story.page

        def told(story, results, shared):
            told_of.append((story, shared))
            return page_of(story, results, shared)

        def seen(page, results, story):
            pictures = figures(page, results, story)
            axes = [ax for figure in pictures.values() for ax in figure.axes]
            titles = [" ".join(ax.get_title(loc="left").split()) for ax in axes]
            drawn.append((page, results, titles))
            return pictures

        path = tmp_path_factory.mktemp(name) / "page.html"
        token = output.COLLECTED.set(pages)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            patch.setattr(output, "_figures", seen)
            patch.setattr(Story, "page", told)
            code, screen, errors = run(
                [*{**COMMANDS, **SCREENS, **PAGES}[name].split(), f"--html={path}"]
            )
        output.COLLECTED.reset(token)
        assert code == 0 if name not in PAGES else code in {0, 1, 3}, errors
        return Shown(screen, path.read_text(encoding="utf-8"), pages[-1], told_of, drawn)

    return run_once


@pytest.mark.every_setting
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "form"), [*itertools.product(COMMANDS, FORMS), *((name, "txt") for name in SCREENS)]
)
def test_output_is_the_one_that_is_kept(name, form, shown):
    out = shown(name).text(form).replace(f"bayesjudge {bj.__version__}", "bayesjudge")
    kept = GOLDEN / f"{name}.{form}"
    if WRITE:
        kept.write_text(out, encoding="utf-8")
    assert out == kept.read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_option_has_its_help():
    every = [
        (command, name)
        for command, options in options_by_command().items()
        for name, text in options.items()
        if name.startswith("--") and name not in ("--help", "--version") and not text.strip()
    ]
    assert every == []


@pytest.mark.slow
def test_every_command_that_answers_writes_a_page():
    for command, options in options_by_command().items():
        assert ("--html" in options) == (command not in NO_PAGE), command


@pytest.mark.slow
@pytest.mark.parametrize("name", [*COMMANDS, *SCREENS, *PAGES])
def test_a_page_begins_as_the_screen_and_draws_what_is_quoted(name, shown):
    """The first sentence has 25 words at most; no picture names a method that is not quoted."""
    made = shown(name)
    heading = re.search("<h1>(.*?)</h1>", made.html)
    first = " ".join(html.unescape(heading[1]).split())
    assert " ".join(made.screen.split()).startswith(first)
    assert len(first.split()) <= 25
    assert not re.search(r"[.?!] [A-Z']", first)
    assert name not in COMMANDS or any(titles for _, _, titles in made.drawn)
    for page, results, titles in made.drawn:
        quoted = {page.answer.quoted.method.title, page.answer.quoted.method.brief}
        methods = {name for one in results for name in (one.method.title, one.method.brief)}
        for title in titles:
            left = title
            for words in sorted(quoted, key=len, reverse=True):
                left = left.replace(words, "")  # the name of another may be a part of it
            assert [other for other in methods - quoted if other in left] == [], title


@pytest.mark.parametrize("name", COMMANDS)
def test_a_screen_is_one_screen_and_opens_with_the_answer(name):
    lines = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    opening = " ".join(lines[:4])
    document = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    assert opening.startswith(document["answer"]["text"])
    assert not re.search(r"\bnan\b", "\n".join(lines))


@pytest.mark.parametrize("name", [*COMMANDS, *SCREENS])
def test_the_first_sentence_has_25_words_at_most(name):
    """One sentence, then what it rests on, which begins with the file."""
    screen = " ".join((GOLDEN / f"{name}.txt").read_text(encoding="utf-8").split())
    first = re.match(r"(.+?\.) \w+\.csv: ", screen)[1]
    assert len(first.split()) <= 25
    assert not re.search(r"[.?!] [A-Z']", first)


def at_a_terminal(columns, monkeypatch):
    """Have the command believe that people read stdout."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80])
def test_no_line_is_wider_than_the_terminal(columns, folder, shown, monkeypatch, capsys):
    stories = [(name, *one) for name in COMMANDS for one in shown(name).told_of[:1]]
    assert {name for name, *_ in stories} == {*COMMANDS}
    monkeypatch.chdir(folder)
    at_a_terminal(columns, monkeypatch)
    screens = {
        (name, details): partial(present, story, replace(shared, files=Files(), details=details))
        for name, story, shared in stories
        for details in [False, True][: 1 + (name == "panel")]
    }
    for command in (f"gate one.csv {LABELS} --at-least 0.5", "explain", "explain icc"):
        screens[command] = partial(main, command.split())
    for name, show in screens.items():
        show()
        lines = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
        assert lines
        assert [line for line in lines if len(line) > columns] == [], name


def _rounded(value):
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return round(value, 3) if isinstance(value, float) else value
