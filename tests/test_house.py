"""The rooms of the house: modules and folders depend downwards, and keep to themselves."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import ranksvm

ROOT = Path(ranksvm.__file__).parent

# From the bottom up; the first are modules that all rooms may use.
ROOMS = (
    "errors",
    "memory",
    "names",
    "threads",
    "lazy",
    "records",
    "summaries",
    "solvers",
    "pairs",
    "linear",
    "arrays",
    "metrics",
    "kernel",
    "models",
    "files",
    "disk",
    "export",
    "explaining",
    "selection",
    "plots",
    "progress",
    "estimators",
    "jobs",
    "reports",
    "cluster",
    "dask",
    "config",
    "cli",
)
FACE = ("", "__main__")  # the package itself, and what runs it


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in ROOT.rglob("*.py")}
TREES = {name: ast.parse(path.read_text()) for name, path in FILES.items()}


def imports_of(module):
    """Yield (module, name) of what is imported from the package, lazily or for types as well."""
    package = FILES[module].parent.relative_to(ROOT).parts
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "ranksvm":
                    yield alias.name.partition(".")[2], ""
        elif isinstance(node, ast.ImportFrom):
            words = (node.module or "").split(".") if node.module else []
            if node.level:
                words = [*package[: len(package) + 1 - node.level], *words]
            elif words[:1] != ["ranksvm"]:
                continue
            else:
                words = words[1:]
            for alias in node.names:
                yield ".".join(words), alias.name


def arrows(module):
    """Return the modules that a module imports from; the compiled core is none."""
    found = set()
    for source, name in imports_of(module):
        inner = f"{source}.{name}".strip(".")
        if "_core" not in (source, inner):
            found.add(inner if inner in FILES else source)
    return found - {module}


def room_of(module):
    return module.partition(".")[0]


def folder_of(module):
    is_folder = FILES[module].name == "__init__.py"
    return module if is_folder else module.rpartition(".")[0] or module


def require_no_circle(graph):
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' -> '.join(reversed(error.args[1]))}")


def test_no_circle_of_modules():
    require_no_circle({module: arrows(module) for module in FILES})


def test_no_circle_of_folders():
    graph = {}
    for module in set(FILES) - set(FACE):
        folder = folder_of(module)
        graph.setdefault(folder, set()).update(map(folder_of, arrows(module) - {""}))
        graph[folder].discard(folder)
    require_no_circle(graph)


def test_rooms_import_from_rooms_below():
    assert {room_of(module) for module in FILES} == {*ROOMS, *FACE}
    upwards = [
        f"{module} -> {source}"
        for module in set(FILES) - set(FACE)
        for source in arrows(module) - {""}
        if ROOMS.index(room_of(source)) > ROOMS.index(room_of(module))
    ]
    assert sorted(upwards) == []


def test_no_private_name_is_imported():
    private = [
        f"{module}: {name} of {source}"
        for module in FILES
        for source, name in imports_of(module)
        if name.startswith("_") and name != "_core" and not name.endswith("__")
    ]
    assert sorted(private) == []


def test_errors_of_users_have_a_type_of_their_own():
    bare = [
        f"{module}, line {node.lineno}"
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id == "ValueError"
    ]
    assert bare == []


def test_every_folder_says_what_it_is_for():
    folders = [name for name, path in FILES.items() if path.name == "__init__.py"]
    assert [name for name in folders if not ast.get_docstring(TREES[name])] == []
    assert {path.parent for path in FILES.values()} == {FILES[name].parent for name in folders}
