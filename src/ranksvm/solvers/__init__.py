"""Solvers: each minimises an objective, and knows neither ranking nor data."""

from .newton import newton
from .result import Callback, Iteration, SolverResult, Status
from .trust_region import trust_region

__all__ = ["Callback", "Iteration", "SolverResult", "Status", "newton", "trust_region"]
