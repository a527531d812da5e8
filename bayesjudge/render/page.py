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
from bayesjudge.core.side_by_side import NUMBERS, Record, records, union_of_cautions

if TYPE_CHECKING:
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
        Draws the pictures, by caption.
    answer, made, fits : optional
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
    pictures: Callable[[], Mapping[str, Figure]] = dict
    answer: Answer | None = None
    made: Sequence[Estimate] = ()
    fits: Sequence[Fit] = ()

    @property
    def read(self) -> list[tuple[str, str]]:
        """What was read, for people."""
        given = {name: value for name, value in self.inputs.items() if value is not None}
        return [(name.replace("_", " "), str(value)) for name, value in given.items()]

    @property
    def told(self) -> Answer:
        """The answer, of a page that has one."""
        assert self.answer is not None
        return self.answer

    @property
    def first_cautions(self) -> Sequence[Caution]:
        """Those of the quoted numbers; of a page without an answer all of them."""
        return self.cautions if self.answer is None else self.answer.cautions

    @property
    def every(self) -> list[Record]:
        """All numbers of its estimates."""
        return records(*self.made, ci_prob=self.made[0].ci_prob)


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
    made = as_estimates(results, ci_prob, interval, target)
    named = [(one.method.title, one) for one in made]
    fits = [one for one in results if isinstance(one, Fit)]
    told = answer or answer_of(made, ci_prob=ci_prob, interval=interval)
    found = records(*made, ci_prob=ci_prob)
    shown = found
    if told and not {one.entry for one in found} & set(entries(told.quoted)):
        shown = [*records(told.quoted, ci_prob=ci_prob), *found]  # computed from the results
    columns, lines = _lines(shown, digits, told)
    first = [line for line in lines if line.answers] if told else lines
    if told and len(first) > MOST_FIRST:
        first = [line for line in first if line.quoted]
    kept = set(map(id, first))
    others = [line for line in lines if id(line) not in kept] if first else []
    level = f"{ci_prob:.0%}" if round(ci_prob * 100, 6).is_integer() else f"{ci_prob:.1%}"
    if told is not None:
        about |= {"sentence": told.text, "notes": told.notes, "about": f"{told.basis} {told.why}"}
        about |= {"paragraph": told.paragraph()}

    def fields() -> dict[str, Any]:
        known = {} if told is None else told.as_dict()
        numbers = [as_plain(one, truth) for one in found]
        return {"ci_prob": ci_prob, "answer": known, "estimates": numbers}

    def methods() -> dict[str, Any]:
        return {
            "assumptions": {name: [a._asdict() for a in one.assumptions] for name, one in named},
            "targets": {name: one.target for name, one in named},
            "sources": {name: one.source for name, one in named},
            "sampling": {fit.method.title: sampling_of(fit) for fit in fits},
        }

    return Page(
        numbers=Table(columns, first or lines),
        below=f"{level} intervals.",
        others=Table(columns, others),
        cautions=union_of_cautions(told, made),
        # pairs, not mappings: two fits of one method may differ in their priors
        assumptions=_distinct((name, "; ".join(map(str, one.assumptions))) for name, one in named),
        targets=_distinct((name, f"about {TARGETS[one.target]}") for name, one in named),
        settings=[(fit.method.title, _settings(fit)) for fit in fits],
        sources=_distinct((name, one.source) for name, one in named),
        fields=fields,
        methods=methods,
        pass_name=pass_name_in(made),
        answer=told,
        made=made,
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


def as_plain(one: Record, truth: Mapping[tuple[Any, ...], float] | None = None) -> dict[str, Any]:
    """A number as a machine reads it, with the truth where it is known."""
    return {
        "quantity": one.quantity,
        "where": one.where,
        "method": one.method.title,
        **dict(zip(NUMBERS, one.numbers, strict=True)),
        "interval": one.interval,
        **({"truth": truth.get(one.entry)} if truth else {}),
    }


def once(cautions: Iterable[Caution]) -> list[tuple[str, str]]:
    """Ids and sentences, each once: after the first of a kind, the other places it is about."""
    kinds: dict[tuple[str, ...], list[Caution]] = {}
    for one in cautions:
        kinds.setdefault((one.id, *sorted(one.numbers)), []).append(one)
    found = []
    for first, *more in kinds.values():
        places = dict.fromkeys(name for one in more for name in one.where)
        if more and first.where and all(one.where for one in more):
            found.append((first.id, f"{first.text}. The same of {few([*places], MOST_PLACES)}."))
        else:
            found += [(one.id, one.text) for one in (first, *more)]
    return found


def _distinct(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keep the first of equal pairs, and none without a text."""
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


def _lines(
    found: Sequence[Record], digits: int, answer: Answer | None
) -> tuple[list[str], list[Line]]:
    """Head and lines of the table, as text."""
    dims = list(dict.fromkeys(d for one in found for d in one.where))
    entered = set() if answer is None else set(entries(answer.quoted))
    lines = []
    for one in found:
        decimals = 0 if one.quantity in COUNTS else digits
        cells = [
            one.quantity,
            *(str(one.where.get(d, "")) for d in dims),
            one.method.title,
            *("–" if np.isnan(x) else f"{x:.{decimals}f}" for x in one.numbers),
            one.interval,
        ]
        answers = one.entry in entered
        quoted = answers and answer is not None and one.method == answer.method
        lines.append(Line(cells, answers, quoted))
    # the quoted line of an entry before the others; entries as they come
    place = {entry: i for i, entry in enumerate(dict.fromkeys(one.entry for one in found))}
    order = sorted(range(len(lines)), key=lambda i: (place[found[i].entry], not lines[i].quoted))
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
