"""The words of a command line, parted into options of ours and the words of the script that it names."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import click

from npu_formats.escape import visible
from npu_formats.files.bounded_read import MOST_SOURCE_BYTES, read_at_most
from tf2npu.cli.help_page import HelpPage

_NEAR = 0.8
"""Likeness of two words, of 1, from which on one is taken for a misspelling of the other: one letter in five of the shortest
options differs."""


class RunCommand(HelpPage):
    """`run`, where everything after SCRIPT or after `-m MODULE` is the script's own, options included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {name for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
        at = 0
        while at < len(args) and args[at].startswith("-") and args[at] != "--":
            if args[at].startswith("-m"):
                end_of_ours = at + (2 if args[at] == "-m" else 1)
                _warn(ctx, "", args[end_of_ours:])
                args = [*args[:end_of_ours], "--", *args[end_of_ours:]] if end_of_ours <= len(args) else args
                break
            at += 2 if args[at] in with_value else 1
        else:
            if args[at:] and args[at] != "--":
                _warn(ctx, args[at], args[at + 1 :])
        return super().parse_args(ctx, args)


class ScriptCommand(HelpPage):
    """`predict` and `tune`, whose options may stand before and after SCRIPT; what they do not know there is the script's own.

    Everything behind -- is the script's, too. --batch takes all the numbers that follow it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, theirs = split_words(args, {name: option.is_flag for option in self._options() for name in option.opts})
        if theirs:
            n_explicit = len(args) - args.index("--") - 1 if "--" in args else 0
            _warn(ctx, theirs[0], theirs[1 : max(len(theirs) - n_explicit, 1)])
        return super().parse_args(ctx, [*ours, "--", *theirs])

    def _options(self) -> list[click.Option]:
        return [option for option in self.params if isinstance(option, click.Option)]


def split_words(args: list[str], options: dict[str, bool]) -> tuple[list[str], list[str]]:
    """The words of a command line that are options of ours, and the script with its own words.

    options: whether each takes no value.  Raises: click.BadOptionUsage where a value is missing.
    """
    ours: list[str] = []
    theirs: list[str] = []
    left = list(args)
    while left:
        word = left.pop(0)
        name = word.partition("=")[0]
        if word == "--":
            return ours, [*theirs, *left]
        takes_value = word == name and options.get(name) is False and (not theirs or name.startswith("--"))
        if takes_value and not left:
            raise click.BadOptionUsage(name, f"Option '{name}' requires an argument.")
        if takes_value and name == "--batch":
            numbers = list(itertools.takewhile(str.isdecimal, left)) or left[:1]  # click refuses what is no number
            ours += [piece for number in numbers for piece in (word, number)]
            del left[: len(numbers)]
        elif name in options and (not theirs or name.startswith("--")):
            ours += [word, *left[:takes_value]]
            del left[:takes_value]
        elif not theirs and word.startswith("-"):
            return [*ours, word], left  # click says that there is no such option
        else:
            theirs.append(word)
    return ours, theirs


def _warn(ctx: click.Context, script: str, words: Sequence[str]) -> None:
    """Say of words that go to the script, up to --, that they are options of this command, or nearly so."""
    ours = [name for param in ctx.command.params for name in param.opts if name.startswith("--")]
    for word in itertools.takewhile(lambda word: word != "--", words):
        name = word.partition("=")[0]
        meant = meant_option(name, ours, script) if name.startswith("--") else ""
        if meant:
            told = f"write {meant} before SCRIPT" if name == meant else f"did you mean {meant}?"
            receiver = script or "the module"
            text = (
                f"{ctx.command_path}: {name} goes to {receiver}, as all behind it does that this command does not take; if it is "
                f"for tf2npu, {told}; if it is for {receiver}, nothing is to do, and behind -- nothing is said"
            )
            click.echo(visible(text), err=True)


def meant_option(name: str, ours: Sequence[str], script: str) -> str:
    """The option of ours that a word is or nearly is; "" for none, and for a near one that the script itself names."""
    if name in ours:
        return name
    near = difflib.get_close_matches(name, ours, n=1, cutoff=_NEAR)
    return near[0] if near and not _names(script, name.removeprefix("--")) else ""


def _names(script: str, option: str) -> bool:
    """Whether the text of a script has an option in quotes, as argparse and flags declare it."""
    try:
        text = read_at_most(Path(script), MOST_SOURCE_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return False
    return re.search(rf"""['"](?:--)?{re.escape(option).replace("-", "[-_]")}['"]""", text) is not None
