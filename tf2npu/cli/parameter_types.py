"""Types of the commands' parameters, which check a value as it is read."""

from __future__ import annotations

import click


class FilledPath(click.Path):
    """A path; an empty one, mostly out of a variable that is not set, would mean the current folder."""

    def convert(self, value, param, ctx):
        if value == "":
            self.fail("the path is empty: is the variable set that it comes from? Write . for the current folder", param, ctx)
        return super().convert(value, param, ctx)


class Formats(click.ParamType):
    """A comma-separated list of report formats."""

    name = "formats"

    def convert(self, value, param, ctx):
        from tf2npu.report.writer import FORMATS

        if not isinstance(value, str):
            return value
        chosen = [part.strip() for part in value.split(",") if part.strip()]
        for part in chosen:
            if part not in FORMATS:
                self.fail(f"{part!r} is not one of {', '.join(FORMATS)}", param, ctx)
            if part == "xlsx":
                from tf2npu.report.formats import as_xlsx

                if not as_xlsx.is_possible():
                    self.fail(f"xlsx needs openpyxl, which is not installed: {as_xlsx.INSTALL}", param, ctx)
        return list(dict.fromkeys(chosen))


class DeviceCounts(click.ParamType):
    """A comma-separated list of numbers of devices."""

    name = "devices"

    def convert(self, value, param, ctx):
        from tf2npu.prediction.arguments import devices_named

        try:
            return devices_named(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def addresses(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """The hosts of a list.  Raises: click.BadParameter for one without a name, or that ssh would take for an option."""
    hosts = tuple(host.strip() for host in value.split(",")) if value is not None else ()
    for host in hosts:
        if not host or host.startswith("-"):
            raise click.BadParameter(f"{host!r} is no host: write addresses with commas between them")
        if hosts.count(host) > 1:
            raise click.BadParameter(f"{host} is there twice: --devices says how many ranks a host has")
    return hosts
