"""Every reader of files that others write: how a valid one is made, and the command or function that reads it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fuzzing import valid_files
from benchmarks.fuzzing.in_process import command, where
from benchmarks.fuzzing.valid_files import Files

MOST_SECONDS = 30
"""For one file. The valid ones take a tenth of a second at most, and a busy machine a hundred times of that."""


@dataclass(frozen=True)
class Reader:
    """make: valid files in a folder, and those of them that get damaged.  words: the command that reads them, with {} for the
    folder.  call: a function instead, where no command reads such a file without a run; its errors are the ones that it tells.
    is_slow: whether a file takes more than some milliseconds.  seal: makes a damaged file pass a checksum, so that what stands
    behind it is reached.
    """

    name: str
    make: Callable[[Path], Files]
    words: str = ""
    call: Callable[[Path], object] | None = None
    errors: tuple[type[Exception], ...] = ()
    is_slow: bool = False
    seal: Callable[[bytes], bytes] | None = None

    def __str__(self) -> str:
        return self.name


class TooSlow(BaseException):
    """A file took longer than MOST_SECONDS."""


def outcome(reader: Reader, folder: Path, codes: Sequence[int] = (0, 1, 2, 3)) -> str:
    """Read the files in a folder.  codes: that are taken; an error that a function tells counts as 2.

    Returns: "" for these, else what went wrong.
    """

    def too_slow(number: int, frame: object) -> None:
        raise TooSlow

    words = [word.format(folder) for word in reader.words.split()]
    before = signal.signal(signal.SIGALRM, too_slow)
    signal.alarm(MOST_SECONDS)
    try:
        return _called(reader, folder, codes) if reader.call else command(words, codes)
    except TooSlow:
        return f"more than {MOST_SECONDS} s"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _called(reader: Reader, folder: Path, codes: Sequence[int]) -> str:
    assert reader.call is not None
    try:
        reader.call(folder)
    except reader.errors as error:
        return "" if 2 in codes and "\n" not in str(error) else f"an error: {error!r:.300}"
    except Exception as error:
        return where(error)
    return ""


def _compared(folder: Path) -> None:
    """A comparison to its rows, without its page."""
    from tf2npu.comparison.comparison import compare
    from tf2npu.comparison.verdicts import Thresholds

    compare(folder / "dump", folder / "reference", graph=folder / "graph", step=None, thresholds=Thresholds())


def _profile_read(folder: Path) -> None:
    """The document has to fit its own schema, too."""
    from npu_formats.documents import prediction
    from tf2npu.profiles.reader import read_profile

    prediction.load("".join(prediction.pieces(read_profile(folder / "PROF_1"))).encode())


def _read_check_record(folder: Path) -> None:
    from npu_formats.documents.check_record import record_in

    record_in(folder / "record.json")


def _read_rank_table(folder: Path) -> None:
    from npu_formats.ranks.rank_table_file import read_rank_table

    read_rank_table(folder / "table.json", 4)


def _read_mix_list(folder: Path) -> None:
    from npu_runtime.analysis.precision_policy import read_mixlist

    read_mixlist(str(folder / "ops_info.json"))


def _read_switches(folder: Path) -> None:
    from npu_runtime.analysis.fusion_switches import OPTION, with_fusion_switches
    from npu_runtime.config import RuntimeConfig

    with_fusion_switches(RuntimeConfig(parameters={OPTION: str(folder / "fusion.cfg")}))


def _read_types(folder: Path) -> None:
    from npu_runtime.analysis.customized_types import read_customized_types

    read_customized_types(str(folder / "types.cfg"))


def _read_profiling_options(folder: Path) -> None:
    from npu_runtime.observers.profiler.settings import read_options

    read_options((folder / "options.json").read_text("utf-8", "replace"))


def _read_narrowing(folder: Path) -> None:
    from npu_runtime.observers.tuning.programs.operator_selection import read_narrowing

    read_narrowing(folder / "tune.json")


def _invalid_argument() -> tuple[type[Exception], ...]:
    from npu_runtime.errors import InvalidArgument

    return (InvalidArgument,)


def _no_profile() -> tuple[type[Exception], ...]:
    from tf2npu.profiles.csv_reader import NoProfile

    return (NoProfile,)


def _not_compared() -> tuple[type[Exception], ...]:
    from tf2npu.comparison.comparison import NoGraph, NothingCompared
    from tf2npu.comparison.step_folders import NoStep
    from tf2npu.comparison.unreadable import Unreadable

    return (NoGraph, NothingCompared, NoStep, Unreadable)


_CONVERT = "convert {}/src --dry-run --jobs 1 --no-cache"


def readers() -> list[Reader]:
    """All of them."""
    invalid, no_profile, not_compared = _invalid_argument(), _no_profile(), _not_compared()
    return [
        Reader("dump file, dump npy", valid_files.dump, "dump npy {0}/d {0}/out"),
        Reader("dump file, dump show", valid_files.dump, "dump show {}/d/Add.one.1.2.1700000000000000"),
        Reader("dump file, compare two dumps", valid_files.dump, "compare {0}/d {0}/r --out {0}/out"),
        Reader("mapping.csv, dump npy", valid_files.mapping, "dump npy {0}/d {0}/out"),
        Reader("mapping.csv, compare", valid_files.mapping, "compare {0}/d {0}/r --out {0}/out"),
        Reader("npy, dump show", valid_files.npy, "dump show {}/a.0.1.npy"),
        Reader("dump file, compare", valid_files.compared_dumps, call=_compared, errors=not_compared),
        Reader("npy, compare", valid_files.compared_npy, call=_compared, errors=not_compared),
        Reader("graph json, compare", valid_files.graph_json, call=_compared, errors=not_compared),
        Reader("nodes.json, compare", valid_files.nodes, call=_compared, errors=not_compared),
        Reader("ge_proto text, dump graph", valid_files.graph_text, "dump graph {0}/g.txt {0}/g.json"),
        Reader("op_summary", valid_files.op_summary, call=_profile_read, errors=no_profile),
        Reader("op_summary, profile", valid_files.op_summary, "profile {0}/PROF_1 --report {0}/page", is_slow=True),
        Reader("step_trace", valid_files.step_trace, call=_profile_read, errors=no_profile),
        Reader("memory_record and npu_mem", valid_files.memory, call=_profile_read, errors=no_profile),
        Reader("task_time", valid_files.task_time, call=_profile_read, errors=no_profile),
        Reader("msprof json", valid_files.trace, call=_profile_read, errors=no_profile),
        Reader("info.json", valid_files.info, call=_profile_read, errors=no_profile),
        Reader("prediction json, profile", valid_files.prediction, "profile {0}/p.json --report {0}/page", is_slow=True),
        Reader("report.json", valid_files.report, "report {}/report.json --format text,csv,md --report {}/again"),
        Reader("run.json", valid_files.run_record, "report {0}/report.json --run {0}/run.json --format json --report {0}/again"),
        Reader("record of a check", valid_files.check_record, call=_read_check_record, errors=(ValueError,)),
        Reader("pyproject.toml", valid_files.pyproject, _CONVERT),
        Reader("setup.cfg", valid_files.setup_cfg, _CONVERT),
        Reader(".gitignore", valid_files.gitignore, _CONVERT),
        Reader("notebook", valid_files.notebook, _CONVERT),
        Reader("launcher", valid_files.launcher, _CONVERT),
        Reader("baseline", valid_files.baseline, _CONVERT + " --baseline {0}/baseline.json"),
        Reader("decisions", valid_files.decisions, _CONVERT + " --decisions {0}/decisions.toml"),
        Reader("state and cache of a conversion", valid_files.output, "convert {0}/src {0}/out --jobs 1 --force", is_slow=True),
        Reader("state of a conversion in place", valid_files.undo, "undo {0}/src --force"),
        Reader("knowledge bank", valid_files.bank, "bank show {}/Ascend910A_operators.json", seal=valid_files.sealed),
        Reader("tune_result", valid_files.tune_result, "bank show {}/tune_result_pid1_20200808_180338123.json"),
        Reader("rank table", valid_files.rank_table, call=_read_rank_table, errors=(ValueError,)),
        Reader("older rank table", valid_files.older_rank_table, call=_read_rank_table, errors=(ValueError,)),
        Reader("mix list", valid_files.mix_list, call=_read_mix_list, errors=invalid),
        Reader("fusion switches", valid_files.switches, call=_read_switches, errors=invalid),
        Reader("customized types", valid_files.types, call=_read_types, errors=(*invalid, ValueError)),
        Reader("profiling_options", valid_files.profiling_options, call=_read_profiling_options),
        Reader("tuning of some operators", valid_files.narrowing, call=_read_narrowing, errors=(ValueError, OSError)),
    ]
