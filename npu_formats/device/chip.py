"""Facts of a chip, from one file each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from importlib import resources

from npu_formats.toml_document import tomllib

DEFAULT_CHIP = "Ascend910A"
"""The chip of whoever names none."""


class ChipProblem(ValueError):
    """A chip that nobody knows, or a description that is none; the message says what is wrong."""


@dataclass(frozen=True)
class Chip:
    """One Ascend chip. Sources of the figures stand in the files of `chips/`.

    n_cores: AI cores (cube units).  cube_mhz: clock.  hbm_bytes: device memory.  hbm_gb_per_s: its bandwidth.
    cube_fp16_tflops: peak of the cube units.  vector_lanes_fp16: lanes a cycle and vector core.
    training_precision, inference_precision: the precision mode when a session asks for none.  saturates: whether fp16 results
    that are too large are cut instead of becoming infinite.  has_bfloat16: whether its units take bf16.
    ai_cpu_cores: cores of the AI CPU that compute.  l0a_bytes to ub_bytes: buffers of a core.  l2_bytes: cache of the chip.
    l2_read_rate to ub_to_l2_rate: bytes a cycle and core of a path.  hccs_gb_per_s, roce_gb_per_s, host_gb_per_s: what a chip can
    send at once, all links together, to the chips of its server, to other servers, and to its host.  hccs_links: to chips of its
    server.
    """

    name: str
    n_cores: int
    n_vector_cores: int
    cube_mhz: int
    hbm_bytes: int
    hbm_gb_per_s: float
    vector_lanes_fp16: int
    training_precision: str
    inference_precision: str
    saturates: bool
    has_bfloat16: bool
    ai_cpu_cores: int
    l0a_bytes: int
    l0b_bytes: int
    l0c_bytes: int
    l1_bytes: int
    ub_bytes: int
    l2_bytes: int
    l2_read_rate: int
    l2_write_rate: int
    l1_to_l0a_rate: int
    l1_to_l0b_rate: int
    l0c_to_ub_rate: int
    ub_to_l2_rate: int
    hccs_gb_per_s: float
    hccs_links: int
    roce_gb_per_s: float
    host_gb_per_s: float

    @property
    def is_split(self) -> bool:
        """Whether cube and vector units are cores of their own, between which data go through memory."""
        return self.n_vector_cores > self.n_cores

    @property
    def hbm_rate(self) -> float:
        """Bytes a cycle of device memory, for all cores together."""
        return self.hbm_gb_per_s * 1e3 / self.cube_mhz

    @property
    def cube_fp16_tflops(self) -> float:
        """4096 multiply-adds a cycle and core. Source: the cube tile 16x16x16 of the platform files."""
        return self.n_cores * self.cube_mhz * 1e6 * 4096 * 2 / 1e12


def chip_names() -> list[str]:
    folder = resources.files("npu_formats.device") / "chips"
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


@cache
def load_chip(name: str) -> Chip:
    """The chip called `name`.  Raises: ChipProblem that lists the known names."""
    if name not in chip_names():
        raise ChipProblem(f"no chip is called {name!r}; known are {', '.join(chip_names())}")
    text = (resources.files("npu_formats.device") / "chips" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_chip(name, text)


def parse_chip(name: str, text: str) -> Chip:
    """The chip that a text describes as a file of `chips/` does.  A new chip is such a file; nothing else names them.

    Raises: ChipProblem that says which figures are missing, unknown or no positive numbers.
    """
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ChipProblem(f"chip {name}: no TOML: {error}") from error
    wanted = {one.name: one.type for one in fields(Chip) if one.name != "name"}
    wrong = [f"{key} is missing" for key in wanted if key not in found]
    wrong += [f"{key} is unknown" for key in found if key not in wanted]
    wrong += [f"{key} is {value!r}, wanted {wanted[key]}" for key, value in found.items() if not _fits(value, wanted.get(key))]
    if wrong:
        raise ChipProblem(f"chip {name}: {'; '.join(wrong)}")
    return Chip(name=name, **found)


def _fits(value: object, kind: object) -> bool:
    """Whether a value is of the type that a field names.  Numbers are more than nothing: rates and sizes divide."""
    if kind in (None, "bool", "str"):
        return kind is None or type(value).__name__ == kind
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return value > 0 and (kind == "float" or isinstance(value, int))
