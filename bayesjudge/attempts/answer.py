"""The answer of the module: how many of 100 tasks an agent does every time; what the judge says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bayesjudge.attempts._likelihood import OF_PEOPLE, SAID
from bayesjudge.attempts.closed_form import CHANCES, by_judge, from_truths
from bayesjudge.attempts.data import Attempts
from bayesjudge.attempts.exact import Posterior
from bayesjudge.core import methods
from bayesjudge.core.answer import (
    MOST_NAMED,
    Answer,
    as_estimates,
    chance,
    claim,
    data_of,
    entries,
    few_of,
    how_chosen,
    listed,
    percent_of,
    percents,
    preferred,
    says_little,
)
from bayesjudge.core.errors import expect
from bayesjudge.core.estimate import Estimate, Interval, Row
from bayesjudge.core.fit import Fit
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import few, how_many
from bayesjudge.core.worth import worth_of_widths, worth_words
from bayesjudge.verdicts.reading import UNLABELLED


def answer(
    *results: Estimate | Fit | Posterior,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
) -> Answer:
    """Say how many of 100 tasks each agent does every time in k tries.

    Parameters
    ----------
    *results : Estimate, Fit or Posterior
        Of one table of attempts. From truths if every attempt has one; else the model is quoted, or
        the closed form if there is no model.
    ci_prob : float, default 0.95
        Probability of the intervals.
    interval : {"eti", "hdi"}, optional
        Kind of interval of a fit or posterior.

    Returns
    -------
    Answer
        At the largest k of the quoted method that has a number.

    Raises
    ------
    InputError
        If there is no result, one is of another level, or none has ``pass_hat_k``.
    """
    plain: list[Estimate | Fit] = []
    for result in results:
        if not isinstance(result, Posterior):
            plain.append(result)
            continue
        plain.append(result.estimate(ci_prob=ci_prob, interval=interval or "eti"))
        if len(result.attempts.systems) > 1 and result.holds:
            plain.append(result.differences(ci_prob=ci_prob))
    estimates = as_estimates(plain, ci_prob, interval)
    data = data_of(estimates, Attempts)
    expect("answer", data is not None, "no result was computed from Attempts")
    assert data is not None

    def rank(estimate: Estimate) -> float:
        return 0.0 if data.known and estimate.method == methods.TRUE_TRIES else estimate.method.rank

    quoted = preferred(estimates, "pass_hat_k", rank)
    rows = entries(quoted.only("pass_hat_k"))
    k = max((at[-1] for at, row in rows.items() if row.value == row.value), default=max(data.k))
    of_agent = {name: rows["pass_hat_k", *data._named(name), k] for name in data.systems}
    beside = by_judge(data, ci_prob=ci_prob) if data.judged and not data.known else None
    unknown = quoted.method == methods.JUDGE_TRIES or all(map(says_little, of_agent.values()))
    text, more = (_unknown(k, data), ()) if unknown else _words(data, of_agent, k, beside, ci_prob)
    if not unknown and k > 1 and 1 in data.k:
        once = {name: rows["pass_hat_k", *data._named(name), 1] for name in data.systems}
        more = (_words(data, once, 1, None, ci_prob)[0], *more)
    # what is answered comes first: a picture shows it, and `value` is it
    asked = {name: quoted.quantities[name] for name in reversed(CHANCES) if name in quoted}
    return Answer(
        text,
        basis=_basis(data),
        why=f"Quoted: {quoted.method}{_reason(quoted, data)}.",
        quoted=replace(quoted, quantities=asked),
        judge=beside,
        notes=(
            *more,
            *(() if unknown else _better(estimates, k)),
            *(() if unknown else _people(quoted, data)),
            *_notes(quoted, data),
            *(() if unknown else _worth(quoted, data)),
        ),
        known=not unknown,
    )


def _unknown(k: int, data: Attempts) -> str:
    more = "labels on two attempts at each of some tasks"
    if data.known or k == 1:
        more = "more tasks" if data.known else "labels on more tasks"
        more += "" if k == 1 else f" with {k} attempts each"
    text = f"These data cannot tell what share of tasks is done{every_time(k)}."
    return f"{text} {more.capitalize()} would tell."


def every_time(k: int) -> str:
    """`` every time in 4 tries``."""
    return " in one try" if k == 1 else f" every time in {k} tries"


def _words(
    data: Attempts, rows: dict[str, Row], k: int, judge: Estimate | None, ci_prob: float
) -> tuple[str, tuple[str, ...]]:
    """``Of 100 tasks the agent does 34 every time in 4 tries (26 to 42); the judge says 23.``"""
    names, between = few_of(rows)
    short = short_names(rows)
    parts: list[str] = []
    for name in names:
        row, first = rows[name], not parts
        level = f", {percent_of(ci_prob)} interval" if first else ""
        who = short[name] if len(data.systems) > 1 else "the agent"
        does = f"{who} does {of_100(row.value)}{every_time(k)}" if first else ""
        does = does or f"{who} {of_100(row.value)}"
        parts.append(f"{does} ({of_100(row.low)} to {of_100(row.high)}{level})")
    text = f"Of 100 tasks {listed(parts)}"
    if judge is None:
        return f"{text}.", between
    judged = entries(judge)
    says = [judged["pass_hat_k", *data._named(name), k].value for name in names]
    if any(value != value for value in says):
        return f"{text}.", between
    if len(names) == 1:
        return f"{text}; the judge says {of_100(says[0])}.", ()
    return f"{text}.", (f"The judge says {listed(list(map(of_100, says)))}.", *between)


def of_100(share: float) -> str:
    """``34``: of 100 tasks; one digit more below 1 and above 99."""
    digits = 1 if 0 < share < 0.01 or 0.99 < share < 1 else 0
    return f"{100 * share:.{digits}f}"


def _better(estimates: Sequence[Estimate], k: int) -> tuple[str, ...]:
    """Which of two agents is better, and how surely."""
    differences = next(
        (estimate for estimate in estimates if "probability_better" in estimate), None
    )
    if differences is None or len(differences.data.systems) != 2:
        return ()
    first, second = differences.data.systems
    sure = differences["probability_better", first, second, k].value
    gap = differences["pass_hat_k_difference", first, second, k]
    if gap.value < 0:
        first, second, sure = second, first, 1 - sure
    verb = claim(sure, excluded=not gap.low <= 0 <= gap.high)
    return (f"{first} {verb} better than {second} (probability {chance(sure)}).",)


def _basis(data: Attempts) -> str:
    by = f" by {few(data.people)}, who err too," if data.people else ""
    labelled = f", {data.labelled_n:,} of them labelled{by} ({how_chosen(data.design)})"
    several = f" of {len(data.systems)} agents" if len(data.systems) > 1 else ""
    attempts = how_many(int(data.cells.sum()), "attempt")
    outcomes = labelled if data.judged else ", each with its outcome"
    tasks = how_many(len(data.tasks), "task")
    return f"{tasks}, {attempts}{several}{outcomes}{data.without_verdict}."


def _people(quoted: Estimate, data: Attempts) -> tuple[str, ...]:
    """What people say, which is another question, and how each errs."""
    if SAID not in quoted:
        return ()
    by_name = entries(quoted)
    said = [
        f"{percents(by_name[SAID, *data._named(name)])} of {who}attempts"
        for name in data.systems[:MOST_NAMED]
        for who in [f"{name}'s " if len(data.systems) > 1 else ""]
    ]
    rates = []
    for name in data.people[:MOST_NAMED]:
        key = (name,) if len(data.people) > 1 else ()
        hit, right = (percents(by_name[rate, *key]) for rate in OF_PEOPLE)
        rates.append(f"{name} {hit} and {right}")
    return (
        f"What these people say: one drawn at random would pass {listed(said)}.",
        f"Good attempts passed and bad ones failed: {'; '.join(rates)}.",
    )


def _reason(quoted: Estimate, data: Attempts) -> str:
    if quoted.method == methods.JUDGE_TRIES:
        return ", which no label corrects"
    if quoted.method == methods.TRUE_TRIES:
        return ", since every attempt has a truth" if data.known else ", from labelled attempts"
    if quoted.method == methods.CORRECTED_TRIES:
        return ", right if the judge errs anew on every attempt"
    judged = ", which corrects the judge and lets its errors repeat on a task"
    return judged if data.judged else ", with success that differs by task"


def _worth(quoted: Estimate, data: Attempts) -> list[str]:
    """How many more labels the judge is worth for pass@1, by the widths without and with it."""
    if not data.judged or data.known or not data.design.is_sample or 1 not in data.k:
        return []
    alone, worth = from_truths(data, ci_prob=quoted.ci_prob), {}
    for s, name in enumerate(data.systems):
        by_labels, with_judge = (
            estimate["pass_at_k", *data._named(name), 1] for estimate in (alone, quoted)
        )
        widths = by_labels.high - by_labels.low, with_judge.high - with_judge.low
        labels = int(data.cells[:, s, :UNLABELLED].sum())
        if all(width > 0 for width in widths):
            about = {"items": float(data.tries[:, s].sum()), "ci_prob": quoted.ci_prob}
            worth["".join(data._named(name))] = worth_of_widths(*widths, labels, **about)
    words = worth_words(worth)
    return [words] if words else []


def _notes(quoted: Estimate, data: Attempts) -> list[str]:
    """Tasks that are never done: as seen, and as expected of tasks like these."""
    seen: list[str] = []
    expected: list[str] = []
    for s, name in enumerate(data.systems):
        several = data.tries[:, s] > 1
        if not several.any() or len(data.systems) > MOST_NAMED:
            continue
        never = int((data.cells[several, s, :, 1].sum(axis=1) == 0).sum())
        who = f" of {name}" if len(data.systems) > 1 else ""
        seen.append(f"{never} of {int(several.sum())}{'' if seen else ' tasks'}{who}")
        if "seldom_done" in quoted:
            row = quoted["seldom_done", *data._named(name)]
            expected.append(f"{of_100(row.low)} to {of_100(row.high)}")
    if not seen:
        return []
    never_done = "The judge passed no attempt" if data.judged else "No attempt succeeded"
    text = f"{never_done} at {listed(seen)}."
    if expected:
        text += f" Of 100 tasks, {listed(expected)} are done less than once in 20 tries."
    return [text]
