"""Sparse data with the shape of news text (RCV1): bags of words to be ranked by similarity."""

import numpy as np
from scipy import sparse

N_TOPICS = 50
TOPIC_SHARE = 0.4
WORDS_PER_DOCUMENT = 87
BLOCK_ROWS = 8192


def make_text_like(
    rows: int = 64_000, features: int = 47_236, seed: int = 0, words: int = WORDS_PER_DOCUMENT
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """
    Documents as unit tf-idf rows; the label is the similarity to a document that was left out.

    The frequency of a term falls as 1 / rank (Zipf). Each document belongs to one of 50 topics and
    takes two fifths of its words from the terms that the topic owns, again by Zipf's law; the rest
    come from the whole vocabulary. With 87 words that makes 73 nonzeros per row on average.

    Parameters
    ----------
    rows, features : int
        Number of documents and of terms.
    seed : int
        Equal arguments give equal data.
    words : int
        Words in a document, repetitions included.

    Returns
    -------
    X : csr_matrix of shape (rows, features), float64 with int32 indices, sorted, no duplicates
    y : ndarray of shape (rows,), float64
    """
    rng = np.random.default_rng(seed)
    by_frequency = rng.permutation(features).astype(np.int32)
    by_topic = rng.permutation(features).astype(np.int32)
    by_topic = by_topic[: features // N_TOPICS * N_TOPICS].reshape(N_TOPICS, -1)
    blocks = [
        _term_counts(
            _draw_words(rng, (min(BLOCK_ROWS, rows + 1 - start), words), by_frequency, by_topic)
        )
        for start in range(0, rows + 1, BLOCK_ROWS)
    ]
    terms, counts, lengths = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sparse.csr_matrix(
        (_unit_tf_idf(terms, counts, indptr, features), terms, indptr), (rows + 1, features)
    )
    left_out = X[0].toarray()[0]
    X = X[1:]
    return X, X @ left_out


def _draw_words(
    rng: np.random.Generator,
    shape: tuple[int, int],
    by_frequency: np.ndarray,
    by_topic: np.ndarray,
) -> np.ndarray:
    """Draw the words of each document, with repetitions: terms of this shape."""
    rows, words = shape
    topics = rng.integers(N_TOPICS, size=rows)
    n_own = round(TOPIC_SHARE * words)
    own = _zipf_ranks(rng, (rows, n_own), by_topic.shape[1])
    common = _zipf_ranks(rng, (rows, words - n_own), len(by_frequency))
    return np.hstack([by_topic[topics[:, None], own], by_frequency[common]])


def _zipf_ranks(rng: np.random.Generator, shape: tuple[int, int], n: int) -> np.ndarray:
    """Ranks 0 .. n-1 with probability log(1 + 1/(rank+1)) / log(n+1), that is about 1 / rank."""
    log_ranks = rng.random(shape, dtype=np.float32) * np.float32(np.log(n + 1))
    return np.minimum(np.exp(log_ranks).astype(np.int32) - 1, n - 1)


def _term_counts(words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms of all documents in turn, ascending in each; their counts; and terms per document."""
    words.sort(axis=1)
    first = np.ones(words.shape, dtype=bool)
    np.not_equal(words[:, 1:], words[:, :-1], out=first[:, 1:])
    starts = np.flatnonzero(first)
    return words.ravel()[starts], np.diff(starts, append=words.size), first.sum(axis=1)


def _unit_tf_idf(
    terms: np.ndarray, counts: np.ndarray, indptr: np.ndarray, features: int
) -> np.ndarray:
    document_frequency = np.maximum(np.bincount(terms, minlength=features), 1)
    inverse = np.log(len(indptr) / document_frequency)
    weights = (1 + np.log(counts)) * inverse[terms]
    norms = np.sqrt(np.add.reduceat(weights * weights, indptr[:-1]))
    weights /= np.repeat(norms, np.diff(indptr))
    return weights
