"""What an entry script starts before its work and ends after it: the NPU's resources for several ranks, and Keras' session."""

from __future__ import annotations

import bisect
import re
from pathlib import PurePosixPath

import libcst as cst

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.rules.entry_block import (
    bracket_guard,
    command_functions,
    entry_guard,
    insert_after_imports,
    is_guard,
    mentions,
    start_in_function,
)
from tf2npu.rules.start_lines import at_exit, start_lines
from tf2npu.scanner.facts import ESTIMATOR
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_TF = Config(distributed="tf")
_KERAS_SET = ("tensorflow.keras.backend.set_session", "keras.backend.set_session")
_TEST_RUNNERS = frozenset(
    {
        "tensorflow.test.main", "tensorflow.python.platform.test.main", "tensorflow.python.platform.googletest.main",
        "unittest.main", "absl.testing.absltest.main",
    }
)  # fmt: skip
_KERAS_MADE = "npu_bridge.npu_init.set_keras_session_npu_config"
_STARTED = ("npu_bridge.npu_init.init_resource", "npu_bridge.npu_init.npu_ops.initialize_system")
_SESSION = re.compile(r"tensorflow\..*(?:Session|SessionCreator|managed_session|prepare_or_wait_for_session)$")
_EAGER = frozenset(
    {
        "tensorflow.enable_eager_execution", "tensorflow.contrib.eager.enable_eager_execution", "tensorflow.enable_v2_behavior",
        "tensorflow.compat.v2.enable_v2_behavior",
    }
)  # fmt: skip
_DECIDING = frozenset({*_KERAS_SET, *_TEST_RUNNERS, _KERAS_MADE, *_STARTED})


def called_names(script: Script) -> set[str]:
    """Qualified names of everything a file calls."""
    if "called names" not in script.memo:
        script.memo["called names"] = {script.name_of(node.func, scope) or "" for node, scope in script.walked.calls}
    return script.memo["called names"]


def is_test_script(script: Script) -> bool:
    """Whether a file holds tests: each makes and resets its own sessions, and the runner ends the process."""
    stem = PurePosixPath(script.path).stem
    return stem.endswith("_test") or stem.startswith("test_") or not _TEST_RUNNERS.isdisjoint(called_names(script))


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


def is_unit_test(script: Script) -> bool:
    """Whether a file holds test cases: they run in one process, without ranks."""
    if "unit test" not in script.memo:
        bases = {(script.name_of(arg.value, outer) or "") for node, outer, _ in script.walked.classes for arg in node.bases}
        has_cases = any(base.endswith(".TestCase") for base in bases)
        script.memo["unit test"] = has_cases or not _TEST_RUNNERS.isdisjoint(called_names(script))
    return bool(script.memo["unit test"])


def deciding_references(script: Script) -> list[int]:
    """Offsets, sorted, of names whose uses decide how other code is converted: what a script starts, dicts given as `**name`."""
    if "deciding references" not in script.memo:
        stars = [arg.value for call, _ in script.walked.calls for arg in call.args if arg.star == "**"]
        spread = {value.value for value in stars if isinstance(value, cst.Name)}
        decide = [node for node, scope in script.walked.references if _decides(script, node, scope, spread)]
        script.memo["deciding references"] = sorted(script.tree.span(node)[0] for node in decide)
    found: list[int] = script.memo["deciding references"]
    return found


def needed_elsewhere(script: Script, start: int, end: int, new: str = "", besides: int = -1) -> str:
    """Why [start, end) cannot become `new`: "name" it gives a name by `:=`, "decides" other fixes rely on it, "" it can.

    besides: offset of the one reference that may go.
    """
    if ":=" in script.text[start:end] and ":=" not in new:
        return "name"
    places = deciding_references(script)
    n_inside = bisect.bisect_left(places, end) - bisect.bisect_left(places, start)
    if n_inside > 0 and start <= besides < end:  # more than one of them may start there
        n_inside -= bisect.bisect_right(places, besides) - bisect.bisect_left(places, besides)
    return "decides" if n_inside > 0 else ""


def _decides(script: Script, node: cst.BaseExpression, scope: Scope, spread: set[str]) -> bool:
    if isinstance(node, cst.Name) and node.value in spread:
        return True
    name = script.name_of(node, scope) or ""
    return name in _DECIDING or _SESSION.match(name) is not None or ESTIMATOR.match(name) is not None


def wants_keras_session(script: Script) -> bool:
    """Whether an entry script has Keras use a session that it makes on the NPU, and no session of its own."""
    if not script.is_entry or script.path not in script.project.keras_nets or not script.config.is_enabled("NPU301"):
        return False
    called = called_names(script)
    if is_eager(script):
        return False
    return called.isdisjoint((_KERAS_MADE, _STARTED[1])) and called.isdisjoint(_KERAS_SET) and not is_test_script(script)


def wants_resources(script: Script) -> bool:
    """Whether this is where the resources of all ranks are started and released."""
    mode = script.config.distributed
    called = called_names(script)
    if mode not in ("horovod", "tf") or not called.isdisjoint(_STARTED) or is_eager(script):
        return False
    if mode == "tf":
        trains = script.path in script.project.training and not is_test_script(script)
        return script.is_entry and trains and script.config.is_enabled("NPU419")
    named = script.config.names_entries
    is_place = script.is_entry if named else script.path in script.project.starting
    return is_place and "horovod" in script.project.distribution_kinds and script.config.is_enabled("NPU403")


def bracket_entry(site: Site, resources: bool, keras: bool) -> None:
    """Put starts before, and ends behind, what an entry script does; they run whatever happens in between."""
    opening, closing = start_lines(site, resources, keras)
    inserted = ["import atexit", *opening, *at_exit(closing)]
    functions, guard = command_functions(site.script), entry_guard(site.script)
    for function in functions:
        start_in_function(site, function, inserted)
    if guard is not None and not mentions(site.script, guard.body, {f.name.value for f in functions}):
        start, end = site.script.tree.span(guard)
        site.fix.site = (start, start + len(site.script.text[start:end].rstrip()))
        bracket_guard(site, guard, opening, closing)
        return
    if not functions:
        insert_after_imports(site, inserted)
    if site.fix.changes:
        site.fix.site = (site.fix.changes[0].start,) * 2
    else:
        site.fix.symbols.clear()  # nothing but imports, so there is nothing to start for


@rule(
    id="NPU419",
    title="Resources of all ranks",
    on="module",
    why="Ranks find each other when the NPU's resources are started, which has to be before anything asks for a rank.",
    source="npu_bridge.npu_init.init_resource, shutdown_resource, close_session",
    examples=(
        Example(
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\nif __name__ == '__main__':\n"
            "    e.train(input_fn, hooks=npu_hooks_append())",
            "e = tf.estimator.Estimator(fn, config=npu_run_config_init())\nif __name__ == '__main__':\n"
            "    npu_sess, npu_shutdown = init_resource()\n    try:\n"
            "        e.train(input_fn, hooks=npu_hooks_append())\n    finally:\n"
            "        shutdown_resource(npu_sess, npu_shutdown)\n        close_session(npu_sess)",
            config=Config(distributed="tf", select=frozenset({"NPU419"})),
        ),
        Example.same("if __name__ == '__main__':\n    print(tf.__version__)", note="does not train", config=_TF),
        Example.same("def train(e):\n    e.train(input_fn)", note="one device"),
    ),
)
def resources_of_all_ranks(site: Site) -> None:
    """Starts the NPU's resources in the entry script of distributed training and releases them whatever happens."""
    if site.script.config.distributed == "tf" and wants_resources(site.script):
        bracket_entry(site, True, wants_keras_session(site.script))
        if not site.fix.changes:
            return
        site.fixed("The NPU's resources are started here and released when the run is over.")
