"""The certificate of a round with the weights of the top, against exact optima."""

from dataclasses import replace

import numpy as np
import pytest
from gmpy2 import mpq

from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.names import SOLVERS
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.top import Gains
from ranksvm.pairs.top_list import listed

from .claims import ALLOWED
from .problems import KINDS, make
from .truth import Exact, Pair, space_of

TOP = Gains(top=4)
KERNELS = {"linear_kernel", "rounded_kernel", "rbf_kernel"}


def problem_of(kind, seed):
    """The problem of this kind and seed, with grades for labels."""
    problem = make(kind, seed)
    grades = np.unique(problem.y, return_inverse=True)[1].astype(float) % 5
    plain = {"pair_weight": None, "kernel": None, "conditions": None}
    return replace(problem, y=grades, normalize="documents", **plain)


def exact_round(problem, ranked):
    """The problem of the pairs that are ranked by given scores, whose weights are as computed."""
    pairs = listed(ranked)
    weights = [mpq(float(weight)) for weight in pairs.weight]
    scale = mpq(float(ranked.n_rows)) / sum(weights)
    found = zip(pairs.winner, pairs.loser, weights, strict=True)
    exact_pairs = [Pair(int(i), int(j), weight * scale) for i, j, weight in found]
    return Exact(problem, space_of(problem), exact_pairs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", sorted(set(KINDS) - KERNELS))
@pytest.mark.parametrize("seed", [0, 1])
def test_the_certificate_of_a_round_is_true(kind, seed):
    problem = problem_of(kind, seed)
    weights = {"sample_weight": problem.sample_weight, "query_weight": problem.query_weight}
    options = {"C": problem.C, "loss": problem.loss, "top": TOP.top, "n_threads": 1}
    optima = {}
    for solver, tol in zip(SOLVERS, (1e-9, 1e-3, 1e-9, 1e-9, 1e-3, 1e-3), strict=True):
        model = RankSVM(pair_weight="ndcg", solver=solver, tol=tol, max_iter=300, **options)
        try:
            first, second = (
                model.set_params(n_rounds=n).fit(problem.X, problem.y, problem.qid, **weights)
                and (model.weights_.dense, model.objective_, model.dual_gap_)
                for n in (1, 2)
            )
        except ValueError as error:
            if "no preference pairs" in str(error):  # of the first ranks, none weighs anything
                return
            raise
        labels = Preferences.from_labels(problem.y, problem.qid, **weights)
        scores = DesignMatrix.from_array(problem.X).scores(first[0])
        ranked = TOP.by_rank(labels, scores)
        key = ranked.rows.tobytes()
        if key not in optima:
            truth = exact_round(problem, ranked)
            optima[key] = truth, truth.optimum()
        truth, optimum = optima[key]
        coef, objective, gap = second
        assert truth.objective(map(float, coef)) <= ALLOWED * mpq(objective)
        if gap < 1:
            assert mpq(objective) * (1 - mpq(gap)) <= ALLOWED * optimum
