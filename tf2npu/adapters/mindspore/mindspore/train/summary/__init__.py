"""Summaries for MindInsight, which are not written here."""

from mindspore.train.summary.summary_record import SummaryRecord

__all__ = ["SummaryRecord"]
