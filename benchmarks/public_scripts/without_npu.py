"""The text that a migrated script had before: what uses npu_device is taken out, and each edit is told by its kind."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m

_MODULES = ("npu_device", "npu_ops", "npu_convert_dropout")
_HELD = {"gelu": "gelu", "fast_gelu": "gelu", "fast_gelu_grad": "gelu"}
_UNWRAPPED = {"npu_distributed_keras_optimizer_wrapper": "optimizer of ranks", "all_reduce": "gradients of ranks"}
_REMOVED = {"global_options": "option", "open": "open", "shard_and_rebatch_dataset": "batches of ranks", "broadcast": "broadcast"}


@dataclass(frozen=True)
class Edit:
    """One edit of a person.  kind: as in the table of answers; text: its line in the migrated script."""

    path: str
    kind: str
    text: str


def before(path: str, text: str) -> tuple[str, list[Edit]]:
    """The script without the NPU, and the edits that made it the migrated one.

    Raises: cst.ParserSyntaxError where the script does not parse.
    """
    remover = _Remover(path)
    return cst.parse_module(text).visit(remover).code, remover.edits


class _Remover(cst.CSTTransformer):
    def __init__(self, path: str) -> None:
        self.path = path
        self.edits: list[Edit] = []
        self.names: set[str] = set()

    def _note(self, kind: str, node: cst.CSTNode) -> None:
        self.edits.append(Edit(self.path, kind, cst.Module([]).code_for_node(node).strip().splitlines()[0][:150]))

    def _used(self, node: cst.CSTNode) -> set[str]:
        """The attributes of names of the NPU's modules in a statement; empty where there are none."""
        found: set[str] = set()
        for one in m.findall(node, m.Attribute() | m.Name()):
            parts, root = [], one
            while isinstance(root, (cst.Attribute, cst.Call)):
                parts.append(root.attr.value if isinstance(root, cst.Attribute) else "")
                root = root.value if isinstance(root, cst.Attribute) else root.func
            if isinstance(root, cst.Name) and root.value in self.names:
                found.update(part for part in (*parts, root.value) if part)
        return found

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        for statement in node.body:
            for name, local in _imported(statement):
                if name.partition(".")[0] in _MODULES:
                    self.names.add(local)

    def leave_SimpleStatementLine(self, original: cst.SimpleStatementLine, updated: cst.SimpleStatementLine):
        names = [name for statement in original.body for name, _ in _imported(statement)]
        if any(name.partition(".")[0] in _MODULES for name in names):
            self._note("dropout" if "npu_convert_dropout" in names else "import", original)
            return cst.RemoveFromParent()
        used = self._used(original)
        kinds = [kind for name, kind in _REMOVED.items() if name in used]
        if kinds:
            self._note(kinds[0], original)
            return cst.RemoveFromParent()
        if "gen_npu_ops" in used and not used & _HELD.keys():
            self._note("operator", original)
        return updated

    def leave_Call(self, original: cst.Call, updated: cst.Call):
        last = original.func.attr.value if isinstance(original.func, cst.Attribute) else ""
        if last in _UNWRAPPED and self._used(original.func):
            self._note(_UNWRAPPED[last], original)
            return updated.args[0].value
        if last == "NpuLossScaleOptimizer" and self._used(original.func):
            self._note("loss scale", original)
            return cst.parse_expression("tf.keras.mixed_precision.LossScaleOptimizer()").with_changes(args=updated.args[:1])
        dropped = [a for a in original.args if a.keyword is not None and a.keyword.value == "drop_remainder"]
        if last in ("batch", "padded_batch") and dropped and m.matches(dropped[0].value, m.Name("True")):
            self._note("drop_remainder", original)
            kept = [a for a in updated.args if a.keyword is None or a.keyword.value != "drop_remainder"]
            return updated.with_changes(args=[*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
        return updated

    def leave_FunctionDef(self, original: cst.FunctionDef, updated: cst.FunctionDef):
        used = self._used(original.body)
        if not used & _HELD.keys() and not (used and "gelu" in original.name.value):
            return updated
        if "grad" in original.name.value:
            return cst.RemoveFromParent()
        if not original.params.params:
            return updated
        self._note("gelu", original)
        line = f"return tf.nn.gelu({original.params.params[0].name.value})"
        return updated.with_changes(body=cst.IndentedBlock([cst.parse_statement(line)]))

    def leave_If(self, original: cst.If, updated: cst.If):
        if self._used(original.test):
            return cst.RemoveFromParent()
        return updated

    def leave_IndentedBlock(self, original: cst.IndentedBlock, updated: cst.IndentedBlock):
        return updated if updated.body else updated.with_changes(body=[cst.parse_statement("pass")])


def _imported(statement: cst.BaseSmallStatement) -> list[tuple[str, str]]:
    """Dotted names that a statement imports, with their local names."""
    code = cst.Module([]).code_for_node
    if isinstance(statement, cst.Import):
        return [
            (code(a.name), code(a.asname.name) if a.asname else code(a.name).partition(".")[0])
            for a in statement.names
        ]  # fmt: skip
    if isinstance(statement, cst.ImportFrom) and statement.module is not None and not statement.relative:
        module = code(statement.module)
        names = [] if isinstance(statement.names, cst.ImportStar) else statement.names
        return [(f"{module}.{code(a.name)}", code(a.asname.name if a.asname else a.name)) for a in names] or [(module, "")]
    return []
