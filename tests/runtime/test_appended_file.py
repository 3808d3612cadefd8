"""Lines behind a file's: all of their bytes or none, and never through what stands in the file's place."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from npu_formats.files.whole_file import append


@pytest.fixture
def place(tmp_path):
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_bytes_come_behind_those_that_are_there(place, tmp_path):
    for line in (b"one,two\n", b"three,four\n"):
        append(place, "list", line, 0o640)
    assert (tmp_path / "list").read_bytes() == b"one,two\nthree,four\n"
    assert (tmp_path / "list").stat().st_mode & 0o777 == 0o640


def test_what_does_not_fit_leaves_the_file_as_it_was(place, tmp_path):
    append(place, "list", b"one\n", 0o640)
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, kept[1]))
    try:
        with pytest.raises(OSError, match="No space left"):
            append(place, "list", b"a line of more bytes\n", 0o640)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept)
    assert (tmp_path / "list").read_bytes() == b"one\n"


def test_links_and_pipes_are_refused(place, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("kept")
    Path(tmp_path / "link").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError):
            append(place, name, b"line\n", 0o640)
    assert outside.read_text() == "kept"
