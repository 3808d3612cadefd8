"""Cases of npu_runtime.kernels.norm.lrn."""

from npu_runtime.kernels.norm.lrn import lrn
from tests.kernels.harness import Case, arr, case

SETTINGS = [
    {"depth_radius": radius, "bias": bias, "alpha": alpha, "beta": beta}
    for radius, bias, alpha, beta in (
        (5, 1.0, 1.0, 0.5), (2, 2.0, 1e-4, 0.75), (4, 1.0, 0.001 / 9, 0.75), (1, 1.5, 0.3, 1.0), (3, 1.0, 0.2, 0.6),
        (0, 1.0, 1.0, 0.5),
    )
]  # fmt: skip
SHAPES = [(2, 3, 4, 7), (1, 1, 1, 1), (0, 3, 4, 7), (2, 3, 3, 2), (6, 27, 27, 96)]


def pair(shape: tuple[int, ...], dtype: str, **attrs: float) -> list[Case]:
    """The op and its gradient."""
    x = arr(*shape, dtype=dtype)
    name = f"{dtype}-{shape}-{'-'.join(f'{v:.3g}' for v in attrs.values())}".replace(" ", "")
    return [
        case("LRN", x, id=name, **attrs),
        case("LRNGrad", arr(*shape, dtype=dtype, seed=1), x, lrn(x, **attrs), id=name, **attrs),
    ]


CASES = [
    *[one for attrs in SETTINGS for one in pair((2, 3, 4, 7), "float32", **attrs)],
    *[one for shape in SHAPES for one in pair(shape, "float32", **SETTINGS[1])],
    *[one for attrs in SETTINGS[:2] for one in pair((2, 3, 4, 7), "float16", **attrs)],
]
