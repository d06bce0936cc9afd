"""Files of bounds and of penalties."""

import numpy as np
import pytest

from ranksvm.files.feature_numbers import read_bounds, read_penalty_weights
from ranksvm.files.source import DataError
from ranksvm.linear.feature_names import FeatureNames

INF = np.inf
UNNAMED = FeatureNames(4, first=1, data="DATA")
NAMED = FeatureNames(4, ["bm25", "a b", "c,d", "7"], data="DATA")


def read(tmp_path, text, features=UNNAMED, reader=read_bounds):
    path = tmp_path / "f"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return reader(path, features)


@pytest.mark.parametrize(
    "text",
    [
        "1,0,inf\n3,-inf,0.5\n",
        "feature,lower,upper\n3,,0.5\n1,0,\n",
        "# bounds\n\nname\tlower\tupper\n1\t0\t\n3\t\t5e-1\n",
        "1 0 inf\r\n3 -INF +0.5",
        '\ufeff"1" , "0" , \n"3",,".5"\n',
    ],
)
def test_ways_to_write_the_same_bounds(tmp_path, text):
    lower, upper = read(tmp_path, text)
    np.testing.assert_array_equal(lower, [0, -INF, -INF, -INF])
    np.testing.assert_array_equal(upper, [INF, INF, 0.5, INF])


def test_features_by_name(tmp_path):
    text = 'bm25,1,2\n"c,d",-1,0\n"a b",0,0\n7,3,3\n'
    lower, upper = read(tmp_path, text, NAMED)
    np.testing.assert_array_equal(lower, [1, 0, -1, 3])
    np.testing.assert_array_equal(upper, [2, 0, 0, 3])


def test_numbers_begin_where_those_of_the_data_do(tmp_path):
    lower, _ = read(tmp_path, "0,5,6\n", FeatureNames(2, first=0))
    np.testing.assert_array_equal(lower, [5, -INF])


def test_penalties(tmp_path):
    found = read(tmp_path, "feature,penalty\n2,0\n4,2.5\n", reader=read_penalty_weights)
    np.testing.assert_array_equal(found, [1, 0, 1, 2.5])


@pytest.mark.parametrize(
    ("text", "features", "message"),
    [
        ("", UNNAMED, r"f names no features: expected feature,lower,upper in each line$"),
        ("feature,lower,upper\n", UNNAMED, "f names no features"),
        ("1,0\n", UNNAMED, r"f, line 1: expected feature,lower,upper, found 2 fields$"),
        ("1\n", UNNAMED, r"found 1 field$"),
        ("1,0,1,2\n", UNNAMED, r"found 4 fields$"),
        ("1 0\n", UNNAMED, r"found 2 fields$"),
        ("1,0,1\n# x\n2,x,1\n", UNNAMED, r"f, line 3, column 3: expected a number, found 'x'$"),
        ("1,0,nan\n", UNNAMED, r"f, line 1, column 5: expected a number, found 'nan'$"),
        ("1,0,1_0\n", UNNAMED, r"column 5: expected a number, found '1_0'$"),
        (
            "1,2,1\n",
            UNNAMED,
            r"f, line 1: there is no weight from 2 to 1: lower bounds come first$",
        ),
        ("1,inf,inf\n", UNNAMED, "there is no weight from inf to inf"),
        ("5,0,1\n", UNNAMED, r"f, line 1, column 1: DATA has no feature 5: .* from 1 to 4$"),
        ("0,0,1\n", UNNAMED, r"column 1: DATA has no feature 0: "),
        ("a,0,1\n", UNNAMED, r"column 1: DATA has no feature 'a': its features have no names"),
        ("1,0,1\n1,0,1\n", UNNAMED, r"line 2: feature 1 is given again, after line 1: remove"),
        ("bm52,0,1\n", NAMED, r"DATA has no feature 'bm52' \(did you mean 'bm25'\?\)$"),
        ("1,0,1\n", NAMED, r"DATA has no feature '1'"),
        (b"1,0,1\n\xff,0,1\n", UNNAMED, r"f, line 2: not UTF-8 text$"),
        ("feature,lower,upper\nfeature,lower,upper\n", UNNAMED, "line 2, column 1: DATA has no"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, features, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, text, features)


@pytest.mark.parametrize("penalty", ["-1", "inf", "", "x"])
def test_penalties_are_finite_and_not_negative(tmp_path, penalty):
    with pytest.raises(DataError, match="f, line 1, column 3: expected a "):
        read(tmp_path, f"1,{penalty}\n", reader=read_penalty_weights)
