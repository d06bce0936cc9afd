"""What model files hold of kernel models.

::

    {
     "format": "ranksvm kernel model",
     "format_version": 1,
     "n_features": 3,
     "kernel": {"name": "rbf", "gamma": 0.5},
     "dual_coef": [
      0.25,
      -0.25
     ],
     "support_vectors": [
      {"1": 1.0, "3": -2.5},
      {}
     ],
     "parameters": {"C": 1.0, "loss": "squared_hinge", ...},
     "training": {"objective": 12.5, "dual_gap": 2.1e-05, "status": "converged", ...}
    }

A support vector has values by feature number, counted from one, or by feature name where
``feature_names`` lists the names, and zero for those that are not mentioned; or it is a list of
``n_features`` numbers, if all of them are. Where there is a list ``scale``, rows are multiplied by
it, feature by feature, before their kernel values with the support vectors are taken.

In the safetensors layout, "dual_coef", "scale" and "support_vectors" are tensors; sparse support
vectors are the tensors "values", "indptr" and "indices" of a matrix of compressed rows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..models.kernel import KernelModel
from ..names import KERNELS
from .fields import Features, check_fields, check_names, facts, is_finite
from .json_text import to_json_rows
from .quoting import shown
from .safetensors import Safetensors, Tensor
from .source import DataError

if TYPE_CHECKING:
    from ..kernel.kernels import Kernel

FORMAT = "ranksvm kernel model"
VERSIONS = (1,)

_DENSE = {"support_vectors": Tensor("F64", 2)}
_SPARSE = {
    "values": Tensor("F64", least=0),
    "indptr": Tensor("I64"),
    "indices": Tensor("I32", least=0),
}


def check(model: KernelModel) -> None:
    """Refuse to save what could not be loaded."""
    name = model.kernel.kernel
    if not isinstance(name, str) or name not in KERNELS:
        why = "it is a function" if callable(name) else "there are no rows to take values with"
        raise InputError(
            f"a model file cannot hold the kernel {model.kernel}: {why}; pickle the model, or use "
            f"one of {', '.join(KERNELS)}"
        )
    n_support, n_features = model.support_vectors.shape
    if n_support < 1 or np.shape(model.dual_coef) != (n_support,):
        raise InputError(
            f"the model has {n_support} support vectors but dual coefficients of shape "
            f"{np.shape(model.dual_coef)}"
        )
    if model.scale is not None and np.shape(model.scale) != (n_features,):
        raise InputError(
            f"the model has {n_features} features but a scale of shape {np.shape(model.scale)}"
        )
    vectors = model.support_vectors
    for what, numbers in [
        ("dual coefficients", model.dual_coef),
        ("support vectors", vectors.data if _is_sparse(model) else vectors),
        ("scale", 0.0 if model.scale is None else model.scale),
    ]:
        if not np.isfinite(numbers).all():
            raise InputError(f"the {what} of the model must be finite")
    check_names(model.feature_names, n_features, "features")


def version_of(model: KernelModel) -> int:
    """Return the first version of the format that holds such a model."""
    return 1


def _is_sparse(model: KernelModel) -> bool:
    return not isinstance(model.support_vectors, np.ndarray)


def _compressed(model: KernelModel) -> Any:
    """Return the support vectors with the features of each in ascending order, once each."""
    rows = model.support_vectors.tocsr(copy=True)
    rows.sum_duplicates()
    return rows


def kernel_fields(model: KernelModel) -> dict[str, Any]:
    """Return the name of the kernel and the parameters that it has."""
    kernel, name = model.kernel, str(model.kernel.kernel)
    values = {
        "gamma": 1.0 / model.n_features if kernel.gamma is None else float(kernel.gamma),
        "degree": float(kernel.degree),
        "coef0": float(kernel.coef0),
    }
    return {"name": name, **{key: values[key] for key in KERNELS[name]}}


def json_text(model: KernelModel, version: int) -> str:
    """Return the content of a JSON file."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "format_version": version,
        "n_features": model.n_features,
        "kernel": kernel_fields(model),
    }
    if model.feature_names:
        content["feature_names"] = list(model.feature_names)
    if model.scale is not None:
        content["scale"] = model.scale.tolist()
    vectors = _by_name(model) if _is_sparse(model) else list(model.support_vectors)
    content |= {"dual_coef": model.dual_coef.tolist(), "support_vectors": vectors}
    content |= {"parameters": model.parameters, "training": model.training}
    return to_json_rows(content)


def _by_name(model: KernelModel) -> list[dict[str, float]]:
    rows, names = _compressed(model), model.feature_names
    features, values = rows.indices.tolist(), rows.data.tolist()
    keys = [names[k] for k in features] if names else [str(k + 1) for k in features]
    bounds = rows.indptr.tolist()
    return [
        dict(zip(keys[begin:end], values[begin:end], strict=True))
        for begin, end in pairwise(bounds)
    ]


def from_json(content: dict[str, Any], name: str) -> KernelModel:
    """Read the content of a JSON file that messages call `name`."""
    check_fields(content, name)
    n_features = content["n_features"]
    kernel = _kernel(content, name)
    coef = _numbers(content.get("dual_coef"), f'{name}: "dual_coef"')
    rows = content.get("support_vectors")
    if not (isinstance(rows, list) and rows and all(type(row) is type(rows[0]) for row in rows)):
        raise DataError(f'{name}: "support_vectors" must be lists of numbers, or all dictionaries')
    if len(coef) != len(rows):
        raise DataError(f"{name} has {len(rows)} support vectors but {len(coef)} dual coefficients")
    scale = None
    if "scale" in content:
        scale = _numbers(content["scale"], f'{name}: "scale"', n_features)
    if isinstance(rows[0], dict):
        vectors = _sparse_rows(rows, content, name)
    else:
        place = f'{name}: a row of "support_vectors"'
        vectors = np.array([_numbers(row, place, n_features) for row in rows])
    return KernelModel(kernel, vectors, coef, scale, **facts(content))


def _numbers(values: Any, place: str, count: int | None = None) -> NDArray[np.float64]:
    """Return a list of finite numbers, or say what is at a place in its stead."""
    if not isinstance(values, list):
        raise DataError(f"{place} must be a list of numbers, not {shown(values)}")
    if count is not None and len(values) != count:
        raise DataError(
            f"{place} must have {count} numbers, one for each feature, not {len(values)}"
        )
    if not all(map(is_finite, values)):
        bad = next(value for value in values if not is_finite(value))
        raise DataError(f"{place} must have numbers only, not {shown(bad)}")
    return np.array(values, dtype=np.float64)


def _sparse_rows(rows: list[dict[str, Any]], content: dict[str, Any], name: str) -> Any:
    from scipy.sparse import csr_matrix

    features = Features(content, name)
    indices, values, indptr = [], [], [0]
    for row in rows:
        places, numbers = features.read(row, "value")
        if len(set(places)) < len(places):
            raise DataError(f"{name}: a support vector gives a feature twice, as 1 and as 01")
        indices += places
        values += numbers
        indptr.append(len(indices))
    vectors = csr_matrix((values, indices, indptr), (len(rows), content["n_features"]), np.float64)
    vectors.sort_indices()
    return vectors


def _kernel(content: dict[str, Any], place: str) -> Kernel:
    from ..kernel.kernels import Kernel

    kernel = content.get("kernel")
    name = kernel.get("name") if isinstance(kernel, dict) else None
    if not isinstance(kernel, dict) or not isinstance(name, str) or name not in KERNELS:
        raise DataError(
            f'{place}: "kernel" must have a "name", one of {", ".join(KERNELS)}, not {shown(name)}'
        )
    wanted = {"name", *KERNELS[name]}
    if set(kernel) != wanted:
        listed = " and ".join(KERNELS[name]) or "no parameters"
        raise DataError(f'{place}: the kernel {name} has {listed}: "kernel" must give just these')
    for parameter in KERNELS[name]:
        if not is_finite(kernel[parameter]):
            raise DataError(
                f"{place}: {parameter} of the kernel must be a number, not "
                f"{shown(kernel[parameter])}"
            )
    try:
        return Kernel(name, **{key: float(kernel[key]) for key in KERNELS[name]})
    except ValueError as error:
        raise DataError(f"{place}: {error}") from None


def tensors(model: KernelModel) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the tensors and the further metadata of a safetensors file."""
    found: dict[str, NDArray[Any]] = {"dual_coef": np.asarray(model.dual_coef, dtype=np.float64)}
    if model.scale is not None:
        found["scale"] = np.asarray(model.scale, dtype=np.float64)
    if _is_sparse(model):
        rows = _compressed(model)
        found["values"] = rows.data.astype(np.float64)
        found["indptr"] = rows.indptr.astype(np.int64)
        found["indices"] = rows.indices.astype(np.int32)
    else:
        found["support_vectors"] = np.asarray(model.support_vectors, dtype=np.float64)
    return found, {"n_features": model.n_features, "kernel": kernel_fields(model)}


def from_tensors(file: Safetensors, content: dict[str, Any]) -> KernelModel:
    """Read a safetensors file, whose metadata are `content`."""
    check_fields(content, file.name)
    kernel = _kernel(content, file.name)
    expected = {"dual_coef": Tensor("F64")}
    if "scale" in file.tensors:
        expected["scale"] = Tensor("F64")
    dense = "support_vectors" in file.tensors
    found = file.read({**expected, **(_DENSE if dense else _SPARSE)})
    for tensor, values in found.items():
        if not np.isfinite(values).all():
            raise DataError(f'{file.name}: the numbers of "{tensor}" must be finite')
    n_support, n_features = len(found["dual_coef"]), content["n_features"]
    vectors = found["support_vectors"] if dense else _from_compressed(found, n_features, file.name)
    scale = found.get("scale")
    fits = scale is None or len(scale) == n_features
    if not fits or vectors.shape != (n_support, n_features):
        raise DataError(
            f"{file.name} has {n_support} dual coefficients and {n_features} features: the shapes "
            "of its tensors do not go together"
        )
    return KernelModel(kernel, vectors, found["dual_coef"], scale, **facts(content))


def _from_compressed(found: dict[str, NDArray[Any]], n_features: int, name: str) -> Any:
    """Return a matrix of compressed rows, whose parts are checked."""
    from scipy.sparse import csr_matrix

    values, indptr, indices = found["values"], found["indptr"], found["indices"]
    ends_well = indptr[0] == 0 and indptr[-1] == len(indices) == len(values)
    if not ends_well or np.any(indptr[1:] < indptr[:-1]):
        raise DataError(f'{name}: "indptr" must rise from 0 to the {len(indices)} of "indices"')
    ascending = np.diff(indices.astype(np.int64)) > 0
    ascending[indptr[(indptr > 0) & (indptr < len(indices))] - 1] = True  # where a row begins
    if np.any((indices < 0) | (indices >= n_features)) or not ascending.all():
        raise DataError(
            f'{name}: "indices" must be less than {n_features}, and ascend in each support vector'
        )
    rows = csr_matrix((values, indices, indptr), (len(indptr) - 1, n_features))
    rows.has_canonical_format = True
    return rows
