"""The verdict says what smoke runs have shown, and no more."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from tests.report.test_json import SCHEMA
from tf2npu.report.languages.language import catalogue
from tf2npu.report.runs.document import checked
from tf2npu.report.work.smoke_runs import is_seen, seen_to_train

_SEEN = (
    "Seen to train: train.py made 5 steps on made-up data, loss 2.5 to 1.25, on 2026-11-30.",
    "已看到训练：train.py 于 2026-11-30 用虚构的数据训练了5 步，损失从 2.5 到 1.25。",
)


def _run(exit_code: int = 0, changed: tuple[str, ...] = (), script: str = "train.py", **smoke: Any) -> dict[str, Any]:
    """A run document with a smoke run of 5 steps, but for what is named."""
    made = [{"path": "a.tfrecord", "content": "512 examples of 2 features"}]
    known = {"wanted": 5, "steps": 5, "first_loss": "2.5", "last_loss": "1.25", "made": made, "date": "2026-11-30"}
    return {
        "script": script, "exit_code": exit_code, "device": "simulated Ascend910A", "steps": 6, "device_share": 1.0,
        "recompilations": 0, "host_nodes": [], "sessions": [], "options_without_effect": [], "sessions_left_open": [],
        **({"changed_files": list(changed)} if changed else {}), "smoke": {**known, **smoke},
    }  # fmt: skip


def test_a_script_that_was_seen_is_told_in_both_languages():
    assert seen_to_train([_run()]) == _SEEN[0] and catalogue("zh").text(f"Ready to run. {_SEEN[0]}") == f"可以运行。{_SEEN[1]}"
    several = f"Ready after 2 decisions. Blocked only if FLAGS.ps_tasks > 0. {_SEEN[0]}"
    assert catalogue("zh").text(several) == f"做出 2 项决定后即可运行。仅当 FLAGS.ps_tasks > 0 时受阻。{_SEEN[1]}"
    assert seen_to_train([]) == ""


def test_a_script_that_came_to_its_own_end_was_seen_with_fewer_steps():
    assert is_seen(_run(steps=2)) and "made 2 steps" in seen_to_train([_run(steps=2)])


@pytest.mark.parametrize(
    ("run", "why", "chinese"),
    [
        (_run(exit_code=1, steps=2), "ended with exit code 1 after 2 of 5 steps", "在完成 5 步中的 2 步后以退出码 1 结束"),
        (_run(steps=0), "ended without a training step on the device", "结束时没有在设备上训练过一步"),
        (_run(steps=0, on_host=9), "trained on the host only", "只在主机上训练"),
        (_run(steps=0, without_change=9), "made training steps that changed no variable", "的训练步没有改变任何变量"),
        (
            _run(steps=4, is_cut=True, seconds=120), "had made 4 of 5 steps when its time of 120 s was over",
            "在 120 秒时限到时完成了 5 步中的 4 步",
        ),
        (
            _run(steps=2, failure="ValueError: x"), "passed over an error before all steps were made: ValueError: x",
            "略过了一个错误：ValueError: x",
        ),
        (_run(changed=("model.py",)), "has changed since its smoke run", "在冒烟运行之后有改动"),
    ],
)  # fmt: skip
def test_a_script_that_was_not_seen_is_told_with_the_reason(run, why, chinese):
    assert not is_seen(run)
    assert seen_to_train([run]) == f"Not seen to train: train.py {why}."
    assert chinese in catalogue("zh").text(seen_to_train([run]))


def test_of_several_scripts_one_is_shown():
    told = seen_to_train([_run(exit_code=1, script="other.py"), _run()])
    assert told == f"Scripts that were seen to train: 1 of 2. {_SEEN[0]}"
    assert catalogue("zh").text(told) == f"已看到训练的脚本：2 个中有 1 个。{_SEEN[1]}"
    assert seen_to_train([_run(exit_code=1), _run(exit_code=1)]) == "Scripts that were seen to train: none of 2."


def test_the_need_is_named():
    run = _run(exit_code=1, steps=0, needs=["the file a.pkl, which could not be made up"])
    told = seen_to_train([run])
    assert told.endswith("and needs the file a.pkl, which could not be made up.")
    assert catalogue("zh").text(told).endswith("它需要文件 a.pkl，无法虚构其内容。")


def test_the_entry_fits_the_schema():
    schema = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/run"}
    run = checked(_run(without_change=1, on_host=2, failure="E", needs=["x"], is_cut=True, seconds=3))
    jsonschema.Draft202012Validator(schema).validate(json.loads(json.dumps(run)))
