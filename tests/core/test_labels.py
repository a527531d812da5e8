"""Labels as people spell them: read if they say what they mean, refused at once if not."""

import ast
import re

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.labels import WORDS, by_spelling, proposed, read_labels

NOTHING = {"pass_value": None, "fail_value": None, "missing_value": None}


def read(labels, **named):
    values, told = read_labels({"verdict": labels}, **NOTHING | named)
    return values["verdict"].tolist(), str(told)


@pytest.mark.parametrize(("good", "bad"), WORDS)
@pytest.mark.parametrize("case", [str.upper, str.lower, str.title, lambda word: f"  {word} "])
def test_words_say_what_they_mean_in_any_case_and_with_blanks(good, bad, case):
    values, told = read([case(good), case(bad), None, "  "])
    np.testing.assert_array_equal(values, [1, 0, np.nan, np.nan])
    plain = good == "1"
    assert told == ("" if plain else f"{case(good).strip()} read as pass; "
                    f"{case(bad).strip()} read as fail")  # fmt: skip


@pytest.mark.slow
def test_the_mapping_is_told():
    table = pd.DataFrame(
        {"verdict": ["PASS", "Fail", "pass", "Yes"], "truth": [True, None, None, False]}
    )
    counts = bj.prevalence.Counts.from_frame(table, calibration="random")
    assert (counts.test_n, counts.test_pass, counts.correct_pass) == (2, 1, 1)
    told = "PASS, True, Yes, pass read as pass; Fail, False read as fail"
    assert counts.spelling == told
    assert told in repr(counts)
    assert (
        bj.prevalence.Counts.from_frame(
            table.replace({"PASS": 1, "pass": 1, "Yes": 1, "Fail": 0, True: 1, False: 0}),
            calibration="random",
        ).spelling
        == ""
    )


@pytest.mark.parametrize(
    "labels",
    [["A", "B"], ["safe", "unsafe"], ["C", "I", "P"], ["correct", "partially"], ["left", "right"],
     ["A", "B", "C", "D"], ["1", "2"], [0, 1, 2], ["yes", "maybe"], ["pass", "INVALID"]],
)  # fmt: skip
def test_what_could_mean_either_is_refused_with_a_line_that_mends_it(labels):
    with pytest.raises(bj.InputError) as error:
        read(labels)
    told = error.value.message
    assert "neither pass nor fail" in told
    if not all(isinstance(label, int) or label.isdigit() for label in labels):
        given = dict(re.findall(r"(\w+_value)=(\[.*?\])", told))
        values, _ = read(labels, **{name: ast.literal_eval(found) for name, found in given.items()})
        assert len(values) == len(labels)


def test_safe_is_proposed_as_the_pass():
    with pytest.raises(bj.InputError, match=r"pass_value=\['safe'\], fail_value=\['unsafe'\]"):
        read(["unsafe", "safe"])


def test_all_columns_and_problems_are_told_at_once():
    table = pd.DataFrame({"a": ["A", "B"], "b": ["A", "B"], "c": ["pass", "P"], "t": ["safe", ""]})
    with pytest.raises(bj.InputError) as error:
        bj.prevalence.Counts.from_frame(
            table, verdict=["a", "b", "c"], truth="t", calibration="random"
        )
    told = error.value.message
    assert all(label in told for label in ("'A'", "'B'", "'P'", "'safe'"))
    with pytest.raises(bj.InputError) as error:
        bj.panel.Votes.from_frame(
            table, judges=["a", "b", "c"], truth="t", item=None, generator=None,
            calibration="random",
        )  # fmt: skip
    told = [str(one) for one in error.value.problems]
    assert any("columns 'a', 'b'" in problem for problem in told)
    assert sum("say what they mean" in problem for problem in told) == 1
    assert "fail_value=['B', 'P', 'safe']" in told[-1]


def test_p_and_f_are_pass_and_fail_where_both_occur():
    """Inspect's P is partial, beside C and I; what an argument names means that."""
    assert read(["P", "F", "p"]) == ([1, 0, 1], "P, p read as pass; F read as fail")
    values, _ = read_labels({"a": ["P", "F"], "b": ["P", "P"]}, **NOTHING)
    assert values["b"].tolist() == [1, 1]
    assert read(["P", "F"], pass_value="F")[0] == [0, 1]
    for labels in (["P"], ["P", "F", "C"], ["P", "F", "I"]):
        with refused(id="unread-labels"):
            read(labels)


def test_values_may_be_lists_beside_words():
    values, told = read(["C", "I", "P", "N"], fail_value=["P"], missing_value=["N"])
    np.testing.assert_array_equal(values, [1, 0, 0, np.nan])
    assert told == "C read as pass; I, P read as fail; N read as missing"


def test_a_word_that_is_turned_round_is_no_word_any_more():
    """Is there an error? No."""
    values, _ = read(["no", "yes", "no"], pass_value="no")
    assert values == [1, 0, 1]
    with refused("verdict", "maybe", "yes", "no", subject="table"):
        read(["no", "yes", "maybe"], pass_value="no")


def test_one_label_that_is_left_is_the_fail_unless_it_says_that_there_is_none():
    assert read(["refusal", "compliance"], pass_value="refusal")[0] == [1, 0]
    assert read([1, -1], pass_value=1)[0] == [1, 0]
    with pytest.raises(bj.InputError, match=r"missing_value=\['INVALID'\]"):
        read(["ok", "INVALID"], pass_value="ok")


def test_1_and_0_beside_a_number_that_is_named_are_grades():
    """Of 1 to 5 the lowest is no pass; a number for no verdict changes nothing."""
    assert read([1, 2], pass_value=2)[0] == [0, 1]
    assert read(["1", "2.0"], fail_value=1, pass_value=2)[0] == [0, 1]
    with refused("verdict", "1", subject="table"):
        read([1, 2, 3, 4, 5], pass_value=[4, 5], fail_value=[2, 3])
    with pytest.raises(bj.InputError, match="numbers found: 0, 1, 2"):
        read([0, 1, 2], pass_value=2)
    np.testing.assert_array_equal(read([0, 1, 9], missing_value=9)[0], [0, 1, np.nan])
    read_beside, _ = read_labels({"v": [1, 2], "t": [1, 0]}, **NOTHING | {"pass_value": 2})
    assert [cells.tolist() for cells in read_beside.values()] == [[0, 1], [1, 0]]


@pytest.mark.parametrize("values", [np.linspace(0, 1, 500), [f"answer {i}" for i in range(500)]])
def test_no_more_than_ten_values_are_printed(values):
    with pytest.raises(bj.InputError) as error:
        read(list(values))
    assert len(str(error.value)) < 700
    assert "490 more" in str(error.value)
    with pytest.raises(bj.InputError) as error:
        read([*values, "yes"], pass_value="ja")
    assert len(str(error.value)) < 1200


def test_n_is_no_beside_y_and_no_answer_alone():
    assert proposed(["N", "Y", "y"]) == {"pass_value": ["Y", "y"], "fail_value": ["N"]}
    assert proposed(["N", "P"]) == {"fail_value": ["P"], "missing_value": ["N"]}


def test_what_differs_by_case_or_blanks_only_is_read_as_the_label_that_is_named():
    labels = ["unsafe", "UNSAFE", "Safe ", "safe", "Error:  Timeout"]
    named = {"pass_value": "safe", "fail_value": "unsafe", "missing_value": "ERROR: timeout"}
    values, told = read(labels, **named)
    np.testing.assert_array_equal(values, [0, 0, 1, 1, np.nan])
    assert told.startswith("Safe, safe read as pass; UNSAFE, unsafe read as fail")
    assert read(labels[:-1], pass_value="safe")[0] == [0, 0, 1, 1]  # one label is left
    # both spellings named: they are two labels
    assert read(["a", "A"], pass_value="a", fail_value="A")[0] == [1, 0]
    with refused("verdict", "b", subject="table"):
        read(["a", "A", "b", "Ä"], pass_value="a", fail_value="A")


def test_spellings_of_one_label_are_proposed_together():
    found = proposed(["Safe", "UNSAFE", "safe", "unsafe", "ERROR: timeout"])
    assert found == {
        "pass_value": ["Safe", "safe"],
        "fail_value": ["UNSAFE", "unsafe"],
        "missing_value": ["ERROR: timeout"],
    }
    assert proposed(["P", "p"]) == {"fail_value": ["P", "p"]}  # as of one that is left over


def test_a_word_beside_fails_only_is_proposed_as_a_pass_and_beside_passes_as_a_fail():
    columns = {"v": ["resolved", "failed"], "t": ["yes", "no"]}
    assert proposed(["resolved"], columns.values()) == {"pass_value": ["resolved"]}
    meant = {"pass_value": ["OK", "resolved"]}
    assert proposed(["OK", "resolved"], [["resolved", "failed"], ["OK", "Fail"]]) == meant
    turned = proposed(["blocked", "nope"], [["blocked", "passed"], ["yes", "nope"]])
    assert turned == {"fail_value": ["blocked", "nope"]}
    for labels in (["half", "yes", "no"], ["half", "yes"], ["half"]):  # no full pass
        assert proposed(["half"], [labels]) == {"fail_value": ["half"]}
    for partial in ("P", "partial"):
        assert proposed([partial], [[partial, "I"]]) == {"fail_value": [partial]}
    with pytest.raises(bj.InputError, match=r"pass_value=\['resolved'\]; move"):
        read(["resolved", "failed", "failed"])


@pytest.mark.parametrize(
    ("good", "bad"),
    [("success", "failure"), ("valid", "invalid"), ("ok", "ko"), ("Accepted", "declined")],
)
def test_a_pass_is_not_the_first_by_the_alphabet(good, bad):
    assert proposed(sorted([good, bad])) == {"pass_value": [good], "fail_value": [bad]}
    assert proposed(["invalid"]) == {"missing_value": ["invalid"]}


def test_objects_for_labels_name_their_fields():
    cell = '{"label": "good", "why": "so"}'
    for call, more in (
        (bj.prevalence.Counts.from_frame, {}),
        (bj.prevalence.classes.ClassCounts.from_frame, {"classes": ["good", "bad"]}),
    ):
        table = pd.DataFrame({"judge": [cell, cell], "truth": ["good", None]})
        with pytest.raises(bj.InputError) as error:
            call(table, verdict="judge", calibration="random", **more)
        (told,) = map(str, error.value.problems)
        assert told.endswith("name a field of them, 'judge.label', 'judge.why'")


def test_a_third_spelling_of_two_labels_is_neither():
    look_up = by_spelling({"Yes": 1, "yes": 0, "No": 2})
    assert [look_up(label) for label in ("Yes", "yes", "YES", " no ")] == [1, 0, None, 2]


def test_a_dash_is_proposed_as_nothing_but_beside_a_plus():
    assert proposed(["-", "–"]) == {"missing_value": ["-", "–"]}
    assert proposed(["+", "-"]) == {"pass_value": ["+"], "fail_value": ["-"]}


def test_a_dash_is_the_other_label_of_a_plus_only():
    how = {"pass_value": "+", "fail_value": None, "missing_value": None}
    assert list(read_labels({"v": ["+", "-"]}, **how)[0]["v"]) == [1, 0]
    with refused("-", "v", subject="table"):
        read_labels({"v": ["fine", "-"]}, **how | {"pass_value": "fine"})
