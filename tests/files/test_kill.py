"""A process that is killed while it writes leaves the old file or the new one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRITERS = Path(__file__).parent / "kill_writers.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_step_leaves_the_old_file_or_the_new(tmp_path):
    command = [sys.executable, WRITERS, tmp_path]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (process.returncode, process.stderr) == (0, "")
    lines = [line.split() for line in process.stdout.splitlines()]
    assert len(lines) == 16
    for path, steps, outcome in lines:
        assert outcome == "whole", path
        assert int(steps) > 5, path
