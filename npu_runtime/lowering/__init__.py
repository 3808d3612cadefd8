"""Lowering: from a typed graph to the tasks of the chip, fused as the chip's compiler fuses them."""
