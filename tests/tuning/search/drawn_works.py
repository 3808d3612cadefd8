"""Two hundred works of matrix products, of networks that everyone knows and of sizes that nobody chose."""

from __future__ import annotations

import random

from npu_formats.device.chip import Chip, load_chip
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import Product
from tests.cost.shapes import product

CHIPS = ("Ascend910A", "Ascend910B2")
N_SHAPES = 200
SEED = 33
RESNET_50 = (
    (224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1), (56, 256, 64, 1, 1), (56, 256, 128, 1, 1),
    (56, 128, 128, 3, 2), (28, 128, 512, 1, 1), (56, 256, 512, 1, 2), (28, 512, 128, 1, 1), (28, 128, 128, 3, 1),
    (28, 512, 256, 1, 1), (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2), (14, 1024, 256, 1, 1),
    (14, 256, 256, 3, 1), (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1), (14, 1024, 2048, 1, 2),
    (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1),
)  # fmt: skip
"""Size of the image, channels in and out, kernel, stride of the convolutions of ResNet-50 (He and others, 2015, table 1)."""
MOBILENET = (
    (224, 3, 16, 3, 2), (112, 16, 64, 1, 1), (56, 64, 24, 1, 1), (56, 72, 24, 1, 1), (28, 72, 40, 1, 1), (28, 120, 40, 1, 1),
    (28, 40, 240, 1, 1), (14, 240, 80, 1, 1), (14, 80, 184, 1, 1), (14, 480, 112, 1, 1), (14, 112, 672, 1, 1),
    (7, 672, 160, 1, 1), (7, 160, 960, 1, 1),
)  # fmt: skip
"""The same of convolutions of MobileNetV3-Large that are not depthwise (Howard and others, 2019, table 1)."""
BERT = ((768, 768), (3072, 768), (768, 3072), (768, 2), (1024, 1024), (4096, 1024), (1024, 4096))
"""Columns and depth of the dense layers of BERT base and large (Devlin and others, 2018)."""


def convolution(size: int, channels: int, filters: int, kernel: int, stride: int, batch: int, dtype: str) -> Product:
    """A convolution with the same padding, as a product of positions x filters x kernel."""
    element_bytes = {"float16": 2, "int8": 1, "float32": 4}[dtype]
    side = -(-size // stride)
    a_bytes = float(batch * size * size * channels * element_bytes)
    made = product(batch * side * side, filters, channels * kernel * kernel, 1, dtype)
    return Product(**{**vars(made), "a_bytes": a_bytes})


def drawn_works() -> list[tuple[CoreWork, Chip]]:
    """All two hundred; the same ones in every run."""
    draw = random.Random(SEED)
    products = [*_real_products(draw), *(_odd_product(draw) for _ in range(N_SHAPES))][:N_SHAPES]
    return [(_work(each, draw), load_chip(CHIPS[at % 2])) for at, each in enumerate(products)]


def _real_products(draw: random.Random) -> list[Product]:
    """Of the networks, at usual batch sizes."""
    layers = [*RESNET_50, *MOBILENET]
    made = [
        convolution(*layer, draw.choice((1, 16, 32, 64)), draw.choice(("float16", "float16", "int8"))) for layer in layers * 2
    ]
    for n, k in BERT * 3:
        made.append(product(draw.choice((1, 8, 32)) * draw.choice((128, 384, 512)), n, k, 1, "float16"))
    for heads, length, depth in ((12, 128, 64), (16, 384, 64), (12, 512, 64), (16, 128, 64)):
        made.append(product(length, length, depth, heads * draw.choice((1, 8)), "float16"))
        made.append(product(length, depth, length, heads * draw.choice((1, 8)), "float16"))
    return made


def _odd_product(draw: random.Random) -> Product:
    """Sides between 1 and 20,000, as many small as large, of any type and layout."""
    m, n, k = (int(2 ** draw.uniform(0, 14.3)) for _ in range(3))
    dtype = draw.choice(("float16", "float16", "float32", "int8"))
    return product(m, n, k, draw.choice((1, 1, 1, 7, 48)), dtype, draw.choice((False, False, True)))


def _work(each: Product, draw: random.Random) -> CoreWork:
    """Half of them with a fused tail that keeps a part of the result on the cores."""
    made = float(each.batch * each.m * each.n * each.out_bytes)
    return CoreWork(each, 0.0, -made / 2, made / 256) if draw.random() < 0.5 else CoreWork(each, 0.0, 0.0, 0.0)


def drawn_vector_works(n: int = N_SHAPES) -> list[tuple[CoreWork, Chip]]:
    """Work of the vector units: element-wise work, reductions and broadcasts of 16 bytes to 1 GB."""
    draw = random.Random(SEED)
    made = []
    for at in range(n):
        read, other = (2.0 ** draw.uniform(4, 30) for _ in range(2))
        work = CoreWork(None, read, draw.choice((read, other)), draw.choice((0, 1, 3, 20)) * read / 256)
        made.append((work, load_chip(CHIPS[at % 2])))
    return made
