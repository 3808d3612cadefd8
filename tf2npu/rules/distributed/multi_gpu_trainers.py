"""Trainers of Tensorpack that drive several GPUs in one process."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_TRAINERS = (
    "AsyncMultiGPUTrainer", "DistributedTrainerParameterServer", "DistributedTrainerReplicated", "SyncMultiGPUTrainer",
    "SyncMultiGPUTrainerParameterServer", "SyncMultiGPUTrainerReplicated",
)  # fmt: skip
_PLACES = ("tensorpack", "tensorpack.train", "tensorpack.train.trainers")
_HEAD = "import tensorflow as tf\nfrom tensorpack import {}\nfrom model import config\n"
_LAUNCH = "launch_train_with_config(config, {})"


@rule(
    id="NPU428",
    title="Trainers of Tensorpack for several GPUs",
    matches=tuple(f"{place}.{name}" for place in _PLACES for name in _TRAINERS),
    why="Such a trainer copies the model to several GPUs of one process. Each NPU is driven by a process of its own. The "
    "replicated trainers need NCCL, too.",
    done_when="`tf2npu run` comes to the first step of the training.",
    source="tensorpack.train.trainers of Tensorpack 0.8.9 and 0.9.4; TensorFlow 1.15 without tensorflow.contrib.nccl",
    examples=(
        Example.same(
            _HEAD.format("SyncMultiGPUTrainerReplicated, launch_train_with_config")
            + _LAUNCH.format("SyncMultiGPUTrainerReplicated(4)"),
            level="manual",
            write=_HEAD.format("SimpleTrainer, launch_train_with_config") + _LAUNCH.format("SimpleTrainer()"),
        ),
        Example.same(
            "import tensorflow as tf\nfrom tensorpack.train.trainers import AsyncMultiGPUTrainer\n"
            "trainer = AsyncMultiGPUTrainer([0, 1])",
            level="manual",
        ),
        Example.same(_HEAD.format("SimpleTrainer") + "trainer = SimpleTrainer()", note="one device"),
        Example.same(
            "import tensorflow as tf\nfrom trainers import SyncMultiGPUTrainer\nt = SyncMultiGPUTrainer(2)", note="their own"
        ),
    ),
)
def multi_gpu_trainer(call: Call) -> None:
    """Reports a trainer for several GPUs."""
    name = call.name.rpartition(".")[2]
    call.manual(
        f"{name} drives GPUs of one process, which NPUs are not. Write tensorpack's SimpleTrainer() in its place, which trains "
        "on one NPU."
    )
