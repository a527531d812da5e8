"""Ctrl-C ends every command with 130, and never with 1, which is a gate's fail."""

import os
import signal
import subprocess
import sys
import time

import pytest
from commands import commands, run

import bayesjudge.cli.app
from bayesjudge.readers import tables

COMMANDS = commands()


@pytest.fixture(autouse=True)
def heeded():
    """Ctrl-C as in a terminal: what runs in the background takes no notice of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class CtrlC:
    """Counts calls within the package, and presses Ctrl-C at one of them."""

    def __init__(self, at=0):
        self.at, self.calls = at, 0

    def __enter__(self):
        sys.setprofile(self)
        return self

    def __exit__(self, *error):
        sys.setprofile(None)

    def __call__(self, frame, event, argument):
        if event == "call" and f"{os.sep}bayesjudge{os.sep}" in frame.f_code.co_filename:
            self.calls += 1
            if self.calls == self.at:
                sys.setprofile(None)
                signal.raise_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_at_any_moment_of_a_command(name, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(tables, "LARGE", 1)
    path = tmp_path / "rows.parquet"
    COMMANDS[name].table.to_parquet(path, index=False)
    line = COMMANDS[name].line(path)
    run(line)  # what is imported and kept comes once
    with CtrlC() as watch:
        run(line)
    given = {}
    for at in {max(1, watch.calls * part // 12) for part in range(1, 12)}:
        with CtrlC(at):
            code, _, told = run(line)
        kept = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        given[at] = (code, told.splitlines()[-1:], kept)
    wrong = {at: found for at, found in given.items()
             if found != (130, ["bayesjudge: stopped"], True)}  # fmt: skip
    assert not wrong


#: Three million items, which DuckDB groups.
ROWS = """
SELECT 'q' || hash(i) AS item, 'PASS' AS verdict, CASE WHEN i % 100 < 1 THEN 'yes' END AS truth
FROM range(3000000) t(i)
"""


@pytest.mark.slow
def test_ctrl_c_while_duckdb_works(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "rows.parquet"
    duckdb.connect().execute(f"COPY ({ROWS}) TO '{path}' (FORMAT parquet)")
    line = ["prevalence", str(path), "--verdict=verdict", "--truth=truth", "--item=item",
            "--calibration=random", "--no-nuts"]  # fmt: skip
    command = [sys.executable, "-m", "bayesjudge", *line]
    began = time.monotonic()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    whole, stopped = time.monotonic() - began, 0
    for part in (0.4, 0.5, 0.6, 0.7):
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            time.sleep(part * whole)
            child.send_signal(signal.SIGINT)
            _, told = child.communicate()
        stopped += child.returncode == 130
        assert child.returncode in (0, 130)  # it may have been quicker
        assert "Traceback" not in told
    assert stopped


def test_an_error_of_the_package_itself_is_no_fail_of_a_gate(monkeypatch, capsys):
    def wrong(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(bayesjudge.cli.app, "main", wrong)
    with pytest.raises(ZeroDivisionError):
        bayesjudge.cli.main(["gate"])
    assert bayesjudge.cli.main() == 70
    assert "ZeroDivisionError" in capsys.readouterr().err
