"""The error of a command that refuses what it is asked for."""

from __future__ import annotations

from typing import IO, Any

import click

from tf2npu.report.visible import visible


class RefusedRequest(click.ClickException):
    """A request that cannot be carried out: one line, exit code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"tf2npu: {visible(self.message)}", file=file, err=file is None)
