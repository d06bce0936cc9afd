"""Memory for blocks of rows."""

import numpy as np
import pytest

from ranksvm.linear.block_memory import new_block

SHAPE = (1 << 10, 1 << 8)  # large enough to be kept


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_take_the_memory_of_those_before(dtype):
    for _ in range(2):
        blocks = [new_block(SHAPE, dtype) for _ in range(4)]
        assert all((block.shape, block.dtype) == (SHAPE, dtype) for block in blocks)
        for number, block in enumerate(blocks):
            block[:] = number
        assert [block.mean() for block in blocks] == [0, 1, 2, 3]  # each has its own
    places = {block.ctypes.data for block in blocks}
    del block, blocks
    again = [new_block(SHAPE, dtype) for _ in range(4)]
    assert {block.ctypes.data for block in again} == places


def test_a_part_of_a_block_keeps_its_memory():
    part = new_block(SHAPE, np.float64)[:10]
    part[:] = 1.0
    other = new_block(SHAPE, np.float64)
    other[:] = 2.0
    assert np.all(part == 1.0)


def test_a_block_may_be_empty_but_not_less():
    assert new_block((0, 3), np.float32).shape == (0, 3)
    with pytest.raises(ValueError, match="no fewer than no rows"):
        new_block((-1, 3), np.float64)
