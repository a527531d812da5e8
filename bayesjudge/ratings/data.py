"""Counts of forced choices and of response sets by source and item: `Ratings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from bayesjudge.core.errors import check_several, checking, expect
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.names import name_of, require_names
from bayesjudge.core.numbers import array_of
from bayesjudge.core.screen import few, fitted
from bayesjudge.ratings.metrics import Profile, inter_rater_alpha
from bayesjudge.ratings.response_sets import default_response_sets, membership
from bayesjudge.verdicts.arrays import whole_numbers

PEOPLE = "people"
#: Sources that `repr` shows.
SHOWN = 8


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(ReadAtOnce):
    """Counts of the answers that people, and each judge, gave to each item.

    Parameters
    ----------
    chosen : array_like of int, shape (n_sources, n_items, K)
        Forced choices: how often each option was chosen. An item may have any number of them.
    options : sequence of str, length K
        The options, at least two.
    positive : str
        The option that items are categorised by, for example ``"unsafe"``.
    endorsed : array_like of int, shape (n_sources, n_items, Q), optional
        Response sets: how often each was given. None by default.
    paired : array_like of int, shape (n_sources, K, Q), optional
        Answers that hold both a choice (row) and a response set (column), summed over items: they
        tell how raters choose from a set. `chosen` and `endorsed` count them too.
    paired_chosen : array_like of int, shape (n_sources, n_items, K), optional
        Those of `chosen` whose response set is known; given the set, they carry no information on
        the item.
    sets : sequence of sequence of str, length Q, optional
        Admissible response sets; by default all non-empty sets of up to eight options, and the
        single options if there are more.
    items, sources : sequence of str, optional
        Names; numbers by default. The first source is ``"people"``, the others are judges.
    stray : int, default 0
        Answers whose choice is not in their response set, which the source's model excludes; the
        choice and the set are counted apart.
    annotators : sequence of str, optional
        Names of the people who chose, for `alt_test`.
    annotations : array_like of int, shape (n, 3), optional
        Their choices: item, annotator and option, one row each. They are among `chosen`.

    Raises
    ------
    InputError
        If shapes differ, a count is negative, `positive` is not an option, a set holds an unknown
        option, a source has no rating at all, or names repeat.

    Examples
    --------
    >>> ratings = Ratings(chosen=[[[2, 1], [0, 3]], [[1, 0], [0, 1]]], options=("yes", "no"),
    ...                   positive="yes", sources=("people", "gpt"))
    >>> ratings.judges
    ('gpt',)
    """

    chosen: Any
    options: Sequence[str]
    positive: str
    endorsed: Any = None
    paired: Any = None
    paired_chosen: Any = None
    sets: Sequence[Sequence[str]] = ()
    items: Sequence[str] = ()
    sources: Sequence[str] = ()
    stray: int = 0
    annotators: Sequence[str] = ()
    annotations: Any = None

    def __post_init__(self) -> None:
        options = tuple(map(str, self.options))
        sets = tuple(self.sets) or default_response_sets(options)
        sets = tuple(tuple(sorted(map(str, s), key=_position_in(options))) for s in sets)
        chosen = np.asarray(self.chosen)
        with checking("ratings.Ratings") as require:
            require(
                chosen.ndim == 3 and chosen.shape[-1] == len(options),
                f"chosen has shape {chosen.shape}, expected (sources, items, {len(options)})",
            )
            require(len(options) >= 2, f"at least two options, got {list(options)}")
            require(len(set(options)) == len(options), f"options repeat: {list(options)}")
        n_sources, n_items, k = chosen.shape
        shapes = {
            "chosen": (n_sources, n_items, k),
            "endorsed": (n_sources, n_items, len(sets)),
            "paired": (n_sources, k, len(sets)),
            "paired_chosen": (n_sources, n_items, k),
        }
        fields: dict[str, Any] = {"options": options, "positive": str(self.positive), "sets": sets}
        with checking("ratings.Ratings") as require:
            for name, shape in shapes.items():
                value = np.zeros(shape) if getattr(self, name) is None else getattr(self, name)
                fields[name] = whole_numbers(name, value, shape, require)
            fields["items"] = _distinct_names(self.items, n_items, "items", require)
            default = (PEOPLE, *(f"judge {i}" for i in range(1, n_sources)))
            fields["sources"] = _distinct_names(
                tuple(self.sources) or default, n_sources, "sources", require
            )
            fields["annotators"] = tuple(map(str, self.annotators))
            given = np.zeros((0, 3), int) if self.annotations is None else self.annotations
            rows = array_of(int, "ratings.Ratings", annotations=given)
            fits = rows.shape[1:] == (3,) or not rows.size
            expect("ratings.Ratings", fits, f"annotations: expected rows of 3, got {rows.shape}")
            fields["annotations"] = rows = rows.reshape(-1, 3)
            inside = (rows >= 0) & (rows < [n_items, len(fields["annotators"]), k])
            require(
                inside.all(), "annotations name items, annotators or options that are not there"
            )
        self._set(**fields)
        with checking("ratings.Ratings") as require:
            self._check(require)

    def _check(self, require: Any) -> None:
        require(
            self.positive in self.options,
            f"positive={self.positive!r} is not an option; expected one of {list(self.options)}",
        )
        unknown = sorted({o for s in self.sets for o in s} - set(self.options))
        require(not unknown, f"sets hold {unknown}, which are not among {list(self.options)}")
        require(all(self.sets), "a response set must hold at least one option")
        require(len(set(self.sets)) == len(self.sets), "response sets repeat")
        absent = [o for o in self.options if (o,) not in (self.sets)]
        require(not absent, f"{absent} are options but not response sets; add them")
        both = np.array_equal(self.paired_chosen.sum(axis=1), self.paired.sum(axis=2))
        require(both, "pairs-differ")
        held = (self.paired_chosen <= self.chosen).all()
        held = held and (self.paired.sum(axis=1) <= self.endorsed.sum(axis=1)).all()
        require(held, "too-many-pairs")
        outside = self.paired[:, self.members == 0].sum()
        require(outside == 0, "pairs-outside", outside=outside)
        for name, rated in zip(self.sources, self.rated, strict=True):
            require(rated.any(), f"{name!r} has no ratings; leave it out")

    def __repr__(self) -> str:
        options = [f"{o} (positive)" if o == self.positive else o for o in self.options]
        lines = [f"Ratings of {len(self.items)} items, options {few(options)}"]
        lines += [
            f"  {name}: {choices} choices, {sets} response sets, on {rated} items{alpha}"
            for name, choices, sets, rated, alpha in self._rows()
        ]
        more = len(self.sources) - SHOWN
        return fitted([*lines, *([f"  and {more} more judges"] if more > 0 else [])])

    def _rows(self) -> Iterator[tuple[str, int, int, int, str]]:
        """Name, choices, response sets, items rated, and people's agreement with each other."""
        for s, name in enumerate((self.sources)[:SHOWN]):
            chosen, endorsed = self.chosen[s], self.endorsed[s]
            alpha = inter_rater_alpha(chosen) if name == PEOPLE else np.nan
            among = "" if np.isnan(alpha) else f", Krippendorff's alpha of choices {alpha:.2f}"
            yield name, int(chosen.sum()), int(endorsed.sum()), int(self.rated[s].sum()), among

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges: all sources but people."""
        return tuple(self.sources)[1:]

    @property
    def rated(self) -> np.ndarray:
        """Whether a source gave an item a rating, shape (n_sources, n_items)."""
        return self.chosen.sum(axis=2) + self.endorsed.sum(axis=2) > 0

    @property
    def unpaired(self) -> np.ndarray:
        """Choices of raters whose response set is not known, shape of `chosen`."""
        return self.chosen - self.paired_chosen

    @property
    def members(self) -> np.ndarray:
        """Membership of options in response sets, shape (K, Q)."""
        return membership(self.options, self.sets)

    @property
    def positive_index(self) -> int:
        """Position of the positive option."""
        return list(self.options).index(self.positive)

    @property
    def fully_specified(self) -> bool:
        """Whether every response set is a single option, so that a choice is the response set."""
        return len(self.sets) == len(self.options)

    def source(self, name: str) -> int:
        """Find the position of a source.

        Parameters
        ----------
        name : str
            ``"people"`` or a judge.

        Returns
        -------
        int
            Its position.

        Raises
        ------
        InputError
            If there is none of that name.
        """
        expect(
            "ratings.Ratings",
            name in (self.sources),
            f"no source {name!r}; expected one of {list(self.sources)}",
        )
        return list(self.sources).index(name)

    def profile(self, name: str, *, pseudo_count: float = 0.0) -> Profile:
        """Compute a source's observed shares of choices and of endorsements, by item.

        If an item has no response sets, choices stand in for them: an option that was not chosen
        counts as not endorsed, which underestimates endorsements. If it has no choices, response
        sets stand in for them, shared evenly between their options.

        Parameters
        ----------
        name : str
            ``"people"`` or a judge.
        pseudo_count : float, default 0
            Added to each option's count of choices, and to those who endorse it and who do not,
            so that no share is 0 or 1.

        Returns
        -------
        Profile
            Shape (n_items, K); ``nan`` if an item has no rating of this source.

        Raises
        ------
        InputError
            If there is no such source.
        """
        i = self.source(name)
        evenly = self.members / self.members.sum(axis=0)
        sets_n = self.endorsed[i].sum(axis=1, keepdims=True)
        choices = np.where(
            self.chosen[i].sum(axis=1, keepdims=True) > 0,
            self.chosen[i],
            self.endorsed[i] @ evenly.T,
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            n = choices.sum(axis=1, keepdims=True)
            k = choices.shape[1]
            shares = np.where(n > 0, (choices + pseudo_count) / (n + k * pseudo_count), np.nan)
            yes = np.where(sets_n > 0, self.endorsed[i] @ self.members.T, choices)
            asked = np.where(sets_n > 0, sets_n, n)
            endorsed = np.where(
                asked > 0, (yes + pseudo_count) / (asked + 2 * pseudo_count), np.nan
            )
        return Profile(shares, endorsed)

    @classmethod
    def from_frame(
        cls,
        table: Any,
        *,
        positive: str,
        judges: Sequence[str] = (),
        item: str = "item",
        rater: str = "rater",
        choice: str | None = "choice",
        response_set: str | None = None,
        separator: str = "|",
        options: Sequence[str] | None = None,
        sets: Sequence[Sequence[str]] | None = None,
        missing_value: Any = (),
        recode: Mapping[str, Mapping[str, str]] | None = None,
        repeated: Literal["error", "one"] = "error",
    ) -> Self:
        """Count the answers of a long table, one row per answer.

        Parameters
        ----------
        table : dataframe
            pandas, polars, Arrow, DuckDB or Spark.
        positive : str
            The option that items are categorised by. It has no default: if people were asked "is
            this unsafe?" and a judge "is this safe?", both answer yes and mean the opposite.
        judges : sequence of str
            Raters that are judges; a judge may answer an item many times. All others are people.
        item, rater : str
            Columns with the item and with who rated it.
        choice : str, optional
            Column with a forced choice, empty if there is none.
        response_set : str, optional
            Column with a response set, its options joined by `separator`. Rows with both a choice
            and a set tell how raters choose from a set.
        separator : str, default "|"
            Between options of a set.
        options : sequence of str, optional
            All options, in their order; those that occur by default, the positive one first.
        sets : sequence of sequence of str, optional
            Admissible response sets; by default all of up to eight options, and if there are more
            the single options and the sets that occur.
        missing_value : scalar or list, optional
            Answers that mean that there is none, such as ``"idk"``.
        recode : mapping of str to mapping, optional
            By judge, what its answers mean: ``{"gpt": {"yes": "no", "no": "yes"}}``.
        repeated : {"error", "one"}, default "error"
            What several rows of a person and an item are: an error, or, where all say the same,
            copies of one answer. Rows that differ are an error always.

        Returns
        -------
        Ratings
            Items in the order of their names.

        Raises
        ------
        InputError
            If a column is missing, an answer is not an option, a choice holds a separator, a person
            rated an item twice, a judge does not occur, or the counts allow no estimate.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"item": [1, 1, 1], "rater": ["ann", "bob", "gpt"],
        ...                       "choice": ["yes", "no", "yes"]})
        >>> Ratings.from_frame(table, positive="yes", judges=["gpt"]).chosen.tolist()
        [[[1, 1]], [[1, 0]]]
        """
        from bayesjudge.ratings._reading import read_answers

        return cls(
            **read_answers(
                table,
                columns=(item, rater, choice, response_set),
                positive=positive,
                judges=tuple(map(name_of, check_several(judges=judges))),
                separator=separator,
                options=options,
                sets=sets,
                missing=missing_value,
                recode=recode or {},
                repeated=repeated,
            )
        )


def _position_in(options: Sequence[str]) -> Any:
    """Sort key of options: their position, unknown ones last."""
    order = {option: i for i, option in enumerate(options)}
    return lambda option: order.get(option, len(order))


def _distinct_names(names: Sequence[Any], n: int, what: str, require: Any) -> tuple[str, ...]:
    names = tuple(map(str, tuple(names) or range(n)))
    require(len(names) == n, f"{len(names)} names for {n} {what}")
    require_names(names, what, require)
    return names
