"""People err too: against the panel's model, today's numbers without errors, published rates."""

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import MODULES, shared, study_but
from contract import graph_of
from numpy.testing import assert_allclose
from refusals import refused

import bayesjudge as bj
from bayesjudge.core.estimate import of_passes
from bayesjudge.core.predictive import _moves
from bayesjudge.core.words import sentences
from bayesjudge.prevalence import people
from bayesjudge.prevalence.people.closed_form import _widened
from bayesjudge.truth import importance, likelihood
from bayesjudge.truth.importance import BetaPosterior, interval_of

LABELS_RIGHT = sentences("assumptions")["labels-right"]
P = bj.prevalence
TWO = {"truth": ["ann1", "ann2"], "calibration": "random"}


def read(table, **how):
    return people.PeopleCounts.from_frame(table, **TWO | how)


@pytest.fixture(scope="module")
def table():
    return people.simulate(items=400, labelled=150, shared=100, random_seed=1)


@pytest.fixture(scope="module")
def counts(table):
    return read(table)


# Reading -----------------------------------------------------------------------------------------


def long_of(table):
    """A row per person, and one of each item that nobody labelled."""
    rows = []
    for item, row in enumerate(table.to_dict("records")):
        said = [(name, row[name]) for name in ("ann1", "ann2") if not np.isnan(row[name])]
        rows += [(item, row["verdict"], name, label) for name, label in said or [(None, None)]]
    return pd.DataFrame(rows, columns=["item", "verdict", "who", "label"])


@pytest.mark.slow
def test_a_row_a_person_is_a_column_a_person(table, counts):
    long = people.PeopleCounts.from_frame(
        long_of(table), truth="label", rater="who", item="item", calibration="random"
    )
    for name in ("response", "truth", "count"):
        assert np.array_equal(getattr(long.verdicts, name), getattr(counts.verdicts, name))
    assert long.people == ("ann1", "ann2")


@pytest.mark.slow
def test_a_judge_may_be_one_of_the_raters(table, counts):
    """Its rows stand among people's; an unknown name is no judge."""
    rows = table.reset_index(names="item").melt("item", var_name="who", value_name="label")
    how = {"rater": "who", "item": "item", "calibration": "random", "truth": "label"}
    long = people.PeopleCounts.from_frame(rows.dropna(), **how)
    for name in ("response", "truth", "count"):
        assert np.array_equal(getattr(long.verdicts, name), getattr(counts.verdicts, name))
    first = people.doubtful(rows.dropna(), **how)["wrong"]
    assert first.sum() == pytest.approx(people.doubtful(table, **TWO)["wrong"].sum())
    with refused("gpt", id="columns-of-people", raters="ann1, ann2, verdict"):
        people.PeopleCounts.from_frame(rows.dropna(), **how, verdict="gpt")


def again(table, column):
    """The first row once more, with the other label."""
    return pd.concat([table, table.head(1).assign(**{column: 1 - table[column].iloc[0]})])


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: pd.concat([t, t.head(1)]), None),
        (lambda t: again(t, "label"), "labels an output twice"),
        (lambda t: again(t, "verdict"), "says two things"),
        (lambda t: t.assign(who=t["who"].replace("ann1", "verdict")), "are called"),
        (lambda t: t.assign(who=None), "names nobody"),
        (lambda t: t.assign(who=t["who"].mask(t.index < 10)), "10 labels without a name"),
        (lambda t: t.astype({"label": object}).fillna({"label": "n/a"}), None),
    ],
)  # fmt: skip
def test_a_row_a_person_is_refused_if_it_is_torn(table, change, message):
    rows = change(long_of(table))
    how = {"truth": "label", "rater": "who", "item": "item", "calibration": "random"}
    if message is None:
        assert people.PeopleCounts.from_frame(rows, **how).labelled_n == 150
        return
    with pytest.raises(bj.InputError, match=message):
        people.PeopleCounts.from_frame(rows, **how)


def test_one_column_in_a_list_is_that_column(table):
    one, many = (
        P.Counts.from_frame(table, truth=truth, calibration="random")
        for truth in ("ann1", ["ann1"])
    )
    assert vars(one).items() >= {"correct_n": many.correct_n, "test_n": many.test_n}.items()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: P.Counts.from_frame(t, **TWO), "read by prevalence.people.PeopleCounts"),
        (lambda t: read(t, truth="ann1", calibration="by_truth"), "another person's labels"),
        (lambda t: read(t, calibration="known_propensity"), "propensity= .a column"),
        (lambda t: read(t, calibration="by_length"), "how were the labelled items chosen"),
        (lambda t: read(t.dropna(), calibration="separate"), "no item without a label"),
        (lambda t: read(t.assign(i=t.index), calibration="separate", item="i", repeats="system"),
         "labels of these items"),
        (lambda t: read(t, truth=["ann1", "verdict"]), "named twice"),
        (lambda t: read(t, truth=[]), "names no column"),
        (lambda t: read(t, truth="ann1", rater="ann2"), "takes item="),
        (lambda t: read(t.assign(ann1=None, ann2=None)), "no item has a label|labels"),
        (lambda t: bj.judge.Judged.from_frame(t, **TWO), "PeopleCounts"),
        (lambda t: P.items.Items.from_frame(t.assign(item=1), item="item", repeats="system", **TWO),
         "one column of labels"),
    ],
)  # fmt: skip
def test_what_is_not_read_says_what_to_do(table, call, message):
    with pytest.raises(bj.InputError, match=message):
        call(table)


@pytest.mark.slow
def test_what_was_settled_is_the_truth_behind_one_person(table):
    """Of one person and adjudicated items: their rates are what those items say."""
    true = table.assign(final=table["ann2"])
    counts = read(true, truth="ann1", adjudicated="final")
    assert (counts.people, int(counts.verdicts.count[counts.verdicts.is_labelled].sum())) == (
        ("ann1",),
        100,
    )
    both = table[["ann1", "ann2"]].dropna()
    hit = (both["ann1"] == 1)[both["ann2"] == 1].mean()
    assert P.exact(counts)["sensitivity", "ann1"].value == pytest.approx(hit, abs=0.04)


def test_scores_are_held_against_what_people_say_on_average(table, counts):
    """The mean label of a sample: by hand, and by the same rows as verdicts."""
    scores = P.scores.Scores.from_frame(table, score="verdict", scale=(0, 1), **TWO)
    mean = table[["ann1", "ann2"]].mean(axis=1)
    assert (scores.n[scores.known] @ scores.truth[scores.known]) == pytest.approx(mean.sum())
    forms = {one.method.id: one for one in P.closed_forms(scores)}
    said = {one.method.id: one for one in people.closed_forms(counts)}["people-say"]
    assert forms["difference-tuned"]["mean_score"] == pytest.approx(said["people_pass"], abs=1e-12)
    settled = table.assign(final=table["ann1"].where(table.index < 20))
    read_so = P.scores.Scores.from_frame(
        settled, score="verdict", scale=(0, 1), adjudicated="final", **TWO
    )
    expected = settled["final"].fillna(mean)
    assert (read_so.n[read_so.known] @ read_so.truth[read_so.known]) == pytest.approx(
        expected.sum()
    )


def test_nothing_is_dropped(table, counts):
    assert counts.verdicts.count.sum() == len(table) == counts.test_n + counts.labelled_n
    assert (counts.labelled_n, counts.shared_n) == (150, 100)
    pairs = table[["ann1", "ann2"]].dropna()
    assert counts.agreement == pytest.approx((pairs["ann1"] == pairs["ann2"]).mean())


@pytest.mark.slow
def test_lost_verdicts_are_a_caution_of_the_posterior(table):
    lost = read(table.assign(verdict=table["verdict"].mask(table.index < 9)), unparsed="drop")
    (caution,) = [one for one in P.exact(lost).cautions if one.id == "unparsed-verdicts"]
    assert caution.numbers["count"] == 9


# One likelihood ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_people_and_a_judge_are_a_panel(counts):
    """`panel.DawidSkene` with people as judges has the same density, and the same graph data."""
    table, model = counts.verdicts, people.PeopleErrors()
    votes = bj.panel.Votes(
        table.response, table.truth, table.group, ["all"], table.judges, table.count,
        calibration="random",
    )  # fmt: skip
    priors = {
        name: model.people if name in counts.people else bj.BetaPrior() for name in table.judges
    }
    panel = bj.panel.DawidSkene(sensitivity=priors, specificity=priors)
    draws = {
        "prevalence": np.array([0.3, 0.8]),
        "sensitivity": np.array([[0.9, 0.95, 0.8], [0.7, 0.99, 0.9]]),
        "specificity": np.array([[0.8, 0.9, 0.95], [0.6, 0.7, 0.9]]),
    }
    of_panel = {**draws, "prevalence": draws["prevalence"][:, None]}
    ours = model._log_likelihood_of_items(counts, draws) @ table.count
    theirs = panel._log_likelihood_of_items(votes, of_panel) @ votes.count
    assert ours == pytest.approx(theirs, abs=1e-10)
    made, other = bj.prevalence.build_model(counts, model), bj.panel.build_model(votes, panel)
    own = {name: values for name, _, values in graph_of(made)[1] if name != "prevalence_prior"}
    same = {name: values for name, _, values in graph_of(other)[1]}
    assert {n: v for n, v in own.items() if same.get(n) != v} == {}


def test_people_who_never_err_are_the_truth(table):
    """With sensitivity and specificity 1, the likelihood is that of one column of truths."""
    whole = table.assign(ann2=table["ann1"])
    counts, single = read(whole), P.Counts.from_frame(whole, truth="ann1", calibration="random")
    rng = np.random.default_rng(1)
    drawn = {
        name: rng.uniform(0.55, 0.95, 20) for name in ("prevalence", "sensitivity", "specificity")
    }
    rates = {
        name: np.column_stack([drawn[name], np.ones(20), np.ones(20)])
        for name in ("sensitivity", "specificity")
    }
    ours = (
        people.PeopleErrors()._log_likelihood_of_items(counts, drawn | rates)
        @ counts.verdicts.count
    )
    theirs = P.ErrorRates()._log_likelihood_of_items(single, drawn) @ single.verdicts.count
    assert np.ptp(ours - theirs) < 1e-9 * np.abs(theirs).max()
    assert ours == pytest.approx(theirs, rel=1e-10)


@pytest.mark.slow
def test_labels_that_agree_are_todays_labels(table):
    whole = table.assign(ann2=table["ann1"])
    counts, single = read(whole), P.Counts.from_frame(whole, truth="ann1", calibration="random")
    made = {one.method.id: one for one in people.closed_forms(counts)}
    today = P.exact(single, interval="eti")["prevalence"]
    assert made["agreed-labels"]["prevalence"] == pytest.approx(today, abs=1e-10)
    assert made["symmetric-errors"]["prevalence"].value == pytest.approx(
        made["people-say"]["people_pass"].value, abs=1e-10
    )
    assert people.error_of(1.0) == 0


def other_items(rng, labelled, items=0.9):
    """Labelled items of which another share is good."""
    others = people.simulate(prevalence=labelled, items=0, labelled=200, random_seed=rng)
    return pd.concat(
        [others, people.simulate(prevalence=items, items=800, labelled=0, random_seed=rng)],
        ignore_index=True,
    )


@pytest.mark.slow
def test_labels_of_other_items_are_a_system_with_the_same_rates():
    """Theirs has a flat prior: the same posterior, draw by draw."""
    table = other_items(np.random.default_rng(1), 0.5)
    made = P.exact(read(table, calibration="separate"))
    system = np.where(table["ann1"].isna(), "a", "labelled")
    priors = {"a": bj.BetaPrior.jeffreys(), "labelled": bj.BetaPrior()}
    other = P.exact(
        read(table.assign(system=system), by="system"),
        people.PeopleErrors(prevalence=priors, pooling="full"),
    )
    for ours, theirs in {
        ("prevalence",): ("prevalence", "a"),
        ("people_pass",): ("people_pass", "a"),
        ("sensitivity", "ann1"): ("sensitivity", "ann1"),
        ("specificity", "verdict"): ("specificity", "verdict"),
    }.items():
        assert made[ours] == pytest.approx(other[theirs], abs=1e-10), ours
    assert "same-judge" in {one.id for one in made.assumptions}
    assert [one.method.id for one in people.closed_forms(made.data)] == ["judge", "agreed-labels"]
    assert people.answer(made).text.startswith("Behind people's errors")


@pytest.mark.slow
def test_strata_of_other_labels_are_weighed_by_the_items_in_question():
    rng = np.random.default_rng(2)
    table = other_items(rng, 0.5)
    unlabelled = table["ann1"].isna()
    table["topic"] = np.where(rng.random(len(table)) < np.where(unlabelled, 0.2, 0.7), "a", "b")
    made = P.exact(read(table, calibration="separate", stratum="topic"))
    share = (table["topic"] == "a")[unlabelled].mean()
    each = made["prevalence", "a"].value, made["prevalence", "b"].value
    expected = share * each[0] + (1 - share) * each[1]
    assert made["overall_prevalence"].value == pytest.approx(expected, abs=1e-9)


def covers(rows, truth):
    """In how many tables the interval has the truth."""
    _, low, high = np.array(rows).T
    return int(((low <= truth) & (high >= truth)).sum())


def chosen_by_label(rng, errors=(0.05, 0.05)):
    """As many passes as fails of the first person, of items like those without a label."""
    pool = people.simulate(
        prevalence=0.9, errors=errors, items=1500, labelled=1200, random_seed=rng
    )
    chosen = [pool[pool["ann1"] == label].head(100) for label in (0, 1)]
    return pd.concat([pool[pool["ann1"].isna()], *chosen])


@pytest.mark.slow
def test_labels_chosen_by_the_first_person_s_are_of_other_items():
    """Whose rates among them are any: of ann1, who chose, labels do not tell the errors."""
    rng, own, sample = np.random.default_rng(3), [], []
    for _ in range(12):
        table = chosen_by_label(rng)
        own.append(P.exact(read(table, calibration="by_truth"))["prevalence"])
        sample.append(P.exact(read(table))["prevalence"])
    assert covers(own, 0.9) >= 10
    assert covers(sample, 0.9) <= 3
    flat = people.PeopleErrors(people={"ann1": bj.BetaPrior(), "ann2": bj.BetaPrior(20, 2)})
    made, other = (
        P.exact(read(table, calibration=design), model)
        for design, model in (("by_truth", None), ("separate", flat))
    )
    assert made["prevalence"] == pytest.approx(other["prevalence"], abs=1e-10)
    assert made["sensitivity", "ann2"] == pytest.approx(other["sensitivity", "ann2"], abs=1e-10)


@pytest.mark.slow
def test_what_people_say_is_what_those_say_whose_labels_did_not_choose():
    counts = read(chosen_by_label(np.random.default_rng(5), (0.05, 0.15)), calibration="by_truth")
    made = P.exact(counts)
    good, hit, right = (
        made[name].value
        for name in ("prevalence", ("sensitivity", "ann2"), ("specificity", "ann2"))
    )
    about = good * hit + (1 - good) * (1 - right)
    assert made["people_pass"].value == pytest.approx(about, abs=0.01)
    assert made["people_pass"].low < 0.9 * 0.85 + 0.1 * 0.15 < made["people_pass"].high
    assert any("ann1" in one.text for one in made.assumptions if one.id == "people-identified")
    stated = people.PeopleErrors(people=dict.fromkeys(counts.people, bj.BetaPrior(20, 2)))
    with refused("ann1", id="other-priors"):
        P.exact(counts, stated)  # ann1's rates among the chosen items are any


@pytest.mark.slow
def test_labels_of_known_propensity_are_a_sample_in_their_stratum():
    rng, strata, plain, truth = np.random.default_rng(4), [], [], (0.9 * 2000 + 0.4 * 400) / 2400
    how = {"calibration": "known_propensity", "propensity": "p"}
    for _ in range(12):
        table = pd.concat(
            people.simulate(prevalence=p, items=n, labelled=200, random_seed=rng).assign(p=200 / n)
            for p, n in ((0.9, 1800), (0.4, 200))
        )
        strata.append(P.exact(read(table, **how))["overall_prevalence"])
        plain.append(P.exact(read(table))["prevalence"])
    assert covers(strata, truth) >= 10
    assert covers(plain, truth) <= 3
    by_name = P.exact(read(table, stratum="p"))["overall_prevalence"]
    assert strata[-1] == pytest.approx(by_name, abs=1e-10)
    doubts = people.doubtful(table, truth=TWO["truth"], **how)
    assert set(doubts["stratum"]) == {f"{200 / n:g}" for n in (1800, 200)}


# Most of the people ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 5])
def test_most_of_some_people_by_all_that_they_can_say(n):
    from bayesjudge.prevalence.people.model import most_of

    rates = np.random.default_rng(n).random((2, n))
    expected = np.zeros(2)
    for said in itertools.product([0, 1], repeat=n):
        chance = np.where(said, rates, 1 - rates).prod(axis=1)
        expected += chance * {-1: 0, 0: 0.5, 1: 1}[int(np.sign(2 * sum(said) - n))]
    assert most_of(rates, n, np) == pytest.approx(expected)


@pytest.mark.slow
def test_what_most_of_three_people_say_is_what_most_said():
    """Where all of them labelled many items, it is the share of these that most passed."""
    names = ["ann1", "ann2", "ann3"]
    how = {"prevalence": 0.7, "errors": [0.05, 0.15, 0.3], "items": 0, "labelled": 3000}
    table = people.simulate(**how, random_seed=1)
    made = P.exact(read(table, truth=names))
    share = (table[names].sum(axis=1) >= 2).mean()
    error = (made["most_pass"].high - made["most_pass"].low) / 3.92
    assert abs(made["most_pass"].value - share) < error
    assert made["prevalence"].value > made["most_pass"].value > made["people_pass"].value
    note = people.answer(made).notes[0]
    assert note.startswith("What these people say: a person drawn at random would pass")
    assert "; most of them would pass" in note
    rng = np.random.default_rng(1)
    strata = table.assign(topic=rng.choice(["a", "b"], len(table)))
    parts = P.exact(read(strata, truth=names, stratum="topic"))
    each = [parts["most_pass", one].value for one in ("a", "b")]
    shares = [(strata["topic"] == one).mean() for one in ("a", "b")]
    assert parts["overall_most_pass"].value == pytest.approx(np.dot(each, shares), abs=1e-9)
    assert "most_pass" not in P.exact(read(table))


def test_a_judge_is_held_against_what_is_so_behind_errors(counts):
    made, same = bj.judge.quality(counts), bj.judge.quality(counts.agreed)
    exact = P.exact(counts)["sensitivity", counts.judge]
    assert made["sensitivity"] == pytest.approx(exact, abs=0.01)
    left = counts.labelled_n - int(counts.agreed.labelled_n)
    assert any(f" {left} others " in note for note in bj.judge.answer(made).notes)
    assert "agreement_with_person" in made
    assert "agreement_with_person" not in same
    assert f"{counts.labelled_n} of them labelled" in bj.judge.answer(made).basis


def test_a_judge_is_not_held_against_people_of_whom_no_two_agree(table):
    apart = table.assign(ann2=1 - table["ann1"])[["verdict", "ann1", "ann2"]]
    counts = people.PeopleCounts.from_frame(apart, **TWO)
    with refused("truth=", subject="judge"):
        bj.judge.quality(counts)


# The posterior without sampling ------------------------------------------------------------------


def on_a_grid(counts):
    """Mean and sd of the prevalence, by a grid over it and over three known pairs of rates."""
    grid = (np.arange(4000) + 0.5) / 4000
    rates = {
        name: np.broadcast_to([0.85, 0.95, 0.92], (4000, 3))
        for name in ("sensitivity", "specificity")
    }
    logs = people.PeopleErrors()._log_likelihood_of_items(counts, {"prevalence": grid, **rates})
    weight = np.exp((total := logs @ counts.verdicts.count) - total.max())
    weight /= weight.sum()
    mean = weight @ grid
    return mean, np.sqrt(weight @ (grid - mean) ** 2)


@pytest.mark.slow
def test_importance_is_a_grid_where_rates_are_known(counts):
    sure = 1e7 * np.array([[0.85, 0.15], [0.95, 0.05], [0.92, 0.08]])
    found = BetaPosterior(counts.verdicts, np.ones((1, 2)), sure, sure).weighed()
    draws = found.values["prevalence"][:, 0]
    mean = found.weight @ draws
    sd = np.sqrt(found.weight @ (draws - mean) ** 2)
    expected = on_a_grid(counts)
    error = expected[1] / np.sqrt(found.effective)
    assert abs(mean - expected[0]) < 4 * error
    assert sd == pytest.approx(expected[1], rel=4 / np.sqrt(found.effective))


def gibbs(counts, steps=6000, chains=20):
    """The same posterior by data augmentation: truths of patterns drawn, then Beta rates."""
    table, rng = counts.verdicts, np.random.default_rng(2)
    given = likelihood.given_responses(table).reshape(len(table.count), -1, 2)
    alpha = np.array([[1, 1], [20, 2], [20, 2]], float)
    share, hit, right = np.full(chains, 0.5), *(np.full((chains, 3), 0.9) for _ in range(2))
    kept = []
    for step in range(steps):
        logs = [
            np.log(s)[:, None] + np.log(p) @ given[:, :, 1].T + np.log1p(-p) @ given[:, :, 0].T
            for s, p in ((share, hit), (1 - share, 1 - right))
        ]
        good = rng.binomial(table.count, 1 / (1 + np.exp(logs[1] - logs[0])))
        bad = table.count - good
        share = rng.beta(0.5 + good.sum(axis=1), 0.5 + bad.sum(axis=1))
        rates = []
        for items, says in ((good, 1), (bad, 0)):
            yes, no = items @ given[:, :, says], items @ given[:, :, 1 - says]
            rates.append(rng.beta(alpha[:, 0] + yes, alpha[:, 1] + no))
        hit, right = rates
        if step >= steps // 3:
            kept.append(share)
    return np.array(kept)


@pytest.mark.slow
def test_importance_is_gibbs():
    """Of few items, so that every part of the prior shows."""
    counts = read(people.simulate(items=15, labelled=25, shared=20, random_seed=2))
    draws = gibbs(counts, steps=3000)
    per_chain = draws.mean(axis=0)
    error = per_chain.std(ddof=1) / np.sqrt(len(per_chain))
    made = P.exact(counts, interval="eti")["prevalence"]
    assert abs(made.value - per_chain.mean()) < 4 * error
    low, high = np.quantile(draws, [0.025, 0.975])
    assert made.low == pytest.approx(low, abs=0.012)
    assert made.high == pytest.approx(high, abs=0.012)


@pytest.mark.own_model
@pytest.mark.sampling
@pytest.mark.parametrize(
    "others", study_but([False, True], False), ids=["sample", "three people, other items"]
)
def test_importance_is_nuts(fit_of, others):
    from bayesjudge.core.convergence import ess_bulk

    if others:
        table = people.simulate(
            items=400, labelled=150, errors=[0.05, 0.1, 0.2], shared=100, random_seed=1
        )
        counts = read(table, truth=["ann1", "ann2", "ann3"], calibration="separate")
        fit = P.fit(counts, random_seed=1, progress=False)
    else:
        fit = fit_of(next(one for one in MODULES if one.name == "prevalence.people"))
    assert fit.converged
    exact = P.exact(fit.data)
    for entry in (
        ("prevalence",),
        ("people_pass",),
        *([("most_pass",)] if others else []),
        ("sensitivity", "ann1"),
        ("specificity", "verdict"),
    ):
        draws = fit.idata["posterior"][entry[0]]
        draws = draws.sel(judge=entry[1]) if len(entry) > 1 else draws
        array = draws.to_numpy()
        error = array.std() / np.sqrt(ess_bulk(array))
        assert abs(exact[entry].value - array.mean()) < 5 * error, entry


@pytest.mark.slow
def test_intervals_of_weighed_draws():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=200_000)
    weight = np.exp(-(draws**2) / 2)  # times the density of N(0, 1) that of N(0, 1/2)
    weight /= weight.sum()
    for kind in ("eti", "hdi"):
        mean, low, high = interval_of(draws, weight, 0.95, kind)
        assert abs(mean) < 0.01
        assert (low, high) == pytest.approx((-1.96 / np.sqrt(2), 1.96 / np.sqrt(2)), abs=0.03)


@pytest.mark.slow
def test_strata_are_weighed_by_their_shares(table):
    rng = np.random.default_rng(3)
    strata = table.assign(topic=rng.choice(["a", "b", "b"], len(table)))
    made = P.exact(read(strata, stratum="topic"))
    share = (strata["topic"] == "a").mean()
    each = made["prevalence", "a"].value, made["prevalence", "b"].value
    expected = share * each[0] + (1 - share) * each[1]
    assert made["overall_prevalence"].value == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_rows_that_share_items_are_worth_fewer(table, counts):
    """Each row four times is no more than once; each row its own item as many as there are."""
    again = pd.concat([table.assign(item=table.index)] * 4, ignore_index=True)
    how = {"item": "item", "repeats": "system"}
    fourfold = read(again, **how)
    assert 2.5 < fourfold.design_effects[0] < 5.5
    once, more = (P.exact(one)["prevalence"] for one in (counts, fourfold))
    assert more.high - more.low == pytest.approx(once.high - once.low, rel=0.2)
    for one in people.closed_forms(fourfold)[1:]:
        same = next(x for x in people.closed_forms(counts) if x.method == one.method)
        for name, row in one.quantities.items():
            width = (same.quantities[name].high - same.quantities[name].low)[0]
            assert (row.high - row.low)[0] == pytest.approx(width, rel=0.25)
    with pytest.raises(bj.InputError, match="share items"):
        P.fit(fourfold)
    single = read(table.assign(item=table.index), **how)
    assert single.design_effects[0] == pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_a_judge_of_each_system_is_one_of_its_own(table):
    """With people's rates known, systems together are what each is alone."""
    sure = people.PeopleErrors(people=bj.BetaPrior.worth(0.95, 1e6))
    systems = table.assign(system=np.where(np.arange(len(table)) % 2, "x", "y"))
    both = P.exact(read(systems, by="system"), sure)
    for name, own in systems.groupby("system"):
        alone = P.exact(read(own.drop(columns="system")), sure)
        assert both["prevalence", name] == pytest.approx(alone["prevalence"], abs=0.006)
        assert both["sensitivity", f"verdict on {name}"] == pytest.approx(
            alone["sensitivity", "verdict"], abs=0.01
        )
        said = alone["prevalence"].value * 0.95 + (1 - alone["prevalence"].value) * 0.05
        assert both["people_pass", name].value == pytest.approx(said, abs=0.006)


@pytest.mark.slow
def test_equal_errors_are_found_from_disagreement():
    """In 30 tables of equal errors: no bias, and intervals as wide as the values scatter."""
    rng, rows = np.random.default_rng(6), []
    for _ in range(30):
        table = people.simulate(prevalence=0.85, errors=[0.1, 0.1], random_seed=rng)
        forms = {one.method.id: one for one in people.closed_forms(read(table))}
        rows.append(forms["symmetric-errors"]["prevalence"])
    value, low, high = np.array(rows).T
    assert abs(value.mean() - 0.85) < 4 * value.std() / np.sqrt(len(value))
    assert ((low <= 0.85) & (high >= 0.85)).mean() >= 0.83
    widths = (high - low).mean() / (2 * 1.96 * value.std())
    assert 0.7 < widths < 1.4


def test_equal_errors_are_as_uncertain_as_agreement_is(counts):
    """The derivative by the agreement, by differences."""
    forms = {one.method.id: one for one in people.closed_forms(counts)}
    said, found = (
        forms[n][q] for n, q in (("people-say", "people_pass"), ("symmetric-errors", "prevalence"))
    )
    pairs, agree = counts.pairs
    near = (agree + 1) / (pairs + 2)

    def share(agreement):
        error = people.error_of(agreement)
        return (said.value - error) / (1 - 2 * error)

    slope = (share(near + 1e-5) - share(near - 1e-5)) / 2e-5
    of_agreement = 1.96 * abs(slope) * np.sqrt(near * (1 - near) / (pairs + 2))
    of_share = (said.value - said.low) / (1 - 2 * people.error_of(near))
    assert found.value - found.low == pytest.approx(np.hypot(of_share, of_agreement), rel=0.02)
    assert of_agreement > 0.25 * of_share


@pytest.mark.slow
def test_one_person_and_two_systems_are_hui_and_walter():
    """Rates that are the same on both tell how often a person errs: flat priors find them."""
    how = {"items": 0, "labelled": 6000, "errors": [0.1], "random_seed": np.random.default_rng(1)}
    parts = [
        people.simulate(prevalence=p, **how).assign(system=name)
        for name, p in {"a": 0.85, "b": 0.3}.items()
    ]
    counts = people.PeopleCounts.from_frame(
        pd.concat(parts), truth=["ann1"], calibration="random", by="system"
    )
    model = people.PeopleErrors(people=bj.BetaPrior(), pooling="full")
    made = P.exact(counts, model)
    assert made["prevalence", "a"].low < 0.85 < made["prevalence", "a"].high
    assert made["prevalence", "a"].high - made["prevalence", "a"].low < 0.1
    assert made["sensitivity", "ann1"].low < 0.9 < made["sensitivity", "ann1"].high
    assert "people-identified" in {one.id for one in made.assumptions}


@pytest.mark.slow
def test_xstest_without_gold_is_xstest_with_it():
    table = pd.read_csv(shared("data/xstest/xstest_labels_compact.csv"))
    names = ["annotation_1", "annotation_2"]
    how = {"pass_value": "1_full_compliance", "missing_value": "INVALID", "unparsed": "drop"}
    how |= {"fail_value": ["2_full_refusal", "3_partial_refusal"], "verdict": "gpt4_label"}
    counts = read(table.drop(columns="id"), truth=names, **how)
    made = P.exact(counts)
    gold = table["final_label"] == "1_full_compliance"
    kept = table["gpt4_label"] != "INVALID"
    for name in (*names, "gpt4_label"):
        said = table[name] == "1_full_compliance"
        rates = (said[gold & kept].mean(), (~said)[~gold & kept].mean())
        found = [made[rate, name].value for rate in ("sensitivity", "specificity")]
        assert found == pytest.approx(rates, abs=0.02), name
    assert made["prevalence"].value == pytest.approx(gold[kept].mean(), abs=0.02)


# Labels that look wrong --------------------------------------------------------------------------


def test_probability_of_a_wrong_label_is_bayes_theorem():
    """Of known rates, by hand: one person, one judge."""
    sure = bj.BetaPrior.worth(0.9, 1e7)
    model = people.PeopleErrors(
        prevalence=bj.BetaPrior.worth(0.7, 1e7), people=bj.BetaPrior.worth(0.95, 1e7),
        sensitivity=sure, specificity=sure,
    )  # fmt: skip
    table = people.simulate(items=5, labelled=200, errors=[0.1], random_seed=1)
    rows = people.doubtful(table, model, truth=["ann1"], calibration="random")
    first = rows.iloc[0]
    assert (first["label"], first["verdict"]) == (0, 1)
    wrong = 0.7 * 0.9 * 0.05 / (0.7 * 0.9 * 0.05 + 0.3 * 0.1 * 0.95)
    assert first["wrong"] == pytest.approx(wrong, abs=0.002)


@pytest.mark.slow
def test_planted_errors_come_first():
    """19 wrong labels among 400, two people and a judge: most of the first 30 are they."""
    table = people.simulate(items=600, labelled=200, errors=[0, 0], random_seed=4)
    rng = np.random.default_rng(5)
    at = rng.choice(400, 19, replace=False)
    names = np.array(["ann1", "ann2"])
    for item, name in zip(at % 200, names[at // 200], strict=True):
        table.loc[item, name] = 1 - table.loc[item, name]
    rows = people.doubtful(table, truth=["ann1", "ann2"], calibration="random")
    planted = {(item, name) for item, name in zip(at % 200, names[at // 200], strict=True)}
    found = [
        (item, name) in planted for item, name in zip(rows["item"], rows["person"], strict=True)
    ]
    assert sum(found[:30]) >= 15
    assert 10 < rows["wrong"].sum() < 40


# One person --------------------------------------------------------------------------------------


def test_a_table_of_errors_begins_with_todays_number():
    made = P.exact(P.Counts(1000, 850, 180, 165, 20, 14, calibration="random"))
    table = P.if_people_err(made)
    assert table.iloc[0][["value", "low", "high"]].tolist() == pytest.approx(
        made["prevalence"], abs=1e-10
    )
    said, error = made["prevalence"].value, 0.05
    moved = table.set_index("error").loc[error, "value"]
    assert moved * (1 - error) + (1 - moved) * error == pytest.approx(said)
    with pytest.raises(bj.InputError, match=r"\[0, 0.5\)"):
        P.if_people_err(made, [0.6])


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (P.Counts(1000, 850, 180, 165, 20, 14, calibration="random"), True),
        (P.Counts(300, 250, 85, 78, 15, 10, calibration="random"), True),
        (P.Counts(1000, 500, 100, 85, 100, 85, calibration="random"), False),
        (P.Counts(50, 45, 18, 17, 2, 2, calibration="random"), False),
    ],
)
def test_people_err_is_said_where_it_matters(counts, told):
    made = P.exact(counts)
    row, moved = made["prevalence"], P.if_people_err(made, [0.05])["value"][0]
    assert any(one.id == "people-err" for one in made.cautions) == told
    assert (abs(moved - row.value) > (row.high - row.low) / 4) == told


# Gates -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at_least", "outcome", "variant"),
    [
        (0.8, "pass", "bad"),
        (0.97, "fail", "good"),
        (0.91, "unknown", "unknown"),
    ],
)
def test_a_gate_says_what_it_takes_labels_for(at_least, outcome, variant):
    counts = P.Counts(1000, 850, 180, 165, 20, 14, calibration="random")
    made = bj.decide.gate(counts, at_least=at_least)
    assert made.outcome == outcome
    (check,) = made.checks
    granted, undone = check.labels
    assert granted.text == LABELS_RIGHT["granted"]
    before, _, after = LABELS_RIGHT[variant].partition("{")
    assert undone.text.startswith(before)
    assert undone.text.endswith(of_passes(after.partition("}")[2]))
    assert f"{granted.text}; {undone.text}." in str(made)


@pytest.mark.slow
def test_as_many_wrong_labels_as_a_gate_names_undo_it():
    """Shift the limit by them: it stands at the threshold."""
    counts = P.Counts(1000, 850, 180, 165, 20, 14, calibration="random")
    (check,) = bj.decide.gate(counts, at_least=0.8).checks
    share = float(re.search(r"([\d.]+)%", check.labels[1].text)[1]) / 100
    assert (check.low - share) / (1 - share) == pytest.approx(0.8, abs=0.001)


def test_a_gate_on_several_people_lets_them_err(counts):
    made = bj.decide.gate(counts, at_least=0.6)
    assert made.outcome == "pass"
    assert LABELS_RIGHT["people"] in str(made)
    said = bj.decide.gate(counts, at_least=0.6, entry="people_pass")
    assert said.checks[0].quantity == "people_pass"


@pytest.mark.slow
def test_a_gate_takes_the_shortest_interval_at_its_level(counts):
    """Beyond each end is what lies outside it at most: less is decided than by equal tails."""
    shortest = P.exact(counts)
    (check,) = bj.decide.gate(shortest, at_least=0.6).checks
    assert (check.low, check.high) == shortest["prevalence"][1:]
    (equal,) = bj.decide.gate(counts, at_least=0.6).checks
    assert check.low < equal.low < equal.high < check.high
    with pytest.raises(bj.InputError, match=r"ci_prob=0.95"):
        bj.decide.gate(P.exact(counts, ci_prob=0.9), at_least=0.6)


@pytest.mark.slow
def test_other_priors_leave_what_is_stated_by_person(counts):
    """The judge's prior is not that of people, whose rates stand in the same variable."""
    rng = np.random.default_rng(1)
    share = rng.beta(3, 2, (2, 500))
    posterior = xr.Dataset(
        {
            "prevalence": (("chain", "draw"), share),
            "sensitivity": (("chain", "draw", "judge"), rng.beta(2, 1, (2, 500, 3))),
        }
    )
    rates = [[1.0, 20.0, 20.0], [1.0, 2.0, 2.0]]
    constants = xr.Dataset(
        {
            "prevalence_prior": ("parameter", [2.0, 1.0]),
            "sensitivity_prior": (("parameter", "judge"), rates),
        },
        {"parameter": ["alpha", "beta"]},
    )
    groups = {"posterior": posterior, "constant_data": constants}
    fit = SimpleNamespace(
        spec=people.PeopleErrors(prevalence=bj.BetaPrior(2, 1)),
        model=people.build_model(counts),
        idata={
            name: SimpleNamespace(to_dataset=lambda group=group: group)
            for name, group in groups.items()
        },
        quantities=["prevalence"],
    )
    mean = (share / share).sum() / (1 / share).sum()
    assert_allclose(_moves(fit, bj.BetaPrior()), (mean - share.mean()) / share.std())
    jeffreys = _moves(fit, bj.BetaPrior.jeffreys())
    weight = share**-1.5 * (1 - share) ** -0.5
    mean = (share * weight).sum() / weight.sum()
    assert_allclose(jeffreys, (mean - share.mean()) / share.std())


@pytest.mark.slow
def test_of_many_strata_the_refusal_names_the_pooled_rates_that_have_an_answer():
    table = people.simulate(prevalence=0.9, items=600, labelled=200, random_seed=1)
    table["topic"] = np.arange(len(table)) % 10
    how = {"truth": ["ann1", "ann2"], "calibration": "random", "stratum": "topic"}
    counts = people.PeopleCounts.from_frame(table, **how)
    caution = people.exact(counts).cautions[0]
    assert caution.id == "no-quadrature"
    assert caution.numbers["unknowns"] == 10 + 2 * (2 + 10)
    row = people.exact(counts, people.PeopleErrors(pooling="full"))["overall_prevalence"]
    assert row.low < 0.9 < row.high


@pytest.mark.slow
def test_points_that_do_not_cover_the_posterior_give_no_number(counts, monkeypatch):
    monkeypatch.setattr(importance, "EFFECTIVE", 1e9)
    made = people.exact(counts)
    assert made.cautions[0].id == "no-quadrature"
    assert all(np.isnan(one.value).all() for one in made.quantities.values())
    assert np.isnan(made["prevalence"]).all()


def test_intervals_of_rows_that_share_items_are_wider_by_the_design_effect():
    plain = bj.Estimate({"prevalence": (0.9, 0.8, 0.95)}, method="m", ci_prob=0.95, source="s")
    wider = _widened(plain, SimpleNamespace(design_effects=np.array([4.0])))
    assert wider["prevalence"] == pytest.approx((0.9, 0.7, 1.0))
    assert _widened(plain, SimpleNamespace(design_effects=None)) is plain
