"""Finds every text that a check says, as templates with {} for each value.

By calls: `t("...")` in the modules and the page of tf2npu/accuracy_check; and the tables of texts that they choose from.

    python -m tests.accuracy_check.templates            prints the texts that are missing in the Chinese catalogue
    python -m tests.accuracy_check.templates --write    adds them to it, with empty texts to be filled in
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tf2npu.accuracy_check import node_table, page, sentences
from tf2npu.report.html.standalone import VIRTUAL_TABLE

PACKAGE = Path(page.__file__).parent
CATALOGUE = PACKAGE / "locale" / "zh.json"
SHARED = PACKAGE.parent / "prediction" / "htmlfiles" / "base.html"
_CALL = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')
_TABLES = (
    sentences.MODES,
    sentences.CAUSES,
    sentences.ADVICE,
    sentences.ADVICE_PYTORCH,
    sentences.ADVICE_MINDSPORE,
    sentences.CHANGES,
    page.RUN_TEXTS,
    page.PYTORCH_TEXTS,
    page.MINDSPORE_TEXTS,
)


def templates() -> set[str]:
    """Every template."""
    files = [*PACKAGE.glob("*.py"), *(PACKAGE / "htmlfiles").glob("*.html"), SHARED]
    called = {found for file in files for found in _CALL.findall(file.read_text(encoding="utf-8"))}
    chosen = {text for table in _TABLES for text in table.values()}
    return called | chosen | set(page.SCRIPT_TEXTS) | set(node_table.TEXT_COLUMNS)


def script_calls() -> set[str]:
    """The templates that the script of the page asks for."""
    files = (VIRTUAL_TABLE, PACKAGE / "htmlfiles" / "check.js")
    return {found for file in files for found in _CALL.findall(file.read_text(encoding="utf-8"))}


def read() -> dict[str, str]:
    """The Chinese text for each English one."""
    return dict(json.loads(CATALOGUE.read_text(encoding="utf-8")))


def missing() -> list[str]:
    known = read()
    return sorted(text for text in templates() if not known.get(text))


def main() -> None:
    absent = missing()
    if "--write" in sys.argv[1:]:
        texts = dict(sorted({**dict.fromkeys(absent, ""), **{key: text for key, text in read().items() if text}}.items()))
        CATALOGUE.write_text(json.dumps(texts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print("".join(f"{json.dumps(text, ensure_ascii=False)}\n" for text in absent), end="")


if __name__ == "__main__":
    main()
