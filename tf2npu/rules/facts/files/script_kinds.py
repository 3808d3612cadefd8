"""Kinds of scripts: tests, programs that run eagerly, and programs of several ranks."""

from __future__ import annotations

from pathlib import PurePosixPath

import libcst as cst

from tf2npu.rules.facts.start.entry_block import is_guard
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

TEST_RUNNERS = frozenset(
    {
        "tensorflow.test.main", "tensorflow.python.platform.test.main", "tensorflow.python.platform.googletest.main",
        "unittest.main", "absl.testing.absltest.main",
    }
)  # fmt: skip
_EAGER = frozenset(
    {
        "tensorflow.enable_eager_execution", "tensorflow.contrib.eager.enable_eager_execution", "tensorflow.enable_v2_behavior",
        "tensorflow.compat.v2.enable_v2_behavior",
    }
)  # fmt: skip


@fact
def called_names(script: Script) -> set[str]:
    """Qualified names of everything a file calls."""
    return {script.name_of(node.func, scope) or "" for node, scope in script.walked.calls}


def is_test_path(path: str) -> bool:
    """Whether a file is one of tests by its name or folder."""
    pure = PurePosixPath(path)
    is_named = pure.stem.endswith("_test") or pure.stem.startswith("test_")
    return is_named or not {"test", "tests"}.isdisjoint(pure.parts[:-1])


def is_test_script(script: Script) -> bool:
    """Whether a file holds tests: each makes and resets its own sessions, and the runner ends the process."""
    stem = PurePosixPath(script.path).stem
    return stem.endswith("_test") or stem.startswith("test_") or not TEST_RUNNERS.isdisjoint(called_names(script))


@fact
def is_unit_test(script: Script) -> bool:
    """Whether a file holds test cases: they run in one process, without ranks."""
    bases = {(script.name_of(arg.value, outer) or "") for node, outer, _ in script.walked.classes for arg in node.bases}
    return any(base.endswith(".TestCase") for base in bases) or not TEST_RUNNERS.isdisjoint(called_names(script))


def is_distributed(script: Script) -> bool:
    """Whether a file may run as one of several ranks: its programs show it, or its conversion was told so."""
    return script.config.distributed != "none" or script.path in script.project.distributed


@fact
def is_eager(script: Script) -> bool:
    """Whether a file switches eager execution on whatever it is told: what then starts a session or a graph first fails."""
    calls = [n for n, scope in script.walked.calls if (script.name_of(n.func, scope) or "") in _EAGER]
    guarded = (cst.If, cst.IfExp, cst.BooleanOperation, cst.Try)
    is_free = [all(not isinstance(a, guarded) or _is_entry_guard(a) for a in script.walked.ancestors(n)) for n in calls]
    return any(is_free)


def _is_entry_guard(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.If) and is_guard(node.test)
