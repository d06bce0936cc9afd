"""The names of devices: "cpu", "cuda", "cuda:1", and with a library in front, "torch:cuda:1"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import InputError

_GRAMMAR = re.compile(r"(?:(?:(numpy|torch):)?cpu|(?:(torch|cupy):)?cuda(?::(\d+))?)")


@dataclass(frozen=True)
class DeviceName:
    """What the name of a device says.

    Attributes
    ----------
    library : {"numpy", "torch", "cupy"} or None
        Which is to compute; None is the compiled core on the CPU, and on a GPU whichever library
        finds it.
    is_gpu : bool
    number : int or None
        Of the GPU; None is the one on which the data are, or else the first.
    """

    library: str | None
    is_gpu: bool
    number: int | None = None

    @classmethod
    def parse(cls, name: str) -> DeviceName:
        """Read a name.

        Raises
        ------
        ValueError
            If it is none.
        """
        found = _GRAMMAR.fullmatch(name) if isinstance(name, str) else None
        if found is None:
            raise InputError(
                'device must be None, "cpu", "cuda", "cuda:N", or one of these of a library, such '
                f'as "torch:cpu", "torch:cuda", "cupy:cuda:N" or "numpy:cpu", not {name!r}'
            )
        is_gpu = "cuda" in name
        return cls(found[1] or found[2], is_gpu, None if found[3] is None else int(found[3]))
