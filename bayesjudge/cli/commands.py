"""The commands, and the app with the one that is called."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App

from bayesjudge.core.version import __version__

#: Each command with its function or app, which is imported when the command is called, and its line
#: in the help: the first of its docstring.
COMMANDS = {
    "attempts": (
        "bayesjudge.cli.attempts:attempts",
        "Tell how often agents do a task in k tries: every time (pass^k), or at least once "
        "(pass@k).",
    ),
    "bias": (
        "bayesjudge.cli.bias:bias",
        "Measure how far a change that should not matter (format, order, wording) moves scores.",
    ),
    "completion": (
        "bayesjudge.cli.completion:completion",
        "Print a script that completes commands and options in a shell.",
    ),
    "demo": (
        "bayesjudge.cli.demo:demo",
        "Correct a judge on real data, with the truth beside the answer.",
    ),
    "doctor": (
        "bayesjudge.cli.doctor:doctor",
        "Tell what a file holds, and which questions it can answer by which command.",
    ),
    "drift": (
        "bayesjudge.cli.drift:drift",
        "Compare two judges, or two versions of one: verdicts that flip, and what they move.",
    ),
    "explain": (
        "bayesjudge.cli.explain:explain",
        "Say what a word on the screen means.",
    ),
    "gate": (
        "bayesjudge.cli.gate:gate",
        "Decide whether the share of good outputs meets a threshold: pass, fail or unknown.",
    ),
    "judge": (
        "bayesjudge.cli.judge:judge",
        "Say what a judge is worth, how it errs, and for what that is good enough.",
    ),
    "label": (
        "bayesjudge.cli.label:label",
        "Choose which outputs a person labels next, and stop as soon as a threshold is decided.",
    ),
    "leaderboard": (
        "bayesjudge.cli.leaderboard:main",
        "Say which system people prefer, from a judge's verdicts on pairs and some of people's.",
    ),
    "panel": (
        "bayesjudge.cli.panel:panel",
        "Estimate how good each system is, and how reliable each of several judges.",
    ),
    "passport": (
        "bayesjudge.cli.passport:passport",
        "Keep what labels told of a judge's errors in a small file for later runs: `make` it, "
        "`show` it, `check` a later run against it and correct that run.",
    ),
    "plan": (
        "bayesjudge.cli.plan:plan",
        "Say how many human labels to buy, to show that a threshold is met or for an interval.",
    ),
    "prevalence": (
        "bayesjudge.cli.prevalence:prevalence",
        "Estimate what share of outputs people would pass, from verdicts and a few human labels.",
    ),
    "ratings": (
        "bayesjudge.cli.ratings:ratings",
        "Say which judge agrees with people, also if several answers are right.",
    ),
    "repeats": (
        "bayesjudge.cli.repeats:repeats",
        "How often must a judge be asked? `run` asks models until each item's mean score is "
        "known well enough; `report` says what repeated scores tell.",
    ),
    "rubric": (
        "bayesjudge.cli.rubric:rubric",
        "Estimate the total of a rubric, and each criterion, from verdicts and a few human labels.",
    ),
}


def build_app(tokens: Sequence[str], *, every: bool = False) -> App:
    """The app with the command that is called; the others are their lines in the help."""
    app = App(
        name="bayesjudge",
        help="From the verdicts of an LLM judge and a few human labels to numbers with honest "
        "intervals.\n\nStart with `bayesjudge demo`, or on your own with `bayesjudge doctor FILE`.",
        help_format="markdown",
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, (where, line) in COMMANDS.items():
        if every or list(tokens[:1]) == [name]:
            app.command(where, name=name)
        else:
            app.command(App(name=name, help=line))
    return app
