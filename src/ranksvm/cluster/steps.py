"""Steps: what a worker computes of a partition, a function of it and of the weights alone.

A step over whole queries is a function of one partition. Queries that are shared by partitions take
three parts: each partition sends a number for each of their rows (`sent_scores`, `sent_bounds`,
`sent_pair`), one place sweeps over them (`shared_loss`, `shared_product`, ...), and each partition
takes back what belongs to its rows, and multiplies that by its own X.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix
from ..linear.one_pass import LEAST_ROWS
from ..metrics.pairs import pairwise_error
from ..pairs.core_pairs import CorePairs
from ..pairs.given import AnyPreferences
from ..pairs.loss_evaluation import LossEvaluation, SmoothEvaluation
from ..pairs.rounding import ROUNDING, relative_rounding
from .formula import Formula, Precision, Recipe, weights_of_queries
from .partition import At, Labelled, Partition, Shared, matrix_of
from .sums import Numbers, Part, added

Vector = NDArray[np.float64]


class Back(NamedTuple):
    """What the place of the shared queries has for a partition: a number for each of its rows."""

    values: Vector | None


class Swept(NamedTuple):
    """What a sweep over shared queries brings: numbers, and vectors cut by partition."""

    part: Part
    backs: list[Back]


def of_bundle(step: Callable[..., Part], bundle: Sequence[Labelled], **given: Any) -> Part:
    """Take a step of partitions one after the other, and add up what they bring."""
    return added([step(partition, **given) for partition in bundle])


def counts(labelled: Labelled, *, recipe: Recipe, offset: Vector | None) -> Part:
    """Count rows, pairs, and the queries that have some, with their weights.

    Of a partition, add up what scales of the columns follow from, too.
    """
    pairs = labelled.pairs(recipe._replace(by_query=False))
    weighed = recipe.weighed(labelled.preferences, labelled.folds)
    has_pairs = pairs.pairs_per_query > 0
    numbers = {
        "n_rows": _n_rows(labelled, weighed),
        "n_pairs": float(pairs.n_pairs),
        "weight": float(weights_of_queries(weighed)[has_pairs].sum()),
    }
    if not isinstance(labelled, Partition):
        return Part([numbers], {})
    rounding, sums = _columns(labelled.matrix(offset))
    return Part([numbers | {"rounding_of_sums": rounding}], sums)


def _n_rows(labelled: Labelled, weighed: AnyPreferences) -> float:
    """Return the weight of the rows, without those that are counted elsewhere."""
    if not isinstance(labelled, Partition) or labelled.shared is None:
        return float(weighed.n_rows)
    weight, of_queries = labelled.preferences.sample_weight, weights_of_queries(weighed)
    rows = weighed.groups.per_row(of_queries) * (1.0 if weight is None else weight)
    return float(np.delete(rows, labelled.shared).sum())


def some_rows(partition: Partition) -> tuple[NDArray[np.int64], Vector]:
    """Return which columns can be shifted, and these of some rows, for an offset of all."""
    return matrix_of(partition.X).some_rows()


def _columns(X: DesignMatrix) -> tuple[float, dict[str, Vector]]:
    """Return squares of the columns and their scatter around the mean, and a rounding of sums."""
    n = X.shape[0]
    mean, square = X.column_sums()
    scatter = np.maximum(square - n * mean**2, 0.0)
    scatter[scatter <= 1e-14 * n * mean**2] = 0.0
    n_blocks = 2 * n // LEAST_ROWS + 1  # of `ranksvm.linear.one_pass`, at most
    rounding = X.rounding_of_sums + relative_rounding(n_blocks)
    return rounding, {"square": square, "scatter": scatter}


def loss(
    partition: Partition,
    back: Back | None = None,
    *,
    offset: Vector | None,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
    precision: Precision | None,
) -> Part:
    """Evaluate the loss at weights, with its gradient by these, and for a precision the Hessian."""
    X = partition.matrix(offset)
    formulated = formula.loss(partition.pairs(recipe))
    step = None
    if back is None:
        dtype = None if precision is None else precision.dtype
        step = X.full_step(formulated, X.zeros(), w, dtype)
    if step is not None:
        partition.keep(_at(recipe, formula, w), step.loss)
        arrays = {"slope": step.slope.values}
        if step.hessian is not None and precision is not None:
            ratio = precision.scale / X.standardization()[1]
            matrix = step.hessian.matrix / step.loss.curvature
            arrays["hessian"] = matrix * ratio * ratio[:, np.newaxis]
        return Part([_sums_of(step.loss) | {"passes": 1.0}], arrays)
    there = formulated.evaluate(X.dot(w))
    partition.keep(_at(recipe, formula, w), there)
    arrays = {"slope": X.t_dot(_with_shared(partition, there.gradient, back))}
    if precision is not None and isinstance(there, SmoothEvaluation):
        arrays["hessian"] = _hessian(X, there, precision)
    return Part([_sums_of(there) | {"passes": 2.0 + ("hessian" in arrays)}], arrays)


def hessian(
    partition: Partition,
    *,
    offset: Vector | None,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
    precision: Precision,
) -> Part:
    """Form the Hessian alone, in units of its curvature."""
    there = _there(partition, offset, recipe, formula, w)
    return Part([], {"hessian": _hessian(partition.matrix(offset), there, precision)})


def product(
    partition: Partition,
    back: Back | None = None,
    *,
    offset: Vector | None,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
    p: Vector,
) -> Part:
    """Multiply a direction by the Hessian, in units of its curvature."""
    X = partition.matrix(offset)
    there = _there(partition, offset, recipe, formula, w)
    moved = there.sweep.laplacian(X.dot(p), n_threads=1)
    return Part([], {"product": X.t_dot(_with_shared(partition, moved, back))})


def diagonal(
    partition: Partition,
    back: Back | None = None,
    *,
    offset: Vector | None,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
) -> Part:
    """Return ``(X * X)' degree``, in units of the curvature."""
    X = partition.matrix(offset)
    there = _there(partition, offset, recipe, formula, w)
    degree = _with_shared(partition, there.sweep.degree(), back)
    _, squares = X.t_dot_squares(there.gradient, degree)
    return Part([], {"squares": squares})


def upper(
    partition: Partition,
    *,
    offset: Vector | None,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
) -> Part:
    """Evaluate the loss from fresh scores, and not below what it is: rounding is added."""
    scores, bounds = partition.matrix(offset).dot_within(w)
    return _upper(partition, recipe, formula, scores, float(bounds.max(initial=0.0)))


def _upper(
    labelled: Labelled, recipe: Recipe, formula: Formula, scores: Vector, rounding: float
) -> Part:
    there = formula.loss(labelled.pairs(recipe)).widened(rounding).evaluate(scores)
    return Part([{"value": there.value, "rounding": there.rounding}], {})


def accuracy(
    partition: Partition, *, offset: Vector | None, fold: int, weights: NDArray[np.float64]
) -> Part:
    """Count the pairs of a fold, and for each row of weights those in the right order.

    Ties count half.
    """
    preferences = partition.preferences
    assert partition.folds is not None
    rows = np.flatnonzero(preferences.groups.per_row(partition.folds) == fold)
    validation = replace(preferences, query_weight=None).of_rows(rows)
    n_pairs = float(CorePairs(validation).n_pairs) if len(rows) else 0.0
    correct = np.zeros(len(weights))
    if n_pairs > 0:
        of_rows = {"sample_weight": validation.sample_weight}
        error = pairwise_error(validation.y, validation.groups.numbers, **of_rows)
        X = partition.matrix(offset)
        correct[:] = [n_pairs * (1 - error(X.dot(w)[rows])) for w in weights]
    return Part([{"n_pairs": n_pairs}], {"correct": correct})


def sent_scores(partition: Partition, *, offset: Vector | None, w: Vector) -> Vector:
    """Return the scores of the rows of shared queries."""
    return _of_shared(partition, partition.matrix(offset).dot(w))


def sent_bounds(partition: Partition, *, offset: Vector | None, w: Vector) -> tuple[Vector, float]:
    """Return these, and how exactly they are known."""
    scores, bounds = partition.matrix(offset).dot_within(w)
    return _of_shared(partition, scores), float(bounds.max(initial=0.0))


def sent_pair(
    partition: Partition, *, offset: Vector | None, w: Vector, p: Vector
) -> tuple[Vector, Vector]:
    """Return the scores for weights, and for a direction."""
    X = partition.matrix(offset)
    return _of_shared(partition, X.dot(w)), _of_shared(partition, X.dot(p))


def shared_loss(
    shared: Shared, sent: list[Vector], *, recipe: Recipe, formula: Formula, w: Vector
) -> Swept:
    """Evaluate the loss of shared queries."""
    there = _shared_there(shared, recipe, formula, w, sent)
    return Swept(Part([_sums_of(there)], {}), _cut(shared, there.gradient))


def shared_product(
    shared: Shared,
    sent: list[tuple[Vector, Vector]],
    *,
    recipe: Recipe,
    formula: Formula,
    w: Vector,
) -> Swept:
    """Multiply a direction by the Hessian, in score space."""
    scores, images = zip(*sent, strict=True)
    there = _shared_there(shared, recipe, formula, w, scores)
    assert isinstance(there, SmoothEvaluation)
    moved = there.sweep.laplacian(np.concatenate(images), n_threads=1)
    return Swept(Part([], {}), _cut(shared, moved))


def shared_diagonal(
    shared: Shared, sent: list[Vector], *, recipe: Recipe, formula: Formula, w: Vector
) -> Swept:
    """Return the diagonal of the Hessian in score space."""
    there = _shared_there(shared, recipe, formula, w, sent)
    assert isinstance(there, SmoothEvaluation)
    return Swept(Part([], {}), _cut(shared, there.sweep.degree()))


def shared_upper(
    shared: Shared, sent: list[tuple[Vector, float]], *, recipe: Recipe, formula: Formula
) -> Part:
    """Evaluate the loss of shared queries from fresh scores, and not below what it is."""
    scores, bounds = zip(*sent, strict=True)
    return _upper(shared, recipe, formula, np.concatenate(scores), max(bounds))


def back_of(swept: Swept, place: int) -> Back:
    """Return what a sweep has for a partition."""
    return swept.backs[place]


def part_of(swept: Swept) -> Part:
    """Return what it adds to the numbers."""
    return swept.part


def _at(recipe: Recipe, formula: Formula, w: Vector) -> At:
    return At(recipe, formula, w.tobytes())


def _there(
    partition: Partition, offset: Vector | None, recipe: Recipe, formula: Formula, w: Vector
) -> SmoothEvaluation:
    """Return the loss at weights, as it was kept, or evaluated again."""
    at = _at(recipe, formula, w)
    there = partition.evaluation(at)
    if there is None:
        scores = partition.matrix(offset).dot(w)
        there = formula.loss(partition.pairs(recipe)).evaluate(scores)
        partition.keep(at, there)
    assert isinstance(there, SmoothEvaluation)
    return there


def _shared_there(
    shared: Shared, recipe: Recipe, formula: Formula, w: Vector, scores: Sequence[Vector]
) -> LossEvaluation:
    at = _at(recipe, formula, w)
    there = shared.evaluation(at)
    if there is None:
        there = formula.loss(shared.pairs(recipe)).evaluate(np.concatenate(scores))
        shared.keep(at, there)
    return there


def _hessian(X: DesignMatrix, there: SmoothEvaluation, precision: Precision) -> NDArray[np.float64]:
    shift, _ = X.standardization()
    return X.hessian(there, shift, precision.scale, precision.dtype) / there.curvature


def _of_shared(partition: Partition, values: Vector) -> Vector:
    return values[:0] if partition.shared is None else values[partition.shared]


def _with_shared(partition: Partition, values: Vector, back: Back | None) -> Vector:
    """Return values of rows, with those of shared queries, which are zero so far."""
    if back is None or back.values is None or partition.shared is None:
        return values
    values = values.copy()
    values[partition.shared] = back.values
    return values


def _cut(shared: Shared, values: Vector) -> list[Back]:
    return [Back(part) for part in np.split(values, shared.ends)]


def _sums_of(there: LossEvaluation) -> Numbers:
    """Return what a loss is added up of, for `ranksvm.cluster.pairs.ClusterSweep`."""
    return {
        "magnitude": there.rounding / ROUNDING,
        "gradient_norm": there.gradient_norm,
        "gradient_rounding": there.gradient_rounding,
        "smoothing": there.smoothing,
        "band_magnitude": there.slack / ROUNDING,
        "value": there.value,
        "offset": there.offset,
    }
