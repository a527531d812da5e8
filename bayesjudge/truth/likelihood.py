r"""The likelihood of verdicts and labels, each item's truth summed out: one for all judges.

.. math:: \log L = \sum_p n_p \log \sum_z [z \text{ allowed by the label}]\, \pi_{g(p)}(z)\,
          \prod_j C_j(r_{pj} \mid z)

over patterns p of responses, label and group, each with n items. Where labelled items do not tell
the shares, :math:`\pi` is left out of theirs. In PyMC as counts of the patterns, as a sum for the
sampler, and as one variable per item; in NumPy for draws, from which all is derived that follows
sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesjudge.core.counting import distinct, draw_patterns, weigh_patterns
from bayesjudge.truth.components import Component
from bayesjudge.truth.patterns import Patterns
from bayesjudge.verdicts.table import MISSING, Verdicts

if TYPE_CHECKING:
    import xarray as xr

#: Log probability of a class that a label rules out: exp of it is 0, and it has a gradient.
RULED_OUT = -1e6
#: Keeps a logarithm finite if a rate is 0.
TINY = 1e-300
#: Numbers that are computed at once, of a block of draws.
AT_ONCE = 4_000_000
#: Judges whose responses are looked up together: of six there are 729 distinct ones at most.
GROUP, MOST_IN_GROUPS = 6, 36


# Tables -------------------------------------------------------------------------------------------


def missing_as_response(table: Verdicts) -> Verdicts:
    """Make a verdict that was not given one more response."""
    said = (*(table.responses or ()), "-")
    response = np.where(table.response == MISSING, len(said) - 1, table.response)
    return replace(table, response=response, responses=said)


def rows_of(table: Verdicts, rows: np.ndarray) -> Verdicts:
    """Some of the patterns."""
    each = {
        name: getattr(table, name)[rows]
        for name in ("response", "truth", "group", "count", "about")
    }
    return replace(table, **each)


def group_of_shares(table: Verdicts) -> np.ndarray:
    """Group of each pattern; one beyond the last for labels whose shares say nothing."""
    return np.where(table.tells, table.group, len(table.groups)).astype("int32")


def log_allowed(table: Verdicts) -> np.ndarray:
    """0 for the classes that an item can have, and RULED_OUT for those that its label denies."""
    allowed = np.eye(len(table.classes))[table.truth]
    allowed[~table.is_labelled] = 1
    return np.where(allowed > 0, 0.0, RULED_OUT)


def given_responses(table: Verdicts, by: str | None = "judge") -> np.ndarray:
    """How often each pattern has each response of whoever has errors of its own.

    One column for each (judge, response); a judge who looked twice counts twice.
    """
    size = len(table.responses or ())
    whose, many = _whose(table, by)
    given = np.zeros((len(table.response), many * size))
    row, column = np.nonzero(table.response != MISSING)
    np.add.at(given, (row, whose[row, column] * size + table.response[row, column]), 1.0)
    return given


def _whose(table: Verdicts, by: str | None) -> tuple[np.ndarray, int]:
    """Whose errors each response has, and of how many there are."""
    shape = table.response.shape
    if by == "judge":
        return np.broadcast_to(table.judge_of_column, shape), len(table.judges)
    if by == "group":
        return np.broadcast_to(table.group[:, None], shape), len(table.groups)
    return np.zeros(shape, int), 1


def flat_table(table: Any) -> Any:
    """Log probability of a response, (judge and response, truth), of one by judge and truth."""
    judges, k, r = (table.shape[i] for i in range(3))
    return table.transpose(0, 2, 1).reshape((judges * r, k))


# Draws, in NumPy ----------------------------------------------------------------------------------


def some_draws(fit: Any, draws: np.ndarray | None = None) -> xr.Dataset:
    """Posterior draws of a fit, some of them as one dimension ``sample`` if they are named."""
    import xarray as xr

    posterior = fit.idata["posterior"].to_dataset()
    if draws is None:
        return posterior
    n = posterior.sizes["draw"]
    chosen = {"chain": ("sample", draws // n), "draw": ("sample", draws % n)}
    return posterior.isel({k: xr.Variable(*v) for k, v in chosen.items()})


def by_sample(draws: xr.Dataset | Mapping[str, np.ndarray], name: str) -> np.ndarray:
    """Draws of one variable, of all chains one after another."""
    values = draws[name]
    if isinstance(values, np.ndarray):
        return values
    first = [dim for dim in ("chain", "draw", "sample") if dim in values.dims]
    array = values.transpose(*first, ...).to_numpy()
    return array.reshape(-1, *array.shape[len(first) :])


def log_sum(logs: np.ndarray, axis: int = -1) -> np.ndarray:
    """Logarithm of a sum of exponentials: most of the time would be logsumexp's checks."""
    peak = logs.max(axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(logs - peak).sum(axis=axis))
    return total + np.squeeze(peak, axis)


def table_of_draws(part: Component, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """A component's logarithms of probabilities by draw, all finite."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(part.log_table(values, np), np.log(TINY)))


def log_joint(
    table: Verdicts, shares: Component | None, errors: Component, draws: Any
) -> Iterator[np.ndarray]:
    """Log probability of each pattern's responses and of each class, for blocks of draws.

    Of the responses alone where a label does not tell the shares, or there are none: then the
    errors say all.

    Yields
    ------
    numpy.ndarray, shape (draws, n_patterns, n_classes)
    """
    parts = [part for part in (shares, errors) if part is not None]
    values = {name: by_sample(draws, name) for part in parts for name in part.names}
    total = len(next(iter(values.values())))
    classes, weight = len(table.classes), errors.log_weight
    nodes = 1 if weight is None else len(weight)
    keys = np.column_stack([table.response + 1, _whose(table, errors.by)[0]])
    first, at = distinct(keys.astype(np.int64))  # the same on all groups' items, labelled or not
    once = rows_of(table, first)
    responses = len(table.responses or ())
    wide = _whose(table, errors.by)[1] * responses
    step = max(AT_ONCE // ((len(at) + (len(first) + wide) * nodes) * classes), 1)
    for start in range(0, total, step):
        block = {name: value[start : start + step] for name, value in values.items()}
        logs = table_of_draws(errors, block)
        logs = logs if weight is not None else logs[..., None]
        by_node = _of_responses(once, errors.by, logs)
        by_class = log_sum(by_node + (0.0 if weight is None else weight))
        joint = by_class[:, at]
        if shares is not None:
            share = table_of_draws(shares, block)[:, table.group]
            joint = joint + np.where(table.tells[:, None], share, 0.0)
        yield joint


def _of_responses(table: Verdicts, by: str | None, logs: np.ndarray) -> np.ndarray:
    """Log probability of responses: draw, pattern, class and node."""
    draws, whose, classes, responses, nodes = logs.shape
    if table.response.shape[1] == 1:  # one judge: each response is one entry of the table
        code = table.response[:, 0]
        by_response = logs[:, _whose(table, by)[0][:, 0], :, np.maximum(code, 0)]
        return np.where((code == MISSING)[:, None, None], 0.0, np.moveaxis(by_response, 0, 1))
    flat = logs.transpose(0, 1, 3, 2, 4).reshape(draws, whose * responses, classes * nodes)
    return (given_responses(table, by) @ flat).reshape(draws, -1, classes, nodes)


def truth_given_responses(joint: np.ndarray) -> np.ndarray:
    """Probability of each class, of the logarithms that `log_joint` yields."""
    chance = np.exp(joint - joint.max(axis=-1, keepdims=True))
    return chance / chance.sum(axis=-1, keepdims=True)


def drawn_truths(
    table: Verdicts, blocks: Iterator[np.ndarray], unknown: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Items by draw, group and class: known truths counted, the others drawn given responses.

    Of the items that the estimate is about; `blocks` are of the patterns `unknown`.
    """
    size, classes = len(table.groups), len(table.classes)
    known = np.zeros((size, classes))
    settled = np.flatnonzero(table.is_labelled & table.about)
    np.add.at(known, (table.group[settled], table.truth[settled]), table.count[settled])
    of_group = (np.arange(size)[:, None] == table.group[unknown]).astype(float)
    count, truths = table.count[unknown], []
    for joint in blocks:
        chance = truth_given_responses(joint)
        if classes == 2:
            good = rng.binomial(count, np.clip(chance[..., 1], 0, 1))
            drawn = np.stack([count - good, good], axis=-1)
        else:
            drawn = rng.multinomial(count, chance)
        truths.append(of_group @ drawn)
    return np.concatenate(truths) + known


def draw_responses(
    table: Verdicts,
    log_share: np.ndarray,
    log_errors: np.ndarray,
    log_weight: np.ndarray | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """Responses anew for the same items, one per row, with the same ones missing, by one draw.

    Truths that nobody knows are drawn with them, and so is a shared effect, among its nodes.
    """
    classes, rows = len(table.classes), np.arange(len(table.truth))
    share = np.exp(log_share)[table.group]
    drawn = (share.cumsum(axis=1)[:, :-1] < rng.random((len(rows), 1))).sum(axis=1)
    truth = np.where(table.truth == MISSING, drawn, table.truth)
    chance = np.exp(log_errors[:, :, :classes])  # judge, truth, verdict and, if so, node
    chance = chance / chance.sum(axis=2, keepdims=True)
    of_item: tuple[Any, ...] = (slice(None), truth)
    if log_weight is not None:
        node = rng.choice(len(log_weight), len(rows), p=np.exp(log_weight))
        by_judge = np.moveaxis(chance, 3, 2)[:, truth, node]
    else:
        by_judge = chance[of_item]
    rates = by_judge[table.judge_of_column]  # column, item and verdict
    below = rates.cumsum(axis=-1)[..., :-1] < rng.random((*rates.shape[:2], 1))
    return np.where(table.response == MISSING, MISSING, below.sum(axis=-1).T)


# Graphs, in PyMC ----------------------------------------------------------------------------------


def with_nothing_known(table: Verdicts, log_share: Any) -> Any:
    """Shares with a row more, of 1, for labels whose shares say nothing."""
    import pytensor.tensor as pt

    if table.tells.all():
        return log_share
    return pt.concatenate([log_share, pt.zeros((1, len(table.classes)))])


def binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Counts that were seen; a single one is an array too, as ArviZ's plots ask."""
    import pymc as pm
    import pytensor.tensor as pt

    if dims is None:
        dims = "outputs"
        pm.modelcontext(None).add_coord(dims, ("",))
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    total = pm.Data(f"{name}_of", np.atleast_1d(np.asarray(trials, dtype=float)), dims=dims)
    seen = pm.Data(f"{name}_seen", np.atleast_1d(np.asarray(successes, dtype=float)), dims=dims)
    pm.Binomial(name, total.astype("int64"), pt.atleast_1d(rate), observed=seen, dims=dims)


def add_binomial(name: str, successes: Any, trials: Any, rate: Any, dims: str | None) -> None:
    """Their density for the sampler, without what does not depend on the rate."""
    import pymc as pm
    import pytensor.tensor as pt

    seen, failed = np.asarray(successes, float), np.asarray(trials, float) - successes
    right = pm.Data(f"{name}_seen", seen, dims=dims)
    wrong = pm.Data(f"{name}_failed", failed, dims=dims)
    pm.Potential(name, (right * pt.log(rate) + wrong * pt.log1p(-rate)).sum())


def multinomial(name: str, counts: Any, shares: Any, dims: tuple[str, ...]) -> None:
    """Counts that were seen."""
    import pymc as pm

    counts = np.asarray(counts)
    # as floats: PyMC makes whole numbers int32, which wraps around at 2,147,483,647 items
    seen = pm.Data(f"{name}_seen", counts.astype(float), dims=dims)
    of = np.asarray(counts.sum(axis=-1), float)
    total = pm.Data(f"{name}_of", of, dims=dims[:-1] or None)
    pm.Multinomial(name, total.astype("int64"), shares, observed=seen, dims=dims)


def observe_given_truth(
    counts: tuple[np.ndarray, np.ndarray],
    share: Any,
    rows: Any,
    dims: tuple[str, ...],
    labels_tell: bool,
) -> None:
    """Verdicts of one judge on unlabelled items, on items of each class, and labels' classes.

    `dims` are those of groups, if there are any, of classes and of verdicts. Labels' classes are
    observed only if their shares are those of all items (`labels_tell`).
    """
    (test, labelled), by = counts, dims[:-2]
    multinomial("test", test, (share[..., None] * rows).sum(axis=-2), (*by, dims[-1]))
    multinomial("labelled", labelled, rows, dims)
    if labels_tell:
        multinomial("labelled_truth", labelled.sum(axis=-1), share, dims[:-1])


def log_patterns(table: Verdicts, log_share: Any, log_errors: Any, errors: Component) -> Any:
    """Log probability of the responses and label of each pattern."""
    import pymc as pm
    import pytensor.tensor as pt

    model = pm.modelcontext(None)
    model.add_coord("row", np.arange(len(table.count)))
    group = pm.Data("group_of_row", group_of_shares(table), dims="row")
    allowed = pm.Data("log_allowed", log_allowed(table), dims=("row", "truth"))
    # the same responses on several groups' items, labelled or not, are looked at once
    first, ballot = distinct(table.response + 1)
    model.add_coord("ballot", first)
    at = pm.Data("ballot_of_row", ballot.astype("int32"), dims="row")
    said = [f"{judge}: {response}" for judge in table.judges for response in table.responses or ()]
    model.add_coord("judge_response", said)
    given = given_responses(rows_of(table, first))
    given = pm.Data("given_responses", given, dims=("ballot", "judge_response"))
    if errors.log_weight is None:
        by_class = given @ flat_table(log_errors)
    else:
        judges, k, r, n = (log_errors.shape[i] for i in range(4))
        flat = log_errors.transpose(0, 2, 1, 3).reshape((judges * r, k * n))
        by_node = pt.dot(given, flat).reshape((given.shape[0], k, n))
        by_class = pt.logsumexp(by_node + errors.log_weight, axis=2)
    share = with_nothing_known(table, log_share)[group]
    return pt.logsumexp(by_class[at] + share + allowed, axis=1)


def observe_patterns(table: Verdicts, log_share: Any, log_errors: Any, errors: Component) -> None:
    """How many items have the responses and label of each row, and how many have any others."""
    log_p = log_patterns(table, log_share, log_errors, errors)
    patterns = Patterns.of(table)
    observe_counts(
        "items", log_p, patterns.group, patterns.chosen, patterns.count, names=patterns.names
    )


def observe_counts(
    name: str,
    log_p: Any,
    group: np.ndarray,
    weight: np.ndarray,
    count: np.ndarray,
    names: Any = None,
) -> None:
    """How many items of a group have each pattern.

    The last pattern of each group stands for any other, of which `log_p`, the logarithm of each
    pattern's probability but for its weight, has none.
    """
    import pymc as pm
    import pytensor.tensor as pt

    pm.modelcontext(None).add_coord("pattern", np.arange(len(group)) if names is None else names)
    values = {"group_of_pattern": group.astype("int32"), "weight_of_pattern": weight}
    held = [pm.Data(n, v, dims="pattern") for n, v in (values | {"count": count}).items()]
    pm.CustomDist(
        name,
        # others only fill replicates
        pt.concatenate([log_p, pt.zeros(held[0].shape[0] - log_p.shape[0])]),
        *held,
        logp=weigh_patterns,
        random=draw_patterns,
        signature="(p),(p),(p),(p)->(p)",
        observed=held[-1],
        dims="pattern",
    )


def add_density(table: Verdicts, log_share: Any, log_errors: Any, errors: Component) -> None:
    """The same density for the sampler, of two classes at the cost of a logarithm a row.

    An unlabelled row has the log-probability of a bad item, plus softplus of the log-odds of a
    good one; a labelled one has that of its class. These are linear in logs of which there are
    few: they are counted once.
    """
    import pymc as pm
    import pytensor.tensor as pt

    if len(table.classes) > 2 or errors.log_weight is not None:
        log_p = log_patterns(table, log_share, log_errors, errors)
        pm.Potential("items", (pm.Data("count", table.count.astype(float)) * log_p).sum())
        return
    log_share = with_nothing_known(table, log_share)
    group, unknown = group_of_shares(table), ~table.is_labelled
    counted = np.eye(2)[np.where(unknown, 0, table.truth)] * table.count[:, None]
    by_group = np.zeros((len(table.groups) + (not table.tells.all()), 2))
    np.add.at(by_group, group, counted)
    given, flat = given_responses(table), flat_table(log_errors)
    shared = pm.Data("count_by_class", by_group)
    seen = pm.Data("responses_by_class", given.T @ counted)
    pm.Potential("counted", (seen * flat).sum() + (shared * log_share).sum())
    if not unknown.any():
        return
    count = pm.Data("count", table.count[unknown].astype(float))
    of_group = pm.Data("group_of_row", group[unknown])
    log_odds = (log_share[:, 1] - log_share[:, 0])[of_group]
    good = flat[:, 1] - flat[:, 0]
    # log-odds add up over groups of judges, each with few distinct responses
    for i, part in enumerate(_few_judges(len(table.judges), len(table.responses or ()))):
        here = given[unknown, part]
        first, at = distinct(here.astype(np.int64))
        rows = pm.Data(f"group_{i}_responses", here[first])
        log_odds = log_odds + (rows @ good[part])[pm.Data(f"group_{i}_of_row", at.astype("int32"))]
    # softplus, with one exponential for it and its slope
    both = pt.log1p(pt.exp(-pt.abs(log_odds))) + pt.maximum(log_odds, 0)
    pm.Potential("items", (count * both).sum())


def _few_judges(judges: int, width: int) -> list[slice]:
    """Columns of a few judges each; of all, if there are many, since most then did not vote."""
    each = GROUP if judges <= MOST_IN_GROUPS else judges
    begins = [i * width for i in range(0, judges, each)]
    return [slice(*ends) for ends in zip(begins, [*begins[1:], None], strict=True)]


def observe_items(table: Verdicts, log_share: Any, values: Any, errors: Any) -> None:
    """One row per item: its truth, which a label tells, and a response of each judge given it."""
    import pymc as pm
    import pytensor.tensor as pt

    rows = np.repeat(np.arange(len(table.count)), table.count)
    truth, codes = table.truth[rows], table.response[rows]
    item, column = np.nonzero(codes != MISSING)
    known = truth != MISSING
    model = pm.modelcontext(None)
    sizes = {"unlabelled_item": ~known, "labelled_item": known}
    model.add_coords({dim: np.flatnonzero(mine) for dim, mine in sizes.items()})
    model.add_coords({"item": np.arange(rows.size), "verdict_of_item": np.arange(item.size)})
    whose = _whose(table, errors.by)[0][rows]
    if log_share is None:  # classes with verdicts: shares are sums of them
        joint = errors.log_table(values, pt)
        shares = pt.exp(pt.logsumexp(joint, axis=-1))
        share, given = shares[whose[:, 0]], pt.exp(joint) / shares[..., None]
    else:
        share = pt.exp(log_share)[table.group[rows]]
    untold = np.flatnonzero(~table.tells[rows])
    if untold.size:  # what share of labelled items is good says nothing
        share = pt.set_subtensor(share[untold], 1 / len(table.classes))
    z = pt.as_tensor(truth)
    for name, (dim, mine) in zip(("item_truth", "item_label"), sizes.items(), strict=True):
        if mine.any():
            seen = truth[mine] if name == "item_label" else None
            at = np.flatnonzero(mine)
            z = pt.set_subtensor(z[at], pm.Categorical(name, share[at], observed=seen, dims=dim))
    whose = whose[item, column]
    if errors.log_weight is not None:
        effect = pm.Normal("item_effect", dims="item")
        chance = pt.exp(errors.at(values, pt, effect))[whose, z[item], :, item]
    else:
        given = pt.exp(errors.log_table(values, pt)) if log_share is not None else given
        chance = given[whose, z[item]]
    seen = codes[item, column]
    pm.Categorical("item_verdict", chance, observed=seen, dims="verdict_of_item")
