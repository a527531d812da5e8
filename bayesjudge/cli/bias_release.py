"""What ``bayesjudge bias`` says of released scores, and of the factors that explain scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
from cyclopts import Parameter

from bayesjudge import bias as room
from bayesjudge.cli.bias_certificates import CARD, Promise
from bayesjudge.cli.output import OUTPUT, Section, Shared, tell
from bayesjudge.cli.output import OUTPUT, Section, Shared, tell, write_csv
from bayesjudge.core.errors import checking

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@Parameter(name="*", group=CARD, negative="")
@dataclass(frozen=True)
class Released:
    """How scores are released under the certificate.

    Parameters
    ----------
    center_at : float
        Number that scores are shrunk towards, chosen without looking at them.
    release : Path
        Write the released scores to a CSV file, the judge's beside them. Text that a spreadsheet
        would run as a formula gets an apostrophe in front.
    """

    center_at: float | None = None
    release: Annotated[Path | None, Parameter(group=OUTPUT, negative="")] = None

    def check(self, promise: Promise) -> None:
        """Refuse what does not go together.

        Parameters
        ----------
        promise : Promise
            What is to be certified.

        Raises
        ------
        InputError
            Where a release has no certificate, or its folder is missing.
        """
        path = self.release
        with checking("options") as require:
            asked = path is not None or self.center_at is not None
            require(
                not asked or promise.tolerance is not None,
                "scores are released under a certificate: give --tolerance too",
            )
            folder = path is None or path.parent.is_dir()
            require(folder, f"--release: there is no folder {str(path and path.parent)!r}")
            needs = path is not None and promise.center != "mean" and promise.alpha != 1
            require(
                not needs or self.center_at is not None,
                "--release needs --center-at: the number that scores are shrunk towards, such as "
                "the middle of the scale, chosen without looking at these scores",
            )

    def make(
        self,
        before: pd.DataFrame,
        item: str,
        scores: Sequence[str],
        judge: str | None,
        cards: Mapping[str, room.Certificate],
        seed: int,
    ) -> dict[str, tuple[pd.DataFrame, room.Release]]:
        """Release the baseline's scores of each judge that has a certificate.

        Parameters
        ----------
        before : pandas.DataFrame
            Rows of the baseline.
        item, judge : str
            Columns; None where there is one judge.
        scores : sequence of str
            Columns.
        cards : mapping of str to Certificate
            By judge.
        seed : int
            Of the noise.

        Returns
        -------
        dict of str to (pandas.DataFrame, Release)
            Table of items and scores, and the release, by judge.
        """
        made = {}
        for name, card in cards.items():
            shrinks = card.center != "mean" and card.alpha < 1
            if not card.certified or (shrinks and self.center_at is None):
                continue
            own = before if judge is None else before[before[judge] == name]
            # a mean that lacks a score is none: `release` refuses it
            whole = own.groupby(item, sort=False)[list(scores)].mean(skipna=False)
            each = whole.reset_index()
            at = None if card.center == "mean" else self.center_at
            made[name] = (each, room.release(each[list(scores)], card, center=at, random_seed=seed))
        return made

    def sections(self, made: Mapping[str, tuple[pd.DataFrame, room.Release]]) -> list[Section]:
        """Tell what survives of the judge's ranking.

        Parameters
        ----------
        made : mapping
            From `make`.

        Returns
        -------
        list of Section
            One, or none.
        """
        lines, fields = [], []
        for name, (_, release) in made.items():
            last = release.text.splitlines()[-1]
            lines.append(f"{name}: {last}" if len(made) > 1 else last)
            correlation = release.correlation.to_dict()
            about = {"noise": release.noise, "center": release.center, **correlation}
            fields.append({"about": name, **about})
        return [Section("Released scores", lines, "released", fields)] if made else []

    def pictures(self, made: Mapping[str, tuple[pd.DataFrame, room.Release]]) -> dict[str, Axes]:
        """Draw the scores before and after.

        Parameters
        ----------
        made : mapping
            From `make`.

        Returns
        -------
        dict of str to matplotlib.axes.Axes
            By caption.
        """
        return {
            "Scores before and after" + (f": {name}" if len(made) > 1 else ""): (
                room.plot_release(release)
            )
            for name, (_, release) in made.items()
        }

    def write(self, made: Mapping[str, tuple[pd.DataFrame, room.Release]]) -> None:
        """Write the released scores, where a file was named.

        Parameters
        ----------
        made : mapping
            From `make`.
        """
        if self.release is None:
            return
        tables = []
        for name, (each, release) in made.items():
            columns = [f"released_{c}" for c in each.columns[1:]]
            out = pd.DataFrame(release.scores, columns=columns)
            tables.append(pd.concat([each, out], axis=1).assign(judge=name))
        if not tables:
            tell("no scores were released: nothing is certified")
            return
        write_csv(pd.concat(tables), self.release)
        tell(f"released scores written to {self.release}")


def adherence_of(
    before: pd.DataFrame,
    score: str,
    factors: Sequence[str] | None,
    judge: str | None,
    shared: Shared,
) -> list[Section]:
    """Tell how much of the baseline's scores their factor scores explain, by judge.

    Parameters
    ----------
    before : pandas.DataFrame
        Rows of the baseline.
    score : str
        Column of the overall score.
    factors : sequence of str or None
        Columns of the factor scores.
    judge : str or None
        Column of the judge.
    shared : Shared
        Options.

    Returns
    -------
    list of Section
        One, or none.

    Raises
    ------
    InputError
        Where there are too few rows, or scores do not vary.
    """
    if not factors:
        return []
    groups = {"": before} if judge is None else dict(list(before.groupby(judge)))
    lines, fields = [], []
    for name, rows in groups.items():
        how: dict[str, Any] = {"ci_prob": shared.ci_prob, "random_seed": shared.seed}
        found = room.schematic_adherence(rows, factors=factors, overall=score, **how)
        said = [f"{q} {r['value']:.3f} ({r['low']:.3f}, {r['high']:.3f})" for q, r in _rows(found)]
        said += [caution.text for caution in found.cautions]
        lines.append(f"{name}: " * bool(name) + "; ".join(said))
        fields.append({"about": name or None, **{q: dict(r) for q, r in _rows(found)}})
    return [Section("Schematic adherence", lines, "adherence", fields)]


def _rows(estimate: Any) -> list[tuple[str, Any]]:
    return list(estimate.table.iterrows())
