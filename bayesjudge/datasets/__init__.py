"""Real tables: some ship, typed in or as counts, with their sources; others are fetched."""

from bayesjudge.datasets.code_feedback import code_feedback
from bayesjudge.datasets.composo import composo
from bayesjudge.datasets.counted import (
    code_feedback_votes,
    composo_scores,
    dices,
    llm_rubric,
    llmbar,
    pandalm,
)
from bayesjudge.datasets.inspect_log import write_inspect_log
from bayesjudge.datasets.labels import keep_labels
from bayesjudge.datasets.published import (
    santa_clara,
    score_changes,
    tau_bench_airline,
    xstest,
    xstest_counts,
    xstest_ratings,
)

__all__ = [
    "code_feedback",
    "code_feedback_votes",
    "composo",
    "composo_scores",
    "dices",
    "keep_labels",
    "llm_rubric",
    "llmbar",
    "pandalm",
    "santa_clara",
    "score_changes",
    "tau_bench_airline",
    "write_inspect_log",
    "xstest",
    "xstest_counts",
    "xstest_ratings",
]
