"""Public scripts for CUDA of 2020 to 2025: where they are."""

from __future__ import annotations

CHECKOUTS = {
    "examples-2020": "https://github.com/pytorch/examples at dc1afe6a, of 30 September 2020",
    "examples-2022": "https://github.com/pytorch/examples at f5bb60f2, of 30 September 2022",
    "examples": "https://github.com/pytorch/examples at 77f55b91, of 25 August 2025",
    "minGPT-2020": "https://github.com/karpathy/minGPT at 0d9d098e, of 17 August 2020",
    "minGPT": "https://github.com/karpathy/minGPT at 37baab71, of 8 January 2023",
    "nanoGPT": "https://github.com/karpathy/nanoGPT at 3adf61e1, of 12 November 2025",
    "ng-video-lecture": "https://github.com/karpathy/ng-video-lecture at 52201428, of 7 February 2023",
    "pytorch-cifar": "https://github.com/kuangliu/pytorch-cifar at 49b7aa97, of 25 February 2021",
    "pytorch-cifar100": "https://github.com/weiaicunzai/pytorch-cifar100 at 11d8418f, of 27 March 2022",
    "char-rnn": "https://github.com/spro/char-rnn.pytorch at 282bcb6a, of 19 December 2017",
    "pytorch-tutorial": "https://github.com/yunjey/pytorch-tutorial at 0500d3df, of 6 July 2020",
    "PyTorch-GAN": "https://github.com/eriklindernoren/PyTorch-GAN at 36d3c77e, of 6 January 2021",
    "moco": "https://github.com/facebookresearch/moco, of 12 January 2026",
    "mae": "https://github.com/facebookresearch/mae at efb2a80, of 20 April 2022",
    "dino": "https://github.com/facebookresearch/dino at 7c446df, of 27 April 2023",
    "pygcn": "https://github.com/tkipf/pygcn at 1600b5b, of 25 February 2019",
    "Pytorch-UNet": "https://github.com/milesial/Pytorch-UNet at 21d7850, of 10 February 2024",
    "a2c-ppo": "https://github.com/ikostrikov/pytorch-a2c-ppo-acktr-gail at 41332b7, of 24 November 2021",
    "attention-is-all-you-need-pytorch": "https://github.com/jadore801120/attention-is-all-you-need-pytorch at 132907d",
    "stable-diffusion": "https://github.com/CompVis/stable-diffusion at 21f890f9, of 16 November 2022",
}
_OF_2020 = (
    "imagenet", "mnist", "dcgan", "vae", "super_resolution", "word_language_model", "time_sequence_prediction",
    "fast_neural_style", "mnist_hogwild", "reinforcement_learning", "snli", "distributed/ddp", "distributed/rpc",
)  # fmt: skip
FOLDERS = (
    *(("examples-2020", folder) for folder in _OF_2020),
    ("examples-2022", "imagenet"),
    ("examples-2022", "distributed"),
    *((name, ".") for name in CHECKOUTS if name != "examples-2020" and name != "examples-2022"),
)
"""Folders that are converted, each by itself."""

VENDOR_FOLDERS = (
    ("examples-2020", "imagenet"),
    ("examples-2020", "dcgan"),
    ("examples-2020", "word_language_model"),
    ("examples-2020", "super_resolution"),
    ("examples-2020", "snli"),
    ("examples-2020", "distributed/ddp"),
    ("minGPT-2020", "."),
    ("moco", "."),
)
"""Public scripts that the vendor's converter is compared on."""
