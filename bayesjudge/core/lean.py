"""Numba without what only Python would need: about half of its time.

A callback consists of some hundred functions. Numba makes machine code of each, and wrappers by
which Python calls it; the callback, into which all are linked before it is optimised, uses neither.
Here they stay what Numba translated them to, and machine code is made once, of the whole.

This reaches into Numba. If Numba is built otherwise, what happens here ends with an exception,
leaves nothing behind; the caller takes the ordinary road, and says so in its debug log.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

from numba.core.caching import Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher, ObjModeLiftedWith, _FunctionCompiler

from bayesjudge.core.native import Callback, make_code


def make_callbacks(translate: Callable[[], dict[str, Callback]]) -> dict[str, Callback]:
    """Make machine code of the callbacks that `translate` returns, and of nothing else."""
    parts: list[tuple[Dispatcher, CompileResult]] = []  # code refers to them until it is made
    known: dict[Any, CompileResult] = {}  # equal operations, as PyTensor's cache on disk knows them

    def without_wrappers(_: Any, flags: Any) -> Any:
        flags.no_cpython_wrapper = flags.no_cfunc_wrapper = flags.no_compile = True
        return flags

    def add(dispatcher: Dispatcher, result: CompileResult) -> None:
        result = result._replace(entry_point=object())  # by which those who call it find it
        place = result.entry_point, result.fndesc, [result.library]
        dispatcher.targetctx.insert_user_function(*place)
        dispatcher.overloads[result.signature.args] = result
        parts.append((dispatcher, result))

    def finish(library: JITCodeLibrary) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    def put_off(dispatcher: ObjModeLiftedWith, _: Any) -> None:  # a part for Python only
        dispatcher.flags.no_cfunc_wrapper = dispatcher.flags.no_compile = False

    def save(cache: Cache, signature: Any, result: CompileResult) -> None:
        known[_name_of(cache, signature, result.codegen)] = result

    def load(cache: Cache, signature: Any, context: Any) -> CompileResult | None:
        found = known.get(_name_of(cache, signature, context.codegen()))
        return found and found._replace(metadata={})  # where Numba writes how long this took

    changed = [
        (_FunctionCompiler, "_customize_flags", without_wrappers),
        (Dispatcher, "add_overload", add),
        (JITCodeLibrary, "_optimize_final_module", lambda _: None),
        (JITCodeLibrary, "_finalize_final_module", finish),
        (ObjModeLiftedWith, "compile", put_off),  # until it is called
        (Cache, "save_overload", save),
        (Cache, "load_overload", load),
    ]
    try:
        with global_compiler_lock, ExitStack() as undone:
            for owner, name, instead in changed:
                undone.enter_context(mock.patch.object(owner, name, instead))
            translated = translate()
        return make_code(translated)
    finally:  # so that Numba compiles them when Python calls them
        for dispatcher, result in parts:
            del dispatcher.overloads[result.signature.args]


def _name_of(cache: Any, signature: Any, codegen: Any) -> tuple[Any, ...]:
    return cache._cache_file._index_path, cache._index_key(signature, codegen)
