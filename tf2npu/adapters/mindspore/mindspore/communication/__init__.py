"""Ranks of a job."""

from mindspore.communication.management import GlobalComm, get_group_size, get_rank, init

__all__ = ["GlobalComm", "get_group_size", "get_rank", "init"]
