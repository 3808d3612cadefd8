"""`dump graph` from outside."""

from __future__ import annotations

import json

import pytest

from tests.graph_files.test_graph_json import TEXT


@pytest.fixture
def graph(tmp_path):
    (tmp_path / "ge_proto_00000000_graph_1_Build.txt").write_bytes(TEXT)
    return tmp_path / "ge_proto_00000000_graph_1_Build.txt"


def test_it_writes_the_json(tool, graph, tmp_path):
    done = tool("dump", "graph", graph, tmp_path / "new" / "out.json")
    assert done.code == 0 and "3 nodes of ge_default_20260101000000_1" in done.out
    assert len(json.loads((tmp_path / "new" / "out.json").read_text())["graph"][0]["op"]) == 3


def test_a_file_that_is_none_is_named(tool, graph, tmp_path):
    graph.write_bytes(TEXT[:100])
    done = tool("dump", "graph", graph, tmp_path / "out.json")
    assert done.code == 3 and graph.name in done.err and "Traceback" not in done.err and not (tmp_path / "out.json").exists()
    done = tool("dump", "graph", tmp_path / "absent.txt", tmp_path / "out.json")
    assert done.code == 3 and "absent.txt: No such file" in done.err


def test_links_are_not_written_through(tool, graph, tmp_path):
    (tmp_path / "real.json").write_text("mine")
    (tmp_path / "link.json").symlink_to("real.json")
    assert tool("dump", "graph", graph, tmp_path / "link.json").code == 0
    assert (tmp_path / "real.json").read_text() == "mine" and not (tmp_path / "link.json").is_symlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").symlink_to("elsewhere")
    done = tool("dump", "graph", graph, tmp_path / "folder" / "out.json")
    assert done.code == 2 and "symbolic link" in done.err and not list((tmp_path / "elsewhere").iterdir())
