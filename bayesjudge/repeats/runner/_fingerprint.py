"""What a run asks, of whom, and how it reads the answers: described so that a change shows.

A store keeps the description of the run that began it. Each entry is a text to show, and a digest
of the whole value, which decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from bayesjudge.core.errors import checking
from bayesjudge.repeats.runner._by_value import Description, Tree, digest_of, words
from bayesjudge.repeats.runner._redaction import Redactor, text_of, without_secrets

#: Characters of a value that are kept, and that are shown.
KEPT, SHOWN = 1000, 60
#: Named in an error; the others are counted.
NAMED = 3


class Entry(NamedTuple):
    """One thing that must not change: what is shown of it, and the digest of all of it.

    What a judge itself changes as it is asked, a counter or a cache, has two digests with a blank
    between them: as it was before the first call, and after the last one.
    """

    text: str
    digest: str


class Judges(NamedTuple):
    """Entries of judges, and in words what of them cannot be described."""

    entries: dict[str, Entry]
    problems: list[str]


def describe(
    scale: Sequence[float], judges: Judges, items: Mapping[str, Any], redact: Redactor
) -> dict[str, Entry]:
    """Entries of a run, by name; InputError if a later run could not be held against them."""
    found = {"scale": _plain(list(scale), redact)} | judges.entries
    problems = [*judges.problems]
    for name, value in items.items():
        item = Description()
        found[f"item {name!r}"] = _entry(item.of(value), redact, item.values)
        if item.unknown:
            problems.append(
                f"item {name!r} holds {_some(item.unknown)}, which cannot be told from others: "
                "give texts, numbers and containers of them"
            )
    with checking("repeats run") as require:
        for problem in problems[:NAMED]:
            require(False, problem)
        more = len(problems) - NAMED
        require(more <= 0, f"and {more} more like these")
    return found


def describe_judges(judges: Mapping[str, Callable[..., Any]], redact: Redactor) -> Judges:
    """Describe judges by what they say that they ask, or by their code and what it uses."""
    found = Judges({"judges": _plain(list(judges), redact)}, [])
    for name, judge in judges.items():
        asks = getattr(judge, "asks", None)
        entries, unknown = (
            _of_code(judge, redact) if asks is None else _of_asks(without_secrets(asks), redact)
        )
        found.entries.update((f"{key} of judge {name!r}", one) for key, one in entries.items())
        if unknown:
            found.problems.append(
                f"what judge {name!r} asks cannot be told from {_some(unknown)}, which may have "
                "changed in a later run: say it, as in judge.asks = {'prompt': …, 'model': …}"
            )
    return found


def _of_code(judge: Callable[..., Any], redact: Redactor) -> tuple[dict[str, Entry], list[str]]:
    whole = Description(judges=True)
    code = {"code": _entry(whole.of(judge), redact)}
    values = {f"code value {key}": _entry(one, redact) for key, one in whole.values.items()}
    return code | values, whole.unknown


def _of_asks(asks: Mapping[Any, Any], redact: Redactor) -> tuple[dict[str, Entry], list[str]]:
    found, unknown = {}, []
    for key, value in asks.items():
        part = Description(judges=True)
        found[text_of(key)] = _entry(part.of(value), redact, part.values)
        unknown += [f"{one} in asks[{text_of(key)!r}]" for one in part.unknown]
    return found, unknown


def _plain(value: Any, redact: Redactor) -> Entry:
    return _entry(Description().of(value), redact)


def _some(found: Sequence[str]) -> str:
    known = list(dict.fromkeys(found))
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return ", ".join(known[:NAMED]) + more


def changes(
    old: Mapping[str, Entry], new: Mapping[str, Entry], accept_code: bool = False
) -> list[str]:
    """Say what is not as it was, one text a change; of items, the first few."""
    names = [n for n in {**old, **new} if _digest(new.get(n)) not in _digest(old.get(n)).split()]
    items = [name for name in names if name.startswith(("item '", 'item "'))]
    others = [name for name in names if name not in items]
    if "judges" in others:  # then what each is asked need not be told
        others = [name for name in others if " of judge " not in name]
    if accept_code:  # and what a judge now says itself that went by its code
        by_code = tuple(name.removeprefix("code") for name in old if name.startswith("code of "))
        says = [name for name in others if name not in old and name.endswith(by_code)]
        others = [n for n in others if not n.startswith(("code ", "parser ")) and n not in says]
    found = [f"other {name} ({_apart(old.get(name), new.get(name))})" for name in others]
    if items:
        told = [
            f"{name.removeprefix('item ')} {_apart(old.get(name), new.get(name))}"
            for name in items[:NAMED]
        ]
        told += [f"and {len(items) - NAMED} more"] if len(items) > NAMED else []
        found.append(f"other items ({'; '.join(told)})")
    return found


def _digest(entry: Entry | None) -> str:
    return "none" if entry is None else entry.digest


def changed_by_asking(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> dict[str, Entry]:
    """Entries that are others after the calls than they were before them, with both digests."""
    found = {}
    for name in {**before, **after}:
        first, last = _digest(before.get(name)).split()[0], _digest(after.get(name))
        if last != first:
            text = (before.get(name) or after[name]).text
            found[name] = Entry(text, f"{first} {last}")
    return found


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


def _entry(tree: Tree, redact: Redactor, used: Mapping[str, Tree] | None = None) -> Entry:
    """Entry of a description; what functions in it use counts without being shown."""
    text = redact(tree if isinstance(tree, str) else words(tree))
    return Entry(text[:KEPT], digest_of([tree, used] if used else tree)[:20])
