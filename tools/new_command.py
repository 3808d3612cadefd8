"""Writes the file of a new command, and says what else to do: `make new-command NAME=levels TOPIC="This machine"`.

The command runs and has a help as it is written; what it says and does is written over. docs/adding_a_command.md has the way.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from pathlib import Path

from tf2npu.cli import cli
from tf2npu.cli.help import TOPICS

COMMANDS = Path(__file__).parents[1] / "tf2npu" / "cli" / "commands"
_NAME = re.compile(r"[a-z][a-z0-9]*$")

SKELETON = '''"""The command `tf2npu {name}`: say here in a few words what it is about."""

from __future__ import annotations

import click

from tf2npu.cli.help import HelpPage


@click.command(
    cls=HelpPage,
    topic="{topic}",
    position={position},
    summary="Say in one line what {name} does.",
    examples=("tf2npu {name}", "tf2npu {name} --all"),
)
@click.option("--all", "all_of_it", is_flag=True, help="Say what the option does.")
def {name}(all_of_it: bool) -> None:
    """Say what the command does, and how its exit codes are to be read."""
    # What does the work is imported here, so that other commands need not wait for it.
    click.echo("{name}: all of it" if all_of_it else "{name}")
'''

NEXT = """{path} is written; `tf2npu {name}` can be called.
1. Write over what it says and does; docs/adding_a_command.md says how.
2. Write the Chinese texts: a line in tf2npu/cli/help_zh.json for each text that this prints: pytest tests/cli/test_help.py
3. Tests of what it does: tests/cli/test_{name}.py
4. pytest tests/test_public_surface.py --regen   notes the command and its options among what may not change.
5. A line in docs/cli.md and in CHANGELOG.md; make regen; make quick
"""


class Refused(Exception):
    """The command cannot be made as it was asked for."""


def written(name: str, topic: str, folder: Path) -> Path:
    """The file of the command, which is written here.

    Raises: Refused for a name that cannot be one of a command, a topic that is none, or a file that is there.
    """
    if not name:
        raise Refused("say NAME=, the word behind `tf2npu`, as in NAME=levels")
    if not _NAME.match(name) or keyword.iskeyword(name):
        raise Refused(f"{name!r} is no name of a command: write one word like levels")
    if topic not in TOPICS:
        raise Refused(f"{topic!r} is no topic: say TOPIC=, one of: {', '.join(TOPICS)}")
    path = folder / f"{name}.py"
    if path.exists():
        raise Refused(f"{path} is there already")
    path.write_text(SKELETON.format(name=name, topic=topic, position=_behind_the_last(topic)), encoding="utf-8")
    return path


def _behind_the_last(topic: str) -> int:
    return 1 + max(command.position for command in cli.commands.values() if command.topic == topic)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the file of a new command.")
    parser.add_argument("name", nargs="?", default="", help="the word behind `tf2npu`, such as levels")
    parser.add_argument("--topic", default=TOPICS[-1], help=f"group of commands in the help, of {', '.join(TOPICS)}")
    parser.add_argument("--folder", type=Path, default=COMMANDS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    try:
        path = written(asked.name, asked.topic, asked.folder)
    except Refused as refused:
        sys.exit(f"new_command: {refused}")
    print(NEXT.format(path=path, name=asked.name), end="")


if __name__ == "__main__":
    main()
