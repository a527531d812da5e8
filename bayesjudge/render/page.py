"""`Page`: what a command found, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayesjudge.core.answer import Answer, answer_of, as_estimates, entries
from bayesjudge.core.estimate import (
    COUNTS,
    TARGETS,
    Caution,
    Estimate,
    Interval,
    Target,
    pass_name_in,
)
from bayesjudge.core.fit import Fit
from bayesjudge.core.screen import few
from bayesjudge.core.side_by_side import NUMBERS, Record, in_order, records, union_of_cautions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Most rows of all methods before the other numbers; of more, the quoted ones only.
MOST_FIRST = 16
#: Most systems, strata or periods that a caution names after the first one.
MOST_PLACES = 8


class Line(NamedTuple):
    """One line of a table, as text."""

    cells: Sequence[str]
    #: Whether it is of an entry that the answer quotes, and whether it is quoted itself.
    answers: bool = True
    quoted: bool = False


@dataclass(frozen=True)
class Table:
    """Numbers as text, with names of the columns that hold numbers."""

    columns: Sequence[str] = ()
    lines: Sequence[Line] = ()
    numbers: Sequence[str] = NUMBERS


class Shell(str):
    """A line of a section that can be pasted into a shell."""

    __slots__ = ()
    shell = True


class Section(NamedTuple):
    """Something that a command says beside its numbers, such as a certificate."""

    heading: str
    lines: Sequence[str]
    key: str = ""
    fields: Any = None
    #: Shown with ``--details`` only; of a section that is always shown, its further lines.
    detail: bool = True
    further: Sequence[str] = ()


class Case(NamedTuple):
    """Something that is decided, as a test has it."""

    name: str
    outcome: Literal["pass", "fail", "unknown", "error"]
    text: str


Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """What was found: each writer takes from it what its format has.

    Parameters
    ----------
    title : str
        What the page is called.
    sentence : str
        The finding.
    notes : sequence of str
        Further sentences.
    about : str
        What the finding rests on.
    command : str
        Name of the command, and `line`, the whole line that was typed.
    inputs : mapping
        What was read.
    numbers, others : Table
        The numbers that answer, and further ones; `below` is said under the first.
    cautions : sequence of Caution
        All of them.
    sections : sequence of Section
        What is said beside the numbers.
    paragraph : str
        For a paper or a model card.
    assumptions, targets, settings, sources : sequence of (str, str)
        By method.
    cases : sequence of Case
        What was decided.
    fields : callable
        What a machine reads beside the inputs, sections and cautions; and by method, `methods`.
    pass_name : str
        The label that was read as pass, if it is no word for it.
    said : sequence of str
        What a screen says line by line, if that is not its estimates.
    pictures : callable
        Draws the pictures, axes or figures by caption.
    answer, estimates, fits : optional
        The answer, the estimates and the fits among them, if the page is of some: a screen lays
        their table out to its width.
    """

    title: str
    sentence: str = ""
    notes: Sequence[str] = ()
    about: str = ""
    command: str = ""
    line: str = ""
    inputs: Mapping[str, Any] = field(default_factory=dict)
    numbers: Table = Table()
    below: str = ""
    others: Table = Table()
    cautions: Sequence[Caution] = ()
    sections: Sequence[Section] = ()
    paragraph: str = ""
    assumptions: Pairs = ()
    targets: Pairs = ()
    settings: Pairs = ()
    sources: Pairs = ()
    cases: Sequence[Case] = ()
    fields: Callable[[], Mapping[str, Any]] = dict
    methods: Callable[[], Mapping[str, Any]] = dict
    pass_name: str = ""
    said: Sequence[str] = ()
    pictures: Callable[[], Mapping[str, Axes | Figure]] = dict
    answer: Answer | None = None
    estimates: Sequence[Estimate] = ()
    fits: Sequence[Fit] = ()

    @property
    def read(self) -> list[tuple[str, str]]:
        """What was read, for people."""
        given = {name: value for name, value in self.inputs.items() if value not in (None, {})}
        return [(name.replace("_", " "), _shown(value)) for name, value in given.items()]

    @property
    def quoting(self) -> Answer:
        """The answer, of a page that has one."""
        assert self.answer is not None
        return self.answer

    @property
    def first_cautions(self) -> Sequence[Caution]:
        """Those of the quoted numbers; of a page without an answer all of them."""
        return self.cautions if self.answer is None else self.answer.cautions

    @property
    def records(self) -> list[Record]:
        """All numbers of its estimates."""
        return records(*self.estimates, ci_prob=self.estimates[0].ci_prob)


def _shown(value: Any) -> str:
    """What was read, as a line: several values, and those of several places, one after another."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_shown(inner)}" for name, inner in value.items())
    if isinstance(value, tuple):
        return ", ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in value)
    return str(value)


def page_of(
    results: Sequence[Estimate | Fit],
    *,
    ci_prob: float = 0.95,
    interval: Interval | None = None,
    target: Target | None = None,
    digits: int = 3,
    answer: Answer | None = None,
    truth: Mapping[tuple[Any, ...], float] | None = None,
    **about: Any,
) -> Page:
    """The page of estimates and fits; `about` are further fields of it."""
    estimates = as_estimates(results, ci_prob, interval, target)
    fits = [result for result in results if isinstance(result, Fit)]
    answer = answer or answer_of(estimates, ci_prob=ci_prob, interval=interval)
    recorded = shown = records(*estimates, ci_prob=ci_prob)
    entered = entries(answer.quoted) if answer else {}
    by = {record.method for record in recorded if record.entry in entered}
    if answer and answer.method not in by:
        shown = [*records(answer.quoted, ci_prob=ci_prob), *recorded]  # computed from the results
        if by:  # and valid where these are not
            estimates, recorded = [answer.quoted, *estimates], shown
    named = [(estimate.method.title, estimate) for estimate in estimates]
    columns, lines = _lines(shown, digits, answer)
    first = [line for line in lines if line.answers] if answer else lines
    if answer and len(first) > MOST_FIRST:
        first = [line for line in first if line.quoted]
    kept = set(map(id, first))
    others = [line for line in lines if id(line) not in kept] if first else []
    if answer is not None:
        about |= {"sentence": answer.text, "notes": answer.notes}
        about |= {"about": f"{answer.basis} {answer.why}", "paragraph": answer.paragraph()}

    def fields() -> dict[str, Any]:
        known = {} if answer is None else answer.as_dict()
        numbers = [as_plain(record, truth) for record in recorded]
        return {"ci_prob": ci_prob, "answer": known, "estimates": numbers}

    def methods() -> dict[str, Any]:
        return {
            "assumptions": {name: [a._asdict() for a in e.assumptions] for name, e in named},
            "targets": {name: e.target for name, e in named},
            "sources": {name: e.source for name, e in named},
            "sampling": {fit.method.title: sampling_of(fit) for fit in fits},
        }

    return Page(
        numbers=Table(columns, first or lines),
        below=f"{100 * ci_prob:g} % intervals.",
        others=Table(columns, others),
        cautions=union_of_cautions(answer, estimates),
        # pairs, not mappings: two fits of one method may differ in their priors
        assumptions=_distinct((name, "; ".join(map(str, e.assumptions))) for name, e in named),
        targets=_distinct((name, f"about {TARGETS[e.target]}") for name, e in named),
        settings=[(fit.method.title, _settings(fit)) for fit in fits],
        sources=_distinct((name, e.source) for name, e in named),
        fields=fields,
        methods=methods,
        pass_name=pass_name_in(estimates),
        answer=answer,
        estimates=estimates,
        fits=fits,
        **about,
    )


def sampling_of(fit: Fit) -> dict[str, Any]:
    """Tell how a fit was sampled, and how well."""
    sizes, checks = fit.idata["posterior"].sizes, fit.diagnostics()
    return {
        "chains": int(sizes["chain"]),
        "draws": int(sizes["draw"]),
        "converged": fit.converged,
        "max_r_hat": float(checks["r_hat"].max()),
        "min_ess": float(checks[["ess_bulk", "ess_tail"]].min().min()),
        **{str(k): v for k, v in fit.idata.attrs.items()},
    }


def as_plain(record: Record, truth: Mapping[Any, float] | None = None) -> dict[str, Any]:
    """A number as a machine reads it, with the truth where it is known."""
    return {
        "quantity": record.quantity,
        "where": record.where,
        "method": record.method.title,
        **dict(zip(NUMBERS, record.numbers, strict=True)),
        "interval": record.interval,
        **({"truth": truth.get(record.entry)} if truth else {}),
    }


def once(cautions: Iterable[Caution]) -> list[tuple[str, str]]:
    """Ids and sentences, each once: after the first of a kind, the other places it is about."""
    kinds: dict[tuple[str, ...], list[Caution]] = {}
    for caution in cautions:
        kinds.setdefault((caution.id, *sorted(caution.numbers)), []).append(caution)
    pairs = []
    for first, *more in kinds.values():
        places = dict.fromkeys(name for caution in more for name in caution.where)
        if more and first.where and all(caution.where for caution in more):
            pairs.append((first.id, f"{first.text}. The same of {few([*places], MOST_PLACES)}."))
        else:
            pairs += [(caution.id, caution.text) for caution in (first, *more)]
    return pairs


def _distinct(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first of equal pairs, and none without a text."""
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


def _lines(
    recorded: Sequence[Record], digits: int, answer: Answer | None
) -> tuple[list[str], list[Line]]:
    """Head and lines of the table, as text."""
    dims = list(dict.fromkeys(d for record in recorded for d in record.where))
    entered = set() if answer is None else set(entries(answer.quoted))
    lines = []
    for record in recorded:
        decimals = 0 if record.quantity in COUNTS else digits
        cells = [
            record.quantity,
            *(str(record.where.get(d, "")) for d in dims),
            record.method.title,
            *("–" if np.isnan(x) else f"{x:.{decimals}f}" for x in record.numbers),
            record.interval,
        ]
        answers = record.entry in entered
        quoted = answers and answer is not None and record.method == answer.method
        lines.append(Line(cells, answers, quoted))
    # the quoted line of an entry before the others
    first = (
        [] if answer is None else in_order(records(answer.quoted, ci_prob=answer.quoted.ci_prob))
    )
    place = {e: i for i, e in enumerate(dict.fromkeys(r.entry for r in [*first, *recorded]))}
    order = sorted(range(len(lines)), key=lambda i: (place[recorded[i].entry], not lines[i].quoted))
    return ["quantity", *dims, "method", *NUMBERS, "interval"], [lines[i] for i in order]


def _settings(fit: Fit) -> str:
    sizes = fit.idata["posterior"].sizes
    attrs = fit.idata.attrs
    versions = ", ".join(
        f"{str(name).removesuffix('_version')} {value}"
        for name, value in attrs.items()
        if str(name).endswith("_version")
    )
    return (
        f"{sizes['chain']} chains of {sizes['draw']} draws, seed {attrs['random_seed']}; "
        f"model {attrs['model']}: {attrs['priors']}; "
        f"data {str(attrs['data_sha256'])[:12]}; {versions}"
        + (f"; {attrs['against_exact']}" if attrs.get("against_exact") else "")
    )
