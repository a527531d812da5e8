"""Numbers of calls are whole on the screen, however small; shares and scores are not."""

import pytest

from bayesjudge.core.estimate import Row
from bayesjudge.core.methods import STACKED
from bayesjudge.core.side_by_side import Record
from bayesjudge.render.screen import _cells


@pytest.mark.parametrize(
    ("quantity", "row", "shown"),
    [
        ("calls_per_item", (1, 1, 1), ["1", "1", "1"]),
        ("calls_per_item", (1.4, 0.6, 3.2), ["1", "1", "3"]),
        ("prevalence", (1, 1, 1), ["1.000", "1.000", "1.000"]),
        ("prevalence", (0.5, 0, 1), ["0.500", "0.000", "1.000"]),
        ("score", (3, 1, 5), ["3", "1", "5"]),
        ("score", (3, 0, 5), ["3.000", "0.000", "5.000"]),
    ],
)
def test_numbers_of_a_row(quantity, row, shown):
    record = Record(quantity, {}, STACKED, Row(*row), "wilson")
    assert _cells(">", "name", record, None, {})[2:] == shown
