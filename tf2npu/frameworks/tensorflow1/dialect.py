"""Whether a script is written for TensorFlow 1 or 2: the converter knows the adapter for TensorFlow 1 only.

The settings decide (`--target`), else evidence in the file, else the files that it is run with, else the rest of the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tf2npu.config import AUTO, TF1, TF2_COMPAT
from tf2npu.findings import Seen
from tf2npu.frameworks.tensorflow1.compat_names import has_tensorflow_beside, hints_at_1, is_kept, tells_1
from tf2npu.frameworks.tensorflow1.dialect_names import PRINT_2, SIGNS_2, TELLING_WORDS, V1_MODE
from tf2npu.frameworks.tensorflow1.names import is_adapter2
from tf2npu.frameworks.tensorflow1.project import NAME, tensorflow_in
from tf2npu.frameworks.tensorflow1.project_dialects import ToldDialects
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.scanner.import_names import imported_modules
from tf2npu.scanner.names import root_of
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.tree_walk import root_name

_TRAINS = re.compile(r"tensorflow\.(?:distribute\.|keras\.optimizers\.|keras\.(?:Model|Sequential)\(\)\.(?:fit|compile))")

ADAPTER2 = "npu_device"
"""The package by which scripts for TensorFlow 2 use an NPU."""
TARGET2 = "--target tf2"
"""The API of a dialect of which only the settings say that it is TensorFlow 2."""
TARGET_COMPAT = "--target tf2-compat"
"""The same of TensorFlow 2 with its version 1 behaviour."""


@dataclass(frozen=True)
class Dialect:
    """kind: "1" TensorFlow 1 (or no sign of 2), "2", or "1 on 2": TensorFlow 2 with its version 1 behaviour; sign: where.

    line: of what tells, where that is no name.  told_by: another file that is written for TensorFlow 2, where that tells;
    relation: what it has to do with this one.
    """

    kind: str
    api: str = ""
    sign: cst.CSTNode | None = None
    line: int = 0
    told_by: str = ""
    relation: str = ""


@fact
def dialect_of(script: Script) -> Dialect:
    """The TensorFlow version that a script is written for; told by its imports, by names that only one has, or by other files."""
    if not script.is_looked_at_by(NAME):
        return Dialect("1")
    own = _by_own_names(script)
    told = tensorflow_in(script.project).dialects
    if own.api == ADAPTER2 and own.kind == "2":
        return own
    if script.path in told.of_adapter2:
        return Dialect("2", ADAPTER2, told_by=told.of_adapter2[script.path], relation="imports this file")
    if script.config.dialect != AUTO:
        return _as_asked(script, own)
    return _by_others(script, own, told) if own.kind == "1" and not own.api else own


def is_for_2(script: Script) -> bool:
    """Whether a script is written for TensorFlow 2, whose rules it is then shown to."""
    return dialect_of(script).kind == "2"


def _as_asked(script: Script, own: Dialect) -> Dialect:
    """The dialect that the settings name, with what the file tells of it itself."""
    if script.config.dialect == TF2_COMPAT:
        return Dialect("1 on 2", TARGET_COMPAT)
    if own.api == ADAPTER2:
        return own
    if script.config.dialect == TF1:
        return own if own.kind == "1 on 2" else Dialect("1")
    return own if own.kind == "2" else Dialect("2", TARGET2)


def _by_others(script: Script, own: Dialect, told: ToldDialects) -> Dialect:
    """The dialect of a file without evidence of its own that it is for TensorFlow 2."""
    importer, imported = (by.get(script.path, "") for by in (told.for_tensorflow2, told.on_tensorflow2))
    if importer or imported:
        return Dialect("2", told_by=importer or imported, relation="imports this file" if importer else "this file imports")
    if told.leans_to_2 and script.path not in told.with_1 and uses_tensorflow(script) and not _names_1(script):
        return Dialect("2", told_by=told.first_2, relation="is in the same project")
    return own


def _by_own_names(script: Script) -> Dialect:
    under_adapter2 = _imports_of_adapter2(script)
    if under_adapter2 is not None:
        return under_adapter2
    evidence = _evidence(script)
    if not uses_tensorflow(script) or not (evidence is not None or _may_be_for_2(script)) or _has_npu_bridge(script):
        return Dialect("1")
    found: Dialect | None = None
    for node, name, stays in _names(script):
        if name in V1_MODE:
            return Dialect("1 on 2", name, node)
        if tells_1(name) and not stays:
            found, evidence = Dialect("1"), None
        elif found is None and (name in SIGNS_2 or (name == PRINT_2 and _is_statement(script, node))):
            found = Dialect("2", name, node)
    if found is None and evidence is not None:
        return Dialect("2", evidence.api, line=evidence.line)
    return found or Dialect("1")


def _may_be_for_2(script: Script) -> bool:
    """Whether the code has a word of a name that tells TensorFlow 2: looking at all names takes longer."""
    tokens = script.tree.tokens
    return not TELLING_WORDS.isdisjoint(tokens) or ("print" in tokens and "tf.print" in script.text)


def first_name_of_1(script: Script) -> cst.BaseExpression | None:
    """The first use of a name that tells TensorFlow 1; None where there is none."""
    return next((node for node, name, stays in _names(script) if tells_1(name) and not stays), None)


def _names(script: Script) -> Iterator[tuple[cst.BaseExpression, str, bool]]:
    """The names of frameworks that a file uses, and whether TensorFlow 2 has each as it is written."""
    imported = _imported(script)
    is_beside = has_tensorflow_beside([name for names in imported.values() for name in names])
    for node, scope in script.walked.references:
        name = script.name_of(node, scope)
        if name is not None and name.startswith(("tensorflow.", "horovod.")):
            written = _written(script, node, imported) if tells_1(name) else []
            yield node, name, any(is_kept(name, one, is_beside) for one in written)


def _imported(script: Script) -> dict[str, list[str]]:
    """The local names of a file's absolute imports at the top, with what they name."""
    bindings = script.module_scope.names.items()
    return {local: [b.target for b in of_it if b.kind == "import" and b.level == 0] for local, of_it in bindings}


def _written(script: Script, node: cst.BaseExpression, imported: dict[str, list[str]]) -> list[str]:
    """The dotted names that an expression may be, as it is written."""
    root, start = root_name(node), script.tree.span(node)
    attributes = "".join(script.text[slice(*start)].partition(".")[1:]) if root else ""
    return [f"{name}{attributes}" for name in imported.get(root, ())]


def _evidence(script: Script) -> Seen | None:
    """The place of a file, as its facts have it, that only TensorFlow 2 can run."""
    facts = script.project.files.get(script.path)
    return facts.evidence if facts is not None else None


def _has_npu_bridge(script: Script) -> bool:
    """Whether a file imports the adapter of TensorFlow 1."""
    if "npu_bridge" not in script.text:
        return False
    return any(root_of(name) == "npu_bridge" for node, _ in script.walked.imports for name in imported_modules(node))


def _names_1(script: Script) -> bool:
    return _has_npu_bridge(script) or any(tells_1(name) and not stays for _, name, stays in _names(script))


def _imports_of_adapter2(script: Script) -> Dialect | None:
    """The dialect that imports of `npu_device` tell, wherever they stand; None where there are none."""
    if ADAPTER2 not in script.text:
        return None
    modules = [(name, node) for node, _ in script.walked.imports for name in imported_modules(node) if root_of(name) == ADAPTER2]
    of_2 = [node for name, node in modules if is_adapter2(name)]
    if of_2:
        return Dialect("2", ADAPTER2, of_2[0])
    return Dialect(f"1 on {ADAPTER2}", ADAPTER2, modules[0][1]) if modules else None


def is_either(script: Script) -> bool:
    """Whether a script trains with Keras or a strategy and every name exists in TensorFlow 1 and 2: in 2 it would run eagerly."""
    if script.path in script.project.older:  # native Keras of a time when there was no TensorFlow 2
        return False
    if script.config.dialect != AUTO or ("keras" not in script.text and ".distribute" not in script.text):
        return False
    names = list(_names(script))
    if any(hints_at_1(name) if stays else tells_1(name) for _, name, stays in names):
        return False
    return any(_TRAINS.match(name) for _, name, _ in names) and not _is_of_compat_alone(script)


def _is_of_compat_alone(script: Script) -> bool:
    """Whether all that a file imports of TensorFlow is its version 1, or its version 2."""
    imported = [name for names in _imported(script).values() for name in names]
    return any(name.startswith("tensorflow.compat.") for name in imported) and not has_tensorflow_beside(imported)


def _is_statement(script: Script, node: cst.CSTNode) -> bool:
    """Whether the result of a call is thrown away, which means something in TensorFlow 2 only."""
    call = script.walked.parents.get(id(node))
    return isinstance(call, cst.Call) and isinstance(script.walked.parents.get(id(call)), cst.Expr)
