"""Names that are periods of time are put in its order."""

import pytest

from bayesjudge.core.periods import in_time


@pytest.mark.parametrize("names", [["w5", "w06", "w10"], ["2025-12", "2026-09", "2026-10"],
    ["2026-W4", "2026-W36", "2026-W37"], ["2026Q1", "2026Q3", "2027Q1"], ["2024", "2025", "2026"],
    ["2026-09-01", "2026-09-08", "2026-10-01"], ["Month 2", "Month 9", "Month 11"],
    ["W1", "w2", "W10"]])  # fmt: skip
def test_periods_are_put_in_order(names):
    assert in_time(names[::-1]) == names
    assert in_time([names[1], names[2], names[0]]) == names


@pytest.mark.parametrize("names", [["gpt-3", "gpt-4", "gpt-5"], ["a", "b", "c"], ["w1", "w2"],
    ["w1", "d2", "w3"], ["w1", "w2", "all"], ["2024", "2025-01", "2026"],
    ["2026-09", "2026-09-08", "2026-10"]])  # fmt: skip
def test_other_names_have_no_order_in_time(names):
    assert in_time(names) == []
