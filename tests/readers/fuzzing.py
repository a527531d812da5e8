"""Broken logs: bytes and values of logs changed at random, and read."""

import io
import json
import random
import zipfile

from readers import logs

from bayesjudge.core.errors import InputError
from bayesjudge.readers.files import File
from bayesjudge.readers.recognition import read_as, recognise

#: What stands where something else was expected.
ODD = [
    None, True, -1, 0, 1e308, float("nan"), float("inf"), 10**400, "", "\ud800", "\x00", " ",
    "NaN", [], {}, [[]], [None], {"": None}, {"a": {"b": {"c": []}}}, "x" * 1000, [1, "a", {}],
]  # fmt: skip


class Held(File):
    """A file of which the bytes are at hand: a disk would take longer than the reader."""

    def __init__(self, path, data):
        self.name, self.path, self._bytes = str(path), path, data


def read_whole(path, data):
    """Read a log and make all its tables: True, or False if it was refused in words."""
    try:
        file = Held(path, data)
        found = recognise(file)
        if found is None:
            return False
        log = read_as(found, file)
        repr(log), log.sentences, log.repeating
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


class Document:
    """A JSON document of which parts are replaced, lost or doubled, and then put back."""

    def __init__(self, text):
        self.text, self.value = text, json.loads(text)
        self.places = []
        self._walk(self.value)

    def _walk(self, one, depth=0):
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            self.places.append((one, key))
            if isinstance(one[key], dict | list) and depth < 12:
                self._walk(one[key], depth + 1)

    def changed(self, rng):
        """Its text after one to five changes."""
        chosen = rng.sample(self.places, min(len(self.places), rng.randint(1, 5)))
        kept = {id(holder): (holder, holder.copy()) for holder, _ in chosen}
        for holder, key in chosen:
            try:
                match rng.randrange(4):
                    case 0:
                        del holder[key]
                    case 1 if isinstance(holder, list):
                        holder.append(holder[key])
                    case _:
                        holder[key] = rng.choice(ODD)
            except (KeyError, IndexError):  # its holder is gone already
                continue
        text = json.dumps(self.value)
        for holder, before in kept.values():
            holder.clear()
            holder.update(before) if isinstance(holder, dict) else holder.extend(before)
        return text


class Original:
    """A log to be changed again and again; it is parsed once."""

    def __init__(self, path):
        self.path, self.data = path, path.read_bytes()
        self.members, self.documents, self.cells = [], [], []
        if self.data[:2] == b"PK":
            with zipfile.ZipFile(path) as archive:
                self.members = archive.namelist()
                self.documents = [Document(archive.read(n).decode()) for n in self.members]
        elif path.suffix in (".json", ".jsonl"):
            text = self.data.decode()
            lines = text.splitlines() if path.suffix == ".jsonl" else [text]
            self.documents = [Document(one) for one in lines]
        else:
            self.cells = [line.split(",") for line in self.data.decode().splitlines()]

    def changed(self, rng):
        """The bytes of a changed copy: bytes changed, or values in its documents."""
        if rng.random() < 0.4:
            return changed_bytes(self.data, rng)
        if self.cells:
            cells = [row.copy() for row in self.cells]
            for _ in range(rng.randint(1, 4)):
                row = rng.choice(cells)
                row[rng.randrange(len(row))] = str(rng.choice(ODD))
            return "\n".join(map(",".join, cells)).encode(errors="replace")
        few = rng.sample(range(len(self.documents)), min(len(self.documents), rng.randint(1, 4)))
        texts = [d.changed(rng) if i in few else d.text for i, d in enumerate(self.documents)]
        if not self.members:
            return "\n".join(texts).encode(errors="replace")
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name, text in zip(self.members, texts, strict=True):
                archive.writestr(name, text)
        return made.getvalue()


def fuzz(source, folder, n, seed, first=0):
    """Change a log `n` times and read each: how many were read, and the failures by seed."""
    original = Original(source)
    path, read, failed = folder / f"changed{source.suffix}", 0, {}
    for i in range(first, first + n):
        data = original.changed(random.Random(f"{source.name} {seed} {i}"))
        try:
            read += read_whole(path, data)
        except Exception as error:  # what is to be found
            failed[i] = f"{type(error).__name__}: {error}"[:200]
    return read, failed


def small(tool, folder):
    """Write a log of few items of a tool."""
    name, write, _ = logs.LOGS[tool]
    if tool.startswith("Inspect"):  # deflated, so that its members can be written again
        logs.write_inspect(folder / name, logs.inspect_samples(3, 2), 8, epochs=2)
    else:
        write(folder / name)
    return folder / name
