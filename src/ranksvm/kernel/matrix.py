"""The matrix of a kernel between the training rows, of which half is held."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..threads import map_in_order

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]

_TILE = 512  # rows and columns; a tile is read from memory once for both of its products


class KernelMatrix:
    """A symmetric matrix K as square tiles on and below its diagonal: ``4 n_samples^2`` bytes.

    The sums of a product are added up in an order that depends on the shape alone.

    Parameters
    ----------
    values : callable
        Returns the values of some rows, a slice, with some columns.
    n_samples : int
    unit : float
        What rounding may put an element of ``K v`` off by, relative to the absolute sum of v.
    n_threads : int, default=1

    Attributes
    ----------
    trace : float
    n_passes : int
        How many products there have been so far.
    """

    def __init__(
        self,
        values: Callable[[slice, Rows], Matrix],
        n_samples: int,
        unit: float,
        n_threads: int = 1,
    ) -> None:
        self.n_threads = n_threads
        self._n, self._unit = n_samples, unit
        self.n_passes = 0
        columns = np.arange(n_samples)

        def tiles(rows: slice) -> list[Matrix]:
            panel = values(rows, columns[: rows.stop])
            return [panel[:, part].copy() for part in _parts(rows.stop)]

        self._panels = list(map_in_order(tiles, _parts(n_samples), n_threads))
        self.trace = float(sum(panel[-1].trace() for panel in self._panels))

    @staticmethod
    def n_bytes(n_samples: int) -> float:
        """Return the memory that so many rows take."""
        return 4.0 * n_samples * (n_samples + min(_TILE, n_samples))

    def dot(self, v: Vector) -> Vector:
        """Return ``K v``."""
        self.n_passes += 1
        product = np.zeros(self._n)
        for part in map_in_order(
            lambda k: self._part_of(k, v), range(len(self._panels)), self.n_threads
        ):
            product[: len(part)] += part
        return product

    def rounding(self, size: float) -> float:
        """Bound what an element of ``K v`` is off by, for v with this absolute sum."""
        return self._unit * size

    def _part_of(self, k: int, v: Vector) -> Vector:
        """Return the part of ``K v`` of a row of tiles and of their mirror images."""
        *left, diagonal = self._panels[k]
        own = slice(k * _TILE, k * _TILE + len(diagonal))
        part = np.zeros(own.stop)
        part[own] = diagonal @ v[own]
        for tile, columns in zip(left, _parts(own.start), strict=True):
            by_row, by_column = _core.tile_products(tile, v[own], v[columns])
            part[own] += by_row
            part[columns] += by_column
        return part


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _TILE, n)) for start in range(0, n, _TILE)]
