"""The start and the release of the NPU in an entry script: where they belong, and the lines of the target's adapter."""

from __future__ import annotations

from tf2npu.frameworks.horovod.project import horovod_in
from tf2npu.frameworks.tensorflow1.project import tensorflow_in
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.facts.files.script_kinds import called_names, is_eager, is_test_script
from tf2npu.rules.facts.start.entry_block import (
    bracket_guard,
    command_functions,
    entry_guard,
    insert_after_imports,
    last_work,
    mentions,
    start_in_function,
)
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

KERAS_SET = ("tensorflow.keras.backend.set_session", "keras.backend.set_session")
KERAS_MADE = "npu_bridge.npu_init.set_keras_session_npu_config"
STARTED = ("npu_bridge.npu_init.init_resource", "npu_bridge.npu_init.npu_ops.initialize_system")
# A config with the entry, written out.
ENTRY_LINES = (
    "npu_config = {tf}.ConfigProto()",
    'npu_config.graph_options.rewrite_options.custom_optimizers.add().name = "NpuOptimizer"',
    "npu_config.graph_options.rewrite_options.remapping = {off}",
    "npu_config.graph_options.rewrite_options.memory_optimization = {off}",
)


def wants_keras_session(script: Script) -> bool:
    """Whether an entry script has Keras use a session that it makes on the NPU, and no session of its own."""
    if not script.is_entry or not script.config.is_enabled("NPU301"):
        return False
    if script.path not in tensorflow_in(script.project).keras_nets:
        return False
    called = called_names(script)
    if is_eager(script):
        return False
    return called.isdisjoint((KERAS_MADE, STARTED[1])) and called.isdisjoint(KERAS_SET) and not is_test_script(script)


def wants_resources(script: Script) -> bool:
    """Whether this is where the resources of all ranks are started and released."""
    mode = script.config.distributed
    called = called_names(script)
    if mode not in ("horovod", "tf") or not called.isdisjoint(STARTED) or is_eager(script):
        return False
    if mode == "tf":
        trains = script.path in script.project.training and not is_test_script(script)
        return script.is_entry and trains and script.config.is_enabled("NPU419")
    named = script.config.names_entries
    is_place = script.is_entry if named else script.path in horovod_in(script.project).starting
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


def start_lines(site: Site, resources: bool, keras: bool) -> tuple[list[str], list[str]]:
    """(before the work, after it): for the resources of all ranks, for a Keras session, or both."""
    if site.script.config.target.adapter == "2021" and _has_tensorflow(site.script):
        return _written_out(site, resources, keras)
    opening, closing = [], []
    if resources:
        opening.append(f"npu_sess, npu_shutdown = {site.need('init_resource')}()")
        closing += [f"{site.need('shutdown_resource')}(npu_sess, npu_shutdown)", f"{site.need('close_session')}(npu_sess)"]
    if keras:
        opening.append(f"npu_keras_sess = {site.need('set_keras_session_npu_config')}()")
        closing.insert(0, f"{site.need('close_session')}(npu_keras_sess)")
    return opening, closing


def _has_tensorflow(script: Script) -> bool:
    """Whether TensorFlow has a name before the work of the script begins."""
    imports = script.module_scope.names.get(tensorflow_name(script), [])
    guard, last = entry_guard(script), last_work(script)
    end = script.tree.span(guard)[0] if guard is not None else last
    return any(script.tree.span(binding.node)[0] < end for binding in imports)


def _written_out(site: Site, resources: bool, keras: bool) -> tuple[list[str], list[str]]:
    """The same without helper functions."""
    tf, off = tensorflow_name(site.script), f"{site.need('RewriterConfig')}.OFF"
    opening = [line.format(tf=tf, off=off) for line in ENTRY_LINES]
    closing = []
    if resources:
        ops = site.need("npu_ops")
        opening += [
            f"npu_init, npu_shutdown = {ops}.initialize_system(), {ops}.shutdown_system()",
            f"npu_sess = {tf}.Session(config=npu_config)", "npu_sess.run(npu_init)",
        ]  # fmt: skip
        closing += ["npu_sess.run(npu_shutdown)", "npu_sess.close()"]
    if keras:
        opening += [f"npu_keras_sess = {tf}.Session(config=npu_config)", f"{tf}.keras.backend.set_session(npu_keras_sess)"]
        closing.insert(0, "npu_keras_sess.close()")
    return opening, closing


def at_exit(closing: list[str]) -> list[str]:
    """The lines that have what releases the NPU run when the process ends."""
    return [f"atexit.register({line.replace('(', ', ', 1)}".replace(", )", ")") for line in reversed(closing)]
