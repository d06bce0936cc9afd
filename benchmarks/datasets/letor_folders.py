"""
LETOR collections as they are published: folders Fold1 .. Fold5 of train.txt, vali.txt, test.txt.

So come MQ2007, MQ2008 and their "-list" versions, MSLR-WEB10K and MSLR-WEB30K. They are not part of
the project: get them from Microsoft Research, and let RANKSVM_LETOR name a collection's folder.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from benchmarks.task import Rows
from ranksvm import load_svmlight

VARIABLE = "RANKSVM_LETOR"


class LetorFold(NamedTuple):
    """The three parts of a fold, of equally many features."""

    train: Rows
    vali: Rows
    test: Rows


def letor_folder() -> Path | None:
    """Folder that RANKSVM_LETOR names, or None if it names none."""
    name = os.environ.get(VARIABLE, "")
    return Path(name) if name else None


def load_letor(folder: str | Path, fold: int = 1, dtype: DTypeLike = np.float32) -> LetorFold:
    """
    Read one fold.

    Parameters
    ----------
    folder : str or Path
        The folder of the collection, which holds ``Fold1`` and so on; or that of a fold.
    fold : int
        Which of them, 1 to 5.
    dtype : {float32, float64}
        Type of X.

    Returns
    -------
    LetorFold

    Raises
    ------
    FileNotFoundError
        If one of the files is not there.
    ranksvm.files.svmlight.DataError
        If one of them is not in the LETOR format.
    ValueError
        If one of them has no query ids.
    """
    root = Path(folder)
    if (root / f"Fold{fold}").is_dir():
        root = root / f"Fold{fold}"
    parts = [_load_part(root / f"{part}.txt", dtype) for part in LetorFold._fields]
    width = max(part.X.shape[1] for part in parts)
    return LetorFold(*(part._replace(X=_widened(part.X, width)) for part in parts))


def _load_part(path: Path, dtype: DTypeLike) -> Rows:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is not there: {VARIABLE} must name the folder of a LETOR collection, with "
            "train.txt, vali.txt and test.txt in it or in its folders Fold1 to Fold5"
        )
    X, y, qid = load_svmlight(path, dtype=dtype, zero_based=False)
    if qid is None:
        raise ValueError(f"{path} has no query ids: every line of a LETOR file has a qid:NUMBER")
    return Rows(X, y, qid)


def _widened(X: np.ndarray | sparse.csr_matrix, width: int) -> np.ndarray | sparse.csr_matrix:
    """Add features that are zero throughout, which a part may leave out at the end."""
    if sparse.issparse(X):
        X.resize(X.shape[0], width)
        return X
    return X if X.shape[1] == width else np.pad(X, ((0, 0), (0, width - X.shape[1])))
