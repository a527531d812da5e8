"""What the shape of a table tells: a vote of each judge, answers of one judge side by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

#: Columns that count repeats, by words of the column's name.
REPEATS = {"call", "repeat", "rep", "run", "trial", "attempt", "epoch", "try", "iteration"}
#: What a column of judges, or of what they judge, may be called, as words of its name.
JURORS = {"juror", "judge", "grader", "rater", "evaluator", "assessor", "critic", "panelist",
          "referee", "voter", "scorer", "annotator"}  # fmt: skip
MAKERS = {"system", "model", "generator", "candidate", "assistant", "bot", "agent", "checkpoint",
          "policy", "engine", "setup", "arm", "config", "prompt", "variant", "version",
          "experiment", "condition", "treatment", "llm", "lm", "pipeline", "release",
          "branch"}  # fmt: skip
#: Columns that sort items, and name nothing that made them, as words of the name.
TOPICS = {"topic", "category", "subject", "split", "language", "lang", "domain", "tag", "group",
          "difficulty", "type", "kind", "source", "dataset", "task", "class", "level", "week",
          "month", "date", "day", "region", "country", "product", "channel", "team", "tier",
          "status", "priority", "severity", "gold", "answer", "reference", "expected", "target",
          "label", "correct", "truth"}  # fmt: skip
#: What is changed about one item, as words of a column's name.
CHANGES = {"edit", "perturbation", "change", "rewrite", "style", "format", "order", "position"}
#: What an unchanged version is called for certain, or perhaps, and what a changed one is called.
UNCHANGED = {"before", "original", "orig", "unchanged", "unmodified", "unedited", "unperturbed"}
PERHAPS = {"baseline", "base", "plain", "control", "pre", "a", "old"}
CHANGED = {"after", "changed", "modified", "edited", "perturbed", "perturbation", "variant",
           "altered", "rewritten", "rephrased", "paraphrased", "paraphrase", "reworded",
           "reformatted", "reordered", "shuffled", "swapped", "noisy", "typo", "typos", "longer",
           "shorter", "verbose", "padded", "translated"}  # fmt: skip
#: What goes with such a name, and nothing else does.
PARTNERS = {"before": "after", "pre": "post", "a": "b", "old": "new"}
#: Most values of a column of judges, and of one of what made the outputs.
MOST_JUDGES, MOST_MAKERS = 12, 50


class Jury(NamedTuple):
    """Columns of a table with one row a vote: of the judge, and of what made the output."""

    judge: str
    generator: str | None
    told: str


def words_of(name: str) -> list[str]:
    """Words of a name, in lower case: ``asked_at`` and ``askedAt`` have two."""
    return re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def jury_in(
    columns: Mapping[str, list[str]],
    item: str,
    system: str | None,
    among: Sequence[str],
    labels: Mapping[str, list[str]],
) -> Jury | None:
    """The column of which each output has every value once, if its values are those of judges.

    They are if the column is called so, if another one with few values says what made each item,
    or if people's `labels`, in a file of their own, are of items whatever the value. A column that
    is called a system is none of judges.
    """
    own = [columns[n] for n in (item, system) if n]
    outputs = [" ".join(name) for name in zip(*own, strict=True)]
    votes = [
        n
        for n in among
        if n not in (item, system)
        and 2 <= len({*columns[n]}) <= MOST_JUDGES
        and not {*words_of(n)} & (MAKERS | TOPICS | CHANGES | REPEATS)
        and _once_each(outputs, columns[n])
    ]
    if not votes:
        return None
    judge = min(votes, key=lambda n: not {*words_of(n)} & JURORS)
    makers = [
        n for n, c in columns.items() if n not in (item, judge) and _made(n, columns[item], c)
    ]
    generator = min(makers, key=lambda n: not {*words_of(n)} & MAKERS, default=None)
    kinds = {*columns[judge]}
    of_items = bool(labels) and not any({*cells} & kinds for cells in labels.values())
    if not ({*words_of(judge)} & JURORS or generator or of_items):
        return None
    told = f"{judge} is read as the judge: each {item} has one row of each"
    if generator and generator != system:
        told += f", and {generator}, the same in all rows of one {item}, as what made the output"
    return Jury(
        judge, system or generator, f"{told}; if {judge} made the outputs: --generator {judge}"
    )


def _once_each(items: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether an item has each of some values once, but for some rows lost."""
    pairs = Counter(zip(items, cells, strict=True))
    several = len(pairs) > 1.5 * len({*items})
    return "" not in cells and several and max(pairs.values()) == 1


def _made(name: str, items: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether a column may say what made an item: few words, the same in all rows of one."""
    kinds, words = {*cells}, {*words_of(name)}
    few = 2 <= len(kinds) <= MOST_MAKERS and "" not in kinds and 2 * len(kinds) < len({*items})
    called = not words & TOPICS and (words & MAKERS or not all(map(_is_number, kinds)))
    return bool(few and called) and len({*zip(items, cells, strict=True)}) == len({*items})


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d*)?", cell))


class Versions(NamedTuple):
    """Columns of one score of an item in several versions, the unchanged one's first."""

    columns: list[str]
    #: Whether names leave no doubt that an item was changed, and is no other system's.
    sure: bool


def versions_in(names: Sequence[str]) -> Versions | None:
    """Columns whose names are alike but for what was done to the item, such as before and after.

    Examples
    --------
    >>> versions_in(["score_before", "score_after", "seconds"])
    Versions(columns=['score_before', 'score_after'], sure=True)
    >>> versions_in(["score_a", "score_b"]).sure
    False
    >>> versions_in(["helpfulness", "clarity"])
    """
    words = {name: words_of(name) for name in names}
    for first, own in words.items():
        said = next((word for word in own if word in UNCHANGED | PERHAPS), None)
        if said is None:
            continue
        alike = {*own} - {said}
        others = [n for n in names if n != first and alike < {*words[n]}]
        partner = PARTNERS.get(said)
        paired = [n for n in others if partner in words[n]]
        changed = [n for n in others if {*words[n]} & CHANGED]
        if said in PERHAPS and partner:
            others = paired
        elif not alike or paired:
            others = paired or changed
        if others:
            sure = said in UNCHANGED or len(changed) == len(others)
            return Versions([first, *others], sure)
    return None


def numbered(names: Iterable[str]) -> dict[str, list[str]]:
    """Columns whose names are alike but for a number that counts from 0 or 1, by what is alike.

    Examples
    --------
    >>> numbered(["id", "run1", "run2", "run3", "gpt4", "gpt5"])
    {'run#': ['run1', 'run2', 'run3']}
    """
    found: dict[str, dict[int, str]] = {}
    for name in names:
        for part in re.finditer(r"\d{1,3}", name):
            alike = f"{name[: part.start()]}#{name[part.end() :]}"
            found.setdefault(alike, {})[int(part[0])] = name
    return {
        alike: [own[n] for n in sorted(own)]
        for alike, own in found.items()
        if len(own) > 1 and min(own) in (0, 1) and max(own) - min(own) == len(own) - 1
    }


def are_repeats(alike: str) -> bool:
    """Whether what is alike in columns' names says that one judge was asked again."""
    return bool({*words_of(alike)} & (REPEATS | {f"{word}s" for word in REPEATS}))
