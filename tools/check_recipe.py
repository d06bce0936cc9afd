"""Reads the conda recipe, renders it for each system, and compares it with pyproject.toml.

Usage: ``python tools/check_recipe.py recipe/recipe.yaml``
"""

from __future__ import annotations

import sys

from lower_bounds import read_project
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64")
VARIANTS = """
python: ["3.10.* *_cpython", "3.14.* *_cp314"]
cxx_compiler: [gxx]
c_stdlib: [sysroot]
c_stdlib_version: ["2.28"]
"""


def main(path: str) -> None:
    """Exit with a sentence about what differs."""
    recipe, project = Stage0Recipe.from_file(path), read_project()
    runs = recipe.to_dict()["requirements"]["run"]
    needed = {name.replace(" ", "") for name in runs if name != "python"}
    differing = needed.symmetric_difference(project["dependencies"])
    if differing:
        sys.exit(f"{path} and pyproject.toml differ in {', '.join(sorted(differing))}")
    if recipe.context["version"] != project["version"]:
        sys.exit(f"{path} is of version {recipe.context['version']}, not {project['version']}")
    for platform in PLATFORMS:
        config = RenderConfig(PlatformConfig(target_platform=platform))
        rendered = recipe.render(VariantConfig.from_yaml(VARIANTS), config)
        print(f"{platform}: {len(rendered)} packages")


if __name__ == "__main__":
    main(sys.argv[1])
