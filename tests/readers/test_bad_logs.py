"""Broken logs are refused in words, or what is left out is counted: never a traceback."""

import gzip
import json
import struct
import subprocess
import sys
import zipfile

import pyarrow as pa
import pytest
from memory import PEAK
from readers import fuzzing, logs
from refusals import refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.readers import read_log, read_table


@pytest.mark.fast_one_in(4)
@pytest.mark.parametrize("tool", logs.LOGS)
def test_changed_logs_are_read_or_refused_in_words(tool, tmp_path):
    """Bounded; benchmarks/readers/fuzz.py changes each log as often as wanted."""
    read, failed = fuzzing.fuzz(fuzzing.small(tool, tmp_path), tmp_path, 40, seed=0)
    assert not failed
    assert 0 < read < 40


def test_a_failure_is_found_again_by_its_seed(tmp_path, monkeypatch):
    path = fuzzing.small("promptfoo", tmp_path)
    before = path.read_bytes()
    seen = []

    def fragile(_path, changed):
        seen.append(changed)
        if b"NaN" in seen[-1]:
            raise ZeroDivisionError
        return True

    monkeypatch.setattr(fuzzing, "read_whole", fragile)
    _, failed = fuzzing.fuzz(path, tmp_path, 60, seed=3)
    assert failed
    assert len(set(seen)) == 60  # each is another, and the original stays what it is
    again = next(iter(failed))
    assert fuzzing.fuzz(path, tmp_path, 1, seed=3, first=again)[1] == {again: failed[again]}
    assert seen[-1] == seen[again]
    assert path.read_bytes() == before


def test_half_characters_and_numbers_past_all_floats(tmp_path):
    path = logs.write_lm_eval(tmp_path / "samples_toy.jsonl")
    text = path.read_text().replace('"exact_match": 1.0', f'"exact_match": {10**400}')
    path.write_text(text.replace('"q": "?"', '"q": "\\ud800"'))
    log = read_log(path)
    assert log.metrics["exact_match"].failures == 1
    assert log.table("exact_match")["q"].to_pylist()[0] == "?"


def test_a_truncated_archive(tmp_path):
    path = logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(), epochs=3)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with refused(id="archive-torn", subject=str(path)):
        read_log(path)
    at = whole.index(b"\x28\xb5\x2f\xfd", 400) + 20  # inside a member
    path.write_bytes(whole[:at] + b"\x00" * 9 + whole[at + 9 :])
    with refused(subject=str(path)) as caught:
        read_log(path)
    assert caught.value.has("damaged", "unreadable", "archive-torn")


def test_names_in_an_archive_that_are_no_text(tmp_path):
    path = logs.write_inspect(tmp_path / "run.eval", logs.inspect_samples(3, 2), 8, epochs=2)
    whole = bytearray(path.read_bytes())
    at = whole.rindex(b"header.json")  # in the directory at the end
    whole[at - 46 + 9] |= 0x08  # the flag that says UTF-8
    whole[at] = 0xFF
    path.write_bytes(whole)
    with refused("utf-8", id="unreadable", subject=str(path)):
        read_log(path)


def test_half_a_line(tmp_path):
    path = logs.write_mlflow(tmp_path / "traces.jsonl")
    path.write_text(path.read_text()[:-30])
    with refused(8, id="not-json"):
        read_log(path)
    path = logs.write_promptfoo(tmp_path / "out.json")
    path.write_text(path.read_text()[:-30])
    with refused(id="not-json"):
        read_log(path)


def bomb(path, size, declared=None):
    """A member that unpacks to `size` bytes of zeros, and may say that it is small."""
    member = zipfile.ZipInfo("samples/q_epoch_1.json")
    member.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(logs.inspect_header([])))
        with archive.open(member, "w") as packed:
            for begin in range(0, size, 2**24):
                packed.write(b"0" * min(2**24, size - begin))
    if declared is not None:
        data = path.read_bytes().replace(struct.pack("<I", size), struct.pack("<I", declared))
        path.write_bytes(data)


@pytest.mark.slow
def test_bombs_are_not_unpacked(tmp_path):
    bomb(tmp_path / "run.eval", 2**27)
    with refused(134_217_728, id="too-large"):
        read_log(tmp_path / "run.eval")
    bomb(tmp_path / "lies.eval", 2**27 + 654321, declared=1000)
    with refused(id="damaged"):
        read_log(tmp_path / "lies.eval")
    zeros = pa.Codec("zstd").compress(b"[" * 2**27, asbytes=True)
    (tmp_path / "log.json.zst").write_bytes(zeros)
    with refused(id="not-json"):
        read_log(tmp_path / "log.json.zst")


GROWN = """
import sys
from bayesjudge.core.errors import InputError
from bayesjudge.readers import read_log
import pyarrow
before = peak()
try:
    read_log(sys.argv[1])
except InputError as error:
    print(peak() - before, error)
"""


def test_more_bytes_than_a_packed_table_may_hold_are_not_read(tmp_path, monkeypatch):
    for name, most in (("MOST", 1000), ("RATIO", 1)):
        monkeypatch.setattr(f"bayesjudge.readers.files.{name}", most)
    packed = tmp_path / "log.csv.gz"
    packed.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 249))
    assert read_table(packed, ["a"]).num_rows == 249  # 1,000 bytes
    packed.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 250))
    with refused(1000):
        read_table(packed, ["a"])


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_name_that_says_packed_and_bytes_that_are_not(tmp_path, kind):
    plain = tmp_path / f"log.csv.{kind}"
    plain.write_bytes(b"a,b\n1,2\n")
    with refused(id="not-packed-so", says=kind):
        read_table(plain, ["a"])


@pytest.mark.slow
def test_a_bomb_takes_no_memory(tmp_path):
    bomb(tmp_path / "lies.eval", 2**30 + 654321, declared=1000)
    asked = [sys.executable, "-c", PEAK + GROWN, str(tmp_path / "lies.eval")]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    grown, text = done.stdout.split(" ", 1)
    assert "damaged" in text
    assert int(grown) < 2**26


def test_paths_that_leave_the_archive_are_names_only(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    header = json.dumps(logs.inspect_header([])).encode()
    sample = json.dumps(logs.inspect_sample(1, 1, "C")).encode()
    members = [("header.json", header), ("../evil.json", sample), ("samples/../../q.json", sample)]
    logs.write_zip(inside / "run.eval", members)
    assert len(read_log(inside / "run.eval").grades) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["inside"]
    assert [p.name for p in inside.iterdir()] == ["run.eval"]


@pytest.mark.slow
def test_nul_bytes_and_a_first_line_without_end(tmp_path, capsys):
    path = logs.write_langfuse(tmp_path / "scores.csv")
    path.write_bytes(path.read_bytes().replace(b"True", b"Tr\x00ue"))
    assert read_log(path).metrics["correct"].labels == ["False", "True"]
    wide = tmp_path / "wide.csv"
    wide.write_text(",".join(f"c{i}" for i in range(10**6)) + "\n" + ",".join("1" * 10**6))
    for command in (["doctor", str(wide)], ["prevalence", str(wide), "--truth", "c1",
                    "--verdict", "c0", "--calibration", "random"]):  # fmt: skip
        assert main(command) == 2
        assert "more than 65,536" in capsys.readouterr().err


def test_logs_of_nothing(tmp_path):
    for name, text in {"a.json": "{}", "b.json": "[]", "c.jsonl": "\n", "d.json": "null",
                       "e.json": '{"eval": {}, "status": "x"}'}.items():  # fmt: skip
        (tmp_path / name).write_text(text)
        with pytest.raises(bj.InputError, match=name):
            read_log(tmp_path / name)
    packed = gzip.compress(b"")
    (tmp_path / "none.csv.gz").write_bytes(packed)
    with refused(id="empty-file"):
        read_table(tmp_path / "none.csv.gz", ["verdict"])
