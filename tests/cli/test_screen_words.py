"""What a screen says of methods that differ, of judges, and of one change."""

import ast
import json
import re
import typing
from pathlib import Path

import numpy as np
import pytest

import bayesjudge
from bayesjudge import prevalence
from bayesjudge.bias import Shifts, answer, closed_forms, simulate
from bayesjudge.bias.answer import _directions
from bayesjudge.cli.explain import meaning
from bayesjudge.cli.glossary import ASSUMPTIONS, CAUTIONS, TERMS
from bayesjudge.cli.output import Story, open_console, quoted_lines, table
from bayesjudge.cli.panel import panel
from bayesjudge.core.answer import Answer
from bayesjudge.core.estimate import Estimate, Quantity, Row
from bayesjudge.core.report import records
from bayesjudge.core.screen import how_many

PACKAGE = Path(bayesjudge.__file__).parent
GOLDEN = Path(__file__).parent / "golden"
SHARES = {"a": Row(0.8, 0.75, 0.85), "b": Row(0.6, 0.5, 0.7)}


def _estimate(method, **rows):
    made = Quantity.of_rows({(name,): row for name, row in rows.items()}, ("system",))
    return Estimate({"prevalence": made}, method, 0.95, "")


def _story(found):
    return Story("panel", "", "prevalence", {}, lambda _: found)


def _lines(*others, width=80):
    quoted = _estimate("Quoted", **SHARES)
    found = Answer("", "", "", quoted)
    return quoted_lines(found, records(quoted, *others), _story(found), width)


def test_a_method_that_says_next_to_nothing_is_not_the_largest_difference():
    vague = _estimate("Vague", a=Row(0.2, 0.01, 0.99), b=Row(0.6, 0.01, 0.99))
    near = _estimate("Near", a=Row(0.78, 0.7, 0.85), b=Row(0.61, 0.5, 0.7))
    told = " ".join(" ".join(_lines(vague, near)).split())
    assert "Another method differs by at most 0.02 (Near, a)" in told
    assert "not counted, far wider: Vague" in told


def test_methods_that_turn_the_order_are_named():
    turned = _estimate("Turned", a=Row(0.65, 0.55, 0.7), b=Row(0.66, 0.6, 0.75))
    lines = _lines(turned, width=60)
    assert "Turned puts b before a" in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) < 60


def test_names_are_folded_and_numbers_are_not(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    method = "Dawid-Skene with a shared item effect (NUTS), judges of several kinds"
    made = _estimate(method, **SHARES)
    found = Answer("", "", "", made)
    table(open_console(), records(made), _story(found), named=True)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for number in ("0.800", "0.750", "0.850", "0.600", "0.500", "0.700"):
        assert number in out


def test_one_change_is_told_by_its_direction_first():
    rows = simulate(random_seed=1)
    kept = rows[rows["variant"].isin(["baseline", "format"])]
    shifts = Shifts.from_frame(kept, scale=(0, 100), design="item")
    said = answer(*closed_forms(shifts))
    mean = next(one for one in closed_forms(shifts) if "mean_shift" in one)
    value = float(np.ravel(mean.quantities["mean_shift"].value)[0])
    moves = "raises" if value > 0 else "lowers"
    assert said.text.startswith(f"'format' {moves} scores by {abs(value):.1f} (")
    assert "a single score moves by" in said.text
    assert "No promise" not in str(said)
    assert "1 kind of change" in said.basis


def test_several_changes_are_told_by_direction_and_none_as_the_most():
    table = simulate(random_seed=1)
    read = Shifts.from_frame(table, scale=(0, 100), design="item", rerun="rerun")
    made = closed_forms(read)
    said = answer(*made).text
    mean = next(one for one in made if "mean_shift" in one)
    sizes = {one: mean["mean_shift", one].value for one in ("format", "order")}
    first, second = sorted(sizes, key=lambda one: -abs(sizes[one]))
    assert 0 <= said.find(f"'{first}'") < said.find(f"'{second}'")
    assert "a single score moves either way by" in said
    assert "if judged again unchanged" in said
    assert "most" not in said
    assert "least" not in said


def test_changes_without_reruns_include_the_noise_of_judging_again():
    table = simulate(random_seed=1)
    kept = table[table["variant"].isin(["baseline", "format", "order"])]
    said = answer(*closed_forms(Shifts.from_frame(kept, scale=(0, 100), design="item")))
    assert "the noise of judging again included" in said.text


def test_changes_that_move_alike_are_told_with_one_verb():
    rows = {("a",): Row(-2.0, -3.0, -1.0), ("b",): Row(-1.0, -1.5, -0.5), ("c",): Row(0.1, -1, 1.2)}
    told = _directions([("a",), ("b",), ("c",)], rows, 0.95)
    assert told == (
        "'a' lowers scores by 2.0 (1.0 to 3.0, 95 % interval) on average, 'b' by 1.0 (0.5 to 1.5) "
        "and 'c' is not known to raise or lower scores: by 0.1 (-1.0 to 1.2)"
    )


@pytest.mark.parametrize("kept", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_methods_and_cautions_of_the_screens_are_explained(kept):
    document = json.loads(kept.read_text(encoding="utf-8"))
    methods = {one["method"] for one in document["estimates"]}
    cautions = {one["name"] for one in document["cautions"]}
    assert not sorted(one for one in methods | cautions if meaning(one) is None)


@pytest.mark.parametrize("word", ["PPI++", "RMS", "root mean square", "item effects", "points",
    "Paired difference (PPI++)", "shared item effect", "components of variance",
    "normal quantile", "errors-do-not-cancel", "cut-at-the-scale", "repeat-noise-unknown",
    "weak-judge"])  # fmt: skip
def test_words_that_a_stranger_asked_for_are_explained(word):
    assert meaning(word)


def test_a_model_with_an_item_effect_is_not_explained_as_one_without():
    assert meaning("Dawid-Skene with a shared item effect (NUTS)") != meaning("Dawid-Skene")
    assert "U-Turn" not in str(meaning("posterior"))


def test_terms_of_the_glossary_are_in_lower_case():
    assert all(term == term.lower() for term in (*TERMS, *CAUTIONS, *ASSUMPTIONS))


def names_of(expression):
    """The names that the first argument of `Caution` or `Assumption` can be."""
    if isinstance(expression, ast.IfExp):
        return names_of(expression.body) | names_of(expression.orelse)
    told = isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    assert told, f"a name that cannot be read from the code: {ast.unparse(expression)}"
    return {expression.value}


def emitted(kind):
    """Every name with which the package makes a `kind`, from its code."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == kind:
                found |= names_of(call.args[0])
            renamed = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "_replace"
            assert not renamed or not {"id", "name"} & {one.arg for one in call.keywords}
    return found


@pytest.mark.parametrize(("kind", "glossary"), [("Caution", CAUTIONS), ("Assumption", ASSUMPTIONS)])
def test_every_caution_and_assumption_is_explained_and_no_other(kind, glossary):
    assert emitted(kind) == set(glossary)


def test_rates_of_another_method_are_told_as_such():
    counts = prevalence.Counts(350, 206, 36, 36, 64, 45, calibration="random")
    made = prevalence.closed_forms(counts)
    told = prevalence.answer(*made, prevalence.exact(counts))
    assert told.method == "Bayesian (exact)"
    assert told.notes[0].startswith("On the labelled items alone the judge passes 100 %")
    own = next(one for one in made if one.method == "Rogan-Gladen")
    assert prevalence.answer(own).notes[0].startswith("The judge passes 100 %")


def test_a_mean_of_scores_is_told_on_its_scale():
    def read(truth, **how):
        scores = module.Scores([1, 3, 5, 5], truth, [9, 30, 40, 80], calibration="random", **how)
        return module.answer(*module.closed_forms(scores)).text

    module, judge = prevalence.scores, 1 * 9 + 3 * 30 + 5 * 120
    same = read([1, 2, 5, np.nan], scale=(1, 5), truth_scale=(1, 5))
    assert f"on average, on a scale of 1 to 5; the judge gives {judge / 159:.2f}." in same
    other = read([0, 0, 1, np.nan], scale=(1, 5))
    assert f"the judge's scores average {judge / 159:.2f}, on a scale of 1 to 5." in other


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 rows have"), (1, "1 row has"), (1200, "1,200 rows have")]
)
def test_counts_agree_with_their_nouns_and_verbs(number, told):
    assert how_many(number, "row", "have") == told
    assert how_many(number, "row") == told.removesuffix(" has").removesuffix(" have")


#: Words of the first screens that a stranger looked up.
LOOKED_UP = (
    "Quoted", "judge", "votes", "verdicts", "systems", "generators", "scatter", "rerun", "items",
    "outputs", "scale", "share of good outputs", "errs least", "calls an item needs",
    "± of an item's mean now", "± if asked without end", "judges needed, asked once",
    "may or may not be better", "far wider", "closed form", "posterior mode", "RMS shift",
    "root mean square", "Variance parts", "components of variance", "normal quantile",
    "Bayesian (exact)", "Difference (PPI++)", "Difference (PPI)", "Difference (isotonic)",
    "Binned scores", "Rogan-Gladen", "Paired difference (PPI++)", "Truth given votes",
    "Logit shift",
    "Human labels only", "Judge's pass rate", "Judge's mean score", "As counted", "Voting",
    "share of resamples", "response sets", "item_score", "points", "interval",
)  # fmt: skip


@pytest.mark.parametrize("word", LOOKED_UP)
def test_words_of_the_first_screens_are_explained(word):
    assert meaning(word) is not None


def test_names_of_methods_in_the_kept_screens_are_explained():
    screens = [p.read_text() for p in GOLDEN.glob("*.txt")]
    quoted = [re.search(r"^Quoted: (.*?)[,.:]", s, re.MULTILINE)[1] for s in screens]
    rows = [re.findall(r"^  (\S.*?)   ", s.split("other methods\n")[1], re.MULTILINE)
            for s in screens if "other methods\n" in s]  # fmt: skip
    names = {*quoted, *(name for each in rows for name in each)}
    assert len(names) > 8
    assert not [name for name in names if meaning(name) is None]


@pytest.mark.parametrize("word", ["exact", "vote", "neighbour", "better with probability",
                                  "best with probability", "sampled since"])  # fmt: skip
def test_words_of_sampled_screens_are_explained(word):
    assert meaning(word) is not None


def test_models_are_explained_as_options_and_as_classes():
    hints = typing.get_type_hints(panel, include_extras=True)["model"]
    options = typing.get_args(typing.get_args(hints)[0])
    assert len(options) == 5
    classes = ("DawidSkene", "Correlated", "BiasPooling", "VoteRegression")
    assert not [name for name in (*options, *classes) if meaning(name) is None]
    assert all(hasattr(bayesjudge.panel, name) for name in classes)
