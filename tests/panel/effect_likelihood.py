"""The likelihood of votes whose judges share an effect, written once more, for one draw."""

import numpy as np
from scipy.special import logsumexp


def likelihood_of_votes(votes, logits, effect, prevalence, nodes):
    """By logits of a pass by judge and truth; missing votes are skipped."""
    passed, failed = ((votes.votes == vote).astype(float) for vote in (1, 0))
    points, weights = np.polynomial.hermite_e.hermegauss(nodes)
    at = logits[:, :, None] + effect[:, None] * points
    log_share = np.stack([np.log1p(-prevalence), np.log(prevalence)], axis=1)[votes.generator]
    by_class = []
    for truth in (0, 1):
        one = at[votes.judge_of_column, truth]
        joint = passed @ -np.logaddexp(0, -one) - failed @ np.logaddexp(0, one)
        joint = logsumexp(joint, axis=1, b=weights / weights.sum())
        denied = (votes.truth >= 0) & (votes.truth != truth)
        by_class.append(np.where(denied, -np.inf, joint + log_share[:, truth]))
    return float(np.logaddexp(*by_class) @ votes.count)
