"""Parts of a run in report.json that tell of PyTorch's operators, and the places that all evidence has."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0, le=2**53)]  # what JSON readers hold exactly
Place = Annotated[int, Meta(ge=1, le=2**31 - 1)]  # a line or column; SARIF readers keep them in 32 bits


class FilePlace(Struct):
    """A line of the original."""

    path: str
    line: Place


class FindingPlace(Struct):
    rule: str
    path: str
    line: Place


class EagerOperators(Struct):
    """Operators of PyTorch that ran on the device.  release: of PyTorch."""

    count: Count
    kinds: Count
    release: str


class OperatorLimit(Struct):
    """A limit of the chip that operators of a line met.  kind: a key of the lists.  is_certain: whether a list names the chip."""

    place: str
    at: FilePlace | None
    finding: FindingPlace | None
    operator: str
    kind: str
    message: str
    is_certain: bool
    count: Count


class CopyLine(Struct):
    """Copies between host and device that a line made.  bytes: of all."""

    place: str
    at: FilePlace | None
    direction: str
    count: Count
    bytes: Count


class SwitchedName(Struct):
    """A name of CUDA's that the run took for the NPU's.  instead: what to write."""

    place: str
    at: FilePlace | None
    name: str
    instead: str
    count: Count


class MemoryPeak(Struct):
    """The most memory that tensors of a device took, and the line that reached it."""

    device: Count
    bytes: Count
    capacity: Count
    place: str
    at: FilePlace | None
