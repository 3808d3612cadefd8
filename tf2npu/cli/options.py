"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

from npu_formats.environment import TF2NPU_LANG
from tf2npu.cli.help import LANGUAGES
from tf2npu.cli.parameter_types import FilledPath, Formats

PATH = FilledPath(path_type=Path)
"""Type of every parameter that is a path."""
json_option = click.option("--json", "json_file", type=PATH, metavar="FILE", help="Write JSON; - for stdout instead of the text.")


def language_option(explanation: str):
    """The option --lang.  explanation: the help text, which says of what it is the language."""
    return click.option(
        "--lang", "language", type=click.Choice(LANGUAGES), default="en", show_default=True, envvar=TF2NPU_LANG, help=explanation
    )


report_language_option = language_option("Language of the report; report.json stays English.")


def output_options(command):
    """The options that `predict` and `profile` share: where the document goes."""
    options = (
        json_option,
        click.option("--report", "folder", type=PATH, metavar="DIR", help="Write it as a web page into this folder."),
        language_option("Language of text and page."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def selection_options(command):
    """The options that `convert` and `scan` share."""
    options = (
        click.option(
            "--distributed",
            type=click.Choice(["none", "auto", "horovod", "tf"]),
            help="Also convert distributed training; auto: the one kind that is found.  [default: none]",
        ),
        click.option(
            "--target", "dialect", type=click.Choice(["auto", "tf1", "tf2", "tf2-compat"]),
            help="The TensorFlow that the scripts are written for; auto: what they tell.  [default: auto]",
        ),
        click.option(
            "--framework", type=click.Choice(["auto", "tensorflow", "torch"]),
            help="Convert files of this framework alone; auto: of each that a file imports.  [default: auto]",
        ),
        click.option("--main", metavar="FILE", help="The script that is started, relative to SRC."),
        click.option("--report", "report_folder", type=PATH, metavar="DIR", help="Where the report goes."),
        click.option(
            "--format", "formats", type=Formats(), default="html,json,sarif", show_default=True, metavar="LIST",
            help="Formats of the report: html, json, sarif, text, github, gitlab, junit, md, csv, xlsx.",
        ),
        click.option("--open", "opens", is_flag=True, help="Show the report in the browser."),
        click.option("--jobs", type=click.IntRange(1), metavar="N", help="Most worker processes.  [default: all processors]"),
        click.option("--select", metavar="IDS", help="Only these rules; prefixes count (NPU1,NPU501)."),
        click.option("--ignore", metavar="IDS", help="Without these rules."),
        click.option("--baseline", type=PATH, metavar="FILE", help="Known findings: shown, but no reason to exit 1."),
        click.option("--write-baseline", is_flag=True, help="Write what is found to the --baseline FILE."),
        click.option("--decisions", type=PATH, metavar="FILE", help="Carry out the decisions that a report exported."),
        click.option("--python2", is_flag=True, help="Bring files that only Python 2 reads to Python 3, where that is safe."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Do not convert these files (as in .gitignore)."),
        click.option("--no-gitignore", is_flag=True, help="Also convert what .gitignore files name."),
        report_language_option,
        click.option("-q", "--quiet", "volume", flag_value="quiet", help="Print the verdict alone."),
        click.option("-v", "--verbose", "volume", flag_value="verbose", help="Print every finding."),
        click.option("--force", is_flag=True, help="Write into a folder that is not ours; back up files changed by hand."),
        click.option("--no-cache", is_flag=True, help="Do not use or fill the cache of results."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


frontend_option = click.option(
    "--frontend", type=click.Choice(["auto", "mindspore"]), default="auto", show_default=True,
    help="mindspore for a program of MindSpore r1.0 or r1.1, which runs as it is.",
)  # fmt: skip


def smoke_options(explanation: str):
    """The options --smoke and --smoke-seconds.  explanation: the help text of the first."""

    def add(command):
        command = click.option(
            "--smoke-seconds", type=click.IntRange(1), default=120, show_default=True, metavar="N",
            help="Time of each script of a smoke run.",
        )(command)  # fmt: skip
        return click.option("--smoke", type=click.IntRange(1, 10_000), metavar="N", help=explanation)(command)

    return add
