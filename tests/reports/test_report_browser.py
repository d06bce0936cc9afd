"""Reports in a real browser: nothing on the console, accessible, no wider than the window."""

import browser
import pytest
import test_report

from ranksvm import report

WINDOWS = {
    "wide and light": ["--window-size=1280,900", "--blink-settings=preferredColorScheme=1"],
    "narrow and dark": [
        "--window-size=390,900",
        "--force-dark-mode",
        "--blink-settings=preferredColorScheme=0",
    ],
}


@pytest.fixture(scope="module")
def page():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(test_report.X, columns=[test_report.HOSTILE, "b", "c" * 200, "d"])
    model = test_report.RankSVM().fit(frame, test_report.Y, test_report.QID)
    rows = frame, test_report.Y, test_report.QID
    return report(model, *rows, train=rows, compare=test_report.Y).html


def test_a_report_says_nothing_on_the_console(page, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    found, console = browser.chromium(path)
    assert console == []
    assert "<title>Report of a linear ranker</title>" in found


@pytest.mark.parametrize("window", WINDOWS)
def test_a_report_is_accessible(page, tmp_path, window):
    found = browser.audit(page, tmp_path, *WINDOWS[window])
    assert found["violations"] == []
    assert found["passes"] > 20
    assert found["overflow"] == 0
    assert found["dark"] == ("dark" in window)


def test_the_audit_finds_what_is_wrong(tmp_path):
    page = '<html><head><title>x</title></head><body><img src="x.png"></body></html>'
    found = {rule for rule, _ in browser.audit(page, tmp_path)["violations"]}
    assert {"html-has-lang", "image-alt"} <= found
