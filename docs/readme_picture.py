"""Draw the picture of the README: ``python docs/readme_picture.py``.

It is what its commands draw, in a size of its own.
"""

import tempfile
from pathlib import Path

from ranksvm.cli import main

ROOT = Path(__file__).parents[1]
LOOK = ["--title", "What guests look for in a hotel", "--size", "6x2", "--dpi", "100"]

with tempfile.TemporaryDirectory() as folder:
    model = f"{folder}/model.json"
    main(["train", str(ROOT / "examples/hotels.csv"), model, "--quiet"])
    picture = ROOT / "docs/images/weights.png"
    picture.parent.mkdir(exist_ok=True)
    data = ["--data", str(ROOT / "examples/hotels.csv")]
    main(["plot", "coefficients", model, str(picture), *data, *LOOK])
