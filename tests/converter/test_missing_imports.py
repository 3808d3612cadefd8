"""An import of nothing is found where Python itself ends with it, and nowhere else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tf2npu.config import load_config
from tf2npu.findings import Finding, Level
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request

_MAIN = "import tensorflow as tf\n{}\nif __name__ == '__main__':\n    print('runs')\n"
WORKING = {
    "a name that is defined": {"train.py": _MAIN.format("from model import net"), "model.py": "def net(): pass\n"},
    "bound in a tuple, a loop, a with": {
        "train.py": _MAIN.format("from model import a, b, i, stream, e, n, total"),
        "model.py": "a, b = 1, 2\nfor i in [1]: pass\nwith open(__file__) as stream: pass\ne: int = 1\nn = (total := 3)\n",
    },
    "declared global by a function that is called": {
        "train.py": _MAIN.format("from model import late"), "model.py": "def f():\n    global late\n    late = 1\nf()\n",
    },
    "given by a star": {
        "train.py": _MAIN.format("from model import net"), "model.py": "from layers import *\n", "layers.py": "net = 1\n",
    },
    "a module of a package": {"train.py": _MAIN.format("from nets import lenet"), "nets/__init__.py": "", "nets/lenet.py": ""},
    "a folder without __init__": {"train.py": _MAIN.format("from nets import lenet\nimport nets.lenet"), "nets/lenet.py": ""},
    "relative in a package": {
        "train.py": _MAIN.format("import nets.a"), "nets/__init__.py": "", "nets/a.py": "from . import b\nfrom .b import x\n",
        "nets/b.py": "x = 1\n",
    },
    "made when the file runs": {"train.py": _MAIN.format("from model import net"), "model.py": "globals()['net'] = 1\n"},
    "given by __getattr__": {"train.py": _MAIN.format("from model import net"), "model.py": "def __getattr__(name): return 1\n"},
    "with another way": {"train.py": _MAIN.format("try:\n    from nothing import net\nexcept ImportError:\n    net = None")},
    "in a function that nobody calls": {"train.py": _MAIN.format("def f():\n    import nothing_at_all")},
    "found by a path that the script sets": {
        "train.py": _MAIN.format("import sys\nsys.path.append('utils')\nimport data_prep"), "utils/data_prep.py": "",
    },
    "of Python's library": {"train.py": _MAIN.format("import collections.abc, xml.etree.ElementTree")},
}  # fmt: skip
FAILING = {
    "a name that is not defined": {"train.py": _MAIN.format("from model import net"), "model.py": "def other(): pass\n"},
    "a name behind a star": {
        "train.py": _MAIN.format("from model import net"), "model.py": "from layers import *\n", "layers.py": "other = 1\n",
    },
    "a file beside a package that is not there": {"train.py": _MAIN.format("import nets.lenet"), "nets/__init__.py": ""},
    "a relative file that is not there": {
        "train.py": _MAIN.format("import nets.a"), "nets/__init__.py": "", "nets/a.py": "from .b import x\n",
    },
    "a module of nobody": {"train.py": _MAIN.format("import yellow_fin_of_nobody"), "other.py": ""},
    "in a file that the script loads": {
        "train.py": _MAIN.format("import reader"), "reader.py": "import config_of_nobody\n",
    },
}  # fmt: skip


def _findings(tree: dict[str, str], folder: Path) -> list[Finding]:
    """The findings of a tree."""
    for name, text in tree.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    done = convert_project(Request(folder, load_config(folder), use_cache=False))
    return [f for r in done.results for f in r.findings if f.rule == "NPU992"]


def _ends_with_import_error(folder: Path, stub: Path) -> bool:
    (stub / "tensorflow.py").write_text("")
    environment = {"PYTHONPATH": str(stub), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 or "ImportError" in ran.stderr or "ModuleNotFoundError" in ran.stderr, ran.stderr
    return ran.returncode != 0


@pytest.mark.parametrize("tree", WORKING.values(), ids=WORKING)
def test_an_import_that_works_is_not_findings(tree, tmp_path, tmp_path_factory):
    assert _findings(tree, tmp_path) == []
    assert not _ends_with_import_error(tmp_path, tmp_path_factory.mktemp("stub"))


@pytest.mark.parametrize("tree", FAILING.values(), ids=FAILING)
def test_an_import_that_fails_is_findings(tree, tmp_path, tmp_path_factory):
    assert len(_findings(tree, tmp_path)) == 1
    assert _ends_with_import_error(tmp_path, tmp_path_factory.mktemp("stub"))


def test_a_module_among_the_requirements_is_nobodys_mistake(tmp_path):
    tree = {
        "train.py": _MAIN.format("import yellow_fin_of_nobody"),
        "requirements.txt": "numpy\nyellow-fin-of.nobody==1.2\n",
        "a.py": "",
    }
    assert _findings(tree, tmp_path) == []


def test_a_module_that_pip_installs_is_no_work_on_the_project(tmp_path):
    tree = {"train.py": _MAIN.format("import svgwrite\nfrom png import Writer\nimport eulerangles"), "other.py": ""}
    (drawing, image, unknown) = _findings(tree, tmp_path)
    assert [f.level for f in (drawing, image, unknown)] == [Level.INFO, Level.INFO, Level.MANUAL]
    assert "`pip install svgwrite`" in drawing.message and "`pip install pypng`" in image.message


def test_of_a_single_file_nobody_knows_what_stands_beside_it(tmp_path):
    assert _findings({"train.py": _MAIN.format("import model\nfrom layers import dense")}, tmp_path) == []


def test_a_file_that_no_script_loads_may_import_what_it_likes(tmp_path):
    tree = {"train.py": _MAIN.format(""), "unused.py": "import yellow_fin_of_nobody\nfrom train import nothing\n"}
    assert _findings(tree, tmp_path) == []
