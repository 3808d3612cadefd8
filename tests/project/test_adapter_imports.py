"""Signs of a migrated script: its own import of npu_bridge or npu_device, or that of a file that it imports."""

from pathlib import Path

import pytest

from tf2npu.frameworks.tensorflow1.adapter_imports import BRIDGE, DEVICE, adapter_of, imported_adapter

MIGRATED = "import npu_bridge\n"
MIGRATED_2 = "import tensorflow as tf\nimport npu_device as npu\n"


def importer(folder: Path, script: str, **files: str) -> str:
    """The file that decides, relative to the folder, or "".  files: by path, / written __ and without .py."""
    for name, text in {"train": script, **files}.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = imported_adapter(folder / "train.py", [folder])
    return "" if found is None else found.importer.relative_to(folder).as_posix()


@pytest.mark.parametrize(
    ("script", "files", "found"),
    [
        ("import os\n", {"out__train": MIGRATED, "other": MIGRATED}, ""),
        (MIGRATED, {}, "train.py"),
        ("from npu_bridge.npu_init import *\n", {}, "train.py"),
        ("import model\n", {"model": MIGRATED, "other": MIGRATED}, "model.py"),
        ("import a\n", {"a": "import b\n", "b": "import a\nimport npu_bridge\n"}, "b.py"),
        ("from pkg import model\n", {"pkg__init": "", "pkg__model": MIGRATED}, "pkg/model.py"),
        ("from pkg.deep.model import net\n", {"pkg__deep__model": MIGRATED}, "pkg/deep/model.py"),
        ("import pkg.model\n", {"pkg__model": "from . import layers\n", "pkg__layers": MIGRATED}, "pkg/layers.py"),
        ("import pkg.sub.a\n", {"pkg__sub__a": "from ..b import c\n", "pkg__b": MIGRATED}, "pkg/b.py"),
        ("def main():\n    import model\n", {"model": MIGRATED}, "model.py"),
        ("print 'Python 2'\nimport model, other\n", {"other": MIGRATED}, "other.py"),
        ("print 'Python 2'\nfrom pkg import (a as x,\n  b)\n", {"pkg__a": MIGRATED}, "pkg/a.py"),
        ("import npu_bridge_tools\n", {}, ""),
        ("'''\nimport npu_bridge\n'''\n", {}, ""),
        ("print 'Python 2'\nimport npu_bridge\n", {}, "train.py"),
        ("import model\n", {"model": "\0"}, ""),
    ],
)
def test_the_script_and_what_it_imports_decide(tmp_path, script, files, found):
    assert importer(tmp_path, script, **files) == found


def test_a_package_is_asked_by_its_init(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text(MIGRATED)
    assert importer(tmp_path, "from pkg import model\n") == "pkg/__init__.py"


def test_a_script_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(OSError):
        imported_adapter(tmp_path / "absent.py", [tmp_path])


@pytest.mark.parametrize(
    ("script", "files", "adapter"),
    [
        (MIGRATED_2, {}, DEVICE),
        ("from npu_device.compat.v1 import npu_init\n", {}, DEVICE),
        ("import start\n", {"start": MIGRATED_2}, DEVICE),
        (MIGRATED_2 + "import old\n", {"old": MIGRATED}, DEVICE),
        (MIGRATED_2 + MIGRATED, {}, BRIDGE),
        ("print 'Python 2'\nimport npu_device\n", {}, DEVICE),
    ],
)
def test_the_nearest_file_tells_which_adapter_it_is(tmp_path, script, files, adapter):
    importer(tmp_path, script, **files)
    found = imported_adapter(tmp_path / "train.py", [tmp_path])
    assert found is not None and found.adapter == adapter


def test_cells_of_a_notebook():
    assert adapter_of(b'{"cells": [{"cell_type": "code", "source": ["import npu_bridge\\n"]}]}') == BRIDGE
    assert adapter_of(b'{"cells": [{"cell_type": "code", "source": ["import npu_device as npu\\n"]}]}') == DEVICE
    assert not adapter_of(b'{"cells": [{"cell_type": "markdown", "source": ["then npu_bridge is imported"]}]}')
