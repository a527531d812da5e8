"""Sentences of cautions and assumptions: each is raised, and each that is raised formats."""

import ast
import functools
from collections import defaultdict
from pathlib import Path
from string import Formatter

import pytest

import bayesjudge as bj
from bayesjudge.core.estimate import of_passes, words_of_passes
from bayesjudge.core.words import glossary, sentence, sentences, words_for

PACKAGE = Path(bj.__file__).parent
KINDS = {"cautions": bj.Caution, "assumptions": bj.Assumption}


@functools.cache
def calls(kind):
    """Every call that makes a `kind` of the package's own: its file, id, variant and fields."""
    return [*_calls(kind)]


def _calls(kind):
    name = KINDS[kind].__name__
    for path in sorted(PACKAGE.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        made = f"{name}(" in code or f"{name}.of(" in code
        for call in ast.walk(ast.parse(code)) if made else ():
            if not isinstance(call, ast.Call):
                continue
            called = ast.unparse(call.func)
            assert called != name or path.name == "storage.py", f"{path}: a text of its own"
            if called == f"{name}.of":
                id_, *variant = call.args
                assert isinstance(id_, ast.Constant), f"{path}:{call.lineno}: an id that varies"
                yield path, id_.value, variant, {one.arg for one in call.keywords}


def variants_of(expression):
    """Which constants an expression can be; none if the code does not say."""
    if isinstance(expression, ast.IfExp):
        return variants_of(expression.body) | variants_of(expression.orelse)
    return {expression.value} if isinstance(expression, ast.Constant) else set()


def fields_of(template):
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


@pytest.mark.every_setting
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_is_raised_explained_and_worded_and_no_other(kind):
    raised = {id_ for _, id_, _, _ in calls(kind)}
    assert raised == set(glossary(kind))
    assert raised == set(sentences(kind))


@pytest.mark.every_setting
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_has_the_fields_that_its_calls_fill(kind):
    raised = defaultdict(set)
    for path, id_, variant, given in calls(kind):
        templates = sentences(kind)[id_]
        if isinstance(templates, str):
            assert not variant, f"{path}: {id_} has one sentence"
            templates = {"": templates}
        names = (variants_of(variant[0]) or set(templates)) if variant else {""}
        raised[id_] |= names
        for name in names:
            wanted, told = fields_of(templates[name]), f"{path}: {id_}, {name!r}"
            optional = {"place", "where"} if "where" in given else set()
            assert None in given or wanted - optional == given - optional, told
    for id_, templates in sentences(kind).items():
        assert raised[id_] == (set(templates) if isinstance(templates, dict) else {""}), id_


@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_formats_whatever_its_numbers(kind):
    for id_, templates in sentences(kind).items():
        for variant, template in (
            templates.items() if isinstance(templates, dict) else [("", templates)]
        ):
            parts = [one for one in Formatter().parse(template) if one[1] is not None]
            numbers = {
                name: ["a", "b"] if conversion in ("j", "q") else 3 if form or conversion else "x"
                for _, name, form, conversion in parts
            }
            text = sentence(kind, id_, variant, numbers)
            assert "{" not in text or id_ == "polarity", text
            assert text.strip() == text
            assert not text.endswith("."), text


def test_a_count_has_its_noun_and_names_are_joined():
    words = {"left_out": 1, "few": "no item"}
    assert "1 annotator " in sentence("cautions", "few-items", "", words)
    assert "2 annotators are " in sentence("cautions", "few-annotators", "", {"annotators": 2})
    assert " a, b " in sentence("cautions", "not-mixed", "tracking", {"judges": ["a", "b"]})


def test_a_caution_keeps_its_numbers_and_where_it_is():
    made = bj.Caution.of("unpaired-outputs", left=3, rows=1200)
    template = sentences("cautions")["unpaired-outputs"]
    assert made.text == template.format(left=3, rows=1200)
    assert "1,200" in made.text
    assert made.numbers == {"left": 3, "rows": 1200}
    assert made.within("a", ("a",)).text == f"a: {made.text}"
    assert made.within("a", ("a",)).where == ("a",)
    assert made == bj.Caution(made.id, made.text)


def test_what_contradicts_an_assumption_is_a_caution_of_the_package():
    for assumption, against in glossary("contradicted_by").items():
        assert assumption in sentences("assumptions"), assumption
        assert set(against) <= set(sentences("cautions")), assumption


#: Tables of words that stand beside numbers of outputs that people pass, by whatever name.
BESIDE = ("models", "quantities", "of_bias", "of_judge", "of_counts", "of_items", "of_people")


@pytest.mark.parametrize("name", ["unsafe", "a {good} c"])
def test_words_of_good_outputs_name_what_people_call_a_pass(name):
    changed = 0
    for template in (text for table in BESIDE for text in words_for(table).values()):
        plain, named = of_passes(template), of_passes(template, name)
        words = fields_of(template)
        assert words <= set(words_of_passes("")), template
        assert "{" not in plain.replace(name, "")
        assert (repr(name) in named) == ("good" in words), template
        assert "good outputs" not in named
        assert "bad outputs" not in named
        changed += plain != named
    assert changed == 19
