"""Does the share that is good cover the truth when people err, and do doubtful labels come first?

    python benchmarks/prevalence/people.py                  # 8 tables a setting, in 20 seconds
    python benchmarks/prevalence/people.py --tables 250 --simulations 600       # as written here
    python benchmarks/prevalence/people.py --published xstest.csv battles.csv   # published labels
    python benchmarks/prevalence/people.py --ends --tables 250   # the setting that is covered least

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
covered least (98 % good, 10 % errors, 50 shared items): `exact` with the shortest interval, and
with a prior Beta(9, 1) of the share (people_ends.csv; alone by ``--ends``).

``--published`` takes paul-rottger/exaggerated-safety's labels (two annotators, an adjudicated label
that is left out, GPT-4) and WeOpenML/PandaLM's battles (three people, GPT-3.5; which answer wins,
ties and unread verdicts left out): rates of each person and of the judge by the model, beside those
against the adjudicated label, or against what two others agree on (people_published.csv).

Found: with 250 tables a setting (Monte Carlo error .01 to .02 each; ``people_err`` and
``people_pass`` with equal tails, where `exact` quotes the shortest interval since) the posterior
that lets people err covers the truth in .95 on average, .92 to .99 by setting, but .90 where 98 %
are good, people err in 10 % and share 50 items: there it is too low in each table that it misses,
since the share lies next to 1; the shortest interval covers .93 (and is narrower), a prior Beta(9,
1) with equal tails .92. Labels of one person taken as right cover .41 on average, .05 to .52 at .9.
Agreed labels cover .92 (.77 at worst), equal errors .97, adjudicated labels .95; mean widths are
.099, .095, .115, .112 and .071. The caution is said on all tables at .9 and .98, of which those
labels cover .48 and .04, and on none at .5, where they cover .94. Ranks of 600 simulations are
uniform in all 7 quantities (p .39 to .93). Of 19 wrong labels 18.1 are among the first 30 with two
people, 13.3 with one. Rates of XSTest without gold lie within .011 of those against the adjudicated
labels; of PandaLM those of people within .005 of those against what two others agree on, the
judge's within .023.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kstest

from bayesjudge import BetaPrior, prevalence
from bayesjudge.prevalence import people
from bayesjudge.truth.importance import NotWeighed

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


def rows_of(table: pd.DataFrame) -> Iterator[tuple[str, str, prevalence.Estimate]]:
    """Each method with the quantity that it answers."""
    one = prevalence.Counts.from_frame(table, truth="ann1", calibration="random")
    yield "one", "prevalence", prevalence.exact(one)
    counts = people.PeopleCounts.from_frame(table, **TWO)
    made = prevalence.exact(counts)
    yield "people_err", "prevalence", made
    yield "people_pass", "people_pass", made
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
        for table, said in tables(share, error, shared, n):
            for name, quantity, made in rows_of(table):
                value, low, high = made[quantity]
                truth = said if quantity == "people_pass" else share
                about = {"share": share, "error": error, "shared": shared, "method": name}
                covered = {"covers": low <= truth <= high, "width": high - low}
                found.append(about | covered | {"bias": value - truth})
                if name == "one" and error == ERRORS[0]:
                    told = any(one.id == "people-err" for one in made.cautions)
                    cautions.append({"share": share, "told": told, **covered})
    by = ["share", "error", "shared", "method"]
    return summary(found, by), summary(cautions, ["share", "told"])


def ends(n: int) -> pd.DataFrame:
    """The setting covered least: by the interval's kind, and by the prior of the share."""
    flat, high = people.PeopleErrors(), people.PeopleErrors(prevalence=BetaPrior(9, 1))
    kinds = {"equal-tailed": (flat, "eti"), "shortest": (flat, "hdi"), "Beta(9, 1)": (high, "eti")}
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


def ranks(n: int) -> pd.DataFrame:
    """Uniformity of the truth's place in the posterior, by quantity (Talts et al. 2018)."""
    rng, places, refused = np.random.default_rng(SEED), [], 0
    for _ in range(n):
        share, judge = rng.random(), rng.random(2)
        while judge.sum() <= 1:
            judge = rng.random(2)
        rates = rng.beta(20, 2, (2, 2))  # person, and good or bad
        truth = rng.random(300) < share
        right = [np.where(truth, *pair) for pair in (judge, *rates)]
        said = np.column_stack([truth == (rng.random(300) < one) for one in right]).astype(float)
        said[100:, 1:], said[60:, 2] = np.nan, np.nan
        table = pd.DataFrame(said, columns=["verdict", "ann1", "ann2"])
        counts = people.PeopleCounts.from_frame(table, **TWO)
        try:
            found = (
                people.PeopleErrors()._posterior(counts).weighed(seed=int(rng.integers(1 << 30)))
            )
        except NotWeighed:
            refused += 1
            continue
        drawn = found.values
        at = {"prevalence": (drawn["prevalence"][:, 0], share)}
        for i, pair in enumerate((judge, *rates)):
            name = ("verdict", "ann1", "ann2")[i]
            column = counts.verdicts.judges.index(name)
            for rate, value in zip(("sensitivity", "specificity"), pair, strict=True):
                at[f"{rate}[{name}]"] = (drawn[rate][:, column], value)
        places.append({k: found.weight @ (draws < value) for k, (draws, value) in at.items()})
    table = pd.DataFrame(places)
    made = pd.DataFrame({"quantity": table.columns, "spread": table.std().to_numpy() * 12**0.5})
    made["p_value"] = [kstest(column, "uniform").pvalue for _, column in table.items()]
    return made.assign(simulations=len(table), refused=refused).round(4)


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
    parser.add_argument("--ends", action="store_true")
    asked = parser.parse_args()
    if asked.ends:
        table = ends(asked.tables)
        print(table.to_string(index=False))
        if asked.tables >= 100:
            table.to_csv(RESULTS / "people_ends.csv", index=False)
        return
    if asked.published:
        table = published(*asked.published)
        print(table.to_string(index=False))
        table.to_csv(RESULTS / "people_published.csv", index=False)
        return
    covered, cautions = coverage(asked.tables)
    made = {
        "people": covered,
        "people_caution": cautions,
        "people_ends": ends(asked.tables),
        "people_sbc": ranks(asked.simulations),
        "people_planted": planted(max(asked.tables // 10, 3)),
    }
    for name, table in made.items():
        print(f"\n{name}\n{table.to_string(index=False)}")
        if asked.tables >= 100:
            table.to_csv(RESULTS / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
