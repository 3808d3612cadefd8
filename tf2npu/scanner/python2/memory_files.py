"""Files in memory, which Python 2 made by StringIO for texts and for bytes alike: what is written and read tells which it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tf2npu.scanner.syntax import parsed, walk
from tf2npu.scanner.text.source import LineIndex

OLD = ("StringIO", "cStringIO")
"""The modules of Python 2."""
_BYTES = frozenset(
    ("requests.get", "requests.post", "requests.request", "urllib.urlopen", "urllib2.urlopen", "urllib.request.urlopen",
     "six.moves.urllib.request.urlopen", "base64.b64decode", "base64.decodestring", "base64.decodebytes", "zlib.decompress",
     "zlib.compress", "cv2.imencode", "struct.pack")
)  # fmt: skip
"""Functions that give bytes, or what gives bytes when it is read."""
_BYTES_ASKED = frozenset(
    ("PIL.Image.open", "Image.open", "numpy.load", "numpy.save", "numpy.savez", "numpy.savez_compressed", "zipfile.ZipFile",
     "gzip.GzipFile", "tarfile.open", "pickle.load", "pickle.dump", "cPickle.load", "cPickle.dump", "h5py.File",
     "matplotlib.pyplot.imsave", "matplotlib.pyplot.imread", "scipy.misc.imread", "scipy.misc.imsave", "imageio.imread",
     "soundfile.read", "scipy.io.wavfile.read", "scipy.io.wavfile.write", "wave.open", "matplotlib.pyplot.savefig")
)  # fmt: skip
_TEXT_ASKED = frozenset(
    ("csv.reader", "csv.writer", "csv.DictReader", "csv.DictWriter", "json.load", "json.dump", "traceback.print_exc",
     "logging.StreamHandler", "contextlib.redirect_stdout", "tokenize.generate_tokens")
)  # fmt: skip
_EITHER_ASKED = frozenset(("pandas.read_csv", "pandas.read_table", "numpy.loadtxt", "numpy.genfromtxt", "numpy.savetxt", "len"))
_MADE_BYTES = ("tobytes", "tostring", "encode", "SerializeToString")


@dataclass
class _Program:
    """A source with what its names mean.  meanings: dotted names by the names that imports bind."""

    tree: ast.Module
    meanings: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in walk(self.tree):
            self.parents.update((child, node) for child in ast.iter_child_nodes(node))
            if isinstance(node, ast.Import):
                self.meanings.update((a.asname or a.name.partition(".")[0], a.name if a.asname else a.name.partition(".")[0])
                                     for a in node.names)  # fmt: skip
            elif isinstance(node, ast.ImportFrom) and not node.level:
                self.meanings.update((a.asname or a.name, f"{node.module}.{a.name}") for a in node.names)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self.values.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, (ast.Name, ast.arg)) and not isinstance(getattr(node, "ctx", None), ast.Load):
                self._note_other_binding(node)

    def _note_other_binding(self, node: Any) -> None:
        """Keep a name that is bound by more than an assignment from having a value."""
        parent = self.parents.get(node)
        if not (isinstance(parent, ast.Assign) and parent.targets == [node]):
            name = node.id if isinstance(node, ast.Name) else node.arg
            self.values.setdefault(name, []).extend((ast.Constant(None), ast.Constant(None)))

    def name_of(self, node: ast.AST) -> str:
        """The dotted name that an expression means; "" for none."""
        if isinstance(node, ast.Attribute):
            base = self.name_of(node.value)
            return f"{base}.{node.attr}" if base else ""
        return self.meanings.get(node.id, node.id) if isinstance(node, ast.Name) else ""

    def function_of(self, node: ast.AST) -> ast.AST:
        """The function around a node, or the whole file."""
        above = self.parents.get(node)
        while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            above = self.parents.get(above)
        return above or self.tree

    def value_of(self, node: ast.expr) -> ast.expr:
        """The only value that a name has in the file; the expression itself for others."""
        known = self.values.get(node.id, []) if isinstance(node, ast.Name) else []
        return known[0] if len(known) == 1 else node


def bytes_edits(text: str, modules: tuple[str, ...] = OLD) -> list[tuple[int, int, str]]:
    """Edits, of start, end and new text, that make a source's StringIO io.BytesIO; none unless all of them hold bytes.

    modules: those that StringIO is imported from, `io` where the source was brought to Python 3 already.
    """
    return _edits(text, modules, "bytes", "BytesIO")


def text_edits(text: str) -> list[tuple[int, int, str]]:
    """Edits that make a source's StringIO of Python 2 io.StringIO; none unless all of them hold texts."""
    return _edits(text, OLD, "text", "StringIO")


def _edits(text: str, modules: tuple[str, ...], kind: str, new: str) -> list[tuple[int, int, str]]:
    if "StringIO" not in text:
        return []
    try:
        program = _Program(parsed(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    made = [node for node in walk(program.tree) if _is_class(program, node, modules)]
    calls = [program.parents.get(node) for node in made]
    if not made or any(not isinstance(c, ast.Call) or c.func is not m for c, m in zip(calls, made, strict=True)):
        return []
    kinds = [set(_kinds(program, call)) for call in calls if isinstance(call, ast.Call)]
    if any(found != {kind} for found in kinds):
        return []
    imports = _imports(program, modules, new)
    if imports is None:
        return []
    lines, uses = LineIndex(text), _renamed(made, imports, new)
    return sorted({(*_span(lines, text, node), code) for node, code in [*imports, *uses]})


def _is_class(program: _Program, node: ast.AST, modules: tuple[str, ...]) -> bool:
    is_read = isinstance(getattr(node, "ctx", None), ast.Load)
    return is_read and program.name_of(node) in {f"{module}.StringIO" for module in modules}


def _imports(program: _Program, modules: tuple[str, ...], new: str) -> list[tuple[ast.AST, str]] | None:
    """The statements that import the class or its module, as they become; None where a name would lose its meaning."""
    found: list[tuple[ast.AST, str]] = []
    for node in walk(program.tree):
        if isinstance(node, ast.Import) and any(alias.name in modules for alias in node.names):
            others = [alias for alias in node.names if alias.name not in modules]
            if others:
                return None
            found.append((node, "import " + ", ".join(f"io as {a.asname}" if a.asname else "io" for a in node.names)))
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module in modules:
            if [alias.name for alias in node.names] != ["StringIO"]:
                if "StringIO" in [alias.name for alias in node.names] or node.module in OLD:
                    return None
                continue
            asname = node.names[0].asname
            found.append((node, f"from io import {new}{f' as {asname}' if asname else ''}"))
    is_taken = any(name in program.values or program.meanings.get(name, own) != own for name, own in
                   (("io", "io"), ("BytesIO", "io.BytesIO")))  # fmt: skip
    is_used_otherwise = "io" not in modules and any(
        isinstance(node, ast.Name) and program.meanings.get(node.id) in modules
        and getattr(program.parents.get(node), "attr", "") != "StringIO"
        for node in walk(program.tree)
    )  # fmt: skip
    is_one = len(found) == 1 or "io" in modules
    return found if is_one and not is_taken and not is_used_otherwise else None


def _renamed(made: list[ast.AST], imports: list[tuple[ast.AST, str]], new: str) -> Iterator[tuple[ast.AST, str]]:
    """The uses of the class, with the name that they get."""
    for node in made:
        if isinstance(node, ast.Name):
            if any(code == f"from io import {new}" for _, code in imports) and node.id == "StringIO":
                yield node, new
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_renamed = any(code.endswith(f"io as {node.value.id}") for _, code in imports)
            yield node, f"{node.value.id if is_renamed else 'io'}.{new}"


def _span(lines: LineIndex, text: str, node: Any) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        start = lines.starts[line - 1]
        return start + len(text[start:].split("\n", 1)[0].encode()[:column].decode())

    return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)


def _kinds(program: _Program, call: ast.Call) -> Iterator[str]:
    """The kinds of what one file in memory is made of, of what is written into it, and of what reads it."""
    begun = _kind(program, call.args[0]) if call.args else None
    other = None if begun else "unknown"  # what a call of another function means, which may write
    if begun is not None:
        yield begun
    yield from _of_use(program, call, other)
    parent = program.parents.get(call)
    for target in parent.targets if isinstance(parent, ast.Assign) else []:
        if isinstance(target, ast.Name):
            for node in walk(program.function_of(call)):
                if isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load):
                    yield from _of_use(program, node, other)
        elif not program.name_of(target).startswith("sys.std"):
            yield "unknown"


def _of_use(program: _Program, node: ast.AST, other: str | None) -> Iterator[str]:
    """The kind that the place of a file in memory asks for.  other: what a call of an unknown function says of it."""
    parent = program.parents.get(node)
    if isinstance(parent, ast.keyword):
        node, parent = parent, program.parents[parent]
    found: str | None = None
    if isinstance(parent, ast.Call) and node is not parent.func:
        found = _of_taker(program, parent, node, other)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("write", "writelines"):
        call = program.parents.get(parent)
        is_plain = isinstance(call, ast.Call) and call.func is parent and len(call.args) == 1 and parent.attr == "write"
        found = (_kind(program, call.args[0]) if is_plain and isinstance(call, ast.Call) else None) or "unknown"
    elif isinstance(parent, ast.Assign) and parent.value is node and program.name_of(parent.targets[0]).startswith("sys.std"):
        found = "text"
    if found is not None:
        yield found


def _of_taker(program: _Program, call: ast.Call, taken: ast.AST, other: str | None) -> str | None:
    """The kind that a function takes which a file in memory is given to."""
    name = program.name_of(call.func)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    is_image = method == "savefig" or (method == "save" and any(k.arg == "format" for k in call.keywords))
    if name in _BYTES_ASKED or is_image:
        return "bytes"
    if name in _TEXT_ASKED or (isinstance(taken, ast.keyword) and taken.arg == "file" and name == "print"):
        return "text"
    return None if name in _EITHER_ASKED else other


def _kind(program: _Program, node: ast.expr) -> str | None:
    """Whether an expression is text or bytes to Python 3; None where nothing says so."""
    node = program.value_of(node)
    if isinstance(node, ast.JoinedStr):
        return "text"
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bytes):
            return "bytes"
        return "text" if isinstance(node.value, str) and node.value.isascii() else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add)):
        return _kind(program, node.left)
    if isinstance(node, ast.Attribute):
        return "bytes" if node.attr == "content" and _gives_bytes(program, node.value) else None
    if not isinstance(node, ast.Call):
        return None
    if program.name_of(node.func) == "str":
        return "text"
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "read":
            return "bytes" if _gives_bytes(program, node.func.value) else None
        if node.func.attr in ("join", "format") and isinstance(node.func.value, ast.Constant):
            return _kind(program, node.func.value)
        if node.func.attr in _MADE_BYTES:
            return "bytes"
    return "bytes" if _gives_bytes(program, node) else None


def _gives_bytes(program: _Program, node: ast.expr) -> bool:
    """Whether a value is bytes, an answer of a server, or a file that is open for bytes."""
    node = program.value_of(node)
    if not isinstance(node, ast.Call):
        return False
    name = program.name_of(node.func)
    mode = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "mode"), None)
    is_binary = isinstance(mode, ast.Constant) and "b" in str(mode.value)
    return name in _BYTES or (is_binary and (name == "open" or name.endswith(("GFile", "gfile.Open", "io.open"))))
