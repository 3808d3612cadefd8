"""The script that writes the table, which is no package, and its raw inputs."""

import importlib.util
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"
RAW = TOOLS / "api_table"


def _loaded(name: str):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


_loaded("spellings")  # which the script imports from its own folder
build_api_table = _loaded("build_api_table")
