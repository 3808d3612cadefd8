"""Lint, and the tests that belong to what changed: `make quick`, or `python tools/quick.py [--since COMMIT] [--list]`.

What changed is what differs from where the branch left `main`, with what is not committed. Tests belong to a file when they
are that file, have its name, import it, or run the examples and cases of the rules and kernels that it declares. `make test`
runs all.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINT = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports"])
TABLES = ("tools.layout", "tools.dead_code")
"""Modules that are the rest of `make lint`."""
ALWAYS = ("tests/test_standards.py", "tests/test_layers.py", "tests/test_packaging.py", "tests/test_generated_docs.py")
OF_FOLDERS = {
    "npu_runtime/passes/": ("tests/runtime/test_compiler.py",),
    "npu_runtime/kernels/": ("tests/precision/test_op_table.py", "tests/precision/test_op_names.py"),
    "npu_formats/device/ops/": ("tests/precision/test_op_table.py", "tests/precision/test_op_names.py"),
    "npu_formats/pytorch/lists/": ("tests/formats/test_pytorch_support.py",),
    "tools/pytorch_support/": ("tests/formats/test_pytorch_lists_tool.py",),
    "tf2npu/rules/": (
        "tests/converter_api/test_table.py",
        "tests/converter_detectors/test_descriptions.py",
        "tests/report/test_effort.py",
    ),
    "tf2npu/report/effort.csv": ("tests/report/test_effort.py",),
    "tf2npu/api_support/data/": ("tests/converter_api/test_table.py",),
    "tools/api_table/": ("tests/converter_api/test_table.py",),
    "tf2npu/report/locale/": ("tests/report/test_language.py",),
    "tf2npu/report/htmlfiles/": ("tests/report/test_html.py", "tests/report/test_browser.py"),
    "tf2npu/prediction/": ("tests/cli/test_profile.py",),
    "tf2npu/profiles/": ("tests/cli/test_profile.py",),
    "tests/fixtures/convert/": ("tests/converter/test_golden.py",),
}
"""Tests that hold the files of a folder against something else: a list, a table, a generated page. They import none of them."""
OF_RULES = ("tests/converter/test_rule_examples.py", "tests/report/test_language.py")
OF_KERNELS = ("tests/kernels/test_oracle.py", "tests/kernels/test_contract.py", "tests/kernels/test_op_coverage.py")
OF_ALL_RULES, OF_ALL_KERNELS = ("language", "described", "stays_unchanged"), ("every_op",)
"""Words in the names of tests that look at every rule or kernel at once, which no name of one selects."""
KERNELS = ("npu_runtime/kernels/", "tests/kernels/cases/")
ALONE = ("tests/shim", "tests/legs")
"""Folders with a pytest call of their own: importing npu_bridge or npu_device changes what TensorFlow is in all of a process."""
WIDTH = 80
"""Characters of a command in the line of its step; a selection of tests can name a hundred files."""
GATES = frozenset({"test_layers", "test_packaging", "test_generated_docs", "test_standards"})


def changed(since: str | None) -> list[Path]:
    """Files of the tree that differ from a commit, relative to the root; those that are gone left out."""
    base = since or _git("merge-base", "HEAD", "main").strip()
    names = {*_git("diff", "--name-only", base).splitlines(), *_git("ls-files", "-o", "--exclude-standard").splitlines()}
    return [Path(name) for name in sorted(names) if (ROOT / name).is_file()]


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def module_of(path: Path) -> str:
    """Dotted name of a source file, as tests import it; "" for other files."""
    if path.suffix != ".py":
        return ""
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[:2] in (("tf2npu", "npu_bridge"), ("tf2npu", "npu_device"), ("tf2npu", "hccl")) else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tests_of(paths: Sequence[Path]) -> set[str]:
    """Test files that are among the paths, have the name of one, import one, or hold its folder; relative to the root."""
    modules = {module: path for path in paths if (module := module_of(path))}
    stems = {f"test_{path.stem}" for path in modules.values()}
    found = set(ALWAYS)
    for path in paths:
        found.update(test for folder, tests in OF_FOLDERS.items() if path.as_posix().startswith(folder) for test in tests)
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        name = test.relative_to(ROOT)
        if (
            name in modules.values()
            or test.stem in stems
            or (test.stem not in GATES and not modules.keys().isdisjoint(_imports(test)))
        ):
            found.add(name.as_posix())
    return found


def _imports(test: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def selections(paths: list[Path]) -> list[list[str]]:
    """Arguments of pytest, one list for each run."""
    tests, runs = tests_of(paths), []
    modules = {module_of(path) for path in paths}
    if names := _rules(modules):
        runs.append([*OF_RULES, "-k", " or ".join([*sorted(names), *OF_ALL_RULES])])
    if ops := _ops(paths):
        runs.append([*OF_KERNELS, "-k", " or ".join([*sorted(ops), *OF_ALL_KERNELS])])
    runs.append(sorted(test for test in tests if not test.startswith(ALONE)))
    runs += [sorted(test for test in tests if test.startswith(folder)) for folder in ALONE]
    return [run for run in runs if run]


def _rules(modules: set[str]) -> set[str]:
    if not any(module.startswith("tf2npu.rules") for module in modules):
        return set()
    from tf2npu.rules import rule_parts

    return {part.id for part in rule_parts() if part.check.__module__ in modules}


def _ops(paths: list[Path]) -> set[str]:
    """Ops that the files of kernels or of their cases name."""
    named = [path for path in paths if path.suffix == ".py" and path.as_posix().startswith(KERNELS)]
    if not named:
        return set()
    from npu_runtime.kernels.base import all_kernels

    nodes = (node for path in named for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return texts & all_kernels().keys()


def _succeeds(command: list[str]) -> bool:
    """Run one step: a line when it succeeds, all that it printed when it does not."""
    begun = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    is_green = done.returncode in (0, 5)  # 5: no test of that name
    counted = re.search(r"^\d+ passed.*(?= in )|^no tests ran|^\d+ deselected", done.stdout, re.MULTILINE)
    words = textwrap.shorten(" ".join(_shown(command)), WIDTH, placeholder=" ...")
    result = [words, *([counted.group()] if counted else []), f"{time.monotonic() - begun:.1f} s"]
    print("ok    " if is_green else "FAILED", ", ".join(result), flush=True)
    if not is_green:
        print(done.stdout, flush=True)
    return is_green


def _shown(command: list[str]) -> list[str]:
    return command[2:] if command[0] == sys.executable else [Path(command[0]).name, *command[1:]]


def main() -> int:
    """Run what belongs to the changes; the exit code is 1 when anything fails."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--since", metavar="COMMIT", help="what to compare with; by default where the branch left main")
    options.add_argument("--list", action="store_true", help="say what would be run, and run nothing")
    asked = options.parse_args()
    sys.path.insert(0, str(ROOT))
    paths = changed(asked.since)
    programs = [[str(Path(sys.executable).parent / name), *rest] for name, *rest in LINT]
    tables = [[sys.executable, "-m", name] for name in TABLES]
    commands = programs + tables + [[sys.executable, "-m", "pytest", *run] for run in selections(paths)]
    print(f"{len(paths)} files changed", flush=True)
    if asked.list:
        print(*(" ".join(_shown(command)) for command in commands), "nothing was run", sep="\n")
        return 0
    failed = [command for command in commands if not _succeeds(command)]
    for command in failed:
        print("failed:", *_shown(command))
    print(f"{len(failed)} of {len(commands)} failed" if failed else "all green; `make test` runs the rest")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
