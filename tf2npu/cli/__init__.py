"""The command line: a file a command, the texts of their help, and what all commands share."""

from tf2npu.cli.entry_point import cli, main

__all__ = ["cli", "main"]
