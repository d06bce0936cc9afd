"""The command ``ranksvm``: reads options and files, writes files and words; computes nothing."""

from .program import main, rank_svm

__all__ = ["main", "rank_svm"]
