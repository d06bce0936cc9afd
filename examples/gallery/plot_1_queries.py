"""
Ranking within queries
======================

Labels of different queries need not be comparable: what is a good hotel for one guest is a poor one
for another. Preference pairs compare rows of the same query only, so whatever a query adds to all
its labels is of no concern. Regression has to explain it.
"""

# %%
# Sixty guests have rated ten hotels each. The rating depends on four features of the hotel, and far
# more on how generous the guest is. Generous guests happen to pay more, so that the price, of which
# nobody thinks well, goes along with good ratings.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge

from ranksvm import RankSVM, pairwise_accuracy

names = ["quiet", "central", "breakfast", "price"]
truth = np.array([1.0, 0.5, 0.5, -1.0])
rng = np.random.default_rng(0)
guest = np.repeat(np.arange(60), 10)
generosity = rng.normal(scale=3, size=60)[guest]
X = rng.normal(size=(600, 4))
X[:, 3] += generosity
rating = np.round(X @ truth + 2 * generosity + rng.normal(scale=0.5, size=600))

# %%
# The first 40 guests are there to learn from, the others to measure on. The regression takes the
# price for an advantage.
train = guest < 40
ranker = RankSVM().fit(X[train], rating[train], qid=guest[train])
unaware = RankSVM().fit(X[train], rating[train])
regression = Ridge().fit(X[train], rating[train])

models = {"RankSVM with qid": ranker, "RankSVM without": unaware, "ridge regression": regression}
accuracy = {
    name: pairwise_accuracy(rating[~train], model.predict(X[~train]), guest[~train])
    for name, model in models.items()
}
for name, value in accuracy.items():
    print(f"{name:18} {value:.3f} of the pairs in the right order")

# %%
figure, axes = plt.subplots(figsize=(7, 3.5))
place = np.arange(4)
for k, (name, model) in enumerate(models.items()):
    weights = model.coef_ / np.abs(model.coef_).max()
    axes.bar(place + (k - 1) * 0.27, weights, 0.25, label=f"{name}: {accuracy[name]:.0%} right")
axes.axhline(0, color="0.3", linewidth=0.8)
axes.set_xticks(place, names)
axes.set_ylabel("weight (largest = 1)")
axes.set_ylim(-1.15, 1.75)
axes.legend(loc="upper center", ncols=1)
plt.show()
