"""Twelve fresh tables and logs, tried as somebody would who has read README.md alone.

    python benchmarks/cli/new_user.py --save

`doctor FILE` is asked, and the lines that it proposes are pasted: the one that answers the file's
own question, which stands beside it here. A try is one command; the first sentence is what a person
would send on. None of these files is of the worlds on which doctor was tuned: other names, another
language, nested fields, a workbook, metadata of a log.

Quick: ``--only 4_langsmith.csv 11_calls.csv``

Found: 12 of 12 are answered, 11 in two tries (doctor, then the line for their question) and one in
three: the labels of the promptfoo log stand in metadata that is called `support_lead`, which doctor
names as what may hold labels, so that `--truth support_lead` is one try more. No word had to be
looked up to paste a line; that labels are a random sample (`--calibration random`) is a guess that
doctor says. CPU: 1.0 to 3.3 s for doctor, 1.3 to 3.4 s for the answer with its page. First
sentences have 20 to 25 words. Before this study doctor took the systems of `demo --csv` for items,
and `bias orders` wanted two options for `verdict_order1` and `verdict_order2`. truescore 0.7.4
(doctor, audit) answers 4 of the 12 in .7 to .8 CPU s: the LangSmith table (.682, .586 to .777; here
.678, .580 to .768), the nested JSON lines (.651, .540 to .761; here .651, .536 to .761; its doctor
does not propose these columns), the scores (3.38, 3.17 to 3.59; here 3.38, 3.18 to 3.59) and one
criterion of the rubric at a time (.862, .775 to .948; here .853, .760 to .932), without the total.
It refuses Latin-1, .xlsx and .eval, and the words success and failure.
"""

from __future__ import annotations

import argparse
import html
import json
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "readers"))
import logs  # noqa: E402

#: Each file with the command that answers its question, and what is said to doctor beside it.
FILES = {
    "1_promptfoo.json": ("prevalence", ["--truth", "support_lead"]),
    "2_inspect.eval": ("prevalence", []),
    "3_mlflow.jsonl": ("prevalence", []),
    "4_langsmith.csv": ("prevalence", []),
    "5_deutsch.csv": ("prevalence", []),
    "6_book.xlsx": ("prevalence", []),
    "7_nested.jsonl": ("prevalence", []),
    "8_arena.csv": ("leaderboard", []),
    "9_rubric.csv": ("rubric", []),
    "10_agents.csv": ("attempts", []),
    "11_calls.csv": ("repeats", []),
    "12_scores.csv": ("prevalence", []),
}
BAYESJUDGE = [sys.executable, "-m", "bayesjudge"]


def judged(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """People's labels and the verdicts of a judge who is right on .9 of good, .75 of bad ones."""
    truth = rng.random(n) < share
    verdict = np.where(truth, rng.random(n) < 0.9, rng.random(n) > 0.75)
    return truth.astype(int), verdict.astype(int)


def some(truth: np.ndarray, every: int, words: tuple[str, str]) -> list[str | None]:
    """Labels of one row in so many, in words."""
    return [words[int(t)] if i % every == 0 else None for i, t in enumerate(truth)]


def write(folder: Path) -> None:
    """Write the twelve files."""
    rng = np.random.default_rng(42)
    truth, verdict = judged(rng, 300, 0.7)
    row = logs.promptfoo_rows()[0]
    leads = some(truth, 4, ("not ok", "ok"))
    rows = []
    for i in range(300):
        passed = bool(verdict[i])
        part = {"pass": passed, "score": int(passed), "reason": "r"}
        asked = {"assertion": {"type": "llm-rubric", "value": "solves the ticket"}}
        about = {"vars": {"ticket": f"Ticket {i}"}, "metadata": {"support_lead": leads[i]}}
        rows.append({**row, "testIdx": i, "promptIdx": 0, "success": passed, "testCase": about,
                     "provider": {"id": "openai:mini", "label": ""},
                     "gradingResult": part | {"componentResults": [part | asked]}})  # fmt: skip
    results = {"version": 3, "results": rows, "prompts": [], "stats": {}}
    document = {"evalId": "e", "results": results, "config": {}}
    (folder / "1_promptfoo.json").write_text(json.dumps(document))

    truth, verdict = judged(rng, 160, 0.6)
    human = some(truth, 3, ("I", "C"))
    samples = [logs.inspect_sample(i, 1, "IC"[verdict[i]], human=human[i]) for i in range(160)]
    logs.write_inspect(folder / "2_inspect.eval", samples)

    def assessment(value: int, kind: str, who: str) -> dict[str, object]:
        feedback = {"value": ("no", "yes")[value], "error": None}
        source = {"source_type": kind, "source_id": who}
        return {"assessment_name": "grounded", "source": source, "feedback": feedback,
                "valid": True}  # fmt: skip

    truth, verdict = judged(rng, 220, 0.8)
    rows = [
        {"trace_id": f"tr-{i}", "tags": {"model": "ab"[i % 2]},
         "assessments": [assessment(verdict[i], "LLM_JUDGE", "gpt-5")]
         + [assessment(truth[i], "HUMAN", "eva")] * (i % 3 == 0)}
        for i in range(220)
    ]  # fmt: skip
    (folder / "3_mlflow.jsonl").write_text("\n".join(map(json.dumps, rows)))

    truth, verdict = judged(rng, 180, 0.65)
    columns = {
        "id": [f"run-{i}" for i in range(180)],
        "inputs.question": "q?",
        "outputs.answer": "a",
        "reference.answer": "r",
        "error": "",
        "feedback.helpfulness": verdict,
        "feedback.reviewer_helpfulness": np.where(np.arange(180) % 5 < 2, truth, np.nan),
    }
    pd.DataFrame(columns).to_csv(folder / "4_langsmith.csv", index=False)

    truth, verdict = judged(rng, 240, 0.7)
    words = ("nicht bestanden", "bestanden")
    columns = {
        "Fall-Nr": np.arange(1001, 1241),
        "Modell": ["Alt", "Neu"] * 120,
        "Urteil KI": [words[v] for v in verdict],
        "Prüfer": some(truth, 3, words),
        "Konfidenz": [f"0,{x}" for x in rng.integers(50, 99, 240)],
        "Bemerkung": "",
    }
    path = folder / "5_deutsch.csv"
    pd.DataFrame(columns).to_csv(path, sep=";", index=False, encoding="latin-1")

    truth, verdict = judged(rng, 150, 0.75)
    columns = {
        "Conversation": [f"C-{i:03d}" for i in range(150)],
        "Auto QA": [("Bad", "Good")[v] for v in verdict],
        "QA team": some(truth, 2, ("Bad", "Good")),
        "Agent": ["Anna", "Ben", "Cem"] * 50,
        "Date": pd.date_range("2026-09-01", periods=150, freq="D"),
    }
    pd.DataFrame(columns).to_excel(folder / "6_book.xlsx", index=False)

    truth, verdict = judged(rng, 200, 0.55)
    reviews = some(truth, 4, ("FAIL", "PASS"))
    rows = [
        {"request_id": f"r{i}", "model": {"name": "m1"},
         "judge": {"verdict": ("FAIL", "PASS")[verdict[i]], "score": 0.5, "reason": "x"},
         **({"review": {"label": reviews[i], "by": "kim"}} if reviews[i] else {})}
        for i in range(200)
    ]  # fmt: skip
    (folder / "7_nested.jsonl").write_text("\n".join(map(json.dumps, rows)))

    strength, battles = {"red": 1.0, "green": 0.4, "blue": 0.0}, []
    for i in range(600):
        a, b = rng.choice(list(strength), 2, replace=False)
        chance = 1 / (1 + np.exp(strength[b] - strength[a]))
        won = "model_a" if rng.random() < chance else "model_b"
        said = won if rng.random() < 0.8 else rng.choice(["model_a", "model_b", "tie"])
        battles.append((f"q{i}", a, b, said, won if i % 4 == 0 else ""))
    names = ["question_id", "model_a", "model_b", "gpt_winner", "human_winner"]
    pd.DataFrame(battles, columns=names).to_csv(folder / "8_arena.csv", index=False)

    essays: dict[str, object] = {"essay": np.arange(160)}
    for criterion, share in (("clarity", 0.8), ("evidence", 0.6), ("tone", 0.9)):
        truth, verdict = judged(rng, 160, share)
        essays[f"llm_{criterion}"] = verdict
        essays[f"teacher_{criterion}"] = np.where(np.arange(160) % 4 == 0, truth, np.nan)
    pd.DataFrame(essays).to_csv(folder / "9_rubric.csv", index=False)

    tries = []
    for task in range(60):
        for agent, p in (("v1", rng.beta(2, 1)), ("v2", rng.beta(3, 1))):
            for trial in range(1, 5):
                done = rng.random() < p
                said = done if rng.random() < 0.9 else not done
                words = ("failure", "success")
                label = words[done] if task % 4 == 0 else ""
                tries.append((f"task-{task}", agent, trial, words[said], label))
    names = ["task_id", "agent", "trial", "grader", "checked_by_hand"]
    pd.DataFrame(tries, columns=names).to_csv(folder / "10_agents.csv", index=False)

    level = np.repeat(3 + rng.normal(0, 0.3, 40) + (np.arange(40) % 5 - 2) * 0.7, 6)
    columns = {
        "document": np.repeat([f"doc{i}" for i in range(40)], 6),
        "call": np.tile(np.arange(1, 7), 40),
        "rating": np.clip(np.round(level + rng.normal(0, 0.6, 240)), 1, 5).astype(int),
    }
    pd.DataFrame(columns).to_csv(folder / "11_calls.csv", index=False)

    level = np.clip(rng.normal(3.4, 1, 250), 1, 5)
    scores = np.clip(np.round(level + 0.3 + rng.normal(0, 0.7, 250)), 1, 5).astype(int)
    experts = np.where(np.arange(250) % 5 == 0, np.round(level), np.nan)
    columns = {"answer_id": [f"a{i}" for i in range(250)], "llm_score": scores,
               "expert_score": experts}  # fmt: skip
    pd.DataFrame(columns).to_csv(folder / "12_scores.csv", index=False)


def run(words: list[str]) -> tuple[str, float]:
    """What a command prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*BAYESJUDGE, *words], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (done.stdout if done.returncode == 0 else ""), cpu


def tried(path: Path, command: str, said: list[str]) -> dict[str, object]:
    """Ask doctor, with what has to be `said` if it finds nothing, and paste the line."""
    tries, seconds, lines = 0, 0.0, []
    for more in ([], said) if said else ([],):
        out, cpu = run(["doctor", str(path), *more, "--json"])
        tries, seconds = tries + 1, seconds + cpu
        answers = json.loads(out)["answers"] if out else []
        lines = [a["command"] for a in answers if a["command"].split()[1] == command]
        if lines:
            break
    if not lines:
        return {"file": path.name, "tries": tries, "doctor, s": round(seconds, 1)}
    page = path.with_suffix(".html")
    out, cpu = run([*shlex.split(lines[0])[1:], "--html", str(page)])
    written = page.read_text() if page.exists() else ""
    first = html.unescape(written.partition("<h1>")[2].partition("</h1>")[0])
    return {
        "file": path.name,
        "tries": tries + 1,
        "doctor, s": round(seconds, 1),
        "answer, s": round(cpu, 1),
        "words": len(first.split()),
        "sentence": first,
    }


def main() -> None:
    """Try the files, and print a row of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=list(FILES))
    parser.add_argument("--save", action="store_true", help="write the table into results/")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        rows = [tried(Path(folder) / name, *FILES[name]) for name in asked.only]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, max_colwidth=110))
    if asked.save:
        table.to_csv(Path(__file__).parent / "results" / "new_user.csv", index=False)


if __name__ == "__main__":
    main()
