"""The error of a report that does not fit into one file, for who writes it and who tells it."""


class TooLarge(Exception):
    """A report does not fit into one file; the text says what to do."""
