"""Several variants of a ranker, measured on the same folds.

What they have in common is done once: features are mapped once for all that see them alike, and
variants that differ in C, and in whether rounds follow, go along one path of solutions. Where a
variant leaves C open and the best of all is at an end of its values, that go on by the same ratio,
as long as the end is the best.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..linear.conditions import Conditions
from ..linear.design_matrix import DesignMatrix
from ..linear.occurring import FeatureWeights
from ..linear.parameters import Parameters
from ..linear.training import Fit
from ..models.maps import FeatureMap
from ..models.preparing import MappedRows, mapped_rows, require_conditions
from ..models.scaling import scale_factors
from ..records import record
from .cross_validation import CrossValidation, cross_validate
from .fold_scores import FoldScores
from .folds import Fold
from .learners import Learner, cross_validate_apart
from .rows import FoldedRows
from .scoring import Scoring
from .variants import Variant

Vector = NDArray[np.float64]

MOST_CS = 6  # of a variant that leaves C open
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
    mapped : ndarray or CSR matrix, or None
        What the maps have made of them.
    """

    variant: Variant
    rows: FoldedRows
    of_each: list[Parameters]
    conditions: Conditions
    factors: Vector | None = None
    maps: tuple[FeatureMap, ...] = ()
    mapped: Any = None

    @classmethod
    def of(
        cls,
        variant: Variant,
        rows: FoldedRows,
        X: Any,
        given: Parameters,
        scaled: dict[str, MappedRows],
    ) -> Entrant:
        """Do to rows, of features X, what the variant asks for.

        Parameters
        ----------
        variant : Variant
        rows : FoldedRows
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        given : Parameters
            What the variant does not say.
        scaled : dict
            As for `ranksvm.models.preparing.mapped_rows`.

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
            seen = asked.scaled(factors, rows.X.columns)
            of_each = [replace(one, conditions=seen) for one in of_each]
            return cls(variant, rows.seen_as(rows.X.scaled(factors)), of_each, asked, factors)
        groups = rows.preferences.groups
        qid = None if groups.n_queries == 1 else groups.numbers
        mapped = mapped_rows(X, qid, scale, features, scaled=scaled)
        rows = rows.seen_as(DesignMatrix.from_array(mapped.X))
        return cls(variant, rows, of_each, asked, maps=mapped.maps, mapped=mapped.X)

    def instead(self, variant: Variant, of_each: list[Parameters]) -> Entrant:
        """Return another variant that sees the rows alike."""
        asked = of_each[0].conditions
        if self.factors is not None:
            seen = self.of_each[0].conditions
            if asked is not self.conditions:
                seen = asked.scaled(self.factors, self.rows.X.columns)
            of_each = [replace(one, conditions=seen) for one in of_each]
        return self._replace(variant=variant, of_each=of_each, conditions=asked)

    @property
    def in_folds(self) -> list[Parameters]:
        """For each C, what to train folds with."""
        effort = self.variant.of_folds
        return [effort.limit(one) for one in self.of_each]

    @property
    def path(self) -> Hashable:
        """What tells entrants on one path of solutions from those on others."""
        return self.path_with(self.in_folds[0])

    def path_with(self, parameters: Parameters) -> Hashable:
        """Return what tells one path of solutions from others, trained with these parameters."""
        plain = None if parameters.pair_weight == "ndcg" else parameters.pair_weight
        return id(self.rows), replace(parameters, C=1.0, pair_weight=plain)

    def beyond(self, C: float) -> Entrant | None:
        """Return the entrant with the one C that is next after an end of its grid, if C is one.

        None if the variant does not leave C open, or has been there often enough.
        """
        Cs = sorted(one.C for one in self.of_each)
        if self.variant.Cs is not None or C not in (Cs[0], Cs[-1]) or len(Cs) >= MOST_CS:
            return None
        further = Cs[0] ** 2 / Cs[1] if Cs[0] == C else Cs[-1] ** 2 / Cs[-2]
        return self._replace(of_each=[replace(self.of_each[0], C=further)])

    def weights_of(self, fit: Fit) -> FeatureWeights:
        """Return weights that were trained on these rows as those of what the maps make of X."""
        if self.factors is None:
            return fit.weights
        return self.conditions.unscaled(fit.result.weights, self.factors, fit.columns)


@record
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

    @classmethod
    def of(cls, entrants: Sequence[Entrant], results: Sequence[CrossValidation]) -> Contest:
        """Put the scores of entrants one after the other."""
        scores = np.concatenate([result.scores for result in results])
        return cls(scores, tuple(entrants), tuple(results))

    def further(self) -> Entrant | None:
        """Return the entrant that is best at an end of its values of C, with the next one."""
        best = self.best()
        return self.entrants[int(self.number[best])].beyond(float(self.Cs[best]))

    def starts(self, further: Entrant) -> Mapping[int, Vector]:
        """Return where the folds start for another C: where they ended, if those were smaller."""
        number = self._number_of(further)
        is_larger = self.results[number].Cs.max() < further.of_each[0].C
        return self.results[number].ends if is_larger else {}

    def _number_of(self, further: Entrant) -> int:
        return next(k for k, one in enumerate(self.entrants) if one.variant is further.variant)

    def with_more(self, further: Entrant, result: CrossValidation) -> Contest:
        """Return the contest with another C of an entrant."""
        number = self._number_of(further)
        entrants, results = list(self.entrants), list(self.results)
        of_each = entrants[number].of_each + further.of_each
        entrants[number] = further._replace(of_each=of_each)
        results[number] = results[number].joined(result)
        return Contest.of(entrants, results)

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

    def level(self) -> list[int]:
        r"""Return the places of those that the folds cannot tell from the best, best first.

        Of the K folds, the differences :math:`d_k` of the best to another have a mean with the
        standard error :math:`e = \sqrt{\sum_k (d_k - \bar{d})^2 / (K (K - 1))}`; it is level if

        .. math:: \bar{d} \le e / 2 .

        Of two rankers that are equally good, the one that happens to be ahead is so by
        :math:`0.8 e` on average: less than that tells nothing. Which is then chosen is luck of the
        folds, on which the mean of all of them depends less. The errors are those of
        differences on the same queries, which are much smaller than those of the scores: what is
        clearly worse stays out. With a single fold, the best is alone.
        """
        best, mean = self.best(), self.mean
        used = self.scores[:, ~np.isnan(self.scores[0])]
        errors = FoldScores(used[best] - used).standard_error
        behind = mean[best] - mean
        places = np.flatnonzero(behind <= errors / 2)
        others = places[places != best]
        return [best, *others[np.argsort(behind[others], kind="stable")].tolist()]

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


def entrants_of(
    variants: Sequence[Variant], rows: FoldedRows, X: Any, given: Parameters
) -> list[Entrant]:
    """Do to rows, of features X, what each variant asks for, but nothing twice.

    Parameters
    ----------
    variants : sequence of Variant
    rows, X, given
        As for `Entrant.of`.
    """
    first: dict[Hashable, Entrant] = {}
    scaled: dict[str, MappedRows] = {}
    entrants = []
    for variant in variants:
        alike = variant.scale, variant.features
        if alike not in first:
            first[alike] = Entrant.of(variant, rows, X, given, scaled)
        of_each = rows.grid(variant.Cs, variant.parameters(given))
        entrants.append(first[alike].instead(variant, of_each))
    return entrants


def compete(
    entrants: Sequence[Entrant],
    folds: Sequence[Fold],
    scoring: str | Scoring,
    *,
    n_jobs: int | None = None,
    progress: Callable[[], object] | None = None,
    learner: Learner | None = None,
) -> Contest:
    """Cross-validate each entrant on the same folds.

    Parameters
    ----------
    entrants : sequence of Entrant
    folds, scoring, n_jobs, progress
        As for `ranksvm.selection.cross_validation.cross_validate`.
    learner : Learner, optional
        What learns from the rows of entrants, which see them alike; weights on the host by default.

    Raises
    ------
    ValueError
        If no fold has preference pairs both to train and to validate on.
    """

    def measured(
        some: Sequence[Entrant], starts: Mapping[int, Vector] | None = None
    ) -> list[CrossValidation]:
        of_each = [parameters for one in some for parameters in one.in_folds]
        rows = some[0].rows
        if learner is None:
            result = cross_validate(
                rows, of_each, folds, scoring, n_jobs=n_jobs, progress=progress, starts=starts
            )
        else:
            result = cross_validate_apart(learner, rows, of_each, folds, scoring, progress=progress)
        return result.split([len(one.of_each) for one in some])

    paths: dict[Hashable, list[int]] = {}
    for number, one in enumerate(entrants):
        paths.setdefault(one.path, []).append(number)
    results: dict[int, CrossValidation] = {}
    for numbers in paths.values():
        of_path = measured([entrants[number] for number in numbers])
        results.update(zip(numbers, of_path, strict=True))
    contest = Contest.of(entrants, [results[number] for number in range(len(entrants))])
    while (further := contest.further()) is not None:
        contest = contest.with_more(further, measured([further], contest.starts(further))[0])
    return contest
