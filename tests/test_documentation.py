import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [path for path in sorted(DOCS.glob("**/*.rst")) if "\n>>> " in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_what_pages_say_is_so(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)

    assert result.attempted > 0
    assert result.failed == 0
