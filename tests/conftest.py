import os

# Before NumPy is imported: threads of BLAS gain nothing on small matrices, and where other tests
# have the CPUs, they wait for one another a hundred times as long as they compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # likewise those of PyTorch and others

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import pairwise
import places
from strategies import FACTOR

# A failure must mean that the change is at fault: examples are the same every time.  `make explore`
# looks for others.
settings.register_profile(
    "ranksvm",
    deadline=None,
    derandomize="EXPLORE" not in os.environ,
    database=None,
    max_examples=100 * FACTOR,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ranksvm")

# A job in the background of a shell ignores Ctrl-C, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Pairs of parameters are enough, on arrays values, but for `make explore`."""
    if "EXPLORE" not in os.environ:
        items[:], spared = pairwise.thinned(items)
        config.hook.pytest_deselected(items=spared)


@pytest.fixture(scope="session")
def real_file():
    """A function that finds ``NAME.svm.xz``, one of the real data sets outside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RANKSVM_DATA") or beside)

    def find(name):
        path = folder / f"{name}.svm.xz"
        if not path.is_file():
            pytest.skip(f"no {path.name}: set RANKSVM_DATA to the folder of real data")
        return path

    return find


@pytest.fixture(scope="module", params=places.NAMES)
def place(request):
    """Where to compute: by the core, and on arrays."""
    return places.Place.named(request.param)
