"""Which rows have labels: a design that is no random sample, judges that look like systems."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from bayesjudge.cli import main
from bayesjudge.cli.shapes.labelled import UNEVEN_P, chance_of_rates, same_for_all, uneven
from bayesjudge.cli.shapes.roles import describe
from bayesjudge.cli.shapes.table import Table


def _doctor(*paths_and_capsys):
    *paths, capsys = paths_and_capsys
    assert main(["doctor", *map(str, paths), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def _topics(rates, rows=400, seed=1, verdict=True):
    """Verdicts, or scores, on outputs of topics of which so large a share is labelled."""
    rng = np.random.default_rng(seed)
    parts = []
    for topic, rate in rates.items():
        good = rng.random(rows) < 0.7
        said = np.where(rng.random(rows) < 0.9, good, ~good)
        own = pd.DataFrame({"topic": topic, "auto_grade": np.where(said, "yes", "no")})
        if not verdict:
            own["auto_grade"] = np.clip(0.2 + 0.6 * said + rng.normal(0, 0.1, rows), 0, 1).round(3)
        label = np.where(good, "yes", "no").astype(object)
        label[rng.permutation(rows)[round(rate * rows) :]] = ""
        parts.append(own.assign(human=label))
    return pd.concat(parts, ignore_index=True).rename_axis("question").reset_index()


@pytest.mark.slow
def test_random_samples_are_taken_for_uneven_ones_as_often_as_the_test_says():
    rng, runs, level = np.random.default_rng(1), 4000, 0.01
    rows = {"a": 900, "b": 450, "c": 150}
    drawn = rng.multivariate_hypergeometric(list(rows.values()), 200, size=runs)
    p = [chance_of_rates(rows, dict(zip(rows, one, strict=True))) for one in drawn.tolist()]
    alarms = np.mean(np.array(p) < level)
    assert abs(alarms - level) < 4 * np.sqrt(level * (1 - level) / runs)


@pytest.mark.parametrize("of", [(40, 60), (40, 60, 50)])
def test_the_test_of_parts_is_pearsons(of):
    rows, labelled = (dict(zip("abc", each, strict=False)) for each in ((400,) * len(of), of))
    table = [of, [400 - k for k in of]]
    assert chance_of_rates(rows, labelled) == pytest.approx(
        chi2_contingency(table, correction=False).pvalue
    )


def _parts(labelled, rows, **more):
    """Roles of a table of two topics, of whose rows so many are labelled, and more columns."""
    topic = [name for name, n in rows.items() for _ in range(n)]
    human = ["yes" if i < labelled[name] else "" for name, n in rows.items() for i in range(n)]
    columns = {"topic": topic, "human": human}
    columns |= {name: [str(cell(i)) for i in range(len(topic))] for name, cell in more.items()}
    return Table(columns, truths=["human"])


def test_the_largest_share_comes_first_and_not_the_most_labels():
    found = uneven(_parts({"a": 100, "b": 80}, {"a": 1000, "b": 200}))
    assert found is not None
    assert list(found.parts.items()) == [("b", (80, 200)), ("a", (100, 1000))]


def test_of_many_columns_one_has_to_be_less_likely():
    labelled, rows = {"a": 60, "b": 108}, {"a": 400, "b": 400}
    assert UNEVEN_P / 5 < chance_of_rates(rows, labelled) < UNEVEN_P
    assert uneven(_parts(labelled, rows)) is not None
    others = {f"mod{k}": lambda i, k=k: i % k for k in (2, 3, 4, 5)}
    assert uneven(_parts(labelled, rows, **others)) is None


def test_of_two_uneven_columns_the_least_likely_is_named():
    found = uneven(_parts({"a": 40, "b": 120}, {"a": 400, "b": 400}, kind=lambda i: i % 400 < 120))
    assert found is not None
    assert found.column == "kind"


def test_items_under_one_system_do_not_count_among_those_with_the_same_labels():
    order = [*range(160), *range(60)]
    columns = {"item": [str(i) for i in order], "by": ["v1"] * 160 + ["v2"] * 60}
    columns["human"] = ["yn"[i % 2] for i in order]
    roles = Table(columns, item="item", system="by", truths=["human"])
    assert same_for_all(roles) == 60


def test_parts_too_small_to_test_are_not_tested():
    assert chance_of_rates({"a": 900, "b": 10}, {"a": 90, "b": 10}) == 1.0


@pytest.mark.parametrize(("rates", "told"), [({"billing": 0.1, "legal": 0.4}, True),
                                             ({"billing": 0.2, "legal": 0.2}, False)])  # fmt: skip
def test_topics_with_more_labels_are_seen(rates, told):
    table = _topics(rates)
    roles = describe({name: [str(cell) for cell in cells] for name, cells in table.items()})
    found = uneven(roles)
    assert (found is not None) == told
    if found is not None:
        assert found.column == "topic"
        assert chance_of_rates({"b": 400, "l": 400}, {"b": 40, "l": 160}) < UNEVEN_P
        assert str(found) == (
            "labels are on 40 % of the rows of topic legal and on 10 % of those of billing"
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verdict", "options"),
    [(True, ["--stratum topic"]), (False, ["--by topic", "--stratum topic", "--by topic"])],
)
def test_the_line_of_a_table_with_uneven_labels_does_not_call_them_random(
    verdict, options, tmp_path, capsys
):
    table = _topics({"billing": 0.1, "legal": 0.5}, verdict=verdict)
    table.to_csv(tmp_path / "rag.csv", index=False)
    found = _doctor(tmp_path / "rag.csv", capsys)
    lines = [answer["command"] for answer in found["answers"]]
    commands = ["judge", "prevalence", "prevalence"][-len(options) :]
    assert [line.split()[1] for line in lines] == commands
    for line, option in zip(lines, options, strict=True):
        assert line.endswith(option)
    assert verdict or f"--pass-from {_middle(table)} --stratum" in lines[1]
    odd = " ".join(found["odd"])
    assert "on 50 % of the rows of topic legal and on 10 % of those of billing" in odd
    assert "--calibration known_propensity --propensity COLUMN" in odd
    assert "the line says that the labelled items are a random sample" not in odd
    for line in lines:
        assert main([*shlex.split(line)[1:], "--no-nuts"]) == 0


def _middle(table):
    """The lowest score beyond the middle of the mean scores of good and of bad."""
    labelled, score = table[table["human"] != ""], table["auto_grade"]
    middle = labelled.groupby("human")["auto_grade"].mean().mean()
    return score[score >= middle].min()


@pytest.mark.slow
def test_prompts_of_one_judge_are_compared_as_judges(tmp_path, capsys):
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.7
    parts = []
    for name, right in (("v1", 0.8), ("v2", 0.95)):
        said = np.where(rng.random(300) < right, truth, ~truth)
        own = pd.DataFrame({"answer_id": range(300), "judge_prompt": name})
        own["grade"] = np.where(said, "pass", "fail")
        own["gold"] = np.where(np.arange(300) < 120, np.where(truth, "pass", "fail"), None)
        parts.append(own)
    table = pd.concat(parts).sample(frac=1, random_state=1)
    table.to_json(tmp_path / "prompts.jsonl", orient="records", lines=True)
    found = _doctor(tmp_path / "prompts.jsonl", capsys)
    (line,) = [answer["command"] for answer in found["answers"]]
    asked = "--judge judge_prompt --vote grade --truth gold --item answer_id --calibration random"
    assert line == f"bayesjudge panel {tmp_path / 'prompts.jsonl'} {asked}"
    assert any("labels are the same for all values of judge_prompt" in o for o in found["odd"])
    assert main([*shlex.split(line)[1:], "--no-nuts"]) == 0
    assert "v2 errs least" in capsys.readouterr().out
    # one label that differs is of another output
    other = table["gold"].notna() & (table["judge_prompt"] == "v1") & (table["answer_id"] == 7)
    table.loc[other, "gold"] = "fail" if truth[7] else "pass"
    table.to_json(tmp_path / "systems.jsonl", orient="records", lines=True)
    lines = [answer["command"] for answer in _doctor(tmp_path / "systems.jsonl", capsys)["answers"]]
    assert any("prevalence" in line and "--by judge_prompt" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("score", [False, True])
def test_dashes_of_a_file_of_labels_are_empty_cells_as_those_of_a_table(score, tmp_path, capsys):
    rng = np.random.default_rng(1)
    good = rng.random(300) < 0.7
    right = np.where(rng.random(300) < 0.9, good, ~good)
    said = np.clip(0.2 + 0.6 * right + rng.normal(0, 0.1, 300), 0, 1).round(3) if score else right
    table = pd.DataFrame({"id": range(300), "judge_says": said})
    label = np.where(good, "pass", "fail").astype(object)
    label[rng.permutation(300)[60:]] = "-"
    table.assign(human=label).to_csv(tmp_path / "both.csv", index=False)
    table.to_csv(tmp_path / "judge.csv", index=False)
    table[["id"]].assign(human=label).to_csv(tmp_path / "people.csv", index=False)
    values = []
    for files in (["both.csv"], ["judge.csv", "people.csv"]):
        found = _doctor(*(tmp_path / one for one in files), capsys)
        contents = " ".join(found["contents"])
        assert "human: 60 of 300" in contents
        assert any("human: '-'" in text for text in found["odd"])
        assert any(one.startswith("the line says that the labelled items") for one in found["odd"])
        line = shlex.split(found["answers"][0]["command"])[1:]
        assert "--missing-value=-" in line
        assert main([*line, "--no-nuts", "--json"]) == 0
        values.append(json.loads(capsys.readouterr().out)["answer"]["estimates"])
    assert values[0] == values[1]


@pytest.mark.slow
def test_how_to_ask_for_the_share_of_the_other_label_is_told_and_answers(tmp_path, capsys):
    rng = np.random.default_rng(1)
    good = rng.random(300) < 0.8
    table = pd.DataFrame({"id": range(300), "guard": np.where(good, "allowed", "blocked")})
    table["moderator"] = np.where(rng.random(300) < 0.9, table["guard"], "blocked")
    table.loc[80:, "moderator"] = ""
    table.to_csv(tmp_path / "log.csv", index=False)
    found = _doctor(tmp_path / "log.csv", capsys)
    (told,) = [one for one in found["odd"] if "instead" in one]
    said, _, turned = told.partition("for the share of ")
    other, _, options = turned.partition(" instead: ")
    assert said.startswith("allowed, blocked say neither pass nor fail; the command reads ")
    line = next(a["command"] for a in found["answers"] if " prevalence " in a["command"])
    line = shlex.split(line)[1:]
    values = line[line.index("--pass-value") : line.index("--fail-value") + 2]
    assert shlex.split(options) == ["--pass-value", values[3], "--fail-value", values[1]]
    assert other == values[3]
    shares = []
    for own in (values, shlex.split(options)):
        asked = [word for word in line if word not in values] + own
        assert main([*asked, "--no-nuts", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["answer"]["pass_name"] == own[1]
        shares.append(document["answer"]["estimates"][0])
    assert shares[0]["value"] == pytest.approx(1 - shares[1]["value"])
    assert shares[0]["low"] == pytest.approx(1 - shares[1]["high"])
