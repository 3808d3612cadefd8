"""The files that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATED = ("docs/internals/measurements.md", "CHANGELOG.md")
"""Documents in which the names of modules are those of the day that an entry is about."""
NOT_OURS = {"create_glue_data.py", "run_pretraining.py"}
TO_ADD = {"levels.py", "test_levels.py", "dawsn.py", "my_op.py", "my_pass.py", "test_my_pass.py"}
"""Names of files that a document has somebody add."""
FOLDERS = ("tf2npu", "npu_runtime", "npu_formats", "tests", "tools", "docs", "benchmarks", "examples")
NAMED = re.compile(rf"`([\w./-]+\.py|(?:{'|'.join(FOLDERS)})/[\w./-]+\.(?:csv|json|toml|txt))`")


def _documents() -> list[Path]:
    return [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _files() -> set[str]:
    return {path.relative_to(ROOT.parent).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}


def _is_placeholder(name: str) -> bool:
    """Whether a file is one that the reader makes: NAME and TOPIC stand for a name."""
    return Path(name).name in TO_ADD | NOT_OURS or re.search(r"(NAME|TOPIC|LEG)\b", name) is not None


def test_every_file_that_a_document_names_is_there() -> None:
    files, gone = _files(), []
    for document in _documents():
        if document.relative_to(ROOT).as_posix() in DATED:
            continue
        for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
            for name in NAMED.findall(line):
                if len(name) > len(".py") and not _is_placeholder(name) and not any(file.endswith(f"/{name}") for file in files):
                    gone.append(f"{document.relative_to(ROOT)}:{number}: {name} is no file; has it moved?")
    assert gone == [], "\n" + "\n".join(gone)
