"""Devices by number: which there are, which is current, and what is refused of several."""

from __future__ import annotations

import threading

import pytest
import torch

from tests.legs.torch.processes import run

NPU0, NPU1, NPU2 = (torch.device("npu", index) for index in range(3))


def test_there_are_eight_devices() -> None:
    assert torch.npu.is_available() and torch.npu.device_count() == torch.accelerator.device_count() == 8
    assert torch.ones(1, device="npu:7").get_device() == 7
    for wrong in ("npu:8", torch.device("npu:9")):
        with pytest.raises(RuntimeError, match="Invalid NPU device ID"):
            torch.ones(1, device=wrong)
        with pytest.raises(RuntimeError, match="Invalid NPU device ID"):
            torch.ones(1).to(wrong)
    with pytest.raises(RuntimeError, match="Invalid NPU device ID 8"):
        torch.npu.set_device(8)
    with pytest.raises(RuntimeError, match="Invalid NPU device ID 8"):
        torch.ones(1).npu(8)


def test_a_process_sees_the_devices_that_it_is_given() -> None:
    done = run("import torch; print(torch.npu.device_count()); torch.ones(1, device='npu:2')", ASCEND_RT_VISIBLE_DEVICES="3,5")
    assert done.stdout == "2\n" and "Invalid NPU device ID 2: this simulated host has 2 devices" in done.stderr


@pytest.mark.parametrize("place", [2, "npu:2", NPU2])
def test_a_number_a_text_or_a_device_name_one(place: object) -> None:
    assert torch.ones(1).to(place).device == NPU2
    assert torch.ones(1).npu(place).device == NPU2
    assert torch.nn.Linear(1, 1).npu(place).weight.device == NPU2
    assert torch.nn.Linear(1, 1).to(place).bias.device == NPU2
    with torch.npu.device(place):
        assert torch.ones(1, device="npu").device == NPU2
    assert torch.npu.current_device() == 0


def test_the_current_device_is_that_of_a_thread() -> None:
    seen: dict[int, torch.device] = {}

    def work(index: int) -> None:
        torch.npu.set_device(index)
        model = torch.nn.Linear(2, 2).npu()
        model(torch.ones(1, 2, device="npu")).sum().backward()
        seen[index] = model.weight.grad.device

    threads = [threading.Thread(target=work, args=(index,)) for index in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {index: torch.device("npu", index) for index in range(1, 4)} and torch.npu.current_device() == 0


def test_contexts_change_the_current_device_and_put_it_back() -> None:
    with torch.npu.device(1):
        assert torch.npu.current_device() == torch.accelerator.current_device_index() == 1
        assert torch.ones(1, device="npu:0").device == NPU0  # a number that is said counts
        with torch.npu.device_of(torch.ones(1, device=NPU2)):
            assert torch.ones(1).npu().device == NPU2
        with torch.npu.device_of(torch.ones(1)), torch.npu.device(-1):
            assert torch.npu.current_device() == 1
    with pytest.raises(ZeroDivisionError), torch.npu.device(3):
        raise ZeroDivisionError
    assert torch.npu.current_device() == 0


def test_a_default_device_makes_all_new_tensors() -> None:
    torch.set_default_device("npu:1")
    try:
        made = [
            torch.zeros(2),
            torch.tensor([1.0, 2.0]),
            torch.as_tensor(3),
            torch.arange(2),
            torch.nn.Linear(2, 2).weight,
            torch.eye(2),
        ]
        assert torch.tensor([1.0, 2.0]).tolist() == [1.0, 2.0] and torch.get_default_device() == NPU1
    finally:
        torch.set_default_device(None)
    assert {tensor.device for tensor in made} == {NPU1} and torch.zeros(1).device.type == "cpu"


def test_a_device_as_a_context_makes_all_new_tensors() -> None:
    with torch.device("npu:1"):
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        assert torch.tensor(2.5).item() == 2.5 and torch.rand(2).device == NPU1
    assert {tensor.device for tensor in (*model.parameters(), *model.buffers())} == {NPU1}
    with torch.device("meta"):
        empty = torch.nn.Linear(2, 2)
    assert empty.weight.is_meta and empty.to_empty(device="npu").weight.device == NPU0


def test_a_model_of_two_devices_trains_as_on_one() -> None:
    def gradients(first: str, second: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        one, other = torch.nn.Linear(4, 3).to(first), torch.nn.Linear(3, 2).to(second)
        other(torch.tanh(one(torch.randn(2, 4).to(first))).to(second)).pow(2).sum().backward()
        assert (one.weight.grad.device.type, other.weight.grad.device) == (torch.device(first).type, torch.device(second))
        return [one.weight.grad.cpu(), other.weight.grad.cpu()]

    for found, expected in zip(gradients("npu:0", "npu:1"), gradients("cpu", "cpu"), strict=True):
        assert torch.equal(found, expected)


def test_tensors_of_two_devices_do_not_meet() -> None:
    one, other, host = torch.ones(2, device=NPU0), torch.ones(2, device=NPU1), torch.ones(2)
    with pytest.raises(RuntimeError, match="found at least two devices, npu:0 and npu:1!"):
        one + other
    with pytest.raises(RuntimeError, match="found at least two devices, npu:0 and cpu!"):
        one * host
    with pytest.raises(RuntimeError, match="two devices"):
        torch.cat([host, one])
    with pytest.raises(RuntimeError, match="two devices"):
        torch.nn.Linear(2, 2).npu()(host)
    with pytest.raises(RuntimeError, match="not at the same device"):
        torch.nn.LSTM(2, 2).npu()(torch.ones(1, 1, 2))
    assert one.copy_(other).device == NPU0 and (one + torch.tensor(1.0)).tolist() == [2.0, 2.0]


def test_the_accelerator_is_the_npu() -> None:
    assert torch.accelerator.is_available() and torch.accelerator.current_accelerator() == torch.device("npu")
    torch.accelerator.set_device_index(2)
    try:
        assert torch.accelerator.current_device_index() == 2 and torch.ones(1, device="npu").device == NPU2
        with torch.accelerator.device_index(1):
            assert torch.npu.current_device() == 1
    finally:
        torch.accelerator.set_device_index(0)
    torch.accelerator.synchronize()
    assert torch.accelerator.memory_allocated() == torch.npu.memory_allocated()
    torch.accelerator.empty_cache()
    torch.accelerator.reset_peak_memory_stats()
    assert torch.accelerator.max_memory_allocated() == torch.npu.max_memory_allocated()
    assert isinstance(torch.accelerator.current_stream(), torch.npu.Stream)


def test_streams_and_events_do_nothing_and_tell_times() -> None:
    stream, start, end = torch.npu.Stream(), torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    stream.wait_stream(torch.npu.current_stream())
    start.record()
    with torch.npu.stream(stream):
        doubled = torch.ones(2, device="npu") * 2
        doubled.record_stream(stream)
    end.record(stream)
    torch.npu.current_stream().wait_event(end)
    torch.npu.synchronize()
    assert doubled.tolist() == [2.0, 2.0] and start.elapsed_time(end) >= 0 and end.query() and stream.query()
    with pytest.raises(RuntimeError, match="enable_timing"):
        torch.npu.Event().elapsed_time(end)


def test_a_seed_gives_the_numbers_of_the_cpu() -> None:
    torch.manual_seed(3)
    expected = torch.randn(4)
    for seed in (torch.npu.manual_seed, torch.npu.manual_seed_all, torch.manual_seed):
        seed(3)
        assert torch.equal(torch.randn(4, device="npu").cpu(), expected)
    state = torch.npu.get_rng_state()
    first = torch.rand(2, device="npu").tolist()
    torch.npu.set_rng_state(state)
    assert torch.rand(2, device="npu").tolist() == first
    with torch.random.fork_rng(devices=[0], device_type="npu"):
        torch.rand(2, device="npu")
    assert torch.npu.initial_seed() == 3


def test_a_child_of_a_process_that_used_a_device_is_refused_it() -> None:
    done = run("""
import os, torch
weight = torch.ones(2, device="npu", requires_grad=True)
(weight * 2).sum().backward()
child = os.fork()
if not child:
    code = 1
    try:
        torch.manual_seed(0)
        host = torch.ones(2) * 2
        torch.ones(2, device="npu")
    except RuntimeError as error:
        code = 0 if "in forked subprocess" in str(error) and "spawn" in str(error) else 2
    os._exit(code)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), (weight * 2).sum().item())
""")
    assert done.stdout == "0 4.0\n", done.stderr


def test_a_child_of_a_process_that_used_none_may_use_it() -> None:
    done = run("""
import os, torch
assert torch.npu.is_available() and torch.npu.device_count() == 8
child = os.fork()
if not child:
    weight = torch.ones(2, device="npu", requires_grad=True)
    (weight * 3).sum().backward()
    os._exit(0 if weight.grad.tolist() == [3.0, 3.0] else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert done.stdout == "0\n", done.stderr


def test_processes_that_are_spawned_have_the_devices(tmp_path) -> None:
    script = tmp_path / "spawning.py"
    script.write_text("""
import torch
import torch_npu
import torch.multiprocessing as mp

def work(rank, results):
    torch.npu.set_device(rank)
    results.put((rank, torch.ones(2, device="npu").device.index))

if __name__ == "__main__":
    torch.ones(1, device="npu")
    results = mp.get_context("spawn").SimpleQueue()
    mp.spawn(work, args=(results,), nprocs=2)
    print(sorted(results.get() for _ in range(2)))
""")
    done = run(f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')")
    assert done.stdout.endswith("[(0, 0), (1, 1)]\n"), done.stderr
