"""One name for each TensorFlow API, whatever module it was reached through."""

from __future__ import annotations

import csv
import re
from functools import lru_cache
from pathlib import Path

from tf2npu.frameworks.horovod.names import is_horovod
from tf2npu.frameworks.tensorflow1.adapter_names import BRIDGE, COMPAT, canonical_npu
from tf2npu.scanner.names import root_of

# TF1 names stay bare ("tensorflow.nn.dropout"); compat.v2 names keep their prefix, because they mean something else.
PREFIXES = (
    ("tensorflow.compat.v1", "tensorflow"),
    ("tensorflow_core", "tensorflow"),
    ("tensorflow.python.keras", "tensorflow.keras"),
    ("tensorflow.python.data.experimental", "tensorflow.data.experimental"),
    ("tensorflow.contrib.data", "tensorflow.data.experimental"),
    ("tensorflow.contrib.tpu", "tensorflow.estimator.tpu"),
    ("tensorflow.contrib.keras", "tensorflow.keras"),
    ("tensorflow.contrib.nccl.python.ops.nccl_ops", "tensorflow.contrib.nccl"),
    ("tensorflow.python.ops.nccl_ops", "tensorflow.contrib.nccl"),
    ("tensorflow.contrib.slim.python.slim", "tensorflow.contrib.slim"),
    ("tf_slim", "tensorflow.contrib.slim"),
    ("tensorflow.contrib.slim.losses", "tensorflow.contrib.losses"),
    ("tensorflow.contrib.slim.metrics", "tensorflow.contrib.metrics"),
    ("tensorflow.keras.api", "tensorflow.keras"),
    ("tensorflow.python.saved_model.signature_constants", "tensorflow.saved_model.signature_constants"),
    ("tensorflow.python.saved_model.tag_constants", "tensorflow.saved_model.tag_constants"),
)
# Where TensorFlow 1.15 defines what it exports; the module part may have changed between versions, the names did not.
_PRIVATE = (
    (re.compile(r"tensorflow\.python\.client\.session\.(Session|InteractiveSession)$"), r"tensorflow.\1"),
    (re.compile(r"tensorflow\.python\.framework\.ops\.(device|Graph|get_default_graph)$"), r"tensorflow.\1"),
    (re.compile(r"tensorflow\.python\.ops\.(?:nn|nn_ops|nn_impl)\.(\w+)$"), r"tensorflow.nn.\1"),
    (re.compile(r"tensorflow\.python\.ops\.gradients(?:_impl)?\.gradients$"), r"tensorflow.gradients"),
    (re.compile(r"tensorflow\.python\.ops\.(?:math_ops|array_ops|variables|variable_scope)\.(\w+)$"), r"tensorflow.\1"),
    (re.compile(r"tensorflow\.python\.training\.\w+\.([A-Z]\w+)$"), r"tensorflow.train.\1"),
    (re.compile(r"tensorflow\.python\.training\.training\.(\w+)$"), r"tensorflow.train.\1"),
    (re.compile(r"tensorflow(?:_estimator)?\.python\.estimator\.(?:\w+\.)*([A-Z]\w+)$"), r"tensorflow.estimator.\1"),
    (re.compile(r"tensorflow_estimator\.(?:python|_api|compat)\.(?:\w+\.)*([A-Z]\w+)$"), r"tensorflow.estimator.\1"),
    # The same objects, and an Estimator that takes and does the same; those that are ready made take other arguments.
    (
        re.compile(
            r"tensorflow\.compat\.v2\.estimator\."
            r"(Estimator|EstimatorSpec|RunConfig|TrainSpec|EvalSpec|ModeKeys|train_and_evaluate)$"
        ),
        r"tensorflow.estimator.\1",
    ),
    (re.compile(r"tensorflow\.python\.pywrap_tensorflow\.NewCheckpointReader$"), r"tensorflow.train.NewCheckpointReader"),
    (re.compile(r"tensorflow\.python\.data\.ops\.\w+\.([A-Z]\w+)$"), r"tensorflow.data.\1"),
    (re.compile(r"tensorflow\.core\.protobuf\.config_pb2\.(\w+)$"), r"tensorflow.\1"),
    (re.compile(r"tensorflow\.contrib\.slim\.(dropout|conv2d|fully_connected)$"), r"tensorflow.contrib.layers.\1"),
    (
        re.compile(
            r"tensorflow\.data\.experimental\.(Dataset|Iterator|\w+LineDataset|TFRecordDataset|FixedLengthRecordDataset)\b"
        ),
        r"tensorflow.data.\1",
    ),
    (
        re.compile(r"tensorflow\.(?:python\.framework\.)?dtypes\.((?:u?int|float|complex)\d+|bfloat16|half|double|bool|string)$"),
        r"tensorflow.\1",
    ),
    (re.compile(r"tensorflow\.layers\.core\.(\w+)$"), r"tensorflow.layers.\1"),
    (re.compile(r"tensorflow\.math\.(erf|tanh|sqrt|pow|multiply|is_finite|is_nan|is_inf)$"), r"tensorflow.\1"),
    (re.compile(r"tensorflow\.keras\.models\.(Model|Sequential)$"), r"tensorflow.keras.\1"),
    (re.compile(r"tensorflow\.data\.DatasetV[12]$"), r"tensorflow.data.Dataset"),
    (re.compile(r"tensorflow\.ConfigProto\.Experimental$"), r"tensorflow.ConfigProto.Experimental"),
)

ROOTS = frozenset({
    "tensorflow", "tensorflow_core", "tensorflow_estimator", "tf_slim", "keras", "tf_keras", "npu_bridge", "npu_device", "hccl",
})  # fmt: skip
BOUND_BY = frozenset({"tensorflow", "tensorflow_core", "tensorflow_estimator", "tf_slim"})
"""Top-level modules whose import imports TensorFlow."""


def is_tensorflow(name: str) -> bool:
    """Whether importing this module imports TensorFlow."""
    return root_of(name) in BOUND_BY


def belong_to_tensorflow(modules: set[str]) -> bool:
    """Whether who imports these modules has to do with TensorFlow: its own, Horovod but for Keras alone, or the NPU's for it."""
    parts = {module for module in modules if module.startswith("horovod.")}
    if any(is_horovod(part) and not f"{part}.".startswith("horovod.keras.") for part in parts or modules & {"horovod"}):
        return True
    return any(is_tensorflow(module) or root_of(module) in ("npu_bridge", "hccl") for module in modules)


def is_adapter2(module: str) -> bool:
    """Whether a module belongs to the adapter of TensorFlow 2, but for the part that has TensorFlow 1's names and behaviour.

    Who imports `npu_device` runs under that adapter, also where `npu_device.compat.enable_v1()` follows.
    """
    parts = module.split(".")
    return parts[0] == "npu_device" and parts[1:2] != ["compat"]


@lru_cache(maxsize=20_000)
def canonical(name: str) -> str:
    """The one spelling of a dotted name of a module of ROOTS under which rules and tables know it.

    Source: module layout of TensorFlow 1.15 (`tensorflow/python`, `tensorflow_estimator/python`); spellings.csv, which
    `tools/build_api_table.py` writes from the inventory of that release.
    """
    if name.startswith(f"{COMPAT}."):
        name = f"{BRIDGE}{name.removeprefix(COMPAT)}"
    if name.startswith(f"{BRIDGE}."):
        return canonical_npu(name)
    if not name.startswith(("tensorflow", "tf_slim")):
        return name
    name = with_public_prefix(name)
    return spellings().get(name) or by_pattern(name)


def with_public_prefix(name: str) -> str:
    """A TensorFlow name with those packages that are wholly known under another name brought to that."""
    for prefix, replacement in PREFIXES:
        if name == prefix or name.startswith(prefix + "."):
            name = replacement + name[len(prefix) :]
    return name


def by_pattern(name: str) -> str:
    """The public name of what is defined in a private module, told by the module alone: also for names of other releases."""
    for pattern, replacement in _PRIVATE:
        changed, count = pattern.subn(replacement, name)
        if count:
            return changed
    return name


@lru_cache(maxsize=1)
def spellings() -> dict[str, str]:
    """Spelling -> the name that rules know, of what is defined in a module of its own."""
    found = {}
    with (Path(__file__).parent / "spellings.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for pair in row["names"].split():
                name, _, other = pair.partition("=")
                found[f"{row['module']}.{name}"] = f"{row['public']}.{other or name}"
    return found
