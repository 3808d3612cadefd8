"""Names for interpolations, borders and layouts of images."""

from enum import Enum, IntEnum


class Inter(IntEnum):
    """Interpolations."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3


class Border(str, Enum):
    """Ways of filling a border: a constant, the last value, a mirror at the last value or behind it."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """Layouts of a batch of images."""

    NHWC = 0
    NCHW = 1
