"""`Answer`: one sentence, the number to quote, what it rests on, and why that method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from bayesjudge.core.errors import InputError, checking, expect
from bayesjudge.core.estimate import (
    INTERVALS,
    Caution,
    Estimate,
    Interval,
    Row,
    Target,
    pass_name_in,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.label_design import LabelDesign
from bayesjudge.core.methods import Method
from bayesjudge.core.names import short_names
from bayesjudge.core.screen import how_many
from bayesjudge.core.version import __version__
from bayesjudge.core.words import words_for
from bayesjudge.core.worth import Worth

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: An interval as wide as this part of the range that is possible says next to nothing.
SAYS_LITTLE = 0.8
#: Most names that one sentence lists.
MOST_NAMED = 3
#: Most names between the first and the last.
MOST_BETWEEN = 2
#: Probability from which a claim is made, and from which it is made with "probably". Of simulated
#: pairs of systems .993 and .894 of such claims are right, and .977 and .836 if systems differ by
#: less than labels tell (``benchmarks/prevalence/claims.py``).
SURE, PROBABLE = 0.975, 0.9
#: How strong a claim is.
Strength = Literal["sure", "probable", "open"]
#: How labels were chosen, after "of them labelled".
CHOSEN = words_for("label_designs")
#: Whose class of a column it is, if rows of an item differ in it (`verdicts.selection`).
OF = {
    "": "",
    "row": " (each row's own: rows of an item differ in it)",
    "item": " (each item's mean: rows of an item differ in it, and are labelled together)",
}
#: Kinds of interval that hold a posterior probability.
CREDIBLE = {*INTERVALS.values(), "equal-tailed, at the quantiles asked for"}


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What results say, in the order in which a reader asks.

    Parameters
    ----------
    text : str
        The answer in a sentence of at most 25 words: a share or a comparison with its interval; or
        that the data cannot tell, and what would.
    basis : str
        What it rests on: items, labels, how they were chosen.
    why : str
        Why this method is quoted.
    quoted : Estimate
        The numbers to quote, of one method.
    judge : Estimate, optional
        The judge's own numbers, uncorrected.
    notes : tuple of str
        Further sentences.
    known : bool
        False if the data cannot answer.
    worth : mapping of str to Worth
        How many more random labels the judge is worth, by system (``""`` of one); empty where
        labels do not tell it. The notes say it in words.
    lead : Claim, optional
        Of two systems which is ahead, `by` how much, if that is what the sentence says.
    """

    text: str
    basis: str
    why: str
    quoted: Estimate
    judge: Estimate | None = None
    notes: tuple[str, ...] = ()
    known: bool = True
    worth: Mapping[str, Worth] = field(default_factory=dict)
    lead: Claim | None = None

    @property
    def method(self) -> Method:
        """The method whose numbers are quoted."""
        return self.quoted.method

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions of the numbers that are quoted."""
        return self.quoted.cautions

    @property
    def value(self) -> Any:
        """The number that the sentence says, or those of the systems, judges or classes by name.

        Of two systems of which it says the difference: that, of the better one less the other.
        """
        return self._each(lambda row: row.value)

    @property
    def interval(self) -> Any:
        """The lower and upper end of `value`, or of each number in it."""
        return self._each(lambda row: (row.low, row.high))

    @property
    def table(self) -> pd.DataFrame:
        """The quoted numbers: `to_frame`."""
        return self.to_frame()

    def to_frame(self) -> pd.DataFrame:
        """Give the quoted numbers as a table.

        Returns
        -------
        pandas.DataFrame
            One row per number: ``quantity``, a column for each of its coordinates, ``value``,
            ``low``, ``high``, and ``judge``, the judge's own number, if there is one.
        """
        import pandas as pd

        of_judge = {} if self.judge is None else entries(self.judge)
        rows = []
        for quantity, where, row in self.quoted.rows():
            beside = of_judge.get((quantity, *where.values()))
            judge = {} if beside is None else {"judge": beside.value}
            rows.append({"quantity": quantity, **where, **row._asdict(), **judge})
        return pd.DataFrame(rows)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the quoted numbers with their intervals: `plot_answer`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.
        """
        axes: Axes = import_module("bayesjudge.core.plots").plot_answer(self, ax=ax)
        return axes

    def _each(self, part: Callable[[Row], Any]) -> Any:
        if self.lead is not None:
            return part(self.lead.by)
        first = self.quoted.only(next(iter(self.quoted.quantities)))
        rows = {", ".join(map(str, where.values())): part(row) for _, where, row in first.rows()}
        return rows[""] if [*rows] == [""] else rows

    def __str__(self) -> str:
        return "\n".join(line for line in (self.text, self.basis, *self.notes, self.why) if line)

    def __repr__(self) -> str:
        return f"Answer: {self}"

    def _repr_html_(self) -> str:
        rest = "<br>".join(escape(line) for line in (self.basis, *self.notes, self.why) if line)
        return f"<p><strong>{escape(self.text)}</strong><br>{rest}</p>"

    def paragraph(self) -> str:
        """Write a paragraph for a paper or a model card.

        Returns
        -------
        str
            The numbers, with the kind of their interval, the method, its source and assumptions.
        """
        quoted = self.quoted
        kinds = dict.fromkeys(interval_words(quoted, quantity) for quantity in quoted.quantities)
        assumed = "; ".join(a.text for a in quoted.assumptions)
        against = list(dict.fromkeys(n for a in quoted.assumptions for n in a.contradicted_by))
        of = "" if self.lead is None else " of each system"  # the sentence says their difference
        sentences = [
            self.text,
            self.basis,
            f"Intervals{of} are {' and '.join(k for k in kinds if k)}." if any(kinds) else "",
            f"Method{of}: {quoted.method} ({quoted.source}), "
            f"computed with bayesjudge {__version__}.",
            f"It assumes that {assumed}." if assumed else "",
            f"The data contradict this: {', '.join(against)}." if against else "",
        ]
        return " ".join(sentence for sentence in sentences if sentence)

    def as_dict(self) -> dict[str, Any]:
        """Give the fields as plain values.

        Returns
        -------
        dict
            ``text``, ``known``, ``basis``, ``why``, ``notes``, ``method``, ``paragraph``;
            ``pass_name``, the label that was read as pass, if it is no word for it; ``worth``, that
            of the judge in labels by system, if it is known; and ``estimates``: ``quantity``,
            ``where``, ``value``, ``low``, ``high``, ``known`` (false of bounds without a value),
            and ``judge``, the judge's own number, or ``None``.
        """
        of_judge = {} if self.judge is None else entries(self.judge)
        beside = {key: row.value for key, row in of_judge.items()}
        name = pass_name_in([self.quoted])
        worth = [{"where": name, **w.as_dict()} for name, w in self.worth.items() if w.known]
        return {
            "text": self.text,
            "known": self.known,
            "basis": self.basis,
            "why": self.why,
            "notes": list(self.notes),
            "method": self.method.title,
            "paragraph": self.paragraph(),
            **({"pass_name": name} if name else {}),
            **({"worth": worth} if worth else {}),
            "estimates": [
                {
                    "quantity": quantity,
                    "where": where,
                    **row._asdict(),
                    "known": not math.isnan(row.value),
                    "judge": beside.get((quantity, *where.values())),
                }
                for quantity, where, row in self.quoted.rows()
            ],
        }


def interval_words(estimate: Estimate, quantity: str) -> str:
    """A quantity's interval as a methods section names it."""
    kind, level = estimate.interval_of(quantity), f"{percent_of(estimate.ci_prob)}"
    if kind in ("", "none", "none needed"):
        return ""
    if "prediction" in kind or "predictive" in kind:
        return f"{level} prediction intervals ({kind})"
    if kind in CREDIBLE:
        bounded = kind == INTERVALS["eti_bounded"]
        about = "equal-tailed, an end moved to 0 or 1 if the data do not exclude it"
        return f"{level} credible intervals ({about if bounded else kind})"
    return f"{level} confidence intervals ({kind})"


def as_estimates(
    results: Sequence[Estimate | Fit],
    ci_prob: float,
    interval: Interval | None = None,
    target: Target | None = None,
) -> list[Estimate]:
    """Summarise fits; at least one result, all at one level."""
    asked: dict[str, Any] = {"ci_prob": ci_prob, "interval": interval, "target": target}
    estimates = [r.estimate(**asked) if isinstance(r, Fit) else r for r in results]
    with checking("results") as require:
        require(bool(estimates), "no-results")
        for estimate in estimates:
            require(
                estimate.ci_prob == ci_prob,
                f"{estimate.method} has {100 * estimate.ci_prob:g} % intervals, expected "
                f"{100 * ci_prob:g} %; make it with ci_prob={ci_prob}",
            )
    return estimates


def answer_of(
    results: Sequence[Estimate | Fit], *, ci_prob: float, interval: Interval | None
) -> Answer | None:
    """The answer of the module whose data the results were computed from, if it has one."""
    data = next((result.data for result in results if result.data is not None), None)
    package = type(data).__module__.rpartition(".")[0]
    tell = getattr(import_module(package), "answer", None) if package else None
    if not callable(tell):
        return None
    try:
        return cast("Answer", tell(*results, ci_prob=ci_prob, interval=interval))
    except InputError:  # the results lack the quantity that answers
        return None


def entries(estimate: Estimate) -> dict[tuple[Any, ...], Row]:
    """Rows by quantity and coordinates."""
    return {(quantity, *where.values()): row for quantity, where, row in estimate.rows()}


def preferred(pool: Sequence[Estimate], quantity: str, rank: Callable[[Estimate], Any]) -> Estimate:
    """The estimate to quote: of those that suit the design and answer, the first by `rank`."""
    having = [estimate for estimate in pool if quantity in estimate]
    names = [estimate.method.title for estimate in pool]
    problem = f"none of {names} has the quantity {quantity!r}; add one that has"
    expect("answer", bool(having), problem)

    def order(estimate: Estimate) -> tuple[bool, bool, Any]:
        unsuited = any(c.id == "design-mismatch" for c in estimate.cautions)
        numbers = estimate.quantities[quantity]
        empty = bool((np.isnan(numbers.value) & np.isnan(numbers.low)).all())
        return unsuited, empty, rank(estimate)

    return min(having, key=order)


def rows_of(estimates: Iterable[Estimate], quantity: str) -> dict[tuple[Any, ...], Row]:
    """Rows of a quantity by their coordinates: of the first estimate that has it, if one has."""
    first = next((estimate for estimate in estimates if quantity in estimate), None)
    rows = () if first is None else first.only(quantity).rows()
    return {tuple(at.values()): row for _, at, row in rows}


class Quoted(NamedTuple):
    """What an answer is made of: the estimate to quote, and the judge's own beside it."""

    #: With all that it says, and of the quantity that answers.
    whole: Estimate
    shares: Estimate
    judge: Estimate | None
    #: Of the quantity that answers, by the names of systems, say.
    rows: dict[str, Row]
    judge_rows: dict[str, Row]
    #: Whether it is the judge's own number, which no label corrects.
    uncorrected: bool
    #: Whether no row says more than next to nothing.
    unknown: bool

    @property
    def silent(self) -> bool:
        """Whether it is unknown, and there are no bounds either."""
        return self.unknown and not any(map(is_bounded, self.rows.values()))


def quote(
    estimates: Sequence[Estimate],
    quantity: str,
    judge: Method,
    *,
    judge_of: Callable[[], Estimate | None] = lambda: None,
    rank: Callable[[Estimate], Any] = lambda estimate: estimate.method.rank,
    named: Callable[[dict[str, Any]], str] = lambda at: ", ".join(map(str, at.values())),
    span: float = 1.0,
) -> Quoted:
    """The estimate to quote, the first by `rank`, with the `judge`'s own, which may be computed."""
    whole = preferred(estimates, quantity, rank)
    beside = next((e for e in estimates if e.method == judge), None) or judge_of()
    shares, beside = whole.only(quantity), beside and beside.only(quantity)
    rows, of_judge = (
        {} if estimate is None else {named(at): row for _, at, row in estimate.rows()}
        for estimate in (shares, beside)
    )
    uncorrected = whole.method == judge
    unknown = uncorrected or all(says_little(row, span) for row in rows.values())
    return Quoted(whole, shares, beside, rows, of_judge, uncorrected, unknown)


def follow_selection(declared: Answer, selection: Any, valid: Answer) -> Answer:
    """What labels tell that go with a column, first; then why, and the number as was declared.

    `selection` is how they came (`verdicts.selection`), and `valid` the answer that heeds it.
    """
    column = selection.caution.numbers.get("column")
    within = f"at random within classes of {column!r}" if selection.untold else "by verdict"
    reason = f"Labels are taken as chosen {within}{OF[selection.of]}, since "
    reason += f"{selection.caution.text}."
    name, untold = max(selection.untold.items(), key=lambda part: part[1], default=("", 0.0))
    if untold:
        rows = f"the rows{f' of {name}' if name else ''}"
        reason += f" Labels say nothing of {untold:.0%} of {rows}, which may all be good or bad."
    cautions = tuple(dict.fromkeys((selection.caution, *valid.cautions)))
    return replace(
        valid,
        quoted=replace(valid.quoted, cautions=cautions),
        notes=(reason, f"If they came as declared: {declared.text}", *valid.notes),
        basis=declared.basis,
        judge=declared.judge,
    )


def data_of[T](estimates: Sequence[Estimate], kind: type[T]) -> T | None:
    """The data that estimates were computed from, if they are of this kind."""
    return next((estimate.data for estimate in estimates if isinstance(estimate.data, kind)), None)


def mirrored(row: Row) -> Row:
    """A difference the other way round."""
    return Row(-row.value, -row.high, -row.low)


def is_bounded(row: Row) -> bool:
    """Whether data give bounds and no value."""
    return math.isnan(row.value) and not math.isnan(row.low)


def says_little(row: Row, span: float = 1.0) -> bool:
    """Whether there is no number, or one whose interval leaves nearly everything open."""
    return math.isnan(row.value) or row.high - row.low >= SAYS_LITTLE * span


def percent_of(share: float, digits: int = 0) -> str:
    """``95 %``; more digits if it has them."""
    if not digits and not round(share * 100, 6).is_integer() and share > 0.9:
        digits = 1
    return f"{share * 100:.{digits}f} %"


def percents(row: Row, ci_prob: float | None = None, of: str = "") -> str:
    """``39 % (31 to 47 %, 95 % interval)``; the level is told if it is given, and `of` what it is.

    Bounds without a value are ``between 13 and 90 %``.
    """
    width, digits, shown = row.high - row.low, _digits(row), first_percent(row)
    if is_bounded(row):
        level = f" ({percent_of(ci_prob)} interval)" if ci_prob else ""
        return f"between {_half_up(row.low, digits)} and {shown} %{of}{level}"
    if math.isnan(row.value):
        return f"an unknown share{of}"
    value = f"{shown} %{of}"
    if math.isnan(width):
        return f"{value} (no interval)"
    if width == 0:
        return f"exactly {value}"
    ends = f"{_half_up(row.low, digits)} to {_half_up(row.high, digits)} %"
    return f"{value} ({ends}{_level(ci_prob)})"


def _digits(row: Row) -> int:
    """One for a narrow interval."""
    width = row.high - row.low
    return 0 if math.isnan(width) or width >= 0.02 or width == 0 else 1


def first_percent(row: Row) -> str:
    """The number that `percents` shows first: the value, or the upper of two bounds."""
    if is_bounded(row):
        return _half_up(row.high, _digits(row))
    if row.high == row.low:
        return f"{row.value * 100:.1f}"
    return _half_up(row.value, _digits(row)) if not math.isnan(row.value) else ""


def _half_up(share: float, digits: int) -> str:
    """In percent; 2 of 80 are 3 %, where Python rounds a half to the even 2."""
    scale = 10**digits
    tenth = round(100 * share * scale, 6)  # 57.49999999 is 57.5
    whole = math.floor(tenth + 0.5) if math.isfinite(tenth) else tenth
    return f"{whole / scale:.{digits}f}"


def points(row: Row, ci_prob: float | None = None, of: str = "") -> str:
    """A difference of shares: ``13 points (5 to 20, 95 % interval)``."""
    width = row.high - row.low
    digits = 0 if math.isnan(width) or width >= 0.02 else 1
    shown = _fixed(100 * row.value, digits)
    value = f"{shown} point{'' if shown == '1' else 's'}{of}"
    if math.isnan(width):
        return value
    low, high = (_end(100 * end, digits) for end in (row.low, row.high))
    return f"{value} ({low} to {high}{_level(ci_prob)})"


def _end(value: float, digits: int) -> str:
    """An end of an interval, on the side of 0 on which it lies: ``-0.04``, ``just below 0``."""
    if value == 0 or round(value, digits):
        return _fixed(value, digits)
    more = next((d for d in range(digits + 1, digits + 3) if round(value, d)), None)
    side = "below" if value < 0 else "above"
    return f"just {side} 0" if more is None else _fixed(value, more)


def claim(
    probability: float, verb: str = "is", infinitive: str = "be", *, excluded: bool = True
) -> str:
    """``is``, ``is probably`` or ``may or may not be``; ``probably errs``, of another verb.

    A claim without "probably" needs an interval that has 0 `excluded`, beside its probability.
    """
    probably = f"{verb} probably" if verb == "is" else f"probably {verb}"
    strengths: dict[Strength, str] = {
        "sure": verb, "probable": probably, "open": f"may or may not {infinitive}"
    }  # fmt: skip
    return strengths[strength_of(probability, excluded)]


def strength_of(probability: float, excluded: bool = True) -> Strength:
    """How strong a claim of some probability is; a sure one needs an interval without 0, too."""
    if probability >= SURE and excluded:
        return "sure"
    return "probable" if probability >= PROBABLE else "open"


class Claim(NamedTuple):
    """Which of two is ahead by how much, with its probability, if known; and how sure that is."""

    ahead: str
    behind: str
    by: Row
    probability: float | None
    likely: float

    @classmethod
    def of(cls, difference: Mapping[str, Any]) -> Claim:
        """The claim of a row of differences."""
        row = Row(difference["value"], difference["low"], difference["high"])
        ahead, behind, probability = (
            difference["first"],
            difference["second"],
            difference.get("probability"),
        )
        probability = None if probability is None or math.isnan(probability) else probability
        if row.value < 0:
            row = mirrored(row)
            ahead, behind = behind, ahead
            probability = None if probability is None else 1 - probability
        likely = float(row.low > 0) if probability is None else probability
        return cls(ahead, behind, row, probability, likely)

    @property
    def strength(self) -> Strength:
        """How strong it is."""
        return strength_of(self.likely, self.by.low > 0)

    def differs(self, other: Claim) -> bool:
        """Whether another one of the same two says something else."""
        return self.strength != other.strength or (
            self.strength != "open" and self.ahead != other.ahead
        )


def difference_words(
    difference: Mapping[str, Any],
    ci_prob: float | None = None,
    in_numbers: Callable[[Row, float | None], str] = points,
    name: str = "",
) -> str:
    """``gpt4 is better than llama: 13 points (5 to 20)``, with its probability if known.

    If a pass has another `name`, the first has more outputs of that name.
    """
    pair = Claim.of(difference)
    is_, be, better = ("has", "have", f"more '{name}' outputs") if name else ("is", "be", "better")
    verb = claim(pair.likely, is_, be, excluded=pair.by.low > 0)
    text = f"{pair.ahead} {verb} {better} than {pair.behind}: {in_numbers(pair.by, ci_prob)}"
    if pair.probability is not None:
        text += f", {'more' if name else 'better'} with probability {chance(pair.likely)}"
    return text


def disagreements(
    differences: Sequence[Mapping[str, Any]],
    in_words: Callable[[Mapping[str, Any]], str] = difference_words,
) -> tuple[str, ...]:
    """Differences of which a further method claims something else than the first one does."""
    first: dict[frozenset[str], Claim] = {}
    against = []
    for row in differences:
        claimed = Claim.of(row)
        if first.setdefault(frozenset((row["first"], row["second"])), claimed).differs(claimed):
            against.append(f"{row['method']} disagrees: {in_words(row)}.")
    left = len(against) - MOST_NAMED
    return (*against[:MOST_NAMED], *([f"{left} more disagree: --details."] if left > 0 else []))


def chance(probability: float) -> str:
    """``0.907``; a probability that draws leave no doubt of is not told as 0 or 1."""
    if probability < 0.0005:
        return "<.001"
    return ">.999" if probability > 0.9995 else f"{probability:.3f}"


def numbers(row: Row, ci_prob: float | None = None, of: str = "") -> str:
    """``3.36 (3.10 to 3.60, 95 % interval)``, with as many digits as the interval is worth."""
    width = row.high - row.low
    size = width if width > 0 else abs(row.value) or 1.0
    digits = 2 if not math.isfinite(size) else max(0, min(4, 1 - math.floor(math.log10(size))))
    if is_bounded(row):
        level = f" ({percent_of(ci_prob)} interval)" if ci_prob else ""
        return f"between {_end(row.low, digits)} and {_end(row.high, digits)}{of}{level}"
    value = f"{_fixed(row.value, digits)}{of}"
    if not math.isfinite(width):
        return value
    return f"{value} ({_end(row.low, digits)} to {_end(row.high, digits)}{_level(ci_prob)})"


def _fixed(value: float, digits: int) -> str:
    """With so many decimals; no minus in front of a zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def _level(ci_prob: float | None) -> str:
    return "" if ci_prob is None else f", {percent_of(ci_prob)} interval"


def listed(parts: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def owned(name: str) -> str:
    """``gpt's``; in quotes, without an s, if the name has spaces."""
    return f"'{name}'" if " " in name else f"{name}'s"


def would_pass(what: str, name: str = "") -> str:
    """``People would pass 39 % of these outputs``; or call them what was read as pass."""
    return f"People would call {what} '{name}'" if name else f"People would pass {what}"


def share_words(row: Row, whose: str, ci_prob: float | None, name: str = "") -> str:
    """``People would pass 39 % of outputs like these (31 to 47 %, 95 % interval)``."""
    of = f" of {whose}" + f" '{name}'" * bool(name)
    return f"People would {'call' if name else 'pass'} {percents(row, ci_prob, of)}"


def shares_of_two(
    rows: Mapping[str, Row], ci_prob: float | None, whose: str = "outputs"
) -> tuple[str, tuple[str, ...]]:
    """``86 % of a's outputs (79 to 92 %, 95 % interval) and 22 % of b's (15 to 29 %)``.

    The best and the worst of several; and a sentence of those between.
    """
    names, between = few_of(rows)
    of = [f" of {owned(short)}" for short in map(short_names(rows).__getitem__, names)]
    first = percents(rows[names[0]], ci_prob, f"{of[0]} {whose}")
    return listed([first, *(percents(rows[names[1]], None, end) for end in of[1:])]), between


def judges_share(of_judge: Mapping[str, Row], name: str = "") -> str:
    """``; the judge passes 59 %``, if it is known."""
    share = next(iter(of_judge.values()), None)
    return "" if share is None else f"; {judge_passes(f'{100 * share.value:.0f} %', name)}"


def how_chosen(design: LabelDesign, words: Mapping[str, str] | None = None) -> str:
    """How labels were chosen, after "of them labelled"."""
    return {**CHOSEN, **(words or {})}.get(design.name, design.meaning)


def labelled_words(labelled: int, rest: int, design: LabelDesign) -> str:
    """``450 items, 100 of them labelled (at random)``; labels of other items are told apart."""
    chosen = how_chosen(design)
    if design.same_items:
        return f"{how_many(labelled + rest, 'item')}, {labelled:,} of them labelled ({chosen})"
    return f"{how_many(rest, 'item')} without a label, and {labelled:,} labelled ones ({chosen})"


def judge_passes(shares: str, name: str = "") -> str:
    """``the judge passes 59 %``, after `would_pass`."""
    return f"the judge calls {shares} so" if name else f"the judge passes {shares}"


def few_of(rows: Mapping[str, Row]) -> tuple[list[str], tuple[str, ...]]:
    """The best and the worst, and a sentence of those between them."""
    names = sorted(rows, key=lambda name: -np.nan_to_num(rows[name].value, nan=-1))
    if len(names) <= 2:
        return names, ()
    first, *others, last = names
    short = short_names(rows)
    if any(math.isnan(rows[name].value) for name in names):
        return [first, last], ()
    few = len(others) <= MOST_BETWEEN
    between = listed([short[other] for other in others]) if few else f"{len(others)} others"
    verb = "lies" if len(others) == 1 else "lie"
    return [first, last], (f"{between} {verb} between {short[first]} and {short[last]}.",)
