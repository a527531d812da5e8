"""Which model of a panel is meant."""

from __future__ import annotations

from typing import Any

from bayesjudge.core.errors import expect
from bayesjudge.core.fit import Fit
from bayesjudge.core.model import model_of, require_model
from bayesjudge.panel.data import Votes
from bayesjudge.panel.models._base import PanelModel
from bayesjudge.panel.recommend import recommend


def model_of_items(fit: Fit, subject: str) -> Any:
    """The model of a fit, which must say what is true of single items."""
    spec = fit.spec
    knows_items, name = hasattr(spec, "_truth_given_votes"), type(spec).__name__
    expect(f"panel.{subject}", knows_items, "no-items", name=name)
    return spec


@model_of.register(Votes)
def chosen_model(votes: Votes, model: PanelModel | None, subject: str = "fit") -> PanelModel:
    """The model, or the default one."""
    require_model(Votes, model, f"panel.{subject}")
    return recommend(votes).model if model is None else model
