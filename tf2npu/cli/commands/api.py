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
        "tf2npu api torch.cuda.synchronize",
        "tf2npu api 'torch.nn.*' --soc 910B2",
    ),
)
@click.argument("name")
@click.option(
    "--framework",
    type=click.Choice(["auto", "tensorflow", "torch"]),
    default="auto",
    show_default=True,
    help="Framework whose names are meant; auto goes by the first part of NAME.",
)
@click.option("--soc", default="", metavar="NAME", help="Chip that the verdict is about; each of PyTorch's without it.")
@click.option(
    "--format", "chosen", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of stdout."
)
def api(name: str, framework: str, soc: str, chosen: str) -> None:
    """What becomes of the API called NAME on the NPU: any spelling (tf.x, torch.x, hvd.x, tensorflow.compat.v1.x), or a
    pattern."""
    from tf2npu.commands import api_lookup

    table = api_lookup.table_for(framework, name, soc)
    found = api_lookup.entries(table, name)
    if not found:
        near = ", ".join(api_lookup.suggestions(table, name))
        raise click.UsageError(f"no API is called {name}" + (f"; did you mean {near}?" if near else ""))
    click.echo(api_lookup.render(table, found, chosen, name), nl=False)
