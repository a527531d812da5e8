"""The same battles by evalica, arena-rank, FastChat and AlpacaEval: what each answers.

    python -m venv peers && peers/bin/pip install evalica arena-rank
    peers/bin/pip install --no-deps fschat alpaca_eval && peers/bin/pip install scikit-learn patsy
    python benchmarks/leaderboard/peers.py --peers peers/bin/python

A simulated table of 20,000 battles of 20 systems by one judge, in both orders, and people's
verdicts on 400 of them; the judge likes three systems and longer answers more than people do.
Compared: strengths of Bradley-Terry with ties as half wins, widths of the intervals that each has
(sandwich; of FastChat's 100 bootstrapped tables), processor time in a process that is warm, and the
share of people's true strengths that 95 % intervals hold. Of FastChat `compute_elo_mle_with_tie`
and of AlpacaEval `fit_LogisticRegressionCV` are run as they stand in the installed files (their
packages import what a leaderboard does not need). AlpacaEval's regression sees the battles against
one system only, and has no difficulty of instructions here, which it takes from its own table.
Several interpreters may be named; each runs what it has, and without any ours is alone. Writes
``results/peers.csv``.

Quick: as it is.

Found: strengths are those of evalica 0.4.2 to 2e-14, of arena-rank 0.1.1 to 4e-10, and of FastChat
0.2.36 to 6e-4 (its logistic regression has a ridge). AlpacaEval's regression, which sees 1,995 of
the battles, is 33 points off these (root mean square), and as far from people's as they are. The
judge's own intervals, 28 to 35 points wide, hold .15 to .30 of people's strengths, whoever makes
them; people's verdicts alone .95 with 250 points; people given judge .90 (18 of 20) with 139, and a
root mean square error of 42 against 54 (judge) and 67 points (people only). One table:
people_held.py has many. Processor seconds (on a busy machine): 1.3 with the posterior, .1 to .3
without; evalica .02, arena-rank 1.4, FastChat 4.9 (100 bootstrapped tables), AlpacaEval 1.9. The
row of people given judge is of today's code, those of peers are of an earlier run.
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
#: What every script of a peer begins with.
BEGIN = """
import ast, importlib.util, json, math, sys, time
import numpy as np, pandas as pd
table = pd.read_csv(sys.argv[1])
def functions(package, path, *names):
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    tree = ast.parse(open(f"{folder}/{path}").read())
    tree.body = [node for node in tree.body if getattr(node, "name", "") in names]
    for node in tree.body:
        node.returns = None
        for given in node.args.args:
            given.annotation = None
    exec(compile(tree, path, "exec"), globals())
def say(value, seconds, **ends):
    print(json.dumps({"value": dict(value), "seconds": seconds, **ends}))
"""
#: Strengths in log-odds by system, by peer; each is run by an interpreter that has it.
PEERS = {
    "evalica": """
import evalica
places = {"A": evalica.Winner.X, "B": evalica.Winner.Y}
won = [places.get(w, evalica.Winner.Draw) for w in table.winner]
for _ in range(2):
    begin = time.process_time()
    found = evalica.bradley_terry(table.model_a, table.model_b, won, tolerance=1e-12, limit=10000)
    took = time.process_time() - begin
say(np.log(found.scores), took)
""",
    "arena-rank": """
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
frame = table.replace({"winner": {"A": "model_a", "B": "model_b"}})
for _ in range(2):
    begin = time.process_time()
    data = PairDataset.from_pandas(frame)
    model = BradleyTerry(n_competitors=len(data.competitors), gtol=1e-12, ftol=1e-15)
    rated = model.compute_ratings_and_cis(data)
    took = time.process_time() - begin
names, elo = list(map(str, rated["competitors"])), 400 / math.log(10)
by = {k: dict(zip(names, (np.array(v, float) / elo).tolist())) for k, v in rated.items()
      if k.startswith("rating")}
say(by["ratings"], took, low=by["rating_lower"], high=by["rating_upper"])
""",
    "FastChat": """
from tqdm import tqdm
functions("fastchat", "serve/monitor/elo_analysis.py", "compute_elo_mle_with_tie",
          "get_bootstrap_result")
frame = table.replace({"winner": {"A": "model_a", "B": "model_b"}})
elo = 400 / math.log(10)
begin = time.process_time()
value = compute_elo_mle_with_tie(frame) / elo
np.random.seed(1)
rounds = get_bootstrap_result(frame, compute_elo_mle_with_tie, 100) / elo
took = time.process_time() - begin
centred = rounds.sub(rounds.mean(axis=1), axis=0) + value.mean()
say(value, took, low=dict(centred.quantile(0.025)), high=dict(centred.quantile(0.975)))
""",
    "AlpacaEval": """
import sklearn
from patsy import build_design_matrices, dmatrix
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold
functions("alpaca_eval", "metrics/glm_winrate.py", "logloss", "logloss_continuous",
          "fit_LogisticRegressionCV", "make_dmatrix_for_model")
formula = "np.tanh(std_delta_len) + not_gamed_baseline.astype(float) - 1"
begin, value = time.process_time(), {"s1": 0.0}
for name in sorted({*table.model_a} - {"s1"}):
    rows = table[((table.model_a == name) & (table.model_b == "s1"))
                 | ((table.model_b == name) & (table.model_a == "s1"))]
    ours = (rows.model_a == name).to_numpy()
    first = rows.winner.map({"A": 1.0, "B": 0.0}).fillna(0.5).to_numpy()
    gap = (rows.length_a - rows.length_b).to_numpy() * np.where(ours, 1, -1)
    frame = pd.DataFrame({"preference": np.where(ours, first, 1 - first),
                          "std_delta_len": gap / gap.std(), "not_gamed_baseline": True})
    train, _ = make_dmatrix_for_model(frame, frame.assign(std_delta_len=0), formula=formula)
    fitted = fit_LogisticRegressionCV(train, "preference", n_splits=5)
    value[name] = float(fitted.coef_[0][list(train.columns).index(
        "not_gamed_baseline.astype(float)")])
say(value, time.process_time() - begin)
""",
}


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", nargs="*", default=[], help="interpreters that have them")
    asked = parser.parse_args()
    rng = np.random.default_rng(7)
    truth = rng.normal(0, 0.6, 20)
    truth -= truth.mean()
    favours = np.zeros(20)
    favours[[2, 9, 15]] = 0.9, 0.7, 0.7
    table = leaderboard.simulate(strengths=tuple(truth), favours=tuple(favours), items=105,
                                 labelled=0.02, length_effect=0.5, random_seed=7)  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "battles.csv"
        table.to_csv(path, index=False)
        others = {name: by_peer(name, asked.peers, path) for name in PEERS if asked.peers}
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
    true = truth_of(battles, truth)
    for name, found in others.items():
        value = pd.Series(found["value"])[list(plain.index)]
        centred = value - value.mean()
        off = (centred - plain).abs()
        print(f"{name}: strengths off by at most {off.max():.1e}, root mean square "
              f"{ELO * (off**2).mean() ** 0.5:.2f} points")  # fmt: skip
        width = held = np.nan
        if "low" in found:
            low, high = (
                pd.Series(found[k])[list(plain.index)] - value.mean() for k in ("low", "high")
            )
            width, held = ELO * (high - low).mean(), ((low <= true) & (true <= high)).mean()
        error = ELO * np.sqrt(((centred - true) ** 2).mean())
        rows.append((name, width, held, error, found["seconds"]))
    made = pd.DataFrame(rows, columns=["method", "width", "held", "rmse", "cpu_seconds"]).round(3)
    print(f"{battles}")
    print(made.to_string(index=False))
    made.to_csv(RESULTS / "peers.csv", index=False)


def by_peer(name: str, interpreters: list[str], path: Path) -> dict:
    """What a peer says of the table, by the first interpreter that has it."""
    for python in interpreters:
        run = subprocess.run([python, "-W", "ignore", "-c", BEGIN + PEERS[name], str(path)],
                             check=False, capture_output=True, text=True)  # fmt: skip
        if run.returncode == 0:
            return json.loads(run.stdout.strip().splitlines()[-1])
    raise SystemExit(f"{name}: {run.stderr.strip().splitlines()[-1]}")


def truth_of(battles: leaderboard.Battles, truth: np.ndarray) -> np.ndarray:
    """People's strengths in the order of the names."""
    return truth[[int(name[1:]) - 1 for name in battles.systems]]


if __name__ == "__main__":
    main()
