"""Evidence that a file is written for TensorFlow 2: what it does ends with an error on TensorFlow 1.15, which runs graphs.

Only what is certain counts: a value that cannot be followed, and whatever stands under a test of versions, tells nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from tf2npu.findings import Seen
from tf2npu.frameworks.base import ParsedFile
from tf2npu.frameworks.tensorflow1.api_return_types import DATASET
from tf2npu.frameworks.tensorflow1.compat_names import has_tensorflow_beside
from tf2npu.frameworks.tensorflow1.file_scopes import FileScopes, Place, enumerated
from tf2npu.frameworks.tensorflow1.tensorflow2_names import TENSORFLOW_2_NAMES
from tf2npu.frameworks.tensorflow1.value_kinds import SUBCLASS, TENSOR, is_model, is_model_class
from tf2npu.scanner.syntax import walk

ITERATION = "A loop over a dataset"
VALUE = "The value of a tensor"
TENSOR_FIT = "Training on tensors without a number of steps"
DEFERRED = "A strategy's model without an input shape"
OWN_STEP = "A model with a training step of its own"
EAGER_WORK = frozenset({ITERATION, VALUE, TENSOR_FIT})
"""Evidence that is work, where it stands outside of functions: only what is run does that."""
_MAY_HOLD = re.compile(r"keras|\.numpy\(|\bdata\b")
"""Words of which a file that holds evidence has one: looking for them is cheaper than following values."""
_STEPS = {"fit": "steps_per_epoch", "evaluate": "steps", "predict": "steps"}
_OWN_STEPS = frozenset({"train_step", "test_step", "predict_step"})
_SHAPED = frozenset({"input_shape", "batch_input_shape", "input_dim", None})
"""Arguments by which a layer says what it is given; None stands for `**kw`."""
_WITH_SHAPE = re.compile(r"tensorflow\.keras\.(?:layers\.(?:InputLayer|Embedding)|Input)$")
_LAYER = re.compile(r"tensorflow\.keras\.layers\.[A-Z]\w+$")
_NAMES_OF_2 = frozenset(TENSORFLOW_2_NAMES)
_VARIABLE = "tensorflow.Variable()"
_VALUES = "as_numpy_iterator"
"""The method of a dataset that needs no graph: of others TensorFlow 1.15 has functions, so they tell less."""
_Evidence = Callable[[FileScopes, Place], str]


def evidence_of_2(file: ParsedFile, canonical: Callable[[str], str]) -> Seen | None:
    """The first place of a file that TensorFlow 1.15 cannot run, and what stands there; None where there is none."""
    if not _MAY_HOLD.search(file.text) or _is_of_one_release(file):
        return None
    scopes = FileScopes(file.tree, {local: name for local, name, _ in file.imported}, canonical)
    found = [(place.node.lineno, what) for place in scopes.places if not place.is_guarded for what in _told(scopes, place)]
    return Seen(file.path, *min(found)) if found else None


def _is_of_one_release(file: ParsedFile) -> bool:
    """Whether a file names the release that it means in its imports, and has no TensorFlow beside it."""
    names = [module for level, module in file.imports if level == 0]
    return any(name.startswith("tensorflow.compat") for name in names) and not has_tensorflow_beside(names)


def _told(scopes: FileScopes, place: Place) -> Iterator[str]:
    for kind, ask in _ASKED:
        if isinstance(place.node, kind) and (what := ask(scopes, place)):
            yield what


def _loop(scopes: FileScopes, place: Place) -> str:
    iterables = [place.node.iter] if isinstance(place.node, ast.For) else [one.iter for one in place.node.generators]
    return ITERATION if any(_is_dataset(scopes, place, one) for one in iterables) else ""


def _is_dataset(scopes: FileScopes, place: Place, iterable: ast.expr) -> bool:
    return scopes.kinds.kind(enumerated(iterable) or iterable, place.scope) == DATASET


def _call(scopes: FileScopes, place: Place) -> str:
    call = place.node
    if isinstance(call.func, ast.Name):
        is_iterator = call.func.id in ("iter", "list") and len(call.args) == 1
        return ITERATION if is_iterator and _is_dataset(scopes, place, call.args[0]) else ""
    return _method(scopes, place, call, call.func.value, call.func.attr) if isinstance(call.func, ast.Attribute) else ""


def _method(scopes: FileScopes, place: Place, call: ast.Call, receiver: ast.expr, method: str) -> str:
    kind = scopes.kinds.kind(receiver, place.scope)
    if method == "numpy":
        is_value = kind in (TENSOR, _VARIABLE) and not call.args and not scopes.has_py_function
        return VALUE if is_value else ""
    if method in _STEPS and is_model(kind):
        return TENSOR_FIT if _is_fed_tensors(scopes, place, call, _STEPS[method]) else ""
    is_of_2 = kind == DATASET and f"{DATASET}.{method}" in _NAMES_OF_2
    return f"tf.data.Dataset.{method}" if is_of_2 and (scopes.has_keras or method == _VALUES) else ""


def _is_fed_tensors(scopes: FileScopes, place: Place, call: ast.Call, steps: str) -> bool:
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if steps in keywords or None in keywords:
        return False
    first = call.args[0] if call.args else keywords.get("x")
    return scopes.kinds.kind(first, place.scope) == TENSOR


def _reference(scopes: FileScopes, place: Place) -> str:
    node = place.node
    name = scopes.kinds.dotted(node)
    if name not in _NAMES_OF_2 or not (name.startswith("tensorflow.keras.") or scopes.has_keras):
        return ""
    return name.replace("tensorflow.", "tf.", 1)


def _strategy(scopes: FileScopes, place: Place) -> str:
    node = place.node
    if not any(_is_scope(scopes, place, item.context_expr) for item in node.items) or scopes.builds:
        return ""
    return DEFERRED if any(_is_deferred(scopes, place, one) for one in _made_under(scopes, node)) else ""


def _is_scope(scopes: FileScopes, place: Place, value: ast.expr) -> bool:
    """Whether a value is `strategy.scope()` of a strategy of TensorFlow's."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.func.attr != "scope":
        return False
    kind = scopes.kinds.kind(value.func.value, place.scope)
    return kind is not None and kind.startswith("tensorflow.distribute.") and kind.endswith("Strategy()")


def _made_under(scopes: FileScopes, node: ast.With) -> Iterator[ast.Call]:
    """The calls in a block, and in functions of the file that it calls."""
    calls = [one for statement in node.body for one in walk(statement) if isinstance(one, ast.Call)]
    yield from calls
    for call in calls:
        function = scopes.functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is not None:
            yield from (one for one in walk(function) if isinstance(one, ast.Call))


def _is_deferred(scopes: FileScopes, place: Place, call: ast.Call) -> bool:
    """Whether a call makes a model whose input is not known before it is given some."""
    if scopes.kinds.kind(call, place.scope) == SUBCLASS:
        return True
    name = scopes.kinds.dotted(call.func)
    if not is_model_class(name) or not name.endswith("Sequential") or not call.args or not isinstance(call.args[0], ast.List):
        return False
    first = call.args[0].elts[0] if call.args[0].elts else None
    if not isinstance(first, ast.Call):
        return False
    layer = scopes.kinds.dotted(first.func)
    has_shape = any(keyword.arg in _SHAPED for keyword in first.keywords) or _WITH_SHAPE.match(layer)
    return _LAYER.match(layer) is not None and not has_shape


def _class(scopes: FileScopes, place: Place) -> str:
    node = place.node
    names = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    return OWN_STEP if node.name in scopes.kinds.subclasses and not names.isdisjoint(_OWN_STEPS) else ""


_ASKED: tuple[tuple[type | tuple[type, ...], _Evidence], ...] = (
    ((ast.For, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _loop),
    (ast.Call, _call),
    ((ast.Attribute, ast.Name), _reference),
    (ast.With, _strategy),
    (ast.ClassDef, _class),
)
"""The kinds of nodes that may tell, and the question about each."""
