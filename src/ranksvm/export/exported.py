"""A linear ranker as other engines see it: features by names, each normalised by itself, weighed.

::

    score = sum over k of  weight_k * f_k(x_k)

Features without a weight are left out, which changes no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..models import LinearModel
from ..models.from_estimators import scaled_model_of
from ..models.kernel import KernelModel
from ..models.maps import AffineMap, FeatureMap, JoinedMap
from ..records import record

Vector = NDArray[np.float64]
Names = Sequence[str] | Mapping[str, str]

FOLD, NORMALIZERS = "fold", "normalizers"
SCALINGS = (FOLD, NORMALIZERS)
NONNEGATIVE = "nonnegative"
_MOST_SHOWN = 10


class Unexportable(InputError):
    """A model that an engine cannot serve; the message says why, and what to do."""


class Term(NamedTuple):
    """A feature, what is done to it, and its weight.

    Attributes
    ----------
    name : str
    place : int
        Its number among the features of the model, from zero.
    weight : float
    """

    name: str
    place: int
    weight: float


@record
class Exported:
    """A linear ranker for an engine.

    Attributes
    ----------
    name : str
        Of the model there.
    target : str
        What messages call the engine.
    terms : list of Term
        The features that have a weight.
    n_features : int
        How many the model has.
    normalizer : AffineMap or None
        What the engine is to do to features first.
    maps : tuple of FeatureMap
        What else is done to each feature by itself, before it is weighed.
    offset : Term or None
        A feature that is 1 everywhere, whose weight makes scores nonnegative.
    """

    name: str
    target: str
    terms: list[Term]
    n_features: int
    normalizer: AffineMap | None = None
    maps: tuple[FeatureMap, ...] = ()
    offset: Term | None = None

    @classmethod
    def of(
        cls,
        ranker: Any,
        target: str,
        *,
        name: str = "ranksvm",
        feature_names: Names | None = None,
        scaling: str = FOLD,
        needs_names: bool = True,
    ) -> Exported:
        """Return what is to be exported of a model or fitted estimator.

        Raises
        ------
        ValueError
            If it is none that can be, or names are missing.
        """
        if scaling not in SCALINGS:
            raise InputError(f"scaling must be one of {', '.join(SCALINGS)}, not {scaling!r}")
        model, normalizer = scaled_model_of(ranker, folds=scaling == FOLD)
        if isinstance(model, KernelModel):
            raise Unexportable(
                f"{target} takes weights of features, but the model ranks by the kernel "
                f"{model.kernel}: train a linear one, or features of the kernel by Nystroem"
            )
        if scaling == NORMALIZERS and normalizer is None:
            raise Unexportable(
                "scaling='normalizers' needs the scaler: give the fitted pipeline of a "
                "StandardScaler or MinMaxScaler and the ranker; a model file has its scale in the "
                "weights"
            )
        _require_own_features(model.maps, target)
        places, weights = model.weights.nonzero()
        if not len(places):
            raise Unexportable(f"all weights are zero: there is nothing for {target} to rank by")
        names = _names(model, feature_names, places, target, needs_names)
        terms = [Term(*term) for term in zip(names, places.tolist(), weights.tolist(), strict=True)]
        return cls(name, target, terms, model.n_features, normalizer, model.maps)

    @property
    def names(self) -> list[str]:
        """The names of the features that have a weight, that of the offset included."""
        return [term.name for term in self.weighed]

    @property
    def weighed(self) -> list[Term]:
        """The features that have a weight, the offset included."""
        return [*self.terms, *([] if self.offset is None else [self.offset])]

    @property
    def places(self) -> NDArray[np.int64]:
        """The numbers of the features that have a weight."""
        return np.array([term.place for term in self.terms], dtype=np.int64)

    @property
    def weights(self) -> Vector:
        """Their weights."""
        return np.array([term.weight for term in self.terms])

    def require_no_maps(self) -> None:
        """Refuse models that do something to features that weights alone do not say."""
        if self.maps:
            listed = " and ".join(one.name for one in self.maps)
            raise Unexportable(
                f"{self.target} takes weights of features as they are, but the model maps them "
                f"first, by {listed}: onnx, sql and python can, or train with another scale"
            )

    def require_single_precision(self) -> None:
        """Refuse weights that the single precision of the engine cannot hold."""
        with np.errstate(over="ignore"):
            held = self.weights.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(held) | (held == 0))
        if len(bad):
            raise Unexportable(
                f"{self.target} holds weights in single precision, which has no place for "
                f"{_listed([f'{self.terms[k].weight:g} of {self.terms[k].name!r}' for k in bad])}: "
                "scale the features"
            )

    def require_names(self, faults: Mapping[str, list[str]]) -> None:
        """Refuse names for reasons, all at once."""
        said = [f"{reason}: {_listed(names)}" for reason, names in faults.items() if names]
        if said:
            raise Unexportable(
                f"{self.target} cannot have these feature names; {'; '.join(said)}: give "
                "feature_names, a name for each"
            )

    def nonnegative(self, low: Vector, high: Vector, feature: str) -> Exported:
        """Return the same with an offset for which no score between bounds is negative.

        Parameters
        ----------
        low, high : ndarray of shape (n_features,)
            Of the features, as the weights see them.
        feature : str
            The name of the feature that is 1 everywhere.
        """
        w = self.weights.astype(np.float32).astype(np.float64)
        ends = np.minimum(w * low[self.places], w * high[self.places])
        if not np.isfinite(ends).all():
            bad = self.terms[int(np.flatnonzero(~np.isfinite(ends))[0])].name
            raise Unexportable(f"the range of {bad!r} has no end, and scores no lower bound")
        rounding = 2 * len(w) * float(np.finfo(np.float32).eps)
        sizes = np.maximum(np.abs(w * low[self.places]), np.abs(w * high[self.places])).sum()
        bound = max(0.0, -float(ends.sum())) + rounding * float(sizes)
        weight = float(np.nextafter(np.float32(bound), np.float32(np.inf)))
        return replace(self, offset=Term(feature, -1, weight))


def _require_own_features(maps: Sequence[FeatureMap], target: str) -> None:
    """Refuse maps that make others of the features than each by itself."""
    for one in maps:
        if not one.keeps_features:
            alone = ", without average" if isinstance(one, JoinedMap) else ""
            raise Unexportable(
                f"{target} has no way to map features by {one.name}: train with another "
                f"scale{alone}, or score with ranksvm itself"
            )


def _names(
    model: LinearModel,
    given: Names | None,
    places: NDArray[np.integer],
    target: str,
    needs_names: bool,
) -> list[str]:
    """Return a name for each feature that has a weight."""
    known = model.feature_names
    if given is not None and not isinstance(given, Mapping):
        given = list(given)
        if len(given) != model.n_features:
            raise InputError(
                f"feature_names has {len(given)} names but the model has {model.n_features} "
                "features"
            )
        known, given = given, None
    if known is None and needs_names:
        raise Unexportable(
            f"{target} knows features by name, and the model has no names: give feature_names, one "
            f"for each of its {model.n_features} features"
        )
    names = [str(k + 1) for k in places] if known is None else [known[k] for k in places]
    if given is None:
        return [str(name) for name in names]
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(f"feature_names has nothing for {_listed(missing)}")
    return [str(given[name]) for name in names]


def duplicates(names: Sequence[str]) -> list[str]:
    """Return names that come more than once, each once."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return [name for name, count in seen.items() if count > 1]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(name if " of '" in name else repr(name) for name in names[:_MOST_SHOWN])
    more = len(names) - _MOST_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown
