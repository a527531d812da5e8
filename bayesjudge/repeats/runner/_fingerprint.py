"""What a run asks, of whom, and how it reads the answers: described so that a change shows.

A store keeps the description of the run that began it. Each entry is a text to show, and a digest
of the whole value, which decides.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import zip_longest
from numbers import Integral, Real
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple

from bayesjudge.repeats.runner._redaction import Redactor, is_secret_name, text_of, without_secrets

#: Characters of a value that are kept, and that are shown.
KEPT, SHOWN = 1000, 60
#: Named in an error; the others are counted.
NAMED = 3


class Entry(NamedTuple):
    """One thing that must not change: what is shown of it, and the digest of all of it."""

    text: str
    digest: str


def describe(
    scale: Sequence[float],
    judges: Mapping[str, Callable[..., Any]],
    items: Mapping[str, Any],
    redact: Redactor,
) -> dict[str, Entry]:
    """Entries of a run, by name."""
    found = {"scale": _entry(list(scale), redact), "judges": _entry(list(judges), redact)}
    for name, judge in judges.items():
        asks = getattr(judge, "asks", None)
        about = _code_entries(judge) if asks is None else without_secrets(asks)
        for key, value in about.items():
            found[f"{text_of(key)} of judge {name!r}"] = _entry(value, redact)
    return found | {f"item {name!r}": _entry(value, redact) for name, value in items.items()}


def changes(
    old: Mapping[str, Entry], new: Mapping[str, Entry], accept_code: bool = False
) -> list[str]:
    """Say what is not as it was, one text a change; of items, the first few."""
    names = [n for n in {**old, **new} if _digest(old.get(n)) != _digest(new.get(n))]
    items = [name for name in names if name.startswith(("item '", 'item "'))]
    others = [name for name in names if name not in items]
    if "judges" in others:  # then what each is asked need not be told
        others = [name for name in others if " of judge " not in name]
    if accept_code:
        others = [name for name in others if not name.startswith(("code ", "parser "))]
    found = [f"other {name} ({_apart(old.get(name), new.get(name))})" for name in others]
    if items:
        told = [
            f"{name.removeprefix('item ')} {_apart(old.get(name), new.get(name))}"
            for name in items[:NAMED]
        ]
        told += [f"and {len(items) - NAMED} more"] if len(items) > NAMED else []
        found.append(f"other items ({'; '.join(told)})")
    return found


def _digest(entry: Entry | None) -> str | None:
    return None if entry is None else entry.digest


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


def _entry(value: Any, redact: Redactor) -> Entry:
    whole = json.dumps(_canonical(value), separators=(",", ":")).encode()
    return Entry(redact(_readable(value))[:KEPT], hashlib.sha256(whole).hexdigest()[:20])


def _readable(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, _Code):
        return value.text
    if callable(value):
        return _Code.of(value).text
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=text_of)
    except (TypeError, ValueError, RecursionError):
        return text_of(value)


def _canonical(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return what JSON can hold and tells values apart; keys of a mapping have no order."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Real):
        number = int(value) if isinstance(value, Integral) else float(value)
        return ["number", hex(int(number)) if number.is_integer() else float(number).hex()]
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    if isinstance(value, _Code):
        return ["code", value.digest]
    if id(value) in above:
        return ["itself"]
    inside = partial(_canonical, above=(*above, id(value)))
    if isinstance(value, Mapping):
        pairs = [[inside(key), inside(held)] for key, held in value.items()]
        return ["mapping", sorted(pairs, key=json.dumps)]
    if isinstance(value, list | tuple):
        return ["list", [inside(held) for held in value]]
    if isinstance(value, Set):
        return ["set", sorted(map(inside, value), key=json.dumps)]
    if callable(value):
        return ["code", _Code.of(value).digest]
    return [type(value).__qualname__, _contents(value, inside)]


def _contents(value: Any, inside: Callable[[Any], Any]) -> Any:
    """Look into an object that is no plain value: an array, a record, a table, a date."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return [str(value.dtype), inside(value.tolist())]
    if hasattr(value, "tobytes"):  # a picture
        return inside([value.tobytes(), getattr(value, "size", None), getattr(value, "mode", None)])
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return inside(value.to_dict("list"))
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    if own := {**getattr(value, "__dict__", {}), **_slotted(value, slots)}:
        return inside(own)
    return re.sub(r" at 0x[0-9a-f]+", "", text_of(value))


def _slotted(value: Any, slots: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in slots if hasattr(value, name)}


# A function --------------------------------------------------------------------------------------


class _Code(NamedTuple):
    """A function by what it does: its byte code, and that of the functions it was made of."""

    text: str
    digest: str

    @classmethod
    def of(cls, function: Callable[..., Any], *, constants: bool = True) -> _Code:
        name = text_of(getattr(function, "__qualname__", type(function).__qualname__))
        codes = [one.__code__ for one in _functions(function)]
        if not codes or str(getattr(function, "__module__", "")).startswith("bayesjudge."):
            return cls(name, name)  # ours go by their name, wherever they are moved to
        parts = [_canonical(_instructions(code)) for code in codes]
        held = _canonical(_constants(function)) if constants else None
        digest = hashlib.sha256(json.dumps([parts, held]).encode()).hexdigest()
        # another Python compiles the same function to other byte code
        return cls(f"{name} (code {digest[:8]}, Python {platform.python_version()})", digest)


def _code_entries(judge: Callable[..., Any]) -> dict[str, Any]:
    """Describe a judge that does not say what it asks: its code, and the texts that it uses."""
    texts = {f"code value {name}": value for name, value in _constants(judge).items()}
    return {"code": _Code.of(judge, constants=False), **texts}


def _functions(made: Any, seen: set[int] | None = None) -> Iterator[FunctionType]:
    """Yield the functions that a callable is made of, and those of their module that they name."""
    seen = set() if seen is None else seen
    if id(made) in seen:
        return
    seen.add(id(made))
    if isinstance(made, partial):
        yield from _functions(made.func, seen)
    elif isinstance(made, MethodType):
        yield from _functions(made.__func__, seen)
    elif isinstance(made, FunctionType):
        yield made
        for value in _values(made).values():
            beside = getattr(value, "__module__", None) == made.__module__
            if isinstance(value, FunctionType) and beside:
                yield from _functions(value, seen)
    elif not isinstance(made, type) and callable(made):
        yield from _functions(type(made).__call__, seen)


def _instructions(code: CodeType) -> list[Any]:
    """List what the code does, without where it stands."""
    constants = [_instructions(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return [code.co_code, list(code.co_names), constants]


def _values(function: FunctionType) -> dict[str, Any]:
    """Defaults, closed-over and global values of a function, by name."""
    found = {
        name: function.__globals__.get(name) for name in sorted(_names_used(function.__code__))
    }
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet bound
            continue
    arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = function.__defaults__ or ()
    found |= dict(zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True))
    return found | (function.__kwdefaults__ or {})


def _names_used(code: CodeType) -> set[str]:
    inner = [_names_used(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _constants(made: Any) -> dict[str, str | float]:
    """Texts and fractions that a callable uses by name: a prompt, a model, a temperature.

    Other values (a counter, a port, a client) may change between runs and ask the same.
    """
    found: dict[str, Any] = {}
    own = made.__self__ if isinstance(made, MethodType) else made
    if isinstance(made, partial):
        found |= {str(i): value for i, value in enumerate(made.args)} | made.keywords
    elif not isinstance(own, FunctionType | type):
        found |= getattr(own, "__dict__", {})
    for function in _functions(made):
        found |= _values(function)
    return {
        name: value
        for name, value in sorted(found.items())
        if type(value) in (str, float) and not is_secret_name(name) and not name.startswith("__")
    }
