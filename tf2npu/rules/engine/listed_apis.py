"""APIs that need a person and of which no rule speaks: the support table says what to look at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import libcst as cst

from npu_formats.near_names import near_names
from tf2npu.api_support.table import Api, shown, table
from tf2npu.api_support.uses import ApiUses, Place
from tf2npu.findings import Level, Verdict
from tf2npu.frameworks.tensorflow1.mixed_computing import SPARSE_OPS
from tf2npu.frameworks.tensorflow1.project import NAME, tensorflow_in
from tf2npu.rules import hooks
from tf2npu.rules.base import Example, registered, rule
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.notebooks.path import is_notebook
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site
from tf2npu.scanner.text.edits import Fix

_ID = "NPU970"
_MOST_LINES = 5
"""The most lines that one finding names: more are not read."""
_DEPRECATED = (
    "{}: deprecated in the vendor's list of APIs, which promises nothing on an NPU. The code may stay; an official API of "
    "TensorFlow, where there is one, is safer."
)
_TRAINED = "networks of the vendor's model zoo train with it"
"""Reason of a decision on an API that the published list both supports and forbids, and that is seen to work on an Ascend 910.

Source: networks of the ModelZoo-TensorFlow repository whose own record says FuncStatus and PrecisionStatus OK, and which use the
API without mix_compile_mode.
"""
_CONTRADICTED = frozenset(("tensorflow.nn.embedding_lookup_sparse", *(f"tensorflow.sparse.{name}" for name in SPARSE_OPS)))
_EITHER_WAY = (
    "{}: the published list contradicts itself on such ops. They run either way: mix_compile_mode leaves what the NPU does "
    "not have to the host. That option is set (or asked for) where the session is made."
)
_Used = tuple[str, Api, list[Place]]


@rule(
    id=_ID,
    title="API to look at",
    on="engine",
    why="The published list promises nothing for these APIs, or contradicts itself: whether they do on the NPU what they did "
    "before shows only there.",
    done_when="`tf2npu run` passes the op, and a run on an NPU host gives the numbers of the original.",
    source="docs/api_support.md",
    examples=(
        Example.same("y = tf.math.accumulate_n([a, b])", level="manual", write="y = tf.add_n([a, b])"),
        Example.same("y = tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], 'SAME')", note="seen to work", level="info"),
        Example.same("with tf.contrib.framework.arg_scope([f], x=1):\n    f()", note="deprecated only", level="info"),
        Example.same("y = tf.nn.conv2d(x, f, [1, 1, 1, 1], 'SAME')", note="supported"),
        Example.same("o = tf.train.Adam(0.1)", level="manual", write="o = tf.train.AdamOptimizer(0.1)"),
        Example.same("y = nn.separable_conv2d(x, d, p)", note="not TensorFlow's"),
    ),
)
def api_to_look_at(site: Any) -> None:
    """Reports, once a file, the APIs that the support table calls manual and that no rule handles."""


@hooks.after_rules
def said_of_apis(script: Script, uses: ApiUses, fixes: list[Fix]) -> list[Fix]:
    """Findings about the APIs with the verdict manual that no rule speaks of; `fixes`: what the rules did and said."""
    if not script.config.is_enabled(_ID) or not script.is_looked_at_by(NAME):
        return []
    told, sites = {fix.rule for fix in fixes}, [fix.site for fix in fixes]
    work = (Level.MANUAL, Level.UNSUPPORTED)
    begun = {fix.site[0] for fix in fixes if any(finding.level in work for finding in fix.findings)}
    is_mixed = script.path in tensorflow_in(script.project).mixed_graphs
    groups: dict[tuple[Level, str], list[_Used]] = {}
    for name, api, places in uses.with_verdict(Verdict.MANUAL):
        if api.kind == "member" and (_is_deprecated(api) or api.source.startswith("as ")):
            continue  # its class is told
        what = _what_to_say(api, name in _matched_names(), told)
        if what and what[0] is Level.MANUAL and api.name in _CONTRADICTED and is_mixed:
            what = (Level.INFO, _EITHER_WAY)
        left = [p for p in places if (what or _is_passed_on(script, name, p)) and not _is_settled(script, p)]
        if api.rule:
            left = [p for p in left if not _is_inside(script.tree.span(p[0]), sites)]
        left = [p for p in left if script.tree.span(p[0])[0] not in begun]
        if left:
            groups.setdefault(what or (Level.MANUAL, _of_rule(api)), []).append((name, api, left))
    return [*(_fix(script, level, what, used) for (level, what), used in groups.items()), *_of_no_version(script, uses, sites)]


def _of_no_version(script: Script, uses: ApiUses, sites: list[tuple[int, int]]) -> Iterator[Fix]:
    """Findings about names that no TensorFlow has, where no rule has spoken and the author has no other way."""
    for name, places in uses.of_no_version():
        last = re.escape(name.rpartition(".")[2])  # given a value, or asked for by its name
        is_set = re.search(rf"\b{last}\s*=[^=]|['\"]{last}['\"]", script.text) is not None
        for node, scope in places if not is_set else ():
            site = Site(script, _ID, node, scope, name)
            if _is_inside(script.tree.span(node), sites) or is_guarded(site) or _is_settled(script, (node, scope)):
                continue
            site.manual(f"Neither TensorFlow 1.15 nor 2.15 has {shown(name)}: the program ends here. Write {_meant(name)}.")
            yield site.fix
            break


def _meant(name: str) -> str:
    """The advice for a name that does not exist: to write what is meant, with the neighbours that look like it."""
    module, _, last = name.rpartition(".")
    close = [shown(f"{module}.{one}") for one in near_names(last, _names_in(module), 2)]
    return f"what is meant; {' and '.join(close)} look like it" if close else "what is meant"


@lru_cache(maxsize=64)
def _names_in(module: str) -> list[str]:
    """The names of the table that are right below a module, but modules."""
    places = (api.name.rpartition(".") for api in table() if api.kind != "module")
    return [name for above, _, name in places if above == module]


def _is_inside(span: tuple[int, int], sites: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in sites)


def _what_to_say(api: Api, is_matched: bool, told: set[str]) -> tuple[Level, str] | None:
    """Level and text for an API, with {} for its name; None where a rule speaks of it."""
    if _is_deprecated(api):
        return Level.INFO, _DEPRECATED
    if not api.rule and _TRAINED in api.note:
        return Level.INFO, f"{{}}: {api.note}. The code runs as it is; nothing is left to do."
    if api.rule and (is_matched or api.rule in told):
        return None
    return Level.MANUAL, f"{{}}: {api.note}." if api.source == "decision" or not api.rule else _of_rule(api)


def _is_deprecated(api: Api) -> bool:
    """Whether it is the published list, and nothing else, that has something against an API or its class."""
    return api.note.startswith("the list calls it deprecated")


def _of_rule(api: Api) -> str:
    return f"{{}}: what rule {api.rule} says holds here, too, but the code is not seen in full: look at it by hand."


@lru_cache(maxsize=1)
def _called_names() -> frozenset[str]:
    """Names that rules look for where they are called, and not where they are handed on."""
    parts = [part for rule_parts in registered().values() for part in rule_parts]
    names = {kind: {name for part in parts if part.on == kind for name in part.matches} for kind in ("call", "reference")}
    return frozenset(names["call"] - names["reference"])


@lru_cache(maxsize=1)
def _matched_names() -> frozenset[str]:
    return frozenset(name for parts in registered().values() for part in parts for name in part.matches)


def _is_settled(script: Script, place: Place) -> bool:
    """Whether nobody has to look at a place: a comment says so, it only asks for a class, or it is in the input pipeline."""
    node, scope = place
    if script.is_switched_off(_ID, node) or in_pipeline(Site(script, _ID, node, scope)):
        return True
    calls = (script.walked.parents.get(id(a)) for a in [node, *script.walked.ancestors(node)])
    return any(isinstance(c, cst.Call) and getattr(c.func, "value", "") in ("isinstance", "issubclass") for c in calls)


def _is_passed_on(script: Script, name: str, place: Place) -> bool:
    """Whether a function that rules look for where it is called is handed on at a place, so that nobody sees the call."""
    node, scope = place
    parent = script.walked.parents.get(id(node))
    is_callee = isinstance(parent, cst.Call) and parent.func is node
    is_name = isinstance(node, (cst.Name, cst.Attribute))
    is_sought = name in _called_names() and is_name and not is_callee
    return is_sought and passed_on(Site(script, _ID, node, scope, name)) is not None


def _fix(script: Script, level: Level, what: str, used: list[_Used]) -> Fix:
    first, scope = min((place for _, _, places in used for place in places), key=lambda place: script.tree.span(place[0]))
    site = Site(script, _ID, first, scope)
    message = what.format(", ".join(_named(script, used)))
    {Level.INFO: site.info, Level.MANUAL: site.manual}[level](message)
    return site.fix


def _named(script: Script, used: list[_Used]) -> Iterator[str]:
    """The names with the lines where they stand, which in a notebook nobody counts; of a class without its members."""
    classes = {api.name for _, api, _ in used if api.kind == "class"}
    for _, api, found in sorted(used, key=lambda one: script.tree.span(one[2][0][0])):
        if api.kind != "member" or api.name.rpartition(".")[0] not in classes:
            lines = sorted({script.lines.position(script.tree.span(node)[0])[0] for node, _ in found})
            places = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
            word = "line" if len(lines) == 1 else "lines"
            yield f"{shown(api.name)} ({word} {places})" if not is_notebook(script.path) else shown(api.name)
