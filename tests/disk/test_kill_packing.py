"""A process that is killed while it packs leaves no folder, or a whole one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STRIDE = 1 if "EXPLORE" in os.environ else 13


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_step_leaves_no_folder_or_a_whole_one(tmp_path):
    command = [sys.executable, Path(__file__).parent / "kill_packing.py", tmp_path, str(STRIDE)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (process.returncode, process.stderr) == (0, "")
    lines = [line.split() for line in process.stdout.splitlines()]
    assert [line[0] for line in lines] == ["none", "old"]
    for begin, *numbers in lines:
        steps, none, old, new, torn, left = map(int, numbers)
        assert steps > 50, begin
        assert (torn, left) == (0, 0), begin
        assert none + old + new == -(-steps // STRIDE)
        assert new < 40, begin  # what is left to do then is to tidy up
    assert int(lines[0][3]) == 0
    assert int(lines[1][2]) <= 2  # between the two renames
