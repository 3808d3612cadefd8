"""The record of TensorFlow 1 and of its adapter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tf2npu.api_support.table import table
from tf2npu.config import TF2_COMPAT
from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.frameworks.tensorflow1.adapter_names import COMPAT, NPU_INIT, NPU_INIT_NAMES
from tf2npu.frameworks.tensorflow1.api_return_types import returned
from tf2npu.frameworks.tensorflow1.fed_inputs import fed_inputs
from tf2npu.frameworks.tensorflow1.file_facts import file_facts
from tf2npu.frameworks.tensorflow1.names import BOUND_BY, ROOTS, canonical
from tf2npu.frameworks.tensorflow1.project import NAME, TensorFlowProject, tensorflow_in

if TYPE_CHECKING:  # facts of files and projects need no syntax tree, which takes long to import
    import libcst as cst

    from tf2npu.config import Config
    from tf2npu.scanner.facts import FileFacts
    from tf2npu.scanner.script import Script
    from tf2npu.scanner.tree_walk import Walked

_SIDE_EFFECT = "import {}  # noqa: F401  puts sessions on the NPU"
_SIDE_EFFECT_2021 = "import {}  # noqa: F401  brings NpuOptimizer"
_FOLLOWED = re.compile(
    r"tensorflow$|(?:tensorflow\.(?:data\.(?:Dataset|Iterator)|Session|InteractiveSession|ConfigProto|train\.\w*Session|train\.Supervisor"
    r"|(?:estimator|keras)\.(?:\w+\.)*\w+)|npu_bridge\.npu_init\.NPU(?:Estimator|RunConfig))\(\)$"
)


_FULLY_KNOWN = re.compile(
    r"tensorflow(?:\.(?:nn|nn\.rnn_cell|train|layers|losses|metrics|math|image|summary|data|random|linalg))?"
)
"""Modules of which TensorFlow 1.15 is known to have all names, and which no other package adds any to."""


def _side_effect(config: Config) -> str:
    line = _SIDE_EFFECT_2021 if config.target.adapter == "2021" else _SIDE_EFFECT
    return line.format(ADAPTER.spelled(NPU_INIT, config))


def _package_in(config: Config) -> str:
    return COMPAT if config.dialect == TF2_COMPAT else ""


def _is_wanted(script: Script) -> bool:
    return tensorflow_in(script.project).takes_in(script.path)


def _first_need(script: Script) -> cst.CSTNode | None:
    from tf2npu.frameworks.tensorflow1.first_need import first_need

    return first_need(script)


def _is_for_1(script: Script) -> bool:
    from tf2npu.frameworks.tensorflow1.dialect import dialect_of

    return dialect_of(script).kind != "2"


def _objects_by_use(walked: Walked, facts: FileFacts | None) -> dict[tuple[int, str], str]:
    from tf2npu.frameworks.tensorflow1.usage_types import objects_by_use

    return objects_by_use(walked, facts)


def _is_fully_known(module: str) -> bool:
    return _FULLY_KNOWN.fullmatch(module) is not None


def _is_followed(name: str) -> bool:
    return _FOLLOWED.match(name) is not None


OF_COMPAT = ("NPU814", "NPU815")
"""Rules for scripts that run on TensorFlow 2 with its version 1 behaviour; the others of their block are TensorFlow 2's."""

ADAPTER = Adapter(
    module=NPU_INIT,
    names=NPU_INIT_NAMES,
    shared=frozenset({
        "os", "tf", "util", "profiler", "session", "backend", "config_pb2", "rewriter_config_pb2", "session_run_hook",
        "RewriterConfig",
    }),
    same=frozenset({"tf", "os"}),
    rule="NPU100",
    message=(
        "An import was added above: npu_bridge is the vendor's package for TensorFlow 1 on NPUs. The other imports stay. "
        "Nothing is left to do."
    ),
    reasons={"npu_convert_dropout": "dropout layers use the dropout of the NPU"},
    side_effect=_side_effect,
    is_wanted=_is_wanted,
    first_need=_first_need,
    package_in=_package_in,
)  # fmt: skip

FRAMEWORK = Framework(
    name=NAME,
    family="tensorflow",
    title="TensorFlow",
    roots=ROOTS,
    bound_by=BOUND_BY,
    mention=r"tensorflow|keras|horovod|npu_bridge|npu_device|tf_slim|\btf\b|\bslim\b",
    mention_in_notebooks="estimator",
    monorepo=("google3.third_party.",),  # where Google keeps published packages in its own tree, which nobody else has
    rule_ids=("NPU1", "NPU2", "NPU3", "NPU4", "NPU5", "NPU6", "NPU7", "NPU9", "NPUX", *OF_COMPAT),
    is_for=_is_for_1,
    adapter=ADAPTER,
    canonical=canonical,
    returned=returned,
    followed=_is_followed,
    objects_by_use=_objects_by_use,
    running=frozenset({
        "tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.app.run", "tensorflow.train.MonitoredTrainingSession",
        "tensorflow.train.MonitoredSession", "tensorflow.train.SingularMonitoredSession", "tensorflow.train.Supervisor",
        "tensorflow.estimator.train_and_evaluate", "tensorflow.contrib.slim.learning.train", "absl.app.run",
    }),
    work_methods=frozenset({"fit", "fit_generator", "train_and_evaluate", "train_on_batch"}),
    training_methods=("Estimator().train", "Model().fit", "Sequential().fit", "Model().fit_generator", "Classifier().train"),
    added_names=frozenset({"npu_sess", "npu_keras_sess"}),
    added_arguments=frozenset({"config", "session_config", "hooks"}),
    fed_inputs=fed_inputs,
    api_roots=("tensorflow", "tensorflow_core", "tensorflow_estimator"),
    apis=table,
    no_api="no public name of TensorFlow 1.15",
    is_fully_known=_is_fully_known,
    facts=file_facts,
    part=TensorFlowProject,
)  # fmt: skip
