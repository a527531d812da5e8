"""How can judges be asked until each item's mean is known?

`sample_until` asks them, keeps every answer in a SQLite file, and goes on where it was stopped.
"""

from bayesjudge.repeats.runner.judges import (
    Call,
    JudgeError,
    Reply,
    chat_judges,
    current_call,
    only_number,
)
from bayesjudge.repeats.runner.run import Run, sample_until, sample_until_sync
from bayesjudge.repeats.runner.settings import RetryPolicy, Settings
from bayesjudge.repeats.runner.store import read_answers, read_latency

__all__ = [
    "Call",
    "JudgeError",
    "Reply",
    "RetryPolicy",
    "Run",
    "Settings",
    "chat_judges",
    "current_call",
    "only_number",
    "read_answers",
    "read_latency",
    "sample_until",
    "sample_until_sync",
]

__dir__ = __all__.copy
