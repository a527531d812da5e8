"""``bayesjudge bias`` from a file to a screen, a document and a page."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.bias import certificates
from bayesjudge.cli import main
from bayesjudge.cli.bias_shape import Shape
from bayesjudge.core.answer import percents
from bayesjudge.core.methods import SPREAD_PRIOR

READ = ["--scale", "0-100", "--design", "item", "--rerun", "rerun"]
ASKED = ["--tolerance", "10", "--units", "points"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables: one judge, two judges, a vector of scores, and pairs in both orders."""
    made = tmp_path_factory.mktemp("bias")
    rng = np.random.default_rng(1)
    table = bj.bias.simulate(items=200, random_seed=1)
    tone = rng.integers(0, 101, len(table))
    table.assign(tone=tone, other=table["score"]).to_csv(made / "scores.csv", index=False)
    two = bj.bias.simulate(items=60, judges=["gpt", "claude"], random_seed=2)
    two.to_csv(made / "two.csv", index=False)
    pairs = pd.DataFrame({"judge": ["a"] * 40 + ["b"] * 40, "order1": [1] * 80})
    pairs.assign(order2=[1] * 30 + [2] * 10 + [1] * 20 + [None] * 20).to_csv(
        made / "orders.csv", index=False
    )
    return made


@pytest.fixture
def run(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def call(*arguments):
        code = main(arguments)
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


def named(document, method=""):
    """Values by entry, of the methods that have `method` in their name."""
    return {
        (r["quantity"], *r["where"].values()): r["value"]
        for r in document["estimates"]
        if method in r["method"]
    }


def shifts_of(folder):
    table = pd.read_csv(folder / "scores.csv")
    return bj.bias.Shifts.from_frame(table, scale=(0, 100), design="item", rerun="rerun")


@pytest.mark.slow
def test_shifts_are_printed_with_intervals(run, folder):
    code, out, err = run("bias", "scores.csv", *READ, "--no-nuts", "--details")
    assert (code, err) == (0, "")
    row = bj.bias.variance_parts(shifts_of(folder))["rms_shift", "format"]
    assert re.search(
        rf"^format +Variance parts +{row.value:.3f} +{row.low:.3f} +{row.high:.3f}", out, re.M
    )
    assert "mean_shift[order]" in out
    assert "not asked for (--tolerance, --units)" in out
    assert "reruns-move" in out
    assert "Certificate" not in out


@pytest.mark.slow
def test_the_certificate_is_that_of_the_module(run, folder):
    code, out, _ = run("bias", "scores.csv", *READ, *ASKED, "--no-nuts", "--json")
    assert code == 0
    document = json.loads(out)
    card = certificates.certify(shifts_of(folder), tolerance=10, failure_prob=0.05, units="points")
    (found,) = document["certificates"]
    assert found["alpha"] == card.alpha
    assert found["text"] == card.text
    code, out, _ = run("bias", "scores.csv", *READ, *ASKED, "--no-nuts")
    assert " ".join(card.text.splitlines()[0].split()) in " ".join(out.split())


@pytest.mark.slow
def test_options_of_the_certificate_reach_it(run, folder):
    more = ["--tolerance", "0.2", "--units", "range", "--failure-prob", "0.1", "--alpha", "0.3"]
    more += ["--noise-prob", "0.02", "--center", "mean", "--basis", "predictive"]
    code, out, _ = run("bias", "scores.csv", *READ, *more, "--no-nuts", "--json")
    assert code == 0
    card = certificates.certify(
        shifts_of(folder),
        tolerance=0.2,
        units="range",
        failure_prob=0.1,
        alpha=0.3,
        noise_prob=0.02,
        center="mean",
        basis="predictive",
    )
    (found,) = json.loads(out)["certificates"]
    for name in ("alpha", "noise_scale", "shift_bound", "basis", "center", "failure_prob"):
        assert found[name] == getattr(card, name), name


@pytest.mark.slow
def test_what_cannot_be_certified_says_why_and_is_null(run):
    code, out, _ = run("bias", "scores.csv", *READ, *ASKED, "--alpha", "1", "--no-nuts", "--json")
    assert code == 0
    (found,) = json.loads(out)["certificates"]
    assert found["alpha"] is None
    assert "cannot be excluded" in found["reason"]


@pytest.mark.slow
def test_each_judge_has_a_certificate_of_its_own(run, folder):
    more = ["--failure-prob", "0.1", "--no-nuts", "--json"]
    code, out, _ = run("bias", "two.csv", *READ, "--judge", "judge", *ASKED, *more)
    assert code == 0
    document = json.loads(out)
    shifts = bj.bias.Shifts.from_frame(
        pd.read_csv(folder / "two.csv"), scale=(0, 100), design="item", rerun="rerun", judge="judge"
    )
    expected = {
        judge: certificates.certify(
            shifts.only(judge=judge), tolerance=10, failure_prob=0.1, units="points"
        ).shift_bound
        for judge in ("claude", "gpt")
    }
    assert {card["about"]: card["shift_bound"] for card in document["certificates"]} == expected
    assert len(set(expected.values())) == 2
    assert ("rms_shift", "gpt", "format") in named(document)


@pytest.mark.slow
def test_scores_are_released_with_the_ranking_that_is_left(run, folder):
    code, out, err = run(
        *["bias", "scores.csv", *READ, *ASKED, "--no-nuts", "--center-at", "50"],
        *["--release", "out.csv"],
    )
    assert (code, err.split()[-1], err.count("\n")) == (0, "out.csv", 1)
    assert "spearman 1.000" in out
    made = pd.read_csv(folder / "out.csv")
    table = pd.read_csv(folder / "scores.csv")
    assert made["score"].tolist() == table.loc[table["variant"] == "baseline", "score"].tolist()
    card = certificates.certify(shifts_of(folder), tolerance=10, failure_prob=0.05, units="points")
    np.testing.assert_allclose(
        made["released_score"], card.alpha * made["score"] + (1 - card.alpha) * 50
    )
    assert len(made) == 200


@pytest.mark.slow
def test_the_page_has_every_picture(run, folder):
    code, _, _ = run(
        "bias", "scores.csv", *READ, *ASKED, "--no-nuts", "--center-at", "50", "--html", "page.html"
    )
    assert code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2 * 6  # each for a screen and for a phone
    for caption in ("Shifts by", "What measuring more", "Scores before and after"):
        assert f"<figcaption>{caption}" in page
    assert "<h2>Certificate</h2>" in page
    assert "with probability 0.05" in page  # as text, not only drawn


@pytest.mark.sampling
def test_sampled_fit_is_saved_and_certified(run, folder):
    code, out, err = run("bias", "scores.csv", *READ, *ASKED, "--save", "fit.nc", "--json")
    assert (code, err.split()[-1], err.count("\n")) == (0, "fit.nc", 1)
    document = json.loads(out)
    fit = bj.load(folder / "fit.nc")
    assert set(named(document, "NUTS")) == {(q, *at.values()) for q, at, _ in fit.estimate().rows()}
    last = document["certificates"][-1]
    assert last["about"] == "by the model"
    card = certificates.certify(fit, tolerance=10, failure_prob=0.05, units="points")
    assert last["shift_bound"] == card.shift_bound


@pytest.mark.slow
def test_a_vector_of_scores_is_measured_but_not_sampled(run):
    code, out, err = run("bias", "scores.csv", *READ, "--score", "score", "--score", "other")
    assert code == 0
    assert "the model takes one score" in err
    assert "NUTS" not in out


@pytest.mark.slow
def test_a_step_spreads_the_prior(run):
    code, out, _ = run("bias", "scores.csv", *READ, "--no-nuts", "--step", "1", "--json")
    assert code == 0
    assert SPREAD_PRIOR.title in {row["method"] for row in json.loads(out)["estimates"]}


def test_a_scale_without_ends(run):
    code, out, err = run("bias", "scores.csv", "--scale=-inf,inf", *READ[2:], *ASKED, "--json")
    assert code == 0
    assert "give --unit" in err
    assert json.loads(out)["certificates"][0]["alpha"] is not None  # 200 neighbours suffice


@pytest.mark.slow
def test_position_bias_by_judge(run, folder):
    code, out, _ = run(
        *["bias", "orders", "orders.csv", "--judge", "judge", "--missing", "drop", "--json"],
        *["--html", "page.html"],
    )
    assert code == 0
    document = json.loads(out)
    assert document["command"] == "bias orders"
    found = named(document)
    assert found["consistency", "a"] == pytest.approx(30 / 40)
    assert found["primacy", "a"] == pytest.approx(10 / 40)
    assert found["primacy", "b"] == 0
    assert document["cautions"][0]["id"] == "missing-verdicts"
    assert (folder / "page.html").read_text().count("<svg") == 2 * 4


LONG = ["--item", "prompt", "--shown-first", "left", "--shown-second", "right"]


@pytest.mark.slow
def test_one_row_a_verdict_with_the_places_that_won(run, folder):
    rows = [(i, *pair, "A") for i in range(20) for pair in (("new", "old"), ("old", "new"))]
    for i in range(20, 60):
        rows += [(i, "new", "old", "A"), (i, "old", "new", "B" if i < 50 else "tie")]
    table = pd.DataFrame(rows, columns=["prompt", "left", "right", "says"])
    table.to_csv(folder / "duels.csv", index=False)
    asked = ["bias", "orders", "duels.csv", *LONG, "--verdict", "says", "--tie-value", "tie"]
    code, out, _ = run(*asked)
    assert code == 0
    assert "first place's wins less the second's" in out
    assert "new wins: 79 %" in out  # (20 + 60 + 15) / 120
    document = json.loads(run(*asked, "--json")[1])
    found = named(document)
    assert found["position_preference", "judge"] == pytest.approx((80 - 30) / 120)
    code, _, err = run(*asked, "--winner", "A", "B")
    assert code == 2
    assert "an option that takes several is repeated: --winner A --winner B" in err
    code, _, err = run("bias", "orders", "duels.csv")
    assert code == 2
    assert "one row per verdict say --item COLUMN --shown-first COLUMN" in err
    code, _, err = run("bias", "orders", "duels.csv", "--verdict", "says")
    assert code == 2
    assert "--shown-first COLUMN --shown-second COLUMN --item COLUMN" in err


REFUSED = {
    "bais scores.csv": 'Did you mean "bias"?',
    "bias": "TABLE is needed: One row per score, or one row per item: .csv",
    "bias scores.csv": "--scale is needed: Lowest and highest possible score",
    "bias scores.csv --scale low --design item": "--scale low: write the lowest and the highest",
    "bias scores.csv --scale 0-100 --design itm": 'Did you mean "item"?',
    "bias scors.csv @": "there is no such file; did you mean 'scores.csv'?",
    "bias scores.csv @ --variant varient": "no column 'varient'; did you mean 'variant'?",
    "bias scores.csv @ --baseline baselin": "no variant 'baselin'; did you mean 'baseline'?",
    "bias scores.csv @ --tolerence 5": "Did you mean --tolerance?",
    "bias scores.csv @ --tolerance 5": "--units is needed",
    "bias scores.csv @ --units points": "--units is about a certificate: give --tolerance too",
    "bias scores.csv @ $ --alpha 2": "alpha must lie in (0, 1], got 2.0",
    "bias scores.csv @ --release x.csv": "scores are released under a certificate",
    "bias scores.csv @ $ --release x.csv": "--release needs --center-at",
    "bias scores.csv @ $ --release no/x.csv": "--release: there is no folder 'no'",
    "bias scores.csv @ --step 7": "are not multiples of --step 7",
    "bias scores.csv @ --score score --score other --step 1": "step needs one score",
    "bias scores.csv @ --html no/x.html": "--html: there is no folder 'no'",
    "bias two.csv @": "say what they are: --repeats mean",
    "bias orders orders.csv": "say --missing drop to leave them out",
    "bias orders orders.csv --frst a": "Did you mean --first?",
    "bias orders orders.csv --second ordr2": "did you mean 'order2'?",
    "bias orders orders.csv --winner 1": "--winner must be given twice",
    "bias orders orders.csv --save x.nc": "this posterior is exact",
}


@pytest.mark.fast_one_in(20)
@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_one_message_and_exit_code_2(run, line):
    stand_for = {"@": [*READ, "--no-nuts"], "$": ASKED}
    code, out, err = run(*[w for part in line.split() for w in stand_for.get(part, [part])])
    assert (code, out) == (2, "")
    assert REFUSED[line] in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_the_design_is_taught_where_it_is_missing(run):
    code, out, err = run("bias", "scores.csv", "--scale", "0-100")
    assert (code, out) == (2, "")
    assert {"item", "batch"} <= set(re.findall(r"\w+", err))


@pytest.mark.slow
@pytest.mark.parametrize("command", [["bias"], ["bias", "orders"]])
def test_help_teaches_with_an_example(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert f"bayesjudge {' '.join(command)} " in out
    assert "--html" in out


@pytest.mark.slow
def test_the_page_of_both_orders_draws_judges_as_such(run, folder):
    """The same order in sentence, table and picture; a judge is no method."""
    rows = [(f"q{i}", j, ("1", "2")[i % 3 > k], ("1", "2")[i % 2]) for k, j in enumerate("ab")
            for i in range(60)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["item", "judge", "order1", "order2"])
    table.to_csv(folder / "two.csv", index=False)
    code, out, _ = run("bias", "orders", "two.csv", "--judge", "judge", "--html", "two.html")
    assert code == 0
    page = (folder / "two.html").read_text()
    assert "by 2 methods" not in page
    assert page.count("<figure") == 4  # quoted, all judges, primacy and recency
    said = " ".join(out.split())
    first, second = re.findall(r"(?:^|; |\. )([ab]) (?:prefers|may or may not)", said)
    rows = re.findall(r"^> ([ab]) ", out, re.MULTILINE)
    assert rows == [first, second]


@pytest.mark.slow
def test_a_limit_is_answered_first_and_decided_on_request(run, folder):
    """The share that moved further, of --limit and of --tolerance; reruns are not decided."""
    shifts = shifts_of(folder)
    code, out, _ = run("bias", "scores.csv", *READ, "--limit", "8", "--no-nuts")
    said = " ".join(out.split())
    moved = bj.bias.share_moved(shifts, limit=8)["share_moved", "format"]
    assert code == 0
    assert f"{percents(moved, 0.95)} of scores moved by more than 8 points under 'format'" in said
    assert "is judged again): 8 points or less cannot be promised." in said
    _, other, _ = run("bias", "scores.csv", *READ, "--tolerance", "8", "--units", "points",
                      "--no-nuts")  # fmt: skip
    assert "under 'format'" in " ".join(other.split())
    for at_most, code in (("0.01", 1), (f"{moved.value:.3f}", 3), ("0.9", 0)):
        asked = ("--limit", "8", "--at-most", at_most, "--no-nuts")
        found, out, _ = run("bias", "scores.csv", *READ, *asked)
        assert (found, f"Exit code {code}:" in out) == (code, True)
        assert "of rerun is" not in out
    with command_refused(id="no-limit"):
        assert run("bias", "scores.csv", *READ, "--at-most", "0.1")[0] == 2
    code, _, err = run("bias", "scores.csv", *READ, "--limit", "8", "--at-most", "5")
    assert (code, "--at-most must be a share" in err) == (2, True)


@pytest.mark.slow
def test_answers_are_written_in_several_ways_for_a_judge(run, folder):
    table = pd.DataFrame({"id": ["a", "b"], "answer": ["Take 2. Stir.", "No numbers here."]})
    table.to_csv("answers.csv", index=False)
    asked = ["bias", "variants", "answers.csv", "--item", "id", "--change", "bullets", "number"]
    code, out, _ = run(*asked, "--out", "v.csv")
    assert code == 0
    assert "1 changes left the answer as it is" in " ".join(out.split())
    made = pd.read_csv("v.csv")
    assert made.groupby("id")["variant"].apply(list).to_dict() == {
        "a": ["baseline", "bullets", "number"],
        "b": ["baseline", "bullets"],
    }
    made["score"] = 3 + (made["variant"] == "bullets")
    made.drop(columns="answer").to_csv("scored.csv", index=False)
    code, out, _ = run(
        *["bias", "scored.csv", "--scale", "1-5", "--design", "item", "--item", "id"],
        *["--missing", "drop", "--json"],
    )
    assert code == 0, out


@pytest.mark.slow
def test_the_place_of_an_answer(run, folder):
    rows = [(i, p, 5 + i + (p == 1) + 0.1 * (i * p % 3)) for i in range(6) for p in (1, 2, 3)]
    table = pd.DataFrame(rows, columns=["answer", "place", "score"])
    table.to_csv("places.csv", index=False)
    code, out, _ = run("bias", "positions", "places.csv", "--position", "place", "--json")
    assert code == 0
    found = named(json.loads(out))
    document = bj.bias.position_shift(table, position="place")
    expected = document["position_shift", "judge", "1"].value
    assert "1 points higher in place 1 than in place 3" in bj.bias.answer(document).text
    flat = table.assign(score=[5 + i + 0.3 * (i * p % 3 - 1) for i, p, _ in rows])
    text = bj.bias.answer(bj.bias.position_shift(flat, position="place")).text
    assert "may be chance" in text
    assert found["position_shift", "judge", "1"] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("first", "second"), ("left", "right")])
def test_words_of_places_do_not_name_an_answer(run, folder, words):
    """Who writes the place that won in both orders would be read as a judge that never changes."""
    rows = pd.DataFrame({"order1": words * 20, "order2": words[:1] * 40})
    rows.to_csv(folder / "places.csv", index=False)
    code, _, error = run("bias", "orders", "places.csv")
    assert code == 2
    assert repr(words[0]) in error
    assert run("bias", "orders", "places.csv", *(w for x in words for w in ("--winner", x)))[0] == 0


@pytest.mark.parametrize(
    ("answers", "tie", "more"),
    [((1.0, 2.0), None, []), (("A", "B"), "tie", []), (("a", "b"), "C", ["--tie-value", "C"])],
)
def test_answers_are_known_by_their_words(run, folder, answers, tie, more):
    one, other = answers
    rows = pd.DataFrame(
        {"order1": [one, other, one, tie] * 10, "order2": [one, one, one, tie] * 10}
    )
    rows.to_parquet(folder / "known.parquet")
    options = [*more, *(["--missing", "drop"] if tie is None else [])]
    code, out, error = run("bias", "orders", "known.parquet", *options, "--json")
    assert code == 0, error
    same = next(v for k, v in named(json.loads(out)).items() if k[0] == "consistency")
    assert same == pytest.approx(2 / 3 if tie is None else 3 / 4, abs=0.04)


def test_rows_that_no_column_names_are_counted_from_one():
    shape = Shape("row number", None, ["a", "b"], "a", numbered=True)
    rows = pa.table({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0]})
    source = SimpleNamespace(own_table=rows.select)
    named = shape.rows(source, ["row number", "a", "b"])
    assert named["row number"].to_pylist() == ["1", "2", "3"]
