"""The pages of a list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tf2npu.report.formats.render_context import View
from tf2npu.report.html.listing import Listing, blocks, letters, page_of_list
from tf2npu.report.html.page_types import Page


def list_pages(view: View, listing: Listing, title: str, told: str, left_out: tuple[str, ...] = ()) -> Iterator[Page]:
    """The pages of a list, and its data blocks, which are files of the report as the pages are.

    title, told: its heading, and a sentence below it, in English.
    """
    texts, data = view.texts, blocks(listing, view.texts)
    words = {word: texts.word(word) for word in (*listing.options, "known")}
    about = {
        "title": texts.text(title), "told": texts.text(told), "list": listing, "left_out": left_out,
        "said": [texts.text(text) for text in listing.said], "choice": texts.text(listing.choice),
        "placeholder": texts.text(listing.placeholder), "heads": [texts.text(column.title) for column in listing.columns],
        "data": [name for name, _ in data], "words": words, "letters": letters(listing.rows), "n_pages": listing.n_pages(),
        "page_of_list": page_of_list,
    }  # fmt: skip
    for number in range(1, listing.n_pages() + 1):
        yield Page(page_of_list(listing.name, number), "pages/list.html", partial(_context, about, listing, number))
    for name, text in data:
        yield Page(name, "", partial(_data, text))


def _context(about: dict[str, Any], listing: Listing, number: int) -> dict[str, Any]:
    return {**about, "rows": listing.rows_of(number), "number": number}


def _data(text: str) -> dict[str, Any]:
    return {"text": text}
