"""The answer of the module: how often the judge must be asked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import ndtri

from bayesjudge.core.answer import (
    Answer,
    as_estimates,
    data_of,
    few_of,
    listed,
    percent_of,
    percents,
    rows_of,
)
from bayesjudge.core.errors import InputError, expect
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import how_many
from bayesjudge.repeats.checks import usable
from bayesjudge.repeats.data import Scores
from bayesjudge.repeats.planning import required_calls, third_of_a_bin
from bayesjudge.repeats.self_contradiction import CALLS, MOST_CALLS, self_contradiction

#: How often a majority may flip, if nobody says.
FLIPS_AT_MOST = 0.05
#: A number of calls is far beyond those made if it is so many times as large.
FAR = 3


def answer(
    *results: Estimate | Fit,
    half_width: float | None = None,
    cost_per_call: float | None = None,
    flips_at_most: float = FLIPS_AT_MOST,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
) -> Answer:
    """Say how many calls an item needs until its mean score is known well enough.

    Quoted is `required_calls`, from the components of variance of the scores that the results were
    computed from. Of a scale of two values, pass and fail, quoted is `self_contradiction`: how
    often two calls differ, and how many calls it takes until their majority seldom flips.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Scores`, for example all of `closed_forms`.
    half_width : float, optional
        How well an item's mean is to be known; by default a third of a step of the scale, which
        keeps neighbouring values apart.
    cost_per_call : float, optional
        In any currency.
    flips_at_most : float, default 0.05
        Of a scale of two values: how often a majority may flip if its calls are made again.
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
    >>> print(answer(*closed_forms(scores), half_width=0.5).text)
    An item needs 20 calls (18 to 22, 95 % interval) until its mean score is known to ± 0.5.
    """
    estimates = as_estimates(results, ci_prob, interval)
    agreement = next((estimate for estimate in estimates if "same_twice" in estimate), None)
    if agreement is not None:
        return _same_twice(agreement, ci_prob)
    scores = data_of(estimates, Scores)
    problem = "no result carries its scores; pass those of closed_forms"
    expect("repeats.answer", scores is not None, problem)
    assert scores is not None
    if len(scores.scale) == 2:
        return _of_verdicts(scores, estimates[0], half_width, cost_per_call, flips_at_most, ci_prob)
    wanted = half_width
    if wanted is None:
        wanted = third_of_a_bin(scores.scale[-1] - scores.scale[0], len(scores.scale))
    each, basis = _basis(scores)
    shown = f"{wanted:.2g}" if half_width is None else f"{wanted:g}"
    try:
        needed = required_calls(scores, wanted, ci_prob=ci_prob)
    except InputError as error:
        text = (
            "These scores cannot tell how many calls an item needs: "
            f"{error.message}. Two or more scores of each item would tell."
        )
        return Answer(text, basis, "", quoted=estimates[0], known=False)
    text, more = _sentences(needed, shown, each, len(scores.items), cost_per_call)
    return Answer(
        text,
        basis=basis,
        why=f"Quoted: {needed.method}: how far calls about one item scatter, taken as normal.",
        quoted=needed,
        notes=(
            more,
            *_of_all_items(needed, wanted, scores),
            *_judges(needed, wanted, shown, len(scores.judges)),
            *_other_spread(needed, estimates),
        ),
    )


def _same_twice(agreement: Estimate, ci_prob: float) -> Answer:
    """How often two verdicts on one item agree, and which items' verdicts are least settled."""
    rows = rows_of([agreement], "same_twice")
    sentences = [
        f"{'The judge' if not where else where[0]} gives an item the same verdict twice in "
        f"{percents(row, ci_prob)} of cases"
        for where, row in rows.items()
    ]
    shares = rows_of([agreement], "modal_share")
    loose = sorted((row.value, ", ".join(map(str, where))) for where, row in shares.items())[:5]
    unsettled = [f"{name} ({percent_of(share)})" for share, name in loose if share < 1]
    return Answer(
        "; ".join(sentences[:5]) + ".",
        basis=f"{how_many(len(shares), 'item')} with repeated verdicts.",
        why=f"Quoted: {agreement.method}, without bias, with a t interval over items.",
        quoted=agreement,
        notes=(f"Usual verdict given least often: {', '.join(unsettled)}.",) if unsettled else (),
    )


def _basis(scores: Scores) -> tuple[float, str]:
    """Answers of a cell, and what an answer rests on."""
    each = scores.repeats.sum() / (len(scores.items) * len(scores.judges))
    about = "" if scores.repeats.min() == scores.repeats.max() else "about "
    basis = (
        f"{how_many(len(scores.items), 'item')}, "
        f"{how_many(int(scores.repeats.sum()), 'answer')} of "
        f"{how_many(len(scores.judges), 'judge')}, {about}{each:.0f} each."
    )
    unparsed = int(scores.unparsed.sum())
    basis += f" {how_many(unparsed, 'answer')} could not be read." if unparsed else ""
    return float(each), basis


def _sentences(
    needed: Estimate, wanted: str, each: float, items: int, cost_per_call: float | None
) -> tuple[str, str]:
    n, low, high = needed["calls_per_item"]
    level = percent_of(needed.ci_prob)
    price = ""
    if cost_per_call:
        price = f", at a cost of {n * items * cost_per_call:.4g} for {how_many(items, 'item')}"
    now = needed["half_width_now"].value
    once = needed["half_width_of_one"].value
    z = float(ndtri((1 + needed.ci_prob) / 2))
    return (
        f"An item needs {how_many(int(n), 'call')} ({low:.0f} to {high:.0f}, {level} interval) "
        f"until its mean score is known to ± {wanted}{price}.",
        f"± is half of a {level} interval, on average over items. One call has a standard "
        f"deviation of {once / z:.2g} and gives the mean to ± {once:.2g}, the {each:.0f} calls "
        f"made give it to ± {now:.2g}.",
    )


def _of_all_items(estimate: Estimate, wanted: float, scores: Scores) -> tuple[str, ...]:
    """What the mean over all items takes against the noise of calls, of one judge."""
    items = len(scores.items)
    if len(scores.judges) > 1 or items < 2:
        return ()
    once = estimate["half_width_of_one"].value / math.sqrt(items)
    calls = max(1, math.ceil((once / wanted) ** 2))
    if calls >= estimate["calls_per_item"].value:
        return ()
    needed = "one call per item gives" if calls == 1 else f"{calls:,} calls per item give"
    return (
        f"The mean of all {items:,} items needs fewer: {needed} it to "
        f"± {once / math.sqrt(calls):.2g} (the noise of calls alone).",
    )


def _other_spread(needed: Estimate, estimates: Sequence[Estimate]) -> tuple[str, ...]:
    """The model's standard deviation of one call, if the quoted interval does not hold it."""
    z = float(ndtri((1 + needed.ci_prob) / 2))
    _, low, high = (end / z for end in needed["half_width_of_one"])
    modelled = [
        estimate["repeat_sd"]
        for estimate in estimates
        if estimate.method.computed == "sampled" and "repeat_sd" in estimate
    ]
    return tuple(
        f"The sampled model has a standard deviation of one call of {row.value:.2g} ({row.low:.2g} "
        f"to {row.high:.2g}), outside of {low:.2g} to {high:.2g} as counted: it assumes that noise "
        "is alike at all levels of the scale. Use the counted one."
        for row in modelled
        if not low <= row.value <= high
    )


def _judges(needed: Estimate, wanted: float, shown: str, judges: int) -> tuple[str, ...]:
    """What more calls cannot tell: how judges differ."""
    notes = []
    if any(caution.id == "copied-repeats" for caution in needed.cautions):
        notes += ["These need a judge that answers anew: here, further calls return copies."]
    if "judges_needed" not in needed:
        notes += ["This says nothing of other judges: that takes scores of several."]
        return tuple(notes)
    left, others = needed["half_width_left"], needed["judges_needed"].value
    sure = left.value if math.isnan(left.low + left.high) else None
    reach = "may or may not"
    if (left.high if sure is None else sure) <= wanted:
        reach = "will"
    elif (left.low if sure is None else sure) > wanted:
        reach = "cannot"
    ends = f" ({left.low:.2g} to {left.high:.2g})" if sure is None else ""
    notes += [
        f"If the mean is to hold for all judges that could be asked, these {judges} give it to "
        f"± {left.value:.2g}{ends} at best: more calls {reach} reach ± {shown}; {others:.0f} "
        "judges asked once each would."
    ]
    return tuple(notes)


# Verdicts ----------------------------------------------------------------------------------------


def _of_verdicts(
    scores: Scores,
    instead: Estimate,
    half_width: float | None,
    cost_per_call: float | None,
    flips_at_most: float,
    ci_prob: float,
) -> Answer:
    """Self-contradiction, and what a majority of calls would do."""
    _, basis = _basis(scores)
    each = _basis(read := usable(scores))[0]  # copies tell of no majority
    size = min(max(3, (round(each) - 1) // 2 * 2 + 1), MOST_CALLS)
    sizes = sorted({*CALLS[1:], size}) if len(scores.judges) == 1 else [size]
    try:
        contradiction = self_contradiction(
            scores, flips_at_most=flips_at_most, calls=sizes, ci_prob=ci_prob
        )
    except InputError as error:
        text = (
            "These verdicts do not show how often the judge contradicts itself: "
            f"{error.message}. Two or more calls about each item would."
        )
        return Answer(text, basis, "", quoted=instead, known=False)
    if len(scores.judges) == 1:
        price = (cost_per_call or 0.0) * len(scores.items)
        text, *more = _contradicts("The judge", contradiction, (), size, each, flips_at_most, price)
    else:
        rows = {
            j: contradiction["self_contradiction", j]
            for j in scores.judges
            if (j,) in _judged(contradiction)
        }
        names, between = few_of(rows)
        short, first = short_names(rows), names[0]
        shares = [percents(rows[name], None if i else ci_prob) for i, name in enumerate(names)]
        parts = [f"{short[name]} {share}" for name, share in zip(names, shares, strict=True)]
        text = f"Two calls about one item differ this often: {listed(parts)}."
        _, *more = _contradicts(first, contradiction, (first,), size, each, flips_at_most, 0.0)
        more = [*between, *more]
    notes = (*more, *_mixed(scores, contradiction))
    if flips_at_most == FLIPS_AT_MOST:
        notes += ("Default: at most 5 % may flip (--flips-at-most).",)
    if half_width is not None:
        notes += _share_of_passes(scores, half_width, ci_prob)
    if any(caution.id == "copied-repeats" for caution in contradiction.cautions):
        notes += ("These need a judge that answers anew: here, further calls return copies.",)
    half = int(read.repeats[read.repeats > 1].min()) // 2
    why = (
        "Quoted: pairs of calls about one item, and for majorities of more than "
        f"{how_many(half, 'call')} (half of those made) a Beta distribution of the items' shares "
        "of passes."
    )
    kept = [name for name in contradiction.quantities if name != "majority_atypical"]
    return Answer(text, basis, why=why, quoted=contradiction.only(*kept), notes=notes)


def _judged(contradiction: Estimate) -> set[tuple[object, ...]]:
    return set(contradiction.quantities["self_contradiction"].labels)


def _contradicts(
    who: str,
    contradiction: Estimate,
    at: tuple[str, ...],
    size: int,
    n_calls: float,
    flips_at_most: float,
    price: float,
) -> tuple[str, ...]:
    """``The judge contradicts itself in 34 % of cases …``: of one judge."""
    limit = f"{flips_at_most * 100:g} %"
    flips = contradiction["majority_flips", size, *at]
    share = percents(
        contradiction["self_contradiction", *at], contradiction.ci_prob, " of the time"
    )
    text = f"{who} contradicts itself {share}: two calls about one item give different verdicts."
    if math.isnan(flips.value):
        return text, "What a majority of calls does takes several items, or more calls of it."
    other = contradiction["majority_atypical", size, *at]
    flip = (
        f"A majority of {size} calls{f' of {who}' * bool(at)} flips {percents(flips)} of the time "
        f"when asked again, and differs from the long-run majority on {percents(other)} of items."
    )
    needed: Row = contradiction["majority_calls", *at]
    if math.isnan(needed.value):
        far = "" if at else f"{percents(contradiction['majority_flips', MOST_CALLS])}, "
        return text, (
            f"{flip} Even a majority of {MOST_CALLS} calls flips {far}more than {limit}: write "
            "clearer instructions for the judge, or let people decide items that are not unanimous."
        )
    cost = f", at a cost of {needed.value * price:.4g} for all items" if price else ""
    if needed.value <= n_calls:
        calls = "One call" if needed.value == 1 else f"A majority of {needed.value:.0f} calls"
        return text, f"{flip} {calls}{_ends(needed)} flips at most {limit} of the time{cost}."
    far = "far " if needed.value > FAR * n_calls else ""
    return text, (
        f"{flip} To flip at most {limit} of the time would take a majority of "
        f"{_about(needed.value)} calls{_ends(needed)}{cost}: an extrapolation {far}beyond the "
        f"{n_calls:.0f} made."
    )


def _about(calls: float) -> str:
    """A number that was extrapolated, with no more digits than it is worth."""
    step = next(step for least, step in ((50, 10), (20, 5), (0, 1)) if calls >= least)
    return f"{calls:.0f}" if step == 1 else f"about {round(calls / step) * step}"


def _ends(calls: Row) -> str:
    """``(57 to more than 100)``: the interval of a number of calls."""
    low, high = (f"{x:.0f}" if x == x else f"more than {MOST_CALLS - 1}" for x in calls[1:])
    return "" if math.isnan(calls.low) else f" ({low} to {high})"


def _mixed(scores: Scores, contradiction: Estimate) -> tuple[str, ...]:
    """How many items got both verdicts."""
    asked = scores.repeats.sum(axis=1) > 1
    both = ((scores.counts > 0).all(axis=-1)).any(axis=1)
    twice = "" if asked.all() else " asked about twice or more"
    return (f"{int(both.sum())} of {how_many(int(asked.sum()), 'item')}{twice} got both verdicts.",)


def _share_of_passes(scores: Scores, half_width: float, ci_prob: float) -> tuple[str, ...]:
    """Calls until the share of passes is known, which is not a stable majority."""
    try:
        row = required_calls(scores, half_width, ci_prob=ci_prob)["calls_per_item"]
    except InputError:
        return ()
    return (
        f"The share of an item's calls that pass is known to ± {half_width:g} after "
        f"{row.value:.0f} calls ({row.low:.0f} to {row.high:.0f}): not a majority that stays.",
    )
