"""`build_model` and `fit`, the same for the models of every module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesjudge.core.model import BayesianModel, model_of

if TYPE_CHECKING:
    import numpy as np
    import pymc as pm

    from bayesjudge.core.fit import Fit


def build_model(
    data: Any, model: BayesianModel | None = None, *, collapsed: bool = True
) -> pm.Model:
    """Build a PyMC model without sampling it.

    Parameters
    ----------
    data : Counts, Items, ClassCounts, Votes, Shifts, Ratings or Scores
        The checked data of any module.
    model : BayesianModel, optional
        A model of these data, with its priors and options; by default the one that suits their
        label design.
    collapsed : bool, default True
        Whether what each item has of its own (its truth, its effects, its shares, each of its
        answers) is summed out or counted. If not, it is a variable: for small data, and for lines
        that a user adds by item.

    Returns
    -------
    pymc.Model
        The model of the text, of which the class of the model names the variables. Counts and
        priors are `pymc.Data`. NUTS may run the same density in other coordinates.

    Raises
    ------
    InputError
        If the model does not suit the data, or has nothing that is summed out.

    Examples
    --------
    >>> from bayesjudge.prevalence import Counts, build_model
    >>> counts = Counts(1000, 620, 100, 90, 100, 70, calibration="by_truth")
    >>> sorted(v.name for v in build_model(counts).free_RVs)
    ['prevalence', 'sensitivity', 'specificity']
    """
    return model_of(data, model, "build_model")._pymc_model(data, collapsed)


def fit(
    data: Any,
    model: BayesianModel | None = None,
    *,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    cores: int | None = None,
    target_accept: float | None = None,
    random_seed: int | np.random.Generator | None = None,
    strict: bool = False,
    progress: bool | None = None,
) -> Fit:
    """Sample the posterior of a model.

    Parameters
    ----------
    data : Counts, Items, ClassCounts, Votes, Shifts, Ratings or Scores
        The checked data of any module.
    model : BayesianModel, optional
        A model of these data, with its priors and options; by default the one that suits their
        label design.
    draws, tune, chains : int, optional
        Draws kept and discarded in each chain, and chains: 1000, 1000 and 4 by default, or what
        suits the model better (its ``sampling``).
    cores : int, optional
        Chains that run at once; all cores by default.
    target_accept : float, optional
        0.9 by default, or what suits the model better; higher is slower and follows a difficult
        posterior better.
    random_seed : int or numpy.random.Generator, optional
        Same seed, same draws, but for rounding.
    strict : bool, default False
        Raise if the sampler did not converge or the data contradict the declared label design
        (``label-shift``, ``pass-rate-out-of-range``), rather than warn.
    progress : bool, optional
        Show progress; by default on a terminal.

    Returns
    -------
    Fit
        Call ``estimate()`` on it, or hand it to `bayesjudge.side_by_side`; the class of the model
        names its quantities.

    Raises
    ------
    InputError
        If the model does not suit the data, a setting is out of range or, with ``strict=True``, the
        data contradict the declared design.
    ConvergenceError
        With ``strict=True``, if the sampler did not converge.
    """
    from bayesjudge.core.sampling import sample

    return sample(
        data,
        model_of(data, model, "fit"),
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        random_seed=random_seed,
        strict=strict,
        progress=progress,
    )
