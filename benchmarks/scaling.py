"""Costs against the number of rows, both logarithmic: guides and slopes for the eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def logarithmic_rows(axes: Any, sizes: Sequence[int]) -> None:
    """Let the axis of x run over the sizes, every other one named."""
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" if k % 2 == 0 else "" for k, size in enumerate(sizes)])
    axes.minorticks_off()
    axes.set_xlabel("rows")
    axes.grid(True, which="major", alpha=0.3)


def draw_guide(axes: Any, sizes: Sequence[float], slope: int, start: float) -> None:
    """Draw a thin line of this slope from `start` at the first of the sizes."""
    ends = np.array([sizes[0], sizes[-1]], dtype=np.float64)
    axes.plot(ends, start * (ends / ends[0]) ** slope, color="0.5", linewidth=0.8, zorder=0)
    x = 4 * ends[0]
    above = slope > 1
    axes.annotate(
        f"slope {slope}", (x, start * (x / ends[0]) ** slope), color="0.35", fontsize="small",
        xytext=(-4, 4) if above else (4, -4), textcoords="offset points",
        ha="right" if above else "left", va="bottom" if above else "top",
    )  # fmt: skip


def slope_legend(axes: Any, slopes: Mapping[str, float], columns: int = 1) -> None:
    """Name the curves below the axes, each with its slope where there is one."""
    handles, labels = axes.get_legend_handles_labels()
    texts = [
        f"{label}: {slopes[label]:.2f}" if np.isfinite(slopes.get(label, np.nan)) else label
        for label in labels
    ]
    axes.legend(
        handles, texts, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns,
        frameon=False,
    )  # fmt: skip
