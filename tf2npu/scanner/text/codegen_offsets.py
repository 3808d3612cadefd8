"""Code generation of a LibCST tree with the offsets at which each node starts and ends; LibCST's own, with short cuts.

Four nodes in five are blanks, ends of lines, names, arguments and single signs. LibCST goes through three to five calls for
each of them; here they are written by one or two, in half the time. Others who let LibCST generate code see no difference.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import libcst as cst
from libcst._nodes.expression import _BaseParenthesizedNode
from libcst._nodes.internal import CodegenState

_STATEMENTS = frozenset(
    {
        cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.With,
        cst.FunctionDef, cst.ClassDef, cst.Match,
    }
)  # fmt: skip
_NOTHING: AbstractContextManager[None] = nullcontext()


class Recorder(CodegenState):
    """Notes before which token each node starts and ends; layout (blanks, ends of lines) is written without a note."""

    def start_recording(self) -> None:
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.statements: dict[int, tuple[int, int]] = {}
        tokens, starts, ends = self.tokens, self.starts, self.ends

        def before(node: cst.CSTNode) -> None:
            starts[id(node)] = len(tokens)

        def after(node: cst.CSTNode) -> None:
            ends[id(node)] = len(tokens)

        # Called for every node and every token, millions of times: without a look-up of attributes, or without a frame.
        vars(self).update(before_codegen=before, after_codegen=after, add_token=tokens.append)

    def record_syntactic_position(self, node: Any, *, start_node: Any = None, end_node: Any = None) -> Any:
        if type(node) in _STATEMENTS:
            return _StatementSpan(self, node, end_node)
        return _NOTHING


def record(module: cst.Module) -> Recorder:
    """Emit a module; the recorder holds its tokens and the places of its nodes among them."""
    recorder = Recorder(default_indent=module.default_indent, default_newline=module.default_newline)
    recorder.start_recording()
    module._codegen(recorder)
    return recorder


class _StatementSpan:
    """Notes the tokens of a statement: from its first one (or decorator) to the end of its last line or block."""

    def __init__(self, recorder: Recorder, node: cst.CSTNode, end_node: cst.CSTNode | None) -> None:
        self.recorder, self.node, self.end_node = recorder, node, end_node

    def __enter__(self) -> None:
        self.start = len(self.recorder.tokens)
        decorators = getattr(self.node, "decorators", ())
        if decorators:
            sign_and_blank = 2 if decorators[0].whitespace_after_at.value else 1
            self.start = self.recorder.starts[id(decorators[0].decorator)] - sign_and_blank

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is not None:
            return
        end = len(self.recorder.tokens) if self.end_node is None else self.recorder.ends[id(self.end_node)]
        self.recorder.statements[id(self.node)] = (self.start, end)


def _newline(node: cst.Newline, state: Recorder) -> None:
    state.tokens.append(node.value or state.default_newline)


def _rest_of_line(node: cst.TrailingWhitespace, state: Recorder) -> None:
    if node.whitespace.value:
        state.tokens.append(node.whitespace.value)
    if node.comment is not None:
        state.tokens.append(node.comment.value)
    state.tokens.append(node.newline.value or state.default_newline)


def _empty_line(node: cst.EmptyLine, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    if node.indent:
        tokens += state.indent_tokens
    if node.whitespace.value:
        tokens.append(node.whitespace.value)
    if node.comment is not None:
        node.comment._codegen(state)
    tokens.append(node.newline.value or state.default_newline)
    state.ends[key] = len(tokens)


def _literal(node: Any, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    tokens.append(node.value)
    state.ends[key] = len(tokens)


def _attribute(node: cst.Attribute, state: Recorder) -> None:
    state.starts[id(node)] = len(state.tokens)
    node.value._codegen(state)
    node.dot._codegen(state)
    node.attr._codegen(state)
    state.ends[id(node)] = len(state.tokens)


def _call(node: cst.Call, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    node.func._codegen(state)
    node.whitespace_after_func._codegen(state)
    tokens.append("(")
    node.whitespace_before_args._codegen(state)
    for arg in node.args:
        arg._codegen(state)
    tokens.append(")")
    state.ends[key] = len(tokens)


def _argument(node: Any, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    if node.star:
        tokens.append(node.star)
        node.whitespace_after_star._codegen(state)
    if node.keyword is not None:
        node.keyword._codegen(state)
        node.equal._codegen(state)
    node.value._codegen(state)
    if type(node.comma) is cst.Comma:
        node.comma._codegen(state)
    node.whitespace_after_arg._codegen(state)
    state.ends[key] = len(tokens)


def _element(node: cst.Element, state: Recorder) -> None:
    state.starts[id(node)] = len(state.tokens)
    node.value._codegen(state)
    if type(node.comma) is cst.Comma:
        node.comma._codegen(state)
    state.ends[id(node)] = len(state.tokens)


def _sign(node: Any, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    before, after = node.whitespace_before, node.whitespace_after
    if type(before) is not cst.SimpleWhitespace:
        before._codegen(state)
    elif before.value:
        tokens.append(before.value)
    tokens.append(node._get_token())
    if type(after) is not cst.SimpleWhitespace:
        after._codegen(state)
    elif after.value:
        tokens.append(after.value)
    state.ends[key] = len(tokens)


def _line(node: cst.SimpleStatementLine, state: Recorder) -> None:
    tokens, key, body = state.tokens, id(node), node.body
    state.starts[key] = len(tokens)
    for above in node.leading_lines:
        above._codegen(state)
    tokens += state.indent_tokens
    start = len(tokens)
    for statement in body:
        statement._codegen(state)
    state.statements[key] = (start, state.ends[id(body[-1])])
    node.trailing_whitespace._codegen(state)
    state.ends[key] = len(tokens)


def _expression_alone(node: cst.Expr, state: Recorder) -> None:
    state.starts[id(node)] = len(state.tokens)
    node.value._codegen(state)
    if type(node.semicolon) is cst.Semicolon:
        node.semicolon._codegen(state)
    state.ends[id(node)] = len(state.tokens)


def _assign(node: cst.Assign, state: Recorder) -> None:
    state.starts[id(node)] = len(state.tokens)
    for target in node.targets:
        target._codegen(state)
    node.value._codegen(state)
    if type(node.semicolon) is cst.Semicolon:
        node.semicolon._codegen(state)
    state.ends[id(node)] = len(state.tokens)


def _target(node: cst.AssignTarget, state: Recorder) -> None:
    tokens, key = state.tokens, id(node)
    state.starts[key] = len(tokens)
    node.target._codegen(state)
    node.whitespace_before_equal._codegen(state)
    tokens.append("=")
    node.whitespace_after_equal._codegen(state)
    state.ends[key] = len(tokens)


def _shorten(kind: Any, short: Callable[[Any, Any], None], is_expression: bool = False) -> None:
    """Write nodes of a kind the short way, for our recorder and where no parentheses stand around them."""
    long = kind._codegen
    if is_expression:

        def codegen(self: Any, state: Any, **kwargs: Any) -> None:
            if type(state) is not Recorder or self.lpar:
                long(self, state, **kwargs)
            else:
                short(self, state)
    else:

        def codegen(self: Any, state: Any, **kwargs: Any) -> None:
            if type(state) is not Recorder:
                long(self, state, **kwargs)
            else:
                short(self, state)

    kind._codegen = codegen


def _shorten_names() -> None:
    """The same for blanks and names, half of all nodes, without a second call."""
    long_blank, long_name = cst.SimpleWhitespace._codegen, cst.Name._codegen

    def blank(self: Any, state: Any, **kwargs: Any) -> None:
        if type(state) is not Recorder:
            long_blank(self, state, **kwargs)
        elif self.value:
            state.tokens.append(self.value)

    def name(self: Any, state: Any, **kwargs: Any) -> None:
        if type(state) is not Recorder or self.lpar:
            long_name(self, state, **kwargs)
        else:
            tokens, key = state.tokens, id(self)
            state.starts[key] = len(tokens)
            tokens.append(self.value)
            state.ends[key] = len(tokens)

    kinds: list[Any] = [cst.SimpleWhitespace, cst.Name]
    for kind, codegen in zip(kinds, (blank, name), strict=True):
        kind._codegen = codegen


def _codegen(self: Any, state: Any, **kwargs: Any) -> None:
    """Generates code as LibCST does, but calls no bound method with `**`: Python 3.12 and later do that on the C stack, which
    they bound."""
    state.before_codegen(self)
    if kwargs:
        type(self)._codegen_impl(self, state, **kwargs)
    else:
        self._codegen_impl(state)
    state.after_codegen(self)


def _parenthesize(self: Any, state: Any) -> Any:
    return _NOTHING if type(state) is Recorder and not self.lpar else _with_parentheses(self, state)


_NODES: Any = cst.CSTNode
_NODES._codegen = _codegen
_PARENTHESIZED: Any = _BaseParenthesizedNode
_with_parentheses = _PARENTHESIZED._parenthesize
_PARENTHESIZED._parenthesize = _parenthesize
_shorten_names()
_shorten(cst.Newline, _newline)
_shorten(cst.TrailingWhitespace, _rest_of_line)
_shorten(cst.EmptyLine, _empty_line)
for _word in (cst.SimpleString, cst.Integer, cst.Float):
    _shorten(_word, _literal, is_expression=True)
_shorten(cst.Attribute, _attribute, is_expression=True)
_shorten(cst.Call, _call, is_expression=True)
_shorten(cst.Arg, _argument)
_shorten(cst.Element, _element)
for _with_sign in (cst.Comma, cst.Dot, cst.AssignEqual, cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Equal):
    _shorten(_with_sign, _sign)
_shorten(cst.SimpleStatementLine, _line)
_shorten(cst.Expr, _expression_alone)
_shorten(cst.Assign, _assign)
_shorten(cst.AssignTarget, _target)
