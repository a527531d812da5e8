"""Small published tables, typed in with their sources, and a loader of a larger one."""

from bayesjudge.datasets.code_feedback import code_feedback
from bayesjudge.datasets.labels import keep_labels
from bayesjudge.datasets.published import santa_clara, xstest, xstest_counts

__all__ = ["code_feedback", "keep_labels", "santa_clara", "xstest", "xstest_counts"]
