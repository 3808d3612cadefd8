"""The help of every command: groups that name real options, examples that can be typed, and Chinese for all of it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from npu_formats.environment import TF2NPU_LANG
from tests.cli.help_texts import commands, texts
from tf2npu.cli import cli
from tf2npu.cli import commands as commands_folder
from tf2npu.cli import help as help_module
from tf2npu.cli.help_formatter import wrapped

COMMANDS = dict(commands())


GROUPS = {name: command for name, command in cli.commands.items() if isinstance(command, click.Group)}


@pytest.mark.parametrize("words", COMMANDS)
def test_an_option_stands_in_one_group(words):
    command = COMMANDS[words]
    names = [name for group in command.option_groups.values() for name in group]
    assert sorted(names) == sorted(set(names))
    assert set(names) <= {parameter.name for parameter in command.params if isinstance(parameter, click.Option)}


def test_each_command_has_a_line_and_a_place_of_its_own_in_a_group_of_commands():
    assert all(command.summary for command in [*COMMANDS.values(), *GROUPS.values()])
    assert {command.topic for command in cli.commands.values()} == set(help_module.TOPICS)
    places = [(command.topic, command.position) for command in cli.commands.values()]
    assert len(places) == len(set(places))


def test_each_file_of_commands_is_a_command():
    files = {path.stem for path in Path(commands_folder.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == set(cli.commands)


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_has_two_examples_that_can_be_typed(words):
    examples = COMMANDS[words].examples
    assert len(examples) >= 2 and len(set(examples)) == len(examples)
    for example in examples:
        program, *rest = shlex.split(example)
        name = next(name for name in sorted(COMMANDS, key=len, reverse=True) if rest[: len(name.split())] == name.split())
        assert program == "tf2npu"
        context = COMMANDS[name].make_context(name, rest[len(name.split()) :])
        assert not context.args, example


@pytest.mark.parametrize("words", ["", *COMMANDS, "bank", "dump"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_help_is_in_the_language_and_fits(tool, words, language, monkeypatch):
    monkeypatch.setenv(TF2NPU_LANG, language)
    done = tool(*words.split(), "--help")
    assert done.code == 0 and done.err == ""
    assert all(cell_len(line) <= 80 for line in done.out.splitlines() if "tf2npu " not in line)
    has_chinese = bool(re.search("[\u4e00-\u9fff]", done.out))
    assert has_chinese == (language == "zh")
    command = COMMANDS.get(words)
    assert all(example in done.out for example in (command.examples if command is not None else ()))
    for option in command.params if command is not None else ():
        assert not isinstance(option, click.Option) or option.opts[-1] in done.out


def test_the_option_of_the_language_wins_wherever_it_stands(tool, monkeypatch):
    monkeypatch.setenv(TF2NPU_LANG, "en")
    for words in (("convert", "--lang", "zh", "--help"), ("convert", "--help", "--lang=zh"), ("check", "--lang", "zh", "--help")):
        assert "用法：" in tool(*words).out
    assert "Usage:" in tool("convert", "--lang", "fr", "--help").out


def test_the_environment_gives_the_language_of_a_command(tool, monkeypatch):
    monkeypatch.setenv(TF2NPU_LANG, "zh")
    assert "规则" in tool("rules", "NPU101").out or "来源" in tool("rules", "NPU101").out
    assert tool("rules", "NPU101", "--lang", "en").out.isascii()


@given(st.text(st.sampled_from("ab ，。网页x-/"), max_size=60), st.integers(4, 30))
def test_lines_are_broken_by_cells_and_nothing_is_lost(text, width):
    lines = wrapped(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    longest = max((cell_len(piece) for piece in re.split(r"(?=[网页])| ", text)), default=0)
    assert all(cell_len(line) <= max(width, longest + 2) for line in lines)


def test_every_text_has_one_in_chinese_and_none_is_left_over():
    untranslated, left_over = texts() - help_module.texts().keys(), help_module.texts().keys() - texts()
    lines = "\n".join(f' {json.dumps(text, ensure_ascii=False)}: "",' for text in sorted(untranslated))
    assert not untranslated, f"write these lines with their Chinese texts into tf2npu/cli/help_zh.json:\n{lines}"
    assert not left_over, f"take these out of tf2npu/cli/help_zh.json, as no help says them: {sorted(left_over)}"
