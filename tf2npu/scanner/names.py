"""One name for each API of a framework, whatever module it was reached through."""

from __future__ import annotations

from tf2npu.frameworks.registry import known


def root_of(name: str) -> str:
    """First component of a dotted name."""
    return name.partition(".")[0]


def is_framework(name: str) -> bool:
    """Whether a dotted name belongs to a package the converter knows."""
    return known().is_known(name)


def canonical(name: str) -> str:
    """The one spelling of a dotted name under which rules and tables know it."""
    return known().canonical(name)
