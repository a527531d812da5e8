"""A store goes on with what it asked and with nothing else, however a judge holds its prompt."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest

import bayesjudge as bj
from bayesjudge.repeats.runner import JudgeError, sample_until_sync

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from prompts_held import PLAN, UNKNOWN, WAYS, ask  # noqa: E402

KNOWN = [way for way in WAYS if way not in UNKNOWN]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of one's own, which Python and the judges read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


def asked(way, text, folder, monkeypatch, **settings):
    monkeypatch.setenv("JUDGE_PROMPT", text)
    return ask(way, text, folder, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("way", KNOWN)
def test_another_prompt_is_refused_and_the_same_goes_on(folder, monkeypatch, way):
    first = asked(way, "Rate this: ", folder, monkeypatch)
    assert first.calls == 2
    again = asked(way, "Rate this: ", folder, monkeypatch, most_per_item=3)
    assert again.calls == 3
    with pytest.raises(bj.InputError, match="holds a run with other"):
        asked(way, "Score this one: ", folder, monkeypatch, most_per_item=4)
    other = asked(way, "Score this one: ", folder, monkeypatch, arm="other")
    assert other.answers["raw"].iloc[0] != first.answers["raw"].iloc[0]  # it was another question


@pytest.mark.parametrize("way", UNKNOWN)
def test_what_cannot_be_described_is_refused_unless_the_judge_says_it(folder, monkeypatch, way):
    with pytest.raises(bj.InputError, match=r"cannot be told from .*judge\.asks = \{'prompt'"):
        asked(way, "Rate this: ", folder, monkeypatch)
    assert not (folder / f"{way}.sqlite").exists()


@pytest.mark.slow
def test_every_way_is_the_same_in_another_process(folder, monkeypatch):
    """Hashes of texts, addresses and the order of imports differ there."""
    run = [sys.executable, str(HERE / "prompts_held.py"), str(folder), "Rate this: "]
    for ways, seed in [(KNOWN, "1"), (KNOWN[::-1], "2")]:
        done = subprocess.run(
            [*run, *ways],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        assert re.findall(r"^(\d) ", done.stdout, re.M) == ["2"] * len(KNOWN)


def go(judge, store, **settings):
    return sample_until_sync(judge, ["a"], store=store, **PLAN | settings)


def counting(prompt):
    """A judge that changes what it holds as it is asked."""
    calls, state, cache = [], {"prompt": prompt, "asked": 0}, {}

    async def judge(item):
        calls.append(item)
        state["asked"] += 1
        cache[len(calls)] = 3
        return cache[len(calls)]

    return judge


def test_what_a_judge_changes_as_it_is_asked_may_have_changed(tmp_path):
    """Here and in a process that begins anew; and no more than that."""
    store = tmp_path / "x"
    judge = counting("Rate")
    assert go(judge, store).calls == 2
    assert go(judge, store, most_per_item=3).calls == 3
    assert go(counting("Rate"), store, most_per_item=4).calls == 4
    with pytest.raises(bj.InputError, match="other code value state of judge"):
        go(counting("Score"), store, most_per_item=5)
    judge.__closure__[2].cell_contents["prompt"] = "Score"  # asked before, and changed since
    with pytest.raises(bj.InputError, match="other code value state of judge"):
        go(judge, store, most_per_item=5)


def test_a_run_that_fails_notes_what_its_judge_has_become(tmp_path):
    calls = []

    async def judge(item):
        calls.append(item)
        if len(calls) == 2:
            raise JudgeError("no credit")
        return 3

    with pytest.raises(JudgeError):
        go(judge, tmp_path / "x")
    assert go(judge, tmp_path / "x").answers["score"].tolist() == [3, 3]


def test_a_judge_that_says_later_what_it_asks_goes_on_if_that_is_accepted(tmp_path):
    holds = []

    async def judge(item):
        holds[:] = [(3 for _ in ())]
        return 3

    go(judge, tmp_path / "x")
    with pytest.raises(bj.InputError, match=r"cannot be told from holds .generator."):
        go(judge, tmp_path / "x", most_per_item=3)
    judge.asks = {"prompt": "Rate"}
    with pytest.raises(bj.InputError, match=r"other prompt of judge 'judge' .is new: 'Rate'"):
        go(judge, tmp_path / "x", most_per_item=3)
    assert go(judge, tmp_path / "x", most_per_item=3, changed_code="accept").calls == 3
    judge.asks = {"prompt": "Score"}
    with pytest.raises(bj.InputError, match=r"other prompt of judge 'judge' .was 'Rate', now"):
        go(judge, tmp_path / "x", most_per_item=4, changed_code="accept")


def reading(words):
    """A judge that says what it asks and how it reads the answers."""

    async def judge(item):
        return 3

    judge.asks = {"prompt": "Rate", "parser": lambda text: words[text]}
    return judge


def test_what_a_parser_uses_counts(tmp_path):
    go(reading({"good": 3}), tmp_path / "x")
    assert go(reading({"good": 3}), tmp_path / "x", most_per_item=3).calls == 3
    with pytest.raises(bj.InputError, match="other parser of judge"):
        go(reading({"good": 4}), tmp_path / "x", most_per_item=4)
    with pytest.raises(bj.InputError, match=r"cannot be told from words \(generator\) in asks"):
        go(reading(3 for _ in ()), tmp_path / "y")


def test_keys_that_a_judge_holds_are_not_kept_and_may_change(tmp_path):
    class Judge:
        def __init__(self, key):
            self.api_key, self.headers = key, {"Authorization": f"Bearer {key}", "x": "y"}
            self.secrets = [key]

        async def __call__(self, item):
            return 3

    go(Judge("first-of-the-keys"), tmp_path / "x")
    assert go(Judge("second-of-the-keys"), tmp_path / "x", most_per_item=3).calls == 3
    assert b"of-the-keys" not in (tmp_path / "x").read_bytes()


def test_all_that_cannot_be_told_is_named_at_once(tmp_path):
    """Of judges and items; what is in the message is what one has to mend."""

    async def judge(item):
        return open(item).read()

    async def other(item):
        return client.ask(item)

    client = jinja2.Template("Rate")
    with pytest.raises(bj.InputError) as refused:
        sample_until_sync(
            {"one": judge, "two": other}, {"a": iter("ab"), "b": "b"}, store=tmp_path / "x", **PLAN
        )
    told = str(refused.value)
    assert "what judge 'one' asks cannot be told from open, which" in told
    assert "what judge 'two' asks cannot be told from client (Template), which" in told
    assert "item 'a'" not in told  # an iterator over a text is a value
    with pytest.raises(bj.InputError, match=r"item 'a' holds generator, which .* item 'b' holds"):
        sample_until_sync(
            judge_of_nothing,
            {"a": (1 for _ in ()), "b": [object, (2 for _ in ())]},
            store=tmp_path / "x",
            **PLAN,
        )


async def judge_of_nothing(item):
    return 3
