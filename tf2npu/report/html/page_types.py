"""The types of a page and a section of the web report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

FOLDERS = ("files", "data", "assets")
"""The folders of a report that hold nothing but pages of files, data and what all pages share."""


def run_page_name(number: int) -> str:
    """The page of a run by its number from 1, the last run first."""
    return "runs.html" if number == 1 else f"run-{number}.html"


@dataclass(frozen=True)
class Page:
    """A page that is rendered when it is asked for.

    name: its file in the report's folder.  template: below htmlfiles/.  context: gives what the template needs.
    """

    name: str
    template: str
    context: Callable[[], dict[str, Any]]

    @property
    def root(self) -> str:
        """The way from the page to the report's folder."""
        return "../" * self.name.count("/")


@dataclass(frozen=True)
class Section:
    """A part of the overview.

    name: its id and its template, htmlfiles/sections/NAME.html, which gets `section`.  title: its heading, in the reader's
    language.
    """

    name: str
    title: str
    values: dict[str, Any] = field(default_factory=dict)
