"""Run the notebooks and keep what they show.

    python tools/notebooks.py                 # all that changed since they ran
    python tools/notebooks.py --all           # all, after a change of the package
    python tools/notebooks.py notebooks/panel.ipynb

Outputs are stored without what belongs to one machine or one run: paths, progress, counters. What
each took is printed in CPU seconds of its kernel; with
PYTENSOR_FLAGS=base_compiledir=FOLDER, an empty one, it compiles anew.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TOP = Path(__file__).parents[1]
NOTEBOOKS = TOP / "notebooks"
#: Paths of a machine, in what a notebook shows.
MACHINE = re.compile(r"(?:/(?:home|root|tmp|work|Users|usr)|[A-Z]:\\)[^\s'\"<>:,)]*[/\\]")


def code_of(notebook: nbformat.NotebookNode) -> str:
    """A fingerprint of the code cells, in order."""
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\n\n".join(sources).encode()).hexdigest()[:16]


def ran(notebook: nbformat.NotebookNode) -> str | None:
    """The fingerprint of the code that the stored outputs are of."""
    return notebook.metadata.get("bayesjudge", {}).get("outputs_of")


def kept(output: nbformat.NotebookNode) -> bool:
    """Whether an output says something to a reader: progress and widgets do not."""
    if output.output_type == "stream":
        return output.name == "stdout"
    widget = "application/vnd.jupyter.widget-view+json"
    return widget not in output.get("data", {})


def tidy(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Leave out paths of this machine, and the counter of the run."""
    if "text" in output:
        output.text = MACHINE.sub("", output.text)
    for kind, value in output.get("data", {}).items():
        if kind.startswith("text/"):
            output.data[kind] = MACHINE.sub("", value)
    if output.output_type == "execute_result":
        output.execution_count = None
    return output


def run(path: Path) -> None:
    """Run a notebook from top to bottom, and write it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources=where).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [tidy(output) for output in cell.outputs if kept(output)]
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}  # without the version at hand
    notebook.metadata["bayesjudge"] = {"outputs_of": code_of(notebook)}
    nbformat.write(notebook, path)


def main() -> int:
    """Run those that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "paths", nargs="*", type=Path, help="notebooks; by default all that changed"
    )
    parser.add_argument("--all", action="store_true", help="also those that did not change")
    args = parser.parse_args()
    for path in args.paths or sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if args.paths or args.all or ran(notebook) != code_of(notebook):
            before = cpu_of_kernels()
            run(path)
            print(f"{path.name:<20} {cpu_of_kernels() - before:6.1f} CPU s", flush=True)
    return 0


def cpu_of_kernels() -> float:
    """CPU seconds of the kernels that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
