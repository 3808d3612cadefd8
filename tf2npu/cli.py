"""The `tf2npu` command: options in, exit code out. What it does lives in the modules that it imports when needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import tf2npu
from npu_formats.environment import TF2NPU_LANG
from tf2npu.check_options import check
from tf2npu.compare_options import compare
from tf2npu.dump_command import dump
from tf2npu.filled_path import FilledPath
from tf2npu.help_page import CommandGroup
from tf2npu.option_types import DeviceCounts, Formats, addresses
from tf2npu.script_words import RunCommand, ScriptCommand

EXIT_LEFT, EXIT_USAGE, EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED = 1, 2, 3, 70, 130
"""Exit codes: something is left for a person, the command was wrong (click's own), a file could not be converted, a defect of
ours (EX_SOFTWARE of sysexits.h), ended by SIGINT (as shells report it)."""


_path = FilledPath(path_type=Path)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tf2npu.__version__, prog_name="tf2npu")
def cli() -> None:
    """Move TensorFlow 1.x training code to Ascend NPUs: convert it, read what was done, run it on a simulated device."""


_language = click.option(
    "--lang", "language", type=click.Choice(["en", "zh"]), default="en", show_default=True, envvar=TF2NPU_LANG,
    help="Language of the report; report.json stays English.",
)  # fmt: skip


def _places(command):
    """The options that `predict` and `profile` share: where the document goes."""
    options = (
        click.option("--json", "json_file", type=_path, metavar="FILE", help="Write JSON; - for stdout instead of the text."),
        click.option("--report", "folder", type=_path, metavar="DIR", help="Write it as a web page into this folder."),
        click.option(
            "--lang", "language", type=click.Choice(["en", "zh"]), default="en", show_default=True, envvar=TF2NPU_LANG,
            help="Language of text and page.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def _selection(command):
    """The options that `convert` and `scan` share."""
    options = (
        click.option(
            "--distributed",
            type=click.Choice(["none", "auto", "horovod", "tf"]),
            help="Also convert distributed training; auto: the one kind that is found.  [default: none]",
        ),
        click.option("--main", metavar="FILE", help="The script that is started, relative to SRC."),
        click.option("--report", "report_folder", type=_path, metavar="DIR", help="Where the report goes."),
        click.option(
            "--format", "formats", type=Formats(), default="html,json,sarif", show_default=True, metavar="LIST",
            help="Formats of the report: html, json, sarif, text, github, gitlab, junit, md, csv, xlsx.",
        ),
        click.option("--open", "opens", is_flag=True, help="Show the report in the browser."),
        click.option("--jobs", type=click.IntRange(1), metavar="N", help="Most worker processes.  [default: all processors]"),
        click.option("--select", metavar="IDS", help="Only these rules; prefixes count (NPU1,NPU501)."),
        click.option("--ignore", metavar="IDS", help="Without these rules."),
        click.option("--baseline", type=_path, metavar="FILE", help="Known findings: shown, but no reason to exit 1."),
        click.option("--write-baseline", is_flag=True, help="Write what is found to the --baseline FILE."),
        click.option("--decisions", type=_path, metavar="FILE", help="Carry out the decisions that a report exported."),
        click.option("--python2", is_flag=True, help="Bring files that only Python 2 reads to Python 3, where that is safe."),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Do not convert these files (as in .gitignore)."),
        click.option("--no-gitignore", is_flag=True, help="Also convert what .gitignore files name."),
        _language,
        click.option("-q", "--quiet", "volume", flag_value="quiet", help="Print the verdict alone."),
        click.option("-v", "--verbose", "volume", flag_value="verbose", help="Print every finding."),
        click.option("--force", is_flag=True, help="Write into a folder that is not ours; back up files changed by hand."),
        click.option("--no-cache", is_flag=True, help="Do not use or fill the cache of results."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@click.argument("src", type=_path)
@click.argument("out", type=_path, required=False)
@_selection
@click.option("--diff", is_flag=True, help="Print what would change as a patch; write nothing into OUT.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; write nothing into OUT.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a file would change.")
@click.option("--in-place", is_flag=True, help="Convert the files of SRC themselves; `tf2npu undo SRC` puts them back.")
@click.option("--unsafe-fixes", is_flag=True, help="Also make the fixes that may change values or shapes.")
@click.option(
    "--data", type=click.Choice(["link", "copy", "skip"]), default="link", show_default=True,
    help="What becomes of files over 10 MB that are no source.",
)  # fmt: skip
def convert(src: Path, out: Path | None, **options) -> None:
    """Convert SRC (a file, a folder, a notebook, or - for stdin to stdout) into OUT, and report on it."""
    from tf2npu import commands

    raise SystemExit(commands.convert(src, out, **options))


@cli.command()
@click.argument("src", type=_path, default=".")
@click.option("--force", is_flag=True, help="Also restore files that changed since; they are kept as NAME.tf2npu-backup.")
def undo(src: Path, force: bool) -> None:
    """Put back what the last `convert SRC --in-place` replaced. SRC is that of the conversion, or one file of it."""
    from tf2npu import undo_command

    raise SystemExit(undo_command.run(src, force=force))


@cli.command()
@click.argument("src", type=_path)
@_selection
def scan(src: Path, **options) -> None:
    """Report on SRC without converting it; writes the report only."""
    from tf2npu import commands

    raise SystemExit(commands.scan(src, **options))


@cli.command()
@click.argument("rule_id", metavar="[ID]", required=False)
@click.option(
    "--format", "chosen", type=click.Choice(["text", "json", "md"]), default="text", show_default=True, help="Form of stdout."
)
@_language
def rules(rule_id: str | None, chosen: str, language: str) -> None:
    """List the rules, or explain the one with this ID (or those with this prefix)."""
    from tf2npu.report.formats import rule_list

    found = rule_list.entries(rule_id or "", language)
    if not found or rule_id == "":
        named = rule_id or "''"
        raise click.UsageError(f"no rule has the id {named}; `tf2npu rules` lists them")
    click.echo(rule_list.render(found, chosen, in_full=rule_id is not None, language=language), nl=False)


@cli.command()
@click.argument("name")
@click.option(
    "--format", "chosen", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form of stdout."
)
def api(name: str, chosen: str) -> None:
    """What becomes of the API called NAME on the NPU: any spelling (tf.x, tensorflow.compat.v1.x, hvd.x), or a pattern."""
    from tf2npu.report.formats import api_list

    found = api_list.entries(name)
    if not found:
        near = ", ".join(api_list.suggestions(name))
        raise click.UsageError(f"no API is called {name}" + (f"; did you mean {near}?" if near else ""))
    click.echo(api_list.render(found, chosen, name), nl=False)


@cli.command()
@click.argument("report_file", type=_path, metavar="[REPORT.json]", required=False)
@click.option("--format", "formats", type=Formats(), default="text", show_default=True, metavar="LIST", help="Formats to write.")
@click.option("--report", "target", type=_path, metavar="DIR", help="Where to write.  [default: beside REPORT.json or NEW.json]")
@click.option("--prefix", default="", metavar="PATH", help="Where SRC lies in the repository, for github, gitlab and junit.")
@click.option(
    "--compare",
    "compared",
    type=_path,
    nargs=2,
    metavar="OLD.json NEW.json",
    help="Say what was closed, what is new and what moved between two reports; as text, html, md or json.",
)
@click.option("--fail-on", type=click.Choice(["new"]), help="With --compare: exit 1 where there is new work.")
@click.option("--single-file", is_flag=True, help="Write report.html, one file with all pages, up to 5 MB.")
@click.option("--open", "opens", is_flag=True, help="Show the report in the browser.")
@click.option(
    "--run", "run_files", type=_path, multiple=True, metavar="RUN.json",
    help="Put this run into it, from `tf2npu run --report RUN.json`; may be given several times.",
)  # fmt: skip
@_language
def report(
    report_file: Path | None, compared: tuple[Path, Path] | None, fail_on: str | None, prefix: str, formats: list[str],
    single_file: bool, opens: bool, run_files: tuple[Path, ...], **options,
) -> None:  # fmt: skip
    """Render a report again, or compare two reports.

    One format alone other than html and xlsx goes to stdout, unless --report names a folder.
    """
    from tf2npu import commands, progress_command

    if compared is None and report_file is not None and fail_on is None:
        chosen = ["one-file"] if single_file else formats
        raise SystemExit(commands.render_again(report_file, chosen, prefix=prefix, opens=opens, run_files=run_files, **options))
    if compared is None or report_file is not None or prefix or single_file or opens or run_files:
        raise click.UsageError("name one REPORT.json to render, or two reports behind --compare, which --fail-on needs")
    raise SystemExit(progress_command.run(*compared, formats, **options, fail_on=fail_on))


@cli.command(cls=RunCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "--devices",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Devices, a process each; with --hosts on each host.",
)
@click.option(
    "--hosts", callback=addresses, metavar="A,B", help="Run on several hosts, A first; each has this folder and this Python."
)
@click.option("--rank-table", metavar="FILE", help="Run the devices that a rank table has on this machine.")
@click.option(
    "--engine", type=click.Choice(["embedded", "mpi"]), help="What moves tensors between ranks.  [default: mpi on several hosts]"
)
@click.option(
    "--launcher-exec", default="ssh", show_default=True, metavar="COMMAND", help="Starts a command on a host, as ssh does."
)
@click.option("--soc", metavar="NAME", help="Chip to simulate.")
@click.option("--option", "pairs", multiple=True, metavar="KEY=VALUE", help="Session option; may be repeated.")
@click.option("--all-sessions", is_flag=True, help="Run every session on the device, also without NpuOptimizer.")
@click.option("--strict", is_flag=True, help="Refuse what the real package refuses, and runs without the device.")
@click.option(
    "--report", "report_folder", type=_path, metavar="DIR",
    help="Put the run into this report; or into a file RUN.json, for `tf2npu report --run`.",
)  # fmt: skip
@click.option(
    "--profile", "profile_folder", type=_path, metavar="DIR", help="Write a profile of the run into a folder below DIR."
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as python -m does.")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def run(words: tuple[str, ...], module: str | None, pairs: tuple[str, ...], report_folder: Path | None, **options) -> None:
    """Run a migrated script on the simulated device. Everything after SCRIPT or -m MODULE is the script's own."""
    from tf2npu import commands

    raise SystemExit(commands.run(list(words), module=module, pairs=pairs, report=report_folder, **options))


@cli.command(cls=ScriptCommand)
@click.option("--soc", default="Ascend910A", show_default=True, metavar="NAME[,NAME]", help="Chips to predict for.")
@click.option("--steps", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Steps of training to run.")
@click.option(
    "--devices", type=DeviceCounts(), default="1", show_default=True, metavar="N[,N]", help="Numbers of devices, for the scaling."
)
@click.option("--iterations-per-loop", type=click.IntRange(1), metavar="K", help="Steps that a loop on the device does.")
@click.option("--precision", metavar="MODE", help="A precision_mode, such as allow_mix_precision.")
@click.option("--batch", type=click.IntRange(1), multiple=True, metavar="B ...", help="Further batch sizes to predict.")
@click.option("--shapes-only", is_flag=True, help="Compute shapes only, where the numbers do not matter: faster.")
@_places
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def predict(words: tuple[str, ...], json_file: Path | None, folder: Path | None, language: str, **options) -> None:
    """Predict the time of a training step of SCRIPT on a chip, and say what would make it shorter.

    SCRIPT is migrated, or plain TensorFlow 1 that is converted for this run. It is stopped after --steps steps. These options
    may stand before and after it; other words, and all that stand behind --, are its own.
    """
    from tf2npu import prediction_command

    place = prediction_command.Place(json_file, folder, language)
    raise SystemExit(prediction_command.predict(words, place=place, **options))


@cli.command()
@click.argument("paths", type=_path, nargs=-1, metavar="PROF_*...")
@click.option("--compare", "compared", type=_path, nargs=2, metavar="A B", help="Compare two profiles by type of operator.")
@_places
def profile(
    paths: tuple[Path, ...], compared: tuple[Path, Path] | None, json_file: Path | None, folder: Path | None, language: str
) -> None:
    """Show what a profiler recorded, here or on a real host: where the time of a step went, operator by operator.

    The JSON of an earlier prediction or profile does as well, so that the two can be compared.
    """
    from tf2npu import prediction_command

    raise SystemExit(prediction_command.profile(paths, compared, prediction_command.Place(json_file, folder, language)))


@cli.command(cls=ScriptCommand)
@click.option("--soc", default="Ascend910A", show_default=True, metavar="NAME", help="Chip to tune for.")
@click.option(
    "--mode",
    type=click.Choice(["GA", "RL", "RL,GA"]),
    default="RL,GA",
    show_default=True,
    help="GA: products; RL: all else of the AI cores.",
)
@click.option("--steps", type=click.IntRange(1), default=3, show_default=True, metavar="N", help="Steps of training to run.")
@click.option("--devices", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="Devices, a process each.")
@click.option("--json", "json_file", type=_path, metavar="FILE", help="Write JSON; - for stdout instead of the text.")
@click.argument("words", nargs=-1, metavar="SCRIPT [ARGS]...")
def tune(words: tuple[str, ...], **options) -> None:
    """Tune the operators of SCRIPT's training graphs for a chip, and keep what is better in the knowledge bank.

    SCRIPT is migrated, or plain TensorFlow 1 that is converted for this run. It is stopped after --steps steps. The bank is in
    TUNE_BANK_PATH, or else where the vendor's tools have it.
    """
    from tf2npu import tuning_command

    raise SystemExit(tuning_command.tune(words, **options))


@cli.group(cls=CommandGroup)
def bank() -> None:
    """The knowledge bank of tuned operators: show, merge, export."""


@bank.command("show")
@click.argument("path", type=_path, required=False, metavar="[FILE_OR_FOLDER]")
@click.option("--json", "json_file", type=_path, metavar="FILE", help="Write JSON; - for stdout instead of the text.")
def bank_show(path: Path | None, json_file: Path | None) -> None:
    """Show your bank, another one, or a tune_result file."""
    from tf2npu import tuning_command

    raise SystemExit(tuning_command.show_bank(path, json_file))


@bank.command("merge")
@click.argument("paths", type=_path, nargs=-1, metavar="FILE_OR_FOLDER...")
def bank_merge(paths: tuple[Path, ...]) -> None:
    """Put other banks into yours; of two tilings for one operator the faster one stays."""
    from tf2npu import tuning_command

    raise SystemExit(tuning_command.merge_banks(paths))


@bank.command("export")
@click.argument("out", type=_path, metavar="OUT")
def bank_export(out: Path) -> None:
    """Put your bank, of all chips, into one file for others."""
    from tf2npu import tuning_command

    raise SystemExit(tuning_command.export_bank(out))


cli.add_command(dump)
cli.add_command(compare)
cli.add_command(check)


@cli.command()
@click.option("--script", type=_path, metavar="FILE", help="Check this script too: imports that come too early, options.")
def doctor(script: Path | None) -> None:
    """Versions, which npu_bridge wins and why, and what can run here."""
    from tf2npu import doctor as checks
    from tf2npu.report.escape import visible

    click.echo("\n".join(map(visible, checks.lines())))
    if script is not None:
        click.echo("\n".join(map(visible, checks.script_lines(script))))


@cli.command()
def devices() -> None:
    """The simulated devices, in the manner of npu-smi."""
    from tf2npu import doctor as checks

    click.echo("\n".join(checks.device_lines()))


def main(argv: list[str] | None = None) -> None:
    """Run the command and exit with its code; a defect of ours costs the user one line, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a file name may hold what the terminal cannot show
    _require_current_folder()
    try:
        cli.main(argv, prog_name="tf2npu", standalone_mode=False)
    except click.ClickException as error:
        from tf2npu.report.escape import visible_lines

        # It may quote what stands on the command line; click marks the attribute as final.
        setattr(error, "message", visible_lines(error.message))  # noqa: B010
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("tf2npu: interrupted; every file is whole, old or new, and running again finishes", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains once more at exit
        sys.exit(EXIT_INTERRUPTED - 2 + 13)  # what a shell reports for SIGPIPE
    except Exception as error:
        from tf2npu import crash_log

        click.echo(crash_log.one_line(error), err=True)
        sys.exit(EXIT_INTERNAL)


def _require_current_folder() -> None:
    """End with one line where another process has removed the folder that relative paths start from."""
    try:
        os.getcwd()
    except OSError as error:
        click.echo(f"tf2npu: the current folder cannot be used ({error.strerror}): change to one that is there", err=True)
        sys.exit(EXIT_USAGE)
