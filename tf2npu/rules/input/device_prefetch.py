"""Datasets that put their elements on a GPU ahead of time."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_HOST = re.compile(r"(?:/?(?:job|replica|task):\w+)*/?(?:device:)?cpu(?::\d+)?$", re.IGNORECASE)


@rule(
    id="NPU605",
    title="Prefetching to a device",
    matches=("tensorflow.data.experimental.prefetch_to_device", "tensorflow.data.experimental.copy_to_device"),
    why="There is no GPU on an NPU host, and the NPU takes the elements of a pipeline from the host itself.",
    done_when="`tf2npu run` reads the pipeline to its end, and no line names a GPU for its elements.",
    source="tf.data.experimental.prefetch_to_device(device, buffer_size=None) of TensorFlow 1.15",
    examples=(
        Example(
            "d = tf.data.Dataset.range(9)\nd = d.apply(tf.data.experimental.prefetch_to_device('/gpu:0', 2))",
            "d = tf.data.Dataset.range(9)\nd = d.prefetch(2)",
        ),
        Example.same("ahead = tf.data.experimental.prefetch_to_device(target)", note="not applied here", level="manual"),
        Example.same("copy = tf.data.experimental.copy_to_device(target)", note="a device nobody sees", level="manual"),
        Example.same("copy = tf.data.experimental.copy_to_device('/cpu:0')", note="stays on the host"),
        Example.same("d = tf.data.Dataset.range(9).prefetch(2)", note="names no device"),
    ),
)
def device_prefetch(call: Call) -> None:
    """Lets datasets fetch ahead on the host that are to put their elements on a device, and reports copies to one."""
    is_copy = call.name.endswith("copy_to_device")
    device = call.value("target_device" if is_copy else "device", 0)
    if isinstance(device, cst.SimpleString) and _HOST.match(str(device.evaluated_value)):
        return
    if is_copy:
        call.manual("There is no such device on an NPU host, where elements go to the NPU by themselves: take this out.")
    elif _prefetches_on_host(call):
        call.fixed("Elements are fetched ahead on the host, and go to the NPU by themselves.")
    else:
        call.manual(
            "There is no such device on an NPU host, where elements go to the NPU by themselves: write .prefetch(buffer_size), "
            "behind everything else, in its place."
        )


def _prefetches_on_host(call: Call) -> bool:
    """Write `.prefetch(n)` for `.apply(prefetch_to_device(device, n))`; False where the call is no argument of an apply."""
    arg = call.script.walked.parents.get(id(call.node))
    apply: Any = call.script.walked.parents.get(id(arg))
    if not isinstance(apply, cst.Call) or len(apply.args) != 1 or call.has_star_args:
        return False
    if not isinstance(apply.func, cst.Attribute) or apply.func.attr.value != "apply":
        return False
    size = call.value("buffer_size", 1)
    end = call.script.tree.span(apply)[1] - sum(len(call.source(p)) for p in apply.rpar)
    call.replace_range(
        call.script.tree.span(apply.func.attr)[0], end, f"prefetch({call.source(size) if size is not None else None})"
    )
    return True
