"""Whether labels came as declared: the test is a permutation's, it names the column, and the answer
follows what is still valid."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesjudge as bj
from bayesjudge import prevalence as P
from bayesjudge.cli import main
from bayesjudge.core import methods
from bayesjudge.core.diagnosis import SELECTION, cautions_of, selection_of
from bayesjudge.prevalence import Counts, scores
from bayesjudge.prevalence.items.answer import differences
from bayesjudge.truth import within_classes
from bayesjudge.verdicts import row_order, selection


def rows_of(n=600, seed=1):
    """Rows without labels: longer outputs are worse, and who is good."""
    rng = np.random.default_rng(seed)
    tokens = rng.lognormal(6, 0.7, n).round(1)
    good = rng.random(n) < 1 / (1 + np.exp(1.5 * (np.log(tokens) - 6.5)))
    said = np.where(rng.random(n) < 0.85, good, ~good)
    table = pd.DataFrame(
        {
            "id": [f"q{i:05d}" for i in range(n)],
            "created": pd.date_range("2026-01-01", periods=n, freq="h").astype(str),
            "model": rng.choice(["a", "b", "c"], n),
            "tokens": tokens,
            "verdict": np.where(said, "yes", "no"),
        }
    )
    return table, good, rng


def labelled(table, good, picked):
    """The table with labels of some rows, and with who gave them and when."""
    has = np.isin(np.arange(len(table)), picked)
    return table.assign(
        truth=np.where(has, np.where(good, "yes", "no"), ""),
        annotator=np.where(has, "Ann", "none"),
        checked=np.where(has, "2026-02-01", None),
    )


def planted(how, m=150, seed=1):
    """Counts of labels that came otherwise than at random, and the share of good rows."""
    table, good, rng = rows_of(seed=seed)
    weight = {
        "random": np.ones(len(table)),
        "first": np.arange(len(table)) < m,
        "model": (table["model"] == "a").to_numpy(),
        "tokens": table["tokens"].to_numpy() ** 2,
        "verdict": np.where(table["verdict"] == "no", 6.0, 1.0),
    }[how].astype(float)
    picked = rng.choice(len(table), m, replace=False, p=weight / weight.sum())
    return labelled(table, good, picked), good.mean()


def answer_of(counts):
    return P.answer(*P.closed_forms(counts), P.exact(counts))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "column", "words"),
    [
        ("first", "created", "labels say nothing of"),
        ("model", "model", "labels say nothing of"),
        ("tokens", "tokens", "within classes of 'tokens'"),
        ("verdict", "verdict", "chosen by verdict"),
    ],
)
def test_the_column_is_named_and_the_answer_follows_it(how, column, words):
    table, share = planted(how)
    counts = Counts.from_frame(table, calibration="random")
    caution = selection_of(counts).caution
    assert (caution.id, caution.numbers["column"]) == ("label-selection", column)
    found = answer_of(counts)
    assert words in found.notes[0].lower()
    assert found.notes[1].startswith("If they came as declared: ")
    (_, _, row), *_ = found.quoted.rows()
    assert row.low < share < row.high
    assert np.isnan(row.value) == (how in ("first", "model"))
    assert "label-selection" in {c.id for c in found.quoted.cautions}
    # declared, methods say what contradicts them
    assert "label-selection" in P.human_only(counts).assumptions[0].contradicted_by


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "panel --item id --judges verdict --judges other",
        "prevalence --score score",
        "prevalence --verdict verdict --by team --item task",
    ],
)
def test_a_page_has_the_valid_number_and_none_that_contradicts_it(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table, _ = planted("tokens")
    passed = table["verdict"] == "yes"
    table = table.assign(other=table["verdict"], score=np.where(passed, 4, 2))
    table = table.drop(columns=["verdict", "other"] if "score" in line else ["score"])
    if "team" in line:
        table = shared(table)
    table.to_csv("rows.csv", index=False)
    command, *how = line.split()
    how += ["--scale", "1:5"] * ("score" in line) + ["--truth", "truth", "--no-nuts"]
    main([command, "rows.csv", *how, "--calibration", "random", "--html", "page.html"])
    page = Path("page.html").read_text()
    assert 'class="quoted"' in page
    assert len(re.findall(f"[ >]{methods.WITHIN_CLASSES.title}[,<]", page)) >= 3
    picture = page.partition("estimates and intervals by method")[2]
    assert re.search(">[^<]*Regression within classes of a[^<]*</text>", picture)
    assert methods.PAIRED.title not in page
    assert "A sampled model may use more" not in page
    assert "Labels needed for the shares" not in page
    assert "labels are wrong" not in page


def shared(table):
    """Two teams answered each of half as many tasks."""
    half = len(table) // 2
    return table.assign(task=np.arange(len(table)) % half, team=np.repeat(["x", "y"], half))


def shared_items(how="rows", m=200, seed=1, systems="xy"):
    """Systems on shared items, labels chosen by length: a table, and which rows are good."""
    rng, n = np.random.default_rng(seed), 400
    hard, own = rng.normal(size=n), 0.7 * rng.normal(size=(len(systems), n))
    slope = np.array([[1.5], [0.2], [1.5]])[: len(systems)]
    good = rng.random(n) < 1 / (1 + np.exp(slope * (hard + own) - 0.8))
    said = np.where(rng.random(good.shape) < 0.8, good, ~good)
    tokens = np.exp(6 + 0.5 * (hard + own) + 0.2 * rng.normal(size=good.shape)).round(1)
    table = pd.DataFrame(
        {
            "task": np.tile([f"t{i:03d}" for i in range(n)], len(systems)),
            "team": np.repeat([*systems], n),
            "tokens": tokens.ravel(),
            "topic": np.tile(np.where(hard > 0.5, "hard", "easy"), len(systems)),
            "verdict": np.where(said, "yes", "no").ravel(),
        }
    )
    weight = tokens.ravel() ** 2
    if how == "items":
        weight = tokens.mean(axis=0) ** 2
    elif how == "all":
        weight, m = np.ones(len(table)), len(table)
    elif how == "topic":
        weight = np.where(table["topic"] == "hard", 8.0, 1.0)
    picked = rng.choice(len(weight), m, replace=False, p=weight / weight.sum())
    if how == "items":
        picked = np.flatnonzero(np.isin(np.arange(len(table)) % n, picked))
    return labelled(table, good.ravel(), picked), good.mean(axis=1)


def items_of(table, **how):
    how = {"item": "task", "by": "team", "calibration": "random"} | how
    return P.items.Items.from_frame(table, **how)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["rows", "items", "topic"])
def test_systems_on_shared_items_lead_with_shares_and_differences_that_are_valid(how):
    table, shares = shared_items(how)
    items = items_of(table)
    found = P.answer(*P.closed_forms(items))
    seen = selection_of(items)
    assert seen.caution.numbers["column"] == ("topic" if how == "topic" else "tokens")
    assert seen.of == {"rows": "row", "items": "item", "topic": ""}[how]
    assert {*seen.instead.items.tolist()} >= {1}
    assert found.method is methods.WITHIN_CLASSES
    rows = {at["system"]: row for _, at, row in found.quoted.rows()}
    for name, share in zip("xy", shares, strict=True):
        assert rows[name].low < share < rows[name].high
    assert found.lead.by.low < abs(shares[0] - shares[1]) < found.lead.by.high
    assert methods.WITHIN_CLASSES.title in found.why.partition("difference is by")[2]
    _, gaps = P.items.closed_form.within_classes(items, 0.95)
    errors = P.items.closed_form.errors_of(gaps)["x", "y"]
    assert errors.value == gaps["difference", "x", "y"].value
    chance = errors.probability
    assert found.lead.probability == pytest.approx(max(chance, 1 - chance))
    object.__delattr__(items, SELECTION)
    declared = P.answer(*P.closed_forms(items))
    assert found.notes[1] == f"If they came as declared: {declared.text}"
    assert declared.lead.by != found.lead.by


@pytest.mark.slow
def test_declared_differences_on_shared_items_are_wrong_where_the_valid_ones_are_not():
    errors = []
    for seed in range(12):
        table, shares = shared_items(m=300, seed=seed)
        items = items_of(table)
        _, led = P.items.closed_form.within_classes(items, 0.95)
        declared = P.paired_difference(items)
        gap = shares[0] - shares[1]
        errors.append([one["difference", "x", "y"].value - gap for one in (led, declared)])
    led, declared = np.array(errors).T
    assert abs(led.mean()) < 3 * led.std() / len(led) ** 0.5
    assert abs(declared.mean()) > 6 * declared.std() / len(declared) ** 0.5


@pytest.mark.slow
def test_whole_items_have_the_class_of_their_mean():
    """Each system's own length would tell less: the other's, by which they were chosen too."""
    table, _ = shared_items("items")
    by_mean = table.assign(tokens=table.groupby("task")["tokens"].transform("mean"))
    own, mean = (selection_of(items_of(one)) for one in (table, by_mean))
    assert (own.of, mean.of) == ("item", "")
    sizes = [
        np.tensordot(one.instead.items, one.instead.item_cells, 1).sum(axis=(1, 2)).tolist()
        for one in (own, mean)
    ]
    assert sizes[0] == sizes[1]
    assert len(sizes[0]) == 20


@pytest.mark.slow
def test_judges_of_shared_items_lead_each_by_its_own_verdicts():
    table, shares = shared_items()
    table = table.assign(other=table["verdict"].where(np.arange(800) % 4 > 0, "yes"))
    judges = {name: items_of(table, verdict=name) for name in ("verdict", "other")}
    made = P.items.by_judge(judges)
    found = P.answer(made)
    assert found.method is methods.WITHIN_CLASSES
    for name, items in judges.items():
        alone = P.answer(*P.closed_forms(items)).quoted
        for system, share in zip("xy", shares, strict=True):
            row = found.quoted["prevalence", name, system]
            assert row == alone["prevalence", system]
            assert row.low < share < row.high
    assert "label-selection" in {c.id for c in found.cautions}


def test_gates_of_systems_on_shared_items_decide_by_what_is_valid():
    table, _ = shared_items(systems="xyz")
    items = items_of(table)
    shares, gaps = P.items.closed_form.within_classes(items, 0.9)
    made = bj.decide.gate(items, at_least=0.05)
    assert [check.low for check in made.checks] == [row.low for *_, row in shares.rows()]
    made = bj.decide.gate(items, against="y", margin=0.4)
    assert [check.where["first"] for check in made.checks] == ["x", "z"]
    assert made.checks[0].low == gaps["difference", "x", "y"].low
    assert made.checks[1].low == -gaps["difference", "y", "z"].high
    assert "label-selection" in {c.id for c in made.cautions}


@pytest.mark.slow
def test_what_labels_tell_nothing_of_bounds_shares_and_differences():
    table, shares = shared_items("all", systems="xyz")
    easy, rng = table["topic"] == "easy", np.random.default_rng(1)
    chance = np.where(easy, np.where(table["team"] == "y", 0.0, 0.15), 0.5)
    kept = table["truth"].where(rng.random(len(table)) < chance, "")
    items = items_of(table.assign(truth=kept).drop(columns="tokens"))
    seen, part = selection_of(items), easy.mean()
    assert seen.untold == pytest.approx({"x": 0, "y": part, "z": 0})
    answer = P.answer(*P.closed_forms(items))
    x, y = (answer.quoted["prevalence", name] for name in "xy")
    assert np.isnan(y.value)
    _, gaps = P.items.closed_form.within_classes(items, 0.95)
    rows = {(at["first"], at["second"]): row for _, at, row in gaps.rows()}
    assert np.isnan([row.value for row in rows.values()]).tolist() == [True, False, True]
    true = dict(zip("xyz", shares, strict=True))
    assert all(row.low < true[a] - true[b] < row.high for (a, b), row in rows.items())
    middle = sum(rows["x", "y"][1:]) / 2
    assert middle == pytest.approx((x.low + x.high - y.low - y.high) / 2, rel=1e-9)
    alone = rows["x", "z"].high - rows["x", "z"].low
    assert part < rows["x", "y"].high - rows["x", "y"].low < part + 2 * alone
    assert bj.decide.gate(items, against="y", margin=0.99).outcome == "pass"
    (only,) = differences(gaps)
    assert {only["first"], only["second"]} == {"x", "z"}


@pytest.mark.slow
def test_rows_that_repeat_and_judges_that_repeat_lead_too():
    table, shares = shared_items()
    doubled = pd.concat([table, table], ignore_index=True)
    alone, twice = (
        P.items.closed_form.within_classes(items_of(one, repeats=repeats), 0.95)[0]
        for one, repeats in ((table, None), (doubled, "judge"))
    )
    assert twice["prevalence", "x"] == pytest.approx(alone["prevalence", "x"], rel=1e-9)
    one_system = items_of(table, by=None, repeats="system")
    (share,) = P.items.closed_form.within_classes(one_system, 0.95)
    assert share["prevalence"].low < shares.mean() < share["prevalence"].high


@pytest.mark.slow
def test_honest_labels_of_shared_items_are_not_blamed_where_systems_have_other_shares():
    blamed = 0
    for seed in range(60):
        table, _ = shared_items(seed=seed)
        rng = np.random.default_rng(seed)
        rare = rng.random(len(table)) < np.where(table["team"] == "x", 0.4, 0.1)
        some = np.isin(table["task"], rng.choice(table["task"].unique(), 100, replace=False))
        kept = table[(table["team"] == "x") | (rng.random(len(table)) < 0.6)].index
        for picked in (rare, some):
            data = labelled(table, rng.random(len(table)) < 0.5, np.flatnonzero(picked))
            blamed += selection_of(items_of(data.loc[kept])) is not None
    assert blamed <= 3


@pytest.mark.slow
def test_within_strata_and_systems_labels_chosen_by_verdict_are_taken_so():
    by_verdict, by_length = (planted(how)[0] for how in ("verdict", "tokens"))
    for group, quoted_by in (("stratum", P.closed_forms), ("by", lambda part: [P.exact(part)])):
        how = {"calibration": "random", group: "model"}
        counts = Counts.from_frame(by_verdict, **how)
        part = Counts.from_frame(by_verdict, **how | {"calibration": "by_verdict"})
        assert selection_of(counts).instead.groups == ("a", "b", "c")
        answer, expected = answer_of(counts), quoted_by(part)[-1]
        rows = [row for *_, row in answer.quoted.rows()]
        assert rows == [row for *_, row in expected.rows()][: len(rows)]
        assert answer.notes[1].startswith("If they came as declared: ")
        counts = Counts.from_frame(by_length, **how)
        assert selection_of(counts).caution.numbers["column"] == "tokens"
        assert answer_of(counts).method.id == "within-classes"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["topic", "verdict"])
def test_shares_of_classes_follow_the_column_too(how):
    rng = np.random.default_rng(4)
    topic = rng.integers(2, size=1500)
    truth = np.where(topic == 1, rng.choice(3, 1500, p=[0.2, 0.2, 0.6]), rng.integers(2, size=1500))
    said = np.where(rng.random(1500) < 0.8, truth, rng.integers(3, size=1500))
    odds = np.array([0.05, 0.4])[topic] if how == "topic" else np.array([0.08, 0.2, 0.5])[said]
    names, known = np.array(["a", "b", "c"]), rng.random(1500) < odds
    table = pd.DataFrame({"verdict": names[said], "truth": np.where(known, names[truth], None)})
    table["topic"] = np.where(topic, "x", "y")
    counts = P.classes.ClassCounts.from_frame(table, calibration="random")
    assert selection_of(counts).caution.numbers["column"] == how
    answer, share = answer_of(counts), np.bincount(truth) / len(truth)
    assert answer.notes[1].startswith("If they came as declared: ")
    shares = [row for quantity, _, row in answer.quoted.rows() if "prevalence" in quantity]
    assert len(shares) == 3
    assert all(row.low < x < row.high for row, x in zip(shares, share, strict=True))
    if how == "topic":
        assert P.exact(counts)["prevalence", "c"].low > share[2] + 0.05


@pytest.mark.slow
def test_pairs_ask_how_labels_came_too():
    table, _ = planted("verdict")
    table = table.assign(swapped=table["verdict"]).replace({"yes": "win", "no": "loss"})
    counts = P.classes.ClassCounts.from_pairs(table, calibration="random")
    seen = selection_of(counts)
    assert seen.caution.numbers["column"] in ("verdict", "swapped")
    table, share = planted("tokens")
    swapped = table["verdict"].where(np.arange(600) % 4 > 0, "no")
    table = table.assign(swapped=swapped).replace({"yes": "win", "no": "loss"})
    ties = np.arange(600) % 3 == 0
    table["truth"] = table["truth"].where(~ties | (table["truth"] == ""), "tie")
    counts = P.classes.ClassCounts.from_pairs(table, calibration="random")
    found = answer_of(counts)
    assert found.method is methods.WITHIN_CLASSES
    row, wins = found.quoted["win_rate"], 2 / 3 * share + 1 / 6
    assert row.low < wins < row.high
    assert P.exact(counts)["win_rate"].value < wins - 0.03


@pytest.mark.slow
@pytest.mark.parametrize("lost", [None, "fail"])
def test_each_of_several_judges_leads_by_its_own_verdicts(lost):
    table, share = planted("tokens")
    verdicts = table["verdict"]
    other = np.where(np.arange(600) % 5, verdicts, verdicts.to_numpy()[::-1])
    if lost:
        other[:30] = ""
    table = table.assign(other=other)
    how = {"verdict": ["verdict", "other"], "unparsed": lost, "calibration": "random"}
    counts = Counts.from_frame(table, **how)
    found = answer_of(counts)
    alone = answer_of(Counts.from_frame(table.drop(columns="other"), calibration="random"))
    rows = {at["judge"]: row for _, at, row in found.quoted.rows()}
    assert rows["verdict"] == pytest.approx(alone.quoted["prevalence"])
    assert rows["other"].low < share < rows["other"].high
    assert rows["other"].value != rows["verdict"].value
    assert P.exact(counts)["prevalence", "other"].value < share - 0.04
    judged = table[table["other"] != ""]
    dropped, kept = (
        answer_of(Counts.from_frame(rows, **how | {"unparsed": way})).quoted
        for rows, way in ((table, "drop"), (judged, None))
    )
    for name in ("verdict", "other"):
        by_both = dropped["prevalence", name], kept["prevalence", name]
        assert by_both[0].value == pytest.approx(by_both[1].value, abs=0.01 * bool(lost))
    assert bj.decide.gate(counts, at_least=0.5).checks[1].value == rows["other"].value


@pytest.mark.slow
def test_bounds_are_of_the_label_that_was_read_as_pass():
    table, _ = planted("model")
    words = {"yes": "harmful", "no": "harmless"}
    table = table.replace({"verdict": words, "truth": words})
    counts = Counts.from_frame(table, calibration="random", pass_value="harmful")
    found = answer_of(counts)
    assert not found.known
    assert found.text.startswith("People would call between ")
    assert " % of outputs like these 'harmful' (95 % interval)" in found.text


@pytest.mark.slow
def test_the_number_within_classes_is_right_where_the_declared_one_is_not():
    errors = []
    for seed in range(12):
        table, share = planted("tokens", seed=seed)
        counts = Counts.from_frame(table, calibration="random")
        quoted = answer_of(counts).quoted
        if quoted.method is methods.WITHIN_CLASSES:
            declared = P.exact(counts)["prevalence"].value
            errors.append((quoted["prevalence"].value - share, declared - share))
    quoted, declared = np.array(errors).T
    assert len(errors) >= 8
    assert abs(quoted.mean()) < 3 * quoted.std() / len(quoted) ** 0.5
    assert declared.mean() < -0.04


def as_data(kind, table):
    """A table of one kind, its results, and what tells its answer."""
    how = {"calibration": "random"}
    if kind == "scores":
        table = table.assign(score=np.where(table["verdict"] == "yes", 4, 2))
        data = P.scores.Scores.from_frame(table.drop(columns="verdict"), scale=(1, 5), **how)
        return data, P.closed_forms, P.answer
    if kind == "numbers":
        numbers = table["truth"].map({"yes": 5, "no": 1})
        table = table.assign(score=np.where(table["verdict"] == "yes", 4, 2), truth=numbers)
        scales = {"scale": (1, 5), "truth_scale": (1, 5)}
        data = P.scores.Scores.from_frame(table.drop(columns="verdict"), **scales, **how)
        return data, P.closed_forms, P.answer
    if kind == "people":
        two = table.assign(second=table["truth"])
        data = P.people.PeopleCounts.from_frame(two, truth=["truth", "second"], **how)
        return data, lambda data: [P.exact(data)], P.answer
    votes = {"item": "id", "generator": None, **how}
    table = table.assign(other=table["verdict"].to_numpy()[::-1])
    if kind == "panel":
        data = bj.panel.Votes.from_frame(table, judges=["verdict", "other"], **votes)
    else:
        kept = [name for name in table if name not in ("verdict", "other")]
        long = table.melt(id_vars=kept, var_name="judge", value_name="vote")
        data = bj.panel.Votes.from_frame(long, **votes)
    return data, bj.panel.closed_forms, bj.panel.answer


@pytest.mark.fast_one_in(10)
@pytest.mark.parametrize("kind", ["scores", "numbers", "people", "panel", "votes"])
@pytest.mark.parametrize("how", ["tokens", "model"])
def test_scores_people_and_panels_lead_with_what_is_valid(kind, how):
    table, share = planted(how, seed=2)
    data, results, tell = as_data(kind, table)
    found = tell(*results(data))
    object.__delattr__(data, SELECTION)
    declared = tell(*results(data))
    assert found.notes[1] == f"If they came as declared: {declared.text}"
    assert found.known == (how == "tokens")
    (_, _, row), *_ = found.quoted.rows()
    truth = 1 + 4 * share if kind == "numbers" else share
    assert row.low < truth < row.high
    assert np.isnan(row.value) == (how == "model")
    assert found.basis == declared.basis
    assert "label-selection" in {c.id for c in found.quoted.cautions}
    assert f"{'model' if how == 'model' else 'tokens'}" in found.notes[0]


@pytest.mark.fast_one_in(9)
@pytest.mark.parametrize("group", [None, "by", "stratum"])
@pytest.mark.parametrize("how", ["tokens", "model", "verdict"])
def test_a_gate_decides_by_what_is_valid(how, group):
    table, _ = planted(how)
    table = table.assign(team=np.tile(["x", "y"], len(table) // 2))
    groups = {} if group is None else {group: "team"}
    counts = Counts.from_frame(table, calibration="random", **groups)
    made = bj.decide.gate(counts, at_least=0.05)
    quoted = P.answer(*P.closed_forms(counts), P.exact(counts)).quoted
    assert len(made.checks) == (2 if group == "by" else 1)
    assert "label-selection" in {c.id for c in made.cautions}
    for check, (*_, row) in zip(made.checks, quoted.rows(), strict=True):
        if (how, group) == ("verdict", "stratum"):  # of which there is no posterior
            assert check.outcome == "unknown"
            continue
        assert check.outcome == "pass"
        assert check.value == pytest.approx(row.value, nan_ok=True)
        if how != "verdict":
            assert row.low < check.low < check.high < row.high


@pytest.mark.slow
def test_labels_chosen_by_a_vote_or_a_score_are_random_within_its_classes():
    table, share = planted("verdict")
    for kind in ("scores", "panel"):
        data, results, tell = as_data(kind, table)
        found = tell(*results(data))
        assert found.method.id == "within-classes"
        (_, _, row), *_ = found.quoted.rows()
        assert row.low < share < row.high


@pytest.mark.slow
@pytest.mark.parametrize("calibration", ["by_truth", "separate", "by_verdict"])
def test_votes_whose_labels_are_no_sample_contradict_nothing(calibration):
    table, good, _ = rows_of()
    rows = np.r_[np.flatnonzero(~good)[:120], np.flatnonzero(good)[:30]]
    table = labelled(table.assign(other=table["verdict"]), good, rows)
    how = {"judges": ["verdict", "other"], "item": "id", "generator": None}
    votes = bj.panel.Votes.from_frame(table, calibration=calibration, **how)
    assert selection_of(votes) is None
    assert selection_of(bj.panel.Votes.from_frame(table, calibration="random", **how)) is not None


@pytest.mark.slow
def test_systems_have_classes_of_their_own():
    table, _ = planted("tokens", m=250)
    counts = Counts.from_frame(table, calibration="random", by="model")
    seen = selection_of(counts)
    answer = answer_of(counts)
    assert {*seen.untold} == {"a", "b", "c"}
    for name in "abc":
        rows = np.array([group.endswith(f"|{name}") for group in seen.instead.groups])
        patterns = within_classes.patterns_of(seen.instead, np.array([0.0, 1.0]))
        errors = within_classes.mean_within(patterns.part(rows[patterns.place]))
        if not seen.untold[name]:
            assert answer.quoted["prevalence", name].value == pytest.approx(errors.value)


@pytest.mark.slow
def test_rows_between_labels_of_both_ends_have_none():
    table, good, _ = rows_of()
    ends = np.argsort(table["tokens"].to_numpy())[[0, *range(-80, 0)]]
    counts = Counts.from_frame(labelled(table, good, ends), calibration="random")
    seen = selection_of(counts)
    assert seen.caution.numbers["column"] == "tokens"
    assert seen.untold[""] == pytest.approx(519 / 600, abs=0.01)
    assert answer_of(counts).basis.startswith("600 items, 81 of ")


@pytest.mark.slow
def test_honest_labels_and_what_was_filled_with_them_say_nothing():
    table, _ = planted("random")
    assert selection_of(Counts.from_frame(table, calibration="random")) is None
    table, _ = planted("verdict")
    assert selection_of(Counts.from_frame(table, calibration="by_verdict")) is None
    assert selection_of(Counts.from_frame(table, calibration="separate")) is None
    table, _ = planted("model")
    assert selection_of(Counts.from_frame(table, calibration="random", stratum="model")) is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["times", "comments"])
def test_notes_that_differ_from_label_to_label_hide_nothing(kind):
    table, _ = planted("tokens")
    has, times = table["truth"] != "", pd.date_range("2026-02-01", periods=600, freq="min")
    notes = times.astype(str) if kind == "times" else [f"as in case {i % 40}" for i in range(600)]
    table = table.assign(note=np.where(has, notes, ""))
    seen = selection_of(Counts.from_frame(table, calibration="random"))
    assert seen.caution.numbers["column"] == "tokens"
    table, _ = planted("random")
    table = table.assign(note=np.where(table["truth"] != "", notes, ""))
    assert selection_of(Counts.from_frame(table, calibration="random")) is None


@pytest.mark.slow
def test_rows_in_an_order_that_no_column_confirms_may_have_been_sorted_by_their_labels():
    table, _ = planted("random")
    table = table.sort_values("truth", ascending=False, ignore_index=True)
    assert selection_of(Counts.from_frame(table, calibration="random")) is None
    numbered = table.drop(columns="created").assign(id=[f"q{i:05d}" for i in range(len(table))])
    seen = selection_of(Counts.from_frame(numbered, calibration="random"))
    assert seen.caution.numbers["n"] == 150
    assert seen.instead is None  # they may have been numbered afterwards


@pytest.mark.slow
def test_rows_of_one_item_are_drawn_together():
    table, good, rng = rows_of()
    items = np.arange(600) // 6
    table = table.assign(id=items, model=np.array(list("abc"))[items % 3])
    picked = np.flatnonzero(np.isin(items, rng.choice(100, 30, replace=False)))
    data = labelled(table, good, picked)
    how = {"calibration": "random", "item": "id", "repeats": "system"}
    assert selection_of(P.items.Items.from_frame(data, **how)) is None
    picked = np.flatnonzero(np.isin(items, np.arange(0, 90, 3)))
    data = labelled(table, good, picked)
    seen = selection_of(P.items.Items.from_frame(data, **how))
    assert seen.caution.numbers["column"] == "model"


@pytest.mark.slow
def test_items_and_their_rows_are_two_tests():
    rng = np.random.default_rng(1)
    unit, x = np.repeat(np.arange(60), 4), rng.random((240, 2))
    flag, one = (x[:, 0] > 0.8).astype(float), np.zeros(240, int)
    both = selection._by_unit(x, flag, unit, one, rows_too=True).p_value
    rows = selection.most_extreme(x, flag, unit).p_value
    items = selection._by_unit(x, flag, unit, one, rows_too=False).p_value
    assert both == pytest.approx(2 * min(rows, items), abs=0)


def test_items_are_compared_with_those_of_the_same_systems():
    unit, systems = np.repeat(np.arange(60), 2), np.tile([0, 1, 0, 2], 30)
    flag = (systems == 1).astype(float)  # only that one has labels, of half of the items
    x = (unit % 2 == 0).astype(float)[:, None]
    of_systems, of_none = (
        selection._by_unit(x, flag, unit, one, rows_too=False).p_value
        for one in (systems, np.zeros_like(systems))
    )
    assert of_systems == 1
    assert of_none < selection.CLEAR


def test_of_large_tables_whole_items_are_looked_at():
    item = np.repeat(np.arange(3000), 4)
    labelled = np.isin(item, np.arange(0, 3000, 20))
    rows = selection._of_items(item, labelled)
    assert len(rows) == selection.MOST_ROWS
    assert {*np.bincount(item[rows]).tolist()} == {0, 4}
    assert labelled[rows].sum() == labelled.sum()


@pytest.mark.slow
def test_the_probability_is_that_of_all_ways_to_draw_the_labels(monkeypatch):
    monkeypatch.setattr(selection, "UNSUSPICIOUS", 99)
    monkeypatch.setattr(selection, "MOST_AS_FAR", selection.DRAWS)
    strata = np.repeat([0, 1], [3, 7])
    x = np.random.default_rng(3).integers(0, 4, (10, 3)).astype(float)
    x[:, 2] = np.where(strata == 0, 5 * x[:, 2], x[:, 2])
    ways = itertools.product(
        itertools.combinations(range(3), 2), itertools.combinations(range(3, 10), 2)
    )
    flags = np.array([np.isin(np.arange(10), [*a, *b]).astype(float) for a, b in ways])
    sums = flags @ x
    z = np.abs((sums - sums.mean(axis=0)) / sums.std(axis=0))
    for flag, here in [*zip(flags, z, strict=True)][::7]:
        exact = (z.max(axis=1) >= here.max() - 1e-9).mean()
        tested = selection.most_extreme(x, flag, strata)
        error = np.sqrt(exact * (1 - exact) / selection.DRAWS)
        assert tested.p_value == pytest.approx(exact, abs=4 * error + 0.002)
        assert tested.feature == here.argmax()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["polars", "arrow"])
def test_every_kind_of_table_in_memory_is_looked_at(kind):
    table, _ = planted("tokens")
    if kind == "polars":
        polars = pytest.importorskip("polars")
        read = polars.from_pandas(table)
    else:
        read = pytest.importorskip("pyarrow").Table.from_pandas(table)
    seen = [selection_of(Counts.from_frame(one, calibration="random")) for one in (table, read)]
    assert seen[0].caution == seen[1].caution
    assert seen[0].instead.counts.tolist() == seen[1].instead.counts.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_columns_of_whatever_cells_are_looked_at():
    table, _ = planted("model")
    odd = table.rename(columns={"tokens": 7})
    odd["lists"] = [[1, 2]] * len(odd)
    odd["endless"] = [np.inf, -np.inf, *range(len(odd) - 2)]
    odd.loc[5:9, "endless"] = np.inf
    odd["mixed"] = [None, 3, "x", 2.5, True, pd.NaT] * (len(odd) // 6)
    seen = selection_of(Counts.from_frame(odd, calibration="random"))
    assert seen.caution.numbers["column"] == "model"


def test_large_tables_are_sampled_without_a_bias():
    flags = np.zeros(20_000, bool)
    flags[np.random.default_rng(1).choice(20_000, 300, replace=False)] = True
    rows = selection._sampled(flags)
    assert len(rows) == selection.MOST_ROWS
    assert flags[rows].sum() == 300
    assert len({*rows.tolist()}) == len(rows)


@pytest.mark.slow
def test_scores_classes_judges_and_panels_say_it_too():
    table, _ = planted("tokens")
    numbers = table.assign(score=np.where(table["verdict"] == "yes", 4, 2))
    scores = P.scores.Scores.from_frame(numbers, calibration="random", scale=(1, 5))
    classes = P.classes.ClassCounts.from_frame(table, calibration="random", classes=["yes", "no"])
    votes = bj.panel.Votes.from_frame(
        table.assign(other=table["verdict"]), judges=["verdict", "other"], item="id",
        generator=None, calibration="random",
    )  # fmt: skip
    two = table.assign(second=table["truth"])
    people = P.people.PeopleCounts.from_frame(two, truth=["truth", "second"], calibration="random")
    assert "label-selection" in {c.id for c in P.people.exact(people).cautions}
    judged = bj.judge.Judged.from_frame(table, calibration="random")
    quality = bj.judge.quality(judged)
    for made in (P.difference(scores), P.difference(classes), quality):
        assert "label-selection" in {c.id for c in made.cautions}
    assert quality.assumptions[0].contradicted_by == ("label-selection",)
    made = bj.panel.closed_forms(votes)
    assert any("label-selection" in {c.id for c in one.cautions} for one in made)


@pytest.mark.slow
def test_labels_of_the_longest_rows_are_no_groups():
    """Each length is labelled or not as a whole, as items would be; the answer is bounds."""
    table, good, rng = rows_of()
    words = np.ceil(table["tokens"] / 20).to_numpy()  # with ties
    table = table.assign(tokens=words)
    counts = Counts.from_frame(
        labelled(table, good, np.flatnonzero(words >= np.sort(words)[-150])), calibration="random"
    )
    assert selection_of(counts).caution.numbers["column"] == "tokens"
    assert np.isnan(answer_of(counts).quoted["prevalence"].value)
    batches = np.unique(words)  # whole lengths, drawn at random
    drawn = np.isin(words, rng.choice(batches, len(batches) // 3, replace=False))
    honest = labelled(table, good, np.flatnonzero(drawn))
    assert selection_of(Counts.from_frame(honest, calibration="random")) is None


@pytest.mark.slow
def test_items_of_a_row_a_vote_are_drawn_together():
    blamed = {"random": 0, "longest": 0}
    for seed in range(20):
        table, good, rng = rows_of(n=200, seed=seed)
        table = table.drop(columns=["model", "created"]).assign(second=table["verdict"])
        longest = np.argsort(table["tokens"].to_numpy())[-50:]
        for how, picked in {"random": rng.choice(200, 50, False), "longest": longest}.items():
            wide = labelled(table, good, picked)
            kept = ["id", "tokens", "truth", "annotator", "checked"]
            long = wide.melt(id_vars=kept, var_name="judge", value_name="vote")
            votes = bj.panel.Votes.from_frame(long, item="id", generator=None, calibration="random")
            blamed[how] += selection_of(votes) is not None
    assert blamed == {"random": 0, "longest": 20}


def test_a_judge_may_vote_on_what_is_labelled():
    table, good, rng = rows_of(n=200)
    data = labelled(table[["id", "verdict"]], good, rng.choice(200, 50, replace=False))
    other = np.where(data["truth"] != "", "b", "c")  # two votes on each item
    first, second = (data.assign(judge=name) for name in ("a", other))
    long = pd.concat([first, second]).rename(columns={"verdict": "vote"})
    votes = bj.panel.Votes.from_frame(long, item="id", generator=None, calibration="random")
    assert selection_of(votes) is None


def test_a_judge_may_vote_only_where_no_label_is():
    """The labelled classes alone are no whole table, of which each judge has to have a vote."""
    table, good, rng = rows_of(n=300)
    lot = np.arange(300) % 3
    data = labelled(table[["id", "verdict"]].assign(lot=[f"lot {i}" for i in lot]), good,
                    np.flatnonzero(rng.random(300) < np.array([0.2, 0.7, 0])[lot]))  # fmt: skip
    late = data.assign(judge="late", verdict=data["verdict"].where(lot == 2))
    long = pd.concat([data.assign(judge="early"), late]).rename(columns={"verdict": "vote"})
    votes = bj.panel.Votes.from_frame(long, item="id", generator=None, calibration="random")
    assert selection_of(votes).instead.judges == ("early", "late")


def test_a_label_in_the_row_of_one_vote_is_of_its_output():
    """What tells judges apart, such as what a call costs, is no reason why outputs have labels."""
    table, good, rng = rows_of(n=200)
    data = labelled(table[["id", "verdict"]], good, rng.choice(200, 50, replace=False))
    votes = [
        data.assign(judge=f"j{i}", cost=i, truth=data["truth"] if i == 1 else "") for i in range(3)
    ]
    long = pd.concat(votes).rename(columns={"verdict": "vote"})
    read = bj.panel.Votes.from_frame(long, item="id", generator=None, calibration="random")
    assert selection_of(read) is None


@pytest.mark.slow
@pytest.mark.parametrize("length", [False, True])
def test_scores_of_systems_are_told_how_labels_came(length, tmp_path, capsys):
    """In Python and of a file, of which a command reads the columns that it is told of."""
    rng = np.random.default_rng(3)
    score, size = rng.random(400).round(3), rng.permutation(400)
    chosen = size > 280 if length else np.repeat(rng.random(200) < 0.4, 2)
    truth = np.where(chosen, (rng.random(400) < score).astype(int), np.nan)
    log = pd.DataFrame({"item": np.arange(400) // 2, "system": ["a", "b"] * 200, "score": score})
    log = log.assign(truth=pd.array(truth).astype("Int64"), size=size)
    how = {"by": "system", "score": "score", "calibration": "random", "scale": (0, 1)}
    systems = scores.read_systems(log, **how)
    paired = scores.PairedScores.from_frame(log, item="item", **how)
    for estimate in (*scores.by_system(systems), P.paired_difference(paired)):
        assert ("label-selection" in {c.id for c in estimate.cautions}) == length
    log.to_csv(tmp_path / "log.csv", index=False)
    line = "--score score --scale 0:1 --by system --truth truth --calibration random --no-nuts"
    for more in ([], ["--item", "item"]):
        main(["prevalence", str(tmp_path / "log.csv"), *line.split(), *more, "--json"])
        told = json.loads(capsys.readouterr().out)["cautions"]
        assert ("label-selection" in {c["id"] for c in told}) == length


@pytest.mark.fast_one_in(2)
@pytest.mark.parametrize("name", ["column_names", "columns", "schema", "num_rows", 7])
def test_a_column_may_be_called_like_a_table_s_own(name):
    frame = pd.DataFrame({"verdict": [1, 0] * 20, "truth": [1, None] * 20, name: range(40)})
    how = {"verdict": "verdict", "truth": "truth", "calibration": "random"}
    read, plain = (
        bj.Verdicts.from_frame(table, **how) for table in (frame, frame[["verdict", "truth"]])
    )
    assert read.count.tolist() == plain.count.tolist()
    assert read.truth.tolist() == plain.truth.tolist()


@pytest.mark.slow
def test_a_table_of_millions_of_rows_is_only_counted(monkeypatch):
    """Ten million cells one by one took 43 s and a gigabyte; `test_ten_million_rows` has memory."""
    table, _ = planted("first")
    assert selection_of(Counts.from_frame(table, calibration="random", item="id")) is not None
    for module in (selection, row_order):
        monkeypatch.setattr(module, "LARGEST", len(table) - 1)
    monkeypatch.setattr(selection, "cells_of", None)
    monkeypatch.setattr(row_order, "cells_of", None)
    assert selection_of(Counts.from_frame(table, calibration="random", item="id")) is None


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [False, True])
def test_copies_of_labels_on_which_a_judge_was_tuned_tell_nothing_of_the_others(
    capsys, tmp_path, chosen
):
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"truth": rng.integers(0, 2, 300), "length": rng.integers(9, 999, 300)})
    table["verdict"] = np.where(rng.random(300) < 0.8, table["truth"], 1 - table["truth"])
    drawn = rng.random(300) < (table["length"] / 999 if chosen else 0.5)
    table["truth"] = table["truth"].where(drawn)
    table["human"] = table["truth"].map({1: "good", 0: "bad"})
    table["shown"] = drawn & (rng.random(300) < 0.4)
    table.to_csv(tmp_path / "log.csv", index=False)
    how = ["--verdict", "verdict", "--truth", "truth", "--calibration", "random", "--json"]
    assert main(["prevalence", str(tmp_path / "log.csv"), *how, "--tuned-on", "shown"]) == 0
    said = json.loads(capsys.readouterr().out)["cautions"]
    columns = [c["numbers"]["column"] for c in said if c["id"] == "label-selection"]
    assert columns == ["length"] * chosen
    kept, _ = bj.judge.untuned(table.drop(columns="human"), "truth", "shown")
    read = Counts.from_frame(kept, verdict="verdict", truth="truth", calibration="random")
    seen = selection_of(read)
    assert (seen and seen.caution.numbers["column"]) == ("length" if chosen else None)


def looked_at(word, unsure=20, n=1000, asked=220):
    """People looked at a random sample and gave some of it no label, as other columns tell."""
    rng = np.random.default_rng(5)
    truth = rng.random(n) < 0.7
    verdict = np.where(rng.random(n) < 0.85, truth, ~truth)
    rows = rng.permutation(n)[:asked]
    table = pd.DataFrame({"verdict": verdict * 1, "truth": "", "minutes": np.nan, "who": ""})
    table.loc[rows, "truth"] = np.where(truth[rows], "good", "bad")
    table.loc[rows[:unsure], "truth"] = word
    table.loc[rows, "minutes"] = rng.exponential(2, asked)
    table.loc[rows, "who"] = rng.choice(["ann", "bob"], asked)
    table["note"] = table["who"].where(rng.random(n) < 0.5)  # of half of them
    return table


@pytest.mark.fast_one_in(3)
@pytest.mark.parametrize(("word", "unsure"), [("", 20), ("unsure", 20), ("n/a", 60)])
@pytest.mark.parametrize("columns", [["minutes"], ["who"], ["minutes", "who", "note"]])
def test_what_was_filled_as_people_looked_is_no_reason_for_labels(word, unsure, columns):
    table = looked_at(word, unsure)[["verdict", "truth", *columns]]
    read = Counts.from_frame(table, calibration="random", missing_value=word or None)
    assert selection_of(read) is None
    (caution,) = (c for c in cautions_of(read) if c.id == "unanswered-labels")
    assert (caution.numbers["n"], caution.numbers["of"]) == (unsure, 220)
    assert caution.numbers.get("column", word) in {word, *columns}


@pytest.mark.parametrize("fill", ["todo", None])
def test_rows_at_which_nobody_looked_are_no_unsure_ones(fill):
    table = looked_at("", 0).drop(columns="note")
    table["truth"] = table["truth"].where(table["truth"] != "", fill)
    rng = np.random.default_rng(6)
    table["tag"] = pd.Series("x", table.index).where(rng.random(len(table)) < 0.3)
    read = Counts.from_frame(table, calibration="random", missing_value="todo")
    assert selection_of(read) is None
    assert not [c for c in cautions_of(read) if c.id == "unanswered-labels"]


@pytest.mark.slow
def test_labels_of_half_the_rows_in_which_a_column_is_filled_are_chosen_by_it():
    table = looked_at("", 110)[["verdict", "truth", "who"]]
    seen = selection_of(Counts.from_frame(table, calibration="random"))
    assert seen.caution.numbers["column"] == "who"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["prevalence", "judge", "panel", "rubric"])
def test_columns_that_chance_put_rows_into_are_no_reason_for_labels(capsys, tmp_path, command):
    rng = np.random.default_rng(4)
    truth, batch = rng.integers(0, 2, 400), rng.integers(1, 5, 400)
    table = pd.DataFrame({"human_clear": truth, "batch": [f"no. {at}" for at in batch]})
    table["human_clear"] = table["human_clear"].where(batch == 2)
    for judge in ("judge_clear", "b", "c"):
        table[judge] = np.where(rng.random(400) < 0.8, truth, 1 - truth)
    how = ["--verdict", "judge_clear", "--truth", "human_clear"]
    if command == "panel":
        how = ["--judges", "judge_clear", "b", "c", "--truth", "human_clear", "--no-nuts"]
    elif command == "rubric":
        table = table.rename(columns={"b": "judge_polite", "c": "human_polite"})
        table["human_polite"], how = table["human_polite"].where(batch == 2), []
    table.to_csv(tmp_path / "log.csv", index=False)
    line = [command, str(tmp_path / "log.csv"), *how, "--calibration", "random", "--json"]
    blamed = {}
    for more in ("", "batch"):
        main([*line, *(["--randomized", more] if more else [])])
        said = json.loads(capsys.readouterr().out)["cautions"]
        blamed[more] = [c["numbers"]["column"] for c in said if c["id"] == "label-selection"]
    assert blamed == {"": ["batch"], "batch": []}
    assert main([*line, "--randomized", "bach"]) == 2
    assert "batch" in capsys.readouterr().err
