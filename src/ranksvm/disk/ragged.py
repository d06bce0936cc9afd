"""Rows on disk that hold as many numbers as each has: of CSR, or the letters of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arrays import GrowingArray
from .folder import NewFolder
from .queries import Runs
from .reordering import gathered, ranges, row_windows, window_rows


class RaggedFiles:
    """Arrays of numbers, row after row, and where each row begins.

    Parameters
    ----------
    folder : NewFolder
    kinds : dict of str to dtype
        The names of the arrays; the first tells where rows begin.
    """

    def __init__(self, folder: NewFolder, kinds: dict[str, DTypeLike]) -> None:
        self._folder, self._kinds = folder, kinds
        self.files = [GrowingArray(folder, f"{name}.npy", kind) for name, kind in kinds.items()]
        self.files[0].append(np.zeros(1))

    def append_rows(self, lengths: NDArray[np.int64], *values: NDArray[Any]) -> None:
        """Write rows of such lengths."""
        begins, *files = self.files
        begins.append(files[0].n_rows + np.cumsum(lengths))
        for file, part in zip(files, values, strict=True):
            file.append(part)

    def close(self) -> None:
        """Let all reach the disk."""
        for file in self.files:
            file.close()

    def reordered(self, runs: Runs) -> None:
        """Bring the rows of each query together, once the files are closed."""
        before, (begins, *values) = self.files, [file.map() for file in self.files]
        for file in before:
            file.put_aside()
        after = RaggedFiles(self._folder, self._kinds)
        for rows in row_windows(runs, window_rows(before)):
            starts = begins[rows]
            lengths = begins[rows + 1] - starts
            places = ranges(starts, lengths)
            after.append_rows(lengths, *(gathered(part, places) for part in values))
        after.close()
        for file in before:
            file.remove()
        self.files = after.files


class Texts(Sequence[str]):
    """Texts that are mapped, and decoded when they are asked for.

    Parameters
    ----------
    begins : ndarray of shape (n_texts + 1,), int64
    letters : ndarray of uint8
        In UTF-8.
    """

    def __init__(self, begins: NDArray[np.int64], letters: NDArray[np.uint8]) -> None:
        self._begins, self._letters = begins, letters

    def __len__(self) -> int:
        return len(self._begins) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        k = place % len(self)
        letters = self._letters[self._begins[k] : self._begins[k + 1]]
        return letters.tobytes().decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return (self[k] for k in range(len(self)))


def letters_of(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return the lengths of texts in UTF-8, and their letters one after the other."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return lengths, np.frombuffer(b"".join(encoded), np.uint8)
