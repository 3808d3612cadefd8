"""Runs an unmigrated TensorFlow 1 script on TensorFlow 2.15, with `tensorflow.compat.v1` in the place of `tensorflow`.

This is the oracle of the end-to-end tests: nothing of ours takes part, neither the shim nor the runtime.

    python plain_tf1.py script.py [arguments of the script]
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from types import ModuleType

# Public name under `tensorflow.` -> the module that carries TF1's version of it.
REPLACED = {
    "": "tensorflow.compat.v1",
    ".keras": "keras.api._v1.keras",
    ".estimator": "tensorflow_estimator.python.estimator.api._v1.estimator",
}


def put_v1_in_place() -> ModuleType:
    """Makes `import tensorflow` and the import of its public submodules give the TF1 API; returns that module."""
    import tensorflow as tf

    tf.compat.v1.disable_v2_behavior()
    for suffix, target in REPLACED.items():
        importlib.import_module(target)
        loaded = {name: module for name, module in sys.modules.items() if _is_within(name, target)}
        for name, module in loaded.items():
            sys.modules[f"tensorflow{suffix}{name[len(target) :]}"] = module
    v1 = sys.modules["tensorflow"]
    v1.keras, v1.estimator = sys.modules["tensorflow.keras"], sys.modules["tensorflow.estimator"]
    return v1


def _is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def run_script(script: str, arguments: list[str]) -> None:
    """Runs `script` as `python script arguments` would; returns also where the script ends by `sys.exit(0)`."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


if __name__ == "__main__":
    put_v1_in_place()
    run_script(sys.argv[1], sys.argv[2:])
