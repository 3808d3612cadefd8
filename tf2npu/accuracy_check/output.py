"""Puts what a check found into a folder: check.json, the page, and the files of the least changes, each whole.

A file of somebody else's is not overwritten: a project may have a `customize_dtypes.cfg` of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from npu_formats.documents.check_record import Record
from tf2npu.accuracy_check import document, page
from tf2npu.accuracy_check.change_files import change_files
from tf2npu.comparison.texts import Texts
from tf2npu.prediction import output

JSON_NAME, PAGE_NAME = "check.json", "check.html"
_NAMES = (JSON_NAME, PAGE_NAME, "modify_mixlist.json", "customize_dtypes.cfg", "fusion_switch.cfg")
"""Files that a check may write, but for those with the name of a run in theirs."""


def check_folder(out: Path) -> None:
    """Refuse, before anything is run, a folder that cannot be written into or that has a file of somebody else's.

    Raises: ForeignPage.
    """
    output.check_folder(out, _NAMES, "--out")


def put(record: Record, out: Path, t: Texts, *, comparisons: Mapping[str, str] | None = None) -> list[Path]:
    """Write everything into a folder, which may be new.  Returns: the paths, the page first.

    Raises: OSError; ForeignPage where a file of somebody else's has one of the names.
    """
    texts = {file.name: file.text for file in change_files(record)}
    texts[JSON_NAME] = "".join(document.pieces(document.document(record)))
    texts[PAGE_NAME] = page.page(record, t, comparisons=comparisons, home=output.home_of(out))
    output.put_pages(iter(texts.items()), out, "--out")
    return [out / name for name in reversed(texts)]
