"""Options of several commands, each declared once with its help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, make_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from bayesjudge import render
from bayesjudge.core.answer import listed
from bayesjudge.core.errors import Problem, Require, check_ci_prob, checking, expect
from bayesjudge.core.words import words_in

#: Headings of the help, in this order: what is needed first, then the rest by what it is about.
NEEDED = Group("What is needed first", sort_key=0)
DATA = Group("The table", sort_key=1)
#: What TABLE can be, in the help of every command.
FORMATS = (
    ".csv, .tsv, .json, .jsonl or .ndjson (each also with .gz, .bz2 or .zst), .parquet, .xlsx, or "
    ".db of SQLite or DuckDB (FILE::NAME for one sheet or table); - is stdin"
)
LOGS = "a log of Inspect, promptfoo, DeepEval, MLflow and others (`bayesjudge doctor FILE`)"
#: The column of systems: whatever made the outputs, in every command by either name.
BY = Parameter(name=["--by", "--generator"], group=DATA)
GENERATOR = Parameter(name=["--generator", "--by"], group=DATA)
MODEL = Group("The model", sort_key=2)
OUTPUT = Group("Output", sort_key=3)
FIRST = Parameter(group=NEEDED)
OF_TABLE = Parameter(group=DATA, negative="")
SEVERAL = Parameter(group=DATA, negative="", consume_multiple=True)
OF_MODEL = Parameter(group=MODEL, negative="")
OF_OUTPUT = Parameter(group=OUTPUT, negative="")


def helped(text: str, group: Group = DATA, **more: Any) -> Parameter:
    """An option with its help."""
    return Parameter(group=group, negative="", help=text, **more)


Truth = Annotated[str | None, helped("Column with the human label, empty if there is none.")]
Truths = Annotated[
    list[str] | None,
    Parameter(
        group=DATA,
        negative="",
        consume_multiple=True,
        help="Column with the human label, empty if there is none. Several columns, one for each "
        "person: then people may err too.",
    ),
]
Adjudicated = Annotated[
    str | None,
    helped("With several people: column with the label they settled on, if they did."),
]
Rater = Annotated[
    str | None,
    helped("With one row per label: column that names who gave it. Needs --item."),
]
LabelFile = Annotated[
    Path | None,
    helped(
        "Table with the human labels, if they are in another file: either of these items (--item "
        "and --by name the columns that match), or labelled rows that have a verdict each."
    ),
]
TunedOn = Annotated[
    str | None,
    helped(
        "Column that is true if the judge was tuned on the row's label (as an example in its "
        "prompt, or to choose prompt or threshold): such labels are left out."
    ),
]
Randomized = Annotated[
    list[str] | None,
    helped(
        "Columns that chance put rows into, such as a split, a batch or whom a row was assigned "
        "to: they are no reason why rows have labels.",
        consume_multiple=True,
    ),
]
Verdict = Annotated[str, helped("Column with the judge's verdict.")]
Item = Annotated[str | None, helped("Column that identifies the item of a row.")]
NamedItem = Annotated[str, helped("Column that identifies the item of a row.")]
By = Annotated[
    str | None,
    BY,
    helped(
        "Column that names the system of each row, or what else rows are of, such as an agent or a "
        "topic: each has numbers of its own."
    ),
]
MissingValue = Annotated[
    list[str] | None,
    helped("Labels that mean there is no label, such as INVALID.", consume_multiple=True),
]
Metric = Annotated[
    str | None,
    helped("The scorer or assertion to use, if a log has several."),
]
LogJudge = Annotated[str | None, helped("The judge to use, if a log has verdicts of several.")]
JudgeColumn = Annotated[str | None, helped("Column that names the judge, or its prompt.")]
Winner = Annotated[
    list[str] | None,
    helped(
        "Given twice: the value that means the first answer (or place), then that of the second; "
        "if not said, values of custom such as 1 and 2, or A and B."
    ),
]
TieValue = Annotated[
    list[str] | None,
    helped("Values that mean a tie; if not said, tie or the like.", consume_multiple=True),
]
CardFile = Annotated[
    Path | None,
    helped(
        "The judge's card, made by an earlier run (`bayesjudge judge --card`): what it tells of "
        "the judge counts as far as this run's labels bear it out."
    ),
]
Seed = Annotated[int, helped("Seed of the random draws.", OUTPUT)]
WhichItems = Annotated[
    Literal["population", "items"],
    helped(
        "What the answer is about: population (the process that the items come from), or items "
        "(these very items, some of which are labelled).",
        MODEL,
    ),
]
GATE = Group("The gate", sort_key=2)
Sure = Annotated[float, helped("Probability that a pass, or a fail, must reach.", GATE)]
#: What writes a page, by its format: a file of `bayesjudge.render` each.
RENDERERS = {
    module.name: import_module(f"{render.__name__}.{module.name}")
    for module in iter_modules(render.__path__)
}
#: A file that is the screen.
SCREEN = Path("-")


@Parameter(name="*", group=DATA, negative="")
@dataclass(frozen=True)
class Meanings:
    """What labels mean.

    Parameters
    ----------
    pass_value : list[str]
        Labels that mean pass, if they are not 1, true, yes, pass, good, correct or C.
    fail_value : list[str]
        Labels that mean fail, such as I P.
    """

    pass_value: Annotated[list[str] | None, SEVERAL] = None
    fail_value: Annotated[list[str] | None, SEVERAL] = None
    missing_value: MissingValue = None


_OF_FORMATS: Any = make_dataclass(
    "_OF_FORMATS",
    [
        (name, Annotated[Path | None, helped(file.HELP, OUTPUT, allow_leading_hyphen=True)], None)
        for name, file in RENDERERS.items()
        if hasattr(file, "HELP")
    ],
    frozen=True,
)


@Parameter(name="*", group=OUTPUT, negative="")
class Files(_OF_FORMATS):
    """Files to write a page to: one for each renderer that has the help of its option."""


@Parameter(name="*", group=OUTPUT, negative="")
@dataclass(frozen=True)
class Written:
    """How a page is written.

    Parameters
    ----------
    files : Files
        Files to write the page to, by their format.
    json : bool
        Print one JSON document instead of text (schema bayesjudge/3): `answer`; `estimates` by
        quantity and `where`, with `cautions`, and `assumptions`, `targets`, `sources`, `sampling`
        by method; of a command that decides or plans what it decides or plans.
    """

    files: Files = Files()
    json: Annotated[bool, Parameter(negative="")] = False

    @property
    def on_screen(self) -> bool:
        """Whether stdout is for people."""
        return not self.json and SCREEN not in vars(self.files).values()

    def check_files(self, require: Require, **others: Path | None) -> None:
        """Refuse files to write that are in no folder, are one, or are called otherwise."""
        require(not self.json or SCREEN not in vars(self.files).values(), "two-to-stdout")
        check_files(require, **vars(self.files), **others)


def table_option(rows: str, logs: str = "") -> Parameter:
    """The argument TABLE, with what is in a row of it and what files there are."""
    meaning = f"{rows}: {FORMATS}"
    return Parameter(group=DATA, help=f"{meaning}. Or {logs}." if logs else f"{meaning}.")


@Parameter(name="*", group=OUTPUT, negative="")
@dataclass(frozen=True)
class Shared(Written):
    """Options of every command that estimates.

    Parameters
    ----------
    ci_prob : float
        Probability of every interval: 0.95 is 95 %.
    interval : {"eti", "hdi", "eti_bounded"}
        Bayesian intervals: equal-tailed, highest density (the shortest), or boundary-extended:
        equal-tailed, and reaching 0 or 1 if the data do not exclude it. Default: what suits the
        command.
    seed : int
        Seed of the random draws.
    nuts : bool
        Also sample the model by NUTS. By default it is sampled only if nothing else gives an
        answer; --no-nuts: never.
    strict : bool
        Fail (exit code 2) if the sampler did not converge, rather than warn.
    save : Path
        Keep the sampled fit as netCDF, for `bayesjudge.load`.
    details : bool
        Show every method and quantity, with assumptions, cautions and sampling.
    quiet : bool
        Show only the answer, its table and its cautions; no progress bar.
    """

    ci_prob: float = 0.95
    interval: Literal["eti", "hdi", "eti_bounded"] | None = None
    seed: int = 1
    nuts: Annotated[bool | None, Parameter(negative="--no-nuts")] = None
    strict: bool = False
    save: Annotated[Path | None, Parameter(negative="")] = None
    details: Annotated[bool, Parameter(negative="")] = False
    quiet: Annotated[bool, Parameter(negative="")] = False

    @property
    def in_full(self) -> bool:
        """Whether anybody reads what a screen has with --details only."""
        return self.details or self.json or any(vars(self.files).values())

    @property
    def sampling(self) -> dict[str, Any]:
        """Settings of a fit; --quiet leaves out its progress bar."""
        progress = False if self.quiet else None
        return {"random_seed": self.seed, "strict": self.strict, "progress": progress}

    def check(self) -> None:
        """Refuse what would only fail after the work is done.

        Raises
        ------
        InputError
            If a folder is missing, or options contradict each other.
        """
        check_ci_prob(self.ci_prob)
        with checking("options") as require:
            self.check_files(require, save=self.save)
            contradictory = self.nuts is False and self.save is not None
            require(not contradictory, "--save keeps the sampled fit: leave --no-nuts out")

    def samples(self, needed: object) -> bool:
        """Whether a model is sampled: where it was asked for, or the answer needs it."""
        return bool(needed or self.save) if self.nuts is None else self.nuts

    def check_sampled(self, *options: str) -> None:
        """Refuse options of the sampled model where nothing is sampled.

        Raises
        ------
        InputError
            With the options that were given.
        """
        unused = self.nuts is False and options
        expect("options", not unused, f"{are(options)} of the sampled model: leave --no-nuts out")


def check_files(require: Require, **files: Path | None) -> None:
    """Refuse files to write that are in no folder, are one, or are called like something else."""
    for name, path in files.items():
        if path is None:
            continue
        require(path.parent.is_dir(), f"--{name}: there is no folder {str(path.parent)!r}")
        require(not path.is_dir(), f"--{name}: {str(path)!r} is a folder; name a file")
        ends = getattr(RENDERERS.get(name), "ENDS", (path.suffix.lower(),))
        hint = "; a browser prints the page of --html as a PDF" * (path.suffix.lower() == ".pdf")
        words = f"expected a name that ends in {ends[0]}{hint}"
        require(path.suffix.lower() in ends, f"--{name} {path}: {words}")


def are(options: Sequence[str]) -> str:
    """``--target is``, ``--item and --target are``."""
    return f"{listed(options)} {'is' if len(options) == 1 else 'are'}"


def needed(option: str, lesson: str) -> Problem:
    """An option that was not given, and its lesson."""
    return Problem(lesson, "not-given", argument=option.removeprefix("--").replace("-", "_"))


#: What is said where an option is missing whose choice has to be understood.
LESSONS: dict[str, str] = words_in("bayesjudge.cli")["lessons"]
CALIBRATION = LESSONS["calibration"]
LESSON = f"--calibration is needed: {CALIBRATION}"
TRUTH = needed(
    "--truth", "--truth is needed: Column with the human label, empty where there is none"
)


def unknown_calibration(given: object) -> Problem:
    """A calibration that is none, and which there are."""
    sentence = f"--calibration {given!r} is not known: {CALIBRATION}"
    return Problem(sentence, "unknown-calibration", "calibration", given)
