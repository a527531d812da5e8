"""Messy tables and logs from worlds with a known truth, and the lines that are right about each.

Made before `bayesjudge doctor` was changed to answer them: names, words, languages, decoys and
spellings are drawn by a seed, the shape by the world.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.labels import unread

#: Options of a line that name columns, or names in columns, that decide what it answers.
ROLES = ("--verdict", "--score", "--truth", "--judges", "--judge", "--vote", "--generator", "--by",
         "--item", "--people", "--rater", "--choice", "--response-set", "--variant", "--baseline",
         "--shown-first", "--shown-second", "--labels", "--metric", "--order", "--task",
         "--stratum")  # fmt: skip
#: A word of pass and its fail, as people of several countries write them.
WORDS = [
    *[("PASS", "FAIL"), ("Pass", "Fail"), ("yes", "no"), ("Yes", "No"), ("correct", "incorrect")],
    *[("good", "bad"), ("acceptable", "unacceptable"), ("ok", "not ok"), ("1", "0")],
    *[("True", "False"), ("helpful", "unhelpful"), ("safe", "unsafe"), ("Y", "N"), ("P", "F")],
    *[("richtig", "falsch"), ("ja", "nein"), ("oui", "non"), ("correcto", "incorrecto")],
    *[("goed", "fout"), ("certo", "errado"), ("bestanden", "nicht bestanden"), ("sí", "no")],
    *[("合格", "不合格"), ("grounded", "hallucinated"), ("relevant", "irrelevant")],
]
JUDGES = ["verdict", "judge", "llm_verdict", "judge_verdict", "gpt-4o verdict", "auto_grade",
          "model_grade", "LLM says", "grade", "autorater", "prediction", "KI-Urteil", "eval_result",
          "llm_judge", "Judge Verdict", "claude_eval", "judge.label", "bot_check", "pred",
          "grader_output", "ai_verdict", "jugement_llm"]  # fmt: skip
PEOPLE = ["human", "human_label", "gold", "truth", "reviewer_verdict", "expert", "Reviewer verdict",
          "human label", "ground_truth", "Mensch", "humano", "expert_label", "manual_check", "qa",
          "annotator_label", "SME label", "human_verdict", "label_human", "annotation",
          "Human Check", "gold_label", "Prüfer", "evaluador_humano"]  # fmt: skip
ITEMS = ["item", "id", "question_id", "ticket", "Case No", "prompt_id", "trace_id", "doc",
         "example_id", "Frage", "sample", "row_id", "conversation_id"]  # fmt: skip
SYSTEMS = ["system", "model", "generator", "assistant", "pipeline", "release", "candidate"]
NAMES = ["Ann", "Bob", "Carla", "Dmitri", "Eve", "Farid", "Grace", "Hugo"]
LLMS = ["gpt-4o", "claude-3-5-sonnet", "gemini-1.5-pro", "llama-3-70b", "mistral-large", "qwen2"]
SCORES = ["score", "judge_score", "llm_score", "rating", "quality", "gpt_score", "auto_score",
          "judge_rating"]  # fmt: skip
CRITERIA = ["accuracy", "tone", "brevity", "clarity", "safety", "fluency", "wit", "coverage"]


@dataclass
class Right:
    """A line that answers the world's question, by its command and the columns that it names."""

    command: str
    #: Values that options of `ROLES` must have, in any order; of several sets any one will do.
    need: Mapping[str, Any]
    #: Values that they may have.
    may: Mapping[str, Any] = field(default_factory=dict)

    def suits(self, command: str, options: Mapping[str, list[str]]) -> bool:
        """Whether a line is this one, but for what tells nothing of the question.

        A line of `judge` is right where the one that corrects that judge is, of all systems too.
        """
        need = self.need
        if command == "judge":
            several = len(options.get("--verdict", ())) > 1
            command = "panel" if several else "prevalence"
            names = {"--verdict": "--judges", "--by": "--generator"} if several else {}
            options = {names.get(name, name): values for name, values in options.items()}
            need = {
                n: v for n, v in need.items() if n in options or n not in ("--by", "--generator")
            }
        own = {n: sorted(options[n]) for n in (*ROLES, *({*need} - {*ROLES})) if n in options}
        for name, wanted in need.items():
            if own.pop(name, None) not in _each(wanted):
                return False
        return command == self.command and all(
            found in _each(self.may.get(name, ())) for name, found in own.items()
        )


def _each(wanted: Any) -> list[list[str]]:
    """The lists of values that will do: of a name, a list, or a tuple of either."""
    return [sorted([w] if isinstance(w, str) else w)
            for w in (wanted if isinstance(wanted, tuple) else (wanted,))]  # fmt: skip


@dataclass
class Case:
    """A file, what is asked of doctor, and what is right."""

    world: str
    write: Callable[[Path], list[str]]
    #: Lines of which one is to be found; none if no line can answer.
    main: Sequence[Right] = ()
    #: Lines that answer another question of the same table rightly.
    also: Sequence[Right] = ()
    #: Words that mean a fail, which no line may read as a pass.
    bad: Sequence[str] = ()
    #: Columns of which a question must name each, in place of a line.
    asks: Sequence[str] = ()
    #: The judge's column that lines for labelling name, where labels are what is missing.
    labelling: str = ""


class World:
    """What is drawn for one case: spellings, names, decoys, and how the file is written."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.good, self.bad = self.one(WORDS)

    def one(self, among: Sequence[Any]) -> Any:
        """One of several."""
        return among[int(self.rng.integers(len(among)))]

    def some(self, among: Sequence[Any], n: int) -> list[Any]:
        """Several that differ."""
        return [among[i] for i in self.rng.permutation(len(among))[:n]]

    def truth(self, n: int, share: float = 0.7) -> np.ndarray:
        """Which outputs are good."""
        return self.rng.random(n) < share

    def judged(self, good: np.ndarray, right: float = 0.86) -> np.ndarray:
        """What a judge says of them."""
        return np.where(self.rng.random(len(good)) < right, good, ~good)

    def words(self, said: np.ndarray) -> np.ndarray:
        """In the world's words."""
        return np.where(said, self.good, self.bad).astype(object)

    def sampled(self, cells: Any, share: float = 0.3) -> np.ndarray:
        """Cells of a random sample of rows."""
        drawn = self.rng.random(len(cells)) < share
        return np.where(drawn, np.asarray(cells, object), "")

    def scores(self, level: np.ndarray, high: int = 5, noise: float = 0.6) -> np.ndarray:
        """Whole scores from 1 of what has a level between 0 and 1."""
        raw = 1 + (high - 1) * level + self.rng.normal(0, noise, len(level))
        return np.clip(raw.round(), 1, high).astype(int)

    def items(self, n: int) -> list[str]:
        """Names of items."""
        begin = self.one(["q", "T-", "case ", "", "doc_", "#"])
        first = int(self.rng.integers(1, 2000))
        return [f"{begin}{first + i}" for i in range(n)]

    def decoys(self, n: int) -> dict[str, Any]:
        """Columns that answer nothing, in any table."""
        rng = self.rng
        made: dict[str, Any] = {
            "created_at": [f"2026-03-{1 + i % 28:02d}T08:{i % 60:02d}" for i in range(n)],
            "latency_ms": rng.integers(100, 9000, n),
            "reviewer": rng.choice(NAMES[:3], n),
            "annotator_id": rng.integers(1, 5, n),
            "reviewed_on": [f"{1 + i % 28:02d}.09.2026" for i in range(n)],
            "judge_model": self.one(LLMS),
            "category": rng.choice(["billing", "search", "chat"], n),
            "language": rng.choice(["en", "de"], n),
            "tokens": rng.integers(50, 900, n),
            "prompt_text": [f"please do thing {i} for me, and tell how it went" for i in range(n)],
            "review_status": "done",
            "cost": rng.random(n).round(4),
            "priority": rng.integers(1, 4, n),
            "assigned_to": rng.choice(NAMES[3:6], n),
            "model": self.one(LLMS),
            "human_minutes": rng.integers(1, 30, n),
            "split": "test",
            "temperature": 0.0,
        }  # fmt: skip
        chosen = self.some(list(made), int(rng.integers(0, 6)))
        return {name: made[name] for name in chosen}

    def mixed(self, columns: Mapping[str, Any], decoys: bool = True) -> pd.DataFrame:
        """Columns in some order with decoys between them."""
        n = len(next(iter(columns.values())))
        more = {k: v for k, v in (self.decoys(n) if decoys else {}).items() if k not in columns}
        table = pd.DataFrame({**columns, **more})
        names = list(table.columns)
        first = [names[0]] if self.rng.random() < 0.7 else []
        rest = [name for name in names if name not in first]
        return table[[*first, *self.some(rest, len(rest))]]

    def writer(self, table: pd.DataFrame, name: str = "table") -> Callable[[Path], list[str]]:
        """How the table is written: separators, encodings, blank rows, books, lines of JSON."""
        kind = self.one(["csv", "csv", "csv", "semicolon", "tsv", "xlsx", "jsonl", "parquet"])
        blank = self.rng.random() < 0.2 and kind in ("csv", "semicolon", "xlsx")
        if blank:
            at = int(self.rng.integers(1, len(table)))
            none = pd.DataFrame([[""] * table.shape[1]], columns=table.columns)
            table = pd.concat([table[:at].astype(object), none, table[at:].astype(object)])

        def write(folder: Path) -> list[str]:
            ending = {"semicolon": "csv"}.get(kind, kind)
            path = folder / f"{name}.{ending}"
            if kind == "xlsx":
                table.replace("", None).to_excel(path, index=False)
            elif kind == "parquet":
                plain = {c: table[c].astype(str) for c in table if table[c].dtype == object}
                table.assign(**plain).replace("", None).to_parquet(path, index=False)
            elif kind == "jsonl":
                rows = table.replace({np.nan: None, "": None}).to_dict("records")
                path.write_text("\n".join(json.dumps(row, default=_plain) for row in rows))
            else:
                sep = {"csv": ",", "semicolon": ";", "tsv": "\t"}[kind]
                table.to_csv(path, index=False, sep=sep)
            return [str(path)]

        return write


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def _columns(w: World) -> tuple[str, str, str]:
    item, judge, people = w.one(ITEMS), w.one(JUDGES), w.one(PEOPLE)
    return item, judge, people


def one_judge(w: World) -> Case:
    """Verdicts, and people's labels of a random sample."""
    n = int(w.rng.integers(150, 500))
    item, judge, people = _columns(w)
    good = w.truth(n)
    table = w.mixed({item: w.items(n), judge: w.words(w.judged(good)),
                     people: w.sampled(w.words(good))})  # fmt: skip
    line = {"--verdict": judge, "--truth": people}
    rights = [Right(c, line, {"--item": item}) for c in ("prevalence", "gate")]
    return Case("one judge", w.writer(table), rights[:1], rights, [w.bad])


def one_judge_other_words(w: World) -> Case:
    """The judge and people use other words for pass and fail, and some cells failed to parse."""
    n = int(w.rng.integers(150, 500))
    item, judge, people = _columns(w)
    good = w.truth(n)
    said = w.words(w.judged(good))
    said[w.rng.random(n) < 0.03] = w.one(["ERROR: timeout", "", "parse error", "n/a"])
    mine = w.bad
    w.good, w.bad = w.one([pair for pair in WORDS if not {*pair} & {w.good, w.bad}])
    cells = w.sampled(w.words(good))
    cells = np.where(cells == "", w.one(["", "-", "N/A"]), cells)
    table = w.mixed({item: w.items(n), judge: said, people: cells})
    line = {"--verdict": judge, "--truth": people}
    rights = [Right(c, line, {"--item": item}) for c in ("prevalence", "gate")]
    # which words mean the same may be asked, where these do not say pass and fail
    asks = [judge, people] if unread({"": [*said[said != ""], w.good, w.bad]}) else []
    return Case("other words", w.writer(table), rights[:1], rights, [w.bad, mine], asks)


def by_verdict(w: World) -> Case:
    """All that failed was looked at, and a tenth of the rest."""
    n = 600
    item, judge, people = _columns(w)
    good = w.truth(n, 0.8)
    said = w.judged(good)
    drawn = ~said | (w.rng.random(n) < 0.1)
    table = w.mixed({item: w.items(n), judge: w.words(said),
                     people: np.where(drawn, w.words(good), "")})  # fmt: skip
    need = {"--verdict": judge, "--truth": people, "--calibration": "by_verdict"}
    rights = [Right(c, need, {"--item": item}) for c in ("prevalence", "gate")]
    return Case("by verdict", w.writer(table), rights[:1], rights, [w.bad])


def scores_and_labels(w: World) -> Case:
    """Scores of a judge, and people's pass or fail."""
    n = int(w.rng.integers(150, 400))
    item, people, score = w.one(ITEMS), w.one(PEOPLE), w.one(SCORES)
    level = w.rng.random(n)
    high = w.one([5, 10, 1, 100])
    said = w.scores(level, high, 0.1 * high) if high > 1 else level.round(3)
    table = w.mixed({item: w.items(n), score: said, people: w.sampled(w.words(level > 0.4))})
    right = Right("prevalence", {"--score": score, "--truth": people}, {"--item": item})
    return Case("scores and labels", w.writer(table), [right], [], [w.bad])


def scores_of_both(w: World) -> Case:
    """Scores of a judge, and people's on some rows."""
    n = int(w.rng.integers(150, 400))
    item, people = w.one(ITEMS), w.one(["human_score", "expert rating", "teacher", "editor_score",
                                        "human", "Manual rating", "sme_score"])  # fmt: skip
    score, high = w.one(SCORES), w.one([5, 10])
    level = w.rng.random(n)
    table = w.mixed({item: w.items(n), score: w.scores(level, high),
                     people: w.sampled(w.scores(level, high))})  # fmt: skip
    right = Right("prevalence", {"--score": score, "--truth": people}, {"--item": item})
    return Case("scores of both", w.writer(table), [right])


def classes(w: World) -> Case:
    """More than two classes, in the same words."""
    n = int(w.rng.integers(200, 400))
    item, judge, people = _columns(w)
    kinds = w.one([("correct", "partly correct", "incorrect"), ("spam", "abuse", "ok", "off topic"),
                   ("positive", "neutral", "negative"), ("none", "minor", "major", "critical"),
                   ("gut", "mittel", "schlecht")])  # fmt: skip
    said = w.rng.choice(kinds, n).astype(object)
    right = np.where(w.rng.random(n) < 0.8, said, w.rng.choice(kinds, n))
    table = w.mixed({item: w.items(n), judge: said, people: w.sampled(right)})
    need = {"--verdict": judge, "--truth": people}
    return Case("classes", w.writer(table), [Right("prevalence", need, {"--item": item})])


def systems(w: World) -> Case:
    """Outputs of two or three systems."""
    k, n = int(w.rng.integers(2, 4)), 120
    item, judge, people = _columns(w)
    system = w.one([name for name in SYSTEMS if name != judge])
    good = np.concatenate([w.truth(n, 0.6 + 0.1 * j) for j in range(k)])
    names = w.one([["prod", "cand", "old"], ["v1", "v2", "v3"], LLMS[:3]])
    table = w.mixed({item: w.items(n) * k, system: np.repeat(names[:k], n),
                     judge: w.words(w.judged(good)),
                     people: w.sampled(w.words(good))}, decoys=False)  # fmt: skip
    need = {"--verdict": judge, "--truth": people, "--by": system}
    rights = [Right(c, need, {"--item": item}) for c in ("prevalence", "gate")]
    return Case("systems", w.writer(table), rights[:1], rights, [w.bad])


def wide_jury(w: World) -> Case:
    """A column of each of several judges, and people's labels."""
    n, k = 200, int(w.rng.integers(2, 5))
    item, people = w.one(ITEMS), w.one(PEOPLE)
    names = w.one([LLMS, ["judge_gpt", "judge_claude", "judge_llama", "judge_qwen"],
                   ["gpt verdict", "claude verdict", "gemini verdict", "llama verdict"],
                   ["judge1", "judge2", "judge3", "judge4"]])[:k]  # fmt: skip
    good = w.truth(n)
    votes = {name: w.words(w.judged(good)) for name in names}
    table = w.mixed({item: w.items(n), **votes, people: w.sampled(w.words(good))}, decoys=False)
    main = Right("panel", {"--judges": [*names], "--truth": people}, {"--item": item})
    alone = [Right(c, {"--verdict": (*names,), "--truth": people}, {"--item": item})
             for c in ("prevalence", "gate")]  # fmt: skip
    return Case("wide jury", w.writer(table), [main], alone, [w.bad])


def long_jury(w: World) -> Case:
    """One row per vote, and the label of the output."""
    n, k = 120, 3
    item, judge, vote = w.one(ITEMS), w.one(["judge", "judge_name", "juror", "grader"]), w.one(
        ["vote", "verdict", "label", "decision"]
    )  # fmt: skip
    people = w.one(["gold", "human", "human_label", "truth", "expert_label"])
    good = w.truth(n)
    label = w.sampled(w.words(good))
    rows = [(name, j) for name in range(n) for j in range(k)]
    names, items = w.some(LLMS, k), w.items(n)
    said = [w.judged(good) for _ in range(k)]
    table = w.mixed({item: [items[i] for i, _ in rows], judge: [names[j] for _, j in rows],
                     vote: w.words(np.array([said[j][i] for i, j in rows])),
                     people: [label[i] for i, _ in rows]}, decoys=False)  # fmt: skip
    need = {"--judge": judge, "--vote": vote, "--truth": people, "--item": item}
    return Case("long jury", w.writer(table), [Right("panel", need)], [], [w.bad])


def jury_of_systems(w: World) -> Case:
    """Judges in columns, systems in rows, and nobody's labels."""
    n, k = 60, 3
    item, system = w.one(ITEMS), w.one(["system", "generator", "model"])
    names = w.some(LLMS, k)
    good = np.concatenate([w.truth(n, 0.5 + 0.15 * j) for j in range(3)])
    votes = {f"{name}{w.one(['', ''])}": w.words(w.judged(good)) for name in names}
    table = w.mixed({item: w.items(n) * 3, system: np.repeat(["alpha", "beta", "gamma"], n),
                     **votes}, decoys=False)  # fmt: skip
    need = {"--judges": names, "--item": item, "--generator": system}
    return Case("jury of systems", w.writer(table), [Right("panel", need)], [], [w.bad])


def no_labels(w: World) -> Case:
    """Verdicts only: labels are what is missing; people's names and dates are none."""
    n = 200
    item, judge = w.one(ITEMS), w.one(JUDGES)
    decoy = w.one(["reviewer", "expert", "annotated_by", "labeler", "reviewed_at", "human_id"])
    dates, numbers = [f"2026-09-{1 + i % 28:02d}" for i in range(n)], w.rng.integers(1, 4, n)
    other = {"reviewed_at": dates, "human_id": numbers}
    cells = other.get(decoy, w.rng.choice(NAMES[:3], n))
    table = w.mixed({item: w.items(n), judge: w.words(w.judged(w.truth(n))), decoy: cells})
    return Case("no labels", w.writer(table), bad=[w.bad], labelling=judge)


def judge_model(w: World) -> Case:
    """The judge's name beside its verdict, in fields within fields."""
    n = 200
    good = w.truth(n)
    stem = w.one(["judge", "grader", "evaluator"])
    said = w.one(["label", "verdict", "result", "decision"])
    people = w.one(["human.label", "annotation.label", "human", "review.verdict"])
    table = w.mixed({w.one(["id", "meta.id", "trace_id"]): w.items(n),
                     f"{stem}.model": w.one([w.rng.choice(LLMS[:2], n), LLMS[0]]),
                     f"{stem}.{said}": w.words(w.judged(good)),
                     people: w.sampled(w.words(good))})  # fmt: skip
    item = next(name for name in table if name in ("id", "meta.id", "trace_id"))
    need = {"--verdict": f"{stem}.{said}", "--truth": people}
    may = {"--item": item, "--by": f"{stem}.model"}
    rights = [Right(c, need, may) for c in ("prevalence", "gate")]
    panel = Right("panel", {"--judge": f"{stem}.model", "--vote": f"{stem}.{said}",
                            "--truth": people, "--item": item})  # fmt: skip
    return Case("judge model", w.writer(table), [*rights[:1], panel], rights, [w.bad])


def message_number(w: World) -> Case:
    """A number of the message is no score; verdicts and labels are there."""
    n = 200
    item, judge, people = _columns(w)
    good = w.truth(n)
    number = w.one(["message", "turn", "message_no", "step", "msg_index"])
    table = w.mixed({item: w.items(n), number: 1 + np.arange(n) % 7,
                     judge: w.words(w.judged(good)),
                     people: w.sampled(w.words(good))})  # fmt: skip
    rights = [Right(c, {"--verdict": judge, "--truth": people}, {"--item": item})
              for c in ("prevalence", "gate")]  # fmt: skip
    return Case("message number", w.writer(table), rights[:1], rights, [w.bad])


def message_number_alone(w: World) -> Case:
    """A number of the message and text: nothing was judged."""
    n = 200
    table = pd.DataFrame({w.one(ITEMS): w.items(n), w.one(["message", "turn", "step"]):
                          1 + np.arange(n) % 7, "text": [f"it said {i} of it" for i in range(n)],
                          "reviewer": w.rng.choice(NAMES[:3], n)})  # fmt: skip
    return Case("message number alone", w.writer(table))


def repeats_long(w: World) -> Case:
    """A judge that was asked several times about each output, in scores."""
    n, k = 40, int(w.rng.integers(3, 7))
    item, score = w.one(ITEMS), w.one(SCORES)
    counter = w.one(["run", "repeat", "call", "trial", "epoch"])
    level = np.repeat(w.rng.random(n), k)
    table = w.mixed({item: np.repeat(w.items(n), k), counter: np.tile(np.arange(k) + 1, n),
                     score: w.scores(level, 5)}, decoys=False)  # fmt: skip
    need = {"--score": score, "--item": item}
    return Case("repeats", w.writer(table), [Right("repeats report", need, {"--order": counter})])


def repeated_verdicts(w: World) -> Case:
    """The same in verdicts, side by side."""
    n, k = 80, int(w.rng.integers(3, 6))
    item, stem = w.one(ITEMS), w.one(["run", "run_", "judge run ", "attempt", "trial_"])
    good = w.rng.random(n)
    names = [f"{stem}{i + 1}" for i in range(k)]
    cells = {name: w.words(w.rng.random(n) < good) for name in names}
    table = w.mixed({item: w.items(n), **cells}, decoys=False)
    need = {"--score": names, "--item": item}
    return Case("repeats side by side", w.writer(table), [Right("repeats report", need)])


def bias_long(w: World) -> Case:
    """Scores of each item as it was and changed."""
    n = 60
    item, score = w.one(ITEMS), w.one(SCORES)
    variant = w.one(["variant", "version", "condition", "perturbation"])
    kinds = [w.one(["original", "baseline", "control"]), w.one(["longer", "typos", "markdown"])]
    level = np.tile(w.rng.random(n), 2)
    table = w.mixed({item: w.items(n) * 2, variant: np.repeat(kinds, n),
                     score: w.scores(level, 10)}, decoys=False)  # fmt: skip
    need = {"--item": item, "--variant": variant, "--score": score, "--baseline": kinds[0]}
    return Case("bias", w.writer(table), [Right("bias", need)])


def bias_wide(w: World) -> Case:
    """The same, side by side."""
    n = 60
    item = w.one(ITEMS)
    first, second = w.one([("score_before", "score_after"), ("original", "shuffled"),
                           ("rating original", "rating perturbed")])  # fmt: skip
    level = w.rng.random(n)
    table = w.mixed({item: w.items(n), first: w.scores(level, 10), second: w.scores(level, 10)})
    may = {"--item": item, "--judge": "judge_model"}
    return Case("bias side by side", w.writer(table),
                [Right("bias", {"--score": [first, second]}, may)])  # fmt: skip


def orders(w: World) -> Case:
    """Verdicts on two answers in both orders."""
    item = w.one(["prompt", "question_id", "item"])
    first, second = w.one([("answer_A", "answer_B"), ("first", "second"), ("model_1", "model_2")])
    verdict, won = w.one([("winner", ("A", "B")), ("judge", ("first", "second")),
                          ("preference", ("1", "2"))])  # fmt: skip
    names = w.some(LLMS, 2)
    rows = [(f"p{i}", names[k], names[1 - k], won[int(w.rng.random() < 0.4)])
            for i in range(80) for k in (0, 1)]  # fmt: skip
    table = pd.DataFrame(rows, columns=[item, first, second, verdict])
    need = {"--item": item, "--shown-first": first, "--shown-second": second, "--verdict": verdict}
    return Case("orders", w.writer(table), [Right("bias orders", need)])


#: What battles are numbered by.
NUMBERED = ["question_id", "battle", "id"]


def battles(w: World) -> Case:
    """One battle a row between two of several models."""
    n = 300
    pairs = [w.some(LLMS, 2) for _ in range(n)]
    names = w.one([("model_a", "model_b", "winner"), ("left", "right", "vote"),
                   ("system_1", "system_2", "preferred")])  # fmt: skip
    won = w.one([("model_a", "model_b", "tie"), ("A", "B", "tie"), ("left", "right", "tie")])
    table = w.mixed({w.one(NUMBERED): w.items(n),
                     names[0]: [a for a, _ in pairs], names[1]: [b for _, b in pairs],
                     names[2]: w.rng.choice(won, n),
                     "judge": w.rng.choice(NAMES[:4], n)}, decoys=False)  # fmt: skip
    need = {"--verdict": names[2]}
    if names[0] != "model_a":  # which is found by its name
        need |= {"--first": names[0], "--second": names[1]}
    may = {"--item": next(c for c in table if c in NUMBERED), "--judge": "judge"}
    return Case("battles", w.writer(table), [Right("leaderboard", need, may)])


def attempts(w: World) -> Case:
    """Attempts at tasks: a test passes or fails each, or a judge, and people labelled some."""
    n, k = 60, int(w.rng.integers(3, 6))
    item, counter = w.one(["task", "task_id", "problem"]), w.one(["attempt", "sample", "try"])
    said = w.one(["passed", "solved", "success", "tests_pass", "resolved"])
    p = np.repeat(w.rng.random(n), k)
    cells = w.one([np.array([0, 1]), np.array(["False", "True"], object)])
    table = pd.DataFrame({item: np.repeat(w.items(n), k), counter: np.tile(np.arange(k) + 1, n),
                          said: cells[(w.rng.random(n * k) < p) * 1],
                          "seconds": w.rng.integers(1, 99, n * k)})  # fmt: skip
    need = {"--task": item, "--truth": said}
    if w.rng.random() < 0.5:
        return Case("attempts", w.writer(table), [Right("attempts", need)])
    good = w.rng.random(n * k) < p
    table = table.drop(columns=said).assign(
        judge=w.words(w.judged(good)), human=w.sampled(w.words(good))
    )
    need = {"--task": item, "--verdict": "judge", "--truth": "human"}
    may = {"--verdict": "judge", "--truth": "human", "--item": item}
    also = [Right(command, {}, may) for command in ("prevalence", "gate")]
    return Case("attempts", w.writer(table), [Right("attempts", need)], also, bad=[w.bad])


def rubric(w: World) -> Case:
    """Criteria of one judge, and people's of each: paired by what their names share."""
    n = 200
    item, kinds = w.one(ITEMS), w.some(CRITERIA, int(w.rng.integers(2, 4)))
    mine, theirs = w.one([("judge_{}", "human_{}"), ("{}_llm", "{}_human"), ("llm {}", "human {}"),
                          ("{} (gpt)", "{} (human)"), ("auto.{}", "human.{}"),
                          ("{}_pred", "{}_gold")])  # fmt: skip
    cells: dict[str, Any] = {item: w.items(n)}
    scored = w.rng.random() < 0.5
    some = w.rng.random(n) < 0.35
    for kind in kinds:
        level = w.rng.random(n)
        own = w.scores(level, 5) if scored else w.words(w.judged(level > 0.3))
        people = w.scores(level, 5) if scored else w.words(level > 0.3)
        cells |= {mine.format(kind): own, theirs.format(kind): np.where(some, people, "")}
    table = w.mixed(cells, decoys=False)
    option = "--score" if scored else "--verdict"
    rights = [Right(c, {option: mine.format(kind), "--truth": theirs.format(kind)},
                    {"--item": item})
              for kind in kinds for c in ("prevalence", "gate")]  # fmt: skip
    rights.append(Right("rubric", {}))
    return Case("rubric", w.writer(table), rights[:1], rights, [w.bad])


def rubric_one_person(w: World) -> Case:
    """Criteria of one judge, and what people say overall: it is asked of which it is."""
    n = 200
    item, kinds = w.one(ITEMS), w.some(CRITERIA, 3)
    people = w.one(["human", "human_overall", "expert", "gold"])
    cells = {kind: w.words(w.judged(w.truth(n))) for kind in kinds}
    table = w.mixed({item: w.items(n), **cells, people: w.sampled(w.words(w.truth(n)))},
                    decoys=False)  # fmt: skip
    also = [Right(c, {"--verdict": (*kinds,), "--truth": people}, {"--item": item})
            for c in ("prevalence", "gate")]  # fmt: skip
    return Case("rubric, one label", w.writer(table), also=also, bad=[w.bad])


def rubric_totals(w: World) -> Case:
    """Points by criterion and their total, by a model: no labels, and no jury."""
    n = 150
    kinds = w.some(CRITERIA, 4)
    level = w.rng.random(n)
    points = {kind: w.scores(level, 5) for kind in kinds}
    total = w.one(["total", "overall", "sum"])
    cells = {w.one(ITEMS): w.items(n), **points, total: np.sum([*points.values()], axis=0)}
    return Case("rubric totals", w.writer(w.mixed(cells, decoys=False)))


def conversations(w: World) -> Case:
    """Turns of conversations, of which some are labelled as a whole, turn by turn."""
    n, k = 60, 6
    chat = w.one(["conversation", "thread", "dialogue", "session_id", "chat_id"])
    judge, people = w.one(JUDGES), w.one(PEOPLE)
    good = w.truth(n * k)
    chosen = np.repeat(w.rng.random(n) < 0.3, k)
    table = w.mixed({chat: np.repeat(w.items(n), k), w.one(["turn", "message"]):
                     np.tile(np.arange(k) + 1, n), judge: w.words(w.judged(good)),
                     people: np.where(chosen, w.words(good), "")}, decoys=False)  # fmt: skip
    rights = [Right(c, {"--verdict": judge, "--truth": people, "--item": chat})
              for c in ("prevalence", "gate")]  # fmt: skip
    return Case("conversations", w.writer(table), rights[:1], rights, [w.bad])


def labels_of_conversations(w: World) -> Case:
    """A label of each conversation on each of its turns, verdicts of turns: it is asked."""
    n, k = 80, 5
    chat, judge = w.one(["conversation", "thread", "session_id"]), w.one(JUDGES)
    people = w.one(["human", "human_label", "gold", "expert"])
    good = w.truth(n)
    label = w.sampled(w.words(good), 0.5)
    table = w.mixed({chat: np.repeat(w.items(n), k), "turn": np.tile(np.arange(k) + 1, n),
                     judge: w.words(w.judged(np.repeat(good, k), 0.7)),
                     people: np.repeat(label, k)}, decoys=False)  # fmt: skip
    return Case("labels of conversations", w.writer(table), bad=[w.bad], asks=[people, chat])


def several_people(w: World) -> Case:
    """Three people and one judge."""
    n = 160
    item, judge = w.one(ITEMS), w.one(["gpt-4o", "llm_verdict", "judge", "claude"])
    names = w.one(
        [
            ["human_1", "human_2", "human_3"],
            ["annotator_a", "annotator_b", "annotator_c"],
            ["expert1", "expert2", "expert3"],
            ["human_ann", "human_bob", "human_eve"],
        ]
    )
    good = w.truth(n)
    cells = {name: w.words(w.judged(good, 0.92)) for name in names}
    if w.rng.random() < 0.5:
        cells = {name: w.sampled(own, 0.8) for name, own in cells.items()}
    table = w.mixed({item: w.items(n), judge: w.words(w.judged(good)), **cells}, decoys=False)
    alone = [Right(c, {"--verdict": judge, "--truth": (*names, names)}, {"--item": item})
             for c in ("prevalence", "gate")]  # fmt: skip
    main = Right("ratings", {"--item": item, "--people": names, "--judge": judge})
    return Case("several people", w.writer(table), [main, *alone], [], [w.bad])


def long_raters(w: World) -> Case:
    """One row per answer of people and models: raters are told by their names."""
    n = 80
    item, rater = w.one(ITEMS), w.one(["rater", "annotator", "evaluator", "labeler", "who"])
    said = w.one(["label", "choice", "rating", "answer"])
    people, llms = w.some(NAMES, 3), w.some(LLMS, 2)
    good = w.truth(n)
    rows = [(name, w.words(w.judged(good, 0.9))) for name in (*people, *llms)]
    items = w.items(n)
    table = pd.concat([pd.DataFrame({item: items, rater: name, said: own}) for name, own in rows])
    table = table.sample(frac=1, random_state=1)
    need = {"--item": item, "--rater": rater, "--choice": said, "--judge": llms}
    return Case("long raters", w.writer(table), [Right("ratings", need)], [], [w.bad])


def ranks(w: World) -> Case:
    """Ranks that a judge gave to four systems: no command reads ranks."""
    n = 80
    names = w.some(LLMS, 4)
    rows = [(f"p{i}", name, int(r) + 1) for i in range(n)
            for name, r in zip(names, w.rng.permutation(4), strict=True)]  # fmt: skip
    table = pd.DataFrame(rows, columns=["prompt", w.one(["system", "model"]),
                                        w.one(["rank", "position", "place"])])  # fmt: skip
    if w.rng.random() < 0.5:
        table = (
            table.pivot_table(index="prompt", columns=table.columns[1], values=table.columns[2])
            .add_prefix("rank ")
            .reset_index()
        )
    return Case("ranks", w.writer(table))


def metrics(w: World) -> Case:
    """Seven metrics of question answering, and people's labels of some rows."""
    n = 200
    item, people = w.one(ITEMS), w.one(["human", "human_label", "expert_label", "reviewer_verdict"])
    level = w.rng.random(n)
    names = ["faithfulness", "answer_relevancy", "context_precision", "context_recall",
             "answer_correctness", "bleu", "rouge_l"]  # fmt: skip
    cells = {name: np.clip(level + w.rng.normal(0, 0.2, n), 0, 1).round(3) for name in names}
    for name in w.some(names, 2):  # failed on some rows
        cells[name] = np.where(w.rng.random(n) < 0.3, np.nan, cells[name])
    labelled = w.rng.random() < 0.7
    own = {people: w.sampled(w.words(level > 0.4))} if labelled else {}
    table = w.mixed({item: w.items(n), **cells, **own}, decoys=False)
    right = Right("prevalence", {"--score": (*names,), "--truth": people}, {"--item": item})
    return Case("metrics", w.writer(table), [right] * labelled, [], [w.bad])


def two_candidates(w: World) -> Case:
    """An expected answer and a reviewer's say, both in the judge's words: it is asked."""
    n = 200
    item, judge = w.one(ITEMS), w.one(JUDGES[:5])
    pair = w.one([("reviewer", "correct"), ("human", "expected"), ("expert", "gold"),
                  ("label", "review")])  # fmt: skip
    good = w.truth(n)
    table = w.mixed({item: w.items(n), judge: w.words(w.judged(good)),
                     pair[0]: w.words(w.judged(good, 0.9)),
                     pair[1]: w.words(w.judged(good, 0.8))}, decoys=False)  # fmt: skip
    also = [Right("ratings", {"--item": item, "--people": [*pair], "--judge": judge})]
    return Case("two candidates", w.writer(table), also=also, bad=[w.bad], asks=pair)


def runs_side_by_side(w: World) -> Case:
    """Verdicts on two releases' outputs in two columns: no panel of judges, and no repeats."""
    n = 150
    a, b = w.one([("verdict_v1", "verdict_v2"), ("old_pass", "new_pass"),
                  ("baseline_verdict", "candidate_verdict")])  # fmt: skip
    table = w.mixed({w.one(ITEMS): w.items(n), a: w.words(w.truth(n)), b: w.words(w.truth(n, 0.8))},
                    decoys=False)  # fmt: skip
    return Case("runs side by side", w.writer(table), bad=[w.bad])


def labels_elsewhere(w: World) -> Case:
    """People's labels in a table of their own."""
    n = 200
    item, judge, people = _columns(w)
    good, items = w.truth(n), w.items(n)
    verdicts = w.writer(w.mixed({item: items, judge: w.words(w.judged(good))}), "verdicts")
    drawn = np.flatnonzero(w.rng.random(n) < 0.3)
    key = w.one([item, "key", "ref"])
    who = w.one(["reviewer", "labelled_by", "by"])
    labels = pd.DataFrame({key: [items[i] for i in drawn], people: w.words(good)[drawn],
                           who: w.rng.choice(NAMES[:2], len(drawn))})  # fmt: skip
    sheet = w.writer(labels.loc[:, ~labels.columns.duplicated()], "labels")
    need = {"--verdict": judge, "--truth": people, "--item": (key, item), "--labels": "labels"}
    rights = [Right(c, need) for c in ("prevalence", "gate")]
    return Case("labels elsewhere", lambda folder: verdicts(folder) + sheet(folder), rights[:1],
                rights, [w.bad])  # fmt: skip


def epochs(w: World) -> Case:
    """Several outputs of a system to each question, each judged once and some labelled."""
    n, k = 80, 4
    item, judge, people = _columns(w)
    good = w.truth(n * k)
    table = w.mixed({item: np.repeat(w.items(n), k), "epoch": np.tile(np.arange(k) + 1, n),
                     "output": [f"text {i} of it" for i in range(n * k)],
                     judge: w.words(w.judged(good)),
                     people: w.sampled(w.words(good))}, decoys=False)  # fmt: skip
    rights = [Right(c, {"--verdict": judge, "--truth": people, "--item": item})
              for c in ("prevalence", "gate")]  # fmt: skip
    rights.append(Right("attempts", {"--verdict": judge, "--truth": people, "--task": item}))
    return Case("epochs", w.writer(table), rights[:1], rights, [w.bad])


def phoenix_log(w: World) -> Case:
    """A log that a tool wrote, with people's annotations of some spans."""
    n = 120
    good = w.truth(n)
    said, drawn = w.judged(good), w.rng.random(n) < 0.4
    rows = ["span_id,annotation_name,annotator_kind,label,score,explanation,identifier"]
    metric = w.one(["correct", "helpful", "grounded"])
    for i in range(n):
        rows.append(f"s{i},{metric},LLM,{('no', 'yes')[int(said[i])]},{int(said[i])},,gpt")
        if drawn[i]:
            rows.append(f"s{i},{metric},HUMAN,{('no', 'yes')[int(good[i])]},{int(good[i])},,")

    def write(folder: Path) -> list[str]:
        (folder / "spans.csv").write_text("\n".join(rows) + "\n")
        return [str(folder / "spans.csv")]

    may = {"--metric": metric, "--truth": "truth", "--item": "item"}
    rights = [Right(c, {}, may) for c in ("prevalence", "gate", "ratings")]
    return Case("Phoenix log", write, rights[:1], rights)


WORLDS: list[Callable[[World], Case]] = [
    one_judge, one_judge_other_words, by_verdict, scores_and_labels, scores_of_both, classes,
    systems, wide_jury, long_jury, jury_of_systems, no_labels, judge_model, message_number,
    message_number_alone, repeats_long, repeated_verdicts, bias_long, bias_wide, orders, battles,
    attempts, rubric, rubric_one_person, rubric_totals, conversations, labels_of_conversations,
    several_people, long_raters, ranks, metrics, two_candidates, runs_side_by_side,
    labels_elsewhere, epochs, phoenix_log,
]  # fmt: skip


def fresh(seed: int, number: int) -> list[Case]:
    """So many cases of neither half: worlds in turn."""
    return [WORLDS[i % len(WORLDS)](World(seed + i)) for i in range(number)]


def cases(half: int, each: int = 150) -> list[Case]:
    """The first or second half of as many cases: worlds in turn, and a seed of its own for each."""
    made = []
    for number in range(each):
        turn = number // len(WORLDS)  # the last turn is of some worlds only
        if (number if turn == each // len(WORLDS) else turn) % 2 == half - 1:
            made.append(WORLDS[number % len(WORLDS)](World(20261126 + number)))
    return made
