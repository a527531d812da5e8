"""Does a number meet a threshold, and if that is unknown, what would decide?"""

from bayesjudge.decide.decision import Check, Gate, Need
from bayesjudge.decide.gate import gate
from bayesjudge.decide.monitor import Monitor

__all__ = ["Check", "Gate", "Monitor", "Need", "gate"]


def __dir__() -> list[str]:
    return list(__all__)
