"""Checkpoints: from the device, to the device, and those of other machines."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn


def _file(value: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file, **options)
    file.seek(0)
    return file


def _of_cuda(value: Any) -> io.BytesIO:
    """A checkpoint as a machine with CUDA writes it: the place of each storage is a text in its pickle."""
    of_host = torch.serialization.location_tag
    try:
        torch.serialization.location_tag = lambda storage: "cuda:0"
        return _file(value)
    finally:
        torch.serialization.location_tag = of_host


def test_a_state_comes_back_to_its_device() -> None:
    model = nn.Linear(4, 3).npu(1)
    file = _file(model.state_dict())
    for place, expected in (
        (None, "npu:1"),
        ("npu:0", "npu:0"),
        (torch.device("npu:2"), "npu:2"),
        ("cpu", "cpu"),
        ({"npu:1": "npu:3"}, "npu:3"),
        ({"npu:1": "cpu"}, "cpu"),
        (lambda storage, location: storage, "cpu"),
    ):
        file.seek(0)
        state = torch.load(file, map_location=place)
        assert torch.equal(state["weight"].cpu(), model.weight.detach().cpu())
        if not callable(place):
            assert state["weight"].device == torch.device(expected), place


def test_a_state_of_the_host_comes_to_the_device() -> None:
    state = torch.load(_file({"w": torch.arange(6.0).view(2, 3).t(), "i": torch.tensor(3)}), map_location="npu:2")
    assert state["w"].device == torch.device("npu:2") and state["w"].stride() == (1, 3) and state["i"].item() == 3
    model = nn.Linear(2, 2)
    model.load_state_dict({name: value.npu() for name, value in model.state_dict().items()})
    assert model.weight.device.type == "cpu"
    moved = nn.Linear(2, 2).npu()
    moved.load_state_dict(model.state_dict())
    assert moved.weight.device.type == "npu" and moved.weight.tolist() == model.weight.tolist()
    moved.load_state_dict({name: value.clone().npu() for name, value in model.state_dict().items()}, assign=True)
    assert moved.weight.device.type == "npu" and isinstance(moved.weight, nn.Parameter)


def test_training_goes_on_from_a_checkpoint_as_if_it_had_not_stopped() -> None:
    def step(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        model(torch.ones(2, 3, device="npu")).pow(2).sum().backward()
        optimizer.step()

    torch.manual_seed(0)
    model = nn.Linear(3, 2).npu()
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    step(model, optimizer)
    file = _file({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state()})
    twin = nn.Linear(3, 2).npu()
    other = torch.optim.Adam(twin.parameters(), 0.1)
    state = torch.load(file, map_location="npu")
    twin.load_state_dict(state["model"])
    other.load_state_dict(state["optimizer"])
    step(model, optimizer)
    step(twin, other)
    assert twin.weight.tolist() == model.weight.tolist()


def test_a_whole_model_needs_weights_only_false() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).npu(1)
    file = _file(model)
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(file)
    for place, expected in ((None, "npu:1"), ("cpu", "cpu"), ("npu:0", "npu:0")):
        file.seek(0)
        loaded = torch.load(file, map_location=place, weights_only=False)
        assert loaded[0].weight.device == torch.device(expected) and isinstance(loaded[0].weight, nn.Parameter)
        assert torch.equal(loaded[0].weight.detach().cpu(), model[0].weight.detach().cpu())


def test_a_checkpoint_of_cuda_needs_a_place() -> None:
    file = _of_cuda({"w": torch.arange(3.0)})
    with pytest.raises(RuntimeError, match="map_location"):
        torch.load(file)
    for place, expected in (("npu:1", "npu:1"), ("cpu", "cpu"), ({"cuda:0": "npu:2"}, "npu:2"), (torch.device("npu"), "npu:0")):
        file.seek(0)
        state = torch.load(file, map_location=place)
        assert (state["w"].device, state["w"].tolist()) == (torch.device(expected), [0.0, 1.0, 2.0])


def test_a_place_that_is_not_there_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Invalid NPU device ID 9"):
        torch.load(_file(torch.ones(1)), map_location="npu:9")


def test_the_old_format_is_written_and_read() -> None:
    tensor = torch.arange(4.0, device="npu:1").view(2, 2)
    assert torch.load(_file(tensor, _use_new_zipfile_serialization=False), map_location="cpu").tolist() == tensor.tolist()


def test_a_checkpoint_of_the_device_loads_where_only_pytorch_is(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).npu()
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(4, 2, device="npu")).sum().backward()
    optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "state.pt")
    program = (
        "import sys, torch; state = torch.load(sys.argv[1], map_location='cpu'); "
        "print(state['model']['0.weight'].tolist(), 'torch_npu' in sys.modules, state['optimizer']['state'][0]['exp_avg'].device)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, tmp_path / "state.pt"], capture_output=True, text=True, env={"OMP_NUM_THREADS": "1"}
    )
    assert done.stdout.split(" False ") == [str(model[0].weight.tolist()), "cpu\n"], done.stderr
