"""What the command of a published figure leaves behind: a Markdown page, its pictures, CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import machine_line, table_lines
from ranksvm.plots.figures import PALETTE

FOLDER = Path("build/benchmarks")
MARKERS = "os^Dv"
LINES = ("-", "--", "-.", ":")
MARKED_POINTS = 25


class Page:
    """
    A Markdown page that grows, in a folder with its pictures and tables.

    Parameters
    ----------
    name : str
        Of the folder, ``build/benchmarks/NAME``, and of the command that makes it.
    title : str
    folder : Path, optional
        The folder that holds it.

    Attributes
    ----------
    folder : Path
    """

    def __init__(self, name: str, title: str, folder: Path = FOLDER) -> None:
        self.folder = folder / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self._parts = [f"# {title}", machine_line()]
        for part in self._parts:
            print(part, end="\n\n", flush=True)

    def text(self, markdown: str) -> None:
        """Add a paragraph, a heading, a list."""
        self._add(markdown.strip())

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        file: str | None = None,
    ) -> None:
        """Add a table under a heading, and write it as ``FILE.csv``, with all digits, if asked."""
        rows = [tuple(row) for row in rows]
        if file is not None:
            self.csv(file, columns, rows)
        shown = [["" if is_missing(value) else value for value in row] for row in rows]
        self._add("\n".join([f"## {title}", "", *table_lines(columns, shown)]))

    def csv(self, file: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write ``FILE.csv`` for other programs; what is missing is left empty."""
        with (self.folder / f"{file}.csv").open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(["" if is_missing(value) else value for value in row] for row in rows)

    def figure(self, file: str, figure: Any, caption: str) -> None:
        """Write ``FILE.png``, and show it on the page."""
        figure.savefig(self.folder / f"{file}.png", dpi=150)
        self._add(f"![{caption}]({file}.png)\n\n{caption}")

    def write(self) -> Path:
        """Write the page, ``NAME.md``, and return its path."""
        path = self.folder / f"{self.folder.name}.md"
        path.write_text("\n\n".join(self._parts) + "\n", encoding="utf-8")
        print(f"Written: {path}", flush=True)
        return path

    def _add(self, markdown: str) -> None:
        self._parts.append(markdown)
        print(markdown, end="\n\n", flush=True)


def is_missing(value: Any) -> bool:
    """Tell whether there is no value: None, or NaN."""
    return value is None or (isinstance(value, float) and np.isnan(value))


def slope(sizes: Sequence[float], values: Sequence[float], last: int = 4) -> float:
    """
    Slope of values over the `last` sizes at which there are some, both axes logarithmic.

    NaN where there are fewer than two.
    """
    pairs = np.array([(s, v) for s, v in zip(sizes, values, strict=False) if v > 0], dtype=float)
    if len(pairs) < 2:
        return float("nan")
    return float(np.polyfit(*np.log(pairs[-last:].T), 1)[0])


def styles(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Give each name a style for matplotlib's ``plot``; they differ without colour, too."""
    return {
        name: {
            "label": name,
            "color": PALETTE[k % len(PALETTE)],
            "marker": MARKERS[k % len(MARKERS)],
            "linestyle": LINES[k % len(LINES)],
            "markersize": 4,
            "linewidth": 1.3,
        }
        for k, name in enumerate(dict.fromkeys(names))
    }


def draw_curve(axes: Any, x: Sequence[float], y: Sequence[float], style: dict[str, Any]) -> None:
    """Draw a curve with as many markers as the eye can take in."""
    axes.plot(x, y, markevery=max(1, -(-len(x) // MARKED_POINTS)), **style)


def new_figure(rows: int, columns: int, size: tuple[float, float], **shared: Any) -> Any:
    """Return a figure that pyplot knows nothing of, and its axes, of shape (rows, columns)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)
