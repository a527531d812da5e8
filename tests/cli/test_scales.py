"""``--scale`` is read in one way, and refused with what it may say."""

import pytest
from refusals import refused

from bayesjudge.cli.scales import scale_values
from bayesjudge.core.errors import checking


@pytest.mark.parametrize("text", ["", "high", "3", "5-1", "1:1", "0:0.5", "1,3,2", "1,,2", "0,nan"])
def test_what_is_no_scale_is_refused_with_what_was_written(text):
    with refused(id="scale-unread"), checking("options") as require:
        scale_values(text, require)
