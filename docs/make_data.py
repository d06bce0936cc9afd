"""Write the patients of scikit-learn's diabetes data.

In 40 queries, to train.svm and test.svm; and to patients.svm, without labels, but with pairs.tsv:
comparisons of some of them.
"""

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

dump_svmlight("patients.svm", X, np.zeros(len(y)))
pairs = np.random.default_rng(1).integers(0, len(y), (600, 2))
pairs = np.where((y[pairs[:, 0]] > y[pairs[:, 1]])[:, np.newaxis], pairs, pairs[:, ::-1])
lines = [f"{winner}\t{loser}\n" for winner, loser in pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]]
with open("pairs.tsv", "w") as file:
    file.writelines(lines)
