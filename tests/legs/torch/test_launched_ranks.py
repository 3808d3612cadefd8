"""Ranks of scripts for CUDA as people start them: `tf2npu run --devices`, torchrun, torch.multiprocessing."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

from tests.legs.torch import processes
from tests.legs.torch.cuda_runs import tf2npu_run
from tf2npu.ranks.pytorch_job import DEVICES_OF_HOST

TRAINING = """
import os, sys
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
rank, local = dist.get_rank(), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
torch.manual_seed(int(sys.argv[1]))
model = DDP(torch.nn.Linear(4, 2).cuda(), device_ids=[local])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    if step == 2 and rank == 1 and len(sys.argv) > 2:
        sys.exit(int(sys.argv[2]))
    data = torch.full((8, 4), float(rank + step)).cuda(local, non_blocking=True)
    loss = model(data).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = torch.stack([part.detach().double().sum() for part in model.parameters()]).sum().item()
# One write a line: torchrun starts ranks with `python -u`, where a print of two writes meets the other rank's in between.
sys.stdout.write(f"rank {rank} of {dist.get_world_size()} on {data.device}: {total!r}\\n")
dist.destroy_process_group()
"""
SPAWNED = """
import sys, time
from datetime import timedelta
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

def main(rank, size, file):
    dist.init_process_group("hccl", init_method=f"file://{file}", rank=rank, world_size=size, timeout=timedelta(seconds=4))
    torch.npu.set_device(rank)
    tensor = torch.full((2,), float(rank + 1), device="npu")
    dist.all_reduce(tensor)
    print(f"rank {rank}: {tensor.tolist()} on {tensor.device}", flush=True)
    if rank == 1:
        time.sleep(6)
        return
    try:
        dist.barrier(device_ids=[0])
    except RuntimeError as error:
        print(error, flush=True)

if __name__ == "__main__":
    mp.spawn(main, args=(2, sys.argv[1]), nprocs=2)
"""
LINE = re.compile(r"rank (\d) of (\d) on npu:(\d): (\S+)")


def trained(text: str) -> list[tuple[str, str, str]]:
    """Rank, number of ranks and device of each line that a training prints, with the sum of its weights."""
    return sorted((rank, size, device) for rank, size, device, _ in LINE.findall(text))


def sums(text: str) -> set[str]:
    """The sums of weights that ranks have printed."""
    return {total for *_, total in LINE.findall(text)}


def test_two_jobs_at_once_do_not_meet_and_a_rank_that_ends_ends_its_own(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    with ThreadPoolExecutor(2) as pool:
        good, bad = pool.map(lambda words: tf2npu_run("--devices", 2, script, *words, cwd=tmp_path), ([1], [2, 5]))
    assert good.returncode == 0, good.stderr
    assert trained(good.stdout) == [("0", "2", "0"), ("1", "2", "1")]
    assert len(sums(good.stdout)) == 1
    assert good.stdout.count("[rank 1] rank 1 of 2") == 1  # as ranks of TensorFlow are shown
    assert bad.returncode == 5
    assert sums(bad.stdout) == set()
    assert "hccl: allreduce SUM float32[10] waits for a rank that has ended" in bad.stderr
    assert "tf2npu run: rank 1 has ended with exit code 5" in bad.stderr


def test_torchrun(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    run = tf2npu_run("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", 2, script, 1, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert trained(run.stdout) == [("0", "2", "0"), ("1", "2", "1")]
    assert len(sums(run.stdout)) == 1
    assert run.stderr.count("training steps on a simulated") == 2
    assert "no operator ran on the device" not in run.stderr  # the launcher's own process needs none


def test_spawned_ranks_that_meet_by_a_file_and_one_that_is_late(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(SPAWNED)
    run = tf2npu_run("--strict", script, tmp_path / "meeting", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "rank 0: [3.0, 3.0] on npu:0" in run.stdout
    assert "rank 1: [3.0, 3.0] on npu:1" in run.stdout
    assert "hccl: barrier has waited 4 s for rank 1, the timeout of init_process_group: every rank has to call it" in run.stdout


def test_a_process_that_is_forked_while_tensors_travel_ends():
    source = (
        "import os, sys, torch, torch_npu\n"
        "from torch_npu._device.ranks import lane\n"
        "lane.Lane('of a group')\n"
        "lane._gate.acquire()\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "lane._gate.release()\n"
    )
    assert processes.run(source).stdout == "3\n"


def test_a_request_that_pytorch_has_no_ranks_for_is_a_line(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(TRAINING)
    run = tf2npu_run("--devices", DEVICES_OF_HOST + 1, script, 1, cwd=tmp_path)
    assert run.returncode == 2
    assert run.stderr == "tf2npu run: --devices 9: a simulated host has 8 devices, npu:0 to npu:7\n"


def test_a_host_has_as_many_devices_as_pytorch_is_told_of():
    from torch_npu._device.numbering import COUNT

    assert DEVICES_OF_HOST == COUNT
