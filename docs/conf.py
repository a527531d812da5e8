"""The site: pages in Markdown, notebooks with their outputs, and one page for each exported name.

Sphinx, since what PyMC, ArviZ and SciPy link to is an inventory of Sphinx, and its numpydoc reads
the docstrings as they are.
"""

from __future__ import annotations

import re
import shutil
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import bayesjudge as bj  # noqa: E402

project, author = "bayesjudge", "The bayesjudge developers"
project_copyright = f"2026, {author}"
version = release = bj.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_copied", "_templates"]
templates_path = ["_templates"]

# Markdown and notebooks -------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks carry their outputs; the tests run them
suppress_warnings = ["mystnb.unknown_mime_type"]  # widgets of progress bars

# Docstrings -------------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections say more
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
default_role = "code"

# Look -------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "bayesjudge"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_end": [],
}
html_sidebars = {"index": []}


def copy_pages() -> None:
    """Copy pages that live elsewhere, links to files of the repository as plain names."""
    folder = HERE / "_copied"
    folder.mkdir(exist_ok=True)
    for path in (HERE.parent / "benchmarks/README.md", HERE.parent / "CONTRIBUTING.md"):
        text = re.sub(r"\[`?([^]`]+)`?\]\((?!https?:)[^)]+\)", r"`\1`", path.read_text())
        (folder / path.name).write_text(text.replace("```mermaid", "```text"))


def copy_notebooks() -> None:
    """Put the notebooks where Sphinx finds them, and a page that lists them."""
    folder = HERE / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = []
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy(path, folder)
        names.append(path.stem)
    (folder / "index.md").write_text("# Notebooks\n\n```{toctree}\n" + "\n".join(names) + "\n```\n")


def write_api() -> None:
    """Write one page a module, with every name that it exports."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    pages = ["bayesjudge", *modules("bayesjudge")]
    for name in pages:
        (folder / f"{name}.rst").write_text(page_of(name))
    toc = "\n".join(f"   {name}" for name in pages)
    title = "Every exported name"
    text = f"{title}\n{'=' * len(title)}\n\n.. toctree::\n   :maxdepth: 1\n\n{toc}\n"
    (folder / "index.rst").write_text(text)


def modules(name: str) -> list[str]:
    """All modules below one, by what each exports."""
    module = import_module(name)
    inner = [f"{name}.{one}" for one in sorted(module.__all__) if is_module(module, one)]
    return [found for one in inner for found in (one, *modules(one))]


def is_module(module: object, name: str) -> bool:
    """Whether a name of a module is a module too."""
    return type(getattr(module, name)).__name__ == "module"


def page_of(name: str) -> str:
    """List what a module exports, a page each."""
    module = import_module(name)
    names = [one for one in sorted(module.__all__, key=str.lower) if not is_module(module, one)]
    listed = "\n".join(f"   {one}" for one in names)
    return (
        f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: {name}\n\n"
        f".. automodule:: {name}\n   :no-members:\n\n"
        f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{listed}\n"
    )


copy_pages()
write_api()
copy_notebooks()
