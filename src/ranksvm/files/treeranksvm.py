"""The plain files of TreeRankSVM: features, labels and query ids, each in a file of its own.

::

    0:0.43 3:0.12 9284:0.2  # features: <index>:<value> ..., ascending, counted from zero
    1.5                     # labels: one number
    7                       # query ids: one integer or word

A row is a line; blank lines and lines with nothing but a comment are no rows. A row of zeros is
written ``0:0``.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import LineFormat
from ..linear.features import two_dimensional
from ..pairs.columns import finite_column
from .atomic import open_output
from .rows import FileRows
from .scores import write_scores
from .source import StrPath
from .svmlight import read_rows
from .svmlight_writer import Columns, encode_qid, format_rows


def read_features(path: StrPath, *, n_threads: int | None = None) -> FileRows:
    """Read a feature file.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input. A name that ends in .gz, .bz2, .xz or .zst is decompressed.
    n_threads : int, default=None
        None means all CPUs of this process. It does not change the result.

    Returns
    -------
    FileRows
        With label 0 in every row.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or is not in this format: an index is
        negative, not above the one before, or a value is not a finite number.
    """
    return read_rows(path, LineFormat.features, n_threads=n_threads)


def read_labels(path: StrPath, *, n_threads: int | None = None) -> NDArray[np.float64]:
    """Read a label file: one finite number per line.

    Parameters
    ----------
    path, n_threads
        As for `read_features`.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or a line is not one finite number.
    """
    return read_rows(path, LineFormat.labels, n_threads=n_threads).labels


def read_qids(path: StrPath, *, n_threads: int | None = None) -> NDArray[Any]:
    """Read a qid file: the query of each row.

    Parameters
    ----------
    path, n_threads
        As for `read_features`.

    Returns
    -------
    ndarray of shape (n_rows,)
        int64 if every id is an integer, strings otherwise.

    Raises
    ------
    DataError
        If the file cannot be opened, holds no rows, or a line is not one word.
    """
    qid = read_rows(path, LineFormat.qids, n_threads=n_threads).qid
    assert qid is not None
    return qid


def write_features(path: StrPath, X: Any) -> None:
    """Write a feature file, whole or not at all.

    Zeros are not written, so a file may seem to have fewer columns.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard output.
    X : array-like or sparse matrix of shape (n_rows, n_features)

    Raises
    ------
    ValueError
        If X is not a matrix of finite numbers.
    OutputError
        If the file cannot be written.
    """
    X = two_dimensional(X)
    columns = Columns(labels=np.zeros(X.shape[0]), qid=None, cost=None, comments=None)
    with open_output(path) as file:
        for text in format_rows(X, columns, zero_based=True):
            lines = re.sub(rb"^0 ", b"", text, flags=re.MULTILINE)
            file.write(re.sub(rb"^0$", b"0:0", lines, flags=re.MULTILINE))


def write_labels(path: StrPath, labels: ArrayLike) -> None:
    """Write a label file, whole or not at all, with numbers that read back the same.

    Raises
    ------
    ValueError
        If a label is not finite.
    OutputError
        If the file cannot be written.
    """
    write_scores(path, finite_column(labels, "labels"))


def write_qids(path: StrPath, qid: ArrayLike) -> None:
    """Write a qid file, whole or not at all.

    Raises
    ------
    ValueError
        If an id is not a word without white space and ``#``.
    OutputError
        If the file cannot be written.
    """
    words = encode_qid(qid, np.size(qid))
    with open_output(path) as file:
        file.write(b"".join(word + b"\n" for word in words))
