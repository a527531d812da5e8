"""Small published tables, typed in with their sources."""

from bayesjudge.datasets.labels import keep_labels
from bayesjudge.datasets.published import santa_clara, xstest, xstest_counts

__all__ = ["keep_labels", "santa_clara", "xstest", "xstest_counts"]
