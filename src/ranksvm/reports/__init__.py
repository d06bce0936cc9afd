"""What there is to say of a model, on one page; knows models and rows, and no command."""

from .report import Report, report

__all__ = ["Report", "report"]
