"""Variants of a ranker that compete in a cross-validation, each for many values of C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..linear.conditions import Conditions, require_ratio, require_truth
from ..linear.parameters import Parameters
from ..models.preparing import Features, require_scale

ParamGrid: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]

OF_TRAINING = (
    "loss",
    "pair_weight",
    "gains",
    "top",
    "n_rounds",
    "normalize",
    "solver",
    "counting",
    "tol",
    "max_iter",
)
OF_CONDITIONS = ("positive", "l1_ratio")
OF_FEATURES = ("scale", "features")
# Few, cheap and unlike each other: on no two sets of data does the same one win.
AUTO: ParamGrid = (
    {"scale": ["standard"], "pair_weight": [None, "ndcg"]},
    {"scale": ["quantile"], "pair_weight": ["ndcg"]},
    {"scale": ["quantile"], "features": ["nystroem"], "pair_weight": ["ndcg"]},
)
N_CS = 20


class Effort(NamedTuple):
    """How far folds are trained, at most.

    Attributes
    ----------
    tol : float, default=0
        The gap, if that is more than what is asked for.
    n_rounds : int, optional
        How many, if these are fewer than what is asked for.
    """

    tol: float = 0.0
    n_rounds: int | None = None

    def limit(self, parameters: Parameters) -> Parameters:
        """Return what to train folds with."""
        n_rounds = parameters.n_rounds if self.n_rounds is None else self.n_rounds
        return replace(
            parameters,
            tol=max(parameters.tol, self.tol),
            n_rounds=min(parameters.n_rounds, n_rounds),
        )


FULL = Effort()
# Rankings are settled long before objectives are, and weights of the top after one round: scores on
# the folds change by less than these differ with a gap as small as one likes, or with more rounds.
SHORT = Effort(tol=0.1, n_rounds=2)


@dataclass(frozen=True)
class Variant:
    """What is tried together, and for which C.

    Attributes
    ----------
    settings : dict
        By name, what differs from the ranker as it is given.
    Cs : int, array-like or None
        Values of C, or how many; None is a few around 1, and more beyond an end that is best.
    of_folds : Effort
    """

    settings: Mapping[str, Any]
    Cs: int | ArrayLike | None
    of_folds: Effort = FULL

    def parameters(self, given: Parameters) -> Parameters:
        """Return what to train with, for whatever C."""
        training = {name: self.settings[name] for name in OF_TRAINING if name in self.settings}
        return replace(given, conditions=self._conditions(given.conditions), **training)

    def _conditions(self, given: Conditions) -> Conditions:
        """Return what is asked of the weights."""
        if "l1_ratio" in self.settings:
            require_ratio(self.settings["l1_ratio"])
            given = replace(given, l1_ratio=float(self.settings["l1_ratio"]))
        if "positive" in self.settings:
            require_truth("positive", self.settings["positive"])
        return given.nonnegative() if self.settings.get("positive") else given

    @property
    def title(self) -> str:
        """What differs from the ranker as it is given, in a few words."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items() if value)

    @property
    def scale(self) -> str | None:
        """How features are scaled first."""
        scale: str | None = self.settings.get("scale")
        return scale

    @property
    def features(self) -> Features | None:
        """Which features are made of those of X."""
        text = self.settings.get("features")
        return None if text is None else Features.parse(text)


def variants_of(
    param_grid: ParamGrid | str | None,
    Cs: int | ArrayLike | None = None,
    l1_ratios: ArrayLike | None = None,
) -> list[Variant]:
    """Return the variants of a grid, in the order in which scikit-learn's ``ParameterGrid`` does.

    Parameters
    ----------
    param_grid : dict of list, list of such, "auto" or None
        For each name, the values to try: all combinations. "C" takes the place of `Cs`. None is the
        ranker as it is.
    Cs : int or array-like, optional
        By default 20; for "auto", a few and what turns out to be needed.
    l1_ratios : array-like, optional
        What to try of these, where `param_grid` says nothing of them.

    Raises
    ------
    ValueError
        If a name or a value is none.
    """
    if param_grid is None and l1_ratios is None:
        return [Variant({}, N_CS if Cs is None else Cs)]
    if isinstance(param_grid, str):
        if param_grid != "auto":
            raise InputError(
                f"param_grid must give lists of values by name, or be 'auto', not {param_grid!r}"
            )
        of_each = variants_of(AUTO, Cs, l1_ratios)
        return [replace(one, Cs=Cs, of_folds=SHORT) for one in of_each]
    from sklearn.model_selection import ParameterGrid

    param_grid = {} if param_grid is None else param_grid
    grids = [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
    if l1_ratios is not None:
        grids = [{"l1_ratio": np.ravel(l1_ratios).tolist(), **grid} for grid in grids]
    variants = []
    for grid in grids:
        others = {name: values for name, values in grid.items() if name != "C"}
        for settings in ParameterGrid(others):
            variants.append(Variant(settings, grid.get("C", N_CS if Cs is None else Cs)))
            _check(variants[-1])
    if not variants:
        raise InputError("param_grid is empty: there is nothing to choose from")
    return variants


def _check(variant: Variant) -> None:
    """Refuse names that there are none of, and values that are none of theirs."""
    names = ("C", *OF_TRAINING, *OF_CONDITIONS, *OF_FEATURES)
    unknown = [name for name in variant.settings if name not in names]
    if unknown:
        raise InputError(f"param_grid may have {', '.join(names)}, not {unknown[0]!r}")
    variant.parameters(Parameters())
    require_scale(variant.scale)
    _ = variant.features
