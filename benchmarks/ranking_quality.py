"""
Quality and time of rankers on held-out queries: linear machines, and boosted trees that are tuned.

    RANKSVM_DATA=FOLDER python -m benchmarks.ranking_quality [--repeats 1] [--data FILE ...]

`lightgbm-lambdarank` and `ClueWeb09-webis`, all their rows, and SVMlight files of one's own, such
as those of a LETOR folder: five folds by query, `--repeats` times, each the test set of what is
trained on the other four. Whatever is chosen is chosen by nDCG@10 on five folds by query of these:
C, weights, scales and features of `RankSVMCV`; for trees a grid of eight, 7 to 63 leaves by two
rates, with early stopping. Metrics are means over queries by ranksvm's default conventions; seconds
are those of the whole selection. The last table compares with the better of the trees, query by
query: a 95 % interval of the difference by bootstrap, and a paired randomisation test.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.datasets.real import find_real, load_real
from benchmarks.harness import machine_line, print_table, time_once
from benchmarks.systems.peer_pairs_sklearn import fit_logistic_regression
from benchmarks.task import Rows
from benchmarks.tuned_trees import lambdarank, part, tuned, xgboost
from ranksvm import RankSVM, RankSVMCV, evaluate, load_svmlight, paired_randomization_test
from ranksvm.selection.folds import make_folds

METRICS = ("ndcg@5", "ndcg@10", "map", "pairwise_accuracy")
N_FOLDS = 5
N_BOOTSTRAP = 2000
Matrix = Any
TREES = ("LightGBM", "XGBoost")


def main() -> None:
    """Print tables for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--repeats", type=int, default=1, help="of the five folds")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="test on so many of the five")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="other SVMlight files")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine_line())
    for missing in (name for name in ("lightgbm", "xgboost") if find_spec(name) is None):
        print(f"Left out: {missing} is not installed.")
    if find_real("lightgbm-lambdarank.train") is None:
        print("Real sets are left out: set RANKSVM_DATA to their folder.")
    for title, rows in data_sets(args.data):
        report(title, rows, args.repeats, args.folds)


def data_sets(files: list[Path]) -> Iterator[tuple[str, Rows]]:
    """Yield names and rows."""
    if find_real("lightgbm-lambdarank.train") is not None:
        names = [f"lightgbm-lambdarank.{part}" for part in ("train", "test")]
        yield "lightgbm-lambdarank", joined([read(name) for name in names])
        folds = [read(f"ClueWeb09-webis.F{k}") for k in range(1, 6)]
        yield "ClueWeb09-webis", joined(folds)
    for file in files:
        yield file.name, Rows(*load_svmlight(file)[:3])


def read(name: str) -> Rows:
    """Read one file of real data."""
    path = find_real(name)
    assert path is not None, name
    return Rows(*load_real(path))


def joined(parts: list[Rows]) -> Rows:
    """Put rows of different queries together, as an array."""
    width = max(part.X.shape[1] for part in parts)
    for one in parts:
        one.X.resize(one.X.shape[0], width)
    numbers = [np.char.add(f"{k}:", one.qid.astype(str)) for k, one in enumerate(parts)]
    return Rows(
        sparse.vstack([one.X for one in parts], "csr").toarray(),
        np.concatenate([one.y for one in parts]),
        np.unique(np.concatenate(numbers), return_inverse=True)[1],
    )


def report(title: str, rows: Rows, repeats: int, n_folds: int) -> None:
    """Train every system on every split, and print what it reaches on the test rows."""
    found = {name: Outcome() for name, _ in systems()}
    for repeat in range(repeats):
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=repeat)
        splits = list(splitter.split(rows.X, rows.y, rows.qid))[:n_folds]
        for train, test in splits:
            for name, fit in systems():
                found[name].add(fit, part(rows, train), part(rows, test))
    size = f"{rows.X.shape[0]} x {rows.X.shape[1]}, {len(np.unique(rows.qid))} queries"
    lines = [(name, *outcome.line()) for name, outcome in found.items()]
    columns = ("", *METRICS, "seconds")
    print_table(f"{title} ({size}; {repeats} x {n_folds} folds)", columns, lines)
    best = best_of_trees(found)
    if best is not None:
        lines = [
            (name, *compared(outcome, found[best]))
            for name, outcome in found.items()
            if name != best
        ]
        columns = ("less " + best, "ndcg@10", "from", "to", "p", "of its seconds")
        print_table(f"{title}: against the better of the trees", columns, lines)


class Outcome:
    """What a system reaches on test queries, and in which time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.per_query: dict[str, list[np.ndarray]] = {metric: [] for metric in METRICS}

    def add(self, fit: Callable[[Rows], Any], train: Rows, test: Rows) -> None:
        """Train, and measure."""
        fitted: list[Callable[[Matrix], np.ndarray]] = []
        self.seconds.append(time_once(lambda: fitted.append(fit(train))))
        result = evaluate(test.y, fitted[0](test.X), test.qid, METRICS)
        for metric in METRICS:
            self.per_query[metric].append(result.per_query[metric])

    def values(self, metric: str) -> np.ndarray:
        """Value of each test query."""
        return np.concatenate(self.per_query[metric])

    def line(self) -> list[Any]:
        """Return means over queries, and the median of the seconds."""
        means = [f"{np.nanmean(self.values(metric)):.4f}" for metric in METRICS]
        return [*means, float(np.median(self.seconds))]


def best_of_trees(found: dict[str, Outcome]) -> str | None:
    """Return the name of the trees with the best nDCG@10."""
    trees = [name for name in found if name.startswith(TREES)]
    return max(trees, key=lambda n: np.nanmean(found[n].values("ndcg@10")), default=None)


def compared(one: Outcome, other: Outcome) -> list[Any]:
    """Return the mean difference, its interval, the p-value, and the share of the seconds."""
    values = one.values("ndcg@10"), other.values("ndcg@10")
    difference = values[0] - values[1]
    difference = difference[~np.isnan(difference)]
    rng = np.random.default_rng(0)
    drawn = rng.choice(difference, (N_BOOTSTRAP, len(difference))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    p = paired_randomization_test(*values, random_state=0)
    share = np.sum(one.seconds) / np.sum(other.seconds)
    return [f"{difference.mean():+.4f}", f"{low:+.4f}", f"{high:+.4f}", f"{p:.3f}", f"{share:.2f}"]


def systems() -> Iterator[tuple[str, Callable[[Rows], Callable[[Matrix], np.ndarray]]]]:
    """Names, and functions that train on rows and return the function that scores others."""
    yield "RankSVM", lambda rows: scaled(rows, RankSVM())
    weighed = RankSVM(pair_weight="ndcg")
    yield "RankSVM, ndcg", lambda rows: scaled(rows, weighed)
    yield "RankSVMCV, C", lambda rows: scaled(rows, RankSVMCV(scoring="ndcg@10"))
    yield "RankSVMCV, auto", automatic
    yield "logistic regression on pairs", logistic_regression
    if find_spec("lightgbm"):
        yield "LightGBM, lambdarank", lambda rows: tuned(lambdarank, rows, folds_of(rows))
    if find_spec("xgboost"):
        for objective in ("rank:ndcg", "rank:pairwise"):
            fit = xgboost(objective, lambdarank_pair_method="mean")
            yield f"XGBoost, {objective}", lambda rows, fit=fit: tuned(fit, rows, folds_of(rows))


def folds_of(rows: Rows) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds that `RankSVMCV` takes, too."""
    return make_folds(5, rows.y, np.unique(rows.qid, return_inverse=True)[1])


def automatic(rows: Rows) -> Callable[[Matrix], np.ndarray]:
    """Choose C, weights of pairs, scales and features."""
    model = RankSVMCV(7, param_grid="auto", scoring="ndcg@10")
    return model.fit(rows.X, rows.y, qid=rows.qid).predict


def scaled(rows: Rows, model: Any) -> Callable[[Matrix], np.ndarray]:
    """Train a linear model on scaled features."""
    scaler = StandardScaler(with_mean=False)
    model.fit(scaler.fit_transform(rows.X), rows.y, qid=rows.qid)
    return lambda X: model.predict(scaler.transform(X))


def logistic_regression(rows: Rows) -> Callable[[Matrix], np.ndarray]:
    """Classify differences of rows with scaled features."""
    scaler = StandardScaler(with_mean=False)
    scaled_rows = sparse.csr_matrix(scaler.fit_transform(rows.X))
    model = fit_logistic_regression(rows._replace(X=scaled_rows))
    return lambda X: model.decision_function(scaler.transform(X))


if __name__ == "__main__":
    main()
