"""What labels and numbers mean, as options: guesses, each told as one."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bayesjudge.cli.source import PAIRS
from bayesjudge.core.errors import InputError
from bayesjudge.core.labels import folded, proposed, read_labels, says_nothing, unread
from bayesjudge.core.screen import few
from bayesjudge.core.tables import each_name
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence.cautions import above_chance

#: Different values that labels can have.
MOST_LABELS = 12
#: What a person may also say of an output: a class if people do, else no verdict.
ANSWERS = {"refusal", "refused", "unsure", "unknown"}
#: Options of a line with their values.
Options = dict[str, list[str]]
SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100))


def given(**named: str | Iterable[str] | None) -> Options:
    """Options that have a value: ``pass_value=["ok"]`` is ``--pass-value ok``."""
    each = {n: each_name(v) for n, v in named.items()}
    return {f"--{name.replace('_', '-')}": values for name, values in each.items() if any(values)}


@lru_cache(maxsize=4096)
def meaning(label: Any) -> bool | None:
    """Whether a label says pass, or fail; None if neither, or if it is a tie."""
    try:
        read, _ = read_labels(
            {"label": [label]}, pass_value=None, fail_value=None, missing_value=None
        )
    except InputError:
        return None
    value = read["label"][0]
    return None if value != value else bool(value)


@lru_cache(maxsize=4096)
def kind_of(label: str) -> str | bool:
    """What a label says, however it is spelled."""
    said = meaning(label)
    return folded(label) if said is None else said


def value_options(
    labels: Mapping[str, Iterable[Any]],
    notes: list[str],
    where: str = "",
    absent: Sequence[str] = (),
    meant: Mapping[str, Sequence[str]] | None = None,
) -> Options:
    """Options that say what labels mean that say neither pass nor fail; a guess, told as one.

    Words that are `absent` stand for empty cells; of some words is known what is `meant`.
    """
    cells = {n: {str(c) for c in {*each} if c not in (None, "")} for n, each in labels.items()}
    strange = unread(cells)
    every = set().union(*cells.values())
    if not strange or every <= set(PAIRS):
        return {} if strange else given(missing_value=absent)
    at = f"{where}: " if where else ""
    classes = [] if meant else _classes(cells, len(strange) == len(every))
    if classes:
        kinds = {*map(folded, classes)}
        lost = [*sorted(label for label in every if folded(label) not in kinds), *absent]
        none = f"; {few(lost, 10)} as no verdict" if lost else ""
        notes.append(f"{at}{few(classes, 10)} are more than pass and fail: classes{none}")
        return given(classes=classes, missing_value=lost)
    options, read = Options(), []
    meant = {**proposed(strange, cells.values()), **(meant or {})}
    meant |= {"missing_value": [*meant.get("missing_value", []), *absent]} if absent else {}
    for name, values in meant.items():
        options |= given(**{name: _once(values)})
        read.append(f"{few(_once(values), 10)} as {name.removesuffix('_value')}")
    strange = _once(strange)
    says = "say" if len(strange) > 1 else "says"
    good, bad = meant.get("pass_value", []), meant.get("fail_value", [])
    other = "correct it if need be"
    if good and bad:
        turned = shlex.join(["--pass-value", *_once(bad), "--fail-value", *_once(good)])
        other = f"for the share of {few(_once(bad), 3)} instead: {turned}"
    notes.append(f"{at}{few(strange, 10)} {says} neither pass nor fail; the command reads "
                f"{', '.join(read)}; {other}")  # fmt: skip
    return options


def _once(values: Sequence[str]) -> list[str]:
    """One spelling of each value, which stands for all."""
    return [*reversed({folded(label): label for label in reversed(values)}.values())]


def _classes(cells: Mapping[str, set[str]], own_words: bool) -> list[str]:
    """A spelling of each class, if there are more than pass and fail; what failed is no class.

    They are classes if each column has three, or if there are three in words that say neither.
    """
    each = [{kind_of(label) for label in labels} for labels in cells.values()]
    both = set.intersection(*each) if len(each) > 1 else set()
    spelled: dict[str, str] = {}
    for labels in cells.values():
        for label in sorted(labels):
            if not says_nothing(label) or (folded(label) in both & {*ANSWERS, "none"}):
                spelled.setdefault(folded(label), label)
    shared = {kind for kind in both if not says_nothing(str(kind))}
    many = len(shared) > 2 or (own_words and len(spelled) > 2)
    return sorted(spelled.values()) if many else []


def ask_if_reversed(verdicts: Sequence[Any], truths: Sequence[Any], values: Options) -> str:
    """What to ask about the coding where verdicts clearly go against the labels."""
    if "--classes" in values:
        return ""
    said = {option[2:].replace("-", "_"): labels for option, labels in values.items()}
    meant: dict[str, Any] = dict.fromkeys(("pass_value", "fail_value", "missing_value"))
    cells = {"v": [c or None for c in verdicts], "t": [c or None for c in truths]}
    try:
        read, _ = read_labels(cells, **meant | said)
    except InputError:
        return ""
    v, t = read["v"], read["t"]
    good, bad = (t == 1) & (v == v), (t == 0) & (v == v)
    hits, caught = int((v[good] == 1).sum()), int((v[bad] == 0).sum())
    if not good.any() or not bad.any():
        return ""
    counts = Counts(1, 0, int(good.sum()), hits, int(bad.sum()), caught, calibration="by_truth")
    value, low, high = above_chance(counts)
    if high >= 0:
        return ""
    return (
        f"verdicts go against the labels (sensitivity + specificity - 1 is {value:.2f}, "
        f"{low:.2f} to {high:.2f}): is one of the two columns coded the other way round?"
    )


def usual_scale(numbers: Sequence[float]) -> str:
    """The shortest of the usual scales that holds all numbers, as options have it."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    ends = [(a, b) for a, b in SCALES if a <= low and high <= b]
    chosen = ends[0] if ends else (low, high)
    return f"{chosen[0]:g}:{chosen[1]:g}"


def scale_seen(name: str, numbers: Sequence[float], notes: list[str]) -> tuple[str, float]:
    """Every score that a judge can give, and their least distance; a guess, told as one."""
    low, high = map(float, usual_scale(numbers).split(":"))
    whole = all(x == int(x) for x in numbers) and high - low <= MOST_LABELS
    scale = f"{low:.0f}-{high:.0f}" if whole else ",".join(f"{x:g}" for x in numbers)
    notes.append(f"{name}: the scale {scale} is a guess from the scores seen")
    return scale, 1.0 if whole else min((b - a for a, b in pairwise(numbers)), default=1.0)


def counted_by(cells: Iterable[Any]) -> Counter[str]:
    """How many cells say what, however it is spelled; what says nothing is left out."""
    kinds = Counter(str(c) for c in cells if c not in (None, ""))
    folds = {folded(kind) for kind in kinds}
    counts: Counter[str] = Counter()
    for kind, n in kinds.items():
        if not says_nothing(kind) or (folded(kind) == "n" and "y" in folds):
            counts[folded(kind)] += n
    return counts
