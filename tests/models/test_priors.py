"""The weights of a model as a prior for other data."""

import warnings

import numpy as np
import pytest

from ranksvm import LinearModel
from ranksvm.linear.feature_names import FeatureNames
from ranksvm.linear.occurring import FeatureWeights
from ranksvm.models.maps import QueryMap
from ranksvm.models.priors import prior_of

WEIGHTS = np.array([1.0, 0.0, -2.0])
NAMED = LinearModel(WEIGHTS, ["a", "b", "c"])


def quietly(model, features, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return prior_of(model, features, "old", **options).tolist()


@pytest.mark.parametrize(
    ("model", "features", "expected"),
    [
        (NAMED, FeatureNames(3, ["c", "x", "a"]), [-2, 0, 1]),
        (NAMED, FeatureNames(4, ["c", "a", "y", "x"]), [-2, 1, 0, 0]),  # b weighs nothing
        (NAMED, FeatureNames(4), [1, 0, -2, 0]),
        (LinearModel(WEIGHTS), FeatureNames(3, ["x", "y", "z"]), [1, 0, -2]),
    ],
)
def test_by_name_or_else_by_number(model, features, expected):
    assert quietly(model, features) == expected


def test_numbers_that_begin_elsewhere():
    model = LinearModel(np.array([0.0, 1.0, 2.0]))
    assert quietly(model, FeatureNames(4, first=0), first=1) == [0, 0, 1, 2]
    assert quietly(model, FeatureNames(2, first=1), first=0) == [1, 2]


def test_of_most_features_none_is_made():
    model = LinearModel(FeatureWeights.of_some({3: 1.0, 10**8: 2.0}, 10**9))
    with pytest.warns(UserWarning, match="left out: 100000000$"):
        found = prior_of(model, FeatureNames(5), "old")
    assert found.tolist() == [0, 0, 0, 1, 0]


def test_what_is_left_out_is_listed_shortly():
    model = LinearModel(np.ones(30))
    with pytest.warns(
        UserWarning, match=r"^X lacks .* old .*: 1, 2, 3, 4, 5, 6, 7, 8 and 21 more$"
    ):
        assert prior_of(model, FeatureNames(1), "old").tolist() == [1]


def test_a_prior_of_nothing_is_refused():
    with pytest.raises(ValueError, match="old has no weight of a feature that data has"):
        prior_of(NAMED, FeatureNames(1, ["x"], data="data"), "old")
    with pytest.raises(ValueError, match="old has no weights of the features as they are"):
        prior_of(LinearModel(WEIGHTS, maps=[QueryMap(3)]), FeatureNames(3), "old")
    with pytest.raises(ValueError, match="old has weights that are not finite"):
        prior_of(LinearModel(np.array([np.nan])), FeatureNames(1), "old")
    assert quietly(LinearModel(np.zeros(2)), FeatureNames(1, ["x"])) == [0]
