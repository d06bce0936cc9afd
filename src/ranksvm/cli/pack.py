"""The command that packs data larger than memory: ``ranksvm pack``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .data import add_data, reading_of
from .options import Output, add_common, is_watched, say

if TYPE_CHECKING:
    import argparse


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    pack = commands.add_parser(
        "pack",
        description="Read rows once, piece by piece, and write a folder of arrays that the other "
        "commands take in their place, and map into memory.",
    )
    pack.set_defaults(run=_pack, parser=pack)
    add_data(pack)
    pack.add_argument("out", type=Output, metavar="OUT.rsvm", help="folder to write")
    pack.add_argument(
        "--float32", action="store_true", help="keep features in single precision, at half the size"
    )
    pack.add_argument("-v", "--verbose", action="store_true", help="tell how far the work is")
    add_common(pack)


def _pack(args: argparse.Namespace) -> None:
    from ..jobs.packing import pack_files
    from ..progress import WorkNotes

    data = pack_files(
        args.data,
        args.out,
        reading_of(args),
        dtype="float32" if args.float32 else None,
        note=WorkNotes() if is_watched(args) else None,
    )
    say(args, f"packed: {data.description}")
