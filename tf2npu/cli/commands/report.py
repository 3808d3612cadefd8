"""The command `tf2npu report`: a report rendered again, or two compared."""

from __future__ import annotations

from pathlib import Path

import click

from tf2npu.cli.help import HelpPage
from tf2npu.cli.options import PATH, report_language_option
from tf2npu.cli.parameter_types import Formats


@click.command(
    cls=HelpPage,
    topic="Migrate",
    position=4,
    summary="Render a report again, or compare two.",
    option_groups={
        "Render": ("formats", "target", "prefix", "language", "run_files", "single_file", "opens"),
        "Compare": ("compared", "fail_on"),
    },
    examples=(
        "tf2npu report out/tf2npu-report/report.json --format md",
        "tf2npu report --compare old.json new.json --fail-on new",
    ),
)
@click.argument("report_file", type=PATH, metavar="[REPORT.json]", required=False)
@click.option("--format", "formats", type=Formats(), default="text", show_default=True, metavar="LIST", help="Formats to write.")
@click.option("--report", "target", type=PATH, metavar="DIR", help="Where to write.  [default: beside REPORT.json or NEW.json]")
@click.option("--prefix", default="", metavar="PATH", help="Where SRC lies in the repository, for github, gitlab and junit.")
@click.option(
    "--compare",
    "compared",
    type=PATH,
    nargs=2,
    metavar="OLD.json NEW.json",
    help="Say what was closed, what is new and what moved between two reports; as text, html, md or json.",
)
@click.option("--fail-on", type=click.Choice(["new"]), help="With --compare: exit 1 where there is new work.")
@click.option("--single-file", is_flag=True, help="Write report.html, one file with all pages, up to 5 MB.")
@click.option("--open", "opens", is_flag=True, help="Show the report in the browser.")
@click.option(
    "--run", "run_files", type=PATH, multiple=True, metavar="RUN.json",
    help="Put this run into it, from `tf2npu run --report RUN.json`; may be given several times.",
)  # fmt: skip
@report_language_option
def report(
    report_file: Path | None, compared: tuple[Path, Path] | None, fail_on: str | None, prefix: str, formats: list[str],
    single_file: bool, opens: bool, run_files: tuple[Path, ...], **options,
) -> None:  # fmt: skip
    """Render a report again, or compare two reports; a folder stands for the report.json in it.

    One format alone other than html and xlsx goes to stdout, unless --report names a folder.
    """
    from tf2npu.commands import compare_reports
    from tf2npu.commands import report as work

    if compared is None and report_file is not None and fail_on is None:
        chosen = ["one-file"] if single_file else formats
        raise SystemExit(work.render_again(report_file, chosen, prefix=prefix, opens=opens, run_files=run_files, **options))
    if compared is None or report_file is not None or prefix or single_file or opens or run_files:
        raise click.UsageError("name one REPORT.json to render, or two reports behind --compare, which --fail-on needs")
    raise SystemExit(compare_reports.run(*compared, formats, **options, fail_on=fail_on))
