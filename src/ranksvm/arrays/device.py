"""Where arrays live: an array library and one of its devices."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..lazy import cached_property
from .names import DeviceName

PIECE = 1 << 12  # of a sum: the order of additions must not depend on the number of threads


@dataclass(frozen=True)
class ArrayDevice:
    """An array library and one of its devices.

    Attributes
    ----------
    xp : module
        The namespace of the library, by way of array-api-compat.
    device : object
        The device, as the library names it.
    """

    xp: Any
    device: Any

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return "cuda" in str(self.device).lower()

    @classmethod
    def of(cls, *arrays: Any) -> ArrayDevice:
        """Return the library and the device of these arrays.

        Raises
        ------
        TypeError
            If they come from different libraries.
        ValueError
            If they live on different devices.
        """
        compat = _array_api_compat()
        xp = compat.array_namespace(*arrays)
        devices = [compat.device(array) for array in arrays]
        if any(device != devices[0] for device in devices):
            raise InputError(
                "arrays must live on one device, not on "
                + " and ".join(sorted({str(device) for device in devices}))
            )
        return cls(xp, devices[0])

    @classmethod
    def named(cls, name: str) -> ArrayDevice:
        """Find a device of a library by its name.

        Parameters
        ----------
        name : str
            Such as "torch:cpu" and "cupy:cuda:1"; see `RankSVM`.

        Raises
        ------
        ValueError
            If there is no such name, or it names no library.
        ImportError
            If the library is not installed.
        RuntimeError
            If there is no such GPU.
        """
        named = DeviceName.parse(name)
        if named.library is None:
            raise InputError(
                f'the device must name a library, as "torch:{name}" does, not {name!r}'
            )
        xp = _namespace(named.library)
        if named.is_gpu:
            return _gpu(xp, named.number or 0)
        return cls(xp, xp.device("cpu") if is_torch(xp) else "cpu")

    @cached_property
    def powers_of_two(self) -> Any:
        """All of them that are normal numbers, from the least, ``2 ** -1022``."""
        return self.asarray(np.ldexp(1.0, np.arange(-1022, 1024)))

    @cached_property
    def _is_torch(self) -> bool:
        return is_torch(self.xp)

    @property
    def float64(self) -> Any:
        """The dtype of scores, sums and losses."""
        return self.xp.float64

    @property
    def float32(self) -> Any:
        """The dtype that X may have to save memory."""
        return self.xp.float32

    @property
    def int64(self) -> Any:
        """The dtype of numbers of pairs."""
        return self.xp.int64

    @property
    def int32(self) -> Any:
        """The dtype of places, of which there are fewer than 2^31."""
        return self.xp.int32

    def asarray(self, values: Any, dtype: Any = None) -> Any:
        """Bring an array here, without a copy if it is here already."""
        is_fixed = isinstance(values, np.ndarray) and not values.flags.writeable
        if is_fixed and is_torch(self.xp):
            values = values.copy()  # Torch would share their memory, and warns of such
        return self.xp.asarray(values, dtype=dtype, device=self.device)

    def empty(self, n: int, dtype: Any) -> Any:
        """Return a vector of n numbers, whatever they are."""
        return self.xp.empty(n, dtype=dtype, device=self.device)

    def zeros(self, n: int, dtype: Any) -> Any:
        """Return a vector of n zeros."""
        return self.xp.zeros(n, dtype=dtype, device=self.device)

    def arange(self, n: int, dtype: Any) -> Any:
        """Return the whole numbers below n."""
        return self.xp.arange(n, dtype=dtype, device=self.device)

    def take(self, values: Any, places: Any, axis: int = -1) -> Any:
        """Return the values at these places, of a vector or of each row of a block.

        No place is negative: array-api-compat would take three operations of Torch to make sure.
        """
        if self._is_torch:
            return values.index_select(axis, places)
        return self.xp.take(values, places, axis=axis)

    def prefix_sums(self, values: Any, dtype: Any) -> Any:
        """Return 0 and the sums of the first value, the first two, ..., of whole numbers.

        A block has those of each row, on top of those of the rows before: summed as one vector, as
        libraries do quickly. Sums that overflow wrap around. Differences of sums of a row are right
        nevertheless.
        """
        xp, shape = self.xp, tuple(values.shape)
        zeros = xp.zeros((*shape[:-1], 1), dtype=values.dtype, device=self.device)
        padded = xp.concat([zeros, values], axis=-1)
        sums = xp.cumulative_sum(xp.reshape(padded, (-1,)), dtype=dtype)
        return xp.reshape(sums, tuple(padded.shape))

    def inverse(self, permutation: Any) -> Any:
        """Return the inverse of a permutation."""
        result = self.xp.empty_like(permutation)
        result[permutation] = self.arange(len(permutation), permutation.dtype)
        return result

    def totals(self, vectors: list[Any]) -> list[float]:
        """Add up vectors of float64 in pieces of a fixed size, and bring the sums to the host."""
        n_pieces = len(vectors[0]) // PIECE
        n_whole = n_pieces * PIECE
        sums = []
        for vector in vectors:
            pieces = self.xp.reshape(vector[:n_whole], (n_pieces, PIECE))
            sums += [self.xp.sum(pieces, axis=1), self.xp.sum(vector[n_whole:], keepdims=True)]
        on_host = self.to_host(self.xp.concat(sums)).reshape(len(vectors), -1)
        return [float(total) for total in on_host.sum(axis=1)]

    @staticmethod
    def to_host(array: Any) -> NDArray[Any]:
        """Return an array of any library as one of NumPy."""
        if isinstance(array, np.ndarray):
            return array
        return np.asarray(_array_api_compat().to_device(array, "cpu"))


def is_torch(xp: Any) -> bool:
    """Tell whether a namespace is that of Torch."""
    return bool(_array_api_compat().is_torch_namespace(xp))


def _array_api_compat() -> Any:
    try:
        return import_module("array_api_compat")
    except ImportError:
        raise ImportError(
            "arrays of other libraries need array-api-compat: pip install array-api-compat"
        ) from None


def _namespace(library: str) -> Any:
    _array_api_compat()
    try:
        return import_module(f"array_api_compat.{library}")
    except ImportError:
        raise ImportError(f"there is no {library} here; install it to compute with it") from None


def _gpu(xp: Any, number: int) -> ArrayDevice:
    """Return the GPU of this number, if there is one."""
    name = "torch" if is_torch(xp) else "cupy"
    cuda = import_module(f"{name}.cuda")
    try:
        count = cuda.device_count() if is_torch(xp) else cuda.runtime.getDeviceCount()
    except RuntimeError:  # of CuPy, without a driver
        count = 0
    if number >= count:
        which = f", none of number {number}" if count else ""
        raise RuntimeError(f"{name} sees {count or 'no'} GPU{'s' if count > 1 else ''}{which}")
    return ArrayDevice(xp, xp.device(f"cuda:{number}") if is_torch(xp) else cuda.Device(number))
