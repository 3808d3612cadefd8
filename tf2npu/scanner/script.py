"""One file under conversion: its text, tree, names, project and the names of adapters that fixes ask for."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import libcst as cst

from tf2npu.config import Config
from tf2npu.findings import Span
from tf2npu.frameworks.base import Adapter, Framework
from tf2npu.frameworks.registry import known
from tf2npu.scanner.names import canonical, is_framework
from tf2npu.scanner.project_facts import ProjectFacts
from tf2npu.scanner.resolver import Resolver
from tf2npu.scanner.scopes import Binding, Scope
from tf2npu.scanner.text.interval_index import Covering
from tf2npu.scanner.text.pragmas import Pragmas
from tf2npu.scanner.text.source import LineIndex
from tf2npu.scanner.tree import Tree
from tf2npu.scanner.tree_walk import Walked, root_name, walk


class Script:
    """Everything rules may ask about a file. Nothing in here changes while rules run, except the local names handed out.

    frameworks: those that the file has to do with, all that are known where nobody says; of the releases of one, the rules of
    that look at it for which it is written.
    """

    def __init__(
        self, path: str, tree: Tree, config: Config, project: ProjectFacts, frameworks: tuple[Framework, ...] | None = None
    ) -> None:
        self.path = path
        self.tree = tree
        self.text = tree.text
        for framework in known():
            config = framework.settings(config, path, project)
        self.config = config
        self.project = project
        self.frameworks = tuple(known()) if frameworks is None else frameworks
        self.lines = LineIndex(tree.text)
        self.walked: Walked = walk(tree.module)
        self.resolver = Resolver(self.walked, path, project)
        self.module_scope = self.walked.module_scope
        self.pragmas = Pragmas(tree.text, self._is_in_string)
        self.answers: dict[Callable[..., Any], Any] = {}  # kept by `fact`, by the question
        self._inner = {name for scope in self.walked.scope_of.values() if scope.kind != "module" for name in scope.names}
        self._bound = self._bound_names()
        self._locals: dict[str, str] = {}
        self.frameworks = tuple(f for f in self.frameworks if f.is_for(self))
        self.adapters: list[Adapter] = [f.adapter for f in self.frameworks if f.adapter is not None]

    def is_switched_off(self, rule: str, node: cst.CSTNode) -> bool:
        """Whether a rule will not be applied to a node: disabled in the configuration, or by a comment on its lines."""
        span = self.span(*self.tree.span(node))
        return not self.config.is_enabled(rule) or self.pragmas.ignores(rule, span.line, span.end_line)

    def span(self, start: int, end: int) -> Span:
        """1-based span of a character range."""
        return Span(*self.lines.position(start), *self.lines.position(end))

    def calls_in(self, start: int, end: int) -> Iterator[tuple[cst.Call, Scope]]:
        """Calls that begin from `start` up to `end`, with the scopes they are in."""
        first, behind = (bisect.bisect_left(self._calls_by_start, (offset, -1)) for offset in (start, end))
        return (self.walked.calls[number] for number in sorted(n for _, n in self._calls_by_start[first:behind]))

    @cached_property
    def _calls_by_start(self) -> list[tuple[int, int]]:
        """The start of each call, in the order of the text, with its number."""
        return sorted((self.tree.span(call)[0], number) for number, (call, _) in enumerate(self.walked.calls))

    def references_to(self, name: str) -> list[tuple[cst.BaseExpression, Scope]]:
        """Uses of a name by itself or at the start of a chain of attributes, with the scopes they are in."""
        return self._references_by_name.get(name, [])

    @property
    def referenced_names(self) -> frozenset[str]:
        """Every name that stands by itself, or at the start of a chain of attributes, where its value is asked for."""
        return frozenset(self._references_by_name)

    @cached_property
    def _references_by_name(self) -> dict[str, list[tuple[cst.BaseExpression, Scope]]]:
        found: dict[str, list[tuple[cst.BaseExpression, Scope]]] = {}
        for node, scope in self.walked.references:
            start = root_name(node)
            if start:
                found.setdefault(start, []).append((node, scope))
        return found

    def name_of(self, node: cst.BaseExpression, scope: Scope) -> str | None:
        """Qualified name of an expression, or None when it is not certain."""
        return self.resolver.qualify(node, scope)

    def is_looked_at_by(self, framework: str) -> bool:
        """Whether the rules of a framework, by its name, look at this file."""
        return any(one.name == framework for one in self.frameworks)

    @property
    def is_entry(self) -> bool:
        """Whether this file is run, not imported: one that the settings name, or as the project tells."""
        if self.config.names_entries:
            return self.config.is_named_entry(self.path)
        entry = self.path in self.project.entries
        return entry or (self.path not in self.project.imported and self._runs_at_top_level())

    def _runs_at_top_level(self) -> bool:
        """Whether a file trains or does other work when it is loaded, told by the kinds of its objects."""
        if self.path not in self.project.files:
            return False
        for node, scope in self.walked.calls:
            name = self.name_of(node.func, scope) if scope.function is None and scope.kind == "module" else None
            if name is not None and (name in known().running or name.endswith(known().training_methods)):
                return True
        return False

    def newline_at(self, offset: int) -> str:
        """Line end used at this place."""
        end = self.lines.line_end(offset)
        for newline in ("\r\n", "\n", "\r"):
            if self.text.startswith(newline, end):
                return newline
        return "\r\n" if "\r\n" in self.text else "\n"

    def comments(self, start: int, end: int) -> list[str]:
        """Comments in a range of the text."""
        if "#" not in self.text[start:end]:
            return []
        found, position = [], start
        while (position := self.text.find("#", position, end)) >= 0:
            behind = self._strings_of_text.reach(position)
            if behind > position:
                position = behind
                continue
            line_end = min(self.lines.line_end(position), end)
            found.append(self.text[position:line_end].rstrip())
            position = line_end
        return found

    def _is_in_string(self, offset: int) -> bool:
        return self._strings_of_text.reach(offset) > offset

    @cached_property
    def _strings_of_text(self) -> Covering:
        return Covering(self._without_parentheses(node) for node in self._strings())

    def _strings(self) -> list[Any]:
        """String literals; of those written one behind another, each, as there may be comments in between."""
        return [node for node in self.walked.strings if not isinstance(node, cst.ConcatenatedString)]

    def _without_parentheses(self, node: Any) -> tuple[int, int]:
        start, end = self.tree.span(node)
        return self.tree.span(node.lpar[-1])[1] if node.lpar else start, self.tree.span(node.rpar[0])[0] if node.rpar else end

    def adapter_of(self, symbol: str) -> Adapter:
        """The adapter that has a symbol: of those of the file's frameworks that export it the first, else the first."""
        return next((adapter for adapter in self.adapters if symbol in adapter.names), self.adapters[0])

    def local_name(self, symbol: str) -> str:
        """Name under which a symbol of an adapter is used in this file; the user's own names are avoided."""
        if symbol not in self._locals:
            self._locals[symbol] = self._choose_local(symbol)
        return self._locals[symbol]

    def imported_as(self, symbol: str) -> str | None:
        """Local name under which a symbol of an adapter is already imported at module level, or None.

        A name that means something else in a function or class of the file does not count: what is added may stand there.
        """
        names = [name for name in self.module_scope.names if self._importing(name, symbol) and not self._is_hidden(name, symbol)]
        has_star = symbol not in self._inner and bool(self._stars_with(symbol))
        return names[0] if names else symbol if has_star else None

    def imports_of(self, symbol: str) -> list[Any]:
        """The statements at module level that give a symbol the name it has in this file."""
        name = self.local_name(symbol)
        return [b.node for b in self._importing(name, symbol)] + (self._stars_with(symbol) if name == symbol else [])

    def _is_hidden(self, name: str, symbol: str) -> bool:
        """Whether a function or class gives a name another meaning than the symbol's."""
        scopes = [s for s in self.walked.scope_of.values() if s.kind != "module"] if name in self._inner else []
        wanted = self._qualified(symbol)
        return any(not _imports(b, wanted) for scope in scopes for b in scope.names.get(name, []))

    def _importing(self, name: str, symbol: str) -> list[Binding]:
        bindings = [b for b in self.module_scope.names.get(name, []) if b.kind == "import"]
        wanted = self._qualified(symbol) if bindings else ""
        return [binding for binding in bindings if _imports(binding, wanted)]

    def _qualified(self, symbol: str) -> str:
        """The qualified name of a symbol of an adapter."""
        if ":" in symbol:
            return symbol.replace(":", ".")
        adapter = self.adapter_of(symbol)
        return adapter.module if symbol == adapter.alias else canonical(f"{adapter.module}.{symbol}")

    def _stars_with(self, symbol: str) -> list[Any]:
        modules = [adapter.module for adapter in self.adapters if symbol in adapter.names]
        return [star.node for star in self.module_scope.stars if canonical(star.target) in modules]

    def _choose_local(self, symbol: str) -> str:
        present = self.imported_as(symbol)
        if present is not None:
            return present
        if symbol not in self._bound:
            return symbol
        alias = symbol if symbol.startswith("npu_") else f"npu_{symbol}"
        while alias in self._bound:
            alias += "_"
        return alias

    def _bound_names(self) -> set[str]:
        names = self._inner | set(self.module_scope.names)
        for star in self.module_scope.stars:
            if not (star.level == 0 and is_framework(star.target)):
                names |= self.project.star_names(self.path, star.level, star.target)
        return names


def _imports(binding: Binding, wanted: str) -> bool:
    """Whether a binding is an import of what has this qualified name."""
    return binding.kind == "import" and binding.level == 0 and canonical(binding.target) == wanted
