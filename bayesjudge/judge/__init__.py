"""Is the judge good enough, and for what?"""

from bayesjudge.core.worth import (
    Worth,
    more_labels,
    worth_of_draws,
    worth_of_pairs,
    worth_of_widths,
)
from bayesjudge.judge.answer import answer
from bayesjudge.judge.card import Card
from bayesjudge.judge.data import Judged, untuned
from bayesjudge.judge.plots import plot_judge, plot_trust
from bayesjudge.judge.quality import quality
from bayesjudge.judge.reading import Finding, disagreements, where_it_errs
from bayesjudge.judge.selection import select
from bayesjudge.judge.trust import trust
from bayesjudge.judge.worth import worth

__all__ = [
    "Card",
    "Finding",
    "Judged",
    "Worth",
    "answer",
    "disagreements",
    "more_labels",
    "plot_judge",
    "plot_trust",
    "quality",
    "select",
    "trust",
    "untuned",
    "where_it_errs",
    "worth",
    "worth_of_draws",
    "worth_of_pairs",
    "worth_of_widths",
]

__dir__ = __all__.copy
