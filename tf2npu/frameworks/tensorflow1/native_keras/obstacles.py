"""The obstacles that keep a program on native Keras: what tf.keras lacks, and packages that make objects of native Keras."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from tf2npu.frameworks.tensorflow1.adapter_names import NPU_INIT, NPU_INIT_NAMES
from tf2npu.frameworks.tensorflow1.native_keras.names import modules, objects, tensorflow_name
from tf2npu.frameworks.tensorflow1.native_keras.source_names import SourceNames
from tf2npu.scanner.syntax import chain, last_name

_MODULE_TEXT = re.compile(r"keras(?:\.[a-z_]\w*)*")
_FOR_ARRAYS = frozenset({"keras_preprocessing", "keras_applications"})
_OTHER_BACKENDS = frozenset({"theano", "cntk"})
_OWN = frozenset({"keras", "horovod", "npu_bridge", "npu_device", "tensorflow", "tensorflow_core", "tf_keras"})
_WITH_NATIVE_OBJECTS = frozenset(
    {"hyperas", "talos", "elephas", "autokeras", "innvestigate", "dist_keras", "distkeras", "seq2seq"}
)
_NO_SETTER = frozenset({"trainable_weights", "non_trainable_weights", "weights"})


def foreign_imports(names: SourceNames, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(Line, name) of imports from packages that make objects of native Keras, or put another library below it."""
    whenever_loaded = {id(node) for node in tree.body}
    for node in names.imports:
        for name in _imported(node):
            root = name.partition(".")[0]
            is_other = root in _OTHER_BACKENDS and id(node) in whenever_loaded
            is_built_on = root not in _OWN | _FOR_ARRAYS and any("keras" in part for part in name.split("."))
            if root in _WITH_NATIVE_OBJECTS or is_other or is_built_on:
                yield node.lineno, name


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names] if node.level == 0 and node.module else []
    return [alias.name for alias in node.names]


def obstacles(names: SourceNames, done: set[int]) -> Iterator[tuple[int, str]]:
    """(Line, name) of what has no place in a program with tf.keras.  done: ids of chains that were changed."""
    for node, root, parts in names.chains():
        if id(node) not in done:
            yield from _of_chain(names, node, root, parts)
    yield from _of_stars(names)
    for other in names.nodes:
        yield from _of_node(other)


def _of_chain(names: SourceNames, node: ast.Attribute, root: str, parts: list[str]) -> Iterator[tuple[int, str]]:
    """A chain that ends in nothing that tf.keras has."""
    for target in sorted(names.aliases[root]):
        if target in modules():
            full = [*target.split("."), *parts] if target else parts
            if any(tensorflow_name(".".join(full[:end])) is not None for end in range(len(full), 0, -1)):
                continue
            known = (".".join(full[:end]) for end in range(len(full), 0, -1))
            found = next((name for name in known if name in objects() or name in modules()), None)
            if found is None or (found in modules() and found != ".".join(full)):
                behind = full[: len(found.split(".")) + 1] if found else full[:1]
                if behind[-1].startswith("__") and behind[-1] != "__version__":
                    continue
                yield node.lineno, ".".join(["keras", *behind])


def _of_stars(names: SourceNames) -> Iterator[tuple[int, str]]:
    """Names that only a star import of native Keras can give."""
    stars = [node for node in names.imports if any(alias.name == "*" for alias in node.names)]
    native = [node for node in stars if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("keras.")]
    of_adapter = [node for node in stars if isinstance(node, ast.ImportFrom) and node.module == NPU_INIT]
    if not native or len(native) + len(of_adapter) < len(stars):
        return
    given = {name for node in native for name in _star_names(str(node.module))}
    given |= NPU_INIT_NAMES if of_adapter else set()  # which a conversion may have written
    for node in names.nodes:
        if isinstance(node, ast.Name) and not (names.is_bound(node.id) or node.id in given or hasattr(builtins, node.id)):
            yield node.lineno, f"{node.id} of {native[0].module}"


def _star_names(module: str) -> list[str]:
    inside = module[len("keras.") :]
    return [name.rpartition(".")[2] for name in objects() if name.rpartition(".")[0] == inside]


def _of_node(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__", "patch"):
        texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        yield from ((node.lineno, text) for text in texts if _MODULE_TEXT.match(f"{text}.".rpartition(".")[0]))
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in _NO_SETTER and chain(target)[0] == "self":
                yield node.lineno, f"self.{target.attr} = ..."
            is_backend = isinstance(target, ast.Subscript) and _is_text(target.slice, "KERAS_BACKEND")
            if is_backend and not _is_text(node.value, "tensorflow"):
                yield node.lineno, "KERAS_BACKEND"


def _is_text(node: ast.expr, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
