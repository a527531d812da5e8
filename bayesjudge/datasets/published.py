"""Fact tables: figures that papers and their data state, each with its citation."""

from __future__ import annotations

import numpy as np
import pandas as pd

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
    """One row an answer: the judge's verdict and the human label, as `xstest_counts` has them.

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
    >>> from bayesjudge.prevalence import Counts, exact
    >>> counts = Counts.from_counts(santa_clara(), calibration="separate")
    >>> [round(x, 4) for x in exact(counts, interval="eti")["prevalence", "pooled"]]
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
