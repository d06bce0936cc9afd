"""``objective_ * (1 - dual_gap_) <= optimum <= P(coef_) <= objective_``, in exact arithmetic."""

import os
import zlib

import numpy as np
import pytest

import reference
from strategies import FACTOR

from . import optima, problems, sample, truth
from .claims import verdicts

SAMPLE = {str(problem): (problem, ways) for problem, ways in sample.sample()}
# Workers of one run agree on what is new in it.
RUN = zlib.crc32(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())).encode())


def wrong(problem, ways=None):
    return [str(verdict) for verdict in verdicts(problem, ways) if verdict.wrong]


@pytest.mark.parametrize("name", SAMPLE)
def test_claims_are_true(name):
    assert wrong(*SAMPLE[name]) == []


@pytest.mark.skipif("EXPLORE" not in os.environ, reason="for `make explore`")
@pytest.mark.parametrize("kind", problems.KINDS)
def test_claims_are_true_of_other_problems(kind):
    names = problems.names(5 * FACTOR, RUN, [kind])
    assert [line for name in names for line in wrong(problems.named(name))] == []


# --- the truth itself -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(SAMPLE)[::9])
def test_known_optima_are_those_computed_again(name):
    problem, _ = SAMPLE[name]
    known = optima.sample()[problem.fingerprint]
    assert known == truth.digits(truth.optimum(problem))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["ordinary", "ties", "weights", "gaps", "queries", "csr"])
def test_exact_objective_is_that_of_the_reference(kind, seed):
    problem = problems.make(kind, seed)
    X = problem.X if isinstance(problem.X, np.ndarray) else problem.X.toarray()
    weights = {
        name: getattr(problem, name) for name in ("sample_weight", "query_weight", "pair_weight")
    }
    pairs = reference.enumerate_pairs(problem.y, problem.qid, **weights)
    pairs = reference.normalize_pairs(pairs, problem.C, problem.normalize, **weights)
    w = np.random.default_rng(seed).normal(size=X.shape[1])
    expected = {"hinge": reference.hinge_objective, "squared_hinge": reference.objective}
    value = truth.Exact.of(problem).objective(w)
    assert float(value) == pytest.approx(expected[problem.loss](pairs, X, w), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bound_of_any_multipliers_is_below_the_objective_of_any_weights(seed):
    problem = problems.make("weights", seed)
    exact = truth.Exact.of(problem)
    r = np.random.default_rng(seed)
    best = truth.optimum(problem)
    for _ in range(20):
        alphas = [r.normal() * float(pair.weight) for pair in exact.pairs]
        w = r.normal(size=problem.X.shape[1])
        assert exact.bound(alphas) <= best <= exact.objective(w)
