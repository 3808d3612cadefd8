"""A current folder and an environment of a test's own: graph files go into the one as the other says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import own_folders, tool  # noqa: F401

VARIABLES = (
    "DUMP_GE_GRAPH", "DUMP_GRAPH_LEVEL", "DUMP_GRAPH_PATH", "DUMP_GRAPH_FORMAT", "ASCEND_DUMP_PATH", "ASCEND_WORK_PATH",
    "PRINT_MODEL", "NPU_COLLECT_PATH",
)  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "current").mkdir()
    monkeypatch.chdir(tmp_path / "current")
    return tmp_path / "current"
