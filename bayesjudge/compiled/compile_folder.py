"""A folder for compiled models that is this user's alone.

PyTensor keeps what it compiles under the home directory, and runs what it finds there. Without a
place to write its import ends in an error; with an empty HOME the place is in the current folder,
which may be anybody's. It reads its settings once, when it is imported, and every import of it in
this package comes after `bayesjudge` itself: that is the moment to choose another folder.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path

_SETTING = re.compile(r"(^|,)\s*(base_)?compiledir\s*=")
#: What is to be told of the temporary folder, once there is one.
_untold: list[str] = []
#: Folders that cannot be written to, and may hold what was compiled when they could.
left: list[Path] = []


def choose_compile_folder() -> None:
    """Have PyTensor compile in a temporary folder, where its own cannot be written or trusted.

    A folder that the user chose is left alone. The temporary one lasts as long as the process.
    """
    if "pytensor" in sys.modules or _chosen_by_user():
        return
    default = _folder_of_pytensor()
    problem = not_private(default, others=0o002) or _not_writable(default)
    if not problem:
        return
    folder = tempfile.mkdtemp(prefix="bayesjudge-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if default.parent == Path("~"):  # without a home PyTensor's import would end in an error
        os.environ["HOME"] = folder
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, [flags, f"base_compiledir={folder}"]))
    _untold.append(
        f"bayesjudge compiles in {folder}, since {default} {problem}: each process compiles anew. "
        "To keep what is compiled set PYTENSOR_FLAGS=base_compiledir=FOLDER"
    )
    left.append(default)


def tell_of_compile_folder() -> None:
    """Print one line to stderr, the first time that something is compiled in a temporary folder."""
    while _untold:
        print(_untold.pop(), file=sys.stderr)


def not_private(place: Path | int, others: int = 0o022) -> str:
    """Why code in a folder, or in a file that is open, may be another user's; "" if it cannot.

    `others` are the rights that only its owner may have; a folder that is not there is nobody's.
    """
    if isinstance(place, Path) and not place.is_absolute():
        return "is not an absolute path"
    if not hasattr(os, "geteuid"):  # Windows, where the place is in the user's profile
        return ""
    try:
        status = os.stat(place)
        link = os.lstat(place) if isinstance(place, Path) else status
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if {status.st_uid, link.st_uid} != {os.geteuid()}:
        return "belongs to another user"
    return "may be changed by other users" if status.st_mode & others else ""


def _chosen_by_user() -> bool:
    if _SETTING.search(os.environ.get("PYTENSOR_FLAGS", "")):
        return True
    files = os.environ.get("PYTENSORRC", "~/.pytensorrc").split(os.pathsep)
    settings = ConfigParser(interpolation=None, strict=False)
    with suppress(Exception):  # PyTensor itself will say what is wrong with the file
        settings.read([os.path.expanduser(file) for file in files])
    return any(settings.has_option("global", f"{start}compiledir") for start in ("base_", ""))


def _folder_of_pytensor() -> Path:
    """Where PyTensor compiles unless it is told otherwise."""
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"]) / "PyTensor"
    return Path(os.environ.get("HOME", os.path.expanduser("~"))) / ".pytensor"


def _not_writable(folder: Path) -> str:
    """Try to make a file in `folder`, or in what it would be made in; "" if that is possible."""
    while not os.path.exists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError:
        return "cannot be written to"
