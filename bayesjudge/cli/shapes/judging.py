"""The line that asks how good the judge is, wherever labels and verdicts stand side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

from bayesjudge.cli.columns import Scored
from bayesjudge.cli.options import Meanings
from bayesjudge.cli.shapes import WANTED, Line


def _same(*names: str) -> dict[str, str]:
    """Options that are called alike."""
    options = [f"--{name.replace('_', '-')}" for name in names]
    return dict(zip(options, options, strict=True))


#: Options of labels and of their design.
OF_LABELS = ("truth", "calibration", "labels", *(field.name for field in fields(Meanings)))
#: Options that `judge` has too, by command, with what it calls them.
SAME = {
    "prevalence": _same(*OF_LABELS, *(field.name for field in fields(Scored))),
    "panel": {"--judges": "--verdict", "--generator": "--by", **_same(*OF_LABELS)},
}
WHICH = "Which of these judges is better, and good enough for what?"
TRUST = "From which probability on can its verdicts stand, and are its probabilities right?"
#: What an answer can do without.
LEFT_OUT = ("--item",)


def of_the_judge(line: Line, together: Mapping[str, Sequence[str]] | None) -> dict[str, Line]:
    """By question the lines of `judge` of a line that corrects a judge; none if that rests on more.

    Of all systems first if they may be taken `together`: a line by system says nothing of all.
    """
    names = SAME.get(line.command)
    people = {"--truth", "--labels"} & {*line.options} or "--metric" in line
    if names is None or not people:
        return {}
    if line.command == "panel" and "--judges" not in line:
        return {}
    names = names | {"--item": "--item"} if "--labels" in line else names
    if any(name not in (*names, *LEFT_OUT) for name in line.options):
        return {}
    options = {names[name]: value for name, value in line.options.items() if name in names}
    options.setdefault("--calibration", ["random"])
    by = options.pop("--by", []) if together is not None and "--labels" not in line else []
    whole = Line("judge", line.path, {**options, **((together or {}) if by else {})})
    lines = {WHICH if len(options.get("--verdict", ())) > 1 else WANTED["judge"]: whole}
    if by:
        lines[f"Is it as good in each {by[0]}?"] = Line("judge", line.path, {**options, "--by": by})
    if options.get("--scale") == ["0:1"] and "--truth-scale" not in options:
        lines[TRUST] = whole.plus({"--trust": []})
    return lines
