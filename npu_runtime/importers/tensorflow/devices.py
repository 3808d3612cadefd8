"""The devices that a graph names, which TensorFlow's placer refuses where a session has not got them."""

from __future__ import annotations

from typing import Any

from tensorflow.python.framework.device_spec import DeviceSpecV1

from npu_runtime.errors import InvalidArgument

LOCAL = {"job": "localhost", "replica": 0, "task": 0}
"""The only task of a session that is no part of a cluster."""
XLA = "XLA_CPU"
"""A device type that 1.15 has beside the CPU."""


class Devices:
    """Devices of one session.  session_config: its ConfigProto or None: how many CPUs there are, and whether others stand for
    them.

    The whole graph is placed, not only what is run. With `allow_soft_placement` a CPU stands for a device that there is not, but
    never for one of another task.  Source: TensorFlow core/common_runtime/placer.cc and colocation_graph.cc.
    """

    def __init__(self, session_config: Any) -> None:
        self._is_soft = bool(session_config is not None and session_config.allow_soft_placement)
        counts = {} if session_config is None else dict(session_config.device_count)
        self._counts = {"CPU": counts.get("CPU", 1), XLA: 1}
        self._accepted = {""}

    def check(self, operation: Any) -> None:
        """Raises: InvalidArgument if the operation is to run on a device that there is not."""
        wanted = operation.device
        if wanted in self._accepted:
            return
        if not self._has(DeviceSpecV1.from_string(wanted)):
            raise InvalidArgument(
                f"Cannot assign a device for operation {operation.name}: it was explicitly assigned to {wanted} but available "
                f"devices are [ {', '.join(self._names())} ]. {self._advice(wanted)}",
                operation.name, operation.type,
            )  # fmt: skip
        self._accepted.add(wanted)

    def _has(self, wanted: Any) -> bool:
        if any(getattr(wanted, key) not in (None, value) for key, value in LOCAL.items()):
            return False
        if self._is_soft or wanted.device_type is None:
            return True
        return (wanted.device_index or 0) < self._counts.get(wanted.device_type, 0)

    def _names(self) -> list[str]:
        return [f"/job:localhost/replica:0/task:0/device:CPU:{index}" for index in range(self._counts["CPU"])]

    def _advice(self, wanted: str) -> str:
        if "/job:" in wanted or "/task:" in wanted or "/replica:" in wanted:
            return "Make sure the device specification refers to a valid device."
        return (
            "Make sure the device specification refers to a valid device, or set allow_soft_placement in the session's "
            "ConfigProto."
        )
