"""
Choosing C by cross-validation
==============================

:class:`ranksvm.RankSVMCV` measures each C of a grid on folds of whole queries, and trains on all
rows with the best.
"""

# %%
# Sixty queries of twelve documents, and a hundred features of which three matter.
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import RankSVMCV
from ranksvm.plots import RegularizationCurveDisplay

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(60), 12)
X = rng.normal(size=(720, 100))
y = np.digitize(X[:, :3].sum(axis=1) + rng.normal(scale=1.5, size=720), [-1, 1, 2])

# %%
# The C of the best mean, and the smallest that is within one standard error of it.
searches = {
    "best mean": RankSVMCV(Cs=np.logspace(-5, 1, 13), scoring="ndcg@5"),
    "one standard error": RankSVMCV(
        Cs=np.logspace(-5, 1, 13), scoring="ndcg@5", one_standard_error=True
    ),
}
for name, search in searches.items():
    search.fit(X, y, qid=qid)
    print(f"{name:18} C = {search.C_:.3g}, ndcg@5 = {search.best_score_:.3f}")

# %%
# The curve has a bar of one standard error to either side of each mean.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for ax, (name, search) in zip(axes, searches.items(), strict=True):
    RegularizationCurveDisplay.from_estimator(search, ax=ax)
    ax.set_title(name, fontsize=10)
axes[1].set_ylabel("")
plt.show()
