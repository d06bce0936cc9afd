"""
Two models compared
===================

Is a model better than another, or was it lucky with these queries? :func:`ranksvm.evaluate` gives
the value of each query, and :func:`ranksvm.paired_randomization_test` says how often chance would
make such a difference.
"""

# %%
# Sixty queries, of which half are held out. One model has all features; the other has to do without
# the one that says least.
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import RankSVM, evaluate, paired_randomization_test
from ranksvm.plots import MetricAtKDisplay, QueryComparisonDisplay, ScoreDistributionDisplay

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(60), 20)
X = rng.normal(size=(len(qid), 4))
relevance = X @ [1, 0.8, 0.6, 0.5] + rng.normal(size=len(qid))
y = np.digitize(relevance, [0.5, 1.5, 2.5])
train, test = qid < 30, qid >= 30

scores = {}
for name, d in (("all features", 4), ("without the last", 3)):
    model = RankSVM().fit(X[train, :d], y[train], qid=qid[train])
    scores[name] = model.predict(X[test, :d])

# %%
# A difference is more than chance where the p-value is small.
first, second = (
    evaluate(y[test], s, qid[test], "ndcg@10").per_query["ndcg@10"] for s in scores.values()
)
p_value = paired_randomization_test(first, second, random_state=0)
print(f"mean difference in nDCG@10: {np.mean(first - second):.3f}, p = {p_value:.3f}")

# %%
# The means by depth, with one standard error to either side:
figure, axes = plt.subplots(figsize=(6.5, 3.6))
for name, values in scores.items():
    MetricAtKDisplay.from_predictions(y[test], values, qid[test], max_k=15, name=name, ax=axes)
plt.show()

# %%
# Who wins by how much in which query:
figure, axes = plt.subplots(figsize=(6.5, 3.6))
QueryComparisonDisplay.from_predictions(
    y[test], *scores.values(), qid[test], names=list(scores), ax=axes
)
plt.show()

# %%
# How well the scores of the better model tell the labels apart:
figure, axes = plt.subplots(figsize=(6, 3.6))
ScoreDistributionDisplay.from_predictions(y[test], scores["all features"], ax=axes)
plt.show()
