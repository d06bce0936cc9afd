"""TREC run files: the order of trec_eval."""

import gzip
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm import write_trec_run


def written(tmp_path, *arguments, **options):
    write_trec_run(tmp_path / "run", *arguments, **options)
    return (tmp_path / "run").read_text("utf-8").splitlines()


def test_order_of_queries_and_documents(tmp_path):
    lines = written(tmp_path, [7, 3, 7, 7], ["a", "b", "c", "d"], [0.5, 1.0, 2.0, 0.5], tag="mine")
    assert lines == [
        "7 Q0 c 1 2.0 mine",
        "7 Q0 d 2 0.5 mine",
        "7 Q0 a 3 0.5 mine",
        "3 Q0 b 1 1.0 mine",
    ]


def test_text_ids(tmp_path):
    lines = written(tmp_path, np.array(["q-2", "q-1"]), ["größe", "b"], np.array([1e-300, 3]))
    assert lines == ["q-2 Q0 größe 1 1e-300 ranksvm", "q-1 Q0 b 1 3.0 ranksvm"]


def test_ids_that_are_not_utf8_stay_as_they_were(tmp_path):
    write_trec_run(tmp_path / "run", ["\udce9"] * 2, ["\udcff", "\u20ac"], [1.0, 1.0])
    assert (tmp_path / "run").read_bytes() == (
        b"\xe9 Q0 \xff 1 1.0 ranksvm\n\xe9 Q0 \xe2\x82\xac 2 1.0 ranksvm\n"
    )


def test_runs_can_be_compressed(tmp_path):
    write_trec_run(tmp_path / "run.gz", [1], ["a"], [0.5])
    assert gzip.decompress((tmp_path / "run.gz").read_bytes()) == b"1 Q0 a 1 0.5 ranksvm\n"


@given(
    rows=st.lists(
        st.tuples(
            st.integers(0, 3),
            st.text("aéz\U0001f600\uffee0", min_size=1, max_size=3),
            st.sampled_from([-1.5, 0.0, 0.1, 2.0]),
        ),
        unique_by=lambda row: row[:2],
    )
)
def test_every_query_is_ranked(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("run") / "run"
    write_trec_run(path, [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows])
    lines = [line.split(" ") for line in path.read_text("utf-8").splitlines()]
    assert sorted((int(q), d, float(s)) for q, _, d, _, s, _ in lines) == sorted(rows)
    assert list(dict.fromkeys(int(line[0]) for line in lines)) == list(
        dict.fromkeys(row[0] for row in rows)
    )
    for query in {line[0] for line in lines}:
        ranked = [line for line in lines if line[0] == query]
        assert [int(line[3]) for line in ranked] == list(range(1, len(ranked) + 1))
        keys = [(float(line[4]), line[2].encode()) for line in ranked]
        assert keys == sorted(keys, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], ["a", "b"], [1.0, 2.0]), "there are 2 scores but 1 values of qid"),
        (([1, 1], ["a"], [1.0, 2.0]), "there are 2 scores but 1 values of docid"),
        (([1, 1], ["a", "b c"], [1.0, 2.0]), "the docid 'b c' of row 2 must be one word"),
        (([1, 1], ["a", ""], [1.0, 2.0]), "the docid '' of row 2 must be one word"),
        ((["1", "1\n"], ["a", "b"], [1.0, 2.0]), r"the qid '1\\n' of row 2 must be one word"),
        (([1, 1], ["a", "b"], [1.0, np.nan]), "scores must be finite; row 1 holds nan"),
        (([1, 1], ["a", "a"], [1.0, 2.0]), "query '1' has the document 'a' twice"),
        (([1], ["a"], [1.0], "my run"), "the tag 'my run' .*must be one word"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_trec_run(tmp_path / "run", *arguments)
    assert os.listdir(tmp_path) == []
