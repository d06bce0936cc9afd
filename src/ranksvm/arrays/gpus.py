"""Finding a GPU, and how much memory it has left."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputError
from .device import ArrayDevice
from .libraries import name_of


def find_gpu(number: int = 0, libraries: Sequence[str] = ("torch", "cupy")) -> ArrayDevice:
    """Return a CUDA device.

    Parameters
    ----------
    number : int, default=0
    libraries : sequence of {"torch", "cupy"}, default=("torch", "cupy")
        The first of them that is installed and finds this device.

    Raises
    ------
    ImportError
        If none of them is installed.
    ValueError
        If none of them finds this device.
    """
    found = []
    for library in libraries:
        try:
            return ArrayDevice.named(f"{library}:cuda:{number}")
        except ImportError:
            continue
        except RuntimeError as error:
            found.append(str(error))
    if found:
        raise InputError(
            f"no CUDA device: {'; '.join(found)}; see that the library was built for CUDA and that "
            'the driver runs, or use device="cpu"'
        )
    named = {"torch": "PyTorch", "cupy": "CuPy"}
    raise ImportError(
        f"the device needs {' or '.join(named[library] for library in libraries)}: not installed; "
        'pip install "ranksvm[torch]", or "ranksvm[cuda12]" or "ranksvm[cuda13]" for CuPy'
    )


def free_memory(device: ArrayDevice) -> int | None:
    """Return the bytes that are free on a device; None if that is no GPU."""
    library = name_of(device.xp)
    if library == "torch" and device.device.type == "cuda":
        cuda = device.xp.cuda
        unused = cuda.memory_reserved(device.device) - cuda.memory_allocated(device.device)
        return int(cuda.mem_get_info(device.device)[0]) + int(unused)
    if library == "cupy":
        with device.device:
            unused = device.xp.get_default_memory_pool().free_bytes()
            return int(device.xp.cuda.runtime.memGetInfo()[0]) + int(unused)
    return None
