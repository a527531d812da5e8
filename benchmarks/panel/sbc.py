"""Are the panel's models calibrated? Simulation-based calibration with NUTS.

    python benchmarks/panel/sbc.py                                 # every study, 500 simulations
    python benchmarks/panel/sbc.py --study correlated --simulations 1000   # one, continued

Truths are drawn from the priors, and votes from the truths, here with NumPy, not by the models: a
truth for each item, a vote for each judge on it, some votes missing, some truths kept as labels.
Studies: ``dawid_skene`` (pooled judges), ``separate`` (separate judges, better than chance),
``response`` (a missing vote is a response), ``classes`` (three), ``correlated``,
``vote_regression``, ``bias_pooling`` (pass rates drawn as the model has them) and
``bias_pooling_items`` (the same truths, but pass rates are those of drawn votes, whose error the
model has to estimate). Writes to benchmarks/panel/results: ``sbc_STUDY.jsonl`` (every rank), the
study's rows of ``sbc.csv`` (tests) and ``sbc_STUDY.png``.

Quick: ``--study bias_pooling bias_pooling_items --simulations 2 --workers 1``

Found: ranks of all 149 unknowns of the eight studies are uniform over 500 to 1,500 simulations
(least adjusted p .072; spread of the ranks .96 to 1.06). Since then the sampler has had other
coordinates of ``correlated``, ``dawid_skene`` and ``classes``: those rows are named former. In the
new ones, over 190, 150 and 200 simulations, ranks are uniform too (least adjusted p .40, .34 and 1,
spread .94 to 1.06, .90 to 1.06 of ``classes``; 1.1, .7 and 0 % of the fits with a divergent
transition).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from scipy.special import expit

from bayesjudge import BetaPrior, lab, panel
from bayesjudge.panel import _em
from bayesjudge.panel._summaries import Summary

RESULTS = Path(__file__).parent / "results"
SEED = 20_254
GENERATORS, JUDGES = ("x", "y"), ("a", "b", "c", "d")
ITEMS, LABELLED, MISSING = 40, 15, 0.1
#: Not flat, so that a wrong exponent of a prior shows.
SHARE = BetaPrior(2, 1.5)
POOLED = panel.PooledDawidSkene(prevalence=SHARE)
ANSWERING = panel.PooledDawidSkene(prevalence=SHARE, answering=BetaPrior(4, 2))
CORRELATED = panel.Correlated(prevalence=SHARE)
SEPARATE = panel.DawidSkene(
    prevalence=SHARE, sensitivity=BetaPrior(4, 2), specificity=BetaPrior(3, 2)
)
REGRESSION, BIAS = panel.VoteRegression(), panel.BiasPooling()
CLASSES = ("low", "middle", "high")
MULTICLASS = panel.MulticlassDawidSkene(share_concentration=2.0, diagonal=5.0, off_diagonal=1.2)
#: Of the pass rates in ``bias_pooling``: items with a label and without, by generator.
WITH_LABEL, WITHOUT = np.array([60, 40, 100, 30, 0]), np.array([200, 300, 0, 150, 250])
SLOPE, SPREAD, RESIDUAL = 0.3, 0.27, 0.22

Truths = dict[str, Any]


def spread_out(rng: np.random.Generator, mean: Any, scale: float, size: int) -> Truths:
    """Draw a population's mean and spread, and its members."""
    centre, spread = rng.normal(*mean), abs(rng.normal(0, scale))
    return {"mean": centre, "spread": spread, "members": centre + spread * rng.normal(size=size)}


def pooled_judges(rng: np.random.Generator) -> tuple[Truths, np.ndarray]:
    """Draw judges from a population: its parameters, and logits of a pass by judge and truth."""
    parts = {
        name: spread_out(rng, getattr(POOLED, name), getattr(POOLED, f"{name}_spread"), len(JUDGES))
        for name in ("discrimination", "leniency")
    }
    half = np.exp(parts["discrimination"]["members"]) / 2
    centre = parts["leniency"]["members"]
    known = {f"{name}_{k}": parts[name][k] for name in parts for k in ("mean", "spread")}
    return known, np.stack([centre - half, centre + half], axis=1)


def draw_pooled(rng: np.random.Generator, *, response: bool = False) -> Truths:
    """Draw shares and judges that err independently."""
    known, logits = pooled_judges(rng)
    truths = known | {
        "prevalence": rng.beta(*SHARE, len(GENERATORS)),
        "passing": expit(logits),
        "sensitivity": expit(logits[:, 1]),
        "specificity": expit(-logits[:, 0]),
    }
    if response:
        truths["answering"] = rng.beta(*ANSWERING.answering, (len(JUDGES), 2))
    return truths


def draw_separate(rng: np.random.Generator) -> Truths:
    """Draw judges one by one, again if one is not better than chance."""
    pairs = []
    while len(pairs) < len(JUDGES):
        pair = rng.beta(*SEPARATE.sensitivity), rng.beta(*SEPARATE.specificity)
        if sum(pair) > 1:
            pairs.append(pair)
    s, c = np.array(pairs).T
    return {
        "prevalence": rng.beta(*SEPARATE.prevalence, len(GENERATORS)),
        "passing": np.stack([1 - c, s], axis=1),
        "sensitivity": s,
        "specificity": c,
    }


def draw_correlated(rng: np.random.Generator) -> Truths:
    """Draw judges that have something in common on each item."""
    known, logits = pooled_judges(rng)
    effect = np.abs(rng.normal(0, CORRELATED.shared_effect, 2))
    z, weight = np.polynomial.hermite_e.hermegauss(101)
    mean = expit(logits[..., None] + effect[:, None] * z) @ (weight / weight.sum())
    return known | {
        "prevalence": rng.beta(*SHARE, len(GENERATORS)),
        "logits": logits,
        "shared_effect": effect,
        "sensitivity": mean[:, 1],
        "specificity": 1 - mean[:, 0],
    }


def draw_votes(truths: Mapping[str, Any], rng: np.random.Generator) -> panel.Votes:
    """Draw truths of items and votes on them."""
    generator = np.repeat(np.arange(len(GENERATORS)), ITEMS)
    truth = (rng.random(generator.size) < truths["prevalence"][generator]).astype(int)
    if "shared_effect" in truths:
        shift = rng.normal(size=truth.size) * truths["shared_effect"][truth]
        chance = expit(truths["logits"].T[truth] + shift[:, None])
    else:
        chance = truths["passing"].T[truth]
    vote = (rng.random(chance.shape) < chance).astype(int)
    given = truths["answering"].T[truth] if "answering" in truths else 1 - MISSING
    vote[rng.random(chance.shape) > given] = -1
    return collected(vote, truth, generator)


def collected(vote: np.ndarray, truth: np.ndarray, generator: np.ndarray, **names: Any) -> Any:
    """Keep the truth of the first items of each generator."""
    place = np.tile(np.arange(ITEMS), len(GENERATORS))
    seen = np.where(place < LABELLED, truth, -1)
    return panel.Votes(vote, seen, generator, GENERATORS, JUDGES, **names, calibration="random")


def draw_classes(rng: np.random.Generator) -> Truths:
    """Draw shares and confusions of three classes."""
    k = len(CLASSES)
    weight = np.full((k, k), MULTICLASS.off_diagonal)
    np.fill_diagonal(weight, MULTICLASS.diagonal)
    share = rng.dirichlet([MULTICLASS.share_concentration] * k, len(GENERATORS))
    confusion = np.array([[rng.dirichlet(row) for row in weight] for _ in JUDGES])
    return {"share": share, "confusion": confusion}


def draw_class_votes(truths: Mapping[str, Any], rng: np.random.Generator) -> panel.Votes:
    """Draw truths and votes among three classes."""
    generator = np.repeat(np.arange(len(GENERATORS)), ITEMS)
    truth = draw_index(truths["share"][generator], rng)
    vote = draw_index(truths["confusion"][:, truth].swapaxes(0, 1), rng)
    vote[rng.random(vote.shape) < MISSING] = -1
    return collected(vote, truth, generator, classes=CLASSES)


def draw_index(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an index for each row of probabilities."""
    below = chances.cumsum(axis=-1) < rng.random(chances.shape[:-1])[..., None]
    return np.minimum(below.sum(axis=-1), chances.shape[-1] - 1)


def draw_regression(rng: np.random.Generator) -> Truths:
    """Draw weights and votes, then truths given the votes; the share is that of these items."""
    level = spread_out(rng, REGRESSION.intercept, REGRESSION.generator_spread, len(GENERATORS))
    weight = spread_out(rng, REGRESSION.vote_weight, REGRESSION.judge_spread, len(JUDGES))
    generator = np.repeat(np.arange(len(GENERATORS)), ITEMS)
    common = rng.normal(0.5, 1.5, generator.size)
    vote = (rng.logistic(size=(generator.size, len(JUDGES))) < common[:, None]).astype(int)
    vote[rng.random(vote.shape) < MISSING] = -1
    score = np.where(vote < 0, 0.0, vote - 0.5)
    chance = expit(level["members"][generator] + score @ weight["members"])
    truth = (rng.random(chance.size) < chance).astype(int)
    return {
        "intercept": level["mean"],
        "generator_spread": level["spread"],
        "vote_weight_mean": weight["mean"],
        "judge_spread": weight["spread"],
        "vote_weight": weight["members"],
        "prevalence": np.bincount(generator, truth) / ITEMS,
        "drawn": (vote, truth, generator),
    }


def keep_drawn(truths: Mapping[str, Any], rng: np.random.Generator) -> panel.Votes:
    """Take the votes that the truths were drawn with."""
    return collected(*truths["drawn"])


def draw_biases(rng: np.random.Generator) -> Truths:
    """Draw levels and biases of five generators."""
    size = len(WITH_LABEL)
    typical = rng.normal(*BIAS.level)
    level = typical + BIAS.level_spread * rng.normal(size=size)
    bias = spread_out(rng, BIAS.bias, BIAS.bias_spread, size)
    return {
        "level_mean": typical,
        "bias_mean": bias["mean"],
        "bias_spread": bias["spread"],
        "bias": bias["members"],
        "prevalence": expit(level),
        "pass_rate": expit(level + bias["members"]),
    }


def draw_rates(truths: Mapping[str, Any], rng: np.random.Generator) -> Summary:
    """Draw labels, and pass rates with errors of known size."""
    g, rate, m, n = truths["prevalence"], truths["pass_rate"], WITH_LABEL, WITHOUT
    good = rng.binomial(m, g)
    share = np.where(m > 0, good / np.maximum(m, 1), g)
    size = len(m)
    seen = rate + SLOPE * (share - g) + RESIDUAL / np.sqrt(np.maximum(m, 1)) * rng.normal(size=size)
    other = rate + SPREAD / np.sqrt(np.maximum(n, 1)) * rng.normal(size=size)
    spread, residual = np.full(size, SPREAD), np.full(size, RESIDUAL)
    names = tuple("vwxyz")
    return Summary(
        names, m.astype(float), good.astype(float), seen, n.astype(float), other, spread, SLOPE,
        residual,
    )  # fmt: skip


class BiasOfRates(panel.BiasPooling):
    """The model of biases, of pass rates rather than votes."""

    def _sampling_form(self, summary: Summary) -> Any:
        import pymc as pm

        from bayesjudge.panel.models.bias_pooling import _observe

        with pm.Model(coords={"generator": summary.generators}) as made:
            _observe(summary, *self._unknowns(text=False))
        return made


def draw_biased_votes(truths: Mapping[str, Any], rng: np.random.Generator) -> panel.Votes:
    """Draw votes whose mean is the pass rate: better on good items, and alike on each item."""
    rows = []
    for i, (g, rate) in enumerate(zip(truths["prevalence"], truths["pass_rate"], strict=True)):
        labelled, size = 3 * WITH_LABEL[i], 3 * (WITH_LABEL[i] + WITHOUT[i])
        truth = rng.random(size) < g
        gap = min(SLOPE, rate / g, (1 - rate) / (1 - g))
        mean = np.clip(np.where(truth, rate + (1 - g) * gap, rate - g * gap), 1e-9, 1 - 1e-9)
        chance = rng.beta(2 * mean, 2 * (1 - mean))
        vote = (rng.random((size, len(JUDGES))) < chance[:, None]).astype(int)
        seen = np.where(np.arange(size) < labelled, truth, -1)
        rows.append(np.column_stack([vote, seen, np.full(size, i)]))
    table = np.concatenate(rows)
    return panel.Votes(
        table[:, :-2], table[:, -2], table[:, -1], tuple("vwxyz"), JUDGES, calibration="random"
    )


def likelihood_by_em(values: Mapping[str, np.ndarray], votes: panel.Votes) -> Truths:
    """Log-likelihood by the code of expectation-maximisation, which the model does not use."""
    problem = _em.Problem(votes)
    if "share" in values:
        shares, confusion = values["share"], values["confusion"]
    else:
        g, s, c = (values[name] for name in ("prevalence", "sensitivity", "specificity"))
        shares = np.stack([1 - g, g], axis=-1)
        confusion = np.stack([np.stack([c, 1 - c], -1), np.stack([1 - s, s], -1)], axis=-2)
    each = [
        float(problem.expect(_em.Rates(*pair))[0] @ problem.count)
        for pair in zip(shares, confusion, strict=True)
    ]
    return {"log_likelihood": np.array(each)}


class Study(NamedTuple):
    """A model with its own simulator."""

    posterior: lab.Nuts
    draw_prior: Callable[..., Truths]
    draw_data: Callable[..., Any]
    also: Callable[..., Any] | None = None


RATES = ("prevalence", "sensitivity", "specificity")
POPULATION = ("discrimination_mean", "discrimination_spread", "leniency_mean", "leniency_spread")
WEIGHTS = ("intercept", "generator_spread", "vote_weight_mean", "judge_spread", "vote_weight")
BIASES = ("prevalence", "pass_rate", "bias", "level_mean", "bias_mean", "bias_spread")


def nuts(model: Any, quantities: tuple[str, ...]) -> lab.Nuts:
    return lab.Nuts(panel.build_model, model, quantities, target_accept=0.95)


STUDIES = {
    "dawid_skene": Study(
        nuts(POOLED, RATES + POPULATION), draw_pooled, draw_votes, likelihood_by_em
    ),
    "separate": Study(nuts(SEPARATE, RATES), draw_separate, draw_votes, likelihood_by_em),
    "response": Study(
        nuts(ANSWERING, (*RATES, "answering")),
        partial(draw_pooled, response=True),
        draw_votes,
    ),
    "classes": Study(
        nuts(MULTICLASS, ("share", "confusion")),
        draw_classes,
        draw_class_votes,
        likelihood_by_em,
    ),
    "correlated": Study(
        nuts(CORRELATED, (*RATES, "shared_effect", *POPULATION)), draw_correlated, draw_votes
    ),
    "vote_regression": Study(
        nuts(REGRESSION, ("prevalence", *WEIGHTS)), draw_regression, keep_drawn
    ),
    "bias_pooling": Study(nuts(BiasOfRates(), BIASES), draw_biases, draw_rates),
    "bias_pooling_items": Study(nuts(BIAS, BIASES), draw_biases, draw_biased_votes),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", nargs="*", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--workers", type=int, help="processes; all cores by default")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    asked = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    for name in asked.study:
        begin = time.perf_counter()
        study = lab.sbc(
            **STUDIES[name]._asdict(),
            simulations=asked.simulations,
            random_seed=SEED,
            path=RESULTS / f"sbc_{name}.jsonl",
            workers=asked.workers,
            resume=not asked.fresh,
        )
        written(name, study, time.perf_counter() - begin)


def written(name: str, study: lab.RankStudy, seconds: float) -> None:
    """Write the tests and the picture of one study."""
    once = study.table.drop_duplicates("simulation")
    table = study.uniformity().reset_index()
    table.insert(0, "study", name)
    table["divergent_fits"] = once["divergent"].gt(0).mean()
    file = RESULTS / "sbc.csv"
    earlier = pd.read_csv(file) if file.exists() else table.iloc[:0]
    kept = earlier[earlier["study"] != name]
    pd.concat([kept, table] if len(kept) else [table]).to_csv(
        file, index=False, float_format="%.4g"
    )
    ax = lab.plot_ranks(study, ax=plt.subplots(figsize=(8, 5), layout="constrained")[1])
    n = len(once)
    ax.set_title(f"{name.replace('_', ' ')}: {n:,} simulations", loc="left")
    ax.figure.savefig(RESULTS / f"sbc_{name}.png", dpi=100)
    print(
        f"{name}: {len(once)} simulations, {seconds:.0f} s now, "
        f"{once['seconds'].median():.2f} s a simulation (median), "
        f"{once['divergent'].gt(0).mean():.1%} of the fits with a divergent transition"
    )
    print(table.round(4).to_string(index=False), flush=True)


if __name__ == "__main__":
    main()
