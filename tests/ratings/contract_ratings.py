"""The contract's entry for `bayesjudge.ratings`."""

from contract import Module

import bayesjudge as bj
from bayesjudge.ratings import KnownChoice, RaterErrors, Ratings, ResponseSets, TiedChoice
from bayesjudge.ratings.response_sets import choice_matrix, membership


def read(table):
    return Ratings.from_frame(
        table, positive="yes", judges=["gpt", "claude"], response_set="response_set"
    )


def models():
    data = read(bj.ratings.simulate(items=20, random_seed=1))
    errors = RaterErrors(bj.BetaPrior(2, 18))
    known = choice_matrix(membership(data.options, data.sets), 0.5)
    return [
        (ResponseSets(), data),
        (ResponseSets(choice=TiedChoice(), error=errors), data),
        (ResponseSets(choice=KnownChoice(known)), data),
    ]


CONTRACT = Module(
    module=bj.ratings,
    read=read,
    closed_form=bj.ratings.endorsement_rates,
    truth={("endorsement", "people", "yes"): 0.6, ("endorsement", "gpt", "no"): 0.65},
    models=models,
    of_the_text=True,
    spoken=("rater",),
    quick={"replicates": 40},
    moves={
        ("ResponseSets", "choice"): TiedChoice(2.5),
        ("ResponseSets", "error"): RaterErrors(bj.BetaPrior(3, 9), 0.8),
    },
)
