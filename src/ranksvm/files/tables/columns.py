"""Which column of a table is what: labels, query ids, weights, features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ...lazy import cached_property
from ...pairs.query_columns import USUAL_NAMES
from ...records import record
from ..quoting import shown
from ..source import DataError

# The names by which columns are found that are not named.
DEFAULTS = {
    "label": ("label", "relevance", "y"),
    "qid": USUAL_NAMES,
    "docid": ("docid", "doc_id"),
}
_INDEX = ("", "__index_level_0__")  # that of pandas, which is no feature
_SHOWN = 8


class TableColumns(NamedTuple):
    """Which columns to take for what; None for those that have one of the usual names.

    Attributes
    ----------
    label, qid, docid : str, optional
    weight, event : str, optional
        None for none of the columns.
    features : sequence of str, optional
        By default all columns that are nothing else. Patterns, such as ``f*``, stand for all
        columns of such names.
    drop : sequence of str
        Columns that are no features; in place of `features`.
    """

    label: str | None = None
    qid: str | None = None
    weight: str | None = None
    event: str | None = None
    docid: str | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()

    def require_none(self, name: str) -> None:
        """Refuse columns that are named of a file without any; --event may name a file, too."""
        given = {**self._asdict(), "event": None}
        named = [key for key, value in given.items() if value]
        if named:
            option = "columns" if named[0] == "features" else named[0]
            raise DataError(
                f"{name} is no table, its columns have no names: leave out --{option} or "
                f"{named[0]}="
            )

    def layout(
        self,
        found: Sequence[str],
        name: str,
        *,
        of_model: Sequence[str] | None = None,
        like: Sequence[str] | None = None,
        labelled: bool = True,
    ) -> Layout:
        """Say which of the columns of a table is what.

        Parameters
        ----------
        found : sequence of str
            The columns of the table.
        name : str
            What messages call the table.
        of_model : sequence of str, optional
            The features that are wanted, in this order; all other columns may be anything.
        like : sequence of str, optional
            The features of a table before, which are to be the same, in any order.
        labelled : bool, default=True
            Whether there must be labels.

        Raises
        ------
        DataError
            If a column is not there, or there twice, or is named as two things, or several have
            usual names.
        """
        columns = _Found(found, name)
        roles: dict[str, str] = {}
        for role in ROLES:
            column = self._column(role, columns, of_model or ())
            if column is not None:
                other = next((one for one in roles if roles[one] == column), None)
                if other is not None:
                    both = f"both the {TITLES[other]} and the {TITLES[role]}"
                    raise DataError(f"{name}: the column {shown(column)} cannot be {both}")
                roles[role] = column
        if labelled and len(found) == 1:
            raise DataError(
                f"{name} is no data: as a table it has one column alone, {found[0]!r}, and rows of "
                "SVMlight begin with a label"
            )
        if labelled and "label" not in roles:
            raise DataError(
                f"{name} has no column named {_either(DEFAULTS['label'])}: say which holds the "
                f"labels, by --label COLUMN or label=; its columns are {columns.listed}"
            )
        if of_model is not None:
            features = columns.require(of_model, ", which the model was trained on")
        else:
            features = self._features(columns, set(roles.values()))
            if like is not None:
                features = _in_order(features, like, name)
        return Layout(
            roles, features, [columns.index[name] for name in [*features, *roles.values()]]
        )

    def _column(self, role: str, columns: _Found, of_model: Sequence[str]) -> str | None:
        """Return the column of a role: the one that is named, or the only one of a usual name."""
        named: str | None = getattr(self, role)
        if named is not None:
            return columns.require([named], f", to be the {TITLES[role]}")[0]
        if role not in DEFAULTS:
            return None
        taken = {*of_model, *(self.features or ()), *self.drop}
        taken |= {getattr(self, other) for other in ROLES}
        usual = [
            column
            for column in columns.found
            if column.lower() in DEFAULTS[role] and column not in taken
        ]
        if len(usual) > 1:
            raise DataError(
                f"{columns.name} has the columns {_both(usual)}: say which holds the "
                f"{TITLES[role]}, by --{role} or {role}=, and what the others are"
            )
        return columns.require(usual, "")[0] if usual else None

    def _features(self, columns: _Found, others: set[str]) -> list[str]:
        if self.features is not None and self.drop:
            raise DataError("name the features or what to drop, not both")
        if self.features is not None:
            features = columns.matching(self.features)
            both = [feature for feature in features if feature in others]
            if both:
                raise DataError(
                    f"{columns.name}: the column {shown(both[0])} cannot be a feature, too"
                )
            return features
        left = {*others, *columns.matching(self.drop), *_INDEX}
        features = columns.require([name for name in columns.found if name not in left], "")
        if not features:
            raise DataError(f"{columns.name} has no features; its columns are {columns.listed}")
        return features


ROLES = ("label", "qid", "weight", "event", "docid")
TITLES = {
    "label": "label",
    "qid": "query ids",
    "weight": "weight",
    "event": "event",
    "docid": "document ids",
}


class Layout(NamedTuple):
    """Where the columns of a table are.

    Attributes
    ----------
    roles : dict of str to str
        By what they are, as `ROLES` lists it, the columns that are no features.
    features : list of str
    numbers : list of int
        Where the columns of the features are, and then those of the roles.
    """

    roles: Mapping[str, str]
    features: list[str]
    numbers: list[int]


@record
class _Found:
    """The columns of a table."""

    found: Sequence[str]
    name: str

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each stands."""
        return {column: k for k, column in enumerate(self.found)}

    @property
    def listed(self) -> str:
        """The first of them, for messages."""
        more = ", ..." if len(self.found) > _SHOWN else ""
        return ", ".join(map(shown, self.found[:_SHOWN])) + more

    def require(self, wanted: Sequence[str], purpose: str) -> list[str]:
        """Return columns that must be there, and once."""
        missing = [column for column in wanted if column not in self.index]
        if missing:
            from ..sections import did_you_mean

            listed = ", ".join(map(shown, missing[:_SHOWN])) + ", ..." * (len(missing) > _SHOWN)
            hint = did_you_mean(missing[0], self.found)
            raise DataError(
                f"{self.name} has no column {listed}{purpose}{hint}; its columns are {self.listed}"
            )
        if len(self.index) < len(self.found):
            for column in wanted:
                if list(self.found).count(column) > 1:
                    raise DataError(f"{self.name} has the column {shown(column)} twice: rename one")
        return list(wanted)

    def matching(self, patterns: Iterable[str]) -> list[str]:
        """Return the columns of these names, or of names like these."""
        matching: dict[str, None] = {}
        for pattern in patterns:
            like = [column for column in self.found if fnmatchcase(column, pattern)]
            exact = pattern in self.index or not like
            matching.update(dict.fromkeys([pattern] if exact else like))
        return self.require(list(matching), "")


def _in_order(features: Sequence[str], like: Sequence[str], name: str) -> list[str]:
    """Return the same features in the order of a table before."""
    further, missing = set(features).difference(like), set(like).difference(features)
    if further or missing:
        column, verb = (min(further), "has") if further else (min(missing), "lacks")
        raise DataError(
            f"{name} {verb} the column {shown(column)}, unlike the file before it: give files of "
            "the same columns, or name features that all have"
        )
    return list(like)


def _either(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _both(names: Sequence[str]) -> str:
    return " and ".join(map(shown, names))
