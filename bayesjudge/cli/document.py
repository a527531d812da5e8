"""The machine's view of a command: one JSON document, with a version."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import bayesjudge
from bayesjudge.core.fit import Fit
from bayesjudge.core.report import side_by_side
from bayesjudge.core.estimate import Estimate

if TYPE_CHECKING:
    from bayesjudge.cli.common import Section, Shared, Story

#: Changes where a field changes its meaning or goes; a new field is no change.
SCHEMA = "bayesjudge/1"


def as_document(
    results: Sequence[Estimate | Fit],
    shared: Shared,
    story: Story,
    sections: Sequence[Section] = (),
) -> str:
    """Write results as JSON.

    Parameters
    ----------
    results : sequence of Estimate or Fit
        As they were made.
    shared : Shared
        Options of the command.
    story : Story
        What the command says of them.
    sections : sequence of Section
        What it says beside them; each is a field of its own.

    Returns
    -------
    str
        One object and a newline. ``schema`` names the version of this shape; ``estimates`` has one
        object a quantity and method, with null where the data give no answer.

    Raises
    ------
    InputError
        Where nothing was given.
    """
    summary: dict[str, Any] = {"ci_prob": shared.ci_prob, "interval": shared.interval}
    made = [one.estimate(**summary) if isinstance(one, Fit) else one for one in results]
    estimates = []
    for row in side_by_side(*results, **summary).to_dict("records"):
        name, _, label = str(row["quantity"]).partition("[")
        split = {"quantity": name, "label": label.removesuffix("]") or None}
        known = {"truth": story.truth.get(str(row["quantity"]))} if story.truth else {}
        estimates.append(row | split | known)
    document = {
        "schema": SCHEMA,
        "bayesjudge": bayesjudge.__version__,
        "command": story.command,
        "inputs": story.inputs,
        "ci_prob": shared.ci_prob,
        "estimates": estimates,
        **{section.key: section.fields for section in sections},
        "cautions": [c._asdict() for c in dict.fromkeys(c for one in made for c in one.cautions)],
        "assumptions": {one.method: one.assumptions for one in made},
        "sources": {one.method: one.source for one in made},
        "sampling": {one.method: sampling_of(one) for one in results if isinstance(one, Fit)},
    }
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def sampling_of(fit: Fit) -> dict[str, Any]:
    """Tell how a fit was sampled, and how well.

    Parameters
    ----------
    fit : Fit
        From any room.

    Returns
    -------
    dict
        Settings, convergence, versions.
    """
    sizes, checks = fit.idata["posterior"].sizes, fit.diagnostics()
    return {
        "chains": int(sizes["chain"]),
        "draws": int(sizes["draw"]),
        "converged": fit.converged,
        "max_r_hat": float(checks["r_hat"].max()),
        "min_ess": float(checks[["ess_bulk", "ess_tail"]].min().min()),
        **{str(k): v for k, v in fit.idata.attrs.items()},
    }


def _plain(value: Any) -> Any:
    """Values that JSON has: nothing else, and no NaN."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
