"""Files around the scripts, and the behaviour of the command: run as a process of its own, input closed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import fork_server
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Status

SESSION = "import tensorflow as tf\nwith tf.Session() as s:\n    pass\n"
PORTED = "tf.Session(config=npu_config_proto())"
HOROVOD = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nhvd.init()\nn = hvd.size()\n"


@dataclass
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs `tf2npu` in an empty folder with closed input; nothing may be left in that folder."""
    home = tmp_path_factory.mktemp("home")
    here = tmp_path_factory.mktemp("here")
    env = {**os.environ, "XDG_CACHE_HOME": str(home / "c"), "XDG_STATE_HOME": str(home / "s")}

    def command(*words: object) -> Done:
        done = fork_server.converter(words, env, here)
        assert list(here.iterdir()) == []
        assert "Traceback" not in done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return command


@pytest.fixture
def src(tmp_path: Path) -> Path:
    root = tmp_path / "src"
    root.mkdir()
    (root / "m.py").write_text(SESSION)
    return root


def test_p01_a_dangling_link_is_kept_and_the_rest_converted(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "pkg").mkdir()
    (src / "pkg" / "gone").symlink_to("nowhere")
    assert run("convert", src, tmp_path / "out").code == 0
    assert os.readlink(tmp_path / "out" / "pkg" / "gone") == "nowhere"
    assert PORTED in (tmp_path / "out" / "m.py").read_text()


def test_p02_a_link_to_a_folder_stays_a_link(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "pkg").mkdir()
    (src / "pkg" / "n.py").write_text(SESSION)
    (src / "lib").symlink_to("pkg")
    run("convert", src, tmp_path / "out")
    assert os.readlink(tmp_path / "out" / "lib") == "pkg"
    assert PORTED in (tmp_path / "out" / "lib" / "n.py").read_text()


def test_p03_a_link_to_a_script_stays_a_link(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "alias.py").symlink_to("m.py")
    run("convert", src, tmp_path / "out")
    assert os.readlink(tmp_path / "out" / "alias.py") == "m.py"


def test_p04_modes_are_kept(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "run.sh").write_text("#!/bin/sh\n")
    (src / "run.sh").chmod(0o755)
    (src / "m.py").chmod(0o754)
    run("convert", src, tmp_path / "out")
    modes = {name: (tmp_path / "out" / name).stat().st_mode & 0o777 for name in ("run.sh", "m.py")}
    assert modes == {"run.sh": 0o755, "m.py": 0o754}


def test_p05_an_empty_folder_is_kept(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "logs" / "empty").mkdir(parents=True)
    run("convert", src, tmp_path / "out")
    assert (tmp_path / "out" / "logs" / "empty").is_dir()


def test_p06_cells_of_a_notebook_are_converted_and_nothing_else_of_it(run: Run, src: Path, tmp_path: Path) -> None:
    code = ["%matplotlib inline\n", "!ls\n", "import tensorflow as tf\n", "s = tf.Session()\n", "s.close()"]
    output = {"output_type": "stream", "name": "stdout", "text": ["tf.Session()\n"]}
    cell = {"cell_type": "code", "metadata": {"k": 1}, "execution_count": 3, "outputs": [output], "source": code}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    (src / "n.ipynb").write_text(json.dumps(notebook, indent=1))
    run("convert", src, tmp_path / "out")
    after = json.loads((tmp_path / "out" / "n.ipynb").read_text())["cells"][0]
    text = "".join(after["source"])
    assert "s = tf.Session(config=npu_config_proto())\n" in text and text.startswith("%matplotlib inline\n!ls\n")
    assert {k: v for k, v in after.items() if k != "source"} == {k: v for k, v in cell.items() if k != "source"}


def test_p07_scripts_of_other_names_are_converted(run: Run, src: Path, tmp_path: Path) -> None:
    for name in ("gui.pyw", "UP.PY"):
        (src / name).write_text(SESSION)
    (src / "train").write_text("#!/usr/bin/env python\n" + SESSION)
    run("convert", src, tmp_path / "out")
    for name in ("gui.pyw", "UP.PY", "train"):
        assert PORTED in (tmp_path / "out" / name).read_text()


def test_p08_a_huge_source_file_is_copied_and_named(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "huge.py").write_text("import tensorflow as tf\n" + "x = 1  # a table of numbers\n" * 420_000)
    done = run("convert", src, tmp_path / "out")
    assert (tmp_path / "out" / "huge.py").read_bytes() == (src / "huge.py").read_bytes()
    assert done.code == 1 and "huge.py" in done.out


def test_p09_one_file(run: Run, src: Path, tmp_path: Path) -> None:
    assert run("convert", src / "m.py", tmp_path / "out").code == 0
    assert PORTED in (tmp_path / "out" / "m.py").read_text()


@pytest.mark.parametrize("words", [("missing", "o"), (), ("{src}", "o", "--main", "nowhere.py")])
def test_p10_a_wrong_request_is_one_message_and_exit_2(run: Run, src: Path, words: tuple[str, ...]) -> None:
    done = run("convert", *(word.format(src=src) for word in words))
    assert done.code == 2
    assert done.err.strip()


@pytest.mark.parametrize("option", [("--distributed", "horovod"), ("--distributed=horovod",)])
def test_p11_the_distributed_option_takes_its_value_both_ways(run: Run, src: Path, tmp_path: Path, option: tuple[str]) -> None:
    (src / "m.py").write_text(HOROVOD)
    run("convert", src, tmp_path / "out", *option)
    assert "get_npu_rank_size()" in (tmp_path / "out" / "m.py").read_text()


def test_p12_a_folder_named_like_the_source_inside_it(run: Run, tmp_path: Path) -> None:
    inner = tmp_path / "src" / "pkg" / "src"
    inner.mkdir(parents=True)
    (inner / "f.py").write_text(SESSION)
    (tmp_path / "src" / "f.py").write_text("x = 1\n")
    run("convert", tmp_path / "src", tmp_path / "out")
    assert PORTED in (tmp_path / "out" / "pkg" / "src" / "f.py").read_text()
    assert (tmp_path / "out" / "f.py").read_text() == "x = 1\n"


def test_p13_files_of_a_user_that_does_not_exist(run: Run, src: Path, tmp_path: Path) -> None:
    for path in (src, src / "m.py") if os.geteuid() == 0 else ():  # only root can give files away
        os.chown(path, 54321, 54321)
    assert run("convert", src, tmp_path / "out").code == 0
    assert PORTED in (tmp_path / "out" / "m.py").read_text()


def test_p14_nothing_is_written_elsewhere(run: Run, src: Path, tmp_path: Path) -> None:
    before = sorted(src.rglob("*"))
    run("convert", src, tmp_path / "out")  # the fixture looks into the folder it was run in
    assert sorted(src.rglob("*")) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "src"]


def test_p15_exit_codes_tell_what_is_left(run: Run, src: Path, tmp_path: Path) -> None:
    assert run("convert", src, tmp_path / "a").code == 0
    (src / "n.py").write_text("import tensorflow as tf\ne = tf.contrib.learn.DNNClassifier([1])\n")
    assert run("convert", src, tmp_path / "b").code == 1
    (src / "o.py").write_text("import tensorflow as tf\nprint 'x'\n")
    assert run("convert", src, tmp_path / "c").code == 3


def test_p16_modules_of_one_name_are_told_apart_by_path_line_and_column(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        folder = tmp_path / "src" / name
        folder.mkdir(parents=True)
        (folder / "m.py").write_text("import tensorflow as tf\ny = 1; e = tf.contrib.learn.DNNClassifier([1])\n")
    out = run("convert", tmp_path / "src", tmp_path / "out").out
    assert "a/m.py:2:12:" in out and "b/m.py:2:12:" in out


def test_standard_input_is_never_asked(run: Run, src: Path, tmp_path: Path) -> None:
    (src / "m.py").write_text(HOROVOD)
    done = run("convert", src, tmp_path / "out")
    assert done.code == 1
    assert (tmp_path / "out" / "m.py").read_text() == HOROVOD
    assert "--distributed horovod" in done.out


def test_a_sum_of_1500_terms_is_left_and_named(run: Run, src: Path, tmp_path: Path) -> None:
    deep = "import tensorflow as tf\nx = " + "+".join(["1"] * 1500) + "\ns = tf.Session()\n"
    (src / "deep.py").write_text(deep)
    done = run("convert", src, tmp_path / "out")
    after = (tmp_path / "out" / "deep.py").read_text()
    assert (done.code, after) == (3, deep) or (PORTED in after and done.code in (0, 1))
    assert done.code != 3 or "deep.py" in done.out
    assert PORTED in (tmp_path / "out" / "m.py").read_text()
    assert convert_source(deep.encode()).status in (Status.FAILED, Status.CONVERTED)
