"""Text of models and users is shown as text: in notebooks, pages, Markdown and spreadsheets."""

import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

import bayesjudge as bj
from bayesjudge.cli import output
from bayesjudge.cli.app import _complain
from bayesjudge.cli.options import Written
from bayesjudge.cli.output import deliver
from bayesjudge.cli.repeats import _page_of_run
from bayesjudge.core.answer import Answer
from bayesjudge.render import screen
from bayesjudge.render.page import page_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</svg></figure><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "</title></style><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
    "a | b || c",
    "two\nlines\r\n\r\n# and a heading",
    "`code` ``two`` \\`",
    "**bold** __init__ _a_ ~~gone~~",
    "[click](javascript:alert(1))",
    "![pixel](http://example.org/p.png)",
    "[click][ref]",
    "&lt;script&gt; &#60;b&#62; a & b",
    "back\\slash \\| pipe",
    "# heading",
    "> quote",
    "- item",
    "---",
    "$x_1$",
    "gpt_4_turbo",
]


def hostile(text):
    """An estimate in which everything that can come from outside is `text`."""
    return bj.Estimate(
        {"prevalence": bj.Quantity.over((0.5, 0.4, 0.6), {"system": [text]})},
        method=f"Method {text}",
        ci_prob=0.95,
        source=f"Source {text}",
        interval=f"Kind {text}",
        assumptions=(bj.Assumption(f"id {text}", f"assumed {text}"),),
        cautions=(bj.Caution(f"name {text}", f"judge {text} is odd"),),
    )


class Page(HTMLParser):
    """Elements, attributes and text of a page, as a browser would see them."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def one_line(text):
    return " ".join(text.split())


def harmless(page):
    """Whether a page has neither scripts nor handlers, links nor pictures from elsewhere."""
    active = {"script", "img", "iframe", "a", "link", "object", "embed", "form", "base"}
    return not page.tags & active and not any(name.startswith("on") for name in page.attributes)


@pytest.mark.parametrize("text", HOSTILE)
def test_notebooks_show_text_as_text(text):
    page = Page(hostile(text)._repr_html_())
    assert harmless(page)
    assert page.tags <= {"table", "thead", "tbody", "tr", "th", "td", "small", "br"}
    for shown in (f"Method {text}", f"Kind {text}", f"name {text}: judge {text} is odd"):
        assert one_line(shown) in one_line(page.text)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph 13")  # no font draws a carriage return
@pytest.mark.parametrize("fonts", ["path", "none"])
@pytest.mark.parametrize("text", HOSTILE)
def test_pages_show_text_as_text(text, fonts):
    estimate = hostile(text)
    with mpl.rc_context({"svg.fonttype": fonts}):
        axes = bj.plot_intervals(bj.side_by_side(estimate))
        page = bj.report(
            estimate,
            title=f"Title {text}",
            output="html",
            figures={f"Caption {text}": axes.figure},
            notes={f"Heading {text}": [f"Line {text}"]},
        )
    found = Page(page)
    assert page.count("<svg") == 2  # for a screen, and for a phone
    assert harmless(found)
    for word in ("Title", "Caption", "Heading", "Line", "Method", "Source", "assumed", "judge"):
        assert one_line(f"{word} {text}") in one_line(found.text)


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_shows_text_as_text(text):
    report = bj.report(
        hostile(text), title=f"Title {text}", notes={f"Heading {text}": [text, f"Line {text}"]}
    )
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = Page(renderer.render(report))
    assert harmless(page)
    assert page.tags == {
        *("h1", "table", "thead", "tbody", "tr", "th", "td", "p", "h2", "ul", "li", "strong"),
    }
    rows = renderer.render(report).split("<tr>")[1:]
    assert [row.count("<t") - row.count("<tbody") for row in rows] == [8, 8]
    shown = [text, *(f"{word} {text}" for word in ("Title", "Heading", "Line", "assumed", "Kind"))]
    for words in (*shown, f"name {text}: judge {text} is odd"):
        assert one_line(words) in one_line(page.text)


def test_markdown_of_ordinary_names_stays_legible():
    report = bj.report(hostile("gpt-4_turbo (May), p < .05 at 95 %"))
    assert "| prevalence | gpt-4_turbo (May), p &lt; .05 at 95 % |" in report


COMMANDS = ["\x1b]0;owned\x07", "\x1b[2J", "\x9b2J", "a\rb", "a\nb", "a\x00b", "a\u202eb"]


@pytest.mark.parametrize("text", COMMANDS)
def test_terminals_are_not_commanded(text, capsys):
    estimate = hostile(text)
    console = screen.open_console()
    said = Answer(f"Text {text}", f"Basis {text}", f"Why {text}", quoted=estimate)
    inputs = {"judge": text, "data": text, "labels": text}
    about = {"title": f"Title {text}", "inputs": inputs}
    page, style = page_of([estimate], answer=said, **about), screen.Style(answer="prevalence")
    for details in (False, True):
        screen.show_answer(console, page, style, details=details)
        screen.rest(console, page, style, details=details)
    printed = capsys.readouterr().out
    assert not set(printed) & (set("\x1b\x07\x9b\r\x00\u202e"))
    shown = text.encode("unicode_escape").decode()
    assert printed.count(shown) >= 6  # in answer, basis, reason, title, inputs and table


def gate_of(text):
    counts = bj.prevalence.Counts(
        [90, 80], [60, 50], [20, 20], [18, 15], [10, 10], [7, 9], calibration="random",
        systems=[text, "other"],
    )  # fmt: skip
    return bj.decide.gate(counts, at_least=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("text", COMMANDS)
def test_markdown_commands_no_terminal(text):
    """A file is shown by `cat`, and a job summary by a log."""
    made = bj.report(hostile(text), title=text, notes={text: [text]}, command=text)
    made += bj.decide.to_markdown(gate_of(text), title=text)
    assert not set(made) & (set("\x1b\x07\x9b\r\x00\u202e"))
    shown = " ".join(text.split()).encode("unicode_escape").decode().replace("\\", "\\\\")
    assert made.count(shown) >= 5


@pytest.mark.fast_one_in(10)
@pytest.mark.parametrize("text", [*COMMANDS, *HOSTILE, "\x7f", "\ufffe", "\udc80", "\U0001f600"])
def test_junit_is_xml_whatever_names_hold(text):
    made = bj.decide.to_junit(gate_of(text), suite=f"suite {text}")
    root = ElementTree.fromstring(made.encode("utf-8"))
    whole = " ".join([root.get("name"), *(case.get("name") for case in root), *root.itertext()])
    assert not set(whole) & (set("\x1b\x07\x9b\r\x00\u202e"))
    if text.isprintable():
        assert whole.count(text) >= 2


@pytest.mark.parametrize("say", [output.tell, _complain], ids=["tell", "complain"])
@pytest.mark.parametrize("text", COMMANDS)
def test_messages_command_no_terminal(text, say, capsys):
    say(f"judge {text} gave up\nsecond line")
    printed = capsys.readouterr().err
    assert not set(printed) & (set("\x1b\x07\x9b\r\x00\u202e"))
    assert printed.endswith("gave up\nsecond line\n")


def test_the_table_of_a_run_commands_no_terminal(capsys):
    found = SimpleNamespace(
        items=pd.DataFrame({"item": ["a\x1b[2Jb"], "settled": True, "unparsed": 0, "failed": 0}),
        calls=1,
        cost=0.0,
    )
    deliver(_page_of_run(found, {"half_width": 0.5, "store": "answers.db"}), Written())
    assert "\x1b" not in capsys.readouterr().out


FORMULAS = [
    '=HYPERLINK("http://example.org")',
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "-cmd",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "\uff1d1+1",
]
PLAIN = ["-1", "+2.5", "-1e-3", "1", "gpt-4", "a=b", "", "'quoted"]


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_spreadsheets_run_no_text(tmp_path, dtype):
    text = [*FORMULAS, *PLAIN]
    numbers = -np.arange(len(text), dtype=float)
    table = pd.DataFrame({"reply": pd.Series(text, dtype=dtype), "score": numbers, "=x": 1})
    output.write_csv(table, tmp_path / "answers.csv")
    read = pd.read_csv(tmp_path / "answers.csv", dtype={"reply": str}, keep_default_na=False)
    expected = [f"'{cell}" for cell in FORMULAS] + PLAIN
    # a reader of CSV gives a line end in a cell in its own way
    assert read["reply"].str.replace("\r", "\n").tolist() == [
        cell.replace("\r", "\n") for cell in expected
    ]
    assert read["score"].tolist() == numbers.tolist()
    assert list(read.columns) == ["reply", "score", "'=x"]
    assert table["reply"].tolist() == text


@pytest.mark.slow
def test_every_csv_of_the_package_is_written_so():
    package = Path(bj.__file__).parent
    writes = re.compile(r"\.to_csv\(|csv\.writer|DictWriter|write_csv\(")
    found = {
        (path.relative_to(package).as_posix(), call)
        for path in package.rglob("*.py")
        for call in writes.findall(path.read_text(encoding="utf-8"))
    }
    assert found == {
        ("cli/output.py", "write_csv("),
        ("cli/output.py", ".to_csv("),
        ("cli/demo.py", "write_csv("),
        ("cli/frames.py", "write_csv("),
        ("cli/shapes/running.py", "write_csv("),
        ("cli/repeats.py", "write_csv("),
        ("cli/bias.py", "write_csv("),
        ("cli/bias_variants.py", "write_csv("),
        ("cli/judge.py", "write_csv("),
        ("cli/panel.py", "write_csv("),
        ("decide/labelling.py", "csv.writer"),  # cells of a sheet, made inert one by one
    }
