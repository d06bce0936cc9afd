"""What rows have beside features is packed: weights of queries, documents, side files."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ranksvm import RankSVM, RankSVMCV, open_data, pack, ranksvm_grid
from ranksvm.cli.program import main
from ranksvm.disk import queries
from ranksvm.errors import InputError
from ranksvm.jobs.data import Reading, read_data
from ranksvm.jobs.packing import pack_files


def rows(n, seed, n_queries=6):
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, n)
    return rng.standard_normal((n, 4)), rng.integers(0, 3, n).astype(float), qid


def weight_of(qid):
    return 0.5 + np.asarray([hash(int(one)) % 4 for one in qid])


@pytest.mark.parametrize("texts", [False, True])
def test_weights_of_queries_train_as_those_given(tmp_path, texts):
    blocks, whole = [], []
    for seed in range(3):  # queries come again, in other blocks and orders
        X, y, qid = rows(40, seed)
        ids = [f"q{one}" for one in qid] if texts else qid
        blocks.append((X, y, ids, None, weight_of(qid)))
        whole.append((X, y, qid))
    data = pack(iter(blocks), tmp_path / "d.rsvm")
    X, y, qid = (np.concatenate(parts) for parts in zip(*whole, strict=True))
    _, first = np.unique(qid, return_index=True)
    of_queries = qid[np.sort(first)]
    assert_array_equal(data.query_weight, weight_of(of_queries))
    order = np.argsort([of_queries.tolist().index(one) for one in qid], kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    in_memory = {"qid": qid, "query_weight": weight_of(qid)}
    assert_array_equal(RankSVM().fit(data).coef_, RankSVM().fit(X, y, **in_memory).coef_)
    plain = RankSVM().fit(X, y, qid).coef_
    assert not np.array_equal(RankSVM().fit(data).coef_, plain)
    ones = RankSVM().fit(data, query_weight=np.ones(data.n_queries))
    assert np.allclose(ones.coef_, plain, rtol=1e-2)
    assert_array_equal(
        RankSVMCV(param_grid={"C": [0.1, 1.0]}, cv=3).fit(data).coef_,
        RankSVMCV(param_grid={"C": [0.1, 1.0]}, cv=3).fit(X, y, **in_memory).coef_,
    )
    assert_array_equal(
        ranksvm_grid(data, Cs=[0.1, 1.0]).coefs,
        ranksvm_grid(X, y, Cs=[0.1, 1.0], **in_memory).coefs,
    )


def test_weights_of_queries_count_in_commands(tmp_path, capsys):
    X, y, qid = rows(60, 1)
    data = pack([(X, y, qid, None, weight_of(qid))], tmp_path / "d.rsvm")
    main(["train", data.path, str(tmp_path / "m.json")])
    weights = json.loads((tmp_path / "m.json").read_text())["weights"]
    assert_array_equal(list(weights.values()), RankSVM().fit(data).coef_)
    assert main(["path", data.path]) == 2
    assert "has weights of queries, which a path cannot regard" in capsys.readouterr().err
    assert main(["cv", data.path, "--Cs", "0.1,1"]) in (None, 0)


def test_weights_of_queries_count_on_a_cluster(tmp_path):
    sources = pytest.importorskip("ranksvm.cluster.sources")
    X, y, qid = rows(30, 1)
    data = pack([(X, y, qid, None, weight_of(qid))], tmp_path / "d.rsvm")
    part = sources.rows_of_file(data.path, Reading())
    assert_array_equal(part.query_weight, weight_of(part.ids))


def test_weights_that_cannot_be_are_refused(tmp_path):
    X, y, qid = rows(20, 0)
    good = (X, y, qid, None, weight_of(qid))
    for bad, message in [
        ((X, y, None, None, np.ones(20)), "block 0 has query_weight, but no qid"),
        ((X, y, qid, None, np.arange(20.0)), "must not be negative, and the same for all rows"),
        ((X, y, qid, None, -weight_of(qid)), "must not be negative"),
        ((X, y, qid, None, np.ones(3)), "20 rows, but query_weight of 3"),
        ((X, y, qid, None, np.full(20, np.nan)), "query_weight"),
        ((X, y, qid, None, None, None), r"must be \(X, y\["),
    ]:
        with pytest.raises(InputError, match=message):
            pack([bad], tmp_path / "d.rsvm")
    with pytest.raises(InputError, match="either all rows have query weights, or none"):
        pack([good, (X, y, qid)], tmp_path / "d.rsvm")
    with pytest.raises(InputError, match="either all rows have query weights, or none"):
        pack([(X, y, qid), good], tmp_path / "d.rsvm")
    with pytest.raises(InputError, match="must be the same for all rows of a query; query "):
        pack([good, (X, y, qid, None, 1 + weight_of(qid))], tmp_path / "d.rsvm")
    same = np.zeros(20, int)
    with pytest.raises(InputError, match="query 0 has 1 and 2"):
        pack([(X, y, same, None, np.full(20, w)) for w in (1.0, 2.0)], tmp_path / "d.rsvm")
    assert not (tmp_path / "d.rsvm").exists()


def test_runs_of_a_query_with_other_weights_are_refused():
    with pytest.raises(InputError, match="query 7 has 1 and 2"):
        queries.Runs(np.array([7, 8, 7]), np.array([2, 1, 1]), np.array([1.0, 3.0, 2.0]))
    with pytest.raises(InputError, match="query 'of row 3' has 1 and 2"):
        queries.Runs(np.array([b"a", b"b", b"a"]), np.array([2, 1, 1]), np.array([1.0, 3.0, 2.0]))


def test_folders_of_before_have_none(tmp_path):
    X, y, qid = rows(20, 0)
    data = pack([(X, y, qid)], tmp_path / "d.rsvm")
    meta = json.loads((tmp_path / "d.rsvm/meta.json").read_text())
    assert meta.pop("query_weighted") is False
    (tmp_path / "d.rsvm/meta.json").write_text(json.dumps(meta))
    assert open_data(data.path).query_weight is None


COMMENTS = [
    ("all", "# docid = a{k} inc = 1", True),
    ("none", "", False),
    ("first lacks one", "{first}", False),
    ("one in the middle lacks one", "{middle}", False),
]


@pytest.mark.parametrize("beside", [None, "query", "weight"])
@pytest.mark.parametrize(("name", "comment", "kept"), COMMENTS, ids=[case[0] for case in COMMENTS])
def test_documents_of_comments_are_kept_if_all_rows_have_one(
    tmp_path, monkeypatch, name, comment, kept, beside
):
    monkeypatch.setattr("ranksvm.files.svmlight._BLOCK_BYTES", 200)
    monkeypatch.setattr("ranksvm.files.svmlight_parts._PART_BYTES", 200)

    def line(k):
        lacks = {"{first}": 0, "{middle}": 17}.get(comment)
        shown = "# docid=a{k}" if lacks not in (None, k) else ("" if lacks == k else comment)
        qid = "" if beside == "query" else f"qid:{(7 * k) % 5} "
        return f"{k % 3} {qid}1:{k + 1} 2:{k * k + 1} {shown.format(k=k)}\n"

    files = [tmp_path / "1.svm", tmp_path / "2.svm"]
    files[0].write_text("# a heading\n\n" + "".join(map(line, range(20))))
    files[1].write_text("".join(map(line, range(20, 40))))
    if beside is not None:
        for file in files:
            content = "12\n8\n" if beside == "query" else "".join(f"{k + 1}\n" for k in range(20))
            file.with_name(f"{file.name}.{beside}").write_text(content)
    data = pack_files(list(map(str, files)), tmp_path / "d.rsvm", Reading())
    in_memory = read_data(list(map(str, files)), Reading(comments=True))
    assert (data.docids is not None) == kept == (in_memory.docids is not None)
    if kept:
        places = {docid: k for k, docid in enumerate(in_memory.docids)}
        order = [places[docid] for docid in data.docids]
        assert_array_equal(data.X, in_memory.X[order])
        if beside == "weight":
            assert_array_equal(data.sample_weight, in_memory.cost[order])
    assert ("docids.npy" in {file.name for file in (tmp_path / "d.rsvm").iterdir()}) == kept
    names = {source.name for source in data.sources}
    assert (f"{files[0]}.{beside}" in names) == (beside is not None)


def test_the_best_documents_are_named(tmp_path):
    text = "".join(f"{k % 2} qid:{k // 4} 1:{k} # docid = d{k}\n" for k in range(1, 20))
    (tmp_path / "a.svm").write_text(text)
    main(["pack", str(tmp_path / "a.svm"), str(tmp_path / "d.rsvm")])
    main(["train", str(tmp_path / "d.rsvm"), str(tmp_path / "m.json")])
    best = []
    for data in ("a.svm", "d.rsvm"):
        out = tmp_path / f"{data}.csv"
        main(["predict", str(tmp_path / "m.json"), str(tmp_path / data), str(out), "--top", "2"])
        best.append(out.read_text())
    assert best[0] == best[1]
    assert ",d3," in best[0]
