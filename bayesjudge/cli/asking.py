"""From a TOML file to what `bayesjudge repeats run` asks of whom."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from bayesjudge import repeats as room
from bayesjudge.core.errors import InputError, checking
from bayesjudge.readers import read_table

_PLAN = {field.name for field in fields(room.Plan)} - {"patience"}
_PATIENCE = {field.name for field in fields(room.Patience)}
_TOP = {"store", "bins", "items", "models", "prompts"} | _PLAN | _PATIENCE


def asked_of(config: Path) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """Read a run's settings.

    Parameters
    ----------
    config : pathlib.Path
        A TOML file; paths in it are relative to it.

    Returns
    -------
    plan : dict
        Arguments of `bayesjudge.repeats.sample_until`.
    items : dict of str to str
        Texts by name.
    judges : dict
        By name.

    Raises
    ------
    InputError
        Where the file is absent, no TOML, or says what is not understood.
    """
    said = _read(config)
    with checking(str(config)) as require:
        unknown = sorted(set(said) - _TOP)
        require(not unknown, f"{unknown} are not known; there are {sorted(_TOP)}")
        for name in ("store", "scale", "items", "models", "prompts"):
            require(name in said, f"{name} is needed")
        require(("bins" in said) != ("half_width" in said), "give one of bins and half_width")
    with checking(f"{config} [items]") as require:
        parts = said["items"]
        needs = {"table", "name", "text"}
        require(isinstance(parts, dict) and set(parts) == needs, f"give {sorted(needs)}")
    plan = {name: said[name] for name in _PLAN & set(said)}
    if "bins" in said:
        width = max(said["scale"]) - min(said["scale"])
        plan["half_width"] = room.third_of_a_bin(width, said["bins"])
    plan["patience"] = room.Patience(**{name: said[name] for name in _PATIENCE & set(said)})
    plan["store"] = config.parent / said["store"]
    try:
        judges = room.chat_judges(said["models"], said["prompts"])
    except ImportError as error:
        raise InputError(str(config), [str(error)]) from error
    return plan, _items(config.parent, said["items"]), judges


def _read(config: Path) -> Mapping[str, Any]:
    with checking("options") as require:
        require(config.is_file(), f"no file {str(config)!r}")
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(config), [f"is no TOML: {error}"]) from error


def _items(folder: Path, said: Mapping[str, str]) -> dict[str, str]:
    rows = read_table(folder / said["table"], [said["name"], said["text"]]).to_pandas()
    names = rows[said["name"]].astype(str)
    with checking(said["table"]) as require:
        repeated = sorted(set(names[names.duplicated()]))[:3]
        require(not repeated, f"names of items must differ, these repeat: {repeated}")
        empty = int(rows[said["text"]].isna().sum())
        require(not empty, f"{empty} items have no text")
    return dict(zip(names, rows[said["text"]].astype(str), strict=True))
