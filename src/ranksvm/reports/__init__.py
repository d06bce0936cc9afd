"""What there is to say of a model, on one page; knows models and rows, and no command."""

from .reporting import Report, report

__all__ = ["Report", "report"]
