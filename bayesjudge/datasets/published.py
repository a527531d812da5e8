"""Fact tables: figures that papers and their data state, each with its citation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from bayesjudge.core.errors import expect

#: Human judgement against GPT-4's, of 450 prompts each: how many answers are good (full compliance
#: by the adjudicated human label) or not, passed or failed by the judge. The last column: good
#: answers on which the judge's verdict could not be read (no bad answer had that fate).
#: Röttger et al. (2024), XSTest, NAACL; https://github.com/paul-rottger/exaggerated-safety,
#: CC-BY-4.0; counted from ``final_label`` and ``gpt4_label``.
_XSTEST = {  # tp, fn, fp, tn, unparsed_good
    "gpt4": (230, 0, 28, 192, 0),
    "llama2new": (176, 0, 88, 186, 0),
    "llama2orig": (99, 2, 91, 258, 0),
    "mistralguard": (208, 2, 81, 159, 0),
    "mistralinstruct": (324, 39, 60, 16, 11),
}


def xstest_counts() -> pd.DataFrame:
    """How a judge (GPT-4) and people saw the answers of five systems to the XSTest prompts.

    Returns
    -------
    pandas.DataFrame
        Index ``system``; columns ``tp`` (good and passed), ``fn`` (good and failed), ``fp`` (bad
        and passed), ``tn`` (bad and failed), ``unparsed_good`` (good, verdict unreadable). Good
        means that people saw full compliance. Each row sums to 450 prompts.

    References
    ----------
    Röttger et al. (2024), XSTest: A Test Suite for Identifying Exaggerated Safety Behaviours in
    Large Language Models, NAACL. Data: github.com/paul-rottger/exaggerated-safety, CC-BY-4.0.

    Examples
    --------
    >>> xstest_counts().loc["llama2orig"].tolist()
    [99, 2, 91, 258, 0]
    """
    columns = ["tp", "fn", "fp", "tn", "unparsed_good"]
    table = pd.DataFrame.from_dict(_XSTEST, orient="index", columns=columns)
    return table.rename_axis("system")


def xstest() -> pd.DataFrame:
    """One row per answer: the judge's verdict and the human label, as `xstest_counts` has them.

    Returns
    -------
    pandas.DataFrame
        2,250 rows; columns ``system``, ``item`` (1 to 450), ``verdict`` and ``truth`` (1 is good).
        The verdict is empty in the 11 rows where it could not be read. The rows are made from
        the counts, so an item's number says nothing of the prompt.

    Examples
    --------
    >>> xstest().groupby("system")["truth"].mean().round(3).to_dict()["llama2orig"]
    0.224
    """
    counts = xstest_counts()
    verdict, truth = [1.0, 0.0, 1.0, 0.0, np.nan], [1.0, 1.0, 0.0, 0.0, 1.0]
    rows = {
        "system": np.repeat(counts.index.to_numpy(), counts.sum(axis=1)),
        "item": np.concatenate([np.arange(n) + 1 for n in counts.sum(axis=1)]),
        "verdict": np.concatenate([np.repeat(verdict, row) for row in counts.to_numpy()]),
        "truth": np.concatenate([np.repeat(truth, row) for row in counts.to_numpy()]),
    }
    return pd.DataFrame(rows)


#: Two people, GPT-4 and a match of strings (C complies, R refuses, P partly, - unreadable), and how
#: many of the 2,250 answers they saw so; counted from the labels of the same source.
_RATERS = """
CCCC 965 CCCR 44 CCRC 38 CCRR 2 CCPC 2 CC-C 11 CRCC 11 CPCC 22 CPRC 1 RCCC 3 RCRR 1 RRCC 95
RRCR 125 RRRC 41 RRRR 699 RRPC 1 RRPR 6 RPCC 2 RPCR 12 RPRR 4 RPPR 1 PCCC 6 PCCR 3 PCRR 1 PRCC 6
PRCR 4 PRRR 3 PRPR 1 PPCC 42 PPCR 45 PPRC 11 PPRR 24 PPPC 2 PPPR 16
"""
_MEANS = {"C": "complies", "R": "refuses", "P": "partly"}


def xstest_ratings() -> pd.DataFrame:
    """What two people and two judges said of each of the 2,250 answers of `xstest`.

    Returns
    -------
    pandas.DataFrame
        One row per rater and answer: ``item``, ``rater`` (``"annotator 1"``, ``"annotator 2"``,
        ``"gpt4"``, ``"strmatch"``) and ``choice`` (complies, refuses or partly). The 11 answers
        that could not be read are left out.

    References
    ----------
    Röttger et al. (2024), XSTest, NAACL; github.com/paul-rottger/exaggerated-safety, CC-BY-4.0.

    Examples
    --------
    >>> table = xstest_ratings()
    >>> len(table), table["item"].nunique()
    (8989, 2250)
    """
    words = _RATERS.split()
    patterns = [p for p, n in zip(words[::2], words[1::2], strict=True) for _ in range(int(n))]
    raters = ("annotator 1", "annotator 2", "gpt4", "strmatch")
    rows = [
        (item, rater, _MEANS[said])
        for item, pattern in enumerate(patterns)
        for rater, said in zip(raters, pattern, strict=True)
        if said in _MEANS
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "choice"])


#: How often four judges changed a score from 1 to 5 by 0, 1, 2, 3 or 4 points.
_CHANGES = {
    "rejudged": {
        "gpt-4o-mini": (22, 6, 7, 5, 0),
        "gpt-3.5-turbo": (22, 7, 7, 4, 0),
        "qwq-32b": (7, 1, 3, 3, 0),
        "deepseek-r1-32b": (21, 1, 6, 4, 3),
    },
    "reformatted": {
        "gpt-4o-mini": (12, 5, 0, 18, 5),
        "gpt-3.5-turbo": (3, 2, 5, 0, 0),
        "qwq-32b": (0, 0, 0, 2, 0),
        "deepseek-r1-32b": (3, 0, 2, 0, 0),
    },
}


def score_changes(change: Literal["reformatted", "rejudged"] = "reformatted") -> pd.DataFrame:
    """By how much four judges changed a score from 1 to 5 when an answer was judged again.

    Parameters
    ----------
    change : {"reformatted", "rejudged"}
        Whether the answer was reformatted before, or was the same.

    Returns
    -------
    pandas.DataFrame
        Counts: index ``points`` (0 to 4, without a sign), one column per judge.

    Raises
    ------
    InputError
        If the change is none of the two.

    References
    ----------
    Sensitivity profiles of github.com/penfever/bias-bounded-evaluation, MIT licence.

    Examples
    --------
    >>> score_changes()["qwq-32b"].tolist()
    [0, 0, 0, 2, 0]
    """
    problem = f"change={change!r}, expected one of {list(_CHANGES)}"
    expect("datasets.score_changes", change in _CHANGES, problem)
    return pd.DataFrame(_CHANGES[change]).rename_axis("points")


def santa_clara() -> pd.DataFrame:
    """Test results of the Santa Clara antibody survey of April 2020, with the kit's validation.

    The classic case of a weak correction: 1.5 % of the people tested positive, and the test's
    specificity is not known well enough to say how many of those were.

    Returns
    -------
    pandas.DataFrame
        One row, ``pooled``, with the columns that ``bayesjudge.prevalence.Counts.from_counts``
        reads: 50 of 3,330 positive; sensitivity 103 of 122, specificity 399 of 401.

    References
    ----------
    Gelman & Carpenter (2020), Bayesian analysis of tests with unknown specificity and sensitivity,
    Journal of the Royal Statistical Society C 69, 1269-1283.

    Examples
    --------
    >>> from bayesjudge import BetaPrior
    >>> from bayesjudge.prevalence import Counts, ErrorRates, exact
    >>> counts = Counts.from_counts(santa_clara(), calibration="separate")
    >>> flat = ErrorRates(BetaPrior())  # as published
    >>> [round(x, 4) for x in exact(counts, flat, interval="eti")["prevalence", "pooled"]]
    [0.0104, 0.0013, 0.0189]
    """
    return pd.DataFrame(
        {
            "test_n": [3330],
            "test_pass": [50],
            "correct_n": [122],
            "correct_pass": [103],
            "incorrect_n": [401],
            "incorrect_fail": [399],
        },
        index=pd.Index(["pooled"], name="survey"),
    )


def tau_bench_airline() -> pd.DataFrame:
    """Four trials of an agent, GPT-4o, at each of 50 airline tasks: is the final state right?

    Counts of the tasks by their successes ship, so that the number of a task says nothing of it.

    Returns
    -------
    pandas.DataFrame
        200 rows, one per trial: ``task``, ``trial`` and ``success`` (1 or 0).

    References
    ----------
    Yao et al. (2024), arXiv:2406.12045; github.com/sierra-research/tau-bench at commit 59a200c,
    MIT licence; counted from the historical trajectories of ``gpt-4o-airline``.

    Examples
    --------
    >>> tasks = tau_bench_airline().groupby("task")["success"]
    >>> print((tasks.sum() == 4).mean(), round((tasks.mean() ** 4).mean(), 3))
    0.2 0.239
    """
    tasks_by_successes = {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}
    rows = [
        {"task": task, "trial": trial, "success": int(trial < successes)}
        for task, successes in enumerate(
            s for s, tasks in tasks_by_successes.items() for _ in range(tasks)
        )
        for trial in range(4)
    ]
    return pd.DataFrame(rows)
