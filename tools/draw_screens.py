"""Draw the pictures of a first screen and of a page: python tools/draw_screens.py [CHROMIUM]

Writes docs/images/screen.png (a terminal of 80 columns), page.png (a browser of 1,280 pixels) and
phone.png (390 pixels), all of the same command, with headless Chromium.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

from bayesjudge.cli import main
from bayesjudge.cli.demo import LABELS, SEED
from bayesjudge.datasets import keep_labels, xstest

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COMMAND = (
    "prevalence log.csv --verdict verdict --truth truth --calibration random --by system "
    "--item item --unparsed fail"
)
TERMINAL = """<html><body style="margin:0;background:#15181b">
<pre style="margin:0;padding:14px 18px;color:#e8eaed;font:15px/1.35 monospace">{}</pre></body>
</html>"""


class Terminal(io.StringIO):
    """What a command takes for a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def shoot(browser: str, page: Path, picture: Path, width: int, height: int) -> None:
    """Have the browser draw the first screen of a page."""
    options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
    size = [f"--window-size={width},{height}", f"--screenshot={picture}"]
    subprocess.run([browser, *options, *size, page.as_uri()], check=True, capture_output=True)


def draw(browser: str) -> None:
    """Run the command, and draw what it shows and the page that it writes."""
    os.environ["COLUMNS"] = "80"
    with tempfile.TemporaryDirectory() as made, contextlib.chdir(made):
        keep_labels(xstest(), LABELS, SEED, by="system").to_csv("log.csv", index=False)
        with contextlib.redirect_stdout(Terminal()) as out:
            main([*COMMAND.split(), "--quiet", "--html", "page.html"])
        text = re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()).rstrip()
        shown = f"$ bayesjudge {COMMAND.replace(' --cal', ' \\\n    --cal')}\n{text}"
        screen = Path(made, "screen.html")
        screen.write_text(TERMINAL.format(escape(shown)))
        shoot(browser, screen, IMAGES / "screen.png", 800, 21 * shown.count("\n") + 50)
        # a window narrower than 500 pixels is not to be had: the phone is a frame in one
        phone = Path(made, "phone.html")
        frame = "<iframe src=page.html width=390 height=844 style='border:0'></iframe>"
        phone.write_text(f"<html><body style='margin:0'>{frame}</body></html>")
        shoot(browser, Path(made, "page.html"), IMAGES / "page.png", 1280, 900)
        shoot(browser, phone, IMAGES / "phone.png", 390, 844)


if __name__ == "__main__":
    found = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium")
    if found is None:
        sys.exit("Chromium was not found: name it, python tools/draw_screens.py PATH")
    draw(found)
