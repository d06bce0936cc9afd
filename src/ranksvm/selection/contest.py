"""Several variants of a ranker, measured on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cross_validation import CrossValidation
from .fold_scores import FoldScores
from .variants import Variant

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contest(FoldScores):
    """The scores of each variant for each C, on the validation rows of each fold.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates, n_folds)
        One variant after the other.
    variants : tuple of Variant
    results : tuple of CrossValidation
        Of each variant.
    """

    variants: tuple[Variant, ...]
    results: tuple[CrossValidation, ...]

    @classmethod
    def of(cls, variants: Sequence[Variant], results: Sequence[CrossValidation]) -> Contest:
        """Lay results for each variant one after the other."""
        scores = np.concatenate([result.scores for result in results])
        return cls(scores, tuple(variants), tuple(results))

    @property
    def Cs(self) -> Vector:
        """The C of each candidate."""
        return np.concatenate([result.Cs for result in self.results])

    @property
    def variant(self) -> NDArray[np.int64]:
        """The number of the variant of each candidate."""
        return np.repeat(np.arange(len(self.results)), [len(result.Cs) for result in self.results])

    @property
    def shortfall(self) -> str | None:
        """What trainings of the first variant that did fall short fell short of."""
        return next((one.shortfall for one in self.results if one.shortfall is not None), None)

    @property
    def advice(self) -> str | None:
        """What there is to say of the scales of the features as they are."""
        plain = [one.scale is None and one.features is None for one in self.variants]
        return self.results[plain.index(True)].advice if any(plain) else None

    def best(self, one_standard_error: bool = False) -> int:
        """Return the place of the best mean; of equal ones, the first variant's, the smallest C's.

        With `one_standard_error`, that of the first variant, and in it the smallest C, whose mean
        lies at most one standard error of the best mean below it.
        """
        order = np.lexsort((self.Cs, self.variant))
        complexity = np.empty(len(order))
        complexity[order] = np.arange(len(order))
        return self.simplest(complexity, one_standard_error)

    def params(self, place: int) -> dict[str, Any]:
        """Return C and all settings of a candidate, by name."""
        names = {name for variant in self.variants for name in variant.settings}
        settings = self.variants[self.variant[place]].settings
        others = {name: settings.get(name) for name in sorted(names)}
        return {"C": float(self.Cs[place]), **others}

    def table(self) -> dict[str, Any]:
        """Return columns with a value for each candidate, named as by GridSearchCV."""
        params = [self.params(place) for place in range(len(self.Cs))]
        gaps = np.concatenate([np.nanmax(result.dual_gaps, axis=1) for result in self.results])
        settings = {
            f"param_{name}": np.array([one[name] for one in params], dtype=object)
            for name in params[0]
            if name != "C"
        }
        return {
            "param_C": self.Cs,
            **settings,
            "params": params,
            **self.columns(),
            "max_dual_gap": gaps,
        }
