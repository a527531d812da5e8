"""Draw the picture of the README: python tools/draw_readme.py"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import bayesjudge as bj
from bayesjudge.cli.demo import LABELS, SEED
from bayesjudge.datasets import keep_labels, xstest

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "answer.png"


def draw() -> plt.Axes:
    """The demo's systems: what the judge passes, what people would, and what they did."""
    known = xstest()
    counts = bj.prevalence.Counts.from_frame(
        keep_labels(known, LABELS, SEED, by="system"),
        by="system",
        item="item",
        calibration="random",
        unparsed="fail",
    )
    shares = known.groupby("system")["truth"].mean()
    truth = {("prevalence", str(name)): float(share) for name, share in shares.items()}
    answer = bj.prevalence.answer(bj.prevalence.exact(counts))
    return bj.plot_answer(answer, truth=truth)


if __name__ == "__main__":
    mpl.use("Agg")
    axes = draw()
    axes.figure.savefig(PICTURE, dpi=120, bbox_inches="tight")
    print(f"{PICTURE}: {axes.get_title(loc='left') or axes.get_title()}")
