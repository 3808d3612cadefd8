"""Layers, losses and functions of PyTorch with their gradients: the device's numbers are the CPU's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

from tests.legs.torch.beside_cpu import check


def _labels(device: str) -> torch.Tensor:
    return torch.tensor([1, 0, 3], device=device)


def _ctc(device: str, on_device: bool, blank: int = 0) -> Any:
    lengths = device if on_device else "cpu"
    scores = torch.randn(6, 2, 4).to(device).requires_grad_()
    targets = torch.tensor([[1, 2, 1], [2, 3, 3]], device=device)
    loss = F.ctc_loss(
        scores.log_softmax(2), targets, torch.tensor([6, 5], device=lengths), torch.tensor([3, 2], device=lengths), blank=blank
    )
    loss.backward()
    return loss, scores.grad


def _packed(device: str) -> Any:
    layer = nn.LSTM(3, 4, batch_first=True, bidirectional=True).to(device)
    given = torch.randn(3, 5, 3).to(device).requires_grad_()
    packed = nn.utils.rnn.pack_padded_sequence(given, torch.tensor([5, 2, 3]), batch_first=True, enforce_sorted=False)
    assert packed.batch_sizes.device.type == "cpu"  # as for every accelerator
    out, lengths = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True)
    assert lengths.device.type == "cpu"
    out.sum().backward()
    return out, lengths, given.grad, layer.weight_hh_l0.grad


def _layer(make: Callable[[], nn.Module], *shape: int) -> Callable[[str], Any]:
    def compute(device: str) -> Any:
        layer = make().to(device)
        given = torch.randn(*shape).to(device).requires_grad_()
        torch.manual_seed(1)
        out = layer(given)
        out = out[0] if isinstance(out, tuple) else out
        (out * out).sum().backward()
        return out, given.grad, [weight.grad for weight in layer.parameters()], dict(layer.named_buffers())

    return compute


def _function(make: Callable[..., Any], *shape: int) -> Callable[[str], Any]:
    def compute(device: str) -> Any:
        given = torch.randn(*shape).to(device).requires_grad_()
        out = make(given)
        (out * out).sum().backward()
        return out, given.grad

    return compute


COMPUTATIONS: dict[str, Callable[[str], Any]] = {
    "ctc_loss with lengths of the host": lambda device: _ctc(device, False),
    "ctc_loss with lengths of the device": lambda device: _ctc(device, True),
    "packed sequences": _packed,
    "convolution": _layer(lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()), 2, 3, 8, 8),
    "transposed convolution": _layer(lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), 2, 3, 5, 5),
    "convolution of volumes": _layer(lambda: nn.Conv3d(2, 3, 2, groups=1), 1, 2, 4, 4, 4),
    "depthwise convolution": _layer(lambda: nn.Conv2d(4, 4, 3, groups=4, padding="same"), 2, 4, 6, 6),
    "separable with channels last": _layer(lambda: nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last), 2, 3, 6, 6),
    "norms": _layer(
        lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.InstanceNorm1d(4), nn.LayerNorm(6), nn.LocalResponseNorm(2)), 3, 4, 6
    ),
    "root mean square": _layer(lambda: nn.RMSNorm(6), 3, 4, 6),
    "pooling": _layer(
        lambda: nn.Sequential(nn.MaxPool2d(2), nn.AvgPool2d(2, padding=1), nn.AdaptiveMaxPool2d(2), nn.LPPool2d(2, 2)),
        1,
        2,
        12,
        12,
    ),
    "fractional pooling": _layer(lambda: nn.FractionalMaxPool2d(2, output_size=3), 1, 2, 8, 8),
    "dropout": _layer(lambda: nn.Sequential(nn.Dropout(0.4), nn.Dropout1d(0.2), nn.AlphaDropout(0.1)), 3, 4, 5),
    "activations": _layer(
        lambda: nn.Sequential(nn.GELU(), nn.SiLU(), nn.Mish(), nn.Hardswish(), nn.ELU(), nn.PReLU(), nn.Softplus(), nn.GLU()),
        4,
        6,
    ),
    "random activation": _layer(nn.RReLU, 4, 6),
    "attention": _layer(lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, 5, 8),
    "decoder": lambda device: nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0).to(device)(
        torch.randn(3, 2, 8).to(device),
        torch.randn(4, 2, 8).to(device),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(3, device=device),
        tgt_is_causal=True,
    ),
    "recurrent cells": _layer(lambda: nn.GRU(4, 5, 2, dropout=0.3), 3, 2, 4),
    "a cell": lambda device: nn.LSTMCell(3, 4).to(device)(torch.randn(2, 3).to(device)),
    "bag of embeddings": lambda device: nn.EmbeddingBag(5, 3, mode="max").to(device)(
        torch.tensor([1, 2, 4, 0], device=device), torch.tensor([0, 3], device=device)
    ),
    "embedding with padding": lambda device: nn.Embedding(5, 3, padding_idx=0, max_norm=0.5).to(device)(_labels(device)),
    "one_hot": lambda device: F.one_hot(_labels(device)),
    "interpolate": _function(lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=False), 1, 2, 5, 4),
    "nearest": _function(lambda x: F.interpolate(x, (3, 9)), 1, 2, 5, 4),
    "bicubic": _function(lambda x: F.interpolate(x, scale_factor=2, mode="bicubic", antialias=True), 1, 2, 5, 4),
    "grid_sample": lambda device: F.grid_sample(
        torch.randn(1, 2, 4, 4).to(device),
        F.affine_grid(torch.eye(2, 3, device=device)[None] * 0.9, [1, 2, 5, 5]),
        align_corners=True,
    ),
    "padding": _function(
        lambda x: F.pad(F.pad(F.pad(x, (1, 2), mode="reflect"), (2, 1), mode="circular"), (1, -1), value=3.0), 2, 3, 5
    ),
    "fold": _function(lambda x: F.fold(F.unfold(x, 3), (6, 6), 3), 1, 2, 6, 6),
    "pixel shuffle": _function(lambda x: F.channel_shuffle(F.pixel_shuffle(x, 2), 1), 1, 8, 3, 3),
    "stft": lambda device: torch.view_as_real(
        torch.stft(torch.randn(400).to(device), 64, window=torch.hann_window(64, device=device), return_complex=True)
    ),
    "istft": lambda device: torch.istft(
        torch.stft(torch.randn(400).to(device), 64, return_complex=True, window=torch.ones(64, device=device)),
        64,
        window=torch.ones(64, device=device),
    ),
    "losses of classes": lambda device: [
        loss(torch.randn(3, 4).to(device).requires_grad_(), _labels(device))
        for loss in (
            F.cross_entropy,
            F.multi_margin_loss,
            lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1, weight=torch.rand(4).to(device)),
            lambda x, y: F.nll_loss(x.log_softmax(1), y, ignore_index=0),
        )
    ],
    "losses of numbers": lambda device: [
        loss(torch.randn(3, 4).to(device), torch.rand(3, 4).to(device))
        for loss in (
            F.mse_loss,
            F.smooth_l1_loss,
            F.huber_loss,
            F.kl_div,
            F.binary_cross_entropy_with_logits,
            F.l1_loss,
            F.poisson_nll_loss,
            F.soft_margin_loss,
        )
    ],
    "losses of distances": lambda device: [
        F.triplet_margin_loss(*[torch.randn(3, 4).to(device) for _ in range(3)]),
        F.cosine_embedding_loss(torch.randn(3, 4).to(device), torch.randn(3, 4).to(device), torch.ones(3, device=device)),
        torch.cdist(torch.randn(3, 4).to(device), torch.randn(2, 4).to(device)),
    ],
    "weight_norm": _layer(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), 2, 3),
    "spectral_norm": _layer(lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), 2, 3),
    "orthogonal": _layer(lambda: nn.utils.parametrizations.orthogonal(nn.Linear(3, 3)), 2, 3),
    "old weight_norm": _layer(lambda: nn.utils.weight_norm(nn.Linear(3, 4)), 2, 3),
    "pruned": _layer(lambda: prune.l1_unstructured(nn.Linear(3, 4), "weight", 0.5), 2, 3),
    "sampled softmax": _function(lambda x: F.gumbel_softmax(x, hard=True), 3, 5),
    "adaptive softmax": lambda device: (
        nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2]).to(device)(torch.randn(3, 4).to(device), _labels(device)).loss
    ),
    "einsum": _function(lambda x: torch.einsum("bij,bkj->bik", x, x), 2, 3, 4),
    "bilinear": lambda device: nn.Bilinear(2, 3, 4).to(device)(torch.randn(5, 2).to(device), torch.randn(5, 3).to(device)),
}


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_numbers_are_the_cpus(compute: Callable[[str], Any]) -> None:
    check(compute)


def test_batch_norm_becomes_the_one_of_several_processes() -> None:
    model = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3)).npu())
    assert isinstance(model[0], nn.SyncBatchNorm) and model[0].running_mean.device == torch.device("npu:0")
    model.eval()
    check(lambda device: model.to(device)(torch.randn(4, 3).to(device)))


def test_labels_may_be_int32() -> None:
    labels = torch.tensor([0, 2], dtype=torch.int32)
    check(lambda device: F.cross_entropy(torch.randn(2, 3).to(device), labels.npu() if device != "cpu" else labels.long()))


def test_a_lazy_layer_takes_its_form_from_the_first_batch() -> None:
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)).npu()
    assert model(torch.ones(2, 3, 5, 5, device="npu")).shape == (2, 2)
    assert {parameter.device for parameter in model.parameters()} == {torch.device("npu:0")}
