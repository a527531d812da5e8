"""`Watch`: a judge that is asked about the same outputs again and again, and its alarm.

While the judge stays the same, verdicts on one output come in any order with the same probability.
So, of how often each output has passed so far, the law of today's verdicts is known exactly: each
passes today with its share of passes. Today's count as a quantile of that law is uniform, and
quantiles of different looks are independent (Vovk, Gammerman & Shafer 2022, Chapter 8). As normal
scores they are bet on: a wealth exceeds 1 / a, ever, with probability a at most (Ville).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri

from bayesjudge.core.errors import check_ci_prob, checking
from bayesjudge.core.labels import pass_name_of
from bayesjudge.core.screen import Printed, how_many
from bayesjudge.decide._state import digest_of, read_state, write_state
from bayesjudge.decide.drift import change_in_words, outputs_of, youden_of

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "bayesjudge/watch-1"
SOURCE = "Vovk, Gammerman & Shafer (2022), Algorithmic Learning in a Random World, Chapter 8"
#: What is watched; with labels all four.
STREAMS = ("pass_rate", "flips", "sensitivity", "specificity")
#: Standard deviation of the shift of a look's score that is bet on.
SHIFT = 3.0


class Shift(NamedTuple):
    """What a stream was before and since the look from which on it differs most."""

    quantity: str
    before: float
    since: float
    look: str
    evidence: float
    alarm: bool


class Watch(Printed):
    """Looks at a judge's verdicts on the same outputs, and one alarm that holds at every look.

    Parameters
    ----------
    baseline : dataframe
        Verdicts of the judge as it was when its labels were made, one row per verdict; an output is
        an item (of a system, with `by`). Several verdicts on an output count as most of them do:
        there should be as many at each look.
    item, verdict : str
        Columns, as in `drift`; a verdict that could not be read counts as a fail.
    truth : str, optional
        Column of the baseline with the human label, empty where there is none.
    by : str, optional
        Column that names the system of each row.
    pass_value, fail_value, missing_value : scalar or list, optional
        Labels that mean pass, fail and none. 1/0 and true/false are understood without.
    ci_prob : float, default 0.95
        Probability that there is never an alarm while the judge stays the same.
    looks : int, optional
        How many looks are planned, which makes late changes easier to see; by default any number.

    Raises
    ------
    InputError
        If the baseline has fewer than two outputs or labels that differ, or a number is out of
        range.

    Notes
    -----
    Four streams are watched: the pass rate; flips in either direction, away from most verdicts so
    far; and of labelled outputs sensitivity and specificity. Each has an alarm at evidence of the
    number of streams over 1 - `ci_prob` (Bonferroni). Only the judge's own randomness has to stay
    the same: outputs may be hard or easy, and need be no sample.

    Examples
    --------
    >>> import pandas as pd
    >>> anchors = pd.DataFrame({"item": range(100), "verdict": [1] * 80 + [0] * 20})
    >>> watch = Watch(anchors)
    >>> for week in range(9):
    ...     _ = watch.look(anchors, f"week {week}")
    >>> watch.look(anchors.assign(verdict=[1] * 70 + [0] * 30), "week 9")
    True
    >>> watch.outcome, watch.shifts[0].look
    ('drift', 'week 9')
    """

    def __init__(
        self,
        baseline: Any,
        *,
        item: str = "item",
        verdict: str = "verdict",
        truth: str | None = None,
        by: str | None = None,
        pass_value: Any = None,
        fail_value: Any = None,
        missing_value: Any = None,
        ci_prob: float = 0.95,
        looks: int | None = None,
    ):
        check_ci_prob(ci_prob)
        self._how: Any = (item, verdict, None, by, (pass_value, fail_value, missing_value))
        self.pass_name, self.ci_prob, self.planned = pass_name_of(pass_value), ci_prob, looks
        outputs = outputs_of(baseline, item, verdict, truth, *self._how[3:])
        with checking("decide.Watch") as require:
            require(looks is None or looks >= 1, "must be 1 or more", looks=looks)
            require(len(outputs) > 1, "too-few", n=len(outputs))
            torn = int(outputs["torn"].sum())
            require(not torn, "labels-differ", n=torn)
            labelled = truth is None or bool(outputs["truth"].notna().any())
            require(labelled, f"the baseline has no label in {truth!r}")
        outputs = outputs.loc[sorted(outputs.index, key=str)]  # as a file's counts are
        outputs["passes"], outputs["looks"] = (outputs["verdict"] >= 0.5).astype(int), 1
        self._outputs = outputs
        self.youden = youden_of(outputs.rename(columns={"verdict": "old"}))
        known = {name: self._rows(name, outputs).sum() > 1 for name in STREAMS}
        self.streams = tuple(name for name in STREAMS if known[name])
        self._digest = _digest_of(outputs)
        self._looks: list[dict[str, Any]] = []
        self._looks.append(self._look_of("baseline", outputs, self._digest))
        self._of_looks: tuple[int, dict[str, Any]] = (0, {})

    @property
    def names(self) -> tuple[str, ...]:
        """Looks after the baseline, in their order."""
        return tuple(look["name"] for look in self._looks[1:])

    def look(self, table: Any, name: str | None = None) -> bool:
        """Count one more look.

        Parameters
        ----------
        table : dataframe
            New verdicts on the outputs of the baseline, with the same columns. Outputs that are not
            of the baseline are left out; some may be missing.
        name : str, optional
            Of the look, such as its date: a look counts once. Without a name, verdicts that are
            those of an earlier look count as that look: name the looks of a judge who may well say
            the very same again.

        Returns
        -------
        bool
            Whether it was counted; False if it was before.

        Raises
        ------
        InputError
            If fewer than two outputs are shared, or a look of that name had other verdicts.
        """
        outputs = outputs_of(table, *self._how)
        outputs = outputs.loc[outputs.index.isin(self._outputs.index)]
        digest = _digest_of(outputs)
        before = {look["name"]: look["sha256"] for look in self._looks}
        name = self._same_as(digest) or digest[:8] if name is None else name
        with checking("Watch.look") as require:
            shared = how_many(len(outputs), "output")
            require(len(outputs) > 1, f"shares {shared} with the baseline; two or more are needed")
            same = before.get(name, digest) == digest
            require(same, "look-differs", name=name)
        if name in before:
            return False
        seen = self._outputs.loc[outputs.index]
        passed = (outputs["verdict"] >= 0.5).astype(int)
        seen = seen.assign(verdict=passed, passes=seen["passes"] + passed, looks=seen["looks"] + 1)
        self._outputs.loc[seen.index, ["passes", "looks"]] = seen[["passes", "looks"]]
        self._looks.append(self._look_of(name, seen, digest))
        return True

    def _same_as(self, sha256: str) -> str | None:
        """Name of the first look whose verdicts have this digest."""
        names = (look["name"] for look in self._looks if look["sha256"] == sha256)
        return next(names, None)

    def _rows(self, stream: str, outputs: pd.DataFrame) -> pd.Series:
        """Which outputs a stream is about."""
        of_truth = {"sensitivity": 1.0, "specificity": 0.0}.get(stream)
        return outputs["truth"] == of_truth if of_truth is not None else outputs["looks"] > 0

    def _look_of(self, name: str, outputs: pd.DataFrame, digest: str) -> dict[str, Any]:
        """Each stream's share at one look, and its score given how often outputs passed so far."""
        shares, scores = {}, {}
        ties = np.random.default_rng([int(self._digest[:15], 16), len(self._looks)])
        for stream, tie in zip(STREAMS, ties.random(len(STREAMS)), strict=True):
            if stream not in self.streams:
                continue
            rows = outputs[self._rows(stream, outputs)]
            chance = (rows["passes"] / rows["looks"]).to_numpy()
            given = (rows["verdict"] >= 0.5).to_numpy()
            if stream == "specificity":
                chance, given = 1 - chance, ~given
            elif stream == "flips":  # of two equal numbers of verdicts neither is the odd one
                given = np.where(chance < 0.5, given, ~given) & (chance != 0.5)
                chance = np.where(chance == 0.5, 0.0, np.minimum(chance, 1 - chance))
            shares[stream] = self._share(stream, rows, given)
            scores[stream] = normal_score(int(given.sum()), chance, float(tie))
        return {"name": name, "sha256": digest, "shares": shares, "scores": scores}

    def _share(self, stream: str, rows: pd.DataFrame, given: np.ndarray) -> float | None:
        """What is shown of a stream: of flips those against the baseline, of which it has none."""
        if stream == "flips":
            baseline = self._outputs.loc[rows.index, "verdict"] >= 0.5
            given = (baseline != (rows["verdict"] >= 0.5)).to_numpy()
            given = given[: len(given) * bool((rows["looks"] > 1).any())]
        return float(given.mean()) if len(given) else None

    # What is known ------------------------------------------------------------------------------

    @property
    def alarm_at(self) -> float:
        """Evidence at which there is an alarm."""
        return round(len(self.streams) / (1 - self.ci_prob), 6)

    def _log_evidence(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """By stream, `log_evidence` of its scores."""
        if self._of_looks[0] != len(self._looks):
            scores = {
                stream: np.array([look["scores"][stream] for look in self._looks[1:]])
                for stream in self.streams
            }
            evidence = {
                stream: log_evidence(each, one_sided=stream == "flips", planned=self.planned)
                for stream, each in scores.items()
            }
            self._of_looks = len(self._looks), evidence
        return self._of_looks[1]

    @property
    def path(self) -> pd.DataFrame:
        """Each look with each stream's share and evidence: what bets against no change have won."""
        import pandas as pd

        table = pd.DataFrame({"look": self.names})
        for stream, (evidence, _) in self._log_evidence().items():
            shares = [look["shares"][stream] for look in self._looks[1:]]
            table[stream], table[f"{stream}_evidence"] = shares, np.exp(np.minimum(evidence, 700))
        return table

    @property
    def _alarms(self) -> dict[str, int]:
        """Index of the first look at which each stream had its alarm."""
        level = np.log(self.alarm_at)
        over = {name: each[0] >= level for name, each in self._log_evidence().items()}
        return {stream: int(where.argmax()) for stream, where in over.items() if where.any()}

    @property
    def alarm(self) -> str | None:
        """The look at which there was an alarm, which stands; None without one."""
        alarms = self._alarms
        return self.names[min(alarms.values())] if alarms else None

    @property
    def outcome(self) -> str:
        """``"drift"`` once there was an alarm, else ``"no drift"``."""
        return "no drift" if self.alarm is None else "drift"

    @property
    def shifts(self) -> tuple[Shift, ...]:
        """Each stream before and since the look from which on it differs most, alarms first.

        Flips are against the baseline; evidence is the most there was at any look.
        """
        shifts, alarms = [], self._alarms
        for stream, (evidence, since) in self._log_evidence().items() if self.names else ():
            shares = [look["shares"][stream] for look in self._looks]
            first = int(since[-1])
            before, after = _mean(shares[:first]), _mean(shares[first:])
            most = float(np.exp(min(evidence.max(), 700)))
            look = self.names[first - 1]
            shifts.append(Shift(stream, before, after, look, most, stream in alarms))
        return tuple(sorted(shifts, key=lambda shift: not shift.alarm))

    # A file -------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write looks and counts to a JSON file, from which `resume` goes on.

        Parameters
        ----------
        path : str or pathlib.Path
            A file that is there is replaced, all at once.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        counts = self._outputs[["passes", "looks"]].to_numpy().tolist()
        state = {"schema": SCHEMA, **self._fixed(), "looks": self._looks, "counts": counts}
        return write_state(path, state)

    def _fixed(self) -> dict[str, Any]:
        """What is fixed before the first look."""
        about = {"ci_prob": self.ci_prob, "planned": self.planned, "streams": list(self.streams)}
        return about | {"baseline_sha256": self._digest}

    def resume(self, path: str | Path) -> Self:
        """Take over the looks of a file that `save` wrote, and how many are planned.

        Parameters
        ----------
        path : str or pathlib.Path
            The file.

        Returns
        -------
        Watch
            This one.

        Raises
        ------
        InputError
            If the file is not a watch's, or is of another baseline or settings.
        """
        fixed = self._fixed()
        before, looks, counts = read_state(
            path,
            SCHEMA,
            lambda state: (
                {name: state[name] for name in fixed},
                [{name: look[name] for name in self._looks[0]} for look in state["looks"]],
                np.array(state["counts"], int).reshape(-1, 2),
            ),
        )
        if self.planned is None:
            fixed["planned"] = before["planned"]
        with checking(str(path)) as require:
            for name, value in fixed.items():
                same = before[name] == value
                words = "what was fixed before the first look cannot be changed; start a new file"
                require(same, f"has {name}={before[name]!r}, not {value!r}: {words}")
            require(len(counts) == len(self._outputs), "has other outputs than its baseline")
        self.planned, self._looks, self._of_looks = before["planned"], looks, (0, {})
        self._outputs[["passes", "looks"]] = counts
        return self

    def __str__(self) -> str:
        lines = [watch_in_words(self)]
        for row in self.shifts:
            words = shift_in_words(row, row.look, self.pass_name)
            lines.append(f"{words}; evidence {row.evidence:.3g}, alarm at {self.alarm_at:g}")
        return "\n".join([*lines, *self.corrected()])

    def corrected(self) -> list[str]:
        """How far a corrected share moves, if labels say how the baseline's judge errs."""
        rows = [row for row in self.shifts if row.quantity == "pass_rate"]
        if self.youden is None or not rows:
            return []
        moved = (rows[0].since - rows[0].before) / self.youden[0]
        words = "a published, corrected share moves by about"
        return [f"{words} {moved:+.3f} if the old calibration stays"]


def _mean(shares: Sequence[float | None]) -> float:
    """Of those that are known."""
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else float("nan")


def watch_in_words(watch: Watch) -> str:
    """Whether there was an alarm, and what changed since when."""
    if watch.alarm is None:
        return f"No drift seen in {how_many(len(watch.names), 'look')}"
    first = watch.shifts[0]
    words = shift_in_words(first, f"look {first.look}", watch.pass_name)
    return f"Drift of the judge, seen at look {watch.alarm}: {words}"


def shift_in_words(shift: Shift, look: str, pass_name: str) -> str:
    """A stream before and since a look; of flips the baseline has none."""
    words = change_in_words(shift.quantity, pass_name)
    if math.isnan(shift.before):
        return f"{words} {shift.since:.3f} since {look}"
    return f"{words} {shift.before:.3f} before {look}, {shift.since:.3f} since"


def _digest_of(outputs: pd.DataFrame) -> str:
    """SHA-256 of outputs, verdicts and labels, in any order of rows."""
    labels = outputs["truth"].astype(object).where(outputs["truth"].notna(), None)
    rows = zip(map(str, outputs.index), outputs["verdict"].tolist(), labels, strict=True)
    return digest_of(sorted(rows, key=lambda row: row[0]))


def normal_score(value: int, chances: np.ndarray, tie: float) -> float:
    """Normal score of a sum of independent Bernoulli variables; `tie` in [0, 1) splits its jump."""
    sure = int((chances == 1).sum())
    law = np.ones(1)
    for chance in chances[(chances > 0) & (chances < 1)]:
        law = np.convolve(law, (1 - chance, chance))
    value -= sure
    below = law[:value].sum() + tie * law[value]
    above = law[value + 1 :].sum() + (1 - tie) * law[value]
    return float(ndtri(below) if below < above else -ndtri(above))


def log_evidence(
    scores: np.ndarray, *, one_sided: bool = False, planned: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Log of the wealth after each look, and the look (from 1) since which scores differ most.

    If the judge changes at look :math:`k`, the score of look :math:`t \ge k` moves by
    :math:`\delta k / (t + 1)`, since later looks count among those it is held against. The wealth
    is that of :math:`\delta \sim N(0, 3^2)`, spread over :math:`k` by :math:`1 / (k (k + 1))`, or
    evenly over the looks planned; along the last axis of `scores`.
    """
    n = scores.shape[-1]
    looks = np.arange(1, n + 1)
    start = np.zeros((*scores.shape[:-1], 1))
    moved = np.concatenate([start, np.cumsum(scores / (looks + 1), axis=-1)], axis=-1)
    squares = np.concatenate([[0.0], np.cumsum((looks + 1.0) ** -2)])
    weights = 1 / (looks * (looks + 1.0)) if planned is None else (looks <= planned) / planned
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
        waiting = np.log(np.maximum(1 - np.cumsum(weights), 0))
    wealth, since = np.zeros(scores.shape), np.zeros(scores.shape, int)
    for t in range(1, n + 1):
        k = looks[:t]
        shift = k * (moved[..., [t]] - moved[..., :t])
        spread = 1 + SHIFT**2 * k**2 * (squares[t] - squares[:t])
        each = SHIFT**2 * shift**2 / (2 * spread) - np.log(spread) / 2
        if one_sided:
            each = each + np.log(2) + log_ndtr(SHIFT * shift / np.sqrt(spread))
        each = each + log_weights[:t]
        wealth[..., t - 1] = np.logaddexp(logsumexp(each, axis=-1), waiting[t - 1])
        since[..., t - 1] = each.argmax(axis=-1) + 1
    return wealth, since
