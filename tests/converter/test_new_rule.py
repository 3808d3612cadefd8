"""tools/new_rule.py: the file that it writes is a rule whose examples pass, and what cannot be is one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "new_rule.py"
# Asks the new rule about its own examples, in a process of its own: a rule that is loaded stays registered.
TRIED = """
import runpy, sys
runpy.run_path(sys.argv[1])
from tf2npu import convert_source
from tf2npu.rules.base import registered
(part,) = registered()[sys.argv[2]]
for example in part.examples:
    result = convert_source("import tensorflow as tf\\n" + example.before)
    levels = [f.level.value for f in result.findings if f.rule == part.id]
    assert levels == ([example.level] if example.level else []), (example, levels)
    if example.write:
        again = convert_source("import tensorflow as tf\\n" + example.write)
        assert [f for f in again.findings if f.rule == part.id] == []
print(part.title, part.what, part.matches)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for topic in ("ops", "input", "outdated"):
        (tmp_path / topic).mkdir()
    return tmp_path


def new_rule(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *words, "--folder", folder], capture_output=True, text=True, check=False)


def test_a_new_rule_passes_its_own_examples(folder: Path) -> None:
    done = new_rule(folder, "fractional_pooling", "--id", "NPU599", "--match", "tensorflow.nn.fractional_max_pool")
    assert done.stderr == "" and "make regen" in done.stdout and "NPU599" in done.stdout
    file = folder / "ops" / "fractional_pooling.py"
    tried = subprocess.run([sys.executable, "-c", TRIED, file, "NPU599"], capture_output=True, text=True, check=False)
    assert tried.stderr == ""
    words = "Fractional pooling Reports calls of tf.nn.fractional_max_pool. ('tensorflow.nn.fractional_max_pool',)\n"
    assert tried.stdout == words


def test_without_an_id_it_is_the_next_one_of_the_topic(folder: Path) -> None:
    assert new_rule(folder, "one", "--topic", "input").returncode == 0
    assert 'id="NPU606"' in (folder / "input" / "one.py").read_text()
    assert new_rule(folder, "two", "--topic", "ops", "--id", "NPU999").returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x", "--id", "NPU101"], "NPU101 is in use; NPU102 is free"),
        (["x", "--id", "NPU599", "--topic", "input"], "NPU599 does not belong to input"),
        (["x", "--id", "NPU998"], "say TOPIC=, one of: session, estimator"),
        (["x"], "say TOPIC=, one of: session, estimator"),
        (["x", "--topic", "opps"], "opps is no topic: say TOPIC=, one of: session, estimator"),
        (["--topic", "ops"], "say NAME=, the name of the file and the function"),
        (["x", "--id", "512"], "512 is no id of a rule"),
        (["Loss-Scale", "--topic", "ops"], "'Loss-Scale' is no name of a rule"),
        (["x", "--topic", "ops", "--match", "lrn"], "'lrn' is no qualified name"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(folder: Path, words: list[str], said: str) -> None:
    done = new_rule(folder, *words)
    assert done.returncode == 1
    assert done.stderr.startswith("new_rule: ") and said in done.stderr and done.stderr.count("\n") == 1
    assert list(folder.rglob("*.py")) == []


def test_a_file_that_is_there_stays(folder: Path) -> None:
    (folder / "ops" / "gelu.py").write_text("mine")
    assert "is there already" in new_rule(folder, "gelu", "--topic", "ops").stderr
    assert (folder / "ops" / "gelu.py").read_text() == "mine"
