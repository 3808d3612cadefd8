"""Names of Horovod: which are its own for TensorFlow, and the one spelling of each."""

from __future__ import annotations

import re

MODULES = ("horovod.tensorflow", "horovod.tensorflow.keras")
"""The modules that have what scripts for TensorFlow use, the longer of two names behind the shorter."""
_OTHERS = re.compile(r"horovod\.(?:\w+\.)?(?:torch|mxnet|lightning)\b")
# Where Horovod defines what it exports.
_WITHIN = re.compile(r"^(horovod\.tensorflow)\.(?:mpi_ops|compression|functions)(?=\.)")


def is_horovod(module: str) -> bool:
    """Whether a module or member is Horovod's and not what Horovod has for other frameworks."""
    return module.partition(".")[0] == "horovod" and _OTHERS.match(module) is None


def canonical(name: str) -> str:
    """The one spelling of a dotted name of Horovod under which rules and tables know it."""
    return _WITHIN.sub(r"\1", name)


def names_of(*names: str) -> tuple[str, ...]:
    """Qualified names of Horovod APIs in each module that has them."""
    return tuple(f"{module}.{name}" for module in MODULES for name in names)


def short_name(name: str) -> str | None:
    """Name of a Horovod API below its module, or None for another name."""
    for module in reversed(MODULES):
        if name.startswith(module + "."):
            return name[len(module) + 1 :]
    return None
