"""The session of a process on the simulated device: a graph for each program, and variables that all of them share."""

from __future__ import annotations

import atexit
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from hccl import _groups as hccl_groups
from hccl.split.api import splits
from mindspore._device import check_role
from mindspore._device.reference import ReferenceSession
from npu_bridge import _options
from npu_bridge.estimator.npu.npu_plugin import set_device_sat_mode
from npu_bridge.npu_init import tf
from tensorflow.python.framework import error_interpolation, errors_impl

from npu_formats.user_frames import calling_line
from npu_runtime import dtypes
from npu_runtime.config import chip_of, load_config
from npu_runtime.device import float_status
from npu_runtime.device.variable import Variable
from npu_runtime.errors import DeviceError
from npu_runtime.importers.tensorflow.devices import Devices
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.importers.tensorflow.host import HostSide
from npu_runtime.session.device_session import session_observers
from npu_runtime.session.observed_session import ObservedSession
from npu_runtime.session.plan import Request
from npu_runtime.session.session_state import SessionState

_hosts: list[HostSide] = []
_taken: dict[str, int] = {}
_FAILED = re.compile(r"assertion failed: \[(.*)\]")


class FailedCondition(errors_impl.InvalidArgumentError, ValueError):
    """A condition on values did not hold while a graph ran."""


@cache
def state() -> SessionState:
    """The options, variables and observers of the session, which is opened by the first wish.

    Results that are too large for float16 show as on the chip, whose float status MindSpore's loss scaling reads.
    """
    config = load_config(dict(_options.of_process))
    _options.check_dump(config.parameters)
    hccl_groups.set_up()
    if float_status.asked is None and chip_of(config.soc).saturates:
        set_device_sat_mode(0)
        config = load_config(dict(_options.of_process))
    opened = SessionState.opened(replace(config, splits=splits), partial(session_observers, recorder=None), calling_line())
    atexit.register(_close, opened)
    return opened


def _close(opened: SessionState) -> None:
    """Give back what runs on the host, as queues of data, while Python is still there, and the device's memory."""
    for host in _hosts:
        host.close()
    opened.close()


def unique_name(name: str) -> str:
    """A name for a variable that no other one of the process has."""
    number = _taken[name] = _taken.get(name, 0) + 1
    return name if number == 1 else unique_name(f"{name}_{number - 1}")


def store(name: str, value: np.ndarray) -> Variable:
    """A variable on the device, with a value; graphs find it by its name."""
    variables = state().variables
    made = variables.get(("resource", name))
    if made is None:
        made = variables["resource", name] = Variable(name, value.dtype, False, value.shape, state().container)
    made.assign(value)
    return made


class HostVariable(NamedTuple):
    """A variable that the host computes with.  value: the placeholder that `put` writes to it; read: its value."""

    value: Any
    put: Any
    read: Any


def device_has(kind: Any) -> bool:
    """Whether the device stores numbers of a type."""
    return np.dtype(kind).name in dtypes.ALL


class DeviceGraph:
    """A graph that is built with TensorFlow, and runs on the device.

    on_host: parameters of types that the device has not, with what puts their values into the graph and takes them out.
    """

    def __init__(self) -> None:
        self.graph = tf.Graph()
        self.on_host: dict[Any, HostVariable] = {}
        self._requests: dict[Any, Request] = {}
        self._running: ObservedSession | ReferenceSession | None = None

    def run(
        self, fetches: Sequence[Any], targets: Sequence[Any] = (), feeds: Sequence[Any] = (), values: Sequence[np.ndarray] = ()
    ) -> list[np.ndarray]:  # fmt: skip
        """The values of tensors, after the targets ran.  values: of the fed tensors.

        Raises: TensorFlow's errors, with the line of the program that asked for the node.
        """
        key = tuple(map(id, (*fetches, *targets, *feeds)))
        request = self._requests.get(key)
        if request is None:
            names = ([one.name for one in part] for part in (fetches, targets, feeds))
            request = self._requests[key] = Request(*map(tuple, names))
        try:
            self._fill_host()
            found = self._session().run(request, values)
            self._empty_host()
            return found
        except DeviceError as error:
            raise self._error(error.code, error.message, error.node) from error.__cause__
        except errors_impl.OpError as error:
            raise self._error(type(error).__name__.removesuffix("Error"), error.message, "") from None

    def _fill_host(self) -> None:
        """Put the values of parameters that the host has into this graph's session: each graph has a host side of its own."""
        if self.on_host:
            targets, feeds = ([getattr(one, part).name for one in self.on_host.values()] for part in ("put", "value"))
            self._session().run(Request((), tuple(targets), tuple(feeds)), [one.asnumpy() for one in self.on_host])

    def _empty_host(self) -> None:
        """Take the values of such parameters out, for other graphs and for Python."""
        if self.on_host:
            fetches = tuple(one.read.name for one in self.on_host.values())
            for parameter, value in zip(self.on_host, self._session().run(Request(fetches, (), ()), []), strict=True):
                parameter.set_data(value)

    def _session(self) -> ObservedSession | ReferenceSession:
        if self._running is None and check_role.is_reference():
            self._running = ReferenceSession(self.graph, state().variables)
        if self._running is None:
            config = tf.ConfigProto()
            importer = GraphImporter(self.graph, Devices(config))
            host = HostSide(self.graph, importer.definition, config)
            _hosts.append(host)
            self._running = ObservedSession(importer, host, state())
        return self._running

    def _error(self, code: str, message: str, node: str) -> errors_impl.OpError:
        """TensorFlow's error for what went wrong at a node; a condition that a cell checks as it runs has a text of its own."""
        failed = _FAILED.search(message)
        if failed is not None:
            return FailedCondition(None, None, ": ".join(failed[1].split("] [")))
        text = f"{message}\n\t [[{{{{node {node}}}}}]]" if node else message
        kind = getattr(errors_impl, f"{code}Error", errors_impl.InternalError)
        return kind(None, None, error_interpolation.interpolate_graph(text, self.graph))
