"""Names that would drive a terminal, break a line or turn it round: none of them reaches one as it is."""

import os
import re

import pytest

ODD = "\x1b]0;owned\x07\u009b\u202e\nx"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
BODY = "import tensorflow as tf\nwith tf.Session() as s:\n    print(s, tf.contrib.x.y)\n"


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """A project with an odd name of its own, an odd folder, an odd script and one that does not parse."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / f"src{ODD}"
    (root / f"dir{ODD}").mkdir(parents=True)
    (root / f"train{ODD}.py").write_text(BODY)
    (root / f"bad{ODD}.py").write_text("import tensorflow\ndef f(:\n")
    (root / os.fsdecode(b"caf\xe9.py")).write_text(BODY)
    (root / f"link{ODD}").symlink_to(f"nowhere{ODD}")
    return root


def is_harmless(done) -> None:
    found = OBEYED.search(done.out + done.err)
    assert found is None, (found, done.out, done.err)


COMMANDS = """\
convert SRC OUT
convert SRC OUT --format text,github
convert SRC --check
convert SRC --dry-run --lang zh
scan SRC
scan SRC --baseline OUT --write-baseline
convert SRC --in-place
undo SRC
scan OUT
undo OUT
report OUT
scan SRC --baseline OUT
convert SRC OUT --main OUT
convert SRC OUT --exclude ODD
convert SRC OUT --exclude ODD[z-a]
convert SRC OUT --select ODD
api ODD
rules ODD
convert SRC OUT ODD
ODD
convert SRC OUT --ODD
convert SRC --format ODD
doctor --script SRC
convert SRC SRC
run --option ODD x.py
run OUT
run x.py --report OUT
"""


@pytest.mark.whole(beyond=7)
@pytest.mark.parametrize("command", COMMANDS.splitlines())
def test_no_command_writes_them(tool, odd, tmp_path, command):
    meant = {"SRC": str(odd), "OUT": str(tmp_path / f"out{ODD}")}
    is_harmless(tool(*(meant.get(word, word.replace("ODD", ODD)) for word in command.split())))


def test_what_undo_keeps_and_a_report_again(tool, odd, tmp_path):
    report = tmp_path / f"rep{ODD}"
    is_harmless(tool("convert", odd, "--in-place", "--report", report))
    (odd / f"train{ODD}.py").write_text("mine\n")
    for name in ("text", "github", "junit", "gitlab", "sarif"):
        is_harmless(tool("report", report / "report.json", "--format", name))
    is_harmless(tool("report", report / "report.json", "--format", "html", "--report", tmp_path / f"again{ODD}"))
    done = tool("undo", odd)
    assert done.code == 1
    is_harmless(done)


def test_doctor_names_folders_of_the_path(tool, tmp_path, monkeypatch):
    (tmp_path / ODD / "npu_bridge").mkdir(parents=True)
    (tmp_path / ODD / "npu_bridge" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / ODD))
    is_harmless(tool("doctor"))
