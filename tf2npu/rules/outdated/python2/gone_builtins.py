"""Built-in names of Python 2 in files that Python 3 reads, too."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.python2.constructs import GONE_BUILTINS
from tf2npu.scanner.sites import Site
from tf2npu.scanner.tree_walk import dotted_name

_SAME = ("xrange", "raw_input")
"""Names whose place in Python 3 takes the same arguments and gives what is used in the same way."""


@part_of(
    removed_part,
    on="module",
    why="Python 3 has no such name: the first use ends the program with a NameError.",
    done_when="`tf2npu run` passes this line without a NameError.",
    source="What's New in Python 3.0, builtins",
    examples=(
        Example.same(
            "for i in xrange(3):\n    tf.ones(i)\ny = xrange(4)",
            level="manual",
            write="for i in range(3):\n    tf.ones(i)\ny = range(4)",
        ),
        Example.same("from six.moves import xrange\ny = xrange(3)", note="another range"),
        Example.same("try:\n    text = unicode\nexcept NameError:\n    text = str", note="has another way"),
        Example.same("import six\nif six.PY2 and isinstance(x, unicode):\n    tf.ones(1)", note="asked of Python 2 only"),
        Example.same("def f(reduce=None):\n    return reduce", note="a parameter"),
    ),
)
def gone_builtin(site: Site) -> None:
    """Reports built-in names that Python 3 does not have."""
    script = site.script
    if script.tree.tokens.isdisjoint(GONE_BUILTINS) or script.module_scope.stars or not takes_part(site):
        return
    uses: dict[str, list[cst.CSTNode]] = {}
    for node, scope in script.walked.references:
        is_gone = isinstance(node, cst.Name) and node.value in GONE_BUILTINS and not scope.lookup(node.value)
        if is_gone and not is_guarded(Site(script, site.fix.rule, node, scope)):
            uses.setdefault(dotted_name(node), []).append(node)
    for name, nodes in uses.items():
        for use in nodes:
            if not script.is_switched_off(site.fix.rule, use):
                site.fix.site = script.tree.span(use)
                new = GONE_BUILTINS[name]
                code = new if new.isidentifier() and not script.module_scope.lookup(new) else ""
                message = f"{name} is gone since Python 3.0: write {new}, or convert with --python2."
                site.manual(message, code, replaces=name in _SAME)
