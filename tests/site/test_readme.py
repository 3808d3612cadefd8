"""README's commands, typed in its order in one folder: each ends with the exit code and the lines that README lets one expect.

A command of README that is not in the list below fails the test, as does one that README no longer has.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import fork_server

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = re.compile(r"`((?:tf2npu|python) [^`\n]+)`|^((?:tf2npu|python) [^\n]+)$", re.MULTILINE)
RECORDED = "--profile . --option enable_dump=true --option dump_path=dumps --option dump_step=0 --option fusion=off"

EXAMPLE = "out/lenet_estimator/train.py"
LENET = "examples_mindspore/lenet/train.py"
REPORT = "out/tf2npu-report/report.json"


@dataclass(frozen=True)
class Typed:
    """told: what README has.  shown: a pattern in what is printed.  words: what is typed where README has a word for it."""

    told: str
    shown: str
    code: int = 0
    words: str = ""
    is_in_readme: bool = True


IN_ORDER = (
    Typed("tf2npu convert src out", r"1 file: 1 converted"),
    Typed("python out/train.py", r"loss \d"),
    Typed("tf2npu convert train.py out", r"1 file: 1 converted"),
    Typed("python out/train.py", r"loss \d.*100\.00 % of .* on the device"),
    Typed("tf2npu run out/train.py", r"loss \d"),
    Typed("tf2npu run", r"the profile is in", words=f"tf2npu run {RECORDED} out/train.py", is_in_readme=False),
    Typed("tf2npu convert train.py out --distributed tf", r"NPU421.*1 file: 1 converted", 1),
    Typed("tf2npu predict train.py --soc 910A,910B2 --report out/time", r"predicted for Ascend910A.*Where the time goes"),
    Typed("tf2npu profile PROF_*", r"Where the time goes"),
    Typed("tf2npu profile --compare", r"TransData", words="tf2npu profile --compare PROF_* PROF_*", is_in_readme=False),
    Typed("tf2npu run --frontend mindspore train.py", r"Test accuracy: ", words=f"tf2npu run --frontend mindspore {LENET}"),
    Typed("tf2npu scan src", r"1 file: 1 would be converted"),
    Typed("tf2npu convert src --diff", r"\+.*npu_bridge"),
    Typed("tf2npu convert . ../out", r"not converted, not copied: PROF_", 1),  # as one line of the example for MindSpore is told
    Typed("tf2npu convert src --in-place", r"`tf2npu undo src` puts the files back"),
    Typed("tf2npu undo src", r"1 file restored, 0 kept"),
    Typed("tf2npu run --smoke 5 out/train.py", r"Seen to train"),
    Typed("tf2npu api tf.nn.ctc_loss", r"verdict: manual"),
    Typed("tf2npu api 'tf.nn.*'", r"tf\.nn\.", is_in_readme=False),
    Typed("tf2npu rules NPU101", r"NPU101"),
    Typed("tf2npu report report.json --format sarif", r"sarif", words=f"tf2npu report {REPORT} --format sarif"),
    Typed("tf2npu tune train.py --soc 910A", r"The bank of Ascend910A is"),
    Typed("tf2npu bank show", r"Ascend910A"),
    Typed("tf2npu bank export", r"", words="tf2npu bank export bank.json", is_in_readme=False),
    Typed("tf2npu bank merge", r"", words="tf2npu bank merge bank.json", is_in_readme=False),
    Typed("tf2npu check train.py", r"agrees"),
    Typed("tf2npu dump reference train.py --out ref", r"2 written", words="tf2npu dump reference train.py --out ref --steps 0,1"),
    Typed("tf2npu dump graph ge_proto_00000003_graph_1_Build.txt graph.json", r""),
    Typed("tf2npu compare DUMP REFERENCE", r"result_\d+\.csv", 1, words="tf2npu compare dumps ref"),
    Typed("tf2npu dump npy", r"npy files are in npy", words="tf2npu dump npy dumps/*/*/*_2/*/0 npy"),
    Typed("tf2npu doctor", r"run: can run here"),
    Typed("tf2npu convert examples out", r"converted"),
    Typed("python out/lenet_estimator/train.py --steps=100", r"on the device", words=f"python {EXAMPLE} --steps=2"),
)  # fmt: skip


def test_every_command_of_readme_is_typed():
    told = [one or other for one, other in COMMAND.findall(README)]
    assert told == [typed.told for typed in IN_ORDER if typed.is_in_readme]


@pytest.mark.longest
def test_the_commands_work_in_the_order_of_readme(tmp_path: Path):
    (tmp_path / "src").mkdir()
    (tmp_path / "dumps").mkdir()
    script = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert script is not None
    for place in ("train.py", "src/train.py"):
        (tmp_path / place).write_text(script[1], encoding="utf-8")
    for examples in ("examples", "examples_mindspore"):
        shutil.copytree(ROOT / examples, tmp_path / examples)
    for typed in IN_ORDER:
        done = _type(typed.words or typed.told, tmp_path)
        assert done.returncode == typed.code, f"{typed.told}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        assert re.search(typed.shown, done.stdout + done.stderr, re.DOTALL), f"{typed.told}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr


def _type(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As a shell does: words with a star are the files that there are."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LANG": "C.UTF-8", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if RECORDED in command:
        environment["DUMP_GE_GRAPH"] = "2"
    tool, *words = shlex.split(command)
    found = [[str(path.relative_to(folder)) for path in sorted(folder.glob(word))] if "*" in word else [word] for word in words]
    given = [word for one, words_of in zip(words, found, strict=True) for word in words_of or [one]]
    return (fork_server.tf2npu if tool == "tf2npu" else fork_server.python)(given, environment, folder)
