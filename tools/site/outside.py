"""Addresses that pages of a site load from outside of it. There must be none, as the site is read from a disk and behind
walls."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

_LOADING = {
    "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src", "poster"),
    "audio": ("src",), "track": ("src",), "embed": ("src",), "object": ("data",), "link": ("href",), "input": ("src",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"),
}  # fmt: skip
"""Attributes whose address a browser opens by itself."""
_NAMING = {"canonical", "alternate", "license", "author", "help", "next", "prev", "search"}
"""Links of a page's head (`rel`) that say something, and load nothing."""
_OUTSIDE = re.compile(r"\s*(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_IN_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


def loads_from_outside(folder: Path) -> list[str]:
    """`PAGE: ADDRESS` of everything that the pages and style sheets below a folder load from elsewhere."""
    found = []
    for path in sorted(folder.rglob("*")):
        read = {".html": of_page, ".css": of_style}.get(path.suffix)
        if read is not None and path.is_file():
            found += [f"{path.relative_to(folder)}: {address}" for address in read(path.read_text(encoding="utf-8"))]
    return found


def of_page(text: str) -> list[str]:
    """Addresses outside that a page loads."""
    reader = _Reader()
    reader.feed(text)
    return reader.outside


def of_style(text: str) -> list[str]:
    """Addresses outside that a style sheet loads."""
    return [address for found in _IN_CSS.finditer(text) if _OUTSIDE.match(address := found[1] or found[2])]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        self.outside += of_style(values.get("style", ""))
        if tag == "link" and values.get("rel", "").lower() in _NAMING:
            return
        for name in _LOADING.get(tag, ()):
            addresses = values.get(name, "").split(",") if name == "srcset" else [values.get(name, "")]
            self.outside += [address.strip() for address in addresses if _OUTSIDE.match(address)]

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.outside += of_style(data)

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False
