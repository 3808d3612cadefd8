"""`--diff`: in a pipe a patch that git itself applies to the very bytes of the conversion, on a terminal colours."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

BODY = b"import tensorflow as tf\nwith tf.Session() as s:\n    print(s)\n"
NAMES = [
    "plain.py", "spa ce.py", "caf\u00e9.py", "\u4e2d\u6587/\u6a21\u578b.py", "tab\there.py", "new\nline.py", 'quo"te.py',
    "back\\slash.py", os.fsdecode(b"latin\xe9.py"), "a/b/c/deep.py", "-dash.py", "a b/c d.py", " lead.py", "\x7f.py",
    "\x1b[31m.py", "\u009b31m.py", "\u202egnp.py", "\u2066a\u2069 \u4e2d.py",
]  # fmt: skip
CONTENTS = {
    "lf": BODY,
    "crlf": BODY.replace(b"\n", b"\r\n"),
    "no final newline": BODY.rstrip(b"\n"),
    "crlf, no final newline": BODY.rstrip(b"\n").replace(b"\n", b"\r\n"),
    "mixed ends": BODY.replace(b"\n", b"\r\n", 1),
    "carriage returns": BODY.replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + BODY,
    "latin-1": b"# -*- coding: latin-1 -*-\n# \xe9\n" + BODY,
    "form feed": BODY + b"\x0c\nx = 1\n",
    "trailing blanks": BODY + b"y = 2   \n\t\n\n",
    "looks like a diff": BODY + b"'''\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- x\n'''\n",
    "change at the very end": b"import tensorflow as tf\n" + b"x = 1\n" * 40 + b"with tf.Session(): pass",
}


def git(*words: object, cwd: Path, **more):
    return subprocess.run(["git", *map(str, words)], cwd=cwd, capture_output=True, check=False, **more)


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    inner = (".git", ".tf2npu", "tf2npu-report")
    files = [p for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] not in inner]
    return {str(p.relative_to(root)): (p.stat().st_mode & 0o777, p.read_bytes()) for p in files}


def applies(tool, root: Path, out: Path, *, cwd: Path, words: tuple[str, ...] = ()) -> None:
    patch = tool("convert", root, "--diff").out.encode("utf-8", "surrogateescape")
    assert patch
    tool("convert", root, out)
    checked = git("apply", *words, "--check", cwd=cwd, input=patch)
    assert checked.returncode == 0, checked.stderr
    applied = git("apply", *words, cwd=cwd, input=patch)
    assert applied.returncode == 0, applied.stderr
    assert contents(root) == contents(out)


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "src").mkdir()
    return tmp_path / "src"


@pytest.mark.whole(beyond=5)
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_odd_names(tool, root, tmp_path, name):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(BODY)
    applies(tool, root, tmp_path / "out", cwd=root)


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("kind", CONTENTS)
def test_odd_contents(tool, root, tmp_path, kind):
    (root / "m.py").write_bytes(CONTENTS[kind])
    applies(tool, root, tmp_path / "out", cwd=root)


def test_all_at_once_with_modes_and_a_notebook(tool, root, tmp_path):
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": BODY.decode()}
    for number, text in enumerate(CONTENTS.values()):
        (root / f"m{number}.py").write_bytes(text)
    (root / "run.py").write_bytes(b"#!/usr/bin/env python\n" + BODY)
    (root / "run.py").chmod(0o755)
    (root / "n.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    (root / "link.py").symlink_to("run.py")
    applies(tool, root, tmp_path / "out", cwd=root)
    assert "npu_config_proto" in (root / "n.ipynb").read_text()


@pytest.mark.parametrize("place", ["repository", "folder of one", "above"])
def test_in_a_repository(tool, root, tmp_path, place):
    source = root / "pkg" if place != "repository" else root
    source.mkdir(exist_ok=True)
    (source / "m.py").write_bytes(BODY)
    (source / "m.py").chmod(0o755)
    git("init", "-q", cwd=root)
    git("-c", "core.autocrlf=true", "add", ".", cwd=root)
    cwd, words = (root, ("--directory=pkg",)) if place == "above" else (source, ())
    applies(tool, source, tmp_path / "out", cwd=cwd, words=words)


def test_reversed_it_takes_the_conversion_back(tool, root):
    (root / "m.py").write_bytes(CONTENTS["crlf, no final newline"])
    patch = tool("convert", root, "--diff").out.encode()
    assert git("apply", cwd=root, input=patch).returncode == 0
    assert git("apply", "-R", cwd=root, input=patch).returncode == 0
    assert (root / "m.py").read_bytes() == CONTENTS["crlf, no final newline"]


def on_a_terminal(root: Path, **environment: str) -> str:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from tf2npu.cli import main; main()", "convert", str(root), "--diff"]
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=plain | environment)
    os.close(theirs)
    seen = b""
    while chunk := _read(ours):
        seen += chunk
    os.close(ours)
    assert process.wait(60) == 0
    return seen.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # Linux says EIO when the other side is closed
        return b""


def test_a_terminal_gets_colours_and_no_control_characters(root):
    (root / "m.py").write_bytes(BODY + b"# \x1b]0;owned\x07 \xe2\x80\xae\n")
    seen = on_a_terminal(root, TERM="xterm")
    assert "\x1b[31m-with tf.Session() as s:\x1b[0m" in seen
    assert "\x1b[32m+with tf.Session(config=npu_config_proto()) as s:\x1b[0m" in seen
    assert "\x1b]0;" not in seen
    assert "\u202e" not in seen


def test_names_in_headers_do_not_drive_a_terminal(tool, root):
    for name in NAMES[-4:]:
        (root / name).write_bytes(BODY)
    patch = tool("convert", root, "--diff").out
    assert not set(patch) & set("\x1b\u009b\u202e\u2066\u2069")


def test_no_color_is_respected(root):
    (root / "m.py").write_bytes(BODY + b"# \x1b]0;owned\x07\n")
    assert "\x1b" not in on_a_terminal(root, TERM="xterm", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(root, TERM="dumb")
