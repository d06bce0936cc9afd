"""Reports: one page on a model and the rows that it was measured on."""

from __future__ import annotations

import html
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..files.atomic import atomic_write
from ..jobs.fingerprint import fingerprint
from ..metrics.evaluation import Evaluation
from ..pairs.columns import finite_column
from ..records import record
from .calibration import calibration
from .certificate import certificate, gap_in_words
from .comparison import Difference, comparison, differences_of
from .data import DataSection
from .layout import Section, facts, page, paragraph
from .markup import Markup, element
from .quality import Intervals, evaluated, intervals_of, quality
from .queries import queries
from .subjects import Sample, Subject
from .texts import counted, interval, measured, number
from .weights import MOST, Shown, no_weights, weights


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page on a model, as `report` returns it.

    Notebooks show it in a frame of its own.

    Attributes
    ----------
    html : str
        The whole document, which needs nothing else.
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        with atomic_write(path) as file:
            file.write(self.html.encode())

    def __repr__(self) -> str:
        return f"Report of {len(self.html.encode()):,} bytes: save(path) writes it"

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 40rem; border: 1px solid #888"
        page = html.escape(self.html)
        return f'<iframe title="Report" sandbox style="{style}" srcdoc="{page}"></iframe>'


def report(
    model: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | str | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    docids: Sequence[Any] | None = None,
    train: tuple[Any, ...] | None = None,
    compare: Any = None,
    metrics: Sequence[str] | None = None,
    title: str | None = None,
    names: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
) -> Report:
    r"""Write a page on a model and on how it ranks labelled rows.

    It holds the certificate, the data, metrics with intervals by the bootstrap over queries, the
    best and the worst queries with their rows, weights or curves of features, what each feature is
    worth, how often pairs are in the right order by the difference of their scores, a comparison
    with another model, and what identifies the data. The page is one file without scripts, which
    fetches nothing, and the same bytes for the same arguments.

    Parameters
    ----------
    model : LinearModel, KernelModel, or fitted estimator, pipeline or search
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Rows that the model was not trained on.
    y : array-like of shape (n_samples,)
        Relevance labels, some of which differ within a query.
    qid : array-like of shape (n_samples,) or str, optional
        Query ids, or the name of their column in X; one query by default.
    sample_weight : array-like of shape (n_samples,), optional
        To the metrics of pairs.
    docids : sequence of n_samples ids, optional
        What rows are called.
    train : tuple (X, y) or (X, y, qid), optional
        The rows of the training, to be shown beside those of the test.
    compare : model as above, or array-like of shape (n_samples,), optional
        Another ranker of the same features, or scores.
    metrics : sequence of str, optional
        Names of metrics of queries, as for `evaluate`; queries are told apart by the first. By
        default nDCG\@10 and \@1, MAP, MRR and pairwise accuracy, or those of pairs where labels do
        not suit the others.
    title : str, optional
    names : dict of str to str, optional
        What "test", "train" and "compare" are called.
    sources : dict of str to str, optional
        What else to say of where all this comes from, such as a command.

    Returns
    -------
    Report

    Raises
    ------
    ValueError
        If an argument is malformed, no two labels of a query differ, or arguments do not go
        together.

    Examples
    --------
    >>> import numpy as np
    >>> from ranksvm import RankSVM, report
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y, qid = (X[:, 0] > 0).astype(int), np.repeat([1, 2, 3], 20)
    >>> page = report(RankSVM().fit(X, y, qid), X, y, qid)
    >>> page.save("report.html")
    """
    called = {"test": "Test", "train": "Training", "compare": "the other model", **(names or {})}
    subject = Subject.of(model)
    test = Sample.of(subject, called["test"], X, y, qid, sample_weight, docids)
    if not test.has_pairs.any():
        raise InputError(
            f"{called['test']} has no pairs to measure a ranking by: within every query all labels "
            "are equal"
        )
    trained = None if train is None else _trained(subject, called["train"], train)
    scores = None if compare is None else _other_scores(compare, test)
    whole = _Page(subject, test, trained, scores, called)
    with np.errstate(over="ignore", invalid="ignore"):  # squares of features at the limits
        return whole.report(metrics, title, sources)


def _trained(subject: Subject, name: str, train: Any) -> Sample:
    if not isinstance(train, tuple) or len(train) not in (2, 3):
        raise InputError("train must be a tuple of X, y and, if there are queries, qid")
    X, y, *qid = train
    return Sample.of(subject, name, X, y, qid[0] if qid else None, None, None)


def _other_scores(compare: Any, test: Sample) -> Any:
    if hasattr(compare, "predict") or hasattr(compare, "to_model"):
        return Subject.of(compare).scores(test.X, test.qid)
    scores = finite_column(compare, "compare")
    if len(scores) != len(test.labels):
        raise InputError(f"compare has {len(scores)} scores but there are {len(test.labels)} rows")
    return scores


@record
class _Page:
    """What the sections are made from."""

    subject: Subject
    test: Sample
    train: Sample | None
    other_scores: Any
    called: Mapping[str, str]

    def report(
        self, asked: Sequence[str] | None, title: str | None, sources: Mapping[str, str] | None
    ) -> Report:
        evaluation, note = evaluated(self.test, asked)
        metrics = tuple(evaluation.mean)
        trained = None if self.train is None else self.train.measure(self.train.scores, metrics)
        intervals = intervals_of(evaluation.per_query)
        of_features, data, why = self._features(metrics[0])
        sections = [
            certificate(self.subject),
            data,
            quality(evaluation, intervals, trained, note),
            queries(self.test, evaluation, why),
            *of_features,
            calibration(self.test),
        ]
        differences: list[Difference] = []
        if self.other_scores is not None:
            other = self.test.measure(self.other_scores, metrics)
            differences = differences_of(evaluation, other)
            name = self.called["compare"]
            sections.append(comparison(self.test, evaluation, other, differences, name))
        sections.append(self._reproduction(sources or {}))
        lead = self._lead(evaluation, intervals, differences)
        style = Path(__file__).with_name("report.css").read_text("utf-8")
        return Report(page(title or f"Report of a {self.subject.kind}", lead, sections, style))

    def _features(self, metric: str) -> tuple[list[Section], Section, Any]:
        """Return the sections on features and on data, and what tells why a row ranks so."""
        samples = [self.test] if self.train is None else [self.test, self.train]
        name = self.subject.name
        data = DataSection(samples, name)
        try:
            shown = Shown.of(self.subject, self.test, data.summaries[0])
        except ValueError as error:
            first = range(min(MOST, self.subject.model.n_features))
            return no_weights(str(error)), data.section(first), None
        found = weights(self.subject, self.test, shown, data.summaries[0], metric)
        return found, data.section(shown.features.tolist()), lambda row: shown.why(name, row)

    def _lead(
        self, evaluation: Evaluation, intervals: Intervals, differences: Sequence[Difference]
    ) -> list[Markup]:
        told = (
            f"A {self.subject.kind} of {counted(self.subject.model.n_features, 'feature')}, "
            f"measured on {counted(len(self.test.labels), 'row')} of "
            f"{counted(self.test.groups.n_queries, 'query', 'queries')}."
        )
        shown = dict.fromkeys([next(iter(evaluation.mean)), "pairwise_accuracy"])
        cards = [
            _card(name, measured(evaluation.mean[name]), interval(*intervals.ends[name]))
            for name in shown
            if name in evaluation.mean
        ]
        training = self.subject.model.training
        small = "at most, of the objective" if "dual_gap" in training else "no certificate"
        cards.append(_card("Above the optimum", gap_in_words(training), small))
        for one in differences[:1]:
            small = f"p = {number(one.p_value, 2)}"
            cards.append(_card(f"{one.metric} less the other", one.shown, small))
        return [paragraph(told), facts(cards, "lead")]

    def _reproduction(self, sources: Mapping[str, str]) -> Section:
        samples = [self.test] if self.train is None else [self.test, self.train]
        found = [(name, text) for name, text in sources.items()]
        found += [(f"Fingerprint of {one.name}", _fingerprint(one)) for one in samples]
        claimed = self.subject.model.training.get("fingerprint")
        if isinstance(claimed, dict):
            found.append(("Fingerprint of the training data", _listed(claimed)))
        versions = {
            "ranksvm": version("ranksvm"),
            "NumPy": np.__version__,
            "Python": platform.python_version(),
        }
        found.append(("Versions", _listed(versions)))
        told = paragraph(
            "A fingerprint is the same for the same labels, queries and features; it covers a part "
            "of the rows. What is drawn is drawn with a fixed seed."
        )
        return Section("reproduction", "How to reproduce it", [told, facts(found, "facts long")])


def _card(name: str, value: str, small: str) -> tuple[str, Markup]:
    return name, element("span", value, element("small", small))


def _fingerprint(sample: Sample) -> str:
    return _listed(fingerprint(sample.X, sample.labels, sample.qid))


def _listed(found: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in found.items())
