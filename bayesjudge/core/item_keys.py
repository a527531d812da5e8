"""Keys of items: 64-bit hashes of their names, which tell whether two tables share any.

Data that were read from a table in memory keep them for as long as they live, not in files.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from bayesjudge.core.errors import InputError, expect, problem
from bayesjudge.core.public import public_name
from bayesjudge.core.screen import Shown

ATTRIBUTE = "_item_keys"


class ItemKeys(NamedTuple):
    """Hashes in order, and each item's place in its data, if it has one: a pattern of votes."""

    hashes: np.ndarray
    places: np.ndarray


def hash_items(*names: Any) -> np.ndarray:
    """A hash of each row's names: of its generator and its item, for example."""
    rows = ("\0".join(row).encode() for row in zip(*names, strict=True))
    hashes = [blake2b(row, digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(hashes), np.uint64)


def keep_keys(data: Any, hashes: np.ndarray, places: np.ndarray | None = None) -> None:
    """Let data, frozen or not, keep the keys of their items."""
    order = np.argsort(hashes)
    at = np.zeros(0, np.int32) if places is None else places[order].astype(np.int32)
    object.__setattr__(data, ATTRIBUTE, ItemKeys(hashes[order], at))


def keys_of(data: Any) -> ItemKeys | None:
    """The keys that data keep, if they do."""
    kept: ItemKeys | None = vars(data).get(ATTRIBUTE)
    return kept


def items_differ(first: Any, second: Any) -> bool:
    """Whether two data are known to share no item; raise if they share any."""
    keys = [keys_of(data) for data in (first, second)]
    if keys[0] is None or keys[1] is None:
        return False
    shared = np.intersect1d(keys[0].hashes, keys[1].hashes).size
    name = public_name(type(first))
    are = "item is" if shared == 1 else "items are"
    expect(name, not shared, "items-twice", shared=shared, are=are, name=name)
    return True


def set_fields(data: Any, **values: Any) -> None:
    """Set fields of a frozen value; arrays become copies that nobody writes to."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        object.__setattr__(data, name, value)


class ReadAtOnce(Shown):
    """Data that do not add up: what they count has to be read from one table."""

    def _set(self, **values: Any) -> None:
        set_fields(self, **values)

    def __add__(self, other: Any) -> Any:
        """Refuse, naming what to do."""
        if type(other) is not type(self):
            return NotImplemented
        name = public_name(type(self))
        raise InputError(name, [problem("not-added", name=name)])
