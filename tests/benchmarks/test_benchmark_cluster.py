"""The benchmarks of a cluster end by themselves, and say what they found."""

import os
import queue
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed")

from benchmarks import cluster_peers
from benchmarks.cluster_faults import bytes_of, rows_of_part
from benchmarks.cluster_peers import ended, found_in, in_process


def lines_of(*lines):
    found = queue.Queue()
    for line in lines:
        found.put(line)
    return found


def test_the_line_of_json_is_found_among_others():
    until = time.monotonic() + 0.05
    assert found_in(lines_of("training\n", '{"end": "done"}\n', "more\n"), until) == {"end": "done"}
    assert found_in(lines_of("training\n", ""), until) == {}
    assert found_in(lines_of("training\n"), until) == {}  # which hangs


def test_a_process_that_hangs_is_ended_with_its_children(monkeypatch, tmp_path):
    plain, started = subprocess.Popen, []
    script = "import subprocess, time; subprocess.Popen(['sleep', '99']); time.sleep(99)"

    def popen(command, **more):
        started.append(plain([sys.executable, "-c", script], **more))
        return started[-1]

    monkeypatch.setattr(cluster_peers, "START", 0.3)
    monkeypatch.setattr(subprocess, "Popen", popen)
    assert in_process("nobody", [], 0.1, None) == {"end": "its process ended without a word"}
    until = time.monotonic() + 10
    while is_there(started[0].pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_there(started[0].pid)


def is_there(group):
    """Say whether a group has a process that is not buried."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def test_an_error_is_told_and_what_hangs_is_left():
    def fail(*_):
        raise RuntimeError("a worker\n has gone")

    found = ended(fail, None, [], 5.0, None)
    assert found["end"].startswith("RuntimeError after 0.0 s: a worker has gone")
    assert ended(lambda *_: time.sleep(9), None, [], 0.01, None) == {"end": "no end within 0 s"}


def test_rows_have_the_type_that_was_asked_for(monkeypatch):
    monkeypatch.setattr("benchmarks.cluster_faults.SIZE", 10)
    assert bytes_of(rows_of_part(0, "float32", False)).tolist() == [10 * 136 * 4]
    assert rows_of_part(0, "float64", True).dtype == "float64"
