"""
Files and models
================

Rows are read from SVMlight files, and models written as text that people can read. The command line
uses the same files.
"""

# %%
# Scikit-learn's wine data as a file: is a wine of the first, second or third cultivar? A query is
# a handful of bottles, to be put in the order of the cultivars.
import json
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from ranksvm import RankSVM, dump_svmlight, load_model, load_svmlight, save_model
from ranksvm.plots import CoefficientsDisplay

folder = Path(tempfile.mkdtemp())
wine = load_wine(as_frame=True)
qid = np.sort(np.random.default_rng(0).integers(0, 15, len(wine.target)))
order = np.random.default_rng(1).permutation(len(wine.target))
X, y = wine.data.iloc[order], wine.target.iloc[order]
dump_svmlight(folder / "wine.svm.gz", X.to_numpy(), y.to_numpy(), qid=qid)

# %%
# A row of the file is a label, a query id and the features by number, counted from one.
X_read, y_read, qid_read = load_svmlight(folder / "wine.svm.gz")
assert (X_read == X.to_numpy()).all()
print(f"{X_read.shape[0]} rows, {X_read.shape[1]} features, {len(np.unique(qid_read))} queries")

# %%
# Trained on a data frame, a model knows the names of its features, and its file tells them.
model = RankSVM().fit(X / X.std(), y, qid=qid)
save_model(model, folder / "wine.json")
content = json.loads((folder / "wine.json").read_text())
print({name: round(weight, 3) for name, weight in content["weights"].items()})
print({key: content["training"][key] for key in ("status", "n_pairs", "n_queries")})

# %%
# Loading a model runs nothing that is in the file. Its scores are those of the saved model.
loaded = load_model(folder / "wine.json")
scaled = np.ascontiguousarray(X / X.std())
assert (loaded.predict(scaled) == model.predict(X / X.std())).all()

figure, axes = plt.subplots(figsize=(6.5, 4))
CoefficientsDisplay.from_estimator(loaded, ax=axes)
plt.show()
