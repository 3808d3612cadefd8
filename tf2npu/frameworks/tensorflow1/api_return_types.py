"""Types that known APIs return: enough of TensorFlow's types to follow a dataset, session, estimator or config."""

from __future__ import annotations

import re

from tf2npu.frameworks.base import instance_of

DATASET = "tensorflow.data.Dataset()"
ITERATOR = "tensorflow.data.Iterator()"
_DATASET_MAKERS = re.compile(
    r"tensorflow(?:\.compat\.v2)?\.data\.(?:experimental\.)?"
    r"(?:Dataset\.(?:from_\w+|range|zip|list_files)|\w+Dataset|Dataset|make_\w+_dataset|sample_from_datasets"
    r"|choose_from_datasets)$"
)
DATASET_METHODS = frozenset({
    "apply",
    "batch",
    "cache",
    "concatenate",
    "enumerate",
    "filter",
    "flat_map",
    "interleave",
    "map",
    "padded_batch",
    "prefetch",
    "reduce_dataset",
    "repeat",
    "shard",
    "shuffle",
    "skip",
    "take",
    "unbatch",
    "window",
    "with_options",
    "map_with_legacy_function",
    "filter_with_legacy_function",
})  # fmt: skip
_ITERATOR_MAKERS = frozenset({"make_one_shot_iterator", "make_initializable_iterator"})
_ITERATOR_FUNCTIONS = re.compile(r"tensorflow\.data\.(?:make_one_shot_iterator|make_initializable_iterator|Iterator\.from_\w+)$")
_EXACT = {
    "tensorflow.get_default_session": "tensorflow.Session()",
    "tensorflow.keras.models.load_model": "tensorflow.keras.Model()",
    "tensorflow.keras.models.clone_model": "tensorflow.keras.Model()",
    "tensorflow.train.MonitoredTrainingSession": "tensorflow.train.MonitoredSession()",
    "tensorflow.train.Supervisor().managed_session": "tensorflow.Session()",
    "tensorflow.train.Supervisor().prepare_or_wait_for_session": "tensorflow.Session()",
    "tensorflow.train.Supervisor().PrepareSession": "tensorflow.Session()",
    "tensorflow.train.SessionManager().prepare_session": "tensorflow.Session()",
    "tensorflow.train.SessionManager().wait_for_session": "tensorflow.Session()",
    "tensorflow.keras.estimator.model_to_estimator": "tensorflow.estimator.Estimator()",
    "tensorflow.estimator.RunConfig().replace": "tensorflow.estimator.RunConfig()",
    "tensorflow.estimator.tpu.RunConfig().replace": "tensorflow.estimator.tpu.RunConfig()",
    "npu_bridge.npu_init.NPURunConfig().replace": "npu_bridge.npu_init.NPURunConfig()",
    "tensorflow.get_default_graph": "tensorflow.Graph()",
    "npu_bridge.npu_init.npu_config_proto": "tensorflow.ConfigProto()",
    "npu_bridge.npu_init.npu_run_config_init": "tensorflow.estimator.RunConfig()",
    # Nothing: a rule that takes the call out puts None there, and the name that gets it must mean the same before and after.
    **dict.fromkeys(
        (
            "tensorflow.config.experimental.set_memory_growth",
            "tensorflow.config.experimental.set_virtual_device_configuration",
            "tensorflow.config.set_logical_device_configuration",
        ),
        "None",
    ),
}  # fmt: skip
_VARIABLE_LISTS = re.compile(r"tensorflow\.(?:trainable_variables|global_variables|get_collection)$")
_KERAS_APPLICATION = re.compile(r"tensorflow\.keras\.applications\.(?:\w+\.)?[A-Z]\w+$")


def returned(name: str) -> str | None:
    """Qualified name of what a call of `name` returns, or None."""
    if name in _EXACT:
        return _EXACT[name]
    if _DATASET_MAKERS.match(name):
        return DATASET
    if name.startswith(DATASET + "."):
        method = name[len(DATASET) + 1 :]
        if method in DATASET_METHODS:
            return DATASET
        return ITERATOR if method in _ITERATOR_MAKERS else None
    if _ITERATOR_FUNCTIONS.match(name):
        return ITERATOR
    if _VARIABLE_LISTS.match(name):
        return f"{name}()"
    if _KERAS_APPLICATION.match(name):
        return "tensorflow.keras.Model()"
    return instance_of(name)
