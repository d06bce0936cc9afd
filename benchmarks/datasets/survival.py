"""Times of events: four sets that come with scikit-survival, and drawn ones of any size."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

SETS = {
    "veteran": "load_veterans_lung_cancer",
    "whas500": "load_whas500",
    "gbsg2": "load_gbsg2",
    "flchain": "load_flchain",
}


@dataclass(frozen=True, eq=False)
class Times:
    """Rows of X with events and times."""

    name: str
    X: np.ndarray
    event: np.ndarray
    time: np.ndarray

    def rows(self, rows: np.ndarray) -> "Times":
        """Return some of the rows."""
        return Times(self.name, self.X[rows], self.event[rows], self.time[rows])

    def without_ties(self) -> "Times":
        """
        Return the same with times that differ: events before who is censored at that time.

        Events of one time come in an order drawn at random.
        """
        drawn = np.random.default_rng(0).permutation(len(self.time))
        rank = np.empty(len(self.time))
        rank[np.lexsort((drawn, ~self.event, self.time))] = np.arange(1, len(rank) + 1)
        return replace(self, time=rank)

    def describe(self) -> str:
        """Say what there is."""
        n, d = self.X.shape
        return (
            f"{self.name}: {n:,} rows, {d} features, {self.event.sum():,} events, "
            f"{len(np.unique(self.time)):,} distinct times"
        )


def survival_sets() -> Iterator[Times]:
    """Yield the sets: categories as 0 and 1, gaps filled by means, standardised."""
    import pandas as pd
    import sksurv.datasets

    for name, loader in SETS.items():
        frame, y = getattr(sksurv.datasets, loader)()
        # A chapter of causes of death is known of the dead alone.
        frame = frame.drop(columns="chapter", errors="ignore")
        frame = pd.get_dummies(frame, drop_first=True).astype(float)
        X = frame.fillna(frame.mean()).to_numpy()
        X = np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))
        event, time = (y[field] for field in y.dtype.names)
        # scikit-survival takes no time of 0.
        yield Times(name, X, event.astype(bool), time.astype(float) + 1)


def drawn_times(n: int, d: int, seed: int = 0) -> Times:
    """Draw times that fall with the risk, all distinct, of which three in ten are censored."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    time = np.exp(-X @ rng.standard_normal(d) / np.sqrt(d)) * rng.exponential(size=n)
    event = rng.random(n) < 0.7
    rank = np.argsort(np.argsort(np.where(event, time, time * rng.random(n)))) + 1.0
    return Times("drawn", X, event, rank)
