"""Frames of the packages that we ship are never taken for the user's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from npu_formats.toml_document import tomllib
from npu_formats.user_frames import is_library

ROOT = Path(__file__).parents[2]
LISTED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]


@pytest.mark.parametrize("package", sorted({name.partition(".")[0] for name in LISTED}))
def test_a_module_that_we_ship_is_a_librarys(package):
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    assert is_library(spec.origin) and is_library(str(Path(spec.origin).with_name("inner") / "module.py"))


def test_a_script_beside_them_is_the_users():
    assert not is_library(str(ROOT / "examples" / "train.py")) and not is_library(str(ROOT / "npu_runtimes.py"))
