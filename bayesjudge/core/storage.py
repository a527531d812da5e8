"""Fits as files. One netCDF file holds the draws, the data, the priors and the words.

A checksum of the whole file stands behind its HDF5 data, where HDF5 does not look, and is verified
before HDF5 reads anything: HDF5 loops for ever on some damaged files.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.estimate import Assumption, Caution
from bayesjudge.core.model import BayesianModel
from bayesjudge.core.public import find_public, stored_name

if TYPE_CHECKING:
    import h5py
    import xarray as xr

FORMAT = 6
HEADER = "bayesjudge"
#: Stands before the checksum, 64 hexadecimal digits, at the end of a file.
SEAL = b"\nbayesjudge sha256 "
SEAL_SIZE = len(SEAL) + 64
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


# Values ------------------------------------------------------------------------------------------


def pack(value: Any, name_of: Callable[[type], str] = stored_name) -> Any:
    """Turn a data class, array, tuple or number into what JSON can hold."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(stored := getattr(value, "_stored", None), str):  # is known by a name
        return stored
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
    """Undo `pack`, trusting nothing."""
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
            return _instance(name, fields)
    raise InputError("values", [f"{reprlib.repr(value)} is not a value that Fit.save writes"])


def _array(flat: list[Any], dtype: str, shape: list[Any]) -> np.ndarray:
    with checking("array") as require:
        require(dtype in ELEMENTS, f"expected a dtype of {list(ELEMENTS)}, got {dtype!r}")
        element = ELEMENTS.get(dtype, object)
        pure = all(type(v) is element for v in flat) or element is object
        require(pure, f"expected {dtype} only, got {reprlib.repr(flat)}")
        sizes = all(type(n) is int and n >= 0 for n in shape)
        require(sizes, f"the shape must be whole numbers from 0, got {shape}")
    return np.array(flat, dtype=str if dtype == "text" else dtype).reshape(shape)


def _instance(name: str, packed: Mapping[str, Any]) -> Any:
    kind = find_public(name)
    with checking(name) as require:
        require(isinstance(kind, type) and dataclasses.is_dataclass(kind), "is not a data class")
        foreign = ":" in name and isinstance(kind, type)
        require(not foreign or issubclass(kind, BayesianModel), "is not a bayesjudge model")
    wanted = [f.name for f in dataclasses.fields(kind)]
    missing = [field for field in wanted if field not in packed]
    unknown = [field for field in packed if field not in wanted]
    with checking(name) as require:
        require(not missing, f"the fields {missing} are missing")
        require(not unknown, f"unknown fields {reprlib.repr(unknown)}")
    values = {field: unpack(value) for field, value in packed.items()}
    _check_types(name, values, get_type_hints(kind))
    return kind(**values)


def _check_types(name: str, values: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    with checking(name) as require:
        for field, value in values.items():
            declared = types[field]
            shown = declared.__name__ if type(declared) is type else declared
            require(
                _is_of(value, declared), f"must be of type {shown}", **{field: reprlib.repr(value)}
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
        return any(_is_of(value, type_) for type_ in inner)
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple | np.ndarray):
            return False
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        if origin is tuple and inner[-1] is not ...:
            return len(plain) == len(inner) and all(map(_is_of, plain, inner))
        return all(_is_of(v, inner[0]) for v in plain)
    if origin is Mapping:
        return isinstance(value, dict) and all(_is_of(v, inner[1]) for v in value.values())
    return isinstance(value, declared)


def checksum(data: Any) -> str:
    """SHA-256 of packed data, so that two fits can be seen to rest on the same numbers."""
    packed = pack(data, name_of=lambda kind: kind.__name__)
    return hashlib.sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()


# Files -------------------------------------------------------------------------------------------


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a file that takes the place of `path` at the end; who stops half-way leaves `path`."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def write_fit(fit: Any, path: str | Path) -> Path:
    """Write a `Fit` to one netCDF file, unless the file could not be read back."""
    kind = type(fit)
    words = {name: getattr(fit, name) for name in _words(kind)}
    words["assumptions"] = tuple(map(tuple, words["assumptions"]))
    words["cautions"] = tuple(tuple(vars(caution).values()) for caution in words["cautions"])
    words["method"] = fit.method.id
    header = {name: pack(value) for name, value in words.items()} | {"format": FORMAT}
    _words_of(json.loads(json.dumps(header)), kind)
    tree = fit.idata.copy()
    tree.attrs = {**tree.attrs, HEADER: json.dumps(header)}
    path = Path(path)
    with replacing(path) as beside:
        tree.to_netcdf(beside, engine="h5netcdf")
        seal(beside)
    return path


def seal(path: Path) -> None:
    """Write the checksum of a file behind it."""
    digest = _file_digest(path, path.stat().st_size)
    with path.open("ab") as file:
        file.write(SEAL + digest)


def _file_digest(path: Path, size: int) -> bytes:
    """SHA-256 of the first `size` bytes, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(min(size, 1 << 20)):
            digest.update(chunk)
            size -= len(chunk)
    return digest.hexdigest().encode()


def _check_seal(path: Path) -> None:
    """Refuse a file that is not as `write_fit` left it, before another library reads it."""
    size = max(path.stat().st_size - SEAL_SIZE, 0)
    with path.open("rb") as file:
        file.seek(size)
        written = file.read()
    expect("fit", written[: len(SEAL)] == SEAL, "no-seal")
    same = written[len(SEAL) :] == _file_digest(path, size)
    expect("fit", same, "the file is damaged: its contents do not have its checksum")


def read_fit(path: str | Path, kind: type) -> Any:
    """Read a `Fit` (the class is `kind`) that `save` wrote; see `bayesjudge.load`."""
    problem = f"no file {str(path)!r}; give the path that Fit.save wrote"
    expect("load", Path(path).is_file(), problem)
    remedy = "take an undamaged copy of the file, or fit again and save"
    try:
        _check_seal(Path(path))
        remedy = "fit again and save"  # nothing is damaged
        return _read(Path(path), kind)
    except InputError as error:
        first = dataclasses.replace(
            error.problems[0], sentence=str(error)[:LONGEST], predicate=False
        )
        raise InputError(f"load {str(path)!r}", [first, remedy]) from error
    except Exception as error:  # a hostile file makes each library fail in its own way
        said = (
            "the file is as it was written, and cannot be read: it is no fit, or not for these "
            f"versions ({_readers()}; {type(error).__name__}: {str(error)[:LONGEST]})"
        )
        other = f"upgrade bayesjudge with all that it needs, or {remedy}"
        raise InputError(f"load {str(path)!r}", [said, other]) from error


def _readers() -> str:
    """The libraries that read a file, with their versions."""
    return ", ".join(f"{name} {version(name)}" for name in ("xarray", "h5netcdf", "h5py"))


def _words(kind: type) -> tuple[str, ...]:
    """Fields of a `Fit` that stand in the header; the draws are the rest of the file."""
    return tuple(f.name for f in dataclasses.fields(kind) if f.name != "idata")


def _read(path: Path, kind: type) -> Any:
    import h5py
    import xarray as xr

    with h5py.File(path) as file:
        expect("fit", HEADER in file.attrs, "the file holds no fit written by Fit.save")
        header = json.loads(file.attrs[HEADER])
        writer = f"the file was written by bayesjudge {file.attrs.get('bayesjudge_version')}"
        expect("fit", isinstance(header, dict), "the file's header is not a mapping")
        with checking("fit") as require:
            stored = header.get("format")
            require(
                stored == FORMAT,
                f"{writer} in format {stored!r}, this version reads format {FORMAT}; load it with "
                "the version that wrote it",
            )
        _check_arrays(file, path.stat().st_size)
    tree: xr.DataTree = xr.load_datatree(path, engine="h5netcdf")
    del tree.attrs[HEADER]
    missing = [name for name in ATTRIBUTES if name not in tree.attrs]
    expect("fit", not missing, f"the attributes {missing} are missing")
    try:
        words = _words_of(header, kind)
    except InputError as error:
        raise InputError(error.subject, [*error.problems, writer]) from error
    with checking("fit") as require:
        posterior = tree["posterior"]
        unknown = [name for name in words["quantities"] if name not in posterior.data_vars]
        require(not unknown, f"the posterior has no {unknown}")
        same = checksum(words["data"]) == tree.attrs["data_sha256"]
        require(same, "other-data", writer=writer)
    return kind(idata=tree, **words)


def _words_of(header: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Unpack and check every field of a `Fit` but the draws."""
    names = _words(kind)
    expect("fit", set(header) == {*names, "format"}, f"expected the fields {list(names)}")
    words = {name: unpack(header[name]) for name in names}
    with checking("fit") as require:
        model = isinstance(words["spec"], BayesianModel)
        require(model, "must be a model of bayesjudge", spec=reprlib.repr(words["spec"]))
        data = str(dict(header["data"] or {}).get("class")).rpartition(".")[0]
        name = words["spec"].public_name() if model else ""
        require(
            ":" in name or not model or name.rpartition(".")[0] == data,
            f"the data are of {data!r}, the model is not",
        )
    types = get_type_hints(kind, localns={"xr": SimpleNamespace(DataTree=Any)})
    of_words: dict[str, Any] = {
        "assumptions": tuple[tuple[str, str, tuple[str, ...]], ...],
        "cautions": tuple[tuple[str, str, tuple[str, ...], Mapping[str, Any]], ...],
        "method": str,
    }
    _check_types("fit", words, types | of_words)
    spec = words["spec"]
    methods = {method.id: method for method in (spec._method, *spec._drawn_at_once)}
    method = methods.get(words["method"], spec._method)
    same = words["method"] == method.id
    expect("fit", same, f"the method is {words['method']!r}, its model is fitted by {method.id!r}")
    words["method"] = method
    words["assumptions"] = tuple(Assumption(*entry) for entry in words["assumptions"])
    words["cautions"] = tuple(Caution(*entry) for entry in words["cautions"])
    return words


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
