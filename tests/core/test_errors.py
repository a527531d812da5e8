"""What the package refuses: all that is wrong with one input, as fields."""

import pickle

import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge import attempts, judge, prevalence
from bayesjudge.core.errors import Problem, checking
from bayesjudge.prevalence import classes, scores

TABLE = pd.DataFrame({"verdict": [1, 0, 1], "truth": [1, 0, None]})
NOT_THERE = {"verdict": "verdct", "truth": "truht"}
READERS = {
    "Verdicts": (bj.Verdicts.from_frame, NOT_THERE),
    "Counts": (prevalence.Counts.from_frame, NOT_THERE),
    "ClassCounts": (classes.ClassCounts.from_frame, NOT_THERE | {"classes": ["a", "b"]}),
    "Scores": (scores.Scores.from_frame, {"score": "verdct", "truth": "truht", "scale": (0, 1)}),
    "Judged": (judge.Judged.from_frame, NOT_THERE),
    "Attempts": (attempts.Attempts.from_frame, NOT_THERE | {"task": "tsk"}),
}


@pytest.mark.parametrize("reader", READERS)
def test_an_unknown_design_is_refused_with_the_columns_that_are_not_there(reader):
    read, columns = READERS[reader]
    with pytest.raises(bj.InputError) as refused:
        read(TABLE, calibration="rndom", **columns)
    problems = refused.value.problems
    (design,) = (one for one in problems if one.id == "unknown-calibration")
    assert (design.argument, design.value) == ("calibration", "rndom")
    assert {"random", "by_truth", "separate", "by_verdict"} <= set(design.known)
    missing = {one.value for one in problems if one.id == "no-column"}
    named = {name for name in columns.values() if isinstance(name, str)}
    assert missing >= {"verdct"}
    assert missing <= named
    assert len(problems) == 1 + len(missing)
    assert all(str(one) in str(refused.value) for one in problems)


def test_what_was_wrong_before_an_error_is_raised_with_it():
    inner = Problem("c", "of-c", value=3)

    def refuse(before):
        with checking("a") as require:
            require(before, "b")
            raise bj.UninformativeJudgeError("x", [inner])

    with pytest.raises(bj.UninformativeJudgeError) as refused:
        refuse(before=False)
    assert (refused.value.subject, refused.value.problems[1]) == ("a", inner.of("x"))
    assert str(refused.value) == "a: b; x: c"
    with pytest.raises(bj.UninformativeJudgeError) as refused:
        refuse(before=True)
    assert str(refused.value) == "x: c"


def test_an_error_comes_out_of_another_process_whole():
    error = bj.InputError("a", ["b", Problem("c", "of-c", "argument", 3, ("d",))])
    again = pickle.loads(pickle.dumps(error))
    assert (again.subject, again.problems, str(again)) == ("a", error.problems, "a: b; c")
    assert again.has("of-c", value=3)
    assert not again.has("of-c", value=4)


def test_a_sentence_is_a_template_that_python_and_a_shell_fill_otherwise():
    given = Problem("fits", "", "width", 3, predicate=True)
    assert str(given) == "width fits, got 3"
    assert given.in_words(lambda name, value: f"--{name}") == "--width fits, got 3"
    marks = []
    text = "a=1.5, b=['x', 'y'], c=['z'], d='u v' (e=) f= g=h"
    written = Problem(text).in_words(lambda *mark: marks.append(mark) or f"<{mark[0]}>")
    assert marks == [
        ("a", "1.5"), ("b", "['x', 'y']"), ("c", "['z']"), ("d", "'u v'"), ("e", ""), ("f", ""),
    ]  # fmt: skip
    assert written == "<a>, <b> <c>, <d> (<e>) <f> g=h"
    assert Problem(text).in_words() == text


def test_a_requirement_is_a_sentence_an_argument_or_an_id():
    def ask():
        with checking("a") as require:
            require(True, "never", n=1)
            require(False, "plain", "its-id")
            require(False, "is 1", n=0)
            require(False, "in-use", path="x")

    with pytest.raises(bj.InputError) as refused:
        ask()
    plain, argument, worded = refused.value.problems
    assert (str(plain), plain.id, plain.argument) == ("plain", "its-id", "")
    assert str(argument) == "n is 1, got 0"
    assert (argument.argument, argument.value) == ("n", 0)
    assert (worded.id, worded.numbers, "'x'" in str(worded)) == ("in-use", {"path": "x"}, True)
    assert worded.of("b") == Problem(f"b: {worded}", "in-use", numbers={"path": "x"})
