"""
Curves in place of weights
==========================

A weight says that more of a feature is better, or worse. Much is best in the middle, or enough at
some point. Splines in front of a linear ranker let it learn such curves, one for each feature, and
it stays convex, certified, and quick.
"""

# %%
# Flats: a low price is good, but too low is suspicious; beyond some size, more does not matter;
# far from the centre is bad. Sizes and prices have heavy tails.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer, StandardScaler

from ranksvm import RankSVM
from ranksvm.plots import FeatureEffectDisplay

NAMES = ["price", "size", "distance"]
rng = np.random.default_rng(0)


def flats(n_queries, n_rows=20):
    """Return features, grades from 0 to 4, and the search that each row was shown for."""
    n = n_queries * n_rows
    price, size = np.exp(rng.normal(6.5, 0.6, n)), np.exp(rng.normal(4, 0.5, n))
    distance = rng.gamma(2, 3, n)
    liked = -((np.log(price) - 6.2) ** 2) * 3 + np.minimum(size, 70) / 20 - distance / 4
    y = np.digitize(liked + rng.normal(scale=0.7, size=n), [-3, -1, 0.5, 1.5])
    return np.column_stack([price, size, distance]), y, np.repeat(np.arange(n_queries), n_rows)


X, y, qid = flats(200)
test_X, test_y, test_qid = flats(200)

# %%
# Three rankers of the same data, from straight lines to curves:
steps = {
    "standard": [StandardScaler()],
    "quantiles": [QuantileTransformer(n_quantiles=200)],
    "splines": [QuantileTransformer(n_quantiles=200), SplineTransformer(6, sparse_output=True)],
}
rankers = {
    name: make_pipeline(*before, RankSVM()).fit(X, y, ranksvm__qid=qid)
    for name, before in steps.items()
}
for name, ranker in rankers.items():
    scores = ranker.predict(test_X)[:, np.newaxis]
    accuracy = RankSVM().fit(scores, test_y, test_qid).score(scores, test_y, test_qid)
    print(f"{name:10} pairwise accuracy {accuracy:.3f}")

# %%
# What they have learned: a row for each, marks where the data are. By quantiles a curve still only
# rises or falls. The splines have found the price that is best, and the size that is enough.
figure, axes = plt.subplots(3, 3, figsize=(9, 7.5), layout="constrained", sharey=True)
for of_ranker, (name, ranker) in zip(axes, rankers.items(), strict=True):
    display = FeatureEffectDisplay.from_estimator(ranker, X, feature_names=NAMES, axes=of_ranker)
    of_ranker[0].set_ylabel(f"{name}: effect")
    for ax in of_ranker[1:]:
        ax.set_ylabel("")
plt.show()
