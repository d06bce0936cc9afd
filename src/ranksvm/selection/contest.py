"""Several variants of a ranker, measured on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.conditions import Conditions
from ..linear.design_matrix import DesignMatrix
from ..linear.occurring import FeatureWeights
from ..linear.parameters import Parameters
from ..linear.training import Fit
from ..models.maps import FeatureMap
from ..models.preparing import mapped_rows, require_conditions
from ..models.scaling import scale_factors
from .cross_validation import CrossValidation, cross_validate
from .fold_scores import FoldScores
from .folds import Fold
from .rows import FoldedRows
from .scoring import Scoring
from .variants import Variant

Vector = NDArray[np.float64]

AFFINE = ("standard", "minmax", "maxabs")  # scales that go into the weights


class Entrant(NamedTuple):
    """A variant, and the rows as it sees them.

    Attributes
    ----------
    variant : Variant
    rows : FoldedRows
    of_each : list of Parameters
        For each C, with what is asked of the weights of the rows as they are seen.
    conditions : Conditions
        What is asked of the weights of the features as they are.
    factors : ndarray of shape (n_columns,), or None
        What columns have been multiplied by.
    maps : tuple of FeatureMap
        What has been done to features.
    """

    variant: Variant
    rows: FoldedRows
    of_each: list[Parameters]
    conditions: Conditions
    factors: Vector | None = None
    maps: tuple[FeatureMap, ...] = ()

    @classmethod
    def of(cls, variant: Variant, rows: FoldedRows, X: Any, given: Parameters) -> Entrant:
        """Do to rows, of features X, what the variant asks for.

        Parameters
        ----------
        variant : Variant
        rows : FoldedRows
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        given : Parameters
            What the variant does not say.

        Raises
        ------
        ValueError
            As `ranksvm.models.preparing.mapped_rows` and `require_conditions` there.
        """
        scale, features = variant.scale, variant.features
        parameters = variant.parameters(given)
        asked = parameters.conditions
        require_conditions(asked, scale, features)
        of_each = rows.grid(variant.Cs, parameters)
        if scale is None and features is None:
            return cls(variant, rows, of_each, asked)
        if features is None and scale in AFFINE:
            factors = scale_factors(X, scale, rows.X.columns)
            scaled = asked.scaled(factors, rows.X.columns)
            of_each = [replace(one, conditions=scaled) for one in of_each]
            return cls(variant, rows.seen_as(rows.X.scaled(factors)), of_each, asked, factors)
        groups = rows.preferences.groups
        qid = None if groups.n_queries == 1 else groups.numbers
        mapped = mapped_rows(X, qid, scale, features)
        seen = rows.seen_as(DesignMatrix.from_array(mapped.X))
        return cls(variant, seen, of_each, asked, maps=mapped.maps)

    def weights_of(self, fit: Fit) -> FeatureWeights:
        """Return weights that were trained on these rows as those of what the maps make of X."""
        if self.factors is None:
            return fit.weights
        return self.conditions.unscaled(fit.result.weights, self.factors, fit.columns)


@dataclass(frozen=True, eq=False)
class Contest(FoldScores):
    """The scores of each entrant for each C, on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
        One entrant after the other.
    entrants : tuple of Entrant
    results : tuple of CrossValidation
        Of each entrant.
    """

    entrants: tuple[Entrant, ...]
    results: tuple[CrossValidation, ...]

    @property
    def Cs(self) -> Vector:
        """The C of each candidate."""
        return np.concatenate([result.Cs for result in self.results])

    @property
    def number(self) -> NDArray[np.int64]:
        """The number of the entrant of each candidate."""
        return np.repeat(np.arange(len(self.results)), [len(result.Cs) for result in self.results])

    @property
    def shortfall(self) -> str | None:
        """What the trainings of the first entrant that fell short fell short of."""
        return next((one.shortfall for one in self.results if one.shortfall is not None), None)

    @property
    def advice(self) -> str | None:
        """What there is to say of the scales of features, if nothing scales them."""
        if any(one.variant.scale is not None for one in self.entrants):
            return None
        return self.results[0].advice

    def best(self, one_standard_error: bool = False) -> int:
        """Return the place of the best mean; of equal ones, the first entrant's, the smallest C's.

        With `one_standard_error`, that of the first entrant, and in it the smallest C, whose mean
        lies at most one standard error of the best mean below it.
        """
        complexity = np.empty(len(self.Cs))
        complexity[np.lexsort((self.Cs, self.number))] = np.arange(len(self.Cs))
        return self.simplest(complexity, one_standard_error)

    def chosen(self, place: int) -> tuple[Entrant, Parameters]:
        """Return the entrant of a candidate, and what to train it with."""
        entrants = [(one, parameters) for one in self.entrants for parameters in one.of_each]
        return entrants[place]

    def params(self, place: int) -> dict[str, Any]:
        """Return C and all settings of a candidate, by name."""
        names = {name for one in self.entrants for name in one.variant.settings}
        settings = self.entrants[self.number[place]].variant.settings
        return {"C": float(self.Cs[place]), **{name: settings.get(name) for name in sorted(names)}}

    def table(self) -> dict[str, Any]:
        """Return columns with a value for each candidate, named as by GridSearchCV."""
        params = [self.params(place) for place in range(len(self.Cs))]
        columns = {
            f"param_{name}": np.array([one[name] for one in params], dtype=object)
            for name in params[0]
        }
        gaps = [np.nanmax(result.dual_gaps, axis=1) for result in self.results]
        return {
            **columns,
            "param_C": self.Cs,
            **self.columns(),
            "max_dual_gap": np.concatenate(gaps),
        }


def compete(
    entrants: Sequence[Entrant],
    folds: Sequence[Fold],
    scoring: str | Scoring,
    *,
    n_jobs: int | None = None,
    progress: Callable[[], object] | None = None,
) -> Contest:
    """Cross-validate each entrant on the same folds.

    Parameters
    ----------
    entrants : sequence of Entrant
    folds, scoring, n_jobs, progress
        As for `ranksvm.selection.cross_validation.cross_validate`.

    Raises
    ------
    ValueError
        If no fold has preference pairs both to train and to validate on.
    """
    results = []
    for one in entrants:  # no comprehension: warnings count frames
        results.append(
            cross_validate(one.rows, one.of_each, folds, scoring, n_jobs=n_jobs, progress=progress)
        )
    scores = np.concatenate([result.scores for result in results])
    return Contest(scores, tuple(entrants), tuple(results))
