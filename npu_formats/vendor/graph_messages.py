"""The messages of graph files, as classes that the protobuf library makes of their fields.

Source of names and numbers: the graph compiler's public description of its graphs (ge_ir.proto), and ONNX's onnx.proto.
"""

from __future__ import annotations

from npu_formats.vendor.dump_file import NUMBER_OF_TYPE
from npu_formats.vendor.message_classes import message_classes

_TYPES = {
    "DT_UNDEFINED": 0, "DT_FLOAT": 1, "DT_FLOAT16": 2, "DT_INT8": 3, "DT_UINT8": 4, "DT_INT16": 5, "DT_UINT16": 6, "DT_INT32": 7,
    "DT_INT64": 8, "DT_UINT32": 9, "DT_UINT64": 10, "DT_BOOL": 11, "DT_DOUBLE": 12, "DT_STRING": 13, "DT_DUAL_SUB_INT8": 14,
    "DT_DUAL_SUB_UINT8": 15, "DT_COMPLEX64": 16, "DT_COMPLEX128": 17, "DT_QINT8": 18, "DT_QINT16": 19, "DT_QINT32": 20,
    "DT_QUINT8": 21, "DT_QUINT16": 22, "DT_RESOURCE": 23, "DT_STRING_REF": 24, "DT_DUAL": 25, "DT_VARIANT": 26, "DT_BF16": 27,
    "DT_INT4": 28, "DT_UINT1": 29, "DT_INT2": 30, "DT_UINT2": 31,
}  # fmt: skip
_LISTS = {
    "VT_LIST_NONE": 0, "VT_LIST_STRING": 1, "VT_LIST_INT": 2, "VT_LIST_FLOAT": 3, "VT_LIST_BOOL": 4, "VT_LIST_BYTES": 5,
    "VT_LIST_TENSOR_DESC": 6, "VT_LIST_TENSOR": 7, "VT_LIST_GRAPH": 8, "VT_LIST_NAMED_ATTRS": 9, "VT_LIST_DATA_TYPE": 10,
}  # fmt: skip
LIST_OF_TEXTS, LIST_OF_INTEGERS, LIST_OF_FLOATS, LIST_OF_TRUTHS = 1, 2, 3, 4
"""The val_type of a list, which says of an empty one what it would hold."""

_GRAPH_MESSAGES = {
    "ListInt": "1 list_i int64*",
    "ListListInt": "1 list_list_i ListInt*",
    "ListFloat": "1 list_f float*",
    "ListListFloat": "1 list_list_f ListFloat*",
    "NamedAttrs": "1 name string, 2 attr AttrDef{}",
    "ListValue": "2 s bytes*, 3 i int64*, 4 f float*, 5 b bool*, 7 bt bytes*, 8 td TensorDescriptor*, 9 t TensorDef*, "
    "10 g GraphDef*, 11 na NamedAttrs*, 12 dt int64*, 20 val_type ListValueType",
    "AttrDef": "1 list ListValue|, 2 s bytes|, 3 i int64|, 4 f float|, 5 b bool|, 7 bt bytes|, 10 func NamedAttrs|, "
    "11 td TensorDescriptor|, 12 t TensorDef|, 13 g GraphDef|, 14 list_list_int ListListInt|, 15 dt int64|, "
    "16 list_list_float ListListFloat|",
    "ShapeDef": "1 dim int64*",
    "TensorDescriptor": "1 name string, 2 dtype DataType, 3 shape ShapeDef, 4 layout string, 5 attr AttrDef{}, "
    "9 has_out_attr bool, 10 size int64, 11 weight_size int64, 12 reuse_input bool, 13 output_tensor bool, "
    "14 device_type string, 15 input_tensor bool, 16 real_dim_cnt int64, 17 reuse_input_index int64, 18 data_offset int64, "
    "19 cmps_size int64, 20 cmps_tab string, 21 cmps_tab_offset int64",
    "TensorDef": "1 desc TensorDescriptor, 2 data bytes",
    "OpDef": "1 name string, 2 type string, 5 input string*, 10 attr AttrDef{}, 20 has_out_attr bool, 21 id int64, "
    "22 stream_id int64, 23 input_name string*, 24 src_name string*, 25 src_index int64*, 26 dst_name string*, "
    "27 dst_index int64*, 28 input_i int64*, 29 output_i int64*, 30 workspace int64*, 31 workspace_bytes int64*, "
    "32 is_input_const bool*, 33 input_desc TensorDescriptor*, 34 output_desc TensorDescriptor*, 35 subgraph_name string*",
    "GraphDef": "1 name string, 4 input string*, 5 output string*, 6 op OpDef*, 11 attr AttrDef{}",
    "ModelDef": "1 name string, 2 version uint32, 3 custom_version string, 7 graph GraphDef*, 11 attr AttrDef{}",
}
_ONNX_MESSAGES = {
    "AttributeProto": "1 name string, 2 f float, 3 i int64, 4 s bytes, 7 floats float*, 8 ints int64*, 9 strings bytes*, "
    "20 type AttributeType",
    "NodeProto": "1 input string*, 2 output string*, 3 name string, 4 op_type string, 5 attribute AttributeProto*, "
    "6 doc_string string, 7 domain string",
    "GraphProto": "1 node NodeProto*, 2 name string",
    "ModelProto": "1 ir_version int64, 2 producer_name string, 3 producer_version string, 7 graph GraphProto",
}
"""The few of ONNX's fields that graph files have."""
_ONNX_TYPES = {"UNDEFINED": 0, "FLOAT": 1, "INT": 2, "STRING": 3, "FLOATS": 6, "INTS": 7, "STRINGS": 8}
ONNX_INTEGER, ONNX_TEXT, ONNX_INTEGERS, ONNX_TEXTS = 2, 3, 7, 8
"""The type of an attribute."""

_ge = message_classes("ge.proto", _GRAPH_MESSAGES, {"DataType": _TYPES, "ListValueType": _LISTS})
ModelDef, TensorMessage = (_ge[name] for name in ("ModelDef", "TensorDef"))
OnnxModel = message_classes("onnx", _ONNX_MESSAGES, {"AttributeType": _ONNX_TYPES})["ModelProto"]
_OTHERS = {"string": 13, "resource": 23, "variant": 26, "qint8": 18, "qint16": 19, "qint32": 20, "quint8": 21, "quint16": 22}
_NAMES = {number: name for name, number in _TYPES.items()}


def type_number(dtype: str) -> int:
    """The number of a TensorFlow element type; that of DT_UNDEFINED for one that the device has not."""
    return NUMBER_OF_TYPE.get(dtype, _OTHERS.get(dtype, 0))


def type_name(number: int) -> str:
    """The name of a type by its number, such as DT_FLOAT."""
    return _NAMES.get(number, "DT_UNDEFINED")
