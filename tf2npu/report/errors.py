"""Errors of reading and writing reports, for who raises them and who tells them."""


class NotAReport(Exception):
    """A file is not a report that this version can read; the text says why."""


class TooLarge(Exception):
    """A report does not fit into one file; the text says what to do."""
