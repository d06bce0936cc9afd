"""Score files: exact, strict, one finite number per line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ranksvm.files.scores import read_scores, write_scores
from ranksvm.files.source import DataError


@given(
    scores=arrays(
        np.float64, st.integers(0, 30), elements=st.floats(allow_nan=False, allow_infinity=False)
    ),
    name=st.sampled_from(["scores", "scores.gz"]),
)
def test_round_trip_is_exact(tmp_path_factory, scores, name):
    path = tmp_path_factory.mktemp("scores") / name
    write_scores(path, scores)
    assert read_scores(path, len(scores), "data").tobytes() == scores.tobytes()


@pytest.mark.parametrize(
    "text", ["1\n2.5e-3\n-.5\n", "1\r\n2.5e-3 \r\n -.5\r\n\r\n", "+1\n25e-4\n-0.5"]
)
def test_layout_does_not_matter(tmp_path, text):
    (tmp_path / "s").write_bytes(text.encode())
    assert read_scores(tmp_path / "s", 3, "data").tolist() == [1, 2.5e-3, -0.5]


@pytest.mark.parametrize(
    "word", ["1_0", "0x10", "nan", "inf", "1e999", "", "1 2", "1,5", "\uff11", "1\0", "# 1", "1\r2"]
)
def test_what_is_no_finite_decimal_number_is_refused(tmp_path, word):
    (tmp_path / "s").write_bytes(f"1\n{word}\n3\n".encode())
    message = r"s, line 2: expected one finite score per line, found '"
    with pytest.raises(DataError, match=message):
        read_scores(tmp_path / "s", 3, "data")


def test_a_long_word_is_refused_at_once(tmp_path):
    """Digits are gone through once; by every two of them it would take hours."""
    (tmp_path / "s").write_text(10**6 * "1" + "x")
    with pytest.raises(DataError, match=r"s, line 1: expected one finite score per line, found '1"):
        read_scores(tmp_path / "s", 1, "data")


@pytest.mark.parametrize("text", ["", "\n", "1\n", "1\n2\n3\n"])
def test_as_many_scores_as_rows(tmp_path, text):
    (tmp_path / "s").write_text(text)
    with pytest.raises(DataError, match=r"s has [013] scores but data has 2 rows"):
        read_scores(tmp_path / "s", 2, "data")
