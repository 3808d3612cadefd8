"""The command `tf2npu rules`: the list of rules, or one of them in full."""

from __future__ import annotations

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import report_language_option


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=5,
    summary="List the rules, or explain one.",
    examples=(
        "tf2npu rules NPU101",
        "tf2npu rules NPU1 --lang zh",
    ),
)
@click.argument("rule_id", metavar="[ID]", required=False)
@click.option(
    "--format", "chosen", type=click.Choice(["text", "json", "md"]), default="text", show_default=True, help="Form of stdout."
)
@report_language_option
def rules(rule_id: str | None, chosen: str, language: str) -> None:
    """List the rules, or explain the one with this ID (or those with this prefix)."""
    from tf2npu.report.formats import rule_list

    found = rule_list.entries(rule_id or "", language)
    if not found or rule_id == "":
        named = rule_id or "''"
        raise click.UsageError(f"no rule has the id {named}; `tf2npu rules` lists them")
    click.echo(rule_list.render(found, chosen, in_full=rule_id is not None, language=language), nl=False)
