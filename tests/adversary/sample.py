"""The fixed sample of problems that the tests judge, and its optima."""

import json
from dataclasses import replace

from . import optima, problems
from .fits import GRID, some_ways
from .truth import digits, optimum

SIZE = 100


def sample():
    """The problems of the sample, each with the ways to train on it."""
    for place, name in enumerate(problems.names(SIZE)):
        problem = problems.named(name)
        yield problem, some_ways(problem, place)


def write_optima():
    """Compute the optima of the sample, and write them beside this file."""
    known = {}
    for problem, ways in sample():
        factors = GRID if any(way.how == "grid" for way in ways) else (1.0,)
        known[str(problem)] = {
            replace(problem, C=problem.C * factor).fingerprint: digits(
                optimum(problem, problem.C * factor)
            )
            for factor in factors
        }
    optima.write(optima.SAMPLE, json.dumps(known, indent=1) + "\n")
