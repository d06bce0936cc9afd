"""Feed hostile files to everything that reads one, for so many seconds, and count them.

    python tests/files/fuzz_files.py 600 [--seed 0] [--folder build/fuzz]

A file that is neither read right nor refused in a sentence, that takes longer than some seconds or
more memory than a machine has to spare, ends the run; it is left in the folder.
"""

import argparse
import os
import random
import resource
import signal
import sys
import time
from pathlib import Path

from test_hostile_files import FRAGMENTS, KINDS, check_outcome, edited, valid_files

EDITS = ("cut", "flip", "insert", "replace", "repeat", "swap")
PATIENCE = 10  # seconds for a file
ROOM = 2 << 30  # bytes of address space, beyond what there is


def main():
    """Feed each kind for its share of the seconds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--folder", type=Path, default=Path("build", "fuzz"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    os.fsync = lambda descriptor: None
    signal.signal(signal.SIGALRM, too_long)
    limit_memory()
    seeds = valid_files(args.folder)
    choose = random.Random(args.seed)
    for kind in KINDS:
        n_files, n_read = feed(kind, seeds[kind], args.seconds / len(KINDS), choose, args.folder)
        sys.stdout.write(f"{kind}: {n_files} files, {n_files - n_read} refused\n")
        sys.stdout.flush()


def feed(kind, seeds, seconds, choose, folder):
    """Return how many files were fed, the first as it should be, and how many of them were read."""
    n_files = n_read = 0
    end = time.monotonic() + seconds
    while n_files < 20 or time.monotonic() < end:
        content = hostile(seeds, choose) if n_files else seeds[0]
        signal.alarm(PATIENCE)
        try:
            n_read += check_outcome(kind, content, folder)
        except BaseException:
            left = folder / f"hostile-{kind.replace(' ', '-')}"
            left.write_bytes(content)
            sys.stderr.write(f"neither read nor refused: {left}\n")
            raise
        signal.alarm(0)
        n_files += 1
    return n_files, n_read


def hostile(seeds, choose):
    """Edit a valid file: one of two times but once, where most readers are still listening."""
    n_edits = choose.choice([0, 1, 1, 1, 2, 3, 6])
    return edited(choose.choice(seeds), [edit(choose) for _ in range(n_edits)])


def edit(choose):
    """Draw what to do, where, to how much, and with what."""
    fragment = choose.choice([*FRAGMENTS, choose.randbytes(choose.randint(1, 4))])
    return choose.choice(EDITS), choose.random(), choose.random(), fragment


def too_long(*_):
    """Interrupt a reader that hangs."""
    raise TimeoutError(f"longer than {PATIENCE} s")


def limit_memory():
    """Let a size that no machine holds be a MemoryError, not the end of this one."""
    status = Path("/proc/self/statm")
    if status.exists():
        used = int(status.read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
