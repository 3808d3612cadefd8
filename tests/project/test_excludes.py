"""Sources that .gitignore files leave out: git itself says it for the same trees."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_formats.files.directory import Directory
from tests.how_many import drawn
from tf2npu.project.excludes import BadPattern
from tf2npu.project.walk import Kind, walk

FOLDERS = ("", "a", "a/b", "a/b/c", "build", "a/build", "doc s")
FILES = ("m.py", "test_m.py", "x.pyw", "#odd.py", "!bang.py", "[x].py")


def grow(root: Path, ignores: dict[str, list[str]]) -> None:
    for folder in FOLDERS:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in FILES:
            (root / folder / name).write_text("x = 1\n")
    for folder, lines in ignores.items():
        (root / folder / ".gitignore").write_text("\n".join(lines) + "\n")


def ignored_by_git(repository: Path, root: Path) -> set[str]:
    names = sorted(str(p.relative_to(repository)) for p in root.rglob("*") if p.suffix in (".py", ".pyw"))
    asked = "\0".join(names).encode()
    command = ["git", "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(command, cwd=repository, input=asked, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    prefix = "" if root == repository else f"{root.relative_to(repository)}/"
    return {name.removeprefix(prefix) for name in done.stdout.decode().split("\0") if name}


def ignored_by_us(root: Path, *patterns: str, gitignore: bool = True) -> set[str]:
    entries = walk(Directory.followed(root), patterns, gitignore).entries
    left_out = {entry.path for entry in entries if entry.kind is Kind.DATA and entry.path.endswith((".py", ".pyw"))}
    assert all(entry.note for entry in entries if entry.path in left_out)
    return left_out


def repository(folder: Path) -> Path:
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".git" / "info" / "exclude").write_text("")
    return folder


LINES = st.sampled_from(
    [
        "*.py", "!m.py", "build/", "/build", "a/", "a/*", "!a/b/", "**/c", "a/**/m.py", "test_*", "!test_m.py",
        "\\#odd.py", "# note", "\\!bang.py", "[[]x].py", "b/m.py", "/m.py", "*", "!*/", "doc s", "doc\\ s/", "m.py   ",
        "", "?.py", "x.py[w]", "a/b/c/", "**", "/**/test_m.py", "!/a", "build", "!build/m.py", "\\", "a//b", "[a-", "*/",
    ]
)  # fmt: skip


@settings(max_examples=drawn(80), deadline=None)
@given(st.dictionaries(st.sampled_from(["", "a", "a/b", "build"]), st.lists(LINES, min_size=1, max_size=4), min_size=1))
def test_git_agrees(tmp_path_factory, ignores):
    root = repository(tmp_path_factory.mktemp("r"))
    grow(root, ignores)
    assert ignored_by_us(root) == ignored_by_git(root, root)


def test_a_repository_above_the_source_counts(tmp_path):
    outer = repository(tmp_path)
    root = outer / "src"
    grow(root, {"": ["!a/b/m.py"]})
    (outer / ".gitignore").write_text("/src/a/b/*.py\nbuild/\n")
    (outer / ".git" / "info" / "exclude").write_text("test_m.py\n")
    assert ignored_by_us(root) == ignored_by_git(outer, root)
    assert "a/b/m.py" not in ignored_by_us(root)
    assert {"build/m.py", "test_m.py", "a/b/x.pyw"} - ignored_by_us(root) == {"a/b/x.pyw"}


def test_a_source_that_is_ignored_as_a_whole_was_still_asked_for(tmp_path):
    outer = repository(tmp_path)
    grow(outer / "vendor" / "lib", {})
    (outer / ".gitignore").write_text("vendor/\n")
    assert ignored_by_us(outer / "vendor" / "lib") == set()


def test_without_a_repository_those_above_do_not_count(tmp_path):
    (tmp_path / ".gitignore").write_text("*.py\n")
    grow(tmp_path / "src", {"a": ["/m.py"]})
    assert ignored_by_us(tmp_path / "src") == {"a/m.py"}
    assert ignored_by_us(tmp_path / "src", gitignore=False) == set()


def test_patterns_of_the_user_win_over_gitignore(tmp_path):
    grow(tmp_path, {"": ["!m.py"]})
    assert ignored_by_us(tmp_path, "m.py", "/a/b/") == {f"{f}/m.py".lstrip("/") for f in FOLDERS} | {
        f"a/b/{inner}{name}" for inner in ("", "c/") for name in FILES
    }


def test_a_pattern_that_means_nothing(tmp_path):
    with pytest.raises(BadPattern, match="--exclude"):
        walk(Directory.followed(tmp_path), ("!",))


def test_a_gitignore_that_cannot_be_read_is_passed_over(tmp_path):
    grow(tmp_path, {})
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / "a" / ".gitignore").symlink_to("nowhere")
    assert ignored_by_us(tmp_path) == set()


LONG = "a" * 200 + ".py"


@pytest.mark.parametrize(
    ("line", "left_out"),
    [
        ("*a" * 40 + "*b", ""),
        ("*a" * 40 + "*", "top deep"),
        ("a" + "**" * 30 + "b", ""),
        ("**/a/" * 40 + "b", ""),
        ("**/a/" * 40 + "*.py", "deep"),
        ("**/a/*a*a*" + "/**/a" * 40, ""),
        ("*[!b]*" * 20, "top deep"),
    ],
)
def test_stars_are_not_tried_again_and_again(tmp_path, line, left_out):
    """With pathspec's own expressions, and with some of these for git itself, that takes longer than anybody waits."""
    deep = "a/" * 60
    (tmp_path / deep).mkdir(parents=True)
    for folder in ("", deep):
        (tmp_path / folder / LONG).write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text(line + "\n")
    places = {"top": LONG, "deep": deep + LONG}
    assert ignored_by_us(tmp_path) == {places[name] for name in left_out.split()}


@pytest.mark.parametrize("line", ["*a*b*", "a*[!b]*c", "**/x*y*/**/*.p?", "?*a*", "*.py*a", "a/**/b/**/c*d*e", "[!a]*[!b]*"])
def test_several_stars_fit_what_they_fit_for_git(tmp_path, line):
    root = repository(tmp_path)
    folders = ("", "a", "ab", "x1y2", "x1y2/q/r", "a/b", "a/z/b/z", "b")
    for folder in folders:
        (root / folder).mkdir(parents=True, exist_ok=True)
        for name in ("ab.py", "axc.py", "b.py", "m.pyx.py", "cdxe.py", "ab", "q.pyaa.pyw"):
            (root / folder / name).with_suffix("").with_suffix(".py").write_text("x = 1\n")
            (root / folder / f"{name}.py").write_text("x = 1\n")
    (root / ".gitignore").write_text(line + "\n")
    assert ignored_by_us(root) == ignored_by_git(root, root)
