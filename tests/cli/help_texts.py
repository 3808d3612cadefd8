"""Every text that the help of a command shows, and the commands with their words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from tf2npu.cli import cli, help_page
from tf2npu.cli.help_page import HelpPage, paragraphs

_FACTS = re.compile(r"\[default: ([^\]]*)\]")


def commands(group: click.Group = cli, words: str = "") -> Iterator[tuple[str, HelpPage]]:
    """(words behind `tf2npu`, command) of each command that is no group."""
    for name, command in group.commands.items():
        path = f"{words} {name}".strip()
        if isinstance(command, click.Group):
            yield from commands(command, path)
        else:
            yield path, command


def texts() -> set[str]:
    """Texts that have to be in Chinese: sentences, headings, and the words of defaults that are no values."""
    found = {"Usage:", "Options", "Examples", "Commands", "default", "required", "[OPTIONS]", help_page.OTHERS}
    found |= {"Show this message and exit.", "Show the version and exit.", "COMMAND [ARGS]..."}
    found |= set(help_page.TOPICS)
    groups = [cli, *(command for command in cli.commands.values() if isinstance(command, click.Group))]
    for command in [*groups, *(command for _, command in commands())]:
        found |= {command.summary, *command.option_groups} - {""}
        found |= set(paragraphs(command))
        for option in command.params:
            text = getattr(option, "help", None) or ""
            found |= {re.split(r" *\[default", text)[0]} - {""}
            found |= {told for told in _FACTS.findall(text) if " " in told}
    return found
