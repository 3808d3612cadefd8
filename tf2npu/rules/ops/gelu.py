"""GELUs written out in TensorFlow ops, which become the NPU's own operator."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.gelu_formula import Formula
from tf2npu.rules.facts.gelu_function import formula_of, is_docstring
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.sites import Site

_HINT = re.compile(r"\b(?:tanh|erfc?)\b")
_HARMLESS = frozenset({"staticmethod", "classmethod"})


@rule(
    id="NPU503",
    title="GELU",
    on="function",
    why="The NPU has an operator for GELU in its tanh form; written out it is a dozen operators, forward and backward.",
    source="npu_bridge npu_unary_ops.gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))",
    examples=(
        Example(
            "def gelu(x):\n"
            "    '''Doc.'''\n"
            "    cdf = 0.5 * (1.0 + tf.tanh((0.7978845608 * (x + 0.044715 * tf.pow(x, 3)))))\n"
            "    return x * cdf",
            "def gelu(x):\n    '''Doc.'''\n    return npu_unary_ops.gelu(x)",
        ),
        Example(
            "def gelu(x):\n    return 0.5 * x * (1.0 + tf.erf(x / tf.sqrt(2.0)))",
            "def gelu(x):\n    return npu_unary_ops.gelu(x)",
            note="the erf form is another function; the largest difference is 4.7e-4",
            config=Config(unsafe_fixes=True),
        ),
        Example.same(
            "def gelu(x):\n    return 0.5 * x * (1.0 + tf.erf(x / tf.sqrt(2.0)))",
            note="the erf form needs --unsafe-fixes",
            level="info",
        ),
        Example.same("def gelu(x):\n    return tf.nn.relu(x)", note="only called so", level="info"),
        Example.same("import numpy as np\ndef gelu(x):\n    return x * np.tanh(x)", note="not a TensorFlow computation"),
    ),
)
def gelu_function(site: Site) -> None:
    """Replaces the body of a function that computes GELU by the NPU's operator."""
    node: cst.FunctionDef = site.node
    named_so = bool(re.search(r"(?:^|_)gelu(?:_|$)", node.name.value))
    text = site.source(node.body)
    if not (named_so or _has_hint(text)) or "npu_unary_ops" in text:
        return
    own = site.script.walked.scope_of[id(node)]
    site.fix.site = _header(site, node)
    formula = formula_of(site, node, own)
    kind = formula.kind() if formula is not None and not _is_decorated(node) else ""
    if formula is not None and kind:
        _apply(site, kind, lambda new: _replace_body(site, node, new), formula.argument)
    elif (
        named_so
        and uses_tensorflow(site.script)
        and (_mentions_tensorflow(site, own) or node.decorators or not node.params.params)
    ):
        _unknown(site, node)


def _has_hint(text: str) -> bool:
    """Whether a text has a function of which GELU is made; looking for a part of its name takes a fraction of the time."""
    return ("tanh" in text or "erf" in text) and _HINT.search(text) is not None


def _unknown(site: Site, node: cst.FunctionDef) -> None:
    message = "Called gelu, but its body is not a GELU formula that is recognised; "
    if len(node.params.params) > 1:
        site.info(message + "if one of its branches is, call npu_unary_ops.gelu(x) there.")
    else:
        site.info(message + "it stays as it is. If it is one, let it return npu_unary_ops.gelu(x), which is faster.")


def _mentions_tensorflow(site: Site, own: Scope) -> bool:
    for reference, scope in site.script.walked.references:
        if scope.is_inside(own) and (site.script.name_of(reference, scope) or "").startswith("tensorflow."):
            return True
    return False


def _apply(site: Site, kind: str, make: Any, argument: str) -> None:
    if kind == "erf" and not site.allows_unsafe():
        site.info(
            "This is GELU in its erf form and stays as it is; the NPU's own operator is faster and has the tanh form, which "
            f"differs by up to 4.7e-4. If that is acceptable: return npu_unary_ops.gelu({argument}), or run with --unsafe-fixes."
        )
        return
    make(f"{site.need('npu_unary_ops')}.gelu({argument})")
    differs = "" if kind == "tanh" else " The erf form became the tanh form, which differs by up to 4.7e-4."
    site.fixed(f"GELU is one operator on the NPU.{differs}")


def _header(site: Site, node: cst.FunctionDef) -> tuple[int, int]:
    start, end = site.script.tree.span(node)
    return start, start + len(site.script.text[start:end].rstrip())


def _is_decorated(node: cst.FunctionDef) -> bool:
    names = [d.decorator.value if isinstance(d.decorator, cst.Name) else "" for d in node.decorators]
    return any(name not in _HARMLESS for name in names)


def _replace_body(site: Site, node: cst.FunctionDef, new: str) -> None:
    """`return new` in the place of the statements; comments among them stay, a docstring stays."""
    tree = site.script.tree
    body: Any = node.body
    lines = list(body.body)
    if isinstance(body, cst.SimpleStatementSuite):
        site.replace_range(tree.span(lines[0])[0], tree.span(lines[-1].value)[1], f"return {new}")
        return
    lines = lines[1:] if is_docstring(lines[0]) else lines
    start, end = tree.span(lines[0])[0], _code_end(site, lines[-1])
    indent = site.script.text[site.script.lines.line_start(start) : start]
    newline = site.script.newline_at(start)
    comments = "".join(f"{c}{newline}{indent}" for c in site.script.comments(start, end))
    site.replace_range(start, end, f"{comments}return {new}")


def _code_end(site: Site, statement: Any) -> int:
    while isinstance(statement, (cst.With, cst.IndentedBlock)):
        statement = statement.body if isinstance(statement, cst.With) else statement.body[-1]
    last = statement.body[-1]
    return site.script.tree.span(last.value)[1]


@part_of(
    gelu_function,
    on="lambda",
    examples=(
        Example(
            "act = lambda x: 0.5 * x * (1 + tf.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))",
            "act = lambda x: npu_unary_ops.gelu(x)",
        ),
        Example.same("act = lambda x: x * tf.sigmoid(x)", note="another activation"),
    ),
)
def gelu_lambda(site: Site) -> None:
    """Replaces the body of a lambda that computes GELU by the NPU's operator."""
    node: cst.Lambda = site.node
    params = node.params
    if not params.params or not _has_hint(site.source(node.body)):
        return
    own = site.script.walked.scope_of[id(node)]
    argument = params.params[0].name.value
    kind = Formula(site, own, argument, node.body, {}).kind()
    if kind:
        _apply(site, kind, lambda new: site.replace(node.body, new), argument)
    elif _is_called_gelu(site, node):
        site.info(
            "Called gelu, but it is not a GELU formula that is recognised; it stays as it is. If it is one, use "
            "npu_unary_ops.gelu(x), which is faster."
        )


def _is_called_gelu(site: Site, node: cst.Lambda) -> bool:
    parent = site.script.walked.parents.get(id(node))
    if not isinstance(parent, cst.Assign):
        return False
    names = [t.target.value for t in parent.targets if isinstance(t.target, cst.Name)]
    return any("gelu" in name.lower() for name in names)
