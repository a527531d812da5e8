"""The command, the reader of tau-bench results, and what `repeats` no longer says."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from refusals import command_refused

import bayesjudge as bj
from bayesjudge import attempts, datasets
from bayesjudge.cli import main
from bayesjudge.cli.attempts import _draw
from bayesjudge.readers import read_log


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two agents, a judge and people's labels on some attempts."""
    path = tmp_path_factory.mktemp("attempts") / "runs.csv"
    table = attempts.simulate(random_seed=1)
    names = {"system": "agent", "verdict": "judge", "truth": "human", "cost": "usd"}
    table.rename(columns=names).to_csv(path, index=False)
    return path


def answered(capsys, *words):
    code = main([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


ABOUT = ("--verdict", "judge", "--truth", "human", "--by", "agent")


@pytest.mark.slow
def test_command_says_what_the_module_says(runs, capsys):
    asked = ("--k", "4", "--cost", "usd", "--half-width", "0.1")
    code, told = answered(capsys, "attempts", runs, *ABOUT, *asked)
    assert code == 0
    names = {"by": "agent", "verdict": "judge", "truth": "human", "cost": "usd", "k": (1, 4)}
    data = attempts.Attempts.from_frame(pd.read_csv(runs), calibration="random", **names)
    expected = attempts.exact(data).estimate()["pass_hat_k", "agent 1", 4]
    rows = told["answer"]["estimates"]
    (found,) = [r for r in rows if r["quantity"] == "pass_hat_k"
                and r["where"] == {"system": "agent 1", "k": 4}]  # fmt: skip
    assert found["value"] == pytest.approx(expected.value, abs=0.005)
    assert found["judge"] == pytest.approx(0.34)
    assert {"differences", "costs", "plan"} <= set(told)
    assert len(told["plan"]) == 6


@pytest.mark.slow
def test_too_many_tasks_are_answered_by_a_formula_that_says_so(tmp_path, capsys):
    table = attempts.simulate(tasks=40, attempts=60, labels=20, random_seed=1)
    table.to_csv(path := tmp_path / "runs.csv", index=False)
    asked = (
        "--by",
        "system",
        "--verdict",
        "verdict",
        "--truth",
        "truth",
        "--calibration",
        "random",
    )
    code, told = answered(capsys, "attempts", path, *asked)  # nothing is sampled
    assert code == 0
    assert told["answer"]["known"]
    assert "no-quadrature" in [one["id"] for one in told["cautions"]]


@pytest.mark.slow
def test_the_better_agent_stands_first_in_a_difference(runs, tmp_path, capsys):
    table = pd.read_csv(runs)
    table["agent"] = table["agent"].map({"agent 1": "z", "agent 2": "a"})
    table.to_csv(tmp_path / "turned.csv", index=False)
    assert main(["attempts", str(tmp_path / "turned.csv"), *ABOUT, "--k", "1", "4"]) == 0
    lines = [x.strip() for x in capsys.readouterr().out.splitlines() if " less " in x]
    lines = [line for line in lines if "probability" in line]
    assert [line[:8] for line in lines] == ["z less a"] * 2
    assert all(float(line.rpartition(" ")[2]) > 0.9 for line in lines)


@pytest.mark.slow
def test_two_people_and_lost_verdicts_are_read(runs, tmp_path, capsys):
    table = pd.read_csv(runs)
    table["other"] = table["human"].where(table["attempt"] < 3)
    path = tmp_path / "two.csv"
    line = ["attempts", path, "--verdict", "judge", "--by", "agent", "--truth", "human", "other"]
    table.to_csv(path, index=False)
    code, told = answered(capsys, *line, "--prior-people", "0.9:30")
    assert code == 0
    assert "human, other, who err too" in told["answer"]["basis"]
    at = table.index[table["other"].notna()][:2]
    table.loc[at, "other"] = 1 - table.loc[at, "other"]
    table.loc[table.index[-3:], "judge"] = None
    table.assign(settled=table["human"]).to_csv(path, index=False)
    assert main([*map(str, line), "--adjudicated", "settled"]) == 2
    assert "--unparsed verdict" in capsys.readouterr().err
    code, told = answered(capsys, *line, "--adjudicated", "settled", "--unparsed", "verdict")
    assert code == 0
    assert "3 without a verdict" in told["answer"]["basis"]


@pytest.mark.slow
def test_labels_of_attempts_are_in_a_file_of_their_own(runs, tmp_path, capsys):
    """A column each, a row a person, and what was settled elsewhere: one answer."""
    table = pd.read_csv(runs).drop(columns="usd").groupby("agent").head(60)
    table["other"] = table["human"].where(table["attempt"] < 3)
    at = table.index[table["other"].notna()][:2]
    table.loc[at, "other"] = 1 - table.loc[at, "other"]
    table["settled"] = table["human"].where(table.index.isin(at))
    names, keys = ["human", "other"], ["agent", "task", "attempt"]
    bare = table.drop(columns=[*names, "settled"])
    labels = table[[*keys, *names, "settled"]].dropna(subset=names, how="all")
    numbered = bare.assign(run=range(len(bare)))
    tables = {
        "wide": table,
        "bare": bare,
        "numbered": numbered,
        "beside": table.drop(columns=names),
        "labels": labels.sample(frac=1, random_state=1),
        "people": labels.drop(columns="settled"),
        "runs": labels.merge(numbered)[["run", *names, "settled"]],
        "rows": labels.melt([*keys, "settled"], names, "who", "label").dropna(subset="label"),
        "nobody": labels.drop(columns="agent"),
    }
    for name, each in tables.items():
        each.to_csv(tmp_path / f"{name}.csv", index=False)
    by_row = ["--truth", "label", "--rater", "who"]
    shapes = [
        ("wide", ["--truth", *names]),
        ("bare", ["--truth", *names, "--labels", "labels"]),
        ("numbered", ["--truth", *names, "--labels", "runs"]),
        ("beside", ["--truth", *names, "--labels", "people"]),
        ("bare", [*by_row, "--labels", "rows"]),
    ]
    read = []
    for name, options in shapes:
        options = [str(tmp_path / f"{x}.csv") if x in tables else x for x in options]
        number = "run" if name == "numbered" else "attempt"
        line = [tmp_path / f"{name}.csv", "--verdict", "judge", "--by", "agent", *options]
        line += ["--attempt", number, "--adjudicated", "settled", "--k", "2"]
        code, told = answered(capsys, "attempts", *line)
        assert code == 0
        rows = told["answer"]["estimates"]
        read.append([r[end] for r in rows for end in ("value", "low", "high")])
        assert "human, other, who err too" in told["answer"]["basis"]
    for each in read[1:]:
        assert each == pytest.approx(read[0], abs=1e-12)
    line = ["attempts", tmp_path / "bare.csv", "--verdict", "judge", "--by", "agent", "--truth"]
    line += [*names, "--labels", tmp_path / "nobody.csv"]
    with command_refused(id="labels-of-outputs", absent="agent"):
        assert main([*map(str, line), "--attempt", "attempt"]) == 2
    capsys.readouterr()
    assert main(list(map(str, line))) == 2
    assert "say --attempt" in capsys.readouterr().err
    line = ["attempts", tmp_path / "long.csv", "--verdict", "judge", "--by", "agent"]
    tables["rows"].merge(bare).to_csv(line[1], index=False)
    with command_refused(id="row-per-person"):
        assert main([*map(str, line), "--truth", "label"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("at_least", "code"), [(0.05, 0), (0.4, 1), (0.15, 3)])
def test_gate_is_an_exit_code(runs, capsys, at_least, code):
    found, told = answered(capsys, "attempts", runs, *ABOUT, "--k", "4", "--at-least", at_least)
    assert found == code
    assert {row["at_least"] for row in told["gate"]} == {at_least}


@pytest.mark.slow
def test_a_missing_truth_says_how_outcomes_are_named(runs, capsys):
    assert main(["attempts", str(runs), "--verdict", "judge"]) == 2
    assert "name it with --truth" in capsys.readouterr().err


def tau(first):
    """Results of tau-bench, or of tau2-bench."""
    rows = datasets.tau_bench_airline().itertuples()
    if first:
        return [{"task_id": r.task, "reward": float(r.success), "info": {}, "traj": [],
                 "trial": r.trial} for r in rows]  # fmt: skip
    runs = [
        {"id": str(r.Index), "task_id": str(r.task), "trial": r.trial, "agent_cost": 0.1}
        | {"reward_info": {"reward": float(r.success)}}
        for r in rows
    ]
    return {"info": {"agent_info": {"llm": "gpt-4o"}}, "tasks": [{"id": "0"}], "simulations": runs}


@pytest.mark.fast_named("True")
@pytest.mark.parametrize("first", [True, False])
def test_tau_bench_results_are_outcomes(tmp_path, capsys, first):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tau(first)))
    log = read_log(path)
    assert (log.tool, log.repeating) == ("tau-bench", "system")
    more = [] if first else ["--cost", "cost"]
    code, told = answered(capsys, "attempts", path, *more)
    assert code == 0
    rows = {(r["quantity"], r["where"]["k"]): r["value"] for r in told["answer"]["estimates"]}
    assert rows["pass_hat_k", 4] == pytest.approx(0.2)
    if not first:
        assert told["costs"][0]["value"] == pytest.approx(0.1 / 0.42)


@pytest.mark.slow
def test_repeats_does_not_call_attempts_a_contradiction(tmp_path, capsys):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(tau(True)))
    assert main(["repeats", "report", str(path)]) == 2
    assert "bayesjudge attempts" in capsys.readouterr().err
    table = tmp_path / "runs.csv"
    datasets.tau_bench_airline().to_csv(table, index=False)
    line = ["repeats", "report", str(table), "--score", "success", "--item", "task"]
    assert main(line) == 2
    assert "--order trial" in capsys.readouterr().err
    assert main([*line, "--order", "trial", "--scale", "0-1", "--json"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("differ", [False, True])
def test_doctor_takes_two_people_whether_they_agree_or_not(differ):
    table = attempts.simulate(prevalence=(0.5,), tasks=15, labels=40, random_seed=1)
    table = table.drop(columns=["system", "cost"]).rename(columns={"truth": "ann1"})
    table["ann2"] = table["ann1"].where(table["attempt"] < 3)
    if differ:
        table["ann2"] = table["ann2"].mask(table["task"] == "task 2", 1 - table["ann1"])
    (found,) = [one for one in bj.doctor(table).answers if one.line.command == "attempts"]
    assert found.line.options["--truth"] == ["ann1", "ann2"]


def test_curves_are_drawn_of_estimates_alone(monkeypatch):
    shown = {}
    monkeypatch.setattr(
        "bayesjudge.cli.attempts.module.plot_tries",
        lambda *estimates, quantity: shown.setdefault(quantity, estimates),
    )
    estimates = attempts.closed_forms(
        attempts.Attempts.from_frame(attempts.simulate(random_seed=1), calibration="random")
    )
    fit = SimpleNamespace(method=estimates[0].method)
    assert len(_draw([fit, *estimates])) == 2
    drawn = tuple(e for e in estimates if "pass_hat_k" in e and e.method.rank in (10, 100))
    assert drawn
    assert shown == {"pass_hat_k": drawn, "pass_at_k": drawn}
