"""
Hinge and squared hinge
=======================

A pair whose better row leads by less than 1 costs something: the hinge ``max(0, 1 - z)`` of the
lead z, or its square. The square is smooth and quicker to train. The hinge takes single pairs that
are far out of order less to heart.
"""

# %%
# The two losses, and copies of the hinge with the kink rounded off over a width h, which Newton's
# method uses on its way to the hinge (:eq:`smoothed-hinge`).
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import RankSVM, pairwise_accuracy

z = np.linspace(-1.5, 2, 200)


def smoothed_hinge(z, h):
    """Return the hinge with its kink rounded off over a width h."""
    return (np.maximum(0, 1 - z) ** 2 - np.maximum(0, 1 - h - z) ** 2) / (2 * h)


figure, axes = plt.subplots(figsize=(6, 3.6))
axes.plot(z, np.maximum(0, 1 - z) ** 2, label="squared hinge")
axes.plot(z, np.maximum(0, 1 - z), label="hinge")
for h in (1, 0.3):
    axes.plot(z, smoothed_hinge(z, h), ":", label=f"smoothed over h = {h:g}")
axes.set_xlabel("lead of the more relevant row")
axes.set_ylabel("loss of the pair")
axes.set_ylim(-0.1, 4)
axes.legend()
plt.show()

# %%
# What it means: some rows look better than most, and their labels are far below all others, as if
# they had been written down wrongly. Both losses bend to them, the squared hinge more.
shares = np.linspace(0, 0.08, 9)
accuracy = {"squared_hinge": [], "hinge": []}


def accuracies(share, loss, n_repeats=5):
    """Return the pairwise accuracy on clean rows after training with a share of wrong ones."""
    for seed in range(n_repeats):
        rng = np.random.default_rng(seed)
        X, X_test = rng.normal(size=(2, 400, 5))
        y, y_test = (2 * rows[:, 0] + rows[:, 1] for rows in (X, X_test))
        y += rng.normal(scale=0.5, size=400)
        wrong = rng.random(400) < share
        X[wrong, 0] += 3
        y[wrong] -= 10
        yield pairwise_accuracy(y_test, RankSVM(loss=loss).fit(X, y).predict(X_test))


for loss, values in accuracy.items():
    values.extend(np.mean(list(accuracies(share, loss))) for share in shares)

figure, axes = plt.subplots(figsize=(6, 3.6))
for loss, values in accuracy.items():
    axes.plot(shares, values, marker="o", label=f'loss="{loss}"')
axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
axes.set_xlabel("share of rows that are wrong")
axes.set_ylabel("pairwise accuracy on clean rows")
axes.grid(True, alpha=0.3)
axes.legend()
plt.show()
