"""The head-to-head: its targets, its measures, and our own side, without any peer installed."""

import ast
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from benchmarks.peers import head_to_head as study

#: What the labelled rows of a table say on average, for tasks whose target is a mean.
MEANS = {
    "share": lambda t: np.nanmean(t["truth"]),
    "paired": lambda t: np.nanmean(t["truth_a"] - t["truth_b"]),
    "scores": lambda t: np.nanmean(t["truth"]),
    "attempts": lambda t: np.nanmean(t["truth"].min(axis=1)),
    "agreement": lambda t: study.kappa_of(*(t[x][t["truth"] >= 0] for x in ("verdict", "truth"))),
}


@pytest.mark.slow
@pytest.mark.parametrize("task", MEANS)
def test_targets_are_what_the_worlds_make(task):
    for cell, (draw, target) in study.WORLDS[task]():
        each = [MEANS[task](draw(np.random.default_rng([1, i]))) for i in range(60)]
        bias = 0.03 if task == "agreement" else 0.0  # kappa of 50 labels is a ratio
        room = 4.5 * np.std(each, ddof=1) / np.sqrt(len(each)) + bias
        assert abs(np.mean(each) - target) < room, cell


@pytest.mark.parametrize("task", study.WORLDS)
def test_tables_are_the_same_each_time(task):
    _, (draw, target) = next(study.WORLDS[task]())
    first, second = (draw(np.random.default_rng([study.SEED, 1])) for _ in range(2))
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    assert np.all(np.isfinite(target))


def test_measures_of_known_intervals(tmp_path):
    tables, answers = tmp_path / "tables", tmp_path / "answers"
    tables.mkdir()
    answers.mkdir()
    np.savez(tables / "share.00.npz", target=np.full(4, 0.5))
    of = {"bayesjudge.quoted": [[0.4, 0.6]] * 4,
          "peer.its way": [[0.4, 0.8], [0.6, 0.7], [0.5, 0.5], [np.nan, np.nan]]}  # fmt: skip
    for name, ends in of.items():
        np.savez(answers / f"share.00.{name}.npz", ends=np.array(ends), seconds=0.1, refusal="")
    rows = study.beside_ours(pd.concat(study.measured(tables, answers)))
    made = rows.groupby("peer").apply(study.line, include_groups=False)
    peer = made.loc["peer"]
    assert_allclose(
        peer[["no_answer", "no_width", "coverage"]].astype(float), [1 / 4, 1 / 3, 2 / 3]
    )
    assert_allclose([peer["width"], peer["score"]], [0.5 / 3, (0.4 + 4.1 + 0.0) / 3])
    assert_allclose(peer["score_to_ours"], 4.5 / 3 / 0.2)
    assert_allclose([made.loc["bayesjudge", "score_to_ours_se"], peer["cpu_ms"]], [0.0, 100.0])


def test_every_adapter_has_a_lock_and_answers_a_task():
    adapters = {path.stem: path for path in (study.HERE / "adapters").glob("*.py")}
    assert sorted(set(adapters) - {"run", "bayesjudge"}) == study.PEERS
    for name in set(adapters) - {"run"}:
        tree = ast.parse(adapters[name].read_text())
        (methods,) = (x.value for x in tree.body if isinstance(x, ast.Assign)
                      and x.targets[0].id == "METHODS")  # fmt: skip
        assert {key.value for key in methods.keys} <= set(study.WORLDS), name


@pytest.mark.slow
def test_our_side_answers_every_task(tmp_path, monkeypatch):
    wanted = ("paired", "panel", "leaderboard", "attempts", "scores", "agreement", "share")
    first = {task: lambda make=study.WORLDS[task]: islice(make(), 2) for task in wanted}
    monkeypatch.setattr(study, "WORLDS", first)
    folders = ["--work", str(tmp_path / "work"), "--results", str(tmp_path / "results")]
    monkeypatch.setattr("sys.argv", ["head_to_head.py", "--tables", "2", *folders])
    study.main()
    made = pd.read_csv(tmp_path / "results" / "head_to_head.csv")
    assert set(made["task"]) == set(wanted)
    assert (made[["no_answer", "no_width"]] == 0).all(axis=None)


def test_the_page_shows_the_stored_results():
    page = (study.HERE.parents[1] / "docs" / "peers.md").read_text()
    rows = pd.read_csv(study.HERE / "results" / "head_to_head_tasks.csv")
    for task in study.WORLDS:
        assert study.shown(rows, task) in page, task
