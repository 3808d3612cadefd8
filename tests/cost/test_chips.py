"""A chip is one file, and an engine's cost one function."""

from __future__ import annotations

from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest

from npu_formats.device.chip import Chip, ChipProblem, chip_names, load_chip, parse_chip
from npu_runtime.cost import ai_cpu, collective, cube, host, memory_copy, runtime_ops, vector
from npu_runtime.cost.cube import product_cost
from npu_runtime.cost.fitted import Fitted, load_fitted
from npu_runtime.cost.task_cost import ENGINES, TaskCost
from tests.cost.shapes import product

CHIPS_FOLDER = resources.files("npu_formats.device") / "chips"
MOST_FITTED = 6


def text_of(name: str) -> str:
    return (CHIPS_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def test_a_new_chip_is_one_file(tmp_path: Path):
    """docs/device_model.md tells a developer to copy a file and change its figures."""
    path = tmp_path / "Ascend910X.toml"
    path.write_text(text_of("Ascend910B2").replace("cube_mhz = 1800", "cube_mhz = 2000"), encoding="utf-8")
    chip = parse_chip(path.stem, path.read_text(encoding="utf-8"))
    assert (chip.name, chip.cube_mhz) == ("Ascend910X", 2000)
    assert product_cost(product(4096, 4096, 4096), chip).us < product_cost(product(4096, 4096, 4096), load_chip("Ascend910B2")).us


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("n_cores = 24\n", "", "n_cores is missing"),
        ("n_cores = 24\n", "n_cores = 24\nn_tensors = 3\n", "n_tensors is unknown"),
        ("n_cores = 24\n", "n_cores = 0\n", "n_cores is 0, wanted int"),
        ("saturates = false", 'saturates = "no"', "saturates is 'no', wanted bool"),
        ("n_cores = 24\n", "n_cores = \n", "no TOML"),
    ],
)
def test_a_wrong_file_says_which_figure(old: str, new: str, said: str):
    text = text_of("Ascend910B2")
    assert old in text
    with pytest.raises(ChipProblem, match=f"chip Ascend910X: .*{said}"):
        parse_chip("Ascend910X", text.replace(old, new))


@pytest.mark.parametrize("name", chip_names())
def test_every_figure_of_a_chip_stands_below_a_source(name: str):
    lines = text_of(name).splitlines()
    assert lines[0].startswith("# ")
    assert {line.split(" =")[0] for line in lines if not line.startswith("#")} == {one.name for one in fields(Chip)} - {"name"}


def test_at_most_six_numbers_are_fitted():
    lines = (resources.files("npu_runtime.cost") / "fitted.toml").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if "=" in line]) == len(fields(Fitted)) <= MOST_FITTED
    doc = Fitted.__doc__ or ""
    assert all(f"{one.name}:" in doc for one in fields(Fitted))
    assert all(getattr(load_fitted(), one.name) > 0 for one in fields(Fitted))


def test_a_new_engine_is_one_function():
    """As docs/device_model.md has it: a pure function of sizes and the chip that returns a TaskCost."""

    def image_cost(n_bytes: float, chip: Chip) -> TaskCost:
        return TaskCost("image decoder", load_fitted().start_us + n_bytes / (chip.host_gb_per_s * 1e3), bound="decoder")

    assert image_cost(1e6, load_chip("Ascend910A")).us == pytest.approx(load_fitted().start_us + 1e6 / 23.4e3)


def test_all_engines_have_a_file_each():
    chip = load_chip("Ascend910A")
    made = [
        cube.product_cost(product(16, 16, 16), chip), vector.vector_cost(1.0, 1.0, 1.0, chip), ai_cpu.ai_cpu_cost(1, 1, 1, chip),
        collective.collective_cost("HcomAllReduce", 1.0, 8, 8, chip), memory_copy.copy_cost(1.0, memory_copy.TO_HOST, chip),
        runtime_ops.runtime_cost("Switch"), host.issue_cost(),
    ]  # fmt: skip
    assert tuple(cost.engine for cost in made) == ENGINES


def test_cost_files_are_short():
    folder = resources.files("npu_runtime.cost")
    long = [entry.name for entry in folder.iterdir() if entry.name.endswith(".py") and entry.read_text().count("\n") >= 200]
    assert long == []
