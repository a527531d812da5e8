"""What a run asks, of whom, and how it reads the answers: described so that a change shows.

A store keeps the description of the run that began it. Each entry is a text to show, and a digest
of the whole value, which decides.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import zip_longest
from typing import Any, NamedTuple

from bayesjudge.core.errors import checking
from bayesjudge.repeats.runner._redaction import Redactor, text_of, without_secrets

#: Characters of a value that are kept, and that are shown.
KEPT, SHOWN = 1000, 60
#: Named in an error; the others are counted.
NAMED = 3


class Entry(NamedTuple):
    """One thing that must not change: what is shown of it, and the digest of all of it."""

    text: str
    digest: str
    about: str  #: ``run``, ``judge`` or ``item``


def describe(
    scale: Sequence[float],
    judges: Mapping[str, Callable[..., Any]],
    items: Mapping[str, Any],
    redact: Redactor,
) -> dict[str, Entry]:
    """Entries of a run, by name; InputError if a later run could not be held against them."""
    values: dict[str, tuple[str, Any]] = {
        "scale": ("run", list(scale)),
        "judges": ("run", list(judges)),
    }
    problems = []
    for name, judge in judges.items():
        asks = getattr(judge, "asks", None)
        if asks is None:
            problems.append(
                f"judge {name!r} does not say what it asks, to which the store is bound: "
                "judge.asks = {'prompt': …, 'model': …}"
            )
        of_judge = without_secrets(asks or {})
        for key, asked in of_judge.items():
            values[f"{text_of(key)} of judge {name!r}"] = ("judge", asked)
    values |= {f"item {name!r}": ("item", value) for name, value in items.items()}
    entries = {}
    for name, (about, value) in values.items():
        try:
            entries[name] = Entry(*_described(value, redact), about)
        except (TypeError, ValueError, OSError) as error:
            problems.append(
                f"{name} cannot be held against a later run ({error}): give texts, numbers and "
                "containers of them, or a function with its source"
            )
    with checking("repeats run") as require:
        for problem in problems[:NAMED]:
            require(False, problem, "no-fingerprint")
        more = len(problems) - NAMED
        require(more <= 0, f"and {more} more like these")
    return entries


def changes(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> list[str]:
    """Say what is not as it was, one text per change; of items, the first few."""
    about = {name: entry.about for name, entry in {**old, **new}.items()}
    names = [n for n in about if n not in old or n not in new or old[n].digest != new[n].digest]
    items = [name for name in names if about[name] == "item"]
    others = [name for name in names if about[name] != "item"]
    if "judges" in others:  # then what each is asked need not be said
        others = [name for name in others if about[name] != "judge"]
    texts = [f"other {name} ({_apart(old.get(name), new.get(name))})" for name in others]
    if items:
        each = [
            f"{name.removeprefix('item ')} {_apart(old.get(name), new.get(name))}"
            for name in items[:NAMED]
        ]
        each += [f"and {len(items) - NAMED} more"] if len(items) > NAMED else []
        texts.append(f"other items ({'; '.join(each)})")
    return texts


def _apart(old: Entry | None, new: Entry | None) -> str:
    """Two values in a few words, from shortly before they begin to differ."""
    if old is None:
        return f"is new: {_excerpt(new.text if new else '', 0)}"
    if new is None:
        return f"is gone: {_excerpt(old.text, 0)}"
    pairs = enumerate(zip_longest(old.text, new.text))
    first = next((i for i, (a, b) in pairs if a != b), None)
    if first is None:  # of another type, or further on than is kept
        return f"was {_excerpt(old.text, 0)}, now another value that begins alike"
    return f"was {_excerpt(old.text, first)}, now {_excerpt(new.text, first)}"


def _excerpt(text: str, first: int) -> str:
    start = 0 if first < SHOWN - 10 else first - SHOWN // 3
    part = text[start : start + SHOWN]
    before, after = "… " * (start > 0), " …" * (start + SHOWN < len(text))
    return repr(f"{before}{part}{after}")


def _described(value: Any, redact: Redactor) -> tuple[str, str]:
    """Text to show of a value, and the digest of all of it."""
    # 1 and 1.0 are one number
    tree = json.loads(json.dumps(value, default=_in_json), parse_float=_number)
    shown = tree if isinstance(tree, str) else json.dumps(tree, ensure_ascii=False)
    whole = json.dumps(tree, sort_keys=True)
    return redact(shown)[:KEPT], hashlib.sha256(whole.encode()).hexdigest()[:20]


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _in_json(value: Any) -> Any:
    """What JSON has no word for: functions by their source, arrays, tables, objects by value."""
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return ["set", *sorted(json.dumps(member, default=_in_json) for member in value)]
    for method in ("to_dict", "tolist"):
        if hasattr(value, method):
            return [type(value).__name__, getattr(value, method)()]
    if callable(value):
        code = getattr(inspect.unwrap(value), "__code__", None)
        if getattr(code, "co_filename", "") == "<string>":
            raise TypeError("it is a function of evaluated text")  # others' text has that name too
        home = (getattr(value, "__module__", None) or "").partition(".")[0]
        known = home in ("bayesjudge", "builtins") and hasattr(value, "__qualname__")
        return value.__qualname__ if known else inspect.getsource(value)
    if not hasattr(value, "__dict__"):
        raise TypeError(f"it holds a {type(value).__name__}")
    return [type(value).__name__, vars(value)]
