"""`drift`: two versions of a judge on the same outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from bayesjudge.core import methods
from bayesjudge.core.answer import listed, mirrored, percent_of, points
from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity, Row
from bayesjudge.core.intervals import z_score
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.screen import Printed, how_many
from bayesjudge.decide._reading import read_log

if TYPE_CHECKING:
    import pandas as pd

SAME_OUTPUTS = Assumption.of("same-outputs")
SOURCE = "Bonett & Price (2012), J. Educ. Behav. Stat. 37, 479-488; Binder (1983)"


class Change(NamedTuple):
    """A paired change of a share, with its standard error and degrees of freedom."""

    value: float
    low: float
    high: float
    error: float
    df: float


@dataclass(frozen=True, repr=False)
class Drift(Printed):
    """What changed from one version of a judge to the next.

    Parameters
    ----------
    estimate : Estimate
        ``pass_rate_change``; with labels ``sensitivity_change`` and ``specificity_change``; of
        several systems ``system_pass_rate_change``; and ``prevalence_shift``, how far each
        prevalence moves that the old calibration corrects, if the new verdicts take the old ones'
        place.
    flips : pandas.DataFrame
        Outputs by old verdict (rows) and new verdict (columns).
    error : float
        Standard error of the change of the pass rate.
    ci_prob : float
        Probability of the intervals.
    seen : tuple of str
        Changes that are surely not 0, all of them together with probability `ci_prob`.
    pass_name : str, default ""
        The label that was read as pass, if it is no word for it.
    """

    estimate: Estimate
    flips: pd.DataFrame
    error: float
    ci_prob: float
    seen: tuple[str, ...]
    pass_name: str = ""

    def power(self, change: float = 0.03) -> float:
        """Give the probability that a change of the pass rate would have been seen.

        Parameters
        ----------
        change : float, default 0.03
            Of the pass rate.

        Returns
        -------
        float
            By the normal approximation, with as many flips as there were.
        """
        z, shift = self._z(), abs(change) / self.error
        return float(ndtr(shift - z) + ndtr(-shift - z))

    def detectable(self, power: float = 0.8) -> float:
        """Give the change of the pass rate that is seen with a probability.

        Parameters
        ----------
        power : float, default 0.8
            That probability.

        Returns
        -------
        float
            The smallest such change.

        Raises
        ------
        InputError
            If `power` is not in (0, 1).
        """
        from scipy.special import ndtri

        with checking("detectable") as require:
            require(0 < power < 1, "must lie in (0, 1)", power=power)
        return float((self._z() + ndtri(power)) * self.error)

    def _z(self) -> float:
        quantities = self.estimate.quantities
        tests = sum(n in quantities for n in TESTED)
        return z_score(1 - (1 - self.ci_prob) / tests)

    @property
    def flipped(self) -> int:
        """Outputs whose verdict changed."""
        table = self.flips.to_numpy()
        return int(table.sum() - np.trace(table))

    def __str__(self) -> str:
        of_rates = f"system {rate_in_words(self.pass_name)} change"
        lines = [
            f"{drift_in_words(self)}; {flips_in_words(self)}",
            f"A change of 3 points would be seen with probability {self.power(0.03):.2f}, one of "
            f"{100 * self.detectable():.1f} points with probability 0.80.",
        ]
        for quantity, where, row in self.estimate.rows():
            if quantity != "pass_rate_change":
                place = "".join(f" of {name}" for name in where.values())
                words = of_rates if quantity == RATES else quantity.replace("_", " ")
                lines.append(f"{words}{place} {row.value:+.3f} ({row.low:+.3f} to {row.high:+.3f})")
        return "\n".join([*lines, f"{percent_of(self.estimate.ci_prob)} intervals"])


def _passes(change: Row, name: str, *, surely: bool) -> str:
    """How the pass rate moved, in points."""
    if not surely:
        return f"the {rate_in_words(name)} moved by {points(change)}"
    more = "more" if change.value > 0 else "fewer"
    row = change if change.value > 0 else mirrored(change)
    passes = f"calls {more} outputs {name!r}" if name else f"passes {more} outputs"
    return f"the new judge {passes}, by {points(row)}"


def flips_in_words(drift: Drift) -> str:
    """How many verdicts flipped, and to what."""
    table, name = drift.flips.to_numpy(), drift.pass_name
    to, back = (f"to {name!r}", "away from it") if name else ("to pass", "to fail")
    return (
        f"{drift.flipped:,} of {table.sum():,} verdicts flipped ({table[0, 1]:,} {to}, "
        f"{table[1, 0]:,} {back})"
    )


def rate_in_words(name: str) -> str:
    """The judge's pass rate, or its share of what was read as pass."""
    return f"judge's share of {name!r}" if name else "pass rate"


def drift_in_words(drift: Drift) -> str:
    """Which changes were seen, and that of the pass rate, in one line."""
    change, name = drift.estimate["pass_rate_change"], drift.pass_name
    seen = listed([change_in_words(quantity, name) for quantity in drift.seen])
    verdict = f"Drift in the {seen}" if drift.seen else "No drift seen"
    return f"{verdict}: {_passes(change, name, surely='pass_rate_change' in drift.seen)}"


def change_in_words(quantity: str, pass_name: str = "") -> str:
    """What changed, beside numbers that are called changes."""
    name = quantity.removeprefix("system_").removesuffix("_change")
    return rate_in_words(pass_name) if name == "pass_rate" else name.replace("_", " ")


#: Changes of each system, and those that are tested together.
RATES = "system_pass_rate_change"
TESTED = ("pass_rate_change", "sensitivity_change", "specificity_change")


def drift(
    old: Any,
    new: Any,
    *,
    item: str = "item",
    verdict: str = "verdict",
    truth: str | None = None,
    by: str | None = None,
    pass_value: Any = None,
    fail_value: Any = None,
    missing_value: Any = None,
    ci_prob: float = 0.95,
) -> Drift:
    """Compare two versions of a judge on the same outputs.

    Parameters
    ----------
    old, new : dataframe
        One row per verdict; an output is an item (of a system, with `by`). Several verdicts on an
        output are averaged. Outputs that only one log has are left out, with a caution.
    item : str, default "item"
        Column that identifies the item.
    verdict : str, default "verdict"
        Column with the judge's verdict; one that could not be read counts as a fail.
    truth : str, optional
        Column with the human label, in either log or both; empty where there is none.
    by : str, optional
        Column that names the system of each row.
    pass_value, fail_value, missing_value : scalar or list, optional
        Labels that mean pass, fail and none. 1/0 and true/false are understood without.
    ci_prob : float, default 0.95
        Probability of each interval, and that none of the changes is called a drift if there is
        none.

    Returns
    -------
    Drift
        Flips, changes with intervals, what they do to published numbers, and the power.

    Raises
    ------
    InputError
        If the logs share fewer than two items, labels contradict each other, or a column is
        missing.

    Notes
    -----
    Intervals take differences by item, so that rows of an item and systems that answered it are not
    independent; two imaginary items, one of each sign, join them, so that a table without any
    flip does not claim certainty. Changes are tested by Bonferroni's rule.

    Examples
    --------
    >>> import pandas as pd
    >>> old = pd.DataFrame({"item": range(400), "verdict": [1] * 300 + [0] * 100})
    >>> new = old.assign(verdict=[1] * 260 + [0] * 140)
    >>> drift(old, new).seen
    ('pass_rate_change',)
    """
    check_ci_prob(ci_prob)
    meanings = (pass_value, fail_value, missing_value)
    rows, notes = _paired(old, new, item, verdict, truth, by, meanings)
    z: dict[str, Any] = {"pass_rate_change": _change(rows, ci_prob)}
    labelled = rows[rows["truth"].notna()]
    for name, value, sign in (("sensitivity", 1.0, 1), ("specificity", 0.0, -1)):
        part = labelled[labelled["truth"] == value]
        if part["item"].nunique() >= 2:
            z[f"{name}_change"] = _change(part, ci_prob, sign)
    tests = [name for name in TESTED if name in z]
    strict = 1 - (1 - ci_prob) / len(tests)
    called = pass_name_of(pass_value)
    seen = tuple(name for name in tests if _surely(z[name], strict))
    quantities = {name: Quantity.of_rows({(): z[name][:3]}, ()) for name in tests}
    systems = sorted(rows["system"].unique()) if by else []
    each = {s: _change(rows[rows["system"] == s], ci_prob) for s in systems}
    if each:
        kept = {s: c[:3] for s, c in each.items()}
        quantities[RATES] = Quantity.of_rows(kept, ("system",))
    youden = youden_of(labelled)
    if youden is not None:
        shifts = each or {"": z["pass_rate_change"]}
        kept = {s if s else (): _shift(c, youden, ci_prob) for s, c in shifts.items()}
        quantities["prevalence_shift"] = Quantity.of_rows(kept, ("system",) if by else ())
    flips = _flips(rows)
    for name in seen:
        change = z[name]
        words = change_in_words(name, called)
        notes.append(
            Caution.of(
                "judge-drift", words=words, value=change.value, low=change.low, high=change.high
            )
        )
    estimate = Estimate(
        quantities,
        method=methods.PAIRED_CHANGE,
        ci_prob=ci_prob,
        source=SOURCE,
        interval="t, by item, two imaginary items",
        assumptions=(SAME_OUTPUTS,),
        cautions=tuple(notes),
    )
    return Drift(estimate, flips, z["pass_rate_change"].error, ci_prob, seen, called)


def outputs_of(
    table: Any,
    item: str,
    verdict: str,
    truth: str | None,
    by: str | None,
    meanings: tuple[Any, Any, Any],
) -> pd.DataFrame:
    """By item (and system): the mean verdict, the label, and whether labels differ."""
    from bayesjudge.core.tables import columns_of, require_spoken

    names, keys = [item, *([by] if by else [])], ["item", "system"][: 2 if by else 1]
    labelled = truth is not None and truth in columns_of(table)
    read = read_log(table, [verdict, *([truth] if truth and labelled else [])], names, meanings)
    outputs = [read[name].rename(key) for name, key in zip(names, keys, strict=True)]
    require_spoken("table", [] if read[verdict].notna().any() else [verdict])
    means = read[verdict].fillna(0.0).groupby(outputs, sort=False).mean().to_frame("verdict")
    means["truth"], means["torn"] = np.nan, False
    if truth and labelled:
        by_output = read[truth].groupby(outputs, sort=False)
        means["truth"], means["torn"] = by_output.mean(), by_output.nunique() > 1
    return means


def _paired(
    old: Any,
    new: Any,
    item: str,
    verdict: str,
    truth: str | None,
    by: str | None,
    meanings: tuple[Any, Any, Any],
) -> tuple[pd.DataFrame, list[Caution]]:
    """One row per output: item, system, mean old and new verdict, truth."""
    import pandas as pd

    from bayesjudge.core.tables import columns_of

    parts = [outputs_of(table, item, verdict, truth, by, meanings) for table in (old, new)]
    named = [part.add_suffix(end) for part, end in zip(parts, ("_old", "_new"), strict=True)]
    both = named[0].join(named[1], how="inner").reset_index()
    with checking("drift") as require:
        there = truth is None or any(truth in columns_of(table) for table in (old, new))
        require(there, f"neither log has a column {truth!r}")
        torn = both["torn_old"] | both["torn_new"]
        other = both["truth_old"].notna() & both["truth_new"].notna()
        torn |= other & (both["truth_old"] != both["truth_new"])
        require(not torn.any(), "labels-differ", n=int(torn.sum()))
        shared = both["item"].nunique()
        require(
            shared >= 2,
            f"the logs share {how_many(shared, 'item')}; a comparison needs two or more",
        )
    rows = pd.DataFrame(
        {
            "item": both["item"],
            "system": both["system"] if by else "",
            "old": both["verdict_old"],
            "new": both["verdict_new"],
            "truth": both["truth_old"].fillna(both["truth_new"]),
        }
    )
    left = len(parts[0]) + len(parts[1]) - 2 * len(rows)
    notes = []
    if left:
        notes.append(Caution.of("unpaired-outputs", left=left, rows=len(rows)))
    return rows, notes


def _change(rows: pd.DataFrame, ci_prob: float, sign: int = 1) -> Change:
    """Mean change by output, with a variance by item and two imaginary items."""
    gap = sign * (rows["new"] - rows["old"])
    sums = gap.groupby(rows["item"]).agg(["sum", "size"]).to_numpy(float)
    value = float(gap.mean())
    outputs, items = len(rows), len(sums)
    each = outputs / items  # of an imaginary item
    total = outputs + 2 * each
    centre = sums[:, 0].sum() / total
    off = sums[:, 0] - centre * sums[:, 1]
    imaginary = (np.array([each, -each]) - centre * each) ** 2
    error = float(np.sqrt((off @ off + imaginary.sum()) * (items + 2) / (items + 1)) / total)
    t = float(stdtrit(items + 1, (1 + ci_prob) / 2))
    low, high = np.clip([centre - t * error, centre + t * error], -1, 1)
    return Change(value, float(low), float(high), error, items + 1)


def _surely(change: Change, ci_prob: float) -> bool:
    """Whether 0 is outside the interval at another probability."""
    centre = (change.low + change.high) / 2
    return bool(abs(centre) > stdtrit(change.df, (1 + ci_prob) / 2) * change.error)


def youden_of(labelled: pd.DataFrame) -> tuple[float, float] | None:
    """Sensitivity + specificity - 1 of the old judge, and its standard error."""
    good, bad = (labelled.loc[labelled["truth"] == v, "old"] for v in (1.0, 0.0))
    if min(len(good), len(bad)) < 2:
        return None
    value = float(good.mean() - bad.mean())
    error = float(np.sqrt(good.var(ddof=1) / len(good) + bad.var(ddof=1) / len(bad)))
    return (value, error) if value > 2 * error else None


def _shift(
    change: Change, youden: tuple[float, float], ci_prob: float
) -> tuple[float, float, float]:
    """How far a corrected prevalence moves: the change divided by J (Fieller's interval)."""
    j, j_error = youden
    t = float(stdtrit(change.df, (1 + ci_prob) / 2))
    g = (t * j_error / j) ** 2
    centre = (change.low + change.high) / 2
    ratio = centre / j
    if g >= 1:
        return change.value / j, -1.0, 1.0
    half = t / j / (1 - g) * np.sqrt(change.error**2 * (1 - g) + ratio**2 * j_error**2)
    middle = ratio / (1 - g)
    low, high = np.clip([middle - half, middle + half], -1, 1)
    return float(np.clip(change.value / j, -1, 1)), float(low), float(high)


def _flips(rows: pd.DataFrame) -> pd.DataFrame:
    """Outputs by majority verdict, old and new."""
    import pandas as pd

    was, now = (rows[c] >= 0.5 for c in ("old", "new"))
    cells: Sequence[Sequence[int]] = [
        [int((was.eq(a) & now.eq(b)).sum()) for b in (False, True)] for a in (False, True)
    ]
    names = ["fail", "pass"]
    return pd.DataFrame(
        cells, index=pd.Index(names, name="old"), columns=pd.Index(names, name="new")
    )
