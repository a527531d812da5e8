"""Names in pictures are text, whatever they hold."""

import pandas as pd
import pytest
from matplotlib import pyplot as plt

from bayesjudge.core.plots import plot_intervals

NAME = r"a $\frac{1}$ b"
TABLE = pd.DataFrame(
    {"quantity": "prevalence", "system": NAME, "method": NAME, "value": [0.5], "low": 0.4,
     "high": 0.6, "width": 0.2, "interval": "eti"}
)  # fmt: skip


def test_dollar_signs_in_names_are_no_mathematics():
    # as mathematics, the name does not parse, so that drawing fails
    ax = plot_intervals(TABLE)
    ax.figure.canvas.draw()
    assert [one.get_text() for one in ax.get_yticklabels()] == [NAME]


def test_text_that_a_user_wrote_on_the_axes_stays_mathematics():
    _, ax = plt.subplots()
    ax.set_title(r"$\theta$")
    plot_intervals(TABLE, ax=ax)
    assert ax.title.get_parse_math()
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    "module", ["prevalence", "panel", "ratings", "repeats", "bias", "bias.certificates", "lab"]
)
def test_each_plot_of_each_module_draws_plain_text(module):
    from importlib import import_module

    plots = vars(import_module(f"bayesjudge.{module}.plots"))
    public = {k: v for k, v in plots.items() if k.startswith("plot_")}
    assert public
    assert all(hasattr(one, "__wrapped__") for one in public.values())
