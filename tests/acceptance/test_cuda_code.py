"""The look at conversions of PyTorch code sees what is left, what is edited and what the vendor's converter does otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import same_outputs
from benchmarks.cuda_code import vendor
from benchmarks.cuda_code.edits import edits, lines_before
from benchmarks.cuda_code.looked_at import look_at
from benchmarks.cuda_code.names import cuda_names, imports_torch

WRAPPED = "b.to(f'npu:{d}' if isinstance(d, int) else d)"
HEAD = "import torch\nimport torch.backends.cudnn as cudnn\n"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("x = x.cuda()", "method"),
        ("y = torch.stack([x]).cuda(0).t()", "method"),
        ("torch.cuda.synchronize()", "attribute"),
        ("cudnn.benchmark = True", "attribute"),
        ("from torch.cuda.amp import autocast", "import"),
        ('x.to(f"cuda:{i}")', "device"),
        ('start("cpu:gloo,cuda:nccl")', "device"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', "variable"),
    ],
)
def test_names_of_cuda_are_found(line: str, kind: str) -> None:
    assert [(name.line, name.kind) for name in cuda_names(f"{HEAD}{line}\n") or ()] == [(3, kind)]


@pytest.mark.parametrize(
    "line", ["use_cuda = args.cuda", '"""cuda"""', 'x = "tcp,cuda"', "x = 1  # cuda", 'add("--cuda", help="enables CUDA")']
)
def test_words_of_the_user_are_no_names_of_cuda(line: str) -> None:
    assert cuda_names(f"{HEAD}{line}\n") == []


def test_imports_of_torch_are_seen() -> None:
    assert imports_torch("try:\n    import os, torch\nexcept ImportError:\n    pass\n")
    assert imports_torch("from torch.nn import Linear\n")
    assert not imports_torch("import torchlight\n# import torch\nfrom .torch import x\n")


def test_edits_name_lines_and_rules() -> None:
    file = {"findings": [{"rule": "NPT101", "level": "fixed", "line": 2, "end_line": 2}]}
    found = edits("a.py", ["a", "b.cuda()", "c"], ["a", "b.npu()", "c"], file)
    assert [(edit.line, edit.before, edit.after, edit.rules) for edit in found] == [(2, ["b.cuda()"], ["b.npu()"], "NPT101")]


def test_lines_of_the_output_are_laid_beside_those_of_the_source() -> None:
    found = lines_before(["a", "b", "c"], ["a", "new", "b2", "c"])
    assert found[1] == range(1, 2)
    assert found[4] == range(3, 4)
    assert 2 in found[3]


@pytest.mark.parametrize(("rule", "edited"), [("NPT105", ["b.py"]), ("NPU100", [])])
def test_a_name_that_is_left_and_not_told_is_unsaid(tmp_path: Path, rule: str, edited: list[str]) -> None:
    for folder in ("source", "out"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("import torch\nx.cuda()\ny.cuda()\n", encoding="utf-8")
        (tmp_path / folder / "b.py").write_text(f"# {folder}\n", encoding="utf-8")
    told = {"rule": "NPT104", "level": "manual", "line": 2, "end_line": 2, "message": ""}
    files = [
        {"path": "a.py", "status": "unchanged", "findings": [told]},
        {"path": "b.py", "status": "converted", "findings": [{"rule": rule, "level": "fixed", "line": 1, "end_line": 1}]},
    ]
    looked = look_at("project", tmp_path / "source", tmp_path / "out", files)
    assert looked.unsaid == ["a.py:3 method y.cuda"]
    assert looked.without_torch == edited


def test_changes_of_the_vendor_have_answers(tmp_path: Path) -> None:
    texts = {
        "source": ["import torch", "a.cuda()", "b.to(d)", "c.cuda()", "d.cuda()"],
        "vendor": ["import torch", "import torch_npu", "a.npu()", WRAPPED, "c.npu()", "d.npu()"],
        "ours": ["import torch", "import torch_npu  # registers", "a.npu()", "b.to(d)", "c.cuda()", "d.cuda()"],
    }  # fmt: skip
    for folder, lines in texts.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = {"rule": "NPT104", "level": "manual", "line": 4, "end_line": 4, "message": "look"}
    files = [{"path": "a.py", "findings": [told]}]
    found = vendor.places(tmp_path / "source", tmp_path / "vendor", tmp_path / "ours", files)
    assert [place.answer for place in found] == ["made", "made", "argued", "argued", "missing"]


def test_outputs_of_two_checkouts_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(checkout: Path, corpus: Path, out: Path, jobs: int = 1) -> object:
        out.mkdir(parents=True)
        (out / "a.py").write_text("same\n", encoding="utf-8")
        (out / "b.py").write_text(f"{checkout}\n", encoding="utf-8")
        return type("Done", (), {"code": 0})

    monkeypatch.setattr(same_outputs, "convert", convert)
    found = same_outputs.compared(tmp_path, tmp_path / "corpus", tmp_path / "kept", tmp_path / "here", 1)
    assert (found.n_files, found.files, found.codes) == (2, ["b.py"], (0, 0))
    assert not found.is_same
