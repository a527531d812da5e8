"""Assumptions of panel methods, and checks on labelled items that can contradict them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import bdtr, bdtrc, betainc, ndtr

from bayesjudge.core.diagnosis import AGAINST, cautions_of, contradicted, findings
from bayesjudge.core.errors import checking, expect
from bayesjudge.core.estimate import Assumption, Caution, Diagnosis, Quantity, Target
from bayesjudge.core.intervals import hypergeometric_tails
from bayesjudge.core.label_design import Identified, checked
from bayesjudge.core.randomization import p_value, same_shares, samples_for
from bayesjudge.core.screen import few
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.label_design import DESIGNS, RANDOM_LABELS, TELLS

if TYPE_CHECKING:
    import pandas as pd

SAME_ERRORS = Assumption.of("same-error-rates")
INDEPENDENT = Assumption.of("independent-errors")
INDEPENDENT_GIVEN_EFFECT = Assumption.of("independent-given-effect")
BETTER_THAN_CHANCE = Assumption.of("better-than-chance")
EXCHANGEABLE = Assumption.of("exchangeable-bias")
EXCHANGEABLE_LEVELS = Assumption.of("exchangeable-levels")
ITEMS_DIFFER = Assumption.of("items-differ")
ERRORS_CANCEL = Assumption.of("errors-cancel", "panel")
RULE_ERRORS_CANCEL = Assumption.of("rule-errors-cancel")
#: Assumptions by which labels on some generators say something of the others.
CARRIES_OVER = {assumption.id for assumption in (SAME_ERRORS, EXCHANGEABLE, EXCHANGEABLE_LEVELS)}

#: A result rarer than this, were the assumption true, counts as a rejection.
REJECT_P = 0.01
#: Two judges whose errors correlate by more than this are called near-duplicates.
DUPLICATE = 0.6
#: Fewer labelled items of a class than this say nothing about correlations.
FEWEST = 20
#: Draws of the probability that one judge errs less than another.
PAIRED_DRAWS = 20_000
#: Expected counts from which on the t test of a correlation is right, far in its tail too.
MANY_EXPECTED = 50
#: Two judges are near copies if they disagree on no more items than this, and surely on fewer than
#: this part of those on which the nearest other judge disagrees with one of them.
COPIES = {"disagree": 0.02, "of_nearest": 0.25}
#: Most cells of judge and generator that a caution names.
MOST_NAMED = 5


def homogeneity(votes: Votes) -> pd.DataFrame:
    """Test, judge by judge, whether error rates are the same on all labelled generators.

    Parameters
    ----------
    votes : Votes
        With two classes and at least two labelled generators.

    Returns
    -------
    pandas.DataFrame
        Index ``judge``; ``sensitivity_p`` and ``specificity_p``, p-values of the chi-square test
        of equal rates (of tables drawn with the same margins if an expected count is below 5), and
        the lowest and highest rate; ``nan`` if there is nothing to compare.
    """
    import pandas as pd

    return pd.DataFrame.from_dict(_rates_by_judge(votes), orient="index").rename_axis("judge")


def _rates_by_judge(votes: Votes) -> dict[str, dict[str, float]]:
    """What `homogeneity` tabulates, by judge."""
    tally = votes.tally()[:, :, :, :2]
    rows = {}
    for j, judge in enumerate(votes.judges):
        row: dict[str, float] = {}
        for truth, name in ((1, "sensitivity"), (0, "specificity")):
            table = tally[:, truth, j]
            table = table[table.sum(axis=1) > 0]
            rates = table[:, truth] / table.sum(axis=1)
            row[f"{name}_p"] = same_shares(table, REJECT_P)
            row[f"{name}_low"], row[f"{name}_high"] = (
                (rates.min(), rates.max()) if len(rates) else (np.nan, np.nan)
            )
        rows[judge] = row
    return rows


def correlate_votes(votes: Votes, truth: int) -> np.ndarray:
    """Correlation of every two judges' votes on labelled items of one class."""
    return correlate(*_labelled(votes, truth))


def less_error(votes: Votes, first: str, second: str) -> float:
    """Probability that the first of two judges has the lower rates of error, added.

    From the labelled items on which both voted, pair by pair: of each truth, how often both, one
    or none of them is right has a Dirichlet prior with the weight of two items.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled.
    first, second : str
        Names of judges.

    Returns
    -------
    float
        One half if no labelled item has votes of both.
    """
    rng, gap = np.random.default_rng(0), np.zeros(PAIRED_DRAWS)
    columns = [votes.judges.index(name) for name in (first, second)]
    seen = 0
    for truth in (0, 1):
        given, count = _labelled(votes, truth)
        both = given[:, columns]
        kept = (both != MISSING).all(axis=1)
        cells = np.zeros((2, 2))
        np.add.at(cells, tuple((both[kept] == truth).astype(int).T), count[kept])
        share = rng.dirichlet(cells.ravel() + 0.5, size=PAIRED_DRAWS)
        gap += share[:, 2] - share[:, 1]  # only the first is right, only the second
        seen += int(count[kept].sum())
    return float((gap > 0).mean()) if seen else 0.5


def _labelled(votes: Votes, truth: int) -> tuple[np.ndarray, np.ndarray]:
    """Each judge's first vote on labelled items of one class, and the items a row stands for."""
    rows = votes.truth == truth
    first = [int(np.argmax(votes.judge_of_column == j)) for j in range(len(votes.judges))]
    return votes.votes[rows][:, first], votes.count[rows]


def correlate(given: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Pairwise correlation of columns of votes with missing entries."""
    there, passed = (given != MISSING).astype(float), (given == 1).astype(float)
    weighted = passed * count[:, None]
    n, s = there.T @ (there * count[:, None]), weighted.T @ there  # s[i, j]: passes where j voted
    both = weighted.T @ passed
    # the phi coefficient of whole numbers: exactly 1 where two judges always agree, never more
    covariance = both * (n - s - s.T + both) - (s - both) * (s.T - both)
    scale = np.sqrt(s * (n - s) * (s * (n - s)).T)
    return np.divide(covariance, scale, out=np.full_like(scale, np.nan), where=scale > 0)


class Pair(NamedTuple):
    """Two judges' votes on labelled items of one class."""

    first: str
    second: str
    truth: int
    correlation: float
    n: int
    p_value: float


def dependence(votes: Votes) -> pd.DataFrame:
    """List the correlation of every two judges' votes given the truth.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled.

    Returns
    -------
    pandas.DataFrame
        One row per pair and class: ``first``, ``second``, ``truth``, ``correlation``, ``n`` items
        that both voted on, and ``p_value`` of a correlation of 0 (Fisher's exact test, the smaller
        tail doubled; the t test if all expected counts are 50 or more); the largest correlation
        first. Pairs with fewer than 20 such items are left out. Correlation and p-value are ``nan``
        if one of the two gave all these items the same vote: nothing varies together then.
    """
    import pandas as pd

    return pd.DataFrame(_pairs(votes), columns=list(Pair._fields))


def _pairs(votes: Votes) -> list[Pair]:
    """What `dependence` tabulates."""
    pairs = []
    for truth in (0, 1):
        given, count = _labelled(votes, truth)
        there, passed = (given != MISSING).astype(int), (given == 1).astype(int)
        both, r = there.T @ (there * count[:, None]), correlate(given, count)
        passes, agreed = (
            x.T @ (y * count[:, None]) for x, y in ((passed, there), (passed, passed))
        )
        for i, j in combinations(range(len(votes.judges)), 2):
            n = int(both[i, j])
            if n >= FEWEST:
                p = _independence_p(n, passes[i, j], passes[j, i], agreed[i, j], float(r[i, j]))
                pairs.append(Pair(votes.judges[i], votes.judges[j], truth, float(r[i, j]), n, p))
    # those that do not vary come last
    return sorted(pairs, key=lambda pair: -np.nan_to_num(pair.correlation, nan=-np.inf))


def _independence_p(n: int, first: int, second: int, both: int, r: float) -> float:
    """P-value of independent votes on n items, by passes of two judges and items both pass."""
    if np.isnan(r):
        return r
    if min(first, n - first) * min(second, n - second) >= MANY_EXPECTED * n:
        # the tail of the t test as a beta integral, which has its limit 0 at r = 1 and -1
        return float(betainc(n / 2 - 1, 0.5, (1 - r) * (1 + r)))
    return min(1.0, 2 * min(hypergeometric_tails(both, n, second, first)))


def effective_judges(votes: Votes) -> dict[int, float]:
    """Say how many independent judges the panel is worth, on bad and on good items.

    Parameters
    ----------
    votes : Votes
        With two classes, some items labelled.

    Returns
    -------
    dict of int to float
        By truth: the number of judges divided by the design effect
        ``1 + (judges - 1) * mean correlation``, the mean of the pairs whose votes vary; ``nan``
        if no pair's do, or too few items are labelled.

    References
    ----------
    Kish (1965), Survey Sampling, Section 5.4.
    """
    pairs = _pairs(votes)
    return {truth: _effective(_varying(pairs, truth), len(votes.judges)) for truth in (0, 1)}


def _varying(pairs: Sequence[Pair], truth: int) -> list[Pair]:
    """The pairs of one class whose votes vary."""
    return [pair for pair in pairs if pair.truth == truth and not np.isnan(pair.correlation)]


def _correlation(pairs: Sequence[Pair]) -> float:
    return float(np.mean([pair.correlation for pair in pairs])) if pairs else np.nan


def _effective(pairs: Sequence[Pair], judges: int) -> float:
    return judges / (1 + (judges - 1) * max(_correlation(pairs), 0)) if pairs else np.nan


def near_copies(votes: Votes) -> list[tuple[str, str, float, int]]:
    """Pairs of judges that vote alike, whoever is right: names, agreement, items of both.

    Two judges that are nearly always right agree as often; so they would with other good ones.
    The judges that a pair is compared with are those that are no near copies of either.
    """
    apart, both = _disagreement(votes)
    rates = np.divide(apart, both, out=np.full_like(both, np.nan), where=both > 0)
    size, copies = len(votes.judges), []
    for i, j in combinations(range(size), 2):
        if both[i, j] < FEWEST or apart[i, j] > COPIES["disagree"] * both[i, j]:
            continue
        first, other = rates[i], rates[j]
        others = np.concatenate([first, other])[
            np.tile(np.fmin(first, other), 2) > COPIES["disagree"]
        ]
        if not others.size:
            continue  # everyone votes alike: nothing tells copies from good judges
        nearest = float(np.nanmin(others))
        p = bdtr(apart[i, j], int(both[i, j]), COPIES["of_nearest"] * nearest)
        if p < REJECT_P / (size * (size - 1) / 2):
            agree = 1 - float(apart[i, j] / both[i, j])
            copies.append((votes.judges[i], votes.judges[j], agree, int(both[i, j])))
    return sorted(copies, key=lambda pair: -pair[2])


def _disagreement(votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    """Items on which two judges' first votes differ, and items that both voted on."""
    first = [int(np.argmax(votes.judge_of_column == j)) for j in range(len(votes.judges))]
    given, count = votes.votes[:, first], votes.count[:, None]
    there = (given != MISSING).astype(float)
    both = there.T @ (there * count)
    same = np.zeros_like(both)
    for code in range(votes.n_classes):
        mine = (given == code).astype(float)
        same += mine.T @ (mine * count)
    return both - same, both


def vote_weights(votes: Votes) -> np.ndarray:
    """Weight of each judge's vote: near copies of each other count as one if none is labelled."""
    group = np.arange(len(votes.judges))
    if not votes.is_labelled.any():
        for first, other, *_ in near_copies(votes):
            i, j = votes.judges.index(first), votes.judges.index(other)
            group[group == group[j]] = group[i]
    return 1 / np.bincount(group, minlength=len(group))[group]


def _copied(votes: Votes) -> Iterator[Caution]:
    copies = near_copies(votes)
    if copies:
        shown = ", ".join(f"{a} and {b} ({agree:.1%})" for a, b, agree, _ in copies[:MOST_NAMED])
        more = f" and {len(copies) - MOST_NAMED} more pairs" if len(copies) > MOST_NAMED else ""
        yield Caution.of("near-duplicates", "votes", shown=shown, more=more)


@findings.register
def _of_votes(votes: Votes, target: Target) -> tuple[Caution, ...]:
    """Name what the labelled items say against the usual models of a panel."""
    if not (votes.truth != MISSING).any():
        return (Caution.of("no-labels", "panel"), *_copied(votes))
    others = (*_of_others(votes), *checked(votes.design, votes))
    if votes.n_classes != 2:
        return others
    design = votes.design
    shifted = _shifted(votes) if "prevalence" in design.identifies else _out_of_range(votes)
    if "error_rates" not in design.identifies:
        return others  # votes on labelled items are like nobody's: they were chosen by their votes
    against = (*shifted, *_differing(votes), *_dependent(votes), *_contradicted(votes))
    return (*others, *against)


def check_assumptions(votes: Votes, *assumed: Assumption) -> Diagnosis:
    """Assumptions with the cautions that contradict them, and those cautions.

    `RANDOM_LABELS` stands for what the declared label design assumes, if there are labels.
    """
    raised, assumption = cautions_of(votes), votes.design.assumption
    listed = (*assumed, *(() if votes.distinct else (ITEMS_DIFFER,)))
    against: dict[str, Collection[str]] = {**AGAINST}
    if votes.is_labelled.any():
        tested = {c.id for c in checked(votes.design, votes)}
        against[assumption.id] = AGAINST.get(assumption.id, frozenset()) | tested
        listed = tuple(assumption if entry is RANDOM_LABELS else entry for entry in listed)
    else:
        listed = tuple(entry for entry in listed if entry is not RANDOM_LABELS)
    marked = contradicted(listed, raised, against)
    ids = {entry.id for entry in marked}
    relevant = {name for entry in marked for name in entry.contradicted_by}
    relevant |= {"no-labels"} if "better-than-chance" in ids else set()
    relevant |= set() if ids.isdisjoint(CARRIES_OVER) else {"other-systems"}
    return marked, tuple(c for c in raised if c.id in relevant)


def without_labels(votes: Votes) -> list[str]:
    """Generators of which nothing is labelled, though they have items."""
    asked = np.bincount(votes.generator[subject(votes)], minlength=len(votes.generators)) > 0
    bare = asked & (votes.labelled.sum(axis=1) == 0)
    return [name for name, is_bare in zip(votes.generators, bare, strict=True) if is_bare]


def _of_others(votes: Votes) -> Iterator[Caution]:
    names = without_labels(votes)
    if names:
        it, its = ("it", "its") if len(names) == 1 else ("them", "their")
        yield Caution.of("other-systems", "panel", names=few(names, MOST_NAMED), it=it, its=its)


def against_labels(votes: Votes, shares: Quantity) -> Iterator[Caution]:
    """Generators whose own random labels are rare even at the end of their interval next to them.

    Exact binomial tails of one side; the error rate goes to all generators together (Bonferroni).
    """
    if "prevalence" not in votes.design.identifies:
        return
    n, good = votes.labelled.sum(axis=1), votes.labelled[:, 1]
    tails = np.minimum(bdtr(good, n, shares.low), bdtrc(good - 1, n, shares.high))
    p = np.where((n > 0) & np.isfinite(tails), tails, 1.0)  # without an interval: nan
    contradicted_at = np.flatnonzero(p < REJECT_P / 2 / max(int(np.count_nonzero(n)), 1))
    if contradicted_at.size:
        worst = contradicted_at[np.argmin(p[contradicted_at])]
        name, seen = votes.generators[worst], f"{good[worst]} of {n[worst]}"
        low, high = shares.low[worst], shares.high[worst]
        more = f", and {contradicted_at.size - 1} more" if contradicted_at.size > 1 else ""
        yield Caution.of("labels-contradict", name=name, good=seen, low=low, high=high, more=more)


def _differing(votes: Votes) -> Iterator[Caution]:
    """Judges, and judges on single generators, whose error rates differ between generators.

    Half of the error rate goes to judges (`homogeneity`), half to single cells.
    """
    rates, cells = _rates_by_judge(votes), cell_p_values(votes)
    for name in ("sensitivity", "specificity"):
        p = {judge: row[f"{name}_p"] for judge, row in rates.items()}
        p = {judge: value for judge, value in p.items() if not np.isnan(value)}
        rejected = [judge for judge in p if p[judge] < REJECT_P / 2 / len(p)]
        mine = sorted((c for c in cells if c.rate == name), key=lambda cell: cell.p_value)
        odd = [cell for cell in mine if cell.p_value < REJECT_P / 2 / len(mine)]
        if not rejected and not odd:
            continue
        shown = odd[:MOST_NAMED]
        if not odd:
            worst = min(rejected, key=p.__getitem__)
            shown = [next(cell for cell in mine if cell.judge == worst)]
        named = ", ".join(
            f"{cell.judge!r} on {cell.generator!r} ({cell.here:.2f}, elsewhere "
            f"{cell.elsewhere:.2f})"
            for cell in shown
        )
        more = f" and {len(odd) - MOST_NAMED} more" if len(odd) > MOST_NAMED else ""
        judges = len({*rejected, *(cell.judge for cell in odd)})
        yield Caution.of(
            "error-rates-differ", name=name, judges=judges, of=len(p), named=named, more=more
        )


class Cell(NamedTuple):
    """A judge's votes on one generator's labelled items, and on those of all others."""

    judge: str
    generator: str
    rate: str
    here: float
    elsewhere: float
    p_value: float


def cell_p_values(votes: Votes) -> list[Cell]:
    """How rarely a judge's votes on one generator's labelled items differ so from all others.

    Fisher's exact test of each judge, generator and truth, both tails by the smaller one doubled.
    """
    tally = votes.tally()[:, :2, :, :2].astype(float)
    cells = []
    for truth, name in ((1, "sensitivity"), (0, "specificity")):
        table = tally[:, truth]
        n, right = table.sum(axis=-1), table[..., truth]
        all_n, all_right = n.sum(axis=0), right.sum(axis=0)
        for i, j in np.argwhere((n > 0) & (n < all_n)):
            tails = hypergeometric_tails(right[i, j], all_n[j], all_right[j], n[i, j])
            elsewhere = (all_right[j] - right[i, j]) / (all_n[j] - n[i, j])
            rates = (right[i, j] / n[i, j], elsewhere, min(1.0, 2 * min(tails)))
            cells.append(Cell(votes.judges[j], votes.generators[i], name, *rates))
    return cells


def _dependent(votes: Votes) -> Iterator[Caution]:
    every = _pairs(votes)
    for truth, word in ((0, "bad"), (1, "good")):
        pairs = _varying(every, truth)
        rejected = [pair for pair in pairs if pair.p_value < REJECT_P / len(pairs)]
        if rejected and _correlation(pairs) > 0:
            yield Caution.of(
                "dependent-judges",
                word=word,
                correlation=_correlation(pairs),
                beyond=len(rejected),
                rows=len(pairs),
                worth=_effective(pairs, len(votes.judges)),
            )
        close = [pair for pair in rejected if pair.correlation > DUPLICATE]
        if close:
            shown = ", ".join(f"{x.first} and {x.second} ({x.correlation:.2f})" for x in close[:5])
            yield Caution.of("near-duplicates", "errors", word=word, shown=shown)


def _contradicted(votes: Votes) -> Iterator[Caution]:
    valid, invalid = ((votes.votes == v).sum(axis=1) for v in (1, 0))
    for truth, word, wrong in ((0, "bad", valid > invalid), (1, "good", invalid > valid)):
        rows = votes.truth == truth
        n = votes.count[rows].sum()
        share = votes.count[rows & wrong].sum() / n if n else 0.0
        if n >= FEWEST and share > 0.5:
            yield Caution.of("majority-contradicted", share=share, word=word)


def _shifted(votes: Votes) -> Iterator[Caution]:
    """Labelled items whose votes a random sample would hardly have.

    Half of the error rate goes to all generators together, half to each of them (Bonferroni).
    """
    together, each = shift_p_values(votes)
    rejected = {name: p for name, p in each.items() if p < REJECT_P / 2 / len(each)}
    if not rejected and not together < REJECT_P / 2:
        return
    worst = min(each, key=lambda name: each[name])
    parts = _net_votes(votes, votes.generators.index(worst))
    labelled, others = (float(np.average(net, weights=n)) for net, n in parts)
    named = f" of {', '.join(map(repr, rejected))}" if rejected else ""
    yield Caution.of(
        "label-shift",
        "votes",
        named=named,
        worst=worst,
        labelled=labelled,
        others=others,
        p_value=min(together, each[worst]),
    )


def shift_p_values(votes: Votes) -> tuple[float, dict[str, float]]:
    """How rarely random samples have net votes as unusual as the labelled items'.

    Of all generators together, and of each one that has labelled and other items. The net votes
    (passes less fails) of an item are compared with those of random samples as large.
    """
    rng = np.random.default_rng(0)
    samples = samples_for(REJECT_P / 2 / len(votes.generators))
    each, seen_together, drawn_together = {}, 0.0, np.zeros(samples)
    for i, name in enumerate(votes.generators):
        (labelled_net, n_own), (other, n_other) = _net_votes(votes, i)
        if not labelled_net.size or not other.size:
            continue
        values = np.union1d(labelled_net, other)
        count, labelled = np.zeros((2, len(values)), np.int64)
        np.add.at(labelled, np.searchsorted(values, labelled_net), n_own)
        np.add.at(count, np.searchsorted(values, other), n_other)
        count += labelled
        centred = values - values @ count / count.sum()
        size = int(labelled.sum())
        sample = rng.multivariate_hypergeometric(count, size, samples, method="marginals")
        seen, drawn = float(centred @ labelled), sample @ centred
        each[name] = p_value(np.abs(drawn), abs(seen))
        seen_together, drawn_together = seen_together + seen, drawn_together + drawn
    return p_value(np.abs(drawn_together), abs(seen_together)), each


def _net_votes(votes: Votes, generator: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Passes less fails on a generator's labelled and other items, and how many items each."""
    net = (votes.votes == 1).sum(axis=1) - (votes.votes == 0).sum(axis=1)
    mine, known = votes.generator == generator, votes.is_labelled
    return [(net[rows], votes.count[rows]) for rows in (mine & known, mine & ~known)]


def _out_of_range(votes: Votes) -> Iterator[Caution]:
    """Judges whose pass rate no mixture of their rates on good and bad labelled items gives."""
    tally = votes.tally()[..., :2]
    known, other = tally[:, :2].sum(axis=0), tally[:, 2]
    cells = []
    shares, errors = _shares_and_errors(known)
    rates, own_errors = _shares_and_errors(other)
    for i, j in np.argwhere(other.sum(axis=-1) > 0):
        if not known[:, j].sum(axis=-1).all():
            continue
        low, high = sorted((0, 1), key=lambda t: shares[t, j])
        below = (shares[low, j] - rates[i, j]) / np.hypot(errors[low, j], own_errors[i, j])
        above = (rates[i, j] - shares[high, j]) / np.hypot(errors[high, j], own_errors[i, j])
        cells.append((max(below, above), i, j))
    far = [cell for cell in cells if ndtr(-cell[0]) < REJECT_P / len(cells)]
    if far:
        _, i, j = max(far)
        yield Caution.of(
            "votes-out-of-range",
            far=len(far),
            of=len(cells),
            judge=votes.judges[j],
            rate=rates[i, j],
            generator=votes.generators[i],
            of_bad=shares[0, j],
            of_good=shares[1, j],
        )


def _shares_and_errors(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of passes and their standard errors, drawn towards one half by one vote of each."""
    n = counts.sum(axis=-1)
    share = (counts[..., 1] + 1) / (n + 2)
    return share, np.sqrt(share * (1 - share) / (n + 2))


def subject(votes: Votes) -> np.ndarray:
    """Patterns that the estimate is about: all, or those without a label."""
    return np.full(len(votes.count), True) if votes.design.same_items else ~votes.is_labelled


def about(votes: Votes) -> Votes:
    """The votes on the items that the estimate is about."""
    kept = subject(votes)
    with checking("panel") as require:
        require(
            kept.any(),
            f"every item is labelled, and with calibration={votes.calibration!r} the question is "
            "about items without a label: there are none",
        )
    return votes if kept.all() else rows_of(votes, kept)


def rows_of(votes: Votes, rows: np.ndarray) -> Votes:
    """Some of the patterns, of the same generators and judges."""
    parts = {name: getattr(votes, name)[rows] for name in ("votes", "truth", "generator", "count")}
    return replace(votes, **parts)


def require_identified(votes: Votes, what: Identified, caller: str) -> None:
    """Raise if the label design does not let the labels tell `what`."""
    design = votes.design
    suited = [
        f"calibration={other.name!r}" for other in DESIGNS.values() if what in other.identifies
    ]
    with checking(caller) as require:
        require(
            what in design.identifies or not votes.is_labelled.any(),
            f"needs labels that tell the {TELLS[what]}; with calibration={design.name!r} "
            f"({design.meaning}) they do not, only with {', '.join(suited)}",
        )


def require_labelled(votes: Votes, what: str, generators: int = 1) -> None:
    """Raise unless enough generators have labelled items."""
    labelled = int((votes.labelled.sum(axis=1) > 0).sum())
    problem = f"{labelled} generators have labelled items, at least {generators} are needed"
    expect(what, labelled >= generators, problem)
