"""What rows may be given as: collections of every kind, and files; the same optimum from each."""

from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

import ranksvm
from ranksvm import RankSVM, load_svmlight
from ranksvm.dask import DaskRankSVM

RNG = np.random.default_rng(17)
N, D, CHUNKS = 120, 5, (48, 36, 36)
NAMES = list("abcde")
X = np.where(RNG.random((N, D)) < 0.4, 0.0, RNG.normal(size=(N, D)))
Y = (2 * X[:, 0] + RNG.normal(size=N)).round().clip(-2, 2) + 2.0
QID = np.repeat(np.arange(N // 12), 12)
ENDS = np.cumsum(CHUNKS)
SLICES = [slice(end - size, end) for end, size in zip(ENDS, CHUNKS, strict=True)]


@pytest.fixture(scope="module")
def local():
    return RankSVM(tol=1e-10).fit(X, Y, QID)


def columns():
    return [da.from_array(v, chunks=(CHUNKS,)) for v in (Y, QID)]


def dense():
    return da.from_array(X, chunks=(CHUNKS, D)), *columns()


def blocks_of_csr():
    return dense()[0].map_blocks(csr_matrix), *columns()


def cut_by_columns():
    return da.from_array(X, chunks=(CHUNKS, (2, 3))), *columns()


def in_fortran_order():
    return da.from_array(np.asfortranarray(X), chunks=(CHUNKS, D)), *columns()


def scattered():
    """Futures of what was sent to workers."""
    client = distributed.default_client()
    futures = client.scatter([X[rows] for rows in SLICES])
    pairs = zip(futures, CHUNKS, strict=True)
    blocks = [da.from_delayed(dask.delayed(f), (n, D), X.dtype) for f, n in pairs]
    return da.concatenate(blocks), *columns()


def persisted():
    return dask.persist(*dense())


def frame_of(rows=slice(None)):
    return pd.DataFrame(X[rows], columns=NAMES).assign(qid=QID[rows], label=Y[rows])


def frames():
    frame = frame_of()
    parts = dd.from_delayed([dask.delayed(frame.iloc[rows]) for rows in SLICES], meta=frame[:0])
    return parts[NAMES], parts["label"], parts["qid"]


def pathless(write):
    """Return a function that writes each part to a folder, and gives the paths."""

    def make(folder):
        return ([write(folder, k, rows) for k, rows in enumerate(SLICES)],)

    return make


def parquet(folder, k, rows):
    path = folder / f"{k}.parquet"
    frame_of(rows).to_parquet(path)
    return path


def svmlight(folder, k, rows):
    path = folder / f"{k}.svm"
    dump_svmlight_file(X[rows], Y[rows], str(path), zero_based=False, query_id=QID[rows])
    return path


def csv(folder, k, rows):
    path = folder / f"{k}.csv"
    frame_of(rows).to_csv(path, index=False, float_format="%.17g")
    return str(path)


def packed(folder, k, rows):
    path = folder / f"{k}.rsvm"
    ranksvm.pack([(X[rows], Y[rows], QID[rows])], path)
    return path


COLLECTIONS = (dense, blocks_of_csr, cut_by_columns, in_fortran_order, scattered, persisted, frames)
FILES = (parquet, svmlight, csv, packed)


@pytest.mark.parametrize("make", COLLECTIONS, ids=lambda make: make.__name__)
def test_collections(client, local, make):
    model = DaskRankSVM(tol=1e-10, client=client).fit(*make())
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
    assert model.n_moved_rows_ == 0


@pytest.mark.parametrize("write", FILES, ids=lambda write: write.__name__)
def test_files(client, local, tmp_path, write):
    paths = pathless(write)(tmp_path)
    model = DaskRankSVM(tol=1e-10, client=client).fit(*paths)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.predict(*paths).compute(), local.predict(X), atol=1e-9)
    assert model.score(*paths) == local.score(X, Y, QID)


def write_text(folder, texts):
    paths = [folder / f"{k}.svm" for k in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


WIDE = "2 qid:{q} 1:1 3:2\n1 qid:{q} 1:0.5 3:1 6:1\n0 qid:{q} 5:1\n"
NARROW = "2 qid:{q} 1:3\n1 qid:{q} 1:1\n0 qid:{q} 2:1\n"  # dense, being mostly of values
FROM_ZERO = "2 qid:{q} 0:1 2:3\n1 qid:{q} 1:1\n0 qid:{q} 2:1\n"


def texts_of(*kinds):
    return [kind.format(q=q) for q, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    "kinds",
    [(NARROW, WIDE), (WIDE, NARROW, NARROW), (WIDE, FROM_ZERO, NARROW)],
    ids=["wider later", "wider first", "one from zero"],
)
def test_parts_may_end_at_different_features(client, tmp_path, kinds):
    paths = write_text(tmp_path, texts_of(*kinds))
    rows = ranksvm.load_table(paths)
    local = RankSVM(tol=1e-10).fit(rows.X, rows.y, rows.qid)
    model = DaskRankSVM(tol=1e-10, client=client).fit(paths)
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
    assert model.score(paths[1:]) == local.score(
        *(
            v[3:]
            for v in (rows.X.toarray() if hasattr(rows.X, "tocsr") else rows.X, rows.y, rows.qid)
        )
    )
    if kinds[0] is WIDE:  # which a narrow one alone would not tell
        with pytest.raises(ValueError, match="partition 0 has other features than the model"):
            DaskRankSVM(client=client).fit(paths[2:]).score(paths[:1])


def test_torn_queries_of_parts_that_are_dense_and_sparse(client, tmp_path):
    text = "\n".join([WIDE.format(q=1), NARROW.format(q=1)])
    (tmp_path / "all.svm").write_text(text)
    whole = load_svmlight(tmp_path / "all.svm")
    paths = write_text(tmp_path, [WIDE.format(q=1), NARROW.format(q=1)])
    with pytest.warns(UserWarning, match="3 of 6 rows were moved"):
        model = DaskRankSVM(tol=1e-10, client=client).fit(paths)
    np.testing.assert_allclose(model.coef_, RankSVM(tol=1e-10).fit(*whole).coef_, atol=1e-9)


def test_sizes_beside_parts_are_of_queries_of_their_own(client, tmp_path):
    """Each file numbers its queries from one; they are not the same."""
    paths = []
    for k, rows in enumerate(SLICES):
        paths.append(tmp_path / f"{k}.svm")
        dump_svmlight_file(X[rows], Y[rows], str(paths[-1]), zero_based=False)
        Path(f"{paths[-1]}.query").write_text("12\n" * (CHUNKS[k] // 12))
    model = DaskRankSVM(client=client).fit(paths)
    assert (model.n_queries_, model.n_moved_rows_) == (N // 12, 0)


def test_files_of_different_kinds_are_refused(client, tmp_path):
    paths = [svmlight(tmp_path, 0, SLICES[0]), parquet(tmp_path, 1, SLICES[1])]
    with pytest.raises(ValueError, match="partition 1 is of numbered features, as in SVMlight"):
        DaskRankSVM(client=client).fit(paths)
    with pytest.raises(ValueError, match="labels and queries of their own: leave out y"):
        DaskRankSVM(client=client).fit(paths, columns()[0])


@pytest.mark.parametrize("kind", ["string", "category", "object"])
def test_query_ids_may_be_texts(client, local, kind):
    frame = frame_of().assign(qid=[f"q{q}" for q in QID])
    frame["qid"] = frame["qid"].astype(kind)
    parts = dd.from_delayed([dask.delayed(frame.iloc[rows]) for rows in SLICES], meta=frame[:0])
    model = DaskRankSVM(tol=1e-10, qid="qid", client=client)
    model.fit(parts[[*NAMES, "qid"]], parts["label"])
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=0, atol=1e-9)
    assert model.score(parts[[*NAMES, "qid"]], parts["label"]) == local.score(X, Y, QID)
    with pytest.raises(ValueError, match=r"must hold numbers.*qid|qid.*must hold numbers"):
        DaskRankSVM(client=client).fit(parts[[*NAMES, "qid"]], parts["label"])
    with pytest.raises(ValueError, match="X has no column 'query', which is to hold"):
        DaskRankSVM(qid="query", client=client).fit(parts, parts["label"])
    with pytest.raises(ValueError, match="X has no column 'qid'"):
        model.fit(*dense()[:2])


def test_columns_of_unlike_lengths_name_their_partition(client):
    labels = da.from_array(Y, chunks=(CHUNKS,)).map_blocks(lambda block: block[1:])
    frame = dd.from_delayed([dask.delayed(frame_of(rows)[NAMES]) for rows in SLICES])
    with pytest.raises(ValueError, match=r"partition 0: y has 47 rows where X has 48"):
        DaskRankSVM(client=client).fit(frame, labels)
    with pytest.raises(ValueError, match="y is partitioned differently from X: 2 partitions"):
        DaskRankSVM(client=client).fit(frame, da.from_array(Y, chunks=60))
    with pytest.raises(ValueError, match="X must be a matrix, found 1 dimensions"):
        DaskRankSVM(client=client).fit(labels, labels)
