"""Metrics such as ndcg@10 look like addresses of mail; they stay what they are."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def unlink(_: Sphinx, page: nodes.document) -> None:
    """Put the text in the place of each link to an address."""
    for link in list(page.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page once it is read."""
    app.connect("doctree-read", unlink)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
