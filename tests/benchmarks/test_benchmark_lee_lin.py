"""What the pages on Lee and Lin's supplement rest on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from benchmarks import lee_lin_convergence, lee_lin_dual
from benchmarks.lee_lin_convergence import ENTRIES, PUBLISHED
from benchmarks.race import Curve, Outcome
from benchmarks.task import Judge, Rows, Task
from reference import enumerate_pairs


def make_rows(seed=0, n=60, d=3, queries=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.round(X @ rng.standard_normal(d) + rng.standard_normal(n))
    return Rows(X, y - y.min(), np.sort(rng.integers(queries, size=n)))


def explicit_margins(rows, scores):
    pairs = enumerate_pairs(rows.y, rows.qid)
    return pairs, scores[pairs.better] - scores[pairs.worse]


@given(st.integers(0, 1000), st.sampled_from([0.01, 1.0, 100.0]))
def test_pairs_are_counted_by_their_margins(seed, scale):
    rows = make_rows(seed)
    scores = np.round(8 * scale * np.random.default_rng(seed).standard_normal(60)) / 8  # ties, too
    margins = explicit_margins(rows, scores)[1]
    task = Task("", *rows, "squared_hinge", 1.0)
    found = lee_lin_dual.count(task, 2.0, scores, 1e-9)
    assert found.n_pairs == len(margins)
    assert found.zero == pytest.approx(100 * np.mean(margins >= 1), abs=1e-10)
    assert found.wrong == pytest.approx(100 * np.mean(margins < 0), abs=1e-10)
    assert found.short == pytest.approx(100 * np.mean((margins >= 0) & (margins < 1)), abs=1e-10)
    assert found.near == pytest.approx(100 * np.mean(margins == 1), abs=1e-10)
    assert found.n_nonzero == pytest.approx(np.sum(margins < 1), abs=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 2.0**20])
def test_the_dual_variables_are_those_of_the_optimum(C):
    rows = make_rows()
    (found,) = lee_lin_dual.along_C(rows, np.array([C]))
    assert found.gap <= 1e-12
    judge = Judge(Task("", *rows, "squared_hinge", C), tol=1e-13)
    pairs, margins = explicit_margins(rows, rows.X @ judge.weights)
    alpha = 2 * C * np.maximum(0, 1 - margins)
    by_the_dual = (rows.X[pairs.better] - rows.X[pairs.worse]).T @ alpha
    np.testing.assert_allclose(by_the_dual, judge.weights, rtol=1e-5, atol=1e-13 * alpha.sum())
    assert found.zero == pytest.approx(100 * np.mean(alpha == 0))


def test_turned_features_leave_inner_products_alone():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(np.where(rng.random((20, 300)) < 0.1, rng.random((20, 300)), 0.0))
    rows = Rows(X, np.arange(20.0))
    turned = lee_lin_dual.with_few_features(rows)
    assert turned.X.shape[1] <= 20
    np.testing.assert_allclose(turned.X @ turned.X.T, (X @ X.T).toarray(), atol=1e-12)
    wide, narrow = (
        Judge(Task("", *these, "squared_hinge", 1.0), tol=1e-10) for these in (rows, turned)
    )
    assert wide.optimum == pytest.approx(narrow.optimum, rel=1e-9)
    few = make_rows()
    assert lee_lin_dual.with_few_features(few) is few


def test_a_fifth_of_the_queries_or_rows_is_left_out():
    split = lee_lin_convergence.halved("some", make_rows(queries=10))
    assert set(split.train.qid).isdisjoint(split.test.qid)
    assert len(set(split.test.qid)) == 2
    assert len(split.train.y) + len(split.test.y) == 60
    ranking = make_rows()._replace(qid=np.zeros(60))
    split = lee_lin_convergence.halved("some", ranking)
    assert (len(split.train.y), len(split.test.y)) == (48, 12)
    assert split.train.qid is None


def test_the_stopping_point_is_where_the_gradient_is_small():
    judge = Judge(Task("", *make_rows(), "squared_hinge", 1.0))
    at_zero = judge.task.start
    trace = [at_zero, 0.5 * judge.weights, (1 - 1e-6) * judge.weights, judge.weights]
    assert lee_lin_convergence.stopping_point(judge, trace) == 2
    assert lee_lin_convergence.stopping_point(judge, trace[:2]) is None


def make_curve(seconds, distance, ndcg=0.5):
    outcome = Outcome("some", "task", "finished", "", 1.0, 0, [])
    seconds, distance = np.array(seconds), np.array(distance)
    iterations = np.arange(len(seconds))
    return Curve(outcome, seconds, iterations, distance, 1 - distance / 2, ndcg - 0 * distance)


def make_panel(name, ost, tree, **kwargs):
    curves = {entry: make_curve([0.0, 1.0, 2.0], [1.0, ost, 1e-9], **kwargs) for entry in ENTRIES}
    curves[PUBLISHED[1]] = make_curve([0.0, 1.0], [1.0, tree], **kwargs)
    return lee_lin_convergence.Panel(name, curves, stop=1)


def test_a_page_names_the_data_on_which_the_claim_holds():
    panels = [make_panel("a", 1e-4, 1e-1), make_panel("b", 1e-1, 1e-4), make_panel("c", 0.1, 0.1)]
    named = lee_lin_convergence.names_where(panels, "seconds", 1e-3, *PUBLISHED)
    assert named == "2 of 3: a, c"
    text = lee_lin_convergence.verdict(panels)
    assert "- to 1e-06, OST needs fewer iterations on 3 of 3: a, b, c" in text
    assert "- to 0.001, TreeRSVM, hinge, is before ranksvm on 1 of 3: b" in text


def test_a_row_of_panels_is_drawn_for_each_data_set():
    panels = [make_panel("a", 1e-4, 1e-1), make_panel("b", 1e-2, 1e-1, ndcg=np.nan)]
    figure = lee_lin_convergence.draw(panels, "iterations", PUBLISHED)
    assert len(figure.axes) == 6
    assert [axes.get_xscale() for axes in figure.axes] == ["log"] * 6
    assert [text.get_text() for text in figure.axes[5].texts] == ["labels are no grades"]
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == ["a", "b"]
    figure.draw_without_rendering()


def test_the_parts_of_the_pairs_are_drawn_for_each_data_set():
    found = {name: lee_lin_dual.along_C(make_rows()) for name in ("MQ2007-like", "other")}
    figure = lee_lin_dual.draw(found)
    bars, curves = figure.axes
    assert sum(bar.get_width() for bar in bars.patches) == pytest.approx(200)
    assert len(curves.lines) == 2
    margins = found["other"][-1]
    twice = replace(margins, n_pairs=2 * margins.n_pairs)
    growing = lee_lin_dual.draw_growth({"some": [(8, margins), (16, twice)]})
    assert growing.axes[0].get_legend().texts[0].get_text() == "some: slope 1.00"
