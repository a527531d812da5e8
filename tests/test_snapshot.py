"""What is written down before a change that must leave all numbers as they are."""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from conftest import shared
from digests import digest, moved, write

TOP = Path(__file__).parents[1]
TOOL = TOP / "tools" / "snapshot.py"


STORED = Path(__file__).with_name("snapshot.json")
NUMBERS = ("value", "low", "high", "raw")
#: Its line search gives up at a kink: a point on the way, which rounding decides.
BY_ROUNDING = "regression.source"


def run(path):
    """Write what closed forms and posteriors at once say of every data set."""
    made = subprocess.run(
        [sys.executable, str(TOOL), str(path), "--no-nuts"],
        capture_output=True, text=True, check=False, cwd=TOP,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return json.loads(path.read_text())


def digests_of(records):
    """One of each function, of whatever data sets."""
    found = defaultdict(list)
    for one in records:
        if one["function"].startswith(BY_ROUNDING):
            continue
        key = one["dataset"], one["quantity"], str(one["labels"])
        numbers = [np.nan if one[name] is None else one[name] for name in NUMBERS]
        name = f"{one['dataset'].split('/')[0]}: {one['function'].split(' ')[0]}"
        found[name].append((*key, numbers))
    return {
        name: digest(x for *_, numbers in sorted(rows, key=str) for x in numbers)
        for name, rows in found.items()
    }


@pytest.mark.slow
def test_every_closed_form_and_exact_posterior_is_that_of_today(tmp_path):
    """Where some are to move: python tests/test_snapshot.py."""
    shared("data")
    records = run(tmp_path / "now.json")
    assert len(records) > 15_000
    wrong = moved(digests_of(records), STORED)
    assert not wrong, f"{wrong} moved; python tests/test_snapshot.py writes those of today"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(digests_of(run(Path(folder) / "now.json")), STORED)
