"""Users, modes, masks and file systems that are not those of everybody's laptop."""

import os
import pwd
import stat
import subprocess
import sys
from types import SimpleNamespace

import pytest

NOBODY = 65534


@pytest.fixture
def of_somebody(project, tmp_path, monkeypatch, needs_root):
    """The project belongs to another user, who has a home; this is root."""
    home = tmp_path / "home-of-nobody"
    home.mkdir()
    for folder, folders, files in os.walk(project):
        for name in (".", *folders, *files):
            os.lchown(os.path.join(folder, name), NOBODY, NOBODY)
    for path in (home, *tmp_path.parents, tmp_path):
        if path.stat().st_uid == 0 and "pytest" in str(path):
            path.chmod(0o755)
    os.chown(home, NOBODY, NOBODY)
    real = pwd.getpwuid

    def entry(user):
        return SimpleNamespace(pw_dir=str(home), pw_name="nobody", pw_gid=NOBODY) if user == NOBODY else real(user)

    monkeypatch.setattr(pwd, "getpwuid", entry)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return home


class TestRootInAnotherUsersTree:
    def test_the_owner_can_undo(self, tool, project, session_source, of_somebody, monkeypatch, tmp_path):
        tool("undo", project)  # what it imports is imported while root may read it
        assert tool("convert", project, "--in-place", "--report", tmp_path / "rep").code == 0
        assert "npu_config_proto" in (project / "train.py").read_text()
        assert {path.lstat().st_uid for path in project.rglob("*")} == {NOBODY}
        assert {path.lstat().st_uid for path in of_somebody.rglob("*")} == {NOBODY}
        monkeypatch.setenv("HOME", str(of_somebody))
        monkeypatch.delenv("XDG_STATE_HOME")
        os.seteuid(NOBODY)
        try:
            done = tool("undo", project)
        finally:
            os.seteuid(0)
        assert (done.code, done.out) == (0, "1 file restored, 0 kept as they are\n")
        assert (project / "train.py").read_text() == session_source

    @pytest.mark.parametrize("place", [".local", ".local/state", ".local/state/tf2npu"])
    def test_links_in_that_users_home_lead_root_nowhere(self, tool, project, session_source, of_somebody, tmp_path, place):
        (tmp_path / "victim").mkdir()
        (of_somebody / place).parent.mkdir(parents=True, exist_ok=True)
        (of_somebody / place).symlink_to(tmp_path / "victim")
        done = tool("convert", project, "--in-place", "--report", tmp_path / "rep")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "is or lies behind a symbolic link" in done.err
        assert list((tmp_path / "victim").iterdir()) == []
        assert (project / "train.py").read_text() == session_source


@pytest.fixture
def other_tools(project, tmp_path):
    """The command in a process of its own, started by a shell."""

    def run(script: str, **variables: str) -> subprocess.CompletedProcess:
        environment = {**os.environ, "TOOL": f"{sys.executable} -m tf2npu", "PYTHONDONTWRITEBYTECODE": "1", **variables}
        return subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.whole(but=("077",))
@pytest.mark.parametrize("umask", ["000", "077", "022"])
def test_modes_are_those_of_the_source_whatever_the_umask(project, tmp_path, other_tools, umask):
    state = tmp_path / "state"
    done = other_tools(
        f"umask {umask}; $TOOL convert src out && $TOOL convert src --in-place --report rep", XDG_STATE_HOME=str(state)
    )
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "out" / "run.sh").stat().st_mode) == 0o750
    assert stat.S_IMODE((tmp_path / "out" / "train.py").stat().st_mode) == stat.S_IMODE((project / "data.bin").stat().st_mode)
    assert all(path.stat().st_mode & 0o077 == 0 for path in state.rglob("*") if path.is_dir())
    assert all(path.stat().st_mode & 0o022 == 0 for path in state.rglob("*"))


def converts(tool, project, tmp_path):
    """Whether a scan finds something to convert."""
    return " converted," in tool("scan", project, "--report", tmp_path / "rep").out


class TestWhatLiesAbove:
    """As in /tmp, where everybody can put it."""

    def test_settings_of_somebody_else_do_not_count(self, tool, project, tmp_path, needs_root, caplog):
        settings = tmp_path / "pyproject.toml"
        settings.write_text("[tool.tf2npu]\nexclude = ['*']\n")
        assert not converts(tool, project, tmp_path)
        os.chown(settings, NOBODY, NOBODY)
        assert converts(tool, project, tmp_path)
        assert f"{str(settings)!r}: passed over" in caplog.text
        caplog.clear()
        os.chown(project, NOBODY, NOBODY)  # their settings, their tree
        assert not converts(tool, project, tmp_path)
        assert "passed over" not in caplog.text

    def test_nor_do_their_patterns(self, tool, project, tmp_path, needs_root, caplog):
        (tmp_path / ".git" / "info").mkdir(parents=True)
        (tmp_path / ".git" / "info" / "exclude").write_text("*.py\n")
        assert not converts(tool, project, tmp_path)
        os.chown(tmp_path / ".git", NOBODY, NOBODY)
        assert converts(tool, project, tmp_path)
        assert ".git': passed over" in caplog.text


class TestNoHome:
    @pytest.mark.whole(but=("/dev/null",))
    @pytest.mark.parametrize("home", ["/proc/no-home", "/dev/null", ""])
    def test_a_conversion_works_and_says_what_is_not_remembered(self, project, tmp_path, other_tools, home):
        script = "unset XDG_STATE_HOME XDG_CACHE_HOME; $TOOL convert src out --report rep"
        done = other_tools(script, HOME=home)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert not [place for place in ("/.cache", "/.local") if os.path.lexists(place)]  # which an empty HOME seems to name
        if home:  # without HOME the password file names one
            assert "the next conversion into out will ask for --force" in done.stderr
            again = other_tools(script, HOME=home)
            assert (again.returncode, "--force" in again.stderr) == (2, True)
            assert other_tools(f"{script} --force", HOME=home).returncode == 0

    def test_in_place_is_refused_as_it_could_not_be_undone(self, project, other_tools, session_source):
        done = other_tools("unset XDG_STATE_HOME; $TOOL convert src --in-place --no-cache", HOME="/proc/no-home")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "no state can be kept" in done.stderr and "set XDG_STATE_HOME" in done.stderr
        assert (project / "train.py").read_text() == session_source

    def test_state_that_others_can_write_is_not_used(self, project, tmp_path, other_tools, session_source):
        (tmp_path / "state" / "tf2npu").mkdir(parents=True)
        (tmp_path / "state" / "tf2npu").chmod(0o777)
        done = other_tools("$TOOL convert src --in-place", XDG_STATE_HOME=str(tmp_path / "state"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "can be written by others" in done.stderr
        assert (project / "train.py").read_text() == session_source


class TestFileSystems:
    """In a mount namespace of their own."""

    @pytest.mark.whole(but=("out/pkg", "state"))
    @pytest.mark.parametrize("place", ["out/pkg", "src/pkg", "state"])
    def test_another_file_system_in_the_middle(self, project, tmp_path, other_tools, needs_root, place):
        script = (
            f"mkdir -p {place} keep; cp -a src/pkg/. keep/; mount -t tmpfs tmpfs {place}; "
            f"[ {place} != src/pkg ] || cp -a keep/. {place}/; "
            "$TOOL convert src out --force && $TOOL convert src out && "
            "$TOOL convert src --in-place --report rep && $TOOL undo src"
        )
        done = other_tools(f"unshare -m sh -ec '{script}'", XDG_STATE_HOME=str(tmp_path / "state"))
        assert done.returncode == 0, done.stdout + done.stderr

    def test_a_read_only_one(self, project, tmp_path, other_tools, needs_root, session_source):
        script = (
            "mount --bind src src; mount -o remount,ro,bind src; $TOOL convert src --in-place --report rep; $TOOL convert src out"
        )
        done = other_tools(f"unshare -m sh -c '{script}'")
        assert done.returncode == 0, done.stderr
        assert "cannot be written: Read-only file system" in done.stdout
        assert (project / "train.py").read_text() == session_source

    def test_one_that_does_not_tell_upper_from_lower_case(self, project, tmp_path, other_tools, needs_root):
        """Two names of the source are one there: neither is lost in silence."""
        (project / "Train.py").write_text("x = 1\n")
        script = (
            "truncate -s 8M image; mkfs.vfat image >/dev/null 2>&1 || exit 77; "
            "mkdir fat; mount -o loop image fat 2>/dev/null || exit 77; "
            "$TOOL convert src fat/out --format text"
        )
        done = other_tools(f"unshare -m sh -c '{script}'")
        if done.returncode != 77:  # else this machine has no such file system
            assert done.returncode in (1, 3), done.stdout + done.stderr
            assert "rain.py" in done.stdout
