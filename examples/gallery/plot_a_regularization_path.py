"""
Every solution of a kernel ranker
=================================

:func:`ranksvm.regularization_path` gives the kernel RankSVM for all lambda at once. Here are the
path, the choice of a lambda along it, and what the solutions look like.
"""

# %%
# Two classes of sixty points, each a mixture of ten Gaussians (Hastie et al. 2009, section
# 2.3); points of the one should rank above those of the other.
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import KernelRankSVMPathCV, regularization_path
from ranksvm.plots import BoundaryDisplay, PathScoreDisplay, RegularizationPathDisplay

rng = np.random.default_rng(1)
centers = rng.normal(size=(20, 2)) + np.repeat([[1, 0], [0, 1]], 10, axis=0)


def draw(n):
    """Draw n points of each class."""
    chosen = np.r_[rng.integers(0, 10, n), rng.integers(10, 20, n)]
    return rng.normal(centers[chosen], np.sqrt(1 / 5)), np.repeat([0, 1], n)


X, y = draw(60)

# %%
# As lambda falls, pairs reach their margin and leave it: between these events the coefficients of
# the rows, times lambda, are linear in lambda. Above are those of some rows, below the numbers of
# pairs that pull with all their weight, in part, and not at all.
path = regularization_path(X, y, kernel="rbf", gamma=1.0)
print(f"{len(path.graph):,} pairs, {len(path.event_pairs):,} events")
figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, height_ratios=[3, 2])
RegularizationPathDisplay.from_path(path, ax=axes)
plt.show()

# %%
# :class:`~ranksvm.KernelRankSVMPathCV` follows a path for each fold and each width of the kernel,
# and measures all along.
search = KernelRankSVMPathCV(gammas=[0.1, 1.0, 10.0], graph="full", n_lambdas=200).fit(X, y)
print(f"lambda = {search.lambda_:.3g}, gamma = {search.gamma_:g}: {search.best_score_:.3f}")
figure, ax = plt.subplots(figsize=(7, 4.2))
for gamma in search.gammas:
    PathScoreDisplay.from_estimator(search, gamma=gamma, name=f"gamma = {gamma:g}", ax=ax)
plt.show()

# %%
# The scores along the path, as shades, from the first lambda to the last. The boundary is where the
# ROC curve of the rows is highest above its diagonal.
figure, axes = plt.subplots(2, 2, figsize=(9, 7.5), sharex=True, sharey=True)
lambdas = np.geomspace(path.lambdas[0], path.lambdas[-1], 4)
for ax, lam in zip(axes.flat, lambdas, strict=True):
    BoundaryDisplay.from_path(path, lam, X, y, ax=ax)
plt.show()

# %%
# On other points of the same classes:
new_X, new_y = draw(1000)
errors = path.validation_errors(new_X, new_y)
best = int(errors.argmin())
print(f"the least error of this path is {errors[best]:.3f}, at lambda = {path.lambdas[best]:.3g}")
print(f"the model of the search has {1 - search.score(new_X, new_y):.3f}")
