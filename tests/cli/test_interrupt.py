"""Ctrl-C ends every command with 130, and never with 1, which is a gate's fail."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from commands import commands, run
from conftest import each_in_turn, in_turn, study_but

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


@pytest.mark.parametrize(
    ("error", "end", "shown"),
    [
        (ModuleNotFoundError, KeyboardInterrupt, 0),
        (ModuleNotFoundError, None, 1),
        (KeyboardInterrupt, None, 0),
        (ValueError, KeyboardInterrupt, 1),
    ],
)
def test_what_ctrl_c_leaves_in_compiled_code_is_not_printed(error, end, shown, monkeypatch):
    """An import that fails there by itself is printed at the end."""
    printed = []

    def command(_):
        bayesjudge.cli._unraised(SimpleNamespace(exc_type=error))
        if end:
            raise end
        return 0

    monkeypatch.setattr(sys, "__unraisablehook__", printed.append)
    monkeypatch.setattr("bayesjudge.cli.app.main", command)
    assert bayesjudge.cli.main([]) == (130 if end else 0)
    assert len(printed) == shown


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@each_in_turn
def test_ctrl_c_at_any_moment_of_a_command(name, turns, tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(tables, "LARGE", 1)
    path = tmp_path / "rows.parquet"
    COMMANDS[name].table.to_parquet(path, index=False)
    line = COMMANDS[name].line(path)
    run(line)  # what is imported and kept comes once
    with CtrlC() as watch:
        run(line)
    given = {}
    parts = in_turn(range(1, 12), COMMANDS, name, turns)
    for at in {max(1, watch.calls * part // 12) for part in parts}:
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
        code, told, left = killed(line, tmp_path / f"{part}", part * whole)
        # the first two are a shell's 130; it may have been quicker
        assert code in (130, -signal.SIGINT, 0)
        stopped += code != 0
        assert "Traceback" not in told
        assert not left
    assert stopped


#: As the console script does, and says when `main` begins: Python's own start is Python's.
BEGUN = """
import sys
from bayesjudge.cli import main
print("begun", flush=True)
sys.exit(main())
"""


def killed(line, folder, after):
    """Exit code, stderr, and what was left of the temporary folder, of a command stopped then."""
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", BEGUN, *line],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(folder)},
    ) as child:
        child.stdout.readline()
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate()
    return child.returncode, told, [path.name for path in folder.rglob("*")]


#: Presses Ctrl-C when the package begins to import its parts.
EARLY = """
import signal, sys

class CtrlC:
    def find_spec(self, name, *where):
        if name == "bayesjudge.compiled":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, CtrlC())
"""


def test_ctrl_c_while_the_package_is_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(EARLY)
    folders = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "bayesjudge", "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
        check=False,
    )
    assert done.returncode in (130, -signal.SIGINT)  # both are a shell's 130
    assert not done.stdout
    assert not done.stderr


#: A gate that fails, and a gate whose table DuckDB groups and puts on disk.
GATES = {"small": 300, "large": 3_000_000}


@pytest.mark.parametrize("name", study_but(GATES, "small"))  # DuckDB's leftovers: the test above
@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.study)]
)
def test_a_gate_killed_at_random_is_stopped_or_decides(name, kills, tmp_path):
    """Stopped without a word more, or what it decided; nothing is left on disk."""
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "rows.parquet"
    rows = ROWS.replace("3000000", str(GATES[name]))
    duckdb.connect().execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    line = ["gate", str(path), "--truth=truth", "--item=item", "--calibration=random",
            "--at-most=0.5"]  # fmt: skip
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "bayesjudge", *line], check=False)
    whole, decided = time.monotonic() - began, done.returncode
    assert decided == 1, "a gate that fails"
    rng, seen = np.random.default_rng(kills), Counter()
    for i in range(kills):
        code, told, left = killed(line, tmp_path / f"{i}", rng.uniform(0, 0.95 * whole))
        assert "Traceback" not in told, told
        assert code in (130, -signal.SIGINT, decided), told  # the first two are a shell's 130
        assert not left
        seen[code] += 1
    print(seen)
    assert set(seen) - {decided}


def test_an_error_of_the_package_itself_is_no_fail_of_a_gate(monkeypatch, capsys):
    def wrong(arguments):
        raise ZeroDivisionError

    monkeypatch.setattr(bayesjudge.cli.app, "main", wrong)
    with pytest.raises(ZeroDivisionError):
        bayesjudge.cli.main(["gate"])
    assert bayesjudge.cli.main() == 70
    assert "ZeroDivisionError" in capsys.readouterr().err
