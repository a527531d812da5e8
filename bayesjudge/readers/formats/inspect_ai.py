"""Inspect logs, ``.eval`` and ``.json``, read without Inspect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bayesjudge.core.errors import expect
from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import flat, listed, mapping, name_of, text, verdict
from bayesjudge.readers.log import Grade, Notes

#: Scores that Inspect gives its letters.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
HEADER, START = "header.json", "_journal/start.json"


class Inspect:
    """Samples, epoch by epoch: the log's own summary counts no grade that failed to parse."""

    NAME = "Inspect"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        if file.kind == "zip":
            return HEADER in file.members or START in file.members
        return file.kind == "json" and {"eval", "status"} <= set(mapping(file.first))

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        header, samples = self._opened(file, notes)
        run = mapping(header.get("eval"))
        jurors = {
            text(s.get("name")): s.get("options") for s in map(mapping, listed(run.get("scorers")))
        }
        seen, failed = 0, Counter[str]()
        for sample in samples:
            seen += 1
            for grade in _grades(sample, text(run.get("model")), jurors, notes):
                failed[grade.metric] += grade.value is None
                yield grade
        notes.sentences += _unlike_summary(mapping(header.get("results")), failed)
        status = text(header.get("status")) or "unknown: the run did not end"
        expected = _expected(run)
        if status != "success":
            of = f" of {expected}" if expected else ""
            notes.sentences.append(f"the run's status is {status}: it has {seen}{of} samples")
        elif expected and seen < expected:
            notes.sentences.append(f"the log has {seen} of {expected} samples")

    def _opened(
        self, file: File, notes: Notes
    ) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
        if file.kind != "zip":
            header = mapping(file.document)
            words = "the log holds no samples; write it with log_samples"
            expect(file.name, listed(header.get("samples")), words)
            return header, (mapping(sample) for sample in header["samples"])
        name = HEADER if HEADER in file.members else START
        header = mapping(file.parsed(file.member(name), name))
        names = [n for n in file.members if n.startswith("samples/") and n.endswith(".json")]
        expect(file.name, names, "the log holds no samples; write it with log_samples")
        if file.repeated_members:
            notes.left_out["members that a later one of the same name replaces"] = (
                file.repeated_members
            )
        return header, (mapping(file.parsed(file.member(n), n)) for n in names)


def _unlike_summary(results: Mapping[str, Any], failed: Mapping[str, int]) -> Iterator[str]:
    """What the log's own summary hides: means over epochs leave failed grades out uncounted."""
    for score in map(mapping, listed(results.get("scores"))):
        name, unscored = text(score.get("name")), score.get("unscored_samples")
        n = failed.get(name, 0)
        if isinstance(unscored, int) and unscored < n:
            grades = "grade" if n == 1 else "grades"
            note = f"the log's own summary of {name} counts {unscored} unscored"
            yield f"{note}, and {n} {grades} failed: do not take its shares"


def _expected(run: Mapping[str, Any]) -> int:
    """Samples of a whole run: those of the dataset, limited, by epochs."""
    dataset, config = mapping(run.get("dataset")), mapping(run.get("config"))
    n, epochs, limit = dataset.get("samples"), config.get("epochs") or 1, config.get("limit")
    if isinstance(limit, int) and isinstance(n, int):
        n = min(n, limit)
    return n * epochs if isinstance(n, int) and isinstance(epochs, int) else 0


def _grades(
    sample: Mapping[str, Any], system: str, jurors: Mapping[str, Any], notes: Notes
) -> Iterator[Grade]:
    scores = mapping(sample.get("scores"))
    if not scores:
        ended = "that ended in an error" if sample.get("error") else "without a score"
        notes.left_out[f"samples {ended}"] += 1
    if sample.get("id") is None:
        raise KeyError("id")  # of another tool: without it all samples would be one
    about = {"target": _target(sample.get("target")), **flat(sample.get("metadata"))}
    epoch = sample.get("epoch")
    base = Grade(
        item=text(sample.get("id")),
        metric="",
        value=None,
        system=system,
        repeat=epoch if isinstance(epoch, int) and epoch > 0 else None,
        output=hash(_output(sample.get("output"))),
        about=about,
    )
    for name, held in scores.items():
        score = mapping(held)
        judge = _judge(score, jurors.get(name))
        yield from _values(base._replace(judge=judge), name, score, _original(score))
        edited = _edited(score)
        if edited is not None:
            yield base._replace(metric=name, value=edited, score=_letter(edited), human=True)
        yield from _votes(base, name, score, jurors.get(name))


def _target(target: Any) -> Any:
    return target if isinstance(target, str) else None


def _output(output: Any) -> str:
    """Text of what was graded."""
    produced = mapping(output)
    if "completion" in produced:
        return text(produced["completion"])
    choices = listed(produced.get("choices"))
    message = mapping(mapping(choices[0]).get("message")) if choices else {}
    return str(message.get("content"))


def _values(base: Grade, name: str, score: Mapping[str, Any], value: Any) -> Iterator[Grade]:
    """One grade; of a value with parts, one per part."""
    why = text(score.get("reason")) or "no value"
    explanation = text(score.get("explanation"))
    failure = f"{why}: {explanation[:200]}" if explanation else why
    parts = {name: None if isinstance(value, list) else value}
    if isinstance(value, Mapping):
        parts = {f"{name}/{part}": inner for part, inner in value.items()}
    for metric, inner in parts.items():
        grade = verdict(inner)
        lost = "" if grade is not None else failure
        yield base._replace(metric=metric, value=grade, score=_letter(grade), failure=lost)


def _letter(value: Any) -> float | None:
    return LETTERS.get(value) if isinstance(value, str) else None


def _original(score: Mapping[str, Any]) -> Any:
    """The value before people edited it."""
    history = [mapping(entry) for entry in listed(score.get("history"))]
    return history[0].get("value") if len(history) > 1 else score.get("value")


def _edited(score: Mapping[str, Any]) -> Any:
    """The value that a person gave, if it was edited."""
    history = [mapping(entry) for entry in listed(score.get("history"))]
    values = [
        entry.get("value") for entry in history[1:] if entry.get("value") not in (None, "UNCHANGED")
    ]
    last = values[-1] if values else None
    return None if isinstance(last, Mapping | list) else verdict(last)


def _judge(score: Mapping[str, Any], options: Any) -> str:
    """The model that graded, by its last message or the scorer's options; none of a program."""
    about = mapping(score.get("metadata"))
    size = len(listed(mapping(about.get("panel")).get("votes")))
    if size:
        return f"panel of {size}"
    grading = listed(about.get("grading"))
    models = [text(mapping(message).get("model")) for message in grading]
    named = next((m for m in reversed(models) if m), "")
    return named or name_of(mapping(options).get("model"))


def _votes(base: Grade, name: str, score: Mapping[str, Any], options: Any) -> Iterator[Grade]:
    """The votes of a panel, in the order of its judges."""
    panel = mapping(mapping(score.get("metadata")).get("panel"))
    reasons = {
        mapping(f).get("index"): text(mapping(f).get("reason"))
        for f in listed(panel.get("failures"))
    }
    models = [name_of(model) for model in listed(mapping(options).get("model"))]
    for i, vote in enumerate(listed(panel.get("votes"))):
        judge = models[i] if i < len(models) and models[i] else f"judge {i + 1}"
        judge = judge if models.count(judge) < 2 else f"{judge} #{i + 1}"
        grade = verdict(mapping(vote).get("value", vote) if isinstance(vote, Mapping) else vote)
        lost = "" if grade is not None else reasons.get(i) or "no vote"
        vote_of = base._replace(metric=f"{name} votes", judge=judge)
        yield vote_of._replace(value=grade, score=_letter(grade), failure=lost)
