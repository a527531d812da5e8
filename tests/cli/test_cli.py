"""What a shell sees: results on stdout, complaints on stderr, 0 or 2."""

import csv
import fcntl
import inspect
import io
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from commands import options_by_command
from refusals import command_refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.cli.commands import COMMANDS, build_app
from bayesjudge.cli.explain import steps
from bayesjudge.cli.options import FORMATS
from bayesjudge.cli.priors import Priors
from bayesjudge.core import methods
from bayesjudge.core.methods import JUDGE
from bayesjudge.core.words import glossary
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.readers.files import SAID
from bayesjudge.readers.tables import READERS

CALL = [sys.executable, "-m", "bayesjudge"]
COLUMNS = ["--verdict", "verdict", "--truth", "truth"]
KNOWN = [*COLUMNS, "--calibration", "random"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables: one system, all systems, and some that cannot be used."""
    made = tmp_path_factory.mktemp("cli")
    table = keep_labels(xstest(), 100, 2024, by="system")
    table.to_csv(made / "all.csv", index=False)
    table[table["system"] == "gpt4"].to_csv(made / "gpt4.csv", index=False)
    (made / "words.csv").write_text("verdict,truth\nyes,\nno,no\nmaybe,yes\n")
    (made / "labelled.csv").write_text("verdict,truth\n1,1\n0,0\n")
    (made / "weak.csv").write_text("verdict,truth\n1,0\n0,1\n1,\n0,\n")
    (made / "good.csv").write_text("verdict,truth\n1,1\n1,1\n1,\n0,\n")
    return made


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Run a command in the folder of tables: exit code, stdout, stderr."""
    monkeypatch.chdir(folder)

    def call(*arguments):
        code = main(arguments)
        done = capsys.readouterr()
        return code, done.out, done.err

    return call


# What is printed --------------------------------------------------------------------------------


@pytest.mark.slow
def test_closed_forms_of_one_system(run):
    code, out, err = run("prevalence", "gpt4.csv", *KNOWN, "--no-nuts", "--details")
    assert (code, err) == (0, "")
    table = keep_labels(xstest(), 100, 2024, by="system")
    counts = bj.prevalence.Counts.from_frame(table[table["system"] == "gpt4"], calibration="random")
    for one in (*bj.prevalence.closed_forms(counts), bj.prevalence.exact(counts)):
        value, low, high = one["prevalence"]
        name = re.escape(one.method.title.split(",")[0])
        kind = one.interval_of("prevalence")
        line = rf"{name} +{value:.3f} +{low:.3f} +{high:.3f} +{high - low:.3f} +{kind}"
        assert re.search(line, out), one.method
    assert "calibration  random: labelled items are a random sample of the same items" in out
    assert "Assumptions" in out
    assert "\x1b" not in out  # no terminal, no control codes


@pytest.mark.slow
def test_systems_get_their_own_estimates(run):
    options = ["--by", "system", "--item", "item", "--unparsed", "fail", "--no-nuts"]
    options += ["--details"]
    code, out, _ = run("prevalence", "all.csv", *KNOWN, *options)
    assert code == 0
    for system in ("gpt4", "llama2new", "llama2orig", "mistralguard", "mistralinstruct"):
        assert re.search(rf"^{system} +Judge's pass rate +0\.\d+", out, re.MULTILINE)
    assert "weak-judge: sensitivity + specificity - 1 is" in out
    assert "unparsed-verdicts: 11 rows" in out


def test_the_demo_shows_the_truth_and_what_to_do_next(run):
    code, out, err = run("demo", "--no-nuts", "--details")
    assert (code, err) == (0, "")
    assert re.search(r"^llama2orig +Judge's pass rate +0\.422 .* 0\.224 +Wilson", out, re.MULTILINE)
    rows = re.findall(r"Judge's pass rate +\d\.\d+ +(\d\.\d+) +(\d\.\d+) ", out)
    (width,) = re.findall(r"Judge's pass rate +1 of 5 +(\d\.\d+)", out)
    assert len(rows) == 5
    wide = sum(float(high) - float(low) for low, high in rows) / 5
    assert float(width) == pytest.approx(wide, abs=2e-3)
    assert "bayesjudge prevalence --help" in out


def test_a_prior_that_nobody_named_is_that_of_the_model():
    flat, half = bj.BetaPrior(), bj.BetaPrior.jeffreys()
    named = {None: (half, flat), "flat": (flat, flat), "jeffreys": (half, half)}
    for base, (share, rate) in named.items():
        model = bj.prevalence.ErrorRates(**Priors(base, {}, True).joint)
        assert model == bj.prevalence.ErrorRates(share, rate, rate)
    assert bj.prevalence.ErrorRates(**Priors(None, {}, True).joint) == bj.prevalence.ErrorRates()


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--interval", "hdi"], ["--prior", "jeffreys"]])
def test_options_of_the_posterior_reach_it(run, options):
    _, plain, _ = run("prevalence", "gpt4.csv", *KNOWN, "--no-nuts", "--json")
    _, other, _ = run("prevalence", "gpt4.csv", *KNOWN, "--no-nuts", "--json", *options)
    one, two = (json.loads(text)["estimates"] for text in (plain, other))
    differ = [a["method"] for a, b in zip(one, two, strict=True) if a["low"] != b["low"]]
    assert differ == ["Bayesian (exact)"]


@pytest.mark.slow
def test_a_judge_may_be_allowed_to_be_worse_than_chance(run):
    """The labels contradict the judge, so that the restriction moves the answer."""
    answers = {}
    for option in ("--better-than-chance", "--no-better-than-chance"):
        code, out, _ = run("prevalence", "weak.csv", *KNOWN, "--no-nuts", "--json", option)
        assert code == 0
        answers[option] = json.loads(out)["estimates"][-1]["width"]
    assert answers["--better-than-chance"] != answers["--no-better-than-chance"]


@pytest.mark.slow
def test_priors_and_design_reach_the_posterior(run):
    """By truth, where the labels' shares say nothing and priors matter; by hand beside it."""
    by_truth = [*COLUMNS, "--calibration", "by_truth"]
    more = ["--prior-sensitivity", "0.9:20", "--prior-specificity", "0.8:10"]
    more += ["--no-better-than-chance", "--ci-prob", "0.9"]
    code, out, _ = run("prevalence", "gpt4.csv", *by_truth, *more, "--no-nuts", "--json")
    assert code == 0
    table = keep_labels(xstest(), 100, 2024, by="system")
    counts = bj.prevalence.Counts.from_frame(
        table[table["system"] == "gpt4"], calibration="by_truth"
    )
    model = bj.prevalence.ErrorRates(
        sensitivity=bj.BetaPrior.worth(rate=0.9, n=20),
        specificity=bj.BetaPrior.worth(rate=0.8, n=10),
        better_than_chance=False,
    )
    (found,) = (row for row in json.loads(out)["estimates"] if "exact" in row["method"])
    expected = bj.prevalence.exact(counts, model, ci_prob=0.9)["prevalence"]
    np.testing.assert_allclose([found["value"], found["low"], found["high"]], expected, rtol=1e-12)
    assert found["where"] == {}


@pytest.mark.slow
def test_all_methods_adds_mismatched_ones_with_a_caution(run):
    _, few, _ = run("prevalence", "gpt4.csv", *KNOWN, "--no-nuts", "--json")
    _, many, _ = run("prevalence", "gpt4.csv", *KNOWN, "--no-nuts", "--json", "--all-methods")
    few, many = (json.loads(text) for text in (few, many))
    added = {e["method"] for e in many["estimates"]} - {e["method"] for e in few["estimates"]}
    assert added == {
        *("Difference (PPI)", "Conditional calibration", "Post-stratified"),
        "Rogan-Gladen (bootstrap)",
    }
    by_truth = [*COLUMNS, "--calibration", "by_truth", "--no-nuts", "--json", "--all-methods"]
    _, out, _ = run("prevalence", "gpt4.csv", *by_truth)
    assert "design-mismatch" in {c["id"] for c in json.loads(out)["cautions"]}


@pytest.mark.slow
def test_labels_in_words(run, folder):
    (folder / "invalid.csv").write_text(
        "verdict,truth\nok,ok\nbad,bad\nawful,bad\nok,\nbad,\nINVALID,\n"
    )
    words = ["--pass-value", "ok", "--fail-value", "bad", "--fail-value", "awful"]
    words += ["--missing-value", "INVALID", "--unparsed", "drop", "--no-nuts", "--json"]
    code, out, _ = run("prevalence", "invalid.csv", *KNOWN, *words)
    assert code == 0
    assert json.loads(out)["inputs"]["items"] == 5
    assert json.loads(out)["inputs"]["unparsed"] == 1


# The sampled posterior, run once ----------------------------------------------------------------


@pytest.fixture(scope="module")
def sampled(folder):
    """The main job with everything that it can write, in a shell without a terminal or stdin."""
    command = [*CALL, "prevalence", "gpt4.csv", *KNOWN, "--json", "--seed", "5"]
    command += ["--html", "page.html", "--save", "fit.nc"]
    env = os.environ | {"NO_COLOR": ""}
    return subprocess.run(
        f"exec {' '.join(map(_quoted, command))} <&-",
        shell=True,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )


def _quoted(word):
    return "'" + word.replace("'", "'\\''") + "'"


@pytest.mark.sampling
def test_the_document_is_all_of_stdout(sampled):
    assert sampled.returncode == 0, sampled.stderr
    document = json.loads(sampled.stdout)
    assert [line.split()[-1] for line in sampled.stderr.splitlines()] == ["fit.nc", "page.html"]
    assert document["schema"] == "bayesjudge/3"
    assert document["command"] == "prevalence"
    assert document["ci_prob"] == 0.95
    fields = {"quantity", "where", "method", "value", "low", "high", "width", "interval"}
    assert {frozenset(row) for row in document["estimates"]} == {frozenset(fields)}
    for row in document["estimates"]:
        assert row["low"] <= row["value"] <= row["high"]
    methods = [row["method"] for row in document["estimates"] if row["quantity"] == "prevalence"]
    assert methods[0] == JUDGE.title
    assert methods[-1] == "Bayesian (NUTS)"
    about = document["sampling"][methods[-1]]
    assert about["random_seed"] == 5
    assert about["converged"] is True
    for by_method in ("sources", "targets", "assumptions"):
        assert set(document[by_method]) == set(methods)
    assert set(document["targets"].values()) == {"population"}
    stated = [a for found in document["assumptions"].values() for a in found]
    assert {frozenset(a) for a in stated} == {frozenset({"id", "text", "contradicted_by"})}
    cautions = {caution["id"] for caution in document["cautions"]}
    assert {name for a in stated for name in a["contradicted_by"]} <= cautions


@pytest.mark.sampling
def test_the_sampled_row_agrees_with_quadrature(sampled, folder):
    """To 5 of its own Monte Carlo standard errors."""
    rows = [
        row
        for row in json.loads(sampled.stdout)["estimates"]
        if row["quantity"] == "prevalence" and row["method"].startswith("Bayesian")
    ]
    exact, nuts = rows
    error = bj.load(folder / "fit.nc").diagnostics().loc["prevalence", "mcse_mean"]
    assert abs(exact["value"] - nuts["value"]) < 5 * error


@pytest.mark.sampling
def test_the_saved_fit_is_the_printed_one(sampled, folder):
    fit = bj.load(folder / "fit.nc")
    printed = json.loads(sampled.stdout)["estimates"]
    for row in printed:
        if "NUTS" in row["method"]:
            assert [row["value"], row["low"], row["high"]] == list(
                fit.estimate()[row["quantity"], *row["where"].values()]
            )


@pytest.mark.sampling
def test_the_page_needs_no_other_file(sampled, folder):
    assert sampled.returncode == 0, sampled.stderr
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 4 * 2  # each for a screen and for a phone
    captions = ["quoted", "by method", "pass rate", "labels are wrong"]
    told = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert [words in said for words, said in zip(captions, told, strict=True)] == [True] * 4
    assert "Bayesian (NUTS)" in page
    loads = re.findall(r"(?:src|href)\s*=\s*[\"']([^\"']*)", page)
    loads += re.findall(r"url\(([^)]*)", page)
    assert not [target for target in loads if not target.startswith("#")]
    assert not re.search(r"<(?:script|link|iframe|img)\b|@import", page)


def chunks(terminal):
    """Read what is written to a terminal, until its other end is closed."""
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # how Linux says that it is
            return
        if not chunk:
            return
        yield chunk


@pytest.mark.sampling
def test_progress_is_on_stderr_and_on_a_terminal_only(folder):
    """Stderr is a terminal, stdout is not: codes there, none here."""
    ours, theirs = pty.openpty()
    command = [*CALL, "prevalence", "gpt4.csv", *KNOWN, "--nuts"]
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    process = subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=theirs, stdin=theirs
    )
    os.close(theirs)
    shown = b"".join(chunks(ours))
    out = process.communicate()[0].decode()
    assert process.returncode == 0, shown.decode()
    assert "\x1b" not in out
    assert b"\x1b" in shown
    assert b"preparing" in shown
    table = out[out.index("value") :]
    assert table.index("Bayesian (exact)") < table.index("Bayesian (NUTS)")
    assert not re.search(r"Sampling\n  4 chains of \d+ draws, seed 1; R-hat at most 1\.0", out)


@pytest.mark.slow
def test_strict_fails_where_the_sampler_did(run, monkeypatch):
    def fit(*arguments, strict, **settings):
        assert strict
        raise bj.ConvergenceError("R-hat of prevalence is 1.9")

    monkeypatch.setattr(bj.prevalence, "fit", fit)
    code, out, err = run("prevalence", "gpt4.csv", *KNOWN, "--nuts", "--strict")
    assert (code, err) == (2, "bayesjudge: R-hat of prevalence is 1.9\n")
    assert "Bayesian (exact)" in out


@pytest.mark.slow
def test_ctrl_c_leaves_what_was_printed(run, monkeypatch):
    def fit(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(bj.prevalence, "fit", fit)
    code, out, err = run("prevalence", "gpt4.csv", *KNOWN, "--nuts")
    assert (code, err) == (130, "bayesjudge: stopped\n")
    assert "Bayesian (exact)" in out


# What is refused --------------------------------------------------------------------------------

NO_NUTS = [*KNOWN, "--no-nuts"]
REFUSED = {
    "prevalance gpt4.csv": 'Unknown command "prevalance". Did you mean "prevalence"?',
    "prevalence": "TABLE is needed: One row per item: .csv",
    "prevalence gpt4.csv": "--truth is needed: Column with the human label",
    "prevalence gpt4.csv --truth truth --calibration random": "--verdict (or --score, if the judge",
    "prevalence gpt4.csv --verdict": "--truth is needed",
    "prevalence gpt4.csv --fail-value": "--truth is needed",
    "prevalence gpt4.csv @ --verdit verdict": "Unknown option: --verdit. Did you mean --verdict",
    "prevalence gpt4.csv extra @": "did not expect ['extra']",
    "prevalence gpt4.csv @ --sed 3": "Unknown option: --sed. Did you mean --seed?",
    "prevalence gpt4.csv @ --ci-prob 95": "(write 95 % as 0.95), got 95.0",
    "prevalence gpt4.csv @ --ci-prob abc": 'unable to convert "abc" into float',
    "prevalence gpt4.csv @ --interval hpd": '"eti", "hdi", "eti_bounded". Did you mean "hdi"?',
    "prevalence gpt4.csv @ --prior flta": 'Did you mean "flat"?',
    "prevalence gpt4.csv @ --prior-sensitivity 0.9": "0.9: write rate:n, for example 0.9:20",
    "prevalence gpt4.csv @ --prior-sensitivity 90:20": "rate must lie in [0, 1], got 90.0",
    "prevalence gpt4.csv @ --prior-specificity .9:-1": "n must be 0 or more",
    "prevalence gpt4.csv @ --pooling partial": "--pooling partial needs several systems (--by)",
    "prevalence gpt4.csv @ --html no/x.html": "--html: there is no folder 'no'",
    "prevalence gpt4.csv @ --html .": "--html: '.' is a folder; name a file",
    "prevalence gpt4.csv @ --save fit.nc": "--save keeps the sampled fit: leave --no-nuts out",
    "prevalence gtp4.csv @": "there is no such file; did you mean 'gpt4.csv'?",
    "prevalence gpt4.xlsx @": "there is no such file; did you mean 'gpt4.csv'?",
    "prevalence all.csv @ --by sytem": "no column 'sytem'; did you mean 'system'?",
    "prevalence all.csv @ --by system": "11 rows have no verdict; say what they are: --unparsed",
    "prevalence all.csv @ --unparsed skip": 'Choose from: "verdict", "fail", "drop"',
    "prevalence all.csv @ --item item --unparsed drop": "occur more than once",
    "prevalence words.csv @": "'maybe' is neither pass nor fail; values found: 'maybe', 'no'",
    "prevalence words.csv @ --pass-value ja": "no row has the pass value ['ja']",
    "prevalence words.csv @ --pass-value yes": "for example --fail-value maybe;",
    "demo --no-nutz": "Unknown option: --no-nutz. Did you mean --no-nuts?",
    "--verson": "Available commands: ",
}


@pytest.mark.parametrize("line", REFUSED)
@pytest.mark.slow
def test_bad_input_is_one_message_and_exit_code_2(run, line):
    arguments = [word for part in line.split() for word in (NO_NUTS if part == "@" else [part])]
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("bayesjudge: ")
    assert REFUSED[line] in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_table_with_all_its_labels_has_an_answer(run):
    """Was refused: it cannot be `separate`, which is one of the designs that are compared."""
    code, out, _ = run("prevalence", "labelled.csv", *NO_NUTS, "--details")
    assert code == 0
    assert "random (declared)" in out
    assert "separate:" not in out


@pytest.mark.slow
def test_the_options_of_a_refusal_mend_it(run, folder):
    (folder / "letters.csv").write_text("verdict,truth\nC,C\nI,C\nP,I\nC,not sure\nC,\nI,\n")
    code, _, err = run("prevalence", "letters.csv", *NO_NUTS)
    (pasted,) = re.findall(r"for example (--.*);", err)
    assert (code, pasted) == (2, "--fail-value P 'not sure'")
    code, out, _ = run("prevalence", "letters.csv", *NO_NUTS, *shlex.split(pasted))
    assert code == 0
    assert "Labels: C read as pass; I, P, not sure read as fail" in out


@pytest.mark.slow
def test_numbers_that_are_no_verdicts_are_scores(run, folder):
    rows = "\n".join(f"{i / 37},{i % 2}" for i in range(40))
    (folder / "numbers.csv").write_text(f"verdict,truth\n{rows}\n")
    _, _, err = run("prevalence", "numbers.csv", *NO_NUTS)
    assert "40 different numbers" in err
    assert "if the judge gives scores: --score COLUMN --scale LOWEST:HIGHEST" in err


@pytest.mark.slow
def test_calibration_is_taught_where_it_is_missing(run):
    code, out, err = run("prevalence", "gpt4.csv", *COLUMNS)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 6
    assert set(bj.prevalence.DESIGNS) <= set(re.findall(r"\w+", err))
    code, _, wrong = run("prevalence", "gpt4.csv", *COLUMNS, "--calibration", "randm")
    assert code == 2
    assert "--calibration 'randm' is not known" in wrong
    assert wrong.splitlines()[1:] == err.splitlines()[1:]


@pytest.mark.slow
def test_predictive_values_have_no_prior_on_sensitivity(run):
    command = [*COLUMNS, "--calibration", "by_verdict", "--prior-sensitivity", "0.9:20"]
    with command_refused(id="no-prior-of", name="sensitivity"):
        assert run("prevalence", "gpt4.csv", *command, "--no-nuts")[0] == 2


@pytest.mark.parametrize(
    ("said", "meant"),
    [("--systems", "--by"), ("--label", "--truth"), ("--confidence", "--ci-prob")],
)
def test_an_option_by_another_name_is_recognised(run, said, meant):
    code, _, err = run("prevalence", "gpt4.csv", *NO_NUTS, said, "x")
    assert code == 2
    assert f"Unknown option: {said}. Did you mean {meant}?" in err


@pytest.mark.slow
def test_every_option_that_is_missing_is_told_at_once(run):
    code, _, err = run("bias")
    assert code == 2
    for words in ("TABLE is needed", "--scale is needed", "--design is needed"):
        assert words in err


@pytest.mark.slow
def test_a_pdf_is_refused_and_markdown_and_json_are_not_mixed(run):
    code, _, err = run("prevalence", "gpt4.csv", *NO_NUTS, "--html", "out.pdf")
    assert code == 2
    assert "--html out.pdf: expected a name that ends in .html" in err
    with command_refused(id="two-to-stdout"):
        assert run("prevalence", "gpt4.csv", *NO_NUTS, "--json", "--markdown", "-")[0] == 2


#: A renderer, and the command line with it, as if its file were among the others.
NEW_FORMAT = """
import csv, io

HELP = "Write the table of the answer's numbers."
ENDS = (".csv",)


def to_numbers(page):
    file = io.StringIO()
    csv.writer(file).writerows([page.numbers.columns, *(l.cells for l in page.numbers.lines)])
    return file.getvalue()
"""
WITH_IT = """
import sys
from bayesjudge import render
render.__path__.append("formats")
from bayesjudge.cli import main
sys.exit(main())
"""


@pytest.mark.slow
def test_a_new_format_is_one_file(run, folder):
    (folder / "formats").mkdir()
    (folder / "formats" / "numbers.py").write_text(NEW_FORMAT)

    def with_it(*words):
        command = [sys.executable, "-c", WITH_IT, *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)

    asked = ["prevalence", "gpt4.csv", *NO_NUTS, "--json", "--numbers"]
    done = with_it(*asked, "n.csv")
    assert (done.returncode, done.stderr) == (0, "page written to n.csv\n"), done.stderr
    (first, *_) = json.loads(done.stdout)["estimates"]
    with open(folder / "n.csv", encoding="utf-8", newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert float(rows[first["method"]]["value"]) == pytest.approx(first["value"], abs=6e-4)
    assert with_it(*asked, "n.txt").returncode == 2
    assert with_it(*asked, "-").returncode == 2  # two to stdout
    for command in ("judge", "gate"):
        assert "the answer's numbers" in with_it(command, "--help").stdout
    assert run(*asked, "n.csv")[0] == 2  # no such option without the file


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["prevalence", "gpt4.csv", *NO_NUTS],
        ["gate", "gpt4.csv", *KNOWN, "--at-least", "0.99"],
        ["drift", "gpt4.csv", "gpt4.csv"],
        ["doctor", "gpt4.csv"],
        ["plan", "--at-least", "0.8", "--prevalence", "0.9", "--agreement", "0.9"],
    ],
)
def test_markdown_on_the_screen_is_all_that_is_there(words, run):
    _, out, err = run(*words, "--markdown", "-")
    assert out.startswith("# "), err
    assert out.count("\n# ") == 0
    with command_refused(id="two-to-stdout"):
        assert run(*words, "--markdown", "-", "--json")[0] == 2


@pytest.mark.slow
def test_markdown_is_that_of_the_report(run, folder):
    _, out, _ = run("prevalence", "gpt4.csv", *NO_NUTS, "--markdown", "-")
    assert out.startswith("# Share of good outputs")
    code, screen, err = run("prevalence", "gpt4.csv", *NO_NUTS, "--markdown", "note.md")
    assert (code, err.split()[-1], err.count("\n")) == (0, "note.md", 1)
    assert (folder / "note.md").read_text().replace("note.md", "-") == out
    text = screen.split(";")[0]
    assert f"**{text}" in out


@pytest.mark.slow
def test_quiet_leaves_the_answer_and_says_nothing_else(run):
    _, loud, _ = run("prevalence", "gpt4.csv", *NO_NUTS)
    code, out, err = run("prevalence", "gpt4.csv", *NO_NUTS, "--quiet", "--html", "quiet.html")
    assert (code, err) == (0, "")
    assert loud.startswith(out.rstrip())
    assert "--details shows" in loud
    assert "--details shows" not in out


def test_words_are_explained(run):
    code, out, _ = run("explain", "Rogan-Gladen")
    assert code == 0
    assert glossary("terms")["rogan-gladen"] in " ".join(out.split())
    assert run("explain", "label", "shift")[0] == 0
    with command_refused("sensitivty", id="not-explained"):
        code, _, err = run("explain", "sensitivty")
    assert code == 2
    assert "sensitivity" in err


@pytest.mark.slow
def test_every_option_is_explained(capsys, monkeypatch):
    whole = build_app([], every=True)
    monkeypatch.setattr("bayesjudge.cli.commands.build_app", lambda tokens, every=False: whole)
    for name in {name for names in options_by_command().values() for name in names}:
        if name.startswith("--"):
            assert main(["explain", name]) == 0, name
            assert main(["explain", name.removeprefix("--")]) == 0, name


def test_each_word_of_a_table_is_explained():
    """The first column of every kept screen: methods, and what is measured."""
    from bayesjudge.cli.explain import QUANTITIES, meaning
    from bayesjudge.core.words import words_for

    for path in sorted((Path(__file__).parent / "golden").glob("*.json")):
        document = json.loads(path.read_text())
        for method in {row["method"] for row in document["estimates"]}:
            assert meaning(method) is not None, method
        for quantity in {row["quantity"] for row in document["estimates"]}:
            assert meaning(quantity) is not None, quantity
    for table in QUANTITIES:
        assert all(meaning(name) for name in words_for(table))
    known = [method for method in vars(methods).values() if isinstance(method, methods.Method)]
    shown = [words for method in known for words in (method.title, method.brief)]
    shown += [*words_for("quantities").values(), "pass^4", "pass@1"]
    assert [words for words in shown if meaning(words) is None] == []
    assert meaning("pass^4") == meaning("every time in k tries (pass^k)") != meaning("pass@4")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(run, shell):
    code, out, _ = run("completion", shell)
    assert code == 0
    for word in ("prevalence", "calibration", "explain", "markdown"):
        assert word in out


@pytest.mark.slow
def test_all_problems_are_told_at_once(run):
    columns = ["--verdict", "verdct", "--truth", "truht", "--calibration", "random"]
    code, _, err = run("prevalence", "gpt4.csv", *columns)
    assert code == 2
    assert "mean 'verdict'?" in err
    assert "column 'truht'" in err


@pytest.mark.slow
def test_a_judge_below_chance_is_an_answer_with_a_caution(run):
    code, out, err = run("prevalence", "weak.csv", *NO_NUTS)
    assert (code, err) == (0, "")
    _, out, _ = run("prevalence", "weak.csv", *NO_NUTS, "--details")
    assert "no-better-than-chance: sensitivity 0.000 +" in out
    assert "Bayesian (exact)" in out


@pytest.mark.slow
def test_no_answer_is_null_for_machines_and_a_dash_for_people(run):
    code, out, _ = run("prevalence", "good.csv", *NO_NUTS)
    assert code == 0
    assert "Rogan-Gladen" not in out  # a method without a number has no row
    _, out, _ = run("prevalence", "good.csv", *NO_NUTS, "--details")
    assert re.search(r"Rogan-Gladen +– +– +–", out)
    assert "empty-class: no labelled item is bad" in out
    _, out, _ = run("prevalence", "good.csv", *NO_NUTS, "--json")
    assert "NaN" not in out
    rows = [r for r in json.loads(out)["estimates"] if r["method"] == "Rogan-Gladen"]
    assert rows[0]["value"] is None


# Help, and what the shell does to streams -------------------------------------------------------


@pytest.mark.slow
def test_help_teaches_with_an_example(run):
    code, out, _ = run("prevalence", "--help")
    assert code == 0
    assert "bayesjudge prevalence labels.csv --verdict gpt4_label --truth final_label" in out
    for option in ("--calibration", "--unparsed", "--better-than-chance", "--html", "--json"):
        assert option in out
    code, out, _ = run()
    assert code == 0
    assert "bayesjudge demo" in out


@pytest.mark.slow
def test_each_option_of_each_command_says_what_it_is():
    """In words of its own: three or more, which are not those of its name."""
    bare = {}
    for words, app in steps(build_app((), every=True)):
        for argument in app.assemble_argument_collection(parse_docstring=True):
            told = {*re.findall(r"[a-z]+", str(argument.parameter.help or "").lower())}
            own = told - {*re.findall(r"[a-z]+", argument.name.lower())}
            if argument.name != "*" and len(own) < 3:
                bare[words, argument.name] = argument.parameter.help
    assert not bare


def test_version(run):
    assert run("--version") == (0, f"{bj.__version__}\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_one_line_in_the_help_and_it_is_its_own(command):
    app = build_app([command])[command]
    own = (app.help or inspect.getdoc(app.default_command)).split("\n\n")[0]
    assert COMMANDS[command] == " ".join(own.split())


TABLES = ("bias", "bias orders", "drift", "gate", "label", "panel", "prevalence", "ratings",
          "repeats report")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("command", TABLES)
def test_help_says_which_files_a_table_can_be(run, command):
    code, out, _ = run(*command.split(), "--help")
    assert code == 0
    said = " ".join(re.sub("[│╭╮╰╯─]", " ", out).split())
    assert FORMATS.replace("`", "") in said


def test_the_files_that_help_names_are_those_that_are_read():
    for kind in READERS:
        assert {"csv": ".csv, .tsv", "sqlite": "SQLite", "duckdb": "DuckDB"}.get(
            kind, f".{kind}"
        ) in FORMATS, kind
    named = {*re.findall(r"\.[a-z]\w+", FORMATS)} - {".gz", ".bz2", ".zst"}
    assert named == {".csv", ".tsv", ".json", ".jsonl", ".ndjson", *SAID} - {
        ".eval", ".duckdb", ".sqlite"
    }  # fmt: skip


#: What takes longer to load than a closed form to compute.
HEAVY = {
    *("arviz", "arviz_base", "arviz_stats", "matplotlib", "numba", "nutpie", "pymc", "pytensor"),
    *("pandas", "scipy.fft", "scipy.optimize", "scipy.stats", "xarray", "jinja2"),
    *("bayesjudge.bias", "bayesjudge.panel", "bayesjudge.ratings", "bayesjudge.repeats"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["prevalence", "--help"], ["prevalence", "gpt4.csv", *NO_NUTS]]
)
def test_help_and_closed_forms_load_nothing_heavy(folder, arguments):
    """Nor is what they load searched for garbage."""
    code = (
        "import gc, sys; from bayesjudge.cli import main; before = gc.get_stats(); main(); "
        f"print(sorted({HEAVY} & set(sys.modules)) + [gc.get_stats()] * (gc.get_stats() != before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.slow
def test_what_only_details_show_is_not_computed_without_them(run, monkeypatch):
    asked = []
    monkeypatch.setattr("bayesjudge.cli.counts._designs", lambda *given: asked.append(1) or [])
    for more in ([], ["--details"], ["--json"], ["--html", "page.html"]):
        assert run("prevalence", "gpt4.csv", *NO_NUTS, *more)[0] == 0
    assert len(asked) == 3


@pytest.mark.slow
def test_a_broken_command_breaks_no_other(run, monkeypatch):
    for name in ("bias", "bias_orders", "panel", "ratings", "repeats"):
        monkeypatch.setitem(sys.modules, f"bayesjudge.cli.{name}", None)  # cannot be imported
    assert "Estimate how good each system is" in run("--help")[1]
    assert run("prevalence", "gpt4.csv", *NO_NUTS)[0] == 0


@pytest.mark.slow
def test_a_reader_who_leaves_early_causes_no_traceback(folder):
    command = " ".join(map(_quoted, [*CALL, "demo", "--no-nuts"]))
    done = subprocess.run(
        f"{command} | head -n 1", shell=True, cwd=folder, capture_output=True, text=True
    )
    assert done.stdout.startswith("People would pass ")
    assert done.stderr == ""


def test_a_pipe_that_is_closed_is_no_failure(run, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    ended = []
    monkeypatch.setattr(os, "dup2", lambda *_: ended.append("quietly"))
    monkeypatch.setattr(Closed, "fileno", lambda self: 1)
    monkeypatch.setattr(sys, "stdout", Closed())
    from bayesjudge.cli import main

    assert main(["prevalence", "gpt4.csv", *NO_NUTS]) == 0
    assert set(ended) == {"quietly"}


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_at_once_changes_no_decision_and_no_file(folder, unbuffered):
    command = [*CALL, "gate", "gpt4.csv", *KNOWN, "--at-least", "0.99", "--html", "gate.html"]
    env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    ours, theirs = os.pipe()
    os.close(ours)  # nobody reads
    done = subprocess.run(command, cwd=folder, env=env, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert done.returncode == 1
    assert done.stderr == b"page written to gate.html\n"
    assert (folder / "gate.html").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["--help", "--version", "gate --help"])
def test_a_reader_who_leaves_early_is_no_failure_of_the_help(folder, asked):
    ours, theirs = os.pipe()
    os.close(ours)
    command = [*CALL, *asked.split()]
    done = subprocess.run(command, cwd=folder, stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_a_terminal_without_our_letters_gets_others(folder):
    env = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*CALL, "prevalence", "good.csv", *NO_NUTS, "--details"],
        cwd=folder,
        env=env,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"Rogan-Gladen" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("details", [[], ["--details"]])
def test_a_narrow_terminal_shows_every_number(folder, details):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [*CALL, "demo", "--no-nuts", *details]
    process = subprocess.Popen(command, stdout=theirs, stdin=theirs)
    os.close(theirs)
    out = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(chunks(ours)).decode())
    assert process.wait() == 0
    lines = out.replace("\r", "").splitlines()
    assert max(map(len, lines)) <= 80
    if not details:
        found = [line.split() for line in lines if line.startswith("> mistralinstruct")]
        assert len(found[0]) == 7  # value, low, high, judge and truth
        return
    assert "  Rogan-Gladen: Lang-Reiczigel interval" in lines  # too narrow for a column
    found = [line.split() for line in lines if line.startswith("specificity[mistralinstruct]")]
    assert len(found[0]) >= 6


@pytest.mark.slow
def test_a_page_without_matplotlib_says_so(run, folder, monkeypatch):
    import bayesjudge.core.plots as plots

    def new_axes(*size):
        raise ImportError("plots need matplotlib")

    monkeypatch.setattr(plots, "new_axes", new_axes)
    code, _, err = run("prevalence", "gpt4.csv", *NO_NUTS, "--html", "plain.html")
    assert code == 0
    assert "the page has no pictures: plots need matplotlib" in err
    assert "<svg" not in (folder / "plain.html").read_text()


# Options of the sampled model -----------------------------------------------------------------

SYSTEMS = f"prevalence all.csv {' '.join(KNOWN)} --by system --unparsed fail"
OF_THE_MODEL = {
    "full": f"{SYSTEMS} --pooling full",
    "cutpoints": "repeats report repeats.csv --scale 1-5 --judge judge --cutpoints by_judge",
    "noise": "repeats report repeats.csv --scale 1-5 --judge judge --noise by_level",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_THE_MODEL)
def test_an_option_of_the_sampled_model_is_refused_where_nothing_is_sampled(name, run, folder):
    """It was told among the inputs, and changed no number."""
    bj.repeats.simulate(random_seed=1).to_csv(folder / "repeats.csv", index=False)
    code, out, err = run(*OF_THE_MODEL[name].split(), "--no-nuts")
    assert (code, out) == (2, "")
    assert "is of the sampled model: leave --no-nuts out" in err


@pytest.mark.slow
def test_pooled_classes_need_no_sampling(run, folder):
    table = bj.prevalence.classes.simulate(random_seed=1)
    table.assign(system=["x", "y"] * (len(table) // 2)).to_csv(folder / "kinds.csv", index=False)
    command = f"prevalence kinds.csv {' '.join(KNOWN)} --by system --no-nuts --json"
    classes = ["--classes", "a", "--classes", "b", "--classes", "c"]
    alone, pooled = (
        json.loads(run(*command.split(), *classes, *more)[1])["answer"]["estimates"]
        for more in ([], ["--pooling", "full"])
    )
    assert alone != pooled
