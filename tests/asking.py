"""Runs of short judges: each says that it asks nothing in particular."""

from bayesjudge.repeats import runner


def saying(judge):
    """Let judges that do not say what they ask say that."""
    for each in judge.values() if isinstance(judge, dict) else [judge]:
        if not hasattr(each, "asks"):
            each.asks = {}
    return judge


def sample_until_sync(judge, items, **settings):
    """The package's, of judges that need not say what they ask."""
    return runner.sample_until_sync(saying(judge), items, **settings)
