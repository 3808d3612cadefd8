"""Variables of the environment that choose GPUs, or XLA."""

from __future__ import annotations

import re
from typing import Any

from tf2npu.frameworks.tensorflow1.dialect import is_for_2
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.environment_writes import SETTERS, set_by_call, set_by_item
from tf2npu.scanner.sites import Call, Site

_HIDDEN = ("", "-1")
_HEAD = "import os\nimport tensorflow as tf\n"


@rule(
    id="NPU955",
    title="GPU settings in the environment",
    matches=SETTERS,
    why="CUDA's variables choose no NPU, and XLA must not compile what goes to the NPU.",
    done_when="os.environ does not hold the variable when TensorFlow is imported.",
    source="ASCEND_DEVICE_ID of the TensorFlow adapter; TF_XLA_FLAGS of TensorFlow 1.15",
    examples=(
        Example.same(f"{_HEAD}os.environ.setdefault('CUDA_VISIBLE_DEVICES', '0')", level="info"),
        Example.same(f"{_HEAD}os.environ.update(TF_XLA_FLAGS='--tf_xla_auto_jit=2')", level="manual"),
        Example.same(f"{_HEAD}os.environ.update(OMP_NUM_THREADS='4')", note="of the host"),
    ),
)
def gpu_environment_by_call(call: Call) -> None:
    """Reports environment variables that choose GPUs or switch XLA on."""
    for name, value in set_by_call(call):
        _report(call, name, value)


@part_of(
    gpu_environment_by_call,
    on="reference",
    matches=("os.environ",),
    examples=(
        Example.same(f"{_HEAD}os.environ['CUDA_VISIBLE_DEVICES'] = FLAGS.gpu", level="info"),
        Example.same(f"{_HEAD}os.environ['CUDA_VISIBLE_DEVICES'] = '-1'", note="hides them", level="info"),
        Example.same(f"{_HEAD}os.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2'", level="manual",
            write=f"{_HEAD}s = 'no XLA'"),
        Example.same(f"{_HEAD}os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'", note="of TensorFlow"),
        Example.same(f"{_HEAD}n = os.environ['CUDA_VISIBLE_DEVICES']", note="read"),
    ),
)  # fmt: skip
def gpu_environment_by_item(site: Site) -> None:
    """Reports environment variables that choose GPUs or switch XLA on, set as items of os.environ."""
    for name, value in set_by_item(site):
        _report(site, name, value)


def _report(site: Site, name: str, value: Any) -> None:
    text = text_of(value, site.scope)
    if name == "CUDA_VISIBLE_DEVICES" and uses_tensorflow(site.script):
        if text in _HIDDEN and is_for_2(site.script):
            site.info("CUDA_VISIBLE_DEVICES hides GPUs, and no NPU: functions run on the NPU all the same. The line may stay.")
        elif text in _HIDDEN:
            site.info(
                "CUDA_VISIBLE_DEVICES hides GPUs, and no NPU: sessions with the NPU's config run on the NPU all the same. "
                "The line may stay."
            )
        else:
            site.info(
                "CUDA_VISIBLE_DEVICES chooses GPUs and has no effect on an NPU host. To choose an NPU, set ASCEND_DEVICE_ID."
            )
    elif name == "TF_XLA_FLAGS" and re.search(r"auto_jit(?!=(?:0|-1)\b)", text or ""):
        site.manual("Take this out: XLA must not compile what goes to the NPU.")
