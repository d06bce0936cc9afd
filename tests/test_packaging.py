"""What is said in several files is said in one way."""

import re
from pathlib import Path

import pytest

import ranksvm
from tools.lower_bounds import lower_bounds, read_project

ROOT = Path(__file__).parents[1]
PROJECT = read_project()


def test_the_version_is_that_of_the_project():
    assert ranksvm.__version__ == PROJECT["version"]
    assert f"## {ranksvm.__version__} - " in (ROOT / "CHANGELOG.md").read_text()
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    assert f'\n  version: "{ranksvm.__version__}"\n' in recipe


def test_each_dependency_has_a_lowest_version_which_is_tested():
    bounds = {re.split("==|;", bound)[0] for bound in lower_bounds(PROJECT)}
    assert bounds >= {re.split(">=|;", needed)[0] for needed in PROJECT["dependencies"]}
    assert "numpy==1.26" in lower_bounds(PROJECT)


@pytest.mark.parametrize("name", ["linux", "macos", "windows"])
def test_tests_run_on_each_system(name):
    assert f"{name.replace('linux', 'ubuntu')}-latest" in workflow("tests")
    assert f"{name.replace('linux', 'ubuntu')}-latest" in workflow("wheels")


def test_workflows_call_targets_that_there_are():
    makefile = (ROOT / "Makefile").read_text()
    called = {
        target
        for name in ("tests", "wheels", "docs")
        for target in re.findall(r"run: make ([\w-]+)", workflow(name))
    }
    assert {"check-files", "clang", "coverage", "docs", "test-oldest"} <= called
    assert {name for name in called if f"\n{name}:" not in makefile} == set()


def test_the_paper_cites_what_it_lists():
    cited = set(re.findall(r"@([a-z]+\d+)", (ROOT / "paper" / "paper.md").read_text()))
    listed = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M))
    assert cited == listed


@pytest.mark.parametrize("library", ["numpy", "scipy", "sklearn"])
def test_no_names_are_used_that_a_library_may_take_away(library):
    """What begins with an underscore changes without notice."""
    private = re.compile(rf"\b(?:from|import) {library}(?:\.\w+)*(?:\._| import \(?_)(?!_)")
    files = sorted((ROOT / "src").rglob("*.py"))
    assert [path.name for path in files if private.search(path.read_text())] == []
    assert private.search(f"from {library}._inner import name")


def workflow(name):
    return (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
