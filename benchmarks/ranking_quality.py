"""
Quality and time of rankers on held-out queries: linear machines, and boosted trees that are tuned.

    make bench-quality ARGS="--repeats 3 --data FILE ... --letor FOLDER ..."

`lightgbm-lambdarank` and `ClueWeb09-webis`, all their rows, SVMlight files of one's own, and LETOR
collections: five folds by query, `--repeats` times, each the test set of what is trained on the
other four. Whatever is chosen is chosen by nDCG@10 on five folds by query of these: C, weights,
scales and features of `RankSVMCV`; for trees a grid of eight, 7 to 63 leaves by two rates, with
early stopping. Metrics are means over queries by ranksvm's default conventions; seconds are those
of processors, for the whole selection, with as many threads for all. The second table compares with
the better of the trees by the mean of each query over the repetitions: a 95 % interval of the
difference by bootstrap over queries, and a paired randomisation test.

`quality/values.jsonl` holds each result as it comes, and ``--go-on`` begins with those there are.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold

from benchmarks.datasets.letor_folders import letor_folder, load_letor
from benchmarks.datasets.real import find_real, load_real
from benchmarks.rankers import Ranker, is_of_trees, rankers
from benchmarks.report import Page, new_figure, styles
from benchmarks.task import Rows
from benchmarks.tuned_trees import part
from ranksvm import evaluate, load_svmlight, paired_randomization_test

METRICS = ("ndcg@5", "ndcg@10", "map", "pairwise_accuracy")
MAIN = "ndcg@10"
N_FOLDS = 5
N_BOOTSTRAP = 2000


def main() -> None:
    """Write a page with two tables for each data set, and a figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--repeats", type=int, default=1, help="of the five folds")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="test on so many of the five")
    parser.add_argument("--threads", type=int, default=1, help="of every ranker")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="other SVMlight files")
    parser.add_argument("--letor", type=Path, nargs="*", default=[], help="folders of collections")
    parser.add_argument("--go-on", action="store_true", help="with what an earlier run has left")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    page = Page("quality", "Quality and time of rankers")
    for missing in (name for name in ("lightgbm", "xgboost") if find_spec(name) is None):
        page.text(f"Left out: {missing} is not installed.")
    if find_real("lightgbm-lambdarank.train") is None:
        page.text("Real sets are left out: set RANKSVM_DATA to their folder.")
    results = Results(page.folder / "values.jsonl", args.go_on)
    systems, shown = rankers(args.threads), {}
    for title, rows in data_sets(args.data, args.letor):
        for repeat, k, train, test in splits(rows, args.repeats, args.folds):
            for name, fit in systems.items():
                results.measure((title, repeat, k, name), fit, part(rows, train), part(rows, test))
        size = f"{rows.X.shape[0]} x {rows.X.shape[1]}, {len(np.unique(rows.qid))} queries"
        found = {name: results.outcome(title, name, args.repeats, args.folds) for name in systems}
        report(page, f"{title} ({size}; {args.repeats} x {args.folds} folds)", found)
        shown[title] = found
    if shown:
        page.figure("quality", drawn(shown), "nDCG@10 on test queries against seconds")
    page.write()


def data_sets(files: Iterable[Path], collections: Iterable[Path]) -> Iterator[tuple[str, Rows]]:
    """Yield names and rows."""
    if find_real("lightgbm-lambdarank.train") is not None:
        names = [f"lightgbm-lambdarank.{part}" for part in ("train", "test")]
        yield "lightgbm-lambdarank", joined([read(name) for name in names])
        folds = [read(f"ClueWeb09-webis.F{k}") for k in range(1, 6)]
        yield "ClueWeb09-webis", joined(folds)
    for file in files:
        yield file.name, joined([Rows(*load_svmlight(file)[:3])])
    named = letor_folder()
    for folder in [*collections, *([named] if named else [])]:
        yield folder.resolve().name, joined(list(load_letor(folder)))


def read(name: str) -> Rows:
    """Read one file of real data."""
    path = find_real(name)
    assert path is not None, name
    return Rows(*load_real(path))


def joined(parts: list[Rows]) -> Rows:
    """Put rows of different queries together, as an array."""
    width = max(part.X.shape[1] for part in parts)
    as_csr = [sparse.csr_matrix(one.X) for one in parts]
    for X in as_csr:
        X.resize(X.shape[0], width)
    numbers = [np.char.add(f"{k}:", one.qid.astype(str)) for k, one in enumerate(parts)]
    return Rows(
        sparse.vstack(as_csr, "csr").toarray(),
        np.concatenate([one.y for one in parts]),
        np.unique(np.concatenate(numbers), return_inverse=True)[1],
    )


def splits(
    rows: Rows, repeats: int, n_folds: int
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Yield repetition, fold, training rows and test rows."""
    for repeat in range(repeats):
        splitter = GroupKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for k, (train, test) in enumerate(splitter.split(rows.X, rows.y, rows.qid)):
            if k < n_folds:
                yield repeat, k, train, test


class Outcome(NamedTuple):
    """What a system reaches on test queries, and in which time.

    Attributes
    ----------
    values : dict of str to ndarray of shape (n_queries,)
        By metric, mean over the repetitions.
    seconds : float
        Mean over the trainings.
    """

    values: dict[str, np.ndarray]
    seconds: float


class Results:
    """Values of each query and seconds of each training, in a file that grows.

    Parameters
    ----------
    path : Path
    go_on : bool
        Whether to begin with what the file holds.
    """

    def __init__(self, path: Path, go_on: bool) -> None:
        self.path = path
        self.found: dict[tuple[Any, ...], dict[str, Any]] = {}
        if not go_on:
            path.write_text("")
        elif path.exists():
            for line in map(json.loads, path.read_text().splitlines()):
                self.found[tuple(line["of"])] = line

    def measure(self, of: tuple[Any, ...], fit: Ranker, train: Rows, test: Rows) -> None:
        """Train and measure, unless that has been done."""
        if of in self.found:
            return
        start = time.process_time()
        score = fit(train)
        seconds = time.process_time() - start
        result = evaluate(test.y, score(test.X), test.qid, METRICS)
        line = {
            "of": of,
            "seconds": seconds,
            "queries": result.queries.tolist(),
            "values": {metric: result.per_query[metric].tolist() for metric in METRICS},
        }
        self.found[of] = line
        with self.path.open("a") as stream:
            stream.write(f"{json.dumps(line)}\n")

    def outcome(self, title: str, name: str, repeats: int, n_folds: int) -> Outcome:
        """Return what a system has reached on a data set."""
        places = [(title, repeat, k, name) for repeat in range(repeats) for k in range(n_folds)]
        lines = [self.found[of] for of in places]
        query = np.concatenate([line["queries"] for line in lines])
        values = {
            metric: means(query, np.concatenate([line["values"][metric] for line in lines]))
            for metric in METRICS
        }
        return Outcome(values, float(np.mean([line["seconds"] for line in lines])))


def means(query: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the mean of each query, NaN where a metric is not defined."""
    number = np.unique(query, return_inverse=True)[1]
    return np.bincount(number, values) / np.bincount(number)


def report(page: Page, title: str, found: dict[str, Outcome]) -> None:
    """Add the tables of a data set."""
    lines = [
        (name, *(f"{np.nanmean(one.values[metric]):.4f}" for metric in METRICS), one.seconds)
        for name, one in found.items()
    ]
    page.table(title, ("", *METRICS, "seconds"), lines)
    best = best_of_trees(found)
    if best is not None:
        rest = [(name, *compared(one, found[best])) for name, one in found.items() if name != best]
        columns = ("less " + best, MAIN, "from", "to", "p", "of its seconds")
        page.table(f"{title}: against the better of the trees", columns, rest)


def best_of_trees(found: dict[str, Outcome]) -> str | None:
    """Return the name of the trees with the best nDCG@10."""
    trees = [name for name in found if is_of_trees(name)]
    return max(trees, key=lambda name: np.nanmean(found[name].values[MAIN]), default=None)


def compared(one: Outcome, other: Outcome) -> list[Any]:
    """Return the mean difference, its interval, the p-value, and the share of the seconds."""
    values = one.values[MAIN], other.values[MAIN]
    difference = values[0] - values[1]
    low, high = interval(difference[~np.isnan(difference)])
    p = paired_randomization_test(*values, random_state=0)
    share = one.seconds / other.seconds
    mean = np.nanmean(difference)
    return [f"{mean:+.4f}", f"{low:+.4f}", f"{high:+.4f}", f"{p:.3f}", f"{share:.2f}"]


def interval(difference: np.ndarray) -> tuple[float, float]:
    """Return a 95 % interval of the mean over queries, by bootstrap."""
    rng = np.random.default_rng(0)
    drawn = rng.choice(difference, (N_BOOTSTRAP, len(difference))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def drawn(shown: dict[str, dict[str, Outcome]]) -> Any:
    """Draw nDCG@10 against seconds; lines are intervals of the difference to the best of trees."""
    figure, axes = new_figure(1, len(shown), (4.2 * len(shown) + 2.4, 3.6))
    look = styles(name for found in shown.values() for name in found)
    for ax, (title, found) in zip(axes[0], shown.items(), strict=True):
        best = best_of_trees(found)
        for name, one in found.items():
            mean = float(np.nanmean(one.values[MAIN]))
            style = {**look[name], "linestyle": "none", "markersize": 7}
            ax.plot([one.seconds], [mean], **style)
            if best is not None and name != best:
                difference = one.values[MAIN] - found[best].values[MAIN]
                ends = interval(difference[~np.isnan(difference)])
                level = float(np.nanmean(found[best].values[MAIN]))
                low, high = (level + end for end in ends)
                ax.vlines(one.seconds, low, high, color=style["color"], linewidth=1)
        ax.set(xscale="log", title=title, xlabel="seconds of a processor", ylabel="nDCG@10")
    axes[0, -1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


if __name__ == "__main__":
    main()
