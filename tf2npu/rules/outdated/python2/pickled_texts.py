"""Pickles that Python 2 wrote: Python 3 takes the byte strings in them for ASCII, unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tf2npu.rules.base import Example, part_of
from tf2npu.rules.facts.files.python2_files import is_of_python2
from tf2npu.rules.facts.old_libraries import is_guarded, takes_part
from tf2npu.rules.outdated.python2.file_modes import PICKLES, of_either
from tf2npu.rules.outdated.removed_stdlib import removed_part
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call, Site

_READERS = frozenset(f"{module}.{name}" for module in PICKLES for name in ("load", "loads", "Unpickler"))
_HEAD = "import {}\nimport tensorflow as tf\n"


@part_of(
    removed_part,
    on="module",
    why="A pickle of Python 2 holds texts and arrays as byte strings, at which Python 3 ends with a UnicodeDecodeError.",
    done_when="`tf2npu run` reads the pickle without a UnicodeDecodeError.",
    source="Python's library reference, pickle.load: encoding",
    examples=(
        Example(
            f"{_HEAD.format('cPickle')}params = cPickle.load(open('x.pkl', 'rb'))",
            f"{_HEAD.format('cPickle')}params = cPickle.load(open('x.pkl', 'rb'), encoding='latin1')",
        ),
        Example(
            f"{_HEAD.format('cPickle, gzip')}params = cPickle.Unpickler(gzip.open('x.gz')).load()",
            f"{_HEAD.format('cPickle, gzip')}params = cPickle.Unpickler(gzip.open('x.gz'), encoding='latin1').load()",
        ),
        Example.same(f"{_HEAD.format('pickle')}params = pickle.load(open('x.pkl', 'rb'))", note="Python 3 may have written it"),
        Example.same(f"{_HEAD.format('pickle')}params = pickle.load(open('x.pkl', 'rb'), encoding='bytes')", note="asked for"),
        Example.same(
            f"{_HEAD.format('cPickle')}cPickle.dump({{}}, open('x.pkl', 'wb'))", note="written, not read", level="manual"
        ),
    ),
)
def pickled_text(site: Site) -> None:
    """Reads pickles of Python 2 with latin1, which takes any byte string, and numpy's arrays among them."""
    script = site.script
    if "ickle" not in script.text or not takes_part(site):
        return
    for call, scope, name in _readers(script):
        told = Call(script, site.fix.rule, call, scope, name)
        is_old = name.startswith("cPickle.") or is_of_python2(script)
        is_said = told.arg("encoding") is not None or told.has_star_args or not call.args or is_guarded(told)
        if not is_old or is_said or script.is_switched_off(site.fix.rule, call):
            continue
        told.fix = site.fix
        site.fix.site = script.tree.span(call)
        told.add_keyword("encoding='latin1'")
        site.fixed(
            "Pickles of Python 2 hold byte strings: encoding='latin1' reads them, arrays among them, and changes nothing in "
            "pickles of Python 3. For words beyond ASCII write encoding='utf-8'."
        )


def _readers(script: Script) -> Iterator[tuple[cst.Call, Scope, str]]:
    """The calls that read a pickle."""
    for call, scope in script.walked.calls:
        name = script.name_of(call.func, scope) or of_either(call.func, scope)
        if name in _READERS:
            yield call, scope, name
