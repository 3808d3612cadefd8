"""The launcher's side of several ranks: their lines, ends and shared folder, with ranks that import no TensorFlow."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from npu_formats.files.directory import Directory
from npu_formats.ranks import shared_folder
from npu_formats.ranks.shared_folder import PREFIX
from tf2npu.ranks import lines, rank_output
from tf2npu.ranks.lines import Lines

DRIVER = """
import sys, tempfile
from npu_formats.ranks import shared_folder
from tf2npu.ranks import job, process
shared_folder.IN_MEMORY = tempfile.tempdir = sys.argv[3]
program = "import runpy; runpy.run_path(sys.argv[2], run_name='__main__')"
process.AS_COMMAND = process.AS_COMMAND.split("from tf2npu.cli")[0] + program
job.GRACE_SECONDS = 1.0
sys.exit(job.run_ranks([sys.argv[1]], int(sys.argv[2]), None))
"""
"""As `tf2npu run --devices N`, but a rank begins at once, and those that are late are stopped sooner."""


PATIENCE = 240.0
"""Seconds after which something hangs: on a quiet machine all of it takes three, and a busy one makes a minute of that."""
LONG = 3600
"""Seconds of what must not be waited for."""
NONE: Mapping[str, str] = {}


class Launcher:
    """Starts ranks that run a script, in a temporary folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "place"
        self.place.mkdir()

    def start(
        self,
        script: str,
        n_ranks: int = 2,
        before: Callable[[], object] | None = None,
        variables: Mapping[str, str] = NONE,
        **more,
    ) -> subprocess.Popen:
        (self.folder / "script.py").write_text(
            "import os, signal, subprocess, sys, time\nrank = os.environ['RANK_ID']\n" + script
        )
        environment = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
        command = [sys.executable, "-c", DRIVER, "script.py", str(n_ranks), str(self.place)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder, **more}

        def prepare() -> None:
            for number in (signal.SIGINT, signal.SIGHUP):  # a test in the background of a shell, or under nohup, has them ignored
                signal.signal(number, signal.SIG_DFL)
            if before is not None:
                before()

        return subprocess.Popen(command, env={**environment, **variables}, start_new_session=True, preexec_fn=prepare, **pipes)

    def run(self, script: str, n_ranks: int = 2, seconds: float = PATIENCE, **more) -> tuple[int, bytes, bytes]:
        started = self.start(script, n_ranks, **more)
        try:
            out, err = started.communicate(timeout=seconds)
        finally:
            if started.poll() is None:
                os.killpg(started.pid, signal.SIGKILL)
        return started.returncode, out, err


@pytest.fixture
def launcher(tmp_path) -> Launcher:
    return Launcher(tmp_path)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class TestLines:
    def test_pieces_become_lines(self):
        held = Lines(1)
        assert held.feed(b"a") == [] and held.feed(b"b\nc\n\nd") == [b"[rank 1] ab\n", b"[rank 1] c\n", b"[rank 1] \n"]
        assert held.end() == [b"[rank 1] d\n"] and held.end() == []

    def test_bytes_that_are_no_text(self):
        assert Lines(2).feed(b"\xff\xfe z\n") == ["[rank 2] \ufffd\ufffd z\n".encode()]
        assert Lines(None).feed(b"\xff\xfe \r z\r\n") == [b"\xff\xfe \r z\r\n"], "rank 0's stay as they are"
        assert Lines(1, "ascii").feed("ö\n".encode()) == [b"[rank 1] ?\n"]

    def test_a_character_that_comes_in_two_pieces(self):
        held = Lines(1)
        held.feed("ö".encode()[:1])
        assert held.feed("ö".encode()[1:] + b"\n") == ["[rank 1] ö\n".encode()]

    def test_a_progress_bar_finds_its_prefix_again(self):
        assert Lines(1).feed(b"\r10%\r20%\r\n") == [b"[rank 1] \r[rank 1] 10%\r[rank 1] 20%\n"]

    @pytest.mark.parametrize("piece", [b"x", "ö".encode(), "€".encode(), "\U0001f600".encode()])
    def test_what_never_ends_is_not_held(self, monkeypatch, piece):
        monkeypatch.setattr(lines, "LONGEST_LINE_BYTES", 1000)
        held = Lines(3)
        said = b"".join(line for _ in range(100) for line in held.feed(piece * 64)) + b"".join(held.end())
        parts = said.decode().splitlines()
        assert max(len(part.encode()) for part in parts) <= 1000 + len("[rank 3] ") and len(parts) > 5
        assert "".join(part.removeprefix("[rank 3] ") for part in parts).encode() == piece * 6400


class TestOutput:
    def test_lines_of_all_ranks_are_whole(self, launcher):
        script = """
for i in range(300):
    print('x' * 200, rank, i)
    print('y' * 9000, rank, i)
print('without an end', rank, end='')
"""
        code, out, _ = launcher.run(script, 3)
        wanted = r"(\[rank [12]\] )?(x{200}|y{9000}) [012] \d+|(\[rank [12]\] )?without an end [012]"
        assert code == 0 and [line[:80] for line in out.decode().split("\n")[:-1] if not re.fullmatch(wanted, line)] == []
        assert out.endswith(b"\n") and out.count(b"\n") == 3 * 601

    def test_rank_0_has_the_terminal(self, launcher):
        mine, theirs = os.openpty()
        try:
            code, _, err = launcher.run("print(rank, sys.stdout.isatty(), sys.stderr.isatty())", stdout=theirs)
            os.set_blocking(mine, False)  # where nothing was said, the test fails instead of waiting
            said = os.read(mine, 1000).decode().splitlines()
        finally:
            os.close(mine)
            os.close(theirs)
        assert code == 0 and sorted(said) == ["0 True False", "[rank 1] 1 False False"] and b"False" not in err

    def test_a_reader_that_goes_away_is_told_to_the_ranks(self, launcher):
        """As `| head -1` ends a script without a launcher, instead of a rank that waits for ever in a full pipe."""
        started = launcher.start("while True: print(rank, 'y' * 1000)", stderr=subprocess.DEVNULL)
        started.stdout.readline()
        started.stdout.close()
        assert started.wait(PATIENCE) != 0

    def test_a_reader_that_is_slow_gets_everything(self, launcher):
        """Output that a rank which has ended left in its pipe is not dropped because somebody reads slowly."""
        started = launcher.start("print('z' * 150_000, rank)")
        time.sleep(2.5)
        out, _ = started.communicate(timeout=PATIENCE)
        assert sorted(line[-3:] for line in out.decode().splitlines()) == ["z 0", "z 1"] and len(out) > 300_000

    def test_a_closed_stdout(self, launcher):
        code, _, err = launcher.run("print('nowhere')\nprint('to stderr', file=sys.stderr)", before=lambda: os.close(1))
        assert code == 0 and b"[rank 1] to stderr\n" in err


KEPT_OPEN = f"""
if rank == '1':
    print('last words', flush=True)
    child = subprocess.Popen([sys.executable, '-c', '''
import time
print("a child", flush=True)
time.sleep({LONG})
'''])
    print('child', child.pid, flush=True)
    time.sleep(0.5)
    print('half a line', end='', flush=True)
    os.kill(os.getpid(), 9)
time.sleep({LONG})
"""


class TestEnds:
    def test_a_child_that_keeps_a_pipe_open_hides_no_end(self, launcher):
        code, out, err = launcher.run(KEPT_OPEN)
        os.kill(int(out.decode().partition("child ")[2].split()[0]), signal.SIGKILL)
        assert code == 137
        assert b"[rank 1] last words\n" in out and b"[rank 1] half a line\n" in out and b"[rank 1] a child\n" in out
        assert b"rank 1 has ended with exit code 137\n" in err and b"stopping rank 0" in err

    def test_a_child_that_writes_without_end_is_not_waited_for(self, launcher):
        noise = "subprocess.Popen([sys.executable, '-c', 'while True: print(7)'], stderr=subprocess.DEVNULL)\ntime.sleep(0.5)"
        assert launcher.run(f"if rank == '1':\n    {noise.replace(chr(10), chr(10) + '    ')}")[0] == 0

    def test_a_rank_that_does_not_want_to_end_is_killed(self, launcher):
        stubborn = f"""
if rank == '1':
    while not os.path.exists('stubborn'):
        time.sleep(0.05)
    sys.exit(5)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open('stubborn', 'w').close()
time.sleep({LONG})
"""
        code, _, err = launcher.run(stubborn)
        assert code == 5 and b"stopping rank 0" in err and b"killing rank 0" in err

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
    def test_who_asks_the_launcher_to_end_ends_the_ranks(self, launcher, number):
        started = launcher.start(f"print('pid', os.getpid(), flush=True)\ntime.sleep({LONG})")
        ranks = [int(started.stdout.readline().split()[-1]) for _ in range(2)]
        started.send_signal(number)
        started.communicate(timeout=PATIENCE)
        assert started.returncode == 143 and not any(map(is_alive, ranks)) and not list(launcher.place.iterdir())

    def test_ranks_end_with_a_launcher_that_is_killed(self, launcher):
        """Its folder goes with the next run, once it is old enough."""
        started = launcher.start(f"print('pid', os.getpid(), flush=True)\ntime.sleep({LONG})")
        ranks = [int(started.stdout.readline().split()[-1]) for _ in range(2)]
        started.kill()
        wait_until(lambda: not any(map(is_alive, ranks)))
        (left,) = launcher.place.iterdir()
        os.utime(left, (0, 0))
        assert launcher.run("pass")[0] == 0 and not list(launcher.place.iterdir())

    def test_a_place_where_nothing_can_be_made(self, launcher):
        launcher.place.rmdir()
        code, _, err = launcher.run("pass")
        assert code == 2 and re.fullmatch(rb"tf2npu run: the ranks cannot be started: .*\n", err)

    def test_a_rank_table_of_the_users_is_only_named(self, launcher, tmp_path):
        """The content of the table is for scripts to read: a pipe there would hang us."""
        os.mkfifo(tmp_path / "table")
        table = str(tmp_path / "table")
        code, out, _ = launcher.run("print(os.environ['RANK_TABLE_FILE'])", variables={"RANK_TABLE_FILE": table})
        assert code == 0 and sorted(out.decode().splitlines()) == [table, f"[rank 1] {table}"]


def sweep(place: Path) -> None:
    with Directory.followed(place) as folder:
        shared_folder._sweep(folder)


class TestSharedFolder:
    """Other users leave what they want in such a place, under such names."""

    def test_what_others_leave_hangs_nothing_and_stays(self, tmp_path):
        victim = tmp_path / "victim"
        victim.mkdir()
        (victim / "file").write_text("precious")
        place = tmp_path / "place"
        place.mkdir()
        os.mkfifo(place / f"{PREFIX}00000000000000a1", 0o700)
        (place / f"{PREFIX}00000000000000a2").symlink_to(victim)
        (place / f"{PREFIX}00000000000000a3").write_text("file")
        (place / f"{PREFIX}00000000000000a4").mkdir(0o755)
        (place / f"{PREFIX}killed").mkdir(0o700)  # not a name that we make
        (place / f"{PREFIX}00000000000000a5").symlink_to("nowhere")
        for path in (*place.iterdir(), victim):
            os.utime(path, (0, 0), follow_symlinks=False)
        before, begun = sorted(place.iterdir()), time.monotonic()
        with shared_folder.shared_folder(place):
            pass
        assert time.monotonic() - begun < PATIENCE and sorted(place.iterdir()) == before
        assert (victim / "file").read_text() == "precious"

    def test_links_in_a_folder_of_ours_lead_nowhere(self, tmp_path):
        (tmp_path / "victim").mkdir()
        (tmp_path / "victim" / "file").write_text("precious")
        old = tmp_path / "place" / f"{PREFIX}00000000000000a6"
        (old / "inner" / "deeper").mkdir(parents=True)
        old.chmod(0o700)
        (old / "link").symlink_to(tmp_path / "victim")
        (old / "inner" / "deeper" / "link").symlink_to(tmp_path / "victim" / "file")
        os.mkfifo(old / "inner" / "pipe")
        os.utime(old, (0, 0))
        with shared_folder.shared_folder(tmp_path / "place"):
            pass
        assert not list((tmp_path / "place").iterdir()) and (tmp_path / "victim" / "file").read_text() == "precious"

    def test_a_folder_of_another_user_stays(self, tmp_path, monkeypatch):
        foreign = tmp_path / f"{PREFIX}00000000000000a7"
        foreign.mkdir(0o700)
        os.utime(foreign, (0, 0))
        other = os.geteuid() + 1
        with monkeypatch.context() as patched:
            patched.setattr(os, "geteuid", lambda: other)
            sweep(tmp_path)
        assert foreign.exists()
        sweep(tmp_path)
        assert not foreign.exists()

    @pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
    def test_the_folder_is_this_users_alone(self, tmp_path, umask):
        tmp_path.chmod(0o2700)  # folders in it take over the group
        before = os.umask(umask)
        try:
            with shared_folder.shared_folder(tmp_path) as made:
                assert stat.S_IMODE(made.stat().st_mode) == 0o700
        finally:
            os.umask(before)

    def test_a_place_in_memory_that_is_full_of_names(self, tmp_path, monkeypatch):
        def full(folder, path, mode):
            if folder.path == Path(shared_folder.IN_MEMORY):
                raise OSError("no inode is left")
            make(folder, path, mode)

        make = Directory.new_folder
        monkeypatch.setattr(Directory, "new_folder", full)
        monkeypatch.setattr(shared_folder.tempfile, "tempdir", str(tmp_path))
        with shared_folder.shared_folder() as made:
            assert made.parent == tmp_path

    @pytest.mark.parametrize("program", ["ls {0}", "cat {0}/secret", "touch {0}/x", "rmdir {0}"])
    def test_another_user_gets_in_nowhere(self, program):
        """Only root can become another user; for anybody else the folder's mode has to do."""
        with shared_folder.shared_folder() as made:
            (made / "secret").write_text("secret")
            assert stat.S_IMODE(made.stat().st_mode) == 0o700
            if os.geteuid() == 0:
                nobody = {"user": 65534, "group": 65534, "extra_groups": []}
                tried = subprocess.run(
                    program.format(made).split(), capture_output=True, text=True, check=False, cwd="/", **nobody
                )
                assert tried.returncode and ("denied" in tried.stderr or "not permitted" in tried.stderr)


def test_bounds_that_the_documents_name():
    assert lines.LONGEST_LINE_BYTES == 1 << 20 and rank_output.CHILDREN_SECONDS <= 1.0
