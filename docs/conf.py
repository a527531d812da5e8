"""The site: pages in Markdown, notebooks with their outputs, and one page for each exported name.

Sphinx, since what PyMC, ArviZ and SciPy link to is an inventory of Sphinx, and its numpydoc reads
the docstrings as they are.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "tools")]

import latex2mathml.converter  # noqa: E402
import pandas as pd  # noqa: E402
from docutils import nodes  # noqa: E402
from graph_svg import svg  # noqa: E402
from sphinx.transforms import SphinxTransform  # noqa: E402

import bayesjudge as bj  # noqa: E402
from bayesjudge.cli import main  # noqa: E402
from bayesjudge.datasets import code_feedback_votes, keep_labels, xstest  # noqa: E402

project, author = "bayesjudge", "The bayesjudge developers"
project_copyright = f"2026, {author}"
version = release = bj.__version__
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "_copied", "_reports", "_templates"]
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

# Formulas: MathML, which browsers draw themselves. Nothing is fetched, and no script runs --------

html_math_renderer = "mathml"


def write_formula(translator, node):  # type: ignore[no-untyped-def]
    """Write a formula as MathML; of several lines, each by itself, since browsers break none."""
    block, text = isinstance(node, nodes.math_block), node.astext().strip()
    lines = [text] if not block or r"\begin" in text else re.split(r"\\\\", text)
    mode = "block" if block else "inline"
    made = "".join(latex2mathml.converter.convert(line, display=mode) for line in lines)
    translator.body.append(f'<div class="math">{made}</div>' if block else made)
    raise nodes.SkipNode


class DrawGraphs(SphinxTransform):
    """Draw graphs of models, which are written in Mermaid: no script has to run in the browser."""

    default_priority = 400

    def apply(self, **kwargs: object) -> None:
        """Put a picture in the place of each."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                picture = f'<div class="graph">{svg(block.astext())}</div>'
                block.replace_self(nodes.raw("", picture, format="html"))


def link_pictures(app, page, template, context, document):  # type: ignore[no-untyped-def]
    """Let a click on a picture open it in its full size."""
    picture = r'(<img (?:[^>]* )?src="((?:\.\./)*_images/[^"]+)"[^>]*>)(?!</a>)'
    context["body"] = re.sub(picture, r'<a href="\2">\1</a>', context.get("body", ""))


def setup(app):  # type: ignore[no-untyped-def]
    """Tell Sphinx of the renderer, of the graphs and of the pictures."""
    app.connect("html-page-context", link_pictures)
    app.add_transform(DrawGraphs)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))


# Look -------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "bayesjudge"
html_show_sourcelink = False
html_extra_path = ["_reports"]
html_static_path = ["site.css"]
html_css_files = ["site.css"]
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
        (folder / path.name).write_text(text)


def copy_notebooks() -> None:
    """Put the notebooks where Sphinx finds them, and a page that lists them."""
    folder = HERE / "notebooks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    names = []
    for path in sorted((HERE.parent / "notebooks").glob("*.ipynb")):
        shutil.copy(path, folder)
        names.append(path.stem)
    names.sort(key="tour".__ne__)  # which leads to the others
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


#: A page of each module: the question, and the command that writes it.
REPORTS = {
    "prevalence": (
        "What share of outputs would people pass?",
        "prevalence systems.csv --verdict verdict --truth truth --calibration random "
        "--by system --item item --unparsed fail",
    ),
    "panel": (
        "How good is each generator, and which judge to trust?",
        "panel votes.csv --truth truth --calibration random",
    ),
    "repeats": (
        "How often must a judge be asked?",
        "repeats report repeats.csv --scale 1-5 --judge judge",
    ),
    "bias": (
        "How far does a change that should not matter move scores?",
        "bias bias.csv --scale 0-100 --design item --rerun rerun",
    ),
    "ratings": (
        "Which judge agrees with people?",
        "ratings ratings.csv --positive yes --judge gpt --judge claude --response-set response_set",
    ),
}


def write_reports() -> None:
    """Write the reports, and a page that lists them; XSTest's verdicts, and simulated tables."""
    folder = HERE / "_reports" / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"systems": keep_labels(xstest(), 100, 2024, by="system")}
    modules = {"votes": bj.panel, "repeats": bj.repeats, "bias": bj.bias, "ratings": bj.ratings}
    tables |= {name: module.simulate(random_seed=1) for name, module in modules.items()}
    lines = [
        "One page a module, and one for each kind of decision, as `--html` writes them; nothing "
        "was sampled here. `systems.csv`, `log.csv` and `all.csv` hold verdicts of XSTest, "
        "`old.csv` and `new.csv` those of two judges of code feedback; other tables are simulated."
    ]
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(made):
        for name, table in tables.items():
            table.to_csv(f"{name}.csv", index=False)
        for name, (question, command) in REPORTS.items():
            page = folder / f"{name}.html"
            options = ["--no-nuts", "--quiet", "--html", str(page)]
            with contextlib.redirect_stdout(io.StringIO()):
                code = main([*command.split(), *options])
            if code:
                raise RuntimeError(f"bayesjudge {command} failed")
            link = f'<a href="reports/{name}.html">{question}</a>'
            lines += ["", link, "", f"```sh\nbayesjudge {command} --html {name}.html\n```"]
        for write in (gate_page, label_page, drift_page):
            lines += ["", *write(folder)]
    (HERE / "_copied" / "reports.md").write_text("\n".join(lines) + "\n")


def run(command: str) -> int:
    """Run a command, and keep what it prints."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return main(command.split())


def shown(folder: Path, page: str, question: str, command: str) -> list[str]:
    """Copy a page that a command wrote; its link, and the command."""
    shutil.copy(page, folder)
    link = f'<a href="reports/{page}">{question}</a>'
    return [link, "", f"```sh\nbayesjudge {command}\n```", ""]


def gate_page(folder: Path) -> list[str]:
    """Run the gate's command on one system: a page, and what it writes for the page of a job."""
    table = keep_labels(xstest().query("system == 'mistralinstruct'"), 100, 2024)
    table.to_csv("log.csv", index=False)
    command = "gate log.csv --verdict verdict --truth truth --calibration random --at-least 0.75"
    command += " --unparsed fail --html gate.html --summary summary.md"
    run(command)
    return [
        *shown(folder, "gate.html", "Does it pass 75 %?", command),
        "For the page of a CI job the same command writes Markdown:\n",
        Path("summary.md").read_text(),
    ]


def label_page(folder: Path) -> list[str]:
    """Label batch by batch, as people did who labelled everything, until the gate decides."""
    whole = xstest().query("system == 'mistralinstruct'")
    whole.drop(columns="truth").to_csv("all.csv", index=False)
    truth = whole.set_index(whole["item"].astype(str))["truth"]
    first = "label all.csv --verdict verdict --gate 0.75 --n 25 --seed 1 --html label.html"
    again = f"{first} --read all.labels.csv"
    code = run(first)
    while code == 3:
        sheet = pd.read_csv("all.labels.csv", dtype=str)
        sheet["truth"] = truth.loc[sheet["item"]].map({1.0: "good", 0.0: "bad"}).to_numpy()
        sheet.to_csv("all.labels.csv", index=False)
        code = run(again)
    question = "Does it pass 75 %, looking after every 25 labels?"
    return shown(folder, "label.html", question, again)


def drift_page(folder: Path) -> list[str]:
    """Put one judge of the panel in another's place."""
    votes = code_feedback_votes()
    for name, judge in (("old", "gpt-4o-mini"), ("new", "gemini-2.5-pro")):
        columns = {"generator": "system", judge: "verdict"}
        table = votes.rename(columns=columns)[["item", "system", "verdict", "truth"]]
        table.to_csv(f"{name}.csv", index=False)
    command = "drift old.csv new.csv --truth truth --by system --html drift.html"
    run(command)
    return shown(folder, "drift.html", "Is the new judge the old one?", command)


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
write_reports()
write_api()
copy_notebooks()
