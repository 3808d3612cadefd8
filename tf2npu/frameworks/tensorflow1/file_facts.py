"""The facts about TensorFlow in one file: flags, training, distribution, and the flow of configs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from tf2npu.findings import Seen
from tf2npu.frameworks.base import FoundFacts, ParsedFile
from tf2npu.frameworks.config_flow import ConfigFlow
from tf2npu.frameworks.tensorflow1.compat_names import has_names_of_1
from tf2npu.frameworks.tensorflow1.config_flow_reader import gather_config_flow, may_hand_on, without_flow
from tf2npu.frameworks.tensorflow1.dialect_evidence import EAGER_WORK, evidence_of_2
from tf2npu.frameworks.tensorflow1.dialect_names import RUNNING_2, SIGNS_2
from tf2npu.frameworks.tensorflow1.mixed_computing import flags_of_mixed_computing
from tf2npu.frameworks.tensorflow1.names import canonical, is_adapter2
from tf2npu.frameworks.tensorflow1.restored_names import uses_old_names
from tf2npu.scanner.entry_points import has_arguments
from tf2npu.scanner.facts import FileFacts
from tf2npu.scanner.names import root_of

USES_KERAS_NET = "uses_keras_net"
HAS_ESTIMATOR = "has_estimator"
RUNS_KERAS = "runs_keras"
"""The file trains, loads or asks for the session of what may be a Keras model."""
HAS_ADAPTER2 = "has_adapter2"
"""The file imports the adapter of TensorFlow 2, and Python takes the file."""
HAS_NAMES_OF_1, HAS_NAMES_OF_2 = "has_names_of_1", "has_names_of_2"
"""The file has a name that only one TensorFlow has, or does what only TensorFlow 2 can."""
TRAINS_IN_2 = "trains_in_2"
"""The file has a part in training as TensorFlow 2 writes it: an optimizer, batches, gradients, or `fit`."""
NEEDS_NPU_BRIDGE = "needs_npu_bridge"
"""The file uses a name that other libraries dropped, and that npu_bridge has back."""

_KERAS_NET = re.compile(
    r"^tensorflow\.keras(?:$|\.(?:Model|Sequential|models|applications|callbacks)\b"
    r"|\.backend\.(?:eval|function|(?:batch_)?[gs]et_value|[gs]et_session|clear_session|set_learning_phase)$)"
)
"""APIs that run in Keras' session or say how; the rest of its backend only builds a graph."""
_KERAS_PARTS = re.compile(
    r"^tensorflow\.keras\.(?:layers|initializers|regularizers|constraints|activations|losses|utils|datasets|preprocessing|backend)\b"
)
ESTIMATOR = re.compile(
    r"^(?:tensorflow\.estimator\.(?:tpu\.)?(?:\w*(?:Estimator|Classifier|Regressor)|train_and_evaluate)"
    r"|npu_bridge\.npu_init\.NPUEstimator)$"
)
_STARRED_ESTIMATOR = "NPUEstimator"
_KERAS_RUNS = frozenset({
    "compile", "fit", "fit_generator", "train_on_batch", "test_on_batch", "predict_on_batch", "predict_generator",
    "evaluate_generator", "get_session", "load_model", "model_to_estimator",
})  # fmt: skip
_STRATEGY = re.compile(r"^tensorflow(?:\.contrib|\.compat\.v2)?\.distribute\.(?:experimental\.)?(\w*Strategy)$")
_TRAINING_CALLS = frozenset(
    {"minimize", "apply_gradients", "train_and_evaluate", "fit", "fit_generator", "create_train_op", "optimize_loss"}
)
_OPTIMIZER = re.compile(
    r"^tensorflow\.(?:keras\.)?optimizers\.(?:\w+\.)*[A-Z]\w+$|^tensorflow\.(?:\w+\.)*\w*distribute\.\w*Strategy$"
)
_PARTS_OF_TRAINING = frozenset({
    "fit", "fit_generator", "train_on_batch", "apply_gradients", "minimize", "batch", "padded_batch",
    "experimental_distribute_dataset",
})  # fmt: skip
_PARAMETER_SERVER = frozenset({"tensorflow.train.replica_device_setter", "tensorflow.train.Server"})


def dialect(facts: FileFacts) -> str:
    """The TensorFlow version that names of a file tell, "1" or "2", or ""; the adapter that it imports tells before they do."""
    if HAS_ADAPTER2 in facts.flags:
        return "2"
    return "1" if HAS_NAMES_OF_1 in facts.flags else "2" if HAS_NAMES_OF_2 in facts.flags else ""


def imports_adapter2(facts: FileFacts) -> bool:
    """Whether a file imports the adapter of TensorFlow 2, also where that is all that is known of the file."""
    return _are_of_adapter2(facts.imports)


def uses_npu_bridge(imports: Iterable[tuple[int, str]]) -> bool:
    """Whether imports name the adapter of TensorFlow 1: the file has moved, and stays one for 1."""
    return any(level == 0 and root_of(module) == "npu_bridge" for level, module in imports)


def file_facts(file: ParsedFile) -> FoundFacts:
    """The facts that one file tells of itself."""
    flags = frozenset(_flags(file))
    evidence = None if HAS_NAMES_OF_1 in flags else evidence_of_2(file, canonical)
    if evidence is not None:
        flags |= {HAS_NAMES_OF_2}
    running = RUNNING_2 if HAS_NAMES_OF_2 in flags and HAS_NAMES_OF_1 not in flags else frozenset[str]()
    runs = evidence is not None and evidence.api in EAGER_WORK and _is_at_top(file.tree, evidence.line)
    trains = any(map(_trains, file.calls))
    return FoundFacts(flags, trains, tuple(_distribution(file)), _config_flow(file), evidence, running, runs)


def _is_at_top(tree: ast.Module, line: int) -> bool:
    """Whether a line belongs to code that runs when a module is loaded."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(s.lineno <= line <= (s.end_lineno or 0) for s in tree.body if not isinstance(s, definitions))


def _are_of_adapter2(imports: Iterable[tuple[int, str]]) -> bool:
    return any(level == 0 and is_adapter2(module) for level, module in imports)


def _config_flow(file: ParsedFile) -> ConfigFlow | None:
    if may_hand_on(file.text):
        return gather_config_flow(file.tree, file.has_any_stars, file.text)
    return without_flow(file.nodes, file.targets, file.has_stars)


def _flags(file: ParsedFile) -> Iterator[str]:
    names = {name for name, _ in file.references} | {name for _, name, _ in file.imported}
    if _uses_keras_net(file, names):
        yield USES_KERAS_NET
    if any(map(ESTIMATOR.match, names)) or _has_starred_estimator(file):
        yield HAS_ESTIMATOR
    if any(map(_runs_keras, file.calls)):
        yield RUNS_KERAS
    if _are_of_adapter2(file.imports):
        yield HAS_ADAPTER2
    if has_names_of_1(file, names) or uses_npu_bridge(file.imports):
        yield HAS_NAMES_OF_1
    if not names.isdisjoint(SIGNS_2):
        yield HAS_NAMES_OF_2
    if any(map(_OPTIMIZER.match, names)) or any(map(_has_part_in_training, file.calls)):
        yield TRAINS_IN_2
    yield from flags_of_mixed_computing(file)
    if uses_old_names(file.imports, file.nodes, file.targets):
        yield NEEDS_NPU_BRIDGE


def _has_part_in_training(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _PARTS_OF_TRAINING and bool(call.args or call.keywords)


def _uses_keras_net(file: ParsedFile, names: set[str]) -> bool:
    """Whether a file makes or runs a Keras model, or imports Keras as a whole and uses none of its parts."""
    if any(name != "tensorflow.keras" and _KERAS_NET.match(name) for name in names):
        return True
    if "tensorflow.keras.backend" in file.assigned:  # whatever is called by that name
        return True
    is_imported = any(name == "tensorflow.keras" and local != "tensorflow" for local, name, _ in file.imported)
    return is_imported and not any(map(_KERAS_PARTS.match, names))


def _has_starred_estimator(file: ParsedFile) -> bool:
    if not file.imported or _STARRED_ESTIMATOR not in file.text:
        return False
    return any(type(node) is ast.Name and node.id == _STARRED_ESTIMATOR for node in file.nodes)


def _distribution(file: ParsedFile) -> Iterator[tuple[str, Seen]]:
    for name, line in [*((name, line) for _, name, line in file.imported), *file.references]:
        strategy = _STRATEGY.match(name)
        if name in _PARAMETER_SERVER or (strategy and strategy.group(1).startswith("ParameterServer")):
            yield "parameter-server", Seen(file.path, line, name)
        elif strategy and strategy.group(1) != "Strategy":
            yield "tf", Seen(file.path, line, name)


def _trains(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in _TRAINING_CALLS or (name == "train" and has_arguments(call))


def _runs_keras(call: ast.Call) -> bool:
    receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in _KERAS_RUNS and not (isinstance(receiver, ast.Name) and receiver.id == "re")
