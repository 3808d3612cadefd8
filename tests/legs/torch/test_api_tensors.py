"""Tensors of the device as a script handles them: making, indexing, changing, copying, printing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.legs.torch.beside_cpu import check

NPU1 = torch.device("npu:1")


def _resized(device: str) -> Any:
    tensor = torch.arange(4.0, device=device)
    tensor.resize_(2, 3)[1] = 7
    return tensor[:1], tensor.shape, (tensor[1] + 1)


def _set(device: str) -> Any:
    tensor = torch.ones(2, device=device)
    tensor.set_(torch.zeros(3, device=device))
    return tensor, tensor + 1


def _given_data(device: str) -> Any:
    weight = torch.nn.Parameter(torch.zeros(2, device=device))
    weight.data = torch.ones(2, device=device)
    weight.data.mul_(3)
    weight.data[0] = 5
    before = weight.detach().clone()
    weight.data = torch.ones(3, device=device)
    (weight * weight).sum().backward()
    return before, weight, weight.grad


def _out(device: str) -> Any:
    empty, wide = torch.empty(0, device=device), torch.empty(3, device=device)
    same = torch.add(torch.ones(3, device=device), 1, out=wide)
    torch.cumsum(torch.ones(4, device=device), 0, out=empty)
    values, places = torch.empty(0, device=device), torch.empty(0, dtype=torch.long, device=device)
    torch.sort(torch.tensor([3.0, 1.0, 2.0], device=device), out=(values, places))
    assert same is wide
    return wide, empty, values, places


def _views(device: str) -> Any:
    tensor = torch.zeros(4, 4, device=device)
    tensor[1] = 1
    tensor[:, 2] += 2
    tensor.view(16)[0] = 5
    tensor.t()[0].add_(1)
    tensor.unfold(0, 2, 2)[0, 0] *= 2
    tensor.diagonal().fill_(9)
    tensor.as_strided((2, 2), (1, 4))[0] = -1
    first, second = tensor.split([1, 3])
    first.copy_(torch.ones(1, 4))
    second.select(0, 1).zero_()
    tensor[tensor > 8] = 0
    return tensor, tensor.is_contiguous(), tensor.t().is_contiguous(), tensor.storage_offset(), second.storage_offset()


def _indexed(device: str) -> Any:
    tensor = torch.arange(24.0, device=device).view(2, 3, 4)
    places = torch.tensor([1, 0])
    mask = tensor[0, 0] > 1
    tensor[0, [0, 2], 1] = torch.tensor([50.0, 60.0], device=device)
    tensor[1, ..., -1] = 7
    tensor[..., mask] += 1
    tensor[np.array([1]), 0] = torch.tensor([1.0, 2.0, 3.0, 4.0], device=device)
    return (
        tensor,
        tensor[places],
        tensor[places.to(device)],
        tensor[..., mask],
        tensor[None, 1, 1:],
        tensor[1, [2, 0]],
        tensor[True],
        tensor.take(places.to(device)),
        tensor[..., ::2],
        tensor[0][torch.tensor(2)],
        len(tensor),
        [row.sum().item() for row in tensor[0]],
    )


def _selected(device: str) -> Any:
    tensor = torch.tensor([3.0, 1.0, 2.0, 3.0, 1.0], device=device)
    unique = torch.unique(tensor, return_inverse=True, return_counts=True)
    return (
        unique,
        torch.unique_consecutive(tensor),
        tensor.sort(descending=True),
        tensor.topk(2),
        tensor.kthvalue(2),
        tensor.mode(),
        tensor.nonzero(),
        torch.nonzero(tensor > 1, as_tuple=True),
        tensor.masked_select(tensor > 2),
        tensor.argsort(stable=True),
        torch.where(tensor > 1),
        torch.isin(tensor, torch.tensor([1.0], device=device)),
        tensor.long().bincount(minlength=5),
        torch.searchsorted(tensor.sort()[0], tensor),
        torch.bucketize(tensor, torch.tensor([1.5, 2.5], device=device)),
        tensor.histc(3),
        tensor.cummax(0),
        tensor.median(),
        tensor.quantile(0.3),
        tensor.max(0),
        tensor.aminmax(),
        tensor.count_nonzero(),
        tensor.flip(0),
        tensor.roll(2),
        tensor.unique().numel(),
    )


def _scattered(device: str) -> Any:
    base, places = torch.zeros(3, 4, device=device), torch.tensor([[0, 1, 2, 0]], device=device)
    values = torch.rand(1, 4).to(device).requires_grad_()
    made = (
        base.scatter(0, places, values),
        base.scatter_add(0, places, values),
        base.scatter_reduce(0, places, values, "amax"),
        base.index_add(0, torch.tensor([1, 1], device=device), values.expand(2, 4)),
        base.index_copy(1, torch.tensor([0], device=device), torch.ones(3, 1, device=device)),
        base.index_fill(0, torch.tensor([2], device=device), 4.0),
        base.put(places, values),
        base.masked_scatter(base == 0, torch.arange(12.0, device=device)),
        base.gather(1, places),
        base.index_put((places, places), values),
    )
    sum(part.sum() for part in made).backward()
    return made, values.grad


def _mixed_scalars(device: str) -> Any:
    tensor = torch.arange(3.0, device=device)
    number = torch.tensor(2.0)
    return (
        tensor * number,
        number - tensor,
        tensor.add_(number),
        torch.where(tensor > 1, tensor, number),
        tensor.clamp(max=number),
        tensor**number,
    )


def _of_random(device: str) -> Any:
    generator = torch.Generator(device).manual_seed(5)
    other = torch.Generator(device)
    other.set_state(generator.get_state())
    assert generator.initial_seed() == 5
    first = torch.randn(3, generator=generator, device=device)
    return (
        first,
        torch.randn(3, generator=other, device=device),
        torch.randperm(6, generator=generator, device=device),
        torch.randint(9, (4,), generator=generator, device=device),
        torch.empty(3, device=device).uniform_(generator=generator),
        torch.multinomial(torch.ones(5, device=device), 3, generator=generator),
        torch.bernoulli(torch.full((4,), 0.5, device=device)),
        torch.normal(torch.zeros(3, device=device), 2.0),
        torch.poisson(torch.full((3,), 4.0, device=device)),
        torch.empty(2, device=device).exponential_(),
        torch.rand_like(first),
        torch.nn.init.trunc_normal_(torch.empty(3, device=device)),
        torch.nn.init.orthogonal_(torch.empty(3, 3, device=device)),
        torch.distributions.Normal(first, 1.0).sample(),
        torch.distributions.Categorical(logits=first).sample((3,)),
        torch.distributions.Gamma(torch.ones(2, device=device), 1.0).rsample(),
    )


def _of_types(device: str) -> Any:
    tensor = torch.tensor([1.5, -2.25, 3.0], device=device)
    return (
        tensor.half(),
        tensor.bfloat16(),
        tensor.double() / 3,
        tensor.int(),
        tensor.bool(),
        tensor.to(torch.uint8, copy=True),
        tensor.type(torch.float16),
        tensor.type_as(torch.ones(1, device=device, dtype=torch.long)),
        tensor.to(torch.ones(1, dtype=torch.float64, device=device)),
        (tensor.long() + tensor.double()).dtype,
        torch.result_type(tensor, 1),
        tensor.view(torch.int32),
        tensor.abs().char(),
        torch.can_cast(tensor.dtype, torch.int),
    )


def _of_complex(device: str) -> Any:
    tensor = torch.complex(torch.rand(4), torch.rand(4)).to(device).requires_grad_()
    made = (
        torch.fft.ifft(torch.fft.fft(tensor).conj() * tensor.conj()).imag
        + tensor.abs()
        + tensor.conj().angle()
        + torch.view_as_real(tensor).sum(1)
    )
    made.sum().backward()
    return made, tensor.grad, tensor.conj().resolve_conj(), tensor.conj() @ tensor, tensor.is_complex()


def _of_sparse(device: str) -> Any:
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]], device=device)
    sparse = dense.to_sparse().requires_grad_()
    (torch.sparse.mm(sparse, dense) * 2).sum().backward()
    csr = dense.to_sparse_csr()
    made = torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device=device)
    return (
        sparse.detach().to_dense(),
        sparse.grad.to_dense(),
        csr @ dense,
        csr.crow_indices(),
        made.coalesce().values(),
        made.to_dense(),
        made._nnz(),
        torch.sparse.sum(made, 0).to_dense(),
        sparse.is_sparse,
    )


def _of_nothing(device: str) -> Any:
    empty = torch.empty(0, 3, device=device)
    return (
        empty.sum(),
        empty.t() @ torch.empty(0, 2, device=device),
        torch.cat([empty, torch.ones(1, 3, device=device)]),
        empty.tolist(),
        empty.numel(),
        empty[0:0],
        torch.nn.functional.relu(empty),
        torch.nn.Linear(3, 2).to(device)(empty),
        torch.zeros((), device=device)[None],
        empty.nonzero(),
        empty.mean(0),
    )


def _of_numbers(device: str) -> Any:
    three = torch.tensor(3, device=device)
    return (
        int(three),
        float(three),
        bool(three),
        complex(three),
        three.item(),
        list(range(5))[three],
        f"{torch.tensor(0.5, device=device):.2f}",
        three == 3 and True,
        three.tolist(),
        torch.ones(2, device=device).tolist(),
        range(three),
        round(float(three) / 2, 1),
        max(torch.tensor([1, 4], device=device)).item(),
        str(three.cpu()),
        three in torch.arange(5, device=device),
        divmod(7, int(three)),
        hash(three) == hash(three),
    )


def _of_construction(device: str) -> Any:
    like = torch.zeros(2, 2, device=device)
    return (
        torch.tensor([[1, 2], [3, 4]], device=device),
        torch.as_tensor(np.arange(3.0), device=device),
        torch.asarray([1.0], device=device),
        torch.tensor(True, device=device),
        torch.from_numpy(np.eye(2)).to(device),
        like.new_tensor([1, 2.5]),
        like.new_full((2,), 3),
        like.new_zeros(1, dtype=torch.int32),
        torch.full_like(like, 2),
        torch.tril_indices(3, 3, device=device),
        torch.triu_indices(2, 3, 1, device=device),
        torch.eye(2, 3, device=device),
        torch.linspace(0, 1, 4, device=device),
        torch.logspace(0, 2, 3, device=device),
        torch.arange(1, 9, 3, device=device),
        torch.hann_window(4, device=device),
        torch.meshgrid(like[0], like[1], indexing="ij"),
        torch.block_diag(like, like),
        torch.cartesian_prod(like[0], like[1]),
        torch.combinations(like.flatten(), 2),
        torch.vander(like[0]),
        torch.scalar_tensor(2.0, device=device),
        torch.tensor([like.sum(), 1.0]),
        torch.stack([like, like]),
        torch.zeros(2, device=device).new(2, 3).shape,
        like.new([1.0, 2.0]),
        torch.kaiser_window(4, device=device),
    )


COMPUTATIONS: dict[str, Callable[[str], Any]] = {
    name[1:].replace("_", " ").strip(): value
    for name, value in list(globals().items())
    if name.startswith("_") and not name.startswith("__") and callable(value) and getattr(value, "__module__", "") == __name__
}


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_numbers_are_the_cpus(compute: Callable[[str], Any]) -> None:
    check(compute)


def test_made_tensors_need_gradients_where_asked() -> None:
    weight = torch.tensor([1.0, 2.0], device="npu", requires_grad=True)
    (weight**2).sum().backward()
    assert weight.is_leaf and weight.grad.tolist() == [2.0, 4.0]
    assert torch.zeros(2, device="npu").new_tensor([1.0], requires_grad=True).requires_grad


def test_numpy_is_refused_in_pytorchs_words() -> None:
    tensor = torch.ones(2, device="npu", requires_grad=True)
    for refused in (tensor.numpy, lambda: np.asarray(tensor), lambda: np.add(tensor, 1)):
        with pytest.raises(TypeError, match=r"can't convert npu:0 device type tensor to numpy\. Use Tensor\.cpu\(\)"):
            refused()
    assert tensor.detach().cpu().numpy().tolist() == tensor.numpy(force=True).tolist() == [1.0, 1.0]


def test_printing_names_the_device() -> None:
    assert repr(torch.ones(2, device="npu:1")) == "tensor([1., 1.], device='npu:1')"
    weight = torch.nn.Parameter(torch.ones(1, device="npu"))
    assert repr(weight) == "Parameter containing:\ntensor([1.], device='npu:0', requires_grad=True)"
    assert repr(weight * 2) == "tensor([2.], device='npu:0', grad_fn=<MulBackward0>)"
    assert "npu:0" in str(torch.eye(2, device="npu").to_sparse())


def test_what_a_tensor_says_of_itself() -> None:
    tensor = torch.ones(2, 3, device="npu:1", dtype=torch.float16)
    assert tensor.is_npu and not (tensor.is_cuda or tensor.is_cpu or tensor.is_meta or tensor.is_sparse or tensor.is_quantized)
    assert (tensor.device, tensor.get_device(), tensor.type()) == (NPU1, 1, "torch.npu.HalfTensor")
    assert (tensor.element_size(), tensor.nbytes, tensor.stride(), tensor.untyped_storage().nbytes()) == (2, 12, (3, 1), 12)
    assert isinstance(tensor, torch.Tensor) and torch.is_tensor(tensor) and tensor.layout is torch.strided


def test_memory_has_addresses() -> None:
    tensor = torch.ones(4, device="npu")
    assert tensor[2:].data_ptr() == tensor.data_ptr() + 8
    assert tensor.view(2, 2).untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    assert torch.empty(0, device="npu").data_ptr() == 0


def test_copies_are_deep() -> None:
    weight = torch.nn.Parameter(torch.ones(2, device=NPU1))
    (weight * 3).sum().backward()
    twin = copy.deepcopy(weight)
    twin.data.mul_(2)
    assert isinstance(twin, torch.nn.Parameter) and (twin.device, twin.grad.tolist()) == (NPU1, [3.0, 3.0])
    assert weight.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="created explicitly by the user"):
        copy.deepcopy(weight * 2)
    shared = copy.deepcopy([weight, weight])
    assert shared[0] is shared[1]
    assert copy.copy(weight).device == NPU1


def test_pickled_tensors_come_back_to_their_device() -> None:
    tensor = pickle.loads(pickle.dumps(torch.arange(3, device=NPU1)))
    assert (tensor.device, tensor.tolist()) == (NPU1, [0, 1, 2])
    weight = pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(2, device="npu"), requires_grad=False)))
    assert isinstance(weight, torch.nn.Parameter) and not weight.requires_grad


def test_a_subclass_of_the_scripts_wraps_tensors_of_the_device() -> None:
    class Metres(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return function(*[part.inner if isinstance(part, Metres) else part for part in args], **(kwargs or {}))

    metres = Metres(torch.ones(2))
    metres.inner = torch.ones(2, device="npu")
    assert torch.add(metres, metres).device == torch.device("npu:0")


def test_a_subclass_without_numbers_of_its_own_is_refused_in_one_line() -> None:
    class Marked(torch.Tensor):
        pass

    with pytest.raises((RuntimeError, TypeError)) as refused:
        torch.ones(2, device="npu").as_subclass(Marked)
    assert "\n" not in str(refused.value).strip()


def test_quantized_tensors_are_computed_or_refused_as_on_the_host() -> None:
    check(lambda device: torch.quantize_per_tensor(torch.tensor([0.1, 0.7]).to(device), 0.1, 2, torch.quint8).dequantize())


def test_nested_tensors_are_refused_in_one_line() -> None:
    parts = [torch.ones(2, device="npu"), torch.ones(3, device="npu")]
    for layout in (torch.strided, torch.jagged):
        with pytest.raises(RuntimeError, match=r"nested tensors .* not .* NPU"):
            torch.nested.nested_tensor(parts, layout=layout)
        with pytest.raises(RuntimeError, match=r"nested tensors .* not .* NPU"):
            torch.nested.as_nested_tensor(parts, layout=layout)


def test_a_tensor_of_the_host_is_pinned_and_one_of_the_device_is_not() -> None:
    host = torch.ones(2).pin_memory()
    assert host.to("npu", non_blocking=True).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="cannot pin"):
        torch.ones(2, device="npu").pin_memory()


def test_shared_memory_stays_where_it_is() -> None:
    model = torch.nn.Linear(2, 2).npu()
    assert model.share_memory().weight.is_shared() and model.weight.device.type == "npu"


def test_swapped_halves_and_chunks_keep_their_device() -> None:
    tensor = torch.arange(6.0, device=NPU1)
    for part in (*tensor.chunk(3), *tensor.unbind(), *torch.tensor_split(tensor, 2), tensor.to(NPU1), tensor.cpu().npu(1)):
        assert part.device == NPU1
    assert tensor.to("npu").device == torch.device("npu:0")  # without a number: the current one
    assert tensor.to(torch.ones(1)).device.type == "cpu"
    assert (
        torch.zeros_like(tensor, device="cpu").device.type == "cpu" and torch.zeros_like(tensor, device="npu:2").get_device() == 2
    )
    assert tensor.new_empty(2, device="npu:3").get_device() == 3 and tensor.new_ones(2, device="cpu").device.type == "cpu"
    assert torch.empty_like(tensor, device="meta").is_meta
