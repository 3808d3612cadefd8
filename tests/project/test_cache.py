"""The cache: right or absent, whatever is wrong with its file."""

import dataclasses
import os
import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.how_many import drawn
from tests.report import samples
from tf2npu.config import Config
from tf2npu.engine.convert_file import gather_facts
from tf2npu.findings import ApiUse, Edit, FileResult, Span, Status, Verdict
from tf2npu.project import codec
from tf2npu.project.cache import Cache, _sources, default_folder, fingerprint
from tf2npu.scanner.facts import FileFacts


def test_what_is_put_is_got_by_a_later_process(tmp_path):
    cache = Cache(tmp_path)
    key = cache.key("result", "a.py", b"x")
    assert cache.get(key, dict) is None
    cache.put(key, {"kept": 1})
    cache.close()
    again = Cache(tmp_path)
    assert again.get(again.key("result", "a.py", b"x"), dict) == {"kept": 1}
    assert again.get(again.key("result", "a.py", b"y"), dict) is None
    again.close()


@pytest.mark.parametrize("damage", [b"", b"nonsense" * 400, None])
def test_a_damaged_file_is_no_cache_and_no_failure(tmp_path, damage):
    cache = Cache(tmp_path)
    cache.put(cache.key("a"), 1)
    cache.close()
    file = tmp_path / "results.sqlite"
    file.write_bytes(damage if damage is not None else file.read_bytes()[:5000])
    cache = Cache(tmp_path)
    assert cache.get(cache.key("a"), int) in (None, 1)
    cache.put(cache.key("b"), 2)
    cache.close()


def test_where_none_can_be_made_there_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.put(cache.key("a"), 1)
    assert cache.get(cache.key("a"), int) is None
    cache.close()


def test_two_processes_at_a_time_do_not_wait_for_each_other(tmp_path):
    first, second = Cache(tmp_path), Cache(tmp_path)
    first.put(first.key("a"), 1)
    second.put(second.key("b"), 2)
    first.close()
    second.close()
    third = Cache(tmp_path)
    assert (third.get(third.key("a"), int), third.get(third.key("b"), int)) == (1, 2)


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


def test_bytecode_that_python_writes_meanwhile_is_no_source(tmp_path):
    for name in ("rules/session/__pycache__/a.cpython-311.pyc", "rules/__pycache__/b.cpython-311.pyc.4711", "__pycache__/c.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    sources = [
        "config.py",
        "engine/convert_file.py",
        "python2/fixers.py",
        "rules/base.py",
        "rules/session/a.py",
        "rules/facts/deeper/b.py",
        "scanner/tree.py",
    ]
    for name in sources:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert sorted(path.relative_to(tmp_path).as_posix() for path, _ in _sources(tmp_path)) == sorted(sources)


def test_what_differs_has_another_fingerprint():
    values = [
        "a", b"a", ("a",), (("a",),), ("a", ""), ("", "a"), ("ab",), {"a": "b"}, {"b": "a"}, {"a"}, 1, "1", True, None, (),
        Config(), Config(ignore=frozenset({"NPU1"})), Config(select=frozenset({"NPU1"})), Config(distributed="tf"),
    ]  # fmt: skip
    assert len({fingerprint(value) for value in values}) == len(values)
    assert fingerprint("a", "b") != fingerprint("ab")


def stored(folder: Path, value: object) -> bytes:
    """The bytes that stand for `value` under the key "a"."""
    cache = Cache(folder)
    cache.put(cache.key("a"), value)
    cache.close()
    with sqlite3.connect(folder / "results.sqlite") as db:
        return db.execute("SELECT value FROM results").fetchone()[0]


def found_when_stored(folder: Path, value: object, key: bytes | None = None) -> object:
    """Value of a run under "a" when `value` stands there, or was put under another key."""
    with sqlite3.connect(folder / "results.sqlite") as db:
        db.execute("UPDATE results SET value = ?", (value,))
        if key is not None:
            db.execute("UPDATE results SET key = ?", (key,))
    cache = Cache(folder)
    found = cache.get(cache.key("a"), FileResult)
    cache.close()
    return found


RESULT = samples.result()


@pytest.mark.parametrize("value", ["text", None, 5, 1.5, b"", b"short", pickle.dumps(RESULT), b"\x00" * 40])
def test_what_is_no_entry_is_not_found_and_is_replaced(tmp_path, value, caplog):
    whole = stored(tmp_path, RESULT)
    assert found_when_stored(tmp_path, value) is None
    assert len(caplog.messages) == 1 and "an entry is damaged" in caplog.messages[0]
    assert stored(tmp_path, RESULT) == whole
    assert found_when_stored(tmp_path, whole) == RESULT


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=drawn(60))
@given(st.data())
def test_one_wrong_byte_is_seen(tmp_path, data):
    if not (tmp_path / "results.sqlite").exists():
        stored(tmp_path, RESULT)
        (tmp_path / "whole").write_bytes(stored(tmp_path, RESULT))
    whole = (tmp_path / "whole").read_bytes()
    place, byte = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 255))
    damaged = whole[:place] + bytes([byte]) + whole[place + 1 :]
    assert found_when_stored(tmp_path, damaged) == (RESULT if damaged == whole else None)
    assert found_when_stored(tmp_path, whole[:place]) is None


def test_an_entry_of_another_type_or_key_is_none(tmp_path):
    whole = stored(tmp_path, {"a": 1})
    assert found_when_stored(tmp_path, whole) is None
    cache = Cache(tmp_path)
    assert cache.get(cache.key("a"), bytes) is None
    cache.close()
    whole = stored(tmp_path, RESULT)
    cache = Cache(tmp_path)
    elsewhere = cache.key("b")
    cache.close()
    assert found_when_stored(tmp_path, whole, elsewhere) is None
    cache = Cache(tmp_path)
    assert cache.get(elsewhere, FileResult) is None
    cache.close()


@pytest.mark.parametrize("damage", ["table", "run", "pages", "huge run"])
def test_a_database_that_is_not_ours_or_damaged_inside_is_made_anew(tmp_path, damage, caplog):
    stored(tmp_path, RESULT)
    file = tmp_path / "results.sqlite"
    if damage == "pages":
        data = file.read_bytes()
        file.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    else:
        change = {"table": "ALTER TABLE results ADD COLUMN other", "run": "UPDATE results SET run = 'x'"}
        with sqlite3.connect(file) as db:
            db.execute(change.get(damage, f"UPDATE results SET run = {2**63 - 1}"))
    for _ in range(3):
        cache = Cache(tmp_path)
        cache.get(cache.key("a"), FileResult)
        cache.put(cache.key("a"), RESULT)
        cache.close()
    assert caplog.messages
    cache = Cache(tmp_path)
    assert cache.get(cache.key("a"), FileResult) == RESULT
    cache.close()


def test_another_process_that_keeps_the_file_costs_a_wait_and_not_one_for_each_entry(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("tf2npu.project.cache._LOCK_SECONDS", 0.05)
    stored(tmp_path, RESULT)
    cache = Cache(tmp_path)
    other = sqlite3.connect(tmp_path / "results.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    for _ in range(100):
        assert cache.get(cache.key("a"), FileResult) is None
    cache.put(cache.key("b"), 1)
    cache.close()
    assert len(caplog.messages) == 1 and "locked" in caplog.messages[0]
    other.execute("ROLLBACK")
    again = Cache(tmp_path)
    assert again.get(again.key("a"), FileResult) == RESULT
    again.close()


def test_a_full_disk_is_a_line_and_what_was_stored_stays(tmp_path, caplog):
    stored(tmp_path, RESULT)
    cache = Cache(tmp_path)
    cache._db.execute("PRAGMA max_page_count = 8")
    cache.put(cache.key("b"), b"x" * 100_000)
    cache.close()
    assert len(caplog.messages) == 1 and "full" in caplog.messages[0]
    again = Cache(tmp_path)
    assert again.get(again.key("a"), FileResult) == RESULT
    again.close()


def test_nothing_of_the_converter_is_pickled():
    package = Path(codec.__file__).parents[1]
    own = [path for path in package.rglob("*.py") if not {"npu_bridge", "hccl", "rules"} & set(path.relative_to(package).parts)]
    assert [path.name for path in own if "import pickle" in path.read_text(encoding="utf-8")] == []


class TestOnlyOfThisUser:
    @pytest.fixture(params=["folder", "file"])
    def part(self, request, tmp_path) -> Path:
        stored(tmp_path / "cache", RESULT)
        return {"folder": tmp_path / "cache", "file": tmp_path / "cache" / "results.sqlite"}[request.param]

    def is_refused(self, folder: Path, caplog, *said: str) -> None:
        before = {path: path.lstat().st_mtime_ns for path in folder.parent.rglob("*")}
        cache = Cache(folder)
        assert cache.get(cache.key("a"), FileResult) is None
        cache.put(cache.key("b"), 1)
        cache.close()
        (line,) = caplog.messages
        assert all(part in line for part in ("the cache is not used", "XDG_CACHE_HOME", *said)), line
        assert {path: path.lstat().st_mtime_ns for path in folder.parent.rglob("*")} == before

    @pytest.mark.parametrize("mode", [0o722, 0o702, 0o720])
    def test_what_others_may_write_is_not_used(self, tmp_path, part, mode, caplog):
        part.chmod(mode)
        self.is_refused(tmp_path / "cache", caplog, str(part), "chmod go-w")

    def test_what_belongs_to_somebody_else_is_not_used(self, tmp_path, part, caplog, monkeypatch):
        real = Path.lstat

        def of_another(path):
            info = real(path)
            return os.stat_result([*info[:4], os.geteuid() + 1, *info[5:]]) if path == part else info

        with monkeypatch.context() as patched:
            patched.setattr(Path, "lstat", of_another)
            cache = Cache(tmp_path / "cache")
        assert cache.get(cache.key("a"), FileResult) is None
        cache.close()
        assert len(caplog.messages) == 1 and f"belongs to user {os.geteuid() + 1}" in caplog.messages[0]

    def test_links_are_not_followed(self, tmp_path, part, caplog):
        part.rename(tmp_path / "elsewhere")
        part.symlink_to(tmp_path / "elsewhere")
        self.is_refused(tmp_path / "cache", caplog, str(part), "symbolic link")

    def test_a_pipe_is_no_file(self, tmp_path, caplog):
        (tmp_path / "cache").mkdir(mode=0o700)
        os.mkfifo(tmp_path / "cache" / "results.sqlite")
        self.is_refused(tmp_path / "cache", caplog, "is not a regular file")

    @pytest.mark.parametrize("umask", [0o000, 0o002, 0o777])
    def test_it_is_made_private_whatever_the_umask(self, tmp_path, umask):
        folder = tmp_path / "home" / ".cache" / "tf2npu"
        old = os.umask(umask)
        try:
            stored(folder, RESULT)
        finally:
            os.umask(old)
        modes = [path.stat().st_mode & 0o777 for path in (folder.parent.parent, folder.parent, folder, folder / "results.sqlite")]
        assert modes == [0o700, 0o700, 0o700, 0o600]


@pytest.mark.parametrize("home", ["relative", "/proc/nowhere", ""])
def test_a_home_that_is_none_is_a_line_and_no_cache(home, monkeypatch, caplog, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tf2npu.project.cache.make_private", lambda path: (_ for _ in ()).throw(OSError(13, "Permission denied")))
    cache = Cache()
    cache.put(cache.key("a"), 1)
    assert cache.get(cache.key("a"), int) is None
    cache.close()
    assert len(caplog.messages) == 1 and "the cache is not used" in caplog.messages[0]
    assert list(tmp_path.iterdir()) == []


def test_a_user_without_a_home_has_no_cache(monkeypatch, caplog):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("tf2npu.project.cache.home_folder", Path)
    Cache().close()
    assert len(caplog.messages) == 1
    assert "the cache is not used" in caplog.messages[0] and "set HOME or XDG_CACHE_HOME" in caplog.messages[0]


@pytest.mark.parametrize("value", [2**70, [2**64], 1j, object()])
def test_a_value_without_a_form_is_not_stored(tmp_path, value):
    cache = Cache(tmp_path)
    cache.put(cache.key("a"), value)
    cache.close()
    again = Cache(tmp_path)
    assert again.get(again.key("a"), int) is None
    again.close()


class TestCodec:
    edits = st.builds(Edit, st.integers(0, 99), st.integers(0, 99), samples.texts, samples.texts)
    uses = st.builds(ApiUse, samples.texts, st.sampled_from(Verdict), samples.counts, samples.counts, samples.texts)
    results = st.builds(
        FileResult, samples.texts, st.sampled_from(Status), st.lists(samples.findings, max_size=3), st.lists(edits, max_size=3),
        st.binary(max_size=9), st.binary(max_size=9), st.lists(uses, max_size=3),
    )  # fmt: skip

    @given(results)
    def test_a_result_comes_back_whatever_its_texts(self, result):
        assert codec.decode(codec.encode(result), FileResult) == result

    @given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda data: codec.encode(RESULT)[:40] + data))
    def test_any_bytes_are_a_value_or_no_data(self, data):
        try:
            assert isinstance(codec.decode(data, FileResult), FileResult)
        except codec.NotData:
            return

    def test_deep_nesting_is_no_data(self):
        for start in (b"\x00", b"\x01"):
            with pytest.raises(codec.NotData):
                codec.decode(start + b"\x91" * 100_000, FileResult)

    def test_facts_come_back_whatever_constants_a_file_has(self):
        constants = [b"x", 1j, ..., 2**70, -(2**70), 2**63, 1e400, -0.0, "\ud800", True, None, 1, 1.0]
        arguments = ", ".join(f"a{n}={value!r}".replace("Ellipsis", "...") for n, value in enumerate(constants))
        arguments = arguments.replace("inf", "1e400")
        text = f"import tensorflow as tf\ndef f({arguments}):\n    return f({arguments})\n"
        facts = gather_facts(os.fsdecode(b"caf\xe9.py"), text.encode("ascii"))
        assert facts.functions and facts.calls
        assert codec.decode(codec.encode(facts), FileFacts) == facts
        assert Span(1, 1, 1, 1) in codec.decode(codec.encode([Span(1, 1, 1, 1)]), list[Span])
