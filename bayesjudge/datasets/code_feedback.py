"""Votes of 14 LLM judges on the feedback of six generators: fetched, checked, never shipped."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pandas as pd

from bayesjudge.core.errors import checking, expect
from bayesjudge.datasets.fetching import fetched, without

Level = Literal["repaired", "partly_repaired"]
_COMMIT = "1891c4385f69368462eeb34216ba564df9a0b51e"
SOURCE = f"https://github.com/ai-cet/llm-judge-calibration/raw/{_COMMIT}/output/ensemble/"
#: File and SHA-256 by level of repair: of feedback texts only, or of line numbers and labels too.
FILES = {
    "repaired": (
        "ensemble_results_fcnhp.xlsx",
        "0ede731c40107bd68d8d3ca3343106021bf5e5f529df438b85fa1f4cedb5dd7b",
    ),
    "partly_repaired": (
        "ensemble_results_fc.xlsx",
        "31affda3e5ab0eb2a6d182de01d12d95c4d14447531b2ae5d72f75d8d2d863c9",
    ),
}


def code_feedback(
    level: Level = "repaired", *, path: str | Path | None = None, sha256: str | None = None
) -> pd.DataFrame:
    """Load the panel of Jain et al. (2025): 5,972 items, 14 judges, human labels for all.

    The workbook is fetched once from the authors' repository, at a fixed commit, and kept in the
    user's cache; its checksum is verified each time. `code_feedback_votes` ships five judges.

    Parameters
    ----------
    level : {"repaired", "partly_repaired"}
        How much of what the judges wrote was repaired: 2.7 % of the votes are missing, or 4.6 %.
    path : str or pathlib.Path, optional
        A copy of the workbook, instead of fetching it.
    sha256 : str, optional
        Checksum that the file must have; the published one by default.

    Returns
    -------
    pandas.DataFrame
        A wide table, one row per item: ``item``, ``generator``, ``truth`` (1 is valid) and one
        column per judge (1 valid, 0 invalid, empty missing).

    Raises
    ------
    InputError
        If the level is unknown, the file cannot be had, is another file, or is laid out in
        another way.
    ImportError
        If the extra ``data`` is not installed; the message says how to install it.

    References
    ----------
    Jain et al. (2025), Beyond Consensus; github.com/ai-cet/llm-judge-calibration, MIT licence.

    Examples
    --------
    >>> table = code_feedback()  # doctest: +SKIP
    >>> judges = list(table.columns[3:])  # doctest: +SKIP
    >>> votes = bayesjudge.panel.Votes.from_frame(table, judges=judges)  # doctest: +SKIP
    """
    problem = f"level={level!r}, expected one of {list(FILES)}"
    expect("datasets.code_feedback", level in FILES, problem)
    name, published = FILES[level]
    wanted = sha256 or published
    return _from_workbook(fetched(SOURCE + name, name, wanted, path, "datasets.code_feedback"))


def _from_workbook(file: Path) -> pd.DataFrame:
    """Join the sheets, one per generator: people's label is ``y``, a judge's vote ``y_NAME``."""
    try:
        sheets = pd.read_excel(file, sheet_name=None)
    except ImportError as error:
        raise without("openpyxl") from error
    parts = []
    for generator, sheet in sheets.items():
        judges = [column for column in sheet.columns if str(column).startswith("y_")]
        with checking(f"sheet {generator!r} of {file.name}") as require:
            require("y" in sheet.columns, "no-label-column", what=[*sheet.columns])
            require(judges, "no columns 'y_…' (the judges' votes)")
        votes = sheet[judges].rename(columns=lambda column: column.removeprefix("y_"))
        parts.append(pd.concat([sheet["y"].rename("truth"), votes], axis=1))
        parts[-1].insert(0, "generator", generator)
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "item", range(len(table)))
    return table
