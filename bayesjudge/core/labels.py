"""Labels of pass and fail, as people spell them.

Words that say what they mean are read (`WORDS`, in any case); what could mean either is refused,
of all columns at once, with the arguments that say what it means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import InputError, Problem, problem
from bayesjudge.core.grades import grade_of, most_of
from bayesjudge.core.screen import few

if TYPE_CHECKING:
    import pandas as pd

#: Words of pass, each with the fail that it goes with. C and I are Inspect's grades.
WORDS = (
    *(("1", "0"), ("pass", "fail"), ("passed", "failed"), ("yes", "no")),
    *(("correct", "incorrect"), ("good", "bad"), ("c", "i")),
)
#: Words of pass that say what an output is: sentences use them if the file does.
OWN_WORDS = {"correct", "good"}
#: Letters that are pass and fail where both occur, and none of Inspect's C and I: its P is partial.
LETTERS, GRADES = ("p", "f"), {"c", "i"}
#: What stands for nothing, unless it stands beside a plus.
DASHES = {"-", "--", "–", "—"}
#: Words that say that there is no verdict: proposed as such, never read as such.
NO_VERDICT = DASHES | {
    *("invalid", "__invalid__", "error", "unknown", "garbage", "none", "n/a", "-1", "?", "skip"),
    *("skipped", "refusal", "refused", "unparsed", "unsure", "n"),
}
#: Values that a message names before it counts the others.
SHOWN = 10
#: An output with its verdict before it, as promptfoo's tables have them.
GRADED_TEXT = re.compile(r"\[(PASS|FAIL|ERROR)\](?:\s|$)")
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)"


def spell(value: Any) -> str:
    """Write a label so that 1, 1.0, True and "1" are one label, and 0.5 stays what it is."""
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return str(int(value))
    text = str(value).strip()
    if text.lower() in {"true", "false"}:
        return str(int(text.lower() == "true"))
    try:
        number = float(text)
    except ValueError:
        return text
    # larger floats are several whole numbers at once
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else text


def folded(value: Any) -> str:
    """Write labels alike that differ only by case or blanks."""
    return " ".join(spell(value).casefold().split())


def by_spelling[T](means: Mapping[str, T]) -> Callable[[Any], T | None]:
    """Look labels up as they are spelled, or else in other case or blanks, if that is one thing."""
    alike: dict[str, set[T]] = {}
    for label, meaning in means.items():
        alike.setdefault(folded(label), set()).add(meaning)
    only = {label: next(iter(meanings)) for label, meanings in alike.items() if len(meanings) == 1}

    def look_up(label: Any) -> T | None:
        spelled = spell(label)
        return means[spelled] if spelled in means else only.get(folded(label))

    return look_up


class Spelling(dict[str, list[str]]):
    """Which labels were read as what: ``str`` is the sentence, empty if there is nothing to say."""

    def __str__(self) -> str:
        each = ((few(labels, SHOWN), name) for name, labels in self.items() if labels)
        return "; ".join(f"{labels} read as {name}" for labels, name in each)


def respelled(read: Mapping[str, str]) -> Spelling:
    """Tell which labels were read as one that is spelled otherwise."""
    others = Spelling()
    for label, name in sorted(read.items()):
        if label != name:
            others.setdefault(name, []).append(repr(label))
    return others


def pass_name_of(value: Any, spelling: Mapping[str, Sequence[str]] | None = None) -> str:
    """The labels given as pass, for sentences; empty if they are words, letters or numbers for it.

    Of labels that differ only by case or blanks the first stands for all. Of words for pass the
    table's own stands, by the `spelling` that was read, if it is one of `OWN_WORDS`.
    """
    plain = {word for pair in WORDS for word in pair} | {*LETTERS, "y"}
    names = {folded(label): str(label).strip() for label in reversed(listed(value) or ())}
    named = [name for word, name in reversed(names.items()) if word not in plain]
    if not named:
        words = list((spelling or {}).get("pass", ()))
        folds = {folded(word) for word in words}
        return words[0] if len(folds) == 1 and folds <= OWN_WORDS else ""
    if any(re.fullmatch(NUMBER, name) for name in named):
        return ""
    return " or ".join(named[:2]) + " or the like" * (len(named) > 2)


def listed(value: Any) -> list[Any] | None:
    """Values of an argument that takes one or several; None stays None."""
    if value is None:
        return None
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    return list(value) if several else [value]


def read_labels(
    columns: Mapping[str, Sequence[Any]], *, pass_value: Any, fail_value: Any, missing_value: Any
) -> tuple[dict[str, np.ndarray], Spelling]:
    """Read the cells of some columns as 1, 0 and nan, and tell how they were read.

    What the arguments name means that, in all columns, and so does what differs from it only by
    case or blanks. If they name passes only, the only other label of a column is its fail. Other
    labels mean what `WORDS` says, but for the words of a pair that the arguments turn round, and
    for 1 and 0 beside another number that is named: they are grades. An empty cell, None or blank,
    is nan.

    Returns
    -------
    dict of str to numpy.ndarray, Spelling
        Values by column; and which labels were read as pass, fail and missing, but for 1 and 0.
    """
    named = _Named(pass_value, fail_value, missing_value)
    text = {name: [_text(cell) for cell in cells] for name, cells in columns.items()}
    named.read_letters(t for cells in text.values() for t in cells)
    means: dict[str, dict[str, float]] = {}
    unread: dict[str, list[str]] = {}
    for name, cells in text.items():
        distinct = list(dict.fromkeys(t for t in cells if t))
        means[name], unread[name] = named.read(distinct)
    problems: list[str | Problem] = [*named.problems(text)]
    if any(unread.values()):
        problems += _ambiguous(unread, text)
    if problems:
        raise InputError("table", problems)
    values = {
        name: np.array([means[name][t] if t else np.nan for t in cells], float)
        for name, cells in text.items()
    }
    return values, _spelling({t: v for by_text in means.values() for t, v in by_text.items()})


class _Named:
    """What the arguments say that labels mean."""

    def __init__(self, pass_value: Any, fail_value: Any, missing_value: Any):
        given = (pass_value, fail_value, missing_value)
        passes, fails, missing = ({spell(v) for v in listed(labels) or ()} for labels in given)
        self.passes, self.fails, self.missing = passes, fails, missing
        self.means = by_spelling(
            dict.fromkeys(fails, 0.0) | dict.fromkeys(passes, 1.0) | dict.fromkeys(missing, np.nan)
        )
        self.one_left = pass_value is not None and fail_value is None
        self.words: dict[str, float] = {}
        for good, bad in WORDS:
            turned = {p.casefold() for p in passes} & {bad} or {f.casefold() for f in fails} & {
                good
            }
            if not turned:
                self.words |= {good: 1.0, bad: 0.0}

    def read_letters(self, labels: Iterable[str]) -> None:
        """Take P and F for words if labels hold both, and Y and N if Y stands beside yes and no.

        Unless an argument names one of them.
        """
        letters = {label.casefold() for label in labels}
        said = {label.casefold() for label in self.passes | self.fails | self.missing}
        if set(LETTERS) <= letters and not (GRADES & letters or said & set(LETTERS)):
            self.words |= dict(zip(LETTERS, (1.0, 0.0), strict=True))
        if {"y", "yes", "no"} <= letters and not said & {"y", "n"}:
            self.words |= {"y": 1.0, "n": 0.0}

    def read(self, distinct: Sequence[str]) -> tuple[dict[str, float], list[str]]:
        """What each label of a column means, and those of which nobody knows."""
        means: dict[str, float] = {}
        others = []
        for label in distinct:
            meant = self.means(label)
            if meant is None:
                others.append(label)
            else:
                means[label] = meant
        named = {spell(label) for label, meant in means.items() if meant == meant}
        graded = {n for n in named if re.fullmatch(NUMBER, n)} - {"0", "1", "-1"}
        words = [o for o in others if self._is_word(o) and not (graded and spell(o) in ("0", "1"))]
        known = {o: self.words[spell(o).casefold()] for o in words}
        left = {folded(o) for o in others}
        lost = bool((left - {"-1"} - (DASHES if "+" in self.passes else set())) & NO_VERDICT)
        if self.one_left and len(left) == 1 and not lost and 1.0 not in known.values():
            return means | dict.fromkeys(others, 0.0), []
        return means | known, [o for o in others if o not in known]

    def _is_word(self, label: str) -> bool:
        return spell(label).casefold() in self.words

    def problems(self, text: Mapping[str, Sequence[str]]) -> list[Problem]:
        """What the arguments say that cannot be, or of labels that are not there."""
        both = sorted(self.passes & self.fails)
        problems = [problem("pass-and-fail", both=both)] if both else []
        values = dict.fromkeys(spell(t) for cells in text.values() for t in cells if t)
        there = {folded(t) for t in values}
        absent = sorted(label for label in self.passes if folded(label) not in there)
        if absent and values:
            problems.append(problem("no-such-pass", absent=absent, values=_shown(list(values))))
        return problems


def _text(cell: Any) -> str:
    """A label as it stands in the table, without blanks around it; empty if there is none."""
    if isinstance(cell, float | np.floating):
        return "" if cell != cell else f"{cell:.15g}"
    text = "" if cell is None else str(cell).strip()
    begins = GRADED_TEXT.match(text)
    return begins[1] if begins else text


def _shown(labels: Iterable[str]) -> str:
    return few([repr(label) for label in labels], SHOWN)


def _ambiguous(
    unread: Mapping[str, list[str]], text: Mapping[str, list[str]]
) -> list[str | Problem]:
    """What could not be read in which columns, and one line of arguments that would say."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, texts in unread.items():
        if texts:
            alike.setdefault(tuple(sorted(texts)), []).append(name)
    objects = {
        labels: hint for labels, names in alike.items() if (hint := objects_in(names[0], labels))
    }
    problems: list[str | Problem] = list(objects.values())
    scores = False
    alike = {labels: names for labels, names in alike.items() if labels not in objects}
    for labels, names in alike.items():
        where = f"column{'s' * (len(names) > 1)} {_shown(names)}"
        numbers = _numbers(text[names[0]])
        if len(labels) > 1 and numbers is not None:
            scores = True
            span = f"{min(numbers):g} to {max(numbers):g}"
            grades = [numbers[x] for x in sorted(numbers)]
            words = (
                f"{where}: {len(grades)} different numbers from {span} are neither pass nor fail; "
                f"numbers found: {few(grades, SHOWN)}; "
            )
            if len(grades) <= SHOWN:
                low, high = grades[: len(grades) // 2], grades[len(grades) // 2 :]
                split = f"pass_value=[{', '.join(high)}], fail_value=[{', '.join(low)}]"
                words += f"of verdicts say which are passes, such as {split}; "
            words += "of a judge's scores say the scale of people's (truth_scale=), or the lowest "
            words += "pass (truth_from=)"
            problems.append(Problem(words, "unread-numbers", value=labels))
        else:
            there = {t for name in names for t in text[name] if t}
            are = "is" if len(labels) == 1 else "are"
            words = f"{where}: {_shown(labels)} {are} neither pass nor fail; values found: "
            words += _shown(sorted(there))
            problems.append(Problem(words, "unread-labels", value=labels, known=(*sorted(there),)))
    every = sorted({label for labels in alike for label in labels})
    if every and not scores:
        problems.append(_proposal(every, text.values()))
    return problems


def objects_in(column: str, labels: Sequence[str]) -> str:
    """What is wrong with a column whose cells are objects of JSON; empty if they are none."""
    try:
        content = json.loads(labels[0]) if labels and labels[0].startswith("{") else None
    except ValueError:
        return ""
    if not isinstance(content, dict) or not content:
        return ""
    names = _shown(f"{column}.{name}" for name in content)
    return f"column {column!r} holds objects and no labels: name a field of them, {names}"


def _numbers(cells: Iterable[str]) -> dict[float, str] | None:
    """The numbers, or grades out of one, that cells hold, and how each is written."""
    texts = [t for t in cells if t]
    if most_of(texts) is not None:
        return {grade.value: repr(t) for t in texts if (grade := grade_of(t))}
    try:
        numbers = [float(t) for t in texts]
    except ValueError:
        return None
    return {x: f"{x:g}" for x in numbers if np.isfinite(x)} or None


def _proposal(labels: list[str], columns: Iterable[Iterable[str]]) -> Problem:
    """Arguments that would say what labels mean, by a guess that the reader can turn round."""
    if len(labels) > SHOWN:
        return Problem(
            f"{len(labels)} different labels are more than pass and fail: name the classes "
            "(classes=), or say which mean pass, fail and missing (pass_value=, fail_value=, "
            "missing_value=)",
            "many-labels",
        )
    meant = proposed(labels, columns)
    line = ", ".join(f"{name}={values!r}" for name, values in meant.items())
    words = f"say what they mean, for example {line}; move each value to where it belongs"
    return Problem(words, "labels-to-name", value=meant)


#: What a pass is often called, in other languages too: a guess, for a person to correct.
OFTEN_PASSES = {"success", "succeeded", "ok", "okay", "valid", "positive", "right", "met",
                "meets", "accept", "accepted", "approve", "approved", "harmless", "up",
                "thumbs_up", "ja", "oui", "si", "sí", "sim", "tak", "vrai", "vero", "richtig",
                "korrekt", "bestanden", "gut", "correcto", "correcte", "juste", "bon", "bien",
                "goed", "juist", "certo", "giusto", "rätt", "riktig", "rigtigt", "dobrze", "да",
                "верно", *("是", "对", "正确", "通过", "合格", "はい")}  # fmt: skip
#: Beginnings of what is no full pass; Inspect's P among them.
PARTIAL = re.compile(r"part|p$")
#: What stands where a verdict was to come and something went wrong.
BROKEN = re.compile(r"\b(error|exception|time[d ]*out|timeout|traceback|unpars|invalid json)", re.I)


def says_nothing(label: str) -> bool:
    """Whether a label says that there is no verdict, or that something went wrong."""
    return folded(label) in NO_VERDICT or bool(BROKEN.search(label))


def proposed(labels: Sequence[str], columns: Iterable[Iterable[str]] = ()) -> dict[str, list[str]]:
    """A guess of what labels mean that nobody knows, as arguments: for a person to correct.

    A label that stands beside fails only in `columns` is a pass, and beside passes only a fail.
    """
    yes = [label for label in labels if label.casefold() == "y"]
    # an "n" without a "y" is Inspect's no answer
    no = [label for label in labels if label.casefold() == "n" and yes]
    no += [label for label in labels if label in DASHES and "+" in labels]
    no += [label for label in labels if folded(label) in {f"in{folded(other)}" for other in labels}]
    missing = [label for label in labels if says_nothing(label) and label not in no]
    rest = {label: folded(label) for label in labels if label not in missing}
    words = [{folded(label) for label in column} for column in columns]
    opposite = _opposites([*rest.values()], words)
    kinds = [kind for kind in dict.fromkeys(rest.values()) if kind not in opposite]
    # one that is left over is more often no full pass
    groups = [group for group in _together(kinds, words) if len(group) > 1]
    passed = [kind for group in groups for kind in likely_passes(group) or group[:1]]
    passes = [label for label, kind in rest.items() if kind in passed or opposite.get(kind)]
    passes = yes or passes
    fails = [label for label in rest if label not in passes]
    given = {"pass_value": passes, "fail_value": fails, "missing_value": missing}
    return {name: values for name, values in given.items() if values}


def _together(kinds: Sequence[str], columns: Iterable[set[str]]) -> list[list[str]]:
    """Labels by the columns that share some of them; those of no column are together."""
    groups: list[set[str]] = []
    for column in columns:
        sharing = [group for group in groups if group & column & {*kinds}]
        groups = [group for group in groups if group not in sharing]
        groups.append(column.union(*sharing))
    each = [[kind for kind in kinds if kind in group] for group in groups]
    return [*each, [kind for kind in kinds if not any(kind in group for group in groups)]]


def likely_passes(kinds: Sequence[Any]) -> list[Any]:
    """Which of some labels are passes, by a guess: of safe and unsafe, the longer denies the other.

    Empty if nothing tells.
    """
    words = [kind for kind in kinds if isinstance(kind, str)]
    negated = {b for a in words for b in words if a != b and b.endswith(a)}
    return [kind for kind in words if kind not in negated and (negated or kind in OFTEN_PASSES)]


def _opposites(kinds: Iterable[str], columns: Iterable[set[str]]) -> dict[str, bool]:
    """Whether labels are passes, of those that stand beside fails only, or beside passes only."""
    words = _Named(None, None, None).words
    folds = [{kind for kind in column if not says_nothing(kind)} for column in columns]
    opposite = {}
    for kind in kinds:
        beside = {words.get(word) for there in folds if kind in there for word in there - {kind}}
        if beside == {1.0} or (beside == {0.0} and not PARTIAL.match(kind)):
            opposite[kind] = beside == {0.0}
    return opposite


def unread(columns: Mapping[str, Iterable[Any]]) -> list[str]:
    """Labels that say neither pass nor fail by their words."""
    named = _Named(None, None, None)
    texts = dict.fromkeys(_text(cell) for cells in columns.values() for cell in cells)
    named.read_letters(texts)
    return sorted(named.read([t for t in texts if t])[1])


def _spelling(means: Mapping[str, float]) -> Spelling:
    """How labels were read, but for 1 as pass and 0 as fail."""
    plain = {("1", 1.0), ("1.0", 1.0), ("0", 0.0), ("0.0", 0.0)}
    means = {label: value for label, value in means.items() if (label, value) not in plain}
    kinds = {"pass": 1.0, "fail": 0.0}
    labels_of = {kind: [t for t, v in means.items() if v == value] for kind, value in kinds.items()}
    labels_of["missing"] = [t for t, v in means.items() if np.isnan(v)]
    return Spelling({kind: sorted(labels) for kind, labels in labels_of.items()})


def to_binary(values: pd.Series, name: str) -> pd.Series:
    """Map the labels of one column to 1, 0 and missing."""
    import pandas as pd

    cells = [None if none else cell for cell, none in zip(values, values.isna(), strict=True)]
    read, _ = read_labels({name: cells}, pass_value=None, fail_value=None, missing_value=None)
    return pd.Series(read[name], index=values.index, name=values.name)
