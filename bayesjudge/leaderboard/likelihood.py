"""Davidson's likelihood of wins and ties, and its maximum with a sandwich covariance by item."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from bayesjudge.core.errors import InputError, Problem
from bayesjudge.leaderboard.data import Battles

#: Newton's steps, and the largest change at which they end.
STEPS, CLOSE = 100, 1e-11
#: A parameter grows without end if it is larger, or the likelihood bends less in some direction.
LARGEST, FLAT = 25.0, 1e-9
#: Rows that follow a row and are held against it.
NEIGHBOURS = 3


class Rows(NamedTuple):
    """What a likelihood sees: the linear predictor's design, verdicts, counts and clusters."""

    #: Sparse, shape (n, p): one column per system, then the order and the style if they are asked.
    design: Any
    shares: np.ndarray
    n: np.ndarray
    #: Cluster of each row; None if battles are independent.
    item: np.ndarray | None


class Fitted(NamedTuple):
    """Estimates with the model's own covariance and the sandwich's, the tie parameter last."""

    value: np.ndarray
    inverse: np.ndarray
    covariance: np.ndarray


def rows_of(battles: Battles, source: str, *, order: bool, style: bool) -> Rows:
    """The rows on which a source gave a verdict."""
    shares = battles.shares(source)
    at = shares.any(axis=1)
    item = None if battles.item is None else battles.item[at]
    return Rows(design_of(battles, at, order=order, style=style), shares[at], battles.count[at],
                item)  # fmt: skip


def design_of(battles: Battles, at: np.ndarray, *, order: bool, style: bool) -> Any:
    """The linear predictor's design: strength of the first answer's system less the second's."""
    from scipy.sparse import csr_array, hstack

    first, second = battles.first[at], battles.second[at]
    n, row = len(first), np.arange(len(first))
    ones = np.ones(n)
    shape = (n, len(battles.systems))
    both = csr_array((ones, (row, first)), shape) - csr_array((ones, (row, second)), shape)
    more = [ones[:, None]] if order else []
    more += [battles.style[at][:, None]] if style else []
    return csr_array(hstack([both, *map(csr_array, more)])) if more else csr_array(both)


def chances(eta: np.ndarray, log_tie: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Davidson's probabilities of a win of the first, a tie and a win of the second.

    .. math:: P(first) \propto e^{\eta/2}, \quad P(tie) \propto \nu, \quad
              P(second) \propto e^{-\eta/2}

    `log_tie` is :math:`\log \nu`; minus infinity without ties.
    """
    half = eta / 2
    top = np.maximum(np.abs(half), log_tie)
    parts = np.exp(half - top), np.exp(log_tie - top), np.exp(-half - top)
    total = parts[0] + parts[1] + parts[2]
    return parts[0] / total, parts[1] / total, parts[2] / total


def log_chances(eta: np.ndarray, log_tie: Any, shares: np.ndarray) -> np.ndarray:
    """Log-likelihood of verdicts, each of weight 1; ``shares`` has them along its first axis."""
    half = eta / 2
    top = np.maximum(np.abs(half), log_tie)
    total = top + np.log(np.exp(half - top) + np.exp(log_tie - top) + np.exp(-half - top))
    tie = np.where(np.isfinite(log_tie), log_tie, 0.0)
    logs = (shares[0] - shares[2]) * half + shares[1] * tie - (shares.sum(axis=0)) * total
    return np.asarray(logs)


def slopes(
    eta: np.ndarray, log_tie: float, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of a row's log-likelihood by its predictor and the tie parameter.

    The first ones, then minus the second ones: by the predictor, by both, by the tie parameter.
    """
    first, tie, second = chances(eta, log_tie)
    gap = first - second
    whole = shares.sum(axis=1)
    by_eta = ((shares[:, 0] - shares[:, 2]) - whole * gap) / 2
    by_tie = shares[:, 1] - whole * tie
    curved = whole * (first + second - gap**2) / 4
    return by_eta, by_tie, curved, -whole * gap * tie / 2, whole * tie * (1 - tie)


def scores(rows: Rows, value: np.ndarray, ties: bool) -> Any:
    """Score of one battle of each row, sparse, shape (n, p)."""
    from scipy.sparse import csr_array, diags_array, hstack

    eta, log_tie = predictor(rows, value, ties)
    by_eta, by_tie, *_ = slopes(eta, log_tie, rows.shares)
    parts = [diags_array(by_eta) @ rows.design, csr_array(by_tie[:, None])]
    return csr_array(hstack(parts[: 1 + ties]))


def predictor(rows: Rows, value: np.ndarray, ties: bool) -> tuple[np.ndarray, float]:
    """The linear predictor and the tie parameter's logarithm."""
    p = rows.design.shape[1]
    return rows.design @ value[:p], float(value[p]) if ties else -np.inf


def maximise(
    parts: list[tuple[Rows, np.ndarray]], ties: bool, systems: int, ridge: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum of a sum of weighted log-likelihoods by Newton, and minus the second derivative.

    Strengths add to 0. A ridge is the precision of normal priors of all parameters.
    """
    p = parts[0][0].design.shape[1] + ties
    value = np.zeros(p)
    if ties:
        value[-1] = -1.0
    level = np.zeros((p, p))
    level[:systems, :systems] = 1 / systems

    def total(at: np.ndarray) -> float:
        logs = -ridge * (at @ at) / 2
        for rows, weight in parts:
            logs += weight @ log_chances(*predictor(rows, at, ties), rows.shares.T)
        return float(logs)

    def derivatives(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gradient, curved = -ridge * at, ridge * np.eye(p)
        for rows, weight in parts:
            slope, bend = _derivatives(rows, weight, at, ties)
            gradient, curved = gradient + slope, curved + bend
        return gradient, curved + max(np.trace(curved) / p, 1e-12) * level

    with _finite():
        value = climb(value, total, derivatives, CLOSE)
        flat = np.linalg.eigvalsh(derivatives(value)[1])[0] < FLAT
        if flat or np.abs(value).max() > LARGEST:
            raise np.linalg.LinAlgError
    value[:systems] -= value[:systems].mean()
    return value, sum((_derivatives(*part, value, ties)[1] for part in parts), ridge * np.eye(p))


def climb(
    value: np.ndarray,
    height: Callable[[np.ndarray], float],
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    close: float,
) -> np.ndarray:
    """The maximum, by Newton's steps, halved until they lead upwards.

    The second derivative is given with its sign turned. It ends where a step is below `close`.
    """
    now = height(value)
    for _ in range(STEPS):
        gradient, curved = derivatives(value)
        step = np.linalg.solve(curved, gradient)
        step *= min(1.0, 3.0 / max(np.abs(step).max(), 1e-12))
        new = height(value + step)
        while new < now - 1e-9 * max(1.0, abs(now)) and np.abs(step).max() > close:
            step /= 2
            new = height(value + step)
        value, now = value + step, new
        if np.abs(step).max() < close:
            break
    return value


@contextmanager
def _finite() -> Iterator[None]:
    """Refuse what has no finite maximum."""
    try:
        yield
    except np.linalg.LinAlgError:
        words = "no finite estimate: verdicts separate the systems, or the order or the lengths "
        words += "tell which system it is; CalibratedBattles has an answer"
        raise InputError("leaderboard", [Problem(words, "no-finite-estimate")]) from None


def _derivatives(
    rows: Rows, weight: np.ndarray, value: np.ndarray, ties: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of a weighted log-likelihood, and minus its second derivative."""
    from scipy.sparse import diags_array

    by_eta, by_tie, curved, both, tie = slopes(*predictor(rows, value, ties), rows.shares)
    gradient = rows.design.T @ (weight * by_eta)
    second = (rows.design.T @ (diags_array(weight * curved) @ rows.design)).toarray()
    if not ties:
        return gradient, second
    across = (rows.design.T @ (weight * both))[:, None]
    corner = np.array([[weight @ tie]])
    return np.append(gradient, weight @ by_tie), np.block([[second, across], [across.T, corner]])


def inverse_of(curved: np.ndarray, systems: int) -> np.ndarray:
    """Inverse on strengths that add to 0."""
    level = np.zeros_like(curved)
    scale = max(np.trace(curved) / len(curved), 1e-300)
    level[:systems, :systems] = scale / systems
    inverse = np.linalg.inv(curved + level)
    inverse[:systems, :systems] -= 1 / (scale * systems)
    return inverse


def outer(score: Any, count: np.ndarray, item: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Sum over clusters of the outer product of their scores, and how many clusters there are."""
    from scipy.sparse import csr_array, diags_array

    if item is None:
        return (score.T @ (diags_array(count.astype(float)) @ score)).toarray(), int(count.sum())
    place = np.unique(item, return_inverse=True)[1]
    n = int(place.max(initial=-1)) + 1
    summed = csr_array((count.astype(float), (place, np.arange(len(place)))), (n, len(place)))
    each = summed @ score
    return (each.T @ each).toarray(), n


def fit_source(rows: Rows, ties: bool, systems: int, ridge: float = 0.0) -> Fitted:
    """Maximum of one source's likelihood, with the sandwich by item."""
    value, curved = maximise([(rows, rows.n.astype(float))], ties, systems, ridge)
    inverse = inverse_of(curved, systems) if not ridge else np.linalg.inv(curved)
    middle, clusters = outer(scores(rows, value, ties), rows.n, rows.item)
    return Fitted(value, inverse, few_clusters(clusters, len(value)) * inverse @ middle @ inverse)


def few_clusters(clusters: int, parameters: int) -> float:
    """Correction of a sandwich for as many parameters as were fitted."""
    return clusters / max(clusters - parameters, 1)


def components(battles: Battles, source: str, connection: str = "strong") -> list[list[str]]:
    """Groups of systems within which a source's wins and ties lead from each to each other.

    With a weak connection, those that met, directly or by way of others.
    """
    from scipy.sparse.csgraph import connected_components

    seen = battles.counted(source)
    beat = seen[..., 0] + seen[..., 1] + (seen[..., 2] + seen[..., 1]).T
    n, group = connected_components(beat > 0, connection=connection)
    return [[battles.systems[int(i)] for i in np.flatnonzero(group == g)] for g in range(n)]


#: What `agreement_of_neighbours` says of tables that are still in use.
_agreements: WeakKeyDictionary[Battles, float] = WeakKeyDictionary()


def agreement_of_neighbours(battles: Battles) -> float:
    """How far verdicts on rows that follow each other go together, in standard errors.

    Scores of two independent verdicts have a product with mean 0; an answer that is better than its
    system moves the scores of all its battles the same way. What several sources say of two rows is
    one observation, since they may err alike.
    """
    if battles in _agreements:
        return _agreements[battles]
    k, products = len(battles.systems), np.zeros((NEIGHBOURS, len(battles.count)))
    for source in battles.sources:
        rows = rows_of(battles, source, order=battles.both_orders, style=False)
        if len(rows.n) > NEIGHBOURS and (rows.n == 1).all():
            fitted, ties = _with_ridge(rows, k)
            score = scores(rows, fitted.value, ties)[:, :k]
            at = np.flatnonzero(battles.shares(source).any(axis=1))
            for i in range(NEIGHBOURS):
                both = score[: -i - 1].multiply(score[i + 1 :])
                products[i, at[: -i - 1]] += both.sum(axis=1)
    errors = float(products.sum() / np.sqrt(max((products**2).sum(), 1e-12)))
    _agreements[battles] = errors
    return errors


def _with_ridge(rows: Rows, systems: int) -> tuple[Fitted, bool]:
    """A fit that is finite whatever was seen, and whether it has ties."""
    ties = bool(rows.shares[:, 1].any())
    return fit_source(rows, ties, systems, ridge=0.25), ties


def dispersion(battles: Battles, source: str) -> float:
    """How many battles tell as much as one independent one: the design effect of shared items.

    Of probabilities it is below 1, since they scatter less than wins do.
    """
    graded = battles.is_graded(source)
    rows = rows_of(battles, source, order=battles.both_orders, style=False)
    shared = rows.item is not None and len(np.unique(rows.item)) < rows.n.sum()
    if not (graded or shared) or not len(rows.n):
        return 1.0
    k = len(battles.systems)
    fitted, _ = _with_ridge(rows, k)
    centred = np.eye(k) - 1 / k
    wide, of_model = (np.trace(centred @ c[:k, :k]) for c in (fitted.covariance, fitted.inverse))
    return float(wide / of_model) if graded else max(1.0, float(wide / of_model))
