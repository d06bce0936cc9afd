"""A command in this process, for tests of what it does, not of how it starts."""

import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from subprocess import CompletedProcess

from ranksvm.cli import main


def completed(*arguments, cwd=None):
    """Run a command; return what `subprocess.run` does, with texts."""
    before, words = os.getcwd(), [*map(str, arguments)]
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
    try:
        os.chdir(before if cwd is None else cwd)
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            status = _status(words)
    finally:
        os.chdir(before)
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return CompletedProcess([sys.executable, "-m", "ranksvm", *words], status, out, err)


def _status(words):
    try:
        return main(words)
    except SystemExit as exit:
        return exit.code
