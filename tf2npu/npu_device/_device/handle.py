"""The handle of a device, the one that is open, and the one that is the default."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from npu_device._device import defaults, loop_size, versions, workers
from npu_device._options import device_options, option_tree

NPU = "/job:localhost/replica:0/task:0/device:NPU"
"""Name of the devices, without the number."""

options = option_tree.make("NpuConfig")
"""The options of the process: what `global_options` gives."""
_lock = threading.Lock()
_open: dict[int, NpuDeviceHandle] = {}
"""The device that is open, by its number; one at most."""
_default: NpuDeviceHandle | None = None


class NpuDeviceHandle:
    """One device.  workers_num: of the job.  worker_id: of this process among them."""

    def __init__(self, device_id: int, given: Mapping[str, Any], workers_num: int, worker_id: int) -> None:
        self._device_id, self._given = device_id, dict(given)
        self.workers_num, self.worker_id = workers_num, worker_id

    def name(self) -> str:
        """The whole name of the device, as TensorFlow writes names."""
        return f"{NPU}:{self._device_id}"

    def scope(self) -> AbstractContextManager[None]:
        """A context in which the device is meant; functions run there anyway, so nothing changes."""
        return _scope()

    def is_cluster_worker(self) -> bool:
        """Whether it is one of several workers."""
        return self.workers_num > 1 and self.workers_num > self.worker_id >= 0

    def as_default(self) -> NpuDeviceHandle:
        """Run functions of TensorFlow on the device from now on; a second call does nothing."""
        global _default
        with _lock:
            if _default is not self:
                from npu_device._execution.install import install  # it changes TensorFlow, and only a default device may

                defaults.install()
                install(self._given)
                _default = self
        return self


@contextmanager
def _scope() -> Iterator[None]:
    yield


def open_device(device_id: int | None = None) -> NpuDeviceHandle:
    """The handle of a device, the same one whenever it is asked for; what `npu_device.open` is.

    device_id: by default the number in ASCEND_DEVICE_ID, else 0.
    Raises: RuntimeError when another device is open, for another version of TensorFlow, and for a job whose environment is
    incomplete; ValueError for a number that is none.
    """
    versions.check()
    number = int(os.getenv("ASCEND_DEVICE_ID", "0") if device_id is None else device_id)
    with _lock:
        if number in _open:
            return _open[number]
        if _open:
            raise RuntimeError(f"Failed create npu instance on device {number} as existed instance on {list(_open)}")
        workers_num, worker_id = workers.join()
        device_options.say_what_has_no_effect(options)
        loop_size.say()
        given = device_options.of_session(options)
        option_tree.were_read()
        os.environ["ASCEND_DEVICE_ID"] = str(number)  # by which dumps and profiles name it
        _open[number] = NpuDeviceHandle(number, given, workers_num, worker_id)
        return _open[number]


def default_device() -> NpuDeviceHandle | None:
    """The device that runs functions now; None before `as_default`."""
    return _default


def open_device_number() -> int | None:
    """The number of the device that is open."""
    return next(iter(_open), None)
