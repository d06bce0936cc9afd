"""What surrounds every example of the gallery."""

from __future__ import annotations

import warnings

import matplotlib
import sklearn
from cycler import cycler

from ranksvm.plots.figures import PALETTE

_FILTERS = list(warnings.filters)


def surround(_gallery_conf: dict[str, object], _example: str, when: str) -> None:
    """Make warnings errors in an example, and undo what it may have changed."""
    sklearn.set_config(enable_metadata_routing=False)
    if when == "before":
        _FILTERS[:] = warnings.filters
        warnings.simplefilter("error")
        # Before 1.8, scikit-learn scores pipelines without query ids.
        warnings.filterwarnings("ignore", message="the model was trained on")
        matplotlib.rcParams.update(
            {
                "axes.prop_cycle": cycler(linestyle=["-", "--"]) * cycler(color=PALETTE),
                "figure.constrained_layout.use": True,
                "figure.dpi": 100,
            }
        )
    else:
        warnings.filters[:] = _FILTERS
