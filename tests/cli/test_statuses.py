"""Exit statuses of commands that are interrupted, whatever fails while they end."""

import argparse
import asyncio

import pytest

from ranksvm.cli.statuses import FAULT, INTERRUPTED, MISTAKE, status_of


def status(run):
    return status_of(run, argparse.Namespace())


@pytest.mark.parametrize("failure", [RuntimeError, OSError, asyncio.CancelledError])
def test_what_fails_while_it_ends_is_an_interruption(capsys, failure):
    def interrupted(_):
        try:
            raise KeyboardInterrupt
        finally:
            raise failure("a worker is gone")

    assert status(interrupted) == INTERRUPTED
    assert capsys.readouterr().err == "ranksvm: interrupted\n"


@pytest.mark.parametrize(("failure", "expected"), [(RuntimeError, FAULT), (OSError, MISTAKE)])
def test_failures_of_their_own(capsys, failure, expected):
    def failing(_):
        try:
            raise ValueError
        finally:
            raise failure("a worker is gone")

    assert status(failing) == expected
    assert "a worker is gone" in capsys.readouterr().err


def test_other_ends_pass():
    def cancelled(_):
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        status(cancelled)
