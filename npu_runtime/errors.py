"""Errors of the device; each has TensorFlow's error code so that the session can raise TensorFlow's own class."""

from __future__ import annotations

MISFITS = (ArithmeticError, IndexError, TypeError, ValueError)
"""Errors of Python and numpy where a kernel gets shapes that do not fit the op and that it does not check itself."""


class DeviceError(Exception):
    """A step failed on the device. `node` and `op` are filled in by the executor when a kernel raised it."""

    code = "Internal"

    def __init__(self, message: str, node: str = "", op: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.op = op

    def at(self, node: str, op: str) -> DeviceError:
        """Name the place, once; returns self."""
        self.node = self.node or node
        self.op = self.op or op
        return self

    def __str__(self) -> str:
        return f"node {self.node}: {self.op}: {self.message}" if self.node else self.message


class InvalidArgument(DeviceError):
    code = "InvalidArgument"


class Internal(DeviceError):
    code = "Internal"


class FailedPrecondition(DeviceError):
    code = "FailedPrecondition"


class NotFound(DeviceError):
    code = "NotFound"


class OutOfRange(DeviceError):
    code = "OutOfRange"


class DeadlineExceeded(DeviceError):
    code = "DeadlineExceeded"


class ResourceExhausted(DeviceError):
    code = "ResourceExhausted"


class Unimplemented(DeviceError):
    code = "Unimplemented"
