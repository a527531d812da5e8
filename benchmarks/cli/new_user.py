"""Twelve fresh tables and logs, tried as somebody would who has read README.md alone.

    python benchmarks/cli/new_user.py --save
    python benchmarks/cli/new_user.py --seed 1 2 3 --save
    python benchmarks/cli/new_user.py --truescore PATH

`doctor FILE` is asked, and the lines that it proposes are pasted: the one that answers the file's
own question, which stands beside it here. A try is one command; the first sentence is what a person
would send on. None of these files is of the worlds on which doctor was tuned: other names, another
language, nested fields, a workbook, metadata of a log. With a seed twelve other tables are drawn:
names of columns, words of pass and fail, sizes, rates and formats (CSV, TSV, gzip, JSON, JSON
lines, workbooks); `held` says whether the sentence's interval holds the truth.

Quick: ``--only 4_langsmith.csv 11_calls.csv``

Found: 12 of 12 are answered, 11 in two tries (doctor, then the line for their question) and one in
three: the labels of the promptfoo log stand in metadata that is called `support_lead`, which doctor
names as what may hold labels, so that `--truth support_lead` is one try more. No word had to be
looked up to paste a line; that labels are a random sample (`--calibration random`) is a guess that
doctor says. CPU: 1.0 to 3.3 s for doctor, 1.3 to 3.4 s for the answer with its page. First
sentences have 20 to 25 words.

Of the first twelve drawn tables (seed 1) 10 were answered, in two tries each. Doctor took
`evaluation.label` for people's labels, listed an object that is null in some rows as a column, and
did not know that a scenario is a task. These are mended: seeds 1, 2 and 3 have 36 of 36 tables in
two tries, with 1.0 to 4.0 CPU s for doctor and 1.3 to 3.8 s for the answer, and first sentences of
16 to 25 words. Of 18 sentences that hold one number with a known truth, 17 intervals hold it (.94,
standard error .05).

Of peers, truescore 0.7.4 answers 4 of the written 12 (`--truescore`): the LangSmith table (.682,
.586 to .777; here .678, .580 to .768), the nested JSON lines (.651, .540 to .761; here .651, .536
to .761; its doctor does not propose these columns), the scores (3.38, 3.17 to 3.59; here 3.38, 3.18
to 3.59) and one criterion of the rubric at a time (.862, .775 to .948; here .853, .760 to .932),
without the total. It refuses Latin-1, .xlsx and the words success and failure; its help names no
battles, attempts of tasks or repeated calls.
"""

from __future__ import annotations

import argparse
import html
import json
import re
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
#: Columns of the files that truescore can answer: the judge's and people's.
PEER = {
    "4_langsmith.csv": [("feedback.helpfulness", "feedback.reviewer_helpfulness")],
    "5_deutsch.csv": [("Urteil KI", "Prüfer")],
    "6_book.xlsx": [("Auto QA", "QA team")],
    "7_nested.jsonl": [("judge.verdict", "review.label")],
    "9_rubric.csv": [(f"llm_{c}", f"teacher_{c}") for c in ("clarity", "evidence", "tone")],
    "10_agents.csv": [("grader", "checked_by_hand")],
    "12_scores.csv": [("llm_score", "expert_score")],
}
#: Names and words of the drawn tables, spelled as teams spell them.
VERDICTS = ("auto_eval", "grader.result", "LLM-as-judge", "gpt5 says", "machine_check", "KI")
LABELS = ("Human QA", "sme_answer", "hand_label", "annotation_final", "Mensch", "expert review")
ITEMS = ("ticket_no", "prompt-hash", "Frage", "chat_id", "case", "uuid")
SYSTEMS = ("release", "chatbot", "llm", "Variante", "model version", "assistant_name")
WORDS = (("FAIL", "PASS"), ("no", "yes"), ("incorrect", "correct"), ("thumbs down", "thumbs up"),
         ("rejected", "accepted"), ("falsch", "richtig"), ("0", "1"), ("ko", "ok"))  # fmt: skip
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


#: A drawn table: file, command, what is said to doctor, the number that the sentence should hold.
Drawn = tuple[str, str, list[str], float | None]


def drawn(folder: Path, seed: int) -> list[Drawn]:
    """Write twelve tables with names, words and formats by `seed`.

    Returns of each its name, the command that answers its question, what a user would say to doctor
    beside the file, and the number that the first sentence should hold, if it is one.
    """
    rng = np.random.default_rng(seed)
    cases: list[Drawn] = []

    def pick(values: tuple[str, ...]) -> str:
        return str(rng.choice(values))

    def save(name: str, columns: dict, command: str, said: list[str], holds: float | None) -> None:
        kind = str(rng.choice(["csv", "tsv", "semicolon.csv", "jsonl", "json", "xlsx", "csv.gz"]))
        path, table = folder / f"{name}.{kind}", pd.DataFrame(columns)
        if rng.random() < 0.5:
            table["latency_ms"] = rng.integers(300, 4000, len(table))
        if rng.random() < 0.5:
            table.insert(0, "created_at", pd.date_range("2026-10-01", periods=len(table), freq="h"))
        if kind == "xlsx":
            table.to_excel(path, index=False)
        elif kind.startswith("json"):
            table.to_json(path, orient="records", lines=kind == "jsonl", date_format="iso")
        else:
            table.to_csv(path, index=False, sep={"tsv": "\t", "semicolon.csv": ";"}.get(kind, ","))
        cases.append((path.name, command, said, holds))

    def words() -> tuple[str, str]:
        return WORDS[rng.integers(len(WORDS))]

    n, share = int(rng.integers(150, 500)), rng.uniform(0.3, 0.9)
    truth, verdict = judged(rng, n, share)
    said, people = words(), pick(LABELS)
    columns = {pick(ITEMS): [f"T{i:05d}" for i in range(n)], "reply": "Dear customer, ..."}
    columns |= {pick(VERDICTS): [said[v] for v in verdict], people: some(truth, 3, said)}
    save("share", columns, "prevalence", ["--truth", people], 100 * share)

    n, share = int(rng.integers(150, 500)), rng.uniform(0.3, 0.9)
    truth, verdict = judged(rng, n, share)
    said = words()
    rows = [
        {"id": i, "trace": {"model": "m1", "tokens": int(rng.integers(50, 900))},
         "evaluation": {"label": said[verdict[i]], "explanation": f"because {i}"},
         "annotation": {"label": label, "annotator": "kim"} if label else None}
        for i, label in enumerate(some(truth, 4, said))
    ]  # fmt: skip
    (folder / "nested.json").write_text(json.dumps(rows))
    more = ["--truth", "annotation.label"]
    cases.append(("nested.json", "prevalence", more, 100 * share))

    n, names, said = int(rng.integers(100, 250)), ("v1.2", "v2.0"), words()
    parts = [judged(rng, n, rng.uniform(0.4, 0.9)) for _ in names]
    people = pick(LABELS)
    columns = {pick(ITEMS): [f"q{i}" for i in range(n)] * 2, pick(SYSTEMS): np.repeat(names, n),
               pick(VERDICTS): [said[v] for _, verdicts in parts for v in verdicts],
               people: [x for truths, _ in parts for x in some(truths, 3, said)]}  # fmt: skip
    save("systems", columns, "prevalence", ["--truth", people], None)

    n, share, said, people = (
        int(rng.integers(150, 400)),
        rng.uniform(0.4, 0.9),
        words(),
        pick(LABELS),
    )
    truth = (rng.random(n) < share).astype(int)
    votes = {
        f"{judge}_vote": [said[int(t if rng.random() < 0.8 else 1 - t)] for t in truth]
        for judge in ("claude", "gpt-5", "llama4")
    }
    columns = {pick(ITEMS): np.arange(n) + 9000, **votes, people: some(truth, 4, said)}
    save("judges", columns, "panel", ["--truth", people], 100 * share)

    strength, rows = {"nova": 0.9, "orbit": 0.3, "pike": 0.0}, []
    for i in range(int(rng.integers(300, 700))):
        a, b = rng.choice(list(strength), 2, replace=False)
        won = "A" if rng.random() < 1 / (1 + np.exp(strength[b] - strength[a])) else "B"
        says = won if rng.random() < 0.8 else rng.choice(["A", "B", "tie"])
        rows.append((f"p{i}", a, b, says, won if i % 3 == 0 else None))
    names = [pick(ITEMS), "assistant_a", "assistant_b", "judge_preference", "human_preference"]
    save("battles", dict(zip(names, zip(*rows, strict=True), strict=True)), "leaderboard",
         ["--truth", "human_preference"], None)  # fmt: skip

    rows, said, people = [], words(), pick(LABELS)
    for scenario in range(int(rng.integers(40, 80))):
        for agent, p in (("baseline", rng.beta(2, 2)), ("tuned", rng.beta(3, 1.5))):
            for attempt in range(4):
                done = int(rng.random() < p)
                says = said[done if rng.random() < 0.9 else 1 - done]
                label = said[done] if scenario % 4 == 0 else None
                rows.append((f"s{scenario}", agent, attempt, says, label))
    names = ["scenario", "agent", "attempt", "outcome", people]
    save("agents", dict(zip(names, zip(*rows, strict=True), strict=True)), "attempts",
         ["--truth", people], None)  # fmt: skip

    n, top = int(rng.integers(150, 400)), int(rng.choice([5, 10]))
    level = np.clip(rng.normal(0.6 * top, 0.2 * top, n), 1, top).round()
    scores = np.clip((level + 0.3 + rng.normal(0, 0.15 * top, n)).round(), 1, top)
    columns = {pick(ITEMS): [f"a{i}" for i in range(n)], "rating by judge": scores.astype(int),
               "rating by expert": np.where(np.arange(n) % 4 == 0, level, np.nan)}  # fmt: skip
    save("ratings", columns, "prevalence", ["--truth", "rating by expert"], level.mean())

    n = int(rng.integers(30, 60))
    level = 3 + rng.normal(0, 0.8, n)
    calls = {
        f"run {k}": np.clip((level + rng.normal(0, 0.6, n)).round(), 1, 5) for k in range(1, 6)
    }
    save("calls", {pick(ITEMS): [f"d{i}" for i in range(n)], **calls}, "repeats", [], None)

    n, kinds = int(rng.integers(60, 120)), ("original", "longer", "bullets")
    level = np.clip(rng.normal(6, 1.5, n), 1, 10)
    moved = {"original": 0.0, "longer": 0.8, "bullets": 0.1}
    scores = [np.clip((level + moved[k] + rng.normal(0, 0.4, n)).round(1), 1, 10) for k in kinds]
    columns = {pick(ITEMS): np.tile([f"e{i}" for i in range(n)], 3),
               "version": np.repeat(kinds, n), "judge_score": np.concatenate(scores)}  # fmt: skip
    save("changes", columns, "bias", ["--baseline", "original"], None)

    rows = []
    for i in range(int(rng.integers(40, 90))):
        better = rng.random() < 0.6
        for first, second in (("mine", "theirs"), ("theirs", "mine")):
            right = "first" if (first == "mine") == better else "second"
            rows.append((f"p{i}", first, second, right if rng.random() < 0.7 else "first"))
    names = [pick(ITEMS), "shown first", "shown second", "winner"]
    save("orders", dict(zip(names, zip(*rows, strict=True), strict=True)), "bias", [], None)

    n, kinds = int(rng.integers(200, 500)), ["billing", "complaint", "question"]
    truth = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    verdict = np.where(rng.random(n) < 0.85, truth, rng.choice(3, n))
    labels = [kinds[t] if i % 4 == 0 else None for i, t in enumerate(truth)]
    columns = {pick(ITEMS): np.arange(n), "llm_category": [kinds[v] for v in verdict]}
    columns |= {"human_category": labels}
    save("classes", columns, "prevalence", ["--truth", "human_category"], 50.0)

    n, share, people = int(rng.integers(200, 500)), rng.uniform(0.3, 0.8), pick(LABELS)
    truth = (rng.random(n) < share).astype(int)
    chance = 1 / (1 + np.exp(-(2.4 * truth - 1.2 + rng.normal(0, 1, n))))
    columns = {pick(ITEMS): [f"c{i}" for i in range(n)], "p_pass": chance.round(3),
               people: np.where(np.arange(n) % 3 == 0, truth, np.nan)}  # fmt: skip
    save("chances", columns, "prevalence", ["--truth", people], 100 * share)
    return cases


def run(words: list[str]) -> tuple[str, float]:
    """What a command prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*BAYESJUDGE, *words], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (done.stdout if done.returncode == 0 else ""), cpu


def tried(path: Path, command: str, said: list[str], holds: float | None) -> dict[str, object]:
    """Ask doctor, with what has to be `said` if it finds nothing, and paste the line."""
    row: dict[str, object] = {"file": path.name, "tries": 0, "doctor, s": 0.0}
    lines: list[str] = []
    for more in ([], said) if said else ([],):
        out, cpu = run(["doctor", str(path), *more, "--json"])
        row["tries"], row["doctor, s"] = row["tries"] + 1, round(row["doctor, s"] + cpu, 1)
        answers = json.loads(out)["answers"] if out else []
        lines = [a["command"] for a in answers if a["command"].split()[1] == command]
        if lines:
            break
    if not lines:
        return row
    page = path.with_suffix(".html")
    _, cpu = run([*shlex.split(lines[0])[1:], "--html", str(page)])
    written = page.read_text() if page.exists() else ""
    first = html.unescape(written.partition("<h1>")[2].partition("</h1>")[0])
    row |= {"tries": row["tries"] + 1, "answer, s": round(cpu, 1), "words": len(first.split())}
    ends = re.search(r"\((-?[\d.]+) to (-?[\d.]+)[\s%]*, 95", first)
    if holds is not None:
        row["held"] = bool(ends and float(ends[1]) - 0.5 <= holds <= float(ends[2]) + 0.5)
    return row | {"sentence": first, "line": lines[0]}


def peer(truescore: str, path: Path, verdict: str, truth: str) -> str:
    """What truescore's `audit` corrects a file to."""
    words = [truescore, "audit", str(path), "--judge", verdict, "--gold", truth]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = [x.strip() for x in (done.stdout + done.stderr).splitlines() if x.strip()]
    return next((x for x in lines if x.startswith("corrected")), lines[-1] if lines else "")


def main() -> None:
    """Try the files, and print a row of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", help="files, or shapes of drawn tables")
    parser.add_argument("--seed", type=int, nargs="+", help="draw other tables, twelve a seed")
    parser.add_argument("--truescore", help="its command: print what it answers of the files")
    parser.add_argument("--save", action="store_true", help="write the table into results/")
    asked = parser.parse_args()
    rows, stem = [], "new_user_drawn" if asked.seed else "new_user"
    for seed in asked.seed or [None]:
        with tempfile.TemporaryDirectory() as folder:
            cases: list[Drawn] = [(name, *FILES[name], None) for name in FILES]
            if seed is None:
                write(Path(folder))
            else:
                cases = drawn(Path(folder), seed)
            for name, *case in cases:
                if asked.only and not {name, name.partition(".")[0]} & {*asked.only}:
                    continue
                path = Path(folder) / name
                if asked.truescore:
                    for verdict, truth in PEER.get(name, []):
                        print(f"{name} ({verdict}): {peer(asked.truescore, path, verdict, truth)}")
                    continue
                rows.append(({"seed": seed} if seed is not None else {}) | tried(path, *case))
                print(*rows[-1].values(), sep=" | ", flush=True)
    if rows and asked.save:
        table = pd.DataFrame(rows)
        if "line" in table:
            table["line"] = table["line"].str.replace(r"\S*/", "", regex=True)
        table.to_csv(Path(__file__).parent / "results" / f"{stem}.csv", index=False)


if __name__ == "__main__":
    main()
