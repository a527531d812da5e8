"""From a TOML file to what `bayesjudge repeats run` asks of whom."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from bayesjudge.core.errors import InputError, Require, checking, expect
from bayesjudge.core.tables import read_rows
from bayesjudge.readers import read_table
from bayesjudge.repeats import runner, third_of_a_bin

_SETTINGS = {field.name for field in fields(runner.Settings)} - {"retry"}
_RETRY = {field.name for field in fields(runner.RetryPolicy)}
_TOP = {"store", "bins", "items", "models", "prompts", "system"} | _SETTINGS | _RETRY
#: What is not a number.
_TEXT, _TABLES = {"arm", "method", "store", "system"}, {"items", "models", "prompts"}


def asked_of(
    config: Path, arm: str | None = None
) -> tuple[dict[str, Any], dict[str, str], dict[str, Any]]:
    """Read a run's settings, items and judges; paths in the file are relative to it."""
    said = _read(config)
    with checking(str(config)) as require:
        for name in sorted(set(said) - _TOP):
            near = get_close_matches(name, _TOP, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {sorted(_TOP)}"
            require(False, f"{name!r} is not known; {hint}")
        for name in ("store", "scale", "items", "models", "prompts"):
            require(name in said, f"{name} is needed")
        require(("bins" in said) != ("half_width" in said), "give either bins or half_width")
        _check_kinds(said, require)
    parts = said["items"]
    needs = {"table", "name", "text"}
    texts = isinstance(parts, dict) and all(isinstance(x, str) for x in parts.values())
    problem = f"give {sorted(needs)}, each as text"
    expect(f"{config} [items]", texts and set(parts) == needs, problem)
    settings = {name: said[name] for name in _SETTINGS & set(said)}
    if arm is not None:
        settings["arm"] = arm
    if "bins" in said:
        width = max(said["scale"]) - min(said["scale"])
        settings["half_width"] = third_of_a_bin(width, said["bins"])
    settings["retry"] = runner.RetryPolicy(**{name: said[name] for name in _RETRY & set(said)})
    settings["store"] = config.parent / said["store"]
    try:
        judges = runner.chat_judges(said["models"], said["prompts"], system=said.get("system"))
    except ImportError as error:
        raise InputError(str(config), [str(error)]) from error
    return settings, _items(config.parent, said["items"]), judges


def _check_kinds(said: Mapping[str, Any], require: Require) -> None:
    """Refuse a text where a number belongs, and the other way round, before anything is asked."""

    def number(value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    for name, value in said.items():
        if name in _TEXT:
            require(isinstance(value, str), "must be a text in quotes", **{name: value})
        elif name == "scale":
            listed = isinstance(value, list) and len(value) > 1 and all(map(number, value))
            require(listed, "must list numbers, as in [1, 2, 3, 4, 5]", scale=value)
        elif name in _TABLES:
            require(isinstance(value, dict), f"{name} must be a table, [{name}]")
        elif name in _TOP:
            require(number(value), "must be a number", **{name: value})
    models, prompts = (said.get(name, {}) for name in ("models", "prompts"))
    if isinstance(models, dict):
        for name, about in models.items():
            there = isinstance(about, dict) and isinstance(about.get("model"), str)
            require(there, f'[models.{name}] must say which: model = "openai/gpt-4o-mini"')
    if isinstance(prompts, dict):
        for name, text in prompts.items():
            require(isinstance(text, str), f"prompt {name!r} must be a text in quotes")


def _read(config: Path) -> Mapping[str, Any]:
    expect("options", config.is_file(), f"no file {str(config)!r}")
    try:
        return tomllib.loads(config.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(config), [f"not valid TOML: {error}"]) from error


def _items(folder: Path, said: Mapping[str, str]) -> dict[str, str]:
    table = read_table(folder / said["table"], [said["name"], said["text"]])
    rows = read_rows(table, said["text"], names=[said["name"]])
    names = rows[said["name"]]
    with checking(said["table"]) as require:
        repeated = sorted(set(names[names.duplicated()]))[:3]
        require(not repeated, f"names of items must differ, these repeat: {repeated}")
        empty = int(rows[said["text"]].isna().sum())
        require(not empty, f"{empty} items have no text")
    return dict(zip(names, rows[said["text"]].astype(str), strict=True))
