"""Where a path ends, and what is seen of it on the way."""

import contextlib
import io
import signal

import numpy as np
import pytest

import reference
from cases import make_problem
from ranksvm import ConvergenceWarning, regularization_path
from ranksvm.progress import PathTable


def follow(X, y, qid, **options):
    return regularization_path(X, y, qid, kernel="rbf", gamma=0.5, **options)


def test_a_path_ends_where_it_is_told_to():
    X, y, qid = make_problem(14)
    path = follow(X, y, qid)
    lam = path.lambdas[40] * 0.999999
    short = follow(X, y, qid, lambda_min=lam)
    assert short.lambdas[-1] == lam
    np.testing.assert_allclose(short.coef_at(lam), path.coef_at(lam), atol=1e-12)
    few = follow(X, y, qid, max_events=70)
    assert few.status == "max_events"
    assert len(few.event_pairs) in (70, 71)
    np.testing.assert_array_equal(few.gammas[:70], path.gammas[:70])
    with pytest.raises(ValueError, match=r"at least .*, where the path ends, not"):
        few.coef_at(few.lambdas[-1] * 0.99)


def test_a_path_ends_at_a_support_size():
    X, y, qid = make_problem(14)
    path = follow(X, y, qid)
    wanted = int(np.quantile(path.n_one + path.n_free, 0.4))
    short = follow(X, y, qid, max_support=wanted)
    assert short.status == "max_support"
    support = short.n_one + short.n_free
    assert support[-1] <= wanted
    assert np.all(support[:-2] > wanted)
    alpha = short.multipliers_at(short.lambdas[-1])
    assert np.count_nonzero(alpha > 1e-9) <= wanted
    assert len(follow(X, y, qid, max_support=len(path.graph)).lambdas) == 1


def test_a_callback_ends_a_path_and_sees_it_grow():
    X, y, qid = make_problem(14)
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 2

    path = follow(X, y, qid, callback=callback)
    assert path.status == "stopped"
    assert len(path.event_pairs) == seen[-1].n_events >= 128
    assert path.lambdas[-1] == seen[-1].lam < seen[0].lam
    last = path.n_zero[-1], path.n_free[-1], path.n_one[-1]
    assert (seen[-1].n_zero, seen[-1].n_free, seen[-1].n_one) == last


def test_a_signal_interrupts_between_events():
    X, y, qid = make_problem(14)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            follow(X, y, qid, callback=lambda _: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_path_ends_where_rounding_allows_no_more():
    """With a warning, and with the solutions that are still right."""
    X, y, qid = make_problem(15, n=20)
    with pytest.warns(ConvergenceWarning, match="rounding violates the conditions of optimality"):
        path = regularization_path(X, y, qid, kernel="rbf", gamma=1e-3, lambda_min_ratio=1e-18)
    assert path.status == "precision"
    assert path.violation <= 1e-8
    lam = path.lambdas[-1]
    pairs, alpha = reference.enumerate_pairs(y, qid), path.multipliers_at(lam)
    order = np.lexsort((pairs.worse, pairs.better))
    alpha = alpha[np.lexsort((path.graph.lower, path.graph.upper))][np.argsort(order)]
    alpha = np.where(alpha < 1e-9, 0, np.where(alpha > 1 - 1e-9, 1, alpha))
    assert reference.optimality_violation(pairs, path.predict(X, lam), alpha) <= 2e-8


def test_verbose_prints_a_table():
    X, y, qid = make_problem(14)
    with contextlib.redirect_stderr(io.StringIO()) as stream:
        follow(X, y, qid, verbose=1)
    _, header, first, *_ = stream.getvalue().splitlines()
    assert header.split() == ["events", "lambda", "I_0", "I_alpha", "I_1", "seconds"]
    assert int(first.split()[0]) in (64, 65)


def test_the_table_has_a_line_per_second():
    stream = io.StringIO()
    table = PathTable(stream)
    X, y, qid = make_problem(14)
    seen = []
    follow(X, y, qid, callback=seen.append, max_events=64)
    for seconds in (0.1, 0.5, 1.0, 1.2, 1.9, 2.3):
        table(type(seen[0])(**{**vars(seen[0]), "seconds": seconds}))
    shown = [line.split()[-1] for line in stream.getvalue().splitlines()]
    assert shown == ["seconds", "0.10", "1.20", "2.30"]
