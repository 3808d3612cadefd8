"""Datasets that put their elements on a GPU ahead of time."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_HOST = re.compile(r"(?:/?(?:job|replica|task):\w+)*/?(?:device:)?cpu(?::\d+)?$", re.IGNORECASE)


@rule(
    id="NPU605",
    title="Prefetching to a device",
    matches=("tensorflow.data.experimental.prefetch_to_device", "tensorflow.data.experimental.copy_to_device"),
    why="There is no GPU on an NPU host, and the NPU takes the elements of a pipeline from the host itself.",
    source="tf.data.experimental.prefetch_to_device(device, buffer_size=None) of TensorFlow 1.15",
    examples=(
        Example.same(
            "d = tf.data.Dataset.range(9)\nd = d.apply(tf.data.experimental.prefetch_to_device('/gpu:0', 2))",
            level="manual",
            write="d = tf.data.Dataset.range(9)\nd = d.prefetch(2)",
        ),
        Example.same("copy = tf.data.experimental.copy_to_device(target)", note="a device nobody sees", level="manual"),
        Example.same("copy = tf.data.experimental.copy_to_device('/cpu:0')", note="stays on the host"),
        Example.same("d = tf.data.Dataset.range(9).prefetch(2)", note="names no device"),
    ),
)
def device_prefetch(call: Call) -> None:
    """Reports datasets that are to put their elements on a device that is not the host's CPU."""
    is_copy = call.name.endswith("copy_to_device")
    device = call.value("target_device" if is_copy else "device", 0)
    if isinstance(device, cst.SimpleString) and _HOST.match(str(device.evaluated_value)):
        return
    if is_copy:
        call.manual("There is no such device on an NPU host, where elements go to the NPU by themselves: take this out.")
    else:
        call.manual(
            "There is no such device on an NPU host, where elements go to the NPU by themselves: write .prefetch(buffer_size), "
            "behind everything else, in its place."
        )
