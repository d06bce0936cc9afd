"""
Run every benchmark and write one Markdown page.

    python benchmarks/all.py [PAGE]      (build/benchmarks.md by default)
"""

import argparse
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    ("small.py",),
    ("sweep.py",),
    ("files.py",),
    ("text_like.py",),
    ("web_like.py",),
    ("web_like.py", "--rows", "723421", "--queries", "6000", "--repeats", "3"),
    ("survival.py",),
    ("hinge.py",),
    ("counting.py",),
    ("path.py",),
    ("kernel.py",),
    ("metrics.py",),
    ("cross_validation.py",),
    ("ranking_quality.py",),
    ("regularization_path.py",),
)


def main() -> None:
    """Run the commands one after the other, and show and keep what they print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("page", nargs="?", type=Path, default=Path("build/benchmarks.md"))
    page = parser.parse_args().page
    page.parent.mkdir(parents=True, exist_ok=True)
    with page.open("w") as file:
        file.write("# Benchmarks\n")
        for script, *options in COMMANDS:
            section = f"\n# {' '.join([script, *options])}\n\n{run(script, *options)}"
            print(section, flush=True)
            file.write(section)
    print(f"Written: {page}")


def run(script: str, *options: str) -> str:
    """Run one benchmark and return what it prints."""
    command = [sys.executable, Path(__file__).with_name(script), *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
