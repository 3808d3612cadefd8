"""Training on a device beside the CPU: losses and weights are equal bit for bit with one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
import torch
from torch import nn

F = nn.functional


class _Block(nn.Module):
    """A residual block of ResNet-18 (He and others, 2015)."""

    def __init__(self, given: int, made: int, stride: int) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(given, made, 3, stride, 1, bias=False), nn.Conv2d(made, made, 3, 1, 1, bias=False)
        self.norm_one, self.norm_two = nn.BatchNorm2d(made), nn.BatchNorm2d(made)
        self.past = nn.Sequential(nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.norm_two(self.two(F.relu(self.norm_one(self.one(x))))) + self.past(x))


class _Bottleneck(nn.Module):
    """A block of ResNet-50."""

    def __init__(self, given: int, inner: int) -> None:
        super().__init__()
        made = 4 * inner
        self.body = nn.Sequential(
            nn.Conv2d(given, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, 3, padding=1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(inplace=True),
            nn.Conv2d(inner, made, 1, bias=False), nn.BatchNorm2d(made),
        )  # fmt: skip
        self.past = nn.Conv2d(given, made, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(x) + self.past(x), inplace=True)


class _Last(nn.Module):
    """A recurrent network whose last state is classified."""

    def __init__(self, kind: type[nn.RNNBase], **options: bool) -> None:
        super().__init__()
        self.words, self.layers = nn.Embedding(20, 8), kind(8, 12, 2, batch_first=True, dropout=0.1, **options)
        self.head = nn.LazyLinear(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.words(x))[0][:, -1])


class _GPT(nn.Module):
    """Two layers of a decoder with causal attention."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16), nn.Parameter(torch.zeros(6, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, 0.1, "gelu", batch_first=True, norm_first=True)
        self.layers, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(6, device=x.device)
        return self.head(self.layers(self.words(x) + self.places, mask=mask, is_causal=True)[:, -1])


def _images(*blocks: nn.Module, channels: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 4))


PICTURES, WORDS = (4, 3, 16, 16), (4, 6)
NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "resnet of two convolutions a block": (lambda: _images(_Block(8, 8, 1), _Block(8, 16, 2), channels=16), PICTURES),
    "resnet of bottlenecks": (lambda: _images(_Bottleneck(8, 4), _Bottleneck(16, 4), channels=16), PICTURES),
    "lstm": (lambda: _Last(nn.LSTM), WORDS),
    "lstm in both directions": (lambda: _Last(nn.LSTM, bidirectional=True), WORDS),
    "gru": (lambda: _Last(nn.GRU), WORDS),
    "rnn": (lambda: _Last(nn.RNN), WORDS),
    "gpt": (_GPT, WORDS),
}
OPTIMIZERS: tuple[Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer], ...] = (
    lambda weights: torch.optim.SGD(weights, lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True),
    lambda weights: torch.optim.AdamW(weights, lr=1e-3, amsgrad=True),
)


def _inputs(shape: tuple[int, ...]) -> torch.Tensor:
    return torch.randn(shape) if shape is PICTURES else torch.randint(0, 20, shape)


def _losses(make: Callable[[], nn.Module], shape: tuple[int, ...], optimizer: Callable, device: str) -> Iterator[float]:
    """The losses of training on drawn batches; the same numbers are drawn on every device."""
    torch.manual_seed(0)
    net = make()
    net(_inputs(shape))
    net.to(device)
    steps = optimizer(net.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steps, 20)
    while True:
        loss = F.cross_entropy(net(_inputs(shape).to(device)), torch.randint(0, 4, (4,)).to(device), label_smoothing=0.1)
        steps.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        steps.step()
        schedule.step()
        yield loss.item()


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "adamw"])
@pytest.mark.parametrize("name", NETWORKS)
def test_twenty_losses_are_the_cpus(name: str, optimizer: Callable) -> None:
    make, shape = NETWORKS[name]
    expected, found = (list(islice(_losses(make, shape, optimizer, device), 20)) for device in ("cpu", "npu"))
    assert found == expected and len(set(found)) > 15


def _gan(device: str) -> list[float]:
    torch.manual_seed(0)
    maker = nn.Sequential(
        nn.ConvTranspose2d(8, 8, 4), nn.BatchNorm2d(8), nn.ReLU(True), nn.ConvTranspose2d(8, 1, 4, 2, 1), nn.Tanh()
    )
    judge = nn.Sequential(nn.Conv2d(1, 8, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(8, 1, 4), nn.Flatten())
    maker.to(device), judge.to(device)
    of_maker, of_judge = (torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (maker, judge))
    told = []
    for _ in range(10):
        real, noise = torch.randn(4, 1, 8, 8).to(device), torch.randn(4, 8, 1, 1).to(device)
        ones, zeros = torch.ones(4, 1, device=device), torch.zeros(4, 1, device=device)
        judge.zero_grad()
        made = maker(noise)
        loss = F.binary_cross_entropy_with_logits(judge(real), ones)
        loss = loss + F.binary_cross_entropy_with_logits(judge(made.detach()), zeros)
        loss.backward()
        of_judge.step()
        maker.zero_grad()
        other = F.binary_cross_entropy_with_logits(judge(made), ones)
        other.backward()
        of_maker.step()
        told += [loss.item(), other.item()]
    return told


def test_losses_of_a_gan_are_the_cpus() -> None:
    assert _gan("npu") == _gan("cpu")


@pytest.mark.parametrize("name", ["resnet of two convolutions a block", "gpt"])
def test_mixed_precision_is_the_cpus_within_float16(name: str) -> None:
    """The CPU's autocast in float16, with its own lists; a step of float16 is 2**-11 of a number."""
    make, shape = NETWORKS[name]
    found = {}
    for device in ("cpu", "npu"):
        torch.manual_seed(0)
        net = make().to(device)
        images, labels = _inputs(shape).to(device), torch.randint(0, 4, (4,)).to(device)
        with torch.autocast(device, dtype=torch.float16):
            loss = F.cross_entropy(net(images), labels)
        loss.backward()
        found[device] = [loss.detach().cpu(), *(weight.grad.cpu() for weight in net.parameters())]
    for one, other in zip(found["npu"], found["cpu"], strict=True):
        torch.testing.assert_close(one, other, rtol=2e-2, atol=2e-3)
