"""Solvers: each minimises an objective, and knows neither ranking nor data."""

from .bundle import bundle
from .cutting_planes import CuttingPlanes
from .newton import newton
from .planes_in_turn import PlanesFirst, planes_last
from .products_in_turn import ProductsFirst
from .progress import Progress
from .protocols import Objective
from .result import Callback, Iteration, SolverResult, Status
from .samples import samples_first
from .trust_region import trust_region

__all__ = [
    "Callback",
    "CuttingPlanes",
    "Iteration",
    "Objective",
    "PlanesFirst",
    "ProductsFirst",
    "Progress",
    "SolverResult",
    "Status",
    "bundle",
    "newton",
    "planes_last",
    "samples_first",
    "trust_region",
]
