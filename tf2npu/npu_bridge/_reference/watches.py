"""Watches for TensorFlow's debugger: it ends the process where the name of a tensor makes no file name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

Tensors = Sequence[tuple[str, int]]
"""Tensors by node and output."""
EVERYTHING = ("*", -1)
"""Watches every node, those that TensorFlow adds for what is fed too; it works only beside others that are named."""
TOO_LONG = "with a part of their name that is too long for a file of TensorFlow's debugger"
"""Reason of a tensor that is left out."""
_DIGITS_OF_TIME = 16
"""Digits of the microseconds since 1970 that end the debugger's file names."""
_OWN_FOLDERS = 128
"""Characters that the debugger's folders for a graph and a device take of a path, with some to spare: 70 or so."""


class Watches(NamedTuple):
    """The tensors to watch, the number of those left out, and whether nodes inside of functions, which nobody can name, are."""

    tensors: Tensors
    n_left_out: int = 0
    leaves_functions: bool = False


def watches(
    executed: Iterable[Any], feeds: Sequence[str], fetches: Sequence[str], functions: Iterable[Any], folder: Path
) -> Watches:
    """The watches of a step: all its tensors, or those that the debugger can name a file after.

    executed: its operations.  feeds, fetches: names of tensors.  functions: FunctionDefs of the graph, whose nodes TensorFlow may
    put in the place of calls.  folder: where the debugger writes.
    """
    limits = _Limits.of(folder)
    tensors = [(operation.name, output) for operation in executed for output in range(len(operation.outputs))]
    inlined = [(node.name, 0) for function in functions for node in function.node_def]
    fed, fetched = _added("_arg", feeds), _added("_retval", fetches)
    if all(map(limits.have_room, (*tensors, *inlined, *chain(*fed, *fetched)))):
        return Watches((*tensors, EVERYTHING))
    named = [tensor for tensor in tensors if limits.have_room(tensor)]
    fitting = [names for names in fed if all(map(limits.have_room, names))]
    n_left_out = len(tensors) - len(named) + len(fed) - len(fitting)
    return Watches((*named, *chain(*fitting)), n_left_out, bool(inlined))


def _added(prefix: str, tensors: Sequence[str]) -> list[Tensors]:
    """Names that TensorFlow may give the node that it adds for each tensor that is fed or fetched: by name, output and position.

    It may sort them, so each has every position.
    """
    plain = [tensor.replace(":", "_") for tensor in tensors]
    return [[(f"{prefix}_{name}_{position}", 0) for position in range(len(plain))] for name in plain]


class _Limits(NamedTuple):
    """Most characters of a part of a path and of the names in one, in a folder."""

    part: int
    whole: int

    @classmethod
    def of(cls, folder: Path) -> _Limits:
        whole = os.pathconf(folder, "PC_PATH_MAX") - len(os.fsencode(folder)) - _OWN_FOLDERS
        return cls(os.pathconf(folder, "PC_NAME_MAX"), whole)

    def have_room(self, tensor: tuple[str, int]) -> bool:
        """Whether the debugger can name a file after a tensor: it makes a folder of each part but the last."""
        node, output = tensor
        path = f"{node}_{output}_DebugIdentity_{'0' * _DIGITS_OF_TIME}"
        return len(path) <= self.whole and all(len(part) <= self.part for part in path.split("/"))
