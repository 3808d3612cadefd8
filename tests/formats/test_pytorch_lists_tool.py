"""The tool that makes the lists of PyTorch's support, on small pages and tables in the vendor's form."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from npu_formats.pytorch.limit_facts import facts_of
from tools import build_pytorch_support as tool
from tools.pytorch_support.limit_words import facts
from tools.pytorch_support.vendor_pages import PageProblem

TABLE = """
**支持情况**：

| 硬件 | 是否支持 |
| ---- | :----: |
| <term>Atlas A2 训练系列产品</term> | {} |
| <term>Atlas A3 训练系列产品</term> | {} |
| <term>Ascend 950DT</term> | {} |
"""
PAGE = f"""# torch.made

> - ✔ 是，✘ 否 <term>Ascend 950DT</term>

## Things

### torch.made.plain
{TABLE.format("✔", "&#10004;", "✘")}
</div>

### <code><i>class</i></code> torch.made.Thing

<div style="margin-left: 2em">
{TABLE.format("✔", "✔", "✔")}
**限制与说明**：`input`仅支持fp16，double

> <font size="3">\\_\\_init\\_\\_()</font>
{TABLE.format("✘", "✘", "✘")}
**限制与说明**：

- `self`、`other`仅支持int8
- <term>Ascend 950DT</term>：不支持complex64，complex128
  ```python
  # 不支持fp64
  ```
- 可能回退至CPU执行
- 月亮是绿色的

</div>

### torch.made.Untold
"""
OP_PLUGIN = """
all_version: [v2.1, v2.13]
official:
  - func: both(Tensor self) -> Tensor
    acl_op: all_version
    op_api: all_version
  - func: later.Tensor(Tensor self) -> Tensor
    op_api: [v2.14, newest]
  - func: since.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
    op_api: [v2.7, newest]
  - func: until(Tensor self) -> Tensor
    acl_op: [v2.1, v2.12]
  - func: listed(Tensor self) -> Tensor
    acl_op: v2.1, v2.13
autograd: []
custom:
  - func: npu_own(Tensor self) -> Tensor
    op_api: all_version
symint: []
"""
NATIVE_OF_NPU = """
supported:
  - native_one
  - func: parts
    op_api: True
"""
NATIVE = """
- func: both(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: both
- func: later.Tensor(Tensor self) -> Tensor
  dispatch:
    CPU: later
- func: since(Tensor self) -> Tensor
  structured_delegate: since.out
- func: since.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: since_out
- func: until(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: until
  autogen: until.out
- func: listed(Tensor self) -> Tensor
  dispatch:
    CPU: listed
- func: parts(Tensor self) -> Tensor
- func: calls(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: calls
- func: calls.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: calls_out
- func: cuda_only(Tensor self) -> Tensor
  dispatch:
    CUDA: cuda_only
- func: sparse_only(Tensor self) -> Tensor
  dispatch:
    SparseCPU: sparse_only
- func: native_one(Tensor self) -> Tensor
  dispatch:
    CPU: native_one
"""


@pytest.fixture
def checkouts(tmp_path: Path) -> tuple[Path, Path, Path]:
    files = {
        f"torch_npu/{tool.PAGES}/torch-made.md": PAGE,
        "torch_npu/torch_npu/csrc/aten/npu_native_functions.yaml": NATIVE_OF_NPU,
        "op_plugin/op_plugin/config/op_plugin_functions.yaml": OP_PLUGIN,
        "native_functions.yaml": NATIVE,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "torch_npu", tmp_path / "op_plugin", tmp_path / "native_functions.yaml"


def test_entries_of_a_page_are_rows(checkouts):
    rows = {row["api"]: row for row in csv.DictReader(tool.apis(checkouts[0]).splitlines())}
    assert {name: row["chips"] for name, row in rows.items()} == {
        "torch.made.plain": "A2 A3",
        "torch.made.Thing": "A2 A3 950DT",
        "torch.made.Thing.__init__": "none",
        "torch.made.Untold": "",
    }
    assert PAGE.splitlines()[int(rows["torch.made.Thing"]["line"]) - 1].endswith(" torch.made.Thing")
    assert rows["torch.made.plain"]["limits"] == "" and rows["torch.made.Thing"]["limits"] == "types input=fp16,fp64"
    assert rows["torch.made.Thing.__init__"]["limits"].split("; ") == [
        "types self=int8", "types other=int8", "not_types=complex64,complex128 @950DT", "maybe_cpu", "page",
    ]  # fmt: skip


def test_what_nobody_has_read_is_no_support():
    (fact,) = facts(["月亮是绿色的"])
    assert fact.limits and fact.text == "limited: the vendor's page says how"


@pytest.mark.parametrize(
    ("words", "cell"),
    [
        ("`input`仅支持bf16、fp16和fp32", "types input=bf16,fp16,fp32"),
        ("`dilation`仅支持1", "only dilation=1"),
        ("`mode`参数仅支持设置为`tanh`", "only mode=tanh"),
        ("不支持`size`参数", "not_argument size"),
        ("输入最大支持6维", "max_dims=6"),
        ("`input`只支持3-5维", "dims=3-5"),
        ("不支持5维度及以上输入", "max_dims=4"),
        ("int16不支持5维以上", "types_max_dims int16=5"),
        ("<term>Atlas A3 训练系列产品</term>额外支持bf16", "more_types=bf16 @A3"),
        ("<term>Atlas A2 训练系列产品</term>、<term>Atlas 训练系列产品</term>：`self`仅支持fp16", "types self=fp16 @A2,first"),
        ("<term>Atlas 推理系列产品</term>：不支持fp16", "page"),
        ("仅CPU支持", "cpu_only"),
    ],
)
def test_a_phrase_is_a_fact(words, cell):
    assert facts([words]) == facts_of(cell)


def test_a_chip_that_the_reader_does_not_know_stops_it(checkouts):
    path = checkouts[0] / tool.PAGES / "torch-made.md"
    path.write_text(PAGE.replace("Ascend 950DT</term> | ✘", "Ascend 960</term> | ✘"), encoding="utf-8")
    with pytest.raises(PageProblem, match=r"torch-made.md, line 15: unknown row of chips: .*Ascend 960"):
        tool.apis(checkouts[0])


def test_an_operator_has_the_kernel_that_the_dispatcher_takes(checkouts):
    rows = csv.DictReader(tool.operators(*checkouts).splitlines())
    assert {row["operator"]: row["kernel"] for row in rows} == {
        "both": "device",
        "later.Tensor": "cpu",
        "since": "device",
        "since.out": "device",
        "until": "composite",
        "until.out": "composite",
        "listed": "device",
        "parts": "device",
        "calls": "cpu",
        "calls.out": "cpu",
        "cuda_only": "none",
        "native_one": "device",
    }


def test_the_same_files_give_the_same_lists(checkouts, tmp_path, monkeypatch):
    written = []
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        monkeypatch.setattr(tool, "LISTS", folder)
        assert tool.main([str(path) for path in checkouts]) == 0
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1] and set(written[0]) == {"apis.csv", "operators.csv"}
