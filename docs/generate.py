"""Writes docs/generated from the registries: `python docs/generate.py`; a test compares the files with what it would write."""

from __future__ import annotations

import csv
from pathlib import Path
from runpy import run_path

from npu_formats.session_options import table
from npu_runtime.analysis.host_only_ops import NATURE
from npu_runtime.kernels.base import Kernel, all_kernels
from tf2npu.report.formats.rule_list import entries, render

FOLDER = Path(__file__).parent / "generated"
COVERAGE = Path(__file__).with_name("op_coverage.py")
MINDSPORE_NAMES = Path(__file__).with_name("mindspore_names.py")
VALUES = Path(__file__).with_name("values_of_1_15.py")
SHIM = Path(__file__).parents[1] / "tf2npu" / "npu_bridge"
SHIM_OF_TF2 = SHIM.with_name("npu_device")


def pages() -> dict[str, str]:
    """Text by file name."""
    return {
        "rules.md": render(entries(), "md", in_full=True),
        "kernels.md": kernels_page(),
        "host_ops.md": host_page(),
        "op_coverage.md": run_path(str(COVERAGE))["coverage_page"](),
        "shim.md": symbols_page(),
        "npu_device.md": npu_device_page(),
        "session_options.md": options_page(),
        "mindspore_names.md": run_path(str(MINDSPORE_NAMES))["names_page"](),
        "values_of_1_15.md": run_path(str(VALUES))["values_page"](),
    }


def kernels_page() -> str:
    """Every op with a kernel: hardware unit, element types, attributes that it honours."""
    kernels = all_kernels()
    lines = [
        "# Kernels",
        "",
        f"{len(kernels)} ops run on the simulated device. Types are those of attribute T unless another is named; what an op is",
        "not listed for runs on the host, with that reason in the run log. Names that begin with an underscore are TensorFlow's",
        "fused ops, or ops that only the device has.",
        "",
        "| op | unit | element types | attributes | may refuse |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_kernel_row(kernel) for kernel in kernels.values())]) + "\n"


def _kernel_row(kernel: Kernel) -> str:
    types = "; ".join(
        ("" if attr == "T" else f"{attr}: ") + ", ".join(sorted(allowed)) for attr, allowed in sorted(kernel.dtypes.items())
    )
    refuses = "some combinations" if kernel.refuse else ""
    return f"| {kernel.op} | {kernel.unit} | {types} | {', '.join(sorted(kernel.attrs))} | {refuses} |"


def host_page() -> str:
    """Ops that belong to the host on a real system too."""
    lines = [
        "# Ops of the host",
        "",
        "These run on the host by nature, here as on a real NPU system. Everything else that the run log shows on the host",
        "is there because the device has no kernel for it or not for this type or attribute, or because it cannot be parted",
        "from such a node.",
        "",
        "| ops (patterns of op types) | reason |",
        "|---|---|",
    ]
    rows = [f"| `{pattern.replace('|', ' or ')}` | {reason} |" for pattern, reason in NATURE.items()]
    return "\n".join([*lines, *rows]) + "\n"


def shim_rows(table: str, shim: Path = SHIM) -> list[dict[str, str]]:
    """The rows of one of a shim's tables."""
    with (shim / table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def symbols_page() -> str:
    """The page of the symbols that act otherwise than on the device, and the number of those that act the same."""
    found = shim_rows("_symbols.csv")
    faithful = sum(row["kind"] == "F" for row in found)
    lines = [
        "# Symbols of npu_bridge and hccl",
        "",
        f"{len(found)} symbols. {faithful} do what they do on the device, with TensorFlow's numbers; a test of each is named in",
        "`tf2npu/npu_bridge/_symbols.csv`. The others are here. Those that raise an error do so when they are called, not when",
        "they are imported.",
    ]
    for kind, title in (("R", "Checked and recorded, or refused"), ("N", "With nothing to do here")):
        lines += ["", f"## {title}", "", "| module | symbol | what a call does |", "|---|---|---|"]
        lines += [
            f"| {row['module']} | `{row['symbol']}{row['signature']}` | {row['effect']} |" for row in found if row["kind"] == kind
        ]
    lines += [
        "",
        "## Accepted here, refused on an Ascend host",
        "",
        "Each passes with one warning that names the script's line; `tf2npu run --strict` raises the host's error.",
        "",
        "| call | on a host |",
        "|---|---|",
    ]
    lines += [f"| {row['call']} | {row['error']}: {row['message']} |" for row in shim_rows("_host_differences.csv")]
    return "\n".join(lines) + "\n"


_AGES = {
    "current": "", "experimental": "experimental", "deprecated": "deprecated", "older": "of an older release",
    "internal": "written by the Estimator", "unknown": "unknown to the device, seen in scripts",
}  # fmt: skip


def options_page() -> str:
    """Every session option: its field, what it takes, what goes with it, and what the simulated device does with it."""
    lines = [
        "# Session options",
        "",
        "Keys of the `parameter_map` of the `NpuOptimizer` entry. A wrong field, name or value is warned about once, with the",
        "right form; `tf2npu doctor --script FILE` names them without running the script. `words` are to be written exactly,",
        "`file` and `folder` have to exist, `like` is a regular expression.",
        "",
        "| option | field | takes | status | with others | here |",
        "|---|---|---|---|---|---|",
    ]
    for option in table().values():
        bar = "\\|" if option.allowed.startswith("like") else " or "
        takes = option.allowed.replace("|", bar) if option.allowed else "any"
        age = _AGES[option.status] + (f"; instead: {option.instead}" if option.instead else "")
        others = "; ".join(
            [*([f"excludes {option.excludes}"] if option.excludes else []), *([f"needs {option.needs}"] if option.needs else [])]
        )
        lines.append(f"| {option.option} | .{option.field} | `{takes}` | {age} | {others} | {option.here} |")
    return "\n".join(lines) + "\n"


_EFFECTS = {"F": "as on the device", "R": "recorded", "N": "nothing to do"}
_STATES = {"current": "", "deprecated": "deprecated", "removed": "of an older release"}


def npu_device_page() -> str:
    """Every name of npu_device, and every option of a device, with what becomes of it."""
    lines = [
        "# Symbols and options of npu_device",
        "",
        "`npu_device` has the names of the vendor's adapter for TensorFlow 2 ([the shim](../shim.md#npu_device)). A test of each",
        "is named in `tf2npu/npu_device/_symbols.csv`.",
        "",
        "| module | symbol | what a call does |",
        "|---|---|---|",
    ]
    for row in shim_rows("_symbols.csv", SHIM_OF_TF2):
        effect = _EFFECTS[row["kind"]] + (f": {row['effect']}" if row["effect"] else "")
        lines.append(f"| {row['module']} | `{row['symbol']}{row['signature']}` | {effect} |")
    lines += [
        "",
        "## Options",
        "",
        "Attributes of what `npu_device.global_options()` gives; the class stands in the vendor's messages. `open()` reads them.",
        "What the simulated device does with those that are done is said with the [session options](session_options.md), by the",
        "name in the last column; the others are recorded, and `open()` names those that were set. A value outside of its list",
        "raises a ValueError, or a TypeError where it has not the type of the default either.",
        "",
        "| class | option | default | takes | status | here | session option |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_option_row(row) for row in shim_rows("_options/table.csv", SHIM_OF_TF2)]
    lines += [
        "",
        "## Modules and names of older releases",
        "",
        "Scripts for TensorFlow 2.4 to 2.6 use them, and 2.15 has them elsewhere; each is named once in the log. Names of Keras'",
        "own that `keras.backend`, `keras.layers` and so on had are found in `keras.src.backend`, `keras.src.layers` and so on.",
        "",
        "| gone | today |",
        "|---|---|",
    ]
    moved = [row for table in ("modules", "names") for row in shim_rows(f"_old_names/{table}.csv", SHIM_OF_TF2)]
    lines += [f"| `{row['old']}` | {', then '.join(f'`{new}`' for new in row['new'].split())} |" for row in moved]
    return "\n".join(lines) + "\n"


def _option_row(row: dict[str, str]) -> str:
    if row["status"] == "tree":
        return f"| {row['config']} | {row['name']} | | a group of options: {row['default']} | | | |"
    status = _STATES[row["status"]] + (f"; instead: {row['instead']}" if row["instead"] else "")
    takes = f"`{row['choices']}`" if row["choices"] else "any"
    fields = (row["config"], row["name"], f"`{row['default']}`", takes, status, row["here"], row["session_option"])
    return f"| {' | '.join(fields)} |"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
