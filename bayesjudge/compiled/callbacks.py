"""From a function of Numba to machine code that C can call.

What comes out is linked as another process will link it (`native.py`), so that both run the same.
"""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import cgutils, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.extending import intrinsic

from bayesjudge.compiled import native
from bayesjudge.compiled.native import Array, Callback, Code

_log = logging.getLogger(__name__)

#: How names of what Python knows of a function begin.
ENVIRONMENT = "_ZN08NumbaEnv"
_POINTER = types.CPointer(types.float64)
_DATA = types.CPointer(types.int64)
SIGNATURES = {
    "density": types.int64(types.uint64, _POINTER, _POINTER, _POINTER, _DATA),
    "expand": types.int64(types.uint64, types.uint64, _POINTER, _POINTER, _DATA),
}
#: What nutpie calls. It takes a result above 0 for a point without density, below 0 for the end.
#: Numbers are copied one by one: Numba compiles a lot for `out[...] = values`, mostly its message.
SOURCES = {
    "density": """
def density(size, x, slope, value, data):
    try:
        found, gradient = inner({arguments})
        value[0] = found[()]
        for i in range({size}):
            slope[i] = gradient[i]
    except Exception:
        return 1
    for i in range({size}):
        if not np.isfinite(slope[i]):
            return 3
    return 0 if np.isfinite(value[0]) else 4
""",
    "expand": """
def expand(size, length, x, out, data):
    try:
        (values,) = inner({arguments})
        if values.size != length:
            return -1
        for i in range(values.size):
            out[i] = values[i]
    except Exception:
        return -2
    return 0
""",
}


class Translated(NamedTuple):
    """A callback as Numba has it, and the arrays whose addresses it wants."""

    result: CompileResult
    arrays: tuple[Array, ...]


def make_code(translated: dict[str, Translated]) -> dict[str, Callback]:
    """Make machine code of callbacks that were translated."""
    return {name: _linked(_with_code(one.result), one.arrays) for name, one in translated.items()}


def _with_code(result: CompileResult) -> CompileResult:
    """Let nothing but the callback be seen from outside.

    Functions that several libraries of a process define are one to LLVM, which takes the first that
    comes. That may have been optimised in another way, and its results then differ in their last
    bits, from one process to the next. Names of their own are needed too: LLVM finds an internal
    function by its name, and may have changed what arguments that one takes.
    """
    library, callback = result.library, result.fndesc.llvm_cfunc_wrapper_name
    optimise = library._optimize_final_module

    def closed() -> None:
        for function in library._final_module.functions:
            if not function.is_declaration and function.name != callback:
                function.linkage = "internal"
                function.name = f"{function.name}.of.{callback}"
        optimise()

    library._optimize_final_module = closed
    with global_compiler_lock:
        library.finalize()
    environments = result._find_referenced_environments()  # of parts that call Python
    for one in environments:
        library.codegen.set_env(one.env_name, one)
    return result._replace(referenced_envs=tuple(environments))


@intrinsic
def _pointer(typing_context, address):
    """The pointer that a number is."""

    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


def translate_callback(
    kind: str, inner: Callable[..., Any], size: int, arrays: Sequence[Array]
) -> Translated:
    """Translate a callback around `inner`, of `size` numbers and `arrays`; `make_code` follows."""
    arguments, place = [f"carray(x, ({size},))"], 0
    for i, (_, _, ndim) in enumerate(arrays):
        lengths = "".join(f"data[{place + 1 + j}], " for j in range(ndim))
        arguments.append(f"carray(pointer(data[{place}]), ({lengths}), dtype_{i})")
        place += 1 + ndim
    scope: dict[str, Any] = {f"dtype_{i}": np.dtype(one.dtype) for i, one in enumerate(arrays)}
    # with the name of a module that can be imported, Numba can read what it writes
    scope |= {"__name__": __name__, "inner": inner, "pointer": _pointer}
    scope |= {"np": np, "carray": numba.carray}
    exec(SOURCES[kind].format(arguments=", ".join(arguments), size=size), scope)
    signature = sigutils.normalize_signature(SIGNATURES[kind])
    function = CFunc(scope[kind], signature, locals={}, options={})
    return Translated(function._compile_uncached(), tuple(arrays))


# Numba's code becomes a function ------------------------------------------------------------------


def _linked(result: CompileResult, arrays: tuple[Array, ...]) -> Callback:
    """Link it without Numba if that is possible."""
    if result.library.has_dynamic_globals:
        return _in_memory(result, arrays, None)
    if native.LINKS and not result.reload_init:
        try:
            return native.link(_code_of(result), arrays)
        except RuntimeError:
            _log.debug("Numba has to load this code", exc_info=True)
            return _in_memory(result, arrays, None)
    # elsewhere it is kept as Numba keeps its own
    return _in_memory(result, arrays, None if native.LINKS else dumps(result._reduce()))


def _code_of(result: CompileResult) -> Code:
    _, _, (binary, _) = result.library.serialize_using_object_code()
    variables = [one.name for one in result.library._final_module.global_variables]
    environments = {name: _known_to(name) for name in variables if name.startswith(ENVIRONMENT)}
    return Code(binary, result.fndesc.llvm_cfunc_wrapper_name, environments)


def _known_to(name: str) -> str:
    """What a part of the code takes out of its environment when it calls Python."""
    one = lookup_environment(name)
    if one is None or not one.consts:
        return ""
    values = [{"dtype": it.str} if isinstance(it, np.dtype) else it for it in one.consts]
    simple = str | int | float | dict | None
    if not one.can_cache() or not all(isinstance(value, simple) for value in values):
        raise RuntimeError(f"{name} knows what no other process does")
    return json.dumps([one.globals["__name__"], values])


def _in_memory(result: CompileResult, arrays: tuple[Array, ...], kept: bytes | None) -> Callback:
    """As Numba loaded it."""
    name = result.fndesc.llvm_cfunc_wrapper_name
    address = int(result.library.get_pointer_to_function(name))
    return Callback(address, arrays, result, kept)


def rebuilt(kept: bytes, arrays: tuple[Array, ...]) -> Callback:
    """Load what Numba kept."""
    context = cpu_target.target_context
    context.refresh()
    return _in_memory(CompileResult._rebuild(context, *pickle.loads(kept)), arrays, kept)
