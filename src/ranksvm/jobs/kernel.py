"""Training kernel rankers on files, as the command line and config files do."""

from __future__ import annotations

from ..files.svmlight import SvmlightFile
from ..kernel.factor import KernelFactor
from ..kernel.kernels import Kernel
from ..kernel.training import train_kernel
from ..linear.parameters import Parameters
from ..linear.training import Fit
from ..models.kernel import KernelModel
from ..models.scaling import multiplied
from ..solvers import Callback
from ..threads import resolve_threads
from .rows import factors_of, training_of


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
    factors = factors_of(rows, scale)
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
