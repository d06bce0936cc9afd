"""Trainings that begin their passes together, whatever becomes of some of them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.in_step import InStep


def run(steps, passes_of_each):
    """Let a thread for each member go through so many passes; return how far others were."""
    ready = threading.Barrier(len(passes_of_each))
    begun = [0] * len(passes_of_each)

    def go(number):
        leads = []
        with steps.member():
            ready.wait()
            for _ in range(passes_of_each[number]):
                steps.begin_pass()
                begun[number] += 1
                leads.append(max(begun) - begun[number])
        return leads

    with ThreadPoolExecutor(len(passes_of_each)) as pool:
        return list(pool.map(go, range(len(passes_of_each))))


def test_one_goes_alone():
    steps = InStep()
    run(steps, [5])
    assert steps.n_passes == 5


def test_nobody_is_a_pass_ahead():
    steps = InStep()
    leads = run(steps, [30, 30, 30])
    assert steps.n_passes == 30
    assert max(map(max, leads)) <= 1


def test_those_that_are_done_keep_nobody_waiting():
    steps = InStep()
    run(steps, [1, 0, 20, 7])
    assert steps.n_passes == 20


def test_those_that_fail_keep_nobody_waiting():
    steps = InStep()

    def fail():
        with steps.member():
            raise ValueError("fails")

    def go():
        with steps.member():
            for _ in range(10):
                steps.begin_pass()

    with ThreadPoolExecutor(2) as pool:
        works = pool.submit(go)
        with pytest.raises(ValueError, match="fails"):
            pool.submit(fail).result()
        works.result(timeout=60)
    assert steps.n_passes == 10


def test_turns_are_kept_while_others_wait():
    steps, running, most = InStep(2), [], []

    def go(number):
        with steps.member():
            for _ in range(20):
                running.append(number)
                most.append(len(running))
                running.remove(number)
                steps.begin_pass()

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(go, range(5)))
    assert max(most) <= 2


def test_the_same_work_is_done_at_once():
    steps, ready, sizes = InStep(), threading.Barrier(5), []

    def doubled(numbers):
        sizes.append(len(numbers))
        return [2 * number for number in numbers]

    def negated(numbers):
        sizes.append(len(numbers))
        return [-number for number in numbers]

    def go(number):
        with steps.member():
            ready.wait()
            return steps.together(doubled if number else negated, number)

    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(go, range(5))) == [0, 2, 4, 6, 8]
    assert sorted(sizes) == [1, 4]
    assert steps.n_passes == 2


def test_an_error_reaches_all_who_asked_for_it():
    steps, ready = InStep(1), threading.Barrier(3)

    def fails(_):
        raise MemoryError("too much")

    def go(number):
        with steps.member():
            with pytest.raises(MemoryError, match="too much"):
                steps.together(fails, number)
            return steps.together(list, number)

    def start(number):
        ready.wait()
        return go(number)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(start, range(3))) == [0, 1, 2]


def test_views_share_their_steps():
    steps = InStep()
    X = DesignMatrix.from_array(np.eye(4)).mapped().in_step(steps)
    seen, unseen = X.views(np.array([0, 1]), np.array([2, 3]))
    seen.dot(np.ones(4))
    unseen.centered().t_dot(np.ones(2))
    X.scaled(np.ones(4)).column_squares()
    assert steps.n_passes == 3
    DesignMatrix.from_array(np.eye(4)).dot(np.ones(4))
    assert steps.n_passes == 3
