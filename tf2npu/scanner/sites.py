"""The view that a rule has of a script: a site of it, with edits that are recorded, not made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from tf2npu.findings import Finding, Level
from tf2npu.scanner.scopes import Scope
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.text.edits import Change, Fix


class Site:
    """A node that a rule looks at. Changes and findings collect in `fix`; the engine makes all of them or none.

    is_allowed: whether an unsafe fix is made here, whatever the settings say.  has_asked: whether the rule asked for that.
    """

    is_allowed = has_asked = False

    def __init__(self, script: Script, rule: str, node: cst.CSTNode, scope: Scope, name: str = "") -> None:
        self.script = script
        self.node: Any = node
        self.scope = scope
        self.name = name
        self.fix = Fix(rule, site=script.tree.span(node))

    def source(self, node: cst.CSTNode) -> str:
        """Source text of a node."""
        return self.script.tree.source(node)

    def resolve(self, node: cst.BaseExpression) -> str | None:
        """Qualified name of an expression in the scope of this site."""
        return self.script.name_of(node, self.scope)

    def allows_unsafe(self) -> bool:
        """Whether a fix may be made here that may change values or shapes. Where not, a person is shown what it would write."""
        self.has_asked = True
        return self.is_allowed or self.script.config.allows_unsafe(self.fix.rule)

    def fixed(self, message: str) -> None:
        """Say what the recorded changes do."""
        self._find(Level.FIXED, message)

    def manual(self, message: str, write: str = "", *, replaces: bool = False) -> None:
        """Say what a person has to do.

        write: the code for that, made of what stands here; it is left out where it is no Python.
        replaces: whether it may come in the place of this site as it is.
        """
        self._find(Level.MANUAL, message, write, replaces)

    def unsupported(self, message: str, write: str = "", *, replaces: bool = False) -> None:
        """Say what has no known way to the NPU as it is written.  write, replaces: as of `manual`."""
        self._find(Level.UNSUPPORTED, message, write, replaces)

    def info(self, message: str, write: str = "") -> None:
        """Say what is good to know.  write: code that is better, as of `manual`."""
        self._find(Level.INFO, message, write)

    def _find(self, level: Level, message: str, write: str = "", replaces: bool = False) -> None:
        start, end = self.fix.site
        span = self.script.span(start, end)
        before = self.script.text[start:end]
        code = write if write and is_python(write) else ""
        name = self.name.replace("()", "")  # as people write it: instances without the mark
        finding = Finding(self.fix.rule, level, span, message, name, before, code, replaces=bool(code) and replaces)
        self.fix.findings.append(finding)

    def need(self, symbol: str) -> str:
        """Local name of a symbol of the adapter; the import is added when the fix is made."""
        self.fix.symbols.append((symbol, self.scope))
        return self.script.local_name(symbol)

    def need_module(self, module: str, name: str) -> None:
        """Add `from module import name`, for what importing it does."""
        self.fix.symbols.append((f"{module}:{name}", self.scope))

    def need_adapter(self, module: str) -> None:
        """Import the module of an adapter for what importing it does, such as putting later sessions on the NPU."""
        self.fix.symbols.append((module, self.scope))

    def replace(self, node: cst.CSTNode, new: str) -> None:
        """Replace a node by text; comments inside it are kept behind the text."""
        start, end = self.script.tree.span(node)
        comments = self.script.comments(start, end)
        if comments:
            newline = self.script.newline_at(start)
            new = f"{new}{''.join(f'  {comment}{newline}' for comment in comments)}"
            if not isinstance(self.script.walked.parents.get(id(node)), cst.Arg):
                new = f"({'None' + new[4:] if new.startswith('pass') else new})"
        self.replace_range(start, end, new)

    def replace_range(self, start: int, end: int, new: str) -> None:
        """Replace a character range by text."""
        self.fix.changes.append(Change(start, end, new))

    def insert(self, offset: int, text: str) -> None:
        """Insert text at an offset."""
        self.fix.changes.append(Change(offset, offset, text))

    def indent(self, line_start: int, text: str) -> None:
        """Indent a line further."""
        self.fix.changes.append(Change(line_start, line_start, text, is_indent=True))

    def wrap(self, node: cst.CSTNode, before: str, after: str) -> None:
        """Put text around a node, which other fixes may still change; a generator needs parentheses of its own in there."""
        if isinstance(node, cst.GeneratorExp) and not node.lpar:
            before, after = f"{before}(", f"){after}"
        self.fix.changes.append(Change(*self.script.tree.span(node), before, after))

    def wrap_in_call(self, node: cst.CSTNode, function: str) -> None:
        """`node` -> `function(node)`."""
        self.wrap(node, f"{function}(", ")")

    def delete_range(self, start: int, end: int) -> None:
        """Delete a range with the blanks behind it, or the whole line when nothing else is on it."""
        text, lines = self.script.text, self.script.lines
        line_start, line_end = lines.line_start(start), lines.line_end(end)
        if not text[line_start:start].strip() and not text[end:line_end].strip():
            if text[line_end : line_end + 2] == "\r\n":
                line_end += 1
            start, end = line_start, min(line_end + 1, len(text))
        else:
            while end < len(text) and text[end] in " \t":
                end += 1
        newline = self.script.newline_at(start)
        self.replace_range(start, end, "".join(f"{c}{newline}" for c in self.script.comments(start, end)))

    def take_out(self) -> None:
        """Delete the statement that this expression is; a value that is used becomes None, a block never becomes empty."""
        parents = self.script.walked.parents
        expression = parents.get(id(self.node))
        if not isinstance(expression, cst.Expr):
            return self.replace(self.node, "None")
        if not self.delete_statement(expression):
            self.replace(self.node, "pass")
        return None

    def delete_statement(self, small: cst.CSTNode) -> bool:
        """Delete a small statement with its line; False when it shares its line, is all of its block, or in a guard."""
        parents = self.script.walked.parents
        line: Any = parents.get(id(small))
        block: Any = parents.get(id(line))
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1:
            return False
        gone = _deleted_statements(self.script)
        guards = [a for a in self.script.walked.ancestors(line) if isinstance(a, cst.If) and "__main__" in self.source(a.test)]
        if any(self._ends(line, guard) for guard in guards):
            return False  # another fix may put lines behind the last one of a guard
        left = [s for s in getattr(block, "body", ()) if id(s) not in gone and s is not line]
        if not left and not isinstance(block, cst.Module):
            return False
        gone.add(id(line))
        start, end = self.script.tree.span(small)
        self.delete_range(start, end)
        return True

    def _ends(self, line: cst.CSTNode, guard: cst.If) -> bool:
        """Whether a statement line is the last one of what a condition guards, or there is only one line."""
        end = self.script.tree.span(guard.body)[1]
        is_only = len(getattr(guard.body, "body", ())) < 2
        return is_only or not self.script.text[self.script.tree.span(line)[1] : end].strip()

    def is_alias(self) -> bool:
        """Whether this is only given another name, by which it is always meant: calls under that name are looked at there."""
        parent = self.script.walked.parents.get(id(self.node))
        if not isinstance(parent, cst.Assign):
            return False
        names = [target.target for target in parent.targets]
        return all(isinstance(n, cst.Name) and self.script.name_of(n, self.scope) == self.name for n in names)

    def statement(self) -> cst.CSTNode | None:
        """The statement line or compound statement this site is part of."""
        nodes = [self.node, *self.script.walked.ancestors(self.node)]
        return next((n for n in nodes if isinstance(n, (cst.SimpleStatementLine, cst.BaseCompoundStatement))), None)


def is_python(text: str) -> bool:
    """Whether a text is Python."""
    try:
        cst.parse_module(text)
    except (cst.ParserSyntaxError, RecursionError):
        return False
    return True


def parameter_of(node: cst.Call, arg: cst.Arg, names: Sequence[str]) -> str:
    """The parameter that an argument of a call is for, or "" for one more than there are.  names: parameters by position."""
    if arg.keyword is not None:
        return arg.keyword.value
    position = [a for a in node.args if a.keyword is None].index(arg)
    return names[position] if position < len(names) else ""


def written_out(node: Any) -> dict[str, cst.BaseExpression] | None:
    """Keys and values of `{'a': x}` or `dict(a=x)`, or None for anything else."""
    if isinstance(node, cst.Dict):
        pairs = [(e.key, e.value) for e in node.elements if isinstance(e, cst.DictElement)]
        if len(pairs) == len(node.elements) and all(isinstance(key, cst.SimpleString) for key, _ in pairs):
            return {str(key.evaluated_value): value for key, value in pairs if isinstance(key, cst.SimpleString)}
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "dict":
        pairs_of = {arg.keyword.value: arg.value for arg in node.args if arg.keyword is not None}
        return pairs_of if len(pairs_of) == len(node.args) else None
    return None


@fact
def _deleted_statements(script: Script) -> set[int]:
    """Ids of the statement lines that fixes delete; filled while rules run."""
    return set()


class Call(Site):
    """A call whose callee is known."""

    node: cst.Call
    _has_enclosed = False

    @property
    def args(self) -> list[cst.Arg]:
        """Arguments in source order."""
        return list(self.node.args)

    @property
    def positional_args(self) -> list[cst.Arg]:
        """Arguments without a name, in source order; `*args` and `**kwargs` are among them."""
        return [arg for arg in self.node.args if arg.keyword is None]

    @property
    def has_star_args(self) -> bool:
        """Whether some arguments come out of *args or **kwargs."""
        return any(arg.star for arg in self.node.args)

    @property
    def has_unknown_args(self) -> bool:
        """Whether some arguments come out of *args or **kwargs whose content cannot be read off a dict."""
        stars = [arg for arg in self.node.args if arg.star]
        return bool(stars) and (len(stars) > 1 or self._literal(stars[0]) is None)

    def spread_arg(self, keyword: str) -> cst.Arg | None:
        """The argument that `**name` gives for a keyword; only its value is part of the text."""
        for star in (arg for arg in self.node.args if arg.star):
            value = (self._literal(star) or {}).get(keyword)
            if value is not None:
                return cst.Arg(value)
        return None

    def _literal(self, arg: cst.Arg) -> dict[str, cst.BaseExpression] | None:
        """Keywords that `**name` stands for, where the name is a dict written out and used for nothing else."""
        if arg.star != "**" or not isinstance(arg.value, cst.Name):
            return None
        bindings = self.scope.lookup(arg.value.value)
        if len(bindings) != 1 or bindings[0].kind != "value" or not self._is_used_here_only(arg.value.value):
            return None
        return written_out(bindings[0].node)

    def _is_used_here_only(self, name: str) -> bool:
        owner, walked = self.scope.lookup_scope(name), self.script.walked
        uses = [node for node, scope in self.script.references_to(name) if scope.lookup_scope(name) is owner]
        parents = [walked.parents.get(id(use)) for use in uses]
        return len(parents) == 1 and isinstance(parents[0], cst.Arg) and parents[0].star == "**"

    def arg(self, keyword: str, position: int | None = None) -> cst.Arg | None:
        """The argument given for a parameter, by keyword or position."""
        positionals = [a for a in self.node.args if a.keyword is None and not a.star]
        for arg in self.node.args:
            if arg.keyword is not None and arg.keyword.value == keyword:
                return arg
        if position is not None and position < len(positionals):
            return positionals[position]
        return None

    def value(self, keyword: str, position: int | None = None) -> cst.BaseExpression | None:
        """The expression given for a parameter, or None."""
        arg = self.arg(keyword, position)
        return arg.value if arg is not None else None

    def replace_callee(self, new: str) -> None:
        """Call something else with the same arguments."""
        self.replace(self.node.func, new)

    def rename_keyword(self, arg: cst.Arg, new: str) -> None:
        """Give a keyword argument another name; a positional one gets a name."""
        if arg.keyword is not None:
            self.replace(arg.keyword, new)
        else:
            self.enclose_generator()
            self.insert(self.script.tree.span(arg.value)[0], f"{new}=")

    def enclose_generator(self) -> None:
        """Put parentheses around a generator that is the only argument, which needs them beside another one or a name."""
        value = self.node.args[0].value if len(self.node.args) == 1 else None
        if isinstance(value, cst.GeneratorExp) and not value.lpar and not self._has_enclosed:
            self._has_enclosed = True
            self.wrap(value, "", "")

    def add_keyword(self, text: str) -> None:
        """Append `name=value` as the last argument, layout kept."""
        args = self.node.args
        self.enclose_generator()
        if not args:
            self._add(self._end_of_parentheses(), text)
            return
        last = args[-1]
        end = self.script.tree.span(last.value)[1]
        has_comma = isinstance(last.comma, cst.Comma)
        if has_comma:
            end = self._after_comma(last)
        if not self._own_line(last) or (len(args) == 1 and not has_comma):
            self._add(end, f" {text}") if has_comma else self.insert(end, f", {text}")
        elif self._only_comment_follows(end):  # a comment behind the argument stays on its line
            new_line, at = self._line_break_before(last) + text, self.script.lines.line_end(end)
            if has_comma:
                self.insert(at, f"{new_line},")
            elif at == end:
                self.insert(end, f",{new_line}")
            else:
                self._add(end, ",")
                self._add(at, new_line)
        else:
            new_line = self._line_break_before(last) + text
            self._add(end, new_line) if has_comma else self.insert(end, f",{new_line}")

    def _add(self, offset: int, text: str) -> None:
        self.fix.changes.append(Change(offset, offset, text, is_argument=True))

    def _only_comment_follows(self, offset: int) -> bool:
        rest = self.script.text[offset : self.script.lines.line_end(offset)].strip()
        return not rest or rest.startswith("#")

    def _end_of_parentheses(self) -> int:
        _, end = self.script.tree.span(self.node)
        return end - 1 - sum(len(self.source(p)) for p in self.node.rpar)

    def _after_comma(self, arg: cst.Arg) -> int:
        end = self.script.tree.span(arg.value)[1]
        return self.script.text.index(",", end) + 1

    def _own_line(self, arg: cst.Arg) -> bool:
        start = self.script.tree.span(arg)[0]
        return not self.script.text[self.script.lines.line_start(start) : start].strip()

    def _line_break_before(self, arg: cst.Arg) -> str:
        """Newline and indentation of the line on which an argument starts."""
        start = self.script.tree.span(arg)[0]
        line_start = self.script.lines.line_start(start)
        return self.script.newline_at(start) + self.script.text[line_start:start]

    def remove_args(self, removed: list[cst.Arg]) -> None:
        """Take arguments out with their commas; comments and the other arguments stay where they are."""
        if self._cut_tail(removed):
            return
        kept_after = False
        for arg in reversed(self.node.args):
            if arg not in removed:
                kept_after = True
                continue
            start, end = self.script.tree.span(arg)[0], self.script.tree.span(arg.value)[1]
            if isinstance(arg.comma, cst.Comma):
                self.delete_range(start, self._after_comma(arg))
            else:
                self.delete_range(start, end)
        if not kept_after or self.node.args[-1] in removed:
            self._drop_comma_of_last_kept(removed)

    def _cut_tail(self, removed: list[cst.Arg]) -> bool:
        """Take the last arguments out in one piece, line breaks between them too; not where comments are among them."""
        args = list(self.node.args)
        n_kept = next((n for n, arg in enumerate(args) if arg in removed), len(args))
        is_tail = 0 < n_kept < len(args) and all(arg in removed for arg in args[n_kept:])
        if not is_tail or isinstance(args[-1].comma, cst.Comma):
            return False
        start, end = self.script.tree.span(args[n_kept - 1].value)[1], self.script.tree.span(args[-1].value)[1]
        if self.script.comments(start, end):
            return False
        self.replace_range(start, end, "")
        return True

    def _drop_comma_of_last_kept(self, removed: list[cst.Arg]) -> None:
        kept = [arg for arg in self.node.args if arg not in removed]
        last = self.node.args[-1]
        if not kept or isinstance(last.comma, cst.Comma):
            return
        after = self._after_comma(kept[-1])
        end = after
        while end < len(self.script.text) and self.script.text[end] in " \t":
            end += 1
        start, next_start = after - 1, self.script.tree.span(self.node.args[self.node.args.index(kept[-1]) + 1])[0]
        self.replace_range(start, end if end == next_start else after, "")
