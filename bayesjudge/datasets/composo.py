"""Repeated scores of two judges under four prompts: fetched, checked, never shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pandas as pd

from bayesjudge.core.errors import expect
from bayesjudge.datasets.fetching import fetched

Prompt = Literal["base", "cal-low", "cal-cross", "criteria"]
SOURCE = "https://github.com/composo-ai/llm-judge-criteria-ensembling/raw/e4049a5/results/raw/"
#: SHA-256 of each prompt's file.
FILES = {
    "base": "044274b17ec80786ac1fefe22cda84cdf4c4aae578aa228c9c710f22345cef1c",
    "cal-low": "b90f0c95914ca0ebee4a376a952f607262c6cddfd13243efbdfbc66ad8542047",
    "cal-cross": "c64a268a0c8287b7759c586c289f56d37e25fd13e67f037dd31c58276cd65c2c",
    "criteria": "d738ffcdc648539e3bf994da4875a096ee12fa1ba80d66635a8101b39732ef6a",
}


def composo(prompt: Prompt = "base", *, path: str | Path | None = None) -> pd.DataFrame:
    """Load the scores that two judges gave eight times to four responses per item, 1,730 items.

    The file is fetched once from the authors' repository, at a fixed commit, and kept in the
    user's cache; its checksum is verified each time. `composo_scores` ships counts of one prompt.

    Parameters
    ----------
    prompt : {"base", "cal-low", "cal-cross", "criteria"}
        How the judges were asked; about the same items each time.
    path : str or pathlib.Path, optional
        A copy of the file, instead of fetching it.

    Returns
    -------
    pandas.DataFrame
        One row per call: ``item`` (subset, identifier and, of one that occurs again, its number),
        ``response`` (0 is the correct one), ``judge`` (``"full"``, ``"mini"``), ``repeat`` (0 to
        7) and ``score`` (1 to 10, empty if the call failed).

    Raises
    ------
    InputError
        If the prompt is unknown, or the file cannot be had or is another one.
    ImportError
        If the extra ``data`` is not installed; the message says how to install it.

    References
    ----------
    github.com/composo-ai/llm-judge-criteria-ensembling, MIT licence; prompts and responses of
    RewardBench 2 (Malik et al. 2025), of which nothing is in this table.

    Examples
    --------
    >>> table = composo()  # doctest: +SKIP
    >>> bayesjudge.repeats.Scores.from_frame(table.query("judge == 'mini'"), scale=range(1, 11),
    ...                                      order="repeat")  # doctest: +SKIP
    """
    expect("datasets.composo", prompt in FILES, f"prompt={prompt!r}, expected one of {list(FILES)}")
    name = f"{prompt}_both_k8.jsonl"
    file = fetched(SOURCE + name, name, FILES[prompt], path, "datasets.composo")
    rows, seen = [], dict[str, int]()
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        item = f"{record['subset']} {record['id']}"
        seen[item] = seen.get(item, 0) + 1
        item += f" #{seen[item]}" if seen[item] > 1 else ""
        rows += [
            (item, response, judge, repeat, score)
            for judge in ("full", "mini")
            for response, scores in enumerate(record[f"{judge}_scores"])
            for repeat, score in enumerate(scores)
        ]
    names = ["item", "response", "judge", "repeat", "score"]
    return pd.DataFrame(rows, columns=names).astype({"score": float})
