"""Files that are opened for text and get bytes, or the other way round: one thing to Python 2 on Linux, an error to Python 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

PICKLES = ("pickle", "cPickle", "six.moves.cPickle")
"""Modules by the names under which they are imported."""
# Function -> the kind of file it takes, and the position of that argument.
_TAKES = {
    **{f"{module}.dump": ("bytes", 1) for module in PICKLES},
    **{f"{module}.load": ("bytes", 0) for module in PICKLES},
    "json.dump": ("text", 1),
    **{f"csv.{name}": ("text", 0) for name in ("reader", "writer", "DictReader", "DictWriter")},
}
_WORDS = ("ickle", "json", "csv")


@part_of(
    removed_part,
    on="module",
    why="Python 3 tells text from bytes: what is written or read then ends in an error.",
    done_when="`tf2npu run` writes and reads the file without an error, and its content is what Python 2 wrote.",
    source="What's New in Python 3.0, text vs. data",
    examples=(
        Example(
            "import pickle\nimport tensorflow as tf\npickle.dump(tf.__version__, open('x', 'w'))",
            "import pickle\nimport tensorflow as tf\npickle.dump(tf.__version__, open('x', 'wb'))",
        ),
        Example(
            "import pickle\nimport tensorflow as tf\nwith open('x') as f:\n    v, w = pickle.load(f), pickle.load(f)",
            "import pickle\nimport tensorflow as tf\nwith open('x', mode='rb') as f:\n    v, w = pickle.load(f), pickle.load(f)",
        ),
        Example(
            "import csv\nimport tensorflow as tf\nrows = csv.reader(open('x', 'rb'))",
            "import csv\nimport tensorflow as tf\nrows = csv.reader(open('x', 'r'))",
        ),
        Example.same(
            "import pickle\nimport tensorflow as tf\nwith open('x', 'w') as f:\n    f.write('v1')\n    pickle.dump({}, f)",
            note="text and bytes",
            level="manual",
        ),
        Example.same(
            "import pickle\nimport tensorflow as tf\nwith open('x', 'rb') as f:\n    vocabulary = pickle.load(f)",
            note="opened for bytes",
        ),
        Example.same(
            "import pickle, gzip\nimport tensorflow as tf\nvocabulary = pickle.load(gzip.open('x'))",
            note="bytes unless asked otherwise",
        ),
        Example.same("import json\nimport tensorflow as tf\njson.dump({}, open('x', 'w'))", note="text"),
    ),
)
def file_mode(site: Site) -> None:
    """Opens files for what is read or written, and reports those that are used for text and for bytes."""
    script = site.script
    if not takes_part(site) or not any(word in script.text for word in _WORDS):
        return
    mended: set[int] = set()
    for call, scope, name in _calls(script):
        kind, position = _TAKES[name]
        user = Call(script, site.fix.rule, call, scope, name)
        opening = _opening_of(user, position)
        mode = _mode_of(opening) if opening is not None else None
        is_wrong = mode is not None and ("b" in mode) != (kind == "bytes")
        if not is_wrong or is_guarded(Site(script, "", call, scope)) or script.is_switched_off(site.fix.rule, call):
            continue
        site.fix.site = script.tree.span(call)
        written = f"{mode}b" if kind == "bytes" else str(mode).replace("b", "")
        if opening is not None and _is_for(kind, user, position, opening):
            if id(opening.node) not in mended:
                mended.add(id(opening.node))
                opening.fix = site.fix
                _open_with(opening, written)
            site.fixed(f"{name} takes a file of {kind} since Python 3.0: it is opened with mode '{written}'.")
        else:
            site.manual(f"{name} takes a file of {kind} since Python 3.0: open it with mode '{written}'.")


def _is_for(kind: str, user: Call, position: int, opening: Call) -> bool:
    """Whether a file is used by functions that take the kind alone, and opened without what goes with the other kind."""
    if opening.has_star_args or any(arg.keyword is not None and arg.keyword.value != "mode" for arg in opening.args):
        return False
    value = _file_of(user, position)
    if not isinstance(value, cst.Name):
        return len(opening.args) <= 2
    owner = user.scope.lookup_scope(value.value)
    bindings = user.scope.lookup(value.value)
    takers = {
        id(_file_of(Call(user.script, "", c, s, n), _TAKES[n][1])) for c, s, n in _calls(user.script) if _TAKES[n][0] == kind
    }
    uses = [node for node, scope in user.script.references_to(value.value) if scope.lookup_scope(value.value) is owner]
    return (
        len(bindings) == 1 and len(opening.args) <= 2 and all(id(use) in takers or _is_closing(user.script, use) for use in uses)
    )


def _is_closing(script: Script, use: cst.BaseExpression) -> bool:
    return isinstance(use, cst.Attribute) and use.attr.value == "close"


def _open_with(opening: Call, mode: str) -> None:
    given: Any = opening.value("mode", 1)
    if given is None:
        opening.add_keyword(f"mode='{mode}'")
    else:
        quote = given.value[-1]
        opening.replace(given, f"{quote}{mode}{quote}")


def _calls(script: Script) -> Iterator[tuple[cst.Call, Scope, str]]:
    """Calls of the functions, under the name of the module that is there in Python 3."""
    for call, scope in script.walked.calls:
        name = script.name_of(call.func, scope) or of_either(call.func, scope)
        if name in _TAKES:
            yield call, scope, name


def of_either(func: cst.BaseExpression, scope: Scope) -> str:
    """The function of a module that is imported under one name as cPickle or as pickle, whichever is there."""
    if not isinstance(func, cst.Attribute) or not isinstance(func.value, cst.Name):
        return ""
    targets = {b.target if b.kind == "import" else "" for b in scope.lookup(func.value.value)}
    return f"pickle.{func.attr.value}" if targets and targets <= set(PICKLES) else ""


def _file_of(call: Call, position: int) -> Any:
    names = ("file", "fp") if call.name.endswith(".dump") else ("file",)
    return next((found for name in names if (found := call.value(name, position)) is not None), None)


def _opening_of(call: Call, position: int) -> Call | None:
    """The call that opened the file that a call takes, where that is seen."""
    opening, scope = _opening(call, _file_of(call, position))
    is_open = isinstance(opening, cst.Call) and call.script.name_of(opening.func, scope) in ("builtins.open", "io.open")
    return Call(call.script, call.fix.rule, opening, scope) if is_open else None


def _mode_of(opening: Call) -> str | None:
    """The mode in which a file is opened, where it is written out."""
    mode = opening.value("mode", 1)
    if mode is None:
        return "r"
    return str(mode.evaluated_value) if isinstance(mode, cst.SimpleString) else None


def _opening(call: Call, value: Any) -> tuple[Any, Scope]:
    """The expression that a file comes from, and its scope: of the with statement around the call that names it, or the one value
    of its name.
    """
    if not isinstance(value, cst.Name):
        return value, call.scope
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)):
            break
        for item in ancestor.items if isinstance(ancestor, cst.With) else ():
            if item.asname is not None and isinstance(item.asname.name, cst.Name) and item.asname.name.value == value.value:
                return item.item, call.scope
    bindings = call.scope.lookup(value.value)
    if len(bindings) == 1 and bindings[0].kind == "value" and bindings[0].scope is not None:
        return bindings[0].node, bindings[0].scope
    return None, call.scope
