"""Words behind SCRIPT are the script's own; one that looks like an option of ours is handed over all the same, with a warning."""

import json
from pathlib import Path

import pytest

ECHO = "import json, sys\njson.dump(sys.argv[1:], open('argv.json', 'w'))\n"


@pytest.fixture
def script(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(ECHO)
    return tmp_path / "train.py"


@pytest.fixture
def ran(monkeypatch) -> list[list[str]]:
    """The words that `run` gives to the script, which is not run."""
    found: list[list[str]] = []
    monkeypatch.setattr("tf2npu.commands.run.run", lambda words, **options: found.append(words) or 0)
    return found


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (("--soc", "910A"), ["--soc goes to train.py", "write --soc before SCRIPT"]),
        (("--soc=910A",), ["write --soc before SCRIPT"]),
        (("--device", "4"), ["did you mean --devices?"]),
        (("--profile", "x", "--lr", "1"), ["write --profile before SCRIPT"]),
        (("--lr", "1", "soc"), []),
        (("--", "--soc", "910A"), []),
    ],
)
def test_run_hands_all_words_over_and_says_which_may_be_ours(tool, script, ran, words, warned):
    done = tool("run", "train.py", *words)
    assert done.code == 0 and ran == [["train.py", *words]]
    assert all(text in done.err for text in warned) and bool(done.err) == bool(warned)
    assert tool("run", "--", "train.py", *words).err == ""


def test_run_of_a_module(tool, script, ran):
    done = tool("run", "-m", "train", "--strict", "--lr", "1")
    assert ran == [["--strict", "--lr", "1"]] and "--strict goes to the module" in done.err and "--lr" not in done.err
    assert tool("run", "--soc", "910A", "train.py", "-v").err == ""


@pytest.mark.parametrize(
    ("command", "word", "meant"),
    [
        (("check",), "--modes", "--mode"), (("predict",), "--step", "--steps"), (("tune",), "--device", "--devices"),
        (("dump", "reference", "--out", "ref"), "--stepss", "--steps"),
        (("predict",), "--iterations_per_loop", "--iterations-per-loop"),
    ],
)  # fmt: skip
def test_a_slip_behind_the_script_is_told(tool, script, monkeypatch, command, word, meant):
    given: list[list[str]] = []

    def take(words, *_, **__):
        given.append(list(words))
        return 0

    for place in ("check.check", "predict.predict", "tune.tune", "dump_reference.reference"):
        monkeypatch.setattr(f"tf2npu.commands.{place}", take)
    done = tool(*command, "train.py", word, "9")
    assert done.code == 0 and given == [["train.py", word, "9"]]
    assert f"tf2npu {command[0]}" in done.err and f"did you mean {meant}?" in done.err
    assert tool(*command, "train.py", "--", word, "9").err == ""
    script.write_text(f"import argparse\np = argparse.ArgumentParser()\np.add_argument({word!r})\n")
    assert tool(*command, "train.py", word, "9").err == ""
    assert given == [["train.py", word, "9"]] * 3


def test_the_words_reach_the_script(tool, script):
    script.write_text("import npu_bridge\n" + ECHO)
    done = tool("predict", "train.py", "--stepz", "2", "--", "--soc", "x")
    assert json.loads(Path("argv.json").read_text()) == ["--stepz", "2", "--soc", "x"] and "did you mean --steps?" in done.err
