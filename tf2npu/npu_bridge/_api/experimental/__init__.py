"""Experimental names in one place."""

from npu_bridge._host_differences import accept
from npu_bridge.experimental.file_constant import file_constant
from npu_bridge.experimental.get_shape import getshape
from npu_bridge.experimental.hccl import get_actual_rank_size, get_user_rank_id, get_user_rank_size
from npu_bridge.experimental.image import decode_image

accept("api_experimental")

__all__ = [
    "decode_image",
    "file_constant",
    "get_actual_rank_size",
    "get_user_rank_id",
    "get_user_rank_size",
    "getshape",
]
