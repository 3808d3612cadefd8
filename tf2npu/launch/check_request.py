"""The options of `tf2npu check`, and its words to the user while it works."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import click

from npu_formats.escape import visible


@dataclass(frozen=True)
class Wanted:
    """The options of the command.  frontend: "mindspore" for a program of MindSpore's, "auto" else."""

    modes: tuple[str, ...]
    pairs: tuple[str, ...]
    steps: int
    out: Path
    budget: str
    migrated: Path | None
    is_free: bool
    soc: str
    report: Path | None
    language: str
    frontend: str = "auto"


def say(text: str) -> None:
    """Tell the user on stderr what the check does now."""
    click.echo(visible(f"tf2npu check: {text}"), err=True)


def search_path() -> str:
    """The PYTHONPATH that the user has set, "" for none."""
    return os.environ.get("PYTHONPATH", "")
