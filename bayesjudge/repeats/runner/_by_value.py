"""Values and functions as trees that JSON can hold: the same in every process for equal contents.

Data go by value, taken apart as `pickle` does it. A function goes by its byte code; what it uses by
name is described beside it, and so on through the functions that it calls. Code of Python and of
installed packages goes by its name. What is left over cannot be held against a later run: files
that are read, open connections, objects of installed packages.
"""

from __future__ import annotations

import builtins
import bz2
import codecs
import copyreg
import dis
import fileinput
import gzip
import hashlib
import importlib
import importlib.resources
import inspect
import io
import json
import linecache
import lzma
import os
import pkgutil
import platform
import random
import re
import runpy
import shelve
import sqlite3
import sys
import sysconfig
import tarfile
import threading
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from importlib.util import find_spec, resolve_name
from numbers import Integral, Rational, Real
from operator import attrgetter, methodcaller
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import narwhals as nw

from bayesjudge.repeats.runner._redaction import is_secret_name, text_of, without_secrets

#: What JSON can hold; a list begins with a word for what it describes.
Tree = Any
#: Modules of Python that define locks, logs and the like, which ask nothing.
_SILENT = {"_abc", "_contextvars", "_thread", "asyncio.locks", "logging", "threading"}
#: Functions and types that read what may be another thing in a later run.
_READERS = (
    *(open, codecs.open, os.open, gzip.open, bz2.open, lzma.open, shelve.open, tarfile.open),
    *(fileinput.input, linecache.getline, linecache.getlines, zipfile.ZipFile, sqlite3.connect),
    *(importlib.resources.files, importlib.resources.read_text, importlib.resources.read_binary),
    *(importlib.resources.open_text, importlib.resources.open_binary, pkgutil.get_data),
    *(importlib.import_module, __import__, sys.modules, runpy.run_path, runpy.run_module),
    *(eval, exec, inspect.getsource, PurePath, io.IOBase),
)
#: What functions of installed packages are called that read files.
_READ = re.compile(r"(read|scan|load|open)(_\w+)?|imread|loadtxt|genfromtxt|fromfile")
_ENVIRONMENT = (os.environ, os.getenv)
#: Functions that take the name of a variable as a text.
_BY_TEXT = (getattr, globals, vars, attrgetter, methodcaller)
_METHODS = FunctionType | staticmethod | classmethod | property
_CONSTRUCTORS = {"__init__", "__new__", "__post_init__"}
#: Folders of Python's own modules, and of this package.
_PYTHON = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib"))
_OURS = f"{Path(__file__).parents[2]}{os.sep}"


class Description:
    """A walk through a value: `values` are what functions in it use, `unknown` what is left over.

    Of data only the contents count; with `judges` the code of their classes counts, too.
    """

    def __init__(self, *, judges: bool = False):
        self.judges = judges
        self.values: dict[str, Tree] = {}
        self.unknown: list[str] = []
        self._name = ""
        self._seen: dict[int, Any] = {}
        #: Modules and classes, and names of theirs that were described.
        self._owners: dict[int, tuple[ModuleType | type, set[str]]] = {}
        self._attributes: set[str] = set()
        #: Classes of which functions may make objects.
        self._named_classes: set[type] = set()
        self._made_up_names = False

    def of(self, value: Any) -> Tree:
        """Describe a value, and the attributes of modules and classes that functions in it name."""
        try:
            tree, known = self._tree(value), 0
            sources = (self._owners, self._attributes, self._named_classes)
            while known != (known := sum(map(len, sources))):
                for owner, done in list(self._owners.values()):
                    add = self._add_members if isinstance(owner, type) else self._add_attributes
                    add(owner, done)  # type: ignore[arg-type]
        except RecursionError:
            return self._miss(value)
        return tree

    def _miss(self, value: Any) -> Tree:
        known = (
            value if isinstance(value, type | BuiltinFunctionType | FunctionType) else type(value)
        )
        kind = known.__name__
        self.unknown.append(kind if self._name in ("", kind) else f"{self._name} ({kind})")
        return ["unknown", kind]

    def _tree(self, value: Any, above: tuple[int, ...] = ()) -> Tree:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, Integral):
            return ["number", hex(value)]
        if isinstance(value, Real) and not isinstance(value, Rational):
            number = float(value)
            return ["number", hex(int(number)) if number.is_integer() else number.hex()]
        if isinstance(value, bytes | bytearray | memoryview):
            return ["bytes", hashlib.sha256(value).hexdigest()]
        if id(value) in above:
            return ["itself", above[::-1].index(id(value))]
        inside = partial(self._tree, above=(*above, id(value)))
        if callable(value) and isinstance(asks := getattr(value, "asks", None), Mapping):
            return ["asks", inside(without_secrets(asks))]
        if self.judges and _reads(value):
            return self._miss(value)
        code = self._code(value, inside)
        return self._contents(value, inside) if code is None else code

    # Code -----------------------------------------------------------------------------------------

    def _code(self, value: Any, inside: Callable[[Any], Tree]) -> Tree | None:
        """Describe a function, a class or a module; None for everything else."""
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, type):
            self._named_classes.update(value.__mro__)
            return self._class(value)
        if isinstance(value, ModuleType):
            if _home(vars(value)) != "Python":
                self._owners.setdefault(id(value), (value, set()))
            return ["named", "", value.__name__]
        if isinstance(value, MethodType):
            return ["method", inside(value.__func__), inside(value.__self__)]
        if isinstance(value, property):
            return ["property", *map(inside, (value.fget, value.fset, value.fdel))]
        if isinstance(value, staticmethod | classmethod):
            return inside(value.__func__)
        if _home_of(type(value).__module__) and callable(value) and "__wrapped__" in _own(value):
            return ["wrapper", inside(value.__wrapped__)]  # functools.cache and others
        module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
        if not isinstance(module, str) or not isinstance(name, str) or not _home_of(module):
            return None
        return ["named", module, name] if vars(sys.modules[module]).get(name) is value else None

    def _function(self, function: FunctionType) -> Tree:
        installed = _home(function.__globals__) != ""
        name = text_of(function.__qualname__)
        if id(function) not in self._seen:
            self._seen[id(function)] = function
            for key, value in _held(function):
                self.add(key, value)
            if not installed:
                self._add_used(function)
        if installed:  # ours and others' go by their names
            return ["named", "", name]
        return ["function", name, digest_of(self._instructions(function.__code__))]

    def _instructions(self, code: CodeType) -> Tree:
        """List what the code does, without where it stands."""
        constants = [
            self._instructions(one) if isinstance(one, CodeType) else self._tree(one)
            for one in code.co_consts
        ]
        return [code.co_code.hex(), list(code.co_names), constants]

    def _class(self, kind: type) -> Tree:
        if _home_of(kind.__module__):
            return ["named", kind.__module__, text_of(kind.__qualname__)]
        if self.judges:
            self._owners.setdefault(id(kind), (kind, set()))
        above = kind.__bases__ if type(kind) is type else (*kind.__bases__, type(kind))
        return ["class", text_of(kind.__qualname__), *map(self._class, above)]

    # What functions use ---------------------------------------------------------------------------

    def add(self, name: str, value: Any) -> None:
        """Describe a value under a name that functions have for it."""
        if _is_hidden(name.rpartition(".")[2]):
            return
        before, self._name = self._name, name
        tree = self._tree(value)
        self._name = before
        free, number = name, 1
        while self.values.get(free, tree) != tree:
            number += 1
            free = f"{name} ({number})"
        self.values[free] = tree

    def _add_used(self, function: FunctionType) -> None:
        """Describe what a function takes from its module, from others and from the environment."""
        used, scope = _names(function.__code__), function.__globals__
        values = {name: scope[name] for name in sorted(used.variables & scope.keys())}
        modules = [one for one in values.values() if isinstance(one, ModuleType)]
        modules += _imported(used.imports, scope)
        known = [vars(builtins).get(name) for name in used.variables]
        reached = _reached(modules, used.attributes)
        known += [vars(one).get(name) for one in reached for name in used.attributes]
        known += values.values()
        texts = {text for text in used.texts if text.isidentifier()}
        self._attributes |= used.attributes
        if any(_is_any(one, _BY_TEXT) for one in known):
            self._attributes |= texts
            self._made_up_names = True
            plain = {name for name, value in scope.items() if _is_plain(value)}
            values |= {name: scope[name] for name in sorted(texts & scope.keys() | plain)}
        if any(_is_any(one, _ENVIRONMENT) for one in known):
            texts |= {one for one in values.values() if isinstance(one, str)}
            for name in sorted(texts & os.environ.keys()):
                self.add(f"environment variable {name}", os.environ[name])
        if any(one is sys.argv for one in known):
            self.add("sys.argv", sys.argv[1:])
        for one in known:
            if self.judges and _reads(one):
                self._miss(one)
        for module in modules:
            self._tree(module)
        for name, value in values.items():
            if not _is_dunder(name) and value is not os.environ and value is not sys.argv:
                self.add(name, value)

    def _add_attributes(self, module: ModuleType, done: set[str]) -> None:
        """Describe attributes that functions name; of an installed module, plain values."""
        own = not _home(vars(module))
        wanted = set(self._attributes)
        if own and self._made_up_names:
            wanted |= {n for n, v in vars(module).items() if not _is_dunder(n) and _is_plain(v)}
        for name in sorted(wanted - done):
            value = vars(module).get(name)
            if own and value is None:
                with suppress(
                    Exception
                ):  # a module may make its attributes when they are asked for
                    value = getattr(module, name)
            if value is not None and (own or isinstance(value, ModuleType) or _is_plain(value)):
                self.add(f"{module.__name__}.{name}", value)
        done |= wanted

    def _add_members(self, kind: type, done: set[str]) -> None:
        """Describe values of a class, and those methods that functions name or Python calls."""
        name = text_of(kind.__qualname__)
        for key, value in sorted(vars(kind).items()):
            wanted = key == "__doc__" or not _is_dunder(key)
            if isinstance(value, _METHODS):
                wanted = key in self._attributes or self._made_up_names or _is_dunder(key)
            if key in _CONSTRUCTORS:
                wanted = kind in self._named_classes
            if wanted and key not in done:
                done.add(key)
                self.add(f"{name}.{key}", value)
        if "" not in done:
            done.add("")
            with suppress(Exception):  # names that cannot be looked up
                types = inspect.get_annotations(kind).items()
                self.add(f"types of {name}", {key: text_of(value) for key, value in types})
            if hasattr(kind, "model_json_schema"):  # of pydantic: what a model is asked to fill in
                self.add(f"schema of {name}", kind.model_json_schema())

    # Data -----------------------------------------------------------------------------------------

    def _contents(self, value: Any, inside: Callable[[Any], Tree]) -> Tree:
        kind = type(value)
        if isinstance(value, ContextVar):
            return ["context variable", value.name, inside([*_value_of(value)])]
        if isinstance(value, threading.local):
            return ["object", self._class(kind), inside(vars(value))]
        if kind.__module__ in _SILENT or value is random.seed.__self__:  # type: ignore[attr-defined]
            return ["silent", kind.__qualname__]
        if value is os.environ:
            return self._miss(value)
        if isinstance(value, Mapping | list | tuple | Set):
            return self._container(value, inside)
        if hasattr(kind, "tolist") and hasattr(kind, "dtype"):
            return ["array", str(value.dtype), inside(value.tolist()), *_index(value, inside)]
        if hasattr(kind, "tobytes"):  # a picture
            size, mode = getattr(value, "size", None), getattr(value, "mode", None)
            return ["picture", *map(inside, (value.tobytes(), size, mode))]
        frame = nw.from_native(value, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return ["table", inside(frame.to_dict(as_series=False)), *_index(value, inside)]
        return self._object(value, inside)

    def _container(self, value: Any, inside: Callable[[Any], Tree]) -> Tree:
        own = [inside(vars(value))] if _own(value) else []
        if self.judges:
            own += [self._class(type(value))] if not _home_of(type(value).__module__) else []
        if isinstance(value, Mapping):
            pairs = [
                [inside(key), inside(held)]
                for key, held in value.items()
                if not (self.judges and isinstance(key, str) and _is_hidden(key))
            ]
            if isinstance(value, defaultdict):
                own.append(inside(value.default_factory))
            return ["mapping", sorted(pairs, key=json.dumps), *own]
        if isinstance(value, Set):
            return ["set", sorted(map(inside, value), key=json.dumps), *own]
        return ["list", list(map(inside, value)), *own]

    def _object(self, value: Any, inside: Callable[[Any], Tree]) -> Tree:
        """Take an object apart as `pickle` would."""
        kind = type(value)
        reduce = copyreg.dispatch_table.get(kind, lambda one: one.__reduce_ex__(4))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some types are about to lose this
                parts = reduce(value)
        except Exception:
            return self._miss(value)
        if isinstance(parts, str):
            return ["named", kind.__module__, parts]
        if self.judges and _home_of(kind.__module__) == "packages":
            return self._miss(value)
        made, arguments, state, *items = [*parts, None][:5]
        if isinstance(value, attrgetter | methodcaller):  # arguments are names, but for the class
            names = (one for one in arguments if isinstance(one, str))
            self._attributes.update(*(name.split(".") for name in names))
        how = [] if made in (kind, copyreg.__newobj__) else [made]  # type: ignore[attr-defined]
        how += [one for one in arguments if one is not kind]
        held = [list(one) for one in items if one is not None]
        return ["object", self._class(kind), *map(inside, (how, state, held))]


# Names that a code uses ---------------------------------------------------------------------------


class _Names(NamedTuple):
    """Names in a code and in those within it; imports as (level, names wanted, module)."""

    variables: set[str]
    attributes: set[str]
    texts: set[str]
    imports: list[tuple[int, tuple[str, ...], str]]


def _names(code: CodeType) -> _Names:
    found = _Names(set(), set(), set(), [])
    steps = [*dis.get_instructions(code)]
    for i, one in enumerate(steps):
        if one.opname == "IMPORT_NAME":
            level, wanted = steps[i - 2].argval, steps[i - 1].argval
            found.imports.append((level, tuple(wanted or ()), one.argval))
        elif one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.variables.add(one.argval)
        elif isinstance(one.argval, str) and one.argval in code.co_names:
            found.attributes.add(one.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _names(constant)
            for mine, its in zip(found[:3], inner[:3], strict=True):
                mine |= its
            found.imports.extend(inner.imports)
        elif isinstance(constant, str):
            found.texts.add(constant)
    return found


def _imported(
    imports: list[tuple[int, tuple[str, ...], str]], scope: dict[str, Any]
) -> Iterator[ModuleType]:
    """Import what a function will import, but nothing that is installed."""
    for level, wanted, name in imports:
        with suppress(Exception):  # it is not there, and the judge will say so
            full = resolve_name("." * level + name, scope.get("__package__") or "")
            spec = find_spec(full)
            if spec is None or _home({"__file__": spec.origin, "__name__": full}) == "packages":
                continue
            yield (module := importlib.import_module(full))
            for one in wanted:
                if not hasattr(module, one) and hasattr(module, "__path__"):
                    importlib.import_module(f"{full}.{one}")


def _held(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield defaults, closed-over values and attributes of a function, by name."""
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not yet bound
            yield name, cell.cell_contents
    arguments = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    yield from zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
    yield from (function.__kwdefaults__ or {}).items()
    for name, value in vars(function).items():
        yield f"{function.__name__}.{name}", value


# Where code comes from ----------------------------------------------------------------------------


def _home_of(module: str) -> str:
    return _home(vars(sys.modules[module])) if module in sys.modules else ""


def _home(scope: Mapping[str, Any]) -> str:
    """Whether a module is Python's, of installed packages or ours; "" if it is the user's."""
    file, name = scope.get("__file__"), str(scope.get("__name__"))
    if not isinstance(file, str):
        return "Python" if name.partition(".")[0] in sys.stdlib_module_names else ""
    if {"site-packages", "dist-packages"} & set(Path(file).parts):
        return "packages"
    if file.startswith(_PYTHON):
        return "Python"
    return "ours" if file.startswith(_OURS) else ""


def _index(value: Any, inside: Callable[[Any], Tree]) -> list[Tree]:
    """Labels of the rows of a pandas object."""
    found = getattr(value, "index", None)
    return [] if found is None or callable(found) else [inside(found.tolist())]


# Small questions ----------------------------------------------------------------------------------


def _is_any(value: Any, things: tuple[Any, ...]) -> bool:
    """Whether a value is one of these, or of one of these types."""
    for one in things:
        kinds = isinstance(one, type)
        if value is one or (kinds and isinstance(value, one)):
            return True
        if kinds and isinstance(value, type) and issubclass(value, one):
            return True
    return False


def _reads(value: Any) -> bool:
    """Whether a value reads, or is read from, what lies outside the process."""
    if isinstance(value, FunctionType | BuiltinFunctionType) and _READ.fullmatch(value.__name__):
        return _is_any(value, _READERS) or _home_of(str(value.__module__)) == "packages"
    return _is_any(value, _READERS)


def _value_of(variable: ContextVar[Any]) -> Iterator[Any]:
    """Yield what a variable holds here, if anything."""
    with suppress(LookupError):
        yield variable.get()


def _reached(modules: list[ModuleType], names: set[str]) -> list[ModuleType]:
    """Modules, and those within them that are named."""
    found = list(modules)
    for one in found:
        inner = [vars(one).get(name) for name in sorted(names)]
        found += [it for it in inner if isinstance(it, ModuleType) and it not in found]
    return found


def _is_plain(value: Any) -> bool:
    """Whether a value is a text, a number or a container of such."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, [*value, *value.values()]))
    if isinstance(value, list | tuple | Set):
        return all(map(_is_plain, value))
    return isinstance(value, str | bytes | Real)


def _is_hidden(name: str) -> bool:
    """Whether a judge's attribute or variable of this name holds keys."""
    return name == "secrets" or is_secret_name(name)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _own(value: Any) -> Mapping[str, Any]:
    found = getattr(value, "__dict__", {})
    return found if isinstance(found, Mapping) else {}


def digest_of(tree: Tree) -> str:
    return hashlib.sha256(json.dumps(tree, separators=(",", ":")).encode()).hexdigest()


def words(tree: Tree) -> str:
    """Show a tree in the words of JSON."""
    if not isinstance(tree, list):
        return json.dumps(tree, ensure_ascii=False)
    kind, *parts = tree
    if kind == "number":
        return _number_in_words(parts[0])
    if kind == "mapping":
        return f"{{{', '.join(f'{words(key)}: {words(value)}' for key, value in parts[0])}}}"
    if kind in ("list", "set"):
        return f"[{', '.join(map(words, parts[0]))}]"
    if kind == "named":
        return str(parts[1])
    if kind == "function":  # another Python compiles the same function to other byte code
        return f"{parts[0]} (code {parts[1][:8]}, Python {platform.python_version()})"
    if kind == "object":
        return " ".join(map(words, parts))
    return f"{kind} {' '.join(words(one) if isinstance(one, list) else str(one) for one in parts)}"


def _number_in_words(text: str) -> str:
    if "0x" not in text or "p" in text:
        return repr(float.fromhex(text))
    return text if len(text) > 100 else str(int(text, 16))
