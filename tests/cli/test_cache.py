"""The cache as a user meets it: whatever stands in it, a conversion gives what it gives without one."""

import os
import pickle
import random
import sqlite3
from pathlib import Path

import pytest

from tests.cli.test_convert import tree

RANDOM = random.Random(1)


def flipped(value: bytes) -> bytes:
    data = bytearray(value)
    for _ in range(RANDOM.randrange(1, 4)):
        data[RANDOM.randrange(len(data))] ^= RANDOM.randrange(1, 256)
    return bytes(data)


class Touches:
    """Its pickle makes a file where it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


DAMAGE = {
    "text": lambda value: "text", "nothing": lambda value: None, "number": lambda value: 5, "empty": lambda value: b"",
    "half": lambda value: value[: len(value) // 2], "pickle": lambda value: pickle.dumps({"a": 1}),
    **{f"flips {n}": flipped for n in range(4)},
}  # fmt: skip


def database() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "tf2npu" / "results.sqlite"


def change_entries(change) -> None:
    with sqlite3.connect(database()) as db:
        rows = db.execute("SELECT key, value FROM results").fetchall()
        assert rows
        db.executemany("UPDATE results SET value = ? WHERE key = ?", [(change(value), key) for key, value in rows])


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_entries_change_nothing_and_are_replaced(tool, project, tmp_path, damage, caplog):
    assert tool("convert", project, tmp_path / "out").code == 0
    expected = tree(tmp_path / "out")
    change_entries(DAMAGE[damage])
    done = tool("convert", project, tmp_path / "out")
    assert (done.code, len(caplog.messages)) == (0, 1)
    assert tree(tmp_path / "out") == expected
    caplog.clear()
    assert tool("convert", project, tmp_path / "out").code == 0
    assert caplog.messages == []


def test_nothing_in_the_cache_is_run(tool, project, tmp_path):
    tool("convert", project, tmp_path / "out")
    change_entries(lambda value: pickle.dumps(Touches(tmp_path / "ran")))
    assert tool("convert", project, tmp_path / "out").code == 0
    assert not (tmp_path / "ran").exists()


def test_a_cache_that_others_may_write_is_one_line(tool, project, tmp_path, caplog):
    tool("convert", project, tmp_path / "out")
    database().parent.chmod(0o777)
    assert tool("convert", project, tmp_path / "out").code == 0
    assert len(caplog.messages) == 1 and "may be written by others" in caplog.messages[0]


def test_names_that_are_no_utf_8_are_cached(tool, project, tmp_path, caplog, session_source):
    (project / os.fsdecode(b"caf\xe9.py")).write_text(
        session_source + "x = '\\ud800'\ndef f(a='\\ud800', b=b'', c=1 << 70): f()\n"
    )
    assert tool("convert", project, tmp_path / "out").code == 0
    expected = tree(tmp_path / "out")
    assert tool("convert", project, tmp_path / "out2").code == 0
    assert set(tree(tmp_path / "out2")) == set(expected)
    assert caplog.messages == []
