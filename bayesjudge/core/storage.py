"""Fits as files. One netCDF file holds the draws, the data, the priors and the words."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Caution
from bayesjudge.core.fit import Fit

if TYPE_CHECKING:
    import xarray as xr

FORMAT = 1
HEADER = "bayesjudge"


def pack(value: Any) -> Any:
    """Turn a data class, array, tuple or number into what JSON can hold.

    Parameters
    ----------
    value : object
        Data classes of this package, NumPy arrays of numbers or strings, tuples, lists, mappings
        with string keys, numbers, strings, None.

    Returns
    -------
    object
        From which `unpack` makes an equal value.

    Raises
    ------
    TypeError
        Where a value is of another type.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        fields = {f.name: pack(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "fields": fields}
    if isinstance(value, np.ndarray):
        flat = [pack(v) for v in value.ravel().tolist()]
        return {"array": flat, "dtype": str(value.dtype), "shape": list(value.shape)}
    if isinstance(value, np.generic):
        return pack(value.item())
    if isinstance(value, tuple):
        return {"tuple": [pack(v) for v in value]}
    if isinstance(value, list):
        return [pack(v) for v in value]
    if isinstance(value, dict):
        return {"mapping": {str(k): pack(v) for k, v in value.items()}}
    raise TypeError(f"cannot store a {type(value).__name__} in a fit's file: {value!r}")


def unpack(value: Any) -> Any:
    """Undo `pack`.

    Parameters
    ----------
    value : object
        What `pack` returned.

    Returns
    -------
    object
        The packed value. Only classes of this package are made.

    Raises
    ------
    InputError
        Where the value names a class that is not this package's.
    """
    if isinstance(value, list):
        return [unpack(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "tuple" in value:
        return tuple(unpack(v) for v in value["tuple"])
    if "mapping" in value:
        return {k: unpack(v) for k, v in value["mapping"].items()}
    module, _, name = value["class"].partition(":")
    with checking("load") as require:
        require(module.startswith("bayesjudge."), f"the file asks for {value['class']!r}")
    made = getattr(import_module(module), name)  # by name: the core knows no room
    return made(**{k: unpack(v) for k, v in value["fields"].items()})


def checksum(data: Any) -> str:
    """SHA-256 of packed data, so that two fits can be seen to rest on the same numbers.

    Parameters
    ----------
    data : object
        What `pack` takes.

    Returns
    -------
    str
        Hexadecimal.
    """
    return hashlib.sha256(json.dumps(pack(data), sort_keys=True).encode()).hexdigest()


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
    """
    words = ["data", "priors", "quantities", "method", "source", "room", "options", "assumptions"]
    words += ["interval"]
    header = {name: pack(getattr(fit, name)) for name in words}
    header["cautions"] = [list(caution) for caution in fit.cautions]
    header["format"] = FORMAT
    tree = fit.idata.copy()
    tree.attrs = {**tree.attrs, HEADER: json.dumps(header)}
    path = Path(path)
    tree.to_netcdf(path, engine="h5netcdf")
    return path


def load(path: str | Path) -> Fit:
    """Read a fit that `Fit.save` wrote.

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
        Where there is no such file, or it holds no fit of this package.
    """
    import xarray as xr

    with checking("load") as require:
        require(Path(path).is_file(), f"no file {str(path)!r}")
    tree: xr.DataTree = xr.load_datatree(path, engine="h5netcdf")
    with checking("load") as require:
        require(HEADER in tree.attrs, f"{str(path)!r} holds no fit written by Fit.save")
    header = json.loads(tree.attrs.pop(HEADER))
    with checking("load") as require:
        require(
            header["format"] == FORMAT,
            f"{str(path)!r} has format {header['format']}, this version reads {FORMAT}; "
            "use the version of bayesjudge that wrote it",
        )
    del header["format"]
    cautions = tuple(Caution(*pair) for pair in header.pop("cautions"))
    return Fit(idata=tree, cautions=cautions, **{k: unpack(v) for k, v in header.items()})
