"""Reports of models of all kinds."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from ranksvm import (
    KernelRankSVM,
    LinearModel,
    QueryScaler,
    RankSVM,
    RankSVMCV,
    report,
)
from ranksvm.reports.features import FeatureSummary

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 4)) * [1.0, 10.0, 0.1, 1.0]
QID = np.repeat(np.arange(12), 10)
Y = np.digitize(X[:, 0] + 0.1 * X[:, 1] + RNG.normal(size=120), [-1, 0.5, 1.5])
HOSTILE = '<script>document.title = "stolen"</script>"\'&\u202e\x00'
VOID = {"meta"}


class Tags(HTMLParser):
    """Refuses elements that are not closed, and keeps what there is."""

    def __init__(self, page):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def text_of(page):
    return re.sub("<[^>]*>", " ", page.html)


MODELS = {
    "linear": lambda: RankSVM().fit(X, Y, QID),
    "hinge": lambda: RankSVM(loss="hinge").fit(X, Y, QID),
    "file": lambda: LinearModel(np.array([1.0, 0.1, 0.0, 0.0])),
    "zero": lambda: LinearModel(np.zeros(4)),
    "cv": lambda: RankSVMCV(Cs=[0.1, 1.0], cv=3).fit(X, Y, QID),
    "pipeline": lambda: make_pipeline(StandardScaler(), RankSVM()).fit(X, Y, ranksvm__qid=QID),
    "splines": lambda: make_pipeline(SplineTransformer(), RankSVM()).fit(X, Y, ranksvm__qid=QID),
    "query": lambda: LinearModel(
        RankSVM().fit(QueryScaler().fit_transform(X, qid=QID), Y, QID).coef_, maps=query_maps()
    ),
    "kernel": lambda: KernelRankSVM(kernel="rbf").fit(X, Y, QID),
    "scaled kernel": lambda: make_pipeline(StandardScaler(), KernelRankSVM()).fit(
        X, Y, kernelranksvm__qid=QID
    ),
    "search": lambda: GridSearchCV(RankSVM(), {"C": [0.1, 1.0]}, cv=3).fit(X, Y),
}


def query_maps():
    from ranksvm.models.maps import QueryMap

    return (QueryMap(4),)


@pytest.mark.parametrize("kind", MODELS)
def test_every_model_has_a_page(kind):
    model = MODELS[kind]()
    page = report(model, X, Y, QID, train=(X, Y, QID), compare=RNG.normal(size=120))
    tags = Tags(page.html)
    for title in ("Certificate", "Data", "Quality", "Queries", "Calibration", "Comparison"):
        assert f">{title}</h2>" in page.html
    assert "script" not in tags.seen
    assert not {"src", "onclick", "onload"} & {name for name, _ in tags.attributes}
    assert all(value.startswith("#") for name, value in tags.attributes if name == "href")
    headings = [int(tag[1]) for tag in tags.seen if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert max(np.diff(headings)) <= 1
    assert ("Importance" in page.html) == ("kernel" not in kind)
    assert len(page.html) < 300_000


def test_pages_are_the_same_every_time():
    model = MODELS["linear"]()
    first, second = (report(model, X, Y, QID, compare=Y[::-1]).html for _ in range(2))
    assert first == second
    assert report(model, csr_matrix(X), Y, QID, compare=Y[::-1]).html == first


def test_the_certificate_is_told_and_rounded_to_the_safe_side():
    model = RankSVM(tol=0.1).fit(X, Y, QID)
    found = re.search(
        r"lies between ([\d.]+) and ([\d.]+) ",
        re.sub("<[^>]*>", "", report(model, X, Y, QID).html).replace(",", " "),
    )
    assert float(found[1]) <= model.objective_ * (1 - model.dual_gap_)
    assert float(found[2]) >= model.objective_
    assert "no certificate" in text_of(report(MODELS["file"](), X, Y, QID))


@pytest.mark.parametrize("where", ["names", "docids", "qid", "title", "sources"])
def test_texts_are_hostile(where):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        X, columns=[f"{HOSTILE}{k}" for k in range(4)] if where == "names" else list("abcd")
    )
    model = RankSVM().fit(frame, Y, QID)
    options = {
        "docids": {"docids": [f"{HOSTILE}{k}" for k in range(120)]},
        "title": {"title": HOSTILE},
        "sources": {"sources": {HOSTILE: HOSTILE}, "names": {"test": HOSTILE}},
    }
    qid = [f"{HOSTILE}{q}" for q in QID] if where == "qid" else QID
    page = report(model, frame, Y, qid, **options.get(where, {}))
    tags = Tags(page.html)
    assert "script" not in tags.seen
    assert "&lt;script&gt;" in page.html
    assert not set(page.html) & set("\u202e\x00")


def test_labels_that_suit_no_gains_have_metrics_of_pairs():
    page = text_of(report(MODELS["linear"](), X, Y - 7.5, QID))
    assert "kendall_tau" in page
    assert "were left out" in page
    assert "ndcg@1 " not in page


def test_one_query_and_a_short_one():
    page = text_of(report(MODELS["linear"](), X[:2], [0, 1]))
    assert "One query alone has no interval" in page
    assert "all rows" in page


def test_metrics_are_those_asked_for():
    page = text_of(report(MODELS["linear"](), X, Y, QID, metrics=["err@5"]))
    assert "err@5" in page
    assert "ndcg" not in page


def test_large_feature_spaces_show_a_few():
    n_features = 50_000
    wide = csr_matrix(
        (np.ones(240), (np.repeat(np.arange(120), 2), RNG.integers(0, n_features, 240))),
        shape=(120, n_features),
    )
    model = RankSVM().fit(wide, Y, QID)
    page = report(model, wide, Y, QID, compare=MODELS["zero"]().predict(X))
    assert len(page.html) < 100_000
    assert "of 50,000" in page.html


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_summaries_of_features(form):
    rows = np.array([[0.0, 2.0, -1.0], [0.0, 2.0, 0.0], [0.0, 2.0, 4.0]])
    found = FeatureSummary.of(form(rows))
    np.testing.assert_allclose(found.mean, rows.mean(axis=0))
    np.testing.assert_allclose(found.deviation, rows.std(axis=0))
    np.testing.assert_allclose([found.low, found.high], [rows.min(axis=0), rows.max(axis=0)])
    assert found.n_zero.tolist() == [3, 0, 1]
    assert found.n_constant == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": np.zeros(120)}, "no pairs"),
        ({"y": Y[:5]}, "length 5"),
        ({"X": X[:, :3]}, "3 features"),
        ({"X": np.where(X[7, 2] == X, np.nan, X)}, "finite"),
        ({"compare": np.zeros(3)}, "3 scores"),
        ({"compare": LinearModel(np.ones(9))}, "has 9"),
        ({"train": X}, "tuple"),
        ({"train": (X[:, :2], Y)}, "2 features"),
        ({"docids": ["a"]}, "docids has length 1"),
        ({"metrics": ["nonsense"]}, "nonsense"),
        ({"metrics": ["auc_pooled"]}, "auc_pooled is not"),
        ({"X": X[:0], "y": Y[:0], "qid": QID[:0]}, "no rows"),
        ({"y": np.zeros(120, dtype=[("event", "?"), ("time", "f8")])}, "times of events"),
    ],
)
def test_bad_arguments_are_sentences(arguments, message):
    given = {"X": X, "y": Y, "qid": QID, **arguments}
    with pytest.raises(ValueError, match=message):
        report(MODELS["file"](), given.pop("X"), given.pop("y"), given.pop("qid"), **given)


def test_pages_are_saved_and_shown_in_a_frame(tmp_path):
    page = report(MODELS["file"](), X, Y, QID)
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith("<iframe")
    assert frame.count("<") == 2
    assert "save(path)" in repr(page)
    with pytest.raises(OSError, match="does not exist"):
        page.save(tmp_path / "nowhere" / "report.html")


def test_pages_are_valid():
    html5lib = pytest.importorskip("html5lib")
    for kind in ("linear", "splines", "kernel"):
        page = report(MODELS[kind](), X, Y, QID, compare=Y)
        html5lib.HTMLParser(strict=True).parse(page.html)
