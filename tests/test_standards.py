"""Standards of every file: short functions and files, names that say something, no loose ends."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from tests.one_item import together

ROOT = Path(__file__).parent.parent
LONGEST_FUNCTION, LONGEST_FILE = 60, 400
NAMES_THAT_SAY_NOTHING = {"util", "utils", "common", "helper", "helpers", "manager"}
# Written with brackets, so that this file is clean under its own rule.
LOOSE_ENDS = re.compile(
    r"TO[D]O|FIX[M]E|X[X]X|NotImplemented[E]rror|pytest\.mark\.(sk[i]p|xf[a]il)|pytest\.sk[i]p"
    r"|# typ[e]: ignore|except Exceptio[n]:\s*pass"
)
QUESTION = re.compile(r"\s*(What|Which|Who|Whom|Whose|Where|How|When|Why)\b")
FRAGMENT = re.compile(r"\s*(Of|By|Until|Those|That|Its)\b")
PACKAGES = ("npu_formats", "npu_runtime", "tf2npu")
QUESTIONS_WITH_A_REASON = {
    ("tf2npu/cli/commands/api.py", "What becomes of the API called NAME"): "the help of `tf2npu api`, whose words stay",
}
"""Strings that may begin with a question word, by file and first words."""
PATH_OF_ONE_MACHINE = re.compile(r"/(w[o]rk|r[o]ot|h[o]me/[a-z]+|t[m]p/[a-z]+)/")


def committed_files() -> list[Path]:
    """Files that git tracks; every file of ours in a source tree without git."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    folders = ("tf2npu", "npu_runtime", "npu_formats", "tests", "benchmarks", "docs", "examples")
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]


def is_data(path: Path) -> bool:
    """Fixtures, examples and the programs of the end-to-end tests are written in their users' manner."""
    return any(path.is_relative_to(ROOT / folder) for folder in ("tests/fixtures", "examples", "tests/e2e/newcomers"))


FILES = committed_files()
PYTHON = [path for path in FILES if path.suffix == ".py" and not is_data(path)]


def without_subject(path: Path, tree: ast.Module) -> list[str]:
    """Docstrings, and strings behind constants and fields, that do not begin with their subject.

    They begin with a question word or, in the packages, in the middle of a sentence, as in "Of a piece.".
    """
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    name = path.relative_to(ROOT).as_posix()
    openings = (QUESTION, FRAGMENT) if name.startswith(PACKAGES) else (QUESTION,)
    found = [text for text in texts if isinstance(text.value, str) and any(one.match(text.value) for one in openings)]
    allowed = tuple(words for file, words in QUESTIONS_WITH_A_REASON if file == name)
    return [f"line {text.lineno}: {text.value.strip()[:60]}" for text in found if not text.value.startswith(allowed)]


@together("path", PYTHON, lambda path: str(path.relative_to(ROOT)))
def test_a_python_file_keeps_the_standards(path: Path):
    text = path.read_text(encoding="utf-8")
    loose = [f"line {text.count(chr(10), 0, found.start()) + 1}: {found.group()}" for found in LOOSE_ENDS.finditer(text)]
    assert not loose, loose
    assert path.stem not in NAMES_THAT_SAY_NOTHING or "npu_bridge" in path.parts
    assert len(text.splitlines()) <= LONGEST_FILE or path.parts[len(ROOT.parts)] in ("tests", "benchmarks")
    tree = ast.parse(text)
    assert not (texts := without_subject(path, tree)), texts
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    long = [f.name for f in functions if (f.end_lineno or 0) - f.lineno + 1 > LONGEST_FUNCTION]
    assert not long, f"longer than {LONGEST_FUNCTION} lines: {long}"


def test_no_file_names_a_path_of_one_machine():
    texts = {path: path.read_bytes().decode("utf-8", "replace") for path in FILES if not is_data(path)}
    assert [str(path) for path, text in texts.items() if PATH_OF_ONE_MACHINE.search(text)] == []


def test_nothing_built_is_committed():
    built = {"__pycache__", "out", "demo-out", "build", "dist", ".venv", "kernel_meta", "node_modules"}
    assert [str(path) for path in FILES if not is_data(path) and built & set(path.relative_to(ROOT).parts)] == []
    assert [str(path) for path in FILES if path.stat().st_size > 2_000_000] == []
