"""Errors of programs as TensorFlow raises them for a function: its class, the node's line in the script, its text."""

from __future__ import annotations

import re
from typing import Any

from tensorflow.python.framework import errors_impl

from npu_runtime.errors import DeviceError
from npu_runtime.importers.tensorflow.eager_host import HOST_CALL
from npu_runtime.importers.tensorflow.functions import MARK

_HOST_CALL = re.compile(rf"(?:__wrapped__)?{HOST_CALL}\d+(?:_device_[^\s\}}\]]*)?")


def of_device(function: Any, error: DeviceError) -> errors_impl.OpError:
    """An error of a kernel.  Source: TensorFlow names the function first and the node last, and adds the lines itself."""
    kind = getattr(errors_impl, f"{error.code}Error")
    name, node = function.name.decode(), error.node.split(MARK)[0]
    where = f"\n\t [[{{{{node {node}}}}}]]" if node else ""
    return kind(None, None, f"{{{{function_node {name}}}}} {error.message}{where} [Op:{name}]")


def of_option(error: DeviceError) -> errors_impl.OpError:
    """An error of an option, which belongs to no function."""
    kind: type[errors_impl.OpError] = getattr(errors_impl, f"{error.code}Error")
    return kind(None, None, error.message)


def of_host(function: Any, error: errors_impl.OpError) -> errors_impl.OpError:
    """An error of a host call, as if the script's function had been called."""
    return type(error)(error.node_def, error.op, _HOST_CALL.sub(function.name.decode(), error.message))
