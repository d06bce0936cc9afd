"""What kernel rankers of one C share as scikit-learn estimators: training, and prediction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..kernel.factor import KernelFactor
from ..kernel.kernels import Kernel
from ..kernel.training import cost_of, train_kernel
from ..memory import bytes_of
from ..models.kernel import KernelModel
from ..pairs.given import AnyPreferences
from ..progress import IterationTable, WorkNotes
from ..threads import resolve_threads
from .callbacks import CallbackSupportMixin, iteration_callback
from .certified_ranker import CertifiedRanker
from .convergence import warn_unless_converged
from .kernel_ranker import KernelRanker
from .rows import KINDS

Vector = NDArray[np.float64]


class KernelTrainer(CallbackSupportMixin, KernelRanker, CertifiedRanker):
    """Base of the estimators that learn a function for a given C."""

    C: float
    gamma: float | str | None
    verbose: int

    _kinds: ClassVar[dict[str, Any]] = {**KINDS, "dtype": np.float64}

    def _train(self, X: Any, preferences: AnyPreferences) -> None:
        """Learn from rows that are checked; to be called by `fit` itself, for its warnings."""
        parameters = self._parameters(self.C)
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0).fitted(X)
        max_memory = bytes_of(self.max_memory)
        note = WorkNotes() if self.verbose else None
        if note is not None:
            note(cost_of(kernel, X.shape[0], parameters, max_memory))
        fit = train_kernel(
            KernelFactor(kernel, X, max_memory, resolve_threads(self.n_threads)),
            preferences,
            parameters,
            callback=iteration_callback(self, IterationTable() if self.verbose else None),
            note=note,
        )
        warn_unless_converged(fit.shortfall, stacklevel=4)
        self._keep(fit, parameters)
        self._kernel = kernel
        self.support_, self.dual_coef_ = fit.support, fit.dual_coef
        self.support_vectors_ = X[self.support_[:0] if kernel.is_precomputed else self.support_]
        if sparse.issparse(X):
            self.support_vectors_.sum_duplicates()  # in the order of model files

    def predict(self, X: Any) -> Vector:
        """Score rows: higher is better; scores compare within a query.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A data frame may have the column of query ids, or not. For a precomputed kernel: its
            values with the training rows, of shape (n_samples, n_train).

        Returns
        -------
        ndarray of shape (n_samples,), float64
        """
        X = self._features(X)
        if self._kernel.is_precomputed:
            values: Vector = X[:, self.support_] @ self.dual_coef_
            return values
        return self._kernel.scores(X, self.support_vectors_, self.dual_coef_)

    def to_model(self) -> KernelModel:
        """Return the kernel expansion and how it came about, as `save_model` writes them.

        Returns
        -------
        KernelModel
        """
        facts = self._facts()
        return KernelModel(self._kernel, self.support_vectors_, self.dual_coef_, **facts)
