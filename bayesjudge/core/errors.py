"""What the package raises, and how it words it.

A message names the value at fault, what was expected, and what to do next.
All the problems of one input are raised together.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Data or an argument that no estimator can use.

    Parameters
    ----------
    subject : str
        What was being read, for example ``"prevalence.Counts"``.
    problems : list of str
        One sentence a problem, in the order found.
    """

    def __init__(self, subject: str, problems: list[str]):
        self.subject = subject
        self.problems = problems
        super().__init__(f"{subject}: " + "; ".join(problems))


class UninformativeJudgeError(InputError):
    """The judge is no better than chance, so a closed form cannot be inverted.

    Parameters
    ----------
    subject : str
        What was being computed.
    problems : list of str
        One sentence a problem.
    """


class ConvergenceError(RuntimeError):
    """The sampler did not converge, and ``strict=True`` asked for an error."""


class ConvergenceWarning(UserWarning):
    """The sampler did not converge; the fit carries the same words as a caution."""


@contextmanager
def checking(subject: str) -> Iterator[Callable[[object, str], None]]:
    """Collect problems inside the block and raise them together at its end."""
    problems: list[str] = []

    def require(ok: object, problem: str) -> None:
        if not ok:
            problems.append(problem)

    yield require
    if problems:
        raise InputError(subject, problems)


def check_ci_prob(ci_prob: float) -> float:
    """Return `ci_prob`, or raise where it is not a probability inside (0, 1)."""
    with checking("ci_prob") as require:
        require(
            0 < ci_prob < 1,
            f"must lie strictly between 0 and 1, got {ci_prob!r}; write 95 % as 0.95",
        )
    return ci_prob
