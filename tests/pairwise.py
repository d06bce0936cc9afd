"""Few of the cases of a test: every pair of its parameters, and on arrays every one of them."""

from collections import Counter, defaultdict
from itertools import combinations

import places


def thinned(items):
    """
    Return the tests to run, in their order, and the others.

    On the core, every two values of two parameters occur together. On arrays, where small problems
    take long, every value of every parameter occurs, on one library or the other, as the same lines
    run on both; and on every library of a GPU.
    """
    functions = defaultdict(list)
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        place = params.get("place", places.CORE)
        part = place if place in (places.CORE, *places.GPUS) else "arrays"
        functions[item.parent.nodeid, item.originalname, part].append(item)
    libraries, spared = Counter(), set()
    for (_, _, part), cases in functions.items():
        if len(cases) > 1:
            together = 2 if part == places.CORE else 1
            kept = covering([_values(case) for case in cases], libraries, together)
            spared.update(case for k, case in enumerate(cases) if k not in kept)
    return [item for item in items if item not in spared], list(spared)


def covering(cases, libraries, together):
    """
    Return the numbers of cases with all that occurs in any: so many values together, or one.

    Of those left, the case is taken that has most that is new. `libraries` counts how often each
    has been taken, so that they take turns.
    """
    values = [_combined(case, together) for case in cases]
    missing, kept, used = set().union(*values), set(), Counter()
    while missing or not kept:
        best = max(
            (k for k in range(len(cases)) if k not in kept),
            key=lambda k: (
                len(values[k] & missing),
                -sum(used[value] for value in values[k]),
                -libraries[cases[k]["place"]],
            ),
        )
        kept.add(best)
        missing -= values[best]
        used.update(values[best])
        libraries[cases[best]["place"]] += 1
    return kept


def _combined(case, together):
    """The values of a case but for its place, so many at a time."""
    values = sorted(value for value in case.items() if value[0] != "place")
    return set(combinations(values, min(together, len(values))))


def _values(item):
    """The parameters of a case, by identity; what one list gives together is one of them."""
    params = dict(item.callspec.params)
    values = {"place": params.pop("place", places.CORE)}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values[",".join(names)] = tuple(id(params.pop(name.strip(), None)) for name in names)
    return values | {name: (id(value),) for name, value in params.items()}
