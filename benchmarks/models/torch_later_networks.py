"""Networks of papers in PyTorch that the second set of published figures is about."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.models.torch_networks import Inverted, Step, VisionTransformer, conv_norm, start_optimizer

_CLASSES = 1000
_V3_ROWS = (
    (16, 16, 3, 1, False, False), (64, 24, 3, 2, False, False), (72, 24, 3, 1, False, False), (72, 40, 5, 2, True, False),
    (120, 40, 5, 1, True, False), (120, 40, 5, 1, True, False), (240, 80, 3, 2, False, True), (200, 80, 3, 1, False, True),
    (184, 80, 3, 1, False, True), (184, 80, 3, 1, False, True), (480, 112, 3, 1, True, True), (672, 112, 3, 1, True, True),
    (672, 160, 5, 2, True, True), (960, 160, 5, 1, True, True), (960, 160, 5, 1, True, True),
)  # fmt: skip
"""Expanded channels, channels, kernel size, stride, gate and hard swish of each block.  Source: table 1 of the paper."""


def mobilenet_v3_large() -> nn.Module:
    """MobileNetV3-Large.  Source: Howard et al. 2019."""
    layers: list[nn.Module] = [conv_norm(3, 16, 3, 2, act=nn.Hardswish)]
    channels = 16
    for inner, made, kernel, stride, is_gated, is_swish in _V3_ROWS:
        act = nn.Hardswish if is_swish else nn.ReLU
        layers.append(Inverted(channels, inner, made, kernel, stride, act, inner // 4 if is_gated else 0))
        channels = made
    head = [nn.Linear(960, 1280), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(1280, _CLASSES)]
    return nn.Sequential(*layers, conv_norm(channels, 960, act=nn.Hardswish), nn.AdaptiveAvgPool2d(1), nn.Flatten(), *head)


def vision_transformer(patch: int, width: int = 768, heads: int = 12) -> nn.Module:
    """A ViT or DeiT of twelve layers.  Sources: Dosovitskiy et al. 2020, Touvron et al. 2020."""
    return VisionTransformer(patch, width, 12, heads)


class _Branches(nn.Module):
    """Several ways over the same input, whose channels stand beside each other."""

    def __init__(self, *branches: nn.Module) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([branch(x) for branch in self.branches], 1)


_GOOGLENET = (
    ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64)),
    ((480, 192, 96, 208, 16, 48, 64), (512, 160, 112, 224, 24, 64, 64), (512, 128, 128, 256, 24, 64, 64),
     (512, 112, 144, 288, 32, 64, 64), (528, 256, 160, 320, 32, 128, 128)),
    ((832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128)),
)  # fmt: skip
"""Channels of each module: given, of 1x1, of 3x3 with its narrowing, of the second with its own, and behind the pool.
Source: table 1 of the paper."""


def _module(given: int, one: int, narrow: int, three: int, thin: int, five: int, pooled: int) -> nn.Module:
    """A module of GoogLeNet as torchvision has it: 3x3 where the paper has 5x5."""
    pool = nn.Sequential(nn.MaxPool2d(3, 1, 1), conv_norm(given, pooled))
    return _Branches(
        conv_norm(given, one),
        nn.Sequential(conv_norm(given, narrow), conv_norm(narrow, three, 3)),
        nn.Sequential(conv_norm(given, thin), conv_norm(thin, five, 3)),
        pool,
    )


def googlenet() -> nn.Module:
    """GoogLeNet with normalisations and without the two auxiliary classifiers.  Source: Szegedy et al. 2014."""
    pool = [nn.MaxPool2d(3, 2, ceil_mode=True)]
    layers: list[nn.Module] = [conv_norm(3, 64, 7, 2), *pool, conv_norm(64, 64), conv_norm(64, 192, 3), *pool]
    for number, stage in enumerate(_GOOGLENET):
        layers += [*(pool if number else []), *(_module(*row) for row in stage)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1024, _CLASSES))


class _Encoder(nn.Module):
    """A layer of BERT: attention and a wide layer, each with its normalisation behind it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        q, k, v = (self._split(make(x)) for make in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5 + mask
        mixed = (F.dropout(scores.softmax(-1), 0.1) @ v).transpose(1, 2).reshape(x.shape)
        x = self.first(x + F.dropout(self.out(mixed), 0.1))
        return self.second(x + F.dropout(self.narrow(F.gelu(self.wide(x))), 0.1))


class QuestionBert(nn.Module):
    """BERT that marks the two ends of an answer.  Source: Devlin et al. 2018."""

    def __init__(self, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(n, width) for n in (30528, 512, 2))
        self.norm, self.ends = nn.LayerNorm(width), nn.Linear(width, 2)
        self.layers = nn.ModuleList(_Encoder(width, heads) for _ in range(depth))

    def forward(self, words: torch.Tensor, kinds: torch.Tensor, mask: torch.Tensor) -> Sequence[torch.Tensor]:
        places = torch.arange(words.shape[1], device=words.device)
        x = F.dropout(self.norm(self.words(words) + self.places(places) + self.kinds(kinds)), 0.1)
        added = (1.0 - mask[:, None, None].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, added)
        return self.ends(x).float().unbind(-1)


def question_step(net: nn.Module, batch: int, length: int) -> Step:
    """A step of a network that marks answers, in float16 with master weights, with Adam and scaled losses."""
    net = net.to("meta").half()
    words, kinds, mask = (torch.zeros(batch, length, dtype=torch.long, device="meta") for _ in range(3))
    ends = torch.zeros(batch, dtype=torch.long, device="meta")
    parameters = list(net.parameters())
    masters = [p.detach().float().requires_grad_() for p in parameters]
    optimizer = torch.optim.Adam(masters, lr=3e-5, foreach=True)
    start_optimizer(optimizer, masters)

    def run() -> None:
        loss = sum(F.cross_entropy(made, ends) for made in net(words, kinds, mask)) / 2
        (loss * 4096.0).backward()
        for master, p in zip(masters, parameters, strict=True):
            master.grad = p.grad.float() * (1 / 4096.0)
        optimizer.step()
        for master, p in zip(masters, parameters, strict=True):
            p.data.copy_(master.data)

    return Step(run, [*parameters, *masters])
