"""Writes tests/fixtures/torch, calls of PyTorch's operators in a step of six networks:   python -m tools.record_operator_calls

Needs torch. The meta device computes nothing, so that the files are the same wherever they are made with one release of torch.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.models import torch_networks as networks
from benchmarks.models.torch_networks import Step
from benchmarks.models.torch_recorder import counted_flops, recorded, write_calls

FOLDER = Path(__file__).parents[1] / "tests/fixtures/torch"
WORDS = 200


def steps() -> dict[str, Step]:
    """The steps by the name of their file."""
    return {
        "resnet18": networks.image_step(networks.resnet((2, 2, 2, 2), is_basic=True), 32, is_half=False),
        "resnet50": networks.image_step(networks.resnet((3, 4, 6, 3)), 256),
        "mobilenet_v2": networks.image_step(networks.mobilenet_v2(), 64),
        "gpt": networks.word_step(networks.GPT(WORDS, 64, 128, 2, 4), 8, 64, WORDS, foreach=True),
        "lstm": networks.word_step(networks.WordLSTM(WORDS, 64, 2), 20, 6, WORDS, is_time_first=True, foreach=False),
        "gan": networks.gan_step(16),
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, step in steps().items():
        calls = recorded(step.run, step.parameters)
        path = FOLDER / f"{name}.json.gz"
        write_calls(path, calls, counted_flops(step.run))
        print(f"{path.name}: {len(calls)} calls, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
