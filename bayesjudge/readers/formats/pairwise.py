"""Benchmarks of chat models: alpaca_eval and arena-hard (pairs), MT-bench (scores)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import listed, mapping, number, text
from bayesjudge.readers.log import FIRST, SECOND, Grade, Notes

JSON = ("json", "jsonl")
#: Arena-hard's verdicts, by how the answer that is shown first did.
FIRST_DID = {"A>>B": "win", "A>B": "win", "A=B": "tie", "B=A": "tie", "B>A": "loss", "B>>A": "loss"}
OTHER = {"win": "loss", "tie": "tie", "loss": "win"}


class AlpacaEval:
    """Preferences from 1 (the reference) to 2 (the model), 1.5 a draw."""

    NAME = "alpaca_eval"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        names = file.columns_if(*JSON, "csv")
        return {"preference", "annotator", "instruction", "generator_2"} <= names

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        for row in file.records():
            score = number(row.get("preference"))
            known = score is not None and 0.9 <= score <= 2.1
            drawn = known and abs(score - 1.5) < 1e-9  # type: ignore[operator]
            outcome = "tie" if drawn else "win" if known and score > 1.5 else "loss"  # type: ignore[operator]
            yield Grade(
                item=text(row.get("instruction")),
                metric="preference",
                value=outcome if known else None,
                score=min(max(score - 1, 0.0), 1.0) if known else None,  # type: ignore[operator]
                system=text(row.get("generator_2")),
                judge=text(row.get("annotator")),
                failure="" if known else f"preference {row.get('preference')!r}",
                about={"dataset": row.get("dataset"), "reference": row.get("generator_1")},
            )


class ArenaHard:
    """Two games a question: the model is shown second, then first."""

    NAME = "arena-hard"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        return {"question_id", "model", "judge", "games"} <= file.columns_if(*JSON)

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        for row in file.records():
            games = listed(row.get("games"))
            if len(games) != 2:
                notes.left_out[f"questions with {len(games)} games in place of two"] += 1
                continue
            for order, game in zip((SECOND, FIRST), map(mapping, games), strict=True):
                said = text(game.get("score"))
                did = FIRST_DID.get(said.strip().replace(" ", ""))
                value = OTHER[did] if did and order == SECOND else did
                yield Grade(
                    item=text(row.get("question_id")),
                    metric="preference",
                    value=value,
                    system=text(row.get("model")),
                    judge=text(row.get("judge")),
                    order=order,
                    failure="" if value else f"no verdict: {said or None}"[:300],
                    about={"category": row.get("category"), "reference": row.get("baseline")},
                )


class MTBench:
    """Scores from 1 to 10; -1 is a judgment without a score."""

    NAME = "MT-bench"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        return {"question_id", "model", "judge", "score", "turn"} <= file.columns_if(*JSON)

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        for row in file.records():
            judge = listed(row.get("judge")) or [text(row.get("judge"))]
            score = number(row.get("score"))
            known = score is not None and score >= 0
            reason = re.sub(r"\s+", " ", text(row.get("judgment")))[:200]
            yield Grade(
                item=f"{text(row.get('question_id'))}, turn {text(row.get('turn'))}",
                metric="score",
                value=score if known else None,
                system=text(row.get("model")),
                judge=text(judge[0]),
                failure="" if known else f"no score: {reason}",
                about={"prompt": text(judge[1]) if len(judge) > 1 else None},
            )
