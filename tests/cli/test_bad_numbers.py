"""A number that an option cannot take is refused by the name of the option, as it is typed."""

import re

import pytest
from commands import commands, run

import bayesjudge as bj
from bayesjudge.cli.commands import build_app
from bayesjudge.cli.explain import steps

#: Options whose number nothing limits, or that only a sampled model uses.
FREE = {"--seed", "--step", "--unit", "--center-at", "--cutoff", "--alpha", "--half-width"}


def bad_numbers():
    """Words of each command, an option of it that takes a number, and none that it can be."""
    for words, app in steps(build_app((), every=True)):
        for argument in app.assemble_argument_collection(parse_docstring=False):
            kind = re.search(r"\b(int|float)\b", str(argument.hint))
            if kind and argument.name.startswith("--") and argument.name not in FREE:
                yield words, argument.name, "nan" if kind[0] == "float" else "-1"


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A line of each command that answers, without the option that is tried."""
    folder = tmp_path_factory.mktemp("tables")
    made = {}
    for name, command in commands().items():
        path = folder / f"{name}.csv"
        command.table.to_csv(path, index=False)
        made.setdefault(tuple(command.words), command.line(path))
    for module in (bj.attempts, bj.leaderboard, bj.rubric):
        module.simulate(random_seed=1).to_csv(folder / f"{module.__name__}.csv", index=False)
    random = ["--calibration", "random"]
    of = {
        name: str(folder / f"bayesjudge.{name}.csv")
        for name in ("attempts", "leaderboard", "rubric")
    }
    made["attempts",] = [
        "attempts",
        of["attempts"],
        "--truth",
        "truth",
        "--verdict",
        "verdict",
        *random,
    ]
    made["leaderboard",] = ["leaderboard", of["leaderboard"]]
    made["rubric",] = ["rubric", of["rubric"], *random]
    log = str(folder / "prevalence.csv")
    made["judge",] = ["judge", log, "--verdict", "verdict", "--truth", "truth", *random]
    made["label",] = ["label", log, "--verdict", "verdict", "--item", "case", "--gate", "0.8"]
    made["plan",] = ["plan", "--prevalence", "0.7", "--agreement", "0.8"]
    made["demo",] = ["demo"]
    return made


@pytest.mark.slow
def test_a_number_out_of_range_is_refused_by_the_name_of_its_option(lines):
    wrong, tried = {}, 0
    for words, option, value in bad_numbers():
        line = lines.get(words)
        if line is None:
            continue
        code, _, told = run([*line, f"{option}={value}"])
        tried += 1
        argument = option.removeprefix("--").replace("-", "_")
        in_python = re.search(rf"(?<![\w-]){argument}(?: must|[:=])", told)
        if code != 2 or option not in told or in_python:
            wrong[words, option] = code, told
    assert tried > 40
    assert not wrong
