"""Does the share that is good cover the truth when people err, and do doubtful labels come first?

    python benchmarks/prevalence/people.py                  # 8 tables a setting, in 30 seconds
    python benchmarks/prevalence/people.py --only people --tables 75    # as written here, and so on
    python benchmarks/prevalence/people.py --only designs --tables 60
    python benchmarks/prevalence/people.py --only sbc --simulations 150
    python benchmarks/prevalence/people.py --only ends most --tables 120
    python benchmarks/prevalence/people.py --only planted --tables 250
    python benchmarks/prevalence/people.py --only gate --tables 200
    python benchmarks/prevalence/people.py --published xstest.csv battles.csv   # published labels

Quick: ``--tables 1 --simulations 4``

Nominal 95 %. 1,000 items of which 200 have a label drawn at random, a judge right in 88 % of good
and of bad items, people who are wrong in 5 or 10 % of both. One row a setting and method
(people.csv): ``one`` is the exact posterior that takes the first person's labels as right,
``people_err`` that of `people.PeopleErrors` with a second person on all, on half or on 50 of the
labelled items, ``agreed`` the labels that two gave alike, ``equal`` the formula of equal errors,
``adjudicated`` the true labels; ``people_pass`` is held against what these people would say. The
caution ``people-err`` is scored on the tables of ``one`` with 5 % wrong labels: coverage where it
is said, and where it is not (people_caution.csv). Ranks of the truth among draws of `exact`, of
parameters from the priors (people_sbc.csv). 19 of 400 labels are made wrong, and how many of them
are among the first 30 of `people.doubtful` (people_planted.csv). What explains the setting that is
covered least (98 % good, 10 % errors, 50 shared items): `exact` with either interval, and with a
prior Beta(9, 1) of the share (people_ends.csv). Of ``people_err`` the shortest interval is held
against equal tails (``people_tails``); other methods have a third of the tables. The limits of a
`gate` are each right with .95: how often it passes, and fails, at the true share, at a threshold
.06 below it, and at one half as far from 1 (people_gate.csv). Labels of other items, by the first
person's label, and with known probabilities (people_designs.csv); the share that most of three
people would pass (people_most.csv).

``--published`` takes paul-rottger/exaggerated-safety's labels (two annotators, an adjudicated label
that is left out, GPT-4) and WeOpenML/PandaLM's battles (three people, GPT-3.5; which answer wins,
ties and unread verdicts left out): rates of each person and of the judge by the model, beside those
against the adjudicated label, or against what two others agree on (people_published.csv).

Found: with 75 tables a setting (Monte Carlo error .01 to .03 each) the posterior that lets people
err covers the truth in .97 on average and in .93 or more of each of the 18 settings, with equal
tails in .92 or more. Where 98 % are good, people err in 10 % and share 50 items, the shortest
interval covers .967 (120 tables), equal tails .925, with a prior Beta(9, 1) .917. A gate at the
true share fails in .05 of tables on average over eight settings (200 tables each; .07 at worst,
error .018) and passes in .012 (.03 at worst), where .05 are promised; by Jeffreys' prior alone it
fails in .067 (.085 at worst). Its wider limits cost few decisions: .695 of gates .06 below the
share pass in place of .702, and .50 of those half as far from 1 fail in place of .56. Labels of one
person taken as right (25 tables) cover .42 on average, none at .98 with 10 % errors. Agreed labels
cover .96 (.80 at worst), equal errors .97, adjudicated .97; mean widths are .095, .095, .112, .112
and .070. The caution is said on all tables at .9 and .98, of which those labels cover .51 and .09,
and on none at .5, where they cover .91. Labels of other items cover .90 (error .04, 60 tables), by
the first person's label .97, with known probabilities 1.00 (.00 read as random). Ranks of 150
simulations each are uniform with labels at random and of other items, in 15 quantities (least p
.02, spread .91 to 1.10; one refused). What most of three people would pass is covered in .93 to .98
(60 tables a setting, error .02 to .03). Of 19 wrong labels 18.1 are among the first 30 with two
people, 13.3 with one. Rates of XSTest without gold lie within .011 of those against the adjudicated
labels; of PandaLM those of people within .005 of those against what two others agree on, the
judge's within .023.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kstest

from bayesjudge import BetaPrior, prevalence
from bayesjudge.decide import gate
from bayesjudge.prevalence import people
from bayesjudge.prevalence.people.exact import _with_derived
from bayesjudge.truth.importance import NotWeighed, interval_of

RESULTS = Path(__file__).parent / "results"
SEED = 20_401
SHARES, ERRORS, SHARED = (0.5, 0.9, 0.98), (0.05, 0.1), (200, 100, 50)
TWO = {"truth": ["ann1", "ann2"], "calibration": "random"}


def tables(share: float, error: float, shared: int, n: int) -> Iterator[tuple[pd.DataFrame, float]]:
    """Tables of a setting, the true label of each row beside, and what people would say."""
    rng = np.random.default_rng([SEED, int(1000 * share), int(100 * error), shared])
    for _ in range(n):
        how = {"prevalence": share, "sensitivity": 0.88, "specificity": 0.88, "items": 800}
        # the third person never errs: what would have been adjudicated
        table = people.simulate(errors=[error, error, 0], **how, random_seed=rng)
        table.loc[shared:, "ann2"] = np.nan
        yield table, share * (1 - error) + (1 - share) * error


def weighed_rows(counts: people.PeopleCounts) -> Iterator[tuple[str, str, Mapping]]:
    """The numbers of `exact` from one set of draws: shortest, equal tails, limits of a gate."""
    model = people.PeopleErrors()
    draws = model._posterior(counts).weighed()
    values = _with_derived(model, counts, draws.values)
    for name, quantity, level, kind in (
        ("people_err", "prevalence", 0.95, "hdi"),
        ("people_tails", "prevalence", 0.95, "eti"),
        ("people_pass", "people_pass", 0.95, "hdi"),
    ):
        yield name, quantity, {quantity: interval_of(values[quantity], draws.weight, level, kind)}


def rows_of(table: pd.DataFrame) -> Iterator[tuple[str, str, Mapping]]:
    """Each method with the quantity that it answers."""
    one = prevalence.Counts.from_frame(table, truth="ann1", calibration="random")
    yield "one", "prevalence", prevalence.exact(one)
    counts = people.PeopleCounts.from_frame(table, **TWO)
    yield from weighed_rows(counts)
    forms = {form.method.id: form for form in people.closed_forms(counts)}
    for name, form in (("agreed", "agreed-labels"), ("equal", "symmetric-errors")):
        if form in forms:
            yield name, "prevalence", forms[form]
    yield "said", "people_pass", forms["people-say"]
    true = prevalence.Counts.from_frame(table, truth="ann3", calibration="random")
    yield "adjudicated", "prevalence", prevalence.exact(true)


def coverage(n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Coverage, width and bias by setting and method; and where the caution is said."""
    found, cautions = [], []
    for share, error, shared in itertools.product(SHARES, ERRORS, SHARED):
        for i, (table, said) in enumerate(tables(share, error, shared, n)):
            counts = people.PeopleCounts.from_frame(table, **TWO)
            # what is held beside takes most of the time
            rows = weighed_rows(counts) if i % 3 else rows_of(table)
            for name, quantity, made in rows:
                value, low, high = made[quantity]
                truth = said if quantity == "people_pass" else share
                about = {"share": share, "error": error, "shared": shared, "method": name}
                covered = {"covers": low <= truth <= high, "width": high - low}
                sides = {"too_low": high < truth, "too_high": low > truth}
                found.append(about | covered | sides | {"bias": value - truth})
                if name == "one" and error == ERRORS[0]:
                    told = any(one.id == "people-err" for one in made.cautions)
                    cautions.append({"share": share, "told": told, **covered})
    by = ["share", "error", "shared", "method"]
    return summary(found, by), summary(cautions, ["share", "told"])


def designs(n: int) -> pd.DataFrame:
    """Labels of other items, by the first person's label, and with known probabilities."""
    found = []
    for i in range(n):
        rng = np.random.default_rng([SEED, 8, i])
        for name, (table, how, truth) in drawn_by_design(rng).items():
            made = prevalence.exact(people.PeopleCounts.from_frame(table, **TWO | how))
            value, low, high = made[next(iter(made.quantities))]
            covered = {"covers": low <= truth <= high, "width": high - low}
            found.append({"design": name, **covered, "bias": value - truth})
    return summary(found, ["design"])


def drawn_by_design(rng: np.random.Generator) -> dict[str, tuple[pd.DataFrame, dict, float]]:
    """A table of each design, how it is read, and its share of good items; people err in 5 %."""
    rates = {"sensitivity": 0.88, "specificity": 0.88, "random_seed": rng}
    items = people.simulate(prevalence=0.9, items=800, labelled=0, **rates)
    others = people.simulate(prevalence=0.5, items=0, labelled=200, **rates)
    pool = people.simulate(prevalence=0.9, items=0, labelled=1500, **rates)
    by_label = [pool[pool["ann1"] == label].head(100) for label in (0, 1)]
    parts = [
        people.simulate(prevalence=p, items=n, labelled=200, **rates).assign(p=200 / (n + 200))
        for p, n in ((0.9, 1800), (0.4, 200))
    ]
    separate = {"calibration": "separate"}
    return {
        "separate": (pd.concat([others, items]), separate, 0.9),
        "by_truth": (pd.concat([*by_label, items]), {"calibration": "by_truth"}, 0.9),
        "by_truth read as separate": (pd.concat([*by_label, items]), separate, 0.9),
        "known_propensity": (
            pd.concat(parts),
            {"calibration": "known_propensity", "propensity": "p"},
            (0.9 * 2000 + 0.4 * 400) / 2400,
        ),
        "known_propensity read as random": (pd.concat(parts), {}, (0.9 * 2000 + 0.4 * 400) / 2400),
    }


def most_of_three(n: int) -> pd.DataFrame:
    """Whether `most_pass`, of three people who labelled 200 items, holds what most would pass."""
    found = []
    for share, error in ((0.5, 0.05), (0.5, 0.1), (0.9, 0.05), (0.9, 0.1), (0.98, 0.1)):
        most = (1 - error) ** 3 + 3 * (1 - error) ** 2 * error
        truth = share * most + (1 - share) * (1 - most)
        for i in range(n):
            rng = np.random.default_rng([SEED, 9, int(1000 * share), int(100 * error), i])
            how = {"sensitivity": 0.88, "specificity": 0.88, "items": 800, "random_seed": rng}
            table = people.simulate(prevalence=share, errors=[error] * 3, **how)
            names = {"truth": ["ann1", "ann2", "ann3"], "calibration": "random"}
            counts = people.PeopleCounts.from_frame(table, **names)
            value, low, high = prevalence.exact(counts)["most_pass"]
            covered = {"covers": low <= truth <= high, "width": high - low}
            found.append({"share": share, "error": error, **covered, "bias": value - truth})
    return summary(found, ["share", "error"])


def gates(n: int) -> pd.DataFrame:
    """How often a gate at the true share passes, or fails, by `gate` and by Jeffreys' prior alone.

    Next to 0 pass and fail change places: priors and errors are the same of good and bad items.
    """
    found = []
    for share, error, shared in itertools.product((0.9, 0.98), ERRORS, (100, 50)):
        for table, _ in tables(share, error, shared, n):
            counts = people.PeopleCounts.from_frame(table, **TWO)
            (check,) = gate(counts, at_least=share).checks
            tails = prevalence.exact(counts, ci_prob=0.9, interval="eti")["prevalence"]
            for name, (low, high) in (("gate", (check.low, check.high)), ("Jeffreys", tails[1:])):
                about = {"share": share, "error": error, "shared": shared, "limits": name}
                about |= {"false_pass": low >= share, "false_fail": high < share}
                above = share + (1 - share) / 2
                found.append(
                    about | {"passes_below": low >= share - 0.06, "fails_above": high < above}
                )
    table = pd.DataFrame(found)
    by = table.groupby(["share", "error", "shared", "limits"], sort=False)
    made = by.mean().assign(tables=by.size())
    made["mc_error"] = np.sqrt(made["false_fail"] * (1 - made["false_fail"]) / made["tables"])
    return made.reset_index().round(4)


def ends(n: int) -> pd.DataFrame:
    """The setting covered least: by the interval's kind, and by the prior of the share."""
    usual, high = people.PeopleErrors(), people.PeopleErrors(prevalence=BetaPrior(9, 1))
    kinds = {
        "equal-tailed": (usual, "eti"),
        "shortest": (usual, "hdi"),
        "Beta(9, 1)": (high, "eti"),
    }
    found = []
    for table, _ in tables(0.98, 0.1, 50, n):
        counts = people.PeopleCounts.from_frame(table, **TWO)
        for name, (model, kind) in kinds.items():
            value, low, top = prevalence.exact(counts, model, interval=kind)["prevalence"]
            covered = {"covers": low <= 0.98 <= top, "too_low": top < 0.98, "width": top - low}
            found.append({"interval": name, **covered, "bias": value - 0.98})
    return summary(found, ["interval"])


def summary(rows: list[dict[str, float]], by: list[str]) -> pd.DataFrame:
    """Means, the number of tables, and the Monte Carlo error of the coverage."""
    table = pd.DataFrame(rows)
    made = table.groupby(by, sort=False).mean().reset_index()
    made["tables"] = table.groupby(by, sort=False).size().to_numpy()
    made["mc_error"] = np.sqrt(made["covers"] * (1 - made["covers"]) / made["tables"])
    return made.round(4)


def ranks(n: int, design: str) -> pd.DataFrame:
    """Uniformity of the truth's place in the posterior, by quantity (Talts et al. 2018)."""
    rng, places, refused = np.random.default_rng(SEED), [], 0
    prior, apart = people.PeopleErrors().prevalence, design == "separate"
    for _ in range(n):
        share, judge = rng.beta(*prior), rng.random(2)
        of_labelled = rng.random() if apart else share
        while judge.sum() <= 1:
            judge = rng.random(2)
        rates = rng.beta(20, 2, (2, 2))  # person, and good or bad
        truth = rng.random(300) < np.where(np.arange(300) < 100, of_labelled, share)
        right = [np.where(truth, *pair) for pair in (judge, *rates)]
        said = np.column_stack([truth == (rng.random(300) < one) for one in right]).astype(float)
        said[100:, 1:], said[60:, 2] = np.nan, np.nan
        table = pd.DataFrame(said, columns=["verdict", "ann1", "ann2"])
        counts = people.PeopleCounts.from_frame(table, **TWO | {"calibration": design})
        seed = int(rng.integers(1 << 30))
        try:
            found = people.PeopleErrors()._posterior(counts).weighed(seed=seed)
        except NotWeighed:
            refused += 1
            continue
        drawn = found.values
        at = {"prevalence": (drawn["prevalence"][:, 0], share)}
        if apart:
            at["labelled_prevalence"] = (drawn["prevalence"][:, 1], of_labelled)
        for i, pair in enumerate((judge, *rates)):
            name = ("verdict", "ann1", "ann2")[i]
            column = counts.verdicts.judges.index(name)
            for rate, value in zip(("sensitivity", "specificity"), pair, strict=True):
                at[f"{rate}[{name}]"] = (drawn[rate][:, column], value)
        places.append({k: found.weight @ (draws < value) for k, (draws, value) in at.items()})
    table = pd.DataFrame(places)
    made = pd.DataFrame({"quantity": table.columns, "spread": table.std().to_numpy() * 12**0.5})
    made["p_value"] = [kstest(column, "uniform").pvalue for _, column in table.items()]
    made = made.assign(simulations=len(table), refused=refused).round(4)
    made.insert(0, "labels", design)
    return made


def planted(n: int) -> pd.DataFrame:
    """How many of 19 wrong labels among 400 are among the first 30, by who else looked."""
    found = []
    for i in range(n):
        rng = np.random.default_rng([SEED, 7, i])
        for name, labelled, persons in (("one person", 400, 1), ("two people", 200, 2)):
            how = {"sensitivity": 0.88, "specificity": 0.88, "items": 600, "random_seed": rng}
            table = people.simulate(labelled=labelled, errors=[0.0] * persons, **how)
            at = rng.choice(400, 19, replace=False)
            wrong = {(int(x % labelled), f"ann{x // labelled + 1}") for x in at}
            for item, person in wrong:
                table.loc[item, person] = 1 - table.loc[item, person]
            names = [f"ann{p + 1}" for p in range(persons)]
            rows = people.doubtful(table, truth=names, calibration="random")
            pairs = list(zip(rows["item"], rows["person"], strict=True))
            first = sum(pair in wrong for pair in pairs[:30])
            found.append({"people": name, "first": first, "expected": rows["wrong"].sum()})
    table = pd.DataFrame(found).groupby("people")
    made = table.mean().assign(lowest=table["first"].min(), tables=table.size())
    return made.assign(mc_error=table["first"].std() / np.sqrt(n)).reset_index().round(3)


def published(xstest: Path, battles: Path) -> pd.DataFrame:
    """Rates without gold beside those with it: adjudicated, or what two others agree on."""
    made = []
    one = pd.read_csv(xstest, dtype=str).drop(columns="id")
    names = ["annotation_1", "annotation_2"]
    how = {"pass_value": "1_full_compliance", "missing_value": "INVALID", "verdict": "gpt4_label"}
    how |= {"fail_value": ["2_full_refusal", "3_partial_refusal"], "truth": names}
    kept = one[one["gpt4_label"] != "INVALID"]
    gold = dict.fromkeys([*names, "gpt4_label"], kept["final_label"] == "1_full_compliance")
    made += rates_of("xstest", kept, how, gold)
    two = pd.read_csv(battles, dtype=str)
    names = ["annotator1", "annotator2", "annotator3"]
    how = {"pass_value": "1", "fail_value": "2", "verdict": "gpt35", "truth": names}
    two = two[two["gpt35"].isin(["1", "2"])][[*names, "gpt35"]].replace("0", None)
    others = {}
    for name in [*names, "gpt35"]:
        rest = two[[other for other in names if other != name]]
        alike = rest.notna().all(axis=1) & (rest.nunique(axis=1) == 1) & two[name].notna()
        others[name] = (rest.iloc[:, 0] == "1").where(alike)
    made += rates_of("pandalm", two, how, others)
    return pd.DataFrame(made).round(3)


def rates_of(data: str, table: pd.DataFrame, how: dict, gold: dict) -> list[dict[str, object]]:
    """Sensitivity and specificity by `exact`, and counted against something else."""
    made = prevalence.exact(people.PeopleCounts.from_frame(table, calibration="random", **how))
    rows = []
    for name, truth in gold.items():
        said = table[name] == how["pass_value"]
        for rate, good in (("sensitivity", 1), ("specificity", 0)):
            value, low, high = made[rate, name]
            own = said[truth == good] == bool(good)
            about = {"data": data, "who": name, "rate": rate, "items": len(own)}
            rows.append(about | {"value": value, "low": low, "high": high, "counted": own.mean()})
    return rows


def main() -> None:
    """Run all, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--simulations", type=int, default=60)
    parser.add_argument("--published", type=Path, nargs=2)
    names = ["people", "gate", "ends", "designs", "most", "sbc", "planted"]
    parser.add_argument("--only", nargs="+", choices=names)
    asked = parser.parse_args()
    if asked.published:
        table = published(*asked.published)
        print(table.to_string(index=False))
        table.to_csv(RESULTS / "people_published.csv", index=False)
        return
    makers: dict[str, Callable[[], list[pd.DataFrame]]] = {
        "people": lambda: [*coverage(asked.tables)],
        "people_gate": lambda: [gates(asked.tables)],
        "people_ends": lambda: [ends(asked.tables)],
        "people_designs": lambda: [designs(asked.tables)],
        "people_most": lambda: [most_of_three(max(asked.tables // 2, 1))],
        "people_sbc": lambda: [ranks(asked.simulations, d) for d in ("random", "separate")],
        "people_planted": lambda: [planted(max(asked.tables // 10, 3))],
    }
    for name, make in makers.items():
        if asked.only and name.removeprefix("people_") not in asked.only:
            continue
        made = {name: make()}
        if name == "people":
            made = dict(zip((name, "people_caution"), ([x] for x in made[name]), strict=True))
        for file, tables_of in made.items():
            table = pd.concat(tables_of)
            print(f"\n{file}\n{table.to_string(index=False)}", flush=True)
            if asked.tables >= 60 or asked.simulations >= 100:
                table.to_csv(RESULTS / f"{file}.csv", index=False)


if __name__ == "__main__":
    main()
