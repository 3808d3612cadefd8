"""Names of TensorFlow 1 under spellings that TensorFlow 2 has, `tf.compat.v1` and private modules: they tell less than others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from tf2npu.frameworks.base import ParsedFile
from tf2npu.frameworks.tensorflow1.dialect_names import ONLY_1, V1_MODE
from tf2npu.frameworks.tensorflow1.names import canonical, is_tensorflow

_COMPAT = "tensorflow.compat"
_PRIVATE = "tensorflow.python."
_EAGER = re.compile(r"tensorflow\.(?:logging|gfile|flags|app|set_random_seed|truncated_normal|to_\w+|contrib)\b")
"""Some of these do the same where TensorFlow runs eagerly; others are private ones that contrib exported."""


@lru_cache(maxsize=20_000)
def tells_1(name: str) -> bool:
    """Whether a name tells TensorFlow 1, if TensorFlow 2 does not have it as it is written.

    An object tells nothing: the name of its class stands where it is made.
    """
    return name in V1_MODE or ("()" not in name and ONLY_1.match(name) is not None)


def hints_at_1(name: str) -> bool:
    """Whether a name that TensorFlow 2 has as it is written is of use in a graph alone."""
    return tells_1(name) and not _EAGER.match(name)


def is_kept(name: str, written: str, is_beside: bool) -> bool:
    """Whether TensorFlow 2 has a name as it is written. The switch to the behaviour of version 1 tells in any spelling.

    written: the dotted name with the module that the import names, not brought to one spelling.
    """
    return name not in V1_MODE and (written.startswith(_PRIVATE) or (is_beside and written.startswith(f"{_COMPAT}.v1.")))


def has_tensorflow_beside(imported: Collection[str]) -> bool:
    """Whether a file has TensorFlow itself beside `tf.compat`. Where it has the latter alone, that is the release it means.

    imported: the dotted names that its imports name.
    """
    return any(is_tensorflow(name) and not name.startswith((f"{_COMPAT}.", _PRIVATE)) for name in imported)


def has_names_of_1(file: ParsedFile, names: set[str]) -> bool:
    """Whether a file has a name that tells TensorFlow 1, under a spelling that TensorFlow 2 does not have.

    names: all names of frameworks that it imports and uses, each in its one spelling.
    """
    told = {name for name in names if tells_1(name)}
    bound = dict(_bound(file))
    is_beside = has_tensorflow_beside(bound.values())
    if not told or not ("tensorflow.python" in file.text or (is_beside and "compat" in file.text)):
        return bool(told)
    written = [(canonical(dotted), dotted) for dotted in _written(file, bound)]
    kept = {name for name, dotted in written if is_kept(name, dotted, is_beside)}
    return bool(told - kept) or any(name in told and not is_kept(name, dotted, is_beside) for name, dotted in written)


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
    yield from {f"{bound[root]}{attributes}" for _, root, attributes in file.nodes.chains if root in bound}
