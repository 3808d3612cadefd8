"""The vendor's lists of PyTorch on each chip, against the pages they are made of, and the questions asked of them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from npu_formats.device.chip import ChipProblem, chip_names
from npu_formats.pytorch import api_support, limit_facts
from npu_formats.pytorch.api_support import FALLS_BACK, LIMITED, REFUSED, SUPPORTED, UNKNOWN, support_of_api
from npu_formats.pytorch.call_limits import limits_of_api, limits_of_call
from npu_formats.pytorch.chip_column import column_of
from npu_formats.pytorch.operator_support import kernel_of, support_of_operator

ROOT = Path(__file__).parents[2]
LISTS = ROOT / "npu_formats" / "pytorch" / "lists"
CHECKED = ROOT / "tests" / "fixtures" / "pytorch" / "checked_rows.csv"
PAGES_SAY = {"A2": (3057, 192), "A3": (3056, 193), "950DT": (1484, 1765)}
"""Rows with a tick and with a cross of each column, counted with grep on the pages of torch_npu at 9e73e708."""
LIMITED_ENTRIES, ON_CPU = 1274, 73
"""Paragraphs of limits, and lines of them that name the CPU as where it is computed, counted with grep there."""
COMMON = (ROOT / "tests" / "fixtures" / "pytorch" / "common_operators.txt").read_text(encoding="utf-8").split()
"""Operators of a ResNet's and a GPT's training."""


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_list_has_every_row_of_the_pages():
    rows = _rows(LISTS / "apis.csv")
    told = [row["chips"].split() for row in rows if row["chips"]]
    assert {name: (sum(name in row for row in told), sum(name not in row for row in told)) for name in PAGES_SAY} == PAGES_SAY
    assert sum(bool(row["limits"]) for row in rows) == LIMITED_ENTRIES - _remarks_without_a_limit()
    assert len({row["api"] for row in rows}) == len(rows) == 3271


def _remarks_without_a_limit() -> int:
    """Paragraphs that say what every PyTorch does: `linspace` gives a vector, `scatter_object_list` takes no dtype."""
    silent = ("torch.linspace", "torch.distributed.scatter_object_list")
    return sum(not row["limits"] for row in _rows(LISTS / "apis.csv") if row["api"] in silent)


def test_every_limit_is_a_fact_with_english_words():
    facts = [fact for entry in api_support.entries().values() for fact in entry.facts]
    kinds = Counter(fact.kind for fact in facts)
    assert sum(kinds[kind] for kind in ("cpu", "maybe_cpu", "cpu_only")) == ON_CPU
    assert all(fact.text and not re.search(r"[^\x00-\x7f]", fact.text) for fact in facts)
    assert all(limit_facts.facts_of(str(fact)) == (fact,) for fact in facts)


def test_a_note_is_used_and_says_its_effect():
    used = {fact.values[0] for entry in api_support.entries().values() for fact in entry.facts if fact.kind == "note"}
    assert used == set(limit_facts.notes())
    assert {note.effect for note in limit_facts.notes().values()} == {"limit", "differs", "advice"}


@pytest.mark.parametrize("path", sorted(LISTS.glob("*.csv")), ids=lambda path: path.name)
def test_a_list_has_no_word_of_the_vendors(path):
    assert path.read_text(encoding="utf-8").isascii()


@pytest.mark.parametrize("row", _rows(CHECKED), ids=lambda row: row["api"])
def test_a_row_is_as_it_was_read_on_the_page(row):
    entry = api_support.entries()[row["api"]]
    assert entry.page == row["page"]
    assert {name: entry.supports(column_of(chip)) for name, chip in (("A2", "910B2"), ("A3", "910_93"), ("950DT", "950"))} == {
        name: row[name] == "yes" for name in ("A2", "A3", "950DT")
    }
    assert entry.facts == limit_facts.facts_of(row["limits"])


@pytest.mark.parametrize(
    ("name", "chip", "verdict"),
    [
        ("torch.nn.DataParallel", "Ascend910B2", REFUSED),
        ("torch.linalg.cholesky", "Ascend910B2", LIMITED),
        ("torch.linalg.cholesky", "950", REFUSED),
        ("torch.linalg.lstsq", "910B2", FALLS_BACK),
        ("torch.nn.functional.avg_pool3d", "910_93", REFUSED),
        ("torch.dtype", "910B2", SUPPORTED),
        ("torch.jit.script", "910B2", LIMITED),
        ("torch.jit.trace", "910B2", UNKNOWN),
        ("torch.nn.TransformerEncoderLayer", "910B2", UNKNOWN),
        ("torch.made_up", "910B2", UNKNOWN),
    ],
)
def test_an_api_has_the_verdict_of_its_page(name, chip, verdict):
    assert support_of_api(name, chip).verdict == verdict


def test_a_type_that_only_some_chips_have_is_said_of_those():
    assert "bfloat16" in support_of_api("torch.Tensor.addcdiv_", "910B2").dtypes["self"]
    assert "bfloat16" not in support_of_api("torch.Tensor.addcdiv_", "910A").dtypes["self"]
    assert support_of_api("torch.nested.narrow", "950").refused_dtypes == {"complex64", "complex128"}
    assert not support_of_api("torch.nested.narrow", "910B2").refused_dtypes


@pytest.mark.parametrize("chip", chip_names())
def test_every_chip_has_a_column(chip):
    later = re.fullmatch(r"Ascend910(B\d.*|_93)", chip)
    support = support_of_api("torch.add", chip)
    assert support.verified == bool(later)
    assert (f"list of A2, not verified for {chip.removeprefix('Ascend')}" in support.words) == (not later)


def test_what_is_no_chip_is_said():
    with pytest.raises(ChipProblem, match="H100"):
        support_of_api("torch.add", "H100")


@pytest.mark.parametrize("name", COMMON)
def test_a_common_operator_is_answered(name):
    support = support_of_operator(f"aten::{name}", "910B2")
    assert support.verdict in (SUPPORTED, LIMITED)
    assert kernel_of(name) in ("device", "composite")
    assert not [one for one in limits_of_call(f"aten::{name}", ["float32"], [(4, 4, 4, 4)], "910B2") if one.certain]


@pytest.mark.parametrize(
    "name", ["special_entr.out", "cholesky_inverse", "linalg_lstsq.out", "_transformer_encoder_layer_fwd", "torchvision::nms"]
)
def test_an_operator_that_users_saw_on_the_cpu_falls_back(name):
    """The warnings of torch_npu that they posted name these. Those of `isin` are of releases before August 2024."""
    (found,) = limits_of_call(name if "::" in name else f"aten::{name}", ["float32"], [(4, 4)], "910B2")
    assert (found.kind, found.certain) == ("falls_back", True)


def test_isin_has_a_kernel_by_now_and_tells_of_its_past():
    support = support_of_operator("aten::isin.Tensor_Tensor_out", "910B2")
    assert support.verdict == LIMITED and "Ascend/op-plugin" in support.source
    assert any("August 2024" in words for words in support.words)


def test_attention_of_cuda_has_no_kernel_anywhere():
    """Source: vllm-project/vllm-omni pull request 755, where it fell back to the CPU and stopped there."""
    (found,) = limits_of_call("aten::_scaled_dot_product_efficient_attention", ["float16"] * 3, [(1, 2, 8, 64)] * 3, "910B2")
    assert (found.kind, found.certain) == ("refused", True)


def test_what_the_cpu_build_calls_is_judged_as_what_the_device_has():
    call = "aten::_scaled_dot_product_flash_attention_for_cpu", ["float16"] * 3
    assert not limits_of_call(*call, [(1, 2, 8, 512)] * 3, "910B2")
    (found,) = limits_of_call(*call, [(1, 2, 8, 513)] * 3, "910B2")
    assert found.message.startswith("aten::scaled_dot_product_attention on the chip 910B2: ")
    assert found.kind == "shape_limit" and "axis -1 of `query` has at most 512 elements" in found.message


@pytest.mark.parametrize(
    ("name", "dtypes", "shapes", "chip", "kinds"),
    [
        ("aten::mm", ["torch.float64"] * 2, [(2, 2)] * 2, "910B2", [("type_refused", True)]),
        ("aten::mm", ["bfloat16"] * 2, [(2, 2)] * 2, "910B2", []),
        ("aten::mm", ["bfloat16"] * 2, [(2, 2)] * 2, "910A", [("type_refused", True)]),
        ("aten::convolution", ["float64"] * 2, [(1, 3, 8, 8), (4, 3, 3, 3)], "910A", [("type_refused", False)]),
        ("aten::lerp.Scalar", ["bfloat16"] * 2, [(2,)] * 2, "910B2", [("type_refused", False)]),
        ("aten::add.Tensor", ["complex32"], [(2,)], "910B2", [("type_refused", True)]),
        ("aten::isin.Tensor_Tensor", ["int64"] * 2, [(1,) * 8, (1,) * 9], "910B2", [("shape_limit", True)] * 2),
        ("aten::avg_pool3d", ["float32"], [(1, 1, 4, 4, 4)], "910B2", [("refused", False)]),
        ("aten::detach", ["float64"], [(2,)], "910B2", []),
        ("profiler::_record_function_exit", [], [], "910B2", []),
        ("mine::op", ["float32"], [(2,)], "910B2", [("unverified", False)]),
        ("c10d::allreduce_", ["float64"], [(2,)], "910B2", [("type_refused", True)]),
    ],
)
def test_a_call_has_its_findings(name, dtypes, shapes, chip, kinds):
    found = limits_of_call(name, dtypes, shapes, chip)
    assert [(one.kind, one.certain) for one in found] == kinds
    assert all(f"on the chip {chip}: " in one.message and "\n" not in one.message and one.source for one in found)


def test_rank_chooses_the_convolution():
    assert "float64" not in support_of_operator("aten::convolution", "910B2", axes=2).dtypes["input"]
    assert "complex64" in support_of_operator("aten::convolution", "910B2", axes=3).dtypes["input"]
    assert "complex64" not in support_of_operator("aten::convolution", "910B2", axes=1).dtypes["input"]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("torch.nn.DataParallel", "refused", "DistributedDataParallel"),
        ("torch.jit.script", "limited", "plain Python"),
        ("torch.quantize_per_tensor", "refused", "not supported on Atlas A2"),
        ("torch.sparse.mm", "refused", "dense"),
        ("torch.nested.nested_tensor", "limited", "nothing else"),
        ("torchvision.ops.nms", "falls_back", "training step"),
        ("torch.utils.data.DataLoader", "limited", "`num_workers` may be 0 only"),
    ],
)
def test_a_use_of_an_api_has_a_finding(name, kind, words):
    (found,) = limits_of_api(name, "910B2")
    assert found.kind == kind and words in found.message and found.certain
    (first_generation,) = limits_of_api(name, "910A")
    assert "not verified for 910A" in first_generation.message and not first_generation.certain


def test_a_supported_api_has_none():
    assert limits_of_api("torch.dtype", "910B2") == []
