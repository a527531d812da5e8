"""Real tables that ship as counts: how often each combination of verdicts or scores occurred.

Rows are made from the counts, so that the number of an item says nothing of its contents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from bayesjudge.core.errors import expect

_COUNTS = Path(__file__).parent / "counts"
#: Scores of one character: a call that failed, 1 to 9, 10.
_SCORES = {"-": np.nan, **{str(score): float(score) for score in range(1, 10)}, "A": 10.0}


def code_feedback_votes() -> pd.DataFrame:
    """Votes of five judges on the feedback that six generators gave, with people's labels.

    Of the 14 judges of `code_feedback`, which is fetched, these five ship as counts: 360
    combinations of generator, label and votes.

    Returns
    -------
    pandas.DataFrame
        5,972 rows, one per item: ``item``, ``generator``, ``truth`` (1 is valid feedback), and one
        column per judge (1 valid, 0 invalid, empty missing).

    References
    ----------
    Jain et al. (2025), Beyond Consensus; github.com/ai-cet/llm-judge-calibration at commit
    1891c43, MIT licence; counted from ``ensemble_results_fcnhp.xlsx``.

    Examples
    --------
    >>> table = code_feedback_votes()
    >>> table.groupby("generator")["truth"].mean().round(3).to_dict()["gpt-4-turbo"]
    0.865
    """
    table = _rows("code_feedback")
    table.insert(0, "item", np.arange(len(table)) + 1)
    return table


def llmbar() -> pd.DataFrame:
    """Pairs of answers that six judges compared in both orders, under up to 15 prompts.

    Returns
    -------
    pandas.DataFrame
        6,500 rows, one per judge, prompt and pair: ``judge``, ``prompt``, ``gold`` (the better
        answer, 1 or 2), ``order1`` and ``order2`` (the winner by content with answer 1 shown first
        and shown second; empty if the verdict could not be read).

    References
    ----------
    Zeng et al. (2024), Evaluating Large Language Models at Evaluating Instruction Following, ICLR;
    github.com/princeton-nlp/LLMBar at commit 900616b, MIT licence; the 100 pairs of the subset
    Natural, counted from ``result.json`` of each evaluator.

    Examples
    --------
    >>> plain = llmbar().query("prompt == 'Vanilla'")
    >>> (plain["order1"] == plain["order2"]).groupby(plain["judge"]).sum().to_dict()["Falcon"]
    52
    """
    return _rows("llmbar")


def pandalm() -> pd.DataFrame:
    """Battles of five language models, judged by two judges and by three people each.

    Returns
    -------
    pandas.DataFrame
        999 rows, one per battle: ``first`` and ``second`` (the models), ``gpt35`` and ``pandalm7b``
        (the judges' verdicts: 1, 2 or tie; empty if it could not be read), and ``annotator1`` to
        ``annotator3`` (people's).

    References
    ----------
    Wang et al. (2024), PandaLM: An Automatic Evaluation Benchmark for LLM Instruction Tuning
    Optimization, ICLR; github.com/WeOpenML/PandaLM at commit 3871806e72, Apache-2.0; counted from
    ``testset-v1.json`` and the judges' results on it.

    Examples
    --------
    >>> table = pandalm()
    >>> same = table["annotator1"] == table["annotator2"]
    >>> f"two people agree on {same.mean():.2f} of {len(table)} battles"
    'two people agree on 0.91 of 999 battles'
    """
    return _rows("pandalm")


def composo_scores(judge: Literal["full", "mini"] = "mini") -> pd.DataFrame:
    """Scores that one judge gave eight times to each of 6,920 responses.

    Which eight scores a response got ships as counts, without their order and without the item;
    `composo` fetches the whole.

    Parameters
    ----------
    judge : {"full", "mini"}
        The larger or the smaller of the two judges.

    Returns
    -------
    pandas.DataFrame
        55,360 rows, one per call: ``item`` (a response) and ``score`` (1 to 10, empty if the call
        failed).

    Raises
    ------
    InputError
        If the judge is none of the two.

    References
    ----------
    github.com/composo-ai/llm-judge-criteria-ensembling at commit e4049a5, MIT licence; counted
    from ``base_both_k8.jsonl``.

    Examples
    --------
    >>> same = composo_scores("full").groupby("item")["score"].nunique().eq(1)
    >>> f"{same.mean():.2f} got the same score eight times"
    '0.36 got the same score eight times'
    """
    problem = f"judge={judge!r}, expected 'full' or 'mini'"
    expect("datasets.composo_scores", judge in ("full", "mini"), problem)
    table = _rows("composo").query("judge == @judge")
    scores = [_SCORES[mark] for marks in table["scores"] for mark in marks]
    return pd.DataFrame({"item": np.repeat(np.arange(len(table)) + 1, 8), "score": scores})


def dices() -> pd.DataFrame:
    """Ratings of 350 conversations by some 120 people each and by an expert: is the answer safe?

    How many people gave each rating ships as counts, so that ``person 1`` of one item need not be
    ``person 1`` of another.

    Returns
    -------
    pandas.DataFrame
        One row per rating: ``item``, ``rater`` (``"person 1"``, ..., ``"expert"``) and ``choice``
        (``"safe"``, ``"unsafe"`` or ``"unsure"``).

    References
    ----------
    Aroyo et al. (2023), DICES Dataset: Diversity in Conversational AI Evaluation for Safety,
    NeurIPS; github.com/google-research-datasets/dices-dataset, CC-BY-4.0; counted from
    ``Q_overall`` of DICES-350 and its expert's label.

    Examples
    --------
    >>> table = dices()
    >>> print(table["choice"].value_counts(normalize=True).round(2).to_dict())
    {'safe': 0.61, 'unsafe': 0.33, 'unsure': 0.06}
    """
    counts = _rows("dices")
    options = ["safe", "unsafe", "unsure"]
    said = counts[options].to_numpy()
    raters = said.sum(axis=1)
    people = pd.DataFrame(
        {
            "item": np.repeat(counts.index + 1, raters),
            "rater": [f"person {number + 1}" for n in raters for number in range(n)],
            "choice": np.repeat(np.tile(options, len(counts)), said.ravel()),
        }
    )
    expert = pd.DataFrame(
        {"item": counts.index + 1, "rater": "expert", "choice": counts["expert"].to_numpy()}
    )
    return pd.concat([people, expert], ignore_index=True)


def llm_rubric() -> pd.DataFrame:
    """Dialogues that a judge and three people each graded on nine criteria, from 1 to 4.

    Returns
    -------
    pandas.DataFrame
        225 rows, one per dialogue in no order: ``dialogue``; ``judge_Q0`` to ``judge_Q8``, the mean
        of the judge's distribution over the grades, Q0 of overall satisfaction; ``human_Q0`` to
        ``human_Q8``, the mean grade of people; and ``first_Q0``, ``second_Q0`` and so on, the
        grades of two of them. Empty where nobody gave one: in the source a grade of 0, as on
        citations (Q2 to Q5) where there are none. People's Q8 ends at 3.

    References
    ----------
    Hashemi et al. (2024), LLM-Rubric, ACL; github.com/microsoft/LLM-Rubric at commit 70d56fc4e9,
    MIT licence; synthetic dialogues, the first three people of each.

    Examples
    --------
    >>> table = llm_rubric()
    >>> round(float(table["judge_Q0"].corr(table["human_Q0"])), 2)
    0.27
    """
    table = _rows("llm_rubric")
    columns = {"dialogue": np.arange(len(table)) + 1}
    columns |= {name: table[name] for name in table if name.startswith("judge_")}
    for name in [name for name in table if name.startswith("people_")]:
        grades = pd.DataFrame(
            [[*map(float, str(cell).ljust(3, "0"))] for cell in table[name]]
        ).replace(0, np.nan)
        criterion = name.removeprefix("people_")
        columns[f"human_{criterion}"] = grades.mean(axis=1)
        columns |= {f"{who}_{criterion}": grades[i] for i, who in enumerate(("first", "second"))}
    return pd.DataFrame(columns)


def _rows(name: str) -> pd.DataFrame:
    """One row for each time that a combination occurred."""
    counts = pd.read_csv(_COUNTS / f"{name}.csv")
    return counts.loc[np.repeat(counts.index, counts.pop("count"))].reset_index(drop=True)
