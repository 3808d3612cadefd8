"""`tf2npu devices`: the simulated devices of this computer, in the manner of npu-smi."""

from __future__ import annotations

import os
from typing import Any

from npu_formats.device.chip import DEFAULT_CHIP, chip_names, load_chip
from npu_formats.session_options import launcher_options

_HEADINGS = ("NPU", "chip", "health", "AI cores", "clock", "HBM", "bandwidth", "fp16 peak")


def lines(environment: Any = os.environ) -> list[str]:
    """A table with the device that a script would get, then the chips that --soc can choose."""
    options = launcher_options(environment)
    name = options.get("soc", DEFAULT_CHIP)
    number = environment.get("ASCEND_DEVICE_ID") or environment.get("DEVICE_ID") or "0"
    rows = [_HEADINGS, (number, *_facts(load_chip(name), "OK (simulated)"))]
    answer = _aligned(rows)
    answer += ["", "chips for --soc:", *_aligned([("", *_facts(load_chip(other), "")) for other in chip_names()])]
    return [*answer, "", "No process holds a simulated device: each `tf2npu run` has one of its own."]


def _facts(chip: Any, health: str) -> tuple[str, ...]:
    return (
        chip.name, health, str(chip.n_cores), f"{chip.cube_mhz} MHz", f"{chip.hbm_bytes / 2**30:.0f} GiB",
        f"{chip.hbm_gb_per_s:.0f} GB/s", f"{chip.cube_fp16_tflops:.0f} TFLOPS",
    )  # fmt: skip


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).strip() for row in rows]
