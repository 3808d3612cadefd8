"""Networks of papers in PyTorch, and a training step of each: what public tables of step times are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

_CLASSES = 1000


@dataclass(frozen=True)
class Step:
    """run: one training step, forward, backward and update.  parameters: of all its networks."""

    run: Callable[[], object]
    parameters: Sequence[nn.Parameter]


def conv_norm(
    channels: int, made: int, kernel: int = 1, stride: int = 1, groups: int = 1, act: type[nn.Module] | None = nn.ReLU
) -> nn.Sequential:
    """A convolution without bias, a normalisation over the batch, and an activation."""
    layers: list[nn.Module] = [
        nn.Conv2d(channels, made, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(made),
    ]
    if act is not None:
        layers.append(act(inplace=True) if act in (nn.ReLU, nn.ReLU6, nn.Hardswish, nn.SiLU) else act())
    return nn.Sequential(*layers)


class Gate(nn.Module):
    """Squeeze and excitation: channels weighed by what all positions together say."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, squeezed, 1), nn.ReLU(), nn.Conv2d(squeezed, channels, 1), nn.Sigmoid()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weigh(x)


class Residual(nn.Module):
    """A body and a way past it."""

    def __init__(self, body: nn.Module, past: nn.Module, act: nn.Module) -> None:
        super().__init__()
        self.body, self.past, self.act = body, past, act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.body(x) + self.past(x))


def _past(channels: int, made: int, stride: int) -> nn.Module:
    return nn.Identity() if channels == made and stride == 1 else conv_norm(channels, made, 1, stride, act=None)


def _basic(channels: int, width: int, stride: int, **_: int) -> tuple[nn.Module, int]:
    body = nn.Sequential(conv_norm(channels, width, 3, stride), conv_norm(width, width, 3, act=None))
    return Residual(body, _past(channels, width, stride), nn.ReLU(inplace=True)), width


def _bottleneck(channels: int, width: int, stride: int, groups: int = 1, base: int = 64, gate: int = 0) -> tuple[nn.Module, int]:
    inner, made = width * base // 64 * groups, 4 * width
    layers = [conv_norm(channels, inner), conv_norm(inner, inner, 3, stride, groups), conv_norm(inner, made, act=None)]
    body = nn.Sequential(*layers, *([Gate(made, made // gate)] if gate else []))
    return Residual(body, _past(channels, made, stride), nn.ReLU(inplace=True)), made


def resnet(depths: Sequence[int], is_basic: bool = False, **options: int) -> nn.Module:
    """ResNet, wide ResNet, ResNeXt or SE-ResNet.  Sources: He et al. 2015, Zagoruyko 2016, Xie et al. 2016, Hu et al. 2017."""
    layers: list[nn.Module] = [conv_norm(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for stage, depth in enumerate(depths):
        for n in range(depth):
            make = _basic if is_basic else _bottleneck
            block, channels = make(channels, 64 * 2**stage, 2 if n == 0 and stage else 1, **options)
            layers.append(block)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, _CLASSES))


class _Dense(nn.Module):
    def __init__(self, channels: int, growth: int) -> None:
        super().__init__()
        inner = 4 * growth
        first = (nn.BatchNorm2d(channels), nn.ReLU(inplace=True), nn.Conv2d(channels, inner, 1, bias=False))
        second = (nn.BatchNorm2d(inner), nn.ReLU(inplace=True), nn.Conv2d(inner, growth, 3, padding=1, bias=False))
        self.body = nn.Sequential(*first, *second)

    def forward(self, features: list[torch.Tensor]) -> torch.Tensor:
        return self.body(torch.cat(features, 1))


class _DenseBlock(nn.Module):
    def __init__(self, channels: int, growth: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_Dense(channels + n * growth, growth) for n in range(depth))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(features))
        return torch.cat(features, 1)


def densenet(depths: Sequence[int], growth: int = 32, channels: int = 64) -> nn.Module:
    """DenseNet-BC.  Source: Huang et al. 2016."""
    layers: list[nn.Module] = [conv_norm(3, channels, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for n, depth in enumerate(depths):
        layers.append(_DenseBlock(channels, growth, depth))
        channels += growth * depth
        layers += [nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]
        if n < len(depths) - 1:
            layers += [nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
            channels //= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, _CLASSES))


def mobilenet_v1() -> nn.Module:
    """MobileNet.  Source: Howard et al. 2017."""
    layers: list[nn.Module] = [conv_norm(3, 32, 3, 2)]
    channels = 32
    for made, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        layers += [conv_norm(channels, channels, 3, stride, channels), conv_norm(channels, made)]
        channels = made
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, _CLASSES))


class Inverted(nn.Module):
    """An inverted residual: wider inside than outside, its wide convolution for each channel alone."""

    def __init__(
        self, channels: int, inner: int, made: int, kernel: int, stride: int, act: type[nn.Module], squeezed: int = 0
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [] if inner == channels else [conv_norm(channels, inner, act=act)]
        layers.append(conv_norm(inner, inner, kernel, stride, inner, act))
        layers += [Gate(inner, squeezed)] if squeezed else []
        self.body = nn.Sequential(*layers, conv_norm(inner, made, act=None))
        self.is_residual = channels == made and stride == 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.is_residual else self.body(x)


def _inverted(
    channels: int, rows: Sequence[tuple[int, int, int, int, int]], act: type[nn.Module], gated: Callable[[int, int], int]
) -> tuple[list[nn.Module], int]:
    """Blocks of rows of expansion, width, repeats, stride and kernel; gated(outer, inner): channels of the gate, 0 for none."""
    layers: list[nn.Module] = []
    for expansion, made, repeats, stride, kernel in rows:
        for n in range(repeats):
            inner = expansion * channels
            layers.append(Inverted(channels, inner, made, kernel, stride if n == 0 else 1, act, gated(channels, inner)))
            channels = made
    return layers, channels


def mobilenet_v2() -> nn.Module:
    """MobileNetV2.  Source: Sandler et al. 2018, table 2."""
    rows = [
        (1, 16, 1, 1, 3),
        (6, 24, 2, 2, 3),
        (6, 32, 3, 2, 3),
        (6, 64, 4, 2, 3),
        (6, 96, 3, 1, 3),
        (6, 160, 3, 2, 3),
        (6, 320, 1, 1, 3),
    ]
    layers, channels = _inverted(32, rows, nn.ReLU6, lambda outer, inner: 0)
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(1280, _CLASSES)]
    return nn.Sequential(conv_norm(3, 32, 3, 2, act=nn.ReLU6), *layers, conv_norm(channels, 1280, act=nn.ReLU6), *head)


def mnasnet() -> nn.Module:
    """MNASNet-B1.  Source: Tan et al. 2018, figure 7."""
    rows = [(3, 24, 3, 2, 3), (3, 40, 3, 2, 5), (6, 80, 3, 2, 5), (6, 96, 2, 1, 3), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    layers, channels = _inverted(16, rows, nn.ReLU, lambda outer, inner: 0)
    stem = [conv_norm(3, 32, 3, 2), conv_norm(32, 32, 3, 1, 32), conv_norm(32, 16, act=None)]
    return nn.Sequential(
        *stem,
        *layers,
        conv_norm(channels, 1280),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(1280, _CLASSES),
    )


def efficientnet(width: float = 1.0, depth: float = 1.0) -> nn.Module:
    """EfficientNet.  Source: Tan and Le 2019, table 1 and compound scaling."""
    base = [
        (1, 16, 1, 1, 3),
        (6, 24, 2, 2, 3),
        (6, 40, 2, 2, 5),
        (6, 80, 3, 2, 3),
        (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5),
        (6, 320, 1, 1, 3),
    ]
    rows = [(t, _wide(c, width), -int(-(n * depth) // 1), s, k) for t, c, n, s, k in base]
    stem, last = _wide(32, width), _wide(1280, width)
    layers, channels = _inverted(stem, rows, nn.SiLU, lambda outer, inner: max(1, outer // 4))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(last, _CLASSES)]
    return nn.Sequential(conv_norm(3, stem, 3, 2, act=nn.SiLU), *layers, conv_norm(channels, last, act=nn.SiLU), *head)


def _wide(channels: int, width: float) -> int:
    """Channels times a width, in eights, and no more than a tenth less."""
    made = max(8, int(channels * width + 4) // 8 * 8)
    return made + 8 if made < 0.9 * channels * width else made


class _Shuffle(nn.Module):
    """A unit of ShuffleNetV2: half of the channels pass, or with a stride both halves work."""

    def __init__(self, channels: int, made: int, stride: int) -> None:
        super().__init__()
        half = made // 2
        entering = channels if stride > 1 else half
        self.past = (
            nn.Sequential(conv_norm(channels, channels, 3, stride, channels, None), conv_norm(channels, half))
            if stride > 1
            else None
        )
        self.body = nn.Sequential(conv_norm(entering, half), conv_norm(half, half, 3, stride, half, None), conv_norm(half, half))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        left, right = x.chunk(2, 1) if self.past is None else (self.past(x), x)
        both = torch.cat((left, self.body(right)), 1)
        n, c, h, w = both.shape
        return both.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def shufflenet_v2() -> nn.Module:
    """ShuffleNetV2 1x.  Source: Ma et al. 2018, table 5."""
    layers: list[nn.Module] = [conv_norm(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1)]
    channels = 24
    for made, repeats in ((116, 4), (232, 8), (464, 4)):
        for n in range(repeats):
            layers.append(_Shuffle(channels, made, 2 if n == 0 else 1))
            channels = made
    return nn.Sequential(*layers, conv_norm(channels, 1024), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, _CLASSES))


def vgg16(is_normalized: bool = False) -> nn.Module:
    """VGG-16.  Source: Simonyan and Zisserman 2014, configuration D."""
    layers: list[nn.Module] = []
    channels = 3
    for made, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            layers += [
                nn.Conv2d(channels, made, 3, padding=1),
                *([nn.BatchNorm2d(made)] if is_normalized else []),
                nn.ReLU(inplace=True),
            ]
            channels = made
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), *_classifier(512 * 49))


def alexnet() -> nn.Module:
    """AlexNet of one tower.  Source: Krizhevsky 2014, "One weird trick"."""
    rows = ((3, 64, 11, 4, 2), (64, 192, 5, 1, 2), (192, 384, 3, 1, 1), (384, 256, 3, 1, 1), (256, 256, 3, 1, 1))
    layers: list[nn.Module] = []
    for n, (channels, made, kernel, stride, padding) in enumerate(rows):
        layers += [nn.Conv2d(channels, made, kernel, stride, padding), nn.ReLU(inplace=True)]
        layers += [nn.MaxPool2d(3, 2)] if n in (0, 1, 4) else []
    return nn.Sequential(*layers, nn.Flatten(), *_classifier(256 * 36))


def _classifier(n_given: int) -> Iterator[nn.Module]:
    for n in (n_given, 4096):
        yield from (nn.Linear(n, 4096), nn.ReLU(inplace=True), nn.Dropout())
    yield nn.Linear(4096, _CLASSES)


class _Attention(nn.Module):
    """Attention of several heads, written out.  is_causal: whether a row sees only those before it."""

    def __init__(self, width: int, heads: int, is_causal: bool) -> None:
        super().__init__()
        self.heads, self.is_causal = heads, is_causal
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, rows, width = x.shape
        q, k, v = (t.view(n, rows, self.heads, width // self.heads).transpose(1, 2) for t in self.all(x).split(width, 2))
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        if self.is_causal:
            seen = torch.ones(rows, rows, device=x.device, dtype=torch.bool).tril()
            scores = scores.masked_fill(~seen, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, rows, width))


class _Block(nn.Module):
    """A layer of a transformer, its normalisations in front."""

    def __init__(self, width: int, heads: int, is_causal: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = _Attention(width, heads, is_causal)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.inner(self.second(x))


class GPT(nn.Module):
    """A GPT.  Source: Radford et al. 2018."""

    def __init__(self, words: int, rows: int, width: int, depth: int, heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(rows, width)
        self.blocks = nn.Sequential(*(_Block(width, heads, True, dropout) for _ in range(depth)), nn.LayerNorm(width))
        self.out = nn.Linear(width, words, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        return self.out(self.blocks(self.words(x) + self.places(places)))


class VisionTransformer(nn.Module):
    """ViT.  Source: Dosovitskiy et al. 2020."""

    def __init__(self, patch: int, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first, self.places = (
            nn.Parameter(torch.zeros(1, 1, width)),
            nn.Parameter(torch.zeros(1, (224 // patch) ** 2 + 1, width)),
        )
        self.blocks = nn.Sequential(*(_Block(width, heads, False) for _ in range(depth)), nn.LayerNorm(width))
        self.out = nn.Linear(width, _CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.first.expand(x.shape[0], -1, -1), x), 1) + self.places
        return self.out(self.blocks(x)[:, 0])


class WordLSTM(nn.Module):
    """A language model of LSTM layers, dropout between them.  Source: Zaremba et al. 2014."""

    def __init__(self, words: int, width: int, depth: int) -> None:
        super().__init__()
        self.words, self.layers, self.out = (
            nn.Embedding(words, width),
            nn.LSTM(width, width, depth, dropout=0.5),
            nn.Linear(width, words),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.layers(self.words(x))[0])


def image_step(net: nn.Module, batch: int, is_half: bool = True, size: int = 224) -> Step:
    """A step of a classifier of images with SGD and momentum.

    is_half: whether the network is in float16 but for normalisations, as apex does it with O2: master weights in float32 are
    updated and copied back, and the loss is scaled.
    """
    net = net.to("meta")
    images, classes = torch.empty(batch, 3, size, size, device="meta"), torch.empty(batch, dtype=torch.long, device="meta")
    if is_half:
        _halve(net)
        images = images.half()
    parameters = list(net.parameters())
    masters = [p.detach().float().requires_grad_() for p in parameters] if is_half else parameters
    optimizer = torch.optim.SGD(masters, lr=0.1, momentum=0.9, weight_decay=1e-4, foreach=True)
    start_optimizer(optimizer, masters)

    def run() -> None:
        loss = F.cross_entropy(net(images).float(), classes)
        (loss * 1024.0 if is_half else loss).backward()
        if is_half:
            for master, p in zip(masters, parameters, strict=True):
                master.grad = p.grad.float() * (1 / 1024.0)
        optimizer.step()
        if is_half:
            for master, p in zip(masters, parameters, strict=True):
                p.data.copy_(master.data)

    return Step(run, [*parameters, *masters])


def _halve(net: nn.Module) -> None:
    for module in net.modules():
        if not isinstance(module, nn.BatchNorm2d):
            for name, p in module.named_parameters(recurse=False):
                setattr(module, name, nn.Parameter(p.detach().half()))


def start_optimizer(optimizer: torch.optim.Optimizer, parameters: Sequence[torch.Tensor]) -> None:
    """A first step, which makes the states of the optimizer, so that the next one is like all others."""
    for p in parameters:
        p.grad = torch.zeros_like(p)
    optimizer.step()
    for p in parameters:
        p.grad = None


def word_step(net: nn.Module, batch: int, rows: int, words: int, is_time_first: bool = False, **adam: bool) -> Step:
    """A step of a language model with AdamW; adam: its options foreach or fused."""
    net = net.to("meta")
    shape = (rows, batch) if is_time_first else (batch, rows)
    x = torch.empty(shape, dtype=torch.long, device="meta")
    parameters = list(net.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, **adam)
    start_optimizer(optimizer, parameters)

    def run() -> None:
        F.cross_entropy(net(x).view(-1, words), x.view(-1)).backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()

    return Step(run, parameters)


def gan_step(batch: int, size: int = 32, width: int = 64) -> Step:
    """A step of DCGAN's generator and discriminator with Adam.  Source: Radford et al. 2015."""
    made: list[nn.Module] = [nn.ConvTranspose2d(100, 4 * width, size // 8, bias=False), nn.BatchNorm2d(4 * width), nn.ReLU(True)]
    for n in (4, 2):
        made += [
            nn.ConvTranspose2d(n * width, n * width // 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(n * width // 2),
            nn.ReLU(True),
        ]
    generator = nn.Sequential(*made, nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh()).to("meta")
    seen: list[nn.Module] = [nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
    for n in (1, 2):
        seen += [nn.Conv2d(n * width, 2 * n * width, 4, 2, 1, bias=False), nn.BatchNorm2d(2 * n * width), nn.LeakyReLU(0.2, True)]
    critic = nn.Sequential(*seen, nn.Conv2d(4 * width, 1, size // 8, bias=False), nn.Sigmoid(), nn.Flatten(0)).to("meta")
    nets = [list(net.parameters()) for net in (generator, critic)]
    optimizers = [torch.optim.Adam(parameters, lr=2e-4, betas=(0.5, 0.999), foreach=True) for parameters in nets]
    for optimizer, parameters in zip(optimizers, nets, strict=True):
        start_optimizer(optimizer, parameters)
    real, ones, zeros = (
        torch.empty(batch, 3, size, size, device="meta"),
        torch.ones(batch, device="meta"),
        torch.zeros(batch, device="meta"),
    )

    def run() -> None:
        F.binary_cross_entropy(critic(real), ones).backward()
        fake = generator(torch.randn(batch, 100, 1, 1, device="meta"))
        F.binary_cross_entropy(critic(fake.detach()), zeros).backward()
        optimizers[1].step()
        F.binary_cross_entropy(critic(fake), ones).backward()
        optimizers[0].step()

    return Step(run, [*nets[0], *nets[1]])
