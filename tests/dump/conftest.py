"""Dumps go below a test's own folder, and so do the graph files that come with them into the current one."""

from __future__ import annotations

import pytest

from npu_runtime import log
from tests.cli.conftest import own_folders, tool  # noqa: F401


@pytest.fixture(autouse=True)
def own_current_folder(tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("current"))


@pytest.fixture(autouse=True)
def own_run_log(monkeypatch):
    """Give each test a run log of its own: a note of an earlier test is given again."""
    monkeypatch.setattr(log, "_TOLD", set())
