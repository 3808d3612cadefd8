"""The command `tf2npu api`: one API by any of its spellings, or those of a pattern."""

from __future__ import annotations

import click

from tf2npu.cli.help import HelpPage


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=6,
    summary="Say what becomes of an API on the NPU, and what to write.",
    examples=(
        "tf2npu api tf.nn.relu",
        "tf2npu api 'tf.contrib.*' --format json",
    ),
)
@click.argument("name")
@click.option(
    "--format", "chosen", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of stdout."
)
def api(name: str, chosen: str) -> None:
    """What becomes of the API called NAME on the NPU: any spelling (tf.x, tensorflow.compat.v1.x, hvd.x), or a pattern."""
    from tf2npu.commands import api_lookup

    found = api_lookup.entries(name)
    if not found:
        near = ", ".join(api_lookup.suggestions(name))
        raise click.UsageError(f"no API is called {name}" + (f"; did you mean {near}?" if near else ""))
    click.echo(api_lookup.render(found, chosen, name), nl=False)
