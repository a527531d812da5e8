"""What speaks against an assumption is registered by table; a table without findings has none."""

from dataclasses import dataclass

import pytest

import bayesjudge as bj
from bayesjudge.core.diagnosis import cautions_of, contradicted, findings
from bayesjudge.core.estimate import Caution
from bayesjudge.core.label_design import RANDOM_LABELS
from bayesjudge.prevalence.diagnosis import diagnose


@dataclass(frozen=True)
class Forecasts:
    """A data class of a user's own."""

    rain: int
    design = bj.prevalence.DESIGNS["random"]


def test_a_table_of_a_users_own_raises_nothing_until_it_registers_something():
    random = RANDOM_LABELS
    assert cautions_of(Forecasts(3)) == ()
    assert diagnose(Forecasts(3), (random,)) == ((random,), ())
    shift = Caution.of("label-shift", "scores", labelled=0.9, others=0.1, p_value=0.0)

    @dataclass(frozen=True)
    class Checked(Forecasts):
        """With a check."""

    findings.register(Checked, lambda data, target: [shift] if data.rain else [])
    assert cautions_of(Checked(0)) == ()
    assert cautions_of(Checked(3)) == (shift,)
    (marked,) = contradicted((random,), cautions_of(Checked(3)))
    assert marked.contradicted_by == ("label-shift",)


@pytest.mark.parametrize(
    "data",
    [
        *(bj.prevalence.Counts, bj.prevalence.scores.Scores, bj.prevalence.items.Items),
        *(bj.prevalence.classes.ClassCounts, bj.panel.Votes, bj.ratings.Ratings),
        *(bj.repeats.Scores, bj.bias.Shifts),
    ],
)
def test_each_table_that_has_checks_has_its_own(data):
    assert findings.dispatch(data) is not findings.dispatch(object)
