"""What a report is about: a model, and labelled rows with their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..lazy import cached_property
from ..metrics.evaluation import Evaluation, measure
from ..metrics.pairs import lost_pairs
from ..models import KernelModel, LinearModel, Model
from ..models.columns import columns_of
from ..models.from_estimators import model_of
from ..pairs.columns import finite_column
from ..pairs.queries import QueryGroups, id_vector
from ..pairs.query_columns import query_column, without_column
from ..pairs.weights import row_weights
from ..records import record

Vector = NDArray[np.float64]

METRICS = ("ndcg@10", "ndcg@1", "map", "mrr", "pairwise_accuracy")
METRICS_OF_PAIRS = ("pairwise_accuracy", "kendall_tau")  # which take labels of any kind


@record
class Subject:
    """A model, and what is known of how it came about.

    Attributes
    ----------
    ranker : object
        What the user has given, which predicts.
    model : LinearModel or KernelModel
    history : list of Iteration
        Empty where the training is not known.
    """

    ranker: Any
    model: Model
    history: list[Any]

    @classmethod
    def of(cls, ranker: Any) -> Subject:
        """Look into a ranker; of a pipeline that ends in a kernel, into its last step."""
        best = getattr(ranker, "best_estimator_", ranker)
        steps = getattr(best, "steps", None)
        last = best if steps is None else steps[-1][1]
        try:
            model = model_of(best)
        except ValueError:
            if steps is None or not isinstance(model_of(last), KernelModel):
                raise
            model, best = model_of(last), best
        return cls(best, model, list(getattr(last, "history_", ())))

    @property
    def kind(self) -> str:
        """What kind of model it is, in a few words."""
        if isinstance(self.model, KernelModel):
            return f"ranker with the kernel {self.model.kernel}"
        behind = "".join(f" behind {one.name}" for one in self.model.maps)
        return f"linear ranker{behind}"

    def name(self, feature: int) -> str:
        """Return the name of a feature, or its number."""
        if self.model.feature_names:
            return self.model.feature_names[feature]
        return f"feature {feature + (not self.model.training.get('zero_based', True))}"

    def scores(self, X: Any, qid: Any) -> Vector:
        """Score rows."""
        if isinstance(self.model, LinearModel):
            return self.model.predict(X, qid=qid)
        return finite_column(self.ranker.predict(X), "the scores")


@record
class Sample:
    """Labelled rows, and their scores.

    Attributes
    ----------
    name : str
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels, scores : ndarray of shape (n_samples,)
    qid : ndarray of shape (n_samples,), or None
    weights : ndarray of shape (n_samples,), or None
    docids : sequence of n_samples ids, or None
    """

    name: str
    X: Any
    labels: Vector
    scores: Vector
    qid: NDArray[Any] | None
    weights: Vector | None = None
    docids: Any = None

    @classmethod
    def of(
        cls, subject: Subject, name: str, X: Any, y: Any, qid: Any, weights: Any, docids: Any
    ) -> Sample:
        """Check rows, and score them."""
        if isinstance(qid, str):
            X, qid = without_column(X, qid), query_column(X, qid)
        if getattr(np.asarray(y).dtype, "names", None) is not None:
            raise InputError(
                "a report is of labels of relevance, not of times of events: measure these with "
                "concordance_index"
            )
        labels = finite_column(y, "y")
        X = columns_of(X, subject.model.feature_names)
        X = X if hasattr(X, "tocsr") else np.asarray(X)
        if X.shape[0] != len(labels):
            raise InputError(f"y has length {len(labels)} but X has {X.shape[0]} rows")
        if docids is not None and len(docids) != len(labels):
            raise InputError(f"docids has length {len(docids)} but X has {len(labels)} rows")
        if not len(labels):
            raise InputError("there are no rows to report on")
        ids = None if qid is None else id_vector(qid)
        weights = row_weights("sample_weight", weights, len(labels))
        X = X.tocsr() if hasattr(X, "tocsr") else X
        return cls(name, X, labels, subject.scores(X, ids), ids, weights, docids)

    @cached_property
    def groups(self) -> QueryGroups:
        """The queries."""
        return QueryGroups.from_qid(self.qid, len(self.labels))

    @property
    def query_sizes(self) -> NDArray[np.int64]:
        """How many rows each query has."""
        return np.diff(self.groups.indptr)

    @cached_property
    def pairs_of_queries(self) -> Vector:
        """How many preference pairs each query has, or what they weigh."""
        try:
            _, pairs = lost_pairs(self.labels, self.scores, self.qid, sample_weight=self.weights)
        except ValueError:  # not one
            return np.zeros(self.groups.n_queries)
        return pairs

    @property
    def has_pairs(self) -> NDArray[np.bool_]:
        """Which queries have pairs."""
        return self.pairs_of_queries > 0

    @property
    def n_pairs(self) -> float:
        """How many pairs there are, or what they weigh."""
        return float(self.pairs_of_queries.sum())

    @property
    def query_names(self) -> list[str]:
        """What the queries are called."""
        return (
            ["all rows"] if self.qid is None else list(map(str, self.qid[self.groups.first_rows]))
        )

    def row_name(self, row: int) -> str:
        """Return what a row is called: by its document where that is known."""
        found = "" if self.docids is None else str(self.docids[row])
        return found or f"row {row + 1}"

    def measure(self, scores: Vector, metrics: tuple[str, ...]) -> Evaluation:
        """Measure scores of these rows."""
        return measure(self.labels, scores, self.qid, metrics, sample_weight=self.weights)
