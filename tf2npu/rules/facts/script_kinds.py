"""Kinds of scripts: tests, and programs that run eagerly."""

from __future__ import annotations

from pathlib import PurePosixPath

import libcst as cst

from tf2npu.rules.facts.entry_block import is_guard
from tf2npu.scanner.script import Script

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


def called_names(script: Script) -> set[str]:
    """Qualified names of everything a file calls."""
    if "called names" not in script.memo:
        script.memo["called names"] = {script.name_of(node.func, scope) or "" for node, scope in script.walked.calls}
    return script.memo["called names"]


def is_test_script(script: Script) -> bool:
    """Whether a file holds tests: each makes and resets its own sessions, and the runner ends the process."""
    stem = PurePosixPath(script.path).stem
    return stem.endswith("_test") or stem.startswith("test_") or not TEST_RUNNERS.isdisjoint(called_names(script))


def is_unit_test(script: Script) -> bool:
    """Whether a file holds test cases: they run in one process, without ranks."""
    if "unit test" not in script.memo:
        bases = {(script.name_of(arg.value, outer) or "") for node, outer, _ in script.walked.classes for arg in node.bases}
        has_cases = any(base.endswith(".TestCase") for base in bases)
        script.memo["unit test"] = has_cases or not TEST_RUNNERS.isdisjoint(called_names(script))
    return bool(script.memo["unit test"])


def is_eager(script: Script) -> bool:
    """Whether a file switches eager execution on whatever it is told: what then starts a session or a graph first fails."""
    if "eager" not in script.memo:
        calls = [n for n, scope in script.walked.calls if (script.name_of(n.func, scope) or "") in _EAGER]
        guarded = (cst.If, cst.IfExp, cst.BooleanOperation, cst.Try)
        is_free = [all(not isinstance(a, guarded) or _is_entry_guard(a) for a in script.walked.ancestors(n)) for n in calls]
        script.memo["eager"] = any(is_free)
    return bool(script.memo["eager"])


def _is_entry_guard(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.If) and is_guard(node.test)
