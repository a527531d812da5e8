"""A folder for compiled models where the home directory cannot be written to.

PyTensor keeps what it compiles under the home directory, and without a place to write its import
ends in an error. It reads its settings once, when it is imported, and every import of it in this
package comes after `bayesjudge` itself: that is the moment to choose another folder.
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
#: The temporary folder, once there is one and nobody has been told of it.
_untold: list[str] = []
#: Folders that cannot be written to, and may hold what was compiled when they could.
left: list[Path] = []


def choose_compile_folder() -> None:
    """Have PyTensor compile in a temporary folder, where its own cannot be written.

    A folder that the user chose is left alone. The temporary one lasts as long as the process.
    """
    if "pytensor" in sys.modules or _chosen_by_user() or _writable(_folder_of_pytensor()):
        return
    folder = tempfile.mkdtemp(prefix="bayesjudge-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    flags = os.environ.get("PYTENSOR_FLAGS", "")
    os.environ["PYTENSOR_FLAGS"] = ",".join(filter(None, [flags, f"base_compiledir={folder}"]))
    _untold.append(folder)
    left.append(_folder_of_pytensor())


def tell_of_compile_folder() -> None:
    """Print one line to stderr, the first time that something is compiled in a temporary folder."""
    while _untold:
        print(
            f"bayesjudge compiles in {_untold.pop()}, since {_folder_of_pytensor()} cannot be "
            "written to: each process compiles anew. To keep what is compiled set "
            "PYTENSOR_FLAGS=base_compiledir=FOLDER",
            file=sys.stderr,
        )


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


def _writable(folder: Path) -> bool:
    """Whether a file can be made in `folder`, or in what it would be made in, by trying."""
    while not os.path.exists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
