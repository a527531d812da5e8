"""Results back where they came from: Inspect, MLflow, LangSmith, Phoenix, a pull request.

`bayesjudge.integrations.compat` has the signatures of other packages' estimators.
"""

from bayesjudge.integrations import compat
from bayesjudge.integrations.inspect_ai import corrected_share, inspect_metric
from bayesjudge.integrations.plain import as_feedback, as_markdown, as_metrics

__all__ = [
    "as_feedback",
    "as_markdown",
    "as_metrics",
    "compat",
    "corrected_share",
    "inspect_metric",
]

__dir__ = __all__.copy
