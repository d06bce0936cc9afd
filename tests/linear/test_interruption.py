"""Interrupted, forked, called from many threads: what comes next works as if nothing had been."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cases import OF_MANY_ROWS, make_problem
from ranksvm import RankSVM, ranksvm_grid
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork"
)


@pytest.fixture(scope="module")
def problem():
    """Enough rows for several threads to be at work."""
    X, y, qid = make_problem(0, n=12_000, d=8, n_queries=40)
    qid[:9_000] = 0
    return X, y, qid


def coef(problem, n_threads=2, loss="hinge", solver="auto"):
    return RankSVM(loss=loss, solver=solver, n_threads=n_threads).fit(*problem).coef_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", OF_MANY_ROWS)
def test_an_exception_of_a_callback_goes_through(problem, solver, loss):
    X, y, qid = problem
    seen = []

    def callback(line):
        seen.append(line)
        if len(seen) == 2:
            raise KeyboardInterrupt("enough")

    parameters = Parameters(loss=loss, solver=solver, tol=1e-9, n_threads=2)
    with pytest.raises(KeyboardInterrupt, match="enough"):
        train(
            DesignMatrix.from_array(X),
            Preferences.from_labels(y, qid),
            parameters=parameters,
            callback=callback,
        )
    assert len(seen) == 2
    after = coef(problem, 2, loss, solver)
    np.testing.assert_array_equal(after, coef(problem, 1, loss, solver))


@pytest.mark.parametrize("solver", OF_MANY_ROWS)
def test_a_signal_interrupts_between_iterations(problem, solver):
    """The handler of SIGINT runs as soon as the native code returns."""
    X, y, qid = problem
    seen = []

    def callback(line):
        seen.append(line)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)

    parameters = Parameters(loss="hinge", solver=solver, tol=1e-9, n_threads=2)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(
                DesignMatrix.from_array(X),
                Preferences.from_labels(y, qid),
                parameters=parameters,
                callback=callback,
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(seen) == 2
    np.testing.assert_array_equal(coef(problem, 2), coef(problem, 1))


def test_an_interrupted_path_leaves_nothing_behind(problem):
    X, y, qid = problem

    def callback(C, line):
        if C == 1.0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ranksvm_grid(X, y, qid, [0.1, 1.0], loss="hinge", n_threads=2, callback=callback)
    grid = ranksvm_grid(X, y, qid, [0.1, 1.0], loss="hinge", n_threads=2)
    again = ranksvm_grid(X, y, qid, [0.1, 1.0], loss="hinge", n_threads=1)
    np.testing.assert_array_equal(grid.coefs, again.coefs)


def test_an_interrupted_fit_keeps_the_estimator_as_it_was(problem, monkeypatch):
    X, y, qid = problem
    model = RankSVM(loss="hinge", warm_start=True).fit(X, y, qid)
    state = dict(vars(model))
    monkeypatch.setattr("ranksvm.estimators.linear_trainer.train", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(tol=1e-6).fit(X, y, qid)
    monkeypatch.undo()
    assert {name: vars(model)[name] for name in state if name != "tol"} == {
        name: value for name, value in state.items() if name != "tol"
    }
    model.fit(X, y, qid)
    assert model.dual_gap_ <= 1e-6


def interrupt(*_, **__):
    raise KeyboardInterrupt


LONG_FIT = """
import sys, numpy as np
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.pairs.preferences import Preferences
rng = np.random.default_rng(0)
X = DesignMatrix.from_array(rng.normal(size=(6_000, 6)))
pairs = Preferences.from_labels(rng.normal(size=6_000))
parameters = Parameters(loss="hinge", solver=sys.argv[1], counting="pairs", tol=0.0, n_threads=2)
tell = lambda line: print(line.iteration, flush=True)
try:
    train(X, pairs, parameters, callback=tell)
except KeyboardInterrupt:
    parameters = Parameters(loss="hinge", n_threads=2)
    print(train(X, pairs, parameters).result.status, flush=True)
"""


@pytest.mark.parametrize("solver", ["auto", "trust_region"])
def test_ctrl_c_ends_a_long_fit(solver):
    """Sent on sight of the second iteration; the process then trains another model."""
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_FIT, solver], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "0\n"
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    lines = rest.split()
    assert lines[-1] == "converged"
    # The iteration under way may still have ended.
    assert len(lines) <= 3


# --- processes and threads ------------------------------------------------------------------------


def send_coef(problem, connection):
    connection.send(coef(problem))
    connection.close()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_trains_on_threads_of_its_own(problem):
    expected = coef(problem)  # so that the parent has threads, which the child has not
    context = multiprocessing.get_context("fork")
    for _ in range(2):
        ours, theirs = context.Pipe(duplex=False)
        child = context.Process(target=send_coef, args=(problem, theirs))
        child.start()
        try:
            assert ours.poll(60), "the child hangs"
            np.testing.assert_array_equal(ours.recv(), expected)
            child.join(60)
            assert child.exitcode == 0
        finally:
            child.kill()
            child.join()
    np.testing.assert_array_equal(coef(problem), expected)


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_amid_a_fit_harms_neither(problem):
    """The parent forks from a callback, while its pool is idle, and both go on."""
    X, y, qid = problem
    expected = coef(problem)
    children = []

    def callback(line):
        if line.iteration == 1:
            child = os.fork()
            if child == 0:
                same = np.array_equal(coef(problem), expected)
                os._exit(0 if same else 1)
            children.append(child)

    parameters = Parameters(loss="hinge", n_threads=2)
    fit = train(
        DesignMatrix.from_array(X),
        Preferences.from_labels(y, qid),
        parameters=parameters,
        callback=callback,
    )
    np.testing.assert_array_equal(fit.result.weights, expected)
    assert exit_status(children[0]) == 0


def exit_status(child):
    """Of a child that has a minute to end."""
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


def test_fits_on_several_python_threads_do_not_disturb_each_other(problem):
    expected = {solver: coef(problem, 1, "hinge", solver) for solver in ("auto", "trust_region")}
    start = threading.Barrier(4)

    def fit(solver):
        start.wait(60)
        return coef(problem, 2, "hinge", solver)

    with ThreadPoolExecutor(4) as pool:
        futures = {pool.submit(fit, solver): solver for solver in [*expected, *expected]}
        for future, solver in futures.items():
            np.testing.assert_array_equal(future.result(60), expected[solver])
