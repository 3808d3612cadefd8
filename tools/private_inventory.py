"""Writes what TensorFlow 1.15's own modules define: `PYTHON tools/private_inventory.py > FILE` under that release.

A line for each module below `tensorflow.python` that can be imported: its name, a tab, and the names that it defines itself,
functions, classes and plain values, in order. What a module only imports belongs to the one that it comes from. What is generated
beside each function of an op is left out.
"""

from __future__ import annotations

import importlib
import os
import re
import types

ROOT = "tensorflow.python"
_NOT_WANTED = (f"{ROOT}.keras.api", f"{ROOT}.pywrap_")  # generated copies of the public API, and what SWIG made of C headers
_WRAPPED = ("keras_preprocessing.", "keras_applications.")  # packages that modules of Keras only give other names
_BESIDE = re.compile(r"^__|^_\w+_outputs$|_eager_fallback$|^_InitOpDefLibrary$|^_op_def_lib$")
_DECORATORS = {"tf_export", "keras_export", "estimator_export"}  # every module has them from the one below
_DECORATORS_FROM = f"{ROOT}.util.tf_export"


def lines():
    """A line for each module, without its end."""
    for name in sorted(_module_names()):
        try:
            module = importlib.import_module(name)
        except Exception:  # one that needs what this machine does not have, or is only run by itself
            continue
        yield "\t".join((name, " ".join(sorted(_defined(name, module))))).rstrip("\t")


def _module_names():
    folder = os.path.dirname(importlib.import_module(ROOT).__file__)
    for path, _, files in os.walk(folder):
        inside = [ROOT, *os.path.relpath(path, folder).split(os.sep)]
        for file in files:
            stem, ending = os.path.splitext(file)
            name = ".".join(part for part in (*inside, stem) if part not in (".", "__init__"))
            if ending == ".py" and "_test" not in stem and name != ROOT and not name.startswith(_NOT_WANTED):
                yield name


def _defined(name, module):
    for attribute, value in vars(module).items():
        is_decorator = attribute in _DECORATORS and name != _DECORATORS_FROM
        if _is_of(name, value) and not is_decorator and not _BESIDE.search(attribute):
            yield attribute


def _is_of(name, value):
    """Whether a value was made in this module, as far as it says; of numbers and texts nobody knows."""
    owner = getattr(value, "__module__", None)
    if not isinstance(owner, str):
        return not isinstance(value, types.ModuleType)
    return owner.startswith(_WRAPPED) or owner.replace("tensorflow_core", "tensorflow") == name


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    print("\n".join(lines()))
