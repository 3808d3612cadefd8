"""Which words of a command line are options of ours, and which are those of the script that it names."""

from __future__ import annotations

import itertools

import click

from tf2npu.help_page import HelpPage


class RunCommand(HelpPage):
    """`run`, where everything after SCRIPT or after `-m MODULE` is the script's own, options included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {name for p in self.params if isinstance(p, click.Option) and not p.is_flag for name in p.opts}
        at = 0
        while at < len(args) and args[at].startswith("-") and args[at] != "--":
            if args[at].startswith("-m"):
                end_of_ours = at + (2 if args[at] == "-m" else 1)
                args = [*args[:end_of_ours], "--", *args[end_of_ours:]] if end_of_ours <= len(args) else args
                break
            at += 2 if args[at] in with_value else 1
        return super().parse_args(ctx, args)


class ScriptCommand(HelpPage):
    """`predict` and `tune`, whose options may stand before and after SCRIPT; what they do not know there is the script's own.

    Everything behind -- is the script's, too. --batch takes all the numbers that follow it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, theirs = split_words(args, {name: option.is_flag for option in self._options() for name in option.opts})
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
