"""Rows of files as linear models are to see them: scaled, and as features of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.rows import CsrArrays, FileRows
from ..files.source import DataError
from ..linear.conditions import Conditions
from ..linear.occurring import Columns
from ..linear.training import Fit
from ..models import LinearModel
from ..models.maps import FeatureMap
from ..models.maps.base import MAX_MEMORY
from ..models.preparing import Features, mapped_rows, require_conditions, scale_map
from ..models.scaling import multiplied
from ..records import record
from .rows import Vector, factors_of, matrix_on, naming

if TYPE_CHECKING:
    from ..linear.matrix import Matrix


_MORE = 2  # times as many numbers, from which on that is said


@record
class PreparedRows:
    """The rows of a file, and what is done to their features before a linear model weighs them.

    Attributes
    ----------
    rows : FileRows
    scale : str or None
        As `ranksvm.names.SCALES` lists them.
    features : Features or None
    maps : tuple of FeatureMap
        Where scaling does not go into the weights.
    mapped : ndarray or CSR matrix of shape (n_rows, n_weights), or None
        What the maps make of the rows; None without maps.
    """

    rows: FileRows
    scale: str | None = None
    features: Features | None = None
    maps: tuple[FeatureMap, ...] = ()
    mapped: Any = None

    def matrix(self, device: str = "cpu") -> tuple[Matrix, Vector | None]:
        """Return the matrix to train on, and what its columns have been multiplied by, if at all.

        Parameters
        ----------
        device : str, default="cpu"
            As for `RankSVM`.
        """
        if self.maps:
            return matrix_on(device, self.mapped), None
        X = matrix_on(device, self.rows)
        factors = factors_of(self.rows, self.scale, X.columns)
        return (X if factors is None else X.scaled(factors)), factors

    @property
    def seen(self) -> Any:
        """The features as training sees them, as an array or CSR matrix on the host."""
        if self.maps:
            return self.mapped
        return multiplied(self.rows.X, factors_of(self.rows, self.scale))

    def conditions(self, asked: Conditions, factors: Vector | None, columns: Columns) -> Conditions:
        """Return what is asked of the weights of that matrix, for the features as they are.

        Raises
        ------
        ValueError
            If it cannot be asked of them (`ranksvm.models.preparing.require_conditions`).
        """
        require_conditions(asked, self.scale, self.features)
        return asked if factors is None else asked.scaled(factors, columns)

    def model(self, fit: Fit, factors: Vector | None, asked: Conditions) -> LinearModel:
        """Return the model of weights that were trained with what `matrix` returned."""
        if factors is None:
            return LinearModel(fit.weights, maps=self.maps)
        return LinearModel(asked.unscaled(fit.result.weights, factors, fit.columns))

    @property
    def parameters(self) -> dict[str, Any]:
        """What there is to say of it beside the parameters of training."""
        given = {"scale": self.scale, "features": self.features}
        return {name: str(value) for name, value in given.items() if value is not None}

    @property
    def note(self) -> str | None:
        """What to say of rows that were sparse and are not."""
        if self.mapped is None or not isinstance(self.rows.features, CsrArrays):
            return None
        is_dense = isinstance(self.mapped, np.ndarray)
        n_values = self.mapped.size if is_dense else self.mapped.nnz
        if n_values <= _MORE * len(self.rows.features.values):
            return None
        return (
            f"note: sparse no longer, mapped features are {n_values:,} numbers where there were "
            f"{len(self.rows.features.values):,}"
        )


def prepared(
    rows: FileRows,
    scale: str | None = None,
    features: Features | None = None,
    max_memory: float = MAX_MEMORY,
) -> PreparedRows:
    """Fit maps to rows, and map them.

    Parameters
    ----------
    rows : FileRows
    scale : str, optional
        One of `ranksvm.names.SCALES`; "standard" by default where features are those of a kernel.
    features : Features, optional
    max_memory : float, default=4e9
        Bytes that what is made dense may take.

    Raises
    ------
    ValueError
        If they take more, or a feature cannot be scaled.
    DataError
        If rows without queries are to be scaled within them.
    """
    if features is not None and features.kind == "nystroem":
        scale = scale or "standard"
    if features is None and scale not in ("quantile", "query"):
        return PreparedRows(rows, scale)
    if scale == "query":
        require_queries(rows)
    made = mapped_rows(rows.X, rows.qid, scale, features, max_memory, **naming(rows))
    return PreparedRows(rows, scale, features, made.maps, made.X)


def scaling_of(
    rows: FileRows, scale: str | None, max_memory: float = MAX_MEMORY
) -> list[FeatureMap]:
    """Return the map that brings the features of rows to a scale, or none."""
    if scale is None:
        return []
    if scale == "query":
        require_queries(rows)
    return [scale_map(rows.X, rows.qid, scale, max_memory, **naming(rows))]


def require_queries(rows: FileRows) -> None:
    """Refuse to scale rows without queries within them."""
    if rows.qid is None:
        raise DataError(
            f"{rows.name} has no qids, within which features are to be scaled: give them, or train "
            "with --scale minmax"
        )
