"""Write a collection in the form of LETOR and MSLR: Fold1/train.txt, vali.txt and test.txt.

Queries of 5 to 40 documents, 24 features on scales as different as counts and probabilities, and
labels from 0 to 4, few of them high.
"""

from pathlib import Path

import numpy as np

from ranksvm import dump_svmlight

N_FEATURES = 24
QUERIES = {"train": 160, "vali": 40, "test": 100}
rng = np.random.default_rng(0)
weights = rng.normal(size=N_FEATURES) * (np.arange(N_FEATURES) < 12)


def documents(n_queries):
    """Return the rows of queries, their labels and the query of each."""
    qid = np.repeat(np.arange(n_queries), rng.integers(5, 41, n_queries))
    level = rng.normal(size=(n_queries, N_FEATURES))[qid]  # of the query in each feature
    hidden = rng.normal(size=(len(qid), N_FEATURES))
    relevance = hidden @ weights + 2 * hidden[:, 0] * (hidden[:, 1] > 0)
    relevance += rng.normal(scale=2, size=len(qid))
    X = np.exp(hidden + 0.5 * level) * np.logspace(-2, 3, N_FEATURES)  # long tails, many scales
    return X.round(6), np.digitize(relevance, [0, 3, 6, 9]), qid


folder = Path("Fold1")
folder.mkdir(exist_ok=True)
first = 1
for name, n_queries in QUERIES.items():
    X, y, qid = documents(n_queries)
    names = [f"docid = {name}-{row:05}" for row in range(len(y))]
    dump_svmlight(folder / f"{name}.txt", X, y, qid + first, comments=names)
    first += n_queries
