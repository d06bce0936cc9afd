"""Few of the cases on arrays of a test, in which every pair of parameters occurs."""

from collections import Counter, defaultdict
from itertools import combinations

import places


def thinned(items):
    """
    Return the tests to run, in their order, and the others.

    All cases run on the core. On arrays, where small problems take long, every pair of the other
    parameters occurs, on one library or the other, as the same lines run on both.
    """
    functions = defaultdict(list)
    for item in items:
        if (
            hasattr(item, "callspec")
            and item.callspec.params.get("place", places.CORE) != places.CORE
        ):
            functions[item.parent.nodeid, item.originalname].append(item)
    spared = set()
    for cases in functions.values():
        kept = covering([_values(case) for case in cases])
        spared.update(case for k, case in enumerate(cases) if k not in kept)
    return [item for item in items if item not in spared], list(spared)


def covering(cases):
    """Return the numbers of cases with the pairs of all: of those left, that with most new ones."""
    pairs = [_pairs(case) for case in cases]
    missing, kept, used = set().union(*pairs), set(), Counter()
    while missing:
        best = max(
            (k for k in range(len(cases)) if k not in kept),
            key=lambda k: (
                len(pairs[k] & missing),
                -sum(used[value] for value in cases[k].items()),
            ),
        )
        kept.add(best)
        missing -= pairs[best]
        used.update(cases[best].items())
    return kept


def _values(item):
    """The parameters of a case, by identity; what one list gives together is one of them."""
    params = dict(item.callspec.params)
    values = {"place": params.pop("place")}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values[",".join(names)] = tuple(id(params.pop(name.strip(), None)) for name in names)
    return values | {name: id(value) for name, value in params.items()}


def _pairs(values):
    others = sorted((name, value) for name, value in values.items() if name != "place")
    return {*combinations(others, 2), *((value,) for value in values.items())}
