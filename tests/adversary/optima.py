"""Optima that have been computed once: those of the fixed sample, in `optima.json`, and others."""

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

from .truth import digits, from_digits, optimum

SAMPLE = Path(__file__).with_name("optima.json")
OTHERS = Path(__file__).resolve().parents[2] / "build" / "adversary"


def of(problem, C):
    """The optimum for this C, from above, to 25 digits and more; computed unless it is known."""
    key = replace(problem, C=C).fingerprint
    known = sample().get(key)
    file = OTHERS / key
    if known is None and file.exists():
        known = file.read_text()
    if known is None:
        known = digits(optimum(problem, C))
        write(file, known)
    return from_digits(known)


@cache
def sample():
    """The optima of the fixed sample by fingerprint, so that none outlives its problem."""
    if not SAMPLE.exists():
        return {}
    optima = {}
    for of_problem in json.loads(SAMPLE.read_text()).values():
        optima |= of_problem
    return optima


def write(file, text):
    """Write a file whole, as other processes may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_text(text)
    part.replace(file)
