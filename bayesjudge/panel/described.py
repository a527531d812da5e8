"""What several methods say of themselves, and how their numbers become rows."""

from __future__ import annotations

from typing import Any

JAIN = "Jain et al. (2025), Beyond Consensus"
SAME_ERRORS = "each judge has the same error rates on every generator"
INDEPENDENT = "given the truth, the judges' votes on an item are independent"
EXCHANGEABLE = "the panel's bias on a new generator is like its bias on the labelled generators"
SAMPLED = "within each generator the labelled items are a random sample"


def rows_of(quantity: str, names: Any, columns: tuple[Any, ...]) -> dict[str, tuple[float, ...]]:
    """Make rows ``quantity[name]`` of an `Estimate`.

    Parameters
    ----------
    quantity : str
        What is estimated.
    names : sequence of str
        Of whom.
    columns : tuple of array_like
        Value, low, high (and raw), one entry a name.

    Returns
    -------
    dict
        For ``Estimate.from_rows``.
    """
    return {
        f"{quantity}[{name}]": tuple(float(column[i]) for column in columns)
        for i, name in enumerate(names)
    }
