"""What to minimise and how, as numbers and names, checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..names import COUNTINGS, GAINS, LOSSES, NORMALIZATIONS, PAIR_WEIGHTS, SOLVERS
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..records import record
from ..threads import require_workers
from .conditions import NO_CONDITIONS, Conditions
from .feature_names import FeatureNames

if TYPE_CHECKING:
    from ..pairs.top import Gains


@record
class Parameters:
    """What to minimise, and how; see `RankSVM` for the meaning of each.

    Beyond it, `epsilon` is an absolute duality gap at which to stop, too: that of the objective
    divided by C, ``(1/N) sum of losses + lambda |w|^2`` with ``normalize="pairs"`` and ``lambda = 1
    / (2 C)``, as in TreeRankSVM.

    Raises
    ------
    ValueError
        If a parameter is out of range or not one of its names.
    """

    C: float = 1.0
    loss: str = "squared_hinge"
    pair_weight: str | None = None
    normalize: str | None = "documents"
    solver: str = "auto"
    counting: str = "auto"
    tol: float = 1e-3
    epsilon: float = 0.0
    max_iter: int = 1000
    gains: str = "exponential"
    top: int = 30
    n_rounds: int = 3
    n_threads: int | None = None
    conditions: Conditions = NO_CONDITIONS

    def __post_init__(self) -> None:
        require_number("C", self.C, positive=True)
        require_number("tol", self.tol, positive=False)
        require_number("epsilon", self.epsilon, positive=False)
        require_name("loss", self.loss, LOSSES)
        require_name("pair_weight", self.pair_weight, PAIR_WEIGHTS)
        require_name("normalize", self.normalize, NORMALIZATIONS)
        require_name("solver", self.solver, SOLVERS)
        require_name("counting", self.counting, COUNTINGS)
        require_count("max_iter", self.max_iter, 0)
        require_name("gains", self.gains, GAINS)
        require_count("top", self.top, 1)
        require_count("n_rounds", self.n_rounds, 1)
        if self.n_threads is not None:
            require_workers("n_threads", self.n_threads)

    def described(self, features: FeatureNames) -> dict[str, Any]:
        """Return them as model files hold them, those of the conditions among the others."""
        plain = {name: value for name, value in vars(self).items() if name != "conditions"}
        return {**plain, **self.conditions.described(features)}

    @property
    def gain(self) -> Gains:
        """What labels are worth, where pairs weigh gains."""
        from ..pairs.top import Gains

        return Gains(self.gains, int(self.top))

    def weigh(self, preferences: AnyPreferences) -> AnyPreferences:
        """Return preferences whose pairs weigh what they are to weigh, to begin with.

        Raises
        ------
        ValueError
            If they cannot.
        """
        by_gains = self.pair_weight in ("gain", "ndcg")
        if not by_gains or not isinstance(preferences, Preferences):
            return preferences.weighed(self.pair_weight)
        if preferences.has_roles:
            raise InputError(
                f"pair_weight={self.pair_weight!r} needs grades of relevance; times of events have "
                "no gains"
            )
        by_gap = self.gain.by_gap(preferences)
        return by_gap if self.pair_weight == "gain" else preferences


def require_number(name: str, value: object, *, positive: bool) -> None:
    """Refuse what is not a finite number, above 0 or, unless `positive`, at least 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} must be a number, not {value!r}")
    bad = value <= 0 if positive else value < 0
    if bad or not math.isfinite(value):
        bound = "greater than 0" if positive else "0 or greater"
        raise InputError(f"{name} must be finite and {bound}, not {value!r}")


def require_name(name: str, value: object, names: tuple[str | None, ...]) -> None:
    """Refuse what is not one of these names."""
    if not (value is None or isinstance(value, str)) or value not in names:
        raise InputError(f"{name} must be one of {', '.join(map(repr, names))}, not {value!r}")


def require_verbosity(verbose: object) -> None:
    """Refuse what does not say how much to tell."""
    if not isinstance(verbose, (bool, np.bool_)):
        require_count("verbose", verbose, 0)


def require_count(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least so much."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
