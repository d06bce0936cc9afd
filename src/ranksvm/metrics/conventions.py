"""What programs disagree about when they measure a ranking, and what each of them does."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import InputError

_CHOICES = {
    "gain": ("exponential", "linear"),
    "discount": ("log2", "letor"),
    "ties": ("average", "order", "pessimistic", "docid", "threshold"),
    "map_divisor": ("relevant", "possible"),
    "short_queries": ("padded", "cut", "zero"),
}


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """What programs disagree about when they measure a ranking.

    The defaults make a metric a property of labels and scores alone: the order of the rows does not
    matter, and queries that say nothing are left out.

    Parameters
    ----------
    gain : {"exponential", "linear"}, default="exponential"
        What a document of label y is worth to nDCG: ``2^y - 1`` (Burges et al. 2005) or ``y``
        (Jarvelin and Kekalainen 2002).
    discount : {"log2", "letor"}, default="log2"
        What the gain at rank r is divided by: ``log2(1 + r)``, or ``max(1, log2(r))``, which leaves
        the first two ranks alike.
    ties : {"average", "order", "pessimistic", "docid", "threshold"}, default="average"
        Where documents of equal scores stand: "average" takes the mean over all their orders,
        exactly; "order" that of the rows; "pessimistic" puts the less relevant first; "docid" the
        greater document id, compared as text. "threshold" is "average", but MAP takes the precision
        behind the last of them.
    pair_ties : float, default=0.5
        What a preference pair of equal scores counts, between 0 (wrong) and 1 (right).
    empty : float or None, default=None
        nDCG, MAP and recall of a query without relevant documents, where they are 0 / 0; MRR,
        precision and ERR are 0 there. None leaves the query out of all of them.
    no_pairs : float or None, default=None
        Pairwise accuracy of a query without preference pairs; None leaves the query out.
    threshold : float, default=1.0
        A document is relevant to the binary metrics if its label is at least this. To nDCG and ERR
        it is if its label is above 0.
    map_divisor : {"relevant", "possible"}, default="relevant"
        What the precisions of MAP@k are divided by: the number R of relevant documents, or
        ``min(R, k)``, how many of them the first k ranks have room for.
    short_queries : {"padded", "cut", "zero"}, default="padded"
        A query with fewer than k documents goes on with irrelevant ones ("padded"); has its
        precision at k divided by its length instead ("cut"); or has an nDCG@k of 0 ("zero").
    max_label : float, default=4.0
        The greatest label there can be, which ERR needs to know: a document of label y satisfies
        with probability ``(2^y - 1) / 2^max_label`` (Chapelle et al. 2009).

    Raises
    ------
    ValueError
        If a choice is not among those above.
    """

    gain: str = "exponential"
    discount: str = "log2"
    ties: str = "average"
    pair_ties: float = 0.5
    empty: float | None = None
    no_pairs: float | None = None
    threshold: float = 1.0
    map_divisor: str = "relevant"
    short_queries: str = "padded"
    max_label: float = 4.0

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise InputError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
        if not 0 <= self.pair_ties <= 1:
            raise InputError(f"pair_ties must be between 0 and 1, not {self.pair_ties!r}")
        if not 0 < self.max_label <= 1000:
            raise InputError(f"max_label must be above 0 and at most 1000, not {self.max_label!r}")


PRESETS = {
    "letor": Conventions(
        discount="letor", ties="order", empty=0, short_queries="zero", max_label=2
    ),
    "mslr": Conventions(discount="letor", ties="order", empty=0, short_queries="zero", threshold=2),
    "sklearn": Conventions(gain="linear", ties="threshold", empty=0),
    "xgboost": Conventions(
        ties="order", empty=1, map_divisor="possible", short_queries="cut", max_label=31
    ),
    "lightgbm": Conventions(ties="order", empty=1, map_divisor="possible", max_label=30),
    "trec_eval": Conventions(gain="linear", ties="docid", empty=0),
    "svmrank": Conventions(pair_ties=0, no_pairs=1),
    "liblinear": Conventions(discount="letor", ties="order", pair_ties=1, empty=0),
}
"""Conventions by the name of the program whose numbers they reproduce.

"letor"
    ``Eval-Score-4.0.pl``: P@k, MAP, NDCG@k and (``mean_ndcg``) MeanNDCG. Labels 0 to 2.
"mslr"
    The script of the Microsoft datasets: the same, of labels 0 to 4, relevant from 2 on.
"sklearn"
    ``ndcg_score``, ``average_precision_score`` and ``roc_auc_score`` of each query, averaged.
"xgboost"
    ``ndcg@k``, ``map@k`` and ``pre@k``, with float32 scores. Not its ``auc`` of rankings, which
    counts pairs of equal labels, too, in the order of the rows.
"lightgbm"
    ``ndcg@k`` and ``map@k``, with the default ``label_gain``.
"trec_eval"
    ``ndcg_cut.k``, ``map_cut.k``, ``recip_rank``, ``P.k``, ``recall.k``, with a line in the
    relevance judgements for every document, and float32 scores; ERR as ``gdeval.pl``.
"svmrank"
    ``svm_rank_classify``: the sum of ``swapped_pairs`` over the queries, ``ranking_error`` as Avg
    Swappedpairs Percent and ``zero_one_error``.
"liblinear"
    ``predict`` of LIBLINEAR-ranksvm: ``pairwise_accuracy_pooled``, and ``mean_ndcg``; the order of
    tied documents, which is left to chance there, is that of the rows.
"""


def conventions_of(preset: str | Conventions | None) -> Conventions:
    """Return the conventions of a preset, by name or as they are; None stands for the defaults.

    Raises
    ------
    ValueError
        If there is no preset of that name.
    """
    if isinstance(preset, Conventions):
        return preset
    if preset is None:
        return Conventions()
    if preset in PRESETS:
        return PRESETS[preset]
    nearest = get_close_matches(str(preset).lower(), PRESETS, 1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    raise InputError(f"there is no preset {preset!r}; {hint}known are {', '.join(PRESETS)}")
