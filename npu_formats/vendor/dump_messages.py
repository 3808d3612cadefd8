"""The messages of a dump file's header, as classes that the protobuf library makes of their fields.

Source of names and numbers: the vendor's comparison program (msprobe, folder msaccucmp) and the documents of its dump files.
"""

from __future__ import annotations

from npu_formats.vendor.message_classes import message_classes

_MESSAGES = {
    "Shape": "1 dim uint64*",
    "OriginalOp": "1 name string, 2 output_index uint32, 3 data_type int32, 4 format int32",
    "DimRange": "1 dim_start uint32, 2 dim_end uint32",
    "OpOutput": "1 data_type int32, 2 format int32, 3 shape Shape, 4 original_op OriginalOp, 5 data bytes, 6 size uint64, "
    "7 original_shape Shape, 8 sub_format int32, 9 address uint64, 10 dim_range DimRange*, 11 offset uint64",
    "OpInput": "1 data_type int32, 2 format int32, 3 shape Shape, 4 data bytes, 5 size uint64, 6 original_shape Shape, "
    "7 sub_format int32, 8 address uint64, 9 offset uint64",
    "OpBuffer": "1 buffer_type int32, 2 data bytes, 3 size uint64",
    "OpAttr": "1 name string, 2 value string",
    "Workspace": "1 type int32, 2 data bytes, 3 size uint64",
    "DumpData": "1 version string, 2 dump_time uint64, 3 output OpOutput*, 4 input OpInput*, 5 buffer OpBuffer*, "
    "6 op_name string, 7 attr OpAttr*, 8 space Workspace*",
}
"""Fields of each message: number, name and type, with a star where it is repeated; enumerations are integers."""


DumpData = message_classes("toolkit.dumpdata", _MESSAGES)["DumpData"]
