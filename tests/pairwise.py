"""Few of the cases of a test on arrays: with those on the core, every pair of parameters occurs."""

from collections import Counter, defaultdict

import places


def thinned(items):
    """
    Return the tests to run, in their order, and the others.

    All cases run on the core. On arrays, where small problems take long, every value of every
    parameter occurs, on one library or the other, as the same lines run on both; and on every
    library of a GPU.
    """
    functions = defaultdict(list)
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        place = params.get("place", places.CORE)
        if place != places.CORE:
            gpu = place if place in places.GPUS else ""
            functions[item.parent.nodeid, item.originalname, gpu].append(item)
    libraries, spared = Counter(), set()
    for cases in functions.values():
        kept = covering([_values(case) for case in cases], libraries)
        spared.update(case for k, case in enumerate(cases) if k not in kept)
    return [item for item in items if item not in spared], list(spared)


def covering(cases, libraries):
    """
    Return the numbers of cases with the values of all: of those left, that with most new ones.

    `libraries` counts how often each has been taken, so that they take turns.
    """
    values = [{value for value in case.items() if value[0] != "place"} for case in cases]
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


def _values(item):
    """The parameters of a case, by identity; what one list gives together is one of them."""
    params = dict(item.callspec.params)
    values = {"place": params.pop("place")}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        values[",".join(names)] = tuple(id(params.pop(name.strip(), None)) for name in names)
    return values | {name: id(value) for name, value in params.items()}
