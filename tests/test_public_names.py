"""What ``from ranksvm import ...`` offers, to people and to type checkers alike."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import ranksvm


def names_for_type_checkers():
    """The imports under ``if TYPE_CHECKING``: each name with its module."""
    tree = ast.parse(Path(ranksvm.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {alias.name: node.module for node in block.body for alias in node.names if alias.asname}


def test_type_checkers_see_the_same_names():
    rooms = {"metrics": None, "plots": None}
    assert names_for_type_checkers() == ranksvm._HOMES | rooms


def test_names_are_listed_once_and_in_order():
    names = list(ranksvm._HOMES)
    assert names == sorted(set(names))
    assert sorted(dir(ranksvm)) == dir(ranksvm) == sorted(ranksvm.__all__)


@pytest.mark.parametrize("name", ranksvm._HOMES)
def test_every_name_is_what_its_home_has(name):
    home = import_module(f"ranksvm.{ranksvm._HOMES[name]}")
    assert getattr(ranksvm, name) is getattr(home, name)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="'ranksvm' has no attribute 'ranksvm_path'"):
        _ = ranksvm.ranksvm_path


def test_a_first_fit_imports_what_it_uses():
    program = (
        "import sys\n"
        "from ranksvm import RankSVM\n"
        "RankSVM(n_threads=1).fit([[0], [1]], [0, 1])\n"
        "rooms = ('cli', 'cluster', 'disk', 'explaining', 'export', 'files', 'jobs', 'kernel',\n"
        "         'metrics', 'models', 'plots', 'reports', 'selection')\n"
        "others = [*(f'ranksvm.{room}' for room in rooms), 'matplotlib']\n"
        "print(*(name for name in others if name in sys.modules))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == []


def test_the_import_is_quick_and_rooms_come_when_they_are_used():
    program = (
        "import sys, ranksvm\n"
        "assert not {'numpy', 'sklearn'} & set(sys.modules)\n"
        "assert ranksvm.metrics.ndcg([0, 1], [0.1, 0.2]) == 1\n"
        "assert ranksvm.plots.ConvergenceDisplay\n"
        "assert not {'matplotlib', 'sklearn'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
