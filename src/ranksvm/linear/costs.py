"""What the parts of a solver cost, so that the cheapest can be chosen before any work is done.

Operations are counted, and weighed by nanoseconds that were measured once, on one thread
(``python -m benchmarks.primitives`` measures them again, and whole fits). No clock is asked, so
that the choice depends on the data alone; only ratios matter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..pairs.given import AnyPreferences, GivenPreferences
from ..pairs.preferences import Preferences
from ..records import record
from .dot_products import DENSE
from .hessian import OF_BLOCKS
from .matrix import Matrix
from .shared_columns import shared_columns

PASS_DENSE, PASS_SPARSE = 0.15, 0.46  # of a stored value
PASS_AFAR, VALUES_IN_CACHE = 0.1, float(1 << 22)  # beyond that, as far as they leave the cache
FROM_DISK = 8.0  # of a stored value, where these may be more than memory holds
# Of a row in long queries; in short ones, and of two rows of one of these.
SWEEP, SWEEP_SHORT, SWEEP_TWO = 48.0, 12.0, 0.8
LAPLACIAN, LAPLACIAN_SHORT, LAPLACIAN_TWO = 20.0, 2.5, 0.2
# Times what planes and products take, whose numbers are a guess, unlike that of steps.
RISK_OF_PLANES, RISK_OF_PRODUCTS = 1.5, 1.65
SMOOTHING = 3.0  # sweeps of a step on a smoothed loss, that has two windows and is narrowed
# Of n d^2, of n d, and of a row; in double precision of n d^2.
HESSIAN, HESSIAN_VALUE, HESSIAN_ROW, HESSIAN_DOUBLE = 0.018, 0.7, 22.0, 0.034
# Of a row of a long query, and of a value; likewise for each doubling of its levels, whose sums are
# many sooner or later for the cache.
WALK_ROW, WALK = 70.0, 2.9
LEVELS_ROW, LEVELS, MANY_LEVELS_ROW, MANY_LEVELS = 4.0, 0.15, 10.0, 1.0
HESSIAN_TWO, HESSIAN_TWO_VALUES = 1.8, 0.02  # of two rows of a short query; times d
# Of a number that is added to a sparse Hessian, in a row of these or alone; and beyond that, as far
# as the result leaves the cache.
IN_ROW, IN_ROW_AFAR, ALONE, ALONE_AFAR, IN_CACHE = 0.09, 0.27, 0.4, 2.0, float(1 << 20)
DOCUMENT, DOCUMENT_SHORT, HESSIAN_NUMBER = 100.0, 20.0, 4.0  # of a row; of a number of the result
SMOOTHED = 0.25  # of that, of short queries: hardly a pair is amid a narrow smoothing
GIVEN_SWEEP, GIVEN_LAPLACIAN = 11.0, 4.0  # of a given pair, or a row
GIVEN_HESSIAN = 1.0  # times d
GIVEN_SPARSE, GIVEN_MERGED = 3.0, 5.0  # of an addition to the result, and of a value of a partner
GIVEN_SMOOTHED = 0.3  # of that, on average
TOP_SWEEP, TOP_LAPLACIAN = 1.6, 2.5  # of a pair that is looked at, a few ranks with all below
FACTOR = 0.01  # of d^3
GRAM_DENSE, GRAM_SPARSE = 0.025, 0.14  # of n^2 d, and of n times the stored values
# Of an interior-point step; of each two rows, times d; of n d^2, as in single precision, and
# passes over X for what is solved with these equations.
PAIR, PARTNER, LISTED, EQUATIONS, SOLVES = 20.0, 0.22, 7.0, 0.018, 5
ROWS_OF_BLOCK = 256  # at least, whose partners may be multiplied with all that are not, too
# Times d, of a stored value; of each two rows, times what a row stores; and of these.
STORED, PARTNER_STORED, LISTED_SPARSE = 0.045, 0.9, 34.0
# Likewise by blocks: of a pair, of the cube of the rows of a query, and products with X and X'.
PAIR_OF_BLOCKS, CUBE, PRODUCTS_OF_STEP = 11.0, 0.005, 20
QUERY_OF_BLOCKS, LEVEL_OF_BLOCKS = 2e5, 2.5e4  # whatever rows it has
# Likewise by shared features: of a pair, of each two rows, of that cube, of the cube of features,
# and passes over X.
PAIR_SHARED, IN_QUERY, INVERSE, FACTOR_SHARED, SOLVES_SHARED = 100.0, 20.0, 0.02, 0.005, 50
DESCENT, DESCENT_PAIR = 1.0, 26.0  # of a pass by slopes: of a stored value, and of a pair
PLANE, TYPICAL_PLANES = 0.43, 50  # of a feature and a plane that there is
FEW_PLANES = 33.0  # that are not worth a try where passes are dear
VECTORS = 5.0  # of a feature, for the few vectors of weights that a step works on
STEP, PRODUCT = 8e4, 1.5e4  # whatever the data are
# So many pairs for each feature double Newton steps: few are active, or in a narrow smoothing.
SCARCE, SCARCE_OF_HINGE, MOST_OFTEN = 30.0, 260.0, 4.0
ONES_OWN = 1700.0  # pairs of a row that all others of its query are compared with, which tell more
# Times as many steps; and where next to no pairs tell anything, a part of them all.
FEW_DECIDE, VERY_FEW_DECIDE, VERY_FEW = 2.0, 1.6, 0.1
CROWDED, MOST_CROWDED = 1e-3, 2.0  # pairs for each feature, that make more interior-point steps
SEPARABLE = 16.0  # likewise, more, where dense rows and features are as many

SHORT = 64  # rows of a query up to which its pairs are gone through one by one
BLOCK = 1 << 18  # numbers of a query up to which it is gone through as a block
MANY = float(1 << 21)  # sums of a walk, one for each level and feature, that caches hold
SOME_ROWS, SEED = 1024, 20141  # whose labels tell about how many there are


def in_score_space(sizes: NDArray[np.float64]) -> tuple[float, float, int, float]:
    """Return what queries of these sizes cost: `sweep`, `laplacian`, `n_short` and `n_twos`."""
    short = sizes[sizes <= SHORT]
    n_short, n_twos = int(short.sum()), float((short * (short - 1)).sum()) / 2
    n_long = int(sizes.sum()) - n_short
    sweep = SWEEP * n_long + SWEEP_SHORT * n_short + SWEEP_TWO * n_twos
    laplacian = LAPLACIAN * n_long + LAPLACIAN_SHORT * n_short + LAPLACIAN_TWO * n_twos
    return sweep, laplacian, n_short, n_twos


@record
class Costs:
    """Nanoseconds of work on data of a shape.

    Attributes
    ----------
    n, d : int
        Rows and features.
    n_stored : int
    is_large, has_walk : bool
        As of X: whether each pass is charged for, and whether Hessians walk through long queries.
    n_pairs : float
        How many there are at most.
    sweep, laplacian : float
        Value and gradient in score space, and a product there.
    n_short : int
        Rows of queries so short that their pairs are gone through one by one.
    n_twos : float
        How many times two of these rows share a query.
    n_walked : int
        Rows of queries too long for a block of an explicit Hessian.
    are_given : bool
        Whether pairs are multiplied one by one in an explicit Hessian.
    squares, cubes : float
        The sum of the squares, and of the cubes, of the numbers of rows of queries, where pairs are
        those of labels.
    n_queries : int
        Likewise, how many have two rows or more.
    n_longest : float
        Rows of the longest query.
    n_levels : float
        About how many different labels there are in the longest query, if that is walked through.
    n_shared : int
        Features that rows share, where those of one row each are left out of interior points; or 0.
    """

    n: int
    d: int
    n_stored: int
    is_large: bool
    has_walk: bool
    n_pairs: float
    sweep: float
    laplacian: float
    n_short: int = 0
    n_twos: float = 0.0
    n_walked: int = 0
    are_given: bool = False
    squares: float = 0.0
    cubes: float = 0.0
    n_queries: int = 0
    n_longest: float = 1.0
    n_levels: float = 1.0
    n_shared: int = 0

    @classmethod
    def of(cls, X: Matrix, preferences: AnyPreferences) -> Costs:
        """Count rows, values and pairs."""
        n, d = X.shape
        of_rows = n, d, X.n_stored, X.is_large, X.has_walk
        if isinstance(preferences, GivenPreferences):
            n_pairs = float(len(preferences.winner))
            sweep, laplacian = GIVEN_SWEEP * (n_pairs + n), GIVEN_LAPLACIAN * (n_pairs + n)
            return cls(*of_rows, n_pairs, sweep, laplacian, are_given=True)
        if not isinstance(preferences, Preferences):
            n_pairs = preferences.n_looked_at
            is_dense = OF_BLOCKS * X.n_stored > n * d
            sums = TOP_SWEEP * n_pairs, TOP_LAPLACIAN * n_pairs
            return cls(*of_rows, n_pairs, *sums, are_given=not is_dense)
        sizes = np.diff(preferences.groups.indptr).astype(np.float64)
        n_walked = int(sizes[sizes * d > BLOCK].sum())
        n_pairs = preferences.most_pairs
        shared = shared_columns(X, preferences)
        return cls(
            *of_rows,
            n_pairs,
            *in_score_space(sizes),
            n_walked,
            squares=float((sizes**2).sum()),
            cubes=float((sizes**3).sum()),
            n_queries=int((sizes > 1).sum()),
            n_longest=float(sizes.max(initial=1.0)),
            n_levels=levels_of_longest(preferences, sizes) if n_walked else 1.0,
            n_shared=0 if shared is None else len(shared),
        )

    def of_rows(self, n: int) -> Costs:
        """Return what so many of the rows cost, drawn from all queries, copied and dense."""
        share = n / self.n
        return replace(
            self,
            n=n,
            n_stored=n * self.d,
            is_large=False,
            n_short=round(share * self.n_short),
            n_twos=share * self.n_twos,
            n_walked=round(share * self.n_walked),
            n_levels=min(self.n_levels, n),
            sweep=share * self.sweep,
            laplacian=share * self.laplacian,
        )

    @property
    def is_dense(self) -> bool:
        """Whether every value is stored."""
        return self.n_stored == self.n * self.d

    @property
    def stores_little(self) -> bool:
        """Whether rows store so little that dense blocks of them cost more."""
        return OF_BLOCKS * self.n_stored <= self.n * self.d

    @property
    def read(self) -> float:
        """A pass over X."""
        in_memory = PASS_DENSE if self.is_dense else PASS_SPARSE
        afar = PASS_AFAR * max(self.n_stored - VALUES_IN_CACHE, 0.0)
        return (in_memory + FROM_DISK * self.is_large) * self.n_stored + afar

    @property
    def product(self) -> float:
        """A product with the Hessian, as one that may lead nowhere."""
        return RISK_OF_PRODUCTS * (2 * self.read + self.laplacian + VECTORS * self.d + PRODUCT)

    @property
    def evaluation(self) -> float:
        """Value and gradient, and some trials of a line search."""
        return 2 * self.read + 1.5 * self.sweep + VECTORS * self.d + STEP

    def step(self, kinks: bool) -> float:
        """Take a step whose direction is known; with kinks, on a smoothed loss."""
        return self.evaluation + SMOOTHING * self.sweep * kinks

    @property
    def plane(self) -> float:
        """A cutting plane, likewise."""
        return RISK_OF_PLANES * (self.evaluation + PLANE * TYPICAL_PLANES * self.d)

    def few_planes(self, n_steps: float) -> float:
        """How many planes are not worth a try in the place of so many Newton steps."""
        return FEW_PLANES if self.is_large else 0.0

    def newton(self, n_steps: float, kinks: bool) -> float:
        """Newton steps by the Hessian of all features; with kinks, of smoothed ones."""
        return n_steps * (self.hessian(kinks) + FACTOR * self.d**3 + self.step(kinks))

    def row_space(self, n_steps: float) -> float:
        """Newton steps by the Hessian of the space of rows."""
        step = HESSIAN_DOUBLE * self.n**3 + FACTOR * self.n**3 + 2 * self.read + self.evaluation
        return self._gram + n_steps * step

    def interior_points(self, n_steps: float) -> float:
        """Interior-point steps in that space, or with fewer features than rows in that of these."""
        if self.n_shared > 0:
            return n_steps * self._step_of_shared(self.n_shared)
        smaller = min(self.n, self.d)
        step = PAIR * self.n_pairs + FACTOR * smaller**3 + self.evaluation
        if self.n <= self.d:
            return self._gram + n_steps * (step + SOLVES * self.read)
        twos = 2 * self.n_pairs + self.n
        if self.stores_little:
            products = STORED * self.n_stored * self.d
            products += (PARTNER_STORED * self._of_a_row + LISTED_SPARSE) * twos
        else:
            full = max(self.squares, ROWS_OF_BLOCK * self.n)
            partners = min(PARTNER * twos, EQUATIONS * full) * self.d
            products = EQUATIONS * self.n * self.d**2 + partners + LISTED * twos
        return n_steps * (step + products + SOLVES * self.read)

    def _step_of_shared(self, d: int) -> float:
        """Return what an interior-point step by so many shared features costs."""
        twos = PARTNER_STORED * self._of_a_row + LISTED_SPARSE + IN_QUERY
        of_queries = twos * self.squares + INVERSE * self.cubes
        products = STORED * self.n_stored * d + SOLVES_SHARED * self.read
        pairs = (PAIR + PAIR_SHARED) * self.n_pairs
        return pairs + of_queries + products + FACTOR_SHARED * d**3 + self.evaluation

    def interior_blocks(self, n_steps: float) -> float:
        """Interior-point steps on blocks of pairs, a matrix for each query."""
        products = PRODUCTS_OF_STEP * (2 * self.read + VECTORS * self.d)
        blocks = PAIR_OF_BLOCKS * self.n_pairs + CUBE * self.cubes
        blocks += QUERY_OF_BLOCKS * self.n_queries
        blocks += LEVEL_OF_BLOCKS * min(self.n_levels * self.n_queries, self.n)
        return n_steps * (blocks + products + self.evaluation)

    def descent(self, n_passes: float) -> float:
        """Go over pairs in the dual so many times, query by query."""
        return n_passes * (DESCENT * self.n_stored + DESCENT_PAIR * self.n_pairs)

    def scarcity(self, kinks: bool) -> float:
        """Return how many times as many Newton steps few pairs take as many do."""
        scarce = SCARCE_OF_HINGE if kinks else SCARCE
        return min(1 + scarce * min(self.n, self.d) / max(self._n_telling, 1.0), MOST_OFTEN)

    @property
    def few_rows_decide(self) -> bool:
        """Whether few rows of long queries have all pairs, so that these are scarce for the hinge.

        A sample of rows then tells next to nothing.
        """
        are_very_few = self._n_telling <= VERY_FEW * self.n_pairs
        least = VERY_FEW_DECIDE if are_very_few else FEW_DECIDE
        return self._n_telling < self.n_pairs and self.scarcity(kinks=True) > least

    @property
    def _n_telling(self) -> float:
        """How many pairs there are, of each row that all others are compared with so many."""
        return min(self.n_pairs, ONES_OWN * self.n_pairs / self.n_longest)

    def crowding(self, kinks: bool) -> float:
        """Likewise of interior points, the more pairs a feature has; of the hinge, if very many."""
        crowding = CROWDED * self.n_pairs / max(min(self.n, self.d), 1)
        return max(crowding, 1.0) if kinks else min(1 + crowding, MOST_CROWDED)

    @property
    def separability(self) -> float:
        """Likewise without kinks, where nearly all pairs keep the margin, so that few count.

        Dense rows that are about as many as features can nearly all be ranked by these.
        """
        if self.n_stored < DENSE * self.n * self.d:
            return 1.0
        return 1 + SEPARABLE * (min(self.n, self.d) / max(self.n, self.d)) ** 2

    def hessian(self, kinks: bool) -> float:
        """Form the Hessian of all features; with kinks, of a smoothed loss."""
        if self.are_given and self.stores_little:
            return (GIVEN_SMOOTHED if kinks else 1.0) * self._sparse_pairs
        if self.are_given:
            return self._dense_blocks + GIVEN_HESSIAN * (self.n_pairs + self.n) * self.d
        if self.stores_little:
            return self._sparse_hessian(kinks)
        # Hardly a pair is amid a narrow smoothing.
        pairs = (HESSIAN_TWO + HESSIAN_TWO_VALUES * self.d) * self.n_twos * (not kinks)
        return self._dense_blocks + self._walk + pairs

    def _sparse_hessian(self, kinks: bool) -> float:
        """Form the Hessian of sparse rows, whose every value adds a row to it.

        In short queries, numbers are added alone where the rows of a query store few in all.
        """
        values, n_short = self._of_a_row, max(self.n_short, 1)
        afar = max(1 - IN_CACHE / max(self.d, 1) ** 2, 0.0)
        row = (IN_ROW + IN_ROW_AFAR * afar) * self.d
        of_query = values * (1 + 2 * self.n_twos / n_short)
        alone = (ALONE + ALONE_AFAR * afar) * of_query
        of_long = (self.n - self.n_short) * ((values + 2) * row + DOCUMENT)
        of_short = self.n_short * (values * min(row, alone) + DOCUMENT_SHORT)
        part = SMOOTHED if kinks else 1.0
        return of_long + part * of_short + HESSIAN_NUMBER * self.d**2 + self._of_levels

    @property
    def _walk(self) -> float:
        """What long queries cost beyond their dense blocks."""
        if not self.has_walk:
            return LAPLACIAN * self.n_walked * self.d
        return self.n_walked * (WALK_ROW + WALK * self.d) + self._of_levels

    @property
    def _of_levels(self) -> float:
        """What their levels cost, each time that these are doubled."""
        afar = max(1 - MANY / max(self.n_levels * self.d, 1.0), 0.0)
        row = LEVELS_ROW + (MANY_LEVELS_ROW - LEVELS_ROW) * afar
        value = LEVELS + (MANY_LEVELS - LEVELS) * afar
        return float(self.n_walked * np.log2(max(self.n_levels, 1.0)) * (row + value * self.d))

    @property
    def _dense_blocks(self) -> float:
        """The Hessian by blocks of dense rows, in single precision."""
        return self.n * (HESSIAN * self.d**2 + HESSIAN_VALUE * self.d + HESSIAN_ROW)

    @property
    def _sparse_pairs(self) -> float:
        """The Hessian of pairs that are listed, by sparse products.

        A row and its partners store so many columns together, if any may be among them.
        """
        n, values = min(self.n, 2 * self.n_pairs), self._of_a_row
        merged = values * (n + 2 * self.n_pairs)
        columns = self.d * -np.expm1(-merged / (max(n, 1) * max(self.d, 1)))
        return float(GIVEN_SPARSE * n * values * columns + GIVEN_MERGED * merged + self.d**2)

    @property
    def _of_a_row(self) -> float:
        """How many values a row stores."""
        return self.n_stored / max(self.n, 1)

    @property
    def _gram(self) -> float:
        if self.n_stored >= DENSE * self.n * self.d:
            return GRAM_DENSE * self.n**2 * self.d
        return GRAM_SPARSE * self.n * self.n_stored


def levels_of_longest(preferences: Preferences, sizes: NDArray[np.float64]) -> float:
    """Return about how many different labels the longest query has, as some of its rows tell."""
    groups, longest = preferences.groups, int(np.argmax(sizes))
    first, n = int(groups.indptr[longest]), int(sizes[longest])
    places = first + np.random.PCG64(SEED).random_raw(SOME_ROWS) % n
    rows = places if groups.order is None else groups.order[places]
    n_seen = len(np.unique(preferences.y[rows]))
    if 2 * n_seen <= SOME_ROWS:
        return float(n_seen)
    # Of many, two rows of each L pairs have the same.
    return min(SOME_ROWS**2 / (2 * max(SOME_ROWS - n_seen, 1)), float(n))
