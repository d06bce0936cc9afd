"""Real data: the folder of xz-compressed SVMlight files that RANKSVM_DATA names."""

import lzma
import os
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file


def find_real(name: str) -> Path | None:
    """Path of ``NAME.svm.xz`` in the folder RANKSVM_DATA, or None where there is none."""
    path = Path(os.environ.get("RANKSVM_DATA", "")) / f"{name}.svm.xz"
    return path if path.is_file() else None


def real_names() -> list[str]:
    """Names of all files in the folder RANKSVM_DATA; none where there is none."""
    folder = Path(os.environ.get("RANKSVM_DATA", ""))
    return sorted(path.name.removesuffix(".svm.xz") for path in folder.glob("*.svm.xz"))


def load_real(path: Path) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Read one file of `find_real`: (X, y, qid)."""
    with lzma.open(path) as file:
        return load_svmlight_file(file, query_id=True)
