"""
Many values of C
================

:func:`ranksvm.ranksvm_grid` trains for a whole grid of C. Each solution is the start for the next,
so that the grid costs little more than its largest member alone.
"""

# %%
# The diabetes data again, with twenty columns of noise beside the ten features, and only 60
# patients to learn from. Strong regularisation (small C) holds all weights back; weak
# regularisation lets the noise have its say.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from ranksvm import pairwise_accuracy, ranksvm_grid

data = load_diabetes()
rng = np.random.default_rng(1)
X = np.hstack([data.data / data.data.std(axis=0), rng.normal(size=(442, 20))])
held_out = rng.permutation(442) >= 60

grid = ranksvm_grid(X[~held_out], data.target[~held_out], Cs=np.logspace(-5, 2, 29), tol=1e-6)
print(f"largest relative duality gap: {grid.dual_gaps.max():.1e}")

# %%
# A row of ``grid.coefs`` is a model; the scores of all of them are one product.
accuracy = {
    "training rows": [
        pairwise_accuracy(data.target[~held_out], s) for s in (X[~held_out] @ grid.coefs.T).T
    ],
    "held-out rows": [
        pairwise_accuracy(data.target[held_out], s) for s in (X[held_out] @ grid.coefs.T).T
    ],
}

# %%
figure, (upper, lower) = plt.subplots(2, 1, figsize=(7, 6), sharex=True)
upper.plot(grid.Cs, grid.coefs[:, 10:], color="0.8", linewidth=0.8)
for weights, name in zip(grid.coefs.T, data.feature_names, strict=False):
    upper.plot(grid.Cs, weights, label=name)
upper.set_ylabel("weight (noise: grey)")
upper.legend(ncols=2, loc="upper left")
for name, values in accuracy.items():
    lower.plot(grid.Cs, values, marker="o", markersize=3, label=name)
lower.set_xscale("log")
lower.set_xlabel("C")
lower.set_ylabel("pairwise accuracy")
lower.grid(True, alpha=0.3)
lower.legend()
plt.show()
