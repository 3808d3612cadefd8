"""The walk: every entry once, in order, whatever it is."""

import json
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_formats.files.directory import Directory
from npu_formats.files.state_folder import tree_state
from tf2npu.project.manifest import Manifest
from tf2npu.project.walk import Kind, walk

pytestmark = pytest.mark.each_python


def test_kinds_of_entries(tmp_path):
    (tmp_path / "b.py").write_text("")
    (tmp_path / "N.IPYNB").write_text("{}")
    (tmp_path / "script").write_text("#! /usr/bin/env python3.7 -u\n")
    (tmp_path / "shell").write_text("#!/bin/sh\n# python\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
        kinds = {entry.path: entry.kind for entry in walk(Directory.followed(tmp_path)).entries}
    assert kinds == {
        "N.IPYNB": Kind.SOURCE, "b.py": Kind.SOURCE, "empty": Kind.DATA, "folder": Kind.FOLDER, "link": Kind.LINK,
        "script": Kind.SOURCE, "shell": Kind.DATA, "socket": Kind.SPECIAL,
    }  # fmt: skip


def test_very_deep_folders(tmp_path):
    deep = tmp_path
    for _ in range(300):
        deep = deep / "d"
        deep.mkdir()
    assert len(walk(Directory.followed(tmp_path)).entries) == 300


def test_a_folder_that_vanishes_is_an_entry_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "stays.py").write_text("")
    real = Directory.entries

    def meanwhile(folder, path=""):
        found = real(folder, path)
        if not path:
            (tmp_path / "gone").rmdir()
        return found

    monkeypatch.setattr(Directory, "entries", meanwhile)
    assert [(entry.path, entry.kind) for entry in walk(Directory.followed(tmp_path)).entries if entry.path != "stays.py"] == [
        ("gone", Kind.FOLDER),
        ("gone", Kind.UNREADABLE),
    ]


@given(st.lists(st.sampled_from(["a", "..", "/etc", "a/../../b", "b/c", "", "./a", "b//c", "a\0b"]), max_size=5))
def test_a_manifest_never_names_a_place_outside(tmp_path_factory, paths):
    out = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        state = tree_state(out, make=True)
        with state.new_file("manifest.json") as stream:
            stream.write(json.dumps({"files": dict.fromkeys(paths, "folder")}).encode())
        assert set(Manifest(out).known()) <= {"a", "b/c"}


def test_autosaves_are_left_out_and_named(tmp_path):
    for path in (".ipynb_checkpoints/train-checkpoint.ipynb", "sub/.ipynb_checkpoints/a.py", ".virtual_documents/train.ipynb"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("import tensorflow as tf\n")
    (tmp_path / "train.py").write_text("")
    tree = walk(Directory.followed(tmp_path))
    assert [entry.path for entry in tree.entries] == ["sub", "train.py"]
    assert tree.left_out == [
        ".ipynb_checkpoints/ (autosaves of Jupyter)",
        ".virtual_documents/ (copies that Jupyter makes for its editor)",
        "sub/.ipynb_checkpoints/ (autosaves of Jupyter)",
    ]
