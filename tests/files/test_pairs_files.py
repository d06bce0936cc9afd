"""Files of given pairs: many lines at once or one by one, and what is wrong where."""

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.files import pairs as pair_files
from ranksvm.files.pairs import read_pairs
from ranksvm.files.source import DataError

N_ROWS = 12
ROWS = st.integers(0, N_ROWS - 1)
LINES = st.lists(
    st.tuples(
        st.tuples(ROWS, ROWS).filter(lambda pair: pair[0] != pair[1]),
        st.lists(st.floats(1e-300, 1e300), max_size=2),
        st.sampled_from(["", " # a note", "\r", "\n", "\n# alone"]),
    ),
    min_size=1,
    max_size=20,
)


@pytest.mark.parametrize("block_bytes", [1 << 24, 7])
@given(lines=LINES)
def test_what_is_written_is_read(tmp_path_factory, block_bytes, lines):
    path = tmp_path_factory.getbasetemp() / "p.tsv"
    texts = ["\t".join(map(repr, [*pair, *more])) + end for pair, more, end in lines]
    path.write_bytes("\n".join(texts).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_files, "_BLOCK_BYTES", block_bytes)
        found = read_pairs(path, N_ROWS, "data")
    np.testing.assert_array_equal(found.pairs, [pair for pair, _, _ in lines])
    before = np.cumsum([1, *(len(text.split("\n")) for text in texts)])
    assert [found.line_of(k) for k in range(len(lines))] == [
        f"{path}, line {line}" for line in before[:-1]
    ]
    for place, column in enumerate((found.weights, found.margins)):
        expected = [more[place] if len(more) > place else 1.0 for _, more, _ in lines]
        if column is None:
            assert not any(len(more) > place for _, more, _ in lines)
        else:
            np.testing.assert_array_equal(column, expected)


def test_lines_alike_are_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(pair_files, "_line_by_line", None)
    (tmp_path / "p.tsv").write_text("3\t1\t0.5\n2\t0\t1e2\n")
    found = read_pairs(tmp_path / "p.tsv", 4, "data")
    assert found.pairs.tolist() == [[3, 1], [2, 0]]
    assert found.weights.tolist() == [0.5, 100]
    assert found.margins is None


def test_compressed_and_parted_by_spaces(tmp_path):
    (tmp_path / "p.tsv.gz").write_bytes(gzip.compress(b"3 1\n2  0\n"))
    assert read_pairs(tmp_path / "p.tsv.gz", 4, "data").pairs.tolist() == [[3, 1], [2, 0]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1", r"line 3: expected winner<TAB>loser\[<TAB>weight\[<TAB>margin\]\], found 1 field$"),
        ("1\t2\t3\t4\t5", r"line 3: expected .*, found 5 fields$"),
        ("winner\tloser", "line 3, column 1: expected the row of the winner.* found 'winner'$"),
        ("1\t-2", "line 3, column 3: expected the row of the loser, counted from zero, found '-2'"),
        ("10\t1.5", "line 3, column 4: expected the row of the loser.* found '1.5'$"),
        ("1\t12", "line 3, column 3: there is no row 12: data has 12 rows, counted from zero$"),
        ("1\t1", "line 3, column 3: row 1 is paired with itself$"),
        ("1\t2\t-1", "line 3, column 5: expected a weight, finite and not negative, found '-1'$"),
        ("1\t2\t\t1", "line 3, column 5: expected a weight.* found ''$"),
        ("1\t2\t1\tnan", "line 3, column 7: expected a margin.* found 'nan'$"),
        ("1\t2\t1\t0", "line 3, column 7: expected a margin, finite and greater than 0, found '0'"),
        ("1\t2\t1e999", "line 3, column 5: expected a weight.* found '1e999'$"),
    ],
)
def test_what_is_wrong_is_said_where(tmp_path, line, message):
    (tmp_path / "p.tsv").write_text(f"0\t1\n\n{line}\n2\t3\n")
    with pytest.raises(DataError, match=f"p.tsv, {message}"):
        read_pairs(tmp_path / "p.tsv", N_ROWS, "data")


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_no_pairs(tmp_path, text):
    (tmp_path / "p.tsv").write_text(text)
    with pytest.raises(DataError, match=r"p\.tsv holds no pairs: expected winner<TAB>loser"):
        read_pairs(tmp_path / "p.tsv", N_ROWS, "data")
