"""Features whose width, density and first index are known only once all rows have come.

They go to disk as they come, dense if more than half of the first block is not zero, else by their
stored values. Should the width of the dense rows turn out to be wrong, or later rows be sparse,
they are read again and written anew, as they are at the end where the other form is the better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import GrowingArray, release
from .folder import NewFolder
from .queries import Runs
from .ragged import RaggedFiles
from .reordering import reordered

BLOCK_BYTES = 1 << 25  # of rows that are moved at a time


class SparseBlock(NamedTuple):
    """Stored values row by row, with ascending indices and no zeros."""

    n_stored: NDArray[np.int64]  # of each row
    indices: NDArray[np.integer]
    values: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.n_stored)

    def dense(self, width: int) -> NDArray[Any]:
        """Return the rows with all their zeros."""
        block = np.zeros((self.n_rows, width), self.values.dtype)
        block[np.repeat(np.arange(self.n_rows), self.n_stored), self.indices] = self.values
        return block

    @classmethod
    def of_dense(cls, block: NDArray[Any]) -> SparseBlock:
        """Return what is not zero."""
        rows, indices = np.nonzero(block)
        counts = np.bincount(rows, minlength=len(block)).astype(np.int64)
        return cls(counts, indices.astype(np.int32), block[rows, indices])


class RowFiles(ABC):
    """Rows on disk, in one file or several."""

    files: list[GrowingArray]

    @abstractmethod
    def append(self, block: NDArray[Any] | SparseBlock) -> None:
        """Write rows."""

    @abstractmethod
    def blocks(self) -> Iterator[NDArray[Any] | SparseBlock]:
        """Read the rows again, once the files are closed."""

    @abstractmethod
    def reordered(self, runs: Runs) -> None:
        """Bring the rows of each query together, once the files are closed."""

    def close(self) -> None:
        """Let all reach the disk."""
        for file in self.files:
            file.close()

    def put_aside(self) -> None:
        """Give the files other names."""
        for file in self.files:
            file.put_aside()

    def remove(self) -> None:
        """Remove the files."""
        for file in self.files:
            file.remove()


class DenseFile(RowFiles):
    """Rows of a fixed width."""

    def __init__(self, folder: NewFolder, dtype: np.dtype[Any], width: int) -> None:
        self.width = width
        self.files = [GrowingArray(folder, "X.npy", dtype, width)]

    def append(self, block: NDArray[Any] | SparseBlock) -> None:
        """Write rows."""
        self.files[0].append(block.dense(self.width) if isinstance(block, SparseBlock) else block)

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Read the rows again, once the file is closed."""
        X = self.files[0].map()
        n_rows = max(BLOCK_BYTES // max(X.itemsize * self.width, 1), 1)
        for first in range(0, len(X), n_rows):
            yield X[first : first + n_rows]
            release(X)

    def reordered(self, runs: Runs) -> None:
        """Bring the rows of each query together, once the file is closed."""
        self.files = [reordered(self.files[0], runs)]


class SparseFiles(RaggedFiles, RowFiles):
    """The three arrays of CSR."""

    def __init__(self, folder: NewFolder, dtype: np.dtype[Any]) -> None:
        super().__init__(folder, {"indptr": np.int64, "indices": np.int32, "values": dtype})

    def append(self, block: NDArray[Any] | SparseBlock) -> None:
        """Write rows."""
        stored = block if isinstance(block, SparseBlock) else SparseBlock.of_dense(block)
        self.append_rows(*stored)

    def blocks(self) -> Iterator[SparseBlock]:
        """Read the rows again, once the files are closed."""
        arrays = [file.map() for file in self.files]
        indptr, indices, values = arrays
        first, most = 0, BLOCK_BYTES // (values.itemsize + indices.itemsize)
        while first < len(indptr) - 1:
            last = int(np.searchsorted(indptr, indptr[first] + most, side="right")) - 1
            last = min(max(last, first + 1), first + most // 8)
            stored = slice(int(indptr[first]), int(indptr[last]))
            yield SparseBlock(np.diff(indptr[first : last + 1]), indices[stored], values[stored])
            first = last
            for array in arrays:
                release(array)


class FeatureSpool:
    """The features of rows that come in blocks.

    Parameters
    ----------
    folder : NewFolder
        Where to write.
    dtype : dtype
    zero_based : bool or None
        Whether the first column of the blocks is the first feature. None: if it holds any value but
        zero; else it is left out.

    Attributes
    ----------
    n_rows, n_nonzero : int
    """

    def __init__(self, folder: NewFolder, dtype: np.dtype[Any], zero_based: bool | None) -> None:
        self.n_rows = self.n_nonzero = 0
        self._folder, self._dtype, self._zero_based = folder, dtype, zero_based
        self._width, self._uses_first = 0, False
        self._file: RowFiles | None = None
        self._base = 0  # of the columns in the files

    @property
    def base(self) -> int:
        """Which column of the blocks is the first feature."""
        return int(not (self._uses_first if self._zero_based is None else self._zero_based))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return max(self._width - self.base, 0)

    def _exceeds(self, share: int) -> bool:
        """Whether more than one element in `share` is not zero."""
        return share * self.n_nonzero > self.n_rows * self.n_features

    def append(self, block: NDArray[Any] | SparseBlock, width: int) -> None:
        """Write rows of columns 0 to `width`, all finite."""
        self._width = max(self._width, width)
        if isinstance(block, SparseBlock):
            n_rows, n_nonzero, first = block.n_rows, len(block.values), block.indices == 0
        else:
            n_rows, n_nonzero, first = len(block), int(np.count_nonzero(block)), block[:, :1]
        self.n_rows += n_rows
        self.n_nonzero += n_nonzero
        self._uses_first = self._uses_first or bool(np.any(first))
        self._require_fit()
        assert self._file is not None
        self._file.append(_from(block, self._base))

    def _require_fit(self) -> None:
        """Let the file be one that the rows so far go to."""
        if self._file is None:
            self._begin(dense=self._exceeds(2))
        elif self.base != self._base or not self._suits(self._file):
            self._rewrite(dense=False)

    def _suits(self, file: RowFiles) -> bool:
        """Whether rows of the present width and density go to a file."""
        if not isinstance(file, DenseFile):
            return True
        return file.width == self.n_features and self._exceeds(4)

    def _begin(self, dense: bool) -> None:
        self._base = self.base
        if dense:
            self._file = DenseFile(self._folder, self._dtype, self.n_features)
        else:
            self._file = SparseFiles(self._folder, self._dtype)

    def _rewrite(self, dense: bool) -> None:
        """Move all rows to files of the other kind, or of another first feature."""
        before, moved = self._file, self._base - self.base
        assert before is not None
        before.close()
        before.put_aside()
        self._begin(dense)
        assert self._file is not None
        for block in before.blocks():
            stored = block if isinstance(block, SparseBlock) else SparseBlock.of_dense(block)
            self._file.append(stored._replace(indices=stored.indices + np.int32(moved)))
        before.remove()

    def close(self, runs: Runs) -> bool:
        """Bring all rows to the form and the order that they are to have.

        Returns
        -------
        bool
            Whether they are dense.
        """
        if self._file is None:
            self._begin(dense=False)
        dense = self._exceeds(2)
        if dense != isinstance(self._file, DenseFile):
            self._rewrite(dense)
        assert self._file is not None
        self._file.close()
        if runs.order is not None:
            self._file.reordered(runs)
        return dense


def _from(block: NDArray[Any] | SparseBlock, base: int) -> NDArray[Any] | SparseBlock:
    """Return rows without their first `base` columns, which are zero."""
    if isinstance(block, SparseBlock):
        return block._replace(indices=block.indices - np.int32(base)) if base else block
    return block[:, base:]
