"""The answer of the module: one sentence, and the method to quote."""

from bayesjudge.core.answer import Answer, as_estimates, few_of, listed, owned, percents


def answer(*results, ci_prob=0.95, interval=None):
    """Say what share of its outputs each system passes; the posterior is quoted if there is one."""
    made = as_estimates(results, ci_prob, interval)
    quoted = made[-1].only("prevalence")
    rows = {str(where["system"]): row for _, where, row in quoted.rows()}
    names, between = few_of(rows)
    shares = [
        f"{percents(rows[name], None if i else ci_prob)} of {owned(name)}"
        for i, name in enumerate(names)
    ]
    return Answer(
        f"People pass {listed(shares)} outputs{between}.",
        basis=repr(quoted.data),
        why=f"Quoted: {quoted.method}.",
        quoted=quoted,
    )
