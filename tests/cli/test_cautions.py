"""What a screen tells of cautions and of counts, held against the table: every command."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.render.screen import OF_THE_JUDGE
from bayesjudge.repeats.checks import OF_ORDER

LABELS = "--verdict verdict --truth truth --calibration random --no-nuts"
REPORT = "repeats report {} --item item --score score --scale 1-5 --no-nuts"


def cached(rng, items=60, calls=8):
    """Scores of a judge whose later calls repeat the second one."""
    level = rng.normal(3, 1, items)
    twice = np.clip(np.rint(level[:, None] + rng.normal(0, 0.9, (items, 2))), 1, 5)
    every = np.concatenate([twice[:, :1], np.repeat(twice[:, 1:], calls - 1, axis=1)], axis=1)
    return pd.DataFrame(
        {
            "item": np.repeat([f"i{i}" for i in range(items)], calls),
            "call": np.tile(np.arange(calls) + 1, items),
            "score": every.ravel(),
        }
    )


def drifting(rng, items=60, calls=8):
    table = cached(rng, items, calls)
    score = 2 + table["call"] / 4 + rng.normal(0, 0.6, len(table))
    return table.assign(score=np.clip(np.rint(score), 1, 5))


def unread(rng):
    table = cached(rng).astype({"score": object})
    table["score"] = rng.integers(1, 6, len(table)).astype(object)
    table.loc[(table["item"] == "i3") | (rng.random(len(table)) < 0.05), "score"] = None
    return table


def steady(rng):
    table = cached(rng)
    return table.assign(score=rng.integers(1, 6, len(table)))


def one_name(rng):
    """Two items of one name."""
    return steady(rng).replace({"item": {"i4": "i5"}})


def verdicts(rng):
    table = cached(rng)
    return table.assign(score=np.where(table["score"] > 3, "pass", "fail"))


def labelled(rng):
    table = keep_labels(xstest(), 100, 2024, by="system")
    return table[table["system"].isin(["gpt4", "mistralinstruct"])]


#: The command, its table, and what the answer rests on, counted in the table.
COMMANDS = {
    "cache": (REPORT, cached, {"item": "nunique", "score": "count"}),
    "cache, in order": (f"{REPORT} --order call", cached, {"item": "nunique", "score": "count"}),
    "drift": (f"{REPORT} --order call", drifting, {"item": "nunique", "score": "count"}),
    "steady": (f"{REPORT} --order call", steady, {"item": "nunique", "score": "count"}),
    "unread": (REPORT, unread, {"item": "nunique", "score": "count"}),
    "one name": (REPORT, one_name, {"item": "nunique", "score": "count"}),
    "verdicts": (
        "repeats report {} --item item --verdict score --order call --no-nuts",
        verdicts,
        {"item": "nunique", "score": "count"},
    ),
    "labels": (f"prevalence {{}} {LABELS} --unparsed fail", labelled, {"verdict": len}),
    "systems": (
        f"prevalence {{}} {LABELS} --by system --unparsed fail --pooling separate",
        labelled,
        {"verdict": len, "truth": "count"},
    ),
    "items": (
        f"prevalence {{}} {LABELS} --by system --item item --unparsed fail",
        labelled,
        {"item": "nunique"},
    ),
    "panel": (
        "panel {} --truth truth --calibration random --no-nuts",
        lambda rng: bj.panel.simulate(labelled=30, random_seed=rng),
        {"generator": "nunique", "judge": "nunique"},
    ),
    "scores": (
        "prevalence {} --score score --truth truth --scale 0:1 --calibration random --no-nuts",
        lambda rng: bj.prevalence.scores.simulate(random_seed=rng),
        {"score": "count", "truth": "count"},
    ),
    "classes": (
        f"prevalence {{}} --classes a --classes b --classes c {LABELS}",
        lambda rng: bj.prevalence.classes.simulate(random_seed=rng),
        {"verdict": "count", "truth": "count"},
    ),
    "bias": (
        "bias {} --scale 0-100 --design item --rerun rerun --no-nuts",
        lambda rng: bj.bias.simulate(random_seed=rng),
        {"item": "nunique"},
    ),
    "ratings": (
        "ratings {} --positive yes --judge gpt --judge claude --response-set response_set "
        "--no-nuts",
        lambda rng: bj.ratings.simulate(random_seed=rng),
        {"item": "nunique"},
    ),
}


@pytest.fixture(params=COMMANDS)
def shown(request, tmp_path, monkeypatch, capsys):
    """The first screen of a command, its JSON, and the table with what is counted in it."""
    command, made, counted = COMMANDS[request.param]
    table = made(np.random.default_rng(3))
    table.to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    arguments = command.format("table.csv").split()
    out = []
    for form in ([], ["--json"]):
        assert main([*arguments, *form]) == 0
        out.append(capsys.readouterr().out)
    return out[0], json.loads(out[1]), table, counted


@pytest.mark.slow
def test_a_screen_names_every_caution_and_counts_what_came_in(shown):
    screen, document, table, counted = shown
    answer = document["answer"]
    raised = {one["id"] for one in document["cautions"]} - OF_THE_JUDGE
    assert {name for name in raised if not re.search(rf"\b{name}\b", screen)} == set()
    assert ("\nCautions\n" in screen) == bool(raised)
    said = " ".join([answer["text"], *answer["notes"], answer["basis"], answer["why"]])
    assert raised & OF_ORDER or "caution" not in said  # none that there is not
    told = set(re.findall(r"\d[\d,]*", answer["basis"].partition(": ")[2] or answer["basis"]))
    wanted = {f"{table[name].agg(how):,}" for name, how in counted.items()}
    assert wanted <= told, answer["basis"]


@pytest.mark.slow
@pytest.mark.parametrize("made", [cached, unread])
def test_results_keep_the_scores_that_came_in(made):
    scores = bj.repeats.Scores.from_frame(made(np.random.default_rng(3)), scale=range(1, 6))
    results = [
        *bj.repeats.closed_forms(scores),
        bj.repeats.exact(scores),
        bj.repeats.required_calls(scores, 0.3),
        bj.repeats.predict_means(scores, repeats=2),
    ]
    for one in results:
        assert one.data is scores, one.method
        assert {c.id for c in one.cautions} & {"copied-repeats", "no-score"}


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_a_model_has_the_copies_taken_out():
    scores = bj.repeats.Scores.from_frame(
        cached(np.random.default_rng(3)), scale=range(1, 6), order="call"
    )
    assert bj.repeats.build_model(scores)["given"].eval().sum() == 120


@pytest.mark.study
@pytest.mark.filterwarnings("ignore::bayesjudge.core.errors.ConvergenceWarning")
def test_a_fit_keeps_the_scores_that_came_in_and_answers_of_them():
    """Its model has the copies taken out, as the formulas have."""
    scores = bj.repeats.Scores.from_frame(
        cached(np.random.default_rng(3)), scale=range(1, 6), order="call"
    )
    fit = bj.repeats.fit(scores, random_seed=1, draws=50, tune=200, chains=2)
    assert fit.data is scores
    assert fit.model["given"].eval().sum() == 120
    answered = bj.repeats.answer(fit)
    assert "480 answers" in answered.basis
    assert {c.id for c in answered.cautions} >= {"copied-repeats"}
    assert bj.repeats.log_likelihood(fit)["log_likelihood"]["score"].sizes["item"] == 60
