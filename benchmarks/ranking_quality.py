"""
Quality and time of rankers on held-out queries: linear machines, boosted trees, transformed pairs.

    RANKSVM_DATA=FOLDER python -m benchmarks.ranking_quality [--folds 5]

`lightgbm-lambdarank` with its own test set, and the five folds of `ClueWeb09-webis`, each the test
set of a model that is trained on the other four. Every system has its default parameters, which
for boosting are 100 trees; RankSVMCV chooses C within the training queries. Linear machines
see features divided by their standard deviations, trees see them as they are. Metrics are means
over queries by ranksvm's default conventions; seconds are those of training, median over folds.
"""

import argparse
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from benchmarks.datasets.real import find_real, load_real
from benchmarks.harness import machine_line, print_table, time_once
from benchmarks.systems.peer_lightgbm import fit_lambdarank
from benchmarks.systems.peer_pairs_sklearn import fit_logistic_regression
from benchmarks.systems.peer_xgboost import fit_pairwise
from benchmarks.task import Rows
from ranksvm import RankSVM, RankSVMCV, evaluate

METRICS = ("ndcg@10", "pairwise_accuracy")
N_THREADS = 2
Matrix = Any


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--folds", type=int, default=5, help="test on so many of the five")
    args = parser.parse_args()
    if find_real("lightgbm-lambdarank.train") is None:
        print("Skipped: set RANKSVM_DATA to the folder with the real data sets.")
        return
    print(machine_line())
    for missing in (name for name in ("lightgbm", "xgboost") if find_spec(name) is None):
        print(f"Left out: {missing} is not installed.")
    report(
        "lightgbm-lambdarank",
        [(read("lightgbm-lambdarank.train"), read("lightgbm-lambdarank.test"))],
    )
    folds = [read(f"ClueWeb09-webis.F{k}") for k in range(1, 6)]
    splits = [(joined(folds[:k] + folds[k + 1 :]), fold) for k, fold in enumerate(folds)]
    report(f"ClueWeb09-webis, {args.folds} of 5 folds", splits[: args.folds])


def read(name: str) -> Rows:
    """Read one file of real data."""
    path = find_real(name)
    assert path is not None, name
    return Rows(*load_real(path))


def joined(parts: list[Rows]) -> Rows:
    """Put rows of different queries together."""
    width = max(part.X.shape[1] for part in parts)
    for part in parts:
        part.X.resize(part.X.shape[0], width)
    return Rows(
        sparse.vstack([part.X for part in parts], "csr"),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.qid for part in parts]),
    )


def report(title: str, splits: list[tuple[Rows, Rows]]) -> None:
    """Train every system on every split, and print what it reaches on the test rows."""
    rows = []
    for name, fit in systems():
        seconds, means = [], []
        for train, test in splits:
            test.X.resize(test.X.shape[0], train.X.shape[1])
            fitted: list[Callable[[Matrix], np.ndarray]] = []
            seconds.append(
                time_once(lambda fit=fit, train=train, out=fitted: out.append(fit(train)))
            )
            result = evaluate(test.y, fitted[0](test.X), test.qid, METRICS)
            means.append([result.mean[metric] for metric in METRICS])
        quality = [f"{mean:.4f}" for mean in np.mean(means, axis=0)]
        rows.append((name, *quality, float(np.median(seconds))))
    n_rows, n_features = splits[0][0].X.shape
    size = f"{n_rows} x {n_features} to train on, {len(np.unique(splits[0][0].qid))} queries"
    print_table(f"{title} ({size})", ("", *METRICS, "seconds"), rows)


def systems() -> Iterator[tuple[str, Callable[[Rows], Callable[[Matrix], np.ndarray]]]]:
    """Names, and functions that train on rows and return the function that scores others."""
    yield "RankSVM", lambda rows: scaled(rows, RankSVM())
    yield "RankSVM, hinge", lambda rows: scaled(rows, RankSVM(loss="hinge"))
    yield "RankSVMCV, nDCG@10", lambda rows: scaled(rows, RankSVMCV(scoring="ndcg@10"))
    yield "logistic regression on pairs", logistic_regression
    if find_spec("lightgbm"):
        yield "LightGBM, lambdarank", lambda rows: fit_lambdarank(rows, N_THREADS).predict
    if find_spec("xgboost"):
        for name, booster in (("", "gbtree"), (", gblinear", "gblinear")):
            yield (
                f"XGBoost, rank:pairwise{name}",
                lambda rows, booster=booster: fit_pairwise(rows, booster, N_THREADS).predict,
            )


def scaled(rows: Rows, model: Any) -> Callable[[Matrix], np.ndarray]:
    """Train a linear model on scaled features."""
    scaler = StandardScaler(with_mean=False)
    model.fit(scaler.fit_transform(rows.X), rows.y, qid=rows.qid)
    return lambda X: model.predict(scaler.transform(X))


def logistic_regression(rows: Rows) -> Callable[[Matrix], np.ndarray]:
    """Classify differences of rows with scaled features."""
    scaler = StandardScaler(with_mean=False)
    model = fit_logistic_regression(rows._replace(X=scaler.fit_transform(rows.X)))
    return lambda X: model.decision_function(scaler.transform(X))


if __name__ == "__main__":
    main()
