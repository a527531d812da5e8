"""Result classes of decisions: `Gate` with its `Check`s and what would decide them, `Need`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayesjudge.core.answer import chance
from bayesjudge.core.errors import checking
from bayesjudge.core.estimate import Assumption, Caution, in_words, label
from bayesjudge.core.methods import Method
from bayesjudge.core.planning import OUT_OF_REACH
from bayesjudge.core.screen import Printed
from bayesjudge.core.words import words_for

Outcome = Literal["pass", "fail", "unknown"]
#: What a shell sees; 2 stays bad input.
EXIT_CODES: dict[str, int] = {"pass": 0, "fail": 1, "unknown": 3}
#: Cautions of a result whose numbers mean nothing, and why: they decide nothing.
UNDECIDABLE = words_for("undecidable")


class Need(NamedTuple):
    """What would decide a check, if the estimate is right.

    Parameters
    ----------
    what : str
        ``"labels"``, ``"items"``, ``"labelled items"``, ``"repeats"`` or ``"data"``.
    now : float
        How many there are; of ``"data"``, 1.
    wanted : float
        How many it takes, all else being the same; infinite if no number is enough, and ``nan`` if
        the data do not say how many.
    chance : float, optional
        Chance of a decision with so many, computed as by `chance_to_pass`; of a rule of thumb, by
        which the threshold is 2.5 standard errors away, None: near 0 and 1 its chance is below 0.8.
    given_value : bool, default True
        Whether the chance is that of a true number equal to the estimate; else it is the posterior
        probability of a decision.
    """

    what: str
    now: float
    wanted: float
    chance: float | None = None
    given_value: bool = True

    def __str__(self) -> str:
        if not self.given_value:
            sure = f", with a chance of {100 * (self.chance or 0):.0f} %"
            return f"{self.what} ({self.now:,.0f} of {self.wanted:,.0f} have one){sure}"
        about = "roughly " if self.chance is None else ""
        there = f"(there are {self.now:,.0f})"
        if self.what != "data" and self.now * OUT_OF_REACH < self.wanted < math.inf:
            return f"no number of {self.what.split(',')[0]} within reach {there}"
        if math.isnan(self.wanted):
            return f"{self.what} {there}"
        if self.what == "data":
            return f"{about}{self.wanted:,.1f} times the data"
        if math.isinf(self.wanted):
            return f"no number of {self.what} alone {there}"
        sure = "" if self.chance is None else f", with a chance of {100 * self.chance:.0f} %"
        return f"{about}{self.wanted:,.0f} {self.what} {there}{sure}"


@dataclass(frozen=True)
class Check:
    """One number held against one threshold.

    Parameters
    ----------
    quantity : str
        Name.
    where : dict
        Coordinates by dimension.
    outcome : {"pass", "fail", "unknown"}
        Unknown unless either is sure enough.
    value, low, high : float
        The estimate, and limits each of which holds with `probability`.
    threshold : float
        What the number is held against.
    at_least : bool
        Whether it is to be `threshold` or more (else: or less).
    probability : float
        How sure a pass, or a fail, must be.
    chance : float
        Posterior probability that the threshold is met; ``nan`` of a result that has none.
    method : Method
        What made the number.
    needs : tuple of Need
        Of an unknown: what would decide.
    always_valid : bool, default False
        Whether the limits hold at every look, however often one looks.
    pass_name : str, default ""
        The label that was read as pass, if it is no word for it: what the share is one of.
    undecidable : tuple of str
        Names of the cautions under which the numbers mean nothing: the outcome is unknown whatever
        they are.
    clopper_pearson : bool, default False
        Whether the limits are those of one good item less and one more, as Clopper and Pearson's
        are: they hold with `probability` or more, and are wider than the posterior's.
    chance_limits : tuple of float, optional
        Of such limits, `chance` with one good item less and one more: a pass has the lower one at
        `probability` or above, a fail the upper one at ``1 - probability`` or below.
    labels : tuple of Assumption
        What is taken for granted of people's labels: that they are right, and how many wrong ones
        would undo the outcome.
    """

    quantity: str
    where: dict[str, Hashable]
    outcome: Outcome
    value: float
    low: float
    high: float
    threshold: float
    at_least: bool
    probability: float
    chance: float
    method: Method
    needs: tuple[Need, ...] = ()
    always_valid: bool = False
    pass_name: str = ""
    undecidable: tuple[str, ...] = ()
    clopper_pearson: bool = False
    chance_limits: tuple[float, float] | None = None
    labels: tuple[Assumption, ...] = ()

    @property
    def name(self) -> str:
        """The entry, for people to read."""
        return label(self.quantity, tuple(self.where.values()))

    def __str__(self) -> str:
        return self._in_words()

    def _in_words(self, before: Sequence[Check] = ()) -> str:
        """The decision, without what the checks `before` say of limits and of the probability."""
        if self.undecidable:
            return f"{self.sentence}: {'; '.join(UNDECIDABLE[id] for id in self.undecidable)}"
        said = [check for check in before if not check.undecidable]
        again = {limits for check in said for limits in check._limits()}
        text = ". ".join([self.sentence, *(x for x in self._limits() if x not in again)])
        if not math.isnan(self.chance):
            known = any(c.outcome == "unknown" and not math.isnan(c.chance) for c in said)
            text += f". It is {self._met()} with probability {self._surely(not known)}"
        return text + f". What would decide: {self.would_decide()}" * bool(self.needs)

    @property
    def sentence(self) -> str:
        """The outcome and the number with its limits, in a sentence."""
        start = f"{self.outcome.upper()}: {self._claim()}"
        if self.undecidable:
            return f"{start}, and no number decides ({', '.join(self.undecidable)})"
        what = "difference" if self.quantity == "difference" else "estimate"
        known, limits = f"{what} {self.value:.3f}", f"{self.low:.3f} to {self.high:.3f}"
        if math.isnan(self.low) and math.isnan(self.value):
            return f"{start}: {'there is no label yet' if self.always_valid else 'no estimate'}"
        if math.isnan(self.low):
            return f"{start}: {known}, without an interval"
        if math.isnan(self.value):
            return f"{start}: no estimate, but bounds, {limits}"
        return f"{start}: {known} ({limits})"

    def would_decide(self) -> str:
        """What would decide an unknown, and with which chance."""
        sure = [str(need) for need in self.needs if not need.given_value]
        given = ", or ".join(str(need) for need in self.needs if need.given_value)
        if any(need.given_value and need.chance is not None for need in self.needs):
            given = f"if the share is {self.value:.3f}, {given}"
        return "; ".join([*sure, *([given] if given else [])])

    def _surely(self, needed: bool) -> str:
        """The probability that decides: a pass takes the lower of two, a fail the upper."""
        low, high = map(chance, self.chance_limits or (self.chance, self.chance))
        if self.outcome != "unknown":
            return low if self.outcome == "pass" else high
        takes = f" (a pass takes {self.probability:g}, a fail {1 - self.probability:.3g})"
        return f"{low if low == high else f'{low} to {high}'}{takes * needed}"

    def _limits(self) -> list[str]:
        """What the limits are, if there are any."""
        if math.isnan(self.low):
            return []
        how = f"each with probability {self.probability:g}"
        how += " at every look" * self.always_valid
        how += " or more (Clopper-Pearson)" * self.clopper_pearson
        bounds = math.isnan(self.value)
        return [f"One-sided limits{', whatever items without a label are worth' * bounds}, {how}"]

    def _met(self) -> str:
        return f"at {'least' if self.at_least else 'most'} {self.threshold:g}"

    def _claim(self) -> str:
        """What was decided, in words: ``the share of good outputs of b is at least 0.9``."""
        names = list(map(str, self.where.values()))
        if self.quantity == "difference" and len(names) == 2 and self.at_least:
            return self._no_worse(*names)
        subject = (
            f"the {in_words(self.quantity, self.pass_name)}"
            + f" of {', '.join(names)}" * bool(names)
        )
        if self.outcome == "unknown":
            return f"it is open whether {subject} is {self._met()}"
        below = f"{'below' if self.at_least else 'above'} {self.threshold:g}"
        return f"{subject} is {self._met() if self.outcome == 'pass' else below}"

    def _no_worse(self, name: str, baseline: str) -> str:
        by = f" by more than {-self.threshold:g}" if self.threshold else ""
        if self.pass_name:
            fewer = f"fewer {self.pass_name!r} outputs than {baseline}{by}"
            has = {"pass": "has not", "fail": "has", "unknown": "has"}[self.outcome]
            open_ = "it is open whether " * (self.outcome == "unknown")
            return f"{open_}{name} {has} {fewer}"
        words = {
            "pass": f"{name} is not worse than {baseline}{by}",
            "fail": f"{name} is worse than {baseline}{by}",
            "unknown": f"it is open whether {name} is worse than {baseline}{by}",
        }
        return words[self.outcome]


@dataclass(frozen=True, repr=False)
class Gate(Printed):
    """Decisions on one or more numbers, and the one on all of them.

    Parameters
    ----------
    checks : tuple of Check
        At least one.
    cautions : tuple of Caution
        Those of the results that were gated.
    """

    checks: tuple[Check, ...]
    cautions: tuple[Caution, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Fail if any check fails, pass if all pass, else unknown."""
        return _overall([check.outcome for check in self.checks])

    def exit_code(self, unknown: Outcome = "unknown") -> int:
        """Give the exit code of a command.

        Parameters
        ----------
        unknown : {"unknown", "pass", "fail"}
            What an unknown counts as; numbers that mean nothing are never a pass.

        Returns
        -------
        int
            0 pass, 1 fail, 3 unknown.

        Raises
        ------
        InputError
            If `unknown` is something else.
        """
        with checking("exit_code") as require:
            require(unknown in EXIT_CODES, f"must be one of {list(EXIT_CODES)}", unknown=unknown)
        outcomes = [counted(check, unknown) for check in self.checks]
        return EXIT_CODES[_overall(outcomes)]

    def __and__(self, other: Gate) -> Gate:
        """Both gates: all of their checks have to pass."""
        cautions = tuple(dict.fromkeys((*self.cautions, *other.cautions)))
        return Gate((*self.checks, *other.checks), cautions)

    def __str__(self) -> str:
        texts = [check._in_words(self.checks[:i]) for i, check in enumerate(self.checks)]
        pairs = zip(texts, labels_of(self.checks), strict=True)
        lines = [line for pair in pairs for line in pair if line]
        if len(self.checks) > 1:
            lines = [finding(self), *lines]
        return "\n".join(lines)


def labels_of(checks: Sequence[Check]) -> list[str]:
    """What each check takes for granted of people's labels, but for what one before it says."""
    lines, said = list[str](), set[Assumption]()
    for check, name in zip(checks, names_of(checks)[1], strict=True):
        texts = [
            ("Taken for granted: " if each is check.labels[0] else f"{name}: " * (len(checks) > 1))
            + each.text
            for each in check.labels
            if each not in said
        ]
        said.update(check.labels)
        lines.append(f"{'; '.join(texts)}." if texts else "")
    return lines


def _overall(outcomes: Sequence[Outcome]) -> Outcome:
    kinds = set(outcomes)
    if "fail" in kinds:
        return "fail"
    return "pass" if kinds == {"pass"} else "unknown"


def counted(check: Check, unknown: Outcome) -> Outcome:
    """The outcome, with what an unknown counts as: numbers that mean nothing are never a pass."""
    if check.outcome != "unknown" or (check.undecidable and unknown == "pass"):
        return check.outcome
    return unknown


def names_of(checks: Sequence[Check]) -> tuple[str, list[str]]:
    """What all checks are about and the entry of each, for pages and pictures; else whole names."""
    about = [in_words(check.quantity, check.pass_name) for check in checks]
    entries = [", ".join(map(str, check.where.values())) for check in checks]
    if len(set(about)) == 1 and all(entries):
        return about[0], entries
    whole = zip(about, entries, strict=True)
    return "", [", ".join(filter(None, parts)) for parts in whole]


def finding(gate: Gate) -> str:
    """The outcome of all checks in one line, with the number if there is one."""
    if len(gate.checks) > 1:
        return f"{gate.outcome.upper()}: {_counted(gate.checks)}"
    return gate.checks[0].sentence


def _counted(checks: Sequence[Check]) -> str:
    outcomes = [check.outcome for check in checks]
    if len({*outcomes}) == 1:
        verb = "are open" if outcomes[0] == "unknown" else outcomes[0]
        return f"{'both' if len(checks) == 2 else f'all {len(checks)}'} checks {verb}"
    return ", ".join(f"{outcomes.count(o)} {o}" for o in EXIT_CODES if o in outcomes)


def decided(low: float, high: float, threshold: float, at_least: bool) -> Outcome:
    """Pass and fail by limits; ``nan`` decides nothing."""
    if low >= threshold if at_least else high <= threshold:
        return "pass"
    if high < threshold if at_least else low > threshold:
        return "fail"
    return "unknown"


def as_fields(check: Check) -> dict[str, Any]:
    """A check as JSON holds it."""
    fields: dict[str, Any] = {**vars(check), "method": check.method.title}
    fields["needs"] = [need._asdict() for need in check.needs]
    fields["labels"] = "; ".join(each.text for each in check.labels) or None
    return {name: value for name, value in fields.items() if value or name != "pass_name"}
