"""Products of blocks on arrays: all columns at once, in as much memory as is allowed."""

import numpy as np
import pytest

from cases import make_pairs
from ranksvm.arrays import sweep
from ranksvm.arrays.device import ArrayDevice
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.queries import QueryGroups

torch = pytest.importorskip("torch")
dispatch = pytest.importorskip("torch.utils._python_dispatch")


class Counted(dispatch.TorchDispatchMode):
    """Counts the operations of Torch."""

    number = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.number += 1
        return operation(*args, **(kwargs or {}))


def evaluation(**weights):
    rng = np.random.default_rng(0)
    groups = QueryGroups.from_qid(rng.integers(0, 9, 200), 200)
    device = ArrayDevice.named("torch:cpu")
    pairs = make_pairs(rng.integers(0, 5, 200), groups, device=device, **weights)
    return SquaredHinge(pairs).evaluate(device.asarray(rng.normal(size=200)))


def operations(evaluation, v):
    with Counted() as counted:
        product = evaluation.hessian_product(v)
    return counted.number, product.numpy()


@pytest.mark.parametrize("pair_weight", [None, "gap"])
def test_a_block_takes_hardly_more_operations_than_a_column(pair_weight):
    here = evaluation(pair_weight=pair_weight)
    V = torch.randn(200, 30, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    of_one, _ = operations(here, V[:, 0])
    of_block, _ = operations(here, V)
    assert of_block < 1.5 * of_one + 10


def test_memory_is_bounded_and_no_bit_depends_on_it(monkeypatch):
    here = evaluation(sample_weight=np.random.default_rng(1).random(200))
    V = torch.randn(200, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    at_once, product = operations(here, V)
    monkeypatch.setattr(sweep, "BLOCK_BYTES", 3 * 8 * 200)
    in_blocks, same = operations(here, V)
    assert 2 * at_once < in_blocks < 4 * at_once  # three blocks of at most three columns
    np.testing.assert_array_equal(product, same)
    assert here.hessian_product(V[:, :0]).shape == (200, 0)
