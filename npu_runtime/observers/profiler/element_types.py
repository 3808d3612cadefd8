"""Element types and formats of tensors as profiling files name and number them.

Source: the enumerations of the vendor's graph engine, as its public parser lists them (ge_enum_constant.py).
"""

from __future__ import annotations

from npu_runtime import dtypes

TYPE_NAMES = {
    "float32": "FLOAT", "float16": "FLOAT16", "int8": "INT8", "int32": "INT32", "uint8": "UINT8", "int16": "INT16",
    "uint16": "UINT16", "uint32": "UINT32", "int64": "INT64", "uint64": "UINT64", "float64": "DOUBLE", "bool": "BOOL",
    "string": "STRING", "complex64": "COMPLEX64", "complex128": "COMPLEX128", "qint8": "QINT8", "qint16": "QINT16",
    "qint32": "QINT32", "quint8": "QUINT8", "quint16": "QUINT16", "resource": "RESOURCE", "variant": "DT_VARIANT",
    "bfloat16": "DT_BF16",
}  # fmt: skip
"""The device's names by TensorFlow's."""
TYPE_NUMBERS = {
    "float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int16": 6, "uint16": 7, "uint32": 8, "int64": 9,
    "uint64": 10, "float64": 11, "bool": 12, "string": 13, "complex64": 16, "complex128": 17, "qint8": 18, "qint16": 19,
    "qint32": 20, "quint8": 21, "quint16": 22, "resource": 23, "variant": 26, "bfloat16": 27,
}  # fmt: skip
"""Numbers of the same."""
UNDEFINED = 0xFFFFFFFF
"""Number of a type or format that is not among these."""
FORMAT_NUMBERS = {
    "NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "FRACTAL_Z": 4, "NC1HWC0_C04": 12, "HWCN": 16, "NDHWC": 27, "FRACTAL_NZ": 29,
    "NCDHW": 30, "DHWCN": 31, "NDC1HWC0": 32, "FRACTAL_Z_3D": 33, "FRACTAL_ZN_LSTM": 38,
}  # fmt: skip
"""Numbers of formats by name."""


def type_name(dtype: str) -> str:
    """The device's name of a TensorFlow type; of one that it does not have, TensorFlow's in capitals."""
    return TYPE_NAMES.get(dtype, dtype.upper())


def item_bytes(dtype: str) -> int:
    """Bytes of an element; of texts and handles, which the device does not hold, 0."""
    try:
        made = dtypes.to_numpy(dtype)
    except KeyError:
        return 0
    return 0 if made.hasobject else made.itemsize
