"""The answer of the module: how often the judge must be asked."""

from __future__ import annotations

import math

from bayesjudge.core.answer import Answer, as_estimates, percent_of
from bayesjudge.core.errors import InputError, checking
from bayesjudge.core.estimate import Estimate, Interval
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import how_many
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.planning import required_calls, third_of_a_bin


def answer(
    *results: Estimate | Fit,
    half_width: float | None = None,
    cost_per_call: float | None = None,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
) -> Answer:
    """Say how many calls an item needs until its mean score is known well enough.

    Quoted is `required_calls`, from the components of variance of the scores that the results were
    computed from.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Scores`, for example all of `closed_forms`.
    half_width : float, optional
        How well an item's mean is to be known; by default a third of a step of the scale, which
        keeps neighbouring values apart.
    cost_per_call : float, optional
        In any currency.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of the fits.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers of calls.

    Raises
    ------
    InputError
        If nothing was given, or no result says which scores it is of.

    Examples
    --------
    >>> from bayesjudge.repeats import closed_forms, simulate
    >>> scores = Scores.from_frame(simulate(random_seed=1), scale=range(1, 6))
    >>> print(answer(*closed_forms(scores), half_width=0.5).text)  # doctest: +ELLIPSIS
    An item needs 20 calls (18 to 22, 95 % interval) until its mean score is known to ± 0.5 ...
    """
    made = as_estimates(results, ci_prob, interval)
    scores = next((one.data for one in made if isinstance(one.data, Scores)), None)
    with checking("repeats.answer") as require:
        require(scores is not None, "no result says which scores it is of; give closed_forms")
    assert scores is not None
    wanted = half_width
    if wanted is None:
        wanted = third_of_a_bin(scores.scale[-1] - scores.scale[0], len(scores.scale))
    each = scores.repeats.sum() / (len(scores.items) * len(scores.judges))
    basis = (
        f"{how_many(len(scores.items), 'item')}, "
        f"{how_many(int(scores.repeats.sum()), 'answer')} of "
        f"{how_many(len(scores.judges), 'judge')}, about {each:.0f} each."
    )
    unparsed = int(scores.unparsed.sum())
    basis += f" {how_many(unparsed, 'answer')} could not be read." if unparsed else ""
    shown = f"{wanted:.2g}" if half_width is None else f"{wanted:g}"
    try:
        found = required_calls(scores, wanted, ci_prob=ci_prob)
    except InputError as error:
        text = (
            "These scores cannot tell how many calls an item needs: "
            f"{'; '.join(error.problems)}. Two or more scores of each item would tell."
        )
        return Answer(text, basis, "", quoted=made[0], known=False)
    return Answer(
        _told(found, shown, each, len(scores.items), cost_per_call),
        basis=basis,
        why=f"Quoted: {found.method}: scatter within an item, at the normal quantile.",
        quoted=found,
        notes=_judges(found, wanted, shown, len(scores.judges)),
    )


def _told(
    found: Estimate, wanted: str, each: float, items: int, cost_per_call: float | None
) -> str:
    n, low, high = found["calls_per_item"]
    level = percent_of(found.ci_prob)
    price = ""
    if cost_per_call:
        price = f", at a cost of {n * items * cost_per_call:.4g} for {how_many(items, 'item')}"
    now = found["half_width_now"].value
    once = found["half_width_of_one"].value
    return (
        f"An item needs {how_many(int(n), 'call')} ({low:.0f} to {high:.0f}, {level} interval) "
        f"until its mean score is known to ± {wanted} (half of a {level} interval, on average over "
        f"items){price}; one call tells it to ± {once:.2g}, the {each:.0f} that were made to "
        f"± {now:.2g}."
    )


def _judges(found: Estimate, wanted: float, shown: str, judges: int) -> tuple[str, ...]:
    """What more calls cannot tell: how judges differ."""
    notes = []
    if any(one.name == "copied-repeats" for one in found.cautions):
        notes += ["These need a judge that answers anew: here, further calls return copies."]
    if "judges_needed" not in found:
        notes += ["What another judge would say is not in it: that takes scores of several judges."]
        return tuple(notes)
    left, others = found["half_width_left"], found["judges_needed"].value
    sure = left.value if math.isnan(left.low + left.high) else None
    reach = "may or may not"
    if (left.high if sure is None else sure) <= wanted:
        reach = "will"
    elif (left.low if sure is None else sure) > wanted:
        reach = "cannot"
    ends = f" ({left.low:.2g} to {left.high:.2g})" if sure is None else ""
    notes += [
        f"Of the mean over all judges that could be asked, these {judges} leave ± {left.value:.2g}"
        f"{ends} open, however often they are asked: more calls of them {reach} reach ± {shown}; "
        f"{others:.0f} judges asked once each would."
    ]
    return tuple(notes)
