"""Does a number meet a threshold, and if that is unknown, what would decide?"""

from bayesjudge.decide.decision import Check, Gate, Need
from bayesjudge.decide.drift import Drift, drift
from bayesjudge.decide.gate import gate
from bayesjudge.decide.labelling import Agreement, Labels, read_sheets, write_form, write_sheet
from bayesjudge.decide.monitor import Monitor
from bayesjudge.decide.pages import to_html, to_json, to_junit, to_markdown
from bayesjudge.decide.plots import plot_drift, plot_gate, plot_monitor
from bayesjudge.decide.power import chance_to_pass, labels_to_pass
from bayesjudge.decide.shopping import Pilot, shopping_list
from bayesjudge.decide.watch import Watch

__all__ = [
    "Agreement",
    "Check",
    "Drift",
    "Gate",
    "Labels",
    "Monitor",
    "Need",
    "Pilot",
    "Watch",
    "chance_to_pass",
    "drift",
    "gate",
    "labels_to_pass",
    "plot_drift",
    "plot_gate",
    "plot_monitor",
    "read_sheets",
    "shopping_list",
    "to_html",
    "to_json",
    "to_junit",
    "to_markdown",
    "write_form",
    "write_sheet",
]

__dir__ = __all__.copy
