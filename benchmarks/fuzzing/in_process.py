"""A command in this process, as a shell would see it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import click

from tf2npu.cli import cli


def command(words: list[str], codes: Sequence[int] = (0,)) -> str:
    """The command in this process."""
    text = StringIO()
    code: object = 0
    try:
        with redirect_stdout(text), redirect_stderr(text):
            try:
                cli.main(words, prog_name="tf2npu", standalone_mode=False)
            except click.ClickException as error:
                error.show()
                code = error.exit_code
    except SystemExit as end:
        code = end.code or 0
    except Exception as error:
        return where(error)
    if code not in codes or "Traceback" in text.getvalue() or "internal error" in text.getvalue():
        return f"exit {code}: {text.getvalue()[-400:]}"
    return "" if "\x1b" not in text.getvalue() else f"commands a terminal: {text.getvalue()[-400:]!r}"


def where(error: BaseException) -> str:
    places = []
    trace = error.__traceback__
    while trace is not None:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:200]} at {' '.join(places[-5:])}"
