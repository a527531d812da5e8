"""Every method side by side, and scores of methods on labels that they did not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayesjudge.core.comparing import compare, of_closed_forms
from bayesjudge.core.errors import InputError, check_ci_prob, checking, expect
from bayesjudge.core.estimate import Assumption, Estimate
from bayesjudge.core.fitting import fit
from bayesjudge.core.randomness import rng_of
from bayesjudge.panel.checks import (
    check_assumptions,
    require_identified,
    require_labelled,
)
from bayesjudge.panel.closed_form import (
    closed_forms,
    dawid_skene_em,
    difference,
    logit_shift,
    model_assisted,
    panel_mean,
    regression,
    rogan_gladen,
    voting,
)
from bayesjudge.panel.data import MISSING, Votes
from bayesjudge.panel.loo import loo
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.models.bias_pooling import BiasPooling
from bayesjudge.panel.models.vote_regression import VoteRegression
from bayesjudge.panel.voting import choose_threshold, require_binary, true_prevalence

if TYPE_CHECKING:
    import pandas as pd


HideWhat = Literal["generators", "items"]
Method = str | PanelModel


compare.register(Votes, of_closed_forms(closed_forms))


def _tuned_veto(votes: Votes, *, ci_prob: float) -> Estimate:
    estimate = voting(votes, choose_threshold(votes), ci_prob=ci_prob)
    return replace(estimate, assumptions=(TUNED,), cautions=(), data=None)


TUNED = Assumption.of("threshold-carries-over")
#: Closed forms by name: what `cross_validate` can score beside models.
CLOSED_FORMS: dict[str, Callable[..., Estimate]] = {
    "panel_mean": panel_mean,
    "veto": _tuned_veto,
    "rogan_gladen": rogan_gladen,
    "regression_source": lambda votes, ci_prob: regression(votes, solver="source"),
    "regression_exact": lambda votes, ci_prob: regression(votes),
    "logit_shift": logit_shift,
    "linear_shift": partial(logit_shift, scale="identity"),
    "difference": difference,
    "model_assisted": model_assisted,
    "dawid_skene_em": dawid_skene_em,
}
#: What is scored by default: for generators without labels, and for those with a few.
FOR_NEW_GENERATORS: tuple[Method, ...] = (
    *("panel_mean", "veto", "rogan_gladen", "regression_source", "regression_exact"),
    *("linear_shift", "logit_shift", "dawid_skene_em", BiasPooling()),
)
FOR_FEW_LABELS: tuple[Method, ...] = (
    *("panel_mean", "veto", "difference", "model_assisted", "dawid_skene_em", VoteRegression()),
)


def cross_validate(
    votes: Votes,
    methods: Sequence[Method] | None = None,
    *,
    hide: HideWhat = "generators",
    kept: int = 50,
    repeats: int = 5,
    elpd: bool = False,
    ci_prob: float = 0.95,
    random_seed: int | np.random.Generator | None = None,
) -> pd.DataFrame:
    """Hide labels, and score how well each method predicts what they say.

    Parameters
    ----------
    votes : Votes
        With two classes. To hide generators, at least three need labelled items; to hide items,
        some generator needs more than `kept`.
    methods : sequence of str or of models, optional
        Closed forms by name (``"panel_mean"``, ``"veto"`` with a threshold chosen on the labels,
        ``"rogan_gladen"``, ``"regression_source"``, ``"regression_exact"``, ``"logit_shift"``,
        ``"linear_shift"``, ``"difference"``, ``"model_assisted"``, ``"dawid_skene_em"``), and
        models with their priors, such as ``BiasPooling()``. By default those that suit what is
        hidden.
    hide : {"generators", "items"}
        ``"generators"``: all labels of one generator, each in turn: what is known of a new one?
        ``"items"``: all but `kept` random labels of every generator: what do a few of its own
        labels give?
    kept : int, default 50
        Labels kept of each generator, if items are hidden.
    repeats : int, default 5
        Random choices of those labels.
    elpd : bool, default False
        Add ``elpd``: the models' expected log predictive density of a label, given its item's
        votes, by PSIS-LOO with all labels (see `loo`), a mean over labelled items; one more fit a
        model. ``nan`` for methods that do not predict labels.
    ci_prob : float, default 0.95
        Probability of the intervals that are scored.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same table.

    Returns
    -------
    pandas.DataFrame
        Index ``method`` (a closed form's name, a model's class), the lowest mean error first:
        ``mean_error`` and ``max_error`` of the point, in shares; ``covered`` of ``predictions``;
        mean ``width`` and ``interval_score`` (Gneiting & Raftery 2007; lower is better) of the
        intervals, ``nan`` for a method without; ``refused``: why it made some of the predictions or
        none, empty if it made them all; ``assumes``, and ``contradicted_by``: the cautions
        that these data raise against it.

    Raises
    ------
    InputError
        If a method is unknown, or too little is labelled.

    Examples
    --------
    >>> from bayesjudge.panel.simulate import simulate
    >>> votes = Votes.from_frame(simulate(labelled=300, random_seed=1))
    >>> table = cross_validate(votes, ["panel_mean", "difference"], hide="items", random_seed=1)
    >>> table.index[0], int(table.loc["difference", "predictions"])
    ('difference', 15)
    """
    import pandas as pd

    if methods is None:
        methods = FOR_NEW_GENERATORS if hide == "generators" else FOR_FEW_LABELS
    long, assumed = held_out(
        votes,
        methods,
        hide=hide,
        kept=kept,
        repeats=repeats,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    rows = {}
    for method in methods:
        name = _name(method)
        every = long[long["method"] == name]
        part = every[every["refused"] == ""]
        confronted, _ = check_assumptions(votes, *assumed.get(name, ()))
        rows[name] = {
            "mean_error": part["error"].mean(),
            "max_error": part["error"].max(),
            "covered": int(part["covered"].sum()),
            "predictions": len(part),
            "width": (part["high"] - part["low"]).mean(),
            "interval_score": part["interval_score"].mean(skipna=False),
            "refused": "; ".join(every.loc[every["refused"] != "", "refused"].unique()),
            **({"elpd": _elpd(votes, method, random_seed)} if elpd else {}),
            "assumes": "; ".join(assumption.text for assumption in confronted),
            "contradicted_by": ", ".join(
                dict.fromkeys(
                    name for assumption in confronted for name in assumption.contradicted_by
                )
            ),
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")
    return table.sort_values("mean_error", kind="stable")


def held_out(
    votes: Votes,
    methods: Sequence[Method],
    *,
    hide: HideWhat = "generators",
    kept: int = 50,
    repeats: int = 5,
    ci_prob: float = 0.95,
    random_seed: int | np.random.Generator | None = None,
) -> tuple[pd.DataFrame, dict[str, tuple[Assumption, ...]]]:
    """Predict shares whose labels are hidden, a row per method and share; what each assumes."""
    import pandas as pd

    require_binary(votes, "panel.cross_validate")
    check_ci_prob(ci_prob)
    require_identified(votes, "prevalence", "panel.cross_validate")
    _require_methods(methods)
    with checking("panel.cross_validate") as require:
        require(hide in ("generators", "items"), f"hide={hide!r}: generators or items")
        require(kept >= 2 and repeats >= 1, f"kept={kept}, repeats={repeats}: at least 2 and 1")
    seeds = rng_of(random_seed)
    cut = _without_items(votes, kept, repeats, seeds) if hide == "items" else _without_one(votes)
    rows, assumed = [], {}
    for hidden, shares in cut:
        seed = int(seeds.integers(2**31))
        for method in methods:
            try:
                estimate = _run(method, hidden, ci_prob, seed)
            except InputError as error:
                rows += [_refused(method, name, share, error) for name, share in shares.items()]
                continue
            assumed[_name(method)] = estimate.assumptions
            for name, share in shares.items():
                row = estimate["prevalence", name]
                outside = max(row.low - share, share - row.high, 0.0)
                score = row.high - row.low + 2 / (1 - ci_prob) * outside
                score = score if np.isfinite(row.high - row.low) else np.nan
                covered = row.low <= share <= row.high
                off = abs(row.value - share)
                rows.append((_name(method), name, share, *row, off, covered, score, ""))
    columns = ["method", "generator", "truth", "value", "low", "high"]
    columns += ["error", "covered", "interval_score", "refused"]
    table = pd.DataFrame(rows, columns=columns)
    return table, assumed


def _refused(method: Method, generator: str, share: float, error: InputError) -> tuple[Any, ...]:
    """A prediction that a method did not make, with its reason."""
    nothing = (float("nan"),) * 4
    return (_name(method), generator, share, *nothing, False, float("nan"), str(error))


def _require_methods(methods: Sequence[Method]) -> None:
    models = [method for method in methods if isinstance(method, PanelModel)]
    unknown = [method for method in methods if method not in models and method not in CLOSED_FORMS]
    names = [_name(method) for method in methods]
    with checking("panel.cross_validate") as require:
        require(
            not unknown, f"no method {unknown}; there are {list(CLOSED_FORMS)}, and models by value"
        )
        require(len(set(names)) == len(names), f"methods={names}: each once")


def _name(method: Method) -> str:
    return method if isinstance(method, str) else type(method).__name__


def _run(method: Method, votes: Votes, ci_prob: float, random_seed: int) -> Estimate:
    if isinstance(method, str):
        return CLOSED_FORMS[method](votes, ci_prob=ci_prob)
    # what is hidden is a share of these very items, whichever labels are hidden
    return fit(votes, method, random_seed=random_seed).estimate(ci_prob=ci_prob, target="items")


def _without_one(votes: Votes) -> Iterator[tuple[Votes, dict[str, float]]]:
    """Hide the labels of one generator after another."""
    require_labelled(votes, "panel.cross_validate", generators=3)
    truth = true_prevalence(votes)
    for i in np.flatnonzero(~np.isnan(truth)):
        name = votes.generators[int(i)]
        yield votes.hide(name), {name: float(truth[i])}


def _without_items(
    votes: Votes, kept: int, repeats: int, rng: np.random.Generator
) -> Iterator[tuple[Votes, dict[str, float]]]:
    """Keep a few random labels of every generator; items that never had one are left out."""
    enough = votes.labelled.sum(axis=1) > kept
    expect(
        "panel.cross_validate",
        enough.any(),
        f"no generator has more than kept={kept} labelled items; keep fewer",
    )
    rows = np.flatnonzero((votes.truth != MISSING) & enough[votes.generator])
    rows = np.repeat(rows, votes.count[rows])
    names = [name for name, has_enough in zip(votes.generators, enough, strict=True) if has_enough]
    number = np.cumsum(enough) - 1
    shares = true_prevalence(votes)
    for _ in range(repeats):
        order = rng.permutation(len(rows))
        generator = votes.generator[rows[order]]
        # how many labels of the same generator came before, in random order
        before = np.zeros(len(rows), int)
        for i in np.flatnonzero(enough):
            before[generator == i] = np.arange((generator == i).sum())
        truth = np.where(before < kept, votes.truth[rows[order]], MISSING)
        hidden = Votes(
            votes.votes[rows[order]],
            truth,
            number[generator],
            names,
            votes.judges,
            judge_of_column=votes.judge_of_column,
            calibration="random",
        )
        yield hidden, dict(zip(names, shares[enough].tolist(), strict=True))


def _elpd(votes: Votes, method: Method, random_seed: int | np.random.Generator | None) -> float:
    if isinstance(method, str) or not hasattr(method, "_truth_given_votes"):
        return float("nan")
    predicted = loo(fit(votes, method, random_seed=random_seed), of="labels")
    return predicted.elpd / predicted.n
