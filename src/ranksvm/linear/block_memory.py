"""Memory for dense blocks of rows, which the blocks that follow take again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core


def new_block(shape: tuple[int, int], dtype: type[np.floating]) -> NDArray[np.floating]:
    """Return a block of float32 or float64, not initialised.

    New memory is a page fault for each 4,096 bytes, which cost as much as to copy the rows there.
    """
    return _core.block32(*shape) if dtype is np.float32 else _core.block64(*shape)
