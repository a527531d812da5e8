"""What every test shares: a headless backend, the rooms, and one fit a room and session."""

from pathlib import Path
from typing import NamedTuple

import matplotlib
import numpy as np
import pytest

import bayesjudge as bj

matplotlib.use("Agg", force=True)


class Room(NamedTuple):
    """What the contract has to know of a room."""

    read: object  #: from the table that `simulate` returns to the room's data class
    closed_form: object  #: answers the quantities that `fit` answers
    truth: dict  #: what `simulate` draws from by default, by quantity
    coverage: float = 0.95  #: what the closed form's interval claims


#: A room missing here fails test_contract.
ROOMS = {
    bj.bias: Room(
        read=lambda table: bj.bias.Shifts.from_frame(
            table, scale=(0, 100), design="item", rerun="rerun"
        ),
        closed_form=bj.bias.variance_parts,
        # squares of the mean shift, the items' own shifts and twice the noise add up
        truth={
            "mean_shift[format]": 3.0,
            "mean_shift[order]": 0.0,
            "rms_shift[format]": np.sqrt(3.0**2 + 4.0**2 + 2 * 3.0**2),
            "rms_shift[order]": np.sqrt(2.0**2 + 2 * 3.0**2),
            "repeat_noise": np.sqrt(2) * 3.0,
        },
    ),
    bj.panel: Room(
        read=bj.panel.Votes.from_frame,
        closed_form=bj.panel.dawid_skene_em,
        truth={"prevalence[g1]": 0.9, "sensitivity[b]": 0.9, "specificity[c]": 0.8},
    ),
    bj.prevalence: Room(
        read=lambda table: bj.prevalence.Counts.from_frame(table, calibration="random"),
        closed_form=bj.prevalence.rogan_gladen,
        truth={"prevalence": 0.8, "sensitivity": 0.9, "specificity": 0.7},
    ),
    bj.ratings: Room(
        read=lambda table: bj.ratings.Ratings.from_frame(
            table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
        ),
        closed_form=bj.ratings.endorsement_rates,
        truth={"endorsement[people, yes]": 0.6, "endorsement[gpt, no]": 0.65},
    ),
    bj.repeats: Room(
        read=lambda table: bj.repeats.Scores.from_frame(
            table, scale=range(1, 6), item="item", judge="judge", order="repeat"
        ),
        closed_form=bj.repeats.anova,
        # on the scale of the scores, from the latent standard deviations that `simulate` takes
        truth=bj.repeats.score_components(
            (0.05, 0.2, 0.4, 0.25, 0.1),
            scale=range(1, 6),
            item_scale=1.5,
            judge_scale=0.7,
            item_judge_scale=0.7,
        ),
    ),
}


def simulated(room, seed):
    """Data as a user gets it: a table, read."""
    return ROOMS[room].read(room.simulate(random_seed=seed))


SHARED = Path(__file__).parents[2] / "shared"


def shared(path):
    """A file of the reference data that live beside a developer's checkout, or skip."""
    found = SHARED / path
    if not found.exists():
        pytest.skip(f"needs ../shared/{path}, which a developer's checkout has beside it")
    return found


@pytest.fixture(scope="session")
def fit_of():
    """Return a room's fit to its own simulated data; sampled once a session."""
    made = {}

    def get(room):
        if room not in made:
            made[room] = room.fit(simulated(room, 1), random_seed=1)
        return made[room]

    return get


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")
