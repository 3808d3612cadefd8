"""Who may import whom: the contracts in pyproject.toml, kept by import-linter."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_imports_keep_the_layers():
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_line_loads_neither_tensorflow_nor_numpy():
    code = "import sys, tf2npu.cli; print(sorted({'tensorflow', 'numpy', 'npu_runtime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_kernels_are_numpy_and_special_functions():
    allowed = {"numpy", "ml_dtypes", "threadpoolctl", "npu_runtime", "scipy.special", *sys.stdlib_module_names}
    for path in sorted((ROOT / "npu_runtime" / "kernels").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                assert {parts[0], ".".join(parts[:2])} & allowed, f"{path.name}:{node.lineno} imports {name}"
