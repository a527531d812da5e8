"""The loader of a public panel: a workbook of the published layout, and files that are not it."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from conftest import shared
from refusals import refused

import bayesjudge as bj
from bayesjudge.datasets import code_feedback


def checksum(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def workbook(table, file):
    """Write sheets as the authors do: labels ``y``, votes ``y_NAME``, and what else they note."""
    with pd.ExcelWriter(file) as writer:
        for generator, rows in table.groupby("generator", sort=False):
            sheet = rows.drop(columns=["item", "generator"]).rename(columns={"human": "y"})
            sheet.columns = [c if c in ("y", "program", "line") else f"y_{c}" for c in sheet]
            sheet.assign(ensemble_i4=0).to_excel(writer, sheet_name=generator, index=False)
    return file


@pytest.mark.slow
def test_a_copy_of_the_panel_is_read(tmp_path):
    table = pd.read_csv(shared("data/code_feedback/votes_repaired.csv.gz"))
    table = table[table["item"] % 10 == 0]
    file = workbook(table, tmp_path / "copy.xlsx")
    loaded = code_feedback(path=file, sha256=checksum(file))
    judges = list(loaded.columns[3:])
    assert judges == list(table.columns[5:])
    one = bj.panel.Votes.from_frame(loaded, judges=judges)
    other = bj.panel.Votes.from_frame(table, judges=judges, truth="human")
    assert one.generators == other.generators
    for name in ("votes", "truth", "generator", "count"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_another_file_is_refused(tmp_path):
    file = tmp_path / "other.xlsx"
    file.write_bytes(b"version https://git-lfs.github.com/spec/v1")
    with refused(id="other-file", name="other.xlsx"):
        code_feedback(path=file)
    with refused(id="no-file"):
        code_feedback(path=tmp_path / "none.xlsx")
    with refused("level=", subject="datasets.code_feedback"):
        code_feedback("raw")


def test_another_layout_is_refused(tmp_path):
    file = tmp_path / "copy.xlsx"
    pd.DataFrame({"label": [1]}).to_excel(file, sheet_name="gpt-4o", index=False)
    with refused("gpt-4o", "y", id="no-label-column"):
        code_feedback(path=file, sha256=checksum(file))


def test_without_a_network_the_file_is_asked_for(monkeypatch):
    pooch = pytest.importorskip("pooch")

    def refuse(*_args, **_settings):
        raise ConnectionError("no route")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    with refused("path=", subject="datasets.code_feedback"):
        code_feedback()
