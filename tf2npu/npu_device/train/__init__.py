"""Training, under the vendor's path."""

from npu_device.train import optimizer

__all__ = ["optimizer"]
