"""Command lines that suit a file: found by trying them on it."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bayesjudge.cli.output import write_csv
from bayesjudge.cli.source import PAIRS
from bayesjudge.core.errors import InputError
from bayesjudge.core.labels import folded, proposed, read_labels, says_nothing, unread
from bayesjudge.core.screen import as_words, few
from bayesjudge.prevalence import Counts
from bayesjudge.prevalence.cautions import above_chance
from bayesjudge.readers.log import Metric

#: Different values that labels can have.
MOST_LABELS = 12
#: What a person may also say of an output: a class if people do, else no verdict.
ANSWERS = {"refusal", "refused", "unsure", "unknown"}
#: Probability below which labels are taken to have been drawn by verdict, and not at random.
BY_VERDICT_P = 1e-6
SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100))
#: Cautions that tell of data that may be wrong, rather than of few of them.
ODD = {"label-shift", "contradiction", "off-range", "pass-rate-out-of-range"}
CHOSEN = (
    "the line says that the labelled items are a random sample; if not: --calibration by_truth "
    "(so many good and so many bad ones were labelled), by_verdict (so many passes and so many "
    "fails), separate (from another run)"
)
ALL_LABELLED = "every row has a label"
WANTED = {
    "prevalence": "What share of outputs is good?",
    "gate": "Is that share at least 0.9 (put your own number), as an exit code for CI?",
    "panel": "How good is each system, how reliable each judge?",
    "repeats report": "How often must the judge be asked?",
    "bias orders": "Does the order of two answers change the verdict?",
    "ratings": "Which judge agrees with people?",
    "drift": "Do two judges, or two versions of one, agree?",
    "bias": "How far does an irrelevant change move a score?",
}
#: The same question, of several systems or of scores.
BETTER = "Which system is better?"
EACH = "Is the share of each at least 0.9 (put your own number), as an exit code for CI?"
ONE_SYSTEM = "How reliable is each judge, and what share of outputs is good?"
CLASSES = "What share of outputs would people put into each class?"
MEAN = "What mean score would people give?"
CONTRADICTS = "How often does the judge contradict itself?"
BETTER_MEAN = "Which system is better, by the mean score that people would give?"
#: The question in few words, where nothing answers it.
BRIEFLY = WANTED | {
    "gate": "Is that share at least 0.9?",
    "panel": "How reliable is each judge?",
    "bias": "Does an irrelevant change move a score?",
}
#: What a question needs: with the question and the command, one line of 80 columns.
NEEDS = {
    "prevalence": "people's labels of some items",
    "gate": "verdicts of pass and fail",
    "panel": "several judges' votes on the same items",
    "repeats report": "repeats by one judge",
    "bias orders": "both orders",
    "ratings": "several people's labels",
    "drift": "a file of each",
    "bias": "scores before and after it",
}


@dataclass
class Findings:
    """What a file holds, what is odd, what it can answer, what it cannot, and how to add labels."""

    kind: str
    contents: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    labelling: list[tuple[str, str]] = field(default_factory=list)
    #: Commands that answer.
    commands: set[str] = field(default_factory=set)
    #: Whether labels are told to be no random sample.
    uneven: bool = False
    #: Whether people's labels are what is missing.
    lacks_labels: bool = False


def value_options(
    labels: Mapping[str, list[Any]], found: Findings, where: str, absent: Sequence[str] = ()
) -> list[str]:
    """Options that say what labels mean that say neither pass nor fail; a guess, told as one.

    Words that are `absent` stand for empty cells.
    """
    cells = {n: {str(c) for c in each if c not in (None, "")} for n, each in labels.items()}
    strange = unread(cells)
    if not strange:
        return as_words("--missing-value", absent)
    every = set().union(*cells.values())
    at = f"{where}: " if where else ""
    if every <= set(PAIRS):
        return []
    classes = _classes(cells, len(strange) == len(every))
    if classes:
        kinds = {*map(folded, classes)}
        lost = [*sorted(one for one in every if folded(one) not in kinds), *absent]
        none = f"; {few(lost, 10)} as no verdict" if lost else ""
        found.odd.append(f"{at}{few(classes, 10)} are more than pass and fail: classes{none}")
        return ["--classes", *classes, *(as_words("--missing-value", lost) if lost else [])]
    options = []
    told = []
    meant = proposed(strange)
    meant |= {"missing_value": [*meant.get("missing_value", []), *absent]} if absent else {}
    for name, values in meant.items():
        spelled = {folded(one): one for one in reversed(values)}  # one stands for all spellings
        options += as_words("--" + name.replace("_", "-"), [*reversed(spelled.values())])
        told.append(f"{few(values, 10)} as {name.removesuffix('_value')}")
    says = "say" if len(strange) > 1 else "says"
    found.odd.append(
        f"{at}{few(strange, 10)} {says} neither pass nor fail: the line reads {', '.join(told)}; "
        f"{_the_other(options)}"
    )
    return options


def _the_other(options: Sequence[str]) -> str:
    """How to ask for the share of what a line reads as fail."""
    meant: dict[str, list[str]] = {}
    for word in options:
        if word.startswith("--"):
            meant[word] = []
        else:
            meant[list(meant)[-1]].append(word)
    good, bad = meant.get("--pass-value", []), meant.get("--fail-value", [])
    if not (good and bad):
        return "correct it if need be"
    turned = shlex.join(["--pass-value", *bad, "--fail-value", *good])
    return f"for the share of {few(bad, 3)} instead: {turned}"


def _classes(cells: Mapping[str, set[str]], own_words: bool) -> list[str]:
    """A spelling of each class, if there are more than pass and fail; what failed is no class.

    They are classes if each column has three, or if there are three in words that say neither.
    """
    each = [{kind_of(label) for label in labels} for labels in cells.values()]
    both = set.intersection(*each) if len(each) > 1 else set()
    spelled: dict[str, str] = {}
    for labels in cells.values():
        for label in sorted(labels):
            if not says_nothing(label) or (folded(label) in both & ANSWERS):
                spelled.setdefault(folded(label), label)
    shared = {kind for kind in both if not says_nothing(str(kind))}
    many = len(shared) > 2 or (own_words and len(spelled) > 2)
    return sorted(spelled.values()) if many else []


def kind_of(label: str) -> str | bool:
    """What a label says, however it is spelled."""
    said = meaning(label)
    return folded(label) if said is None else said


def ask_if_reversed(
    verdicts: Sequence[Any], truths: Sequence[Any], values: list[str], found: Findings
) -> None:
    """Ask about the coding where verdicts clearly go against the labels."""
    if "--classes" in values:
        return
    said: dict[str, list[str]] = {}
    for word in values:
        option, tied, value = word.partition("=")
        if word.startswith("--"):
            said.setdefault(option[2:].replace("-", "_"), []).extend([value] if tied else [])
        else:
            said[list(said)[-1]].append(word)
    meant: dict[str, Any] = dict.fromkeys(("pass_value", "fail_value", "missing_value"))
    cells = {"v": [c or None for c in verdicts], "t": [c or None for c in truths]}
    try:
        read, _ = read_labels(cells, **meant | said)
    except InputError:
        return
    v, t = read["v"], read["t"]
    good, bad = (t == 1) & (v == v), (t == 0) & (v == v)
    hits, caught = int((v[good] == 1).sum()), int((v[bad] == 0).sum())
    if not good.any() or not bad.any():
        return
    counts = Counts(1, 0, int(good.sum()), hits, int(bad.sum()), caught, calibration="by_truth")
    value, low, high = above_chance(counts)
    if high < 0:
        found.odd.append(
            f"verdicts go against the labels (sensitivity + specificity - 1 is {value:.2f}, "
            f"{low:.2f} to {high:.2f}): is one of the two columns coded the other way round?"
        )


def all_alike(name: str, cells: Sequence[Any]) -> str:
    """What to tell of a column that says one thing in all of several rows; else nothing."""
    kinds = Counter(str(cell) for cell in cells if cell not in (None, ""))
    if len({*map(folded, kinds)}) != 1 or kinds.total() == 1:
        return ""
    filled = " that it fills" * (kinds.total() < len(cells))
    return (
        f"{name} says {next(iter(kinds))} in all {kinds.total():,} rows{filled}: hardly what "
        f"people said of the outputs; if it is: --truth {shlex.quote(name)}"
    )


def tell_if_whole(
    name: str,
    verdicts: Sequence[Any],
    truths: Sequence[Any],
    items: Sequence[Any],
    found: Findings,
    said_so: bool = False,
) -> None:
    """Tell of a column that labels every row, unless it is `said_so` that people did."""
    if not truths or any(label in (None, "") for label in truths):
        return
    same = _of_the_item(verdicts, truths, items)
    if said_so and not same:
        return
    more = ", and the same one for all outputs of an item, of which verdicts differ" * same
    found.odd.append(
        f"{name} has a label for every row{more}: right if people judged the outputs; an expected "
        "answer, or a class that came with the test, says nothing of them"
    )


def _of_the_item(verdicts: Sequence[Any], truths: Sequence[Any], items: Sequence[Any]) -> bool:
    """Whether labels are the same for all outputs of an item, while verdicts are not."""
    rows = list(zip(items, map(str, truths), map(str, verdicts), strict=True)) if verdicts else []
    several = [item for item, n in Counter(row[0] for row in rows).items() if n > 1]
    one = len({row[:2] for row in rows}) == len({row[0] for row in rows})
    return (
        one and len(several) > 4 and len({(i, v) for i, _, v in rows}) > len({i for i, *_ in rows})
    )


def label_design(verdicts: Sequence[Any], truths: Sequence[Any], found: Findings) -> list[str]:
    """How labelled rows seem to have been chosen: equal numbers, or verdicts, were asked for."""
    labelled = [c for c in truths if c not in (None, "")]
    if len(labelled) == len(truths):
        found.contents.append(ALL_LABELLED)
        return ["--calibration", "random"]
    by_truth = Counter(folded(c) for c in labelled)
    spelled: dict[str, str] = {}
    every: Counter[str] = Counter()
    by_verdict: Counter[str] = Counter()
    for verdict, truth in zip(verdicts, truths, strict=True) if verdicts else ():
        if verdict not in (None, "") and not says_nothing(str(verdict)):
            kind = spelled.setdefault(folded(verdict), str(verdict))
            every[kind] += 1
            by_verdict[kind] += truth not in (None, "")
    for counted, design in ((by_truth, "by_truth"), (by_verdict, "by_verdict")):
        sizes = set(counted.values())
        if len(counted) == 2 and len(sizes) == 1 and min(sizes) >= 10:
            kinds = " and ".join(f"{n} {kind}" for kind, n in counted.items())
            found.odd.append(
                f"{kinds} are labelled, as many of one as of the other: {design}, which is right "
                "by chance too; if it is chance, --calibration random tells more"
            )
            return ["--calibration", design]
    if _drawn_unlike(every, by_verdict):
        rates = [f"{by_verdict[kind]} of {n:,} verdicts {kind}" for kind, n in every.items()]
        found.odd.append(
            f"{' and '.join(rates)} have a label of people, which is no random sample: the line "
            "says that the verdict decided what was labelled (by_verdict); if it was people's "
            "label: --calibration by_truth; if labels are from another run: separate"
        )
        return ["--calibration", "by_verdict"]
    return ["--calibration", "random"]


def _drawn_unlike(every: Mapping[str, int], labelled: Mapping[str, int]) -> bool:
    """Whether rows of different verdicts were labelled at rates that differ past any chance."""
    from scipy.special import chdtrc

    n, k = (np.array([counts[kind] for kind in every], float) for counts in (every, labelled))
    if not 2 <= len(n) <= MOST_LABELS or not 0 < k.sum() < n.sum():
        return False
    expected = n * k.sum() / n.sum()
    pearson = ((k - expected) ** 2 / expected).sum() * n.sum() / (n.sum() - k.sum())
    return bool(chdtrc(len(n) - 1, pearson) < BY_VERDICT_P)


def meaning(label: Any) -> bool | None:
    """Whether a label says pass, or fail; None if neither, or if it is a tie."""
    try:
        read, _ = read_labels(
            {"label": [label]}, pass_value=None, fail_value=None, missing_value=None
        )
    except InputError:
        return None
    found = read["label"][0]
    return None if found != found else bool(found)


def usual_scale(numbers: Sequence[float]) -> str:
    """The shortest of the usual scales that holds all numbers, as options have it."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    ends = [(a, b) for a, b in SCALES if a <= low and high <= b]
    chosen = ends[0] if ends else (low, high)
    return f"{chosen[0]:g}:{chosen[1]:g}"


def scale_of(metric: Metric, found: Findings) -> list[str]:
    """Every score that a judge can give; a guess, told as one, but for plain verdicts."""
    numbers = sorted({g.score if g.score is not None else g.value for g in metric.grades
                      if g.value is not None and not isinstance(g.value, str)})  # fmt: skip
    numbers = [float(x) for x in numbers]
    if all(g.value is None or isinstance(g.value, bool) for g in metric.grades):
        return ["--score", "verdict", "--scale", "0,1"]
    if not numbers or set(numbers) <= {0.0, 1.0}:
        return []
    return ["--scale", scale_seen(metric.name, numbers, found)[0]]


def scale_seen(name: str, numbers: Sequence[float], found: Findings) -> tuple[str, float]:
    """Every score that a judge can give, and their least distance; a guess, told as one."""
    low, high = map(float, usual_scale(numbers).split(":"))
    whole = all(x == int(x) for x in numbers) and high - low <= MOST_LABELS
    scale = f"{low:.0f}-{high:.0f}" if whole else ",".join(f"{x:g}" for x in numbers)
    found.odd.append(f"{name}: the scale {scale} is a guess from the scores seen")
    return scale, 1.0 if whole else min((b - a for a, b in pairwise(numbers)), default=1.0)


def question_of(command: str, line: Sequence[str]) -> str:
    """What a line answers."""
    if command == "prevalence" and "--truth-scale" in line:
        return BETTER_MEAN if "--by" in line else MEAN
    if "--classes" in line and command == "prevalence":
        return CLASSES
    if command == "panel" and "--generator" not in line:
        return ONE_SYSTEM
    several = {"prevalence": BETTER, "gate": EACH}
    return several.get(command, WANTED[command]) if "--by" in line else WANTED[command]


def lost_verdicts(values: Sequence[str], found: Findings) -> list[list[str]]:
    """What can be done with rows without a verdict: what is read as missing is left out.

    A panel leaves missing votes out, so that a line beside it does the same.
    """
    fail, drop = ["--unparsed", "fail"], ["--unparsed", "drop"]
    missing = "panel" in found.commands or any(w.startswith("--missing-value") for w in values)
    return [drop, fail] if missing else [fail, drop]


def _tell_lost(more: Sequence[str], found: Findings) -> None:
    if "drop" in more:
        found.odd.append(
            "rows without a verdict are left out (--unparsed drop); to count each as a fail: "
            "--unparsed fail"
        )
    elif "fail" in more:
        found.odd.append(
            "rows without a verdict count as fails (--unparsed fail); to leave them out: "
            "--unparsed drop"
        )


def _tell_design(line: Sequence[str], found: Findings) -> None:
    """Tell that a line takes the labelled items for a random sample, if some have no label."""
    chosen = line[line.index("--calibration") + 1] if "--calibration" in line else ""
    told = found.uneven or ALL_LABELLED in found.contents or CHOSEN in found.odd
    if chosen == "random" and not told:
        found.odd.append(CHOSEN)


def try_gate(line: Sequence[str], found: Findings) -> None:
    """Put a threshold to a line of `bayesjudge prevalence` that has been run."""
    if not {"--score", "--classes", "--stratum"} & {*line} and "gate" not in found.commands:
        try_lines("gate", ["gate", *line[1:], "--at-least", "0.9"], found, [[]])


def try_drift(path: str, named: list[str], judges: Sequence[str], own: list[str],
              values: list[str], found: Findings) -> None:  # fmt: skip
    """The first two judges of a log, on the same outputs."""
    two = ["--judge", judges[0], "--judge", judges[1]]
    if "--classes" not in values:
        try_lines("drift", ["drift", path, path, *named, *two, *own, *values], found, [[]])


def try_ratings(line: list[str], said: Mapping[str, Collection[Any]], people: Collection[Any],
                found: Findings) -> None:  # fmt: skip
    """Compare judges with people: what counts as positive is a guess, told as one.

    A judge's label that people do not use is given the meaning of the one of theirs that says the
    same; `said` has the labels of each judge.
    """
    theirs = sorted({str(label) for label in people if label not in (None, "")})
    by_meaning = {meaning(label): label for label in reversed(theirs)}
    graded = len(theirs) > 2 and all(one.lstrip("-").isdigit() for one in theirs)
    recoded = [] if graded else [
        f"{judge}:{label}={by_meaning[meaning(label)]}"
        for judge, labels in said.items()
        for label in sorted({str(one) for one in labels if one not in (None, "")} - {*theirs})
        if meaning(label) is not None and meaning(label) in by_meaning
    ]  # fmt: skip
    if not theirs:
        return
    positive = by_meaning.get(True, theirs[0])
    if graded:
        found.odd.append("ratings: items are categorised by the highest grade; by another one: "
                         "--positive GRADE")  # fmt: skip
    elif True not in by_meaning:
        found.odd.append(f"ratings: that {positive!r} is the positive option is a guess")
    more = [word for one in recoded for word in ("--recode", one)]
    try_lines("ratings", [*line, *([] if graded else ["--positive", positive]), *more], found, [[]])


def try_labelling_scores(
    path: str, about: list[str], score: str, scale: str, found: Findings
) -> None:
    """The same two lines for scores: of probabilities people say 1 or 0, else scores like these."""
    reading = ["--score", score, "--scale", scale]
    if scale == "0:1":
        try_labelling(path, about, [], reading, ["1", "0"], found)
        return
    low, high = map(float, scale.split(":"))
    said = [f"{low:g}", f"{(low + high) / 2:g}", f"{high:g}"]
    reading += ["--truth-scale", scale]
    try_labelling(path, about, [], reading, said, found, f"scores from {low:g} to {high:g}")


def try_labelling(
    path: str, about: list[str], drawing: list[str], reading: list[str], said: Sequence[str],
    found: Findings, what: str = "",
) -> None:  # fmt: skip
    """Two lines: one draws items into a sheet, one reads what people wrote there.

    Both are run before they are shown, on labels that are made up of what can be `said`.
    """
    sheet = str(Path(path).with_name(f"{Path(path).name.split('.')[0]}.labels.csv"))
    draw = ["label", path, *about, *drawing, "--gate", "0.9", "--n", "20"]
    read = ["prevalence", path, *about, *reading, "--calibration", "random", "--labels"]
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / "made_up.csv"
        aside = {"--sheet": trial, "--state": f"{folder}/state.json", "--form": f"{folder}/f.html"}
        done, text = run_line([*draw, *(str(word) for pair in aside.items() for word in pair)])
        problems.append(text)
        if done:
            problems = []
            _fill_in(trial, said)
            for more in ([], ["--unparsed", "fail"], ["--unparsed", "drop"]):
                done, text = run_line([*read, str(trial), *more])
                problems.append(text)
                if done:
                    values = what or f"{', '.join(said[:-1])} or {said[-1]}"
                    found.labelling = [
                        ("Draw items at random into a sheet:", shlex.join(["bayesjudge", *draw])),
                        (f"Fill in its column truth with {values}, then paste:",
                         shlex.join(["bayesjudge", *read, sheet, *more])),
                    ]  # fmt: skip
                    return
    found.missing["prevalence"] = f"{NEEDS['prevalence']}; drawing some failed: {problems[0][:300]}"


def _fill_in(sheet: Path, said: Sequence[str]) -> None:
    """Labels of nobody, to see that a line runs."""
    import pandas as pd

    rows = pd.read_csv(sheet, dtype=str, keep_default_na=False)[["item"]]
    write_csv(rows.assign(truth=[said[i % len(said)] for i in range(len(rows))]), sheet)


def try_lines(
    command: str,
    line: list[str],
    found: Findings,
    ways: Sequence[list[str]],
    question: str = "",
) -> list[str]:
    """Run a line with each of some endings until one does; keep it, or why none did."""
    problems: list[str] = []
    for more in ways:
        done, text = run_line([*line, *more])
        if done:
            pasted = shlex.join(["bayesjudge", *line, *more])
            question = question or question_of(command, line)
            found.commands.add(command)
            if (question, pasted) not in found.answers:
                found.answers.append((question, pasted))
            _tell_design([*line, *more], found)
            if command == "prevalence":
                _tell_lost(more, found)
            for caution in json.loads(text)["cautions"]:
                if caution["name"] in ODD:
                    found.odd.append(f"{command}: {caution['text']}")
            return [*line, *more]
        problems.append(text)
    found.missing[command] = f"tried `{shlex.join(line)}`: {problems[0][:300]}"
    return []


def run_line(line: Sequence[str]) -> tuple[bool, str]:
    """Run a command without sampling; what it printed, or what it had against the input."""
    from cyclopts import CycloptsError

    from bayesjudge.cli.commands import build_app

    instant = {"label": [], "gate": ["--json"], "drift": ["--json"]}
    more = instant.get(line[0], ["--no-nuts", "--json"])
    tokens, out = [*line, *(word for word in more if word not in line)], io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            build_app(tokens)(tokens, exit_on_error=False, print_error=False, verbose=False)
    except (InputError, CycloptsError) as error:
        return False, getattr(error, "told", str(error))
    except Exception as error:  # a fault of ours: other lines may answer
        return False, f"{type(error).__name__}: {error}"
    return True, out.getvalue()
