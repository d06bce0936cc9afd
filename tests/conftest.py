import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Where a failure must mean that the change is at fault, examples are the same every time; at a desk
# they vary.
settings.register_profile(
    "ranksvm",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ranksvm")


@pytest.fixture(scope="session")
def data_folder():
    """Folder of the real data sets, `NAME.svm.xz`; they are not part of the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RANKSVM_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data: set RANKSVM_DATA to their folder (looked in {folder})")
    return folder
