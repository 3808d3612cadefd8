"""Nodes made without LibCST's check of each: the same trees for what Python takes, and nobody else's check is lost."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import libcst as cst
import pytest

from tf2npu.scanner.text.source import SourceError
from tf2npu.scanner.tree import parse

pytestmark = pytest.mark.each_python

_FILES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:25]


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_the_tree_of_what_python_takes_is_the_same(path):
    text = path.read_bytes().decode()
    assert parse(text, is_python=True).module.deep_equals(parse(text).module)


@pytest.mark.parametrize("text", ["x = 1\n", "x = = 1\n"])
def test_the_check_is_back_afterwards(text):
    try:
        parse(text, is_python=True)
    except SourceError:
        assert "= =" in text
    with pytest.raises(cst.CSTValidationError):
        cst.Name("")
