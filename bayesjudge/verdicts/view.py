"""`View`: what the data of every question share that is asked of a table of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesjudge.core.errors import Require, expect
from bayesjudge.core.item_keys import ReadAtOnce
from bayesjudge.core.label_design import LabelDesign, design_of
from bayesjudge.core.names import require_names
from bayesjudge.core.periods import kind_of
from bayesjudge.core.public import public_name
from bayesjudge.verdicts.groups import adds_up


class View(ReadAtOnce):
    """Numbers of a table of verdicts, by system or stratum, and the table's label design."""

    calibration: Any
    systems: Any
    dim: Any = "system"
    propensity: Any

    @property
    def design(self) -> LabelDesign:
        """How the labelled items were chosen."""
        return design_of(self.calibration)

    @property
    def takes_labels_as_right(self) -> bool:
        """Whether a label is the truth of its item, and pass or fail."""
        return False

    @property
    def adds_up(self) -> bool:
        """Whether groups are parts of one whole, as strata are."""
        return adds_up(self.dim)

    @property
    def _names(self) -> Sequence[str]:
        """Names of groups; none of data without any."""
        return getattr(self, "systems", None) or ()

    @property
    def kind(self) -> str:
        """What `systems` are in a sentence: `dim`, or ``"period"`` if they are weeks, dates …"""
        return kind_of(self._names) if self.dim == "system" else str(self.dim)

    @property
    def places(self) -> list[str]:
        """Where each entry is, for a sentence: ``" in system 'x'"``, or ``""`` of one entry."""
        word = "of" if self.dim == "judge" else "in"
        return [f" {word} {self.kind} {name!r}" for name in self._names] or [""]

    def _place(self, name: str) -> int:
        """Where a system is, or an error that names those that there are."""
        names = list(self._names)
        problem = f"no {self.dim} {name!r}; there are {names}"
        expect(public_name(type(self)), name in names, problem)
        return names.index(name)

    def _require_groups(self, dims: Sequence[str], require: Require) -> None:
        """Note what names of systems, and propensities of strata, cannot be."""
        require(self.dim in dims, f"must be one of {list(dims)}", dim=self.dim)
        if self.systems is not None:
            require_names(self.systems, "systems", require)
        self._require_propensity(require)
        if self.propensity is not None:
            right = self.adds_up and np.shape(self.propensity) == np.shape(self.systems)
            require(right, "propensity= takes strata, and one number for each")

    def _require_propensity(self, require: Require) -> None:
        """Note propensities that the design does not ask for, or that are none."""
        stated = self.design.name == "known_propensity"
        words = "calibration='known_propensity' and propensity= come together"
        require(stated == (self.propensity is not None), words)
        if self.propensity is not None:
            inside = (self.propensity > 0) & (self.propensity <= 1)
            outside = self.propensity[~inside][:3].tolist()
            require(not outside, f"propensities must lie in (0, 1], got {outside}")
