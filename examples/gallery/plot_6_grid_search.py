"""
Grid search in a pipeline
=========================

With scikit-learn's metadata routing, query ids find their way through pipelines and grid searches
by themselves: to the folds, which keep queries whole, to ``fit`` and, from scikit-learn 1.8 on, to
``score``.
"""

# %%
# Thirty queries of twelve documents. Three of a hundred features matter, and their scales differ by
# up to a factor of a million.
import matplotlib.pyplot as plt
import numpy as np
from sklearn import set_config
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import RankSVM

rng = np.random.default_rng(0)
n_queries, n_documents, d = 30, 12, 100
qid = np.repeat([f"query {q}" for q in range(n_queries)], n_documents)
X = rng.normal(size=(len(qid), d))
relevance = X[:, :3].sum(axis=1) + rng.normal(scale=1.5, size=len(qid))
y = np.digitize(relevance, [-1, 1, 2])
X *= np.logspace(-3, 3, d)

# %%
# Routing has to be switched on. ``RankSVM`` asks for ``qid`` in ``fit`` and ``score``; the splitter
# is told that its groups are the query ids.
set_config(enable_metadata_routing=True)
grid = {"ranksvm__C": np.logspace(-4, 1, 11), "ranksvm__loss": ["squared_hinge", "hinge"]}
search = GridSearchCV(
    make_pipeline(StandardScaler(), RankSVM()),
    grid,
    cv=GroupKFold(5).set_split_request(groups="qid"),
)
search.fit(X, y, qid=qid)
best = search.best_params_
print(f"best: C = {best['ranksvm__C']:.3g} with loss={best['ranksvm__loss']!r}")
print(f"pairwise accuracy on rows not trained on: {search.best_score_:.3f}")

# %%
# The mean over the folds, and one standard error of it to either side.
results = search.cv_results_
figure, axes = plt.subplots(figsize=(6.5, 3.8))
for loss in grid["ranksvm__loss"]:
    rows = results["param_ranksvm__loss"] == loss
    C = results["param_ranksvm__C"][rows].astype(float)
    mean = results["mean_test_score"][rows]
    error = results["std_test_score"][rows] / np.sqrt(5 - 1)  # of the mean of five folds
    axes.errorbar(C, mean, error, marker="o", markersize=4, capsize=2, label=f'loss="{loss}"')
axes.set_xscale("log")
axes.set_xlabel("C")
axes.set_ylabel("pairwise accuracy, 5 folds")
axes.grid(True, alpha=0.3)
axes.legend()
plt.show()
