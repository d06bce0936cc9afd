"""Data on a cluster made ready: surveyed, queries brought together, partitions held."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.offsets import column_offsets
from .costs import ClusterCosts
from .driver import Driver
from .partition import bundle_of, partition_of, runs_of, shared_of, shared_part
from .rounds import ClusterGroups, ClusterPreferences, Rounds
from .rows import Survey, selected, survey, together, widened
from .steps import some_rows
from .torn import Plan, plan_of

Vector = NDArray[np.float64]
Folds: TypeAlias = list[NDArray[np.int64]]


@dataclass(frozen=True)
class ClusterData:
    """What the driver knows of data whose partitions it holds.

    Attributes
    ----------
    rounds : Rounds
    n_features, n_stored, n_queries, n_moved : int
        Rows moved are those of queries that had been torn apart.
    names : tuple of str, or None
        Of the features.
    from_zero : bool or None
        Whether they are counted from zero, as of `ranksvm.cluster.rows.Rows`.
    costs : ClusterCosts
    """

    rounds: Rounds
    n_features: int
    n_stored: int
    n_queries: int
    n_moved: int
    names: tuple[str, ...] | None
    from_zero: bool | None
    costs: ClusterCosts


def load(
    driver: Driver,
    sources: Sequence[Delayed],
    split_queries: str,
    n_folds: int = 0,
) -> ClusterData:
    """Hold the rows that sources are computed to, as partitions of whole queries.

    Parameters
    ----------
    driver : Driver
    sources : sequence of Delayed
        Each becomes `ranksvm.cluster.rows.Rows`.
    split_queries : {"move", "error"}
        What to do with queries that are torn between partitions.
    n_folds : int, default=0
        Into how many folds to deal the queries, in their order.

    Raises
    ------
    ValueError
        If partitions do not fit each other, or a query is torn where that is an error.

    Warns
    -----
    UserWarning
        If rows were moved.
    """
    driver.hold(lambda: sources)
    some, surveys = some_surveys(driver)
    rows, surveys = _evened([sources[k] for k in some], surveys)
    plan = plan_of(surveys)
    _tell_of_moves(plan, split_queries)
    n_moved = plan.n_moved
    if n_moved:
        rows = moved(rows, plan)
        driver.hold(lambda: rows)
        some, surveys = some_surveys(driver)
        rows = [rows[k] for k in some]
        plan = plan_of(surveys)
    folds, runs = _dealt(surveys, n_folds), runs_of([one.n_stored for one in surveys])
    driver.hold(lambda: _partitions(rows, plan, folds, runs))
    return replace(_known(driver, surveys, plan), n_moved=n_moved)


def some_surveys(driver: Driver) -> tuple[list[int], list[Survey]]:
    """Survey what is held; return which partitions have rows, or else the first, and their surveys.

    Raises
    ------
    ValueError
        If partitions do not fit each other.
    """
    surveys: list[Survey] = driver.gather("survey", survey)
    _require_alike(surveys)
    some = [k for k, of_part in enumerate(surveys) if len(of_part.ids)] or [0]
    return some, [surveys[k] for k in some]


def _evened(rows: list[Any], surveys: list[Survey]) -> tuple[list[Any], list[Survey]]:
    """Return partitions with the same numbers of features, and their surveys."""
    if surveys[0].from_zero is None:
        return rows, surveys
    from_zero = any(of_part.from_zero for of_part in surveys)
    widths = [of_part.n_features + (from_zero and not of_part.from_zero) for of_part in surveys]
    width, widen = max(widths), delayed(widened, pure=False)
    narrow = [of_part.n_features < width or of_part.from_zero != from_zero for of_part in surveys]
    rows = [
        widen(part, width, from_zero) if is_narrow else part
        for part, is_narrow in zip(rows, narrow, strict=True)
    ]
    even = [of_part._replace(n_features=width, from_zero=from_zero) for of_part in surveys]
    return rows, even


def _known(driver: Driver, surveys: Sequence[Survey], plan: Plan) -> ClusterData:
    n_features = surveys[0].n_features
    n_stored = sum(of_part.n_stored for of_part in surveys)
    groups = ClusterGroups(len(plan.sizes), int(plan.sizes.sum()))
    is_weighted = any(of_part.is_weighted for of_part in surveys)
    preferences = ClusterPreferences(groups, is_weighted)
    rounds = Rounds(driver, preferences, plan.has_shared)
    if plan.has_shared:
        rounds = replace(rounds, offset=_common_offset(rounds, n_features))
    n_tasks = len(rounds.partitions)
    costs = ClusterCosts.of_queries(plan.sizes, n_features, n_stored, n_tasks, plan.has_shared)
    names, from_zero = surveys[0].names, surveys[0].from_zero
    return ClusterData(
        rounds, n_features, n_stored, groups.n_queries, plan.n_moved, names, from_zero, costs
    )


def _common_offset(rounds: Rounds, n_features: int) -> Vector:
    """Return what all partitions take off the columns that lie far from zero."""
    found = rounds.driver.together(lambda graph: graph.map("offset", some_rows, rounds.partitions))
    columns = reduce(np.intersect1d, (columns for columns, _ in found))
    samples = [sample[:, np.searchsorted(own, columns)] for own, sample in found]
    offset = column_offsets(np.concatenate(samples)) if len(columns) else None
    result = np.zeros(n_features)
    if offset is not None:
        result[columns] = offset
    return result


def _require_alike(surveys: Sequence[Survey]) -> None:
    first = surveys[0]
    for k, other in enumerate(surveys):
        if (other.from_zero is None) != (first.from_zero is None):
            raise InputError(
                f"only one of partition 0 and partition {k} is of numbered features, as in "
                "SVMlight files: give files of one kind"
            )
        if first.from_zero is None and other.n_features != first.n_features:
            raise InputError(
                f"features differ between partitions: partition 0 has {first.n_features}, "
                f"partition {k} has {other.n_features}"
            )
        if other.names != first.names:
            raise InputError(
                f"features differ between partitions: partition 0 has {_some(first.names)}, "
                f"partition {k} has {_some(other.names)}"
            )
        if other.has_ids != first.has_ids:
            raise InputError(
                f"only one of partition 0 and partition {k} has query ids: give them to all"
            )


def _some(names: tuple[str, ...] | None) -> str:
    return "no names" if names is None else f"{', '.join(names[:8])}"


def _tell_of_moves(plan: Plan, split_queries: str) -> None:
    if not plan.n_moved:
        return
    n_rows = int(plan.sizes.sum())
    torn = f"queries are torn between partitions: {plan.n_moved} of {n_rows} rows"
    if split_queries == "error":
        raise InputError(
            f"{torn} would have to move; partition by query, or give split_queries='move'"
        )
    warnings.warn(
        f"{torn} were moved to bring them together; data that are partitioned by query begin at "
        "once",
        UserWarning,
        stacklevel=5,
    )


def moved(rows: Sequence[Delayed], plan: Plan) -> list[Any]:
    """Return partitions of whole queries, of which those that nothing enters or leaves stay."""
    select, join = delayed(selected, pure=False), delayed(together, pure=False)

    def partition(k: int) -> Any:
        sources = plan.sources_of(k)
        if sources == [k] and not plan.is_left(k):
            return rows[k]
        return join(*(select(rows[j], plan.destinations[j], k) for j in sources))

    return [partition(k) for k in range(len(rows))]


def _partitions(
    rows: Sequence[Delayed], plan: Plan, folds: Folds | None, runs: Sequence[slice]
) -> list[Any]:
    """Return what rows become on their workers.

    These are bundles of partitions; or, where queries are shared, partitions, and these queries.
    """
    if plan.has_shared:
        return _with_shared(rows, plan)
    make = delayed(bundle_of, pure=False)
    folds_of = [None] * len(rows) if folds is None else folds
    return [make(list(rows[run]), folds_of[run]) for run in runs]


def _with_shared(rows: Sequence[Delayed], plan: Plan) -> list[Any]:
    make = delayed(partition_of, pure=False)
    take, join = delayed(shared_part, pure=False), delayed(shared_of, pure=False)
    pairs = list(zip(rows, plan.shared, strict=True))
    partitions = [make(of_part, is_shared, None) for of_part, is_shared in pairs]
    return [*partitions, join(*(take(of_part, is_shared) for of_part, is_shared in pairs))]


def _dealt(surveys: Sequence[Survey], n_folds: int) -> Folds | None:
    """Deal queries to folds in their order, one after the other."""
    if not n_folds:
        return None
    ends = np.cumsum([len(of_part.ids) for of_part in surveys])
    return np.split(np.arange(ends[-1], dtype=np.int64) % n_folds, ends[:-1])
