"""Uses of iterators, dictionaries and lists as in Python 2, in files that Python 3 reads, too, and fails on when they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.old_libraries import PYTHON2_VALUES, is_guarded, takes_part
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.names import is_framework
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_LAZY = ("builtins.map", "builtins.filter", "builtins.zip")
_ITERATORS = (*_LAZY, "builtins.iter", "builtins.enumerate", "builtins.reversed", "csv.reader", "itertools.cycle")
_ARRAYS = ("numpy.array", "numpy.asarray", "numpy.stack", "numpy.vstack", "numpy.hstack", "numpy.concatenate")
_SHUFFLES = ("random.shuffle", "numpy.random.shuffle")
_DICT_METHODS = {
    "has_key": "`key in x`", "iteritems": "x.items()", "itervalues": "x.values()", "iterkeys": "x.keys()",
}  # fmt: skip
_METHODS = frozenset(("next", *_DICT_METHODS))
_WORDS = _METHODS | {"map", "filter", "zip", "range"}
"""Code without any of these words has nothing of what is looked for."""
_OWN = ("user:", "project:")
_Mend = tuple[cst.CSTNode, Callable[[Site], None]]
_Found = tuple[cst.CSTNode, str, "_Mend | None"]
_TAKES_ANY = ("builtins.enumerate", "builtins.list", "builtins.sorted", "builtins.tuple", "builtins.dict", "builtins.set")


@part_of(
    removed_part,
    on="module",
    why="Python 3 runs such a line and fails there, or goes on with something else than was meant.",
    done_when="`tf2npu run` passes this line, and the value has the type that the next lines need.",
    source="What's New in Python 3.0: views and iterators instead of lists, text vs. data; PEP 3114",
    examples=(
        Example(
            "class Batches(object):\n    def __iter__(self):\n        return self\n    def next(self):\n"
            "        return tf.ones(3)",
            "class Batches(object):\n    def __iter__(self):\n        return self\n    def next(self):\n"
            "        return tf.ones(3)\n    __next__ = next",
        ),
        Example("pairs = zip(a, b)\nprint(pairs[0], tf.ones(1))", "pairs = list(zip(a, b))\nprint(pairs[0], tf.ones(1))"),
        Example(
            "for key, value in flags.iteritems():\n    print(key)",
            "for key, value in flags.items():\n    print(key)",
        ),
        Example("rows = iter(a)\nprint(rows.next(), tf.ones(1))", "rows = iter(a)\nprint(next(rows), tf.ones(1))"),
        Example.same("if flags.has_key('a'):\n    tf.ones(1)", level="manual", write="if 'a' in flags:\n    tf.ones(1)"),
        Example.same("pairs = list(zip(a, b))\nprint(pairs[0], tf.ones(1))", note="a list"),
        Example.same(
            "class Batches(object):\n    def __iter__(self):\n        return self\n    def next(self):\n        return 1\n"
            "    __next__ = next",
            note="both",
        ),
        Example.same(
            "import six\nimport tensorflow as tf\nfor key, value in six.iteritems(flags):\n    print(key)",
            note="a function of six",
        ),
    ),
)
def python2_value(site: Site) -> None:
    """Mends iterators without `__next__`, lists that are none in Python 3, and methods that dicts no longer have."""
    script = site.script
    if _WORDS.isdisjoint(script.tree.tokens) or not takes_part(site) or not PYTHON2_VALUES.search(script.text):
        return
    mended: set[int] = set()
    for node, message, mend in (*_classes(script), *_methods(script), *_lazy_values(script)):
        if is_guarded(Site(script, site.fix.rule, node, site.scope)) or script.is_switched_off(site.fix.rule, node):
            continue
        site.fix.site = script.tree.span(node)
        if mend is None:
            site.manual(message, _question(site, node))
            continue
        changed, change = mend
        if id(changed) not in mended:
            mended.add(id(changed))
            change(site)
        site.fixed(message)


def _classes(script: Script) -> Iterator[_Found]:
    """Classes that Python 2 takes for iterators, and Python 3 does not."""
    for number, (node, outer, own) in enumerate(script.walked.classes):
        if not _has_next_only(script, node, outer, own):
            continue
        text = script.tree.source(node)
        returns_itself = re.search(r"def __iter__\(\s*(\w+)\s*\)\s*:[^\n]*\n?\s*return \1\b", text) is not None
        if returns_itself or _is_asked(script, f"user:{number}()"):
            yield (
                node.name,
                f"{node.name.value} is no iterator since Python 3.0, where the method is called __next__: it gets "
                "`__next__ = next`.",
                (node, partial(_add_next, method=own.names["next"][0].node)),
            )


def _add_next(site: Site, method: cst.FunctionDef) -> None:
    """Give a method its name of Python 3 as well, behind it."""
    script = site.script
    start, end = script.tree.span(method)
    indent = script.text[script.lines.line_start(start) : start]
    last = start + len(script.text[start:end].rstrip())  # a body may end where the next statement begins
    site.insert(script.lines.line_end(last), f"{script.newline_at(start)}{indent}__next__ = next")


def _has_next_only(script: Script, node: cst.ClassDef, outer: Scope, own: Scope) -> bool:
    methods = [b.node for b in own.names.get("next", []) if b.kind == "function"]
    has_other = "__next__" in own.names or "__next__" in own.attributes or "__getattr__" in own.names
    if len(methods) != 1 or has_other or len(methods[0].params.params) != 1:
        return False
    bases = [script.name_of(arg.value, outer) for arg in node.bases if arg.keyword is None]
    return all(base == "builtins.object" for base in bases)


def _is_asked(script: Script, instance: str) -> bool:
    """Whether next() is called with an object."""
    nexts = [(c, s) for c, s in script.walked.calls if len(c.args) == 1 and script.name_of(c.func, s) == "builtins.next"]
    return any(script.name_of(call.args[0].value, scope) == instance for call, scope in nexts)


def _methods(script: Script) -> Iterator[_Found]:
    """Calls of methods that dicts, or iterators of Python itself, no longer have."""
    if _METHODS.isdisjoint(script.tree.tokens):
        return
    is_pandas = re.search(r"\bpandas\b", script.text) is not None  # whose tables had iteritems of their own
    for call, scope in script.walked.calls:
        method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
        receiver: Any = call.func.value if isinstance(call.func, cst.Attribute) else None
        if method == "next" and not call.args and _is_iterator(script, receiver, scope):
            yield (
                call,
                "Iterators have no method next since Python 3.0: next(x) is written.",
                (call, partial(_call_next, call=call)),
            )
        elif method in _DICT_METHODS and len(call.args) == (method == "has_key") and not (is_pandas and method == "iteritems"):
            known = script.name_of(receiver, scope) or ""
            if not re.search(rf"\bdef {method}\b", script.text) and not is_framework(known) and not known.startswith(_OWN):
                mend = (call, partial(_rename, call=call, new=method[4:])) if _is_gone_through(script, call, scope) else None
                if mend is not None:
                    yield (
                        call,
                        f"Python 3 has no dict.{method}, so that {_DICT_METHODS[method]} was written in the place of the call. "
                        "Nothing is left to do.",
                        mend,
                    )
                else:
                    yield call, f"dict.{method} is gone since Python 3.0: write {_DICT_METHODS[method]}.", None


def _question(site: Site, node: cst.CSTNode) -> str:
    """`d.has_key(x)` as `x in d`; "" for another call."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute) or node.func.attr.value != "has_key":
        return ""
    return f"{site.source(node.args[0].value)} in {site.source(node.func.value)}"


def _is_gone_through(script: Script, call: cst.Call, scope: Scope) -> bool:
    """Whether what a dict's iter method gives is only gone through once, as what items, values and keys give can be."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "has_key":
        return False
    parent = script.walked.parents.get(id(call))
    if isinstance(parent, (cst.For, cst.CompFor)):
        return parent.iter is call
    taker: Any = script.walked.parents.get(id(parent)) if isinstance(parent, cst.Arg) else None
    return isinstance(taker, cst.Call) and script.name_of(taker.func, scope) in _TAKES_ANY


def _rename(site: Site, call: Any, new: str) -> None:
    site.replace(call.func.attr, new)


def _call_next(site: Site, call: Any) -> None:
    """`rows.next()` -> `next(rows)`."""
    start, behind = site.script.tree.span(call.func.value)
    site.insert(start, "next(")
    site.replace_range(behind, site.script.tree.span(call)[1] - sum(len(site.source(p)) for p in call.rpar), ")")


def _is_iterator(script: Script, node: Any, scope: Scope) -> bool:
    """Whether an expression is what an iterator of Python's own is made of: one of its functions, or a generator."""
    node, scope = _value(node, scope)
    if isinstance(node, cst.GeneratorExp):
        return True
    if not isinstance(node, cst.Call):
        return False
    bindings = scope.lookup(node.func.value) if isinstance(node.func, cst.Name) else []
    if len(bindings) == 1 and bindings[0].kind == "function":
        text = script.tree.source(bindings[0].node)
        return (
            re.search(r"\byield\b", text) is not None
            and not bindings[0].node.decorators
            and len(re.findall(r"\bdef ", text)) == 1
        )
    return script.name_of(node.func, scope) in _ITERATORS


def _value(node: Any, scope: Scope) -> tuple[Any, Scope]:
    """The value that a name is bound to, where it is the one in its scope, or the expression itself; with the scope."""
    bindings = scope.lookup(node.value) if isinstance(node, cst.Name) else []
    if len(bindings) == 1 and bindings[0].kind == "value" and bindings[0].scope is not None:
        return bindings[0].node, bindings[0].scope
    return node, scope


def _lazy_values(script: Script) -> Iterator[_Found]:
    """Uses of what map, filter, zip and range give as the lists that they were."""
    tokens = script.tree.tokens
    may_hold_uses = not tokens.isdisjoint(("map", "filter", "zip")) or {"range", "shuffle"} <= tokens
    for node, value, scope, kinds in _uses_as_lists(script) if may_hold_uses else ():
        made, inner = _value(value, scope)
        name = script.name_of(made.func, inner) if isinstance(made, cst.Call) else None
        if name in kinds:
            kind = str(name).removeprefix("builtins.")
            message = f"In Python 3 {kind} gives no list, so that list({kind}(...)) was written here. Nothing is left to do."
            if made is not value:
                given = script.tree.source(value)
                message = f"In Python 3 {kind} gives no list, so that list({kind}(...)) was written where {given} is made."
            yield node, message, (made, partial(_wrap_in_list, made=made))


def _wrap_in_list(site: Site, made: cst.Call) -> None:
    site.wrap_in_call(made, "list")


def _uses_as_lists(script: Script) -> Iterator[tuple[cst.CSTNode, Any, Scope, tuple[str, ...]]]:
    """The uses of a value that only a list allows: the place, the value with its scope, and the functions that give no list."""
    for call, scope in script.walked.calls:
        name = script.name_of(call.func, scope) if call.args else None
        if name == "builtins.len" or name in _ARRAYS:
            yield call, call.args[0].value, scope, _LAZY
        elif name in _SHUFFLES:
            yield call, call.args[0].value, scope, (*_LAZY, "builtins.range")
    for node, scope in _subscripts(script):
        yield node, node.value, scope, _LAZY


def _subscripts(script: Script) -> Iterator[tuple[cst.Subscript, Scope]]:
    for node, scope in script.walked.references:
        parent = script.walked.parents.get(id(node))
        if type(parent) is cst.Subscript and parent.value is node:
            yield parent, scope
    for call, scope in script.walked.calls:
        parent = script.walked.parents.get(id(call))
        if type(parent) is cst.Subscript and parent.value is call:
            yield parent, scope
