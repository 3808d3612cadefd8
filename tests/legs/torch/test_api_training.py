"""Training on the device: optimizers, autograd, hooks, mixed precision, functional transforms. Numbers are the CPU's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.legs.torch.beside_cpu import check

OPTIMIZERS: dict[str, Callable[[Iterator[Any]], torch.optim.Optimizer]] = {
    "SGD": lambda weights: torch.optim.SGD(weights, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda weights: torch.optim.Adam(weights, 0.1, amsgrad=True),
    "Adam of loops": lambda weights: torch.optim.Adam(weights, 0.1, foreach=False),
    "Adam of lists": lambda weights: torch.optim.Adam(weights, 0.1, foreach=True),
    "Adam fused": lambda weights: torch.optim.Adam(weights, 0.1, fused=True),
    "AdamW": lambda weights: torch.optim.AdamW(weights, 0.1),
    "AdamW fused": lambda weights: torch.optim.AdamW(weights, 0.1, fused=True),
    "SGD fused": lambda weights: torch.optim.SGD(weights, 0.1, momentum=0.5, fused=True),
    "RMSprop": lambda weights: torch.optim.RMSprop(weights, 0.01, centered=True),
    "Adagrad": lambda weights: torch.optim.Adagrad(weights, 0.1),
    "Adadelta": torch.optim.Adadelta,
    "NAdam": lambda weights: torch.optim.NAdam(weights, 0.1),
    "RAdam": lambda weights: torch.optim.RAdam(weights, 0.1),
    "Adamax": torch.optim.Adamax,
    "ASGD": torch.optim.ASGD,
    "Rprop": torch.optim.Rprop,
    "LBFGS": lambda weights: torch.optim.LBFGS(weights, line_search_fn="strong_wolfe"),
}


def _trained(device: str, make: Callable[[Iterator[Any]], torch.optim.Optimizer], steps: int = 3) -> Any:
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).to(device)
    given = torch.randn(8, 4).to(device)
    optimizer = make(model.parameters())

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(given).pow(2).mean()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    return losses, list(model.parameters())


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_an_optimizer_trains_as_on_the_cpu(make: Callable[[Iterator[Any]], torch.optim.Optimizer]) -> None:
    check(lambda device: _trained(device, make))


def _double_backward(device: str) -> Any:
    weight = torch.tensor([1.0, 2.0]).to(device).requires_grad_()
    (gradient,) = torch.autograd.grad((weight**3).sum(), weight, create_graph=True)
    gradient.pow(2).sum().backward()
    return gradient, weight.grad


def _penalty(device: str) -> Any:
    critic = nn.Sequential(nn.Conv2d(1, 2, 3), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8, 1)).to(device)
    images = torch.randn(3, 1, 4, 4).to(device).requires_grad_()
    (slopes,) = torch.autograd.grad(critic(images).sum(), images, create_graph=True)
    ((slopes.flatten(1).norm(2, 1) - 1) ** 2).mean().backward()
    return [weight.grad for weight in critic.parameters() if weight.grad is not None]


def _kept_graph(device: str) -> Any:
    weight = torch.ones(2).to(device).requires_grad_()
    loss = (weight * weight).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()
    return weight.grad


def _hooked(device: str) -> Any:
    seen: list[Any] = []
    layer = nn.Linear(2, 2).to(device)
    layer.register_forward_hook(lambda module, given, made: made * 2)
    layer.register_full_backward_hook(lambda module, given, made: seen.append(made[0].sum().item()))
    layer.weight.register_post_accumulate_grad_hook(lambda weight: seen.append(weight.grad.norm().item()))
    given = torch.ones(1, 2).to(device).requires_grad_()
    given.register_hook(lambda gradient: gradient * 3)
    layer(given).sum().backward()
    return seen, given.grad, layer.weight.grad


def _custom(device: str) -> Any:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, given: torch.Tensor, factor: float) -> Any:
            ctx.save_for_backward(given)
            ctx.factor = factor
            ctx.mark_non_differentiable(signs := given.sign())
            return given * factor, signs

        @staticmethod
        def backward(ctx: Any, gradient: Any, _: Any) -> Any:
            (given,) = ctx.saved_tensors
            return gradient * ctx.factor + given, None

    given = torch.randn(3).to(device).requires_grad_()
    made, signs = Scaled.apply(given, 2.0)
    made.sum().backward()
    return made, signs, given.grad


def _checkpointed(device: str) -> Any:
    block = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh()).to(device)
    given = torch.randn(2, 4).to(device).requires_grad_()
    for reentrant in (True, False):
        checkpoint(block, given, use_reentrant=reentrant).sum().backward()
    return given.grad, block[0].weight.grad


def _saved_on_the_host(device: str) -> Any:
    given = torch.randn(3).to(device).requires_grad_()
    with torch.autograd.graph.save_on_cpu():
        made = (given.exp() * given).sum()
    made.backward()
    return given.grad


def _without_gradients(device: str) -> Any:
    layer = nn.Linear(2, 2).to(device)
    with torch.no_grad():
        layer.weight.mul_(2)
        made = layer(torch.ones(1, 2, device=device))
    with torch.inference_mode():
        other = layer(torch.ones(1, 2, device=device))
        assert other.is_inference() and not other.requires_grad
    assert not made.requires_grad
    layer.requires_grad_(False)
    with torch.set_grad_enabled(True):
        assert not layer(made).requires_grad
    return made, other


def _changed_behind_autograds_back(device: str) -> Any:
    weight = torch.ones(2).to(device).requires_grad_()
    loss = (weight * weight).sum()
    weight.data.mul_(3)  # no version of the tensor, so that backward goes on
    loss.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss = (weight * weight).sum()
        weight.detach().mul_(3)
        loss.backward()
    return weight, weight.grad


def _clipped(device: str) -> Any:
    model = nn.Linear(4, 3).to(device)
    (100 * model(torch.randn(2, 4).to(device))).sum().backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    nn.utils.clip_grad_value_(model.parameters(), 0.1)
    vector = nn.utils.parameters_to_vector(model.parameters())
    nn.utils.vector_to_parameters(vector * 2, model.parameters())
    return norm, model.weight.grad, model.weight


def _averaged(device: str) -> Any:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).to(device)
    averaged = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=5)
    batches = [torch.randn(4, 2).to(device) for _ in range(3)]
    for batch in batches:
        optimizer.zero_grad()
        model(batch).pow(2).sum().backward()
        optimizer.step()
        schedule.step()
        averaged.update_parameters(model)
    torch.optim.swa_utils.update_bn(batches, averaged)
    return list(averaged.parameters()), list(averaged.buffers()), schedule.get_last_lr()


def _functional(device: str) -> Any:
    given = torch.randn(3).to(device)
    model = nn.Linear(3, 2).to(device)
    weights = dict(model.named_parameters())

    def loss(weights: Any, one: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, weights, (one[None],)).pow(2).sum()

    samples = torch.randn(4, 3).to(device)
    return (
        torch.func.jacrev(lambda x: x**2)(given),
        torch.func.jacfwd(lambda x: x.sin())(given),
        torch.func.hessian(lambda x: (x**3).sum())(given),
        torch.func.vjp(lambda x: x.exp(), given)[1](given),
        torch.func.jvp(lambda x: x * x, (given,), (given,)),
        torch.vmap(lambda x: x @ x)(samples),
        torch.vmap(torch.func.grad(loss), (None, 0))(weights, samples),
        torch.autograd.functional.jacobian(lambda x: x**2, given),
        torch.autograd.gradcheck(lambda x: (x * x).sum(), given.double().requires_grad_()),
    )


def _anomaly(device: str) -> Any:
    given = torch.zeros(2).to(device).requires_grad_()
    with torch.autograd.detect_anomaly(check_nan=True), pytest.raises(RuntimeError, match="returned nan values"):
        (given.sqrt() * 0).sum().backward()
    with torch.autograd.detect_anomaly():
        (given * 2).sum().backward()
    return given.grad


def _accumulated(device: str) -> Any:
    model = nn.Linear(2, 1).to(device)
    for _ in range(3):
        model(torch.randn(2, 2).to(device)).sum().backward()
    before = model.weight.grad.clone()
    model.zero_grad(set_to_none=False)
    assert model.weight.grad.abs().sum().item() == 0
    model.zero_grad()
    assert model.weight.grad is None
    return before


def _loaded(device: str) -> Any:
    numbers = torch.utils.data.TensorDataset(torch.arange(12.0).view(6, 2), torch.arange(6))
    generator = torch.Generator().manual_seed(1)
    loader = torch.utils.data.DataLoader(
        numbers, 4, shuffle=True, generator=generator, num_workers=2, pin_memory=True, persistent_workers=True
    )
    return [(given.to(device, non_blocking=True) * 2, label.to(device)) for _ in range(2) for given, label in loader]


COMPUTATIONS = {
    name[1:].replace("_", " "): value
    for name, value in list(globals().items())
    if name.startswith("_") and getattr(value, "__module__", "") == __name__ and name != "_trained"
}


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_numbers_are_the_cpus(compute: Callable[[str], Any]) -> None:
    check(compute)


def test_an_optimizer_made_before_the_move_trains_what_was_moved() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    model.to("npu")
    model(torch.ones(1, 2, device="npu")).sum().backward()
    before = model.weight.tolist()
    optimizer.step()
    assert model.weight.tolist() != before


def test_a_model_moves_while_its_graph_is_alive() -> None:
    model = nn.Linear(2, 2)
    loss = model(torch.ones(1, 2)).sum()
    model.npu()
    assert model.weight.device.type == "npu" and loss.requires_grad
    made = model(torch.ones(1, 2, device="npu")).sum()
    model.cpu()
    assert model.weight.device.type == "cpu" and made.requires_grad


def test_modules_change_their_type_and_place() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).npu(1).half()
    assert {(part.device, part.dtype) for part in model.parameters()} == {(torch.device("npu:1"), torch.float16)}
    assert model[1].num_batches_tracked.dtype is torch.long
    model.to(torch.device("npu"), torch.float32, non_blocking=True)
    assert {(part.get_device(), part.dtype) for part in model.parameters()} == {(0, torch.float32)}
    assert model.to("cpu").double()[0].weight.dtype is torch.float64
    tied = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)])
    tied[1].weight = tied[0].weight
    tied.npu()
    assert tied[0].weight is tied[1].weight and len(list(tied.parameters())) == 1


def test_autocast_casts_as_its_lists_say() -> None:
    model = nn.Linear(4, 4).npu()
    given = torch.randn(2, 4, device="npu")
    for context in (
        torch.autocast("npu"), torch.npu.amp.autocast(), torch.amp.autocast("npu", dtype=torch.float16),
        torch.autocast(device_type="npu", dtype=torch.float16),
    ):  # fmt: skip
        with context:
            made = model(given)
            assert (
                made.dtype is torch.float16 and made.softmax(1).dtype is torch.float32 and (made + given).dtype is torch.float32
            )
            with torch.autocast("npu", enabled=False):
                assert model(given).dtype is torch.float32
        assert model(given).dtype is torch.float32
    has_bfloat16 = torch.bfloat16 in torch.npu.get_amp_supported_dtype()
    with torch.autocast("npu", dtype=torch.bfloat16):  # PyTorch leaves it off, and warns, on a chip that has it not
        assert model(given).dtype is (torch.bfloat16 if has_bfloat16 else torch.float32)
    with torch.autocast("npu"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        nn.functional.binary_cross_entropy(torch.sigmoid(given), torch.ones_like(given))


def test_a_scaler_skips_steps_that_overflow() -> None:
    for make in (torch.npu.amp.GradScaler, lambda **options: torch.amp.GradScaler("npu", **options)):
        model = nn.Linear(1, 1).npu()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = make(init_scale=2.0**24)
        before = model.weight.tolist()
        with torch.autocast("npu"):
            loss = model(torch.full((1, 1), 3e4, device="npu")).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        assert model.weight.tolist() == before and scaler.get_scale() == 2.0**23
        assert torch.amp.GradScaler("npu").state_dict().keys() == scaler.state_dict().keys()


def test_threads_train_models_of_their_own() -> None:
    def train(index: int) -> list[float]:
        weight = torch.ones(3, device=f"npu:{index}", requires_grad=True)
        optimizer = torch.optim.SGD([weight], 0.1)
        for _ in range(20):
            optimizer.zero_grad()
            (weight * weight).sum().backward()
            optimizer.step()
        return weight.tolist()

    found: dict[int, list[float]] = {}
    threads = [threading.Thread(target=lambda at=at: found.__setitem__(at, train(at))) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(map(tuple, found.values())) == {tuple(train(0))} and len(found) == 4


def test_sizes_that_the_chip_has_not_are_refused_before_they_are_taken() -> None:
    before = torch.npu.memory_allocated()
    for make in (
        lambda: torch.empty(1 << 40, device="npu"), lambda: torch.zeros(1 << 20, 1 << 20, device="npu"),
        lambda: torch.ones(1, device="npu").expand(1 << 20, 1 << 20).contiguous(),
    ):  # fmt: skip
        with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate"):
            make()
    assert torch.npu.memory_allocated() == before
