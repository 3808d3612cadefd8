"""The number formats of a precision mode."""
