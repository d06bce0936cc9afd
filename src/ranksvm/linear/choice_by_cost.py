"""Which solver suits which data, by what each costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InputError
from ..pairs.given import AnyPreferences
from ..pairs.preferences import Preferences
from ..records import record
from ..solvers import PlanesFirst, ProductsFirst
from ..solvers.products_in_turn import DOUBTFUL
from ..solvers.turns import WEAK, SmoothSolver
from ..threads import resolve_threads
from .costs import Costs
from .design_matrix import DesignMatrix
from .dot_products import DENSE
from .matrix import Matrix
from .parameters import Parameters
from .row_space import RowSpace, have_little_in_common, lists_pairs
from .solver_choice import FEW_PRODUCTS, MOST_FEATURES, SolverChoice
from .stages import DescentFirst, InteriorLast, SampleFirst, Where

STEPS, STEPS_OF_HINGE = 6, (5, 1.3)  # of Newton's method; for the hinge, and more for each digit
# Of a sample: what a step by it costs at most not to be preceded, in products; how many there are
# on all rows, and what each of them takes besides, in products.
LITTLE_STEP, STEPS_BY_SAMPLE, PRODUCTS_OF_STEP = 1.8, 4, 3.6
STEPS_OF_SAMPLE = 10  # of Newton's method, to its optimum, with kinks
UNSURE = 2.0  # times what Newton steps cost, beside interior points
SMALL = 3.5e6  # nanoseconds of Newton steps, to which so little work is left as it is
MANY_STEPS, MOST_STEPS = 9, 50  # of Newton's method, before and after which interior points serve
SOLVING = (4.0, 3.0)  # products that solve for a step in the place of a Hessian, and with kinks
FEW_IN_ROWS = 160
CHEAP_PLANE = 1.5  # products
# For the hinge, where products do well; how much cheaper they are to be to go first. Where
# regularisation is weak, they may be dearer, but by no more than this; of sparse rows, for no more
# digits than that, by any factor.
PRODUCTS_PER_DIGIT, CHEAPER, FEW_DIGITS, DEARER = 100, 2.0, 4.0, 4.0
FAR_DEARER = 4.0  # times these, what planes are tried for beside them
NOT_STRONG = 3e-2  # regularisation, for products of the hinge before Newton steps by features
BEFORE_POINTS = 0.4  # of the products that interior points of dense rows are worth: as many begin
PROXIMAL_PRODUCTS = 50  # likewise, of proximal_products for the squared hinge; twice for the hinge
ENOUGH_PLANES = 100.0  # of Newton steps of the squared hinge, for some to go before these
# Of descent; times the products that do well, which it costs at most; and times as many passes in
# which it has to end, without kinks, where products may end sooner, and with.
PASSES, PASSES_PER_DIGIT, DEAR_PASSES, MANY_PASSES = 50, 17, 10.0, (2.0, 20.0)
MOST_PRODUCTS, OF_PAIR, OF_FEATURE = 1 << 23, 4, 20  # of rows of a query, and what counts as many
# Few rows have so many planes at least, which are exact, if a plane takes less than that.
FEW_ROWS, PLANES_OF_FEW_ROWS, LITTLE = 1000, 100.0, 8e5
# Likewise where few rows decide; times their worth at most, unless these are so many.
PLANES_OF_A_FEATURE, MORE, MANY_PLANES = 6.0, 4.0, 400.0


def costs_of(X: Matrix, preferences: AnyPreferences) -> Costs:
    """Return what work on these data costs where X is."""
    kind: type[Costs] = X.costs or Costs
    return kind.of(X, preferences)


def choose_solver(
    X: Matrix,
    preferences: AnyPreferences,
    parameters: Parameters,
    n_sampled: int = 0,
    costs: Costs | None = None,
) -> SolverChoice:
    """Choose solvers by cost, where "auto" leaves the choice.

    What is known beforehand are Newton steps with an explicit Hessian: that of the features up to
    8,192 of these, or with fewer rows than features that of the space of the rows
    (`ranksvm.linear.row_space`), whichever costs less (`ranksvm.linear.costs`); for the hinge with
    few pairs, interior points as well, by the features that rows share where many are of one row
    alone (`ranksvm.linear.shared_features`). C and scales hardly matter to them. How many planes or
    products there will be is a guess; so planes are charged with 1.5 times what they take, and
    products, which do not add up, with 1.65 times; the numbers of them here are of those. Newton
    steps or interior points are taken

    - at once where a sample serves, whose Hessian costs next to nothing (`samples_first`), and
      after it where a step by that has to be corrected by as many products as one of these costs;
      but where a step by the sample costs as much as some products, products of the squared loss
      begin as long as they promise to be quicker than all of these; and where few pairs decide, of
      which a sample has hardly any, planes of the hinge, however weak regularisation is,
    - at once for a smooth loss where six of them cost no more than 35 products with the Hessian;
      those by features form the first one alone where it costs four products, or three with kinks,
    - likewise where they are those of few rows and cost no more than 160; but these begin with
      planes, which cost as little as products there, where regularisation is so strong that few
      products would do,
    - where pairs of the squared hinge are so few that interior points cost less, these in their
      place, or up to twice as much with fewer features than rows, but products before them where
      rows are dense; and where they cost no more than 50 steps, after these, which take many where
      rows can nearly all be ranked (`ranksvm.linear.stages.InteriorLast`); neither these
      nor planes where Newton steps, which end exactly, cost next to nothing,
    - at once for the hinge loss where X is large, so that its passes are charged for as if they
      came from disk, and they cost no more than 33 planes; or on a GPU, if no more than four each,
    - else where solvers that suit data of moderate scales and regularisation do not promise to be
      quicker (`ranksvm.solvers.patience.Patience`): products with the Hessian for the squared loss
      (`ProductsFirst`), and after these planes, if rows are dense and Newton steps cost 100 of
      them; planes for the hinge (`PlanesFirst`), with products tried between them, and after them
      as well, where some hundreds of them cost less than half the Newton steps, or these are by
      features and regularisation is not strong. Where it is weak, planes of the hinge go only as
      far as each halves the value, and then products, unless these hundreds cost over four times
      the Newton steps and rows are dense or a gap below 1e-4 is asked for, or dense rows have
      interior points that cost less than half of them; where there is next to none, products do not
      either. Fewer than 1,000 rows begin with planes however weak it is, unless they are sparse and
      these hundreds cost no more than interior points.

    Where an explicit Hessian is too large, products remain, in turn with planes for the hinge; and
    where either leads nowhere, blocks of pairs of long queries, if rows are sparse.

    On short queries of sparse rows, passes over the pairs in the dual
    (`ranksvm.linear.dual_descent`) go before all of these, but planes for the hinge and products
    that promise to be quicker, where a hundred of them (for a gap of 1e-3) cost no more than Newton
    steps, nor than thousands of products; as long as they promise to end before Newton steps would,
    and within two hundred of them for the squared hinge, or two thousand for the hinge.
    """
    kinks = parameters.loss == "hinge"
    costs = costs or costs_of(X, preferences)
    if not parameters.conditions.are_none:
        return _conditional(X, costs, parameters, n_sampled > 0)
    if parameters.solver != "auto":
        return SolverChoice(parameters.solver, kinks)
    explicit = _explicit(X, preferences, costs, parameters)
    descent, n_passes = _descent(X, preferences, costs, parameters, explicit.cost)
    first = DescentFirst(n_passes, descent / costs.product) if n_passes > 0 else None
    if kinks:
        choice = _of_hinge(costs, parameters, explicit, descent, is_alone=first is None)
    else:
        choice = _of_squared_hinge(X, preferences, costs, parameters, explicit)
    if explicit.name == "newton":
        choice = replace(choice, n_products=_in_place_of_hessian(costs, kinks))
    if n_sampled > 0 and explicit.name == "newton" and not (kinks and costs.few_rows_decide):
        n_products = 0.0 if kinks else _before_sample(costs, n_sampled)
        of_sample = costs.of_rows(n_sampled).newton(STEPS_OF_SAMPLE, kinks)
        step = costs.newton(1, kinks) / costs.product
        sample = SampleFirst(n_products, step, of_sample / costs.plane)
        return replace(choice.without_planes(), sample=sample)
    if choice.name == "trust_region" and choice.planes is not None and descent == np.inf:
        planes = replace(choice.planes, last=_blocks(X, preferences, costs, parameters))
        choice = replace(choice, planes=planes)
    return replace(choice, descent=first)


@record
class _Explicit:
    """Newton steps with an explicit Hessian, or interior points: which, and at what cost."""

    name: str
    cost: float

    def in_products(self, costs: Costs, cost: float) -> float:
        """Return how many products with the Hessian cost as much; none where these remain."""
        return cost / costs.product if self.name != "trust_region" else 0.0


def _in_place_of_hessian(costs: Costs, kinks: bool) -> float:
    """Return how many products cost as much as a Hessian, if enough to solve for a step; else 0."""
    n_products = costs.hessian(kinks) / costs.product
    serve = n_products >= SOLVING[kinks] and not costs.few_rows_decide
    return n_products if serve else 0.0


def _before_sample(costs: Costs, n_sampled: int) -> float:
    """Return how many products steps by a sample are worth; 0 where such a step costs about one.

    Those that find the minimum of the sample are taken on its rows alone; the few from there on are
    each a pass over all rows, and a few products that correct it.
    """
    step = costs.of_rows(n_sampled).newton(1, kinks=False)
    if step <= LITTLE_STEP * costs.product:
        return 0.0
    steps = STEPS * step + STEPS_BY_SAMPLE * (step + costs.evaluation)
    return steps / costs.product + STEPS_BY_SAMPLE * PRODUCTS_OF_STEP


def _of_squared_hinge(
    X: Matrix,
    preferences: AnyPreferences,
    costs: Costs,
    parameters: Parameters,
    explicit: _Explicit,
) -> SolverChoice:
    """Choose between Newton steps, interior points in their place, planes and products."""
    steps, cost = _steps(costs, parameters), explicit.cost
    is_much = cost > SMALL and isinstance(X, DesignMatrix)  # else Newton's steps end exactly
    more = max(costs.separability / costs.scarcity(False), 1.0) if is_much else 1.0
    are_many = is_much and steps * more > MANY_STEPS
    is_known = are_many or costs.n_shared > 0
    by_pairs = _interior_points(X, preferences, costs) if is_known else np.inf
    n_steps = steps * by_pairs / cost if cost < np.inf else np.inf
    is_less, cost = n_steps < steps, min(more * cost, by_pairs)
    in_rows = explicit.name == "row_space"
    n_products = explicit.in_products(costs, cost)
    by_rows = in_rows or (is_less and not costs.stores_little)
    few = (FEW_IN_ROWS * more if by_rows else FEW_PRODUCTS) * costs.scarcity(False)
    is_cheap = costs.plane <= CHEAP_PLANE * costs.product or n_products <= few
    by_planes = by_rows and is_much and is_cheap
    begins = is_less and _is_dense(costs) and n_products <= few
    is_first = is_less or (not in_rows and n_steps < UNSURE * steps)
    planes = PlanesFirst(cost / costs.plane, if_fewer=n_products)
    n_after = _planes_after(costs, cost)
    n_begin = BEFORE_POINTS * n_products if begins else n_products
    return SolverChoice(
        explicit.name,
        kinks=False,
        planes=planes if by_planes and not begins else None,
        products=ProductsFirst(n_begin, solves_models=not is_first, planes=n_after),
        where=Where(always=n_products > few, from_zero=begins),
        interior=InteriorLast(n_steps, is_first, n_after) if n_steps <= MOST_STEPS else None,
    )


def _planes_after(costs: Costs, cost: float) -> float:
    """Return how many planes steps are worth, if these may go on after products; else 0."""
    n_planes = cost / costs.plane
    return n_planes if _is_dense(costs) and n_planes >= ENOUGH_PLANES else 0.0


def _is_dense(costs: Costs) -> bool:
    return costs.n_stored >= DENSE * costs.n * costs.d


def _of_hinge(
    costs: Costs, parameters: Parameters, explicit: _Explicit, descent: float, is_alone: bool
) -> SolverChoice:
    """Choose between smoothed Newton steps, or interior points, and planes and products."""
    cost, name = explicit.cost, explicit.name
    by_products, is_dense = _products(costs, parameters), _is_dense(costs)
    n_typical = by_products / costs.product
    is_little = by_products <= DEARER * cost
    is_little |= not is_dense and _digits(parameters) <= FEW_DIGITS
    may_be_few = not is_dense and by_products <= cost
    few_decide = costs.few_rows_decide  # where products do no better than steps
    others = cost, np.inf if few_decide else by_products, descent
    n_planes = _planes_worth(costs, min(others), _steps(costs, parameters))
    unless_weak = (costs.n >= FEW_ROWS or may_be_few) and not few_decide
    planes = PlanesFirst(
        n_planes,
        unless_weak=unless_weak,
        products=n_typical if name == "trust_region" and is_alone else None,
        more_if_weak=costs.n < costs.d,
        ends_at_once=few_decide,
        n_products=0.0 if few_decide else min(others) / costs.product,
    )
    choice = SolverChoice(name, kinks=True, planes=planes if n_planes > 0 else None)
    if name == "trust_region":
        return choice
    by_points = name == "row_space" and is_dense
    n_products = explicit.in_products(costs, cost) * (BEFORE_POINTS if by_points else 1.0)
    is_far_dearer = n_products > FAR_DEARER * n_typical
    products = ProductsFirst(
        n_products,
        planes=n_planes if is_far_dearer else 0.0,
        unsure=DOUBTFUL * n_typical if is_far_dearer else np.inf,
    )
    where = Where(
        always=CHEAPER * by_products < cost,
        if_weak=is_little and not (by_points and by_products > CHEAPER * cost),
        weak=0.0 if not unless_weak else NOT_STRONG if name == "newton" else WEAK,
    )
    return replace(choice, products=products, where=where)


def _descent(
    X: Matrix, preferences: AnyPreferences, costs: Costs, parameters: Parameters, cost: float
) -> tuple[float, float]:
    """Return what descent in the dual costs, inf where it may not; and its passes, if worth it."""
    if not _may_descend(X, preferences, costs):
        return np.inf, 0.0
    passes = PASSES + PASSES_PER_DIGIT * _digits(parameters)
    descent, least = costs.descent(passes), min(cost, DEAR_PASSES * _products(costs, parameters))
    if costs.d <= MOST_FEATURES:
        least = min(least, costs.newton(_steps(costs, parameters), parameters.loss == "hinge"))
    if descent > least:
        return descent, 0.0
    many = MANY_PASSES[parameters.loss == "hinge"]
    return descent, passes * min(many, cost / descent)


def _may_descend(X: Matrix, preferences: AnyPreferences, costs: Costs) -> bool:
    """Say whether rows are sparse, with labels in queries so short that pairs may be listed.

    The points that descent combines are some numbers for each pair, and for each feature.
    """
    is_sparse = not (_is_dense(costs) or costs.is_large)
    most = max(costs.squares, OF_PAIR * costs.n_pairs, OF_FEATURE * costs.d)
    on_host = isinstance(X, DesignMatrix) and isinstance(preferences, Preferences)
    return on_host and is_sparse and most <= MOST_PRODUCTS


def _blocks(
    X: Matrix, preferences: AnyPreferences, costs: Costs, parameters: Parameters
) -> SmoothSolver | None:
    """Return blocks of pairs, where those of long queries of sparse rows are few enough."""
    from .composed_solvers import blocks_last, suits_blocks_of_pairs  # which few problems need

    if not (isinstance(X, DesignMatrix) and suits_blocks_of_pairs(X, preferences, costs)):
        return None
    n_threads = resolve_threads(parameters.n_threads)
    return blocks_last if have_little_in_common(X, n_threads) else None


def _interior_points(X: Matrix, preferences: AnyPreferences, costs: Costs) -> float:
    """Return what interior points of the squared hinge cost; inf where pairs are too many."""
    in_rows = RowSpace.suits(X) and costs.n <= costs.d
    if not (in_rows or lists_pairs(X, preferences)):
        return float("inf")
    from .composed_solvers import INTERIOR_STEPS, MOST_PAIRS  # which few problems need

    n_steps = costs.crowding(kinks=False) * INTERIOR_STEPS
    return costs.interior_points(n_steps) if costs.n_pairs <= MOST_PAIRS else float("inf")


def _planes_worth(costs: Costs, cost: float, n_steps: float) -> float:
    """Return how many planes other work is worth, from which on they are given up: maybe none."""
    n_planes = cost / costs.plane
    if n_planes <= costs.few_planes(n_steps):
        return 0.0
    if costs.n < FEW_ROWS and costs.plane < LITTLE:
        return max(n_planes, PLANES_OF_FEW_ROWS)
    if costs.few_rows_decide:
        most = min(PLANES_OF_A_FEATURE * costs.d, MORE * n_planes, MANY_PLANES)
        return max(n_planes, most)
    return n_planes


def _conditional(X: Matrix, costs: Costs, parameters: Parameters, has_sample: bool) -> SolverChoice:
    """Choose a solver for a penalty with kinks or bounds: by an explicit Hessian, or by products.

    The first where its steps cost less than the products that are typical; but in the space of the
    rows where these are few and dense. A sample goes before either where it serves.
    """
    from .composed_solvers import PROXIMAL_SOLVERS  # likewise

    name, kinks = parameters.solver, parameters.loss == "hinge"
    samples = False
    if name == "auto":
        products = PROXIMAL_PRODUCTS * _digits(parameters) * costs.product * (2 if kinks else 1)
        explicit = costs.newton(_steps(costs, parameters), kinks)
        is_small = X.shape[1] <= MOST_FEATURES and explicit <= products
        few_rows = RowSpace.suits_columns(X)
        samples = has_sample and not few_rows
        name = "row_space" if few_rows else "newton" if is_small else "trust_region"
    if name not in PROXIMAL_SOLVERS:
        raise InputError(
            f"solver={name!r} is for the penalty 0.5 |w|^2 alone; with bounds, a prior, l1_ratio "
            f"or penalty_weights, use 'auto' or {' or '.join(map(repr, PROXIMAL_SOLVERS))}"
        )
    sample = SampleFirst() if samples else None
    return SolverChoice(name, kinks, sample=sample, is_proximal=True)


def _products(costs: Costs, parameters: Parameters) -> float:
    """Return what products cost where they do well."""
    return PRODUCTS_PER_DIGIT * _digits(parameters) * costs.product


def _digits(parameters: Parameters) -> float:
    """Return how many digits the gap is to have."""
    return float(np.clip(-np.log10(max(parameters.tol, 1e-300)), 1, 9))


def _steps(costs: Costs, parameters: Parameters) -> float:
    """Return how many Newton steps that takes: more where pairs are few."""
    steps, kinks = float(STEPS), parameters.loss == "hinge"
    if kinks:
        steps = STEPS_OF_HINGE[0] + STEPS_OF_HINGE[1] * _digits(parameters)
    return steps * costs.scarcity(kinks)


def _explicit(
    X: Matrix, preferences: AnyPreferences, costs: Costs, parameters: Parameters
) -> _Explicit:
    """Return the cheaper kind of explicit Newton steps."""
    n, d = X.shape
    n_steps, kinks = _steps(costs, parameters), parameters.loss == "hinge"
    options = {"trust_region": np.inf}
    if d <= MOST_FEATURES:
        options["newton"] = costs.newton(n_steps, kinks)
    if kinks and (RowSpace.suits(X) or lists_pairs(X, preferences)):
        from . import composed_solvers as few_rows  # which few problems need

        by_blocks = few_rows.suits_blocks_of_pairs(X, preferences, costs)
        n_threads = resolve_threads(parameters.n_threads)
        if by_blocks and have_little_in_common(X, n_threads):
            options["row_space"] = costs.interior_blocks(few_rows.INTERIOR_STEPS)
        elif costs.n_pairs <= few_rows.MOST_PAIRS:
            dearer = few_rows.DEARER_IN_LIST if by_blocks else 1.0
            if costs.n_shared > 0:
                dearer = few_rows.DEARER_IF_SHARED
            n_steps_inside = costs.crowding(kinks) * few_rows.INTERIOR_STEPS
            options["row_space"] = dearer * costs.interior_points(n_steps_inside)
    if RowSpace.suits(X) and n < d:
        options.setdefault("row_space", costs.row_space(n_steps))
    # Where interior points could do, Newton steps are often short, and form Hessians in vain.
    unsure = min(UNSURE, costs.scarcity(kinks)) if kinks else 1.0
    doubled = options | {"newton": unsure * options.get("newton", np.inf)}
    name = min(doubled, key=doubled.__getitem__)
    return _Explicit(name, options[name])
