"""Options of several commands, each with its help."""

from bayesjudge.core.errors import Problem


def needed(option: str, lesson: str) -> Problem:
    """An option that was not given, and its lesson."""
    return Problem(lesson, "not-given", argument=option.removeprefix("--").replace("-", "_"))


#: The choice that decides everything else, in as many lines as there are choices.
CALIBRATION = (
    "how were the items that people labelled chosen?\n"
    "  random      a random sample of these items, or every fourth in an order without a meaning\n"
    "  by_truth    a fixed number of good and of bad ones; `separate`: from another data set or\n"
    "              run, where good ones may be more or less common (label shift)\n"
    "  by_verdict  a fixed number of the judge's passes and of its fails\n"
    "  known_propensity  each with a known probability, which --propensity names"
)
LESSON = f"--calibration is needed: {CALIBRATION}"
TRUTH = needed(
    "--truth", "--truth is needed: Column with the human label, empty where there is none"
)


def unknown_calibration(given: object) -> Problem:
    """A calibration that is none, and which there are."""
    told = f"--calibration {given!r} is not known: {CALIBRATION}"
    return Problem(told, "unknown-calibration", "calibration", given)
