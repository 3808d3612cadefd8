"""The `tf2npu` command: its group, and the exit codes of what goes wrong in all commands."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator

import click

import tf2npu
from tf2npu.cli import commands
from tf2npu.cli.help import TOPICS, CommandGroup, HelpPage

EXIT_USAGE, EXIT_INTERNAL, EXIT_INTERRUPTED = 2, 70, 130
"""Exit codes: the command was wrong (click's own), a defect of ours (EX_SOFTWARE of sysexits.h), ended by SIGINT (as shells
report it). 1 and 3 are the commands' own: something is left for a person, a file could not be converted."""


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tf2npu.__version__, prog_name="tf2npu")
def cli() -> None:
    """Move TensorFlow 1.x training code to Ascend NPUs: convert it, read what was done, run it on a simulated device."""


def _found() -> Iterator[HelpPage]:
    """The command of each file of the folder `commands`: it has the file's name."""
    for module in pkgutil.iter_modules(commands.__path__):
        yield getattr(importlib.import_module(f"{commands.__name__}.{module.name}"), module.name)


for command in sorted(_found(), key=lambda found: (TOPICS.index(found.topic), found.position)):
    cli.add_command(command)


def main(argv: list[str] | None = None) -> None:
    """Run the command and exit with its code; a defect of ours costs the user one line, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a file name may hold what the terminal cannot show
    _require_current_folder()
    try:
        cli.main(argv, prog_name="tf2npu", standalone_mode=False)
    except click.ClickException as error:
        from npu_formats.escape import visible_lines

        # It may quote what stands on the command line; click marks the attribute as final.
        setattr(error, "message", visible_lines(error.message))  # noqa: B010
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("tf2npu: interrupted; every file is whole, old or new, and running again finishes", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at exit
        sys.exit(EXIT_INTERRUPTED - 2 + 13)  # what a shell reports for SIGPIPE
    except Exception as error:
        from tf2npu import crash_log

        click.echo(crash_log.one_line(error), err=True)
        sys.exit(EXIT_INTERNAL)


def _require_current_folder() -> None:
    """End with one line where another process has removed the folder that relative paths start from."""
    try:
        os.getcwd()
    except OSError as error:
        click.echo(f"tf2npu: the current folder cannot be used ({error.strerror}): change to one that is there", err=True)
        sys.exit(EXIT_USAGE)
