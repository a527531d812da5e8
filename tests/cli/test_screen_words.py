"""What a screen says of methods that differ, of judges, and of one change."""

import json
import re
import typing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import bayesjudge
from bayesjudge import panel as panels
from bayesjudge import prevalence, ratings, repeats
from bayesjudge.bias import Shifts, answer, closed_forms, simulate
from bayesjudge.bias.answer import _directions, _moves
from bayesjudge.cli import main
from bayesjudge.cli.explain import meaning
from bayesjudge.cli.options import SCREEN, Files, Shared
from bayesjudge.cli.output import meanwhile
from bayesjudge.cli.panel import panel
from bayesjudge.cli.shapes import WANTED
from bayesjudge.core.answer import (
    Answer,
    chance,
    difference_words,
    disagreements,
    numbers,
    percents,
    points,
)
from bayesjudge.core.diagnosis import cautions_of
from bayesjudge.core.estimate import Estimate, Quantity, Row
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.methods import HUMAN_ONLY
from bayesjudge.core.screen import how_many
from bayesjudge.core.side_by_side import records
from bayesjudge.core.words import glossary
from bayesjudge.prevalence.items.answer import _not_subtracted
from bayesjudge.render.screen import Style, open_console, quoted_lines, table

TERMS, CAUTIONS, ASSUMPTIONS = map(glossary, ("terms", "cautions", "assumptions"))
PACKAGE = Path(bayesjudge.__file__).parent
GOLDEN = Path(__file__).parent / "golden"
SHARES = {"a": Row(0.8, 0.75, 0.85), "b": Row(0.6, 0.5, 0.7)}


def _estimate(method, **rows):
    made = Quantity.of_rows({(name,): row for name, row in rows.items()}, ("system",))
    return Estimate({"prevalence": made}, method, 0.95, "")


STYLE = Style(answer="prevalence")


def _lines(*others, width=80):
    quoted = _estimate("Quoted", **SHARES)
    found = Answer("", "", "", quoted)
    return quoted_lines(found, records(quoted, *others), STYLE, width)


def test_a_method_that_says_next_to_nothing_is_not_the_largest_difference():
    vague = _estimate("Vague", a=Row(0.2, 0.01, 0.99), b=Row(0.6, 0.01, 0.99))
    near = _estimate("Near", a=Row(0.78, 0.7, 0.85), b=Row(0.61, 0.5, 0.7))
    told = " ".join(" ".join(_lines(vague, near)).split())
    assert "Other methods differ by at most 0.02 (--details)." in told
    assert "Vague" not in told


def test_methods_that_turn_the_order_are_named():
    turned = _estimate("Turned", a=Row(0.65, 0.55, 0.7), b=Row(0.66, 0.6, 0.75))
    lines = _lines(turned, width=60)
    told = " ".join(" ".join(lines).split())
    assert "Turned, whose intervals overlap, puts b before a" in told
    assert max(map(len, lines)) < 60
    sure = _estimate("Turned", a=Row(0.65, 0.62, 0.67), b=Row(0.71, 0.68, 0.75))
    assert "; Turned puts b before a" in " ".join(" ".join(_lines(sure)).split())


def test_of_several_systems_an_order_within_overlapping_intervals_is_not_told():
    three = SHARES | {"c": Row(0.4, 0.3, 0.5)}
    quoted = _estimate("Quoted", **three)
    found = Answer("", "", "", quoted)
    for high, says in ((0.52, True), (0.56, False)):
        turned = _estimate(
            "Turned", **three | {"b": Row(0.5, 0.45, high), "c": Row(0.6, 0.55, 0.65)}
        )
        told = quoted_lines(found, records(quoted, turned), STYLE, 80)
        assert ("; Turned puts c before b" in " ".join(" ".join(told).split())) is says


def test_two_of_eighty_are_three_percent():
    """Where Python rounds a half to the even number below."""
    assert percents(Row(0.025, 0.005, 0.0875)) == "3 % (1 to 9 %)"
    assert percents(Row(0.0249, 0.005, 0.0874)) == "2 % (1 to 9 %)"
    assert percents(Row(0.0125, 0.0105, 0.0175)) == "1.3 % (1.1 to 1.8 %)"


def test_a_difference_that_is_not_that_of_the_shares_says_so():
    found = {"first": "a", "second": "b", "value": 0.07}
    rows = {"a": Row(0.766, 0.7, 0.8), "b": Row(0.709, 0.6, 0.8)}
    (text,) = _not_subtracted(found, rows)
    assert text.startswith("The difference is estimated on shared items, so it need not equal")
    assert _not_subtracted({**found, "value": 0.06}, rows) == ()
    assert _not_subtracted({**found, "first": "b", "second": "a", "value": -0.06}, rows) == ()
    assert _not_subtracted({**found, "first": "c"}, rows) == ()


def test_names_are_folded_and_numbers_are_not(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    method = "Dawid-Skene with a shared item effect (NUTS), judges of several kinds"
    made = _estimate(method, **SHARES)
    table(open_console(), records(made), STYLE, named=True)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    for number in ("0.800", "0.750", "0.850", "0.600", "0.500", "0.700"):
        assert number in out


@pytest.mark.slow
def test_the_answer_on_a_change_is_the_rms_shift_and_its_direction_comes_next():
    rows = simulate(random_seed=1)
    kept = rows[rows["variant"].isin(["baseline", "format"])]
    shifts = Shifts.from_frame(kept, scale=(0, 100), design="item")
    said = answer(*closed_forms(shifts))
    mean = next(one for one in closed_forms(shifts) if "mean_shift" in one)
    (value,) = mean.quantities["mean_shift"].value
    moves = "raises" if value > 0 else "lowers"
    size = said.quoted["rms_shift", "format"].value
    assert said.text.startswith(f"'format' moves a score by {size:.1f} points, root mean square (")
    assert said.notes[0].startswith(f"'format' {moves} scores by {abs(value):.1f} points on aver")
    assert "No promise" not in str(said)
    assert "1 kind of change" in said.basis


@pytest.mark.slow
def test_of_several_changes_the_largest_is_the_answer_and_only_directions_that_are_known_are_told():
    table = simulate(random_seed=1)
    read = Shifts.from_frame(table, scale=(0, 100), design="item", rerun="rerun")
    said = answer(*closed_forms(read))
    sizes = {name: said.quoted["rms_shift", name].value for name in ("format", "order")}
    first, second = sorted(sizes, key=lambda name: -sizes[name])
    assert said.text.startswith(f"'{first}' moves a score by {sizes[first]:.1f} points")
    assert said.notes[0].startswith(f"'{second}' moves a score by {sizes[second]:.1f} (")
    assert said.notes[0].endswith("again by 4.4, on a scale of 0 to 100.")
    # the mean shift of 'order' may be 0
    assert said.notes[1].startswith("'format' raises scores by 2.2 points on average (1.0 to 3.4).")
    assert "'order' raises" not in str(said)
    assert "most " not in said.text


@pytest.mark.slow
def test_changes_without_reruns_include_the_noise_of_judging_again():
    table = simulate(random_seed=1)
    kept = table[table["variant"].isin(["baseline", "format", "order"])]
    said = answer(*closed_forms(Shifts.from_frame(kept, scale=(0, 100), design="item")))
    assert [caution.id for caution in said.cautions].count("repeat-noise-unknown") == 1
    assert "twice" not in str(said)


def test_changes_that_move_alike_are_told_with_one_verb():
    rows = {("a",): Row(-2.0, -3.0, -1.0), ("b",): Row(-1.0, -1.5, -0.5), ("c",): Row(0.1, -1, 1.2)}
    told = _directions([("a",), ("b",)], rows, verdicts=False, unit="")
    assert told == "'a' lowers scores by 2.0 on average (1.0 to 3.0) and 'b' by 1.0 (0.5 to 1.5)"
    assert [_moves(row) for row in rows.values()] == ["lowers", "lowers", ""]


@pytest.mark.parametrize("kept", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_methods_and_cautions_of_the_screens_are_explained(kept):
    document = json.loads(kept.read_text(encoding="utf-8"))
    methods = {one["method"] for one in document["estimates"]}
    cautions = {one["id"] for one in document["cautions"]}
    assert not sorted(one for one in methods | cautions if meaning(one) is None)


@pytest.mark.parametrize("word", ["PPI++", "RMS", "root mean square", "item effects", "points",
    "Paired difference (PPI++)", "shared item effect", "components of variance",
    "normal quantile", "errors-do-not-cancel", "cut-at-the-scale", "repeat-noise-unknown",
    "weak-judge", "h/h", "srs/srs", "tracking", "stands in", "npv", "Post-stratified",
    "boundary-extended", "epsilon", "at the normal quantile", "as fitted",
    "response sets, judges tracking people", "published test", "errs least",
    "prevalence shift"])  # fmt: skip
def test_words_that_a_stranger_asked_for_are_explained(word):
    assert meaning(word)


def test_words_are_explained_as_their_screens_use_them():
    assert meaning("prevalence shift") != meaning("prevalence")
    assert "old calibration" in str(meaning("prevalence shift"))
    assert "probability" in str(meaning("errs least"))
    assert "not how sure" not in str(meaning("errs least"))


def test_a_model_with_an_item_effect_is_not_explained_as_one_without():
    assert meaning("Dawid-Skene with a shared item effect (NUTS)") != meaning("Dawid-Skene")
    assert "U-Turn" not in str(meaning("posterior"))


def test_terms_of_the_glossary_are_in_lower_case():
    assert all(term == term.lower() for term in (*TERMS, *CAUTIONS, *ASSUMPTIONS))


@pytest.mark.slow
def test_rates_of_another_method_are_told_as_such():
    counts = prevalence.Counts(350, 206, 36, 36, 64, 45, calibration="random")
    made = prevalence.closed_forms(counts)
    told = prevalence.answer(*made, prevalence.exact(counts))
    assert told.method.id == "exact"
    assert told.notes[0].startswith("On the labelled items alone the judge passes 100 %")
    own = next(one for one in made if one.method.id == "rogan-gladen")
    assert prevalence.answer(own).notes[0].startswith("The judge passes 100 %")


def test_a_mean_of_scores_is_told_on_its_scale():
    def read(truth, **how):
        scores = module.Scores([1, 3, 5, 5], truth, [9, 30, 40, 80], calibration="random", **how)
        return str(module.answer(*module.closed_forms(scores)))

    module, judge = prevalence.scores, 1 * 9 + 3 * 30 + 5 * 120
    same = read([1, 2, 5, np.nan], scale=(1, 5), truth_scale=(1, 5))
    assert "on average, on a scale of 1 to 5." in same
    assert f"The judge gives {judge / 159:.2f}." in same
    other = read([0, 0, 1, np.nan], scale=(1, 5))
    assert f"The judge's scores average {judge / 159:.2f}, on a scale of 1 to 5 (85 % of" in other


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
    "Bayesian (exact)", "Difference (PPI++)", "Difference (PPI)", "Difference (curves)",
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


@pytest.mark.parametrize("word", [
    "probably better", "may or may not", "labels alone", "without an interval", "differ by at most",
    "shared items", "now sampled", "trust",
    "errs more", "Variance parts", "outliers", "Difference (curves)", "Difference (PPI++)",
    "Binned scores", "RMS shift", "Truth given votes (NUTS)", "Dirichlet, worst case",
    "Calls by components of variance", "taken as normal", "Human labels only", "noise of calls",
])  # fmt: skip
def test_words_of_the_sentences_are_explained(word):
    assert meaning(word)


@pytest.mark.parametrize("word", ["exact", "vote", "neighbour", "better with probability",
                                  "best with probability", "now sampled"])  # fmt: skip
def test_words_of_sampled_screens_are_explained(word):
    assert meaning(word) is not None


#: What the sixth stranger met on a screen and did not find.
NOT_FOUND = (
    "unknown", "would decide", "two calls differ", "calls until majority holds",
    "few measurements allowed for", "few measurements", "outside the interval", "share no item",
    "design", "typical move", "effective number of items", "items with both verdicts",
    "one-sided", "exit code", "judges' mean", "leaving one out", "most of endless calls",
)  # fmt: skip


@pytest.mark.parametrize("word", NOT_FOUND)
def test_words_that_somebody_looked_up_in_vain_are_explained(word, capsys):
    assert main(["explain", *word.split()]) == 0
    assert capsys.readouterr().out.startswith(f"{word}: ")


def test_a_majority_that_flips_is_not_explained_as_any_majority():
    words = ("majority", "majority flips", "majority atypical", "calls until majority holds")
    assert len({meaning(word) for word in words}) == len(words)
    assert meaning("majority flips, 11 calls") == meaning("majority flips")


def test_models_are_explained_as_options_and_as_classes():
    hints = typing.get_type_hints(panel, include_extras=True)["model"]
    options = typing.get_args(typing.get_args(hints)[0])
    assert len(options) == 5
    classes = ("DawidSkene", "Correlated", "BiasPooling", "VoteRegression")
    assert not [name for name in (*options, *classes) if meaning(name) is None]
    assert all(hasattr(bayesjudge.panel, name) for name in classes)


# The answer first -------------------------------------------------------------------------------


def test_rows_stand_in_the_order_of_the_sentence():
    rows = {"c": Row(0.5, 0.4, 0.6), "a": Row(0.8, 0.75, 0.85), "b": Row(0.6, 0.5, 0.7)}
    found = Answer("", "", "", _estimate("Quoted", **rows))
    lines = quoted_lines(found, records(found.quoted), STYLE, 80)
    assert [line.split()[1] for line in lines if line.startswith(">")] == ["a", "b", "c"]


def test_a_method_without_a_number_has_no_row():
    quoted = Estimate({"prevalence": (0.5, 0.4, 0.6)}, "Quoted", 0.95, "")
    empty = Estimate({"prevalence": (np.nan, np.nan, np.nan)}, "Empty", 0.95, "")
    other = Estimate({"prevalence": (0.4, 0.3, 0.5)}, "Other", 0.95, "")
    found = Answer("", "", "", quoted)
    text = "\n".join(quoted_lines(found, records(quoted, empty, other), STYLE, 80))
    assert "Other" in text
    assert "Empty" not in text


def test_an_end_keeps_its_sign():
    assert points(Row(0.027, 0.001, 0.053)) == "3 points (0.1 to 5)"
    assert points(Row(0.05, -0.02, 0.12)) == "5 points (-2 to 12)"
    assert points(Row(0.139, -0.00044, 0.279)) == "14 points (-0.04 to 28)"
    assert points(Row(0.139, -0.000004, 0.279)) == "14 points (just below 0 to 28)"
    assert points(Row(0.139, 0.000004, 0.279)) == "14 points (just above 0 to 28)"
    assert points(Row(0.139, 0.0, 0.279)) == "14 points (0 to 28)"
    assert numbers(Row(1.4, -0.004, 2.8)) == "1.4 (-0.004 to 2.8)"


@pytest.mark.parametrize(
    ("low", "probability", "told"),
    [
        (0.01, 0.98, "a is better than b: 14 points (1 to 30), better with probability 0.980"),
        (-0.01, 0.96, "a is probably better than b: 14 points (-1 to 30), better with"),
        (-0.01, 0.98, "a is probably better than b: "),  # an interval of another level
        (-0.1, 0.85, "a may or may not be better than b: 14 points (-10 to 30), better with"),
        (-0.1, None, "a may or may not be better than b: 14 points (-10 to 30)"),
    ],
)
def test_a_lead_is_claimed_as_surely_as_it_is_known(low, probability, told):
    found = {"first": "a", "second": "b", "value": 0.14, "low": low, "high": 0.3}
    assert difference_words({**found, "probability": probability}).startswith(told)


@pytest.mark.slow
def test_what_labels_call_correct_is_called_so(tmp_path, capsys):
    """The file's own word, if it says what an output is: not of yes and no, nor of two words."""
    rows = pd.DataFrame({"verdict": ["correct", "incorrect"] * 60, "truth": [None] * 120})
    rows.loc[:49, "truth"] = ["correct", "incorrect", "correct", "correct", "incorrect"] * 10
    said = {}
    for words in ("correct incorrect", "Good Bad", "yes no", "pass fail"):
        passed, failed = words.split()
        path = tmp_path / f"{passed}.csv"
        rows.replace({"correct": passed, "incorrect": failed}).to_csv(path, index=False)
        asked = ["--verdict", "verdict", "--truth", "truth", "--calibration", "random"]
        assert main(["prevalence", str(path), *asked, "--no-nuts"]) == 0
        said[passed] = " ".join(capsys.readouterr().out.split())
    for word in ("correct", "Good"):
        assert re.match(rf"People would call \d+ % of outputs like these '{word}' \(", said[word])
        assert "the judge calls 50 % so" in said[word]
    for word in ("yes", "pass"):
        assert said[word].startswith("People would pass ")
    assert pass_name_of(None, {"pass": ["correct", "pass"], "fail": ["fail"]}) == ""
    assert pass_name_of("unsafe", {"pass": ["unsafe"]}) == "unsafe"


def test_a_caution_of_the_judges_own_number_is_left_to_the_details():
    """Where the answer corrects it, and not where the judge's own number is shown."""
    text = (GOLDEN / "score_pairs.txt").read_text(encoding="utf-8")
    assert "errors-do-not-cancel" not in text
    kept = (GOLDEN / "score_pairs.md").read_text(encoding="utf-8")
    assert "errors-do-not-cancel" in kept


def test_numbers_without_an_interval_are_not_held_against_one_that_has():
    bare = _estimate("Bare", a=Row(0.3, np.nan, np.nan), b=Row(0.3, np.nan, np.nan))
    near = _estimate("Near", a=Row(0.78, 0.7, 0.85), b=Row(0.61, 0.5, 0.7))
    told = " ".join(" ".join(_lines(bare, near)).split())
    assert "Other methods differ by at most 0.02 (--details)." in told
    assert "Bare" not in told
    aside = replace(STYLE, aside=(near.method,))
    found = Answer("", "", "", _estimate("Quoted", **SHARES))
    lines = quoted_lines(found, records(found.quoted, near), aside, 80)
    assert "Near" not in " ".join(lines)
    alone = _estimate(HUMAN_ONLY, a=Row(0.7, 0.5, 0.8), b=Row(0.5, 0.3, 0.7))
    shown = quoted_lines(found, records(found.quoted, alone), replace(aside, alone=True), 80)
    assert shown[0].endswith("labels alone")
    assert [line.split()[-1] for line in shown[1:3]] == ["0.700", "0.500"]
    assert len(shown) == 3


def test_the_mean_of_all_items_takes_fewer_calls():
    """By hand: the noise of a mean over all items is that of one call by the root of calls."""
    scores = repeats.Scores.from_frame(repeats.simulate(random_seed=1, judges=1), scale=range(1, 6))
    made = repeats.closed_forms(scores)
    items = len(scores.items)
    for half_width in (0.5, 0.05):
        found = repeats.answer(*made, half_width=half_width)
        once = found.quoted["half_width_of_one"].value / np.sqrt(items)
        calls = max(1, int(np.ceil((once / half_width) ** 2)))
        (note,) = [one for one in found.notes if "The mean of all" in one]
        assert ("one call per item gives" if calls == 1 else f"{calls} calls per item give") in note
        assert f"± {once / np.sqrt(calls):.2g}" in note


def test_a_method_that_claims_something_else_is_told():
    found = {"first": "a", "second": "b", "value": 0.14, "low": -0.01, "high": 0.3}
    rows = [
        {**found, "probability": 0.97, "method": "Quoted"},
        {**found, "low": 0.02, "probability": 0.99, "method": "Sampled"},
        {**found, "value": 0.1, "probability": 0.96, "method": "Agrees"},
        {**found, "first": "c", "low": 0.02, "probability": 0.99, "method": "Sampled"},
    ]
    (text,) = disagreements(rows)
    assert text.startswith("Sampled disagrees: a is better than b: 14 points (2 to 30)")
    # the other way round it is the same pair, with the same claim
    assert disagreements(
        [rows[0], {"first": "b", "second": "a", "value": -0.1, "low": -0.3, "high": 0.01,
                   "probability": 0.04, "method": "Turned"}]
    ) == ()  # fmt: skip


@pytest.mark.parametrize(
    ("probability", "told"), [(0.0, "<.001"), (0.907, "0.907"), (1.0, ">.999")]
)
def test_a_probability_by_draws_is_never_0_or_1(probability, told):
    assert chance(probability) == told


def test_one_comparison_is_given_by_one_method(monkeypatch):
    from bayesjudge.cli import prevalence_items as cli

    table = prevalence.items.simulate(
        systems={"a": 0.8, "b": 0.7, "c": 0.6}, items=40, labelled=20, random_seed=1
    )
    items = prevalence.items.Items.from_frame(
        table, calibration="random", by="system", repeats="system"
    )
    rows = [
        {"first": one, "second": two, "value": 0.1, "low": 0.0, "high": 0.2, "method": method}
        for method in ("Closed form", "Sampled")
        for one, two in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    monkeypatch.setattr(cli, "differences", lambda *made, ci_prob: [dict(row) for row in rows])
    (section,) = cli._differences(items, [], [], Shared())
    assert "(Closed form)" in section.heading
    assert len(section.lines) == 2
    assert not any("Sampled" in line for line in section.lines)
    assert sum("(Sampled)" in line for line in section.further) == 3
    made = prevalence.difference(items)
    (caution,) = (c for c in made.cautions if c.id == "design-effect")
    assert "the largest of 3 systems" in caution.text


def test_unread_verdicts_of_several_systems_are_one_caution():
    counts = prevalence.Counts(
        *([1000, 900], [690, 600], [140, 140], [126, 126], [60, 60], [42, 42]),
        calibration="random", systems=["a", "b"], unparsed=[2, 5],
    )  # fmt: skip
    (told,) = (c for c in cautions_of(counts) if c.id == "unparsed-verdicts")
    assert told.numbers["count"] == 7
    assert ": 5 in system 'b', 2 in system 'a'" in told.text


def test_strata_are_told():
    counts = prevalence.Counts(
        *([1000, 900], [690, 600], [140, 140], [126, 126], [60, 60], [42, 42]),
        calibration="random", systems=["a", "b"], dim="stratum",
    )  # fmt: skip
    assert "in 2 strata" in prevalence.answer(*prevalence.closed_forms(counts)).basis


def test_shifts_with_an_outlier_are_quoted_as_measured():
    values = np.r_[np.random.default_rng(2).normal(0, 4, 59), 40].round()
    shifts = Shifts.from_differences(values, scale=(0, 100))
    told = answer(*closed_forms(shifts))
    assert told.method.id == "rms-shift"
    measured = np.sqrt(np.mean(values**2))
    assert told.quoted["rms_shift", "perturbed"].value == pytest.approx(measured)
    assert told.quoted["rms_shift", "perturbed"].high > 1.5 * measured


def test_verdicts_that_flip_are_told_as_shares():
    before = np.r_[np.ones(100), np.zeros(50)].astype(int)
    after = np.r_[np.ones(98), np.zeros(2), np.ones(10), np.zeros(40)].astype(int)
    table = pd.concat(
        pd.DataFrame({"item": range(150), "variant": name, "score": values})
        for name, values in (("baseline", before), ("bold", after))
    )
    shifts = Shifts.from_frame(table, scale=(0, 1), design="item")
    made = closed_forms(shifts)
    told = str(answer(*made))
    assert told.startswith(f"'bold' flips {1200 / 150:.0f} % of verdicts (")
    assert "; the RMS shift, 0.28, is its root." in told
    assert "'bold' raises the share of 1s by 5 points (" in told  # 10 - 2 of 150
    assert "root mean square" not in told


def test_scores_by_system_tell_items_labels_and_the_judge(tmp_path, capsys):
    table = prevalence.scores.simulate(random_seed=1)
    table["system"] = ["a", "b"] * (len(table) // 2)
    table.to_csv(tmp_path / "scores.csv", index=False)
    options = "--score score --truth truth --scale 0:1 --truth-scale 0:1 --calibration random"
    path = str(tmp_path / "scores.csv")
    assert main(["prevalence", path, *options.split(), "--by", "system", "--no-nuts"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"{len(table):,} items, {table['truth'].notna().sum():,} of them labelled" in out
    assert "value low high judge" in out


def test_passes_beside_scores_of_another_scale():
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 6, 300)
    truth = np.where(rng.random(300) < 0.3, (scores > 3).astype(float), np.nan)
    table = pd.DataFrame({"score": scores, "truth": truth})
    read = prevalence.scores.Scores.from_frame(table, calibration="random", scale=(1, 5))
    made = prevalence.scores.closed_forms(read)
    share = 100 * (scores.mean() - 1) / 4
    told = prevalence.scores.answer(*made)
    assert f"({share:.0f} % of the way up)" in told.notes[0]
    cautions = {c.id: c.numbers for one in made for c in one.cautions}
    labelled = scores[~np.isnan(truth)].mean()
    assert cautions["errors-do-not-cancel"]["judge"] == pytest.approx((labelled - 1) / 4)


def test_judges_that_cannot_be_told_apart_do_not_surely_suffice():
    rng = np.random.default_rng(1)
    rows = [
        {"item": i, "judge": judge, "score": int(np.clip(round(3 + rng.normal(0, 1)), 1, 5))}
        for i in range(20)
        for judge in ("a", "b")
        for _ in range(3)
    ]
    rows[0]["score"] = None
    read = repeats.Scores.from_frame(pd.DataFrame(rows), scale=range(1, 6), judge="judge")
    told = repeats.answer(*repeats.closed_forms(read))
    left = told.quoted["half_width_left"]
    assert left.low <= 1 / 3 * 0.8 < left.high  # else this table is no example
    assert "may or may not reach" in told.notes[-1]
    names = {c.id: c.text for c in told.cautions}
    assert "cut-at-the-scale" not in names
    assert "(most" not in names["unparsed-answers"]
    assert "between judges (judge_sd)" in names["negative-variance"]


@pytest.mark.slow
def test_a_panel_without_labels_says_once_that_there_is_no_interval():
    table = panels.simulate(labelled=0, random_seed=1)
    votes = panels.Votes.from_frame(table)
    told = panels.answer(panels.dawid_skene_em(votes))  # of all closed forms another is quoted
    text = " ".join([told.text, *told.notes])
    assert told.text.startswith("If judges err independently, people would pass")
    assert "(no interval)" not in text
    assert "overlap" not in text
    assert text.count("no interval") == 1


@pytest.mark.slow
def test_what_people_did_not_give_is_not_counted():
    table = ratings.simulate(random_seed=1).drop(columns="response_set")
    read = ratings.Ratings.from_frame(table, positive="yes", judges=["gpt", "claude"])
    basis = ratings.answer(*ratings.closed_forms(read)).basis
    assert "choices of people and 2 judges" in basis


# What is known before the model is sampled ------------------------------------------------------


@pytest.mark.parametrize(
    ("terminal", "options", "told"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"quiet": True}, False),
        (True, {"nuts": False}, False),
        (True, {"json": True}, False),
        (True, {"files": Files(markdown=SCREEN)}, False),
    ],
)
def test_a_formula_answers_at_a_terminal_until_the_model_is_sampled(
    terminal, options, told, monkeypatch, capsys
):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    meanwhile(Answer("People would pass 40 %.", "", "", _estimate("Formula", **SHARES)),
              Shared(**options))  # fmt: skip
    said = " ".join(capsys.readouterr().err.split())
    expected = "For now, by a formula (Formula): People would pass 40 %. Sampling follows."
    assert said == (expected if told else "")
    unknown = Answer("Nobody knows.", "", "", _estimate("Formula", **SHARES), known=False)
    meanwhile(unknown, Shared(**options))
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_panel_answers_by_a_formula_before_it_chooses_a_model(tmp_path, monkeypatch, capsys):
    path = tmp_path / "votes.csv"
    panels.simulate(labelled=20, random_seed=1).to_csv(path, index=False)

    def stop(votes):
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("bayesjudge.panel.recommend", stop)
    asked = ["--truth", "truth", "--calibration", "random", "--model", "vote_regression"]
    assert main(["panel", str(path), *asked]) == 130
    assert "For now, by a formula (Truth given votes" in capsys.readouterr().err


@pytest.mark.slow
def test_verdicts_that_are_fails_since_that_was_asked_for_are_counted(tmp_path, capsys):
    words = ["PASS"] * 60 + ["FAIL"] * 28 + ["ERROR"] * 12
    human = ["PASS"] * 15 + [""] * 45 + ["FAIL"] * 10 + [""] * 30
    path = tmp_path / "labels.csv"
    pd.DataFrame({"verdict": words, "human": human}).to_csv(path, index=False)
    options = "--verdict verdict --truth human --calibration random --no-nuts --fail-value ERROR"
    assert main(["prevalence", str(path), *options.split()]) == 0
    assert "12 ERROR, read as fail" in " ".join(capsys.readouterr().out.split())


def test_rows_of_one_name_each_stand_without_gaps(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    one = Estimate({"first": (0.5, 0.4, 0.6), "second": (0.1, 0.0, 0.2)}, "One", 0.95, "")
    two = Estimate({"third": (0.7, 0.6, 0.8)}, "Two", 0.95, "")
    more = Estimate({"third": (0.8, 0.7, 0.9)}, "More", 0.95, "")
    table(open_console(), records(one, two, more), STYLE, named=True)
    lines = capsys.readouterr().out.strip().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("first"))
    assert lines[at + 1].startswith("second")  # and a gap only about what several methods have
    assert not lines[at + 2].strip()


@pytest.mark.parametrize("width", ["60", "80", "120"])
def test_a_row_that_goes_on_with_a_table_stands_in_its_columns(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    above = Estimate({"mean": (83.281, 80.5, 85.25)}, "Difference (curves)", 0.95, "", "t")
    sampled = Estimate({"mean": (6.063, 3.5, 8.25)}, "Bayesian (NUTS)", 0.95, "", "equal-tailed")
    table(open_console(), records(above), STYLE)
    first = max(capsys.readouterr().out.splitlines(), key=lambda line: line.count("."))
    table(open_console(), records(sampled), STYLE, above=records(above))
    second = max(capsys.readouterr().out.splitlines(), key=lambda line: line.count("."))
    ends = [[at.end() for at in re.finditer(r"\d+\.\d{3}", line)] for line in (first, second)]
    assert len(ends[0]) == 4
    assert ends[0] == ends[1]


def test_one_judge_of_both_orders_needs_no_name(tmp_path, capsys):
    path = tmp_path / "orders.csv"
    rows = [("1", "1")] * 30 + [("1", "2")] * 20 + [("2", "1")] * 4
    pd.DataFrame(rows, columns=["order1", "order2"]).to_csv(path, index=False)
    assert main(["bias", "orders", str(path), "--details"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.match(
        r"The judge prefers the answer shown first, which wins 30 points more often .*interval\)\.",
        said,
    )
    assert "the judge names the same winner (or a tie) both times in 56 % of the pairs" in said
    assert "primacy: Share of pairs in which" in said
    assert "item=" not in said


def test_shares_that_add_up_to_something_else_say_so():
    table = pd.DataFrame({"verdict": list("aabbcc") * 20, "truth": list("aabbcc") * 20})
    made = prevalence.classes.ClassCounts.from_frame(table, calibration="random", classes="abc")
    closed = prevalence.classes.closed_forms(made)
    said = prevalence.classes.answer(*closed)
    assert said.notes == ("Shares are rounded one by one: as shown they add up to 99 %.",)


def test_the_judge_beside_scores_has_as_many_digits_as_its_interval():
    rng = np.random.default_rng(1)
    truth = rng.normal(0, 15, 160).clip(-100, 100)
    table = pd.DataFrame({"score": (truth + rng.normal(0, 3, 160)).round(2), "truth": truth})
    table.loc[40:, "truth"] = np.nan
    scales = {"scale": (-100, 100), "truth_scale": (-100, 100)}
    made = prevalence.scores.Scores.from_frame(table, calibration="random", **scales)
    said = str(prevalence.scores.answer(*prevalence.scores.closed_forms(made)))
    assert re.search(r"The judge gives -?\d+\.\d\.", said)


@pytest.mark.slow
def test_unparsed_verdicts_are_told_by_the_name_of_a_pass(tmp_path, capsys):
    path = tmp_path / "guard.csv"
    rows = [("unsafe", "unsafe"), ("safe", ""), ("safe", "safe"), ("", "")] * 20
    pd.DataFrame(rows, columns=["verdict", "truth"]).to_csv(path, index=False)
    asked = "--verdict verdict --truth truth --calibration random --pass-value unsafe --no-nuts"
    asked = asked.replace("random", "by_verdict")  # of random labels they are a third verdict
    assert main(["prevalence", str(path), *asked.split()]) == 2
    assert "--unparsed fail (the judge did not call them 'unsafe', and" in capsys.readouterr().err


@pytest.mark.parametrize(
    "term", ["isotonic", "alpha", "shrinkage factor", "predictive", "tail", "batch", "systematic"]
)
def test_words_of_a_screen_are_explained(term):
    assert meaning(term)


def test_a_summary_of_votes_agrees_with_its_numbers():
    table = pd.DataFrame({"item": [1, 1], "generator": "g", "judge": ["a", "b"], "vote": [1, 0]})
    table["truth"] = np.nan
    told = repr(panels.Votes.from_frame(table))
    assert told.startswith("Votes(1 item, 0 labelled, 1 generator, 2 judges, 2 classes, 1 pattern,")


@pytest.mark.parametrize(
    "command",
    [
        "gate {0} --truth truth --calibration random --at-least 0.5",
        "drift {0} {0}",
        "label {0} --gate 0.5",
    ],
)
def test_no_command_writes_a_page_under_the_name_of_a_pdf(command, tmp_path, capsys):
    path = tmp_path / "log.csv"
    pd.DataFrame({"item": range(4), "verdict": [1, 0, 1, 1], "truth": [1, 0, 1, 0]}).to_csv(
        path, index=False
    )
    pdf = tmp_path / "page.pdf"
    assert main([*command.format(path).split(), "--html", str(pdf)]) == 2
    assert "expected a name that ends in .html" in " ".join(capsys.readouterr().err.split())
    assert not pdf.exists()


@pytest.mark.slow
def test_a_panel_asks_for_the_label_design_by_its_option(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    panels.simulate(labelled=20, random_seed=1).to_csv(path, index=False)
    assert main(["panel", str(path), "--truth", "truth"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "--calibration is needed: how were the labelled items chosen? random: within" in said


#: Passes all labelled, of the fails a tenth: labels by verdict.
BY_VERDICT = (902, 0, 138, 133, 160, 87)


@pytest.mark.slow
def test_data_that_contradict_the_declared_design_are_not_quoted():
    counts = prevalence.Counts(*BY_VERDICT, calibration="random")
    said = prevalence.answer(*prevalence.closed_forms(counts), prevalence.exact(counts))
    assert not said.known
    assert said.text.startswith("Labels, verdicts and the declared label design contradict")
    assert "declare by_verdict" in said.notes[0]
    assert "People would pass" not in str(said)
    assert "Quoted" not in str(said)
    assert said.as_dict()["known"] is False
    right = prevalence.Counts(*BY_VERDICT, calibration="by_verdict")
    assert prevalence.answer(*prevalence.closed_forms(right), prevalence.exact(right)).known


@pytest.mark.slow
def test_one_of_several_systems_that_contradicts_its_design_is_named():
    each = [np.array(pair) for pair in zip(BY_VERDICT, (900, 500, 100, 90, 100, 80), strict=True)]
    counts = prevalence.Counts(*each, calibration="random", systems=("guard", "other"))
    said = prevalence.answer(*prevalence.closed_forms(counts), prevalence.exact(counts))
    assert "contradict each other in guard: no number of it can" in said.notes[0]
    assert "of other's outputs" in said.text
    assert "of guard's" not in said.text


@pytest.mark.slow
def test_labels_by_verdict_tell_how_often_the_judge_is_right():
    counts = prevalence.Counts(*BY_VERDICT, calibration="by_verdict")
    made = [*prevalence.closed_forms(counts), prevalence.exact(counts)]
    note, rates = prevalence.answer(*made).notes
    assert rates.startswith("By these labels it")
    assert "206 labelled passes of the judge 73 were wrong: 35 % (29 to 42 %)" in note
    assert "of 92 labelled fails 5 were wrong: 5 %" in note
    named = replace(counts, pass_name="unsafe")
    note, _ = prevalence.answer(*prevalence.closed_forms(named), prevalence.exact(named)).notes
    assert note.startswith("Of 206 labelled outputs that the judge called 'unsafe', 73 were wrong")


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("unsafe safe", "People would call 38 % of outputs like these 'unsafe' ("),
        ("pass fail", "People would pass 38 % of outputs like these ("),
    ],
)
def test_the_label_given_as_pass_is_the_word_of_the_sentence(values, told, tmp_path, capsys):
    word, other = values.split()
    counted = [(word, None, 206), (other, None, 144), (word, word, 36), (word, other, 19)]
    rows = [(v, t) for v, t, n in [*counted, (other, other, 45)] for _ in range(n)]
    path = tmp_path / "guard.csv"
    pd.DataFrame(rows, columns=["verdict", "truth"]).to_csv(path, index=False)
    asked = f"--verdict verdict --truth truth --calibration random --pass-value {word}"
    asked += f" --fail-value {other} --no-nuts"
    assert main(["prevalence", str(path), *asked.split()]) == 0
    out = capsys.readouterr().out
    assert out.startswith(told)
    assert ("share of 'unsafe'" in out) == (word == "unsafe")
    assert ("agrees on 100 % " in out) == (word == "unsafe")


#: Commands whose sentences are about what was read as pass.
OF_UNSAFE = {
    "one": "prevalence {} --calibration random --no-nuts",
    "details": "prevalence {} --calibration random --no-nuts --details",
    "by": "prevalence {} --calibration random --no-nuts --by system",
    "strata": "prevalence {} --calibration random --no-nuts --stratum system --details",
    "items": "prevalence {} --calibration random --no-nuts --by system --item item --details",
    "scores": "prevalence {} --score score --scale 0:1 --calibration random --no-nuts",
    "score systems": "prevalence {} --score score --scale 0:1 --calibration random --no-nuts "
    "--by system --item item",
    "panel": "panel {} --judges verdict --judges other --generator system --calibration random "
    "--no-nuts",
    "gate": "gate {} --calibration random --at-most 0.5",
    "baseline": "gate {} --calibration random --by system --item item --against a",
    "drift": "drift {0} {0} --by system",
    "label": "label {} --gate 0.5",
}


def _unsafe(folder):
    """Verdicts, scores and truths of two systems on shared items, as unsafe and safe."""
    rng = np.random.default_rng(1)
    truth = rng.random((2, 150)) < [[0.3], [0.5]]
    scores = np.clip(0.5 * truth + rng.random(truth.shape) * 0.5, 0, 1)
    other = np.where(rng.random(truth.shape) < 0.8, truth, ~truth)
    named = {True: "unsafe", False: "safe"}
    rows = [
        {
            **{"system": "ab"[s], "item": i, "score": round(scores[s, i], 2)},
            **{"verdict": named[scores[s, i] > 0.4], "other": named[other[s, i]]},
            "truth": named[truth[s, i]] if i % 2 else None,
        }
        for s, i in np.ndindex(truth.shape)
    ]
    path = folder / "guard.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", OF_UNSAFE)
@pytest.mark.slow
def test_what_was_read_as_pass_is_never_called_a_pass(command, tmp_path, capsys):
    name, _, asked = OF_UNSAFE[command].partition(" ")
    path = _unsafe(tmp_path)
    arguments = [*asked.format(path).split(), "--pass-value", "unsafe"]
    arguments += (
        [] if name in ("label", "panel") or "--score" in asked else ["--verdict", "verdict"]
    )
    arguments += ["--verdict", "verdict"] * (name == "label")
    arguments += [] if name == "label" else ["--truth", "truth"]
    page = tmp_path / "page.html"
    main([name, *arguments, "--html", str(page)])
    shown = capsys.readouterr().out + page.read_text(encoding="utf-8")
    if name in ("prevalence", "panel"):
        main([name, *arguments, "--markdown", "-"])
        main([name, *arguments, "--json"])
        shown += capsys.readouterr().out
        assert '"pass_name": "unsafe"' in shown
    said = " ".join(shown.split())
    assert "'unsafe'" in said
    wrong = "would pass|good outputs|better than [ab]|worse than|judge passes|the pass rate"
    assert not re.findall(f".{{40}}(?:{wrong}).{{20}}", said)


@pytest.mark.slow
@pytest.mark.sampling
def test_the_first_screen_of_a_panel_without_labels_says_what_it_rests_on(tmp_path, capsys):
    path = tmp_path / "votes.csv"
    panels.simulate(labelled=0, random_seed=1).to_csv(path, index=False)
    assert main(["panel", str(path), "--model", "bias_pooling", "--width", "0.2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "rests-on-priors: no item is labelled: the interval holds the model's prior" in said
    assert "Which of the 4 judges errs least is not known: Bias pooling (NUTS) takes the" in said
    before = re.split("nother method|other methods", said.split("Cautions")[0])[0]
    assert "Dawid-Skene" not in before
    claimed = "g1 (is|is probably|may or may not be) the best"
    assert re.search(claimed + r": with probability 0\.\d+ by this", said)
    assert "This takes each share to be the judges' pass rate, which no label has checked" in said
    assert "may err" not in said


def test_a_certificate_of_the_scale_alone_says_so_once_and_what_is_weaker(tmp_path, capsys):
    path = tmp_path / "shifts.csv"
    rows = simulate(random_seed=1)
    rows[rows["variant"].isin(["baseline", "format"])].to_csv(path, index=False)
    asked = "--scale 0-100 --design item --tolerance 15 --units points --no-nuts"
    assert main(["bias", str(path), *asked.split(), "--failure-prob", "0.03"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of little use: released shrunk to 0.15 of their distance from a centre" in said
    assert "(the tolerance over the range of the scale)" in said
    assert "No useful certificate" not in said
    assert said.count("100 neighbours of each perturbation") == 1
    assert "--basis predictive promises the same of the next change only" in said


def test_the_average_shift_stands_beside_the_typical_one():
    lines = (GOLDEN / "bias.txt").read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if "RMS shift, in points" in line)
    assert head.endswith("mean shift")
    assert next(line for line in lines if "> format" in line).endswith("2.2 (1.0 to 3.4)")


@pytest.mark.slow
def test_a_run_held_against_a_passport_is_answered_in_a_sentence(tmp_path, capsys):
    path = _unsafe(tmp_path)
    passport = str(tmp_path / "pass.json")
    asked = ["--verdict", "verdict", "--pass-value", "unsafe", "--truth", "truth"]
    asked += ["--by", "system", "--calibration", "random"]
    assert main(["judge", str(path), "--name", "guard", "--card", passport, *asked]) == 0
    capsys.readouterr()
    main(["passport", "check", passport, str(path), *asked, "--judge", "guard"])
    said = " ".join(capsys.readouterr().out.split())
    assert re.match(
        r"People would call \d+ % of b's outputs \(.*\) and \d+ % of a's \(.*\) 'unsafe'\.", said
    )
    assert "share of 'unsafe' outputs value low high" in said


@pytest.mark.slow
def test_narrow_tables_with_the_truth_cut_no_number(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["demo", "--no-nuts", "--details"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("prevalence"))
    assert lines[at].split()[-1] == "truth"
    assert not any("…" in line for line in lines[at : at + 40])
    assert max(map(len, lines)) <= 60


@pytest.mark.slow
def test_labels_of_whole_conversations_are_told_and_the_option_that_counts_them(tmp_path, capsys):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"conversation": [f"c{i // 6}" for i in range(360)]})
    rows["verdict"] = rng.integers(0, 2, 360)
    whole = rows["conversation"].isin([f"c{i}" for i in range(0, 60, 4)])
    one_by_one = np.arange(360) % 4 == 0
    path = tmp_path / "chats.csv"
    asked = [str(path), "--verdict", "verdict", "--truth", "human", "--calibration", "random"]
    for labelled, told in ((whole, True), (one_by_one, False)):
        rows.assign(human=np.where(labelled, rows["verdict"], np.nan)).to_csv(path, index=False)
        assert main(["prevalence", *asked, "--no-nuts", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        note = "Labels cover whole groups of conversation: 15 of 60 have one on every row"
        assert any(one.startswith(note) for one in document["answer"]["notes"]) == told
        if told:
            line = "--item conversation --repeats system"
            assert document["answer"]["notes"][-1].endswith(f"say {line}.")
            assert main(["prevalence", *asked, *line.split(), "--no-nuts", "--json"]) == 0
            other = json.loads(capsys.readouterr().out)
            assert not any("whole groups" in one for one in other["answer"]["notes"])


@pytest.mark.slow
def test_bounds_without_a_value_are_one_line(tmp_path, capsys):
    path = tmp_path / "choices.csv"
    ratings.simulate(items=20, random_seed=1).drop(columns="response_set").to_csv(path, index=False)
    asked = ["--positive", "yes", "--judge", "gpt", "--judge", "claude", "--no-nuts", "--details"]
    assert main(["ratings", str(path), *asked]) == 0
    out = capsys.readouterr().out
    (line,) = [line for line in out.splitlines() if "Mean endorsement" in line and "bounds" in line]
    assert line.startswith("  endorsement (Mean endorsement): no value, only bounds of 6 numbers")
    assert not re.search(r"Mean endorsement +– ", out)


@pytest.mark.slow
def test_what_the_judge_gives_more_than_people_is_told_of_each_system():
    """Of a it is known, of b not; as of each alone."""
    scores = prevalence.scores
    rng = np.random.default_rng(1)
    read = {}
    for name, more in (("a", 0.6), ("b", 0.0)):
        truth = rng.integers(1, 5, 60).astype(float)
        given = np.clip(truth + more + rng.normal(0, 0.5, 60), 1, 5)
        truth[30:] = np.nan
        labelled = ~np.isnan(truth)
        read[name] = scores.Scores.from_frame(
            pd.DataFrame({"score": given, "truth": np.where(labelled, truth, np.nan)}),
            calibration="random", scale=(1, 5), truth_scale=(1, 5),
        )  # fmt: skip
    *_, note, _worth = scores.answer(*scores.by_system(read)).notes
    row = scores.judge_bias(read["a"])["judge_less_people"]
    assert note.startswith(f"The judge gives a {row.value:.2f} more than people on average (")
    assert note.endswith("; it may give b more or less than people do.")


@pytest.mark.slow
def test_what_is_promised_without_a_tolerance():
    """The limit of Wilks; of few changed scores the next one's, on average; a card in its place."""
    certificates = bayesjudge.bias.certificates
    rng = np.random.default_rng(1)
    for n in (400, 59, 58):
        shifts = bayesjudge.bias.Shifts.from_differences(rng.normal(0, 3, n), scale=(0, 100))
        found = bayesjudge.bias.answer(*bayesjudge.bias.closed_forms(shifts))
        few, sizes = n < 59, np.sort(shifts.lengths)
        spared = (n + 1) // 20 - 1
        if not few:
            spared = (binom.cdf(np.arange(n), n, 0.05) <= 0.05).sum() - 1
        assert found.text.startswith("'perturbed' moves a score by ")
        (note,) = found.notes
        size = f"{sizes[n - 1 - spared]:.2g} points"
        assert (f"a score by at most {size}" if few else f"a score by more than {size}") in note
        assert ("on average over what might have been measured" in note) == few
        card = certificates.certify(
            shifts, tolerance=100, failure_prob=0.05, units="points", alpha=1.0
        )
        asked = bayesjudge.bias.answer(*bayesjudge.bias.closed_forms(shifts), card)
        assert asked.notes == (card.promise,)
    few = bayesjudge.bias.Shifts.from_differences([1.0, 2.0, 3.0], scale=(0, 100))
    (note,) = bayesjudge.bias.answer(*bayesjudge.bias.closed_forms(few)).notes
    assert "nothing is promised but the ends of the scale" in note


def words_in(document):
    """Quantities, coordinates, methods, kinds of interval, and what was read."""
    for one in document["estimates"]:
        yield from (one["quantity"], one["method"], *one["where"], one["interval"])
    yield from document["inputs"]


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("kept", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_headings_and_names_of_the_kept_screens_are_explained(kept):
    words = {*words_in(json.loads(kept.read_text(encoding="utf-8")))} - {"", "none"}
    assert len(words) > 10
    assert sorted(word for word in words if meaning(word) is None) == []


@pytest.mark.parametrize("asked", ["--labelled 50", "--at-least 0.8 --prevalence 0.9"])
@pytest.mark.slow
def test_headings_of_plans_and_names_of_commands_are_explained(asked, capsys):
    judge = ["--sensitivity", "0.9", "--specificity", "0.8", "--prevalence", "0.9"]
    words = asked.split() + judge[: 4 if "--prevalence" in asked else 6]
    assert main(["plan", *words]) == 0
    head = next(x for x in capsys.readouterr().out.splitlines() if "--calibration" in x)
    head = head.replace("--calibration", "").replace("9 of 10", "")
    found = [word for word in head.split() if word != "±"]
    assert len(found) > 2
    commands = [name for name in WANTED if " " not in name]
    assert [word for word in (*found, *commands, "plan", "noise") if meaning(word) is None] == []
