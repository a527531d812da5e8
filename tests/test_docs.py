"""The pages under docs run as printed, and every exported name has a use."""

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from cyclopts import CycloptsError

from bayesjudge.cli.commands import COMMANDS as COMMANDS_OF_HELP
from bayesjudge.cli.commands import build_app

TOP = Path(__file__).parents[1]
PAGES = [
    path
    for path in sorted((TOP / "docs").rglob("*.md"))
    if ">>> " in path.read_text() and not {"_copied", "notebooks"} & set(path.parts)
]
TOC = re.compile(r"```{toctree}\n(.*?)```", re.DOTALL)
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
COMMANDS = [
    path
    for path in PAGES
    if path.parent.name in ("start", "have") and SHELL.search(path.read_text())
]
sys.path.insert(0, str(TOP / "tools"))

import draw_models  # noqa: E402
from structure import unused_names  # noqa: E402


@pytest.mark.every_setting
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs_as_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write the file that a command reads
    text = page.read_text().replace("\n```", "\n\n```")  # the fence is no output
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    examples = parser.get_doctest(text, {"__name__": "docs"}, page.name, str(page), 0)
    assert len(examples.examples) >= 2
    failed: list[str] = []
    runner.run(examples, out=failed.append)
    assert not failed, "".join(failed)


@pytest.mark.slow
def test_graphs_are_those_of_the_models():
    assert draw_models.PAGE.read_text() == draw_models.page()


def test_every_page_is_in_the_contents():
    """Below the front page, and what is listed exists."""
    docs = TOP / "docs"
    made = {"api/index", "notebooks/index"}  # by docs/conf.py
    listed, waiting = set(), ["index"]
    while waiting:
        page = docs / f"{waiting.pop()}.md"
        for block in TOC.findall(page.read_text()):
            names = [n for n in block.split() if not n.startswith(":")]
            found = {os.path.relpath(page.parent / name, docs) for name in names}
            waiting += found - listed - made
            listed |= found
    pages = {str(path.relative_to(docs).with_suffix("")) for path in docs.rglob("*.md")}
    own = {page for page in pages if not page.startswith(("_", "notebooks/", "api/"))}
    assert listed - made == own - {"index"}


@pytest.mark.slow
@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.name)
def test_commands_of_a_page_run(page, tmp_path, monkeypatch):
    """With the files that the page's examples write."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    examples = parser.get_doctest(text.replace("\n```", "\n\n```"), {}, page.name, None, 0)
    runner.run(examples, out=lambda _: None)
    commands = [c for block in SHELL.findall(text) for c in block.splitlines()]
    for command in commands:
        program, *options = shlex.split(command)
        assert program == "bayesjudge"
        call = "import sys; from bayesjudge.cli import main; sys.exit(main())"
        done = subprocess.run([sys.executable, "-c", call, *options], capture_output=True)
        assert done.returncode == 0, done.stderr.decode()


TEXTS = [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md"))]
TEXTS += [
    *sorted((TOP / "docs" / "start").glob("*.md")),
    *sorted((TOP / "docs" / "have").glob("*.md")),
]


def quoted(program):
    """Yield what the pages call, in a line of its own or between backticks, with its page."""
    for path in TEXTS:
        text = path.read_text().replace("\\\n", " ")
        for line in re.findall(rf"^ *({program} .+?)(?: +#.*)?$|`({program} [^`\n]+)`", text, re.M):
            yield path.name, "".join(line)


@pytest.mark.slow
def test_quoted_commands_have_the_options_that_they_name():
    """Also those whose tables the pages do not have; of a bare name the command exists."""
    checked = 0
    for page, line in quoted("bayesjudge"):
        tokens = [token for token in shlex.split(line)[1:] if token != "…"]
        app = build_app(tokens, every=True)
        steps = [token for token in tokens[:2] if re.fullmatch("[a-z]+", token)]
        assert steps, f"{page}: {line}"
        if len(tokens) <= 1 or "…" in line:
            assert app[tokens[0]], f"{page}: {line}"
            continue
        try:
            app.parse_args(tokens, exit_on_error=False, print_error=False)
        except CycloptsError as error:
            raise AssertionError(f"{page}: {line}: {error}") from error
        checked += 1
    assert checked > 15


def words_of_commands():
    """Words between backticks that begin with a command: of pages, of code, of what was added."""
    added = (TOP / "CHANGELOG.md").read_text().partition("### Added")[2]
    texts = {path.name: path.read_text() for path in [*TEXTS, *(TOP / "bayesjudge").rglob("*.py")]}
    books = [json.loads(path.read_text()) for path in (TOP / "notebooks").glob("*.ipynb")]
    cells = [line for book in books for cell in book["cells"] for line in cell["source"]]
    for place, text in {**texts, "added": added, "notebooks": "".join(cells)}.items():
        for quoted in re.findall(r"`(?:bayesjudge )?([a-z]+ [^`\n]+)`", text):
            yield place, quoted.split()


@pytest.mark.slow
def test_words_of_commands_and_their_options_exist():
    """Also in a sentence, where a line has not all that it needs."""
    app = build_app((), every=True)
    checked = 0
    for place, (name, *words) in words_of_commands():
        inner = [n for n in app[name] if n[0] != "-"] if name in COMMANDS_OF_HELP else []
        if name not in COMMANDS_OF_HELP or not (inner or words[0].startswith("--")):
            continue
        step = app[name]
        if inner and re.fullmatch("[a-z]+", words[0]):
            assert words[0] in inner or step.default_command is not None, (place, name, words)
            step = step[words[0]] if words[0] in inner else step
        alone = step.default_command is not None
        known = {
            option
            for each in ([step] if alone else [step[n] for n in inner])
            for argument in each.assemble_argument_collection(parse_docstring=False)
            for option in argument.names
        }
        for option in filter(re.compile("--[a-z-]+$").match, words):
            assert option in {*known, "--help"}, f"{place}: {name} {' '.join(words)}"
            checked += 1
    assert checked > 40


def test_quoted_studies_exist_and_have_the_options_that_they_name():
    found = [one for one in quoted("python") if not one[1].startswith("python -")]
    assert len(found) > 40
    for page, line in found:
        _, script, *options = shlex.split(line)
        assert (TOP / script).exists(), f"{page}: {line}"
        for option in options:
            if option.startswith("--"):
                assert f'"{option}"' in (TOP / script).read_text(), f"{page}: {line}"


def test_quoted_tests_exist():
    found = list(quoted("pytest"))
    assert len(found) >= 5
    for page, line in found:
        _, *words = shlex.split(line)
        paths = [TOP / word for word in words if word.endswith(".py")]
        assert paths, f"{page}: {line}"
        assert all(path.exists() for path in paths), f"{page}: {line}"
        named = re.findall(r"def (test_\w+)", " ".join(path.read_text() for path in paths))
        wanted = words[words.index("-k") + 1].split(" or ") if "-k" in words else []
        for name in wanted:
            assert any(name in one for one in named), f"{page}: {line}"


def test_quoted_targets_of_make_exist():
    targets = set(re.findall(r"^([a-z]+):", (TOP / "Makefile").read_text(), re.M))
    named = {
        word for _, line in quoted("make") for word in shlex.split(line)[1:] if "=" not in word
    }
    assert named
    assert named <= targets


@pytest.mark.slow
def test_every_exported_name_is_used():
    """In a command, a notebook, the README or a page: else it is private, or goes."""
    assert not {module: names for module, names in unused_names(TOP).items() if names}


def test_every_figure_of_the_studies_is_shown_with_a_sentence_and_its_command():
    page = (TOP / "docs" / "checks.md").read_text()
    shown = re.findall(r":::{figure} \.\./(\S+)\n:alt: .+\n:loading: lazy\n(.+)\n:::", page)
    drawn = sorted((TOP / "benchmarks").glob("*/results/*.png"))
    assert sorted(name for name, _ in shown) == [str(path.relative_to(TOP)) for path in drawn]
    for name, caption in shown:
        words, command = re.fullmatch(r"([A-Z].+\.) `python (\S+)(?: --[^`]+)?`", caption).groups()
        assert len(words) > 30
        assert (TOP / command).parent == (TOP / name).parents[1]
        assert (TOP / command).exists()
