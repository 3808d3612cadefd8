"""Arguments that a command line has to have: the words that are told are taken by the very parser, and fewer are not."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.how_many import some
from tf2npu.config import Config
from tf2npu.findings import EntryScript
from tf2npu.project.conversion import convert_project
from tf2npu.project.request import Request
from tf2npu.report.model.report import CommandPaths, Report
from tf2npu.report.work.entry_scripts import commands
from tf2npu.scanner.required_arguments import required_arguments

HEAD = "import argparse\np = argparse.ArgumentParser()\n"
DECLARED = {
    "p.add_argument('data')": ("DATA",),
    "p.add_argument('--out-dir', required=True)": ("--out-dir=OUT_DIR",),
    "p.add_argument('-o', '--out', required=True, metavar='FILE')": ("--out=FILE",),
    "p.add_argument('-q', required=True)": ("-q", "Q"),
    "p.add_argument('--wet', action='store_true', required=True)": ("--wet",),
    "p.add_argument('mode', choices=['eval', 'train'])": ("train",),
    "p.add_argument('files', nargs='+')": ("FILES",),
    "g = p.add_argument_group('g')\ng.add_argument('--in-group', required=True)": ("--in-group=IN_GROUP",),
    "p.add_argument('--free', default=1)": (),
    "p.add_argument('maybe', nargs='?')": (),
    "p.add_argument('many', nargs='*')": (),
    "e = p.add_mutually_exclusive_group()\ne.add_argument('--a')": (),
    "s = p.add_subparsers().add_parser('go')\ns.add_argument('inner')": (),
}  # fmt: skip


def told(text: str) -> tuple[str, ...] | None:
    return required_arguments(text, list(ast.walk(ast.parse(text))))


def is_taken(text: str, words: list[str]) -> bool:
    namespace: dict[str, Any] = {}
    exec(text, namespace)  # a text of this file
    try:
        namespace["p"].parse_args(words)
    except SystemExit:
        return False
    return True


@pytest.mark.parametrize("declared", some(DECLARED))
def test_what_argparse_wants_is_told_and_no_more(declared: str, capsys):
    text = f"{HEAD}{declared}\n"
    words = told(text)
    assert words == DECLARED[declared]
    assert is_taken(text, list(words))
    assert not words or not is_taken(text, [])


@given(st.lists(st.sampled_from(sorted(DECLARED)), unique=True, max_size=5))
def test_the_words_of_several_arguments_are_taken_together(declared: list[str]):
    several = [one for one in declared if "files" in one or "many" in one or "maybe" in one]  # which share what follows
    text = HEAD + "\n".join(one for one in declared if one not in several[1:] and "subparsers" not in one) + "\n"
    words = told(text)
    assert is_taken(text, list(words or ()))


def test_flags_of_tensorflow_and_absl_and_options_of_click_are_told():
    flags = "FLAGS = tf.app.flags\nflags.DEFINE_string('data', None, '')\nflags.DEFINE_string('free', 'x', '')\n"
    assert told(flags) == ()
    assert told(flags + "flags.mark_flag_as_required('data')\n") == ("--data=DATA",)
    assert told(flags + "flags.mark_flags_as_required(['data', 'free'])\n") == ("--data=DATA", "--free=FREE")
    assert told("flags.DEFINE_string('x', None, '', required=True)\n") == ("--x=X",)
    assert told("@click.command()\n@click.option('--a', required=True)\n@click.argument('b')\ndef f(a, b): pass\n") == (
        "--a=A",
        "B",
    )
    assert told("@click.argument('b', required=False)\n@click.argument('c', nargs=-1)\ndef f(b, c): pass\n") == ()


def test_a_file_that_declares_no_argument_has_no_parser():
    assert told("import argparse\nprint('add_argument')\n") is None


def test_the_parser_of_the_one_module_that_has_one_is_the_script_s(tmp_path: Path):
    """The parser stands in a module that the script imports, as most repositories have it."""
    train = "import tensorflow as tf\nfrom options import parsed\nif __name__ == '__main__':\n    tf.Session().run(parsed())\n"
    options = "import argparse\ndef parsed():\n    p = argparse.ArgumentParser()\n    p.add_argument('--data', required=True)\n"
    (tmp_path / "train.py").write_text(train)
    (tmp_path / "options.py").write_text(options + "    return p.parse_args()\n")
    entry = convert_project(Request(tmp_path, Config(), use_cache=False)).entries[0]
    assert entry.arguments == ("--data=DATA",)


@pytest.mark.parametrize("word", ["--data=$(id)", "--data=it's", "a b"])
def test_commands_have_the_arguments_and_quote_them(word: str):
    report = Report(paths=CommandPaths("../src"))
    for command in commands(report, EntryScript("train.py", "guard", True, arguments=(word,))):
        text = command.text.replace("python", "printf '%s\\n'").replace("tf2npu", "printf '%s\\n'")
        assert word in subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True).stdout.splitlines()
    compared = commands(report, EntryScript("train.py", "guard", True, arguments=("A",)))[2].text
    assert compared == "tf2npu check --migrated train.py --report tf2npu-report ../src/train.py A"
