"""A path on the command line."""

from __future__ import annotations

import click


class FilledPath(click.Path):
    """A path; an empty one, mostly out of a variable that is not set, would mean the current folder."""

    def convert(self, value, param, ctx):
        if value == "":
            self.fail("the path is empty: is the variable set that it comes from? Write . for the current folder", param, ctx)
        return super().convert(value, param, ctx)
