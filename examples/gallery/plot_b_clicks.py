"""
Learning from clicks
====================

People click what they see, and they see the top of a list. Who learns from clicks as they are
learns to put things where they have been. Weights undo that: a click at a place where one in four
looks stands for four (Joachims, Swaminathan and Schnabel 2017).
"""

# %%
# A shop shows ten things a list, in an order of its own: by price and age rather than by what
# people want. One visitor in k looks at place k, and clicks what is wanted there.
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import RankSVM, evaluate

N_SHOWN = 10
WANTED = np.array([1.0, 0.8, 0.0, 0.0])  # what matters to people
SHOP = np.array([0.2, 0.0, 1.0, 1.0])  # what the order in the shop goes by
SEEN = 1 / np.arange(1, N_SHOWN + 1)  # how often each place is looked at
rng = np.random.default_rng(0)


def lists(n_lists):
    """Return rows of lists in the order of the shop, and whether each is wanted."""
    X = rng.normal(size=(n_lists, N_SHOWN, len(WANTED)))
    order = np.argsort(-X @ SHOP, axis=1)
    X = np.take_along_axis(X, order[..., np.newaxis], axis=1)
    wanted = X @ WANTED + rng.normal(scale=0.5, size=X.shape[:2]) > 1
    return X, wanted


def rows_of_clicks(X, wanted):
    """Return a query for each click: its list, which was clicked, and what that stands for."""
    clicks = wanted & (rng.random(wanted.shape) < SEEN)
    of_list, place = np.nonzero(clicks)
    click = place[:, np.newaxis] == np.arange(N_SHOWN)
    weight = np.where(click, 1 / SEEN, 1.0)
    qid = np.repeat(np.arange(len(place)), N_SHOWN)
    return X[of_list].reshape(-1, X.shape[2]), click.ravel(), qid, weight.ravel()


# %%
# A click says that its row was wanted more than all others of the list. With a query for each
# click, these pairs are labels 0 and 1, and what the click stands for is its weight as a row:
test_X, test_wanted = lists(2000)
test_qid = np.repeat(np.arange(len(test_X)), N_SHOWN)
sizes = [100, 300, 1000, 3000, 10_000]
quality = {"clicks as they are": [], "clicks weighted by 1 / seen": [], "all that is wanted": []}
for size in sizes:
    X, wanted = lists(size)
    rows, click, qid, weight = rows_of_clicks(X, wanted)
    of_lists = np.repeat(np.arange(size), N_SHOWN)
    models = [
        RankSVM().fit(rows, click, qid=qid),
        RankSVM().fit(rows, click, qid=qid, sample_weight=weight),
        RankSVM().fit(X.reshape(-1, X.shape[2]), wanted.ravel(), qid=of_lists),
    ]
    for values, model in zip(quality.values(), models, strict=True):
        scores = model.predict(test_X.reshape(-1, X.shape[2]))
        values.append(evaluate(test_wanted.ravel(), scores, test_qid, "ndcg@10").mean["ndcg@10"])

# %%
# More clicks do not cure the bias, weights do. They cost variance: a rare click from the end of a
# list counts ten times.
figure, axes = plt.subplots(figsize=(6.5, 3.8))
for (name, values), marker in zip(quality.items(), "osd", strict=True):
    axes.semilogx(sizes, values, marker=marker, label=name)
axes.set(xlabel="lists shown", ylabel="nDCG@10 by what is wanted")
axes.legend()
plt.show()

# %%
# The weights say the same: what the order of the shop goes by, the last two, has crept into the
# first model alone.
for name, model in zip(quality, models, strict=True):
    print(f"{name:28}", np.round(model.coef_ / np.abs(model.coef_).max(), 2))
