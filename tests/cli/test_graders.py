"""Which columns are graders, which of them are people, and what response sets hold."""

import pytest

from bayesjudge.cli.shapes import Reading
from bayesjudge.cli.shapes.of_ratings import answers_like, matches, parts_of, separator_in
from bayesjudge.cli.shapes.table import Column, Table


@pytest.mark.parametrize(("raters", "lines"), [(("ann", "gpt"), 0), (("ann", "bob"), 0),
    (("ann", "bob", "gpt"), 1), (("ann", "gpt", "claude"), 1)])  # fmt: skip
def test_one_judge_needs_two_people_and_two_judges_one(raters, lines):
    """One judge is compared with how people agree among themselves, two with each other."""
    rows = [(str(i), who, ["spam", "ok", "abuse"][i % 3]) for i in range(20) for who in raters]
    columns = dict(
        zip(("item", "rater", "choice"), map(list, zip(*rows, strict=True)), strict=True)
    )
    found = matches(Table(columns, item="item", path="F"))
    assert sum(isinstance(one, Reading) for one in found) == lines


def test_one_word_in_common_makes_no_grader():
    answers = {"human": {"ok", "late"}, "gpt": {"ok", "spam", "abuse"}}
    table = Table({name: sorted(words) for name, words in answers.items()})
    assert not answers_like("human", ["gpt"], answers, table)
    answers["human"] = {"ok", "spam"}
    assert answers_like("human", ["gpt"], answers, table)


def test_words_that_say_nothing_are_no_options():
    assert parts_of("spam | n/a|", "|") == {"spam"}
    assert parts_of("timeout", "") == set()


def test_sentences_with_a_comma_are_no_response_sets():
    sentences = ["good, thanks", "no, never", "well, then", "yes, please"]
    assert separator_in(Column("said", sentences)) == ""
    assert separator_in(Column("tags", ["spam, ok", "ok, abuse", "spam", ""])) == ","
