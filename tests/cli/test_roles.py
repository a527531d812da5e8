"""What a column is for is told by its name and its cells."""

import numpy as np
import pytest

from bayesjudge.cli.shapes.common import values
from bayesjudge.cli.shapes.of_orders import in_both_orders
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.shapes.table import Table
from bayesjudge.cli.shapes.words import is_model, says_judge, words_of


def _table(rows=60, **columns):
    return {name: [str(cell(i)) for i in range(rows)] for name, cell in columns.items()}


def test_numbers_that_only_tell_rows_apart_are_no_scores():
    table = _table(doc=lambda i: 1001 + i, run_id=lambda i: i % 9, latency_ms=lambda i: i % 7 * 100,
                   quality=lambda i: 1 + i % 5, chance=lambda i: i / 60)  # fmt: skip
    assert describe(table).scores == ["quality", "chance"]


def test_labels_of_a_sample_are_people_s_without_being_called_so():
    table = _table(
        key=lambda i: f"k{i}",
        checked=lambda i: ("yes", "no")[i % 2] if i % 5 == 0 else "",
        auto_grade=lambda i: ("yes", "no")[i % 3 > 0],
    )
    roles = describe(table)
    assert (roles.truths, roles.verdicts) == (["checked"], ["auto_grade"])
    assert roles.guessed
    assert not describe(table, ["checked"]).guessed


def test_a_column_that_each_item_has_once_a_value_is_of_systems_or_of_versions():
    scores = {"item": lambda i: i // 2, "score": lambda i: 1 + i % 5}
    systems = _table(**scores, setup=lambda i: ("new", "old")[i % 2])
    changed = _table(**scores, setup=lambda i: ("longer", "original")[i % 2])
    assert describe(systems).system == "setup"
    assert describe(systems).variant is None
    assert (describe(changed).variant, describe(changed).baseline) == ("setup", "original")
    assert not describe(changed).repeats
    assert describe({n: c for n, c in changed.items() if n != "setup"}).repeats


def test_an_annotator_s_verdict_is_a_person_s_and_a_model_s_is_a_judge_s():
    table = _table(**{
        "annotator verdict": lambda i: ("good", "bad")[i % 2],
        "llm reviewer": lambda i: ("good", "bad")[i % 3 > 0],
    })  # fmt: skip
    roles = describe(table)
    assert (roles.truths, roles.verdicts) == (["annotator verdict"], ["llm reviewer"])


def test_rows_that_are_counted_within_an_item_are_repeats():
    counted = {"essay": lambda i: f"e{i // 4}", "score": lambda i: 1 + i * 7 % 5}
    for name, first in (("n", 1), ("call", 1), ("run", 0)):
        table = _table(**counted, **{name: lambda i, first=first: i % 4 + first})
        roles = describe(table)
        assert (roles.item, roles.order, roles.scores) == ("essay", name, ["score"])
        assert roles.repeats
        assert roles.system is None
    for name, first in (("setup", 0), ("rank", 1), ("turn", 1), ("user", 1), ("rater", 1)):
        roles = describe(_table(**counted, **{name: lambda i, first=first: i % 4 + first}))
        assert roles.counter is None, name
    arms = _table(item=lambda i: i // 2, score=lambda i: i % 5, arm=lambda i: 1 + i % 2)
    assert (describe(arms).counter, describe(arms).system) == (None, "arm")
    graded = _table(essay=lambda i: f"e{i // 5}", run=lambda i: 1 + i % 5,
                    grade=lambda i: "PF"[i % 7 % 2])  # fmt: skip
    assert (describe(graded).item, describe(graded).verdicts) == ("essay", ["grade"])
    assert not describe(graded).scores  # the number of the call
    judged = _table(**counted, n=lambda i: i % 4 + 1, human=lambda i: ("yes", "no")[i % 2])
    assert describe(judged).counter is None


def test_numbers_of_raters_are_no_scores():
    table = _table(item=lambda i: i // 5, rater=lambda i: 1 + i % 5)
    assert not describe(table).scores
    assert describe(_table(item=lambda i: i, judge=lambda i: 1 + i % 5)).scores == ["judge"]


def test_a_judge_s_column_of_what_people_say_holds_verdicts_and_no_names():
    kinds = ("right", "partly right", "wrong")
    table = _table(judge=lambda i: kinds[i % 3].title(), human=lambda i: kinds[i % 4 % 3])
    assert (describe(table).verdicts, describe(table).judge) == (["judge"], None)
    people = _table(judge=lambda i: ("ann", "bob", "eve")[i % 3], human=lambda i: kinds[i % 3])
    assert describe(people).judge == "judge"


def test_items_are_what_each_engine_has_once():
    crossed = _table(
        seg=lambda i: f"s{i % 30}",
        engine=lambda i: ("nmt", "llm-2026")[i // 30],
        metric_score=lambda i: 40.5 + i % 7,
        expert_score=lambda i: 40 + i % 9 if i % 4 == 0 else "",
    )
    assert (describe(crossed).item, describe(crossed).system) == ("seg", "engine")
    once = crossed | {"seg": [f"s{i}" for i in range(60)]}
    assert (describe(once).item, describe(once).system) == (None, None)
    counted = crossed | {"engine": [str(1 + i // 30) for i in range(60)]}
    counted = {"run" if n == "engine" else n: cells for n, cells in counted.items()}
    assert describe(counted).system is None


def test_a_column_named_llm_holds_systems_or_verdicts():
    said = {"question_id": lambda i: i % 20, "gpt": lambda i: ("bad", "good")[i % 7 % 2],
            "gemini": lambda i: ("bad", "good", "n/a")[min(i % 5, 2)]}  # fmt: skip
    for names in (("alpha", "beta", "gamma"), ("alpha", "beta")):
        table = _table(len(names) * 20, llm=lambda i, names=names: names[i // 20], **said)
        roles = describe(table)
        assert (roles.verdicts, roles.system, roles.repeats) == (["gpt", "gemini"], "llm", False)
    roles = describe(_table(20, llm=lambda i: ("good", "bad")[i % 3 % 2], **said))
    assert (roles.verdicts, roles.system) == (["llm", "gpt", "gemini"], None)
    people = {"human": lambda i: ("ok", "not ok")[i % 2], "gpt": lambda i: ("OK", "not OK")[i % 2]}
    kept = describe(_table(20, claude=lambda i: ("fine", "harmful")[i % 3 % 2], **people))
    assert kept.verdicts == ["claude", "gpt"]  # other words of two answers


def test_a_word_for_nothing_beside_grades_is_an_empty_cell():
    """However rare it is; beside other words it may be one of them."""
    table = _table(essay=lambda i: f"e{i}", gpt_grade=lambda i: "N/A" if i % 20 == 7 else 1 + i % 5,
                   genre=lambda i: "n/a" if i % 20 == 7 else ("ode", "tale")[i % 2])  # fmt: skip
    roles = describe(table)
    assert roles.scores == ["gpt_grade"]
    assert roles.columns["gpt_grade"].count("") == 3
    assert roles.columns["genre"].count("n/a") == 3


def test_names():
    models = ("gpt-5", "Llama-3", "meta-llama", "claude", "o3-mini", "Qwen2")
    assert all(map(is_model, models))
    assert not any(map(is_model, ("ann", "bob", "gloria", "novak's", "photo 1")))
    assert words_of("askedAt") == words_of("asked_at") == ["asked", "at"]


def test_what_a_judge_s_column_holds_tells_people_s_labels_whatever_they_are_called():
    """Two words on a part of the rows that go with the verdicts; the verdicts' own words."""
    said = [int(i % 3 > 0) for i in range(300)]
    checked = {"ticket": lambda i: f"T{i}", "bot_reply_ok": lambda i: said[i]}
    people = {
        "agent_check": lambda i: ("not ok", "ok")[said[i] ^ (i % 11 == 0)] if i % 4 == 0 else ""
    }
    roles = describe(_table(300, **checked, **people))
    assert (roles.truths, roles.verdicts) == (["agent_check"], ["bot_reply_ok"])
    assert roles.guessed
    # two words that have nothing to do with the verdicts, or only stand where it fails
    other = {"channel": lambda i: ("web", "app")[i // 4 % 2] if i % 4 == 0 else ""}
    fails = {"reason": lambda i: ("slow", "rude")[i % 2] if not said[i] else ""}
    assert describe(_table(300, **checked, **other, **fails)).truths == []

    words = ("helpful", "unhelpful")
    turns = {"conversation": lambda i: i // 8, "turn": lambda i: i % 8,
             "judge": lambda i: words[i % 3 > 1]}  # fmt: skip
    rated = {"rater": lambda i: words[i % 5 > 3] if i // 8 % 4 == 0 else ""}
    roles = describe(_table(320, **turns, **rated))
    assert (roles.item, roles.verdicts, roles.truths) == ("conversation", ["judge"], ["rater"])
    assert roles.judge is None
    assert describe(_table(320, **turns)).verdicts == ["judge"]
    # with verdicts of another name, or names of models, a judge is who judged
    named = turns | {"vote": lambda i: ("pass", "fail")[i % 2]}
    assert describe(_table(320, **named)).judge == "judge"
    models = turns | {"judge": lambda i: ("gpt-5", "claude")[i % 2]}
    assert describe(_table(320, **models)).verdicts == []


def test_columns_of_several_judges_grades_that_are_no_judge_s_are_people_s():
    grade = [1 + i * 7 % 5 for i in range(100)]
    judges = {f"judge_{name}": lambda i, k=k: min(5, grade[i] + (i % k == 0))
              for k, name in enumerate(("gpt", "claude", "llama"), 3)}  # fmt: skip
    people = {"Anna": lambda i: grade[i], "Ben": lambda i: grade[i] if i % 6 else ""}
    roles = describe(_table(100, essay=lambda i: i, **judges, **people))
    assert (roles.scores, roles.truths) == ([*judges], ["Anna", "Ben"])
    # one judge's criteria, numbers on another scale, and numbers of nothing
    one = describe(_table(100, essay=lambda i: i, judge_gpt=judges["judge_gpt"], **people))
    assert one.truths == []
    others = {
        "tone": people["Anna"],
        "pages": lambda i: grade[i] * 2,
        "floor": lambda i: 1 + i // 20,
    }
    assert describe(_table(100, essay=lambda i: i, **judges, **others)).truths == []


def test_verdicts_on_two_answers_in_both_orders_are_seen_by_what_columns_hold():
    names = ("tuned", "base")
    cells = {"prompt": lambda i: f"p{i // 2}", "shown_1": lambda i: names[i % 2],
             "shown_2": lambda i: names[1 - i % 2], "day": lambda i: i // 30,
             "said": lambda i: ("A", "tie", "B")[i % 7 % 3]}  # fmt: skip
    seen = in_both_orders(Table(_table(**cells)))
    assert seen == ("prompt", "shown_1", "shown_2", "said", ("A", "B"), ("tie",))
    words = cells | {"said": lambda i: ("Answer 1", "Answer 2")[i % 3 % 2]}
    assert in_both_orders(Table(_table(**words))).places == ("Answer 1", "Answer 2")
    once = {n: cells[n] for n in ("shown_1", "shown_2", "said")} | {"prompt": lambda i: i}
    graded = cells | {"said": lambda i: ("good", "bad")[i % 2]}
    same = cells | {"shown_2": lambda i: names[i // 2 % 2]}  # some answers compared with themselves
    for other in (once, graded, same):
        assert in_both_orders(Table(_table(**other))) is None


@pytest.mark.slow
def test_rows_labelled_one_by_one_are_seldom_taken_for_whole_groups():
    """Conversations, pairs, days, topics and notes of 40 to 400 rows, 1 to 60 % labelled.

    Found: of 4,000 tables labelled row by row none, of 500 whose conversations were labelled as a
    whole 458; a column may be wrong with a probability of .001.
    """
    rng = np.random.default_rng(1)

    def table():
        n = int(rng.integers(40, 400))
        sizes = rng.geometric(1 / rng.uniform(1, 10), n)
        columns = {
            "conversation": np.repeat(np.arange(n), sizes)[:n],
            "topic": rng.integers(0, int(rng.integers(10, 30)), n),
            "pair": np.arange(n) // 2,
            "note": np.where(
                rng.random(n) < rng.uniform(0.1, 0.9), "same", np.arange(n).astype(str)
            ),
            "day": np.sort(rng.integers(0, int(rng.integers(10, 60)), n)),
        }
        return {name: [str(cell) for cell in cells] for name, cells in columns.items()}, n

    runs, alarms, seen = 150, 0, 0
    for _ in range(runs):
        columns, n = table()
        drawn = rng.choice(n, max(int(rng.uniform(0.01, 0.6) * n), 2), replace=False)
        columns["human"] = ["yes" if i in {*drawn} else "" for i in range(n)]
        alarms += Table(columns).labelled_together("human") is not None
        groups = sorted({*columns["conversation"]})
        some = {*rng.choice(groups, max(int(rng.uniform(0.05, 0.6) * len(groups)), 2))}
        columns["human"] = ["yes" if one in some else "" for one in columns["conversation"]]
        found = Table(columns).labelled_together("human")
        seen += found is not None and found[0] == "conversation"
    most = runs * 5 * 0.001  # of five columns
    assert alarms <= most + 5 * np.sqrt(most)
    assert seen > 0.8 * runs


def test_groups_that_are_labelled_as_a_whole_are_counted():
    columns = {"chat": [str(i // 8) for i in range(480)]}
    columns["human"] = ["yes" if i // 8 % 4 == 0 else "" for i in range(480)]
    assert Table(columns).labelled_together("human") == ("chat", 15, 60)


def test_one_large_group_without_a_label_is_no_sign_of_whole_groups():
    """100 rows of one note, and 400 of their own: 14 labels miss it in 4 % of draws."""
    columns = {"note": ["same"] * 100 + [str(i) for i in range(400)]}
    columns["human"] = [""] * 200 + ["yes" if i % 22 == 0 else "" for i in range(300)]
    assert Table(columns).labelled_together("human") is None


def test_labels_under_a_rater_s_name_and_verdicts_under_any_are_told_by_their_words():
    words = ("Acceptable", "Not acceptable")
    jury = _table(
        item=lambda i: f"p{i}",
        gpt=lambda i: words[i % 3 > 1],
        llama=lambda i: words[i % 4 > 2],
        Annotator=lambda i: words[i % 2] if i % 5 == 0 else "",
    )
    roles = describe(jury)
    assert (roles.truths, roles.verdicts, roles.judge) == (["Annotator"], ["gpt", "llama"], None)
    leaks = _table(doc_id=lambda i: f"d{i}", detector=lambda i: ("LEAK", "clean")[i % 3 > 0],
                   team=lambda i: ("LEAK", "clean")[i % 2] if i % 5 == 0 else "")  # fmt: skip
    roles = describe(leaks)
    assert (roles.truths, roles.verdicts) == (["team"], ["detector"])
    raters = {"item": leaks["doc_id"], "rater": ["ann", "bob"] * 30, "choice": leaks["detector"]}
    assert describe(raters).judge == "rater"


def test_a_dash_is_an_empty_cell_but_beside_a_plus():
    seen = _table(id=lambda i: f"k{i}", auto=lambda i: i % 3 and 1,
                  checked=lambda i: i % 2 if i % 5 == 0 else "-")  # fmt: skip
    roles = describe(seen)
    assert (roles.truths, roles.verdicts) == (["checked"], ["auto"])
    assert roles.absent == {"checked": ["-"]}
    assert roles.columns["checked"][:6] == ["0", "", "", "", "", "1"]
    signed = seen | {"checked": ["+" if c == "1" else "-" for c in seen["checked"]]}
    assert describe(signed).absent == {}
    exported = seen | {"checked": ["NA" if c == "-" else c for c in seen["checked"]]}
    assert describe(exported).absent == {"checked": ["NA"]}


@pytest.mark.parametrize(
    ("name", "words", "options"),
    [
        ("hallucination", "01", {"--pass-value": ["0"], "--fail-value": ["1"]}),
        ("was_flagged", ("False", "True"), {"--pass-value": ["False"], "--fail-value": ["True"]}),
        ("toxic", ("no", "yes"), {"--pass-value": ["no"], "--fail-value": ["yes"]}),
        ("no_error", "01", {}),
        ("failed", ("fail", "pass"), {}),  # words that say it themselves
        ("correct", "01", {}),
    ],
)
def test_a_yes_to_what_is_wrong_is_read_as_a_fail(name, words, options):
    table = describe(
        _table(
            id=lambda i: f"k{i}",
            **{
                f"{name}_judge": lambda i: words[i % 3 > 0],
                f"{name}_human": lambda i: words[i % 2] if i % 5 == 0 else "",
            },
        )
    )
    notes = []
    assert values(table, notes) == options
    assert len(notes) == bool(options)


def test_items_that_count_within_each_of_a_few_systems_are_the_items():
    """The table of ``bayesjudge demo --csv``: 5 systems, each with items 1 to 30."""
    roles = describe(_table(150, item=lambda i: 1 + i % 30, system=lambda i: "vwxyz"[i // 30],
                            verdict=lambda i: ("PASS", "FAIL")[i % 3 > 0],
                            human=lambda i: ("PASS", "FAIL")[i % 2] if i % 4 else ""))  # fmt: skip
    assert (roles.item, roles.system, roles.counter) == ("item", "system", None)


def test_an_evaluation_is_a_judge_s_unless_people_are_named_and_a_scenario_is_an_item():
    table = _table(**{
        "scenario": lambda i: f"s{i // 4}",
        "evaluation.label": lambda i: ("yes", "no")[i % 3 > 0],
        "annotation.label": lambda i: ("yes", "no")[i % 2] if i % 5 == 0 else "",
    })  # fmt: skip
    roles = describe(table)
    assert roles.item == "scenario"
    assert (roles.verdicts, roles.truths) == (["evaluation.label"], ["annotation.label"])
    judged = {
        name: says_judge(name) for name in ("assessment", "human evaluation", "QA assessment")
    }
    assert judged == {"assessment": True, "human evaluation": False, "QA assessment": False}
