"""From a function of Numba to machine code that C can call.

What comes out is linked as another process will link it (`native.py`), so that both run the same.

A callback consists of some hundred functions. Numba makes machine code of each, and wrappers by
which Python calls it; the callback, into which all are linked before it is optimised, uses neither.
`make_callbacks` lets them stay what Numba translated them to, and machine code is made once, of the
whole: about half of the time. What was translated serves the process's next models, which consist
of the same by a third to a half. Two parts of every model that are many functions and do little are
replaced by few: a product of matrices for any order in memory, and a message about shapes, which no
caller of a callback reads. If Numba is built otherwise, it ends with an exception, leaves nothing
behind, and its caller takes the ordinary road.
"""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import batched
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.core import cgutils, sigutils, types
from numba.core.caching import Cache, NullCache
from numba.core.ccallback import CFunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher, ObjModeLiftedWith, _FunctionCompiler
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.extending import intrinsic, overload
from numba.np import arrayobj

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
        found, gradient = inner(*{arguments})
        if gradient.size != size:
            return 1
        value[0] = found[()]
        for i in range(gradient.size):
            slope[i] = gradient[i]
    except Exception:
        return 1
    for i in range(gradient.size):
        if not np.isfinite(slope[i]):
            return 3
    return 0 if np.isfinite(value[0]) else 4
""",
    "expand": """
def expand(size, length, x, out, data):
    try:
        (values,) = inner(*{arguments})
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
    return {kind: _linked(_with_code(t.result), t.arrays) for kind, t in translated.items()}


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
    for environment in environments:
        library.codegen.set_env(environment.env_name, environment)
    return result._replace(referenced_envs=tuple(environments))


@intrinsic
def _pointer(typing_context, address):
    """The pointer that a number is."""

    def codegen(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), codegen


@intrinsic
def _address(typing_context, pointer):
    """The number that a pointer is."""

    def codegen(context, builder, signature, arguments):
        return builder.ptrtoint(arguments[0], cgutils.intp_t)

    return types.intp(pointer), codegen


def translate_callback(
    kind: str, inner: Callable[..., Any], arrays: Sequence[Array], parts: Sequence[int]
) -> Translated:
    """Translate a callback around `inner`; `make_code` follows.

    `inner` takes the parts of a point, each with so many dimensions, and `arrays`.
    """
    arguments: list[str] = []
    place = 0

    def add(address: str, ndim: int, dtype: np.dtype) -> None:
        nonlocal place
        name = f"dtype_{len(arguments)}"
        lengths = "".join(f"data[{place + 1 + j}], " for j in range(ndim))
        arguments.append(f"carray(pointer({address.format(place)}), ({lengths}), {name})")
        scope[name] = dtype
        place += 1 + ndim

    # with the name of a module that can be imported, Numba can read what it writes
    scope: dict[str, Any] = {"__name__": __name__, "inner": inner, "np": np}
    scope |= {"pointer": _pointer, "address": _address, "carray": numba.carray}
    for ndim in parts:
        add("address(x) + data[{}]", ndim, np.dtype(float))
    for array in arrays:
        add("data[{}]", array.ndim, np.dtype(array.dtype))
    # Numba reads no call, and no tuple, of more than 30
    tuples = (f"({', '.join(some)},)" for some in batched(arguments, 30))
    exec(SOURCES[kind].format(arguments=f"({' + '.join(tuples)})"), scope)
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
    variables = [variable.name for variable in result.library._final_module.global_variables]
    environments = {name: _known_to(name) for name in variables if name.startswith(ENVIRONMENT)}
    return Code(binary, result.fndesc.llvm_cfunc_wrapper_name, environments)


def _known_to(name: str) -> str:
    """What a part of the code takes out of its environment when it calls Python."""
    environment = lookup_environment(name)
    if environment is None or not environment.consts:
        return ""
    values = [{"dtype": it.str} if isinstance(it, np.dtype) else it for it in environment.consts]
    simple = str | int | float | dict | None
    if not environment.can_cache() or not all(isinstance(value, simple) for value in values):
        raise RuntimeError(f"{name} knows what no other process does")
    return json.dumps([environment.globals["__name__"], values])


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


# Compile only what the sampler calls -------------------------------------------------------------

#: Translated operations, as PyTensor's cache on disk knows them: two of a name are equal. Of more
#: than `MOST_KEPT`, a third of a megabyte each, those that were used last.
_operations: dict[Any, CompileResult] = {}
MOST_KEPT = 400
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
        keep(_name_of(cache, signature, result.codegen), _kept(result))

    def load(cache: Cache, signature: Any, context: Any) -> CompileResult | None:
        name = _name_of(cache, signature, context.codegen())
        stored = _operations.get(name)
        if stored is None:
            return None
        keep(name, stored)
        return stored._replace(metadata={})  # where Numba writes how long this took

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


def keep(name: Any, result: CompileResult) -> None:
    """Have a translated operation at hand, in the place of the one not used for longest."""
    _operations.pop(name, None)
    _operations[name] = result
    if len(_operations) > MOST_KEPT:
        del _operations[next(iter(_operations))]


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
        product = np.dot(x, y)
        for i in range(product.shape[0]):
            for j in range(product.shape[1]):
                out[i, j] = product[i, j]
        return out

    return here if out.layout == "C" else elsewhere
