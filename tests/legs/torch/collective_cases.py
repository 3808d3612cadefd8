"""Cases that each rank of a pool runs: a collective operation, and what it has put into the tensors here."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import torch_npu
from torch_npu._device import dispatch

from tests.legs.torch.refusals import refusal

# The names of PyTorch 2.13; older releases have these functions under their first names alone.
_all_gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
_reduce_scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)


def _npu(*values: Any, dtype: torch.dtype | None = None) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype).npu()


def reductions() -> dict[str, Any]:
    rank, found = dist.get_rank(), {}
    for name in ("SUM", "MAX", "MIN", "PRODUCT", "AVG"):
        tensor = _npu(float(rank + 1), 2.0)
        dist.all_reduce(tensor, op=getattr(dist.ReduceOp, name))
        found[name] = (str(tensor.device), tensor.tolist())
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.uint8, torch.bool):
        tensor = _npu(rank, 1, dtype=dtype)
        dist.all_reduce(tensor)
        found[str(dtype)] = tensor.tolist()
    return found


def movements() -> dict[str, Any]:
    rank, size = dist.get_rank(), dist.get_world_size()
    own, found = _npu(rank, 10 * rank), {}
    tensor = own.clone()
    dist.broadcast(tensor, 1)
    found["broadcast"] = tensor.tolist()
    parts = [torch.zeros_like(own) for _ in range(size)]
    dist.all_gather(parts, own)
    found["all_gather"] = torch.stack(parts).tolist()
    uneven = [torch.zeros(place + 1, dtype=torch.int64, device="npu") for place in range(size)]
    dist.all_gather(uneven, torch.full((rank + 1,), rank).npu())
    found["all_gather of other sizes"] = [part.tolist() for part in uneven]
    whole = torch.zeros(size, 2, dtype=torch.int64, device="npu")
    _all_gather(whole, own)
    found["all_gather_single"] = whole.tolist()
    gathered = [torch.zeros_like(own) for _ in range(size)] if rank == 0 else None
    dist.gather(own, gathered)
    found["gather"] = None if gathered is None else torch.stack(gathered).tolist()
    tensor = torch.zeros_like(own)
    dist.scatter(tensor, [_npu(place, place) for place in range(size)] if rank == 0 else None)
    found["scatter"] = tensor.tolist()
    return found


def sums_of_parts() -> dict[str, Any]:
    rank, size = dist.get_rank(), dist.get_world_size()
    found: dict[str, Any] = {}
    tensor = _npu(float(rank + 1))
    dist.reduce(tensor, 0)
    found["reduce"] = tensor.tolist()
    tensor = torch.zeros(1, device="npu")
    dist.reduce_scatter(tensor, [_npu(float(place + rank)) for place in range(size)])
    found["reduce_scatter"] = tensor.tolist()
    _reduce_scatter(tensor, _npu(*[float(place * rank) for place in range(size)]))
    found["reduce_scatter_single"] = tensor.tolist()
    return found


def all_to_all() -> dict[str, Any]:
    rank, size = dist.get_rank(), dist.get_world_size()
    parts = [torch.zeros(1, device="npu") for _ in range(size)]
    dist.all_to_all(parts, [_npu(float(10 * rank + place)) for place in range(size)])
    whole = torch.zeros(size, device="npu")
    dist.all_to_all_single(whole, _npu(*[float(10 * rank + place) for place in range(size)]))
    splits = [place + rank for place in range(size)]
    uneven = torch.zeros(sum(splits), 2, device="npu")
    dist.all_to_all_single(uneven, torch.full((sum(splits), 2), float(rank)).npu(), splits, splits)
    return {"list": [part.item() for part in parts], "single": whole.tolist(), "uneven": uneven[:, 1].tolist()}


def messages() -> dict[str, Any]:
    rank, size = dist.get_rank(), dist.get_world_size()
    before, behind = (rank - 1) % size, (rank + 1) % size
    ring, batched = torch.zeros(1, device="npu"), torch.zeros(1, device="npu")
    for work in (dist.irecv(ring, before), dist.isend(_npu(float(rank)), behind)):
        work.wait()
    operations = [dist.P2POp(dist.isend, _npu(float(rank)), behind), dist.P2POp(dist.irecv, batched, before)]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return {"ring": ring.item(), "batched": batched.item()}


def objects() -> dict[str, Any]:
    rank, size = dist.get_rank(), dist.get_world_size()
    gathered, shared, own = [None] * size, [f"from {rank}"], [None]
    dist.all_gather_object(gathered, {"rank": rank})
    dist.broadcast_object_list(shared, 0)
    dist.scatter_object_list(own, list(range(size)) if rank == 0 else None)
    dist.barrier(device_ids=[rank])
    return {"gathered": gathered, "shared": shared, "own": own}


def works() -> dict[str, Any]:
    size = dist.get_world_size()
    tensors = [torch.full((1000,), float(dist.get_rank() + place)).npu() for place in range(5)]
    started = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    is_good = [work.wait() and work.is_completed() and work.is_success() for work in started]
    future = dist.all_reduce(_npu(2.0), async_op=True).get_future().then(lambda found: found.value()[0] / size)
    with dist._coalescing_manager():
        for tensor in tensors[:2]:
            dist.all_reduce(tensor)
    return {"good": is_good, "sums": [tensor[999].item() for tensor in tensors], "future": future.wait().tolist()}


def groups() -> dict[str, Any]:
    rank = dist.get_rank()
    options = torch_npu._C._distributed_c10d.ProcessGroupHCCL.Options()
    options.hccl_config = {"hccl_buffer_size": 200}
    pair, host = dist.new_group([0, 1], pg_options=options), dist.new_group(backend="gloo")
    tensor, of_host = _npu(1.0), torch.ones(1)
    if rank < 2:
        dist.all_reduce(tensor, group=pair)
    dist.all_reduce(of_host, group=host)
    return {"pair": tensor.item(), "host": of_host.item(), "backends": (dist.get_backend(), dist.get_backend(host))}


def refused() -> dict[str, str]:
    return {
        "host": refusal(lambda: dist.all_reduce(torch.ones(2))),
        "double": refusal(lambda: dist.all_reduce(_npu(1.0, dtype=torch.float64))),
        "operator": refusal(lambda: dist.all_reduce(_npu(1), op=dist.ReduceOp.BOR)),
        "gaps": refusal(lambda: dist.all_reduce(torch.ones(3, 2, device="npu").t())),
        "sparse": refusal(lambda: dist.broadcast(torch.ones(3).to_sparse().npu(), 0)),
        "anybody": refusal(lambda: dist.recv(_npu(1.0))),
        "whole": refusal(lambda: _all_gather(torch.zeros(3, device="npu"), torch.zeros(2, device="npu"))),
    }


def disagreements() -> dict[str, str]:
    rank = dist.get_rank()
    other = dist.barrier if rank else lambda: dist.broadcast(_npu(1.0), 0)
    found = {"sizes": refusal(lambda: dist.all_reduce(torch.ones(4 + rank, device="npu"))), "operations": refusal(other)}
    if rank == 0:
        found["message"] = refusal(lambda: dist.recv(torch.ones(4, device="npu"), 1))
    elif rank == 1:
        dist.send(torch.ones(5, device="npu"), 0)
    tensor = _npu(1.0)
    dist.all_reduce(tensor)
    return {**found, "afterwards": str(tensor.item())}


def told() -> list[tuple]:
    """The notes that observers get: operator, bytes, ranks, device."""
    seen: list[tuple] = []
    dispatch.OBSERVERS.append(lambda name, args, facts, result, index: seen.append((name, facts, index)))
    tensor = torch.ones(100, device="npu")
    seen.clear()
    dist.all_reduce(tensor)
    dist.all_gather([torch.zeros_like(tensor) for _ in range(dist.get_world_size())], tensor)
    dispatch.OBSERVERS.pop()
    return [one for one in seen if isinstance(one[0], str)]
