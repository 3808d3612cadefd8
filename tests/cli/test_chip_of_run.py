"""`tf2npu run --soc`: the chip is named as for `predict`."""

from __future__ import annotations

import pytest

from tf2npu.launch import pytorch, run_script


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The chips that runs were asked for; none of them runs."""
    (tmp_path / "train.py").write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pytorch, "why_not_run", lambda: "")
    chips: list[str | None] = []
    monkeypatch.setattr(run_script, "run_script", lambda words, soc, **options: chips.append(soc) or 0)
    return chips


@pytest.mark.parametrize("name", ["910B2", "Ascend910B2", "ascend 910b2", "910-B2"])
def test_a_chip_may_be_named_shortly(name, asked, tool):
    assert tool("run", "--soc", name, "train.py").code == 0
    assert asked == ["Ascend910B2"]


def test_without_the_option_the_chip_is_the_runs_own(asked, tool):
    assert tool("run", "train.py").code == 0 and asked == [None]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("H100", "no chip is called 'H100'"),
        ("910B9", "did you mean Ascend910B"),
        ("910A,910B2", "a run is on one chip"),
        (",", "no chip"),
    ],
)
def test_what_names_no_single_chip_is_refused(name, says, asked, tool):
    done = tool("run", "--soc", name, "train.py")
    assert done.code == 2 and says in done.err and done.err.count("\n") == 1 and not asked
