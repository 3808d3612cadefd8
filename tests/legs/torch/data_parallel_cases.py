"""Trainings that each rank of a pool runs on its part of a batch: the weights in the end, and what was refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

from tests.legs.torch.refusals import refusal

STEPS, BATCH = 4, 8
_Make = Callable[[], nn.Module]
_loss = nn.functional.cross_entropy


class Perceptron(nn.Module):
    """Its last layer is used where forward is asked to; `never` never is."""

    def __init__(self, has_unused: bool = False) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 40), nn.Linear(40, 3)
        if has_unused:
            self.sometimes, self.never = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor, is_used: bool = False) -> torch.Tensor:
        y = self.second(torch.relu(self.first(x)))
        return y + self.sometimes(x) if is_used else y


class Images(nn.Module):
    """A convolution, a normalisation, a classifier."""

    def __init__(self, norm: Callable[[int], nn.Module] = nn.BatchNorm2d) -> None:
        super().__init__()
        self.convolution, self.norm, self.last = nn.Conv2d(1, 4, 2), norm(4), nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        images = torch.cat([x, x[:, :3]], 1).reshape(-1, 1, 3, 3)
        return self.last(torch.relu(self.norm(self.convolution(images))).flatten(1))


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The data of all steps, the same in every process."""
    source = torch.Generator().manual_seed(1)
    return [
        (torch.randn(BATCH, 6, generator=source), torch.randint(0, 3, (BATCH,), generator=source)) for _ in range(STEPS)
    ]  # fmt: skip


def weights(model: nn.Module) -> list[list[float]]:
    """All numbers of a model, as float64, which keeps each bit."""
    return [part.detach().cpu().double().flatten().tolist() for part in model.state_dict().values()]


def _sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, 0.1, momentum=0.9)


def alone(make: _Make) -> list[list[float]]:
    """The weights of one process of PyTorch on the CPU that has the whole batch."""
    torch.manual_seed(0)
    model = make()
    optimizer = _sgd(model.parameters())
    for x, y in batches():
        optimizer.zero_grad()
        _loss(model(x), y).backward()
        optimizer.step()
    return weights(model)


def _part(whole: torch.Tensor) -> torch.Tensor:
    return whole.chunk(dist.get_world_size())[dist.get_rank()].npu()


def _wrapped(make: _Make, **settings: Any) -> DistributedDataParallel:
    """A model whose weights are those of rank 0, as only it has the seed."""
    torch.manual_seed(0 if dist.get_rank() == 0 else 7)
    return DistributedDataParallel(make().npu(), device_ids=[dist.get_rank()], **settings)


def _trained(
    make: _Make, optimizer_of: Callable[[Any], Any] = _sgd, prepare: Callable[[Any], object] = lambda model: None, **settings: Any
) -> DistributedDataParallel:
    model = _wrapped(make, **settings)
    prepare(model)
    optimizer = optimizer_of(model.parameters())
    for x, y in batches():
        optimizer.zero_grad()
        _loss(model(_part(x)), _part(y)).backward()
        optimizer.step()
    return model


def settings() -> dict[str, Any]:
    """A perceptron under each setting of the reducer."""
    kinds: dict[str, dict[str, Any]] = {
        "plain": {}, "views": {"gradient_as_bucket_view": True}, "small buckets": {"bucket_cap_mb": 0.0005},
        "unused": {"find_unused_parameters": True}, "static": {"static_graph": True},
    }  # fmt: skip
    return {name: weights(_trained(Perceptron, **kind).module) for name, kind in kinds.items()}


def hooks() -> dict[str, Any]:
    """A perceptron whose gradients go by hooks."""
    kinds: dict[str, Callable[[Any], object]] = {
        "allreduce": lambda model: model.register_comm_hook(None, default_hooks.allreduce_hook),
        "built in": lambda model: model._register_builtin_comm_hook(dist.BuiltinCommHookType.ALLREDUCE),
        "float16": lambda model: model.register_comm_hook(None, default_hooks.fp16_compress_hook),
    }
    return {name: weights(_trained(Perceptron, prepare=prepare).module) for name, prepare in kinds.items()}


def accumulated(**settings: Any) -> list[list[float]]:
    """Two halves of the part, the first without an exchange."""
    model = _wrapped(Perceptron, **settings)
    optimizer = _sgd(model.parameters())
    for x, y in batches():
        optimizer.zero_grad()
        halves = list(zip(_part(x).chunk(2), _part(y).chunk(2), strict=True))
        for place, (inputs, labels) in enumerate(halves):
            with model.no_sync() if place == 0 else nullcontext():
                (_loss(model(inputs), labels) / 2).backward()
        optimizer.step()
    return weights(model.module)


def accumulation() -> dict[str, Any]:
    return {"plain": accumulated(), "views": accumulated(gradient_as_bucket_view=True)}


def images() -> dict[str, Any]:
    def grouped() -> nn.Module:
        return Images(lambda channels: nn.GroupNorm(2, channels))

    def synchronised() -> nn.Module:
        return nn.SyncBatchNorm.convert_sync_batchnorm(Images())

    def last() -> nn.Module:
        return grouped().to(memory_format=torch.channels_last)

    return {
        "batch norm": weights(_trained(Images).module), "group norm": weights(_trained(grouped).module),
        "channels last": weights(_trained(last).module), "synchronised": weights(_trained(synchronised).module),
    }  # fmt: skip


def unused() -> dict[str, Any]:
    """Layers that no rank uses, that rank 0 alone uses, and the error where nobody looks for them."""

    def make() -> nn.Module:
        return Perceptron(has_unused=True)

    model = _wrapped(make, find_unused_parameters=True)
    for x, y in batches()[:2]:
        model.zero_grad()
        _loss(model(_part(x), is_used=dist.get_rank() == 0), _part(y)).backward()
    return {
        "trained": weights(_trained(make, find_unused_parameters=True).module),
        "static": weights(_trained(make, static_graph=True).module),
        "sometimes": model.module.sometimes.weight.grad.tolist(), "never": model.module.never.weight.grad,
        "refusal": refusal(lambda: _trained(make)),
    }  # fmt: skip


def uneven() -> list[list[float]]:
    """A rank that has more steps than the others, by join."""
    model = _wrapped(Perceptron)
    optimizer = _sgd(model.parameters())
    with model.join():
        for x, y in batches()[: 2 + dist.get_rank()]:
            optimizer.zero_grad()
            _loss(model(_part(x)), _part(y)).backward()
            optimizer.step()
    return weights(model.module)


def mixed_precision() -> list[list[float]]:
    model, scaler = _wrapped(Perceptron), torch.npu.amp.GradScaler()
    optimizer = torch.optim.AdamW(model.parameters())
    for x, y in batches():
        optimizer.zero_grad()
        with torch.autocast("npu"):
            loss = _loss(model(_part(x)), _part(y))
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return weights(model.module)


def shared_optimizer() -> dict[str, Any]:
    """Adam, and Adam whose state is divided among the ranks."""
    return {
        "whole": weights(_trained(Perceptron, lambda parameters: torch.optim.Adam(parameters, 1e-2)).module),
        "divided": weights(
            _trained(Perceptron, lambda parameters: ZeroRedundancyOptimizer(parameters, torch.optim.Adam, lr=1e-2)).module
        ),
    }


def refused() -> dict[str, str]:
    rank = dist.get_rank()
    other = nn.Linear(3, 2) if rank == 0 else nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    return {
        "count": refusal(lambda: DistributedDataParallel(other.npu())),
        "sparse": refusal(lambda: DistributedDataParallel(nn.Embedding(3, 2, sparse=True).npu())),
    }


def error_in_backward() -> list[str]:
    """A hook of the user's that fails on every rank: the step after it is refused, and a new model goes on."""
    model = _wrapped(Perceptron)
    x, y = batches()[0]
    handle = model.module.first.weight.register_hook(lambda gradient: 1 / 0)
    found = []
    try:
        _loss(model(_part(x)), _part(y)).backward()
    except ZeroDivisionError as error:
        found.append(str(error))
    handle.remove()
    found.append(refusal(lambda: model(_part(x))))
    _trained(Perceptron)
    return found


def sharded() -> dict[str, Any]:
    """Parameters that are divided among the ranks, by both of PyTorch's ways."""
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    def train(model: nn.Module) -> None:
        optimizer = _sgd(model.parameters())
        for x, y in batches():
            optimizer.zero_grad()
            _loss(model(_part(x)), _part(y)).backward()
            optimizer.step()

    torch.manual_seed(0)
    wrapped = FullyShardedDataParallel(Perceptron().npu(), device_id=torch.device("npu", dist.get_rank()))
    train(wrapped)
    with FullyShardedDataParallel.summon_full_params(wrapped):
        whole = weights(wrapped.module)
    torch.manual_seed(0)
    model = Perceptron().npu()
    for part in (model.first, model.second, model):
        fully_shard(part)
    train(model)
    gathered = [part.full_tensor().detach().cpu().double().flatten().tolist() for part in model.state_dict().values()]
    return {"wrapped": whole, "by parameter": gathered}


def divided_tensors() -> dict[str, Any]:
    """Operators on a tensor of which each rank has rows."""
    from torch.distributed._functional_collectives import all_reduce
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("npu", (dist.get_world_size(),))
    rows = distribute_tensor(torch.arange(8.0).reshape(4, 2).npu(), mesh, [Shard(0)])
    return {
        "part": rows.to_local().tolist(), "sum": rows.sum().full_tensor().item(),
        "doubled": (rows * 2).full_tensor().tolist(),
        "all_reduce": all_reduce(torch.ones(2).npu(), "sum", dist.group.WORLD).tolist(),
    }  # fmt: skip
