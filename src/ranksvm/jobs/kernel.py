"""Training kernel rankers on files, as the command line and config files do."""

from __future__ import annotations

from ..files.kernel_model import multiplied
from ..files.model import KernelModel
from ..files.svmlight import SvmlightFile
from ..kernel.factor import KernelFactor
from ..kernel.kernels import Kernel
from ..kernel.training import train_kernel
from ..linear.parameters import Parameters
from ..linear.training import Fit
from ..models.scaling import scale_factors
from ..solvers import Callback
from ..threads import resolve_threads
from .rows import training_of, warn_unless_converged


def train_on_rows(
    rows: SvmlightFile,
    kernel: Kernel,
    parameters: Parameters,
    *,
    max_memory: float = 4e9,
    scale: str | None = None,
    callback: Callback | None = None,
) -> tuple[Fit, KernelModel]:
    """Train a kernel ranker on the rows of a file.

    Parameters
    ----------
    rows : SvmlightFile
    kernel : Kernel
    parameters : Parameters
    max_memory : float, default=4e9
        As for `KernelRankSVM`.
    scale : {"standard", "minmax", "maxabs"}, optional
        As for `ranksvm.models.scaling.scale_factors`: what features are divided by first, in
        training and by the model.
    callback : callable, optional

    Returns
    -------
    fit : Fit
    model : KernelModel

    Raises
    ------
    ValueError
        As `KernelRankSVM.fit`.
    """
    factors = scale_factors(rows, scale) if scale else None
    X = rows.X if factors is None else multiplied(rows.X, factors)
    factor = KernelFactor(kernel, X, max_memory, resolve_threads(parameters.n_threads))
    fit = train_kernel(
        factor,
        rows.labels,
        rows.qid,
        parameters=parameters,
        sample_weight=rows.cost,
        callback=callback,
    )
    warn_unless_converged(fit.shortfall)
    support, coef = factor.dual_coef(fit.result.weights)
    described = vars(parameters) if scale is None else {**vars(parameters), "scale": scale}
    model = KernelModel(
        kernel,
        X[support],
        coef,
        factors,
        parameters=described,
        training=training_of(fit, rows),
    )
    return fit, model
