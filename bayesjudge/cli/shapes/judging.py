"""The line that asks how good the judge is, wherever labels and verdicts stand side by side."""

from __future__ import annotations

from bayesjudge.cli.shapes import Line

#: Options of labels and of their design.
OF_LABELS = ("--truth", "--calibration", "--labels", "--pass-value", "--fail-value")
#: Options that `judge` has too, by command, with what it calls them.
SAME = {
    "prevalence": {
        name: name
        for name in (
            *(*OF_LABELS, "--missing-value", "--unparsed", "--propensity", "--metric", "--judge"),
            *("--verdict", "--score", "--scale", "--truth-scale", "--truth-from", "--by"),
            *("--classes", "--item", "--repeats", "--rater", "--adjudicated"),
        )
    },
    "panel": {
        "--judges": "--verdict",
        "--generator": "--by",
        **{name: name for name in (*OF_LABELS, "--missing-value")},
    },
}
#: What an answer can do without.
LEFT_OUT = ("--item",)


def of_the_judge(line: Line) -> Line | None:
    """The line of `judge` of a line that corrects a judge; None if that rests on more."""
    names = SAME.get(line.command)
    people = {"--truth", "--labels"} & {*line.options} or "--metric" in line
    if names is None or not people:
        return None
    if line.command == "panel" and "--judges" not in line:
        return None
    names = names | {"--item": "--item"} if "--labels" in line else names
    if any(name not in (*names, *LEFT_OUT) for name in line.options):
        return None
    options = {names[name]: value for name, value in line.options.items() if name in names}
    options.setdefault("--calibration", ["random"])
    return Line("judge", line.path, options)
