"""Bank files: what is stored comes back, and nothing else ever does, whatever stands in the file."""

from __future__ import annotations

import json
import os
import pwd
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_runtime.observers.tuning.bank import document
from npu_runtime.observers.tuning.bank.bank_file import BankFile
from npu_runtime.observers.tuning.bank.document import Damaged, render
from npu_runtime.observers.tuning.bank.machine_bank import Machine, MachineBank, this_machine
from npu_runtime.observers.tuning.bank.operator_bank import OperatorBank, bank_folder, custom_file
from npu_runtime.observers.tuning.bank.operator_entry import OperatorEntry, entry_of, value_of
from tests.how_many import drawn, some
from tests.tuning import tasks
from tests.tuning.test_rules import CHIP, ROOT, Told, tuned

SEED, N_FILES = 20260601, drawn(1000, 10)
NAME = "Ascend910A_operators.json"


def entry(n: int, us: float = 5.0) -> OperatorEntry:
    operator = {
        "op_type": f"Op{n}", "fused": [], "inputs": [[[n, 2], "float16", "ND"]], "outputs": [],
        "work": {"product": None, "read_bytes": 1.0, "written_bytes": 2.0, "instructions": 3.0},
    }  # fmt: skip
    return OperatorEntry(operator, {"tile": n}, us)


def better(new: OperatorEntry, stored: OperatorEntry) -> bool:
    return new.us < stored.us


whole = st.integers(0, document.LARGEST_NUMBER)
words = st.text(min_size=1, max_size=20)
tensors = st.lists(st.tuples(st.lists(whole, max_size=6), words, words).map(list), max_size=4)
entries = st.builds(
    lambda op_type, fused, read, written, record, us: OperatorEntry(
        {"op_type": op_type, "fused": fused, "inputs": read, "outputs": written, "work": entry(1).operator["work"]}, record, us
    ),
    words, st.lists(words, max_size=4), tensors, tensors, st.dictionaries(words, whole, min_size=1, max_size=30),
    st.floats(1e-3, 1e9),
)  # fmt: skip


@given(st.lists(entries, max_size=5))
def test_what_is_stored_comes_back(made):
    text = render("operators", {"soc": "x"}, [value_of(one) for one in made])
    read = document.parse(text.encode(), "operators", {"soc": "x"}, entry_of)
    assert [one for _, one in read] == made and json.loads(text)["version"] == 1


def test_the_same_entries_are_the_same_bytes(tmp_path):
    for folder, order in (("a", (1, 2, 3)), ("b", (3, 1, 2))):
        for n in order:
            OperatorBank("Ascend910A", tmp_path / folder, Told()).put([entry(n)], better)
    assert (tmp_path / "a" / NAME).read_bytes() == (tmp_path / "b" / NAME).read_bytes()


# Damaged and foreign files


def damaged(rng: random.Random, good: bytes) -> bytes:
    """A file that somebody or something has spoilt."""
    return rng.choice(_SPOILERS)(rng, good)


def spoil_bytes(rng: random.Random, good: bytes) -> bytes:
    """As `damaged`, in the ways that any bank file can be spoilt in."""
    return rng.choice([_cut, _flipped, _random, _deep, _foreign, _other_head])(rng, good)


def _cut(rng, good):
    return good[: rng.randrange(len(good))]


def _flipped(rng, good):
    spoilt = bytearray(good)
    for _ in range(rng.randint(1, 4)):
        spoilt[rng.randrange(len(good))] ^= 1 << rng.randrange(8)
    return bytes(spoilt) if bytes(spoilt) != good else good[:-9]


def _random(rng, good):
    return rng.randbytes(rng.randrange(4096))


def _deep(rng, good):
    return rng.choice([b"[", b'{"a":']) * rng.randrange(1000, 200_000)


def _foreign(rng, good):
    return rng.choice(
        [b"null", b"3", b'"text"', b"[]", b"{}", b"NaN", b"-Infinity", b"1e999", b"9" * 10_000, b'{"format": "x"}', b"\xff\xfe"]
    )


def _other_head(rng, good):
    found = json.loads(good)
    field = rng.choice(["format", "version", "kind", "subject", "checksum", "entries", "more"])
    found[field] = rng.choice([None, 0, 1.5, "text", [], {}, [[]], {"soc": "Ascend910B2"}, -1, True, [None], "operators"])
    return json.dumps(found).encode() if found != json.loads(good) else b"{}"


_VALUES = [
    None,
    True,
    -1,
    0,
    1.5,
    2**70,
    "x" * 5000,
    [],
    {},
    [[]],
    {"a": [1]},
    "\ud800",
    1e308,
    float("nan"),
    [-1],
    [[2**60] * 40],
]


def _wrong_types(rng, good):
    """With the right checksum: as another program would write it."""
    found = json.loads(good)
    place, key = rng.choice(list(_places(found["entries"])))
    place[key] = rng.choice(_VALUES)
    return _with_checksum(found["entries"])


def _hostile_record(rng, good):
    """A record of the right form that describes no tiling of its product, or one that no buffer holds."""
    found = json.loads(good)["entries"]
    record = rng.choice(found)["record"]
    for key in rng.sample(sorted(record), rng.randint(1, 6)):
        record[key] = rng.choice([0, 1, 3, 17, 2**31, 2**53, record[key] + 1, record[key] * 16])
    return _with_checksum(found)


def _hostile_work(rng, good):
    """An operator whose sizes are others': no task has its key."""
    found = json.loads(good)["entries"]
    for one in found:
        one["operator"]["work"]["product"]["m"] = rng.choice([0, 1, 2**50, one["operator"]["work"]["product"]["m"] + 1])
        one["operator"]["inputs"] = [[[2**52] * 4, "float16", "ND"]]
    return _with_checksum(found)


def _with_checksum(changed) -> bytes:
    try:
        return render("operators", {"soc": "Ascend910A"}, changed).encode()
    except (ValueError, Damaged):
        return json.dumps({"format": document.FORMAT, "version": 1, "entries": changed}).encode()


def _places(value):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)


_SPOILERS = [_cut, _flipped, _random, _deep, _foreign, _other_head, _wrong_types, _hostile_record, _hostile_work]


@pytest.fixture(scope="module")
def good(tmp_path_factory) -> tuple:
    """An operator, the bank that its tuning fills, and what it is without a bank."""
    folder = tmp_path_factory.mktemp("good")
    task = tasks.improvable(CHIP)
    best = tuned(folder, task, tasks.walk)
    return task, (folder / NAME).read_bytes(), best


def test_damaged_or_foreign_files_end_in_defaults(tmp_path, good):
    task, data, _ = good
    rng, n_told = random.Random(SEED), 0
    for n in range(N_FILES):
        folder = tmp_path / str(n)
        folder.mkdir()
        spoilt = damaged(rng, data)
        (folder / NAME).write_bytes(spoilt)
        told = Told()
        found = tuned(folder, task, tasks.too_late, told)
        is_default = found.after_us == found.default_us and not found.decision.hit
        # a record may be changed in a field and still be one of this product's tilings that is no worse than the default
        is_valid = found.decision.hit and found.after_us <= found.default_us and b"record" in spoilt
        assert is_default or is_valid, (n, spoilt[:300])
        n_told += len(told)
        assert len(told) <= 1 and (told or found.decision.hit or b"operator" in spoilt), (n, told, spoilt[:300])
        aside = [path for path in folder.iterdir() if path.name != NAME]
        assert len(aside) <= 1 and all(path.read_bytes() == spoilt for path in aside)
    assert n_told > 0.8 * N_FILES  # the others are entries of operators that nobody has, and two or three valid tilings


def test_a_file_that_was_set_aside_makes_room_for_a_new_one(tmp_path, good):
    task, data, best = good
    (tmp_path / NAME).write_bytes(data[:-20])
    told = Told()
    assert tuned(tmp_path, task, tasks.walk, told).after_us == best.after_us
    assert "it is set aside as" in told[0] and len(told) == 1
    assert (tmp_path / NAME).read_bytes() == data
    assert [path.read_bytes() for path in tmp_path.glob("*.set-aside-*")] == [data[:-20]]


def test_a_newer_file_is_left_alone(tmp_path, good):
    task, data, _ = good
    newer = data.replace(b'"version":1', b'"version":2')
    (tmp_path / NAME).write_bytes(newer)
    told = Told()
    found = tuned(tmp_path, task, tasks.walk, told)
    assert found.decision.append and "update tf2npu" in told[0]
    assert (tmp_path / NAME).read_bytes() == newer and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", ["link", "pipe", "socket", "folder", "huge"])
def test_what_is_no_regular_file_is_set_aside(tmp_path, good, kind):
    task, data, best = good
    folder, place, elsewhere = tmp_path / "bank", tmp_path / "bank" / NAME, tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.write_bytes(data)
    if kind == "link":
        place.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        os.mknod(place, stat.S_IFSOCK | 0o600)
    elif kind == "folder":
        place.mkdir()
    else:
        with place.open("wb") as stream:
            stream.truncate(document.MOST_BYTES + 1)
    told = Told()
    found = tuned(folder, task, tasks.walk, told)
    assert found.decision.append and found.after_us == best.after_us and len(told) == 1 and "set aside" in told[0]
    assert elsewhere.read_bytes() == data and place.is_file() and not place.is_symlink()


def test_a_folder_that_cannot_be_used_costs_a_warning(tmp_path, good):
    task, _, best = good
    (tmp_path / "file").write_text("")
    told = Told()
    found = tuned(tmp_path / "file" / "bank", task, tasks.walk, told)
    assert found.after_us == best.after_us and len(told) == 1 and "TUNE_BANK_PATH" in told[0]


def test_a_full_bank_keeps_what_it_has(tmp_path, monkeypatch):
    from npu_runtime.observers.tuning.bank import bank_file

    bank = OperatorBank("Ascend910A", tmp_path, told := Told())
    assert bank.put([entry(1)], better)
    before = (tmp_path / NAME).read_bytes()
    monkeypatch.setattr(bank_file, "MOST_ENTRIES", 1)
    assert not bank.put([entry(2)], better) and "it is full" in told[0]
    assert (tmp_path / NAME).read_bytes() == before


def test_the_faster_of_two_that_were_tuned_at_once_stays(tmp_path):
    first, second = (OperatorBank("Ascend910A", tmp_path, Told()) for _ in range(2))
    assert first.get("x") is None and second.get("x") is None
    first.put([entry(1, 4.0)], better)
    second.put([entry(1, 5.0), entry(2)], better)
    stored = custom_file("Ascend910A", tmp_path, Told()).read()
    assert [one.us for one in stored.values()] == [4.0, 5.0]


def test_places_of_the_bank(tmp_path):
    named = {"TUNE_BANK_PATH": "/a", "ASCEND_CACHE_PATH": "/b", "HOME": "/c"}
    assert bank_folder("S", named) == Path("/a")
    del named["TUNE_BANK_PATH"]
    assert bank_folder("S", named) == Path("/b/aoe_data/S")
    del named["ASCEND_CACHE_PATH"]
    assert bank_folder("S", named) == Path("/c/Ascend/latest/data/aoe/custom/op/S")


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}])
def test_the_bank_of_a_user_without_home_in_the_environment_is_where_the_system_has_it(monkeypatch, environment):
    """An empty HOME is none: Python takes it for the root of all files."""
    monkeypatch.delenv("HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    of_the_system = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    assert bank_folder("S", environment) == of_the_system / "Ascend/latest/data/aoe/custom/op/S"


def test_nobody_else_can_write_a_bank_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        bank = OperatorBank("Ascend910A", tmp_path / "home/Ascend/custom", Told())
        bank.put([entry(1)], better)
    finally:
        os.umask(before)
    made = sorted((tmp_path / "home").rglob("*"))
    assert [path.name for path in made] == ["Ascend", "custom", NAME]
    assert [path for path in (tmp_path / "home", *made) if path.stat().st_mode & 0o022] == []


# A kill at any moment

WRITER = """
import sys
from pathlib import Path
from npu_runtime.observers.tuning.bank.operator_bank import OperatorBank
from tests.tuning.test_bank_files import better, entry
bank = OperatorBank("Ascend910A", Path(sys.argv[1]), print)
print("begun", flush=True)
n = 0
while True:
    n += 1
    bank.put([entry(k, float(n)) for k in range(40)], lambda new, stored: True)
"""


def test_a_kill_leaves_the_old_or_the_new_file(tmp_path):
    rng = random.Random(SEED)
    for _ in some(range(12), 2):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert process.stdout.readline() == "begun\n"
        time.sleep(rng.uniform(0.01, 0.12))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        told = Told()
        stored = custom_file("Ascend910A", tmp_path, told).read()
        assert told == [] and len({one.us for one in stored.values()}) <= 1 and len(stored) in (0, 40)
    assert len(stored) == 40


# The bank of this machine's kernels


def test_choices_of_kernels_are_of_one_machine(tmp_path):
    mine, other = this_machine(), Machine("another processor", 4, "1.0")
    bank = MachineBank(tmp_path, told := Told())
    assert bank.get("convolution", "k") is None and not list(tmp_path.iterdir())
    assert bank.put("convolution", "k", "winograd") and bank.put("rows", "k", 64)
    again = MachineBank(tmp_path, told)
    assert again.get("convolution", "k") == "winograd" and again.get("rows", "k") == 64
    assert MachineBank(tmp_path, told, other).get("rows", "k") is None
    assert (
        MachineBank(tmp_path, told, Machine(mine.processor, mine.cores, "another numpy")).get("rows", "k") is None and told == []
    )


def test_a_file_of_another_machine_under_the_name_of_this_one_is_set_aside(tmp_path):
    theirs = MachineBank(tmp_path / "a", told := Told(), Machine("x", 1, "another numpy"))
    theirs.put("rows", "k", 7)
    mine = MachineBank(tmp_path / "b", told)
    mine.put("rows", "k", 8)
    mine.file.path.write_bytes(theirs.file.path.read_bytes())
    assert MachineBank(tmp_path / "b", told).get("rows", "k") is None
    assert len(told) == 1 and "another numpy" in told[0] and "set aside" in told[0]


@pytest.mark.parametrize("choice", [True, 1.5, None, "", "x" * 1000, 2**70, ["a"]])
def test_a_choice_of_another_type_is_not_kept(tmp_path, choice):
    with pytest.raises(Damaged):
        MachineBank(tmp_path, Told()).put("rows", "k", choice)


def test_a_locked_folder_is_waited_for(tmp_path, monkeypatch):
    from npu_formats.files.whole_file import locked
    from npu_runtime.observers.tuning.bank import bank_file

    monkeypatch.setattr(bank_file, "PATIENCE_SECONDS", 0.05)
    file: BankFile = custom_file("Ascend910A", tmp_path, told := Told())
    with locked(tmp_path, 1.0):
        assert not file.update(lambda stored: stored)
    assert "another process" in told[0] and file.update(lambda stored: stored)
