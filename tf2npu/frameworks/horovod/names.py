"""Names of Horovod: which are its own for TensorFlow, and the one spelling of each."""

from __future__ import annotations

import re

_OTHERS = re.compile(r"horovod\.(?:\w+\.)?(?:torch|mxnet|lightning)\b")
# Where Horovod defines what it exports.
_WITHIN = re.compile(r"^(horovod\.tensorflow)\.(?:mpi_ops|compression|functions)(?=\.)")


def is_horovod(module: str) -> bool:
    """Whether a module or member is Horovod's and not what Horovod has for other frameworks."""
    return module.partition(".")[0] == "horovod" and _OTHERS.match(module) is None


def canonical(name: str) -> str:
    """The one spelling of a dotted name of Horovod under which rules and tables know it."""
    return _WITHIN.sub(r"\1", name)
