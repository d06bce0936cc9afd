"""
What conditions on the weights are good for: few features, and a prior from another data set.

    RANKSVM_DATA=FOLDER python -m benchmarks.conditions

Few features: on `lightgbm-lambdarank`, five folds by query, models along a path of C with
``l1_ratio=0.9``, beside plain ones on as many features: those of the largest weights of a plain
model, trained again. A prior: on `ClueWeb09-webis`, a model of all queries of one fold is the prior
of models that see a few queries of the next, and are tested on its others. Features are divided by
their standard deviations in the training rows, those of the prior where there is one.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold

from benchmarks.datasets.real import find_real
from benchmarks.ranking_quality import joined, read
from benchmarks.report import Page, draw_curve, new_figure, styles
from benchmarks.task import Rows
from benchmarks.tuned_trees import part
from ranksvm import RankSVM, evaluate, ranksvm_grid

METRIC = "ndcg@10"
N_FOLDS = 5
L1_RATIO = 0.9
CS = np.geomspace(1e-4, 1, 25)
COUNTS = (2, 5, 10, 20, 50, 100, 200)  # of features that are kept
C_OF_PRIOR = 0.01
CS_WITH_PRIOR = np.geomspace(1e-5, 1, 6)
N_QUERIES = (1, 2, 3, 6)  # of the about 12 of a fold
N_DRAWS = 36
OPTIONS: dict[str, Any] = {"tol": 1e-4, "n_threads": 1}


class Point(NamedTuple):
    """A model: how many features it has, and what it reaches on test rows."""

    n_features: float
    quality: float


def main() -> None:
    """Write the page, with both pictures."""
    argparse.ArgumentParser(description=__doc__.split("\n")[1]).parse_args()
    warnings.simplefilter("ignore")
    if find_real("lightgbm-lambdarank.train") is None:
        print("Real sets are left out: set RANKSVM_DATA to their folder.")
        return
    page = Page("conditions", "Conditions on the weights: few features, and priors")
    report_features(page)
    report_priors(page)
    page.write()


# --- few features ---------------------------------------------------------------------------------


def report_features(page: Page) -> None:
    """Show quality by the number of features."""
    names = [f"lightgbm-lambdarank.{which}" for which in ("train", "test")]
    splits = [*folds(joined([read(name) for name in names]))]
    sparse = mean_points([path_of_sparse_models(*split) for split in splits])
    best_C, every = best_plain(splits)
    again = mean_points([largest_weights_again(*split, best_C) for split in splits])
    page.table(
        "Few features",
        ("model", "features", METRIC),
        [
            *((f"l1_ratio={L1_RATIO}, C={C:.2g}", *p) for C, p in zip(CS, sparse, strict=True)),
            *((f"largest {n}, again", *p) for n, p in zip(COUNTS, again, strict=True)),
            (f"all, C={best_C:.2g}", *every),
        ],
        "features",
    )
    figure, [[axes]] = new_figure(1, 1, (6, 3.6))
    curves = {f"l1_ratio={L1_RATIO}": sparse, "the largest weights, trained again": again}
    for name, style in styles(curves).items():
        shown = [p for p in curves[name] if p.n_features >= 1]
        draw_curve(axes, *zip(*shown, strict=True), style)
    axes.axhline(every.quality, color="0.5", linewidth=1, label=f"all {every.n_features:.0f}")
    axes.set(xscale="log", xlabel="features kept", ylabel="nDCG@10 on test queries")
    axes.set_xticks(COUNTS, map(str, COUNTS))
    axes.minorticks_off()
    axes.legend()
    page.figure("features", figure, "nDCG@10 of sparse models on lightgbm-lambdarank")


def folds(rows: Rows) -> Iterator[tuple[Rows, Rows]]:
    """Training and test rows, divided by the deviations of the former."""
    splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in splitter.split(rows.X, rows.y, rows.qid):
        scale = deviations(rows.X[train])
        yield scaled(part(rows, train), scale), scaled(part(rows, test), scale)


def deviations(X: np.ndarray) -> np.ndarray:
    """Return those of the columns, 1 for constant ones."""
    scale = X.std(axis=0)
    return np.where(scale > 0, scale, 1.0)


def scaled(rows: Rows, scale: np.ndarray) -> Rows:
    """Return rows with features divided."""
    return rows._replace(X=rows.X / scale)


def path_of_sparse_models(train: Rows, test: Rows) -> list[Point]:
    """Train for each C, and count the weights that are not zero."""
    path = ranksvm_grid(train.X, train.y, train.qid, Cs=CS, l1_ratio=L1_RATIO, **OPTIONS)
    return [point(w, test) for w in path.coefs]


def largest_weights_again(train: Rows, test: Rows, C: float) -> list[Point]:
    """Train on the features of the largest weights alone."""
    order = np.argsort(-np.abs(plain(train, C)))
    found = []
    for count in COUNTS:
        kept = np.zeros(train.X.shape[1])
        kept[order[:count]] = 1
        found.append(point(kept * plain(train._replace(X=train.X * kept), C), test))
    return found


def best_plain(splits: list[tuple[Rows, Rows]]) -> tuple[float, Point]:
    """Return the best C of the grid, and the plain model's features and quality there."""
    paths = []
    for train, test in splits:
        coefs = ranksvm_grid(train.X, train.y, train.qid, Cs=CS, **OPTIONS).coefs
        paths.append([point(w, test) for w in coefs])
    points = mean_points(paths)
    best = max(range(len(CS)), key=lambda k: points[k].quality)
    return float(CS[best]), points[best]


def plain(rows: Rows, C: float, **options: Any) -> np.ndarray:
    """Return the weights of a model."""
    model = RankSVM(C, **OPTIONS, **options).fit(rows.X, rows.y, rows.qid)
    return np.asarray(model.coef_)


def point(w: np.ndarray, test: Rows) -> Point:
    """Judge weights."""
    return Point(int(np.count_nonzero(w)), quality(w, test))


def quality(w: np.ndarray, test: Rows) -> float:
    """Return the mean of the metric over test queries."""
    return float(evaluate(test.y, test.X @ w, test.qid, (METRIC,)).mean[METRIC])


def mean_points(paths: list[list[Point]]) -> list[Point]:
    """Return means over folds."""
    return [Point(*np.mean(points, axis=0)) for points in zip(*paths, strict=True)]


# --- a prior --------------------------------------------------------------------------------------


def report_priors(page: Page) -> None:
    """Show quality by the number of queries, with and without a prior."""
    parts = [read(f"ClueWeb09-webis.F{k}") for k in range(1, 6)]
    every = [with_pairs(rows._replace(X=rows.X.toarray())) for rows in parts]
    pairs = [(every[k], every[(k + 1) % len(every)]) for k in range(len(every))]
    found = {n: [judged_draws(*pair, n) for pair in pairs] for n in N_QUERIES}
    best = {n: {name: chosen(by_pair, name) for name in LABELS} for n, by_pair in found.items()}
    rows = []
    for n, values in best.items():
        helps = float(np.mean(values["prior"] > values["none"]))
        rows.append((n, *(values[name].mean() for name in LABELS), helps))
    columns = ("queries", *LABELS.values(), "draws in which it helps")
    page.table(f"A prior from another fold: {METRIC}", columns, rows, "prior")
    figure, [[axes]] = new_figure(1, 1, (6, 3.6))
    for name, style in zip(LABELS, styles(LABELS.values()).values(), strict=True):
        draw_curve(axes, N_QUERIES, [best[n][name].mean() for n in N_QUERIES], style)
    axes.set(xlabel="queries of the new fold, of about 12", ylabel="nDCG@10 on its other queries")
    axes.set_xticks(N_QUERIES)
    axes.legend()
    page.figure("prior", figure, "nDCG@10 with and without a prior on ClueWeb09-webis")


LABELS = {"prior": "with the prior", "none": "without", "alone": "the prior alone"}
Draws = dict[str, np.ndarray]


def with_pairs(rows: Rows) -> Rows:
    """Leave out queries of one label."""
    kept = [q for q in np.unique(rows.qid) if len(np.unique(rows.y[rows.qid == q])) > 1]
    return part(rows, np.flatnonzero(np.isin(rows.qid, kept)))


def chosen(by_pair: list[Draws], name: str) -> np.ndarray:
    """Return qualities over draws, of each pair with the C that is best for the other pairs."""
    means = np.array([draws[name].mean(axis=0) for draws in by_pair])
    others = means.sum(axis=0) - means
    picked = zip(by_pair, others.argmax(axis=1), strict=True)
    return np.concatenate([draws[name][:, k] for draws, k in picked])


def judged_draws(old: Rows, new: Rows, n: int) -> Draws:
    """Return qualities by draw and C, for each model."""
    scale = deviations(old.X)
    prior = plain(scaled(old, scale), C_OF_PRIOR)
    values: dict[str, list[list[float]]] = {name: [] for name in LABELS}
    for train, test in drawn(scaled(new, scale), n):
        of_prior = [plain(train, C, prior=prior) for C in CS_WITH_PRIOR]
        without = [plain(train, C) for C in CS_WITH_PRIOR]
        for name, models in (("prior", of_prior), ("none", without), ("alone", [prior])):
            values[name].append([quality(w, test) for w in models])
    return {name: np.array(of_draws) for name, of_draws in values.items()}


def drawn(rows: Rows, n: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield some queries for training, and the others."""
    rng = np.random.default_rng(0)
    queries = np.unique(rows.qid)
    for draw in range(len(queries) if n == 1 else N_DRAWS):
        order = np.roll(queries, draw) if n == 1 else rng.permutation(queries)
        seen = np.isin(rows.qid, order[:n])
        yield part(rows, np.flatnonzero(seen)), part(rows, np.flatnonzero(~seen))


if __name__ == "__main__":
    main()
