"""A message that stands once leads to each of its places: links in the index and on the page, to the line or the line of the
cell."""

import json
import re

import pytest

from tf2npu.engine.convert_file import convert_source
from tf2npu.report.formats.render_context import page_name
from tf2npu.report.html import as_html
from tf2npu.report.model.build import build

_START = "import tensorflow as tf\nimport numpy as np\n"
_CELLS = [_START, "a = np.loads(1)", "b = 1\nc = np.loads(2)\n", "d = np.loads(3)"]
_NOTEBOOK = json.dumps({
    "cells": [{"cell_type": "code", "metadata": {}, "source": c, "outputs": [], "execution_count": None} for c in _CELLS],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 2,
})  # fmt: skip


@pytest.mark.parametrize(
    ("path", "source", "shown"),
    [
        ("m.py", f"{_START}a = np.loads(1)\nb = 1\nc = np.loads(2)\nd = np.loads(3)\n", ["5", "6"]),
        ("m.ipynb", _NOTEBOOK, ["cell 2:2", "cell 3:1"]),
    ],
)
def test_the_other_places_are_links(path: str, source: str, shown: list[str]) -> None:
    pages = dict(as_html.Pages(build([convert_source(source, path)])).texts())
    page = pages[page_name(path)]
    for name in ("index.html", "decisions.html"):
        assert not re.search(r"(?<!\d)1 place", pages[name])
        assert re.search(r'<span class="soft small">1 finding at 3 places, 1 file(, [^<]*)?</span>', pages[name])
    for text in (pages["decisions.html"], page):
        links = re.findall(r'<a href="[^"#]*#(L\d+)">([^<]*)</a>', text)
        assert [line for _, line in links][: len(shown)] == shown
        assert all(re.search(rf"<tr id={anchor}\b", page) for anchor, _ in links)
        assert "such places; the others" not in text
    anchors = [anchor for anchor, _ in re.findall(r'<a href="[^"#]*#(L\d+)">([^<]*)</a>', page)]
    lines = [re.search(rf"<tr id={anchor}\b(?:(?!<tr).)*", page, re.DOTALL) for anchor in anchors]
    assert all(found is not None and "np" in found[0] for found in lines)
