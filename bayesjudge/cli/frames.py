"""Data frames in place of files: `read` one, `ask` what it answers, or see what `doctor` says."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from bayesjudge.cli.doctor import Diagnosis, examine
from bayesjudge.cli.output import COLLECTED
from bayesjudge.cli.shapes.running import run_line
from bayesjudge.core.answer import Answer, listed
from bayesjudge.core.errors import InputError, Problem, check_ci_prob, expect
from bayesjudge.core.estimate import Estimate
from bayesjudge.core.label_design import design_of
from bayesjudge.verdicts.table import Verdicts


def doctor(
    data: Any,
    labels: Any = None,
    *,
    truth: str | Sequence[str] | None = None,
    item: str | None = None,
    generator: str | None = None,
    judge: str | None = None,
) -> Diagnosis:
    """Tell what a table holds, and which lines of the command line answer questions with it.

    Parameters
    ----------
    data : pandas.DataFrame, polars.DataFrame, pyarrow.Table or path
        Verdicts or scores of judges, in whatever shape; or a file, such as a log.
    labels : pandas.DataFrame, polars.DataFrame, pyarrow.Table or path, optional
        People's labels, if they are in another table.
    truth : str or sequence of str, optional
        Column of people's labels, if its name does not tell; of several people a column each.
    item, generator, judge : str, optional
        Columns that their names do not tell: the item, what made the outputs, and who judged, in a
        table with one row per vote.

    Returns
    -------
    Diagnosis
        Shown as a screen. ``answers`` has a `line` with its `command` and `options`, the `question`
        it answers, the `reasons`, and how sure it is (`score`); ``questions`` what only you know;
        ``missing`` what other questions need. Of a data frame lines name a file ``table.csv``;
        without labels, they are Python for a pandas frame ``table``.

    Raises
    ------
    InputError
        If there are no rows, or no such column.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesjudge as bj
    >>> said = ["pass", "fail", "pass", "pass"] * 20
    >>> people = ["pass", "fail", None, "fail"] * 20
    >>> diagnosis = bj.doctor(pd.DataFrame({"item": range(80), "judge": said, "human": people}))
    >>> diagnosis.answers[0].line.options["--truth"]
    ['human']
    """
    named = {"item": item, "system": generator, "judge": judge}
    with _in_files(data, labels) as (folder, path, other):
        return _without(
            f"{folder}/", examine(path, truth, other, _given(named), frame=_is_pandas(data))
        )


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _given(named: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}


def _without(begin: str, value: Any) -> Any:
    """A value in whose texts files are named as if they lay in the present folder."""
    if isinstance(value, str):
        return value.replace(begin, "")
    if isinstance(value, Mapping):
        return {key: _without(begin, each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **_without(begin, dict(vars(value))))
    if isinstance(value, list | tuple):
        each = [_without(begin, part) for part in value]
        return type(value)(*each) if hasattr(value, "_fields") else type(value)(each)
    return value


#: Modules with a posterior that needs no sampling, and the function that gives it.
AT_ONCE = {"attempts": "exact", "leaderboard": "approximate", "prevalence": "exact"}


class Answers(dict[str, Answer]):
    """What a table answers, by the command or module that does: ``answers.prevalence``.

    Parameters
    ----------
    answers : mapping of str to Answer
        By name, in the order of the questions.
    diagnosis : Diagnosis, optional
        What `doctor` says of the table: what is odd, what is missing, what only you know.
    """

    def __init__(self, answers: Mapping[str, Answer], diagnosis: Diagnosis | None = None):
        super().__init__(answers)
        self.diagnosis = diagnosis

    def __getattr__(self, name: str) -> Answer:
        if name not in self:
            raise AttributeError(f"no answer {name!r}; there are {list(self)}")
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def __repr__(self) -> str:
        lines = [f"{name}: {answer.text}" for name, answer in self.items()]
        return "\n".join(lines) or repr(self.diagnosis)


def read(
    table: Any,
    *,
    calibration: Any = None,
    verdict: str | None = "verdict",
    truth: str = "truth",
    item: str | None = None,
    by: str | None = None,
    score: str | None = None,
    classes: Any = None,
    **how: Any,
) -> Any:
    """Read verdicts or scores of one judge, with some human labels, as what they are.

    Parameters
    ----------
    table : dataframe or path
        One row per output.
    calibration : str
        How the labelled rows were chosen: one of `prevalence.DESIGNS`, such as ``"random"``.
    verdict, truth : str
        Columns with the judge's verdict, and with the human label, empty where there is none.
    item, by : str, optional
        Columns with the item and the system: both together compare systems on shared items.
    score : str, optional
        Column with the judge's score, in place of a verdict.
    classes : sequence of str, optional
        What verdict and truth can be, if that is more than pass and fail.
    **how
        Further arguments of the class that reads it, such as ``pass_value`` or ``scale``.

    Returns
    -------
    Counts, Items, ClassCounts or Scores
        Data of `prevalence` (of labels at random and rows without a verdict, if nothing else is
        said, `ClassCounts` in which these are a third verdict), for `ask` and every function there;
        of several systems with scores a mapping of them.

    Raises
    ------
    InputError
        With all that is wrong: how the labels were chosen is not said, a column is missing, a label
        is not understood.

    Examples
    --------
    >>> import pandas as pd
    >>> import bayesjudge as bj
    >>> rows = pd.DataFrame({"gpt": [1, 1, 0, 0] * 25, "human": [1, 0, 0, None] * 25})
    >>> data = bj.read(rows, verdict="gpt", truth="human", calibration="random")
    >>> answer = bj.ask(data).prevalence
    >>> round(answer.value, 2)
    0.26
    """
    from bayesjudge import prevalence
    from bayesjudge.readers.tables import names_in, read_table

    if isinstance(table, str | Path):
        table = read_table(table, names_in(Path(table)))
    named = _given({"item": item, "by": by})
    if calibration is None:
        asked = {"score": score} if score is not None else {"verdict": verdict}
        asked |= {"truth": truth, **named, **_given({"classes": classes}), **how}
        call = ", ".join(f"{name}={value!r}" for name, value in asked.items())
        expect("read", False, "calibration-not-given", call=f"{call}, calibration='random'")
    how |= {"calibration": calibration, "truth": truth}
    if score is not None:
        words = "scale= is needed: the ends of the judge's scale, such as (1, 5)"
        expect("read", "scale" in how, Problem(words, "not-given", "scale"))
        of = prevalence.scores
        return (of.read_systems if by else of.Scores.from_frame)(table, score=score, **named, **how)
    how["verdict"] = verdict
    if classes is not None:
        return prevalence.classes.ClassCounts.from_frame(table, classes=classes, **named, **how)
    kind = prevalence.items.Items if item and by else prevalence.Counts
    try:
        return kind.from_frame(table, **named, **how)
    except InputError as error:
        if by or not error.has("no-verdict") or not design_of(calibration).is_sample:
            raise
    verdicts = Verdicts.from_frame(table, **named, **how, unparsed="verdict")
    return prevalence.classes.ClassCounts.of(verdicts)


def ask(
    data: Any,
    labels: Any = None,
    *,
    ci_prob: float = 0.95,
    truth: str | Sequence[str] | None = None,
    item: str | None = None,
    generator: str | None = None,
    judge: str | None = None,
) -> Answers:
    """Answer every question that a table allows, by closed forms and exact posteriors.

    Parameters
    ----------
    data : dataframe, path, or data of a module
        A table as `doctor` takes it, or what `read` or a module's ``from_frame`` gave.
    labels : dataframe or path, optional
        Of a table: people's labels, if they are in another one.
    ci_prob : float, default 0.95
        Probability of the intervals.
    truth : str or sequence of str, optional
        Of a table: columns of people's labels, as `doctor` takes them.
    item, generator, judge : str, optional
        Of a table: columns that their names do not tell, as `doctor` takes them.

    Returns
    -------
    Answers
        By name: ``answers.prevalence.text``, ``.value``, ``.interval``, ``.table``, ``.plot()``.
        Tab completion shows which there are; ``answers.diagnosis`` says what is missing for others.

    Raises
    ------
    InputError
        If the table cannot be read, or `data` is neither a table nor data of a module.
    """
    check_ci_prob(ci_prob)
    named = {"item": item, "system": generator, "judge": judge}
    systems = isinstance(data, dict) and [*data.values()]
    package = type(systems[0] if systems else data).__module__
    if package.startswith("bayesjudge."):
        columns = {"truth": truth, "item": item, "generator": generator, "judge": judge}
        given = listed([f"{name}=" for name in _given({"labels": labels, **columns})])
        expect("ask", not given, f"these data have been read: leave {given} out")
        return _of_module(data, package.rpartition(".")[0], ci_prob)
    with _in_files(data, labels) as (folder, path, other):
        diagnosis = examine(path, truth, other, _given(named), frame=_is_pandas(data))
        answers: dict[str, Answer] = {}
        for proposal in diagnosis.answers:
            pages: list[Any] = []
            token = COLLECTED.set(pages)
            try:
                run_line([*proposal.line.words, "--ci-prob", str(ci_prob)])
            finally:
                COLLECTED.reset(token)
            name = proposal.line.command.split()[0]
            if pages and pages[-1].answer is not None and not proposal.condition:
                answers.setdefault(name, pages[-1].answer)
        return Answers(answers, _without(f"{folder}/", diagnosis))


def _of_module(data: Any, package: str, ci_prob: float) -> Answers:
    """The answer of the module whose data these are."""
    home, name = import_module(package), package.split(".")[1]
    names = ["by_system"] if isinstance(data, dict) else ["closed_forms", "total", "quality"]
    estimate = next((getattr(home, n) for n in names if hasattr(home, n)), None)
    if estimate is None or not hasattr(home, "answer"):
        kind = type(data).__name__
        raise InputError("ask", [f"expected a table or data of a module, got {kind}"])
    formulas = estimate(data, ci_prob=ci_prob)
    results = [formulas] if isinstance(formulas, Estimate) else [*formulas]
    top = import_module(f"bayesjudge.{name}")
    if name in AT_ONCE and home is not top.__dict__.get("scores"):
        at_once = getattr(home, AT_ONCE[name], None) or getattr(top, AT_ONCE[name])
        posterior = at_once(data, ci_prob=ci_prob) if name == "prevalence" else at_once(data)
        results += [] if posterior is None else [posterior]
    return Answers({name: home.answer(*results, ci_prob=ci_prob)})


@contextmanager
def _in_files(data: Any, labels: Any) -> Iterator[tuple[str, Path, Path | None]]:
    """A folder, and in it files of the data frames; what is a path stays where it is."""
    with tempfile.TemporaryDirectory() as folder:
        other = None if labels is None else _file(labels, folder, "labels.csv")
        yield folder, _file(data, folder, "table.csv"), other


def _file(data: Any, folder: str, name: str) -> Path:
    """A path as it is; a data frame written into a file."""
    if isinstance(data, str | Path):
        return Path(data)
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        expected = "expected a path or a data frame in memory (pandas, polars, Arrow)"
        raise InputError("table", [f"{expected}, got {type(data).__name__}"])
    frame.write_csv(f"{folder}/{name}")
    return Path(folder) / name
