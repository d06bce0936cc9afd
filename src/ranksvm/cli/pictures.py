"""What the commands that draw have in common: how pictures look, and writing them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .options import Output

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


def add_picture(parser: argparse.ArgumentParser, *, names: bool = False) -> None:
    """Add the file to draw to, and the options of how it looks; of names, where files have some."""
    parser.add_argument("out", type=Output, metavar="OUT", help="PNG, SVG or PDF to write")
    look = parser.add_argument_group("picture")
    look.add_argument("--title", metavar="TEXT", help="to stand above (default: none)")
    if names:
        look.add_argument(
            "--names",
            metavar="NAME,...",
            help="of SCORES|MODEL in the picture (default: those of the files)",
        )
    look.add_argument(
        "--size", type=_size, metavar="WxH", help="width and height in inches, such as 6.4x4.8"
    )
    look.add_argument(
        "--dpi", type=_dots, default=150, metavar="N", help="dots per inch of a PNG (default: 150)"
    )


def _size(text: str) -> tuple[float, float]:
    from argparse import ArgumentTypeError

    try:
        width, height = (float(number) for number in text.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (0 < width <= 100 and 0 < height <= 100):
        raise ArgumentTypeError(f"must be width x height in inches, such as 6.4x4.8, not {text!r}")
    return width, height


def _dots(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or not 10 <= int(text) <= 2400:
        raise ArgumentTypeError(f"must be a whole number from 10 to 2400, not {text!r}")
    return int(text)


def check_out(out: str) -> None:
    """Refuse what is not named as a picture, such as the last model where OUT was forgotten."""
    from ..plots import check_picture

    if out != "-" and not os.path.splitext(out)[1]:
        raise InputError(
            f"cannot draw {out}: the name of the picture must end in .png, .svg, .pdf or the like"
        )
    check_picture(out)


def names_of(args: argparse.Namespace, files: Sequence[str]) -> list[str]:
    """Return the names that --names gives files; without, theirs, less folders if that is enough.

    Raises
    ------
    InputError
        If there are not as many as files.
    """
    if args.names is not None:
        names: list[str] = args.names.split(",")
        if len(names) != len(files):
            raise InputError(f"--names gives {len(names)} names, but {len(files)} are drawn")
        return names
    short = [os.path.basename(file) for file in files]
    return short if len(set(short)) == len(short) else list(files)


def save(display: Any, args: argparse.Namespace) -> None:
    """Write a display as the options of `add_picture` say."""
    from ..plots import save_figure

    figure = display.figure_
    if args.title is not None:
        figure.suptitle(args.title, parse_math=False)
    if args.size is not None:
        figure.set_size_inches(args.size)
    save_figure(figure, args.out, dpi=args.dpi)
