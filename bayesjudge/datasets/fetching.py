"""Files of others: fetched once from a fixed place, kept, and checked by their SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path

from bayesjudge.core.errors import InputError, expect


def fetched(url: str, name: str, sha256: str, path: str | Path | None, what: str) -> Path:
    """The file at `path`, or at `url` kept in the user's cache; its checksum is verified."""
    file = _retrieved(url, name, sha256, what) if path is None else Path(path)
    expect(what, file.is_file(), "no-file", file=file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    expect(what, digest == sha256, "other-file", name=file.name, digest=digest, sha256=sha256)
    return file


def _retrieved(url: str, name: str, sha256: str, what: str) -> Path:
    try:
        import pooch
    except ImportError as error:
        raise without("pooch") from error
    try:
        folder = pooch.os_cache("bayesjudge")
        kept = pooch.retrieve(url, known_hash=f"sha256:{sha256}", fname=name, path=folder)
    except (OSError, ValueError) as error:  # no network and no such file; another checksum
        text = (
            f"{url} could not be fetched ({type(error).__name__}: {error}); fetch it by "
            "hand and pass path="
        )
        raise InputError(what, [text]) from error
    return Path(kept)


def without(package: str) -> ImportError:
    """What is said where an extra is not installed."""
    return ImportError(
        f"loading needs {package}, which is an extra: pip install 'bayesjudge[data]'"
    )
