"""Writes which attributes modules and classes of TensorFlow 1.15 have: `PYTHON tools/attribute_inventory.py NAMES > FILE` there.

NAMES is a file with a qualified name a line. FILE has a line for each that exists: the name, a tab, and what `dir` gives, in
order, without names of two underscores. What `dir` of a module hides until it is asked for is found
where a name of NAMES lies below.
"""

from __future__ import annotations

import importlib
import os
import sys


def lines(names):
    """A line for each name that exists, without its end."""
    for name in sorted(names):
        found = resolve(name)
        if found is not None:
            yield "\t".join((name, " ".join(sorted(a for a in dir(found) if not a.startswith("__")))))


def resolve(name):
    """The object of a qualified name, or None: its longest head that can be imported, and attributes from there."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            found = getattr(found, part, None)
        return found
    return None


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    with open(sys.argv[1]) as file:
        sys.stdout.writelines(f"{line}\n" for line in lines(file.read().split()))
