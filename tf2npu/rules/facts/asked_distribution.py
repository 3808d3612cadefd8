"""Advice to convert for several NPUs, which would go in a circle where that was asked for."""

from __future__ import annotations

from tf2npu.scanner.sites import Site


def to_convert(site: Site, advice: str, mode: str = "tf") -> str:
    """The part of a message that names `--distributed`, or "" where the conversion has that mode."""
    return "" if site.script.config.distributed == mode else advice
