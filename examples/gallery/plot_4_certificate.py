"""
Convergence, and the certificate
================================

Every fit ends with a relative duality gap: the optimum is better by at most this share of the
objective. Here the bound is compared with the truth, which is known from a fit that goes on to the
limits of floating point.
"""

# %%
# Rows of four queries with features on very different scales, which makes the hinge loss hard for
# cutting planes. The solvers are told to go on until the gap is 1e-6, or 300 steps are done.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from ranksvm import ConvergenceWarning, RankSVM
from ranksvm.plots import ConvergenceDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 12)) * np.logspace(-1, 1, 12)
qid = np.repeat(np.arange(4), 500)
y = np.round(X @ rng.normal(size=12) + rng.normal(scale=10, size=2000))

optimum = RankSVM(loss="hinge", solver="newton", tol=1e-12).fit(X, y, qid=qid)
models = {}
for solver in ("newton", "bundle", "cutting_planes"):
    model = RankSVM(loss="hinge", solver=solver, tol=1e-6, max_iter=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models[solver] = model.fit(X, y, qid=qid)
    print(f"{solver:15} {model.status_:10} {model.n_iter_:4} steps, gap {model.dual_gap_:.1e}")

# %%
# :class:`ranksvm.plots.ConvergenceDisplay` draws the gaps of a fit (solid). The true relative
# distance of the objective to the optimum (dashed) is below them, always. It is what the gap
# bounds; without a gap it would not be known.
figure, axes = plt.subplots(figsize=(7, 4.2))
for name, model in models.items():
    display = ConvergenceDisplay(model.history_, name=name).plot(ax=axes)
    display.line_.set_markersize(2.5)
    value = np.array([line.value for line in model.history_])
    distance = (value - optimum.objective_) / value
    assert all(distance <= [line.dual_gap + 1e-12 for line in model.history_])
    shown = distance > 1e-9
    axes.plot(np.flatnonzero(shown), distance[shown], "--", color=display.line_.get_color(), lw=1)
axes.set_ylim(1e-8, 1e2)
axes.set_ylabel("relative gap (dashed: true distance)")
plt.show()
