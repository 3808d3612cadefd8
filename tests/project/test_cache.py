"""The cache: right or absent, whatever is wrong with its file."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from tf2npu.config import Config
from tf2npu.project.cache import Cache, default_folder, fingerprint


def test_what_is_put_is_got_by_a_later_process(tmp_path):
    cache = Cache(tmp_path)
    key = cache.key("result", "a.py", b"x")
    assert cache.get(key) is None
    cache.put(key, {"kept": 1})
    cache.close()
    again = Cache(tmp_path)
    assert again.get(again.key("result", "a.py", b"x")) == {"kept": 1}
    assert again.get(again.key("result", "a.py", b"y")) is None
    again.close()


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 400, None])
def test_a_damaged_file_is_no_cache_and_no_failure(tmp_path, damage):
    cache = Cache(tmp_path)
    cache.put(cache.key("a"), 1)
    cache.close()
    file = tmp_path / "results.sqlite"
    file.write_bytes(damage if damage is not None else file.read_bytes()[:5000])
    cache = Cache(tmp_path)
    assert cache.get(cache.key("a")) in (None, 1)
    cache.put(cache.key("b"), 2)
    cache.close()


def test_where_none_can_be_made_there_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.put(cache.key("a"), 1)
    assert cache.get(cache.key("a")) is None
    cache.close()


def test_two_processes_at_a_time_do_not_wait_for_each_other(tmp_path):
    first, second = Cache(tmp_path), Cache(tmp_path)
    first.put(first.key("a"), 1)
    second.put(second.key("b"), 2)
    first.close()
    second.close()
    third = Cache(tmp_path)
    assert (third.get(third.key("a")), third.get(third.key("b"))) == (1, 2)


def test_its_place_is_the_users_cache_folder(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/tf2npu")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative is to be ignored")
    assert default_folder() == Path.home() / ".cache" / "tf2npu"


@dataclasses.dataclass
class Facts:
    names: frozenset[str]
    table: dict[str, int]


def test_a_fingerprint_does_not_depend_on_the_process():
    code = (
        "from tests.project.test_cache import Facts\n"
        "from tf2npu.project.cache import fingerprint\n"
        "print(fingerprint(Facts(frozenset('abcdefgh'), {'x': 1, 'y': 2})).hex())"
    )
    root = Path(__file__).parents[2]
    found = set()
    for seed in ("1", "2", "3"):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, cwd=root)
        found.add(done.stdout)
    assert found == {fingerprint(Facts(frozenset("abcdefgh"), {"y": 2, "x": 1})).hex() + "\n"}


def test_what_differs_has_another_fingerprint():
    values = [
        "a", b"a", ("a",), (("a",),), ("a", ""), ("", "a"), ("ab",), {"a": "b"}, {"b": "a"}, {"a"}, 1, "1", True, None, (),
        Config(), Config(ignore=frozenset({"NPU1"})), Config(select=frozenset({"NPU1"})), Config(distributed="tf"),
    ]  # fmt: skip
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint("a", "b") != fingerprint("ab")
