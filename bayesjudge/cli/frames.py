"""What `bayesjudge doctor` says of a file, of a data frame."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayesjudge.cli.doctor import Diagnosis, examine


def doctor(
    data: Any,
    labels: Any = None,
    *,
    truth: str | None = None,
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
    truth, item, generator, judge : str, optional
        Columns that their names do not tell: people's labels, the item, what made the outputs, and
        who judged, in a table with one row a vote.

    Returns
    -------
    Diagnosis
        Shown as a screen. ``answers`` has a `line` with its `command` and `options`, the `question`
        it answers, the `reasons`, and how sure it is (`score`); ``questions`` what only you know;
        ``missing`` what other questions need. Of a data frame lines name a file ``table.csv``.

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
    >>> found = bj.doctor(pd.DataFrame({"item": range(80), "judge": said, "human": people}))
    >>> found.answers[0].line.options["--truth"]
    ['human']
    """
    roles = {"item": item, "system": generator, "judge": judge}
    named = {role: name for role, name in roles.items() if name is not None}
    with tempfile.TemporaryDirectory() as folder:
        path = _file(data, folder, "table.csv")
        other = None if labels is None else _file(labels, folder, "labels.csv")
        found = examine(path, truth, other, named)
        begin = f"{folder}/"
        found.path = found.path.removeprefix(begin)
        for at, one in enumerate(found.answers):
            line = replace(
                one.line,
                path=one.line.path.removeprefix(begin),
                options={name: [value.removeprefix(begin) for value in values]
                         for name, values in one.line.options.items()},
            )  # fmt: skip
            found.answers[at] = replace(one, line=line)
        found.labelling = [(what, line.replace(begin, "")) for what, line in found.labelling]
        found.missing = {name: text.replace(begin, "") for name, text in found.missing.items()}
        found.questions = [
            one._replace(text=one.text.replace(begin, "")) for one in found.questions
        ]
        found.contents = [text.replace(begin, "") for text in found.contents]
    return found


def _file(data: Any, folder: str, name: str) -> Path:
    """A path as it is; a data frame written into a file."""
    if isinstance(data, str | Path):
        return Path(data)
    import narwhals as nw

    frame = nw.from_native(data, eager_only=True)
    frame.write_csv(f"{folder}/{name}")
    return Path(folder) / name
