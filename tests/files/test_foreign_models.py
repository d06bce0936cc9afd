"""The model files of other programs, read, written and converted."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ranksvm import LinearModel, convert_model, load_model, save_model
from ranksvm.files.foreign_models import save_liblinear, save_svmrank
from ranksvm.files.model import is_model_file
from ranksvm.files.source import DataError
from ranksvm.names import MODEL_FORMS

LIBLINEAR = """\
solver_type L2R_L2LOSS_RANKSVM
nr_class 2
nr_feature 3
bias -1
w
0.25 
0 
-1.5e-3 
"""  # noqa: W291 - LIBLINEAR writes the blanks
SVMRANK = """\
SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
4 # highest feature index 
12 # number of training documents 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
1 1:0.25 3:-1.5e-3 #
"""  # noqa: W291 - SVM^rank writes the blanks
WEIGHTS = arrays(
    np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)
)


def read(tmp_path, text):
    (tmp_path / "m").write_text(text)
    return load_model(tmp_path / "m")


@given(coef=WEIGHTS, forms=st.lists(st.sampled_from(MODEL_FORMS), min_size=1, max_size=4))
def test_round_trips_are_exact(tmp_path_factory, coef, forms):
    folder = tmp_path_factory.mktemp("models")
    save_model(LinearModel(coef), folder / "0")
    for k, form in enumerate(forms):
        convert_model(folder / f"{k}", folder / f"{k + 1}", to=form)
    back = convert_model(folder / f"{len(forms)}", folder / "end", to="json")
    np.testing.assert_array_equal(back.coef, coef)
    np.testing.assert_array_equal(load_model(folder / "end").coef, coef)


def test_liblinear_models_are_read(tmp_path):
    model = read(tmp_path, LIBLINEAR)
    assert model.coef.tolist() == [0.25, 0, -1.5e-3]
    assert model.training == {"converted_from": "liblinear", "zero_based": False}
    assert is_model_file(tmp_path / "m")


def test_the_weight_of_a_bias_changes_no_order_and_is_left_out(tmp_path):
    model = read(tmp_path, LIBLINEAR.replace("bias -1", "bias 1") + "7 \n")
    assert model.coef.tolist() == [0.25, 0, -1.5e-3]


def test_models_without_a_line_for_the_bias_are_read(tmp_path):
    text = LIBLINEAR.replace("bias -1\n", "").replace("L2R_L2LOSS_RANKSVM", "SELECTION_TREE")
    assert read(tmp_path, text).coef.tolist() == [0.25, 0, -1.5e-3]


def test_svmrank_models_are_read(tmp_path):
    model = read(tmp_path, SVMRANK)
    assert model.coef.tolist() == [0.25, 0, -1.5e-3, 0]
    assert model.training == {"converted_from": "svmrank", "zero_based": False}
    assert is_model_file(tmp_path / "m")


def test_support_vectors_add_up(tmp_path):
    text = SVMRANK.replace("2 # number of sup", "3 # number of sup") + "-2 qid:1 1:0.5 2:1 #a b\n"
    assert read(tmp_path, text).coef.tolist() == [-0.75, -2, -1.5e-3, 0]


def test_what_is_written_is_as_the_programs_write_it(tmp_path):
    model = LinearModel(np.array([0.25, 0.0, -1.5e-3]))
    save_liblinear(model, tmp_path / "l")
    text = (tmp_path / "l").read_text()
    assert text.replace("-0.0015", "-1.5e-3").split() == LIBLINEAR.split()
    save_svmrank(model, tmp_path / "s")
    ours, theirs = (tmp_path / "s").read_text().splitlines(), SVMRANK.splitlines()
    assert ours[0] == theirs[0]
    for one, other in zip(ours[1:11], theirs[1:11], strict=True):
        assert one.split("#")[1].strip() == other.split("#")[1].strip()
    assert ours[7] == "3 # highest feature index"
    assert ours[11] == "1 1:0.25 3:-0.0015 #"


def test_a_model_without_weights_is_written(tmp_path):
    save_svmrank(LinearModel(np.zeros(3)), tmp_path / "s")
    assert load_model(tmp_path / "s").coef.tolist() == [0, 0, 0]


def test_weights_as_text_become_a_model(tmp_path):
    np.savetxt(tmp_path / "coeff.txt", [1.5, -2e-300, 0.1])
    model = convert_model(tmp_path / "coeff.txt", tmp_path / "m.json")
    assert model.coef.tolist() == [1.5, -2e-300, 0.1]
    assert load_model(tmp_path / "m.json").coef.tolist() == [1.5, -2e-300, 0.1]
    assert not is_model_file(tmp_path / "coeff.txt")


def test_weights_are_written_as_numpy_does(tmp_path):
    model = LinearModel(np.array([0.1, -0.0, 1e300, 5e-324]))
    save_model(model, tmp_path / "m.safetensors")
    convert_model(tmp_path / "m.safetensors", tmp_path / "w", to="weights")
    np.savetxt(tmp_path / "numpy", model.coef, "%.17g")
    assert (tmp_path / "w").read_bytes() == (tmp_path / "numpy").read_bytes()


def test_the_form_to_write_must_be_known(tmp_path):
    save_model(LinearModel(np.ones(2)), tmp_path / "m.json")
    with pytest.raises(ValueError, match=r"'.*model' does not tell a form to write: say"):
        convert_model(tmp_path / "m.json", tmp_path / "model")
    with pytest.raises(ValueError, match=r"'xml' is not a form to write: say .* one of json"):
        convert_model(tmp_path / "m.json", tmp_path / "model", to="xml")
    assert os.listdir(tmp_path) == ["m.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LIBLINEAR.replace("RANKSVM", "SVC"), "line 1: expected a ranking solver .*LOSS_SVC'"),
        (LIBLINEAR.replace("class 2", "class 3"), "line 2: expected nr_class 2.*found '3'"),
        (LIBLINEAR.replace("feature 3", "feature x"), "line 3: expected a positive whole number"),
        (LIBLINEAR.replace("feature 3", "feature 99999999999"), "line 3: expected a positive"),
        (LIBLINEAR.replace("bias -1", "bias x"), "line 4: expected a number, found 'x'"),
        (LIBLINEAR.replace("bias -1", "rho 1"), "line 4: expected solver_type.*found 'rho 1'"),
        (LIBLINEAR.replace("0.25", "nan"), "line 6: expected one finite weight per line"),
        (LIBLINEAR.replace("0.25", "1e999"), "line 6: expected one finite weight per line"),
        (LIBLINEAR.replace("0.25", "1 2"), "line 6: expected one finite weight .*found '1 2'"),
        (LIBLINEAR.replace("0.25", "1_0"), "line 6: expected one finite weight"),
        (LIBLINEAR.replace("nr_feature 3\n", ""), "the line nr_feature is missing"),
        (LIBLINEAR + "1\n", "has 4 weights after line 5, but nr_feature and bias ask for 3"),
        (LIBLINEAR.partition("0.25")[0], "has 0 weights after line 5"),
        (LIBLINEAR.partition("w\n")[0], "ends at line 4, before the line w"),
        (SVMRANK.replace("0 # kernel", "2 # kernel"), "line 2: expected 0, the linear kernel"),
        (SVMRANK.replace("4 # high", "0 # high"), "line 8: expected a positive whole number"),
        (SVMRANK.replace("2 # number of s", "x # number of s"), "line 10: expected a positive"),
        (SVMRANK.replace("0 # thresh", "x # thresh"), "line 11: expected a number, found 'x'"),
        (SVMRANK.replace("# kernel parameter -s", ""), "line 5: .*# kernel parameter -s"),
        (SVMRANK.partition("# highest")[0], "ends at line 8: the header has 11 lines"),
        (SVMRANK + "1 1:1 #\n", "has 2 support vectors after line 11, but line 10 says 1"),
        (SVMRANK.replace("3:-1.5e-3", "5:1"), "line 12: .*an index from 1 to 4, found '5:1'"),
        (SVMRANK.replace("1:0.25", "0:0.25"), "line 12: .*an index from 1 to 4, found '0:0.25'"),
        (SVMRANK.replace("1:0.25", "1:inf"), "line 12: expected index:value .*'1:inf'"),
        (SVMRANK.replace("1:0.25", "1:1e308 1:1e308"), "line 12: expected finite weights"),
        (SVMRANK.replace("1 1:0.25", "x 1:0.25"), "line 12: expected a number and features"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as refusal:
        read(tmp_path, text)
    assert str(refusal.value).startswith(str(tmp_path / "m"))


def test_weights_that_are_not_numbers_are_refused(tmp_path):
    (tmp_path / "w").write_text("1.5\nabc\n")
    with pytest.raises(DataError, match="w, line 2: expected one finite weight per line, found"):
        convert_model(tmp_path / "w", tmp_path / "m.json")
