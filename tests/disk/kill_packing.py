"""Pack, and be killed at every STRIDE-th step of it: run by test_kill_packing.

Prints in how many steps it was packed, how many kills left no folder, how many the old one and how
many the new one, and how many something else.
"""

import os
import signal
import sys

import numpy as np

from ranksvm import dump_svmlight, open_data
from ranksvm.disk import features
from ranksvm.disk.text import pack_svmlight

STEPS = {"open", "write", "flush", "fsync", "close", "__exit__", "rename", "replace", "unlink"}
STEPS |= {"mkdir", "rmdir", "listdir", "flock", "writelines"}
TARGET = "d.rsvm"


def killed_at(last):
    """Tell whether there is a step `last`, before which a fork that packs is killed."""
    steps = 0

    def step(frame, event, function):
        nonlocal steps
        if event == "c_call" and function.__name__ in STEPS:
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        sys.setprofile(step)
        pack_svmlight(["new"], TARGET, n_threads=1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def state(old, new):
    """Tell which data are there."""
    if not os.path.exists(TARGET):
        return "none"
    data = open_data(TARGET)
    for name, values in (("old", old), ("new", new)):
        if data.shape == values.shape and np.array_equal(data.X, values):
            return name
    return "torn"


def main():
    os.chdir(sys.argv[1])
    stride = int(sys.argv[2])
    features.BLOCK_BYTES = 256
    os.fsync = lambda descriptor: None
    rng = np.random.default_rng(0)
    old, new = rng.random((5, 3)), rng.random((40, 4))
    dump_svmlight("new", new, np.arange(40) % 3, [f"q{k % 5}" for k in range(40)])
    dump_svmlight("old", old, np.arange(5), np.zeros(5, int))
    pack_svmlight(["new"], TARGET, n_threads=1)
    new = np.array(open_data(TARGET).X)
    for begin in ("none", "old"):
        found, killed, step = [], True, 1 - stride
        while killed:
            step += stride
            os.system(f"rm -rf {TARGET}")
            if begin == "old":
                pack_svmlight(["old"], TARGET, n_threads=1)
            killed = killed_at(step)
            found.append(state(old, new))
        pack_svmlight(["new"], TARGET, n_threads=1)
        left = [name for name in os.listdir() if name.startswith(".ranksvm")]
        kinds = " ".join(f"{found.count(kind)}" for kind in ("none", "old", "new", "torn"))
        sys.stdout.write(f"{begin} {step} {kinds} {len(left)}\n")


main()
