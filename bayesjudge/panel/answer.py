"""The answer of the module: how good each generator is, and which judge to trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.answer import (
    PROBABLE,
    SURE,
    Answer,
    Quoted,
    as_estimates,
    chance,
    claim,
    data_of,
    difference_words,
    entries,
    few_of,
    follow_selection,
    how_chosen,
    listed,
    percents,
    points,
    quote,
    share_words,
    shares_of_two,
    would_pass,
)
from bayesjudge.core.diagnosis import selection_of
from bayesjudge.core.draws import around
from bayesjudge.core.estimate import Estimate, Interval, Row, Target
from bayesjudge.core.fit import Fit
from bayesjudge.core.methods import Method
from bayesjudge.core.screen import first_of, how_many
from bayesjudge.core.words import words_for
from bayesjudge.panel._together import what_each_adds
from bayesjudge.panel.checks import less_error
from bayesjudge.panel.closed_form import panel_mean
from bayesjudge.panel.data import Votes
from bayesjudge.panel.models.vote_regression import VoteRegression
from bayesjudge.panel.recommend import recommend
from bayesjudge.truth.within_classes import within_classes

#: Cautions of numbers that are not quoted if there are others, and why.
BARRED = {
    "not-converged": "did not converge",
    "labels-contradict": "is contradicted by a generator's own labels",
}
#: Labelled outputs of the rarer kind, good or bad, to a judge, from which on labels tell what votes
#: are worth: with fewer, the mean vote corrected by the labels scores better
#: (``benchmarks/panel/own_labels.py``).
LEARNT = 2
#: What a number without an interval says after it; said once if none has one.
NO_INTERVAL = " (no interval)"
#: Most judges that are listed beside the best.
MOST_JUDGES = 6
#: How labels of a panel were chosen, after "of them labelled".
CHOSEN = words_for("label_designs_of_panels")


def answer(
    *results: Estimate | Fit,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target = "population",
) -> Answer:
    """Say how good each generator is, and which judge to trust.

    A sampled model is quoted if there is one; otherwise the closed form of the model that
    `recommend` names, its Laplace approximation; of one generator with fewer than two labelled
    outputs of the rarer kind to a judge, the difference estimator on its labels (`difference`),
    whose interval score is lower there (``benchmarks/panel/own_labels.py``). What has not
    converged, or is contradicted by a generator's own random labels, is quoted only if there is
    nothing else.

    Parameters
    ----------
    *results : Estimate or Fit
        Of one `Votes`, for example all of `closed_forms` and a fit.
    ci_prob : float, default 0.95
        Probability of the intervals; an estimate must have been made at it.
    interval : {"eti", "hdi"}, optional
        Kind of interval of the fits.
    target : {"population", "items"}
        Which items the fits are asked about; estimates that are about others are not quoted if
        there is another.

    Returns
    -------
    Answer
        ``str(answer)`` is the text; ``answer.quoted`` the numbers.

    Raises
    ------
    InputError
        If nothing was given, or no result has a share of good outputs.
    """
    estimates = as_estimates(results, ci_prob, interval, target)
    votes = data_of(estimates, Votes)
    declared = _as_declared(estimates, results, votes, ci_prob, target)
    seen = selection_of(votes)
    if seen is None or seen.instead is None:
        return declared
    estimate = within_classes(declared.quoted, seen, ci_prob, votes)
    return follow_selection(declared, seen, _as_declared([estimate], (), votes, ci_prob, target))


def _as_declared(
    estimates: list[Estimate],
    results: Sequence[Estimate | Fit],
    votes: Votes | None,
    ci_prob: float,
    target: Target,
) -> Answer:
    """What results say, if labels came as was declared."""
    quantity = "share" if all("prevalence" not in each for each in estimates) else "prevalence"
    fits = {fit.method: fit for fit in reversed(results) if isinstance(fit, Fit)}
    order = _order(votes)

    def rank(estimate: Estimate) -> tuple[bool, bool, bool, int]:
        place = order.index(estimate.method) if estimate.method in order else len(order)
        last = -1 if estimate.method in fits else place + _is_bare(estimate, quantity)
        # what no label corrects is quoted after corrected numbers about other items
        return (
            _is_barred(estimate),
            estimate.method == methods.PANEL_MEAN,
            estimate.target != target,
            last,
        )

    def mean() -> Estimate | None:
        if votes is None or votes.n_classes != 2:
            return None
        return panel_mean(votes, ci_prob=ci_prob)

    chosen = quote(estimates, quantity, methods.PANEL_MEAN, judge_of=mean, rank=rank)
    fit = fits.get(chosen.whole.method)
    unnamed = votes is not None and votes._unnamed
    name = "" if votes is None else votes.pass_name
    more: tuple[str, ...] = ()
    if chosen.silent:
        what, whose = ("outputs", "them") if unnamed else ("generators", "each generator's outputs")
        text = f"These votes cannot tell how good the {what} are. Labels on a random sample of "
        text += f"{whose} would tell."
    else:
        text, more = _sentences(chosen, quantity, ci_prob, name, unnamed)
    return Answer(
        text,
        basis=_basis(votes),
        why=_why(chosen, order[0], [estimate for estimate in estimates if estimate.method in fits]),
        quoted=chosen.shares,
        judge=chosen.judge,
        notes=(
            *more,
            *(() if chosen.silent or fit is None else _best(chosen, fit, name, ci_prob)),
            *_trusted(chosen.whole, estimates, votes, fits),
            # what the judges are worth together, and each beside the others, by the quoted model
            *(() if fit is None or votes is None else what_each_adds(fit, votes, ci_prob)),
        ),
        known=not chosen.unknown,
    )


def _order(votes: Votes | None) -> list[Method]:
    """Closed forms in the order in which they are quoted: first that of the named model."""
    models = [VoteRegression()] if votes is None else [recommend(votes).model, VoteRegression()]
    order = [*(model._method_by("laplace") for model in models), methods.OWN_LABELS]
    return order if votes is None or _tell_votes(votes) else [order[-1], *order[:-1]]


def _tell_votes(votes: Votes) -> bool:
    """Whether labels tell what votes are worth; of several generators, who pool it, always."""
    if len(votes.generators) > 1 or votes.n_classes > 2 or not votes.labelled.any():
        return True
    kinds = [votes.count[votes.truth == kind].sum() for kind in (0, 1)]
    return bool(min(kinds) >= LEARNT * len(votes.judges))


def _is_barred(estimate: Estimate) -> bool:
    return any(c.id in BARRED for c in estimate.cautions)


def _is_bare(estimate: Estimate, quantity: str) -> bool:
    """Whether no number has an interval."""
    shares = estimate.quantities[quantity]
    return bool(np.isnan(shares.high - shares.low).all())


def _sentences(
    chosen: Quoted, quantity: str, ci_prob: float, called: str, unnamed: bool
) -> tuple[str, tuple[str, ...]]:
    """The share of good outputs, of the best generator and of the worst; and what belongs to it."""
    rows, votes_alone = chosen.rows, chosen.judge_rows
    names, between = few_of(rows)
    if quantity == "share":
        parts = [
            f"{name}: {percents(rows[name], None if i else ci_prob)}"
            for i, name in enumerate([*rows][:2])
        ]
        whose = "outputs" if unnamed else "generators' outputs"
        return f"Shares of {whose} by class: {listed(parts)}.", ()
    these = chosen.whole.target == "items"
    if unnamed:
        whose = "these outputs" if these else "outputs like these"
        text = share_words(rows[names[0]], whose, ci_prob, called)
    else:
        shares, _ = shares_of_two(rows, ci_prob, "outputs here" if these else "outputs")
        text = would_pass(shares, called)
    bare = all(np.isnan(row.high - row.low) for row in rows.values())
    if bare:
        text = f"If judges err independently, {text[:1].lower()}{text[1:]}"
        text = text.replace(NO_INTERVAL, "")
        ahead = f", and how surely {names[0]} is ahead" * (len(names) > 1)
        missing = "There is no interval: labels on a random sample of outputs would give one"
        between = (*between, f"{missing}{ahead}.")
    vote = votes_alone.get(names[0]) if unnamed else None
    if vote is not None and not np.isnan(vote.value):
        passes = repr(called) if called else "passes"
        between = (*between, f"Of the judges' votes {100 * vote.value:.0f} % are {passes}.")
    return f"{text}.", between


def _best(chosen: Quoted, fit: Fit, name: str, ci_prob: float) -> tuple[str, ...]:
    """``g1 is the best with probability 0.907``, by the draws of the model that is quoted."""
    rows = chosen.rows
    if "prevalence" not in chosen.whole or len(rows) < 2:
        return ()
    drawn = fit._drawn_for(chosen.whole.target)["prevalence"].transpose("chain", "draw", ...)
    draws = drawn.to_numpy().reshape(-1, len(rows))
    first = max(rows, key=lambda name: np.nan_to_num(rows[name].value, nan=-1.0))
    prob = float((draws.argmax(axis=1) == list(rows).index(first)).mean())
    second, gap = _next(draws, list(rows), first, ci_prob)
    if len(rows) == 2:
        lead = {**gap._asdict(), "first": first, "second": second, "probability": prob}
        return (f"{difference_words(lead, name=name)}.",)
    claimed = f"{claim(prob, 'has', 'have')} the most {name!r} outputs"
    claimed = claimed if name else f"{claim(prob)} the best"
    return (
        f"{first} {claimed}: with probability {chance(prob)} by this model, {points(gap)} above "
        f"{second}, the next.",
    )


def _next(draws: np.ndarray, names: list[str], first: str, ci_prob: float) -> tuple[str, Row]:
    """The next after the first, and the lead, by draws of shape (draw, generator)."""
    means = dict(zip(names, draws.mean(axis=0), strict=True))
    second = max((name for name in names if name != first), key=means.__getitem__)
    gap = draws[:, names.index(first)] - draws[:, names.index(second)]
    return second, Row(*around(float(gap.mean()), gap, ci_prob))


def _trusted(
    quoted: Estimate, estimates: list[Estimate], votes: Votes | None, fits: Mapping[Method, Fit]
) -> tuple[str, ...]:
    """Which judge errs least, and how surely, if judges' rates were estimated."""
    labelled = votes is None or votes.labelled.any()
    for estimate in (quoted, *estimates):
        rows = entries(estimate)
        judges = [key[1] for key in rows if key[0] == "sensitivity" and len(key) == 2]
        rates = {
            j: (rows[("sensitivity", j)], rows[("specificity", j)])
            for j in judges
            if ("specificity", j) in rows
        }
        if len(rates) < 2:
            continue
        if estimate is not quoted and not labelled:
            return (
                f"Which of the {len(rates)} judges errs least is not known: {quoted.method} takes "
                "the panel as a whole, and rates of single judges would rest on their errors being "
                "independent, which no label has checked. Labels of some outputs would tell.",
            )
        best, *others = sorted(
            rates, key=lambda j: -np.nan_to_num(rates[j][0].value + rates[j][1].value)
        )
        passes, fails = rates[best]
        chances = _chances(best, rates, votes, fits.get(estimate.method))
        by = _by_which(estimate, quoted)
        said = f"passes {percents(passes)} of good outputs and fails {percents(fails)} of bad ones"
        if votes is not None and votes.pass_name:
            said = f"agrees on {percents(passes)} of the outputs people call {votes.pass_name!r} "
            said += f"and on {percents(fails)} of the others"
        text = f"Which of the {len(rates)} judges errs least is not decided."
        text = _which(best, chances) if chances else text
        text += f" {f'{by[1:2].upper()}{by[2:]}, {best}' if by else best} {said}."
        rest = [f"{j} {' and '.join(map(percents, rates[j]))}" for j in others[:MOST_JUDGES]]
        left = len(others) - len(rest)
        more = f"; {left} more: --details" if left else ""
        text += _as_labelled(best, estimate, estimates, bool(labelled))
        lines = (text, f"The others: {'; '.join(rest)}{more}.")
        return tuple(line.replace(NO_INTERVAL, "").replace(" ()", "") for line in lines)
    return ()


def _chances(
    best: str,
    rates: dict[str, tuple[Row, Row]],
    votes: Votes | None,
    fit: Fit | None,
) -> dict[str, float]:
    """By judge, the probability that the best errs less, the least sure first; none is known."""
    others = [name for name in rates if name != best]
    draws = None if fit is None else _sampled_rates(fit, list(rates))
    if draws is not None:
        chances = {other: float((draws[best] > draws[other]).mean()) for other in others}
    elif votes is not None and votes.n_classes == 2 and votes.labelled.any():
        chances = {other: less_error(votes, best, other) for other in others}
    else:
        chances = {}
    return dict(sorted(chances.items(), key=lambda pair: pair[1]))


def _which(best: str, chances: dict[str, float]) -> str:
    """Which judges to trust, and which err more, each with its probability."""
    alike = [name for name, prob in chances.items() if prob < PROBABLE]
    more = {
        "errs": [name for name, prob in chances.items() if prob >= SURE],
        "probably errs": [name for name, prob in chances.items() if PROBABLE <= prob < SURE],
    }
    if not alike:
        least = claim(min(chances.values()), "errs", "err")
        return (
            f"Of {len(chances) + 1} judges {best} {least} least, both error rates added (less "
            f"{_each([*more['probably errs'], *more['errs']], chances)})."
        )
    doubt = f"({best} less {_each(alike, chances)})"
    if len(alike) == len(chances):
        text = f"Which of the {len(chances) + 1} judges errs least, both error rates added, is "
        return f"{text}not decided {doubt}."
    trusted = listed(first_of([best, *alike], MOST_JUDGES), "or")
    text = f"Trust {trusted}: which errs less, both error rates added, is not decided "
    text += doubt
    for verb, names in more.items():
        if names:
            each = [f"{name} (probability {_short(chances[name])})" for name in names]
            shown = listed(first_of(each, MOST_JUDGES))
            verb = verb if len(names) == 1 else verb.replace("errs", "err")
            text += f"; {shown} {verb} more than {best}"
    return f"{text}."


def _each(names: list[str], chances: dict[str, float]) -> str:
    """``than gemini with probability 0.98, than llama with >.99``."""
    parts = [
        f"than {name} with {'probability ' * (i == 0)}{_short(chances[name])}"
        for i, name in enumerate(names)
    ]
    return ", ".join(first_of(parts, MOST_JUDGES))


def _short(prob: float) -> str:
    below = prob < PROBABLE <= round(prob, 2)  # 0.90 would be read as probable
    return ">.99" if prob > 0.995 else f"{prob:.{3 if below else 2}f}"


def _as_labelled(best: str, estimate: Estimate, estimates: list[Estimate], labelled: bool) -> str:
    """What a judge's rates are on labelled outputs, beside those of a model of all outputs."""
    counted = next(
        (e for e in estimates if e.method == methods.JUDGE_BY_JUDGE and e is not estimate), None
    )
    if counted is None or not labelled or ("sensitivity", best) not in entries(counted):
        return ""
    passes, fails = counted["sensitivity", best], counted["specificity", best]
    return (
        f" That is by the model, of all outputs; of labelled ones alone, {percents(passes)} and "
        f"{percents(fails)}."
    )


def _by_which(estimate: Estimate, quoted: Estimate) -> str:
    """Whose the judges' rates are, if not the quoted model's."""
    if estimate is quoted:
        return ""
    if estimate.method == methods.JUDGE_BY_JUDGE:
        return " on the labelled items alone"
    return f" by {estimate.method}, another model than that of the shares"


def _sampled_rates(fit: Fit, judges: list[str]) -> dict[str, np.ndarray] | None:
    """Draws of each judge's sensitivity and specificity, added."""
    posterior = fit.idata["posterior"]
    names = ("sensitivity", "specificity")
    if any(name not in posterior or posterior[name].ndim != 3 for name in names):
        return None
    both = fit.draws("sensitivity") + fit.draws("specificity")
    at = [list(map(str, fit.data.judges)).index(judge) for judge in judges]
    return {judge: both[..., i].ravel() for judge, i in zip(judges, at, strict=True)}


def _basis(votes: Votes | None) -> str:
    if votes is None:
        return ""
    labelled = int(votes.labelled.sum())
    words = {
        name: text for name, text in CHOSEN.items() if not (votes._unnamed and name == "random")
    }
    chosen = how_chosen(votes.design, words)
    labels = f"{labelled:,} of them labelled ({chosen})" if labelled else "none of them labelled"
    of = "" if votes._unnamed else f" of {how_many(len(votes.generators), 'generator')}"
    judges = how_many(len(votes.judges), "judge")
    return f"{how_many(votes.n_items, 'output')}{of}, {labels}; votes of {judges}."


def _why(chosen: Quoted, named: Method, sampled: Sequence[Estimate]) -> str:
    method = chosen.whole.method
    if method in {estimate.method for estimate in sampled}:
        return f"Quoted: {method}, the model that was sampled."
    left = [
        f"{estimate.method} {_against(estimate)} and is not quoted"
        for estimate in sampled
        if _is_barred(estimate)
    ]
    others = f" {'; '.join(left)}." if left else ""
    if chosen.uncorrected:
        return f"Shown: {method}, which no label corrects.{others}"
    if method == named == methods.OWN_LABELS:
        few = "fewer than two labelled outputs of the rarer kind to a judge"
        return f"Quoted: {method}, since {few} do not tell what each vote is worth.{others}"
    if method == named:
        what = (
            "the normal approximation of the model that suits these labels. It uses the votes of "
        )
        what += "all judges: bayesjudge prevalence, by one judge's, gives another number"
        return f"Quoted: {method}, {what}.{others}"
    valid = method == methods.WITHIN_CLASSES  # as no model is, of labels that were chosen so
    more = " A sampled model may use more of the votes and answer otherwise."
    return f"Quoted: {method}, a closed form.{others}{'' if sampled or valid else more}"


def _against(estimate: Estimate) -> str:
    """Why a sampled model is not quoted."""
    names = {c.id for c in estimate.cautions}
    return listed([words for name, words in BARRED.items() if name in names])
