"""Allowed imports: the contracts in pyproject.toml, kept by import-linter."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_imports_keep_the_layers():
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_line_loads_neither_tensorflow_nor_numpy():
    code = "import sys, tf2npu.cli; print(sorted({'tensorflow', 'numpy', 'npu_runtime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_scanner_knows_python_text_alone():
    paths = sorted((ROOT / "tf2npu" / "scanner").glob("**/*.py"))
    assert len(paths) >= 30
    assert [path.name for path in paths if "tensorflow" in path.read_text(encoding="utf-8").lower()] == []


def test_kernels_are_numpy_and_special_functions():
    allowed = {"numpy", "ml_dtypes", "threadpoolctl", "npu_runtime", "npu_formats", "scipy.special", *sys.stdlib_module_names}
    paths = sorted((ROOT / "npu_runtime" / "kernels").rglob("*.py"))
    assert len(paths) >= 130
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                parts = name.split(".")
                if path.name == "compiled.py" and name == "numba":
                    continue  # the extra, inside of a function
                assert {parts[0], ".".join(parts[:2])} & allowed, f"{path.name}:{node.lineno} imports {name}"


WITHOUT_A_TOPIC = {
    "kernels": "__init__ algorithm_choice base half_storage limitations shapes variable_access",  # what every kernel is made of
    "passes": "__init__ base",
}


@pytest.mark.parametrize("package", WITHOUT_A_TOPIC)
def test_every_module_stands_in_the_folder_of_its_topic(package: str):
    folder = ROOT / "npu_runtime" / package
    assert {path.stem for path in folder.glob("*.py")} == set(WITHOUT_A_TOPIC[package].split())
    assert len(list(folder.glob("*/*.py"))) >= 38


def test_cases_stand_in_the_folder_of_their_kernels():
    cases = sorted((ROOT / "tests/kernels/cases").glob("*/*.py"))
    assert len(cases) >= 80
    kernels = ROOT / "npu_runtime/kernels"
    assert [path for path in cases if not (kernels / path.parent.name / path.name).exists()] == []


WRITES = {
    "os": "open replace rename renames link symlink mkdir makedirs rmdir removedirs remove unlink chmod lchmod chown lchown "
    "truncate mknod mkfifo",
    "shutil": "copy copy2 copyfile copytree move rmtree chown make_archive unpack_archive copymode copystat",
    "tempfile": "mkstemp mkdtemp mktemp NamedTemporaryFile TemporaryDirectory TemporaryFile SpooledTemporaryFile",
    "": "write_bytes write_text unlink rmdir mkdir symlink_to hardlink_to touch chmod lchmod",  # of a path
}
ONE_WAY_TO_FILES = {
    "npu_formats/files/": "this is it",
    "tf2npu/cli/help.py": "writes help through click's formatter, and no file",
    "npu_runtime/observers/profiler/draft_folder.py": "the runtime's own for a folder that appears whole",
    "npu_runtime/observers/dump/step_folder.py": "the runtime's own for a folder that grows while a step runs, each file whole",
    "npu_runtime/collectives/run_folder.py": "files of a run, in the folder that the launcher made",
    "npu_runtime/collectives/mpi_library.py": "takes the names of MPI's files in memory away, which MPI made for this process",
    "npu_formats/ranks/rank_connection.py": "a path as one word",
    "npu_formats/ranks/connection.py": "opens the run's folder for the address of its socket",
    "tf2npu/project/cache.py": "SQLite opens its file by its path; the folder is this user's alone",
    "tf2npu/npu_bridge/estimator/npu/keras_to_npu.py": "makes the model folder that the user named, as TensorFlow does",
    "tf2npu/npu_bridge/_smoke/": "makes files for a script in the throw-away folder that the script writes into itself",
    "tf2npu/launch/throw_away_copy.py": "copies into, and removes, the folder of this process alone that a smoke run is given",
    "tf2npu/launch/notebook_script.py": "writes the cells into that copy",
    "tf2npu/launch/smoke_run.py": "makes the folders and the log of an attempt below that folder",
    "tf2npu/cli/entry_point.py": "opens the null device for a closed pipe",
}


def writes_in(tree: ast.AST) -> list[tuple[int, str]]:
    """Calls that write, move or remove files, or may: line and name."""
    found = []
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        func = call.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        owner = func.value.id if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) else ""
        of_module = name in WRITES.get(owner, "").split() if owner in WRITES else False
        if of_module or (isinstance(func, ast.Attribute) and name in WRITES[""].split()) or (name == "open" and not reads(call)):
            found.append((call.lineno, f"{owner}.{name}"))
    return found


def reads(call: ast.Call) -> bool:
    """Whether an `open` is one to read: no mode, or a constant one without any of w, a, x and +."""
    modes = [k.value for k in call.keywords if k.arg == "mode"]
    if isinstance(call.func, ast.Attribute):  # of a path, or a method of something else that has the same name
        modes += [argument for argument in call.args[:1] if isinstance(argument, ast.Constant)]
    else:
        modes += call.args[1:2]
    return all(isinstance(mode, ast.Constant) and not set("wax+") & set(str(mode.value)) for mode in modes)


def test_files_are_written_in_one_place():
    """`docs/security.md` says why; what is found elsewhere must go through npu_formats.files."""
    n_files, found = 0, []
    for path in sorted(path for package in ("tf2npu", "npu_runtime", "npu_formats") for path in (ROOT / package).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(tuple(ONE_WAY_TO_FILES)):
            n_files += 1
            found += [f"{name}:{line}: {what}" for line, what in writes_in(ast.parse(path.read_text()))]
    assert n_files > 500
    assert found == []


def test_the_search_for_writes_finds_them():
    for text in ("os.replace(a, b)", "open(p, 'w')", "open(p, mode=m)", "p.open('rb+')", "p.unlink()", "shutil.rmtree(p)"):
        assert writes_in(ast.parse(text)), text
    for text in ("open(p)", "open(p, 'rb')", "p.open(encoding='utf-8')", "'a'.replace('b', 'c')", "items.remove(x)"):
        assert not writes_in(ast.parse(text)), text
