"""The options that choose a kernel, and what they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError
from ..names import KERNELS

if TYPE_CHECKING:
    import argparse

    from ..kernel.kernels import Kernel


def add_kernel(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a kernel."""
    parser.add_argument(
        "--kernel",
        default="linear",
        metavar="NAME",
        help="linear, rbf, polynomial, sigmoid, laplacian, cosine or chi2 (default: linear)",
    )
    parser.add_argument(
        "--gamma",
        type=_gamma,
        metavar="G",
        help="width of the kernel, a number, or scale: 1 by the sum of the features' variances "
        "(default: 1/features)",
    )
    parser.add_argument(
        "--degree", type=float, metavar="D", help="of the kernel polynomial (default: 3)"
    )
    parser.add_argument(
        "--coef0", type=float, metavar="K", help="of polynomial and sigmoid (default: 1)"
    )
    parser.add_argument(
        "--max-memory",
        type=_bytes,
        default=4e9,
        metavar="BYTES",
        help="that kernel values, or sparse features made dense, may take, such as 500M (default: "
        "4G)",
    )


def _gamma(text: str) -> float | str:
    return text if text == "scale" else float(text)


def _bytes(text: str) -> float:
    from argparse import ArgumentTypeError

    from ..memory import bytes_of

    try:
        return bytes_of(text, "it")
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


def kernel_of(args: argparse.Namespace) -> Kernel | None:
    """Return the kernel that the options of `add_kernel` ask for, or None for the linear one.

    Raises
    ------
    ValueError
        If there is no such kernel, it does not have a parameter, or one is out of range.
    """
    if args.kernel not in KERNELS:
        from ..files.sections import did_you_mean

        raise InputError(
            f"--kernel must be one of {', '.join(KERNELS)}, not {args.kernel!r}"
            f"{did_you_mean(args.kernel, KERNELS)}"
        )
    given = {name: getattr(args, name) for name in ("gamma", "degree", "coef0")}
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in KERNELS[args.kernel]:
            having = ", ".join(kernel for kernel, names in KERNELS.items() if name in names)
            raise InputError(
                f"the kernel {args.kernel} has no {name}: leave out --{name}, or take one of the "
                f"kernels {having}"
            )
    if args.kernel == "linear":
        return None
    from ..kernel.kernels import Kernel

    return Kernel(args.kernel, **given)


def require_on_cpu(args: argparse.Namespace) -> None:
    """Refuse another device for a kernel."""
    if args.device != "cpu":
        raise InputError(f"kernels are computed on the CPU: leave out --device {args.device}")


def require_linear(args: argparse.Namespace) -> None:
    """Refuse, for a kernel, what only a linear model does with features."""
    option = f"--features {args.features}" if args.features is not None else None
    if args.scale in ("quantile", "query"):
        option = f"--scale {args.scale}"
    if option is not None:
        raise InputError(
            f"{option} is for the linear ranker: leave out --kernel; --features nystroem has a "
            "kernel at linear cost"
        )
