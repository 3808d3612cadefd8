"""The lines that start the NPU and those that release it, as the target's adapter has them."""

from __future__ import annotations

from tf2npu.rules.adapter_2021 import ENTRY_LINES
from tf2npu.rules.entry_block import entry_guard, last_work
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site


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
    imports = script.module_scope.names.get(script.tensorflow_name, [])
    guard, last = entry_guard(script), last_work(script)
    end = script.tree.span(guard)[0] if guard is not None else last
    return any(script.tree.span(binding.node)[0] < end for binding in imports)


def _written_out(site: Site, resources: bool, keras: bool) -> tuple[list[str], list[str]]:
    """The same without helper functions."""
    tf, off = site.script.tensorflow_name, f"{site.need('RewriterConfig')}.OFF"
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
