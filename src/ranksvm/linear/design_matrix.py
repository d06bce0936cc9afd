"""X on the host: one face for dense and sparse rows in single and double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.given import AnyPreferences
from ..pairs.host import host_pairs
from ..pairs.loss_evaluation import SmoothEvaluation
from ..pairs.losses import PairLoss, SmoothLoss
from ..pairs.rounding import relative_rounding
from ..pairs.sweeps import Pairs
from .hessian import weight_space_hessian
from .matrix import LARGE, ColumnSums, FullStep, Rounded, column_scales
from .occurring import IN_TRAINING, Columns, occurring
from .one_pass import one_pass, precision_of, whole_queries
from .read_ahead import ReadAhead
from .rough_hessian import rough_hessian
from .sparse_hessian import SparseRows
from .stored import SparseArrays, Stored
from .views import Block, LastProduct, Products, ScaledColumns, TakenRows

if TYPE_CHECKING:
    from .in_step import InStep

Vector = NDArray[np.float64]

ROUNDED = range(1 << 21, 1 << 26)  # stored values, fewer of which caches hold as they are
UNCACHED = 1 << 24  # stored values: caches hold but a small part of them


class DesignMatrix:
    """Products with X, which stays where and as it is; the `Matrix` of the host.

    X is touched only through these products, so that nothing above needs to know how it is stored.
    Sums are in float64 whatever the storage, and the same to the last bit for every number of
    threads.

    Attributes
    ----------
    shape : tuple of (n_samples, n_columns)
    n_stored : int
        Number of stored values.
    columns : Columns
        Which features the columns are: all, unless these are many more than the stored values.
    n_passes : int
        How often all of X has been read so far, by this view.
    is_mapped, is_large : bool
        Whether X is mapped from disk, where a pass may take long; whether it is so large as to be.
    has_walk, costs
        Always true, see `ranksvm.linear.long_query`; and None.
    """

    has_walk, costs = True, None

    def __init__(
        self,
        products: Products,
        shape: tuple[int, int],
        n_stored: int,
        columns: Columns | None = None,
    ) -> None:
        self._products = products
        self.shape = shape
        self.n_stored = n_stored
        self.is_large = n_stored >= LARGE
        self.columns = Columns(shape[1]) if columns is None else columns
        self.n_passes = 0
        self.is_mapped = False
        self._ahead: ReadAhead | None = None
        self._steps: InStep | None = None
        self._squares: Vector | None = None
        self._rarity: Vector | None = None
        self._sums: ColumnSums | None = None
        self._standardization: tuple[Vector, Vector] | None = None

    @classmethod
    def from_array(cls, X: Any, spare: float = IN_TRAINING) -> DesignMatrix:
        """View an array as a design matrix.

        Parameters
        ----------
        X : ndarray (C-contiguous) or SciPy CSR matrix, of shape (n_samples, n_features), float32 \
or float64
        spare : float, default=0.25
            Features for each stored value, up to which nobody looks for those that occur.

        Raises
        ------
        TypeError
            If X is anything else: nothing is converted silently.
        InputError
            If indices point beyond the arrays, or columns.
        """
        if isinstance(X, np.ndarray):
            return cls(Stored.from_dense(X), X.shape, X.size)
        if getattr(X, "format", None) == "csr":
            return cls.from_csr(X.indptr, X.indices, X.data, X.shape[1], spare)
        raise TypeError(f"X must be a NumPy array or a SciPy CSR matrix, not {type(X).__name__}")

    @classmethod
    def from_csr(
        cls,
        indptr: NDArray[Any],
        indices: NDArray[Any],
        values: NDArray[Any],
        n_features: int,
        spare: float = IN_TRAINING,
    ) -> DesignMatrix:
        """View the three arrays of a CSR matrix; index arrays are of int32 or int64 each."""
        indptr, indices, columns = occurring(indptr, indices, n_features, spare)
        arrays = SparseArrays(indptr.astype(np.int64, copy=False), indices, values)
        stored = Stored.from_csr(arrays, len(columns))
        return cls(stored, stored.shape, int(indptr[-1]), columns)

    @property
    def rounding_of_sums(self) -> float:
        """What an element of ``X.T @ u`` may lose, relative to the absolute values of its terms."""
        return relative_rounding(self._products.rows_in_a_sum)

    def pairs(self, preferences: AnyPreferences, counting: str, n_threads: int) -> Pairs:
        """Return the preference pairs of the rows."""
        return host_pairs(preferences, counting, n_threads)

    def take(self, rows: NDArray[np.int64]) -> DesignMatrix:
        """View some of the rows, in any order, without copying them."""
        share = len(rows) / max(self.shape[0], 1)
        taken = TakenRows(self._products, rows, self.shape[0])
        shape = (len(rows), self.shape[1])
        view = DesignMatrix(taken, shape, round(share * self.n_stored), self.columns)
        return self._shared_with(view)

    def scaled(self, scale: Vector) -> DesignMatrix:
        """View ``X * scale``, with positive factors of shape (n_columns,), without copying X."""
        return self._seen(ScaledColumns(self._products, scale))

    def restricted(self, columns: NDArray[np.int64]) -> DesignMatrix:
        """Copy some columns, in ascending order."""
        self._begin_pass()
        some = self._products.columns(columns)
        share = len(columns) / max(self.shape[1], 1)
        n_stored = round(share * self.n_stored)
        return DesignMatrix(some, (self.shape[0], len(columns)), n_stored)

    def copied(self, rows: NDArray[np.int64]) -> DesignMatrix:
        """Copy some rows, dense, in double precision."""
        d = self.shape[1]
        copy = self.gather((0, len(rows), rows), (0, d), np.zeros(d), np.ones(d), np.float64)
        return DesignMatrix.from_array(copy)

    def views(self, *rows: NDArray[np.int64]) -> list[DesignMatrix]:
        """View several parts of the rows, that share a product with the same weights."""
        shared = self.remembering()
        return [shared.take(part) for part in rows]

    def remembering(self) -> DesignMatrix:
        """View X with a memory of the last product, for one thread."""
        return self._seen(LastProduct(self._products))

    def centered(self) -> DesignMatrix:
        """View X with columns that lie far from zero brought near it; if none does, this itself.

        No score changes in comparison with others. See `ranksvm.linear.offsets`.
        """
        products = self._products.centered()
        return self if products is self._products else self._seen(products)

    def some_rows(self) -> tuple[NDArray[np.int64], Vector]:
        """Return the columns that can be shifted, and these of some rows, dense; of stored rows."""
        assert isinstance(self._products, Stored)
        columns = self._products.common_columns
        return columns, self._products.sample(columns)

    def less(self, offset: Vector) -> DesignMatrix:
        """View X less an offset of each column, where rows of other matrices have the same."""
        assert isinstance(self._products, Stored)
        return self._seen(self._products.less(offset))

    def _seen(self, products: Products) -> DesignMatrix:
        view = DesignMatrix(products, self.shape, self.n_stored, self.columns)
        view._ahead = self._ahead
        return self._shared_with(view)

    def _shared_with(self, view: DesignMatrix) -> DesignMatrix:
        view.is_mapped, view._steps = self.is_mapped, self._steps
        return view

    def mapped(self) -> DesignMatrix:
        """View X, as it is stored, as what is mapped from disk."""
        assert isinstance(self._products, Stored)
        source, view = self._products.source, self._seen(self._products)
        view.is_mapped = True
        view._ahead = None if source is None else ReadAhead(source)
        return view

    def in_step(self, steps: InStep, n_threads: int = 1) -> DesignMatrix:
        """View X with passes that begin when others do, and so do those of its views.

        That is X mapped from disk; of large sparse X in memory, products are computed for several
        at once by so many threads (`ranksvm.linear.shared_products`); any other X stays as it is.
        """
        if not self.is_mapped:
            from .shared_products import shared_products

            shared = shared_products(self._products, steps, n_threads)
            return self if shared is self._products else self._seen(shared)
        view = self._seen(self._products)
        view._steps = steps
        return view

    def _begin_pass(self) -> None:
        self.n_passes += 1
        if self._steps is not None:
            self._steps.begin_pass()

    def zeros(self) -> Vector:
        """Return the scores of weights that are zero, of shape (n_samples,)."""
        return np.zeros(self.shape[0])

    def dot(self, w: Vector, n_threads: int = 1) -> Vector:
        """Return ``X @ w``, of shape (n_samples,)."""
        self._begin_pass()
        return self._products.dot(w, n_threads)

    def scores(self, w: Vector, n_threads: int = 1) -> Vector:
        """Return ``X @ w``: scores are on the host."""
        return self.dot(w, n_threads)

    def dot_within(self, w: Vector, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X @ w``, and a bound of the rounding of each element."""
        self._begin_pass()
        return self._products.dot_within(w, n_threads)

    def t_dot(self, u: Vector, n_threads: int = 1) -> Vector:
        """Return ``X.T @ u``, of shape (n_features,); the first brings the squares of columns."""
        if self._squares is None:
            product, self._squares = self.t_dot_squares(u, np.ones(self.shape[0]), n_threads)
            return product
        self._begin_pass()
        return self._products.t_dot(u, n_threads)

    def t_dot_squares(self, u: Vector, v: Vector, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return ``X.T @ u`` and ``(X * X).T @ v`` from one pass over X."""
        self._begin_pass()
        both = self._products.t_dot_squares(u, v, n_threads)
        return both[:, 0].copy(), both[:, 1].copy()

    def rounded(self, n_threads: int = 1) -> Rounded | None:
        """Return products with a copy in single precision, made once; each counts as a pass.

        It is None of dense rows, of those in single precision already, on disk, few, or very many,
        and where columns have offsets.
        """
        if self.is_mapped or self.n_stored not in ROUNDED:
            return None
        rounded = self._products.rounded(n_threads)
        return None if rounded is None else rounded.announced(self._begin_pass)

    def column_squares(self, n_threads: int = 1) -> Vector:
        """Return the sum of the squares of each column; at most a pass over X, once."""
        if self._squares is None:
            self.standardization(n_threads)
        assert self._squares is not None
        return self._squares

    def rarity(self, n_threads: int = 1) -> Vector | None:
        """Return how rare values of each sparse column are; it takes a pass, once."""
        if self._rarity is None:
            rows = self.sparse_rows()
            if rows is not None:
                self._begin_pass()
                self._rarity = rows.rarity(n_threads)
        return self._rarity

    def standardization(self, n_threads: int = 1) -> tuple[Vector, Vector]:
        """Return the mean of each column and the reciprocal of its standard deviation.

        Constant columns get the factor 1. It takes a pass over X, once.
        """
        if self._standardization is None:
            n = self.shape[0]
            if self._squares is None:
                mean, self._squares = self.column_sums(n_threads)
            elif self._sums is not None:
                mean = self._sums.mean
            else:
                mean = self.t_dot(np.full(n, 1.0 / n), n_threads)
            self._standardization = column_scales(mean, self._squares / n)
        return self._standardization

    def column_sums(self, n_threads: int = 1) -> ColumnSums:
        """Return the mean of each column and the sum of its squares; a pass over X, once."""
        if self._sums is None:
            n = self.shape[0]
            share = np.full(n, 1.0 / n)
            mean, square = self.t_dot_squares(share, share, n_threads)
            self._sums = ColumnSums(mean, n * square)
        return self._sums

    def with_sums(self, sums: ColumnSums) -> DesignMatrix:
        """View X with what `column_sums` returns known beforehand."""
        view = self._seen(self._products)
        view._sums = sums
        return view

    def hessian(
        self,
        loss: SmoothEvaluation,
        shift: Vector,
        scale: Vector,
        dtype: type[np.floating],
        n_threads: int = 1,
    ) -> NDArray[np.float64]:
        """Compute ``Z' H Z`` for ``Z = (X - shift) * scale`` and the Hessian H of the loss.

        See `ranksvm.linear.hessian.weight_space_hessian`.
        """
        self._begin_pass()
        return weight_space_hessian(self, loss, shift, scale, dtype, n_threads)

    def rough_hessian(
        self, loss: SmoothEvaluation, scale: Vector, n_threads: int = 1
    ) -> NDArray[np.float64] | None:
        """Compute about the same, by a part of the queries; None where that would not serve.

        More steps are more passes, which are dear where X is large.
        """
        if self.is_large or not isinstance(loss.pairs, CorePairs):
            return None
        return rough_hessian(self, loss, scale, n_threads)

    def full_step(
        self,
        loss: PairLoss,
        scores: Vector,
        p: Vector,
        dtype: type[np.floating] | None,
        n_threads: int = 1,
        *,
        roughly: bool = False,
        end: Vector | None = None,
    ) -> FullStep | None:
        """Return ``X p``, and the loss and its derivatives at ``scores + X p``, from one pass.

        See `ranksvm.linear.one_pass`. The result is None where queries are too long for that, X is
        too sparse, numbers too large, or pairs are given or listed. Without a Hessian, two passes
        are quicker if caches may hold much of X; it is then that scores at the end are computed
        afresh, too.
        """
        if not (isinstance(loss, SmoothLoss) and loss.is_of_queries):
            return None
        if not isinstance(loss.pairs, CorePairs):
            return None
        blocks = whole_queries(self, loss.pairs.groups)
        if blocks is None:
            return None
        precision = precision_of(self, blocks, dtype, roughly, n_threads)
        if precision is None and self.n_stored < UNCACHED:
            return None
        self._begin_pass()
        try:
            rows = self._products
            last = end if precision is None else None
            return one_pass(rows, loss, blocks, scores, p, precision, n_threads, last, self._ahead)
        except OverflowError:
            return None

    def gather(
        self,
        rows: tuple[int, int, NDArray[np.int64] | None],
        columns: tuple[int, int],
        shift: Vector,
        scale: Vector,
        dtype: type[np.floating],
        out: NDArray[np.floating] | None = None,
    ) -> NDArray[np.floating]:
        """Copy a block of ``(X - shift) * scale``, dense.

        Parameters
        ----------
        rows : tuple (first, last, order)
            The rows ``order[first:last]``, or ``first:last`` where order is None.
        columns : tuple (first, last)
        shift, scale : ndarray of shape (n_features,)
        dtype : numpy.float32 or numpy.float64
        out : ndarray of that type, optional
        """
        return self._products.gather(Block(*rows, *columns, shift, scale), dtype, out)

    def sparse_rows(self) -> SparseRows | None:
        """Return what is stored, of CSR; None of a dense matrix."""
        return self._products.sparse_rows()
