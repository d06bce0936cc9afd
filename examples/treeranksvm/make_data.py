"""Write the small files that the config files beside this one name.

Usage, in this folder::

    python make_data.py
    rank_svm train.cfg
    rank_svm predict.cfg
    rank_svm performance.cfg

or, all in one, ``rank_svm all.cfg``. The data are the patients of scikit-learn's diabetes data, as
if they came in 40 queries: which of those in a query will be worse off a year later? A third of the
queries is held out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from ranksvm.files.treeranksvm import write_features, write_labels, write_qids


def main(folder: Path) -> None:
    """Write features, labels and qids for training and test to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_diabetes(return_X_y=True)
    qid = np.sort(np.random.default_rng(0).integers(0, 40, len(y)))
    held_out = qid % 3 == 0
    for name, rows in (("train", ~held_out), ("test", held_out)):
        write_features(folder / f"{name}.features", X[rows])
        write_labels(folder / f"{name}.labels", y[rows])
        write_qids(folder / f"{name}.qids", qid[rows])
        print(f"wrote {folder}/{name}.features, .labels and .qids ({rows.sum()} rows)")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))
