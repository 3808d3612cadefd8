"""Variables of recurrent cells by the names that they had before TensorFlow 1.2: `weights` and `biases`."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.constant_values import literal_text
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.outdated.older_tensorflow import old_name
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Site

_NEW = {"weights": "kernel", "biases": "bias"}
_CELL = r"(?:basic_lstm_cell|lstm_cell(?:/projection)?|basic_rnn_cell|gru_cell(?:/gates|/candidate)?)"
_OLD = re.compile(rf"(?:^|/){_CELL}/(weights|biases)(?=$|:0$)")
"""The end of a variable's name before 1.2. Layers of contrib and slim have such variables to this day, below other scopes."""
_OLDEST = re.compile(r"\b(?:BasicLSTMCell|BasicRNNCell|LSTMCell|GRUCell/(?:Gates|Candidate))/Linear/(?:Matrix|Bias)(?=$|:0$)")
"""The end of a variable's name before 1.0."""
_WORDS = ("weights", "biases", "/Linear/")
"""The words of which each such name has one: looking for a word takes a fraction of the time."""
_PART = re.compile(r"^/?(weights|biases)(?::0)?$")
_TODAY = re.compile(rf"(?:^|/){_CELL}/(?:kernel|bias)(?=$|:0$)")
_CELL_OBJECT = re.compile(r"\.(?:\w*RNNCell|\w*LSTM\w*Cell|GRU\w*Cell)\(\)$")
_VARIABLES = ("variables", "weights", "trainable_variables", "trainable_weights")
_GETS = ("tensorflow.get_variable", "tensorflow.VariableScope().get_variable")
_PATTERNS = ("re.match", "re.search", "re.fullmatch", "re.findall")
_SCOPES = ("tensorflow.variable_scope", "tensorflow.variable_op_scope")


@part_of(
    old_name,
    on="string",
    why="Since TensorFlow 1.2 a recurrent cell's variables are called kernel and bias: no variable has the old name.",
    done_when="`tf2npu run` passes this line, and the variable that is found is that of the cell.",
    source="release notes of TensorFlow 1.2: variable names of RNNCells",
    examples=(
        Example("w = tf.get_variable('basic_lstm_cell/weights')", "w = tf.get_variable('basic_lstm_cell/kernel')"),
        Example(
            "b = [v for v in tf.trainable_variables() if v.name == 'rnn/gru_cell/gates/biases:0'][0]",
            "b = [v for v in tf.trainable_variables() if v.name == 'rnn/gru_cell/gates/bias:0'][0]",
        ),
        Example(
            "c = tf.nn.rnn_cell.GRUCell(8)\ny = c(x, s)\nw = [v for v in c.variables if 'weights' in v.name]",
            "c = tf.nn.rnn_cell.GRUCell(8)\ny = c(x, s)\nw = [v for v in c.variables if 'kernel' in v.name]",
        ),
        Example.same("w = tf.get_variable('RNN/BasicLSTMCell/Linear/Matrix')", level="unsupported"),
        Example.same("w = tf.get_variable('conv1/weights')", note="a layer of tf.contrib, whose variables are called that"),
        Example.same("w = tf.get_variable('lstm_cell/weights', [4, 8])", note="a variable of the script's own"),
        Example.same("w = [v for v in tf.trainable_variables() if 'weights' in v.name]", note="no word of a cell"),
        Example.same("names = {'lstm_cell/weights': 'lstm_cell/kernel'}", note="both names: it reads old checkpoints"),
    ),
)
def cell_variable(site: Site) -> None:
    """Renames variables of recurrent cells that are asked for by their names."""
    text = literal_text(site.node)
    if text is None or not any(word in text for word in _WORDS) or is_guarded(site) or _knows_both(site.script):
        return
    if _OLDEST.search(text):
        if _asks(site) and not _is_one_of_several(site):
            site.unsupported(
                "TensorFlow 1.15 gives a cell's variables other names, such as basic_lstm_cell/kernel, below scopes in small "
                "letters. Write the name that tf.global_variables() shows."
            )
    elif (found := _OLD.search(text)) is not None:
        if _asks(site):
            _rename(site, found[1])
        else:
            _say(site, text, found[1])
    elif (part := _PART.search(text)) is not None and (_is_got_in_cell(site) or _is_tested_of_cell(site)):
        _rename(site, part[1])


def _rename(site: Site, old: str) -> None:
    at = site.script.tree.span(site.node)[0] + site.source(site.node).rindex(old)
    site.replace_range(at, at + len(old), _NEW[old])
    site.fixed(f"The {old} of a recurrent cell are called {_NEW[old]} since TensorFlow 1.2. Nothing is left to do.")


def _say(site: Site, text: str, old: str) -> None:
    """Say of a name that is kept for later what it is called now; `:0` is part of names in graphs, and of none in checkpoints."""
    new = f"{text[: text.rindex(old)]}{_NEW[old]}{text[text.rindex(old) + len(old) :]}"
    if text.endswith(":0"):
        site.manual(
            f"TensorFlow 1.15 has no variable of a cell with the name {text}: since 1.2 the name is {new}. Write the new name.",
            repr(new),
        )
    else:
        site.info(
            f"TensorFlow 1.15 calls the variable {new}. Write the new name, unless a checkpoint from before 1.2 has the old one."
        )


@fact
def _knows_both(script: Script) -> bool:
    """Whether a file names variables of cells as today, too: it renames them, or looks for one or the other."""
    texts = (literal_text(node) or "" for node in script.walked.strings)
    return any(_TODAY.search(text) for text in texts if "kernel" in text or "bias" in text)


def _asks(site: Site) -> bool:
    """Whether a text is the name, or the end of the name, by which a variable that is there is looked up."""
    node = _whole_text(site)
    around: Any = site.script.walked.parents.get(id(node))
    if isinstance(around, cst.Arg):
        call = site.script.walked.parents.get(id(around))
        return isinstance(call, cst.Call) and _looks_up(site, call, around)
    return _comparison_with_a_name(site, node) is not None


def _whole_text(site: Site) -> Any:
    """The expression that ends in a text: itself, or what it is appended to."""
    node: Any = site.node
    while True:
        around: Any = site.script.walked.parents.get(id(node))
        is_end = isinstance(around, cst.BinaryOperation) and isinstance(around.operator, cst.Add)
        if not (is_end or isinstance(around, cst.ConcatenatedString)) or around.right is not node:
            return node
        node = around


def _looks_up(site: Site, node: cst.Call, arg: cst.Arg) -> bool:
    if _is_got(site, node):
        return arg.keyword.value == "name" if arg.keyword is not None else node.args[0] is arg
    name = site.script.name_of(node.func, site.scope)
    if name in _PATTERNS:
        return len(node.args) > 1 and node.args[0] is arg and _is_name(site, node.args[1].value)
    method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
    return method == "get_tensor_by_name" or (
        method in ("startswith", "endswith") and isinstance(node.func, cst.Attribute) and _is_name(site, node.func.value)
    )


def _is_got(site: Site, node: cst.Call) -> bool:
    """Whether a call of get_variable makes no variable: without a shape and a first value there must be one."""
    if site.script.name_of(node.func, site.scope) not in _GETS:
        return False
    given = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    n_plain = sum(arg.keyword is None for arg in node.args)
    return not any(arg.star for arg in node.args) and n_plain <= 1 and given.isdisjoint(("shape", "initializer"))


def _is_name(site: Site, node: cst.CSTNode) -> bool:
    return re.search(r"\.name\b", site.source(node)) is not None


def _comparison_with_a_name(site: Site, node: Any) -> cst.Comparison | None:
    """The comparison of a text, or of several in brackets, with the name of something."""
    around: Any = site.script.walked.parents.get(id(node))
    while isinstance(around, (cst.Element, cst.Tuple, cst.List, cst.Set, cst.ComparisonTarget)):
        node, around = around, site.script.walked.parents.get(id(around))
    if not isinstance(around, cst.Comparison) or len(around.comparisons) != 1:
        return None
    (target,) = around.comparisons
    is_kind = isinstance(target.operator, (cst.Equal, cst.NotEqual, cst.In, cst.NotIn))
    other = target.comparator if node is around.left else around.left
    return around if is_kind and _is_name(site, other) else None


def _is_one_of_several(site: Site) -> bool:
    """Whether the name is one of those in an `or`: others may be those of later releases."""
    return any(
        isinstance(around, cst.BooleanOperation) and isinstance(around.operator, cst.Or)
        for around in site.script.walked.ancestors(site.node)
    )


def _is_got_in_cell(site: Site) -> bool:
    """Whether `get_variable('weights')` stands in the scope of a cell."""
    arg: Any = site.script.walked.parents.get(id(site.node))
    call = site.script.walked.parents.get(id(arg))
    if not isinstance(arg, cst.Arg) or not isinstance(call, cst.Call) or not _is_got(site, call):
        return False
    blocks = [a for a in site.script.walked.ancestors(site.node) if isinstance(a, cst.With)]
    made = [item.item for item in blocks[0].items if isinstance(item.item, cst.Call)] if blocks else []
    scopes = [one for one in made if site.script.name_of(one.func, site.scope) in _SCOPES and one.args]
    return any(re.search(rf"(?:^|/){_CELL}$", literal_text(one.args[0].value) or "") for one in scopes)


def _is_tested_of_cell(site: Site) -> bool:
    """Whether a name is compared that is of a cell: by a second test of it, or as one of the cell's variables."""
    comparison = _comparison_with_a_name(site, site.node)
    if comparison is None:
        return False
    around: Any = site.script.walked.parents.get(id(comparison))
    if isinstance(around, cst.BooleanOperation) and isinstance(around.operator, cst.And):
        other = around.left if around.right is comparison else around.right
        if re.search(rf"[\"'/]{_CELL}[\"'/].*\bin\b.*\.name\b", site.source(other)):
            return True
    loops = (a for a in site.script.walked.ancestors(comparison) if isinstance(a, (cst.For, cst.CompFor)))
    loop = next(loops, None)
    made = (
        loop.iter.value
        if loop is not None and isinstance(loop.iter, cst.Attribute) and loop.iter.attr.value in _VARIABLES
        else None
    )
    return made is not None and _CELL_OBJECT.search(site.script.name_of(made, site.scope) or "") is not None
