"""What all pictures share: axes, colours, legends and files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError

# The palette of Okabe and Ito (2008), which people with any colour vision tell apart.
BLUE, VERMILLION = "#0072B2", "#D55E00"
PALETTE = (BLUE, VERMILLION, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "os^Dv"
LINES = ["-", "--", "-.", ":"]
_MARKED_POINTS = 25
_NAME_LENGTH = 40
_LEGEND_WIDTH = 60  # letters in one line above the axes
_LARGEST = 1e300  # beyond which axes overflow


def new_axes(height: float = 4.8) -> Any:
    """Return the axes of a new figure, which pyplot knows nothing of.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    (axes,) = new_column([1.0], height)
    return axes


def new_column(heights: Sequence[float], height: float) -> list[Any]:
    """Return axes of a new figure one below the other, with one horizontal axis, as `new_axes`.

    Parameters
    ----------
    heights : sequence of float
        How they share the height.
    height : float
        Of the figure, in inches.
    """
    return _new_axes((6.4, height), len(heights), 1, sharex=True, height_ratios=heights)


def new_grid(n_axes: int, n_columns: int = 3) -> list[Any]:
    """Return axes of a new figure, row by row, with one vertical axis, as `new_axes`."""
    n_columns = min(n_columns, n_axes)
    n_rows = -(-n_axes // n_columns)
    size = 2.8 * n_columns, 2.4 * n_rows
    axes = _new_axes(size, n_rows, n_columns, sharey=True)
    for spare in axes[n_axes:]:
        spare.remove()
    return axes[:n_axes]


def _new_axes(size: tuple[float, float], n_rows: int, n_columns: int, **kwargs: Any) -> list[Any]:
    try:
        from cycler import cycler
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib; install it with: pip install 'ranksvm[plot]'"
        ) from error
    figure = Figure(figsize=size, layout="constrained")
    found = figure.subplots(n_rows, n_columns, squeeze=False, **kwargs)
    for axes in found.flat:
        axes.set_prop_cycle(cycler(color=PALETTE))
    return list(found.flat)


def count_curves(ax: Any) -> int:
    """Return the number of curves in the axes, which `curve_style` gave markers."""
    return sum(line.get_marker() in tuple(_MARKERS) for line in ax.lines)


def curve_style(ax: Any, n_points: int, name: str | None, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return a style for one more curve, which differs from the others without colour, too.

    Parameters
    ----------
    ax : matplotlib Axes
    n_points : int
    name : str or None
        Label of the curve.
    chosen : dict
        Properties of a Line2D, or short names of them, that the user has chosen.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    k = count_curves(ax)
    return {
        "label": shown_label(name),
        "marker": _MARKERS[k % len(_MARKERS)],
        "linestyle": LINES[k % len(LINES)],
        "markersize": 4,
        "markevery": max(1, -(-n_points // _MARKED_POINTS)),
        **normalize_kwargs(chosen, Line2D),
    }


def shown_label(name: str | None) -> str | None:
    """Return a short label, which matplotlib does not hide for beginning with an underscore."""
    if name is None:
        return None
    return " " * name.startswith("_") + shortened(name)


def shortened(name: str) -> str:
    """Return a name with an ellipsis in the middle, if it is too long for a picture."""
    half = _NAME_LENGTH // 2
    return name if len(name) <= _NAME_LENGTH else f"{name[: half - 1]}…{name[-half:]}"


def tick_whole_numbers(ax: Any) -> None:
    """Let ticks along x be whole numbers, even if there is only one."""
    from matplotlib.ticker import MaxNLocator

    locator = MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
    ax.xaxis.set_major_locator(locator)


def legend_above(ax: Any, title: str | None = None) -> None:
    """Name what is drawn above the axes, where that hides no data."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    one_line = sum(len(label) + 4 for label in labels) <= _LEGEND_WIDTH
    legend = ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        frameon=False,
        ncols=len(labels) if one_line else 1,
        title=title,
        alignment="left",
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)


def require_drawable(what: str, values: ArrayLike) -> None:
    """Refuse values that are too large for axes; `what` calls them."""
    largest = np.abs(values).max(initial=0.0)
    if not largest < _LARGEST:
        raise InputError(
            f"the {what} cannot be drawn: they are too large for floating point; scale the "
            "features, or train on scaled ones"
        )


def check_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a picture that could not be drawn or written, before work is put into its content.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If matplotlib does not know the suffix.
    OutputError
        If the path can never be written.
    """
    from ..files.atomic import check_output

    check_output(path)
    formats = new_axes().figure.canvas.get_supported_filetypes()
    known = [suffix for suffix in formats if suffix != "pgf"]  # which needs TeX
    if _suffix(path) not in known:
        raise InputError(
            f"cannot draw {os.fspath(path)}: the suffix must be one of {', '.join(known)}"
        )


def _suffix(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(os.fspath(path))[1].lstrip(".").lower() or "png"


def save_figure(figure: Any, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a matplotlib figure, whole or not at all; the format is that of the file's suffix.

    Of what has dots, there are `dpi` an inch.

    Raises
    ------
    ValueError
        If matplotlib does not know the suffix.
    OutputError
        If the file cannot be written.
    """
    from ..files.atomic import atomic_write

    picture = io.BytesIO()
    figure.savefig(picture, format=_suffix(path), dpi=dpi)
    with atomic_write(path) as file:
        file.write(picture.getvalue())
