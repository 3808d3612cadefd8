"""Random work for the tests of the cost model."""

from __future__ import annotations

from hypothesis import strategies as st

from npu_formats.device.chip import chip_names, load_chip
from npu_runtime.cost.core_task import CoreWork
from npu_runtime.cost.tiling import Product
from npu_runtime.cost.vector import VECTOR_BYTES

CHIPS = st.sampled_from(chip_names()).map(load_chip)
EXTENTS = st.one_of(st.integers(1, 300), st.integers(1, 20_000))
DTYPES = {"float16": 2, "int8": 1, "float32": 4}


def product(m: int, n: int, k: int, batch: int = 1, dtype: str = "float16", is_in_rows: bool = False) -> Product:
    """A product of dense operands."""
    size = DTYPES[dtype]
    a_bytes, b_bytes = float(batch * m * k * size), float(batch * k * n * size)
    return Product(m, n, k, batch, dtype, size, a_bytes, b_bytes, is_in_rows, False, 2.0 * batch * m * n * k)


PRODUCTS = st.builds(
    product, EXTENTS, EXTENTS, EXTENTS, st.integers(1, 64), st.sampled_from(sorted(DTYPES)), st.booleans()
)  # fmt: skip
BYTES = st.one_of(st.floats(0.0, 1e5), st.floats(0.0, 1e9))
"""As many small sizes as large ones: a task of few bytes is cut by other rules."""
INSTRUCTIONS = st.one_of(st.just(0.0), BYTES.map(lambda n_bytes: n_bytes / VECTOR_BYTES))
VECTOR_WORK = st.builds(lambda read, written, issued: CoreWork(None, read, written, issued), BYTES, BYTES, INSTRUCTIONS)
