"""Large X is charged for as if it came from disk, and work on a GPU for what starts it."""

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ranksvm.arrays.costs import GpuCosts
from ranksvm.linear import costs, matrix
from ranksvm.linear.choice_by_cost import choose_solver, costs_of
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import PlanesFirst, Progress, newton, planes_in_turn, trust_region

ROWS = 12_000


@dataclass
class Rows:
    """What a choice asks of X."""

    shape: tuple[int, int]
    share: float = 1.0
    has_walk: bool = True
    costs: type | None = None

    @property
    def is_large(self):
        return self.n_stored >= matrix.LARGE

    @property
    def n_stored(self):
        return round(self.share * self.shape[0] * self.shape[1])


def choice(X, loss, tol=1e-6, rows_of_a_query=120):
    rng = np.random.default_rng(0)
    queries = np.arange(ROWS) // rows_of_a_query
    preferences = Preferences.from_labels(rng.integers(0, 5, ROWS), queries)
    return choose_solver(X, preferences, Parameters(loss=loss, tol=tol))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_products_go_before_steps_by_a_sample_that_costs_as_much(loss):
    rng = np.random.default_rng(0)
    few, many = (
        choose_solver(X, Preferences.from_labels(y), Parameters(loss=loss), n_sampled=20 * d)
        for d in (40, 800)
        for X, y in [(Rows((200_000, d)), rng.standard_normal(200_000))]
    )
    assert few.sample is not None
    assert many.sample is not None
    assert few.sample.n_products == 0
    assert (many.sample.n_products > 10) == (loss == "squared_hinge")


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_planes_go_first_unless_passes_are_dear(share, monkeypatch):
    X = Rows((ROWS, 136), share)
    in_memory = choice(X, "hinge")
    assert in_memory.planes.work > 50
    monkeypatch.setattr(matrix, "LARGE", X.n_stored + 1)
    assert repr(choice(X, "hinge")) == repr(in_memory)
    monkeypatch.setattr(matrix, "LARGE", X.n_stored)
    assert (choice(X, "hinge").name, choice(X, "hinge").planes) == ("newton", None)


def test_products_are_worth_fewer_where_passes_are_dear(monkeypatch):
    X = Rows((ROWS, 3000), 0.01)
    before = choice(X, "squared_hinge").products.work
    monkeypatch.setattr(matrix, "LARGE", 1)
    assert 0 < choice(X, "squared_hinge").products.work < before / 3


def test_planes_go_first_where_a_hessian_is_dear_as_well(monkeypatch):
    monkeypatch.setattr(matrix, "LARGE", 1)
    assert choice(Rows((ROWS, 3000)), "hinge").planes.work > 50


def test_sweeps_for_each_column_are_dearer_than_a_walk():
    walk, sweeps = (
        choice(Rows((ROWS, 100), has_walk=has_walk), "squared_hinge", rows_of_a_query=ROWS)
        for has_walk in (True, False)
    )
    assert (walk.name, sweeps.name) == ("newton", "newton")
    assert 2 * walk.products.work < sweeps.products.work
    assert sweeps.where.always


def test_more_planes_are_worth_trying_where_few_pairs_decide():
    few, many = (choice(Rows((ROWS, 136)), "hinge", rows_of_a_query=k).planes.work for k in (2, 60))
    assert few > 2 * many


def turns_of(history):
    return [name for name, _ in groupby(line.solver for line in history)]


def planes_end_as_soon_as_one_does_not_halve(history):
    values = np.array([line.value for line in history if line.solver == "bundle"])
    falls = values[1:] <= planes_in_turn.HALF * values[:-1]
    return falls[:-1].all() and not falls[-1]


@pytest.mark.parametrize(
    ("n_features", "density", "C", "tol", "second"),
    [
        (24, 1.0, 1e-3, 1e-3, "bundle"),
        (24, 1.0, 10.0, 1e-3, "newton"),
        (24, 1.0, 10.0, 1e-6, "newton"),
        (120, 1.0, 10.0, 1e-3, "trust_region"),
        (60, 0.09, 100.0, 1e-3, "trust_region"),
        (60, 0.09, 100.0, 1e-6, "newton"),
        (60, 0.09, 1e6, 1e-3, "newton"),
    ],
)
def test_weak_regularization_has_products_go_first_unless_steps_are_cheap(
    n_features, density, C, tol, second
):
    """Those of sparse rows for few digits, whatever steps cost."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, n_features)) * (rng.random((3_000, n_features)) < density)
    y = X @ rng.normal(size=n_features) + 3 * rng.normal(size=3_000)
    X = X if density == 1 else csr_matrix(X)
    preferences = Preferences.from_labels(y, np.arange(3_000) // 30)
    parameters = Parameters(loss="hinge", C=C, tol=tol)
    result = make_problem(DesignMatrix.from_array(X), preferences, parameters).minimize(parameters)
    assert str(result.status) == "converged"
    assert turns_of(result.history)[:2] == list(dict.fromkeys(["bundle", second]))
    assert second == "bundle" or planes_end_as_soon_as_one_does_not_halve(result.history)


@pytest.mark.parametrize("is_halved", [False, True])
def test_planes_that_halve_the_value_go_on_however_weak_regularization_is(is_halved, monkeypatch):
    """All pairs can be ranked by few features: a few planes find how."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_500, 3))
    X[:, 0] = rng.integers(0, 4, 1_500)
    objective = make_problem(
        DesignMatrix.from_array(X),
        Preferences.from_labels(X[:, 0]),
        Parameters(loss="hinge", C=1e6),
    ).objective
    if not is_halved:
        monkeypatch.setattr(planes_in_turn, "HALF", 0.0)
    progress = Progress()
    result = PlanesFirst(80.0, unless_weak=True).before(newton)(objective, np.zeros(3), progress)
    assert str(result.status) == "converged"
    assert 2 * (1 - result.history[0].dual_gap) < planes_in_turn.WEAK
    assert turns_of(result.history) == ["bundle", *["newton"] * (not is_halved)]


def test_few_rows_have_planes_go_first_however_weak_regularization_is():
    preferences = Preferences.from_labels(np.arange(500) % 3, np.arange(500) // 10)
    choice = choose_solver(Rows((500, 24)), preferences, Parameters(loss="hinge", C=1e3))
    assert choice.planes is not None
    assert not choice.planes.unless_weak


@pytest.mark.parametrize(("C", "last"), [(1e-5, "bundle"), (10.0, "row_space")])
def test_strong_regularization_has_planes_go_first_in_few_rows(C, last):
    rng = np.random.default_rng(0)
    X = DesignMatrix.from_array(rng.normal(size=(300, 2_000)))
    preferences = Preferences.from_labels(rng.integers(0, 3, 300))
    parameters = Parameters(C=C)
    choice = choose_solver(X, preferences, parameters)
    assert choice.name == "row_space"
    assert choice.planes is not None
    result = make_problem(X, preferences, parameters).minimize(parameters)
    assert str(result.status) == "converged"
    solvers = [line.solver for line in result.history]
    assert solvers[0] == "bundle"
    assert set(solvers[1:]) == {last}  # the first bound tells


@pytest.mark.parametrize("is_sparse", [False, True])
def test_interior_points_of_few_dense_rows_do_without_products(is_sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3_000)) * (rng.random((200, 3_000)) < (0.05 if is_sparse else 1.0))
    X = DesignMatrix.from_array(csr_matrix(X) if is_sparse else X)
    preferences = Preferences.from_labels(rng.integers(0, 3, 200), np.arange(200) // 20)
    found = choose_solver(X, preferences, Parameters(loss="hinge"))
    assert (found.name, found.where.if_weak) == ("row_space", is_sparse)


@pytest.mark.parametrize(("C", "second"), [(1e-3, "bundle"), (1e4, "trust_region")])
def test_products_follow_at_once_where_no_hessian_fits_and_regularization_is_weak(C, second):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 9_000, (10_000, 5))
    X = DesignMatrix.from_array(
        csr_matrix((np.ones(50_000), columns.ravel(), np.arange(0, 50_001, 5)), (10_000, 9_000))
    )
    preferences = Preferences.from_labels(rng.integers(0, 2, 10_000), np.arange(10_000) // 5000)
    parameters = Parameters(loss="hinge", C=C, max_iter=6)
    assert choose_solver(X, preferences, parameters).name == "trust_region"
    history = make_problem(X, preferences, parameters).minimize(parameters).history
    assert turns_of(history)[:2] == list(dict.fromkeys(["bundle", second]))
    assert second == "bundle" or planes_end_as_soon_as_one_does_not_halve(history)


def test_steps_begin_at_zero_after_planes_that_are_far_off(monkeypatch):
    rng = np.random.default_rng(0)
    objective = make_problem(
        DesignMatrix.from_array(rng.normal(size=(60, 9))),
        Preferences.from_labels(rng.integers(0, 3, 60)),
        Parameters(loss="hinge", C=100.0),
    ).objective
    starts = []

    def fallback(smoothed, w0, progress):
        starts.append(w0)
        return newton(smoothed, w0, progress)

    for far in (0.0, 1.0):
        monkeypatch.setattr(planes_in_turn, "FAR_OF_PLANES", far)
        solver = PlanesFirst(0.0).before(fallback)
        result = solver(objective, np.zeros(9), Progress(tol=1e-9))
        assert str(result.status) == "converged"
    assert not starts[0].any()
    assert starts[1].any()


def hinge_of_noise():
    rng = np.random.default_rng(0)
    return make_problem(
        DesignMatrix.from_array(rng.normal(size=(200, 30))),
        Preferences.from_labels(rng.normal(size=200)),
        Parameters(loss="hinge", C=100.0),
    ).objective


@pytest.mark.parametrize(
    ("products", "more_if_weak", "last"),
    [
        (100.0, True, "bundle"),
        (100.0, False, "trust_region"),
        (1000.0, True, "trust_region"),
    ],
)
def test_planes_may_be_as_many_as_weak_regularization_makes_products(products, more_if_weak, last):
    objective = hinge_of_noise()
    progress = Progress()
    first = PlanesFirst(60.0, products=products, more_if_weak=more_if_weak)
    result = first.before(trust_region)(objective, np.zeros(30), progress)
    expected = planes_in_turn.WITH_KINKS * planes_in_turn.products_if_strong(progress, np.zeros(30))
    assert 2 * 100.0 < expected < 1000.0
    assert str(result.status) == "converged"
    assert turns_of(result.history)[-1] == last


def test_planes_and_products_take_turns_where_neither_is_known_to_end():
    objective = hinge_of_noise()
    progress = Progress(tol=1e-4)
    solver = PlanesFirst(0.0, products=0.0).before(trust_region)
    result = solver(objective, np.zeros(30), progress)
    turns = turns_of(result.history)
    assert turns == ["bundle", "trust_region", "bundle", "trust_region"]
    assert str(result.status) == "converged"
    solver = PlanesFirst(0.0).before(trust_region)
    result = solver(objective, np.zeros(30), Progress(tol=1e-4))
    assert turns_of(result.history) == turns[:2]


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("n_levels", [2, 300, 5_000, ROWS])
def test_costs_of_a_walk_grow_with_the_levels_of_long_queries(n_levels, is_sorted):
    labels = np.arange(ROWS) * n_levels // ROWS
    y = labels if is_sorted else np.random.default_rng(0).permutation(labels)
    found = costs.Costs.of(Rows((ROWS, 100)), Preferences.from_labels(y))
    assert 0.6 * n_levels <= found.n_levels <= 1.7 * n_levels
    few = costs.Costs.of(Rows((ROWS, 100)), Preferences.from_labels(labels > ROWS // 2))
    assert found.newton(6, kinks=False) >= few.newton(6, kinks=False)


def test_what_may_lead_nowhere_is_charged_more_than_it_takes():
    preferences = Preferences.from_labels(np.arange(ROWS) % 2)
    of_host = costs.Costs.of(Rows((ROWS, 10)), preferences)
    on_gpu = GpuCosts.of(Rows((ROWS, 10)), preferences)
    vectors = costs.PLANE * costs.TYPICAL_PLANES * 10
    assert of_host.plane == pytest.approx(costs.RISK_OF_PLANES * (of_host.evaluation + vectors))
    assert on_gpu.plane == pytest.approx(on_gpu.evaluation + vectors)


def test_costs_of_short_queries_grow_with_their_pairs():
    def sweep(rows_of_a_query):
        queries = np.arange(ROWS) // rows_of_a_query
        preferences = Preferences.from_labels(np.arange(ROWS) % 2, queries)
        return costs.Costs.of(Rows((ROWS, 10)), preferences).sweep / ROWS

    assert sweep(2) < sweep(10) < sweep(60) < 0.8 * sweep(120)


def test_many_pairs_of_a_feature_make_more_interior_point_steps():
    of = {
        k: costs.Costs.of(
            Rows((ROWS, 100)), Preferences.from_labels(np.arange(ROWS), np.arange(ROWS) // k)
        )
        for k in (2, 6, 2000)
    }
    squared = {k: of_each.crowding(kinks=False) for k, of_each in of.items()}
    hinge = {k: of_each.crowding(kinks=True) for k, of_each in of.items()}
    assert 1 < squared[2] < 1.2 < squared[6] < squared[2000] == 2
    assert hinge[2] == hinge[6] == 1
    assert hinge[2000] > 100


def test_where_few_rows_are_better_planes_go_first_and_no_sample():
    def choice(n_better, n=ROWS):
        labels = np.arange(n) < n_better
        return choose_solver(
            Rows((n, 100)),
            Preferences.from_labels(labels),
            Parameters(loss="hinge"),
            n_sampled=5000,
        )

    many = choice(ROWS // 2)
    assert many.sample is not None
    assert many.planes is None
    for few in (choice(5), choice(20, n=2 * ROWS)):
        assert few.sample is None
        assert not few.planes.unless_weak
        assert few.planes.work > 100
    assert choice(20).sample is not None


def sparse_hessian(d, rows_of_a_query=ROWS, kinks=False):
    queries = np.arange(ROWS) // rows_of_a_query
    preferences = Preferences.from_labels(np.arange(ROWS) % 3, queries)
    return costs.Costs.of(Rows((ROWS, d), 6 / d), preferences).hessian(kinks)


def test_hessians_of_sparse_rows_cost_less_where_a_query_stores_few_values():
    long, ten, two = (sparse_hessian(1_000, k) for k in (ROWS, 10, 2))
    of_result = costs.HESSIAN_NUMBER * 1_000**2
    assert 2 * (two - of_result) < ten - of_result < (long - of_result) / 2
    assert sparse_hessian(1_000, 2, kinks=True) < two
    assert sparse_hessian(1_000, kinks=True) == long


def test_hessians_of_sparse_rows_cost_more_for_each_feature_beyond_the_cache():
    of_feature = [sparse_hessian(d) / d for d in (500, 1_000, 2_000, 4_000)]
    assert of_feature[1] < 1.2 * of_feature[0]
    assert of_feature[1] < of_feature[2] / 2 < of_feature[3]


@pytest.mark.parametrize(("noise", "is_patient"), [(0.0, True), (5.0, False)])
def test_products_have_more_time_where_nearly_all_pairs_can_be_ranked(
    noise, is_patient, monkeypatch
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 30))
    y = np.digitize(X[:, 0] + noise * rng.normal(size=1_000), [-1.0, 0.0, 1.0])
    objective = make_problem(
        DesignMatrix.from_array(X),
        Preferences.from_labels(y.astype(float), np.arange(1_000) // 50),
        Parameters(loss="hinge", C=1e4),
    ).objective
    works = []

    class Noted(planes_in_turn.Patience):
        def __call__(self, progress):
            works.append(self.work)
            return super().__call__(progress)

    monkeypatch.setattr(planes_in_turn, "Patience", Noted)
    monkeypatch.setattr(planes_in_turn, "WEAK", 0.0)
    monkeypatch.setattr(planes_in_turn, "RATHER_WEAK", 1.0)  # however strong it is
    progress = Progress(tol=1e-6)
    start = np.zeros(objective.size)
    first = PlanesFirst(40.0, unless_weak=True, products=10.0)
    replace(first, last=newton).before(trust_region)(objective, start, progress)
    in_turn = planes_in_turn.IN_TURN_IF_WEAK if is_patient else planes_in_turn.IN_TURN
    assert 10.0 * in_turn in works

    works.clear()
    progress = Progress(tol=1e-6)
    first.before(trust_region)(objective, start, progress)
    # Nothing else is left where it is weak.
    assert (10.0 * planes_in_turn.IN_TURN in works) is not is_patient
    assert 10.0 * planes_in_turn.IN_TURN_IF_WEAK not in works
    assert progress.history[-1].solver in ("trust_region", "bundle")


def on_both(shape, loss, **which):
    """Return what is chosen on the host, and on a GPU."""
    return [choice(Rows(shape, costs=kind), loss, **which) for kind in (None, GpuCosts)]


def test_on_a_gpu_small_data_begin_with_newton_steps():
    host, gpu = on_both((ROWS, 300), "squared_hinge", rows_of_a_query=1000)
    assert (gpu.name, host.where.always, gpu.where.always) == ("newton", True, False)
    host, gpu = on_both((ROWS, 300), "hinge")
    assert gpu.name == "newton"
    assert host.planes.work > 50
    assert gpu.planes is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_on_a_gpu_a_wide_hessian_is_dear_as_well(loss):
    gpu = on_both((ROWS, 6000), loss)[1]
    assert gpu.where.always
    assert (gpu.planes is not None) == (loss == "hinge")
    assert gpu.planes is None or gpu.planes.work > 50


def test_on_a_gpu_levels_are_gone_through_one_after_the_other():
    rng = np.random.default_rng(0)
    few, many = (
        costs_of(Rows((ROWS, 40), costs=GpuCosts), Preferences.from_labels(labels))
        for labels in (rng.integers(0, 5, ROWS), rng.standard_normal(ROWS))
    )
    assert few.n_levels == 5
    assert 2 * few.evaluation < many.evaluation
    preferences = Preferences.from_labels(rng.standard_normal(ROWS))
    sparse = costs_of(Rows((ROWS, 40), 0.1, costs=GpuCosts), preferences)
    assert sparse.hessian(kinks=True) < 2 * many.hessian(kinks=True)


def test_steps_have_products_where_these_cost_less_than_a_hessian(monkeypatch):
    for loss in ("hinge", "squared_hinge"):
        few, many = (choice(Rows((ROWS, d)), loss).n_products for d in (20, 400))
        assert few == 0 < 10 < many
    X = Rows((ROWS, 136))
    assert choice(X, "hinge").n_products > 3
    monkeypatch.setattr(matrix, "LARGE", X.n_stored)
    assert choice(X, "hinge").n_products == 0
    monkeypatch.setattr(costs.Costs, "few_rows_decide", True)
    assert choice(Rows((ROWS, 100)), "hinge").n_products == 0
