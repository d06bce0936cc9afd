"""Write train.svm and test.svm: the patients of scikit-learn's diabetes data in 40 queries."""

import numpy as np
from sklearn.datasets import load_diabetes

from ranksvm import dump_svmlight

X, y = load_diabetes(return_X_y=True, scaled=False)
qid = np.sort(np.random.default_rng(0).integers(0, 40, len(y)))
comments = [f"docid = patient-{row:03}" for row in range(len(y))]
held_out = qid % 3 == 0
for name, rows in (("train.svm", ~held_out), ("test.svm", held_out)):
    named = [comment for comment, kept in zip(comments, rows, strict=True) if kept]
    dump_svmlight(name, X[rows], y[rows], qid[rows], comments=named)
