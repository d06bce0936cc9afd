"""
One ranking of real-valued labels
=================================

Without query ids all rows form one ranking, and labels may be any numbers: measurements, grades,
times of survival that have all been observed. Only their order counts, so that no scale has to be
chosen for them.
"""

# %%
# The diabetes data tell how far the disease of 442 patients went on within a year: 214 different
# values. Half of the patients are held out.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split

from ranksvm import RankSVM, pairwise_accuracy

X, progression = load_diabetes(return_X_y=True)
X = X / X.std(axis=0)
X_train, X_test, y_train, y_test = train_test_split(X, progression, test_size=0.5, random_state=0)
ranker = RankSVM().fit(X_train, y_train)
print(f"{len(np.unique(progression))} labels, {ranker.n_pairs_} pairs to train on")

# %%
# The order of the patients stays the same when the labels are replaced by their logarithms or
# exponentials. So does the RankSVM, exactly. Regression is a good choice where the labels happen to
# be on a scale on which features add up, and a poor one elsewhere.
scales = {
    "as measured": lambda y: y,
    "logarithm": np.log,
    "fourth power": lambda y: (y / 100) ** 4,
    "exponential": lambda y: np.exp(y / 20),
}
accuracy = {"RankSVM": [], "ridge regression": []}
for scale in scales.values():
    for name, model in (("RankSVM", RankSVM()), ("ridge regression", RidgeCV())):
        scores = model.fit(X_train, scale(y_train)).predict(X_test)
        accuracy[name].append(pairwise_accuracy(y_test, scores))
assert len(set(accuracy["RankSVM"])) == 1

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1.2, 1])
left.scatter(ranker.predict(X_test), y_test, s=14, alpha=0.6)
left.set_xlabel("score")
left.set_ylabel("progression of the disease")
left.set_title(f"held out: {accuracy['RankSVM'][0]:.1%} of the pairs in order", fontsize=10)
place = np.arange(len(scales))
for k, (name, values) in enumerate(accuracy.items()):
    right.barh(place + (k - 0.5) * 0.38, values, 0.36, label=name)
right.set_yticks(place, list(scales))
right.invert_yaxis()
right.set_xlim(0.5, 0.9)
right.set_xlabel("pairwise accuracy on held-out patients")
right.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
plt.show()
