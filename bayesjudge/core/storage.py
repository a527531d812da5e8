"""Fits as files. One netCDF file holds the draws, the data, the priors and the words."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.fit import Fit
from bayesjudge.core.results import Caution

if TYPE_CHECKING:
    import h5py
    import xarray as xr

FORMAT = 2
HEADER = "bayesjudge"
#: Fields of a `Fit` that stand in the header; the draws are the rest of the file.
WORDS = tuple(f.name for f in dataclasses.fields(Fit) if f.name != "idata")
#: Attributes of the draws that a report reads.
ATTRIBUTES = ("random_seed", "priors", "data_sha256", "bayesjudge_version")
#: An array has numbers of one of these types, or text, which NumPy sizes itself.
ELEMENTS = {
    "text": str,
    "bool": bool,
    **{f"{sign}int{bits}": int for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": float for bits in (16, 32, 64)},
}
#: Most bytes of arrays for each byte of a file: compression and dimensions without coordinates,
#: which need no place in the file, stay far below.
LARGEST = 16
#: Most characters of an error that are passed on: the file may have put a book into it.
LONGEST = 1000


# Public names ------------------------------------------------------------------------------------


def public_name(kind: type) -> str:
    """Name a class as a user does: ``prevalence.Counts``, whatever file it is defined in.

    Parameters
    ----------
    kind : type
        A class of this package.

    Returns
    -------
    str
        Path from the package, every part of it in the ``__all__`` of the part before.

    Raises
    ------
    InputError
        Where the class is not public.
    """
    for path, module in _public_modules(import_module("bayesjudge")):
        if kind.__name__ in module.__all__ and getattr(module, kind.__name__) is kind:
            return f"{path}{kind.__name__}"
    raise InputError(
        "Fit.save",
        [
            f"a {kind.__name__} is not a public class of bayesjudge, so no file can name it; fit "
            "with the package's own class"
        ],
    )


def _public_modules(module: ModuleType, path: str = "") -> Iterator[tuple[str, ModuleType]]:
    """Yield a module and those that it exports; one not imported yet has made no value."""
    yield path, module
    for name in module.__all__:
        inner = vars(module).get(name)
        if isinstance(inner, ModuleType):
            yield from _public_modules(inner, f"{path}{name}.")


def _public(name: str) -> Any:
    """Look up what a file names, from one ``__all__`` to the next; nothing else is reached."""
    found: Any = import_module("bayesjudge")
    for part in name.split("."):
        exported = part in getattr(found, "__all__", ())
        if not exported:
            raise InputError("names", [f"{name!r} is not a public name of this bayesjudge"])
        found = getattr(found, part)
    return found


# Values ------------------------------------------------------------------------------------------


def pack(value: Any, name_of: Callable[[type], str] = public_name) -> Any:
    """Turn a data class, array, tuple or number into what JSON can hold.

    Parameters
    ----------
    value : object
        Data classes of this package, NumPy arrays of numbers or strings, tuples, lists, mappings
        with string keys, numbers, strings, None.
    name_of : callable
        Names a data class.

    Returns
    -------
    object
        From which `unpack` makes an equal value.

    Raises
    ------
    InputError
        Where a data class is not public.
    TypeError
        Where a value is of another type.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: pack(getattr(value, f.name), name_of) for f in dataclasses.fields(value)}
        return {"class": name_of(type(value)), "fields": fields}
    if isinstance(value, np.ndarray):
        dtype = "text" if value.dtype.kind == "U" else str(value.dtype)
        if dtype not in ELEMENTS:
            raise TypeError(f"cannot store an array of {dtype} in a fit's file")
        return {"array": value.ravel().tolist(), "dtype": dtype, "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return pack(value.item())
    if isinstance(value, tuple):
        return {"tuple": [pack(v, name_of) for v in value]}
    if isinstance(value, list):
        return [pack(v, name_of) for v in value]
    if isinstance(value, dict):
        return {"mapping": {str(k): pack(v, name_of) for k, v in value.items()}}
    raise TypeError(f"cannot store a {type(value).__name__} in a fit's file: {value!r}")


def unpack(value: Any) -> Any:
    """Undo `pack`, trusting nothing.

    Parameters
    ----------
    value : object
        What `pack` returned.

    Returns
    -------
    object
        The packed value. Only public data classes of this package are made, of fields that have
        the types that the class declares.

    Raises
    ------
    InputError
        Where the value names something else, or has other fields or types.
    """
    if isinstance(value, list):
        return [unpack(v) for v in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"array": list(flat), "dtype": str(dtype), "shape": list(shape), **other} if not other:
            return _array(flat, dtype, shape)
        case {"tuple": list(inner), **other} if not other:
            return tuple(unpack(v) for v in inner)
        case {"mapping": dict(inner), **other} if not other:
            return {k: unpack(v) for k, v in inner.items()}
        case {"class": str(name), "fields": dict(fields), **other} if not other:
            return _made(name, fields)
    raise InputError("values", [f"{reprlib.repr(value)} is no value that Fit.save writes"])


def _array(flat: list[Any], dtype: str, shape: list[Any]) -> np.ndarray:
    with checking("array") as require:
        require(dtype in ELEMENTS, f"expected a dtype of {list(ELEMENTS)}, got {dtype!r}")
        element = ELEMENTS.get(dtype, object)
        pure = all(type(v) is element for v in flat) or element is object
        require(pure, f"expected {dtype} only, got {reprlib.repr(flat)}")
        sizes = all(type(n) is int and n >= 0 for n in shape)
        require(sizes, f"the shape must be whole numbers from 0, got {shape}")
    return np.array(flat, dtype=str if dtype == "text" else dtype).reshape(shape)


def _made(name: str, packed: Mapping[str, Any]) -> Any:
    kind = _public(name)
    with checking(name) as require:
        require(isinstance(kind, type) and dataclasses.is_dataclass(kind), "is not a data class")
    wanted = [f.name for f in dataclasses.fields(kind)]
    missing = [field for field in wanted if field not in packed]
    unknown = [field for field in packed if field not in wanted]
    with checking(name) as require:
        require(not missing, f"the fields {missing} are missing")
        require(not unknown, f"there are no fields {reprlib.repr(unknown)}")
    values = {field: unpack(value) for field, value in packed.items()}
    _check_types(name, values, get_type_hints(kind))
    return kind(**values)


def _check_types(name: str, values: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    with checking(name) as require:
        for field, value in values.items():
            declared = types[field]
            shown = declared.__name__ if type(declared) is type else declared
            require(
                _is_of(value, declared),
                f"{field} must be of type {shown}, got {reprlib.repr(value)}",
            )


def _is_of(value: Any, declared: Any) -> bool:
    """Whether a value that a file can hold has the type that an annotation declares."""
    origin, inner = get_origin(declared), get_args(declared)
    if declared is Any:
        return True
    if declared is float:
        return isinstance(value, float | int)
    if origin is Literal:
        return isinstance(value, str | int) and value in inner
    if origin in (Union, UnionType):
        return any(_is_of(value, one) for one in inner)
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple | np.ndarray):
            return False
        found = value.tolist() if isinstance(value, np.ndarray) else value
        if origin is tuple and inner[-1] is not ...:
            return len(found) == len(inner) and all(map(_is_of, found, inner))
        return all(_is_of(v, inner[0]) for v in found)
    if origin is Mapping:
        return isinstance(value, dict) and all(_is_of(v, inner[1]) for v in value.values())
    return isinstance(value, declared)


def checksum(data: Any) -> str:
    """SHA-256 of packed data, so that two fits can be seen to rest on the same numbers.

    Parameters
    ----------
    data : object
        What `pack` takes; data classes need not be public.

    Returns
    -------
    str
        Hexadecimal.
    """
    packed = pack(data, name_of=lambda kind: kind.__name__)
    return hashlib.sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()


# Files -------------------------------------------------------------------------------------------


def save(fit: Fit, path: str | Path) -> Path:
    """Write a fit to one netCDF file.

    Parameters
    ----------
    fit : Fit
        What to keep.
    path : str or pathlib.Path
        A file that is there is replaced.

    Returns
    -------
    pathlib.Path
        Where it was written.

    Raises
    ------
    InputError
        Where the file could not be read back: a class is not public, or a field is not of the
        type that its class declares. Nothing is written then.
    """
    words = {name: getattr(fit, name) for name in WORDS}
    words["cautions"] = tuple(tuple(caution) for caution in fit.cautions)
    header = {name: pack(value) for name, value in words.items()} | {"format": FORMAT}
    _words_of(json.loads(json.dumps(header)))
    header["sha256"] = _digest(header, fit.idata)
    tree = fit.idata.copy()
    tree.attrs = {**tree.attrs, HEADER: json.dumps(header)}
    path = Path(path)
    tree.to_netcdf(path, engine="h5netcdf")
    return path


def load(path: str | Path) -> Fit:
    """Read a fit that `Fit.save` wrote.

    Loading runs no code of the file: it makes public data classes of this package and nothing
    else, checks what they are made of, and imports no sampler. The checksum tells damage, not
    forgery: who can write the file can make a checksum.

    Parameters
    ----------
    path : str or pathlib.Path
        The file.

    Returns
    -------
    Fit
        Its report is the report of the fit that was saved.

    Raises
    ------
    InputError
        Where there is no such file, it holds no fit of this package, was written in another
        format, is damaged, or says what no fit can say.
    """
    with checking("load") as require:
        require(Path(path).is_file(), f"no file {str(path)!r}; give the path that Fit.save wrote")
    try:
        return _read(Path(path))
    except Exception as error:  # a hostile file makes each library fail in its own way
        said = str(error)[:LONGEST]
        if not isinstance(error, InputError):
            said = f"the file is damaged or no fit ({type(error).__name__}: {said})"
        remedy = "take an undamaged copy of the file, or fit again and save"
        raise InputError(f"load {str(path)!r}", [said, remedy]) from error


def _read(path: Path) -> Fit:
    import h5py
    import xarray as xr

    with h5py.File(path) as file:
        with checking("fit") as require:
            require(HEADER in file.attrs, "the file holds no fit written by Fit.save")
        header = json.loads(file.attrs[HEADER])
        writer = f"the file was written by bayesjudge {file.attrs.get('bayesjudge_version')}"
        with checking("fit") as require:
            require(isinstance(header, dict), "the file's header is no mapping")
        with checking("fit") as require:
            found = header.get("format")
            require(
                found == FORMAT,
                f"{writer} in format {found!r}, this version reads format {FORMAT}; load it with "
                "the version that wrote it",
            )
        _check_arrays(file, path.stat().st_size)
    tree: xr.DataTree = xr.load_datatree(path, engine="h5netcdf")
    del tree.attrs[HEADER]
    with checking("fit") as require:
        same = header.pop("sha256", None) == _digest(header, tree)
        require(same, "the file is damaged: its contents do not have its checksum")
        missing = [name for name in ATTRIBUTES if name not in tree.attrs]
        require(not missing, f"the attributes {missing} are missing")
    try:
        words = _words_of(header)
    except InputError as error:
        raise InputError(error.subject, [*error.problems, writer]) from error
    with checking("fit") as require:
        posterior = tree["posterior"]
        unknown = [name for name in words["quantities"] if name not in posterior.data_vars]
        require(not unknown, f"the posterior has no {unknown}")
        same = checksum(words["data"]) == tree.attrs["data_sha256"]
        require(same, f"the data are not those of the draws; {writer}")
    return Fit(idata=tree, **words)


def _words_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Unpack and check every field of a `Fit` but the draws."""
    with checking("fit") as require:
        require(set(header) == {*WORDS, "format"}, f"expected the fields {list(WORDS)}")
    room = header["room"]
    exported = isinstance(room, str) and room in import_module("bayesjudge").__all__
    with checking("fit") as require:
        require(exported and isinstance(_public(room), ModuleType), f"there is no module {room!r}")
        for name in ("data", "priors"):
            own = str(dict(header[name] or {}).get("class")).startswith(f"{room}.")
            require(own, f"{name} must be of a data class of {room!r}")
    words = {name: unpack(header[name]) for name in WORDS}
    types = get_type_hints(Fit, localns={"xr": SimpleNamespace(DataTree=Any)})
    _check_types("fit", words, types | {"cautions": tuple[tuple[str, str], ...]})
    return words | {"cautions": tuple(Caution(*pair) for pair in words["cautions"])}


def _check_arrays(file: h5py.File, size: int) -> None:
    """Refuse arrays that would not fit in memory, or that lie in another file."""
    import h5py

    groups: list[Any] = [file]
    arrays: list[Any] = []

    def visit(name: str, item: Any) -> None:
        (arrays if isinstance(item, h5py.Dataset) else groups).append(item)

    file.visititems(visit)
    links = [group.get(name, getlink=True) for group in groups for name in group]
    declared = sum(array.nbytes for array in arrays)
    with checking("fit") as require:
        require(
            all(isinstance(link, h5py.HardLink) for link in links)
            and not any(array.external or array.is_virtual for array in arrays),
            "an array is a link or lies in another file",
        )
        require(
            declared <= LARGEST * size,
            f"the file has {size:,} bytes and declares arrays of {declared:,}",
        )


def _digest(header: Mapping[str, Any], tree: xr.DataTree) -> str:
    """SHA-256 of everything in a file: words, attributes, coordinates, draws."""
    attrs = {str(name): np.ravel(value).tolist() for name, value in tree.attrs.items()}
    digest = hashlib.sha256(json.dumps([header, attrs], sort_keys=True).encode())
    for group in sorted(tree.subtree, key=lambda group: group.path):
        variables = group.to_dataset(inherit=False).variables
        for name in sorted(variables, key=str):
            dims, values = variables[name].dims, variables[name].to_numpy()
            numeric = values.dtype.kind in "biuf"
            # text has another dtype in a file than in memory
            shown = values.dtype.str if numeric else np.ravel(values).astype(str).tolist()
            digest.update(json.dumps([group.path, str(name), dims, values.shape, shown]).encode())
            if numeric:
                digest.update(np.ascontiguousarray(values))
    return digest.hexdigest()
