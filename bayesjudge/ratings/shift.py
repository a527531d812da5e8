"""How results depend on what forced choices hide: sensitivity analysis over beta and over F'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from bayesjudge.core.errors import checking
from bayesjudge.ratings.closed_form import profile_under
from bayesjudge.ratings.data import PEOPLE, Ratings
from bayesjudge.ratings.definitions import Definition, definitions, prevalence_at

STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4)


def shift_matrix(
    options: Sequence[str],
    sets: Sequence[Sequence[str]],
    *,
    chosen: str,
    added: str,
    strength: float,
    as_printed: bool = False,
) -> np.ndarray:
    """Build the reverse matrix F' in which some who chose one option would accept another too.

    Parameters
    ----------
    options : sequence of str, length K
        The options.
    sets : sequence of sequence of str, length Q
        The admissible response sets.
    chosen, added : str
        Raters who chose the first would also accept the second.
    strength : float
        The source's beta: with this probability, in [0, 1].
    as_printed : bool, default False
        Send them to the set {added}, as the source's Table 2 prints, rather than to
        {chosen, added}. The printed set leaves out what was chosen, which the source's own model
        excludes.

    Returns
    -------
    numpy.ndarray, shape (Q, K)
        Columns sum to 1.

    Raises
    ------
    InputError
        Where an option is unknown, `strength` is not a probability, or the set is not admissible.

    References
    ----------
    Source 5, Section 7 and Table 2.
    """
    places = {frozenset(s): i for i, s in enumerate(sets)}
    target = frozenset({added} if as_printed else {chosen, added})
    with checking("shift_matrix") as require:
        for name in (chosen, added):
            require(name in options, f"{name!r} is no option; there are {list(options)}")
        require(chosen != added, "chosen and added must differ")
        require(0 <= strength <= 1, f"strength must lie in [0, 1], got {strength!r}")
        known = {chosen, added} <= set(options)
        require(target in places or not known, f"{sorted(target)} is no admissible response set")
    matrix = np.zeros((len(sets), len(options)))
    for k, option in enumerate(options):
        matrix[places[frozenset({option})], k] = 1.0
    k = list(options).index(chosen)
    matrix[places[frozenset({chosen})], k] -= strength
    matrix[places[target], k] += strength
    return matrix


def shift_sweep(
    ratings: Ratings,
    *,
    chosen: str | None = None,
    added: str | None = None,
    strengths: Sequence[float] = STRENGTHS,
    matrices: Mapping[Any, np.ndarray] | None = None,
    of: Sequence[Definition] | None = None,
    ties: str = "share",
) -> pd.DataFrame:
    """Evaluate every judge while people's choices hide more and more.

    Parameters
    ----------
    ratings : Ratings
        Of people and judges. Judges' endorsements are taken as counted.
    chosen, added : str, optional
        People who chose the first may also accept the second; by default the positive option is
        the one added, and the other one chosen, where there are two.
    strengths : sequence of float
        The probabilities to try.
    matrices : mapping of float or str to array of shape (Q, K), optional
        Any reverse matrices F' instead, by the name under which they are shown.
    of : sequence of Definition, optional
        What to evaluate; `definitions` by default.
    ties : {"share", "first"}
        See `aggregate`.

    Returns
    -------
    pandas.DataFrame
        Columns ``strength``, ``definition``, ``judge``, ``value``, ``rank`` (1 is best) and
        ``chosen_best``: the decision consistency at the definition's cutoff of the judge that the
        definition would select. Rows whose judge is ``"people"`` hold ``prevalence (at …)``.

    Raises
    ------
    InputError
        Where an option is unknown or there is no judge.

    References
    ----------
    Source 5, Figures 7 and 8.
    """
    with checking("shift_sweep") as require:
        require(ratings.judges, "there is no judge among the sources")
        named = matrices is not None or (chosen and added) or len(ratings.options) == 2
        require(named, f"name chosen= and added= among {list(ratings.options)}")
    if matrices is None:
        added = added or ratings.positive
        chosen = chosen or next(o for o in ratings.options if o != added)
        matrices = {
            beta: shift_matrix(
                ratings.options, ratings.sets or (), chosen=chosen, added=added, strength=beta
            )
            for beta in strengths
        }
    every = tuple(of or definitions())
    profiles = {name: ratings.profile(name) for name in ratings.sources or ()}
    common = ~np.any([np.isnan(p.endorsed[:, 0]) for p in profiles.values()], axis=0)
    profiles = {name: p.items(common) for name, p in profiles.items()}
    rows = []
    for beta, matrix in matrices.items():
        people = profile_under(profiles[PEOPLE].chosen, matrix, ratings.members)
        positive = ratings.positive_index
        for d in every:
            at = Definition("decision_consistency", cutoff=d.cutoff)
            values = [
                d.value(profiles[j], people, positive=positive, ties=ties) for j in ratings.judges
            ]
            decides = [at.value(profiles[j], people, positive=positive) for j in ratings.judges]
            ranks = pd.Series(d.loss(values)).rank(method="average").to_numpy()
            best = decides[int(np.argmin(ranks))]
            for j, v, r in zip(ratings.judges, values, ranks, strict=True):
                rows.append((beta, str(d), j, float(v), float(r), float(best)))
        for cutoff in dict.fromkeys(d.cutoff for d in every):
            p = float(prevalence_at(people, positive=positive, cutoff=cutoff))
            rows.append((beta, f"prevalence (at {cutoff:g})", PEOPLE, p, np.nan, np.nan))
    columns = ["strength", "definition", "judge", "value", "rank", "chosen_best"]
    return pd.DataFrame(rows, columns=columns)
