"""The operator library as scripts reach it: ``npu_unary_ops.npu_unary_ops.gelu(x)``."""

from npu_bridge.helper import helper

npu_unary_ops = helper.get_gen_ops()
