"""``ranksvm train --scheduler``: training on a cluster of Dask, each of the files a partition."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .conditions import l1_ratio_of
from .data import reading_of
from .options import is_watched, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

SECONDS_TO_ANSWER = 10.0  # of a scheduler
_LOCAL = "local:"
# Ctrl-C, which a terminal sends to all processes, is for the driver, which ends its workers.
_UNINTERRUPTED = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
_REFUSED = ("validation", "scale", "features", "pairs", "event", "plot", "group")
_CONDITIONS = ("bounds", "prior", "penalty_weights")


def add_scheduler(parser: argparse.ArgumentParser) -> None:
    """Add the option that names a cluster."""
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="train on a cluster of Dask, each of DATA a partition: tcp://HOST:PORT of its "
        "scheduler, or local:N for N processes of this machine",
    )


def train_on_cluster(args: argparse.Namespace) -> None:
    """Train, and write a model."""
    from ..cluster.sources import sources_of_files
    from ..dask import DaskRankSVM
    from ..files.model import save_model
    from ..files.replacing import MODEL, check_replaceable
    from ..jobs.data import quietly
    from ..jobs.training import counted_pairs

    _require_simple(args)
    check_replaceable(args.model, MODEL, args.force)
    names = ("C", "loss", "gains", "top", "solver", "counting", "tol", "max_iter")
    given = {name: getattr(args, name) for name in names}
    for name in ("pair_weight", "normalize"):
        given[name] = None if getattr(args, name) == "none" else getattr(args, name)
    sources = sources_of_files(args.data, replace(reading_of(args), note=quietly))
    with _client(args.scheduler) as client:
        ranker = DaskRankSVM(
            **given,
            positive=args.positive,
            l1_ratio=l1_ratio_of(args),
            verbose=int(is_watched(args)),
            client=client,
        ).fit(sources)
    save_model(ranker.to_model(), args.model)
    last: Any = ranker.history_[-1]
    say(
        args,
        f"{ranker.status_}: objective {ranker.objective_:.9g}, relative gap "
        f"{ranker.dual_gap_:.1e}, {ranker.n_iter_} iterations, {last.n_rounds} rounds, "
        f"{last.seconds:.2f} s; {ranker.n_features_in_} features, {ranker.n_queries_} queries, "
        f"{counted_pairs(ranker.n_pairs_)}",
    )


def _require_simple(args: argparse.Namespace) -> None:
    """Refuse what is not for a cluster."""
    refused = [name for name in (*_REFUSED, *_CONDITIONS) if getattr(args, name) is not None]
    if args.kernel != "linear":
        refused.insert(0, "kernel")
    if args.epsilon:
        refused.append("epsilon")
    if "-" in args.data:
        raise InputError("workers read files by their paths, and not standard input: name files")
    if refused:
        raise InputError(
            f"--{refused[0].replace('_', '-')} is not for a cluster: leave out that or --scheduler"
        )


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Connect to a scheduler, or start processes of this machine.

    Raises
    ------
    ValueError
        If nobody answers, or it is no address.
    """
    from logging import CRITICAL, getLogger

    import distributed

    # What goes wrong comes to the driver, which says so in a sentence.
    getLogger("distributed").setLevel(CRITICAL)
    start: Any = distributed.LocalCluster
    connect: Any = distributed.Client

    if address.startswith(_LOCAL):
        number = address.removeprefix(_LOCAL)
        if not number.isdecimal() or not int(number):
            raise InputError(f"--scheduler local:N takes a number of processes, not {address!r}")
        options = {
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",
            "preload": _UNINTERRUPTED,
            "silence_logs": CRITICAL,
        }
        with start(n_workers=int(number), **options) as cluster, connect(cluster) as client:
            yield client
        return
    with _connected(address) as client:
        yield client


def _connected(address: str) -> Any:
    import distributed

    connect: Any = distributed.Client
    try:
        return connect(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        why = str(error)
    # What could not connect closes itself, and would wait for itself while another client starts.
    gc.collect()
    raise InputError(f"no scheduler of Dask answers at {address}: {why}")
