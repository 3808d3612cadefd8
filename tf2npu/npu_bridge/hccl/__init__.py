"""Part of npu_bridge."""
