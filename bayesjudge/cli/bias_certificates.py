"""What ``bayesjudge bias`` promises: certificates in words, as fields and as pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from cyclopts import Group, Parameter

from bayesjudge import bias as room
from bayesjudge.cli.output import Section
from bayesjudge.core.errors import checking
from bayesjudge.core.fit import Fit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CARD = Group("The certificate", sort_key=2.5)
UNITS_LESSON = (
    "--units is needed: what is --tolerance a number of?\n"
    "  points  score points\n"
    "  range   fractions of the scale's range"
)


@Parameter(name="*", group=CARD, negative="")
@dataclass(frozen=True)
class Promise:
    """What is to be certified.

    Parameters
    ----------
    tolerance : float
        How far released scores may move; asks for a certificate.
    units : {"points", "range"}
        What the tolerance is a number of: score points, or fractions of the scale's range.
    failure_prob : float
        Probability of moving further, the error of measuring few neighbours included.
    alpha : float
        Shrinkage factor to certify; by default the largest that can be. 1 leaves scores alone.
    center : {"fixed", "holdout", "mean"}
        What scores are shrunk towards: a number fixed beforehand, the mean of other items, or
        their own mean.
    noise_prob : float
        Part of the failure probability that noise on the released scores may use.
    road : {"tail", "rms", "predictive", "source"}
        What bounds the shifts; tail and rms hold for any distribution on the scale, source takes
        the measured RMS shift as true.
    """

    tolerance: float | None = None
    units: Literal["points", "range"] | None = None
    failure_prob: float = 0.05
    alpha: float | None = None
    center: Literal["fixed", "holdout", "mean"] = "fixed"
    noise_prob: float = 0.0
    road: Literal["tail", "rms", "predictive", "source"] = "tail"

    def check(self) -> None:
        """Refuse what does not go together.

        Raises
        ------
        InputError
            Where a tolerance has no units, or the other way round.
        """
        with checking("options") as require:
            require(self.tolerance is None or self.units, UNITS_LESSON)
            for name in ("units", "alpha"):
                alone = self.tolerance is None and getattr(self, name) is not None
                require(not alone, f"--{name} is about a certificate: give --tolerance too")

    @property
    def asked(self) -> str:
        """What was asked for, in words."""
        if self.tolerance is None:
            return "not asked for (--tolerance, --units)"
        of = "points" if self.units == "points" else "of the range"
        return f"within {self.tolerance:g} {of}, failure probability {self.failure_prob:g}"

    def certificates(self, read: room.Shifts) -> dict[str, room.Certificate]:
        """Certify each judge by itself, from its measured shifts.

        Parameters
        ----------
        read : Shifts
            Of any number of judges.

        Returns
        -------
        dict of str to Certificate
            By judge; empty where none was asked for.

        Raises
        ------
        InputError
            Where an option is out of its range.
        """
        if self.tolerance is None:
            return {}
        about = {**self._about, "alpha": self.alpha, "road": self.road}
        return {name: room.certify(read.only(judge=name), **about) for name in read.judges}

    @property
    def _about(self) -> dict[str, Any]:
        return {
            "tolerance": self.tolerance,
            "units": self.units,
            "failure_prob": self.failure_prob,
            "center": self.center,
            "noise_prob": self.noise_prob,
        }

    def sections(self, cards: Mapping[str, room.Certificate], fits: Sequence[Fit]) -> list[Section]:
        """Write certificates out: from the measured shifts, and by the model.

        Parameters
        ----------
        cards : mapping of str to Certificate
            From `certificates`.
        fits : sequence of Fit
            What was sampled.

        Returns
        -------
        list of Section
            One, or none.
        """
        one = len(cards) == 1
        every = {"as measured" if one else name: card for name, card in cards.items()}
        for fit in fits if cards else ():
            every["by the model"] = room.certify(fit, **self._about, alpha=self.alpha)
        if not every:
            return []
        lines, fields = [], []
        for name, card in every.items():
            first, *cautions = card.text.splitlines()
            lines += [first if len(every) == 1 else f"{name}: {first}"]
            # cautions of the shifts are told with the estimates
            lines += [text for text in cautions if text.split(": ")[0] in _OWN]
            fields.append({"about": name, **asdict(card), "text": card.text})
        heading = "Certificate" if len(every) == 1 else "Certificates"
        return [Section(heading, lines, "certificates", fields)]

    def pictures(self, read: room.Shifts, cards: Mapping[str, room.Certificate]) -> dict[str, Axes]:
        """Draw each judge's card, and what more neighbours would buy.

        Parameters
        ----------
        read : Shifts
            What was measured.
        cards : mapping of str to Certificate
            From `certificates`.

        Returns
        -------
        dict of str to matplotlib.axes.Axes
            By caption.
        """
        drawn = {}
        for name, card in cards.items():
            of = f": {name}" if len(cards) > 1 else ""
            drawn[f"Certificate{of}"] = room.plot_certificate(card)
            table = room.trade_off(
                read.only(judge=name),
                tolerances=[self.tolerance * x for x in (0.5, 1, 2)],  # type: ignore[operator]
                units=self.units,  # type: ignore[arg-type]
                failure_prob=self.failure_prob,
            )
            caption = f"What measuring more neighbours would allow{of}"
            drawn[caption] = room.plot_trade_off(table)
        return drawn


_OWN = {f"Caution, {name}" for name in ("estimation-error-ignored", "average-over-measurements")}
