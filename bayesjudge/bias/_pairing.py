"""Reader of a table of scores: each re-judged score paired with its baseline."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesjudge.core.counting import distinct
from bayesjudge.core.errors import InputError, Problem, checking
from bayesjudge.core.numbers import scores_of
from bayesjudge.core.screen import how_many
from bayesjudge.core.tables import columns_of, read_rows
from bayesjudge.core.words import words_for

if TYPE_CHECKING:
    import pandas as pd


#: What a neighbour of a judgment context is.
DESIGNS = words_for("perturbation_designs")
#: Name of the judge if no column names one, and of the score of which a wide table has columns.
ALONE, RELEASED = "judge", "score"
#: Columns of what was read that are no scores; the scores are numbered, whatever they are called.
KEYS = ["item", "judge", "variant"]


class Columns(NamedTuple):
    """Names of the columns that are read; without a variant the scores are one per variant."""

    item: str
    variant: str | None
    scores: tuple[str, ...]
    judge: str | None


def read_table(
    table: Any,
    columns: Columns,
    baseline: str,
    reruns: tuple[str, ...],
    scale: tuple[float, float],
) -> pd.DataFrame:
    """Scores of each item, judge and variant, which are categories; the baseline is the first."""
    import pandas as pd

    wide = columns.variant is None
    if wide:
        _require_wide(columns, baseline, reruns)
    else:
        _require_variant(table, columns)
    wanted = [name for name in (columns.item, columns.variant, columns.judge) if name is not None]
    frame = read_rows(table, *columns.scores, names=wanted)
    with checking("bias.Shifts.from_frame") as require:
        variants = list(columns.scores) if wide else sorted(frame[columns.variant].unique())
        for name in (baseline, *reruns):
            near = get_close_matches(name, variants, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {variants}"
            problem = f"no variant {name!r}; {hint}"
            require(
                name in variants, Problem(problem, "no-variant", "baseline", name, (*variants,))
            )
        require(baseline not in reruns, f"{baseline!r} cannot be both baseline and rerun")
        require(len(variants) >= 2, "there is nothing to compare the baseline with")
    scores = _scores_of(frame, columns.scores, scale)
    keys: dict[Any, Any] = {
        "item": frame[columns.item],
        "judge": frame[columns.judge] if columns.judge else ALONE,
    }
    if wide:
        each = [
            pd.DataFrame({**keys, "variant": name, 0: values}) for name, values in scores.items()
        ]
        rows = pd.concat(each, ignore_index=True)
    else:
        numbered: dict[Any, Any] = dict(enumerate(scores.values()))
        rows = pd.DataFrame({**keys, "variant": frame[columns.variant], **numbered})
    others = [name for name in dict.fromkeys(rows["variant"]) if name != baseline]
    return rows.assign(
        item=pd.Categorical(rows["item"], rows["item"].unique()),
        judge=pd.Categorical(rows["judge"]),
        variant=pd.Categorical(rows["variant"], [baseline, *others]),
    )


def _require_variant(table: Any, columns: Columns) -> None:
    """Say how a wide table is read, if that is what it seems to be."""
    have = columns_of(table)
    wide = columns.variant not in have and len(columns.scores) > 1 and {*columns.scores} <= {*have}
    with checking("bias.Shifts.from_frame") as require:
        several = f"score={list(columns.scores)}"
        problem = (
            f"no column {columns.variant!r}; if {several} are the scores of one item before and "
        )
        problem += "after changes, say variant=None"
        require(not (have and wide), Problem(problem, "no-column", "variant", columns.variant))


def _require_wide(columns: Columns, baseline: str, reruns: tuple[str, ...]) -> None:
    """Refuse columns of scores that are not one per variant."""
    names = columns.scores
    with checking("bias.Shifts.from_frame") as require:
        require(
            len({*names}) == len(names) > 1,
            f"score={list(names)}: of a wide table (variant=None) name the columns of the score, "
            "one per variant, each once",
        )
        both = [name for name in names if name in (columns.item, columns.judge)]
        require(not both, f"{both} name the item or the judge")
        for name in (baseline, *reruns):
            problem = f"no column {name!r} among score={list(names)}, one per variant"
            require(name in names, Problem(problem, "no-column", "score", name, names))


def _scores_of(
    rows: pd.DataFrame, scores: tuple[str, ...], scale: tuple[float, float]
) -> dict[str, np.ndarray]:
    """Numbers on the scale, by column."""
    low, high = scale
    numbers: dict[str, np.ndarray] = {}
    problems: list[str | Problem] = []
    for name in scores:
        try:
            numbers[name] = scores_of(rows[name], scale=scale)
        except InputError as error:
            problems += [problem.of(error.subject) for problem in error.problems]
            continue
        bad = numbers[name][(numbers[name] < low) | (numbers[name] > high)]
        if bad.size:
            problems.append(
                f"{bad.size} scores in column {name!r} lie outside the scale {scale}, for "
                f"example {bad[:3].tolist()}"
            )
    if problems:
        raise InputError("bias.Shifts.from_frame", problems)
    return numbers


def read_fields(
    table: Any,
    columns: Columns,
    *,
    scale: tuple[float, float],
    design: str,
    baseline: str,
    reruns: tuple[str, ...],
    repeats: str | None,
    missing: str | None,
) -> dict[str, Any]:
    """Read the fields of `Shifts`; the arguments are those of its ``from_frame``."""
    with checking("bias.Shifts.from_frame") as require:
        require_scale(scale, require)
        require_design(design, require)
        require(missing in (None, "drop", "worst"), f"missing={missing!r}: drop or worst")
    rows = read_table(table, columns, baseline, reruns, scale)
    items, judges, variants = (tuple(rows[key].cat.categories) for key in KEYS)
    scores = columns.scores if columns.variant is not None else (RELEASED,)
    released, averaged = take_repeats(rows, baseline, repeats)
    others, after, before = pair_with_baseline(released, baseline)
    lost = (np.isnan(after) | np.isnan(before)).any(axis=1)
    item, judge, variant = (others[key].cat.codes.to_numpy(int) for key in KEYS)
    index = {"item": item, "judge": judge, "perturbation": variant - 1}
    shift, kept = after - before, ~lost
    if missing == "worst":
        shift, kept = _furthest(shift, before, scale), np.full(len(others), fill_value=True)
    neighbour, short = np.arange(len(others)), False
    if design == "batch":
        # all rows of one judge, perturbation and repeat
        neighbour = distinct(np.stack([judge, variant, others["repeat"]], axis=1))[1]
        short = bool((np.bincount(neighbour) < len(items)).any())
        kept &= (np.bincount(neighbour, weights=kept) == len(items))[neighbour]
    missing_n = np.zeros((len(judges), len(variants) - 1), dtype=int)
    np.add.at(missing_n, (judge[lost], variant[lost] - 1), 1)
    with checking("bias.Shifts.from_frame") as require:
        require(
            not short,
            "some batches lack rows; give every item a row in each batch, with an empty score "
            "if there is none",
        )
        require(missing or not lost.any(), "scores-missing", n=lost.sum())
        require(kept.any(), "no neighbour is complete" + (" (whole batches)" * (design == "batch")))
    return {
        "shift": shift[kept],
        **{name: places[kept] for name, places in index.items()},
        "neighbour": np.unique(neighbour[kept], return_inverse=True)[1],
        "items": items,
        "judges": judges,
        "perturbations": variants[1:],
        "scale": (float(scale[0]), float(scale[1])),
        "design": design,
        "reruns": reruns,
        "scores": scores,
        "missing": missing_n,
        "missing_as": missing if lost.any() and missing else "",
        "averaged": averaged,
        **count_cells(rows, baseline, reruns),
    }


def _furthest(shift: np.ndarray, before: np.ndarray, scale: tuple[float, float]) -> np.ndarray:
    """Put the largest possible shift if one is missing."""
    low, high = scale
    up, down = high - before, low - before
    worst = np.where(up >= -down, up, down)
    worst = np.where(np.isnan(before), high - low, worst)
    return np.where(np.isnan(shift), worst, shift)


def take_repeats(rows: pd.DataFrame, baseline: str, repeats: str | None) -> tuple[Any, int]:
    """One row per released score: repeats averaged or numbered, and how many are averaged."""
    sizes = rows.groupby(KEYS, sort=False, observed=True).size()
    several = sizes[sizes > 1]
    base = several[several.index.get_level_values("variant") == baseline]
    with checking("bias.Shifts.from_frame") as require:
        allowed = (None, "mean", "neighbours")
        require(repeats in allowed, f"repeats={repeats!r}: expected mean or neighbours")
        example = dict(zip(KEYS, several.index[0], strict=True)) if len(several) else {}
        problem = (
            f"{len(several)} combinations of {KEYS} have several scores, for example {example}; "
            "say what they are: repeats='mean' (the released score is their mean) or "
            "repeats='neighbours' (each is a neighbour of its own)"
        )
        require(several.empty or repeats, Problem(problem, "repeated-items", "repeats", example))
        require(
            repeats != "neighbours" or base.empty,
            f"the baseline has several scores for {how_many(len(base), 'item')}, and only one can "
            "be the released one; name the others as a variant and pass it as rerun=",
        )
    if repeats == "mean":
        each = rows.groupby(KEYS, sort=False, observed=True)
        means = each.mean().where(each.count().eq(each.size(), axis=0)).reset_index()
        return means.assign(repeat=0), int(sizes.mode().iloc[0])
    return rows.assign(repeat=rows.groupby(KEYS, sort=False, observed=True).cumcount()), 1


def pair_with_baseline(
    rows: pd.DataFrame, baseline: str
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Put each re-judged score beside the baseline of its item and judge."""
    import pandas as pd

    scores = [name for name in rows.columns if name not in (*KEYS, "repeat")]
    is_base = rows["variant"] == baseline
    base = rows[is_base].set_index(["item", "judge"])[scores]
    others = rows[~is_base].reset_index(drop=True)
    keys = pd.MultiIndex.from_frame(others[["item", "judge"]])
    lacking = keys[~keys.isin(base.index)].unique()
    with checking("bias.Shifts.from_frame") as require:
        require(
            lacking.empty,
            f"{len(lacking)} re-judged items have no baseline row, for example "
            f"{lacking[:3].tolist()} (item, judge)",
        )
    before = base.reindex(keys).to_numpy(float)
    return others, others[scores].to_numpy(float), before


def count_cells(
    rows: pd.DataFrame, baseline: str, reruns: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Sufficient statistics of the normal model, which is of one score."""
    score, *more = [name for name in rows.columns if name not in KEYS]
    if more:
        return {}
    items, judges, variants = (rows[key].cat.categories for key in KEYS)
    changed = [name for name in variants if name not in (baseline, *reruns)]
    cell = np.array([1 + changed.index(name) if name in changed else 0 for name in variants])
    rows = rows.dropna(subset=[score])
    item, judge, variant = (rows[key].cat.codes.to_numpy(int) for key in KEYS)
    shape, place = (len(judges), len(items), 1 + len(changed)), (judge, item, cell[variant])
    values = rows[score].to_numpy(float)
    counts, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
    np.add.at(counts, place, 1)
    np.add.at(sums, place, values)
    means = sums / np.maximum(counts, 1)
    np.add.at(squares, place[0], (values - means[place]) ** 2)
    freedom = np.maximum(counts - 1, 0).sum(axis=(1, 2))
    return {"counts": counts, "means": means, "squares": squares, "freedom": freedom}


def require_scale(scale: Any, require: Any) -> None:
    """Note a problem unless `scale` is a lowest and a highest score."""
    pair = isinstance(scale, tuple | list) and len(scale) == 2
    require(
        pair and scale[0] < scale[1],
        f"scale={scale!r}: expected the lowest and the highest possible score, such as (1, 5); "
        "float('inf') if there is no bound",
    )


def require_design(design: object, require: Any) -> None:
    """Note a problem unless `design` is one of `DESIGNS`."""
    known = "; ".join(f"{name!r}: {meaning}" for name, meaning in DESIGNS.items())
    require(design in DESIGNS, f"design={design!r}: what is a neighbour? {known}")
