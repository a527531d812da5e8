"""Broken logs: bytes and values of logs changed at random, and read."""

import copy
import io
import json
import random
import zipfile

from bayesjudge.core.errors import InputError
from bayesjudge.readers.log import read_log

#: What stands where something else was expected.
ODD = [
    None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, "", "\ud800", "\x00", " ",
    "NaN", [], {}, [[]], [None], {"": None}, {"a": {"b": {"c": []}}}, "x" * 1000, [1, "a", {}],
]  # fmt: skip


def read_whole(path):
    """Read a log and make all its tables: True, or False if it was refused in words."""
    try:
        log = read_log(path)
        repr(log), log.told, log.repeating
        for metric in log.metrics:
            log.table(metric)
    except InputError as error:
        text = str(error)
        assert text.isprintable() or "\n" in text or len(text) < 5000
        return False
    return True


def changed_bytes(data, rng):
    """A few bytes changed, a part cut out, doubled, or the end lost."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        size = rng.randint(1, 64)
        match rng.randrange(6):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at:]
            case 2:
                del data[at : at + size]
            case 3:
                data[at:at] = data[at : at + size]
            case 4:
                data[at : at + size] = bytes(rng.randrange(256) for _ in range(size))
            case 5:
                data[at:at] = rng.choice([b"\x00", b"\xff\xfe", b"NaN", b"[[[[", b'"', b"\n", b","])
    return bytes(data)


def changed_values(value, rng):
    """Some parts of a JSON document replaced, lost or doubled."""
    value = copy.deepcopy(value)
    places = []

    def walk(one, depth=0):
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            places.append((one, key))
            if isinstance(one[key], dict | list) and depth < 12:
                walk(one[key], depth + 1)

    walk(value)
    for holder, key in rng.sample(places, min(len(places), rng.randint(1, 5))):
        try:
            match rng.randrange(4):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, list):
                    holder.append(copy.deepcopy(holder[key]))
                case _:
                    holder[key] = rng.choice(ODD)
        except (KeyError, IndexError):  # its holder is gone already
            continue
    return value


def write_changed(source, path, rng):
    """A changed copy of a log; its bytes, or the values in its documents."""
    data = source.read_bytes()
    if rng.random() < 0.4:
        path.write_bytes(changed_bytes(data, rng))
        return
    if data[:2] == b"PK":
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
            for name in old.namelist():
                one = json.loads(old.read(name))
                change = rng.random() < 0.2
                new.writestr(name, json.dumps(changed_values(one, rng) if change else one))
        path.write_bytes(made.getvalue())
    elif source.suffix in (".json", ".jsonl"):
        text = data.decode()
        lines = source.suffix == ".jsonl"
        documents = [json.loads(one) for one in (text.splitlines() if lines else [text])]
        documents = [changed_values(one, rng) for one in documents]
        path.write_text("\n".join(map(json.dumps, documents)))
    else:
        cells = [line.split(",") for line in data.decode().splitlines()]
        for _ in range(rng.randint(1, 4)):
            row = rng.choice(cells)
            row[rng.randrange(len(row))] = str(rng.choice(ODD)).encode(errors="replace").decode()
        path.write_text("\n".join(map(",".join, cells)))


def fuzz(source, folder, n, seed):
    """Change a log `n` times and read each: how many were read, and the failures by seed."""
    path, read, failed = folder / f"changed{source.suffix}", 0, {}
    for i in range(n):
        rng = random.Random(f"{source.name} {seed} {i}")
        write_changed(source, path, rng)
        try:
            read += read_whole(path)
        except Exception as error:  # what is to be found
            failed[i] = f"{type(error).__name__}: {error}"[:200]
    return read, failed
