"""promptfoo results, ``out.json`` and ``out.jsonl``."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import flat, listed, mapping, name_of, number, text, verdict
from bayesjudge.readers.log import Grade, Notes

#: Assertions that a model judges.
MODEL_GRADED = re.compile(
    r"(not-)?(llm-rubric|g-eval|model-graded|factuality|answer-relevance|context-|pi|moderation"
    r"|select-best|conversation-relevance|trajectory|agent-rubric|search-rubric)"
)
#: Reasons of a failure to parse, which promptfoo writes as a fail with score 0.
UNPARSED = re.compile(
    r"could not extract json|could not parse|no output|failed to parse|invalid json|api error"
    r"|grader error|error from|malformed|not valid json",
    re.IGNORECASE,
)
#: `failureReason` of a test whose output never came.
ERROR = 2


class Promptfoo:
    """Component results: the test's own success mixes judges and code."""

    NAME = "promptfoo"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        first = file.first if file.kind in ("json", "jsonl") else {}
        whole = isinstance(mapping(first.get("results")).get("results"), list)
        return whole or {"gradingResult", "promptIdx"} <= set(first)

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        document = mapping(file.document) if file.kind == "json" else {}
        whole = mapping(document.get("results"))
        default = mapping(mapping(document.get("config")).get("defaultTest"))
        judge = name_of(mapping(default.get("options")).get("provider"))
        rows = listed(whole.get("results")) if whole else list(file.records())
        rows = [mapping(row) for row in rows]
        prompts = {row.get("promptIdx") for row in rows}
        notes.sentences += [*_confounded(rows), *_never_graded(rows)]
        for row in rows:
            yield from _grades(row, len(prompts) > 1, judge, notes)


def _confounded(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Tell that providers differ in their prompts too."""
    pairs = {(name_of(row.get("provider")), row.get("promptIdx")) for row in rows}
    providers, prompts = ({pair[i] for pair in pairs} for i in (0, 1))
    if len(providers) > 1 and len(prompts) == len(pairs) == len(providers):
        yield "each provider was given a prompt of its own: a difference may come from either"


def _never_graded(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Tell which assertions of a model the tests have and the results have not."""
    lost: Counter[str] = Counter()
    for row in rows:
        components = listed(mapping(row.get("gradingResult")).get("componentResults"))
        graded = {text(mapping(mapping(c).get("assertion")).get("type")) for c in components}
        asked = {
            text(mapping(a).get("type")) for a in listed(mapping(row.get("testCase")).get("assert"))
        }
        lost.update(kind for kind in asked - graded if components and MODEL_GRADED.match(kind))
    for kind, n in lost.items():
        yield f"the assertion {kind} of {n:,} of {len(rows):,} results was never graded"


def _grades(row: Mapping[str, Any], several: bool, judge: str, notes: Notes) -> Iterator[Grade]:
    case = mapping(row.get("testCase"))
    graded = mapping(row.get("gradingResult"))
    components = [mapping(component) for component in listed(graded.get("componentResults"))]
    if not components:
        ended = "that ended in an error" if row.get("error") else "without an assertion"
        notes.left_out[f"test cases {ended}"] += 1
        return
    provider = name_of(row.get("provider"))
    about = flat(case.get("metadata"))
    about = {k: v for k, v in about.items() if not k.startswith("_promptfoo")}
    about = _names(row, case, provider) | about
    output = mapping(row.get("response")).get("output")
    base = Grade(
        item=_item(case.get("vars") or row.get("vars")),
        metric="",
        value=None,
        system=f"{provider} [prompt {row.get('promptIdx')}]" if several else provider,
        output=hash(output if isinstance(output, str) else repr(output)),
        about=about,
    )
    judge = name_of(mapping(case.get("options")).get("provider")) or judge
    for part in components:
        assertion = mapping(part.get("assertion"))
        kind = text(assertion.get("type")) or "assertion"
        by_model = bool(MODEL_GRADED.match(kind))
        reason = text(part.get("reason"))
        failed = by_model and part.get("pass") is False and bool(UNPARSED.search(reason))
        failed |= row.get("failureReason") == ERROR
        yield base._replace(
            metric=_metric(assertion, kind, by_model),
            value=None if failed else verdict(part.get("pass")),
            score=None if failed else number(part.get("score")),
            judge=(name_of(assertion.get("provider")) or judge) if by_model else "",
            failure=reason[:300] or "error" if failed else "",
        )


def _names(row: Mapping[str, Any], case: Mapping[str, Any], provider: str) -> dict[str, Any]:
    """What else a person's table may call a test and what made its output."""
    variables = case.get("vars") or row.get("vars")
    fields = {"test": row.get("testIdx"), "description": case.get("description")}
    fields |= {"provider": provider, "prompt": row.get("promptIdx")}
    fields |= flat(variables, "vars.") if mapping(variables) else {}
    return {name: cell for name, cell in fields.items() if cell not in (None, "")}


def _item(variables: Any) -> str:
    """What a test is about: its variables. Their test's number differs between repeats."""
    cells = mapping(variables)
    if len(cells) == 1:
        (only,) = cells.values()
        if isinstance(only, str):
            return only
    return json.dumps(cells, sort_keys=True, default=str, ensure_ascii=False)


def _metric(assertion: Mapping[str, Any], kind: str, by_model: bool) -> str:
    named = text(assertion.get("metric"))
    value = text(assertion.get("value")) if isinstance(assertion.get("value"), str) else ""
    return named or (f"{kind}: {value[:60]}" if by_model and value else kind)
