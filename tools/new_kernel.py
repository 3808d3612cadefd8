"""A kernel begun: `make new-kernel OP=Dawsn TOPIC=elementwise` writes its file and its cases, and says what is left.

What can be told from TensorFlow's definition of the op is filled in; every place to think about is marked, with the
word that tests/test_standards.py refuses in what is committed. See docs/adding_a_kernel.md.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KERNELS, CASES = Path("npu_runtime/kernels"), Path("tests/kernels/cases")
DEVICE_OPS, MAP = Path("npu_formats/device/ops/device_ops.csv"), Path("npu_formats/device/ops/tensorflow_ops.csv")
LIMITATIONS = KERNELS / "limitations.py"
OPEN, UNDONE = "TO" + "DO", "NotImplemented" + "Error"
"""Marks of an open place, in two parts each: this file is finished."""
PYTHON_TYPES = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "str",
    "type": "str",
    "shape": "Any",
    "list(int)": "Sequence[int]",
}
"""Python types of attributes, by their type in TensorFlow's definition."""


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = _parser(root).parse_args(arguments)
    problem = _problem(options.op, options.topic, _stem(options), root)
    if problem:
        print(problem, file=sys.stderr)
        return 1
    for line in write(options.op, options.topic, _stem(options), root):
        print(line)
    return 0


def _parser(root: Path) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="new_kernel", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("op", nargs="?", default="", help="TensorFlow's name of the op, as Dawsn")
    parser.add_argument("--topic", default="", help=f"folder of npu_runtime/kernels: {', '.join(topics(root))}")
    parser.add_argument("--file", default="", help="name of the new file; the op's, if none is given")
    return parser


def _stem(options: argparse.Namespace) -> str:
    return options.file.removesuffix(".py") or snake(options.op)


def topics(root: Path) -> list[str]:
    """Folders of kernels of ops that users' graphs have."""
    found = [path.parent.name for path in (root / KERNELS).glob("*/__init__.py")]
    return sorted(set(found) - {"fused", "threads", "windows"})


def snake(name: str) -> str:
    """BesselJ0 -> bessel_j0, CTCLoss -> ctc_loss."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name.lstrip("_")).lower()


def _problem(op: str, topic: str, stem: str, root: Path) -> str:
    """The reason that nothing can be written, in the words of make, which calls this; "" where there is none."""
    if not op:
        return "say OP=, TensorFlow's name of the op, as in OP=Dawsn"
    if topic not in topics(root):
        return f"say TOPIC=, one of: {', '.join(topics(root))}"
    for path in sorted((root / KERNELS).rglob("*.py")):
        if path.name != LIMITATIONS.name and f'"{op}"' in path.read_text(encoding="utf-8"):
            return f"{path.relative_to(root)} names {op}: does the device have it already?"
    if definition(op) is None:
        return f"TensorFlow has no op {op}"
    there = [folder / topic / f"{stem}.py" for folder in (KERNELS, CASES) if (root / folder / topic / f"{stem}.py").exists()]
    return f"{there[0]} is there already: add the op to it, or give another name with FILE=" if there else ""


def definition(op: str) -> Any:
    """TensorFlow's definition, None where there is none."""
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(op)


def write(op: str, topic: str, stem: str, root: Path) -> list[str]:
    """Write both files; returns what is left to do, line by line."""
    kernel, cases = KERNELS / topic / f"{stem}.py", CASES / topic / f"{stem}.py"
    (root / cases.parent).mkdir(exist_ok=True)
    (root / kernel).write_text(kernel_text(op, topic), encoding="utf-8")
    (root / cases).write_text(cases_text(op, f"{topic}.{stem}"), encoding="utf-8")
    return [f"wrote {kernel}", f"wrote {cases}", "", "left to do:", *(f"  {line}" for line in _left(op, kernel, cases, root))]


def _left(op: str, kernel: Path, cases: Path, root: Path) -> list[str]:
    lines = [
        f"1. {kernel}: every {OPEN}; {_types(op)}",
        f"2. {cases}: odd sizes, empty arrays, each attribute, NaN, each important type",
        f"3. {MAP}: the line  {map_line(op, root)}",
        "   (columns and where the names come from: docs/adding_a_kernel.md; keep the order of the alphabet)",
        "4. tests/kernels/generated/: the op in the list of its family, if one draws such inputs",
    ]
    if re.search(rf"\b{op}\b", (root / LIMITATIONS).read_text(encoding="utf-8")):
        lines.append(f"5. {LIMITATIONS}: {op} is listed there as an op without a kernel; take it out")
    return [
        *lines,
        "then:",
        "   .venv/bin/python docs/generate.py",
        f"   .venv/bin/python -m pytest tests/kernels tests/precision -q -k '{op} or every_op'",
        "   .venv/bin/python -m pytest tests/kernels/test_op_coverage.py tests/test_generated_docs.py tests/test_layers.py -q",
        "   ruff format . && make quick",
    ]


def _types(op: str) -> str:
    """The types that the device has and the oracle can compare: those that TensorFlow's CPU kernels are registered for."""
    from tensorflow.python.framework import dtypes, kernels

    from npu_runtime.dtypes import ALL

    found: dict[str, set[str]] = {}
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        for constraint in kernel.constraint if kernel.device_type == "CPU" else ():
            names = {dtypes.as_dtype(number).name for number in constraint.allowed_values.list.type}
            found.setdefault(constraint.name, set()).update(names & ALL)
    return "TensorFlow's CPU has it for " + ("; ".join(f"{k}: {' '.join(sorted(v))}" for k, v in found.items()) or "every type")


def map_line(op: str, root: Path) -> str:
    """The row of the map: the device's operator of the same name, else the AI CPU."""
    with (root / DEVICE_OPS).open(encoding="utf-8") as file:
        names = {row["op"].lower(): row["op"] for row in csv.DictReader(file)}
    found = names.get(op.removeprefix("Resource").lower(), "")
    return f"{op},{found},,,,," if found else f"{op},,,,,,aicpu"


def cases_text(op: str, module: str) -> str:
    """A module of cases with one call, its attributes at their defaults."""
    inputs = ", ".join("[arr(2, 3), arr(2, 3)]" if _is_list(arg) else "arr(2, 3)" for arg in definition(op).input_arg)
    attrs = "".join(f", {a.name}={_default(a) or _todo_value(a)}" for a in _attributes(op))
    return (
        f'"""Cases for npu_runtime.kernels.{module}."""\n\nfrom __future__ import annotations\n\n'
        f"from tests.kernels.harness import arr, case\n\n"
        f"# {OPEN}: typical and odd sizes, empty arrays, every attribute, NaN, each important type\n"
        f'CASES = [\n    case("{op}"{", " if inputs else ""}{inputs}{attrs}),\n]\n'
    )


def kernel_text(op: str, topic: str) -> str:
    """A module with one kernel, in the idiom of the topic where the op's definition allows it."""
    return _elementwise_text(op) if topic == "elementwise" and _is_elementwise(op) else _plain_text(op)


def _is_elementwise(op: str) -> bool:
    """Whether every input and the one result have type T, and there are no attributes."""
    args = [*definition(op).input_arg, *definition(op).output_arg]
    is_plain = len(definition(op).output_arg) == 1 and not _attributes(op)
    return is_plain and all(arg.type_attr == "T" and not _is_list(arg) for arg in args)


def _elementwise_text(op: str) -> str:
    parameters = "".join(f", {_parameter(arg)}: np.ndarray" for arg in definition(op).input_arg)
    is_binary = len(definition(op).input_arg) == 2
    imports = ["from npu_runtime.kernels.shapes import broadcast"] * is_binary
    return (
        _head(op, ["import numpy as np"], [*imports, "from npu_runtime.kernels.threads.tiling import elementwise"])
        + f"# {OPEN}: flops an element, as TensorFlow's profiler counts; dtypes= where not all floats are taken\n"
        f'@elementwise("{op}", flops=1{", shape=broadcast" * is_binary})\n'
        f"def {snake(op)}(out: np.ndarray{parameters}) -> None:\n"
        f'    """{OPEN}: what it computes.  Source: TensorFlow op `{op}`."""\n'
        f'    raise {UNDONE}("fill out, a tile of fp32")  # {OPEN}\n'
    )


def _plain_text(op: str) -> str:
    kinds = [_python_type(attribute) for attribute in _attributes(op)]
    inputs, outputs = definition(op).input_arg, definition(op).output_arg
    standard = _imports("collections.abc", "Sequence", kinds) + _imports("typing", "Any", kinds)
    result = "np.ndarray" if len(outputs) == 1 else "tuple[np.ndarray, ...]"
    ours = ["from npu_runtime.kernels.base import kernel", "from npu_runtime.kernels.shapes import unknown"]
    return (
        _head(op, [*standard, *([""] if standard else []), "import numpy as np"], ours)
        + f"# {OPEN}: unit; shape, a function of the input specs and attributes; dtypes; estimate; refuse what is not done\n"
        f'@kernel("{op}", unit="vector", shape=unknown)\n'
        f"def {snake(op)}(\n    {_signature(op)},\n) -> {result}:\n"
        f'    """{OPEN}: what it computes.\n\n'
        f"    {OPEN}: shapes and types of {', '.join(map(_parameter, inputs))}.\n"
        f"    Returns: {', '.join(arg.name for arg in outputs)}.\n"
        f"    Raises: InvalidArgument for {OPEN}.  Source: TensorFlow op `{op}`.\n"
        f'    """\n    raise {UNDONE}  # {OPEN}\n'
    )


def _imports(module: str, name: str, kinds: Sequence[str]) -> list[str]:
    return [f"from {module} import {name}"] if any(name in kind for kind in kinds) else []


def _head(op: str, standard: list[str], ours: list[str]) -> str:
    return (
        f'"""{OPEN}: the topic of the file, a noun phrase; {op} is its first op."""\n\nfrom __future__ import annotations\n\n'
        + ("\n".join([*standard, "", *ours]) + "\n\n\n")
    )


def _signature(op: str) -> str:
    """Inputs by position; from the first list on they arrive one by one, as `*name`, and the kernel has to part them."""
    args = list(definition(op).input_arg)
    first_list = next((i for i, arg in enumerate(args) if _is_list(arg)), len(args))
    positional = [f"{_parameter(arg)}: np.ndarray" for arg in args[:first_list]]
    rest = [f"*{_parameter(args[first_list])}: np.ndarray"] if first_list < len(args) else []
    keywords = [f"{a.name}: {_python_type(a)}" + (f" = {_default(a)}" if _default(a) else "") for a in _attributes(op)]
    star = ["*"] if keywords and not rest else []
    return ",\n    ".join([*positional, *(["/"] if positional else []), *(rest or star), *keywords])


def _parameter(arg: Any) -> str:
    return "from_" if arg.name == "from" else arg.name


def _is_list(arg: Any) -> bool:
    return bool(arg.number_attr or arg.type_list_attr)


def _attributes(op: str) -> list[Any]:
    """Attributes that may change the values: neither types nor lengths of lists nor names of resources."""
    ignored = {"N", "container", "shared_name"}
    return [a for a in definition(op).attr if a.type not in ("type", "list(type)") and a.name not in ignored]


def _python_type(attribute: Any) -> str:
    return PYTHON_TYPES.get(attribute.type, "Any")


def _default(attribute: Any) -> str:
    """The default as Python source, "" where the definition has none or it is a list."""
    if not attribute.HasField("default_value"):
        return ""
    kind = attribute.default_value.WhichOneof("value")
    value = getattr(attribute.default_value, kind or "s")
    if kind == "list":
        return ""
    if isinstance(value, bytes):
        return f'"{value.decode()}"'
    return repr(round(value, 7) if isinstance(value, float) else value)


def _todo_value(attribute: Any) -> str:
    return {"int": "1", "float": "1.0", "bool": "False", "list(int)": "[1]"}.get(attribute.type, f'"{OPEN}"')


if __name__ == "__main__":
    sys.exit(main())
