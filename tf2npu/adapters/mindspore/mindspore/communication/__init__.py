"""Ranks of a job."""

from mindspore.communication.management import get_group_size, get_rank, init

__all__ = ["get_group_size", "get_rank", "init"]
