"""`tf2npu api` of PyTorch's names: by the vendor's pages, for each chip, and what to write for CUDA's names."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from npu_formats.device.chip import chip_names
from npu_formats.pytorch.api_support import entries
from tf2npu.cli import cli
from tf2npu.findings import Verdict
from tf2npu.frameworks.pytorch.apis import apis

CHECKED = Path(__file__).parents[1] / "fixtures" / "pytorch" / "checked_rows.csv"
"""Rows of the vendor's pages that a person read."""
COLUMNS = ("A2", "A3", "950DT")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["api", *arguments])


def document(*arguments: str) -> dict:
    (row,) = json.loads(run(*arguments, "--format", "json").output)
    return row


def test_every_name_of_the_list_is_found_and_judged_by_it() -> None:
    table = apis()
    for entry in entries().values():
        if entry.api.startswith("torch."):
            found = table.find(entry.api)
            assert found is not None, entry.api
            if entry.chips is not None and "A2" not in entry.chips:
                assert found.verdict is Verdict.UNSUPPORTED, entry.api
            elif entry.chips:
                assert found.verdict in (Verdict.RUNS, Verdict.HOST, Verdict.CONVERTED), entry.api


def test_rows_that_a_person_read_have_the_pages_chips() -> None:
    with CHECKED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 20
    for row in rows:
        words = {chip.chip: chip.word for chip in apis().find(row["api"]).chips}
        assert {chip: words[chip] != "refused" for chip in COLUMNS if row[chip]} == {
            chip: row[chip] == "yes" for chip in COLUMNS if row[chip]
        }, row


@pytest.mark.parametrize(
    ("name", "verdict", "said"),
    [
        ("torch.nn.DataParallel", "unsupported (Atlas A2)", "torch.nn.parallel.DistributedDataParallel"),
        ("torch.cuda.synchronize()", "converted (Atlas A2)", "    + torch.npu.synchronize\n"),
        ("torch.cuda.Stream.wait_stream", "converted (Atlas A2)", "    + torch.npu.Stream.wait_stream\n"),
        ("torch.cuda.memory_usage", "unsupported (Atlas A2)", "use torch.npu.mem_get_info"),
        ("torch.cuda.list_gpu_processes", "manual (Atlas A2)", "npu-smi info"),
        ("torch.Tensor.cuda", "converted (Atlas A2)", "torch.Tensor.npu"),
        ("torch.float32", "runs (Atlas A2)", "a constant"),
        ("torch.nn.functional", "runs (Atlas A2)", "what is used of it counts"),
        ("torch.npu.synchronize", "runs (Atlas A2)", "torch_npu.npu.synchronize"),
        ("torch_npu.npu.synchronize", "runs (Atlas A2)", "torch.npu.synchronize\n"),
        ("torch.jit.trace", "unknown (Atlas A2)", "run the module without torch.jit"),
        ("torch.nn.modules.linear.Linear", "runs (Atlas A2)", "torch.nn.Linear\n"),
    ],
)
def test_a_name(name: str, verdict: str, said: str) -> None:
    done = run(name)
    assert done.exit_code == 0 and f"  verdict: {verdict}\n" in done.output and said in done.output


def test_the_first_generation_is_in_no_list() -> None:
    assert "list of A2, not verified for 910A" in run("torch.nn.Linear").output
    assert "list of A2, not verified for 910A" in run("torch.nn.Linear", "--soc", "Ascend910A").output
    assert "not verified" not in run("torch.nn.Linear", "--soc", "910B2").output


def test_a_chip_has_its_own_verdict() -> None:
    assert document("torch.nn.Linear", "--soc", "910B1")["verdict"] == "runs"
    assert document("torch.nn.Linear", "--soc", "950")["verdict"] == "unsupported"
    assert "chips" not in document("torch.nn.Linear", "--soc", "950")
    chips = document("torch.nn.Linear")["chips"]
    assert {chip: one["support"] for chip, one in chips.items()} == {
        "A2": "limited", "A3": "limited", "950DT": "refused", "910A": "limited",
    }  # fmt: skip


@pytest.mark.parametrize("chip", chip_names())
def test_every_chip_of_predict_is_taken(chip: str) -> None:
    assert run("torch.nn.Linear", "--soc", chip).exit_code == 0


def test_data_say_what_to_write() -> None:
    row = document("torch.cuda.amp.autocast")
    assert row["write"] == {"before": "torch.cuda.amp.autocast", "after": "torch.npu.amp.autocast"}
    assert row["verdict"] == "converted" and row["aliases"] == ["torch.cuda.amp.autocast_mode.autocast"]
    assert "write" not in document("torch.cuda.comm.scatter")


def test_a_pattern_has_a_column_for_each_chip() -> None:
    lines = run("torch.nn.AdaptiveMaxPool*").output.splitlines()
    assert lines[0].split() == ["API", "verdict", "A2", "A3", "950DT", "910A", "what", "to", "know"]
    assert lines[1].split()[:6] == ["torch.nn.AdaptiveMaxPool1d", "unsupported", *["refused"] * 4]
    assert len(run("torch.nn.AdaptiveMaxPool*", "--soc", "910B1").output.splitlines()) == len(lines) - 1


@pytest.mark.parametrize(
    ("name", "meant"), [("relu", "torch.relu"), ("nn.Linear", "torch.nn.Linear"), ("F.gelu", "torch.nn.functional.gelu")]
)
def test_names_as_people_import_them_are_taken_for_the_framework(name: str, meant: str) -> None:
    assert run(name, "--framework", "torch").output.splitlines()[0] == meant


def test_an_unknown_name_is_likened_to_names_of_pytorch() -> None:
    done = run("torch.nn.Liner")
    assert done.exit_code == 2 and "no API is called torch.nn.Liner; did you mean torch.nn.Linear" in done.output
    assert "tf." not in run("torch.nn.relu").output


def test_a_name_of_tensorflow_stays_one() -> None:
    assert run("tf.nn.relu", "--framework", "auto").output == run("tf.nn.relu", "--framework", "tensorflow").output
    assert run("torch.relu", "--framework", "tensorflow").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tf.nn.relu", "--soc", "910A"), "of which no list tells chips apart: leave --soc out"),
        (("torch.relu", "--soc", "A100"), "no chip is called 'A100'"),
        (("torch.relu", "--framework", "jax"), "'jax' is not one of"),
    ],
)
def test_what_is_refused_says_why(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2 and message in done.output


def test_the_table_is_loaded_when_it_is_asked_for() -> None:
    code = """
import sys
from tf2npu.cli import cli
for name in ("tf.nn.relu", "torch.relu"):
    cli(["api", name], standalone_mode=False)
    print([module for module in ("torch", "tensorflow") if module in sys.modules], file=sys.stderr)
    tables = sys.modules.get("tf2npu.frameworks.pytorch.apis")
    print(bool(tables and tables.apis.cache_info().misses), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines() == ["[]", "False", "[]", "True"]
