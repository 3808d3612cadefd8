"""Writes the names of TensorFlow 1.15 that a simulated run does not have: `python tools/build_not_simulated.py`.

They are found by asking: every name of the API table is looked up in a process with npu_bridge. A name is there when any of its
spellings is; of what hangs on a module or class that is not there, only that is written. Names that will not work on the NPU
either are left out, since the converter says so of each. What comes with an optional package counts as not there, whether or not
this process has it. What TensorFlow's own modules, those below `tensorflow.python`, define
is looked up in the same way under its own path, from a list recorded of the genuine package (tools/private_inventory.py).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tf2npu.api_support.table import Api, table
from tf2npu.findings import Verdict
from tf2npu.frameworks.tensorflow1.names import PREFIXES, spellings, with_public_prefix

HERE = Path(__file__).parent
DATA = HERE.parent / "tf2npu" / "api_support" / "data" / "not_simulated.csv"
PRIVATE = HERE / "api_table" / "tensorflow_1_15_private.tsv"
NEWER = HERE / "api_table" / "tensorflow_2_15_only.txt"
COLUMNS = ("name", "instead")
_NOTHING = object()
_DISTRIBUTIONS = "contrib.distributions."
_OLDER = "NPU969"
"""The rule about names of releases before 1.15, which has them no more; what it converts would else count as missing here."""
_GONE_BEFORE = {"_parse_flags"}  # of the flags before TensorFlow 1.5, which have no rule's name in the table
_FROM_FUTURE = {"absolute_import", "division", "print_function"}  # what `from __future__` leaves in a module


def text() -> str:
    """The table as CSV: a name and what to use in its place, where there is such a thing.

    Raises: ImportError where npu_bridge cannot be imported.
    """
    import_module("npu_bridge.npu_init")
    from npu_bridge._tf1.contrib_instead import instead_of

    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    public = {_topmost(api) for api in _judged()}
    private = {with_public_prefix(_first_missing(name)) for name in _private_names()}  # so they are looked for
    for name in sorted((public | private) - {""}):
        writer.writerow((name, instead_of(name.removeprefix("tensorflow.").removeprefix("contrib."))))
    return written.getvalue()


def private_names_there() -> list[str]:
    """Names of TensorFlow 1.15's own modules, those below `tensorflow.python`, that a simulated run has under the same path."""
    import_module("npu_bridge.npu_init")
    private = {name for name in spellings() if name.startswith("tensorflow.python.")} | set(_private_names())
    return sorted(name for name in private if _found(name) is not _NOTHING)


def _private_names() -> Iterator[str]:
    """The modules of 1.15 and what they define, each by its full path."""
    for line in PRIVATE.read_text(encoding="utf-8").splitlines():
        module, _, names = line.partition("\t")
        yield module
        yield from (f"{module}.{name}" for name in names.split())


def _judged() -> Iterator[Api]:
    newer = set(NEWER.read_text(encoding="utf-8").split())
    for api in table():
        is_of_1_15 = api.name.startswith("tensorflow.") and api.name not in newer and ".compat.v2." not in api.name
        is_own = api.name.rpartition(".")[2] not in _FROM_FUTURE | _GONE_BEFORE and api.rule != _OLDER
        if is_of_1_15 and is_own and api.kind != "member" and api.verdict is not Verdict.UNSUPPORTED:
            yield api


def _topmost(api: Api) -> str:
    """The module, class or function that is not there because of which this API is not; "" where it is there."""
    if any(_is_there(name) for name in (api.name, *api.aliases)):
        return ""
    return _first_missing(api.name)


def _first_missing(name: str) -> str:
    """The part of a name, from its root on, that is the first not to be there; "" where all of it is."""
    parts = name.split(".")
    heads = (".".join(parts[:n]) for n in range(2, len(parts) + 1))
    return next((head for head in heads if not _is_there(head)), "")


def _is_there(name: str) -> bool:
    """Whether one of the spellings that the converter takes for this name is there."""
    merged = [old + name[len(new) :] for old, new in PREFIXES if name == new or name.startswith(f"{new}.")]
    return any(_found(spelling) is not _NOTHING for spelling in (name, *merged))


@cache
def _found(name: str) -> Any:
    """The module or attribute of this name, or _NOTHING."""
    owner, _, last = name.rpartition(".")
    if _is_optional(name):
        return _NOTHING
    try:
        return import_module(name)
    except ImportError:
        return getattr(_found(owner), last, _NOTHING) if owner else _NOTHING


def _is_optional(name: str) -> bool:
    """Whether a name is one of tf.contrib.distributions that comes with tensorflow_probability."""
    below = name.partition(".")[2]  # whatever TensorFlow's own package is called
    path = below.removeprefix(_DISTRIBUTIONS)
    comes_with = import_module("npu_bridge._tf1.contrib").OF_PROBABILITY
    return path != below and (path.partition(".")[0] in comes_with or path.startswith("python.ops."))


if __name__ == "__main__":
    DATA.write_text(text(), encoding="utf-8")
