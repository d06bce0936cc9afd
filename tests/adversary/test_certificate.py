"""``objective_ * (1 - dual_gap_) <= optimum <= P(coef_) <= objective_``, in exact arithmetic."""

import os
import zlib
from dataclasses import replace

import gmpy2
import numpy as np
import pytest

import reference
from ranksvm.names import LOSSES, SOLVERS
from strategies import FACTOR

from . import claims, fits, optima, problems, sample, truth

SAMPLE = {str(problem): (problem, ways) for problem, ways in sample.sample()}
# Workers of one run agree on what is new in it.
RUN = zlib.crc32(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())).encode())


def wrong(problem, ways=None):
    return [str(verdict) for verdict in claims.verdicts(problem, ways) if verdict.wrong]


@pytest.mark.parametrize("name", SAMPLE)
def test_claims_are_true(name):
    assert wrong(*SAMPLE[name]) == []


@pytest.mark.skipif("EXPLORE" not in os.environ, reason="for `make explore`")
@pytest.mark.parametrize("kind", problems.KINDS)
def test_claims_are_true_of_other_problems(kind):
    names = problems.names(2 * FACTOR, RUN, [kind])
    assert [line for name in names for line in wrong(problems.named(name))] == []


# --- the truth itself -----------------------------------------------------------------------------


def test_all_optima_of_the_sample_are_known():
    """What is not is computed as it is needed, which is right, but slow."""
    known = optima.sample()
    unknown = [problem for problem, _ in SAMPLE.values() if problem.fingerprint not in known]
    assert [str(problem) for problem in unknown if not problem.has_inexact_kernel] == []


@pytest.mark.parametrize("name", list(SAMPLE)[::9])
def test_known_optima_are_those_computed_again(name):
    problem, _ = SAMPLE[name]
    known = optima.sample().get(problem.fingerprint)
    if known is None and problem.has_inexact_kernel:
        pytest.skip("known for another kind of processor")
    assert known == truth.digits(truth.optimum(problem))


@pytest.mark.parametrize("seed", range(6))
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
def test_a_linear_kernel_has_the_optimum_of_its_rows(seed):
    problem = problems.make("linear_kernel", seed)
    of_rows = truth.Exact.of(problem)
    of_kernel = truth.Exact(problem, truth.Kernel(problem.X @ problem.X.T), of_rows.pairs)
    with gmpy2.context(precision=320):
        difference = of_kernel.optimum() / of_rows.optimum() - 1
    assert abs(difference) <= 2 * truth.CLOSE


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


def test_an_optimum_that_is_not_proved_is_none(monkeypatch):
    problem = problems.make("ordinary", 0)
    monkeypatch.setattr(truth, "minimize", lambda exact, C: [gmpy2.mpfr(0)] * len(exact.pairs))
    with pytest.raises(truth.Uncertified, match="ordinary-0"):
        truth.optimum(problem)


def test_digits_round_up_and_are_read_back():
    for value in (gmpy2.mpq(1, 3), gmpy2.mpq(2, 3) * 10**40, gmpy2.mpq(10) ** -30, gmpy2.mpq(1)):
        known = truth.from_digits(truth.digits(value))
        assert value <= known <= value * (1 + gmpy2.mpq(1, 10**40))


# --- the judge ------------------------------------------------------------------------------------

FALSE = {
    "objective": lambda claim: {"objective": claim.objective * (1 - 1e-12)},
    "bound": lambda claim: {"dual_gap": claim.dual_gap / 1e6},
    "no warning": lambda claim: {"status": "stalled"},
    "converged above tol": lambda claim: {"dual_gap": 0.1},
    "not finite": lambda claim: {"coef": claim.coef * np.inf},
    "objective not positive": lambda claim: {"objective": -1.0},
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("what", FALSE)
def test_false_claims_are_found(what, seed):
    problem = problems.make("ordinary", seed)
    (claim,) = fits.Way("linear", "bundle", 1e-3).train(problem)
    assert claims.judge(problem, claim).wrong == ()
    false = claims.judge(problem, replace(claim, **FALSE[what](claim)))
    assert any(wrong.startswith(what) for wrong in false.wrong)


def test_every_way_to_train_is_in_the_sample():
    for loss in LOSSES:
        taken = {
            (way.how, way.solver, way.tol)
            for problem, ways in SAMPLE.values()
            for way in ways
            if problem.loss == loss and way.how in ("linear", "kernel")
        }
        assert len(taken) == 2 * len(SOLVERS) * len(fits.TOLS)
