"""One page in every format: what a machine reads is of the schema that the package carries."""

import ast
import copy
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from commands import options_by_command

import bayesjudge as bj
from bayesjudge import decide
from bayesjudge.cli import main
from bayesjudge.core.answer import entries
from bayesjudge.core.estimate import Caution
from bayesjudge.core.side_by_side import union_of_cautions
from bayesjudge.datasets import keep_labels, xstest
from bayesjudge.render.html import to_html
from bayesjudge.render.json import SCHEMA, schema
from bayesjudge.render.page import Page, page_of

GOLDEN = Path(__file__).parents[1] / "cli/golden"
KEPT = sorted(path for path in GOLDEN.glob("*.json") if path.stem != "options")
COUNTS = bj.prevalence.Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")


def check(document):
    jsonschema.validate(document, schema())


@pytest.mark.slow
def test_the_schema_is_one_and_says_its_version():
    jsonschema.Draft202012Validator.check_schema(schema())
    assert schema()["title"] == SCHEMA == schema()["properties"]["schema"]["const"]


@pytest.mark.slow
def test_the_schema_knows_every_command_and_section_that_is_written():
    written = {name for name, options in options_by_command().items() if "--json" in options}
    assert written == {*schema()["properties"]["command"]["enum"]}
    calls = (
        node
        for path in (Path(__file__).parents[2] / "bayesjudge").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Section"
    )
    keys = {ast.literal_eval(call.args[2]) for call in calls if len(call.args) > 2}
    assert "designs" in keys
    assert keys - {""} <= {*schema()["properties"]}


@pytest.mark.slow
@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_documents_of_the_commands_are_of_the_schema(kept):
    check(json.loads(kept.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("render") / "log.csv"
    keep_labels(xstest(), 100, 2024, by="system").to_csv(path, index=False)
    return str(path)


LABELS = ["--truth", "truth", "--calibration", "random", "--by", "system", "--unparsed", "fail"]


@pytest.mark.parametrize(
    "line",
    [
        ["plan", "--at-least", "0.8", "--agreement", "0.85", "--prevalence", "0.9"],
        ["plan", "--width", "0.1", "--prevalence", "0.7", "--agreement", "0.9"],
        ["gate", "{log}", *LABELS, "--at-least", "0.5"],
        ["prevalence", "{log}", "--verdict", "verdict", *LABELS, "--no-nuts"],
        ["demo", "--no-nuts"],
        ["doctor", "{log}"],
        ["passport", "show", "{card}"],
        ["passport", "check", "{card}", "{log}", *LABELS],
        ["prevalence", "{log}", "--verdict", "verdict", *LABELS, "--card", "{card}"],
        [
            "label",
            "{log}",
            "--gate",
            "0.5",
            "--sheet",
            "{new}.csv",
            "--form",
            "{new}.html",
            "--state",
            "{new}.json",
            "--verdict",
            "verdict",
            "--n",
            "3",
        ],
    ],
    ids=lambda line: line[0],
)
@pytest.mark.slow
def test_what_a_command_writes_is_of_the_schema(line, log, capsys, tmp_path):
    card, new = str(tmp_path / "card.json"), str(tmp_path / "new")
    if "{card}" in line:
        assert main(["judge", log, *LABELS, "--name", "j", "--card", card, "--quiet"]) == 0
        capsys.readouterr()
    assert main([*(word.format(log=log, card=card, new=new) for word in line), "--json"]) in {
        0,
        1,
        3,
    }
    check(json.loads(capsys.readouterr().out))


@pytest.mark.slow
def test_a_drift_has_the_fields_of_every_estimate(log, capsys):
    main(["drift", log, log, "--truth", "truth", "--by", "system", "--json"])
    document = json.loads(capsys.readouterr().out)
    check(document)
    assert {"quantity", "where", "method", "width"} <= {*document["estimates"][0]}


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("change", ["schema", "command", "estimates", "further"])
def test_another_document_is_refused(change):
    document = json.loads(KEPT[0].read_text(encoding="utf-8"))
    other = copy.deepcopy(document)
    if change == "estimates":
        del other["estimates"][0]["where"]
    else:
        other[change] = "else"
    with pytest.raises(jsonschema.ValidationError):
        check(other)


@pytest.mark.slow
def test_a_decision_is_a_page_of_every_format():
    found = decide.gate(COUNTS, at_least=0.3)
    check(json.loads(decide.to_json(found)))
    assert "**PASS: the share" in decide.to_markdown(found)
    assert "<h1>PASS: the share" in decide.to_html(found)


def test_a_page_says_a_caution_of_a_place_once():
    """Those of numbers that are not quoted stand below, but for what is said above."""
    first, same = (
        Caution("weak-judge", "said above", ("a",)),
        Caution("weak-judge", "again", ("a",)),
    )
    other = Caution("weak-judge", "elsewhere", ("b",))
    result = bj.prevalence.exact(COUNTS)
    page = page_of([result], title="t")
    answer = replace(page.quoting, quoted=replace(result, cautions=(first,)))
    text = to_html(replace(page, answer=answer, cautions=[first, same, other]))
    assert "</strong>: said above" in text
    assert "</strong>: elsewhere" in text
    assert "</strong>: again" not in text


def test_what_was_read_of_several_places_is_a_line():
    page = Page("title", inputs={"a_b": {"x": ("pass", 0.98765), "y": ("fail", 0.01)}, "c": None})
    assert page.read == [("a b", "x: pass, 0.988; y: fail, 0.01")]


@pytest.mark.slow
def test_rows_stand_in_the_order_of_the_picture():
    """The highest first, as on a screen; bold only beside rows that are not quoted."""
    counts = bj.prevalence.Counts(
        [900, 900], [300, 800], [50, 50], [40, 40], [50, 50], [40, 40], "by_truth", systems="ab"
    )
    exact = bj.prevalence.exact(counts)
    page = page_of([exact], title="t")
    at = page.numbers.columns.index("system")
    assert [line.cells[at] for line in page.numbers.lines] == ["b", "a"]
    assert 'class="quoted"' not in to_html(page)
    text = to_html(page_of([exact, bj.prevalence.naive(counts)], title="t"))
    assert text.count('class="quoted"') == 2
    assert "<code>bayesjudge plan</code> of 5\N{NO-BREAK SPACE}%" in to_html(
        replace(page, notes=["`bayesjudge plan` of 5 %"])
    )


@pytest.mark.slow
def test_agents_stand_in_one_order_in_table_and_picture():
    """The best first, by the share at most tries, also in the quantity that is not drawn."""
    simulated = bj.attempts.simulate(prevalence=(0.3, 0.8), random_seed=1)
    how = {"calibration": "random", "k": (1, 2), "by": "system"}
    data = bj.attempts.Attempts.from_frame(simulated, **how)
    answer = bj.attempts.answer(*bj.attempts.closed_forms(data))
    page = page_of(bj.attempts.closed_forms(data), title="t", answer=answer)
    at = page.numbers.columns.index("system"), page.numbers.columns.index("k")
    lines = [line for line in page.numbers.lines if line.quoted]
    rows = [f"{line.cells[at[0]]}, k = {line.cells[at[1]]}" for line in lines]
    picture = bj.plot_answer(answer)
    assert [label.get_text() for label in picture.get_yticklabels()] == rows[: len(rows) // 2]
    assert rows[: len(rows) // 2] == rows[len(rows) // 2 :]
    shares = entries(answer.quoted.only("pass_hat_k"))
    last = [row.value for (_, _, k), row in shares.items() if k == 2]
    names = [name for (_, name, k) in shares if k == 2]
    best = names[int(np.argmax(last))]
    assert rows[0].startswith(f"{best}, ")


def test_each_number_is_beside_the_answer_or_below_it_once():
    estimates = bj.prevalence.closed_forms(COUNTS)
    page = page_of(estimates, title="Judge", inputs={})
    shown = [*page.numbers.lines, *page.others.lines]
    assert page.others.lines
    assert len({id(line) for line in shown}) == len(shown) == len(page.records)


def test_cautions_of_the_quoted_numbers_come_first_and_once():
    own, other = Caution("own", "of the answer"), Caution("other", "of a result")
    results = [SimpleNamespace(cautions=(other, own)), SimpleNamespace(cautions=(other,))]
    assert union_of_cautions(SimpleNamespace(cautions=(own,)), results) == [own, other]
    assert union_of_cautions(None, results) == [other, own]
