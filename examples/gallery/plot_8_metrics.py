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

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(60), 20)
X = rng.normal(size=(len(qid), 4))
relevance = X @ [1, 0.8, 0.6, 0.5] + rng.normal(size=len(qid))
y = np.digitize(relevance, [0.5, 1.5, 2.5])
train, test = qid < 30, qid >= 30

depths = range(1, 16)
metrics = [f"ndcg@{k}" for k in depths]
results = {}
for name, d in (("all features", 4), ("without the last", 3)):
    model = RankSVM().fit(X[train, :d], y[train], qid=qid[train])
    results[name] = evaluate(y[test], model.predict(X[test, :d]), qid[test], metrics)

# %%
# A difference is more than chance where the p-value is small.
first, second = (result.per_query["ndcg@10"] for result in results.values())
p_value = paired_randomization_test(first, second, random_state=0)
print(f"mean difference in nDCG@10: {np.mean(first - second):.3f}, p = {p_value:.3f}")

# %%
# Left, the means by depth; right, who wins by how much in which query.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
for name, result in results.items():
    left.plot(depths, [result.mean[metric] for metric in metrics], marker="o", ms=4, label=name)
left.set_xlabel("k")
left.set_ylabel("nDCG@k on held-out queries")
left.grid(True, alpha=0.3)
left.legend()
difference = np.sort(first - second)
colors = np.where(difference > 0, "tab:blue", "tab:orange")
right.bar(np.arange(len(difference)), difference, color=colors)
right.axhline(0, color="0.3", linewidth=0.8)
right.set_xlabel("held-out queries, sorted")
right.set_ylabel("nDCG@10: all features - without the last")
right.set_title(f"p = {p_value:.3f}", fontsize=10)
plt.show()
