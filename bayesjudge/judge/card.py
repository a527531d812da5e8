"""`Card`: what is known of a judge as one small file, for people and for later runs."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayesjudge.core.answer import listed, numbers, percents
from bayesjudge.core.errors import InputError, checking, problem
from bayesjudge.core.estimate import Caution, Row, in_words
from bayesjudge.core.screen import Printed, how_many
from bayesjudge.core.storage import replacing
from bayesjudge.core.worth import Worth
from bayesjudge.judge.quality import quality
from bayesjudge.judge.worth import worth as worth_in_labels
from bayesjudge.render.page import Line, Page, Table

if TYPE_CHECKING:
    from bayesjudge.core.estimate import Estimate
    from bayesjudge.prevalence import Counts

SCHEMA = "bayesjudge/card-1"
#: Of files that are read too: a passport has the labels, and no numbers.
OLD = {"bayesjudge/passport-1"}
LABELS = ("correct_n", "correct_pass", "incorrect_n", "incorrect_fail")
#: Correlation of a judge's errors within a data set, as expected before any is seen: what keeps
#: another data set's labels from counting fully. ``python benchmarks/judge/card.py`` chose it.
OVERDISPERSION = 0.02
#: Probability, before labels of the new run, that each of the judge's rates carries over to it.
CARRIES = 0.5
#: How far a calibration that holds may be off.
MARGIN = 0.03
#: Probability from which on it holds, or does not.
SURE = 0.95
#: With fewer chances than this in the tails, the new run contradicts the passport.
TRANSPORT_P = 0.01


def digest(text: str | bytes | None) -> str:
    """SHA-256 of a prompt or rubric; empty for none."""
    if text is None:
        return ""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _is_date(text: Any) -> bool:
    """Whether it is a date as ISO 8601 extends it, which sort as text; or none."""
    try:
        return not text or datetime.date.fromisoformat(text).isoformat() == text
    except (TypeError, ValueError):
        return False


def _whole(values: Any) -> tuple[int, ...]:
    """Whole numbers, of which none is cut off."""
    whole = tuple(int(x) for x in values)
    if any(n != x for n, x in zip(whole, values, strict=True)):
        raise ValueError(f"got {[*values]}")
    return whole


def _numbers(counts: Counts, ci_prob: float) -> dict[str, Any]:
    """How far a judge agrees with people, and what it is worth, as plain values."""
    agreement = quality(counts, ci_prob=ci_prob)
    numbers = [
        {"quantity": name, "where": at, **{k: round(v, 6) for k, v in row._asdict().items()}}
        for name, at, row in agreement.rows()
        if not np.isnan([*row]).any()
    ]
    known = worth_in_labels(counts, ci_prob=ci_prob)
    worth = [
        {"where": system, **each.as_dict()} for (_, system), each in known.items() if each.known
    ]
    return {"numbers": numbers, "worth": worth, "ci_prob": ci_prob}


@dataclass(frozen=True, repr=False)
class Card(Printed):
    """What is known of a judge, and under which prompt and rubric.

    Its file is JSON of one schema (``bayesjudge/judge/card.schema.json``); passports, the files of
    before, are read too.

    Parameters
    ----------
    judge : str
        Its name and version.
    labels : mapping of str to sequence of int
        By system (or data set): good items, those of them that the judge passed, bad items, those
        that it failed.
    calibration : str
        How the labelled items were chosen.
    pass_rate : tuple of int
        Items that the judge saw, and those that it passed.
    source : str
        Where the items come from.
    date : str
        When the passport was made, ISO 8601.
    prompt_sha256, rubric_sha256 : str
        Of the judge's prompt and rubric; empty if they were not given.
    valid_until : str
        Date after which it is stale, ISO 8601; empty if it is not said.
    tuned_labels : int
        Labels left out, since the judge was tuned on them.
    numbers : sequence of mapping
        How far it agrees with people, by ``quantity`` and ``where``: ``value``, ``low``, ``high``.
    worth : sequence of mapping
        More random labels that it is worth, by ``where``: ``value``, ``low``, ``high``, ``labels``.
    ci_prob : float
        Probability of these intervals.
    error_correlation : mapping of str to float
        Of labels of several systems: correlation of the judge's errors within one, on ``good`` and
        on ``bad`` items, as `external_labels` learns it.
    repeat_correlation : float, optional
        Of the verdicts of two calls on one output, if the judge was asked several times.
    schema : str
        Version of the file's fields.

    Raises
    ------
    InputError
        If counts are impossible, or there are no labels.

    Examples
    --------
    >>> made = Card("gpt-4", {"a": (100, 95, 100, 80), "b": (100, 90, 100, 70)}, "random",
    ...                 pass_rate=(1000, 600), source="xstest", date="2026-01-01")
    >>> made.totals
    (200, 185, 200, 150)
    >>> made.external_labels()
    (30, 28, 29, 22)
    """

    judge: str
    labels: Mapping[str, tuple[int, int, int, int]]
    calibration: str
    pass_rate: tuple[int, int] = (0, 0)
    source: str = ""
    date: str = ""
    prompt_sha256: str = ""
    rubric_sha256: str = ""
    valid_until: str = ""
    tuned_labels: int = 0
    numbers: Sequence[Mapping[str, Any]] = ()
    worth: Sequence[Mapping[str, Any]] = ()
    ci_prob: float = 0.95
    error_correlation: Mapping[str, float] = field(default_factory=dict)
    repeat_correlation: float | None = None
    schema: str = field(default=SCHEMA)

    def __post_init__(self) -> None:
        try:
            labels = {str(k): _whole(v) for k, v in dict(self.labels).items()}
            object.__setattr__(self, "labels", labels)
            object.__setattr__(self, "pass_rate", _whole(self.pass_rate))
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError("judge.Card", [problem("not-whole", error=error)]) from error
        with checking("judge.Card") as require:
            require(self.schema == SCHEMA, f"expected schema {SCHEMA!r}, got {self.schema!r}")
            require(self.judge, "judge must have a name")
            for name in ("date", "valid_until"):
                words = f"{name} must be a date such as 2027-06-30, got {getattr(self, name)!r}"
                require(_is_date(getattr(self, name)), words)
            for name, row in labels.items():
                good = len(row) == 4 and 0 <= row[1] <= row[0] and 0 <= row[3] <= row[2]
                require(good, f"labels of {name!r} must be {LABELS}, got {row}")
            rate = len(self.pass_rate) == 2 and 0 <= self.pass_rate[1] <= self.pass_rate[0]
            require(rate, "must be items and passes", pass_rate=self.pass_rate)
            again = self.repeat_correlation
            words = f"repeat_correlation must lie in [-1, 1], got {again!r}"
            require(again is None or -1 <= again <= 1, words)
        with checking("judge.Card") as require:
            require(labels and sum(self.totals[::2]) > 0, "there are no labels")

    @classmethod
    def make(
        cls,
        counts: Counts,
        *,
        judge: str,
        prompt: str | None = None,
        rubric: str | None = None,
        source: str = "",
        date: str | None = None,
        valid_until: str = "",
        tuned_labels: int = 0,
        repeat_correlation: float | None = None,
        ci_prob: float = 0.95,
    ) -> Self:
        """Write down what the labels of a run say of its judge.

        Parameters
        ----------
        counts : prevalence.Counts
            Of one or several systems.
        judge : str
            Its name and version.
        prompt, rubric : str, optional
            Texts that the judge was given; only their SHA-256 is kept.
        source : str
            Where the items come from.
        date : str, optional
            ISO 8601; today by default.
        valid_until : str, optional
            Date after which it is stale, ISO 8601.
        tuned_labels : int, default 0
            Labels that were left out, since the judge was tuned on them.
        repeat_correlation : float, optional
            Of two calls on one output: `Judged.repeat_correlation`.
        ci_prob : float, default 0.95
            Probability of the intervals.

        Returns
        -------
        Card
            To save.

        Raises
        ------
        InputError
            If labels were chosen by verdict, which tells predictive values only, not the judge's
            rates.
        """
        with checking("judge.Card.make") as require:
            known = "error_rates" in counts.design.identifies
            require(
                known,
                f"calibration={counts.design.name!r}: labels by verdict tell how often a pass is "
                "right on these items, not how the judge errs on others",
            )
            require(counts.dim != "judge", "several-judges")
        columns = [np.atleast_1d(getattr(counts, name)) for name in LABELS]
        names = counts.systems or ("all",)
        rows = {
            n: tuple(map(int, row))
            for n, row in zip(names, zip(*columns, strict=True), strict=True)
        }
        seen = int(np.sum(counts.test_n) + np.sum(counts.labelled_n))
        passed = int(np.sum(counts.test_pass) + np.sum(counts.labelled_pass))
        from bayesjudge.judge._carry_over import correlation

        sides = {
            "good": [row[:2] for row in rows.values()],
            "bad": [row[2:] for row in rows.values()],
        }
        together = {
            side: round(correlation(tuple(pairs), OVERDISPERSION), 6)
            for side, pairs in sides.items()
            if sum(n > 0 for n, _ in pairs) > 1
        }
        return cls(
            judge,
            rows,  # type: ignore[arg-type]
            counts.design.name,
            (seen, passed),
            source,
            date or _today(),
            digest(prompt),
            digest(rubric),
            valid_until,
            tuned_labels,
            **_numbers(counts, ci_prob),
            error_correlation=together,
            repeat_correlation=repeat_correlation,
        )

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """Labels of all systems."""
        return tuple(int(x) for x in np.sum(list(self.labels.values()), axis=0))  # type: ignore[return-value]

    def external_labels(self, overdispersion: float = OVERDISPERSION) -> tuple[int, int, int, int]:
        r"""Discount the labels for what another run's items may change (a power prior).

        Parameters
        ----------
        overdispersion : float
            Correlation :math:`\rho` of the judge's errors within a data set, in [0, 1), as expected
            before any is seen; 0 is no discount.

        Returns
        -------
        tuple of int
            ``correct_n``, ``correct_pass``, ``incorrect_n``, ``incorrect_fail``, for
            ``prevalence.Counts(external_labels=)``.

        Raises
        ------
        InputError
            If `overdispersion` is out of range.

        Notes
        -----
        The data set of the labels scatters about the judge's rate, and so does the new one: n
        labels of a class count as :math:`n / (1 + 2 n \rho)`, half of :math:`1 / \rho` at most. Of
        several systems, scatter averages out on the labels' side, and :math:`\rho` is learnt: the
        posterior mean under a beta-binomial model of the systems' counts, with an exponential
        prior of mean `overdispersion`.
        """
        with checking("external_labels") as require:
            inside = 0 <= overdispersion < 1
            require(inside, "must lie in [0, 1)", overdispersion=overdispersion)
        from bayesjudge.judge._carry_over import discounted

        good = tuple(row[:2] for row in self.labels.values())
        bad = tuple(row[2:] for row in self.labels.values())
        return *discounted(good, overdispersion), *discounted(bad, overdispersion)

    def applied(self, counts: Counts, overdispersion: float = OVERDISPERSION) -> Counts:
        """Add the discounted labels to a later run, whose judge is taken to err as it did.

        Parameters
        ----------
        counts : prevalence.Counts
            The later run, without labels of its own. If it has some, `estimate` lets them decide
            whether the card's hold; these counts do not.
        overdispersion : float
            As in `external_labels`.

        Returns
        -------
        prevalence.Counts
            With `external_labels`, for every estimator that takes them.
        """
        return self._added(counts, overdispersion, np.atleast_1d(counts.test_n) >= 0)

    def _added(self, counts: Counts, overdispersion: float, where: np.ndarray) -> Counts:
        """The labels added to some systems."""
        if not where.any():
            return counts
        more = np.array(self.external_labels(overdispersion))[:, None] * where
        more = more if counts.systems is not None else more[:, 0]
        if counts.external_labels is not None:
            more = more + np.asarray(counts.external_labels)
        return replace(counts, external_labels=more)

    def estimate(
        self,
        counts: Counts,
        *,
        ci_prob: float = 0.95,
        overdispersion: float = OVERDISPERSION,
        carries: float = CARRIES,
        margin: float = MARGIN,
    ) -> Estimate:
        """Correct a later run's pass rate, by the passport as far as the run's own labels allow.

        Parameters
        ----------
        counts : prevalence.Counts
            The later run, of one or several systems.
        ci_prob : float, default 0.95
            Probability of the intervals.
        overdispersion : float
            As in `external_labels`.
        carries : float, default 0.5
            Probability, before the run's own labels, that each of the judge's two rates is still
            what the passport says; else it may be any.
        margin : float, default 0.03
            How far the share by the card's rates alone may be off, where its calibration holds.

        Returns
        -------
        Estimate
            ``prevalence``, with ``carries_over``: the probabilities that ``sensitivity`` and
            ``specificity`` are still what the passport says, by the run's own labels and pass
            rate. A system without labels of its own tests neither: its number holds if the judge
            errs as it did (caution ``untested-rates``), and its probabilities are ``nan``.
            ``shift`` is by how much the share by the card's rates alone is off, ``within_margin``
            the probability that this is no more than `margin`, and ``more_probes`` how many further
            random labels would tell it of a run without a shift; ``nan`` without random labels.

        Raises
        ------
        InputError
            If `ci_prob`, `overdispersion` or `carries` is out of range.

        Notes
        -----
        Each rate has a robust mixture prior, what the discounted labels leave and a flat one, whose
        weights the data update. A judge that has changed is so let go: with 50 labels of its own
        the interval covers as often as without a passport, where the labels added up cover less
        and less (``python benchmarks/judge/card.py``).

        References
        ----------
        Schmidli et al. (2014), Biometrics 70, 1023-1032; Ibrahim & Chen (2000), Stat. Sci. 15,
        46-60.

        Examples
        --------
        >>> from bayesjudge.prevalence import Counts
        >>> known = Card("gpt-4", {"a": (200, 185, 200, 180)}, "random")
        >>> changed = Counts(900, 700, 60, 55, 40, 10, calibration="random")
        >>> known.estimate(changed)["carries_over", "specificity"].value < 0.05
        True
        """
        from bayesjudge.judge._carry_over import estimated

        with checking("judge.Card.estimate") as require:
            require(0 < carries < 1, "must lie in (0, 1)", carries=carries)
            require(0 < margin < 1, "must lie in (0, 1)", margin=margin)
        labels = self.external_labels(overdispersion)
        tested = np.atleast_1d(counts.labelled_n) > 0
        added = self._added(counts, overdispersion, ~tested)
        posterior = estimated(added, labels, carries, ci_prob, self.totals, margin)
        cautions = self.check(counts, overdispersion=overdispersion)
        beyond = [
            Caution.of("transport", "shift", place=place, within=within, margin=margin)
            for place, within in zip(
                counts.places, posterior.quantities["within_margin"].value, strict=True
            )
            if within <= 1 - SURE
        ]
        return replace(posterior, cautions=(*cautions, *beyond, *posterior.cautions))

    def check(
        self,
        counts: Counts | None = None,
        *,
        judge: str | None = None,
        prompt: str | None = None,
        rubric: str | None = None,
        date: str | None = None,
        overdispersion: float = OVERDISPERSION,
    ) -> tuple[Caution, ...]:
        """Hold a later run against the passport.

        Parameters
        ----------
        counts : prevalence.Counts, optional
            The later run.
        judge, prompt, rubric : str, optional
            Its judge, and the texts that it was given.
        date : str, optional
            Of the later run, ISO 8601; today by default.
        overdispersion : float
            As in `external_labels`.

        Returns
        -------
        tuple of Caution
            ``stale-calibration`` if the judge, prompt or rubric is another one (or is known on one
            side only), or the card is valid no longer; ``transport`` if the run's pass rate is
            possible for no prevalence, or its own labels contradict the card's (labels by verdict
            are no shares of good or of bad items, and test nothing), with a probability below 1 %.
        """
        with checking("judge.Card.check") as require:
            require(_is_date(date), "must be a date such as 2027-06-30", date=date)
        cautions = [*self._stale(judge, prompt, rubric)]
        if self.valid_until and (date or _today()) > self.valid_until:
            cautions.append(Caution.of("stale-calibration", "date", until=self.valid_until))
        if counts is not None:
            cautions += self._transport(counts, overdispersion)
        return tuple(cautions)

    def _stale(self, judge: str | None, prompt: str | None, rubric: str | None) -> list[Caution]:
        cautions = []
        if judge is not None and judge != self.judge:
            cautions.append(Caution.of("stale-calibration", "judge", judge=judge, known=self.judge))
        for name, given, known in (
            ("prompt", prompt, self.prompt_sha256),
            ("rubric", rubric, self.rubric_sha256),
        ):
            if given is not None and digest(given) != known:
                was = "another" if known else "not written down"
                cautions.append(Caution.of("stale-calibration", "words", name=name, was=was))
        return cautions

    def _transport(self, counts: Counts, overdispersion: float) -> list[Caution]:
        from scipy.stats import betabinom

        good, hit, bad, caught = self.external_labels(overdispersion)
        cautions = []
        names, called = counts.systems or ("",), counts.pass_name
        columns = {n: np.atleast_1d(getattr(counts, n)) for n in (*LABELS, "test_n", "test_pass")}
        for i, name in enumerate(names):
            where = f" of {name}" if name else ""
            row = {n: int(column[i]) for n, column in columns.items()}
            # were all items good, or all bad, the judge would pass this many
            most = betabinom(row["test_n"], 1 + hit, 1 + good - hit)
            least = betabinom(row["test_n"], 1 + bad - caught, 1 + caught)
            k = row["test_pass"]
            all_so = f"people called all {called!r}" if called else "all were good"
            none_so = f"people called none {called!r}" if called else "all were bad"
            passed = f"calls {k} of {row['test_n']} {called!r}"
            passed = passed if called else f"passes {k} of {row['test_n']}"
            for chance, words in (
                (most.sf(k - 1), f"more than it would if {all_so}"),
                (least.cdf(k), f"fewer than it would if {none_so}"),
            ):
                if row["test_n"] and chance < TRANSPORT_P:
                    about = {"passed": passed, "place": where, "words": words, "chance": chance}
                    cautions.append(Caution.of("transport", "pass-rate", **about))
            right = "passed {} of {} good items", "failed {} of {} bad items"
            if called:
                right = (
                    f"called {{}} of {{}} items {called!r} that people call so",
                    f"did not call {{}} of {{}} items {called!r} that people do not call so",
                )
            pairs = (
                (right[0], "correct_n", "correct_pass", hit, good - hit),
                (right[1], "incorrect_n", "incorrect_fail", caught, bad - caught),
            )
            for words, total, part, a, b in pairs:
                n, x = row[total], row[part]
                if not n or "error_rates" not in counts.design.identifies:
                    continue
                known = betabinom(n, 1 + a, 1 + b)
                chance = min(1.0, 2 * min(known.cdf(x), known.sf(x - 1)))
                if chance < TRANSPORT_P:
                    about = {"words": words.format(x, n), "place": where, "chance": chance}
                    cautions.append(Caution.of("transport", "labels", **about))
        return cautions

    def save(self, path: str | Path) -> Path:
        """Write the card as JSON.

        Parameters
        ----------
        path : str or pathlib.Path
            A file that is there is replaced, whole or not at all.

        Returns
        -------
        pathlib.Path
            Where it was written.
        """
        path = Path(path)
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"
        with replacing(path) as beside:
            beside.write_text(text, encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a card, or a passport.

        Parameters
        ----------
        path : str or pathlib.Path
            The file.

        Returns
        -------
        Card
            As it was saved.

        Raises
        ------
        InputError
            If there is no such file, or it is not a card.
        """
        path = Path(path)
        with checking(str(path)) as require:
            require(path.is_file(), "there is no such file")
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            if read.get("schema") in OLD:
                read["schema"] = SCHEMA
            return cls(**read)
        except InputError as error:
            raise InputError(str(path), error.problems) from error
        except (AttributeError, ValueError, TypeError) as error:
            raise InputError(str(path), [f"is not a judge card: {error}"]) from error

    def __str__(self) -> str:
        good, hit, bad, caught = self.totals
        worth = self.external_labels()
        seen, passed = self.pass_rate
        lines = [
            f"Card of {self.judge}, {self.date}"
            + f", valid until {self.valid_until}" * bool(self.valid_until),
            f"  items: {self.source or 'source not stated'}; "
            f"{how_many(len(self.labels), 'system')}; the judge passed {passed:,} of {seen:,}",
            f"  labels {self.calibration}: passed {hit:,} of {good:,} good, failed {caught:,} of "
            f"{bad:,} bad",
            f"  to a later run worth {worth[0]} good and {worth[2]} bad items, if the judge errs "
            "there as it did",
            *self._words(),
        ]
        for name in ("prompt", "rubric"):
            known = getattr(self, f"{name}_sha256")
            lines.append(f"  {name}: {known[:12] or 'not stated'}")
        return "\n".join(lines)

    def _words(self) -> list[str]:
        """What the labels say of the judge, in lines."""
        lines = [f"  {self.tuned_labels:,} labels left out: tuned on them"] * bool(
            self.tuned_labels
        )
        each = [f"{rho:.3f} on {side} items" for side, rho in self.error_correlation.items()]
        lines += [f"  errors correlate within a system by {listed(each)}"] if each else []
        again = self.repeat_correlation
        lines += [] if again is None else [f"  two calls on one output correlate by {again:.3f}"]
        rows = [(number, Row(*(number[k] for k in Row._fields))) for number in self.numbers]
        for name, words in (("accuracy", percents), ("kappa", numbers)):
            each = [
                f"{words(row)}{''.join(f' of {at}' for at in number['where'].values())}"
                for number, row in rows
                if number["quantity"] == name
            ]
            lines += [f"  {name}: {listed(each)}"] if each else []
        each = [f"{Worth(**{k: v for k, v in row.items() if k != 'where'})}"
                + f" of {row['where']}" * bool(row["where"]) for row in self.worth]  # fmt: skip
        return lines + ([f"  worth on top of these labels: {listed(each)}"] if each else [])

    def page(self) -> Page:
        """Give the card as a page, for `bayesjudge.report`'s formats.

        Returns
        -------
        bayesjudge.render.page.Page
            With every number of the card.
        """
        lines = [
            Line([in_words(number["quantity"]), ", ".join(map(str, number["where"].values())),
                  *(f"{number[end]:.3f}" for end in Row._fields)])
            for number in self.numbers
        ]  # fmt: skip
        good, hit, bad, caught = self.totals
        sentence = f"{self.judge} passed {hit:,} of {good:,} good outputs that people labelled, "
        sentence += f"and failed {caught:,} of {bad:,} bad ones."
        about = str(self).splitlines()
        return Page(
            f"Judge card: {self.judge}",
            sentence=sentence,
            notes=[line.strip() for line in about],
            said=[sentence, "", *about],
            numbers=Table(["number", "of", *Row._fields], lines),
            below=f"{100 * self.ci_prob:g} % intervals.",
            inputs={"judge": self.judge, "source": self.source, "labels": self.calibration},
        )

    def badge(self) -> str:
        """Draw a badge: what the judge is worth.

        Returns
        -------
        str
            SVG: the judge's name and its worth in labels, or how often it is right.
        """
        known = [entry for entry in self.worth if entry["value"] == entry["value"]]
        right = [number["value"] for number in self.numbers if number["quantity"] == "accuracy"]
        text = f"right on {100 * min(right):.0f} %" if right else "labels of its errors"
        if known:
            least = min(max(round(worth["value"]), 0) for worth in known)
            text = f"worth {least:,} labels on top of {known[0]['labels']:,}"
        left, width = 7 * len(self.judge) + 12, 7 * len(text) + 12
        name, text = escape(self.judge), escape(text)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width}" height="20" '
            f'role="img" aria-label="{name}: {text}"><rect width="{left}" height="20" fill="#555"/>'
            f'<rect x="{left}" width="{width}" height="20" fill="#07c"/>'
            '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11">'
            f'<text x="6" y="14">{name}</text><text x="{left + 6}" y="14">{text}</text></g></svg>'
        )
