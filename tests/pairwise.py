"""Few of the cases of a test, in which every pair of parameters occurs that occurs in any."""

from collections import Counter, defaultdict
from itertools import combinations


def thinned(items):
    """
    Return the tests to run, in their order, and the others.

    Two libraries of arrays count as one place, as the same lines run on both.
    """
    functions = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            functions[item.parent.nodeid, item.originalname].append(item)
    spared = set()
    for cases in functions.values():
        kept = covering([_values(case) for case in cases])
        spared.update(case for place, case in enumerate(cases) if place not in kept)
    return [item for item in items if item not in spared], list(spared)


def covering(cases):
    """Return the places of cases with the pairs of all: of those left, that with most new ones."""
    pairs = [_pairs(case) for case in cases]
    missing, kept, used = set().union(*pairs), set(), Counter()
    while missing:
        best = max(
            (place for place in range(len(cases)) if place not in kept),
            key=lambda place: (
                len(pairs[place] & missing),
                -sum(used[value] for value in cases[place].items()),
            ),
        )
        kept.add(best)
        missing -= pairs[best]
        used.update(cases[best].items())
    return kept


def _values(item):
    """The parameters of a case, by identity; what one list gives together is one of them."""
    params = dict(item.callspec.params)
    values = {"place": params.pop("place")} if "place" in params else {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        together = tuple(id(params.pop(name.strip(), None)) for name in names)
        values[",".join(names)] = together
    return values | {name: id(value) for name, value in params.items()}


def _pairs(values):
    alike = {
        name: "arrays" if value in ("numpy", "torch") else value for name, value in values.items()
    }
    return {*combinations(sorted(alike.items()), 2), *((value,) for value in values.items())}
