"""The line that asks how good the judge is, wherever labels and verdicts stand side by side."""

from __future__ import annotations

from bayesjudge.cli.shapes import Line

#: Options of `prevalence` and `panel` that `judge` has too, by their names there.
SAME = {
    name: name
    for name in (
        *("--verdict", "--score", "--scale", "--truth", "--truth-scale", "--truth-from", "--by"),
        *("--calibration", "--propensity", "--classes", "--labels", "--item", "--repeats"),
        *("--rater", "--adjudicated"),
        *("--pass-value", "--fail-value", "--missing-value", "--unparsed", "--metric", "--judge"),
    )
}
OF_PANEL = {
    "--judges": "--verdict",
    "--generator": "--by",
    **{name: name for name in ("--truth", "--calibration", "--labels")},
    **{name: name for name in ("--pass-value", "--fail-value", "--missing-value")},
}
#: What an answer can do without.
LEFT_OUT = ("--item",)


def of_the_judge(line: Line) -> Line | None:
    """The line of `judge` of a line that corrects a judge; None if that rests on more."""
    names = {"prevalence": SAME, "panel": OF_PANEL}.get(line.command)
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
