"""Uses of the sessions that a file holds: which are closed, handed on or used in a with statement.

Gathered once a file, so that a file of very many sessions does not read its text again for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import libcst as cst

from tf2npu.scanner.ranges import Covering
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact

_CLOSES_DEFAULT = re.compile(r"get_session\(\)\.close|get_default_session\(\)\.close|clear_session\(\)")
_IN_WITH = re.compile(r"(?:\bwith |enter_context\(|closing\()(?=([\w.\[\]]+))")
_WORD = re.compile(r"\w+")
_STATEMENT_BEFORE = re.compile(r"\b(?:return|yield|with) \Z")
_LONGEST_BEFORE = 16
"""Characters in front of a name that are looked at to tell how it is used."""


@fact
def session_uses(script: Script) -> SessionUses:
    """The uses of a file's sessions, gathered where they are first asked for."""
    return SessionUses(script)


class SessionUses:
    """Answers about one file."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._closed: dict[str, _Holders] = {}
        self._answers: dict[tuple[str, str], bool] = {}

    @cached_property
    def closes_default(self) -> bool:
        """Whether the default session or Keras' is closed somewhere."""
        return _CLOSES_DEFAULT.search(self.script.text) is not None

    @cached_property
    def calls_by_name(self) -> dict[str, list[cst.Call]]:
        """Calls by the last part of what is called, in source order."""
        found: dict[str, list[cst.Call]] = {}
        for node, _ in self.script.walked.calls:
            func = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
            found.setdefault(getattr(func, "value", ""), []).append(node)
        return found

    @cached_property
    def _in_with(self) -> Covering:
        """The ranges where the dot of an attribute may stand that a with statement or an exit stack closes."""
        return Covering((match.end() + 1, match.end(1)) for match in _IN_WITH.finditer(self.script.text))

    def is_attribute_in_with(self, name: str) -> bool:
        """Whether a with statement or an exit stack closes this attribute of an object."""
        length = 1 + len(name)
        return self._anywhere("with", f".{name}", lambda dot: self._in_with.holds(dot, dot) and not self._goes_on(dot + length))

    def is_handed_on(self, target: str) -> bool:
        """Whether what is written so is returned, used in a with statement or given to an exit stack."""
        return self._anywhere("handed_on", target, lambda start: self._is_handed_on_at(start, start + len(target)))

    def is_closed_or_handed_on(self, target: str) -> bool:
        """The same, or its close method is used."""
        is_closed = self._anywhere("closed", target, lambda start: self._is_closed_at(start, start + len(target)))
        return is_closed or self.is_handed_on(target)

    def is_attribute_closed(self, name: str, owner: Scope | None) -> bool:
        """Whether the attribute of a class, or of one that is derived from it or its base, is closed somewhere."""
        if name not in self._closed:
            self._closed[name] = _Holders(self.script, self._closed_attributes.get(name, []))
        return self._closed[name].concern(owner)

    def _is_closed_at(self, start: int, end: int) -> bool:
        text = self.script.text
        is_whole = _is_word(text[start - 1 : start]) != _is_word(text[start])
        return is_whole and text.startswith(".close", end) and not _is_word(text[end + 6 : end + 7])

    def _is_handed_on_at(self, start: int, end: int) -> bool:
        text = self.script.text
        before = text[max(0, start - _LONGEST_BEFORE) : start]
        if before.endswith(("enter_context(", "closing(")):
            return text.startswith(")", end)
        return not self._goes_on(end) and _STATEMENT_BEFORE.search(before) is not None

    def _goes_on(self, end: int) -> bool:
        """Whether what ends here is only the beginning of something else."""
        after = self.script.text[end : end + 1]
        return _is_word(after) or after in (".", "(", "[")

    @cached_property
    def _words(self) -> dict[str, list[int]]:
        """The offsets of each word of the text."""
        found: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.script.text):
            found.setdefault(match[0], []).append(match.start())
        return found

    def _anywhere(self, question: str, target: str, is_so_at: Callable[[int], bool]) -> bool:
        """Whether something holds for one of the places at which a target is written; asked once for all that are written so."""
        if (question, target) not in self._answers:
            self._answers[question, target] = any(map(is_so_at, self._places(target)))
        return self._answers[question, target]

    def _places(self, target: str) -> list[int]:
        """The offsets of an assignment's target in the text, found by that of its words which is seldom used."""
        words = [(match[0], match.start()) for match in _WORD.finditer(target)]
        word, offset = min(words, key=lambda entry: len(self._words.get(entry[0], ())), default=("", 0))
        starts = [place - offset for place in self._words.get(word, ())]
        return [start for start in starts if start >= 0 and self.script.text.startswith(target, start)]

    @cached_property
    def _closed_attributes(self) -> dict[str, list[tuple[Any, Scope]]]:
        """Objects of which an attribute's close method is used, by attribute."""
        found: dict[str, list[tuple[Any, Scope]]] = {}
        for node, scope in self.script.walked.references:
            held: Any = node.value if isinstance(node, cst.Attribute) and node.attr.value == "close" else None
            if isinstance(held, cst.Attribute):
                found.setdefault(held.attr.value, []).append((held.value, scope))
        return found


class _Holders:
    """The classes whose objects somebody closes an attribute of."""

    def __init__(self, script: Script, objects: list[tuple[Any, Scope]]) -> None:
        self.script = script
        names = [script.name_of(node, scope) for node, scope in objects]
        self.may_be_any = any(name is None or not name.startswith("user:") for name in names)
        known = [] if self.may_be_any else [str(name) for name in names]
        self.classes = {int(name[5:].removesuffix("()")) for name in known}
        self.bases = {base for number in self.classes for base in _bases(script, number)}
        self.numbers = {id(own): number for number, (_, _, own) in enumerate(script.walked.classes)} if known else {}

    def concern(self, owner: Scope | None) -> bool:
        """Whether the closed attribute may be that of an object of a class."""
        if self.may_be_any:
            return True
        number = self.numbers.get(id(owner))
        if number is None:
            return False
        return number in self.bases or not self.classes.isdisjoint(_bases(self.script, number))


def _bases(script: Script, number: int) -> list[int]:
    """A class of the file, given by its number, and what it is derived from."""
    found = dict.fromkeys([number])
    todo = [number]
    while todo:
        node, outer, _ = script.walked.classes[todo.pop()]
        names = [script.name_of(arg.value, outer) or "" for arg in node.bases]
        numbers = [int(name[5:].removesuffix("()")) for name in names if name.startswith("user:")]
        todo += [base for base in numbers if base not in found]
        found.update(dict.fromkeys(numbers))
    return list(found)


def _is_word(character: str) -> bool:
    return _WORD.fullmatch(character) is not None
