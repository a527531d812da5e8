"""Numba without what only Python would need: about half of its time.

A callback consists of some hundred functions. Numba makes machine code of each, and wrappers by
which Python calls it; the callback, into which all are linked before it is optimised, uses neither.
Here they stay what Numba translated them to, and machine code is made once, of the whole. What
was translated serves the process's next models, which consist of the same by a third to a half.
Two parts of every model that are many functions and do little are replaced by few: a product of
matrices for any order in memory, and a message about shapes, which no caller of a callback reads.

This reaches into Numba. If Numba is built otherwise, what happens here ends with an exception,
leaves nothing behind; the caller takes the ordinary road, and says so in its debug log.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any
from unittest import mock
from weakref import WeakKeyDictionary

import numpy as np
from numba.core.caching import Cache, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher, ObjModeLiftedWith, _FunctionCompiler
from numba.extending import overload
from numba.np import arrayobj

from bayesjudge.compiled.callbacks import Translated, make_code
from bayesjudge.compiled.native import Callback

#: Translated operations, as PyTensor's cache on disk knows them: two of a name are equal.
_operations: dict[Any, CompileResult] = {}
#: Translated functions that have no name there, of Numba's own mostly, while they can be called.
_functions: WeakKeyDictionary[Dispatcher, dict[Any, CompileResult]] = WeakKeyDictionary()


def make_callbacks(
    translate: Callable[[], dict[str, Translated]], products: tuple[ModuleType, str] | None = None
) -> dict[str, Callback]:
    """Make machine code of the callbacks that `translate` returns, and of nothing else.

    `products` says where PyTensor's function for a product of matrices stands, if it has one.
    """
    parts: list[tuple[Dispatcher, CompileResult]] = []  # code refers to them until it is made

    def without_wrappers(_: Any, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return flags

    def add(dispatcher: Dispatcher, result: CompileResult) -> None:
        result = result._replace(entry_point=object())  # by which those who call it find it
        place = result.entry_point, result.fndesc, [result.library]
        dispatcher.targetctx.insert_user_function(*place)
        dispatcher.overloads[result.signature.args] = result
        parts.append((dispatcher, result))
        if isinstance(dispatcher._cache, NullCache):
            _functions.setdefault(dispatcher, {})[result.signature.args] = _kept(result)

    def finish(library: JITCodeLibrary) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    def put_off(dispatcher: ObjModeLiftedWith, _: Any) -> None:  # a part for Python only
        dispatcher.flags.no_cfunc_wrapper = dispatcher.flags.no_compile = False

    def save(cache: Cache, signature: Any, result: CompileResult) -> None:
        _operations[_name_of(cache, signature, result.codegen)] = _kept(result)

    def load(cache: Cache, signature: Any, context: Any) -> CompileResult | None:
        found = _operations.get(_name_of(cache, signature, context.codegen()))
        return found and found._replace(metadata={})  # where Numba writes how long this took

    changed = [
        (_FunctionCompiler, "_customize_flags", without_wrappers),
        (Dispatcher, "add_overload", add),
        (JITCodeLibrary, "_optimize_final_module", lambda _: None),
        (JITCodeLibrary, "_finalize_final_module", finish),
        (ObjModeLiftedWith, "compile", put_off),  # until it is called
        (Cache, "save_overload", save),
        (Cache, "load_overload", load),
        (arrayobj, "raise_with_shape_context", _say_that_shapes_differ),
        *([(*products, _multiply)] if products and hasattr(*products) else []),
    ]
    try:
        with global_compiler_lock, ExitStack() as undone:
            for owner, name, instead in changed:
                undone.enter_context(mock.patch.object(owner, name, instead))
            for dispatcher, results in list(_functions.items()):
                for arguments, result in list(results.items()):
                    if arguments not in dispatcher.overloads:  # of which there is machine code
                        add(dispatcher, result)
            translated = translate()
        return make_code(translated)
    finally:  # so that Numba compiles them when Python calls them
        for dispatcher, result in parts:
            del dispatcher.overloads[result.signature.args]
            dispatcher.targetctx.remove_user_function(result.entry_point)


def _kept(result: CompileResult) -> CompileResult:
    """Without what Numba knows while it translates, which takes most of the memory."""
    result.fndesc.typemap = result.fndesc.calltypes = None
    return result._replace(type_annotation=None, metadata=None)


def _name_of(cache: Any, signature: Any, codegen: Any) -> tuple[Any, ...]:
    return cache._cache_file._index_path, cache._index_key(signature, codegen)


# What replaces many functions ---------------------------------------------------------------------


def _say_that_shapes_differ(from_shape, to_shape): ...


@overload(_say_that_shapes_differ)
def _in_numba(from_shape, to_shape):
    def without_lengths(from_shape, to_shape):
        raise ValueError("cannot assign slice from input of different size")

    return without_lengths


def _multiply(x, y, out): ...


@overload(_multiply)
def _with_numpy(x, y, out):
    """Write `x @ y` into `out` and return it; a matrix that is neither in order is copied."""

    def here(x, y, out):
        np.dot(x, y, out)
        return out

    def elsewhere(x, y, out):
        found = np.dot(x, y)
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                out[i, j] = found[i, j]
        return out

    return here if out.layout == "C" else elsewhere
