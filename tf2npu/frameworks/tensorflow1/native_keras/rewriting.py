"""A source for native Keras as one for tf.keras: its imports, and the calls that mean something else there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tf2npu.findings import Seen
from tf2npu.frameworks.base import Rewriting, SourceFix
from tf2npu.frameworks.tensorflow1.native_keras import messages
from tf2npu.frameworks.tensorflow1.native_keras.imports import NotInTensorFlow, rewritten_import
from tf2npu.frameworks.tensorflow1.native_keras.keras1_calls import (
    ORDERINGS,
    CallChanges,
    Unclear,
    change_layer,
    change_merge,
    change_method,
    is_keras1_method,
)
from tf2npu.frameworks.tensorflow1.native_keras.names import DATA, keras1_keywords, modules, objects, tensorflow_name
from tf2npu.frameworks.tensorflow1.native_keras.obstacles import foreign_imports, obstacles
from tf2npu.frameworks.tensorflow1.native_keras.optimizer_calls import change_optimizer, written_out
from tf2npu.frameworks.tensorflow1.native_keras.source_names import Placed, SourceNames, native
from tf2npu.scanner.syntax import chain, last_name

RULE = "NPU303"
_MENTION = re.compile(r"\bkeras\b")
_OPTIMIZERS = frozenset({"SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"})
_OF_KERAS_1 = messages.KEYWORDS.partition("{")[0]
_RECURRENT = frozenset({"LSTM", "GRU", "LSTMCell", "GRUCell"})


def rewriting(path: str, text: str, tree: ast.Module) -> Rewriting | None:
    """A source that imports native Keras as one for tf.keras; None for a source that does not."""
    if "keras" not in text or not _MENTION.search(text):
        return None
    return _Source(path, text, tree).rewriting()


class _Source:
    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.names = SourceNames(text, tree)
        self.fixes: list[SourceFix] = []
        self.obstacles: list[Seen] = []
        self.done: set[int] = set()  # chains of attributes that were changed with what stands beside them

    def rewriting(self) -> Rewriting | None:
        imported = [name for node in self.names.imports for name in _imported(node)]
        if not imported:
            return None
        for node in self.names.imports:
            try:
                self.add(node, messages.IMPORT, rewritten_import(self.names, node))
            except NotInTensorFlow as missing:
                self.obstacle(node.lineno, str(missing))
        for chained, root, parts in self.names.chains():
            self.chain(chained, root, parts)
        for one in self.names.nodes:
            if isinstance(one, ast.Call):
                self.call(one)
                self.ordering(one, one.func, "set_image_dim_ordering", one.args, "set_image_data_format")
            elif isinstance(one, ast.Compare) and isinstance(one.left, ast.Call) and isinstance(one.ops[0], ast.Eq | ast.NotEq):
                self.ordering(one, one.left.func, "image_dim_ordering", one.comparators, "image_data_format")
            elif isinstance(one, ast.Constant) and one.value == "val_accuracy":
                self.remark(one, messages.ACCURACY, "manual")
        for line, name in obstacles(self.names, self.done):
            self.obstacle(line, name)
        foreign = tuple(Seen(self.path, line, name) for line, name in foreign_imports(self.names, self.tree))
        self.weights()
        self.fixes.sort(key=lambda fix: (fix.start, fix.end))
        found = sorted(set(self.obstacles), key=lambda seen: (seen.line, seen.api))
        is_wanted, is_older = not all(map(_is_data, imported)), self.is_older
        return Rewriting(RULE, tuple(self.fixes), tuple(found), foreign, is_wanted, is_older, frozenset({"keras"}))

    @property
    def is_older(self) -> bool:
        """Whether something of Keras 1, or a module that Keras has no longer beside TensorFlow 2, is there."""
        imported = [module for node in self.names.imports for module, _ in _imported(node)]
        moved = (native(module) for module in imported)
        return any(modules().get(m, m) != m for m in moved if m) or any(
            fix.message == messages.RENAMED or fix.message.startswith(_OF_KERAS_1) for fix in self.fixes
        )

    def weights(self) -> None:
        """Remark on losses that are divided by another number than in Keras up to 2.2."""
        for node in self.names.nodes:
            words = node.keywords if isinstance(node, ast.Call) else []
            weighted = next((word for word in words if _is_weight(node, word)), None)
            if weighted is not None:
                return self.remark(weighted, messages.WEIGHTS, "manual")
            if isinstance(node, ast.Call) and self.names.object_of(node.func) == "layers.Masking":
                return self.remark(node, messages.WEIGHTS, "manual")

    def obstacle(self, line: int, name: str) -> None:
        self.obstacles.append(Seen(self.path, line, name))

    def add(self, node: Placed, message: str, changes: tuple[tuple[int, int, str], ...]) -> None:
        if changes:
            self.fixes.append(SourceFix(*self.names.span(node), message, tuple(sorted(changes))))

    def remark(self, node: Placed, message: str, level: str) -> None:
        self.fixes.append(SourceFix(*self.names.span(node), message, (), level))

    def ordering(self, node: Placed, function: ast.expr, old: str, values: list[ast.expr], new: str) -> None:
        """Change the order of dimensions of Keras 1, where its literal stands beside the function that asks for it or sets it."""
        value = values[0] if len(values) == 1 else None
        text = ORDERINGS.get(str(value.value)) if isinstance(value, ast.Constant) else None
        root, _ = chain(function)
        if not isinstance(function, ast.Attribute) or value is None or text is None or not self.names.is_certain(root):
            return
        if self.names.target(function) == f"backend.{old}":
            end = self.names.span(function)[1]
            self.add(node, messages.RENAMED, ((end - len(old), end, new), (*self.names.span(value), text)))
            self.done.add(id(function))

    def chain(self, node: ast.Attribute, root: str, parts: list[str]) -> None:
        """Change a chain of attributes where tf.keras has the object in another module than native Keras."""
        target = self.names.target(ast.Name(root, ast.Load())) or ""
        full = f"{target}.{'.'.join(parts)}".lstrip(".")
        if self.through_backend(node, root, full):
            return
        own = next((n for n in _shorter(full) if n in objects()), None)
        if own is None:
            own = full if full in modules() else None
        if own is None:
            return
        where = objects().get(own, modules().get(own, ""))
        home = modules()[target] if target else ""
        if where == f"{home}.{own[len(target) :].lstrip('.')}".lstrip("."):
            return
        if (home and not where.startswith(f"{home}.")) or not self.names.is_certain(root):
            return self.obstacle(node.lineno, f"keras.{own}")
        start, _ = self.names.span(node)
        end = self.names.span(_outer(node, full, own))[1]
        new = f"{root}.{where[len(home) :].lstrip('.')}"
        self.fixes.append(SourceFix(start, end, messages.RENAMED, ((start, end, new),)))

    def through_backend(self, node: ast.Attribute, root: str, full: str) -> bool:
        """Write TensorFlow's own name where a chain reaches it through the backend; whether it does."""
        own = next((name for name in _shorter(full) if tensorflow_name(name) is not None), None)
        if own is None:
            return False
        if not self.names.tensorflow or not self.names.is_certain(root):
            self.obstacle(node.lineno, f"keras.{own}")
            return True
        start, _ = self.names.span(node)
        end = self.names.span(_outer(node, full, own))[1]
        new = f"{self.names.tensorflow}.{tensorflow_name(own)}".rstrip(".")
        self.fixes.append(SourceFix(start, end, messages.RENAMED, ((start, end, new),)))
        return True

    def call(self, call: ast.Call) -> None:
        """Change the arguments of a call that Keras 1 or native Keras takes in another way."""
        changes = CallChanges(self.names.text, call, self.names.span)
        try:
            message = self.changed(call, changes)
        except Unclear as unclear:
            return self.obstacle(call.lineno, str(unclear))
        if not changes.changes:
            return
        root, _ = chain(call.func)
        if self.names.target(call.func) is not None and not self.names.is_certain(root):
            return self.obstacle(call.lineno, root)
        self.add(call, message.format(changes.named()), tuple(changes.changes))

    def changed(self, call: ast.Call, changes: CallChanges) -> str:
        """Make the changes of a call, and return what they are for.  Raises: Unclear."""
        name = self.names.object_of(call.func)
        if name is not None:
            module, _, last = name.rpartition(".")
            if module == "optimizers" and last in _OPTIMIZERS:
                change_optimizer(changes, last)
                return messages.DEFAULTS
            is_open = not {"recurrent_activation", "inner_activation"} & set(changes.keywords)
            if last in _RECURRENT and is_open and len(call.keywords) == len(changes.keywords):
                self.remark(call, messages.ACTIVATION, "info")
            if last in keras1_keywords() or module == "layers":
                change_layer(changes, last)
        elif isinstance(call.func, ast.Name) and self.names.target(call.func) == "layers.merge":
            change_merge(changes)
        elif isinstance(call.func, ast.Attribute):
            return self.changed_method(call, call.func.attr, changes)
        return messages.KEYWORDS

    def changed_method(self, call: ast.Call, method: str, changes: CallChanges) -> str:
        """Make the changes of a call of a method, which is a model's where its arguments are.  Raises: Unclear."""
        if is_keras1_method(method, call.keywords):
            change_method(changes, method)
            return messages.KEYWORDS
        if method == "compile":
            given = changes.keywords["optimizer"].value if "optimizer" in changes.keywords else next(iter(call.args), None)
            if isinstance(given, ast.Constant) and isinstance(given.value, str) and (new := written_out(given.value)):
                changes.changes.append((*self.names.span(given), new))
                return messages.DEFAULTS
        return messages.KEYWORDS


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(Module, name) of what an import takes from native Keras or from Horovod for it; the name is "" for the module itself."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            module, name, whole = alias.name, "", alias.name
        else:
            module, name, whole = node.module or "", alias.name, f"{node.module}.{alias.name}"
            if node.level or not module:
                continue
        if native(module) is not None or f"{whole}.".startswith("horovod.keras."):
            yield module, name


def _is_weight(node: ast.AST, word: ast.keyword) -> bool:
    """Whether an argument weighs or hides samples of a loss."""
    if word.arg == "mask_zero":
        return not (isinstance(word.value, ast.Constant) and not word.value.value)
    name = last_name(node.func) if isinstance(node, ast.Call) else ""
    return word.arg == "sample_weight" and name in ("fit", "train_on_batch")


def _is_data(imported: tuple[str, str]) -> bool:
    module, name = imported
    return name in DATA.get(module, ())


def _shorter(name: str) -> Iterator[str]:
    """A dotted name and those that it begins with, the longest first."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _outer(node: ast.Attribute, full: str, own: str) -> ast.expr:
    """The part of a chain that names an object; what follows are attributes of the object."""
    part: ast.expr = node
    for _ in range(full.count(".") - own.count(".")):
        assert isinstance(part, ast.Attribute)
        part = part.value
    return part
