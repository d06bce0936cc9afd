"""Whether two rankings differ by more than chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.columns import real_numbers

Vector = NDArray[np.float64]
_BLOCK = 1 << 20  # bytes of signs that are drawn at a time


def paired_randomization_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_permutations: int = 100_000,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """Test whether two models differ in the mean of a metric over the same queries.

    If the models were alike, each difference ``a_q - b_q`` would be as likely to have the other
    sign (Fisher's randomisation test; Smucker et al. 2007). The p-value is the share of all 2^n
    choices of signs whose sum is at least as large, in absolute value, as the one observed.

    Parameters
    ----------
    a, b : array-like of shape (n_queries,)
        Values of two models by query, as in ``Evaluation.per_query``. Queries that are NaN in both
        are left out.
    n_permutations : int, default=100_000
        If there are no more choices of signs, every one is taken, and the p-value is exact.
        Otherwise this many are drawn, and the p-value is ``(1 + hits) / (1 + n_permutations)``.
    random_state : int or numpy Generator, optional
        Seed of the draws.

    Returns
    -------
    float
        The two-sided p-value.

    Raises
    ------
    ValueError
        If the lengths differ, a value is infinite or NaN in one model only, no query is left, or
        `n_permutations` is not positive.
    """
    if n_permutations < 1:
        raise InputError(f"n_permutations must be at least 1, not {n_permutations}")
    differences = _differences(a, b)
    # Two sums of the same terms may differ in their last bits.
    observed = abs(differences.sum()) - 1e-12 * np.abs(differences).sum()
    differences = differences[differences != 0]
    if len(differences) < 63 and 2 ** len(differences) <= n_permutations:
        sums = np.zeros(1)
        for difference in differences:
            sums = np.concatenate([sums + difference, sums - difference])
        return float(np.mean(np.abs(sums) >= observed))
    hits = _count_hits(differences, observed, n_permutations, np.random.default_rng(random_state))
    return (1 + hits) / (1 + n_permutations)


def _differences(a: ArrayLike, b: ArrayLike) -> Vector:
    first, second = real_numbers(a, "a"), real_numbers(b, "b")
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(
            "a and b must be vectors with a value for each query, but have the shapes "
            f"{first.shape} and {second.shape}"
        )
    kept = ~(np.isnan(first) & np.isnan(second))
    bad = np.flatnonzero(kept & ~(np.isfinite(first) & np.isfinite(second)))
    if len(bad):
        q = bad[0]
        raise InputError(f"query {q} has the values {first[q]} and {second[q]}: not comparable")
    if not kept.any():
        raise InputError("there is no query with a value in both models")
    return first[kept] - second[kept]


def _count_hits(
    differences: Vector, observed: float, n_permutations: int, rng: np.random.Generator
) -> int:
    """Count random signs whose sum is at least `observed` in absolute value."""
    # One table for every eight differences: their sum for each byte of signs.
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1) - 1
    padded = np.pad(differences, (0, -len(differences) % 8)).reshape(-1, 8)
    tables = padded @ signs.T
    number = np.arange(len(tables))
    hits, left = 0, n_permutations
    while left > 0:
        drawn = min(left, _BLOCK // len(tables) + 1)
        signs_of = rng.integers(0, 256, size=(drawn, len(tables)), dtype=np.uint8)
        sums = tables[number, signs_of].sum(axis=1)
        hits += int(np.count_nonzero(np.abs(sums) >= observed))
        left -= drawn
    return hits
