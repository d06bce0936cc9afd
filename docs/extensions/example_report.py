"""A report among the pages of the site, as an example: ``example_report.html``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sphinx.application import Sphinx

from ranksvm import RankSVM, report


def write_report(app: Sphinx, exception: Exception | None) -> None:
    """Write it beside the pages."""
    if exception is not None or app.builder.format != "html":
        return
    data = load_diabetes(as_frame=True, scaled=False)
    qid = np.sort(np.random.default_rng(0).integers(0, 40, len(data.target)))
    held_out = qid % 3 == 0
    X, y = data.data / data.data.std(), data.target
    train = X[~held_out], y[~held_out], qid[~held_out]
    page = report(
        RankSVM().fit(*train),
        X[held_out],
        y[held_out],
        qid[held_out],
        train=train,
        compare=RankSVM(C=1e-4).fit(*train),
        title="Patients whose diabetes will be worse",
        names={"compare": "C = 0.0001"},
    )
    page.save(Path(app.outdir) / "example_report.html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the end of the build."""
    app.connect("build-finished", write_report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
