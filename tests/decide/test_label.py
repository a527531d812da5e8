"""Labelling: sheets, the form in a browser, several people, stopping."""

import html
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from refusals import command_refused, refused

import bayesjudge as bj
from bayesjudge.cli import main
from bayesjudge.decide import read_sheets, write_form, write_sheet

NASTY = ["=cmd()", 'a,"b"', "</script><b>", "ünï\u2028x", "'quoted"]


def fill(path, answers, annotator=""):
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows["truth"] = [answers.get(item.lstrip("'"), answers.get(item)) for item in rows["item"]]
    rows["annotator"] = annotator
    rows.to_csv(path, index=False)
    return path


def test_a_sheet_comes_back_by_item(tmp_path):
    path = write_sheet(NASTY, tmp_path / "s.csv", texts={"answer": dict.fromkeys(NASTY, "+1")})
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert cells.columns.tolist() == ["item", "answer", "truth", "annotator"]
    assert not cells["item"].str.startswith("=").any()
    assert (cells["answer"] == "'+1").all()
    assert read_sheets(path, known=NASTY).items == []
    cells["truth"] = ["good", "bad", "good", "", "bad"]
    cells.sample(frac=1, random_state=1).to_csv(path, index=False)
    found = read_sheets(path, known=NASTY)
    labels = dict(zip(found.items, found.truth, strict=True))
    assert labels == {NASTY[0]: 1, NASTY[1]: 0, NASTY[2]: 1, NASTY[4]: 0}
    assert found.agreement is None


def test_two_people_are_averaged_and_their_agreement_told(tmp_path):
    items = [f"q{i}" for i in range(10)]
    one, two = (write_sheet(items, tmp_path / f"{n}.csv") for n in "ab")
    fill(one, dict(zip(items, [1] * 6 + [0] * 4, strict=True)))
    fill(two, dict(zip(items, [1] * 5 + [0] * 5, strict=True)))
    found = read_sheets(one, two, known=items)
    assert found.truth.tolist() == [1] * 5 + [0.5] + [0] * 4
    # by hand: 9 of 10 agree, chance .6 * .5 + .4 * .5
    assert found.agreement == (10, 0.9, pytest.approx((0.9 - 0.5) / 0.5))


def test_what_is_wrong_with_a_sheet_is_said(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("item,label\na,1\n")
    with refused("truth", "item", "label"):
        read_sheets(path)
    path.write_text("item,truth\na,1\nz,0\n")
    with refused("z", subject="sheets"):
        read_sheets(path, known=["a"])
    path.write_text("item,truth,annotator\na,1,Ann\na,0,Ann\n")
    with refused("a", subject="sheets"):
        read_sheets(path)
    with refused(id="unreadable"):
        read_sheets(tmp_path / "none.csv")


BROWSER = next((p for n in ("chromium", "google-chrome", "chrome") if (p := shutil.which(n))), None)
#: Fills the form as a person does, saves, and leaves what was saved in the page.
PERSON = """<script>
const blobs = [];
URL.createObjectURL = blob => { blobs.push(blob); return "#saved"; };
who.value = "Ann"; who.dispatchEvent(new Event("input"));
document.querySelectorAll("fieldset").forEach((set, i) =>
  set.querySelectorAll("input")[i % 2].click());
document.getElementById("save").click();
blobs[0].text().then(text => {
  const pre = document.createElement("pre"); pre.id = "csv"; pre.textContent = text;
  document.body.append(pre);
});
</script></body>"""


def test_the_form_is_one_blind_page(tmp_path):
    texts = {"answer": dict.fromkeys(NASTY, "</script><script>alert(1)</script>")}
    page = write_form(NASTY, tmp_path / "f.html", texts=texts, title="<b>").read_text()
    assert page.count("</script>") == 2
    assert "<title>&lt;b&gt;</title>" in page
    assert not re.search(r"(src|href)=", page)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_the_form_is_filled_in_a_browser_and_read_back(tmp_path):
    form = write_form(NASTY, tmp_path / "f.html", texts={"answer": dict.fromkeys(NASTY, "<i>x")})
    form.write_text(form.read_text().replace("</body>", PERSON))
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000"]
    home = f"--user-data-dir={tmp_path / 'profile'}"
    command = [BROWSER, *flags, home, "--dump-dom", form.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "5 of 5 labelled" in done.stdout
    saved = html.unescape(re.search(r'<pre id="csv">(.*?)</pre>', done.stdout, re.DOTALL)[1])
    sheet = tmp_path / "saved.csv"
    sheet.write_text(saved, encoding="utf-8")
    found = read_sheets(sheet, known=NASTY)
    assert dict(zip(found.items, found.truth, strict=True)) == dict(
        zip(NASTY, [1, 0, 1, 0, 1], strict=True)
    )


def write_log(path, n=300, share=0.95, seed=1):
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) < share * n).astype(int)
    verdict = np.where(rng.random(n) < 0.9, truth, 1 - truth)
    names = [f"q{i}" for i in range(n)]
    log = pd.DataFrame({"item": names, "verdict": verdict, "answer": [f"text {i}" for i in names]})
    log.to_csv(path, index=False)
    return dict(zip(names, truth.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "code", "word"), [(0.95, 0, "PASS"), (0.6, 1, "FAIL")])
def test_the_command_labels_until_it_is_decided(tmp_path, capsys, share, code, word):
    log, sheet = tmp_path / "log.csv", tmp_path / "log.labels.csv"
    truth = write_log(log, share=share)
    line = ["label", str(log), "--verdict", "verdict", "--gate", "0.8", "--n", "25"]
    line += ["--show", "answer", "--seed", "1", "--strategy", "uncertain"]
    page = tmp_path / "page.html"
    line += ["--html", str(page)]
    assert main(line) == 3
    assert "25 items " in capsys.readouterr().out
    assert "verdict" not in pd.read_csv(sheet).columns
    assert "<h1>UNKNOWN: " in page.read_text()
    assert "<svg" not in page.read_text()
    for _ in range(12):
        fill(sheet, truth)
        filled = sheet.rename(tmp_path / "filled.csv")
        found = main([*line, "--read", str(filled)])
        if found != 3:
            break
    assert found == code
    *_, last = re.split(r"\n(?=\S)", capsys.readouterr().out)  # continued lines are indented
    assert last.startswith(word)
    assert f"<h1>{word.upper()}: " in page.read_text()
    assert "however often one looks" in page.read_text()
    assert "<svg" in page.read_text()
    # it stays decided, and needs no sheet
    assert main(line) == code


@pytest.mark.slow
def test_two_people_label_the_same_sheet(tmp_path, capsys):
    log, sheet = tmp_path / "log.csv", tmp_path / "log.labels.csv"
    truth = write_log(log)
    line = ["label", str(log), "--verdict", "verdict", "--gate", "0.9", "--n", "10", "--seed", "1"]
    main(line)
    fill(sheet, truth, "Ann")
    other = tmp_path / "bo.csv"
    shutil.copy(sheet, other)
    first = pd.read_csv(sheet)["item"][0]
    fill(other, truth | {first: 1 - truth[first]}, "Bo")
    assert main([*line, "--read", str(sheet), "--read", str(other)]) == 3
    assert "90% agreement on 10" in capsys.readouterr().err
    monitor = bj.decide.Monitor.from_frame(pd.read_csv(log), at_least=0.9, random_seed=1)
    monitor.resume(tmp_path / "log.labels.json")
    assert monitor.n_labels == 10
    assert monitor._increments().value.size == 10


@pytest.mark.slow
def test_a_filled_sheet_is_not_replaced_unread(tmp_path, capsys):
    log, sheet = tmp_path / "log.csv", tmp_path / "log.labels.csv"
    truth = write_log(log)
    line = ["label", str(log), "--verdict", "verdict", "--gate", "0.8", "--n", "10", "--seed", "1"]
    main(line)
    fill(sheet, truth)
    with command_refused(id="labels-lost", n=10):
        assert main(line) == 2
    capsys.readouterr()
    assert main([*line, "--read", str(sheet)]) == 3
    assert "10 labels read" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_resumes_what_was_not_finished(tmp_path, capsys):
    log, sheet = tmp_path / "log.csv", tmp_path / "log.labels.csv"
    truth = write_log(log)
    line = ["label", str(log), "--verdict", "verdict", "--gate", "0.8", "--n", "10", "--seed", "1"]
    main(line)
    first = pd.read_csv(sheet)["item"].tolist()
    fill(sheet, {item: truth[item] for item in first[:4]} | dict.fromkeys(first[4:], ""))
    half = sheet.rename(tmp_path / "half.csv")
    main([*line, "--read", str(half)])
    assert pd.read_csv(sheet)["item"].tolist() == first[4:]
    assert "4 labels read, 6 " in capsys.readouterr().err
    write_log(log, n=299)
    with command_refused(id="other-items"):
        assert main(line) == 2


def test_what_drawing_the_uncertain_is_worth_is_said_once(tmp_path, capsys):
    table = tmp_path / "t.csv"
    pd.DataFrame({"item": range(40), "verdict": [1, 0] * 20}).to_csv(table, index=False)
    line = ["label", str(table), "--gate", "0.6", "--verdict", "verdict", "--n", "5"]
    assert main([*line, "--strategy", "uncertain"]) == 3
    assert "as many labels as with random" in capsys.readouterr().err
    sheet = fill(tmp_path / "t.labels.csv", {str(i): 1 for i in range(40)})
    main([*line, "--strategy", "uncertain", "--read", str(sheet)])
    assert "as many labels as with random" not in capsys.readouterr().err
