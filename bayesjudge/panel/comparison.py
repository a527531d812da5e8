"""Which method to believe: each predicts shares whose labels it does not see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.panel.checks import cautions_of, require_labelled
from bayesjudge.panel.data import NONE, Votes
from bayesjudge.panel.methods import DEFAULT, FEW_LABELS, METHODS
from bayesjudge.panel.model import fit
from bayesjudge.panel.pointwise import LABEL_MODELS, loo
from bayesjudge.panel.voting import require_binary, true_prevalence

#: Labelled items that make a generator's own labels worth more than those of the others.
ENOUGH = 20
HideWhat = Literal["generators", "items"]


def compare(
    votes: Votes,
    methods: Sequence[str] | None = None,
    *,
    hide: HideWhat = "generators",
    kept: int = 50,
    repeats: int = 5,
    elpd: bool = False,
    ci_prob: float = 0.9,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Hide labels, and see how well each method predicts what they say.

    Parameters
    ----------
    votes : Votes
        With two classes. To hide generators, at least three need labelled items; to hide items,
        some generator needs more than `kept`.
    methods : sequence of str, optional
        Among the names in the table of `METHODS`: closed forms by their names, models by that of
        ``fit(model=...)``. By default those that suit what is hidden.
    hide : {"generators", "items"}
        ``"generators"``: all labels of one generator, each in turn: what is known of a new one?
        ``"items"``: all but `kept` random labels of every generator: what do a few of its own
        labels give?
    kept : int, default 50
        Labels kept of each generator, where items are hidden.
    repeats : int, default 5
        Random choices of those labels.
    elpd : bool, default False
        Add ``elpd``: the models' expected log predictive density of a label, given its item's
        votes, by PSIS-LOO with all labels (see `loo`), a mean over labelled items; one more fit a
        model. ``nan`` for methods that do not predict labels.
    ci_prob : float, default 0.9
        Probability of the intervals that are scored.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``method``, the lowest mean error first: ``mean_error`` and ``max_error`` of the
        point, in shares; ``covered`` of ``predictions``; mean ``width`` and ``interval_score``
        (Gneiting & Raftery 2007; lower is better) of the intervals, ``nan`` where a method has
        none; the ``assumption`` it needs, and ``rejected``: the cautions that these data raise
        against it.

    Raises
    ------
    InputError
        Where a method is unknown, or too little is labelled.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> votes = Votes.from_frame(simulate(labelled=300, random_seed=1))
    >>> table = compare(votes, ["panel_mean", "own_difference"], hide="items", random_seed=1)
    >>> table.index[0], int(table.loc["own_difference", "predictions"])
    ('own_difference', 15)
    """
    if methods is None:
        methods = DEFAULT if hide == "generators" else FEW_LABELS
    long = held_out(
        votes,
        methods,
        hide=hide,
        kept=kept,
        repeats=repeats,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    raised = {caution.name for caution in cautions_of(votes)}
    rows = {}
    for name, part in long.groupby("method", sort=False):
        method = METHODS[str(name)]
        rows[name] = {
            "mean_error": part["error"].mean(),
            "max_error": part["error"].max(),
            "covered": int(part["covered"].sum()),
            "predictions": len(part),
            "width": (part["high"] - part["low"]).mean(),
            "interval_score": part["interval_score"].mean(skipna=False),
            **({"elpd": _elpd(votes, str(name), random_seed)} if elpd else {}),
            "assumption": method.assumption,
            "rejected": ", ".join(sorted(raised & method.against)),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return table.sort_values("mean_error", kind="stable")


def held_out(
    votes: Votes,
    methods: Sequence[str],
    *,
    hide: HideWhat = "generators",
    kept: int = 50,
    repeats: int = 5,
    ci_prob: float = 0.9,
    random_seed: Any = None,
) -> pd.DataFrame:
    """Predict shares whose labels are hidden, one row a method and prediction.

    Parameters
    ----------
    votes : Votes
        As in `compare`.
    methods : sequence of str
        As in `compare`.
    hide : {"generators", "items"}
        As in `compare`.
    kept, repeats : int
        As in `compare`.
    ci_prob : float, default 0.9
        Probability of the intervals.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        ``method``, ``generator``, ``truth``, ``value``, ``low``, ``high``, ``error``, ``covered``,
        ``interval_score``.

    Raises
    ------
    InputError
        As in `compare`.
    """
    require_binary(votes, "panel.compare")
    check_ci_prob(ci_prob)
    unknown = [name for name in methods if name not in METHODS]
    with checking("panel.compare") as require:
        require(not unknown, f"no method {unknown}; there are {list(METHODS)}")
        require(hide in ("generators", "items"), f"hide={hide!r}: generators or items")
        require(kept >= 2 and repeats >= 1, f"kept={kept}, repeats={repeats}: at least 2 and 1")
    seeds = np.random.default_rng(random_seed)
    cut = _without_items(votes, kept, repeats, seeds) if hide == "items" else _without_one(votes)
    rows = []
    for hidden, shares in cut:
        seed = int(seeds.integers(2**31))
        for method in methods:
            estimate = METHODS[method].run(hidden, ci_prob, seed)
            for name, share in shares.items():
                row = estimate[f"prevalence[{name}]"]
                outside = max(row.low - share, share - row.high, 0.0)
                score = row.high - row.low + 2 / (1 - ci_prob) * outside
                score = score if np.isfinite(row.high - row.low) else np.nan
                covered = row.low <= share <= row.high
                off = abs(row.value - share)
                rows.append((method, name, share, *row[:3], off, covered, score))
    columns = ["method", "generator", "truth", "value", "low", "high"]
    return pd.DataFrame(rows, columns=[*columns, "error", "covered", "interval_score"])


def _without_one(votes: Votes) -> Iterator[tuple[Votes, dict[str, float]]]:
    """Hide the labels of one generator after another."""
    require_labelled(votes, "panel.compare", generators=3)
    truth = true_prevalence(votes)
    for i in np.flatnonzero(~np.isnan(truth)):
        name = votes.generators[int(i)]
        yield votes.hide(name), {name: float(truth[i])}


def _without_items(
    votes: Votes, kept: int, repeats: int, rng: np.random.Generator
) -> Iterator[tuple[Votes, dict[str, float]]]:
    """Keep a few random labels of every generator; items that never had one are left out."""
    enough = votes.labelled.sum(axis=1) > kept
    with checking("panel.compare") as require:
        require(
            enough.any(),
            f"no generator has more than kept={kept} labelled items; keep fewer",
        )
    rows = np.flatnonzero((votes.truth != NONE) & enough[votes.generator])
    rows = np.repeat(rows, votes.count[rows])
    names = [name for name, one in zip(votes.generators, enough, strict=True) if one]
    number = np.cumsum(enough) - 1
    shares = true_prevalence(votes)
    for _ in range(repeats):
        order = rng.permutation(len(rows))
        generator = votes.generator[rows[order]]
        # how many labels of the same generator came before, in random order
        before = np.zeros(len(rows), int)
        for i in np.flatnonzero(enough):
            before[generator == i] = np.arange((generator == i).sum())
        truth = np.where(before < kept, votes.truth[rows[order]], NONE)
        hidden = Votes(
            votes.votes[rows[order]],
            truth,
            number[generator],
            names,
            votes.judges,
            judge_of_column=votes.judge_of_column,
        )
        yield hidden, dict(zip(names, shares[enough].tolist(), strict=True))


def _elpd(votes: Votes, method: str, random_seed: Any) -> float:
    if method not in LABEL_MODELS:
        return float("nan")
    sampled = fit(votes, model=method, random_seed=random_seed)  # type: ignore[arg-type]
    found = loo(sampled, of="labels")
    return found.elpd / found.n


class Advice(NamedTuple):
    """What to fit, and why.

    Parameters
    ----------
    model : str
        For ``fit(votes, model=...)``.
    why : str
        In a sentence.
    """

    model: Literal["dawid_skene", "correlated", "bias_pooling", "vote_regression"]
    why: str


def recommend(votes: Votes) -> Advice:
    """Say which model suits these votes, from where the labels are and what they reject.

    Parameters
    ----------
    votes : Votes
        Of any classes.

    Returns
    -------
    Advice
        A model and the reason.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> recommend(Votes.from_frame(simulate(random_seed=1))).model
    'vote_regression'
    """
    if votes.n_classes > 2:
        return Advice("dawid_skene", "the other models need pass and fail")
    labelled = votes.labelled.sum(axis=1)
    raised = {caution.name for caution in cautions_of(votes)}
    if (labelled >= ENOUGH).all():
        return Advice(
            "vote_regression",
            f"every generator has {ENOUGH} labelled items or more; right if they are a random "
            "sample of its outputs",
        )
    if (labelled >= ENOUGH).sum() >= 3:
        rejected = f" (the data reject others: {', '.join(sorted(raised))})" if raised else ""
        return Advice(
            "bias_pooling",
            f"{int((labelled >= ENOUGH).sum())} generators are labelled and others are not: what "
            f"carries over is the panel's bias{rejected}",
        )
    if "dependent-judges" in raised:
        return Advice("correlated", "few generators are labelled, and the judges err together")
    return Advice("dawid_skene", "too few labels for anything that assumes less; label some items")
