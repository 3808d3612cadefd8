"""Optimizers, under the vendor's path."""

from npu_device.train.optimizer.npu_loss_scale_optimizer import NpuLossScaleOptimizer

__all__ = ["NpuLossScaleOptimizer"]
