"""The same battles by evalica and arena-rank: the same strengths, and what each answers.

    python -m venv peers && peers/bin/pip install evalica arena-rank
    python benchmarks/leaderboard/peers.py --peers peers/bin/python

A simulated table of 20,000 battles of 20 systems by one judge, in both orders, and people's
verdicts on 400 of them; the judge likes three systems more than people do. Compared: strengths of
Bradley-Terry with ties as half wins, widths of the sandwich intervals, processor time in a process
that is warm, and the share of people's true strengths that 95 % intervals hold. Writes
``results/peers.csv``.

Found: strengths are those of evalica 0.4.2 to 2e-14 and of arena-rank 0.1.1 to 4e-10. The judge's
own intervals, 29 to 35 points wide, hold .15 to .30 of people's strengths, whoever makes them;
people's verdicts alone .95 with 250 points; people given judge .85 (17 of 20) with 126, and a root
mean square error of 44 against 55 (judge) and 67 points (people only). One table: people_held.py
has many.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from bayesjudge import leaderboard

RESULTS = Path(__file__).parent / "results"
ELO = 400 / np.log(10)
#: Run by the other interpreter; prints a JSON object.
PEERS = """
import json, sys, time
import numpy as np, pandas as pd
table = pd.read_csv(sys.argv[1])
out = {}
import evalica
places = {"A": evalica.Winner.X, "B": evalica.Winner.Y}
won = [places.get(w, evalica.Winner.Draw) for w in table.winner]
for _ in range(2):
    begin = time.process_time()
    found = evalica.bradley_terry(table.model_a, table.model_b, won, tolerance=1e-12, limit=10000)
    took = time.process_time() - begin
out["evalica"] = {"value": np.log(found.scores).to_dict(), "seconds": took}
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
frame = table.replace({"winner": {"A": "model_a", "B": "model_b"}})
for _ in range(2):
    begin = time.process_time()
    data = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(data.competitors), gtol=1e-12, ftol=1e-15)
    rated = model.compute_ratings_and_cis(data)
    took = time.process_time() - begin
names = list(map(str, rated["competitors"]))
ends = {k: dict(zip(names, map(float, rated[k]))) for k in ("rating_lower", "rating_upper")}
value = dict(zip(names, map(float, rated["ratings"])))
out["arena-rank"] = {"value": value, **ends, "seconds": took}
print(json.dumps(out))
"""


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True, help="an interpreter that has both")
    asked = parser.parse_args()
    rng = np.random.default_rng(7)
    truth = rng.normal(0, 0.6, 20)
    truth -= truth.mean()
    favours = np.zeros(20)
    favours[[2, 9, 15]] = 0.9, 0.7, 0.7
    table = leaderboard.simulate(strengths=tuple(truth), favours=tuple(favours), items=105,
                                 labelled=0.02, random_seed=7)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.csv"
        table.to_csv(path, index=False)
        run = subprocess.run([asked.peers, "-W", "ignore", "-c", PEERS, str(path)], check=True,
                             capture_output=True, text=True)  # fmt: skip
    others = json.loads(run.stdout.strip().splitlines()[-1])
    rows = []
    own = {}
    for name, make in {
        "bayesjudge, judge alone (half wins)": lambda b: leaderboard.davidson(
            b, "judge", ties="half", order=False
        ),
        "bayesjudge, judge alone (Davidson)": lambda b: leaderboard.davidson(b, "judge"),
        "bayesjudge, people only": lambda b: leaderboard.davidson(b, order=False),
        "bayesjudge, prediction-powered": leaderboard.power_tuned,
        "bayesjudge, people given judge": lambda b: leaderboard.approximate(b).estimate(),
    }.items():
        for _ in range(2):
            begin = time.process_time()
            battles = leaderboard.Battles.from_frame(table, people="human")
            made = make(battles)
            took = time.process_time() - begin
        one = made.quantities["strength"]
        own[name] = pd.Series(one.value, battles.systems)
        true = truth_of(battles, truth)
        held = ((one.low <= true) & (true <= one.high)).mean()
        error = ELO * np.sqrt(((one.value - true) ** 2).mean())
        rows.append((name, ELO * (one.high - one.low).mean(), held, error, took))
    plain = own["bayesjudge, judge alone (half wins)"]
    for name, found in others.items():
        value = pd.Series(found["value"])[list(plain.index)]
        value = value / ELO if name == "arena-rank" else value
        centred = value - value.mean()
        print(f"{name}: strengths off by at most {(centred - plain).abs().max():.1e}")
        width = held = np.nan
        true = truth_of(battles, truth)
        if "rating_lower" in found:
            low, high = (pd.Series(found[k])[list(plain.index)] / ELO - value.mean()
                         for k in ("rating_lower", "rating_upper"))  # fmt: skip
            width, held = ELO * (high - low).mean(), ((low <= true) & (true <= high)).mean()
        error = ELO * np.sqrt(((centred - true) ** 2).mean())
        rows.append((name, width, held, error, found["seconds"]))
    made = pd.DataFrame(rows, columns=["method", "width", "held", "rmse", "cpu_seconds"]).round(3)
    print(f"{battles}")
    print(made.to_string(index=False))
    made.to_csv(RESULTS / "peers.csv", index=False)


def truth_of(battles: leaderboard.Battles, truth: np.ndarray) -> np.ndarray:
    """People's strengths in the order of the names."""
    return truth[[int(name[1:]) - 1 for name in battles.systems]]


if __name__ == "__main__":
    main()
