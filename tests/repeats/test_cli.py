"""``bayesjudge repeats``: what it prints, writes and refuses."""

import json
import subprocess
import sys
import types

import pandas as pd
import pytest
from chat_server import dice
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import main

CONFIG = """
store = "run.sqlite"
scale = [1, 2, 3, 4, 5]
bins = 3
timeout = 5.0
budget_calls = {budget}

[items]
table = "answers.csv"
name = "id"
text = "answer"

[prompts]
plain = "Rate {{item}}"

[models.small]
model = "openai/small"
"""


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    bj.repeats.simulate(items=4, judges=3, random_seed=1).to_csv(path, index=False)
    return path


def test_report_prints_every_method(scores, capsys):
    options = ["--scale", "1-5", "--judge", "judge", "--no-nuts", "--json"]
    assert main(["repeats", "report", str(scores), *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["inputs"]["answers"] == 60
    table = bj.repeats.Scores.from_frame(pd.read_csv(scores), scale=range(1, 6), judge="judge")
    expected = bj.repeats.anova(table)
    found = {
        row["quantity"]: row["value"]
        for row in document["estimates"]
        if row["method"] == "Random-effects ANOVA"
    }
    for name in ("mean_score", "item_sd", "repeat_sd"):
        assert found[name] == pytest.approx(expected[name].value)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["scores.csv", "scores.parquet", "scores.jsonl"])
def test_order_may_be_numbers_or_times_in_any_file(file, tmp_path, capsys):
    """Scores that rise with the order asked, whose text does not: the drift must be seen."""
    rows = [(f"i{i}", n, 1 + n // 4) for i in range(30) for n in range(1, 17)]
    table = pd.DataFrame(rows, columns=["item", "call", "score"]).sample(frac=1, random_state=1)
    start = pd.Timestamp("2026-01-31T23:50:00-05:00")
    table["time"] = [(start + pd.Timedelta(minutes=n)).isoformat() for n in table["call"]]
    ways = {"csv": table.to_csv, "parquet": table.to_parquet}
    if file.endswith("jsonl"):
        table.to_json(tmp_path / file, orient="records", lines=True)
    else:
        ways[file.split(".")[1]](tmp_path / file, index=False)
    by_order = []
    for order in ("call", "time"):
        asked = ["--scale", "1-5", "--order", order, "--no-nuts", "--json"]
        assert main(["repeats", "report", str(tmp_path / file), *asked]) == 0
        by_order.append(json.loads(capsys.readouterr().out.replace(f"Order ({order})", "Order")))
    assert "Order: see the caution" in json.dumps(by_order[0]["answer"])
    assert "with each further call" in json.dumps(by_order[0]["cautions"])
    assert by_order[0] == by_order[1]


@pytest.mark.slow
def test_report_of_one_judge_is_exact_and_makes_a_page(scores, capsys, tmp_path):
    page = tmp_path / "page.html"
    one = tmp_path / "one.csv"
    table = pd.read_csv(scores)
    table[table["judge"] == "judge1"].to_csv(one, index=False)
    options = ["--scale", "1-5", "--no-nuts", "--html", str(page)]
    assert main(["repeats", "report", str(one), *options]) == 0
    assert capsys.readouterr().out.startswith("An item needs ")
    assert "Dirichlet posterior" in page.read_text()
    assert page.read_text().count("<svg") >= 3


#: Verdicts of three items in words, five calls each.
WORDS = {
    "PF": ("P", "F", []),
    "words": ("Pass", "FAIL", []),
    "truth": ("true", "false", []),
    "own": ("ok", "meh", ["--pass-value", "ok", "--fail-value", "meh"]),
    "numbers": ("1", "0", ["--scale", "0-1"]),
    "numbers as verdicts": ("2", "1", ["--pass-value", "2", "--fail-value", "1"]),
}


@pytest.fixture
def verdicts(tmp_path):
    """A file of verdicts in the words of `WORDS`, and one empty cell."""

    def write(good, bad, kind="csv"):
        calls = ["11111", "11010", "00000"]
        said = [{"1": good, "0": bad}[one] for item in calls for one in item]
        items = [name for name in "xyz" for _ in range(5)]
        table = pd.DataFrame({"item": [*items, "z"], "score": [*said, None]})
        path = tmp_path / f"verdicts.{kind}"
        if kind == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)
        return str(path)

    return write


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("words", WORDS)
def test_verdicts_in_words_are_read(verdicts, words, kind, capsys):
    good, bad, options = WORDS[words]
    path = verdicts(good, bad, kind)
    assert main(["repeats", "report", path, *options, "--no-nuts", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["inputs"]["scale"] == "0, 1"
    assert document["inputs"]["unparsed"] == 1
    found = {
        (one["quantity"], one["where"].get("calls")): one["value"]
        for one in document["answer"]["estimates"]
    }
    assert found["self_contradiction", None] == pytest.approx(6 / 10 / 3)
    assert found["not_unanimous", None] == pytest.approx(1 / 3)
    assert ("labels" in document["inputs"]) == (words != "numbers")


@pytest.mark.slow
def test_verdicts_that_nobody_knows_name_the_options(verdicts, capsys):
    assert main(["repeats", "report", verdicts("ok", "meh"), "--no-nuts"]) == 2
    said = capsys.readouterr().err
    assert "'meh', 'ok'" in said
    assert "--pass-value ok --fail-value meh" in " ".join(said.split())
    assert main(["repeats", "report", verdicts("3", "five"), "--scale", "1-5", "--no-nuts"]) == 2
    assert "['five'] are" in capsys.readouterr().err
    options = ["--scale", "1-5", "--pass-value", "P"]
    assert main(["repeats", "report", verdicts("P", "F"), *options, "--no-nuts"]) == 2
    assert "--pass-value: --scale is then 0-1" in capsys.readouterr().err
    assert main(["repeats", "report", verdicts("P", "F"), "--flips-at-most", "0.5"]) == 2
    assert "--flips-at-most must lie between 0 and 0.5, got 0.5" in capsys.readouterr().err


@pytest.mark.slow
def test_details_of_verdicts_have_no_model_of_their_mean(tmp_path, capsys):
    """Neither sampled nor with a caution about it, unless something of it is asked for."""
    path = tmp_path / "v.csv"
    rows = [(f"i{i}", k, int((i * 7 + k * k) % 10 < i)) for i in range(12) for k in range(1, 5)]
    pd.DataFrame(rows, columns=["item", "call", "score"]).to_csv(path, index=False)
    line = ["repeats", "report", str(path), "--scale", "0-1"]
    assert main([*line, "--details"]) == 0
    out = capsys.readouterr().out
    assert "Ordinal" not in out
    assert "Sampling" not in out
    assert "cut-at-the-scale" not in out
    assert "majority_atypical[5]" in out
    assert "follow a Beta distribution" in out
    assert "Order (" not in out
    assert main([*line, "--details", "--half-width", "0.2", "--no-nuts"]) == 0
    assert "cut-at-the-scale" in capsys.readouterr().out
    assert main([*line, "--order", "call"]) == 0
    smallest = min(
        one.p_value
        for one in bj.repeats.order_effects(
            bj.repeats.Scores.from_frame(pd.read_csv(path), scale=[0, 1], order="call")
        ).values()
    )
    told = " ".join(capsys.readouterr().out.split())
    assert "Order (call): no effect is seen; tests of the first call" in told
    assert f"have p of {smallest:.2g} or more" in told


@pytest.mark.slow
def test_counts_of_calls_are_whole_in_details(verdicts, scores, capsys):
    line = ["repeats", "report", verdicts("P", "F"), "--no-nuts", "--details"]
    assert main([*line, "--flips-at-most", "0.4"]) == 0
    rows = [one for one in capsys.readouterr().out.splitlines() if one.startswith("majority_calls")]
    assert len(rows) == 1
    assert "." not in rows[0].replace("effective number", "")
    line = ["repeats", "report", str(scores), "--scale", "1-5", "--judge", "judge", "--no-nuts"]
    for shown in (["--details"], ["--quiet", "--markdown", "-"]):
        assert main([*line, *shown]) == 0
        out = capsys.readouterr().out.splitlines()
        rows = [one for one in out if one.removeprefix("| ").startswith("calls_per_item")]
        assert len(rows) == 1
        assert "." not in rows[0]


@pytest.mark.slow
def test_rows_of_several_judges_are_no_repeats_of_one(tmp_path, scores, capsys):
    """A column of judges, or systems, that is not named; harmless if items tell them apart."""

    def told(change, *options, code=2):
        path = tmp_path / "table.csv"
        change(pd.read_csv(scores)).to_csv(path, index=False)
        line = ["repeats", "report", str(path), "--scale", "1-5", "--no-nuts", *options]
        assert main(line) == code
        done = capsys.readouterr()
        return done.err if code else done.out

    judges = "judge1, judge2, judge3"
    with command_refused(id="repeats-of-judges", name="judge", kinds=judges):
        told(lambda t: t)
    with command_refused(id="repeats-of-perhaps-judges", name="model", kinds=judges):
        told(lambda t: t.rename(columns={"judge": "model"}))
    told(lambda t: t.rename(columns={"judge": "model"}), "--judge", "model", code=0)
    err = told(lambda t: t.assign(system=["a", "b"] * (len(t) // 2)), "--judge", "judge")
    assert "'system' has a, b" in err
    told(lambda t: t.assign(item=t["item"] + t["judge"]), code=0)
    told(lambda t: t.assign(judge="one"), code=0)


@pytest.mark.study
def test_what_is_said_of_the_sampling_holds_of_the_items_too(tmp_path, capsys, monkeypatch):
    """With many items their means are not shown; a caution may name one of them."""
    path = tmp_path / "scores.csv"
    bj.repeats.simulate(items=25, judges=1, repeats=3, random_seed=1).to_csv(path, index=False)
    fit, fits = bj.repeats.fit, []

    def briefly(*of, **how):
        fits.append(fit(*of, **{**how, "draws": 200, "tune": 200, "chains": 2}))
        return fits[0]

    monkeypatch.setattr(bj.repeats, "fit", briefly)
    line = ["repeats", "report", str(path), "--scale", "1-5", "--nuts", "--json"]
    assert main(line) == 0
    document = json.loads(capsys.readouterr().out)
    (sampling,) = document["sampling"].values()
    checks = fits[0].diagnostics()
    assert sampling["max_r_hat"] == pytest.approx(checks["r_hat"].max())
    assert sampling["min_ess"] == pytest.approx(checks[["ess_bulk", "ess_tail"]].min().min())
    of_items = checks.index.str.startswith("item_score")
    assert checks["r_hat"][of_items].max() > checks["r_hat"][~of_items].max()
    assert "item_score" not in {row["quantity"] for row in document["estimates"]}


def test_words_that_are_no_verdicts_name_the_commands_options(tmp_path, scores, capsys):
    path = tmp_path / "words.csv"
    table = pd.read_csv(scores)
    table.assign(score=[chr(97 + i % 17) for i in range(len(table))]).to_csv(path, index=False)
    assert main(["repeats", "report", str(path), "--judge", "judge"]) == 2
    err = capsys.readouterr().err
    assert "repeats takes pass and fail, or numbers (--scale); say which mean pass, fail and" in err
    assert "(--pass-value, --fail-value, --missing-value)" in err
    assert "classes" not in err


def test_a_table_without_items_must_say_so(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    pd.DataFrame({"score": [4, 5, 4, 4]}).to_csv(path, index=False)
    report = ["repeats", "report", str(path), "--scale", "1-5", "--no-nuts"]
    assert main(report) == 2
    assert "--one-item" in capsys.readouterr().err
    assert main([*report, "--one-item", "--details"]) == 0
    assert "Dirichlet posterior" in capsys.readouterr().out


@pytest.mark.slow
def test_five_hundred_items_make_one_screen_and_a_file(tmp_path, capsys):
    path, out, page = (tmp_path / name for name in ("scores.csv", "items.csv", "page.html"))
    bj.repeats.simulate(items=500, judges=3, repeats=4, random_seed=1).to_csv(path, index=False)
    asked = ["--scale", "1-5", "--judge", "judge", "--no-nuts", "--items", str(out)]
    asked += ["--half-width", "0.5", "--cost-per-call", "0.01", "--html", str(page)]
    assert main(["repeats", "report", str(path), *asked]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) < 45
    assert lines[0].startswith("An item needs 14 calls")
    assert "of 70 for 500" in " ".join(lines[:3])
    assert set(pd.read_csv(out).groupby("method").size()) == {500}
    assert page.read_text().count("<tr") < 30


def test_a_file_of_several_items_is_not_one_item(scores, capsys):
    report = ["repeats", "report", str(scores), "--scale", "1-5", "--no-nuts", "--one-item"]
    assert main(report) == 2
    assert "'item' names 4" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "{}", "--scale", "low-high"], "write every value in rising order"),
        (["report", "{}", "--scale", "5-1"], "write every value in rising order"),
        (["report", "{}", "--scale", "1-3"], "are not on the scale"),
        (["report", "{}", "--scale", "1-5", "--judge", "jugde"], "did you mean"),
        (["report", "{}", "--scale", "1-5", "--item", "id"], "no column 'id'"),
        (["run", "nowhere.toml"], "no file 'nowhere.toml'"),
    ],
)
def test_bad_input_is_explained(scores, arguments, words, capsys):
    filled = [a.format(scores) for a in arguments]
    assert main(["repeats", *filled]) == 2
    assert words in capsys.readouterr().err


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A folder with items, and a stand-in for litellm that answers by the key of the call."""
    calls = []

    async def acompletion(messages, model, extra_headers, **_):
        key = extra_headers["Idempotency-Key"]
        calls.append(key)
        message = types.SimpleNamespace(content=f"{4 + (dice(key) < 0.3)}")
        return types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])

    stand_in = types.ModuleType("litellm")
    stand_in.acompletion = acompletion
    stand_in.completion_cost = lambda completion_response: 0.25
    monkeypatch.setitem(sys.modules, "litellm", stand_in)
    table = pd.DataFrame({"id": ["a", "b"], "answer": ["yes", "no"]})
    table.to_csv(tmp_path / "answers.csv", index=False)
    return tmp_path, calls


@pytest.mark.slow
def test_run_goes_on_where_it_ended(asked, capsys):
    folder, calls = asked
    config = folder / "config.toml"
    config.write_text(CONFIG.format(budget=12))
    assert main(["repeats", "run", str(config), "--quiet"]) == 0
    said = capsys.readouterr()
    assert "12 calls, cost 3" in said.out
    assert "run the command again" in said.err
    config.write_text(CONFIG.format(budget=500))
    out = folder / "answers_out.csv"
    page = folder / "page.html"
    written = ["--out", str(out), "--html", str(page)]
    assert main(["repeats", "run", str(config), "--quiet", *written]) == 0
    assert "<h1>2 of 2 items " in page.read_text(encoding="utf-8")
    assert "2 of 2 items " in capsys.readouterr().out
    assert len(calls) == len(set(calls)) == len(pd.read_csv(out))
    options = ["--scale", "1-5", "--judge", "judge", "--no-nuts"]
    assert main(["repeats", "report", str(out), *options]) == 0


@pytest.mark.slow
def test_another_prompt_needs_another_arm(asked, capsys):
    folder, calls = asked
    config = folder / "config.toml"
    first = CONFIG.format(budget=500).replace("[items]", 'system = "Be kind."\n[items]', 1)
    config.write_text(first)
    assert main(["repeats", "run", str(config), "--quiet"]) == 0
    made = len(calls)
    for old, new, words in (
        (
            "Rate {item}",
            "Score {item}",
            "other prompt of judge 'small, plain' (was 'Rate {item}', ",
        ),
        ("kind", "harsh", "other system prompt of judge 'small, plain' (was 'Be kind.', now 'Be h"),
        ("openai/small", "openai/large", "other model of judge 'small, plain' (was 'openai/small'"),
    ):
        capsys.readouterr()
        assert old in first
        config.write_text(first.replace(old, new))
        assert main(["repeats", "run", str(config), "--quiet"]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert "--arm" in said
        assert len(calls) == made
    assert main(["repeats", "run", str(config), "--quiet", "--arm", "large"]) == 0
    assert len(calls) > made
    assert "2 of 2 items " in capsys.readouterr().out
    store = folder / "run.sqlite"
    assert len(bj.repeats.runner.read_answers(store, arm="main")) == made
    assert len(bj.repeats.runner.read_answers(store, arm="large")) == len(calls) - made


def test_an_echoed_key_is_not_printed(asked, capsys, monkeypatch):
    folder, _ = asked
    monkeypatch.setenv("GATEWAY_TOKEN", "opensesame-opensesame")

    class AuthenticationError(Exception):
        pass

    async def refused(**_):
        raise AuthenticationError("no account for opensesame-opensesame")

    monkeypatch.setattr(sys.modules["litellm"], "acompletion", refused)
    (folder / "config.toml").write_text(CONFIG.format(budget=12))
    assert main(["repeats", "run", str(folder / "config.toml"), "--quiet"]) == 2
    assert "AuthenticationError: no account for [redacted]" in capsys.readouterr().err


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("bins = 3", "", "give either bins or half_width"),
        ("bins = 3", "bin = 3", "'bin' is not known; did you mean 'bins'?"),
        ("bins = 3", 'bins = "three"', "bins must be a number, got 'three'"),
        ("bins = 3", "bins = true", "bins must be a number, got True"),
        ("scale = [1, 2, 3, 4, 5]", 'scale = "1-5"', "scale must list numbers"),
        ('store = "run.sqlite"', "store = 1", "store must be a text in quotes, got 1"),
        ('model = "openai/small"', "temperature = 1.0", "[models.small] must say which"),
        ("[models.small]", "[model.small]", "'model' is not known; did you mean 'models'?"),
        ("Rate {item}", "Rate it", "must say where the item goes"),
        ('name = "id"', "", "give ['name', 'table', 'text']"),
        ("scale = [", "scale = ", "not valid TOML"),
        ("timeout = 5.0", "timeout = -1.0", "timeout must be positive"),
        ("bins = 3", "bins = 3\narm = 2", "arm must be a text in quotes, got 2"),
        ("bins = 3", "bins = 3\nsystem = 2", "system must be a text in quotes, got 2"),
    ],
)
def test_a_bad_config_is_explained(asked, old, new, words, capsys):
    folder, _ = asked
    text = CONFIG.format(budget=12)
    assert old in text
    (folder / "config.toml").write_text(text.replace(old, new))
    assert main(["repeats", "run", str(folder / "config.toml"), "--quiet"]) == 2
    assert words in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on(asked, capsys, monkeypatch):
    folder, _ = asked

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bj.repeats.runner, "sample_until_sync", stopped)
    (folder / "config.toml").write_text(CONFIG.format(budget=12))
    assert main(["repeats", "run", str(folder / "config.toml"), "--quiet"]) == 130
    assert "the same command goes on from there" in capsys.readouterr().err


@pytest.mark.slow
def test_help_names_both_commands():
    done = subprocess.run(
        [sys.executable, "-c", "from bayesjudge.cli import main; main(['repeats', '--help'])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "report" in done.stdout
    assert "run" in done.stdout


def test_categories_asked_again(tmp_path, capsys):
    table = pd.DataFrame({"item": list("aaaabbbb"), "verdict": list("PPPPPPFQ")})
    table.to_csv(tmp_path / "answers.csv", index=False)
    assert main(["repeats", "categories", str(tmp_path / "answers.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    same = next(row for row in found["estimates"] if row["quantity"] == "same_twice")
    # item b: 1 of the 6 pairs agrees
    assert same["value"] == pytest.approx((1 + 1 / 6) / 2)
