"""The error of a command that refuses what it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from npu_formats.escape import visible


class RefusedRequest(click.ClickException):
    """A request that cannot be carried out: one line, exit code 2."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"tf2npu: {visible(self.message)}", file=file, err=file is None)


@contextmanager
def refusing(what: str, kind: type[Exception], *, missing: str = "", end: str = "") -> Iterator[None]:
    """Refuse the request where a file that it names cannot be read, or is not what it should be.

    what: the file as the message names it.  kind: the error that says why it is no such file.  missing: what to say behind the
    reason where there is no file.  end: the same behind `kind`.
    """
    try:
        yield
    except OSError as error:
        hint = missing if isinstance(error, FileNotFoundError) else ""
        raise RefusedRequest(f"{what}: cannot be read: {error.strerror or error}{hint}") from None
    except kind as error:
        raise RefusedRequest(f"{what}: {error}{end}") from None
