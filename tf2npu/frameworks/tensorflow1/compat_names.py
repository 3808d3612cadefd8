"""Names of TensorFlow 1 that a script reaches as `tf.compat.v1`: TensorFlow 2 has them, so they tell less than others."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from tf2npu.frameworks.base import ParsedFile
from tf2npu.frameworks.tensorflow1.dialect_names import ONLY_1, V1_MODE
from tf2npu.frameworks.tensorflow1.names import canonical, is_tensorflow
from tf2npu.scanner.syntax import chain

COMPAT = "tensorflow.compat.v1"
_EAGER = re.compile(r"tensorflow\.(?:logging|gfile|flags|app|set_random_seed|truncated_normal|to_\w+)\b")
"""Of these, names that do the same where TensorFlow runs eagerly."""


def tells_1(name: str) -> bool:
    """Whether a name, that TensorFlow 2 does not have under the spelling that a script uses, tells TensorFlow 1."""
    return name in V1_MODE or ONLY_1.match(name) is not None


def hints_at_1(name: str) -> bool:
    """Whether a name that a script reaches as `tf.compat.v1` is of use in a graph alone."""
    return tells_1(name) and not _EAGER.match(name)


def is_kept(name: str, written: str) -> bool:
    """Whether TensorFlow 2 has a name as it is written. The switch to the behaviour of version 1 tells in any spelling.

    written: the dotted name with the module that the import names, not brought to one spelling.
    """
    return name not in V1_MODE and written.startswith(f"{COMPAT}.")


def is_beside(imported: Collection[str]) -> bool:
    """Whether a file has TensorFlow itself beside `tf.compat`. Where it has the latter alone, that is the release it means.

    imported: the dotted names that its imports name.
    """
    return any(is_tensorflow(name) and not name.startswith("tensorflow.compat.") for name in imported)


def has_names_of_1(file: ParsedFile, names: set[str]) -> bool:
    """Whether a file has a name that tells TensorFlow 1, under a spelling that TensorFlow 2 does not have.

    names: all names of frameworks that it imports and uses, each in its one spelling.
    """
    told = {name for name in names if tells_1(name)}
    bound = dict(_bound(file))
    if not told or "compat" not in file.text or not is_beside(bound.values()):
        return bool(told)
    written = [(canonical(dotted), dotted) for dotted in _written(file, bound)]
    kept = {name for name, dotted in written if is_kept(name, dotted)}
    return bool(told - kept) or any(name in told and not is_kept(name, dotted) for name, dotted in written)


def _bound(file: ParsedFile) -> Iterator[tuple[str, str]]:
    """The local names of a file's absolute imports, with what they name."""
    for statement in file.import_statements:
        module = getattr(statement, "module", "") or ""
        if getattr(statement, "level", 0):
            continue
        for alias in statement.names:
            dotted = f"{module}.{alias.name}" if module else alias.name
            yield (alias.asname or alias.name, dotted) if module or alias.asname else (dotted.partition(".")[0],) * 2


def _written(file: ParsedFile, bound: dict[str, str]) -> Iterator[str]:
    """The dotted names that a file imports and uses, as they are written."""
    yield from bound.values()
    for node in file.nodes:
        root, parts = chain(node) if isinstance(node, (ast.Attribute, ast.Name)) else ("", [])
        if root in bound:
            yield ".".join([bound[root], *parts])
