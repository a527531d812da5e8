"""A table as the log that Inspect would have written, to try what reads such logs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd

from bayesjudge.core.tables import require_columns

_NAMES = {1.0: "C", 0.0: "I"}


def write_inspect_log(
    table: pd.DataFrame,
    path: str | PathLike[str],
    *,
    model: str = "openai/model",
    judge: str = "openai/judge",
) -> Path:
    """Write verdicts and human labels as an Inspect log, without Inspect.

    Verdicts become the grades of a model-graded scorer, an empty one a grade that could not be
    read; human labels become metadata of the samples, as annotators' tools leave them there.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per item: ``item``, ``verdict`` (1, 0 or empty) and ``truth`` (1, 0 or empty).
    path : str or path
        File to write, by custom ``*.eval``.
    model, judge : str
        Names of the model that answered and of the one that graded.

    Returns
    -------
    pathlib.Path
        The file that was written.

    Raises
    ------
    InputError
        If a column is missing.

    Examples
    --------
    >>> import tempfile
    >>> from bayesjudge.datasets import xstest
    >>> from bayesjudge.readers import read_log
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gpt4 = xstest().query("system == 'gpt4'")
    ...     log = read_log(write_inspect_log(gpt4, Path(folder) / "run.eval"))
    >>> print(log)
    Inspect: 450 grades of 450 items, 1 system; model_graded_qa by openai/judge (C, I): 450 grades
    """
    require_columns(table, "item", "verdict", "truth")
    scorer = {"name": "model_graded_qa", "options": {"model": judge}}
    about = {"task": "task", "model": model, "dataset": {"samples": len(table)}}
    header = {"version": 2, "status": "success", "eval": about | {"scorers": [scorer]}}
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps(header))
        for sample in _samples(table, judge):
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return Path(path)


def _samples(table: pd.DataFrame, judge: str) -> Iterator[Mapping[str, Any]]:
    columns = (table[name].tolist() for name in ("item", "verdict", "truth"))
    for item, verdict, truth in zip(*columns, strict=True):
        grade = _NAMES.get(verdict)
        reason = f"GRADE: {grade}" if grade else "I would rather not say."
        message = {"role": "assistant", "model": judge, "content": reason}
        score: dict[str, Any] = {"value": grade or math.nan, "answer": "", "explanation": reason}
        score["metadata"] = {"grading": [message]}
        if grade is None:
            score["reason"] = "grader_failed"
        yield {
            "id": str(item),
            "epoch": 1,
            "input": f"prompt {item}",
            "target": "",
            "output": {"completion": f"answer {item}"},
            "scores": {"model_graded_qa": score},
            "metadata": {"human_label": _NAMES.get(truth)},
        }
