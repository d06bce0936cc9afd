"""
Copy the figures of the pages in docs from build/benchmarks to docs/benchmarks.

    python -m benchmarks.publish

Beside those of each benchmark goes the line that says where and when it ran. What was not run since
stays as it is in docs.
"""

import re
import sys
from pathlib import Path

from PIL import Image

from benchmarks.report import FOLDER

DOCS = Path(__file__).parents[1] / "docs"
COLORS = 256  # as many as lines and letters need, at a third of the size
SHOWN = re.compile(r"^\.\. figure:: (benchmarks/\S+\.png)$", re.MULTILINE)


def main() -> int:
    """Copy what there is, and name what there is not."""
    pages = [page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.rst"))]
    missing = 0
    for name in (name for page in pages for name in SHOWN.findall(page)):
        target = DOCS / name
        source = FOLDER / target.relative_to(DOCS / "benchmarks")
        if not source.exists():
            print(f"Missing: {source}")
            missing += 1
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(source) as picture:
            picture.convert("RGB").quantize(COLORS).save(target, optimize=True)
        line = machine_line_of(source.parent)
        (target.parent / "machine.txt").write_text(f"{line}.\n", encoding="utf-8")
        print(f"Copied: {target}")
    return int(missing > 0)


def machine_line_of(folder: Path) -> str:
    """Return the second paragraph of the page of a benchmark."""
    return (folder / f"{folder.name}.md").read_text(encoding="utf-8").split("\n\n")[1]


if __name__ == "__main__":
    sys.exit(main())
