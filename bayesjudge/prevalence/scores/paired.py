"""`PairedScores`: systems with scores, compared on the items that they share."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bayesjudge.core import methods
from bayesjudge.core.diagnosis import OF_ROWS
from bayesjudge.core.errors import expect
from bayesjudge.core.label_design import RANDOM_LABELS, LabelDesign, declared, design_of
from bayesjudge.core.tables import read_rows
from bayesjudge.prevalence._samples import PPI, Pairs, Words, pairs_of
from bayesjudge.prevalence.diagnosis import diagnose
from bayesjudge.prevalence.scores.closed_form import _ScoresSample
from bayesjudge.prevalence.scores.compare import joined
from bayesjudge.prevalence.scores.data import Scores
from bayesjudge.truth import influence
from bayesjudge.truth.influence import Errors
from bayesjudge.verdicts.reading import Reading
from bayesjudge.verdicts.scores import as_numbers, by_item, read_cells
from bayesjudge.verdicts.selection import how_labels_came, of_each

#: Fewest items with labels of both systems of which a difference is told.
LEAST_LABELLED = 2


@dataclass(frozen=True, eq=False, repr=False)
class PairedScores:
    """Differences of the scores, and of the human labels, of every two systems, item by item.

    Parameters
    ----------
    differences : mapping of (str, str) to Scores
        By first and second system: of each item that both have, the first one's score less the
        second one's, and so of the labels, where both have one. Pairs of which fewer than 2 items
        have both labels are absent, and so are all pairs if the label design does not say that
        labelled items are a random sample.
    shared : mapping of (str, str) to int
        Items that both systems have, of every pair.
    alone : mapping of (str, str) to int
        Items that one of both has and the other has not, of every pair; they are not compared.
    design : LabelDesign
        How the labelled items were chosen.
    truth_scale : tuple of float, optional
        Lowest and highest number that people can give; labels are pass and fail without.
    pass_name : str, default ""
        The label that was read as pass, if it is no word for it.

    Examples
    --------
    >>> import pandas as pd
    >>> log = pd.DataFrame({"system": ["x", "y"] * 3, "item": [1, 1, 2, 2, 3, 3],
    ...                     "score": [4, 2, 5, 3, 3, 3], "truth": [5, 2, 4, 3, None, None]})
    >>> paired = PairedScores.from_frame(log, by="system", item="item", calibration="random",
    ...                                  scale=(1, 5), truth_scale=(1, 5))
    >>> paired.differences["x", "y"].score.tolist(), paired.differences["x", "y"].truth.tolist()
    ([2.0, 2.0, 0.0], [3.0, 1.0, nan])
    """

    differences: Mapping[tuple[str, str], Scores]
    shared: Mapping[tuple[str, str], int]
    alone: Mapping[tuple[str, str], int]
    design: LabelDesign
    truth_scale: tuple[float, float] | None = None
    pass_name: str = ""

    def __repr__(self) -> str:
        sentences = [f"{a} and {b} share {n:,} items" for (a, b), n in self.shared.items()]
        return f"PairedScores: {'; '.join(sentences)}"

    @property
    def labelled(self) -> dict[tuple[str, str], int]:
        """Items with labels of both systems, of the pairs in `differences`."""
        return {pair: int(table.n[table.known].sum()) for pair, table in self.differences.items()}

    @property
    def refusal(self) -> str:
        """Why no two systems are compared; empty if some are."""
        if self.differences:
            return ""
        if not any(self.shared.values()):
            return "they share no item"
        if not _suits(self.design):
            return f"differences on shared items are not told by labels if {self.design.meaning}"
        words = "label the outputs of both for some of the items that they share"
        return f"fewer than {LEAST_LABELLED} items have labels of both; {words}"

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        by: str,
        item: str,
        calibration: str | LabelDesign | None = None,
        scale: tuple[float, float] | str,
        score: str = "score",
        truth: str = "truth",
        truth_scale: tuple[float, float] | None = None,
        truth_from: float | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
    ) -> Self:
        """Pair the rows of every two systems by item.

        Parameters
        ----------
        table : data frame
            One row per item and system; see `Scores.from_frame`, also for the other arguments. What
            an engine holds is read into memory.
        by : str
            Column that names the system of each row.
        item : str
            Column that identifies the item; systems share items of one name.
        calibration : str
            How the labelled rows were chosen.
        scale : tuple of float or "log_odds"
            Lowest and highest score that the judge can give; log-odds are made probabilities.
        score, truth : str
            Columns with the judge's score and with the human label.
        truth_scale : tuple of float, optional
            Lowest and highest number that people can give; labels are pass and fail without.
        truth_from : float, optional
            The lowest human number that is a pass.
        pass_value, fail_value, missing_value : scalar or list, optional
            Labels that mean pass, fail and none.

        Returns
        -------
        PairedScores
            Rows without a score are left out.

        Raises
        ------
        InputError
            If a column is missing, a cell is not understood, or there are fewer than two systems.
        """
        import pandas as pd

        design = design_of(declared(calibration), "PairedScores", "plain")
        rows = read_rows(table, score, truth, names=[by, item])
        coded = {column: pd.factorize(rows[column].astype(object)) for column in (score, truth)}
        cells = {
            column: pd.Series(column_values, name=column)
            for column, (_, column_values) in coded.items()
        }
        ends, meanings = (truth_scale, truth_from), (pass_value, fail_value, missing_value)
        read = read_cells(cells[score], cells[truth], scale, *ends, meanings)
        s, t = (
            np.append(values, np.nan)[coded[column][0]]
            for column, values in ((score, read.score), (truth, read.truth))
        )
        suits, truth_scale = _suits(design), read.truth_scale
        known = pd.DataFrame({"by": rows[by], "item": rows[item], "score": s, "truth": t})
        known = known[~np.isnan(s)]
        if suits:  # a difference of numbers may be possible where they are not
            ones = np.ones(len(known), np.int64)
            Scores(known["score"], known["truth"], ones, design, scale, truth_scale)
        known["score"], scale = as_numbers(known["score"], scale)
        if known.duplicated(["by", "item"]).any():
            names = {"by": known["by"], "item": known["item"]}
            known = by_item(names, known["score"], known["truth"], design, truth_scale)
        systems = sorted(known["by"].unique())
        problem = f"needs two systems or more, got {systems}; name them: by="
        expect("PairedScores", len(systems) > 1, problem)
        by_name = {name: known[known["by"] == name].set_index("item") for name in systems}
        spans = [float(np.ptp(ends)) for ends in (scale, truth_scale or (0.0, 1.0))]
        tables = _paired(by_name, design if suits else None, *spans)
        how = Reading.of(
            "PairedScores", {**locals(), "by": None, "verdict": score, "scale": (0.0, 1.0)}
        )
        came = of_each(table, by, lambda rows: how_labels_came(rows, how, None))
        for pair, scores in tables[0].items():
            seen = [came[name].cautions for name in pair]  # those of one of them say it
            object.__setattr__(scores, OF_ROWS, seen[0] or seen[1])
        return cls(*tables, design, truth_scale, read.pass_name)


def _suits(design: LabelDesign) -> bool:
    """Whether items with labels of both systems are a random sample of those that they share."""
    return design.is_sample


def _paired(
    by_name: Mapping[str, Any], design: LabelDesign | None, span: float, truth_span: float
) -> tuple[dict[Any, Scores], dict[Any, int], dict[Any, int]]:
    """Of every two tables of ``score`` and ``truth`` by item: differences, shared and other items.

    Without a design there are no differences.
    """
    tables: tuple[dict[Any, Scores], dict[Any, int], dict[Any, int]] = ({}, {}, {})
    differences, shared, alone = tables
    pairs = list(itertools.combinations(by_name, 2))
    for pair in pairs:
        first, second = (by_name[name][["score", "truth"]] for name in pair)
        both = first.index.intersection(second.index)
        shared[pair] = len(both)
        alone[pair] = len(first) + len(second) - 2 * len(both)
        gap = (first.loc[both] - second.loc[both]).to_numpy(float)
        if design is not None and (~np.isnan(gap[:, 1])).sum() >= LEAST_LABELLED:
            differences[pair] = Scores(
                score=gap[:, 0],
                truth=gap[:, 1],
                n=np.ones(len(gap), np.int64),
                calibration=design,
                scale=(-span, span),
                truth_scale=(-truth_span, truth_span),
                read_together=len(pairs),
            )
    return tables


def contrast(scores: Scores) -> Errors:
    """The difference estimator of differences of one pair."""
    sample = _ScoresSample(scores)
    labelled, others = sample.patterns()
    few_apart = float(influence.few_differ(labelled.y, labelled.n))
    corners = max(sample.corners(labelled), few_apart)
    interval, _ = influence.difference(
        labelled,
        others,
        1.0,  # ends one standard error away
        corners=corners,
        most=np.inf,
        lost=1.0,
    )
    value, low, high = (float(scores.in_units(x)) for x in interval)
    return Errors(value, (low + high) / 2, (high - low) / 2, int(labelled.n.sum()) - 1)


@pairs_of.register
def _(paired: PairedScores) -> Pairs:
    expect("paired_difference", paired.differences, "not-comparable", refusal=paired.refusal)
    assumptions, cautions = [], []
    for (first, second), scores in paired.differences.items():
        assumed, raised = diagnose(scores, (RANDOM_LABELS,))
        assumptions.append(assumed)
        cautions += [c.within(f"{first} less {second}", (first, second)) for c in raised]
    return Pairs(
        {pair: contrast(scores) for pair, scores in paired.differences.items()},
        max((table.truth_scale or (-1.0, 1.0))[1] for table in paired.differences.values()),
        Words(methods.PAIRED, f"Miller (2024); {PPI}", "t", RANDOM_LABELS),
        joined(assumptions),
        tuple(dict.fromkeys(cautions)),
    )
