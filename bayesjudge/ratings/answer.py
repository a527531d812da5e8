"""The answer of the module: which judge agrees with people, and how surely."""

from __future__ import annotations

from collections.abc import Mapping

from bayesjudge.core.answer import (
    SURE,
    Answer,
    as_estimates,
    chance,
    claim,
    data_of,
    first_percent,
    listed,
    owned,
    percents,
    rows_of,
)
from bayesjudge.core.errors import InputError
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import how_many
from bayesjudge.ratings.answer_rates import answer_rates
from bayesjudge.ratings.data import PEOPLE, Ratings

#: Rates that may be quoted, the best first, and a sentence's way to say them.
RATES = {
    "accepted": ("People accept {} answer in", "each other's in"),
    "matched": ("A person chooses what {} chose in", "what another person chose in"),
}


def answer(
    *results: Estimate | Fit, ci_prob: float = 0.95, interval: Interval | None = None
) -> Answer:
    """Say which judge agrees best with people, and how surely.

    Quoted is how often one answer of a judge is one that a person accepts, or else chooses:
    `answer_rates`, which a single choice an item identifies. What a judge would choose most often
    (``hit_rate (h/h)``) rests on the prior where it was asked once: sampled, it left open which
    judge is best where answers show it (``benchmarks/ratings/answer_rates.py``).

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Ratings`: `answer_rates`; and for the notes `best_estimate` of `agreement` or
        `performance`, and `alt_test_posterior`.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of the fits.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given.
    """
    estimates = as_estimates(results, ci_prob, interval)
    ratings = data_of(estimates, Ratings)
    estimates = [*estimates, *_rates_of(estimates, ratings, ci_prob)]
    rate = next((name for name in RATES if any(name in estimate for estimate in estimates)), None)
    if rate is None:
        text = "These ratings cannot tell which judge agrees with people: no judge rated items "
        text += "that people rated. Name the judges, and let them rate the same items."
        return Answer(text, _basis(ratings), "", quoted=estimates[0], known=False)
    rates = next(estimate for estimate in estimates if rate in estimate)
    rows = {str(judge): row for (judge,), row in rows_of(estimates, rate).items()}
    chances = rows_of([rates], "best").items()
    best = {str(judge): row.value for (of, judge), row in chances if of == rate}
    people = rows.pop(PEOPLE, None)
    text, notes = _sentences(rate, rows, people, best, ci_prob)
    return Answer(
        text,
        basis=_basis(ratings),
        why=f"Quoted: {rates.method}, for which one choice per item is enough; intervals by a "
        "bootstrap over items.",
        quoted=rates.only(rate),
        notes=(*notes, *_others(estimates, rows), *_instead_of_people(estimates)),
    )


def _rates_of(estimates: list[Estimate], ratings: Ratings | None, ci_prob: float) -> list[Estimate]:
    """Answer rates, if they were not among the results and can be computed."""
    if ratings is None or any(rate in estimate for estimate in estimates for rate in RATES):
        return []
    try:
        return [answer_rates(ratings, ci_prob=ci_prob)]
    except InputError:
        return []


def _sentences(
    rate: str, rows: dict[str, Row], people: Row | None, best: dict[str, float], ci_prob: float
) -> tuple[str, tuple[str, ...]]:
    """How often people agree with the best judge, and with each other; how surely it is best."""
    first, each_other = RATES[rate]
    name = max(rows, key=lambda name: rows[name].value)
    short = short_names(rows)
    whose = owned(short[name]) if rate == "accepted" else short[name]
    text = f"{first.format(whose)} {percents(rows[name], ci_prob, ' of cases')}"
    if people is not None:
        text += f", {each_other} {first_percent(people)} %"
    if len(rows) < 2:
        return f"{text}.", ()
    top = max(best, key=lambda name: best[name])
    surely = f"{top} {claim(best[top])} the best of {len(rows)} judges"
    return f"{text}.", (f"{surely} (probability {chance(best[top])}).",)


def _named_best(estimates: list[Estimate]) -> dict[str, dict[str, float]]:
    """How often each judge is best, by definition of agreement."""
    named: dict[str, dict[str, float]] = {}
    for estimate in estimates:
        if "best" in estimate and estimate.quantities["best"].dims == ("definition", "judge"):
            for (of, judge), row in rows_of([estimate], "best").items():
                named.setdefault(str(of), {})[str(judge)] = row.value
    return named


def _others(estimates: list[Estimate], rows: dict[str, Row]) -> tuple[str, ...]:
    """How many definitions of agreement name another judge, and how many are sure."""
    sampled = any(estimate.method.computed == "sampled" for estimate in estimates)
    named = _named_best(
        [estimate for estimate in estimates if (estimate.method.computed == "sampled") == sampled]
    )
    first = max(rows, key=lambda name: rows[name].value)
    if len(rows) < 2 or len(named) < 2:
        return ()
    tops = [{j for j, x in of.items() if x >= max(of.values()) - 1e-9} for of in named.values()]
    apart = [next(iter(top)) for top in tops if len(top) == 1]
    other = sum(name != first for name in apart)
    tied = len(tops) - len(apart)
    if other:
        text = f"By {other} of {len(named)} definitions of agreement another judge is best"
    else:
        which = " that separate the judges" if tied else ""
        text = f"By all {len(apart)} definitions of agreement{which} {first} is best"
    text += f"; {tied} of {len(named)} do not separate them" if tied else ""
    sure = sum(max(of.values()) >= SURE for of in named.values())
    by = ", by the sampled model of what each would choose again" if sampled else ""
    return (f"{text}; {sure} of {len(named)} with probability {SURE:g} or more{by}.",)


def _instead_of_people(estimates: list[Estimate]) -> tuple[str, ...]:
    """Whether a judge could replace a person, if annotators are known by name."""
    tested = next((estimate for estimate in estimates if "passes" in estimate), None)
    if tested is None:
        return ()
    few = next((c for c in tested.cautions if c.id == "few-annotators"), None)
    if few is not None:
        return (f"Whether a judge could replace a person is not known: {few.text}.",)
    passes = {str(judge): row.value for (judge,), row in rows_of([tested], "passes").items()}
    parts = [f"{judge} {chance(value)}" for judge, value in passes.items()]
    text = "Probability that a judge agrees with people at least as well as half of the annotators "
    return (f"{text}do: {listed(parts)}.{_published_test(estimates, passes)}",)


def _published_test(estimates: list[Estimate], passes: Mapping[str, float]) -> str:
    """Of how many annotators the published test has proof, and why that can be few."""
    tested = (estimate for estimate in estimates if "passes" not in estimate)
    proved = {str(judge): row.value for (judge,), row in rows_of(tested, "winning_rate").items()}
    if not proved:
        return ""
    shares = listed([f"{judge} {100 * share:.0f} %" for judge, share in proved.items()])
    few = any(passes.get(judge, 0) > 0.5 > share for judge, share in proved.items())
    why = " It needs more items than these." * few
    return f" The published test asks for proof against each annotator: {shares} so far.{why}"


def _basis(ratings: Ratings | None) -> str:
    if ratings is None:
        return ""
    counted = {"choice": ratings.chosen, "response set": ratings.endorsed}
    answers = [how_many(int(n.sum()), name) for name, n in counted.items() if n.any()]
    return (
        f"{how_many(len(ratings.items or ratings.chosen[0]), 'item')}, "
        f"{listed(answers)} of people and "
        f"{how_many(len(ratings.judges), 'judge')}."
    )
