"""Record what tf.keras of TensorFlow 1.15 has of native Keras, and the keywords of Keras 1 that Keras 2 takes and renames.

Run by hand under Python 3.7 with TensorFlow 1.15, once with Keras 2.2 and once with 2.3; it adds what it finds to both tables:

    python tools/record_native_keras.py tf2npu/frameworks/tensorflow1/native_keras
"""

import csv
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

_OTHER_HOMES = {"engine": ("layers", "models"), "objectives": ("losses",), "metrics": ("losses",), "models": ("layers",)}
_LEFT_OUT = ("legacy", "backend.cntk", "backend.theano", "_", "tests")


def main(folder: str) -> None:
    """Write names.csv and keras1.csv."""
    import keras
    import tensorflow

    rows = []
    for module in ["", *_submodules(keras)]:
        found = _row(module, importlib.import_module(f"keras.{module}".rstrip(".")), tensorflow.keras)
        if found:
            rows.append((module, tuple(sorted(found))))
    _write(Path(folder) / "names.csv", ("module", "names"), rows)
    _write(Path(folder) / "keras1.csv", ("name", "renamed"), _renamed(keras))


def _submodules(keras) -> list:
    found = []
    for info in pkgutil.walk_packages(keras.__path__, "keras."):
        name = info.name[len("keras.") :]
        if not name.startswith(_LEFT_OUT):
            found.append(name)
    return found


def _row(module: str, native, tf_keras) -> list:
    """The names of a module: `name` where tf.keras has it in the module that is named first, else `name=where`."""
    found = []
    for name in sorted(vars(native)):
        value = getattr(native, name)
        if name.startswith("_") or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not getattr(value, "__module__", "").startswith(("keras", "tensorflow")):
            continue
        where = _home(module, name, value, tf_keras)
        if where is not None:
            found.append(name if where == f"{module}.{name}".lstrip(".") else f"{name}={where}")
    return found


def _home(module: str, name: str, value, tf_keras):
    top = module.partition(".")[0]
    for home in dict.fromkeys((module, top, *_OTHER_HOMES.get(top, ()))):
        for spelling in dict.fromkeys((name, getattr(value, "__name__", name))):
            if _get(tf_keras, f"{home}.{spelling}".lstrip(".")) is not None:
                return f"{home}.{spelling}".lstrip(".")
    return None


def _get(value, path: str):
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


def _renamed(keras) -> list:
    """The names for which Keras 2 takes keywords of Keras 1, each with `old=new`."""
    found = []
    for name, value in [*sorted(vars(keras.layers).items()), ("Model", keras.models.Model)]:
        if inspect.isclass(value) and "conversions" in value.__init__.__code__.co_freevars:
            function = value.__init__
            cell = function.__closure__[function.__code__.co_freevars.index("conversions")]
            found.append((name, tuple(sorted("=".join(pair) for pair in cell.cell_contents))))
    return [row for row in found if row[1]]


def _write(path: Path, head: tuple, rows: list) -> None:
    """Write a table of names and words, with those that the file has already."""
    known = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            known = {row[0]: set(row[1].split()) for row in list(csv.reader(file))[1:]}
    for name, words in rows:
        known.setdefault(name, set()).update(words)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows((name, " ".join(sorted(words))) for name, words in sorted(known.items()))


if __name__ == "__main__":
    main(sys.argv[1])
