"""``bayesjudge prevalence --item``: rows that share items."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from refusals import command_refused

from bayesjudge import prevalence
from bayesjudge.cli import main
from bayesjudge.core.priors import BetaPrior
from bayesjudge.prevalence import items

ASKED = ("--truth", "truth", "--calibration", "random", "--item", "id", "--no-nuts")


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("items") / "log.csv"
    table = items.simulate(items=80, repeats=3, labelled=30, random_seed=1)
    table = table.rename(columns={"item": "id", "system": "model"})
    table["other"] = items.simulate(items=80, repeats=3, labelled=30, random_seed=2)["verdict"]
    table.to_csv(path, index=False)
    return str(path)


def run(capsys, *arguments):
    code = main([*arguments])
    return code, capsys.readouterr()


@pytest.mark.slow
def test_each_system_and_the_paired_difference(log, capsys):
    asked = ("prevalence", log, "--verdict", "verdict", *ASKED, "--by", "model")
    code, said = run(capsys, *asked, "--repeats", "system")
    assert code == 0
    assert "80 items, 480 outputs" in said.out
    assert re.match(r"a (is|is probably|may or may not be) better than b", said.out)
    assert "30 items have labels of both systems" in said.out
    assert "better with probability" in said.out.split(";")[0]
    assert "compared on the items that they share" in " ".join(said.out.split())
    assert "design effect" in said.out
    code, said = run(capsys, *asked, "--repeats", "system", "--json")
    document = json.loads(said.out)
    (gap,) = document["differences"]
    made = prevalence.paired_difference(
        items.Items.from_frame(
            items.simulate(items=80, repeats=3, labelled=30, random_seed=1),
            by="system",
            calibration="random",
            repeats="system",
        )
    )
    assert gap["value"] == pytest.approx(made["difference", "a", "b"].value)


@pytest.mark.slow
def test_what_repeats_must_be_said_in_the_words_of_the_command(log, capsys):
    asked = ("prevalence", log, "--verdict", "verdict", *ASKED)
    for more in ((), ("--by", "model")):
        code, said = run(capsys, *asked, *more)
        assert code == 2
        assert "--repeats system" in said.err
        assert "--repeats judge" in said.err
    code, said = run(capsys, *asked, "--repeats", "system", "--pooling", "full", "--by", "model")
    assert code == 2
    assert "--pooling" in said.err


@pytest.mark.slow
def test_several_judges_of_several_systems(log, capsys):
    verdicts = ("--verdict", "verdict", "--verdict", "other")
    code, said = run(
        capsys, "prevalence", log, *verdicts, *ASKED, "--by", "model", "--repeats", "system"
    )
    assert code == 0
    assert "other, b" in said.out
    assert "panel" in said.out


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """One row of each system and item: `--by` and `--item` alone take it for paired."""
    path = tmp_path_factory.mktemp("items") / "single.csv"
    table = items.simulate(items=80, repeats=1, labelled=30, random_seed=1)
    table["other"] = items.simulate(items=80, repeats=1, labelled=30, random_seed=2)["verdict"]
    table.rename(columns={"item": "id", "system": "model"}).to_csv(path, index=False)
    return str(path)


def asked(capsys, path, *more, truth="random"):
    how = ("--truth", "truth", "--calibration", truth, "--item", "id", "--by", "model")
    code, said = run(
        capsys, "prevalence", path, "--verdict", "verdict", *how, "--no-nuts", "--json", *more
    )
    assert code == 0, said.err
    return json.loads(said.out)


def prevalences(document, method):
    return {
        e["where"]["system"]: e["value"]
        for e in document["estimates"]
        if e["quantity"] == "prevalence" and e["method"] == method
    }


JEFFREYS = dict.fromkeys(("prevalence", "sensitivity", "specificity"), BetaPrior.jeffreys())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (("--prior", "jeffreys"), JEFFREYS),
        (("--no-better-than-chance",), {"better_than_chance": False}),
        (("--prior-sensitivity", "0.6:50"), {"sensitivity": BetaPrior.worth(rate=0.6, n=50)}),
        (("--prior-specificity", "0.9:50"), {"specificity": BetaPrior.worth(rate=0.9, n=50)}),
    ],
)
def test_priors_reach_the_sampled_model_and_the_quadrature(single, capsys, options, changed):
    document = asked(capsys, single, *options)
    assert document["inputs"]["model"] == f"ItemEffects: {items.ItemEffects(**changed)}"
    table = pd.read_csv(single)
    read = items.Items.from_frame(table, by="model", item="id", calibration="random")
    wanted = items.exact(read, prevalence.ErrorRates(**changed))
    found = prevalences(document, wanted.method.title)
    assert found == {s: pytest.approx(wanted["prevalence", s].value) for s in "ab"}


@pytest.mark.slow
def test_priors_of_labels_by_verdict_are_of_predictive_values(single, capsys):
    document = asked(capsys, single, "--prior", "jeffreys", truth="by_verdict")
    assert document["inputs"]["model"] == f"ItemEffects: {items.ItemEffects(**JEFFREYS)}"
    table = pd.read_csv(single)
    read = items.Items.from_frame(table, by="model", item="id", calibration="by_verdict")
    rates = dict.fromkeys(("pass_rate", "ppv", "npv"), BetaPrior.jeffreys())
    wanted = items.exact(read, prevalence.PredictiveValues(**rates))
    found = prevalences(document, wanted.method.title)
    assert found == {s: pytest.approx(wanted["prevalence", s].value) for s in "ab"}


@pytest.mark.slow
def test_all_methods_are_made_and_those_that_do_not_suit_are_told(single, capsys):
    some, every = (asked(capsys, single, *more) for more in ((), ("--all-methods",)))
    methods = [{e["method"] for e in d["estimates"]} for d in (some, every)]
    assert methods[1] - methods[0] == {"Post-stratified"}
    mismatched = asked(capsys, single, "--all-methods", truth="by_truth")
    told = {c["id"] for c in mismatched["cautions"]}
    assert "design-mismatch" in told


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--prior-sensitivity", "0.9"), "0.9: write rate:n"),
        (("--external-labels", "x.csv"), "--pooling separate takes the rows as independent"),
        (("--prior-sensitivity", "0.9:20", "--calibration", "by_verdict"), "predictive values"),
        (("--verdict", "other", "--prior", "jeffreys"), "['--prior']: several judges"),
        (("--verdict", "other", "--no-better-than-chance"), "['--no-better-than-chance']"),
        (("--verdict", "other", "--prior-specificity", "0.9:20"), "['--prior-specificity']"),
        (("--verdict", "other", "--all-methods"), "['--all-methods']"),
        (("--verdict", "other", "--interval", "hdi"), "['--interval']"),
        (("--verdict", "other", "--save", "fit.nc"), "['--save']"),
    ],
)
def test_options_without_a_use_are_refused(single, capsys, more, words):
    design = () if "--calibration" in more else ("--calibration", "random")
    how = ("--truth", "truth", *design, "--item", "id", "--by", "model")
    slow = () if "--save" in more else ("--no-nuts",)
    code, said = run(capsys, "prevalence", single, "--verdict", "verdict", *how, *slow, *more)
    assert code == 2
    assert words in said.err


@pytest.mark.slow
def test_two_prompts_of_a_judge_are_not_told_as_two_systems(tmp_path, capsys):
    rng = np.random.default_rng(1)
    truth = rng.permutation(np.arange(100) < 70).astype(int)
    rows = [
        (i, name, abs(t - (rng.random() < wrong)), t if i < 90 else "")
        for name, wrong in (("v1", 0.3), ("v2", 0.1))
        for i, t in enumerate(truth)
    ]
    table = pd.DataFrame(rows, columns=["id", "prompt", "verdict", "truth"])
    table.to_csv(tmp_path / "prompts.csv", index=False)
    asked = ("prevalence", str(tmp_path / "prompts.csv"), "--verdict", "verdict", *ASKED)
    code, said = run(capsys, *asked, "--by", "prompt")
    assert code == 0
    text = " ".join(said.out.split())
    assert text.startswith("No difference of v1 and v2 can show")
    assert "these look like judges of the same outputs" in text
    assert "0 points" not in text


@pytest.mark.slow
def test_no_name_of_python_stands_before_a_message(log, tmp_path, capsys):
    table = pd.read_csv(log).astype({"verdict": object})
    table.loc[3, "verdict"] = None
    table.to_csv(tmp_path / "lost.csv", index=False)
    asked = ("prevalence", str(tmp_path / "lost.csv"), "--verdict", "verdict", *ASKED)
    with command_refused(1, id="no-verdict", subject="column 'verdict'"):
        code, said = run(capsys, *asked, "--by", "model", "--repeats", "system")
    assert code == 2
    assert said.err.startswith("bayesjudge: column 'verdict'")
    assert "--unparsed" in said.err
    assert "prevalence.items" not in said.err


@pytest.mark.slow
def test_systems_that_are_weeks_stand_in_the_order_of_time(tmp_path, capsys):
    shares = {"w10": 0.6, "w9": 0.9, "w8": 0.8}
    made = items.simulate(systems=shares, items=150, repeats=1, labelled=60, random_seed=1)
    made["id"] = made["item"].astype(str) + made["system"]
    made.to_csv(tmp_path / "weeks.csv", index=False)
    asked = ("prevalence", str(tmp_path / "weeks.csv"), "--verdict", "verdict", *ASKED)
    for more in ((), ("--pooling", "separate")):
        code, said = run(capsys, *asked, "--by", "system", *more)
        assert code == 0
        assert re.search("(?s)> w8.*> w9.*> w10", said.out)
        section = " ".join(said.out.split("Differences of periods")[1].split())
        assert ", the first from the last and then neighbours in time (" in section
        pairs = re.findall(
            r"(w\d+) (?:is|is probably|may or may not be) better than (w\d+)", section
        )
        assert [{*pair} for pair in pairs[:3]] == [{"w8", "w10"}, {"w8", "w9"}, {"w9", "w10"}]
