"""Draw the picture of the first page, from a fit: python docs/make_picture.py > docs/picture.html.

Three small drawings as SVG within HTML, which stand beside or below each other; their colours are
those of _static/style.css, light or dark.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ranksvm import RankSVM

QUERIES, ROWS, FEATURES = ("oslo", "rome"), 4, 3
WIDTH, HEIGHT = 240, 200


def rows_of(n_queries: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of queries, with labels from 0 to 3 that their features explain."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * ROWS, FEATURES))
    wanted = (X @ [1.0, -0.7, 0.4]).reshape(-1, ROWS)
    return X, wanted.argsort(axis=1).argsort(axis=1).ravel(), np.repeat(range(n_queries), ROWS)


def dots(label: int, x: float, y: float) -> Iterator[str]:
    """Draw a label: so many of three dots are full."""
    for k in range(3):
        kind = "full" if k < label else "empty"
        yield f'<circle class="{kind}" cx="{x + 11 * k:.0f}" cy="{y:.0f}" r="4"/>'


def lists(order: np.ndarray, y: np.ndarray, mark: Callable[[int, float], str]) -> Iterator[str]:
    """Draw the rows of each query in an order, each by a mark and its label."""
    for q, name in enumerate(QUERIES):
        yield f'<text x="10" y="{18 + 96 * q}">{name}</text>'
        for k, row in enumerate(order[q * ROWS : (q + 1) * ROWS]):
            height = 32 + 96 * q + 19 * k
            yield mark(row, height)
            yield from dots(y[row], 180, height)


def cells(row: int, height: float) -> str:
    """Draw features, as shades."""
    return "".join(
        f'<rect class="value" x="{60 + 30 * k}" y="{height - 7}" width="26" height="14" rx="2" '
        f'fill-opacity="{0.15 + 0.85 * value:.2f}"/>'
        for k, value in enumerate(X[row])
    )


def bar(row: int, height: float) -> str:
    """Draw a score."""
    width = 12 + 90 * (scores[row] - scores.min()) / np.ptp(scores)
    return f'<rect class="score" x="60" y="{height - 5}" width="{width:.0f}" height="10" rx="2"/>'


def certificate() -> Iterator[str]:
    """Draw the objective of each step, and the bound below which no weights get it."""
    X, y, qid = rows_of(60, seed=1)
    model = RankSVM(C=3, loss="hinge", solver="cutting_planes", tol=1e-3).fit(X, y, qid)
    value = np.array([line.value for line in model.history_])
    gap = np.array([line.dual_gap for line in model.history_])
    best = np.minimum.accumulate(value)[1:13]
    bound = np.maximum.accumulate(value * (1 - gap))[1:13]
    low, high = bound[0], best[0]
    above = [
        f"{16 + 18 * k},{30 + 130 * (high - v) / (high - low):.1f}" for k, v in enumerate(best)
    ]
    below = [
        f"{16 + 18 * k},{30 + 130 * (high - v) / (high - low):.1f}" for k, v in enumerate(bound)
    ]
    yield f'<polygon class="between" points="{" ".join(above + below[::-1])}"/>'
    yield f'<polyline class="above" points="{" ".join(above)}"/>'
    yield f'<polyline class="below" points="{" ".join(below)}"/>'
    yield '<text x="62" y="42">what has been reached</text>'
    yield '<text x="62" y="158">what nothing can beat</text>'
    yield f'<text x="16" y="{HEIGHT - 8}">step by step</text>'


def panel(marks: Iterator[str], title: str, caption: str) -> str:
    """Return one of the drawings, with what it says in words."""
    lines = [
        "<figure>",
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}: {caption}">',
        *marks,
        "</svg>",
        f"<figcaption><b>{title}</b><br/>{caption}</figcaption>",
        "</figure>",
    ]
    return "\n".join(lines)


X, y, qid = rows_of(len(QUERIES), seed=3)
scores = RankSVM(C=10).fit(X, y, qid).predict(X)
as_they_come = lists(np.arange(len(y)), y, cells)
best_first = lists(np.lexsort((-scores, qid)), y, bar)
panels = (
    panel(as_they_come, "Rows of queries", "with features, and labels: how good each one is"),
    panel(certificate(), "The optimum, certified", "two bounds meet, and say when to stop"),
    panel(best_first, "Scores", "that put the rows of each query in order"),
)
print('<div class="picture">', *panels, "</div>", sep="\n")
