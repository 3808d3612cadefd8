"""Assertions that as many rows were predicted as there are data."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call

_BATCHES = ("tensorflow.data.Dataset().batch", "tensorflow.data.Dataset().padded_batch")
_HEAD = "e = NPUEstimator(fn, config=NPURunConfig())\n"


@rule(
    id="NPU977",
    title="Counted predictions",
    on="unknown_method",
    matches=("predict",),
    why="A batch size that does not divide the data leaves a smaller last batch, for which the NPU compiles the graph again.",
    source="TensorFlow adapter porting guide, listing 5-47: predictions of a last batch that is not full",
    examples=(
        Example.same(
            "def run(e, data):\n    n = 0\n    for p in e.predict(input_fn=f):\n        n += 1\n    assert n == len(data)",
            level="info",
            write="def run(e, data):\n    n_rows, n = len(data), 0\n    data = list(data) + [data[-1]] * (-n_rows % batch_size)\n"
            "    for p in itertools.islice(e.predict(input_fn=f), n_rows):\n        n += 1\n    assert n == n_rows",
        ),
        Example.same(
            "def run(e, examples):\n    rows = list(e.predict(input_fn=f))\n    assert len(rows) == len(examples)", level="info"
        ),
        Example.same("def run(e):\n    for p in e.predict(input_fn=f):\n        print(p)", note="nothing is counted"),
        Example.same(
            "def run(e, n):\n    for p in e.predict(input_fn=f):\n        print(p)\n    assert n > 0", note="not the rows"
        ),
        Example.same("def run(m, x):\n    assert m.name == 'a'\n    return m.predict(x)", note="something else is asserted"),
    ),
)
def counted_predictions(call: Call) -> None:
    """Finds an assertion about the number of predicted rows, and shows how to pad the data it is compared with."""
    _check(call)


@part_of(
    counted_predictions,
    matches=(
        "tensorflow.estimator.Estimator().predict", "npu_bridge.npu_init.NPUEstimator().predict",
        "tensorflow.estimator.tpu.TPUEstimator().predict",
    ),
    examples=(
        Example.same(
            f"from npu_bridge.npu_init import *\nimport tensorflow as tf\n{_HEAD}"
            "n = 0\nfor p in e.predict(f):\n    n += 1\nassert n == len(examples)",
            level="info",
        ),
        Example.same(
            f"from npu_bridge.npu_init import *\nimport tensorflow as tf\n{_HEAD}for p in e.predict(f):\n    print(p)",
            note="nothing is counted",
        ),
        Example.same(
            f"from npu_bridge.npu_init import *\nimport tensorflow as tf\n{_HEAD}"
            "n = 0\nfor p in e.predict(f):\n    n += 1\nassert d == len(examples)",
            note="something else is asserted",
        ),
    ),
)  # fmt: skip
def counted_estimator_predictions(call: Call) -> None:
    """Finds an assertion about the number of rows that an Estimator predicts, and shows how to pad the data."""
    _check(call)


def _check(call: Call) -> None:
    if "assert" not in call.script.text:
        return None
    block = _enclosing(call)
    counts = _counting_names(call, block) if not _is_cut(call) else set()
    for comparison in _asserted(call.script, block) if counts else ():
        texts = [call.source(comparison.left), call.source(comparison.comparisons[0].comparator)]
        counted = next((n for n, text in enumerate(texts) if _counts(text, counts)), None)
        if counted is not None:
            call.fix.site = call.script.tree.span(comparison)
            return _show_padding(call, texts[1 - counted])
    return None


def _show_padding(call: Call, expected: str) -> None:
    """Say how to pad the data that the rows are compared with.  expected: how many there have to be."""
    data = expected[4:-1] if expected.startswith("len(") and expected.endswith(")") else ""
    size, predictions = _batch_size(call.script), call.source(call.node)
    if data:
        call.info(
            "This holds only if no row of the prediction is dropped, and a last batch that is smaller is compiled by itself. Pad "
            f"the data before it and cut the rows behind it: n_rows = len({data}); {data} = list({data}) + [{data}[-1]] * "
            f"(-n_rows % {size}); batch with drop_remainder=True; and take the first n_rows predictions: "
            f"itertools.islice({predictions}, n_rows)."
        )
    else:
        call.info(
            "This holds only if no row of the prediction is dropped, and a last batch that is smaller is compiled by itself. Pad "
            f"the data to a whole number of batches, with -({expected}) % {size} rows more; batch with drop_remainder=True; and "
            f"take the first {expected} predictions: itertools.islice({predictions}, {expected})."
        )


def _is_cut(call: Call) -> bool:
    """Whether what the padding gives is dropped already."""
    ancestors = itertools.takewhile(lambda node: not isinstance(node, cst.BaseSuite), call.script.walked.ancestors(call.node))
    return any(isinstance(node, cst.Call) and "islice" in call.source(node.func) for node in ancestors)


def _enclosing(call: Call) -> cst.CSTNode:
    function = call.scope.function
    return function.node if function is not None and function.node is not None else call.script.tree.module


def _counting_names(call: Call, block: cst.CSTNode) -> set[str]:
    """Names that count the rows of a prediction, or hold them all."""
    held: set[str] = set()
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Assign) and isinstance(ancestor.targets[0].target, cst.Name):
            held.add(ancestor.targets[0].target.value)
        if isinstance(ancestor, cst.BaseCompoundStatement):
            break
    rows = re.compile("|".join([re.escape(call.source(call.node)), *(rf"\b{name}\b" for name in sorted(held))]))
    loops = [loop for loop in _loops(call.script, block) if rows.search(call.source(loop.iter))]
    return held.union(*(_grown(call.script, loop) for loop in loops))


def _loops(script: Script, block: cst.CSTNode) -> list[cst.For]:
    """The loops of a block that call something or count, each once."""
    found = {}
    for node in _nodes_in(script, block):
        found.update({id(a): a for a in script.walked.ancestors(node) if isinstance(a, cst.For)})
    return list(found.values())


def _nodes_in(script: Script, block: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """References in a block, in the order of the text."""
    start, end = script.tree.span(block)
    return (node for node, _ in script.walked.references if start <= script.tree.span(node)[0] < end)


def _grown(script: Script, loop: cst.For) -> set[str]:
    """Names that a loop counts up or appends to."""
    start, end = script.tree.span(loop)
    counts = [node.target for node, _ in script.walked.aug_assigns if start <= script.tree.span(node)[0] < end]
    calls: list[Any] = [node.func for node, _ in script.calls_in(start, end)]
    lists = [func.value for func in calls if isinstance(func, cst.Attribute) and func.attr.value == "append"]
    return {target.value for target in [*counts, *lists] if isinstance(target, cst.Name)}


def _asserted(script: Script, block: cst.CSTNode) -> list[cst.Comparison]:
    """Comparisons by `==` that a block asserts, in the order of the text."""
    found: dict[int, cst.Comparison] = {}
    for node in _nodes_in(script, block):
        for ancestor in script.walked.ancestors(node):
            is_asserted = isinstance(script.walked.parents.get(id(ancestor)), cst.Assert)
            if is_asserted and isinstance(ancestor, cst.Comparison) and _is_equality(ancestor):
                found[id(ancestor)] = ancestor
    return sorted(found.values(), key=script.tree.span)


def _is_equality(comparison: cst.Comparison) -> bool:
    return len(comparison.comparisons) == 1 and isinstance(comparison.comparisons[0].operator, cst.Equal)


def _counts(text: str, names: set[str]) -> bool:
    return text in names or (text.startswith("len(") and text[4:-1] in names)


def _batch_size(script: Script) -> str:
    """The size of the batches of a file, where there is one, as it is written; else a name for it."""
    sizes = set()
    for node, scope in script.walked.calls:
        name = script.name_of(node.func, scope) or ""
        value = Call(script, "NPU977", node, scope, name).value("batch_size", 0) if name in _BATCHES else None
        if value is not None:
            sizes.add(script.tree.source(value))
    return sizes.pop() if len(sizes) == 1 else "batch_size"
