"""The help of the commands: options in groups, examples, and the reader's language.

The language is that of `--lang`, wherever it stands beside `--help`, or else of TF2NPU_LANG.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import click

from npu_formats.environment import TF2NPU_LANG
from tf2npu.cli.help_formatter import CellFormatter

LANGUAGES = ("en", "zh")
TOPICS = ("Migrate", "Run and tune", "Compare numbers", "This machine")
"""The groups of commands that `tf2npu --help` shows, in its order."""
OTHERS = "Further options"
"""Heading of the options that no group names."""
_LAST = 99
"""Position of a command that says none, which is behind those that do."""
_LANGUAGE = "tf2npu.cli.help.language"  # the key in a context's own storage
_BRACKET = re.compile(r" *\[(?=default|required|x[<>])")  # where facts on an option begin
_FILE = Path(__file__).with_name("help_zh.json")


def asked_language(args: list[str]) -> str:
    """The language that a command line or the environment asks for; English for one that is not known."""
    asked = os.environ.get(TF2NPU_LANG, "")
    for number, word in enumerate(args):
        if word == "--":
            break
        if word == "--lang" and number + 1 < len(args):
            asked = args[number + 1]
        elif word.startswith("--lang="):
            asked = word.partition("=")[2]
    return asked if asked in LANGUAGES else "en"


@lru_cache(maxsize=1)
def texts() -> dict[str, str]:
    """The Chinese text for each English one of the help."""
    return dict(json.loads(_FILE.read_text(encoding="utf-8")))


def said(context: click.Context, english: str) -> str:
    """A text in the language of a command's help."""
    return texts().get(english, english) if context.meta.get(_LANGUAGE) == "zh" else english


class HelpPage(click.Command):
    """A command whose help has groups of options and examples.

    topic, position: the group of commands and the place in it where `tf2npu --help` shows this one.
    summary: its line there.
    option_groups: heading -> names of the parameters below it; without any, all options are in one list.
    examples: two or more; each can be typed as it stands.
    """

    def __init__(
        self,
        *arguments: Any,
        topic: str = TOPICS[0],
        position: int = _LAST,
        summary: str = "",
        option_groups: Mapping[str, tuple[str, ...]] | None = None,
        examples: tuple[str, ...] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self.topic, self.position, self.summary = topic, position, summary
        self.option_groups = option_groups or {}
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_LANGUAGE] = asked_language(args)
        return super().parse_args(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        width = ctx.make_formatter().width  # as wide as click has it for this terminal
        formatter = CellFormatter(width=width)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(said(ctx, piece) for piece in self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix=f"{said(ctx, 'Usage:')} ")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in paragraphs(self):
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(said(ctx, paragraph))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, rows in self._option_groups(ctx):
            with formatter.section(said(ctx, heading)):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section(said(ctx, "Examples")):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")

    def _option_groups(self, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """(heading, rows) of each group that has rows; what no group names comes last."""
        groups = self.option_groups
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in groups}
        rest = OTHERS if groups else "Options"
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)  # arguments have one in some versions of click, and say nothing there
            heading = next((name for name, names in groups.items() if parameter.name in names), rest)
            if record is not None and not isinstance(parameter, click.Argument):
                rows.setdefault(heading, []).append((record[0], _explained(ctx, record[1])))
        yield from ((heading, found) for heading, found in rows.items() if found)


class CommandGroup(HelpPage, click.Group):
    """A group whose commands are shown by topic, with a line for each."""

    command_class = HelpPage

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for topic, pages in self.topics(ctx).items():
            with formatter.section(said(ctx, topic)):
                formatter.write_dl([(str(page.name), said(ctx, page.summary)) for page in pages])

    def topics(self, ctx: click.Context) -> dict[str, list[HelpPage]]:
        """The commands below each heading; only the outermost group has topics."""
        pages = [page for page in self.commands.values() if isinstance(page, HelpPage)]
        if ctx.parent is not None:
            return {"Commands": pages}
        return {topic: [page for page in pages if page.topic == topic] for topic in TOPICS}


def paragraphs(command: click.Command) -> list[str]:
    """The paragraphs of what a command says about itself, a line each."""
    text = (command.help or "").partition("\f")[0]
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text) if paragraph.strip()]


def _explained(context: click.Context, text: str) -> str:
    """The help text of an option, with its default and the like, in the reader's language."""
    own, *brackets = _BRACKET.split(text)
    pieces = [said(context, own)]
    for inner in brackets:
        facts = (fact.partition(": ") for fact in inner.rstrip("]").split("; "))
        pieces.append(f"[{'; '.join(f'{said(context, name)}{colon}{said(context, value)}' for name, colon, value in facts)}]")
    return "  ".join(filter(None, pieces))
