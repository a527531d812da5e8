"""Write down what every estimator says of every data set, and compare two such files.

    python tools/snapshot.py before.json                    # a few CPU minutes, most of it NUTS
    python tools/snapshot.py before.json --no-nuts          # closed forms and exact posteriors only
    python tools/snapshot.py part.json --only panel repeats/composo   # datasets that start so
    python tools/snapshot.py --compare before.json after.json         # exits 1 where they differ

Run it before a change that must leave all numbers as they are, and after it. Data come from
`bayesjudge.datasets`, `simulate` and a folder ``--shared`` (../shared beside the checkout). A
record has ``dataset``, ``function``, ``kind``, ``quantity``, ``labels`` (dimension, or '' where
unknown, to value), ``value``, ``low``, ``high`` and ``raw``. One of kind ``nuts`` holds the mean,
the 2.5 % and 97.5 % quantiles as those, further ``sd`` and ``median``, the Monte Carlo error of
each in ``mcse``, ``ess_bulk`` and ``ess_tail``. A function that refuses its data leaves a record
``refused``; one that fails in any other way ``failed``, and the run exits 1.

Kinds ``closed``, ``exact`` and ``seeded`` (resampling or simulation, with a fixed seed) differ
beyond 1e-12 relative, or 1e-15 near zero; ``nuts`` beyond 4 combined Monte Carlo errors. Records
are matched by data set, function, quantity and the values of their labels: not by dimension, class
or file names. After a change of names edit the part "What changes when names change" and nothing
else; every call of the package's functions is there.
"""

# ruff: noqa: D102, D103
from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats

import bayesjudge as bj
from bayesjudge import datasets
from bayesjudge.ratings import experiment

SHARED = Path(__file__).parents[1].parent / "shared"
NAN = float("nan")


class Row(NamedTuple):
    """One number or interval, before it is known which data set and function it is of."""

    quantity: str
    labels: dict[str, Any]
    value: float
    low: float = NAN
    high: float = NAN
    raw: float = NAN
    more: dict[str, Any] | None = None


class Job(NamedTuple):
    """One call: `run` gives what `rows_of` can take apart."""

    dataset: str
    function: str
    run: Callable[[], Any]
    kind: str = "closed"


# ==================================================================================================
# What changes when names change: everything below, up to the next double line, and nothing else.
# ==================================================================================================

Refused = bj.InputError
#: Quantities and labels that are now called otherwise, as they were called first.
RENAMED: dict[str, str] = {"tracking": "following", "concentration": "constancy"}
DRAWS = {"chains": 2, "draws": 500, "tune": 500, "cores": 1, "random_seed": 1, "progress": False}


# Results to rows ---------------------------------------------------------------------------------


def rows_of(found: Any) -> Iterator[Row]:
    """Take a result of any type apart."""
    if isinstance(found, bj.Estimate):
        yield from rows_of_estimate(found)
    elif isinstance(found, bj.Fit):
        yield from rows_of_draws(found)
    elif isinstance(found, bj.ratings.Performance):
        yield from rows_of_estimate(found.estimate())
        yield from rows_of_estimate(found.best_estimate())
    elif isinstance(found, bj.bias.certificates.Certificate):
        fields = ("tolerance", "alpha", "noise_scale", "shift_bound", "shift_prob", "noise_prob")
        for name in (*fields, "estimation_prob", "neighbours", "needed", "range_only", "certified"):
            yield Row(name, {}, float(getattr(found, name)))
    elif isinstance(found, bj.bias.certificates.Release):
        yield Row("released", {"": "sum"}, float(found.scores.sum()))
        yield Row("noise", {}, found.noise)
        yield from rows_of(found.correlation.to_dict())
    elif isinstance(found, pd.DataFrame):
        yield from rows_of_frame(found)
    elif isinstance(found, pd.Series):
        yield from rows_of_frame(found.to_frame(str(found.name or "value")))
    elif hasattr(found, "_asdict"):
        yield from rows_of(found._asdict())
    elif isinstance(found, list) and found and isinstance(found[0], bj.Estimate):
        for one in found:
            yield from rows_of_estimate(one)
    elif isinstance(found, dict):
        for name, value in found.items():
            for row in rows_of(value):
                below = "" if row.quantity == "value" else f" {row.quantity}"
                yield row._replace(quantity=f"{name}{below}")
    elif isinstance(found, str) or found is None:
        return
    else:
        array = np.asarray(found, dtype=float)
        for index in np.ndindex(array.shape):
            where = ", ".join(map(str, index))
            yield Row("value", {"": where} if index else {}, float(array[index]))


def rows_of_estimate(found: bj.Estimate) -> Iterator[Row]:
    """One row an entry; aggregation, cutoff and prior were a part of the name once."""
    clipped = any(one.raw is not None for one in found.quantities.values())
    for name, one in found.quantities.items():
        raw = one.value if one.raw is None else one.raw
        for i, at in enumerate(one.labels):
            where = dict(zip(one.dims, at, strict=True))
            quantity, labels = once_called(name, where)
            yield Row(quantity, labels, *one.row(i), raw=float(raw[i]) if clipped else NAN)


def once_called(name: str, where: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """``mse (srs/srs)`` and ``recall (hrs/hrs`` with the label ``at 0.5)``."""
    told = [where.pop("aggregation")] if "aggregation" in where else []
    told += [f"at {where.pop('cutoff'):g}"] if "cutoff" in where else []
    full = f"{name} ({', '.join(told)})" if told else name
    quantity, _, rest = full.partition(", ")
    return quantity, ({"definition": rest} if rest else {}) | where


def rows_of_frame(found: pd.DataFrame) -> Iterator[Row]:
    """Every number of a table; text is left out."""
    names = [str(name) if name else "" for name in found.index.names]
    for i, (index, numbers) in enumerate(found.iterrows()):
        plain = isinstance(found.index, pd.RangeIndex)
        values = (i,) if plain else index if isinstance(index, tuple) else (index,)
        labels = dict(zip(["row"] if plain else names, values, strict=True))
        for column, number in numbers.items():
            if isinstance(number, bool | int | float | np.number | np.bool_):
                yield Row(str(column), labels, float(number))


def rows_of_draws(fit: bj.Fit) -> Iterator[Row]:
    """Moments and quantiles of every scalar that answers the question."""
    for name in fit.quantities:
        variable = fit.idata["posterior"][name].transpose("chain", "draw", ...)
        values = variable.to_numpy()
        for index in np.ndindex(values.shape[2:]):
            at = zip(variable.dims[2:], index, strict=True)
            labels = {str(dim): str(variable[dim].to_numpy()[i]) for dim, i in at}
            yield summary(name, labels, values[(..., *index)])


def batches(fit: bj.Fit, number: int = 5) -> list[bj.Fit]:
    """The same fit with a part of its draws each, for Monte Carlo errors of what is made of it."""
    posterior = fit.idata["posterior"].to_dataset()
    found = []
    for chain, part in product(range(posterior.sizes["chain"]), range(number)):
        size = posterior.sizes["draw"] // number
        idata = fit.idata.copy()
        idata["posterior"] = posterior.isel(
            chain=[chain], draw=slice(part * size, (part + 1) * size)
        )
        found.append(replace(fit, idata=idata))
    return found


# prevalence --------------------------------------------------------------------------------------

P = bj.prevalence
B = P.budget
C = P.classes
#: One judge, the five counts of which are labels by truth.
JUDGE = {"sensitivity": 0.9, "specificity": 0.7}


def prevalence_closed(name: str, counts: Any) -> Iterator[Job]:
    """Every estimate of one table of counts, NUTS apart."""
    calls = {
        "naive": partial(P.naive),
        "human_only.wilson": partial(P.human_only),
        "human_only.exact": partial(P.human_only, interval="exact"),
        "rogan_gladen.lang_reiczigel": partial(P.rogan_gladen),
        "rogan_gladen.delta": partial(P.rogan_gladen, interval="delta"),
        "rogan_gladen.80": partial(P.rogan_gladen, ci_prob=0.8),
        "conditional_calibration": partial(P.conditional_calibration),
        "difference.tuned": partial(P.difference),
        "difference.plain": partial(P.difference, g="identity"),
        "post_stratified": partial(P.post_stratified),
        "propensity_weighted.tuned": partial(P.propensity_weighted),
        "propensity_weighted.plain": partial(P.propensity_weighted, g="identity"),
    }
    for function, call in calls.items():
        yield Job(name, function, partial(call, counts))
    yield Job(
        name, "bootstrap", partial(P.bootstrap, counts, resamples=1000, random_seed=1), "seeded"
    )
    jeffreys, told = P.ErrorRates.jeffreys(), told_error_rates()
    if counts.predictive:
        jeffreys, told = P.PredictiveValues(), told_predictive_values()
    exact = {
        "exact.eti+": partial(P.exact, counts),
        "exact.eti": partial(P.exact, counts, interval="eti"),
        "exact.hdi": partial(P.exact, counts, interval="hdi", ci_prob=0.9),
        "exact.jeffreys": partial(P.exact, counts, jeffreys),
        "exact.told": partial(P.exact, counts, told),
        "label_next": partial(B.label_next, counts),
    }
    for function, call in exact.items():
        yield Job(name, function, call, "exact")


def told_error_rates() -> Any:
    """Priors of a user who knows the judge."""
    return P.ErrorRates(
        prevalence=bj.BetaPrior(2, 3),
        sensitivity=bj.BetaPrior(18, 2),
        specificity=bj.BetaPrior(7, 3),
        better_than_chance=False,
    )


def told_predictive_values() -> Any:
    """The same for labels by verdict, whose priors were flat whatever one told."""
    return P.PredictiveValues(better_than_chance=False)


def prevalence_counts(*cells: Any, design: str, **more: Any) -> Any:
    """Six counts: items and passes without a label; good ones, passed; bad ones, failed."""
    return P.Counts(*cells, calibration=design, **more)


def prevalence_jobs(data: Data) -> Iterator[Job]:
    """Shipped, shared and simulated tables, by how their labels were drawn."""
    shipped, counted = datasets.xstest(), datasets.santa_clara()
    yield Job("xstest", "xstest_counts", datasets.xstest_counts)
    read = partial(P.Counts.from_frame, unparsed="fail")
    kept = datasets.keep_labels(shipped, 100, 1, by="system")
    one = kept[kept["system"] == "llama2orig"]
    typed = by_type(data.xstest())
    # rows of one item under several systems are counted as one table all the same
    loose = kept.drop(columns="item")
    tables = {
        "prevalence/xstest systems": read(kept, calibration="random", by="system"),
        "prevalence/xstest one system": read(one, calibration="random"),
        "prevalence/xstest pooled": read(loose, calibration="random"),
        "prevalence/xstest dropped": read(kept, calibration="random", by="system", unparsed="drop"),
        "prevalence/xstest by truth": read(
            labels_by(shipped, "truth", 60), calibration="by_truth", by="system"
        ),
        "prevalence/xstest by verdict": read(
            labels_by(shipped, "verdict", 60), calibration="by_verdict", by="system"
        ),
        "prevalence/xstest strata": read(
            typed.assign(truth=typed["truth"].where(typed["chosen"] < 0.3)),
            calibration="random",
            stratum="stratum",
        ),
        "prevalence/xstest propensity": read(
            typed.assign(truth=typed["truth"].where(typed["chosen"] < typed["propensity"])),
            calibration="known_propensity",
            propensity="propensity",
        ),
        "prevalence/xstest elsewhere": read(
            one,
            calibration="random",
            external_labels=shipped[shipped["system"] == "gpt4"].dropna().head(100),
        ),
        "prevalence/santa clara": P.Counts.from_counts(counted, calibration="separate"),
        "prevalence/santa clara v2": prevalence_counts(
            3330, 50, 157, 130, 3324, 3308, design="separate"
        ),
        **{
            f"prevalence/simulated {design}": P.Counts.from_frame(
                P.simulate(calibration=design, random_seed=1),
                calibration=design,
                propensity="propensity" if design == "known_propensity" else None,
            )
            for design in P.DESIGNS
        },
    }
    for name, counts in tables.items():
        yield from prevalence_closed(name, counts)
        if "one system" in name or "simulated" in name or "clara" in name:
            call = partial(P.compare_designs, counts)
            yield Job(name, "what_designs_buy", call, "exact")
    yield from prevalence_reference(data.reference("prevalence"))
    yield from prevalence_classes(data.xstest())
    sampled = {
        "systems": None,
        "one system": None,
        "by truth": P.PooledErrorRates(),
        "by verdict": P.PredictiveValues(),
        "strata": None,
        "propensity": None,
        "elsewhere": None,
    }
    for name, model in sampled.items():
        counts = tables[f"prevalence/xstest {name}"]
        yield from with_made(
            f"prevalence/xstest {name}",
            partial(P.fit, counts, model, **DRAWS),
            {"contrasts": P.contrasts, "ranking": P.ranking} if name == "systems" else {},
        )
    counts = tables["prevalence/santa clara"]
    yield Job("prevalence/santa clara", "fit", partial(P.fit, counts, **DRAWS), "nuts")


def prevalence_reference(cases: dict[str, Any]) -> Iterator[Job]:
    """Inputs of the reference file: tables by truth, allocations, widths and plans."""
    name = "prevalence/reference"
    for i, case in enumerate(cases["ci"] + cases["bayes_posterior_quadrature"]):
        g = case["inputs"]
        if "p" in g:
            g = g | {"k": g["p"] * g["n"], "s1": g["q1"] * g["m1"], "s0": g["q0"] * g["m0"]}
        cells = [round(g[key]) for key in ("n", "k", "m1", "s1", "m0", "s0")]
        counts = prevalence_counts(*cells, design="by_truth")
        yield from prevalence_closed(f"{name} {i}", counts)
    for i, case in enumerate(cases["allocation"]):
        g = case["inputs"]
        judge = {"sensitivity": g["q1_pilot"], "specificity": g["q0_pilot"]}
        about = {**judge, "pilot": g["m_pilot"]}
        yield Job(name, f"allocate {i}", partial(B.allocate, g["m"], g["p"], **about))
    for i, case in enumerate(cases["prop61"]):
        yield Job(name, f"judge_regime {i}", partial(B.judge_regime, case["q"], case["q"]))
    rates = np.array([0.2, 0.5, 0.9])
    yield Job(name, "wilson", partial(P.wilson, [0, 8, 50], [50, 10, 50]))
    yield Job(name, "clopper_pearson", partial(P.clopper_pearson, [0, 8, 50], [50, 10, 50]))
    yield Job(name, "interval_width", partial(B.interval_width, 100, 80, rates, **JUDGE))
    call = partial(B.labels_by_design, 0.1, prevalence=0.5, **JUDGE, items=5000)
    yield Job(name, "labels_by_design", call)
    widths = partial(B.width_curves, [50, 100, 400], [0.4, 0.6, 0.8], **JUDGE, items=1000)
    yield Job(name, "width_curves", lambda: widths().set_index(["labelled", "pass_rate", "split"]))
    about = {"prevalence": 0.7, **JUDGE, "items": 500, "repeats": 4, "random_seed": 1}
    for design in ("random", "by_truth", "by_verdict"):
        call = partial(B.expected_width, **about, labelled=100, calibration=design)
        yield Job(name, f"expected_width.{design}", call, "seeded")
    yield Job(name, "plan", partial(B.plan, [50, 100], **about), "seeded")


def prevalence_classes(table: pd.DataFrame) -> Iterator[Job]:
    """Three classes of XSTest by two judges, and pairs of verdicts in both orders."""
    read = partial(C.ClassCounts.from_frame, calibration="random", truth="final_label")
    judges, systems = ("gpt4_label", "strmatch_label"), ("llama2new", "mistralinstruct")
    for judge, system in product(judges, systems):
        known = table[(table["model"] == system) & (table[judge] != "INVALID")]
        chosen = np.random.default_rng(2024).permutation(len(known)) < 150
        part = known.assign(final_label=known["final_label"].where(chosen))
        name = f"prevalence/classes {judge} {system}"
        try:
            counts = read(part, verdict=judge)
        except Refused as error:
            yield Job(name, "read", partial(raising, error))
            continue
        for method in ("least_squares", "inverse"):
            call = partial(P.rogan_gladen, counts, method=method)
            yield Job(name, f"class_shares.{method}", call)
        if (judge, system) == ("gpt4_label", "llama2new"):
            call = partial(C.fit, counts, C.Confusions(right=2.0), **DRAWS)
            yield Job(name, "fit", call, "nuts")
    rng = np.random.default_rng(1)
    words = np.array(["win", "tie", "loss"])
    truth = rng.choice(3, 300, p=[0.5, 0.2, 0.3])
    told = [np.where(rng.random(300) < 0.7, truth, rng.integers(3, size=300)) for _ in "12"]
    pairs = pd.DataFrame({"verdict": words[told[0]], "swapped": words[told[1]]})
    pairs["truth"] = np.where(np.arange(300) < 120, words[truth], None)
    counts = C.ClassCounts.from_pairs(pairs, calibration="random")
    yield Job("prevalence/pairs simulated", "class_shares", partial(P.rogan_gladen, counts))
    call = partial(C.fit, counts, **DRAWS)
    yield Job("prevalence/pairs simulated", "fit", call, "nuts")


# panel -------------------------------------------------------------------------------------------

V = bj.panel.Votes
RULES = [("majority", None), *product(("veto", "at_least_valid"), (1, 4, 8))]


def panel_closed(name: str, votes: Any) -> Iterator[Job]:
    """Every estimate of one panel, NUTS apart."""
    module = bj.panel
    calls = {
        "panel_mean": module.panel_mean,
        "rogan_gladen": module.rogan_gladen,
        "dawid_skene_em": module.dawid_skene_em,
        "difference": module.difference,
        "logit_shift": module.logit_shift,
        "logit_shift.identity": partial(module.logit_shift, scale="identity"),
        "model_assisted": module.model_assisted,
        "effective_judges": module.effective_judges,
        **{
            f"voting.{kind} {n or ''}".strip(): partial(
                module.voting, rule=module.VotingRule(kind, n)
            )
            for kind, n in RULES
        },
    }
    for function, call in calls.items():
        yield Job(name, function, partial(call, votes))
    if len(votes.judges) < 20:  # crowds have hundreds of workers, and pairs of workers
        pairs = {
            "dawid_skene_em.response": partial(module.dawid_skene_em, missing="response"),
            "dependence": module.dependence,
            "homogeneity": module.homogeneity,
            "vote_correlation": partial(bj.panel.checks.correlate_votes, truth=1),
        }
        for function, call in pairs.items():
            yield Job(name, function, partial(call, votes))
    for kind, n in RULES:
        rates = partial(module.ensemble_rates, votes, module.VotingRule(kind, n))
        yield Job(name, f"ensemble_rates.{kind} {n}", rates)
    for kind in ("veto", "at_least_valid"):
        rule = partial(module.choose_threshold, votes, kind)
        yield Job(name, f"choose_threshold.{kind}", lambda rule=rule: rule().threshold)


def panel_jobs(data: Data) -> Iterator[Job]:
    """Real and simulated panels; regressions and NUTS on those that are small enough."""
    module, panels = bj.panel, {}
    for level in ("repaired", "partly_repaired"):
        table, judges = data.code_feedback(level)
        votes = V.from_frame(table, judges=judges, truth="human")
        panels[f"panel/code feedback {level}"] = votes
        panels[f"panel/code feedback {level}, one hidden"] = votes.hide(votes.generators[0])
    for name in ("rte", "bluebird"):
        table = data.crowd(name)
        read = partial(V.from_frame, judge="worker", vote="label", generator=None)
        panels[f"panel/{name}"] = read(table)
        panels[f"panel/{name} without labels"] = read(table, truth=None)
    rows, counts = data.caries()
    nobody, zero = np.full(len(rows), -1), np.zeros(len(rows))
    dentists = [f"dentist {j}" for j in range(1, 6)]
    panels["panel/caries"] = V(rows, nobody, zero, ["teeth"], dentists, count=counts)
    anesthesia = V.from_frame(
        data.read_csv("anesthesia_caries/anesthesia.csv"),
        judge="rater",
        vote="rating",
        generator=None,
        truth=None,
        classes=[1, 2, 3, 4],
        repeated="keep",
    )
    panels["panel/anesthesia"] = anesthesia
    panels["panel/llmbar"] = V.from_frame(
        data.llmbar_votes(), judge="judge", vote="vote", generator=None
    )
    panels["panel/simulated"] = V.from_frame(module.simulate(random_seed=1), calibration="random")
    panels["panel/simulated dependent"] = V.from_frame(
        module.simulate(shared_effect=1.5, labelled=(100, 100, 0), random_seed=2),
        calibration="random",
    )
    for name, votes in panels.items():
        yield from panel_closed(name, votes)
    for name, solver in (
        ("panel/simulated", "source"),
        ("panel/code feedback repaired, one hidden", "exact"),
        ("panel/code feedback repaired, one hidden", "source"),
    ):
        call = partial(module.regression, panels[name], solver=solver)
        yield Job(name, f"regression.{solver}", call)
    yield from panel_reference(data)
    table, judges = data.code_feedback("repaired")
    small = table.sample(240, random_state=1)
    small = V.from_frame(small, judges=judges[:6], truth="human")
    small = small.hide(small.generators[0])
    for function, model in {
        "fit.dawid_skene": module.PooledDawidSkene(),
        "fit.unrelated": module.DawidSkene(),
        "fit.response": module.PooledDawidSkene(answering=bj.BetaPrior()),
        "fit.correlated": module.Correlated(nodes=11),
        "fit.bias_pooling": module.BiasPooling(),
        "fit.vote_regression": module.VoteRegression(),
    }.items():
        yield from with_made(
            "panel/code feedback 240 items",
            partial(module.fit, small, model, **DRAWS),
            {"loo": panel_loo} if function == "fit.dawid_skene" else {},
            function,
        )
    spec = module.MulticlassDawidSkene(diagonal=4.8, off_diagonal=1.067)
    call = partial(module.fit, anesthesia, spec, **DRAWS)
    yield Job("panel/anesthesia", "fit", call, "nuts")


def panel_loo(fit: bj.Fit) -> dict[str, float]:
    """What leaving labels out gives: three numbers."""
    found = bj.panel.loo(fit)
    return {"elpd": found.elpd, "se": found.se, "p_loo": found.p_loo}


def panel_reference(data: Data) -> Iterator[Job]:
    """The published 14 x 14 pass rates, with the generators that have labels known."""
    from bayesjudge.panel._pass_rate_regression import PassRates, minimise

    counts = data.json("data/code_feedback/counts_14x14.json")
    table = data.reference("panel")["table1"]
    for level, solver in (("noRepair", "exact"), *product(("fc", "fcnhp"), ("source",))):
        rates = np.array(counts[level]["valid"]) / np.array(counts[level]["labelled"])
        own = [table.get(name, {}).get("precision", NAN) for name in counts["generators"]]
        nothing = np.full(14, NAN)
        known = PassRates(rates, np.array(own), nothing, nothing)

        def solve(known: Any = known, solver: Any = solver) -> dict[str, Any]:
            found = minimise(known, solver=solver, starts=1)
            return {"loss": found.loss, "prevalence": found.prevalence}

        yield Job("panel/code feedback 14x14", f"regression.{solver} {level}", solve)


# bias --------------------------------------------------------------------------------------------


def bias_closed(name: str, shifts: Any) -> Iterator[Job]:
    """Every estimate and certificate of one set of shifts, NUTS apart."""
    module, promised = bj.bias, bj.bias.certificates
    calls = {
        "rms_shift.normal": module.rms_shift,
        "rms_shift.distribution_free": partial(module.rms_shift, interval="distribution_free"),
        "variance_parts": module.variance_parts,
    }
    for function, call in calls.items():
        yield Job(name, function, partial(call, shifts))
    for prior in ("worst", "spread"):
        yield Job(name, f"exact.{prior}", partial(module.exact, shifts, prior=prior), "exact")
        if shifts.scale == (1, 5):  # a hundred steps take long
            call = partial(module.exact, shifts, prior=prior, step=1)
            yield Job(name, f"exact.{prior} whole", call, "exact")
    for judge in shifts.judges:
        own = shifts.only(judge=judge) if len(shifts.judges) > 1 else shifts
        for basis, noise, center in (
            (None, 0.0, "fixed"),
            ("tail", 0.01, "fixed"),
            ("rms", 0.0, "mean"),
            ("predictive", 0.0, "fixed"),
            ("source", 0.01, "fixed"),
        ):
            about = {"failure_prob": 0.05, "units": "range", "basis": basis, "center": center}
            call = partial(promised.certify, own, tolerance=0.2, noise_prob=noise, **about)
            yield Job(name, f"certify.{judge} {basis} {noise} {center}", call)
        about = {"failure_prob": 0.05, "units": "range", "neighbours": (50, 200, 1000)}
        call = partial(promised.trade_off, own, tolerances=(0.1, 0.3), **about)
        yield Job(name, f"trade_off.{judge}", call)


def bias_jobs(data: Data) -> Iterator[Job]:
    """Published neighbours, prompts and orders; the reference file; simulated shifts."""
    module, promised = bj.bias, bj.bias.certificates
    judges = data.json("data/bias_neighbours/neighbour_differences.json")["judges"]
    for judge, own in judges.items():
        for kind in ("intrinsic", "formatting"):
            shifts = module.Shifts.from_differences(own[kind]["diffs"], scale=(1, 5))
            yield from bias_closed(f"bias/neighbours {judge} {kind}", shifts)
        values = [own[kind]["value"] for kind in ("formatting", "intrinsic")]
        call = partial(promised.noise.without_repeat_noise, *values)
        yield Job(f"bias/neighbours {judge}", "without_repeat_noise", call)
    about = {"scale": (1, 10), "design": "item", "baseline": "base", "repeats": "mean"}
    read = partial(module.Shifts.from_frame, **about, missing="drop")
    for judge, by_subset in product(("full", "mini"), (False, True)):
        for prompt in ("cal-low", "cal-cross", "criteria"):
            table = data.composo_shifts(judge, prompt, by_subset=by_subset)
            name = f"bias/composo {judge} {prompt}{' by subset' * by_subset}"
            yield from bias_closed(name, read(table))
    few = read(data.composo_shifts("mini", "cal-low", by_subset=True, items=100))
    certify = partial(promised.certify, tolerance=0.3, failure_prob=0.1, units="range")
    made = {
        "certify": certify,
        "tail_probability": bias_tail_probability,
    }
    run = partial(module.fit, few, **DRAWS)
    yield from with_made("bias/composo 100 items", run, made)
    whole = module.Shifts.from_frame(
        module.simulate(random_seed=1), scale=(0, 100), design="item", rerun="rerun"
    )
    yield from bias_closed("bias/simulated", whole)
    yield Job("bias/simulated", "fit", partial(module.fit, whole, **DRAWS), "nuts")
    several = module.Shifts.from_frame(
        module.simulate(judges=["a", "b", "c"], items=40, random_seed=2),
        **{"scale": (0, 100), "design": "item", "rerun": "rerun", "judge": "judge"},
    )
    yield from bias_closed("bias/simulated judges", several)
    model = module.NormalShifts(mean_shift=0.1)
    call = partial(module.fit, several, model, **DRAWS)
    yield Job("bias/simulated judges", "fit", call, "nuts")
    batch = module.Shifts.from_frame(
        module.simulate(items=40, random_seed=3), scale=(0, 100), design="batch"
    )
    yield from bias_closed("bias/simulated batch", batch)
    orders = module.Orders.from_frame(data.llmbar(), judge=["llm", "strategy"], missing="drop")
    yield Job("bias/llmbar orders", "position_bias", partial(module.position_bias, orders))
    factors = list("abc")
    adherence = partial(module.schematic_adherence, factor_table(), factors=factors, resamples=100)
    yield Job("bias/factors", "schematic_adherence", partial(adherence, random_seed=1), "seeded")
    yield from bias_reference(data.reference("bias"))


def bias_tail_probability(fit: bj.Fit) -> dict[str, Any]:
    """By perturbation, called as its root-mean-square shift."""
    found = bj.bias.certificates.bounds.tail_probability(fit, [0.5, 1.0, 2.0])
    return {f"rms_shift[{', '.join(map(str, at))}]": chances for at, chances in found.items()}


def bias_reference(cases: dict[str, Any]) -> Iterator[Job]:
    """Inputs of the reference file: noise, failure, bounds, certificates and combinations."""
    module, promised, name = bj.bias, bj.bias.certificates, "bias/reference"
    for i, case in enumerate(cases["sigma_max"]):
        g = case["inputs"]
        about = {"dim": g["d"], "tolerance": g["tau"], "failure_prob": g["delta"]}
        for bound in ("laurent_massart", "chi2"):
            call = partial(promised.noise.noise_scale, g["rms_sensitivity"], **about, bound=bound)
            yield Job(name, f"noise_scale.{bound} {i}", call)
        yield Job(
            name,
            f"best_split {i}",
            partial(promised.noise.best_split, g["rms_sensitivity"], **about),
        )
        call = partial(promised.noise.center_shift, g["rms_sensitivity"], dim=g["d"])
        yield Job(name, f"center_shift {i}", call)
    for i, case in enumerate(cases["laurent_massart"]):
        for bound in ("laurent_massart", "chi2"):
            call = partial(promised.noise.squared_radius, case["d"], case["delta_B"], bound)
            yield Job(name, f"squared_radius.{bound} {i}", call)
    for i, case in enumerate(cases["exact_failure"]):
        g = case["inputs"]
        known = {"lengths": g["norms"], "probs": g["probs"], "dim": g["d"], "tolerance": g["tau"]}
        call = partial(promised.noise.exact_failure, case["sigma_max"], **known)
        yield Job(name, f"exact_failure {i}", call)
        call = partial(promised.noise.exact_noise_scale, **known, failure_prob=g["delta"])
        yield Job(name, f"exact_noise_scale {i}", call)
    for i, case in enumerate(cases["finite_m"]):
        g = case["inputs"]
        most = int(g["tau"] ** 2 * g["delta"] / 2 * g["m"])
        shifts = module.Shifts.from_differences(
            np.arange(g["m"]) < most, scale=(0, 1), items=g["m"]
        )
        about = {"tolerance": g["tau"], "failure_prob": g["delta"], "units": "points"}
        for basis in ("source", "tail"):
            call = partial(promised.certify, shifts, **about, basis=basis)
            yield Job(name, f"certify.{basis} {i}", call)
    for i, case in enumerate(cases["combination"]):
        for rule in ("rms", "conservative"):
            components = dict(zip("abc", case["components"], strict=True))
            call = partial(promised.noise.combine, components, rule)
            yield Job(name, f"combine.{rule} {i}", lambda call=call: call().value)
    for i, case in enumerate(cases["shrinkage"]):
        g = case["inputs"]
        about = {"tolerance": g["tau"], "failure_prob": g["delta"]}
        yield Job(
            name, f"largest_alpha {i}", partial(promised.noise.largest_alpha, g["rms"], **about)
        )
    for prob in (0.01, 0.05, 0.2):
        call = partial(promised.bounds.neighbours_needed, prob, groups=2)
        yield Job(name, f"neighbours_needed {prob}", call)
    lengths = np.repeat([0.0, 1.0, 2.0], [200, 80, 20])
    bounds = {
        "tail_bound": partial(promised.bounds.tail_bound, shift_prob=0.04, estimation_prob=0.01),
        "rms_bound": partial(promised.bounds.rms_bound, estimation_prob=0.01),
        "predictive_bound": partial(promised.bounds.predictive_bound, failure_prob=0.05),
    }
    for function, call in bounds.items():
        yield Job(name, function, partial(call, lengths, largest=4))
    shifts = module.Shifts.from_differences([0] * 250 + [1] * 50, scale=(1, 5))
    about = {"tolerance": 0.5, "failure_prob": 0.05, "units": "points"}
    card = promised.certify(shifts, **about, alpha=0.25, noise_prob=0.01)
    scores = np.random.default_rng(0).integers(1, 6, 300)
    call = partial(promised.release, scores, card, center=3, random_seed=1)
    yield Job(name, "release", call, "seeded")


# repeats -----------------------------------------------------------------------------------------


def repeats_closed(name: str, scores: Any) -> Iterator[Job]:
    """Every estimate of one table of repeated scores, NUTS apart."""
    module = bj.repeats
    calls = {
        "anova": module.anova,
        "as_if_iid": module.as_if_iid,
        "predict_means": partial(module.predict_means, repeats=4),
        "order_effects": module.order_effects,
    }
    for function, call in calls.items():
        yield Job(name, function, partial(call, scores))
    for c in (1.0, 0.5):
        yield Job(name, f"exact {c}", partial(module.exact, scores, concentration=c), "exact")


def repeats_jobs(data: Data) -> Iterator[Job]:
    """Composo's eight repeats of two judges, whole and by item; rules; the reference file."""
    module, scale = bj.repeats, range(1, 11)
    read = partial(
        module.Scores.from_frame, scale=scale, item="item", judge="judge", order="repeat"
    )
    for prompt in ("base", "cal-low", "cal-cross", "criteria"):
        table = data.composo_scores(prompt, items=40)
        scores = read(table)
        name = f"repeats/composo {prompt} 40 responses"
        yield from repeats_closed(name, scores)
        if prompt != "base":
            continue
        for (item, judge), own in table.groupby(["item", "judge"], sort=True):
            if judge == "full":
                yield from repeats_rules(f"{name}: {item}", own["score"].tolist(), scale)
        for function, model in (
            ("fit.shared", module.CumulativeLogit()),
            ("fit.by_judge", module.JudgeCutpoints()),
        ):
            some = read(table[table["item"].isin(table["item"].unique()[:25])])
            call = partial(module.fit, some, model, **DRAWS)
            yield Job("repeats/composo base 25 responses", function, call, "nuts")
    for judge in ("full", "mini"):
        table = data.composo_scores("base", items=None)
        table = table[table["judge"] == judge]
        whole = module.Scores.from_frame(table, scale=scale, item="item", order="repeat")
        for function, call in (("anova", module.anova), ("order_effects", module.order_effects)):
            run = partial(without_labels, call, whole)
            yield Job(f"repeats/composo base {judge}", function, run)
    simulated = module.simulate(random_seed=1)
    scores = module.Scores.from_frame(
        simulated, scale=range(1, 6), item="item", judge="judge", order="repeat"
    )
    yield from repeats_closed("repeats/simulated", scores)
    model = module.CumulativeLogit(item_scale=3.0)
    yield Job("repeats/simulated", "fit", partial(module.fit, scores, model, **DRAWS), "nuts")
    one = module.Scores.from_values([4, 5, None, 4, 4, 5, 3], scale=range(1, 6))
    yield from repeats_closed("repeats/one item", one)
    call = partial(module.fit, one, **DRAWS)
    yield Job("repeats/one item", "fit", call, "nuts")
    yield from repeats_reference(data.reference("repeats"))


def repeats_rules(name: str, values: list[float], scale: Any) -> Iterator[Job]:
    """Interval and next batch by each stopping rule, after four and eight scores."""
    module = bj.repeats
    for method, n in product(("dirichlet", "sequence", "t", "z"), (4, 8)):
        call = partial(module.mean_interval, values[:n], list(scale), method=method, half_width=0.5)
        yield Job(name, f"mean_interval.{method} {n}", call)
        about = {"scale": list(scale), "method": method, "pilot": 4, "batch": 4}
        call = partial(module.next_batch, values[:n], 0.3, **about)
        yield Job(name, f"next_batch.{method} {n}", call)
    call = partial(module.confidence_sequence, values, list(scale))
    yield Job(name, "confidence_sequence", call)


def repeats_reference(cases: dict[str, Any]) -> Iterator[Job]:
    """Inputs of the reference file: repeats needed, and rules on known distributions."""
    module, name = bj.repeats, "repeats/reference"
    for i, case in enumerate(cases["n_req"]):
        g = case["inputs"]
        half = module.third_of_a_bin(g["R"], g["K"])
        yield Job(name, f"third_of_a_bin {i}", partial(module.third_of_a_bin, g["R"], g["K"]))
        call = partial(module.required_repeats, g["S"], half, ci_prob=1 - g["alpha"])
        yield Job(name, f"required_repeats {i}", call)
    known = [([1 - c["inputs"]["q"], c["inputs"]["q"]], c) for c in cases["exact_binary"]]
    known += [(c["inputs"]["p"], c) for c in cases["monte_carlo"]]
    for i, (shares, case) in enumerate(known):
        g = case["inputs"]
        scale = [0, 1] if len(shares) == 2 else list(range(1, len(shares) + 1))
        half = module.third_of_a_bin(g["R"], g["K"])
        about = {"scale": scale, "ci_prob": 1 - g["alpha"], "pilot": g["n0"], "batch": g["batch"]}
        for method in ("z", "dirichlet"):
            call = partial(module.simulate_rule, shares, half, **about, method=method, runs=100)
            yield Job(name, f"simulate_rule.{method} {i}", partial(call, random_seed=1), "seeded")
    yield Job(name, "cost_table", partial(module.cost_table, 0.6, value_range=4, items=10))
    about = {"scale": range(1, 6), "item_scale": 1.5, "judge_scale": 0.7, "item_judge_scale": 0.5}
    call = partial(module.score_components, (0.05, 0.2, 0.4, 0.25, 0.1), **about)
    yield Job(name, "score_components", call)


# ratings -----------------------------------------------------------------------------------------


def ratings_closed(name: str, ratings: Any) -> Iterator[Job]:
    """Every estimate of one set of ratings, NUTS apart."""
    module = bj.ratings
    yield Job(name, "endorsement_rates", partial(module.endorsement_rates, ratings))
    call = partial(module.agreement, ratings, replicates=50, random_seed=1)
    yield Job(name, "agreement", call, "seeded")
    yield Job(name, "agreement.smoothed", partial(call, pseudo_count=0.5), "seeded")
    yield Job(name, "shift_sweep", partial(ratings_shift_sweep, ratings))


def ratings_shift_sweep(ratings: Any) -> pd.DataFrame:
    """One row a strength, definition and judge."""
    found = bj.ratings.shift_sensitivity(ratings, shift_strengths=(0.0, 0.2))
    prevalence = "prevalence (at " + found["cutoff"].map("{:g})".format)
    found["definition"] = found["definition"].where(found["definition"] != "", prevalence)
    found["judge"] = found["judge"].where(found["judge"] != "", "people")
    return found.drop(columns="cutoff").set_index(["definition", "judge", "shift_strength"])


def ratings_jobs(data: Data) -> Iterator[Job]:
    """VariErr, DICES and simulated ratings, the reference file, and small experiments."""
    module = bj.ratings
    for file in ("counts_350_crowdsourced.csv", "counts_990.csv"):
        counts = data.dices(file)
        call = partial(module.metrics.inter_rater_alpha, counts)
        yield Job(f"ratings/dices {file}", "inter_rater_alpha", call)
    yield Job(
        "ratings/dices", "fleiss_kappa", partial(module.metrics.fleiss_kappa, data.dices_ten())
    )
    people, expert = data.dices("counts_350_crowdsourced.csv"), data.dices_expert()
    options = ("unsafe", "safe", "unsure")
    about = {"options": options, "positive": "unsafe", "sources": ("people", "expert")}
    dices = module.Ratings(np.stack([people, expert]), **about)
    yield from ratings_closed("ratings/dices expert", dices)
    read = partial(
        module.Ratings.from_frame,
        positive="e",
        options=("e", "n", "c"),
        response_set="response_set",
    )
    table = data.varierr()
    yield from ratings_closed("ratings/varierr", read(table))
    one_judge = read(table, judges=["annotator 3"])
    yield from ratings_closed("ratings/varierr, annotator 3 as judge", one_judge)
    simulated = module.simulate(random_seed=1)
    how = {"positive": "yes", "judges": ["gpt", "claude"]}
    both = module.Ratings.from_frame(simulated, **how, response_set="response_set")
    forced = module.Ratings.from_frame(simulated.drop(columns="response_set"), **how)
    yield from ratings_closed("ratings/simulated", both)
    yield from ratings_closed("ratings/simulated, choices only", forced)
    yield from ratings_reference(data.reference("ratings"))
    few = table["item"].isin(table["item"].unique()[:80])
    made = {
        "performance": partial(module.performance, draws=100),
        "prevalences": partial(module.prevalences, target="items", draws=100),
        "following": partial(module.tracking, draws=100),
        "item_shares": partial(ratings_item_shares),
    }
    run = partial(module.fit, read(table[few], judges=["annotator 3"]), **DRAWS)
    yield from with_made("ratings/varierr 80 items", run, made)
    yield from with_made("ratings/simulated", partial(module.fit, both, **DRAWS), made)
    model = module.ResponseSets(choice=module.TiedChoice(strength_sd=1.0))
    run = partial(module.fit, forced, model, **DRAWS)
    swept = {"prior_sweep": ratings_prior_sweep}
    yield from with_made("ratings/simulated, choices only", run, swept)


def ratings_prior_sweep(fit: bj.Fit) -> list[Any]:
    """Endorsements in the population and prevalences of these items, by prior."""
    sweep = bj.ratings.prior_sensitivity
    return [sweep(fit).only("endorsement"), sweep(fit, target="items").only("prevalence")]


def ratings_item_shares(fit: bj.Fit) -> np.ndarray:
    """Mean shares of the first three items."""
    return bj.ratings.item_shares(fit, draws=100).mean(axis=0)[:, :3]


def ratings_reference(cases: dict[str, Any]) -> Iterator[Job]:
    """Inputs of the reference file, every definition, and small experiments."""
    module, name = bj.ratings, "ratings/reference"
    for case in cases["metrics"]:
        judge, human = (
            module.metrics.Profile(np.array(case[f"O_{who}"]), np.array(case[f"Omega_{who}"]))
            for who in ("judge", "human")
        )
        for definition in module.definitions(case["tau"]):
            for ties in ("share", "first"):
                call = partial(definition.value, judge, human, ties=ties)
                yield Job(name, f"{definition} {ties} {case['name']}", call)
        for figure in ("decision_consistency", "prevalence_bias"):
            call = partial(module.Definition(figure, cutoff=case["tau"]).value, judge, human)
            yield Job(name, f"{figure} {case['name']}", call)
    for i, case in enumerate(cases["forward_reverse"]):
        f, e, members, shares = (np.array(case[n]) for n in ("F", "E", "Lambda", "theta_star"))
        yield Job(
            name,
            f"forward {i}",
            partial(tupled, module.response_sets.forward, shares, f, e, members),
        )
        yield Job(name, f"reverse {i}", partial(tupled, module.response_sets.reverse, shares, f, e))
    options = ("very toxic", "toxic", "no or unsure")
    sets = module.response_sets.all_response_sets(options)
    members = module.response_sets.membership(options, sets)
    about = {"chosen": options[2], "added": options[1]}
    for beta, printed in product((0.1, 0.4), (False, True)):
        call = partial(
            module.response_sets.shift_matrix,
            options,
            sets,
            **about,
            shift_strength=beta,
            as_printed=printed,
        )
        yield Job(name, f"shift_matrix {beta} {printed}", call)
    choice = module.response_sets.choice_matrix(members, 0.7)
    error = module.response_sets.error_matrix(members, 0.1, 0.3)
    yield Job(name, "choice_matrix", partial(module.response_sets.choice_matrix, members, 0.7))
    yield Job(name, "error_matrix", partial(module.response_sets.error_matrix, members, 0.1, 0.3))
    yield Job(
        name, "selection_effect", partial(module.response_sets.selection_effect, choice, members)
    )
    call = partial(module.response_sets.identification, sets, choice, error)
    yield Job(name, "identification", lambda: call().rank)
    yield Job(name, "set_items_needed", partial(experiment.set_items_needed, 0.1))
    setting = experiment.Setting(people=0.5, judges=0.5, items=30, n_judges=8)
    calls = {
        "choice_bias": partial(experiment.choice_bias, setting, worlds=4),
        "rating_budget": partial(experiment.rating_budget, setting, worlds=3, budgets=(1, 5)),
        "select": partial(experiment.select, setting, worlds=3, budgets=(1, 5)),
        "choose_definition": partial(experiment.choose_definition, setting, worlds=3),
        "ratings_needed": partial(
            experiment.ratings_needed, setting, 0.7, worlds=3, budgets=(1, 3, 10)
        ),
    }
    for function, call in calls.items():
        yield Job("ratings/experiment", function, partial(call, random_seed=1), "seeded")


def files_jobs(data: Data) -> Iterator[Job]:
    """What the reader makes of every file of a kind that it knows."""
    for path in data.tables():
        name = f"files/{path.relative_to(data.root).as_posix()}"
        columns = [str(c) for c in data.columns(path)]
        yield Job(name, "read_table", partial(count_cells, path, columns))


def count_cells(path: Path, columns: list[str]) -> dict[str, float]:
    """Rows, cells that are not empty, and characters in them."""
    from bayesjudge.readers import read_table

    cells = [c for name in columns for c in read_table(path, [name])[name].to_pylist()]
    told = [str(cell) for cell in cells if cell is not None]
    return {"cells": len(cells), "told": len(told), "characters": sum(map(len, told))}


JOBS = {
    "prevalence": prevalence_jobs,
    "panel": panel_jobs,
    "bias": bias_jobs,
    "repeats": repeats_jobs,
    "ratings": ratings_jobs,
    "files": files_jobs,
}

# ==================================================================================================
# Nothing below knows a name of the package.
# ==================================================================================================


def with_made(
    name: str, fit: Callable[[], Any], made: dict[str, Callable[[Any], Any]], function: str = "fit"
) -> Iterator[Job]:
    """A fit, and what further functions make of it."""
    kept: list[Any] = []

    def sample() -> Any:
        kept.append(fit())
        return kept[0]

    yield Job(name, function, sample, "nuts")
    for other, call in made.items():
        yield Job(name, f"{function}: {other}", partial(of_batches, kept, call), "nuts")


def of_batches(kept: list[Any], call: Callable[[Any], Any]) -> list[Row]:
    """Rows of what is made of a fit; its Monte Carlo error is that of the batches' mean."""
    parts = [{key_of(row): row for row in rows_of(call(one))} for one in batches(kept[0])]
    found = []
    for row in rows_of(call(kept[0])):
        same = [part[key_of(row)] for part in parts if key_of(row) in part]
        errors = {}
        for field in ("value", "low", "high", "raw"):
            spread = np.std([getattr(other, field) for other in same], ddof=1)
            # a share of the draws cannot be told from one that is a draw further
            errors[field] = max(float(spread) / math.sqrt(len(same)), 1e-3)
        found.append(row._replace(more={"mcse": errors}))
    return found


def summary(quantity: str, labels: dict[str, Any], draws: np.ndarray) -> Row:
    """Mean, sd and quantiles of draws of shape (chain, draw), with their Monte Carlo errors."""
    low, median, high = np.quantile(draws, [0.025, 0.5, 0.975])
    more: dict[str, Any] = {"sd": float(draws.std(ddof=1)), "median": float(median)}
    names = ("value", "low", "high", "sd", "median")
    more |= {"mcse": dict.fromkeys(names, 0.0), "ess_bulk": draws.size, "ess_tail": draws.size}
    if np.ptp(draws) > 0:
        error = partial(array_stats.mcse, draws)
        tails = [float(error(method="quantile", prob=p)) for p in (0.025, 0.975)]
        centre = [float(error(method=method)) for method in ("sd", "median")]
        more["mcse"] = dict(zip(names, [float(error()), *tails, *centre], strict=True))
        more["ess_bulk"] = float(array_stats.ess(draws, method="bulk"))
        more["ess_tail"] = float(array_stats.ess(draws, method="tail", prob=(0.025, 0.975)))
    return Row(quantity, labels, float(draws.mean()), float(low), float(high), more=more)


def key_of(row: Any) -> tuple[str, ...]:
    """Quantity and the values of the labels, whatever their dimensions are called."""
    told = [part for value in row.labels.values() for part in str(value).split(", ")]
    return (row.quantity, *sorted(told))


def tupled(function: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """Results of a function that returns several arrays."""
    return {str(i): part for i, part in enumerate(function(*args))}


def without_labels(function: Callable[..., Any], *args: Any) -> list[Row]:
    """What a result says of the whole, not of each of thousands of items."""
    return [row for row in rows_of(function(*args)) if not row.labels]


def raising(error: Exception) -> None:
    """Raise what reading has raised, where it is counted."""
    raise error


# Data --------------------------------------------------------------------------------------------


def labels_by(table: pd.DataFrame, column: str, n: int) -> pd.DataFrame:
    """Keep `n` labels of each system and value of a column, or all where there are fewer."""
    order = pd.Series(np.random.default_rng(1).permutation(len(table)), index=table.index)
    rank = order.groupby([table["system"], table[column]]).rank()
    return table.assign(truth=table["truth"].where(rank <= n))


def by_type(table: pd.DataFrame) -> pd.DataFrame:
    """One system of XSTest by two strata, with a probability of labelling each."""
    one = table[(table["model"] == "mistralguard") & (table["gpt4_label"] != "INVALID")]
    unsafe = one["type"].str.startswith("contrast").to_numpy()
    good = "1_full_compliance"
    return pd.DataFrame(
        {
            "verdict": (one["gpt4_label"] == good).to_numpy().astype(float),
            "truth": (one["final_label"] == good).to_numpy().astype(float),
            "stratum": np.where(unsafe, "contrast", "safe"),
            "propensity": np.where(unsafe, 0.4, 0.2),
            "chosen": np.random.default_rng(1).random(len(one)),
        }
    )


def factor_table() -> pd.DataFrame:
    """Factor scores and an overall score that follows them, but for noise."""
    rng = np.random.default_rng(0)
    x = rng.integers(1, 6, size=(200, 3)).astype(float)
    y = x @ [0.5, 0.3, 0.1] + 0.2 * x[:, 0] * x[:, 1] + rng.normal(0, 0.8, 200)
    return pd.DataFrame(x, columns=list("abc")).assign(score=y)


class Data:
    """The shared folder, read with pandas."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._composo: dict[str, list[Any]] = {}

    def json(self, path: str) -> Any:
        return json.loads((self.root / path).read_text())

    def reference(self, name: str) -> Any:
        return self.json(f"reference/{name}.json")

    def read_csv(self, path: str, **how: Any) -> pd.DataFrame:
        return pd.read_csv(self.root / "data" / path, **how)

    def tables(self) -> list[Path]:
        kinds = (".csv", ".csv.gz", ".jsonl", ".parquet")
        files = (p for p in sorted((self.root / "data").rglob("*")) if p.is_file())
        return [p for p in files if "".join(p.suffixes[-2:]).endswith(kinds)]

    def columns(self, path: Path) -> list[str]:
        lines = path.suffix == ".jsonl"
        return list(pd.read_json(path, lines=True) if lines else pd.read_csv(path, nrows=2))

    def xstest(self) -> pd.DataFrame:
        return self.read_csv("xstest/xstest_labels_compact.csv")

    def code_feedback(self, level: str) -> tuple[pd.DataFrame, list[str]]:
        table = self.read_csv(f"code_feedback/votes_{level}.csv.gz")
        return table, list(table.columns[5:])

    def crowd(self, name: str) -> pd.DataFrame:
        labels, truth = (self.read_csv(f"crowd/{name}/{f}.csv") for f in ("label", "truth"))
        return labels.merge(truth, on="item")

    def caries(self) -> tuple[np.ndarray, pd.Series]:
        table = self.read_csv("anesthesia_caries/caries.csv")
        return table.iloc[:, :5].to_numpy() - 1, table["n"]

    def llmbar(self) -> pd.DataFrame:
        """Prompts that show both answers: rating prompts have no order."""
        table = self.read_csv("llmbar/judgments_natural.csv.gz")
        return table[table["score_1"].isna()]

    def llmbar_votes(self) -> pd.DataFrame:
        """Does each judge prefer answer 1, shown first? By the plain prompt."""
        table = self.llmbar()
        table = table[table["strategy"] == "Vanilla"]
        names = {"llm": "judge"}
        votes = (table["order1"] == 1).where(table["order1"].notna()).astype(float)
        truth = (table["gold"] == 1).astype(float)
        return table.assign(vote=votes, truth=truth).rename(columns=names)

    def composo(self, prompt: str) -> list[Any]:
        if prompt not in self._composo:
            path = self.root / f"data/composo/{prompt}_both_k8.jsonl.gz"
            with gzip.open(path, "rt", encoding="utf-8") as file:
                self._composo[prompt] = [json.loads(line) for line in file]
        return self._composo[prompt]

    def composo_scores(self, prompt: str, items: int | None) -> pd.DataFrame:
        """One row a score: response, judge and repeat; of some responses, chosen by a seed."""
        rows = [
            (f"{one['subset']}/{one['id']}/{r}", judge, k, score)
            for one in self.composo(prompt)
            for judge in ("full", "mini")
            for r, scores in enumerate(one[f"{judge}_scores"])
            for k, score in enumerate(scores)
        ]
        table = pd.DataFrame(rows, columns=["item", "judge", "repeat", "score"])
        table = table.astype({"score": float})
        return table if items is None else some_items(table, items)

    def composo_shifts(
        self, judge: str, prompt: str, *, by_subset: bool, items: int | None = None
    ) -> pd.DataFrame:
        """Scores under the base prompt and another, joined by id or by subset and id."""

        def key(one: Any) -> str:
            return f"{one['subset']}/{one['id']}" if by_subset else one["id"]

        rows: list[tuple[str, str, Any]] = []
        for variant in ("base", prompt):
            found = {key(one): one[f"{judge}_scores"] for one in self.composo(variant)}
            rows += [
                (f"{name}/{r}", variant, score)
                for name, responses in found.items()
                for r, scores in enumerate(responses)
                for score in scores
            ]
        base = {item for item, variant, _ in rows if variant == "base"}
        rows = [row for row in rows if row[0] in base]
        table = pd.DataFrame(rows, columns=["item", "variant", "score"]).astype({"score": float})
        return table if items is None else some_items(table, items)

    def dices(self, file: str) -> np.ndarray:
        columns = ["n_unsafe_Yes", "n_safe_No", "n_unsure"]
        return self.read_csv(f"dices/{file}")[columns].to_numpy()

    def dices_expert(self) -> np.ndarray:
        unsafe = (self.read_csv("dices/dices350_counts_vs_expert.csv")["expert_gold"] == "Yes") * 1
        return np.stack([unsafe, 1 - unsafe, 0 * unsafe], axis=1)

    def dices_ten(self) -> np.ndarray:
        """Ten raters drawn from each item's, since Fleiss' kappa needs as many everywhere."""
        rng = np.random.default_rng(1)
        counts = self.dices("counts_990.csv")
        return np.array([rng.multivariate_hypergeometric(n, 10) for n in counts])

    def varierr(self) -> pd.DataFrame:
        long = self.read_csv("varierr/response_sets_long.csv", keep_default_na=False)
        return pd.DataFrame(
            {
                "item": long["id"],
                "rater": "annotator " + long["annotator"].astype(str),
                "choice": long["round1_labels"].where(long["round1_labels"].str.len() == 1),
                "response_set": ["|".join(x) or None for x in long["round2_valid_set"]],
            }
        )


def some_items(table: pd.DataFrame, n: int) -> pd.DataFrame:
    """All rows of `n` items, chosen by a fixed seed."""
    names = np.sort(table["item"].unique())
    return table[table["item"].isin(np.random.default_rng(1).choice(names, n, replace=False))]


# Writing -----------------------------------------------------------------------------------------


def take(data: Data, only: list[str], nuts: bool) -> list[dict[str, Any]]:
    """Run every job; tell on stderr where CPU seconds go, and what failed."""
    records: list[dict[str, Any]] = []
    seconds: Counter[tuple[str, bool]] = Counter()
    wanted = [name for name in JOBS if not only or any(o.split("/")[0] == name for o in only)]
    for module in wanted:
        for job in JOBS[module](data):
            sampled = job.kind == "nuts"
            if (sampled and not nuts) or (only and not job.dataset.startswith(tuple(only))):
                continue
            begin = time.process_time()
            records += [asdict(job, row) for row in outcome(job)]
            spent = time.process_time() - begin
            seconds[module, sampled] += spent
            if spent > 2:
                print(f"{spent:6.1f} CPU s  {job.dataset}: {job.function}", file=sys.stderr)
    for (module, sampled), spent in seconds.items():
        print(f"{spent:6.1f} CPU s  {module}{', NUTS' * sampled}", file=sys.stderr)
    return records


def outcome(job: Job) -> list[Row]:
    """What a job gives, or that it was refused, or failed."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = job.run()
            return found if isinstance(found, list) else list(rows_of(found))
    except Refused:
        return [Row("refused", {}, 1.0)]
    except Exception as error:  # to be counted, so that one fault does not hide the rest
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{job.dataset}: {job.function}: {type(error).__name__}: {error} ({where.filename}"
        print(f"FAILED {told}:{where.lineno})", file=sys.stderr)
        return [Row("failed", {}, 1.0)]


def asdict(job: Job, row: Row) -> dict[str, Any]:
    """One flat record, in the words of the first snapshot."""
    labels = {RENAMED.get(k, k): RENAMED.get(str(v), str(v)) for k, v in row.labels.items()}
    about = {"dataset": job.dataset, "function": job.function, "kind": job.kind}
    quantity = RENAMED.get(row.quantity, row.quantity)
    numbers = {field: getattr(row, field) for field in ("value", "low", "high", "raw")}
    return {**about, "quantity": quantity, "labels": labels, **numbers, **(row.more or {})}


# Comparing ---------------------------------------------------------------------------------------


def keyed(path: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """Records by what they are of; those of one key by their order."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    times: Counter[tuple[str, ...]] = Counter()
    for record in json.loads(Path(path).read_text()):
        row = Row(record["quantity"], record["labels"], 0.0)
        key = (record["dataset"], record["function"], *key_of(row))
        times[key] += 1
        found[key if times[key] == 1 else (*key, f"#{times[key]}")] = record
    return found


def differences(a: dict[str, Any], b: dict[str, Any]) -> Iterator[tuple[str, float, float, float]]:
    """Yield field, both values, and how far they are apart in units of what is allowed."""
    for field in ("value", "low", "high", "raw", "sd", "median"):
        x, y = a.get(field, NAN), b.get(field, NAN)
        if x == y or (math.isnan(x) and math.isnan(y)):
            continue
        allowed = max(1e-12 * max(abs(x), abs(y)), 1e-15)
        if a["kind"] == "nuts":
            errors = [one.get("mcse", {}).get(field, 0.0) for one in (a, b)]
            allowed = max(allowed, 4 * math.hypot(*errors))
        apart = abs(x - y) / allowed
        if not apart <= 1:  # nan on one side, too
            yield field, x, y, apart


def compare(first: str, second: str, show: int) -> int:
    """Print what differs, by data set and function, and return the exit status."""
    a, b = keyed(first), keyed(second)
    groups: dict[tuple[str, ...], list[tuple[float, str]]] = defaultdict(list)
    for key in a.keys() | b.keys():
        name = key[2] + (f"[{', '.join(key[3:])}]" if key[3:] else "")
        if key not in a or key not in b:
            groups[key[:2]].append((math.inf, f"{name}: only in {second if key in b else first}"))
            continue
        for field, x, y, apart in differences(a[key], b[key]):
            text = f"{name} {field}: {x!r} -> {y!r}, {apart:.3g} times what is allowed"
            groups[key[:2]].append((apart, text))
    for (dataset, function), found in sorted(groups.items()):
        print(f"{dataset}: {function}: {len(found)} differences")
        worst = sorted(found, key=lambda one: (-one[0] if one[0] == one[0] else -math.inf, one[1]))
        for _, text in worst[:show]:
            print(f"    {text}")
    kinds = Counter(record["kind"] for record in a.values())
    told = ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
    print(f"{len(a)} and {len(b)} records ({told}); {sum(map(len, groups.values()))} differences")
    return int(bool(groups))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", nargs="?", type=Path, help="where to write")
    parser.add_argument("--compare", nargs=2, metavar=("A", "B"), help="two files written before")
    parser.add_argument("--show", type=int, default=5, help="differences shown of each function")
    parser.add_argument("--shared", type=Path, default=SHARED, help="the folder of shared data")
    parser.add_argument("--only", nargs="*", default=[], help="data sets that start with these")
    parser.add_argument("--no-nuts", action="store_true", help="leave out what is sampled")
    asked = parser.parse_args()
    if asked.compare:
        return compare(*asked.compare, show=asked.show)
    if asked.out is None:
        parser.error("give a file to write, or --compare A B")
    records = take(Data(asked.shared), asked.only, nuts=not asked.no_nuts)
    asked.out.write_text(json.dumps(records, indent=0, ensure_ascii=False) + "\n")
    failed = sum(record["quantity"] == "failed" for record in records)
    print(f"{len(records)} records, {failed} failed", file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
