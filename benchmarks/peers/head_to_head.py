"""The same tables to this package and to thirteen peers: whose 95 % intervals are short and hold?

Eight tasks (a share, a paired difference, mean scores, a panel, kappa, alpha, a leaderboard,
pass^4), each in simulated worlds and on real rows drawn with replacement; labels are random. Tables
are written once (npz), each adapter of ``adapters/`` is run by its own interpreter, and a summary
follows: coverage, mean width and interval score with Monte Carlo errors, answers without width,
refusals, processor time, and the score as a multiple of ours on the same tables.

    python benchmarks/peers/head_to_head.py --install --peers all    # environments from locks/

Quick: ``--tables 3 --results benchmarks/peers/.quick``

Found: with 100 tables a cell (``--tables 100 --seconds 1``; slow peers fewer) no peer's score over
the simulated cells is below ours for a share (GLIDE 1.05 ± .02 of ours, truescore 1.17 ± .02),
scores (ppi_aipw's spline 1.06 ± .03; its auto, of few tables, .98 ± .10), a panel with labels,
kappa (statsmodels 1.60 ± .11), a leaderboard (arena-rank 1.25 ± .04) and pass^4 (1.09 ± .03), and
on real rows none for pass^4 (1.14 ± .10). Peers are better in paired differences of systems that
rarely differ (truescore .79 ± .02 with 50 labels, .98 ± .01 over all), and with 200 labels on real
votes (the labels alone .88 ± .05; with 50 labels truescore 1.01 ± .06). Ours covers .945 ± .005 of
shares, .88 ± .03 in their least cell.

Writes to benchmarks/peers/results: head_to_head.csv, by cell and method; head_to_head_tasks.csv.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import beta

from bayesjudge import datasets, leaderboard

HERE = Path(__file__).parent
PEERS = sorted(path.stem for path in (HERE / "locks").glob("*.txt"))
SEED = 20_431
Table = dict[str, np.ndarray]
#: A way to draw one table, and the number that its intervals are to hold.
World = tuple[Callable[[np.random.Generator], Table], float | np.ndarray]


def hidden(truth: np.ndarray, labels: int, rng: np.random.Generator) -> np.ndarray:
    """The truth of a random sample of rows; nan elsewhere."""
    known = np.argsort(rng.random(len(truth))) < labels
    return np.where(known.reshape(-1, *[1] * (truth.ndim - 1)), truth, np.nan)


def judged(truth: np.ndarray, sens: float, spec: float, rng: np.random.Generator) -> np.ndarray:
    """Verdicts of a judge who errs on each row for itself."""
    draw = rng.random(truth.shape)
    return np.where(truth > 0.5, draw < sens, draw >= spec).astype(float)


def share_worlds() -> Iterator[tuple[str, World]]:
    """Of 800 outputs what share is good?"""
    judges = {"good": (0.95, 0.95), "fair": (0.85, 0.75), "lenient": (0.96, 0.3)}
    for (judge, rates), share, labels in itertools.product(
        judges.items(), (0.05, 0.3, 0.7, 0.95), (50, 200)
    ):

        def draw(rng, rates=rates, share=share, labels=labels):
            truth = (rng.random(800) < share).astype(float)
            return {"verdict": judged(truth, *rates, rng), "truth": hidden(truth, labels, rng)}

        yield f"{judge}, {share}, {labels} labels", (draw, share)
    rows = datasets.xstest().dropna()
    for labels in (50, 200):

        def real(rng, labels=labels):
            drawn = rows.iloc[rng.integers(len(rows), size=800)]
            truth = drawn["truth"].to_numpy(float)
            verdict = drawn["verdict"].to_numpy(float)
            return {"verdict": verdict, "truth": hidden(truth, labels, rng)}

        yield f"real (XSTest), {labels} labels", (real, float(rows["truth"].mean()))


def paired_worlds() -> Iterator[tuple[str, World]]:
    """How much better is b than a on the same 600 items?"""
    for (good, anew, then), labels in itertools.product(
        ((0.7, 0.3, 0.8), (0.9, 0.1, 0.8), (0.5, 0.6, 0.6)), (50, 200)
    ):

        def draw(rng, good=good, anew=anew, then=then, labels=labels):
            a = (rng.random(600) < good).astype(float)
            b = np.where(rng.random(600) < anew, rng.random(600) < then, a)
            table = {f"verdict_{s}": judged(x, 0.9, 0.75, rng) for s, x in (("a", a), ("b", b))}
            known = hidden(np.stack([a, b], axis=1), labels, rng)
            return {**table, "truth_a": known[:, 0], "truth_b": known[:, 1]}

        yield f"{good}, {anew:.0%} anew, {labels} labels", (draw, anew * (good - then))
    wide = datasets.xstest().pivot(index="item", columns="system").dropna()
    a, b = "mistralinstruct", "gpt4"
    gap = float((wide["truth"][a] - wide["truth"][b]).mean())
    for labels in (50, 200):

        def real(rng, labels=labels):
            drawn = wide.iloc[rng.integers(len(wide), size=600)]
            verdicts, truths = (drawn[x][[a, b]].to_numpy(float) for x in ("verdict", "truth"))
            known = hidden(truths, labels, rng)
            return {"verdict_a": verdicts[:, 0], "verdict_b": verdicts[:, 1],
                    "truth_a": known[:, 0], "truth_b": known[:, 1]}  # fmt: skip

        yield f"real (XSTest), {labels} labels", (real, gap)


#: What people's grade is at a score, on 0 to 1.
SHAPES: dict[str, Callable] = {
    "linear": lambda x: 0.1 + 0.8 * x,
    "bent": lambda x: x**4,
    "u-shaped": lambda x: 4 * (x - 0.5) ** 2,
    "useless": lambda x: np.full_like(x, 0.6),
}


def graded(shape: Callable, rng: np.random.Generator, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores on 0 to 1, and people's grades of 1 to 5."""
    score = np.round(rng.beta(2, 1.5, items), 2)
    grade = np.clip(np.round(1 + 4 * shape(score) + rng.normal(0, 0.6, items)), 1, 5)
    return score, grade


def mean_grade(shape: Callable) -> float:
    """Its mean: over the scores, the sum of the chances of each grade above 1."""
    edges = np.clip(np.arange(-0.005, 1.01, 0.01), 0, 1)
    weights = np.diff(beta(2, 1.5).cdf(edges))
    centre = 1 + 4 * shape(np.linspace(0, 1, 101))
    above = ndtr((centre - np.arange(1.5, 5)[:, None]) / 0.6).sum(axis=0)
    return float(weights @ (1 + above))


def score_worlds() -> Iterator[tuple[str, World]]:
    """What do people give 800 outputs on average, of 1 to 5?"""
    for (name, shape), labels in itertools.product(SHAPES.items(), (50, 200)):

        def draw(rng, shape=shape, labels=labels):
            score, grade = graded(shape, rng, 800)
            ends = {"scale": np.array([0.0, 1.0]), "truth_scale": np.array([1.0, 5.0])}
            return {"score": score, "truth": hidden(grade, labels, rng), **ends}

        yield f"{name}, {labels} labels", (draw, mean_grade(shape))
    rows = datasets.llm_rubric()
    for question, labels in (("Q0", 50), ("Q0", 200), ("Q8", 50), ("Q8", 200)):
        both = rows[[f"judge_{question}", f"human_{question}"]].dropna().to_numpy(float)

        def real(rng, both=both, labels=labels):
            score, grade = both[rng.integers(len(both), size=800)].T
            ends = {"scale": np.array([1.0, 4.0]), "truth_scale": np.array([1.0, 4.0])}
            return {"score": score, "truth": hidden(grade, labels, rng), **ends}

        yield f"real (LLM-Rubric {question}), {labels} labels", (real, both[:, 1].mean())


def panel_worlds() -> Iterator[tuple[str, World]]:
    """What share of 600 outputs is good, by five judges?"""
    sens, spec = np.array([0.9, 0.85, 0.8, 0.95, 0.75]), np.array([0.8, 0.7, 0.75, 0.4, 0.85])
    for shared, labels in itertools.product((0.0, 0.6), (0, 50, 200)):

        def draw(rng, shared=shared, labels=labels):
            truth = (rng.random(600) < 0.7).astype(float)
            common, each = rng.standard_normal((600, 1)), rng.standard_normal((600, 5))
            level = ndtr(np.sqrt(shared) * common + np.sqrt(1 - shared) * each)
            votes = np.where(truth[:, None] > 0, level < sens, level < 1 - spec).astype(float)
            return {"votes": votes, "truth": hidden(truth, labels, rng)}

        errors = "errors shared" if shared else "independent"
        yield f"{errors}, {labels} labels", (draw, 0.7)
    rows = datasets.code_feedback_votes().dropna()
    votes, truth = rows.iloc[:, 3:].to_numpy(float), rows["truth"].to_numpy(float)
    for labels in (0, 50, 200):

        def real(rng, labels=labels):
            at = rng.integers(len(votes), size=600)
            return {"votes": votes[at], "truth": hidden(truth[at], labels, rng)}

        yield f"real (code feedback), {labels} labels", (real, float(truth.mean()))


def kappa_of(verdict: np.ndarray, truth: np.ndarray) -> float:
    """Cohen's kappa of two columns of 0 and 1."""
    agreed, p, q = np.mean(verdict == truth), verdict.mean(), truth.mean()
    chance = p * q + (1 - p) * (1 - q)
    return float((agreed - chance) / (1 - chance))


def agreement_worlds() -> Iterator[tuple[str, World]]:
    """What is kappa of judge and people, from labels on some of 400 outputs?"""
    for (share, sens, spec), labels in itertools.product(
        ((0.7, 0.9, 0.7), (0.9, 0.95, 0.6), (0.5, 0.97, 0.97)), (50, 200)
    ):

        def draw(rng, share=share, rates=(sens, spec), labels=labels):
            truth = (rng.random(400) < share).astype(float)
            return {"verdict": judged(truth, *rates, rng), "truth": hidden(truth, labels, rng)}

        p = share * sens + (1 - share) * (1 - spec)
        chance = p * share + (1 - p) * (1 - share)
        agreed = share * sens + (1 - share) * spec
        name = f"{share}, sensitivity {sens}, specificity {spec}, {labels} labels"
        yield name, (draw, (agreed - chance) / (1 - chance))
    both = datasets.xstest().dropna()[["verdict", "truth"]].to_numpy(float)
    for labels in (50, 200):

        def real(rng, labels=labels):
            verdict, truth = both[rng.integers(len(both), size=400)].T
            return {"verdict": verdict, "truth": hidden(truth, labels, rng)}

        yield f"real (XSTest), {labels} labels", (real, kappa_of(*both.T))


def alpha_worlds() -> Iterator[tuple[str, World]]:
    """What is Krippendorff's alpha of five raters of 200 items?"""
    for rate in (0.7, 0.9):

        def draw(rng, rate=rate):
            truth = (rng.random(200) < 0.6).astype(float)
            return {"ratings": judged(np.repeat(truth[:, None], 5, axis=1), rate, rate, rng)}

        p = 0.6 * rate + 0.4 * (1 - rate)
        yield f"five raters right in {rate:.0%}", (draw, 1 - rate * (1 - rate) / (p * (1 - p)))


def board_worlds() -> Iterator[tuple[str, World]]:
    """How far apart are systems for people, in Elo points from their mean?"""
    strengths = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
    for labelled, favours in itertools.product((0.1, 0.3), ((0.0,) * 5, (0.0, 0.6, 0.0, 0.0, 0.0))):

        def draw(rng, labelled=labelled, favours=favours):
            battles = leaderboard.simulate(
                strengths=tuple(strengths), favours=favours, tie=1e-12, items=100,
                labelled=labelled, random_seed=rng,
            )  # fmt: skip
            names = {name: battles[name].str[1:] for name in ("model_a", "model_b")}
            names = {name: (x.astype(int) - 1).astype(str) for name, x in names.items()}
            columns = {name: x.to_numpy("U9") for name, x in names.items()}
            sides = ("winner", "human")
            return columns | {x: battles[x].fillna("").to_numpy("U1") for x in sides}

        liked = "a favourite" if any(favours) else "no favourite"
        yield f"{labelled:.0%} labelled, {liked}", (draw, 400 / np.log(10) * strengths)
    rows = datasets.pandalm()[["first", "second", "gpt35", "annotator1"]].astype("string")
    rows = rows[rows[["gpt35", "annotator1"]].isin(["1", "2"]).all(axis=1)]
    order = sorted({*rows["first"], *rows["second"]})
    side = {"1": "A", "2": "B"}
    columns = {"model_a": rows["first"], "model_b": rows["second"]}
    columns = {k: np.array([str(order.index(x)) for x in v], "U9") for k, v in columns.items()}
    columns["winner"] = np.array([side[x] for x in rows["gpt35"]], "U1")
    columns["human"] = np.array([side[x] for x in rows["annotator1"]], "U1")
    whole = leaderboard.Battles.from_frame(pd.DataFrame(columns), verdict=None, people="human")
    fitted = leaderboard.davidson(whole, order=False).quantities["strength"].value
    points = np.empty(len(order))
    points[[int(name) for name in whole.systems]] = 400 / np.log(10) * (fitted - fitted.mean())

    def real(rng):
        at = rng.integers(len(rows), size=len(rows))
        drawn = {name: x[at] for name, x in columns.items()}
        known = rng.random(len(rows)) < 0.3
        return {**drawn, "human": np.where(known, drawn["human"], "")}

    yield "real (PandaLM), 30% labelled", (real, points)


def attempt_worlds() -> Iterator[tuple[str, World]]:
    """In what share of tasks does an agent succeed four times of four? Whole tasks are labelled."""
    for (a, b), persistence in itertools.product(((1.0, 0.45), (3.0, 1.0)), (0.0, 0.5)):

        def draw(rng, a=a, b=b, persistence=persistence):
            good = (rng.random((100, 4)) < rng.beta(a, b, (100, 1))).astype(float)
            return attempted(good, persistence, rng)

        yield (
            f"Beta({a:g}, {b:g}), persistence {persistence:g}",
            (draw, float(beta(a, b).moment(4))),
        )
    tasks = datasets.tau_bench_airline().pivot(index="task", columns="trial", values="success")
    rows = tasks.to_numpy(float)

    def real(rng):
        return attempted(rows[rng.integers(len(rows), size=100)], 0.3, rng)

    yield "real successes (tau-bench airline), simulated judge", (real, rows.min(axis=1).mean())


def attempted(good: np.ndarray, persistence: float, rng: np.random.Generator) -> Table:
    """Verdicts on attempts, with errors that may persist in a task; 40 tasks labelled."""
    passes = np.where(good > 0, rng.random((len(good), 1)) < 0.9, rng.random((len(good), 1)) >= 0.8)
    persist = rng.random((len(good), 1)) < persistence
    verdict = np.where(persist, passes, judged(good, 0.9, 0.8, rng))
    return {"verdict": verdict, "truth": hidden(good, 40, rng)}


WORLDS = {
    "share": share_worlds,
    "paired": paired_worlds,
    "scores": score_worlds,
    "panel": panel_worlds,
    "agreement": agreement_worlds,
    "alpha": alpha_worlds,
    "leaderboard": board_worlds,
    "attempts": attempt_worlds,
}


def write_tables(folder: Path, tables: int, tasks: list[str]) -> dict[str, str]:
    """Write a file a cell; names of cells by file."""
    cells = {}
    for task in tasks:
        for i, (cell, (draw, target)) in enumerate(WORLDS[task]()):
            cells[f"{task}.{i:02d}"] = cell
            if (folder / f"{task}.{i:02d}.npz").exists():
                continue
            seeds = ([SEED, list(WORLDS).index(task), i, j] for j in range(tables))
            drawn = [draw(np.random.default_rng(seed)) for seed in seeds]
            stacked = {name: np.stack([one[name] for one in drawn]) for name in drawn[0]}
            targets = np.broadcast_to(target, (tables, *np.shape(target)))
            np.savez_compressed(folder / f"{task}.{i:02d}.npz", target=targets, **stacked)
    return cells


def interpreter(peer: str, install: bool) -> Path:
    """The peer's own Python, made from its lock file if asked."""
    folder = HERE / ".envs" / peer
    if install and not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        lock = HERE / "locks" / f"{peer}.txt"
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "-qr", lock], check=True)
    return folder / "bin/python"


def measured(tables: Path, answers: Path) -> Iterator[pd.DataFrame]:
    """Covered, width, interval score and error of the middle, a row a table; systems averaged."""
    for path in sorted(answers.glob("*.npz")):
        task, number, peer, method = path.stem.split(".", 3)
        with np.load(path) as stored:
            ends, seconds, refusal = (stored[name] for name in ("ends", "seconds", "refusal"))
        with np.load(tables / f"{task}.{number}.npz") as stored:
            target = stored["target"][: len(ends)]
        low, high = ends[..., 0], ends[..., 1]
        miss = np.maximum(low - target, 0) + np.maximum(target - high, 0)
        error = (low + high) / 2 - target
        each = np.stack([miss <= 1e-12, high - low, high - low + 40 * miss, error])
        each = np.where(np.isnan(low + high), np.nan, each).reshape(4, len(ends), -1).mean(axis=2)
        names = ("coverage", "width", "score", "error")
        yield pd.DataFrame(dict(zip(names, each, strict=True))).assign(
            **{"task": task, "cell": f"{task}.{number}", "peer": peer, "method": method},
            **{"cpu_ms": 1000 * float(seconds), "first_refusal": str(refusal)},
            table=np.arange(len(ends)),
        )


def beside_ours(rows: pd.DataFrame) -> pd.DataFrame:
    """Scores in units of our mean score in the cell, and ours on the same table."""
    ours = rows[rows["peer"] == "bayesjudge"].set_index(["cell", "table"])["score"]
    if ours.empty:
        return rows.assign(unit=np.nan, ours=np.nan)
    unit = rows["cell"].map(ours.groupby("cell").mean())
    same = ours.reindex(pd.MultiIndex.from_frame(rows[["cell", "table"]])).to_numpy()
    return rows.assign(unit=rows["score"] / unit, ours=same / unit)


def line(rows: pd.DataFrame) -> pd.Series:
    """What one method did over some tables; ``_se`` are Monte Carlo standard errors."""
    answered = rows.dropna(subset="score")
    both = answered.dropna(subset=["unit", "ours"])
    ratio = both["unit"].mean() / both["ours"].mean() if len(both) else np.nan
    apart = (both["unit"] - ratio * both["ours"]) / both["ours"].mean()
    return pd.Series({
        "tables": len(rows),
        "no_answer": 1 - len(answered) / len(rows),
        "no_width": (answered["width"] < 1e-9).mean(),
        "coverage": answered["coverage"].mean(),
        "coverage_se": answered["coverage"].sem(),
        "width": answered["width"].mean(),
        "score": answered["score"].mean(),
        "score_se": answered["score"].sem(),
        "score_to_ours": ratio,
        "score_to_ours_se": apart.sem(),
        "rmse": np.sqrt((answered["error"] ** 2).mean()),
        "cpu_ms": rows["cpu_ms"].mean(),
        "first_refusal": next(filter(None, rows["first_refusal"]), ""),
    })  # fmt: skip


def shown(rows: pd.DataFrame, task: str) -> str:
    """The table of a task in the page of the docs, of results as stored."""
    rows = rows[(rows["task"] == task) & (rows["coverage"] >= 0)]
    lines = ["| rows | method | coverage | width | interval score | of ours | no answer | ms |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for _, one in rows.sort_values(["world", "score"], ascending=[False, True]).iterrows():
        ratio = "" if one["score_to_ours"] != one["score_to_ours"] else (
            f"{one['score_to_ours']:.2f} ± {one['score_to_ours_se']:.2f}")  # fmt: skip
        lines.append(
            f"| {one['world']} | {one['peer']}, {one['method']} | {one['coverage']:.3f} ± "
            f"{one['coverage_se']:.3f} | {one['width']:.3g} | {one['score']:.3g} | {ratio} | "
            f"{one['no_answer']:.0%} | {one['cpu_ms']:.2g} |"
        )
    return "\n".join(lines)


def compact(results: Path) -> str:
    """Of stored results, by task: ours, the best peer that covers as often, and where we lose.

    A peer covers as often if its coverage is no more than two errors below ours, or below .945 if
    ours is above it. A cell is lost if the score of such a peer, over 20 tables or more, is two
    errors below ours.
    """

    def rivals(rows: pd.DataFrame, least: float, tables: int) -> pd.DataFrame:
        peers = rows[(rows["peer"] != "bayesjudge") & (rows["tables"] >= tables)]
        return peers[peers["coverage"] + 2 * peers["coverage_se"] >= min(least, 0.945)]

    tasks, cells = (pd.read_csv(results / f"head_to_head{x}.csv") for x in ("_tasks", ""))
    head = "| task | rows | our coverage | best peer at this coverage | its score, of ours | lost |"
    lines = [head, "|---|---|---|---|---|---|"]
    for (task, world), rows in tasks.groupby(["task", "world"], sort=False):
        ours = rows[rows["peer"] == "bayesjudge"]
        if ours.empty:
            continue
        covered = ours["coverage"].item()
        best = rivals(rows, covered, 20).nsmallest(1, "score_to_ours")
        lost, of = [], cells[(cells["task"] == task)]
        of = of[of["cell"].str.startswith("real") == (world == "real")]
        for cell, beside in of.groupby("cell", sort=False):
            mine = beside.loc[beside["peer"] == "bayesjudge", "coverage"].item()
            ratio = rivals(beside, mine, 20).nsmallest(1, "score_to_ours")
            if (ratio["score_to_ours"] + 2 * ratio["score_to_ours_se"] < 1).any():
                lost.append(f"{cell} ({ratio['score_to_ours'].item():.2f})")
        said = ", ".join(f"{r.peer}, {r.method}" for r in best.itertuples()) or "none"
        score = ", ".join(f"{r.score_to_ours:.2f} ± {r.score_to_ours_se:.2f}"
                          for r in best.itertuples())  # fmt: skip
        lines.append(f"| {task} | {world} | {covered:.3f} ± {ours['coverage_se'].item():.3f} | "
                     f"{said} | {score} | {'; '.join(lost) or 'none'} |")  # fmt: skip
    return "\n".join(lines)


def ask(peer: str, tables: Path, answers: Path, asked: argparse.Namespace) -> None:
    """Run an adapter by its own interpreter; ours without a limit of time."""
    ours = peer == "bayesjudge"
    python = Path(sys.executable) if ours else interpreter(peer, asked.install)
    command = [python, HERE / "adapters/run.py", HERE / f"adapters/{peer}.py", tables, answers]
    paths = os.pathsep.join([str(HERE.parents[1])] if ours else [])
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    seconds = 1e6 if ours else asked.seconds
    subprocess.run([*command, f"--seconds={seconds}"], check=True, env=environment)


def main() -> None:
    """Write tables, ask everyone, and summarise what has been answered."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=300, help="of each cell")
    parser.add_argument("--tasks", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--peers", nargs="*", default=[], help="all, or names of lock files")
    parser.add_argument("--install", action="store_true", help="make missing environments")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a peer's method and cell")
    parser.add_argument("--jobs", type=int, default=1, help="of adapters side by side")
    parser.add_argument("--resume", action="store_true", help="go on with a run that was stopped")
    parser.add_argument("--compact", action="store_true", help="the stored results in one table")
    parser.add_argument("--work", type=Path, default=HERE / ".tables")
    parser.add_argument("--results", type=Path, default=HERE / "results")
    asked = parser.parse_args()
    if asked.compact:
        print(compact(asked.results))
        return
    tables, answers = (asked.work / f"{asked.tables}-{name}" for name in ("tables", "answers"))
    for folder in (tables, answers):
        if not asked.resume:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    cells = write_tables(tables, asked.tables, asked.tasks)
    peers = PEERS if asked.peers == ["all"] else asked.peers
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(lambda peer: ask(peer, tables, answers, asked), ["bayesjudge", *peers]))
    rows = beside_ours(pd.concat(measured(tables, answers)))
    rows["cell"] = rows["cell"].map(cells)
    rows["world"] = np.where(rows["cell"].str.startswith("real"), "real", "simulated")
    asked.results.mkdir(parents=True, exist_ok=True)
    for by, name in ((["task", "cell"], "head_to_head"), (["task", "world"], "head_to_head_tasks")):
        groups = rows.groupby([*by, "peer", "method"], sort=False)
        made = groups.apply(line, include_groups=False).reset_index()
        path = asked.results / f"{name}.csv"
        if path.exists():  # keep what other tasks, and peers not asked now, have answered
            kept = pd.read_csv(path).merge(made[["task", "peer"]].drop_duplicates(), how="left",
                                           indicator="again")  # fmt: skip
            made = pd.concat([kept[kept.pop("again") == "left_only"], made])
        made = made.sort_values([*by, "peer", "method"])
        made.to_csv(path, index=False, float_format="%.4g")
    print("\n\n".join(f"{task}\n{shown(made, task)}" for task in asked.tasks))


if __name__ == "__main__":
    main()
