"""Values at the ends of floating point end in a result or a sentence, never in a fault."""

import re

import numpy as np
import pytest
from in_process import completed

from ranksvm import dump_svmlight
from ranksvm.models.maps import NystroemMap

N = 24
BASE = np.random.default_rng(0).uniform(-1, 1, (N, 3))
Y, QID = np.arange(N) % 3, np.arange(N) // 6
DATA = {
    "huge": 1.7e308 * BASE,
    "large": 1e160 * BASE,
    "mixed": BASE * [1.7e308, 1e-308, 1],
    "tiny": 1e-308 * BASE,
}
MODELS = {"plain": [], "splines": ["--features", "splines"], "quantile": ["--scale", "quantile"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("extreme")
    dump_svmlight(folder / "rows", BASE, Y, QID)
    for name, X in DATA.items():
        dump_svmlight(folder / name, X, Y, QID)
    dump_svmlight(folder / "labels", BASE, 5e-324 * Y, QID)
    for name, options in MODELS.items():
        assert completed("train", "rows", name, *options, cwd=folder).returncode == 0
    return folder


def judged(folder, *command):
    """Run a command, which must not be at fault; return what it says."""
    found = completed(*command, cwd=folder)
    assert found.returncode in (0, 2, 3), found.stderr
    assert "encountered" not in found.stderr
    return found


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    "options",
    [
        ["--features", "splines"],
        ["--features", "nystroem:8"],
        ["--features", "nystroem:8", "--scale", "minmax"],
        ["--scale", "standard"],
        ["--scale", "quantile"],
        ["--kernel", "polynomial"],
    ],
    ids=" ".join,
)
def test_training(folder, data, options):
    judged(folder, "train", data, "model", "--force", *options)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ("huge", ["--features", "splines"], "feature 1 goes from -1.* too far for the knots"),
        ("mixed", ["--scale", "standard"], "feature 1 of mixed cannot be scaled"),
        ("large", ["--scale", "standard"], "feature 1 of large cannot be scaled"),
    ],
)
def test_what_cannot_be_trained_is_named(folder, data, options, message):
    found = judged(folder, "train", data, "model", "--force", *options)
    assert found.returncode == 2
    assert re.search(message, found.stderr)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", ["effects", "coefficients"])
def test_pictures(folder, kind, model, data):
    found = judged(folder, "plot", kind, model, "picture.svg", "--data", data)
    if kind == "effects" and data == "huge" and model == "plain":
        assert "too far for a curve in floating point" in found.stderr


def test_a_metric_that_is_defined_for_no_query_is_told(folder):
    found = judged(folder, "report", "plain", "labels", "page.html")
    assert found.returncode == 2
    assert "ndcg@10 is defined for no query" in found.stderr


def test_kernel_features_of_squares_that_overflow_are_refused():
    with pytest.raises(ValueError, match="too large for a kernel"):
        NystroemMap.fitted(1e160 * BASE, 8)
