"""Spellings of TensorFlow 1.15's APIs that are no names of the converter's rules, each with the name that is.

All come from the inventory of the real package: the modules that TensorFlow is written in, and public names that share an object
with a name that a rule matches. Names that nothing tells apart from another object are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from tf2npu.frameworks.tensorflow1.names import by_pattern, with_public_prefix

COLUMNS = ("module", "public", "names")
UNLISTED_MODULES = ("tensorflow.python.pywrap_tensorflow",)
"""Private modules that scripts import and where the inventory has nothing: what they hold is made by SWIG."""
# Modules that only hand on what another one defines; the inventory has the names of that one.
_HANDING_ON = {
    "tensorflow.python.ops.gradients": (
        "tensorflow.python.ops.gradients_impl",
        "tensorflow.python.eager.backprop",
        "tensorflow.python.ops.custom_gradient",
        "tensorflow.python.ops.gradients_util",
    ),
    "tensorflow.python.ops.image_ops": ("tensorflow.python.ops.image_ops_impl", "tensorflow.python.ops.gen_image_ops"),
    "tensorflow.python.ops.losses.losses": ("tensorflow.python.ops.losses.losses_impl", "tensorflow.python.ops.losses.util"),
    "tensorflow.python.ops.metrics": ("tensorflow.python.ops.metrics_impl",),
    "tensorflow.python.ops.rnn_cell": ("tensorflow.python.ops.rnn_cell_impl",),
    "tensorflow.python.ops.functional_ops": ("tensorflow.python.ops.map_fn",),
    "tensorflow.contrib.rnn.python.ops.core_rnn": ("tensorflow.python.ops.rnn",),
    "tensorflow.contrib.rnn.python.ops.core_rnn_cell": ("tensorflow.python.ops.rnn_cell_impl",),
    "tensorflow.estimator.tpu.python.tpu.tpu_estimator": ("tensorflow_estimator.python.estimator.tpu.tpu_estimator",),
    "tensorflow.estimator.tpu.python.tpu.tpu_config": ("tensorflow_estimator.python.estimator.tpu.tpu_config",),
    "tensorflow.estimator.tpu.python.tpu.tpu_optimizer": ("tensorflow.python.tpu.tpu_optimizer",),
    "tensorflow.python.saved_model.builder": ("tensorflow.python.saved_model.builder_impl",),
    "tensorflow.python.saved_model.loader": ("tensorflow.python.saved_model.loader_impl",),
    "tensorflow.python.training.queue_runner": ("tensorflow.python.training.queue_runner_impl",),
    "tensorflow.python.training.learning_rate_decay": ("tensorflow.python.keras.optimizer_v2.legacy_learning_rate_decay",),
    "tensorflow.python.training.saver": ("tensorflow.python.training.checkpoint_management",),
    "tensorflow.python.training.distribute": ("tensorflow.python.distribute.distribute_lib",),
    "tensorflow.python.training.distribution_strategy_context": ("tensorflow.python.distribute.distribution_strategy_context",),
    "tensorflow.python.ops.sets": ("tensorflow.python.ops.sets_impl",),
    "tensorflow.python.ops.signal.fft_ops": ("tensorflow.python.ops.gen_spectral_ops",),
    "tensorflow.python.saved_model.signature_def_utils": ("tensorflow.python.saved_model.signature_def_utils_impl",),
    "tensorflow.python.saved_model.main_op": ("tensorflow.python.saved_model.main_op_impl",),
    "tensorflow.python.saved_model.utils": ("tensorflow.python.saved_model.utils_impl",),
    **{
        f"tensorflow.python.ops.{kind}_ops": (f"tensorflow.python.ops.gen_{kind}_ops",)
        for kind in ("bitwise", "data_flow", "io", "linalg", "logging", "parsing", "proto", "sdca", "string")
    },
}
# Modules that gather what is public under one name.
_NAMESPACES = {
    "tensorflow.python": "tensorflow",
    "tensorflow.python.client.client_lib": "tensorflow",
    "tensorflow.python.framework.framework_lib": "tensorflow",
    "tensorflow.python.ops.standard_ops": "tensorflow",
    "tensorflow.python.feature_column.feature_column_lib": "tensorflow.feature_column",
    "tensorflow.python.keras.initializers": "tensorflow.keras.initializers",
    "tensorflow.python.lib.io.python_io": "tensorflow.python_io",
    "tensorflow.python.ops.distributions.distributions": "tensorflow.distributions",
    "tensorflow.python.ops.initializers_ns": "tensorflow.initializers",
    "tensorflow.python.ops.linalg.linalg": "tensorflow.linalg",
    "tensorflow.python.ops.linalg.linalg_impl": "tensorflow.linalg",
    "tensorflow.python.ops.signal.signal": "tensorflow.signal",
    "tensorflow.python.eager.test": "tensorflow.test",
    "tensorflow.python.platform.test": "tensorflow.test",
    "tensorflow.python.profiler.profiler": "tensorflow.profiler",
    "tensorflow.python.saved_model.saved_model": "tensorflow.saved_model",
    "tensorflow.python.summary.summary": "tensorflow.summary",
    "tensorflow.python.distribute.cluster_resolver": "tensorflow.distribute.cluster_resolver",
    "tensorflow.python.data": "tensorflow.data",
}
_OTHER_MEANING = ("tensorflow.compat.v2.", "tensorflow.raw_ops.")


class Named(Protocol):
    """An object of the inventory: public names, first one first, and those of the modules below tensorflow.python."""

    kind: str
    names: list[str]
    private: list[str]


def rows(entries: Iterable[Named], matched: set[str]) -> Iterator[tuple[str, str, str]]:
    """Module, public module, and names, those that differ as `private=public`.  matched: the names that rules look for."""
    found = _spellings(entries, matched)
    for module, sources in _HANDING_ON.items():
        for name, public in list(found.items()):
            head, _, last = name.rpartition(".")
            if head in sources:
                found.setdefault(f"{module}.{last}", public)
    grouped: dict[tuple[str, str], list[str]] = {}
    for name, public in sorted(found.items()):
        if name not in matched and by_pattern(name) != public and name != public:
            head, _, last = name.rpartition(".")
            public_head, _, public_last = public.rpartition(".")
            grouped.setdefault((head, public_head), []).append(last if last == public_last else f"{last}={public_last}")
    return ((module, public, " ".join(names)) for (module, public), names in sorted(grouped.items()))


def _spellings(entries: Iterable[Named], matched: set[str]) -> dict[str, str]:
    """Spelling -> name, of private modules always, of public ones where only the other name is matched by a rule."""
    found: dict[str, str] = {}
    entries = list(entries)
    taken = {with_public_prefix(name) for entry in entries for name in entry.names}
    for entry in sorted(entries, key=lambda e: e.names):
        public = [name for name in entry.names if not name.startswith(_OTHER_MEANING) and ".python." not in name]
        public = public or [name for name in entry.names if name.startswith("tensorflow.compat.v2.")][:1]
        if entry.kind not in ("class", "function") or not public:
            continue
        known = [by_pattern(with_public_prefix(name)) for name in public]
        wanted = [name for name in known if name in matched] or known
        for name in sorted({with_public_prefix(name) for name in entry.private} - taken):
            usual = by_pattern(name)
            found.setdefault(name, usual if usual in wanted else wanted[0])
        for name in _gathered(public):
            found.setdefault(name, wanted[0])
        if wanted[0] in matched:
            found.update({name: wanted[0] for name in known if name not in matched})
    return found


def _gathered(public: list[str]) -> Iterator[str]:
    """The names that public names have in the modules that gather them."""
    for module, namespace in _NAMESPACES.items():
        for name in public:
            head, _, last = name.rpartition(".")
            if head == namespace:
                yield with_public_prefix(f"{module}.{last}")
