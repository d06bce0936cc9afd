"""Prints the lowest versions that pyproject.toml allows, as constraints for pip.

Usage: ``python tools/lower_bounds.py > constraints.txt``
"""

from __future__ import annotations

import re
from pathlib import Path

try:
    import tomllib
except ImportError:  # before Python 3.11
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
EXTRAS = ("plot", "tables", "onnx", "zst", "test")
BOUND = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)(\s*;.*)?")


def read_project() -> dict:
    """Return the table [project]."""
    return tomllib.loads(PROJECT.read_text())["project"]


def lower_bounds(project: dict) -> list[str]:
    """Return the requirements that have a lower bound, each at that version."""
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    bounds = filter(None, map(BOUND.fullmatch, listed))
    return sorted({f"{bound[1]}=={bound[2]}{bound[3] or ''}" for bound in bounds})


if __name__ == "__main__":
    print(*lower_bounds(read_project()), sep="\n")
