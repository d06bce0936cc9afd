"""Presets give the numbers of the programs that they are named after."""

import shutil

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

from ranksvm.metrics import evaluate

DEPTHS = (1, 2, 3, 5, 10)
SEEDS = range(8)


def make_ranking(seed, n_levels=5, n_queries=12):
    """Queries of 1 to 14 documents, some without relevant ones, with and without tied scores."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(rng.permutation(n_queries), rng.integers(1, 15, n_queries))
    y = rng.integers(0, n_levels, len(qid)) * rng.integers(0, 2, n_queries)[qid]
    spread = 3 if seed % 2 else 10_000
    return y, rng.integers(-spread, spread, len(qid)) / 8, qid


def rows_by_query(qid):
    return [np.flatnonzero(qid == q) for q in dict.fromkeys(qid.tolist())]


def assert_values(evaluation, name, values, **tolerance):
    np.testing.assert_allclose(
        evaluation.per_query[name], values, **{"rtol": 1e-10, "atol": 1e-12, **tolerance}
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn(seed):
    y, scores, qid = make_ranking(seed)
    names = [f"ndcg@{k}" for k in DEPTHS] + ["ndcg"]
    queries = [rows for rows in rows_by_query(qid) if len(rows) > 1]  # ndcg_score refuses one
    kept = np.concatenate(queries)
    evaluation = evaluate(y[kept], scores[kept], qid[kept], names, preset="sklearn")
    for name in names:
        k = int(name[5:]) if "@" in name else None
        values = [ndcg_score([y[rows]], [scores[rows]], k=k) for rows in queries]
        assert_values(evaluation, name, values)


@pytest.mark.parametrize("seed", SEEDS)
def test_scikit_learn_of_binary_labels(seed):
    y, scores, qid = make_ranking(seed, n_levels=2)
    queries = [rows for rows in rows_by_query(qid) if 0 < y[rows].sum() < len(rows)]
    kept = np.concatenate(queries)
    evaluation = evaluate(y[kept], scores[kept], qid[kept], ["map", "auc"], preset="sklearn")
    precisions = [average_precision_score(y[rows], scores[rows]) for rows in queries]
    assert_values(evaluation, "map", precisions)
    assert_values(evaluation, "auc", [roc_auc_score(y[rows], scores[rows]) for rows in queries])


@pytest.mark.parametrize("seed", SEEDS)
def test_scipy_kendalltau(seed):
    y, scores, qid = make_ranking(seed)
    tau = evaluate(y, scores, qid, "kendall_tau").per_query["kendall_tau"]
    for value, rows in zip(tau, rows_by_query(qid), strict=True):
        if len(np.unique(y[rows])) < 2:
            assert np.isnan(value)
        elif len(np.unique(scores[rows])) < 2:
            assert value == 0
        else:
            assert value == pytest.approx(kendalltau(y[rows], scores[rows]).statistic, abs=1e-12)


def measured(measures, y, scores, qid, docids):
    """Values by measure and query, as ir_measures gives them."""
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    names = [str(q) for q in qid]
    labels = map(ir_measures.Qrel, names, docids, y.tolist())
    run = map(ir_measures.ScoredDoc, names, docids, scores.tolist())
    values = {measure: {} for measure in measures}
    for metric in ir_measures.iter_calc(measures, list(labels), list(run)):
        values[metric.measure][metric.query_id] = metric.value
    ids = [str(q) for q in dict.fromkeys(qid.tolist())]
    return {measure: [by_query[q] for q in ids] for measure, by_query in values.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_trec_eval(seed):
    m = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    y, scores, qid = make_ranking(seed)
    docids = [f"d{i}" for i in np.random.default_rng(seed).permutation(len(y))]
    ours = {"ndcg": m.nDCG, "map": m.AP, "mrr": m.RR}
    for k in DEPTHS:
        ours |= {f"ndcg@{k}": m.nDCG @ k, f"map@{k}": m.AP @ k, f"p@{k}": m.P @ k}
        ours |= {f"recall@{k}": m.R @ k}
    theirs = measured(list(ours.values()), y, scores, qid, docids)
    evaluation = evaluate(y, scores, qid, ours, preset="trec_eval", docids=docids)
    for name, measure in ours.items():
        assert_values(evaluation, name, theirs[measure])


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval.pl needs perl")
def test_gdeval():
    m = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    y, scores, qid = make_ranking(0)
    docids = [f"d{i:03}" for i in range(len(y))]
    positive = np.isin(qid, qid[y > 0])  # gdeval.pl leaves out queries without relevant documents
    y, scores, qid, docids = y[positive], scores[positive], qid[positive], docids[: positive.sum()]
    theirs = measured([m.ERR @ 5, m.ERR @ 20], y, scores, qid, docids)
    evaluation = evaluate(y, scores, qid, ["err@5", "err@20"], preset="trec_eval", docids=docids)
    for name, k in (("err@5", 5), ("err@20", 20)):
        assert_values(evaluation, name, theirs[m.ERR @ k], atol=6e-6)  # five digits are printed


def group_sizes(qid):
    return [len(rows) for rows in rows_by_query(qid)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_levels", [2, 5])
def test_xgboost(seed, n_levels):
    xgboost = pytest.importorskip("xgboost", reason="xgboost is not installed")
    y, scores, qid = make_ranking(seed, n_levels)
    theirs = {f"ndcg@{k}": f"ndcg@{k}" for k in DEPTHS} | {"ndcg": "ndcg"}
    if n_levels == 2:
        theirs |= {f"map@{k}": f"map@{k}" for k in DEPTHS} | {"map": "map"}
        theirs |= {f"p@{k}": f"pre@{k}" for k in DEPTHS}
    data = xgboost.DMatrix(scores.reshape(-1, 1), label=y, group=group_sizes(qid))
    data.set_base_margin(scores)
    parameters = {
        "objective": "rank:ndcg",
        "eta": 0,  # predictions stay at the margin
        "eval_metric": list(theirs.values()),
        "disable_default_eval_metric": 1,
    }
    booster = xgboost.train(parameters, data, num_boost_round=1)
    values = dict(item.split(":") for item in booster.eval(data).split()[1:])
    evaluation = evaluate(y, scores, qid, theirs, preset="xgboost")
    for ours, name in theirs.items():
        assert evaluation.mean[ours] == pytest.approx(float(values[f"eval-{name}"]), rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_lightgbm(seed):
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    y, scores, qid = make_ranking(seed)
    data = lightgbm.Dataset(
        scores.reshape(-1, 1), label=y, group=group_sizes(qid), init_score=scores
    )
    parameters = {"objective": "lambdarank", "metric": "ndcg,map", "eval_at": DEPTHS, "verbose": -1}
    booster = lightgbm.Booster(parameters, data)  # no round of boosting changes the initial scores
    values = {result[1]: result[2] for result in booster.eval_train()}
    evaluation = evaluate(y, scores, qid, values, preset="lightgbm")
    assert evaluation.mean == pytest.approx(values, rel=1e-10)
