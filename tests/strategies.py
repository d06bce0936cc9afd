"""Hypothesis strategies: labels, scores, queries and weights that are hard to count.

Scores are multiples of 1/8, wherever they lie: margins are then exact, many are exactly 1, and
whether a pair is active is never a matter of rounding.
"""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

FACTOR = int(os.environ.get("EXPLORE") or 1)  # so many times as many examples, by `make explore`
FAR = 1e6
EXTREME_LABELS = [
    -1e150,
    -1e-150,
    -5e-324,
    -0.0,
    0.0,
    5e-324,
    1e-150,
    1.0,
    np.nextafter(1, 2),
    1e150,
]


def examples(number):
    """Try so many examples; without it, a hundred."""
    return settings(max_examples=FACTOR * number)


@dataclass(frozen=True)
class Ranking:
    """Everything a pair loss is a function of; the weight of a query is given on all its rows."""

    y: np.ndarray
    scores: np.ndarray
    qid: Any
    sample_weight: np.ndarray | None
    query_weight: np.ndarray | None
    pair_weight: str | None = None
    better_weight: np.ndarray | None = None
    worse_weight: np.ndarray | None = None

    @property
    def weights(self):
        names = ("sample_weight", "query_weight", "pair_weight", "better_weight", "worse_weight")
        return {name: getattr(self, name) for name in names}


def integers(n, low, high):
    """So many numbers, by a single draw, unless they are far apart; zeros are the simplest."""
    span, simplest = high - low + 1, min(max(low, 0), high)
    if span > 256:
        return st.lists(st.integers(low, high), min_size=n, max_size=n).map(np.array)

    def numbers(text):
        return (np.frombuffer(text, np.uint8).astype(np.int64) + simplest - low) % span + low

    return st.binary(min_size=n, max_size=n).map(numbers)


def permutations(n):
    """An order of so many rows; their own is the simplest."""
    return integers(n, 0, 255).map(lambda keys: np.argsort(keys, kind="stable"))


@st.composite
def labels(draw, n):
    kind = draw(st.sampled_from(["few", "equal", "distinct", "float", "extreme", "scaled"]))
    if kind == "few":
        return draw(integers(n, 0, 3))
    if kind == "equal":
        return np.full(n, draw(st.integers(-2, 2)))
    if kind == "distinct":
        return draw(permutations(n))
    if kind == "float":
        return draw(integers(n, -8, 8)) / 4
    if kind == "extreme":
        return np.array(EXTREME_LABELS)[draw(integers(n, 0, len(EXTREME_LABELS) - 1))]
    return draw(integers(n, -2, 2)) * 10.0 ** draw(st.integers(-150, 150))


@st.composite
def exact_scores(draw, y):
    """Scores for the labels y: tied, shifted, spread, in clusters far apart, with an outlier."""
    n = len(y)
    near = draw(integers(n, -24, 24)) / 8
    rank = np.unique(y, return_inverse=True)[1]
    kind = draw(
        st.sampled_from(["tied", "near", "shifted", "spread", "ordered", "pairwise", "outlier"])
    )
    if kind == "tied":
        return draw(integers(n, -2, 2)).astype(float)
    if kind == "shifted":
        return near + draw(st.sampled_from([-FAR, FAR]))
    if kind == "spread":
        return draw(integers(n, -8 * int(FAR), 8 * int(FAR))) / 8
    if kind == "ordered":
        return near + FAR * rank
    if kind == "pairwise":
        return near + FAR * (rank // 2)
    if kind == "outlier":
        near[draw(st.integers(0, n - 1))] += draw(st.sampled_from([-FAR, FAR]))
    return near


@st.composite
def qids(draw, n):
    kind = draw(st.sampled_from(["none", "own", "unsorted", "strings", "descending"]))
    if kind == "none":
        return None
    if kind == "own":
        return np.arange(n)
    qid = draw(integers(n, 0, 4))
    if kind == "strings":
        return [f"query {q}" for q in qid]
    return np.sort(qid)[::-1] if kind == "descending" else qid


@st.composite
def weights(draw, n):
    kind = draw(st.sampled_from(["none", "integers", "floats"]))
    if kind == "none":
        return None
    if kind == "integers":
        return draw(integers(n, 0, 3)).astype(float)
    exponents = draw(integers(n, -30, 30))
    return np.where(exponents == 0, 0.0, 10.0 ** (exponents / 10))


def pair_weights(y):
    """Gaps of labels are weights, unless they lose digits to underflow."""
    underflow = np.any(np.diff(np.unique(y)) < 1e-200)
    return st.none() if underflow else st.sampled_from([None, "gap"])


def roles(n):
    """Weights of rows as the better or the worse one of a pair: of none, of some, of any size."""
    whole = st.integers(0, 1).flatmap(lambda high: integers(n, 0, high)).map(np.float64)
    return st.one_of(st.none(), whole, weights(n))


@st.composite
def rankings(draw, max_samples=24, weighted=True):
    y = draw(st.integers(1, max_samples).flatmap(labels))
    n = len(y)
    qid = draw(qids(n))
    query = np.zeros(n, int) if qid is None else np.unique(qid, return_inverse=True)[1]
    of_query = draw(weights(int(query.max()) + 1)) if weighted else None
    return Ranking(
        y=y,
        scores=draw(exact_scores(y)),
        qid=qid,
        sample_weight=draw(weights(n)) if weighted else None,
        query_weight=None if of_query is None else of_query[query],
        pair_weight=draw(pair_weights(y)) if weighted else None,
        better_weight=draw(roles(n)) if weighted else None,
        worse_weight=draw(roles(n)) if weighted else None,
    )


@st.composite
def banded_rankings(draw, widths, weighted=True):
    """A ranking, and a width below the margin whose edges many pairs meet, exactly."""
    ranking, width = draw(rankings(weighted=weighted)), draw(st.sampled_from(widths))
    steps = draw(integers(len(ranking.y), 0, 8)) / 8
    return replace(ranking, scores=ranking.scores + width * steps), width


@st.composite
def linear_problems(draw, max_samples=16, max_features=4):
    """A ranking with pairs, rows X that may repeat, and weights w; its scores are not used."""
    ranking = draw(rankings(max_samples))
    d = draw(st.integers(1, max_features))
    pool = draw(integers(6 * d, -8, 8)).reshape(6, d) / 4
    rows = draw(integers(len(ranking.y), 0, 5))
    return ranking, pool[rows], draw(integers(d, -8, 8)) / 8


@dataclass(frozen=True)
class Times:
    """Times of events with ties of every kind, and strata."""

    event: np.ndarray
    time: np.ndarray
    qid: Any

    @property
    def y(self):
        """As a structured array."""
        fields = [("seen", bool), ("days", float)]
        return np.array(list(zip(self.event, self.time, strict=True)), dtype=fields)


@st.composite
def times(draw, max_samples=24):
    n = draw(st.integers(1, max_samples))
    last = draw(st.sampled_from([1, 4, 50]))
    scale = 10.0 ** draw(st.sampled_from([-150, 0, 0, 150]))
    kind = draw(st.sampled_from(["mixed", "mixed", "mixed", "censored", "events"]))
    event = draw(integers(n, 0, 1)) if kind == "mixed" else np.full(n, kind == "events")
    return Times(event.astype(bool), scale * draw(integers(n, 0, last)), draw(qids(n)))


@dataclass(frozen=True)
class GivenRanking:
    """Pairs of a winner and a loser, and scores of the rows."""

    pairs: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    margins: np.ndarray | None


@st.composite
def given_rankings(draw, max_samples=12, max_pairs=40):
    """Pairs that repeat and contradict each other, of some rows; margins are exact, as scores."""
    n, n_pairs = draw(st.integers(2, max_samples)), draw(st.integers(1, max_pairs))
    winner, step = draw(integers(n_pairs, 0, n - 1)), draw(integers(n_pairs, 1, n - 1))
    weights_of_pairs = draw(weights(n_pairs))
    if weights_of_pairs is not None and not weights_of_pairs.any():
        weights_of_pairs = None
    margins = draw(st.sampled_from([None, 1, 2.0**20, 2.0**-20]))
    if margins is not None:
        margins = margins * draw(integers(n_pairs, 1, 16)) / 8
    return GivenRanking(
        np.stack([winner, (winner + step) % n], axis=1),
        draw(exact_scores(np.arange(n))),
        weights_of_pairs,
        margins,
    )
