"""Bayesian estimators for LLM-as-a-judge evaluation, each checked against a closed form.

Modules, one question each:

- `attempts`: how often does an agent succeed at a task in k tries?
- `bias`: how far can formatting, order or other irrelevant changes move a score, and what can be
  promised?
- `decide`: does a number meet a threshold, and if that is unknown, what would decide?
- `judge`: is the judge good enough, and for what?
- `leaderboard`: who leads for people, from verdicts on pairs of answers?
- `panel`: how good is each generator, and how reliable is each judge?
- `prevalence`: what share of outputs is truly good, when the judge errs?
- `ratings`: which judge agrees with people when several answers are right?
- `repeats`: how often must the judge be asked?
- `rubric`: what total would people give, when a judge goes through criteria one by one?

Each but `decide`, `judge` and `rubric` has a data class, closed forms that return an `Estimate`,
model classes whose fields are their priors, `build_model`, `fit` that returns a `Fit`, `simulate`,
and functions that start with ``plot_``. A module is imported when it is first named; PyMC, ArviZ
and matplotlib when a function needs them.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

_COMMAND = sys.argv[0] == "-m" or os.path.basename(sys.argv[0]) in ("bayesjudge", "bayesjudge.exe")
if _COMMAND and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # Ctrl-C ends what is still being imported without a traceback, until `main` of `cli` heeds it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from bayesjudge.compiled import choose_compile_folder  # noqa: E402
from bayesjudge.core.version import __version__ as __version__  # noqa: E402

if TYPE_CHECKING:
    from bayesjudge import (
        attempts,
        bias,
        decide,
        judge,
        leaderboard,
        panel,
        prevalence,
        ratings,
        repeats,
        rubric,
    )
    from bayesjudge.cli.frames import Answers, ask, doctor, read
    from bayesjudge.core.answer import Answer
    from bayesjudge.core.errors import (
        ConvergenceError,
        ConvergenceWarning,
        InputError,
        UninformativeJudgeError,
    )
    from bayesjudge.core.estimate import Assumption, Caution, Estimate, Quantity
    from bayesjudge.core.fit import Fit, load
    from bayesjudge.core.methods import Method
    from bayesjudge.core.plots import plot_answer, plot_intervals
    from bayesjudge.core.predictive import prior_sensitivity
    from bayesjudge.core.priors import BetaPrior
    from bayesjudge.core.side_by_side import side_by_side
    from bayesjudge.render.report import report
    from bayesjudge.verdicts.table import Verdicts

choose_compile_folder()  # here, since PyTensor reads its settings when a model first imports it

__all__ = [
    "Answer",
    "Answers",
    "Assumption",
    "BetaPrior",
    "Caution",
    "ConvergenceError",
    "ConvergenceWarning",
    "Estimate",
    "Fit",
    "InputError",
    "Method",
    "Quantity",
    "UninformativeJudgeError",
    "Verdicts",
    "ask",
    "attempts",
    "bias",
    "decide",
    "doctor",
    "judge",
    "leaderboard",
    "load",
    "panel",
    "plot_answer",
    "plot_intervals",
    "prevalence",
    "prior_sensitivity",
    "ratings",
    "read",
    "repeats",
    "report",
    "rubric",
    "side_by_side",
]

#: Where each name lives, so that importing the package imports nothing else.
_HOMES = {
    "Assumption": "core.estimate",
    "BetaPrior": "core.priors",
    "Caution": "core.estimate",
    "ConvergenceError": "core.errors",
    "ConvergenceWarning": "core.errors",
    "Estimate": "core.estimate",
    "Fit": "core.fit",
    "InputError": "core.errors",
    "Method": "core.methods",
    "Quantity": "core.estimate",
    "UninformativeJudgeError": "core.errors",
    "Answers": "cli.frames",
    "ask": "cli.frames",
    "doctor": "cli.frames",
    "read": "cli.frames",
    "load": "core.fit",
    "Answer": "core.answer",
    "plot_answer": "core.plots",
    "plot_intervals": "core.plots",
    "prior_sensitivity": "core.predictive",
    "report": "render.report",
    "side_by_side": "core.side_by_side",
    "Verdicts": "verdicts.table",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"bayesjudge.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"bayesjudge.{name}")
    raise AttributeError(f"module 'bayesjudge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
