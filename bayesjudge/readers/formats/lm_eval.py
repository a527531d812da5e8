"""lm-evaluation-harness samples, ``samples_TASK_DATE.jsonl``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import flat, listed, mapping, text, verdict
from bayesjudge.readers.log import Grade, Notes

FIELDS = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
FIELDS |= {"doc_hash", "prompt_hash", "target_hash"}


class LMEval:
    """Metrics of each document and filter; a filter is another reading of the same output."""

    NAME = "lm-eval"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        return {"doc_id", "filtered_resps"} <= file.columns_if("jsonl", "json")

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        system = _model(file, notes)
        for row in file.records():
            names = listed(row.get("metrics"))
            names = names or [k for k in row if k not in FIELDS and not isinstance(row[k], dict)]
            chosen = text(row.get("filter"))
            about = flat(row.get("doc"))
            about |= {"target": row.get("target")} if isinstance(row.get("target"), str) else {}
            for name in map(text, names):
                value = row.get(name)
                grade = None if isinstance(value, Mapping | list) else verdict(value)
                yield Grade(
                    item=text(row.get("doc_id")),
                    metric=name if chosen in ("", "none") else f"{name},{chosen}",
                    value=grade,
                    system=system,
                    failure="" if grade is not None else "no number",
                    output=hash(repr(row.get("filtered_resps"))),
                    about=about,
                )


def _model(file: File, notes: Notes) -> str:
    """Name of the model: in the results beside the samples, or the folder that holds them."""
    folder = file.path.parent
    date = re.search(r"\d{4}-\d\d-\d\dT[\d.\-]+(?=\.jsonl)", file.path.name)
    named = f"results_{date[0]}.json" if date else "results.json"
    try:
        with (folder / named).open(encoding="utf-8") as opened:
            config: Any = mapping(json.load(opened))
    except (OSError, ValueError):
        notes.sentences.append(f"the model is not named: there is no {named} beside the samples")
        return ""
    return text(config.get("model_name")) or text(mapping(config.get("config")).get("model"))
