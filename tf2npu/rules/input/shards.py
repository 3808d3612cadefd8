"""Shards of a dataset: every rank reads its own part of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.api_return_types import DATASET
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.script_kinds import is_test_script
from tf2npu.rules.facts.pipelines.dataset_context import context_of, holders
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_TF = Config(distributed="tf")
_MODES = ("tf", "horovod")
_SOURCES = (
    *(f"tensorflow.data.{name}" for name in ("TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset")),
    "tensorflow.data.Dataset.from_tensor_slices",
)
_HOROVOD_RANK = re.compile(r"horovod\..*\b(?:local_)?(?:rank|size)$")
_FOR_EACH_ELEMENT = frozenset({"flat_map", "interleave", "map", "parallel_interleave"})
_PREDICTS = re.compile(r"predict|infer", re.IGNORECASE)
_PREDICTED = (
    "Who calls this says which part is to be predicted, so it stays: with the ranks in its place every such run would predict "
    "the same. If all parts are to be predicted by the ranks of one run, shard by get_rank_size(), get_rank_id()."
)
_EVALUATED = (
    "This feeds evaluation or prediction, so it stays: with the ranks in its place each rank would see its own part only, and "
    "what one of them reports would be no result for all the data. If the results of all ranks are put together, shard by "
    "get_rank_size(), get_rank_id()."
)
_CHOSEN = (
    "Who calls this says which part is read, and one reads all data, so it stays: where it is called for training, pass "
    "get_rank_size() and get_rank_id()."
)
_OF_HOROVOD = (
    "This stays: numbers that come from Horovod are those of the NPU's ranks where they are asked for. If these do not, and "
    "every rank is to read a part of its own, shard by get_rank_size(), get_rank_id()."
)
_NO_CONTEXT = "No strategy passes this context on NPUs: without it write .shard(get_rank_size(), get_rank_id())."
_DISTRIBUTES = "experimental_distribute_dataset"
_BY_STRATEGY = (
    "NPUStrategy gives each rank its own part of what experimental_distribute_dataset gets, so it is not sharded here: a shard "
    "of a shard would leave data out."
)
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_][\w.]*")
_NO_RANK = (
    "These parts are not those of ranks, so this stays. If every rank is to read a part of its own, shard by "
    "get_rank_size(), get_rank_id() as well."
)


_DONE_WHEN = "Print the first example of each batch with `tf2npu run --devices 2`: the two ranks print different ones."


@rule(
    id="NPU603",
    title="Shards",
    matches=(f"{DATASET}.shard",),
    why="With several NPUs every rank reads its own part of the data; ranks are numbered by the NPU's collectives.",
    done_when=_DONE_WHEN,
    source="hccl.manage.api.get_rank_size, get_rank_id; tf.data.Dataset.shard of TensorFlow 1.15",
    examples=(
        Example(
            "d = tf.data.Dataset.range(9).shard(num_shards=n, index=i)",
            "d = tf.data.Dataset.range(9).shard(num_shards=get_rank_size(), index=get_rank_id())",
            config=_TF,
        ),
        Example(
            "def input_fn(ctx=None):\n    d = tf.data.Dataset.range(9)\n    if ctx:\n        d = d.shard(ctx.n, ctx.i)\n"
            "    return d",
            "def input_fn(ctx=None):\n    d = tf.data.Dataset.range(9)\n    if ctx:\n        d = d.shard(ctx.n, ctx.i)\n"
            "    else:\n        d = d.shard(get_rank_size(), get_rank_id())\n    return d",
            note="no strategy passes a context here, so the condition does not hold",
            config=_TF,
        ),
        Example.same(
            "d = tf.data.Dataset.range(4).interleave(lambda i: files.shard(4, i))\nv = tf.data.Dataset.range(9).shard(9, 0)",
            note="parts that one process reads itself, and a part that is set aside",
            level="manual",
            config=_TF,
        ),
        Example.same(
            "def predict(n, i):\n    return tf.data.Dataset.range(9).shard(n, i)",
            note="a part that is asked for",
            level="manual",
            config=_TF,
        ),
        Example.same(
            "def data():\n    return tf.data.Dataset.range(9).shard(n, i)\ndef run(e):\n    e.evaluate(input_fn=data)",
            note="a metric of one rank's part would pass for that of all data",
            level="manual",
            config=_TF,
        ),
        Example.same(
            "def data(n=1, i=0):\n    return tf.data.Dataset.range(9).shard(n, i)",
            note="all data for who gives no parts",
            level="manual",
            write="train = data(n=get_rank_size(), i=get_rank_id())",
            config=_TF,
        ),
        Example.same(
            "def data(n, i):\n    return tf.data.Dataset.range(9).shard(n, i)\ntrain, test = data(4, k), data(1, 0)",
            note="the callers say which parts",
            level="manual",
            write="train, test = data(get_rank_size(), get_rank_id()), data(1, 0)",
            config=_TF,
        ),
        Example.same("d = tf.data.Dataset.range(9).shard(num_shards=n, index=i)", note="one device"),
        Example.same("row = db.shard('users', key=7)", note="another object's method", config=_TF),
    ),
)
def shard(call: Call) -> None:
    """Shards a dataset by the NPU's ranks."""
    count, index = call.value("num_shards", 0), call.value("index", 1)
    if call.script.config.distributed not in _MODES or count is None or index is None or call.has_star_args:
        return None
    chosen = [v.body if isinstance(v, cst.IfExp) else v for v in (count, index)]
    if any(_is_rank(call, value) for value in chosen):
        return None
    if all(isinstance(v, cst.Integer) for v in (count, index)) or _is_one_of_several(call, index):
        return call.manual(_NO_RANK)
    if _is_predicted_by_parts(call, index):
        return call.manual(_PREDICTED)
    passed = list(_passed(call, count, index))
    if passed and all(_is_rank(caller, value) for caller, *both in passed for value in both):
        return None
    if _defaults(call, count, index) == ("1", "0"):
        n, i = call.source(count), call.source(index)
        return call.manual(
            f"Who calls this without {n} and {i} reads all data, as evaluation does, so it stays: where it is called for "
            f"training, pass {n}=get_rank_size(), {i}=get_rank_id()."
        )
    if any(_is_all(n, i) for _, n, i in passed):
        return call.manual(_CHOSEN)
    if context_of(call).kind == "eval":
        return call.manual(_EVALUATED)
    return _by_rank(call, count, index)


def _by_rank(call: Call, count: cst.BaseExpression, index: cst.BaseExpression) -> None:
    """Shard by the ranks, in the place of a strategy's workers; Horovod's ranks are what they are where they come from."""
    if call.script.config.distributed == "horovod":
        return call.info(_OF_HOROVOD)
    condition = _context_condition(call, [count, index])
    if condition is not None:
        return _add_else(call, condition) if all(_asks_for_context(call, condition, [count, index])) else call.manual(_NO_CONTEXT)
    call.replace(count, f"{call.need('get_rank_size')}()")
    call.replace(index, f"{call.need('get_rank_id')}()")
    return call.fixed("Every rank reads its own part of the data: num_shards is get_rank_size(), index is get_rank_id().")


def _is_predicted_by_parts(call: Call, index: cst.BaseExpression) -> bool:
    """Whether who asks for a prediction says for which part of the data: each part is then the work of a run of its own."""
    function = call.scope.function
    is_param = isinstance(index, cst.Name) and any(binding.kind == "param" for binding in call.scope.lookup(index.value))
    around = [a.name.value for a in call.script.walked.ancestors(call.node) if isinstance(a, (cst.FunctionDef, cst.ClassDef))]
    return function is not None and is_param and any(_PREDICTS.search(name) for name in around)


def _defaults(call: Call, *values: Any) -> tuple[str, ...] | None:
    """The defaults of the parameters of the function around that values are, "" for required ones; None where one is none."""
    function = call.scope.function
    if function is None or not isinstance(function.node, cst.FunctionDef):
        return None
    params = function.node.params
    known = {p.name.value: p.default for p in (*params.params, *params.kwonly_params)}
    names = [value.value for value in values if isinstance(value, cst.Name) and value.value in known]
    if len(names) < len(values):
        return None
    return tuple(call.source(default) if default is not None else "" for default in map(known.get, names))


def _passed(call: Call, count: Any, index: Any) -> Iterator[tuple[Call, Any, Any]]:
    """The calls of the function around in this file, with the arguments for two of its parameters, where both values are such."""
    if _defaults(call, count, index) is None:
        return
    script, function = call.script, call.scope.function
    node: Any = function.node if function is not None else None
    names = [p.name.value for p in node.params.params]
    for use, scope in script.walked.calls:
        if isinstance(use.func, cst.Name) and any(binding.node is node for binding in scope.lookup(use.func.value)):
            caller = Call(script, call.fix.rule, use, scope)
            n, i = (caller.value(v.value, names.index(v.value) if v.value in names else None) for v in (count, index))
            yield caller, n, i


def _is_all(count: Any, index: Any) -> bool:
    """Whether a part is the whole."""
    return [value.value if isinstance(value, cst.Integer) else "" for value in (count, index)] == ["1", "0"]


def _is_rank(call: Call, value: cst.BaseExpression | None) -> bool:
    name = (call.resolve(value.func) or "") if isinstance(value, cst.Call) else ""
    return name.startswith(("npu_bridge.", "hccl.")) or _HOROVOD_RANK.match(name) is not None


def _is_one_of_several(call: Call, index: cst.BaseExpression) -> bool:
    """Whether a part is chosen by what a loop, a comprehension or a function for each element counts."""
    if not isinstance(index, cst.Name):
        return False
    owner, bindings = call.scope.lookup_scope(index.value), call.scope.lookup(index.value)
    if owner is None or owner.kind in ("lambda", "comprehension"):
        return owner is not None
    if owner.kind == "function" and any(binding.kind == "param" for binding in bindings):
        return _is_for_each_element(call, owner.node)
    loops = [a for a in call.script.walked.ancestors(call.node) if isinstance(a, cst.For)]
    return any(isinstance(loop.target, cst.Name) and loop.target.value == index.value for loop in loops)


def _is_for_each_element(call: Call, function: Any) -> bool:
    for use, scope in call.script.walked.calls:
        if isinstance(use.func, cst.Attribute) and use.func.attr.value in _FOR_EACH_ELEMENT:
            given = [arg.value.value for arg in use.args if isinstance(arg.value, cst.Name)]
            if any(binding.node is function for name in given for binding in scope.lookup(name)):
                return True
    return False


def _context_condition(call: Call, values: list[Any]) -> cst.If | None:
    """The `if context:` around a shard whose arguments come from that context, as a strategy would pass it."""
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.If) and any(_asks_for_context(call, ancestor, values)):
            return ancestor
        if isinstance(ancestor, (cst.FunctionDef, cst.ClassDef)):
            return None
    return None


def _asks_for_context(call: Call, condition: cst.If, values: list[Any]) -> list[bool]:
    """Whether each name in a condition is the context that values are attributes of, or one of the values."""
    given = [call.source(value) for value in values]
    names = [name for name in _DOTTED.findall(call.source(condition.test)) if not iskeyword(name)]
    return [any(value == name or re.match(rf"{re.escape(name)}[.\[]", value) for value in given) for name in names]


def _root(text: str) -> str:
    return re.split(r"\W", text, maxsplit=1)[0]


def _add_else(call: Call, condition: cst.If) -> None:
    script = call.script
    statement: Any = call.statement()
    if condition.orelse is not None:
        if "get_rank_size" not in call.source(condition.orelse):
            call.manual("No strategy passes this context on NPUs: in the other branch shard by get_rank_size(), get_rank_id().")
        return
    shards = _shards_of(call, condition)
    if call.node not in shards or not isinstance(condition.body, cst.IndentedBlock):
        call.manual(_NO_CONTEXT)
        return
    if call.node is not shards[0]:
        call.info("It is sharded by rank in the branch that is added for the first shard of this context.")
        return
    start, end = script.tree.span(condition)
    last = start + len(script.text[start:end].rstrip())
    outer = script.text[script.lines.line_start(start) : start]
    step = condition.body.indent or script.tree.module.default_indent
    newline = script.newline_at(start)
    ranks = f"{call.need('get_rank_size')}(), {call.need('get_rank_id')}()"
    parents: Any = script.walked.parents
    lines = [f"{call.source(parents[id(s)].targets[0].target)} = {call.source(s.func.value)}.shard({ranks})" for s in shards]
    added = "".join(f"{newline}{outer}{step}{line}" for line in dict.fromkeys(lines))
    call.insert(script.lines.line_end(last), f"{newline}{outer}else:{added}")
    call.fix.site = script.tree.span(statement)
    call.fixed("No strategy passes this context on NPUs; without it every rank reads its own part of the data.")


def _shards_of(call: Call, condition: cst.If) -> list[Any]:
    """The shards of a context inside its `if` that are assigned to something, in source order."""
    script, root = call.script, _root(call.source(condition.test))
    found: list[Any] = []
    for node, _ in script.calls_in(*script.tree.span(condition.body)):
        is_shard = isinstance(node.func, cst.Attribute) and node.func.attr.value == "shard"
        is_assigned = is_shard and isinstance(script.walked.parents.get(id(node)), cst.Assign)
        if is_assigned and root in {_root(call.source(arg.value)) for arg in node.args}:
            found.append(node)
    return found


@rule(
    id="NPU604",
    title="Shards where there are none",
    matches=_SOURCES,
    why="With several NPUs every rank would train on the same data in the same order, or on copies of it.",
    done_when=_DONE_WHEN,
    source="TensorFlow adapter porting guide: dataset.shard(get_rank_size(), get_rank_id()) in distributed training",
    examples=(
        Example(
            "def train_fn():\n    return tf.data.TFRecordDataset(files).repeat()\ndef run(e):\n    e.train(input_fn=train_fn)",
            "def train_fn():\n    return tf.data.TFRecordDataset(files).shard(get_rank_size(), get_rank_id()).repeat()\n"
            "def run(e):\n    e.train(input_fn=train_fn)",
            config=Config(distributed="tf", select=frozenset({"NPU604"})),
        ),
        Example.same("d = tf.data.TFRecordDataset(files)", note="used for what?", config=_TF, level="manual"),
        Example.same(
            "d = tf.data.TFRecordDataset(files).batch(8)\nit = strategy.experimental_distribute_dataset(d)",
            note="NPUStrategy shards it",
            config=_TF,
            level="info",
        ),
        Example.same("d = tf.data.TFRecordDataset(files)", note="one device"),
        Example.same("d = tf.data.TFRecordDataset(files).shard(get_rank_size(), get_rank_id())", note="done", config=_TF),
    ),
)
def missing_shard(call: Call) -> None:
    """Gives every rank its own part of a dataset that feeds training."""
    if call.script.config.distributed not in _MODES or _is_sharded(call) or not _is_outermost(call):
        return
    if is_test_script(call.script):
        return
    if call.script.config.distributed == "tf" and _is_distributed_by_strategy(call):
        return call.info(_BY_STRATEGY)
    context = context_of(call)
    if context.kind in ("train", "param"):
        size, index = f"{call.need('get_rank_size')}()", f"{call.need('get_rank_id')}()"
        if context.kind == "param":
            size, index = f"{size} if {context.parameter} else 1", f"{index} if {context.parameter} else 0"
        call.wrap(call.node, "", f".shard({size}, {index})")
        call.fixed("Every rank trains on its own part of the data.")
    elif context.kind != "eval":
        call.manual("If this feeds training, add .shard(get_rank_size(), get_rank_id()): else every rank reads the same data.")


def _is_distributed_by_strategy(call: Call) -> bool:
    """Whether a dataset, or the variable that holds it, is given to a strategy that gives each rank its part."""
    names = holders(call)
    for node, scope in call.script.walked.calls:
        if not isinstance(node.func, cst.Attribute) or node.func.attr.value != _DISTRIBUTES or not node.args:
            continue
        given = node.args[0].value
        is_held = isinstance(given, cst.Name) and given.value in names and scope.function is call.scope.function
        if is_held or given in (call.node, *call.script.walked.ancestors(call.node)):
            return True
    return False


def _is_sharded(call: Call) -> bool:
    """Whether the function, or the module, in which a dataset is made shards one already."""
    return id(call.scope.function) in _functions_that_shard(call.script)


@fact
def _functions_that_shard(script: Script) -> set[int]:
    """Ids of the functions that call a method `shard`; None's is that of the module."""
    named = [(n.func, s) for n, s in script.walked.calls if isinstance(n.func, cst.Attribute)]
    return {id(s.function) for func, s in named if func.attr.value == "shard"}


def _is_outermost(call: Call) -> bool:
    """Whether a dataset is made here for itself, not for each element of another one, as in interleave."""
    ancestors = call.script.walked.ancestors(call.node)
    return not any(isinstance(a, cst.Lambda) for a in ancestors)
