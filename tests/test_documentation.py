import doctest
import re
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name

import pytest

import ranksvm
from ranksvm import metrics, plots
from ranksvm.cli.program import build_parser, main
from ranksvm.config.file import _ATTRIBUTES

DOCS = Path(__file__).parents[1] / "docs"
README = (DOCS.parent / "README.md").read_text()
PAGES = [path for path in sorted(DOCS.glob("**/*.rst")) if "\n>>> " in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_what_pages_say_is_so(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_is_in_the_reference():
    lines = (DOCS / "api" / "index.rst").read_text().split("\n")

    displays = {name for name in plots.__all__ if name.endswith("Display")}
    names = {*ranksvm.__all__, *displays}
    assert {f"   {name}" for name in names} - set(lines) == {"   __version__"}


def test_every_metric_is_in_the_reference():
    page = (DOCS / "api" / "metrics.rst").read_text()
    functions = {name for name in metrics.__all__ if callable(getattr(metrics, name))}
    missing = {name for name in functions if f"auto{kind_of(name)}:: {name}\n" not in page}
    elsewhere = {"concordance_index", "evaluate", "paired_randomization_test", "pairwise_accuracy"}
    assert missing == {*elsewhere, "Metric"}


def kind_of(name):
    return "class" if isinstance(getattr(metrics, name), type) else "function"


def test_every_attribute_of_config_files_is_described():
    page = (DOCS / "config_files.rst").read_text()
    names = {name for names in _ATTRIBUTES.values() for name in names}

    assert {name for name in names if f"``{name}``" not in page} == set()


def test_the_first_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    root = DOCS.parent
    (commands,) = re.findall(r"^```\n(ranksvm train examples/.*?)^```", README, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(root / "examples")
    for line in commands.splitlines():
        arguments = line.partition("#")[0].split()
        assert arguments[0] == "ranksvm"
        assert main(arguments[1:]) == 0, capsys.readouterr().err


def test_the_first_python_of_the_readme_runs(tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(re.search(r"^```python\n(.*?)^```", README, re.M | re.S)[1], names)
    assert names["model"].dual_gap_ <= 1e-3


def test_the_command_line_and_python_follow_the_same_graph():
    path = build_parser("path").parse_args(["path", "data.svm"])
    parameters = signature(ranksvm.regularization_path).parameters
    assert path.graph == parameters["graph"].default
    assert path.lambda_min_ratio == parameters["lambda_min_ratio"].default
    assert path.max_memory == parameters["max_memory"].default
    assert 'kernel="rbf", graph' not in README


def test_every_name_of_the_readme_exists():
    page = README
    imports = re.findall(r"^from ranksvm[\w.]* import .*$", page, re.MULTILINE)
    names = re.findall(r"`(ranksvm(?:\.\w+)+)`", page)
    assert imports
    assert names
    for line in imports:
        exec(line, {})
    for name in names:
        assert resolve_name(name) is not None
