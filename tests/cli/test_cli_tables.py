"""Tables and several files on the command line."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from ranksvm import LinearModel, RankSVM, dump_svmlight, load_model, load_table, save_model
from ranksvm.cli.program import main
from ranksvm.files.tables import formats

NAMES = ["bm25", "clicks", "age"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the same rows in every format, which the working directory is."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)), 3)
    y = rng.integers(0, 3, 60).astype(float)
    qid = np.repeat(np.arange(1, 7), 10)
    monkeypatch.chdir(tmp_path)
    dump_svmlight("rows.svm", X, y, qid)
    table = pa.table({"label": y, "qid": qid, **dict(zip(NAMES, X.T, strict=True))})
    parquet.write_table(table, "rows.parquet")
    feather.write_feather(table, "rows.feather")
    write_csv("rows.csv", table)
    for k in range(3):
        parquet.write_table(table.slice(20 * k, 20), f"part-{k}.parquet")
        dump_svmlight(f"part-{k}.svm", X[20 * k :][:20], y[20 * k :][:20], qid[20 * k :][:20])
    return tmp_path


def write_csv(path, table, delimiter=","):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows([table.column_names, *zip(*table.to_pydict().values(), strict=True)])


def run(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0, capsys.readouterr().err
    return capsys.readouterr()


def refused(capsys, *arguments):
    assert main([*map(str, arguments)]) == 2
    found = capsys.readouterr()
    assert found.out == ""
    return found.err


def coefficients(path):
    return load_model(path).coef.tobytes()


DATA = ["rows.parquet", "rows.feather", "rows.csv", "part-*.parquet", "part-*.svm"]


@pytest.mark.parametrize("data", DATA)
def test_every_format_trains_the_same_model(folder, capsys, data):
    run(capsys, "train", "rows.svm", "expected.json")
    run(capsys, "train", data, "m.json")
    assert coefficients("m.json") == coefficients("expected.json")
    run(capsys, "train", "part-0.svm", "part-1.svm", "-C", "1", "part-2.svm", "n.json")
    assert coefficients("n.json") == coefficients("expected.json")


@pytest.mark.parametrize("data", DATA)
def test_every_format_is_scored_the_same(folder, capsys, data):
    run(capsys, "train", "rows.parquet", "m.json")
    expected = RankSVM().fit(*load_table("rows.parquet")[:3])
    run(capsys, "predict", "m.json", data, "scores", "-q")
    scores = np.loadtxt("scores")
    assert scores.tolist() == expected.predict(load_table("rows.csv").X).tolist()
    table = run(capsys, "evaluate", data, "m.json", "-q").out
    assert run(capsys, "evaluate", data, "scores", "-q").out == table


def test_other_commands(folder, capsys):
    expected = run(capsys, "cv", "rows.svm", "--Cs", "1,2").out
    for data in DATA:
        assert run(capsys, "cv", data, "--Cs", "1,2").out == expected
    expected = run(capsys, "path", "rows.svm", "--validation", "rows.svm").out
    assert run(capsys, "path", "rows.csv", "--validation", "rows.parquet").out == expected
    run(capsys, "train", "rows.csv", "m.json")
    run(capsys, "plot", "scores", "rows.csv", "m.json", "scores.png")
    run(capsys, "plot", "coefficients", "m.json", "weights.svg", "--data", "rows.parquet")
    assert (folder / "weights.svg").stat().st_size > 0


def test_names_are_kept_and_matched(folder, capsys):
    run(capsys, "train", "rows.csv", "m.json")
    content = json.loads((folder / "m.json").read_text())
    assert content["feature_names"] == NAMES
    assert set(content["weights"]) == set(NAMES)
    assert "names         bm25, clicks, age" in run(capsys, "info", "m.json").out
    expected = run(capsys, "predict", "m.json", "rows.csv").out

    table = parquet.read_table("rows.parquet")
    other = table.select(["clicks", "qid", "age", "bm25"]).append_column(
        "url", pa.array(["x"] * 60)
    )
    parquet.write_table(other, "other.parquet")
    assert run(capsys, "predict", "m.json", "other.parquet").out == expected
    parquet.write_table(other.drop_columns(["age", "clicks"]), "fewer.parquet")
    error = refused(capsys, "predict", "m.json", "fewer.parquet")
    assert "no column 'clicks', 'age', which the model was trained on" in error


def test_names_on_one_side_alone_are_said(folder, capsys):
    run(capsys, "train", "rows.csv", "named.json")
    run(capsys, "train", "rows.svm", "numbered.json")
    expected = run(capsys, "predict", "named.json", "rows.csv").out
    found = run(capsys, "predict", "named.json", "rows.svm")
    assert found.out == expected
    assert "note: rows.svm has no names of features: they are taken in their order" in found.err
    found = run(capsys, "predict", "numbered.json", "rows.csv")
    assert found.out == expected
    assert "note: the model has no names of features" in found.err
    write_csv("two.csv", parquet.read_table("rows.parquet").drop_columns(["age"]))
    error = refused(capsys, "predict", "numbered.json", "two.csv")
    assert "two.csv has 2 features but the model was trained with 3" in error


def test_columns(folder, capsys):
    table = parquet.read_table("rows.parquet")
    table = table.rename_columns(["grade", "search", *NAMES])
    table = table.append_column("w", pa.array([1.0, 2.0] * 30)).append_column(
        "url", pa.array(["x"] * 60)
    )
    parquet.write_table(table, "t.parquet")
    options = ["--label", "grade", "--qid", "search", "--weight", "w"]
    run(capsys, "train", "t.parquet", "m.json", *options, "--drop", "url,age")
    assert load_model("m.json").feature_names == ["bm25", "clicks"]
    run(capsys, "train", "t.parquet", "n.json", *options, "--columns", "b*,clicks")
    assert coefficients("m.json") == coefficients("n.json")
    error = refused(capsys, "train", "t.parquet", "o.json", *options)
    assert "t.parquet: the column 'url' holds texts, no numbers: leave it out, by --drop" in error
    error = refused(capsys, "train", "t.parquet", "o.json", "--drop", "a", "--columns", "b")
    assert "--columns and --drop exclude each other" in error
    assert not (folder / "o.json").exists()


@pytest.mark.parametrize(
    "options", [["--label", "y"], ["--qid", "q"], ["--columns", "a"], ["--drop", "a"]]
)
def test_columns_of_files_without_names(folder, capsys, options):
    run(capsys, "train", "rows.svm", "m.json")
    for command in (["train", "rows.svm", "o.json"], ["predict", "m.json", "rows.svm", "o"]):
        error = refused(capsys, *command, *options)
        assert f"rows.svm is no table, its columns have no names: leave out {options[0]}" in error


def test_survival(folder, capsys):
    rng = np.random.default_rng(1)
    time, event, X = rng.exponential(size=40), rng.random(40) < 0.6, rng.normal(size=(40, 2))
    table = pa.table({"time": time, "dead": event, "a": X[:, 0], "b": X[:, 1]})
    parquet.write_table(table, "t.parquet")
    dump_svmlight("t.svm", X, time)
    np.savetxt("events", event, "%d")
    run(capsys, "train", "t.svm", "expected.json", "--event", "events")
    options = ["--label", "time", "--event", "dead"]
    found = run(capsys, "train", "t.parquet", "m.json", *options, "--validation", "t.parquet")
    assert coefficients("m.json") == coefficients("expected.json")
    index = run(capsys, "evaluate", "t.parquet", "m.json", *options).out.split()[-1]
    assert f"concordance_index {index}" in found.err
    assert index in run(capsys, "info", "m.json").out


def test_sizes_of_queries(folder, capsys):
    run(capsys, "train", "rows.svm", "expected.json")
    write_csv("bare.csv", parquet.read_table("rows.parquet").drop_columns(["qid"]))
    (folder / "sizes").write_text("10\n" * 6)
    run(capsys, "train", "bare.csv", "m.json", "--group", "sizes")
    assert coefficients("m.json") == coefficients("expected.json")
    top = run(capsys, "predict", "m.json", "rows.csv", "--top", "2").out
    assert run(capsys, "predict", "m.json", "bare.csv", "--top", "2", "--group", "sizes").out == top
    (folder / "bare.csv.query").write_text("10\n" * 6)
    found = run(capsys, "train", "bare.csv", "n.json")
    assert "note: bare.csv.query says how many rows of bare.csv each query has" in found.err
    assert coefficients("n.json") == coefficients("expected.json")
    assert run(capsys, "predict", "n.json", "bare.csv", "--top", "2").out == top
    error = refused(capsys, "train", "rows.csv", "o.json", "--group", "sizes")
    assert "rows.csv has qids: leave out them, or sizes" in error
    for text in ("10\n" * 5, "10\n" * 7, "9\n" * 6 + "7\n"):
        (folder / "sizes").write_text(text)
        for command in (["train", "bare.csv", "o.json"], ["predict", "m.json", "bare.csv", "s"]):
            error = refused(capsys, *command, "--group", "sizes")
            assert f"sums to {sum(map(int, text.split()))} rows" in error
    (folder / "sizes").write_text("10\nmany\n")
    error = refused(capsys, "train", "bare.csv", "o.json", "--group", "sizes")
    assert "sizes, line 2: expected how many rows a query has, found 'many'" in error
    assert not (folder / "o.json").exists()
    assert not (folder / "s").exists()


def test_weights_of_rows(folder, capsys):
    table = parquet.read_table("rows.parquet")
    weights = 1.0 + np.arange(60) % 3
    parquet.write_table(table.append_column("w", pa.array(weights)), "weighed.parquet")
    run(capsys, "train", "weighed.parquet", "expected.json", "--weight", "w")
    np.savetxt("rows.csv.weight", weights)
    np.savetxt("rows.svm.weight", weights)
    found = run(capsys, "train", "rows.csv", "m.json")
    assert "note: rows.csv.weight says what each row of rows.csv weighs" in found.err
    run(capsys, "train", "rows.svm", "n.json")
    assert coefficients("m.json") == coefficients("n.json") == coefficients("expected.json")
    np.savetxt("weighed.parquet.weight", 2 * weights)
    run(capsys, "train", "weighed.parquet", "o.json", "--weight", "w")  # the column counts
    assert coefficients("o.json") == coefficients("expected.json")
    for text, message in [
        ("1\n" * 59, "rows.csv.weight has 59 weights, but rows.csv has more rows"),
        ("1\n" * 61, "rows.csv.weight has 61 weights, but rows.csv has 60 rows"),
        ("1\n-1\n" * 30, "rows.csv.weight, line 2: a weight must not be negative"),
        ("1\nx\n" * 30, "rows.csv.weight, line 2: expected the weight of a row, found 'x'"),
    ]:
        (folder / "rows.csv.weight").write_text(text)
        assert message in refused(capsys, "train", "rows.csv", "p.json")


@pytest.mark.parametrize("data", ["rows.csv", "rows.parquet", "rows.svm"])
def test_exports_are_checked_on_rows_some_at_a_time(folder, capsys, monkeypatch, data):
    run(capsys, "train", "rows.csv", "m.json")
    arguments = ["convert", "m.json", "out", "--to", "solr", "--check", data, "--nonnegative"]
    expected = run(capsys, *arguments).err, (folder / "out").read_text()
    assert "of 270 pairs of rows of" in expected[0]
    monkeypatch.setattr(formats, "_BATCH_ROWS", 7)
    monkeypatch.setattr(formats, "_CSV_BLOCK", 512)
    assert (run(capsys, *arguments).err, (folder / "out").read_text()) == expected


def test_validation(folder, capsys):
    found = run(capsys, "train", "part-0.parquet", "m.json", "--validation", "part-1.svm")
    expected = run(capsys, "evaluate", "part-1.svm", "m.json", "--metrics", "ndcg@10").out
    value = expected.split()[-1]
    assert f"ndcg@10 {value}" in found.err
    record = load_model("m.json").training["validation"]
    assert record["data"] == "part-1.svm"
    assert f"{record['ndcg@10']:.6f}" == value
    assert "validation    data=part-1.svm, pairwise_accuracy=" in run(capsys, "info", "m.json").out
    (folder / "one.svm").write_text("1 qid:1 1:2\n")
    error = refused(capsys, "train", "rows.svm", "o.json", "--validation", "one.svm")
    assert "one.svm cannot be measured" in error
    assert not (folder / "o.json").exists()


def test_the_best_rows(folder, capsys):
    run(capsys, "train", "rows.csv", "m.json")
    scores = np.array(run(capsys, "predict", "m.json", "rows.csv").out.split(), dtype=float)
    table = csv.DictReader(
        io.StringIO(run(capsys, "predict", "m.json", "rows.csv", "--top", 3).out)
    )
    rows = list(table)
    assert len(rows) == 18
    for k, row in enumerate(rows):
        of_query = scores[10 * (k // 3) :][:10]
        best = 10 * (k // 3) + np.argsort(-of_query)[k % 3]
        assert row["qid"] == str(k // 3 + 1)
        assert row["rank"] == str(k % 3 + 1)
        assert row["row"] == str(best)
        assert float(row["score"]) == scores[best]


def test_documents_of_tables(folder, capsys):
    run(capsys, "train", "rows.csv", "m.json")
    table = parquet.read_table("rows.parquet")
    table = table.append_column("doc_id", pa.array([f"d{k}" for k in range(60)]))
    parquet.write_table(table, "t.parquet")
    lines = run(capsys, "predict", "m.json", "t.parquet", "--top", 1).out.splitlines()
    assert lines[0] == "qid,rank,docid,score"
    run_lines = run(capsys, "predict", "m.json", "t.parquet", "--top", 1, "--trec").out.split("\n")
    assert [line.split()[2] for line in run_lines[:-1]] == [
        line.split(",")[2] for line in lines[1:]
    ]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["rows.svm", "rows.csv"], "features have names in one of rows.svm and rows.csv"),
        (["rows.csv", "more.csv"], "more.csv has the column 'more', unlike the file before it"),
        (["more.csv", "rows.csv"], "rows.csv lacks the column 'more', unlike the file before it"),
        (["rows.svm", "bare.svm"], "rows.svm has qids, but bare.svm has none"),
        (["none-*.svm", "rows.svm"], "no file has a name such as none-*.svm"),
    ],
)
def test_files_that_do_not_go_together(folder, capsys, files, message):
    table = parquet.read_table("rows.parquet")
    write_csv("more.csv", table.append_column("more", table["age"]))
    (folder / "bare.svm").write_text("1 1:2\n0 1:3\n")
    assert message in refused(capsys, "train", *files, "m.json")
    assert not (folder / "m.json").exists()


def test_several_files_that_number_their_queries_alike(folder, capsys):
    (folder / "a.svm").write_text("1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:3\n")
    (folder / "b.svm").write_text("0 qid:2 1:4\n1 qid:1 1:5\n0 qid:1 1:7\n")
    found = run(capsys, "train", "a.svm", "b.svm", "m.json")
    assert "note: 1 qid comes in several of a.svm and the files after it" in found.err
    (folder / "ab.svm").write_text((folder / "a.svm").read_text() + (folder / "b.svm").read_text())
    run(capsys, "train", "ab.svm", "n.json")
    run(capsys, "pack", "a.svm", "b.svm", "ab.rsvm")
    run(capsys, "train", "ab.rsvm", "p.json")
    for model in ("m.json", "n.json", "p.json"):
        assert load_model(model).training["n_queries"] == 2
        assert load_model(model).training["n_pairs"] == 5


def test_files_that_count_from_zero(folder, capsys):
    (folder / "a.svm").write_text("1 qid:1 1:1 2:1\n0 qid:1 1:2\n")
    (folder / "b.svm").write_text("0 qid:2 0:4\n1 qid:2 1:5\n")
    (folder / "ab.svm").write_text((folder / "a.svm").read_text() + (folder / "b.svm").read_text())
    run(capsys, "train", "a.svm", "b.svm", "m.json")
    run(capsys, "train", "ab.svm", "n.json")
    assert coefficients("m.json") == coefficients("n.json")

    save_model(LinearModel(np.array([1.0, 2.0, 3.0])), "w.json")
    (folder / "ba.svm").write_text((folder / "b.svm").read_text() + (folder / "a.svm").read_text())
    expected = run(capsys, "predict", "w.json", "ba.svm").out
    assert run(capsys, "predict", "w.json", "b.svm", "a.svm", "-").out == expected
    assert refused(capsys, "predict", "w.json", "a.svm", "b.svm", "out").endswith(
        "seem to count from one in another, b.svm: say --zero-based\n"
    )


@pytest.mark.parametrize("options", [[], ["--top", "2"], ["--trec"]])
def test_predictions_of_parts_are_those_of_the_whole(folder, capsys, monkeypatch, options):
    table = parquet.read_table("rows.parquet")
    table = table.append_column("docid", pa.array([f"d{k}" for k in range(60)]))
    parquet.write_table(table, "t.parquet")
    shuffled = table.take(np.random.default_rng(2).permutation(60))
    parquet.write_table(shuffled, "shuffled.parquet")
    run(capsys, "train", "rows.csv", "m.json")
    run(capsys, "train", "rows.csv", "q.json", "--scale", "query")
    expected = {}
    for model in ("m.json", "q.json"):
        for data in ("t.parquet", "shuffled.parquet"):
            run(capsys, "predict", model, data, "out", *options, "--force")
            expected[model, data] = (folder / "out").read_text()
    monkeypatch.setattr(formats, "_BATCH_ROWS", 7)
    for (model, data), content in expected.items():
        run(capsys, "predict", model, data, "out", *options)
        assert (folder / "out").read_text() == content
        if not options and model == "m.json":
            assert run(capsys, "predict", model, data).out == content


def test_queries_whose_rows_are_not_adjacent_cannot_stream(folder, capsys, monkeypatch):
    monkeypatch.setattr(formats, "_BATCH_ROWS", 4)
    columns = {"y": [1, 1, 0, 0] * 5, "qid": [1, 2] * 10, "a": [2.0, 3.0, 1.0, 4.0] * 5}
    parquet.write_table(pa.table(columns), "t.parquet")
    run(capsys, "train", "t.parquet", "m.json")
    run(capsys, "predict", "m.json", "t.parquet", "out", "--top", "1")
    assert main(["predict", "m.json", "t.parquet", "--top", "1"]) == 2
    assert "the rows of query 1 are not adjacent" in capsys.readouterr().err


def test_nothing_is_half_written(folder, capsys, monkeypatch):
    monkeypatch.setattr(formats, "_BATCH_ROWS", 4)
    run(capsys, "train", "rows.csv", "m.json")
    columns = {name: [1.0] * 20 for name in NAMES}
    columns["age"][18] = None
    parquet.write_table(pa.table(columns), "bad.parquet")
    error = refused(capsys, "predict", "m.json", "bad.parquet", "out")
    assert "bad.parquet, row 19, column 'age': the value is missing" in error
    assert not (folder / "out").exists()
    assert not list(folder.glob(".ranksvm*"))
