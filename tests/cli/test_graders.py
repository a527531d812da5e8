"""Which columns are graders, which of them are people, and what response sets hold."""

import pytest

from bayesjudge.cli import graders
from bayesjudge.cli.proposals import Findings
from bayesjudge.cli.roles import Roles


@pytest.mark.parametrize(("raters", "lines"), [(("ann", "gpt"), 0), (("ann", "bob"), 0),
    (("ann", "bob", "gpt"), 1), (("ann", "gpt", "claude"), 1)])  # fmt: skip
def test_one_judge_needs_two_people_and_two_judges_one(raters, lines, monkeypatch):
    """One judge is compared with how people agree among themselves, two with each other."""
    proposed = []
    monkeypatch.setattr(graders, "try_ratings", lambda line, *_: proposed.append(line))
    rows = [(str(i), who, ["spam", "ok", "abuse"][i % 3]) for i in range(20) for who in raters]
    columns = dict(
        zip(("item", "rater", "choice"), map(list, zip(*rows, strict=True)), strict=True)
    )
    graders.propose_ratings("F", Roles(columns, item="item"), Findings("a table"))
    assert len(proposed) == lines


def test_one_word_in_common_makes_no_grader():
    answers = {"human": {"ok", "late"}, "gpt": {"ok", "spam", "abuse"}}
    columns = {name: sorted(words) for name, words in answers.items()}
    assert not graders._answers_like("human", ["gpt"], answers, columns)
    answers["human"] = {"ok", "spam"}
    assert graders._answers_like("human", ["gpt"], answers, columns)


def test_words_that_say_nothing_are_no_options():
    assert graders.parts_of("spam | n/a|", "|") == {"spam"}
    assert graders.parts_of("timeout", "") == set()


def test_sentences_with_a_comma_are_no_response_sets():
    assert graders.separator_in(["good, thanks", "no, never", "well, then", "yes, please"]) == ""
    assert graders.separator_in(["spam, ok", "ok, abuse", "spam", ""]) == ","
