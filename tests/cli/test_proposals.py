"""What `doctor` proposes for messy tables of every world and every log is what it proposed before.

Whether a line is right is held in test_never_wrong.py, by running it. Here no line is run, so that
hundreds of tables take seconds, and every step from cells to lines shows in what is proposed: which
columns have which role, what is asked, and each ending that a line may need. Where proposals are to
change, write those of today, and read the difference:

    python tests/cli/test_proposals.py
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

from cli import messy  # noqa: E402
from readers.logs import LOGS  # noqa: E402

from bayesjudge.cli import doctor  # noqa: E402
from bayesjudge.cli.shapes import Reading, running  # noqa: E402
from bayesjudge.readers import read_log  # noqa: E402

STORED = HERE / "held" / "proposals.txt"
#: Tables of each world: one as it is drawn, the others twisted.
TABLES = 6
#: Names that mean something, and some that mean nothing.
NAMES = [*messy.JUDGES, *messy.PEOPLE, *messy.ITEMS, *messy.SYSTEMS, *messy.SCORES, *messy.CRITERIA]
NAMES += ["judge_model", "rater", "choice", "variant", "attempt", "turn", "epoch", "a", "b", "x"]


class Twisted(messy.World):
    """Tables that lack a column, have few rows or empty cells, or columns of a misleading name."""

    def writer(self, table: pd.DataFrame, name: str = "table") -> Callable[[Path], list[str]]:
        """Twist twice, and write as text."""
        for _ in range(2):
            column = self.one([*table])
            match self.one(["lost", "renamed", "renamed", "empty", "few", "constant"]):
                case "lost" if table.shape[1] > 1:
                    table = table.drop(columns=column)
                case "renamed" if (other := self.one(NAMES)) not in table:
                    table = table.rename(columns={column: other})
                case "empty":
                    kept = self.rng.random(len(table)) < 0.5
                    table = table.assign(**{column: table[column].astype(object).where(kept, "")})
                case "few":
                    table = table.head(int(self.rng.integers(3, 40)))
                case "constant":
                    table = table.assign(**{column: table[column].iloc[0]})

        def write(folder: Path) -> list[str]:
            table.to_csv(folder / f"{name}.csv", index=False)
            return [str(folder / f"{name}.csv")]

        return write


@contextlib.contextmanager
def _every_line_runs() -> Iterator[list[Reading]]:
    """Keep the readings that would be tried; the first ending of each is taken to run."""
    tried: list[Reading] = []
    settle = doctor._try

    def keep(reading: Reading, diagnosis: doctor.Diagnosis) -> None:
        tried.append(reading)
        settle(reading, diagnosis)

    said = (True, '{"cautions": []}')
    with (
        mock.patch.object(doctor, "_try", keep),
        mock.patch.object(doctor, "run_line", return_value=said),
        mock.patch.object(running, "run_line", return_value=said),
        mock.patch.object(running, "_fill_in"),
    ):
        yield tried


def _proposed(file: Path, labels: Path | None = None) -> list[str]:
    """Lines with their endings, questions by their columns, and how much is noted."""
    with _every_line_runs() as tried:
        found = doctor.examine(file, labels=labels)
    lines = []
    for reading in tried:
        about = f"sure {reading.score:g}" + ", gate" * reading.gate
        if reading.condition:
            about += ", if so"
        if reading.together is not None:
            about += f", together {_words(reading.together)}"
        lines.append(f"tries {reading.shape}: {reading.line} ({about})")
        lines += [f"  or with {_words(way)}" for way in reading.ways if way]
    lines += [f"says {answer.line}" for answer in found.answers]
    lines += [f"labels {line}" for _, line in found.labelling]
    lines += [f"asks {', '.join(question.columns)}" for question in found.questions]
    counts = {name: len(getattr(found, name)) for name in ("contents", "odd", "hints", "missing")}
    return [*lines, "notes " + ", ".join(f"{name} {n}" for name, n in counts.items())]


def _words(options: Any) -> str:
    return " ".join(" ".join([name, *values]) for name, values in options.items())


def _topics(rates: Mapping[str, float], **more: Sequence[str]) -> pd.DataFrame:
    """Outputs of topics, of which so large a share is labelled, with a verdict or a score."""
    rng, parts, rows = np.random.default_rng(1), [], 150
    for topic, rate in rates.items():
        good = rng.random(rows) < 0.7
        said = np.where(rng.random(rows) < 0.9, good, ~good)
        score = np.clip(0.2 + 0.6 * said + rng.normal(0, 0.1, rows), 0, 1).round(3)
        label = np.where(good, "yes", "no").astype(object)
        label[rng.permutation(rows)[round(rate * rows) :]] = ""
        own = {"topic": topic, "auto_grade": np.where(said, "yes", "no"), "score": score}
        parts.append(pd.DataFrame(own).assign(human=label))
    table = pd.concat(parts, ignore_index=True).rename_axis("question").reset_index()
    return table.assign(**{name: np.resize(cells, len(table)) for name, cells in more.items()})


def _made() -> Iterator[tuple[str, pd.DataFrame | bytes]]:
    """Tables and files of which something is odd that the worlds do not have."""
    uneven, rng = {"billing": 0.1, "legal": 0.4}, np.random.default_rng(2)
    yield "uneven labels", _topics(uneven).drop(columns="score")
    yield "uneven labels beside scores", _topics(uneven).drop(columns="auto_grade")
    yield "uneven labels of systems", _topics(uneven, system=["a", "b"]).drop(columns="score")
    said = rng.choice(["good", "bad"], 60)
    raters = [
        {"ticket": i, "judge_verdict": v, "annotator": who, "label": rng.choice([v, v, "bad"])}
        for i, v in enumerate(said)
        for who in ("ann", "bob")
    ]
    yield "a row a person", pd.DataFrame(raters)
    grades = {f"grade_{k}": rng.integers(1, 6, 40) for k in (1, 2, 3)}
    yield "numbered columns", pd.DataFrame({"prompt": [f"p{i}" for i in range(40)], **grades})
    models = {"item": [*range(60)] * 2, "model": ["m1"] * 60 + ["m2"] * 60}
    labels = {"verdict": rng.choice(["yes", "no"], 120), "human": ["yes", "no", "yes"] * 40}
    yield "labels that are the same under each model", pd.DataFrame(models | labels)
    against = {"item": range(80), "judge": ["yes", "no"] * 40, "human": ["no", "yes"] * 40}
    yield "a judge against people", pd.DataFrame(against)
    people = {"human_1": [*"abc"] * 20, "human_2": [*"abb"] * 20}
    classes = {"item": range(60), "judge_label": [*"abc"] * 20}
    yield "classes of two people", pd.DataFrame(classes | people)
    criteria = {"id": np.repeat(range(30), 2), "criterion": ["tone", "facts"] * 30}
    answers = {name: rng.choice(["yes", "no"], 60) for name in ("judge", "human")}
    yield "a row a criterion", pd.DataFrame(criteria | answers)
    ragged = [f"{i},caf\xe9,yes,no,x{',z' * (i % 9 == 3)}\n" for i in range(30)]
    yield "mistakes", "".join(["id,judge,human,judge,\n", *ragged]).encode("latin-1")
    yield "NUL bytes", b"id,judge,human\n" + b"1,yes,no\0\n" * 20
    commas = [f"{i};0,{i % 10};{'yes' if i % 2 else 'no'}\n" for i in range(40)]
    yield "decimal commas", "".join(["id;score;human\n", *commas]).encode()
    names = "span_id,annotation_name,annotator_kind,label,score,explanation,identifier\n"
    rows = [f"s{i},correct,LLM,{'yes' if i % 2 else 'no'},,,{j}\n" for i in range(6) for j in "ab"]
    people = [f"s{i},correct,HUMAN,no,,,\n" for i in range(3)]
    yield "two judges of a log", "".join([names, *rows, *people]).encode()


def _labels_of(log: Path) -> pd.DataFrame:
    """Two columns of people's labels of the items of a log."""
    items = list(dict.fromkeys(grade.item for grade in read_log(log).grades))
    gold, human = (np.resize(cells, len(items)) for cells in (["pass", "fail"], ["yes", "no"]))
    return pd.DataFrame({"item": items, "gold": gold, "human": human})


def _files() -> Iterator[tuple[str, list[Path]]]:
    """Tables of every world and odd ones, logs of every tool, written where we are."""
    for seed in range(TABLES * len(messy.WORLDS)):
        world = Twisted if seed >= len(messy.WORLDS) else messy.World
        case = messy.WORLDS[seed % len(messy.WORLDS)](world(31_000 + seed))
        (folder := Path(str(seed))).mkdir()
        yield f"{seed} {case.world}", [Path(name) for name in case.write(folder)]
    for tool, (name, write, _) in LOGS.items():
        (folder := Path(tool)).mkdir()
        write(path := folder / name)
        yield tool, [path]
        _labels_of(path).to_csv(labels := folder / "labels.csv", index=False)
        yield f"{tool}, labels elsewhere", [path, labels]
    for what, found in _made():
        path = Path(f"{what}.csv")
        path.write_bytes(found if isinstance(found, bytes) else found.to_csv(index=False).encode())
        yield what, [path]


def today() -> str:
    """A paragraph for each table and log."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        told = ["\n".join([title, *_proposed(*files)]) for title, files in _files()]
    return "\n\n".join(told) + "\n"


def test_each_messy_table_and_log_has_the_proposals_of_today():
    assert today().split("\n\n") == STORED.read_text().split("\n\n")


if __name__ == "__main__":
    STORED.write_text(today())
