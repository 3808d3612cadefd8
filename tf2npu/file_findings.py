"""Findings about a file as a whole: its place in the tree, its size, what stands in the way of reading or writing it.

They come from the folder walk and from the writer, not from a rule, and are listed by `tf2npu rules` beside the rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from tf2npu.findings import Finding, Level, Span, doc_of

_WHOLE_FILE = Span(1, 1, 1, 1)


@dataclass(frozen=True)
class FileFinding:
    """A kind of finding about whole files.  done_when: what is true once a person has done what it asks for, if it does."""

    id: str
    title: str
    why: str
    done_when: str = ""

    def finding(self, level: Level, message: str, span: Span = _WHOLE_FILE) -> Finding:
        """A finding of this kind, about the whole file unless it has a place."""
        return Finding(self.id, level, span, message, doc=doc_of(self.id))


UNREADABLE = FileFinding(
    "NPU001",
    "cannot be read or written",
    "The operating system refused to read the file, or to write its output; the message holds its words. The other "
    "files are done. Mend the cause (permissions, disk space) and run again.",
    "The next `tf2npu convert` lists the file as converted, unchanged or copied, and not as failed.",
)
SPECIAL = FileFinding(
    "NPU002",
    "special file left out",
    "Named pipes, sockets and devices hold no content that could be copied; a program that needs one makes it itself.",
)
LARGE_DATA = FileFinding(
    "NPU003",
    "large data file",
    "Files over 10 MB that are no source code are not duplicated: the output holds a symbolic link to the original, "
    "so that relative paths work. `--data copy` copies them, `--data skip` leaves them out.",
)
CONFLICT = FileFinding(
    "NPU004",
    "changed by hand in the output",
    "A file in the output folder is not what an earlier conversion wrote there, so a person changed it. It is never "
    "overwritten: the new version stands beside it as NAME.tf2npu-new. Merge the two, or run with `--force`, which "
    "moves the changed file to NAME.tf2npu-backup first.",
    "No NAME.tf2npu-new stands beside the file, and the next `tf2npu convert` lists no conflict.",
)
GONE = FileFinding(
    "NPU005",
    "gone from the source, changed in the output",
    "The source file no longer exists, but its converted version was changed by hand and so is kept. Delete it there "
    "when it is not needed.",
    "The next `tf2npu convert` does not name the file any more.",
)
INTERNAL = FileFinding(
    "NPU006",
    "the converter failed on this file",
    "A defect of tf2npu, not of the file. The file was copied as it is and the others are converted; the log file "
    "named at the end of the run has the details.",
    "The next `tf2npu convert` lists the file as converted or unchanged.",
)
LINK = FileFinding(
    "NPU007",
    "symbolic link",
    "Links are kept as links. One that leads out of the source folder points to files that were not converted; one "
    "whose target does not exist is kept all the same.",
)
LARGE_SOURCE = FileFinding(
    "NPU008",
    "source file too large to convert",
    "A Python file over 10 MB is generated data in all likelihood and would take minutes to parse: it is copied as it "
    "is. Split it, or move the TensorFlow code out of it.",
    "No Python file over 10 MB is left, and the next `tf2npu convert` looks at the smaller ones.",
)

EXCLUDED = FileFinding(
    "NPU009",
    "excluded from conversion",
    "A pattern of `--exclude`, of `exclude` in pyproject.toml or of a .gitignore file fits this source file, so it was "
    "not looked at; the output holds it as it is. `--no-gitignore` converts what .gitignore names.",
)
PYTHON2 = FileFinding(
    "NPU010",
    "Python 2 source",
    "With `--python2` a file that only Python 2 reads is brought to Python 3 by those fixers of lib2to3 that keep its meaning, "
    "and then converted, and so is what both Pythons read, in one way each, in files of the same project. A division becomes "
    "`//` where the code shows two whole numbers, and stays where it shows a real one. Any other division, and text that may be "
    "meant as bytes, is for you to look at.",
    "`python3 -m py_compile` reads the file without an error, and the next `tf2npu convert` converts it.",
)

STALE_DECISION = FileFinding(
    "NPU011",
    "decision that fits no more",
    "An entry of the `--decisions` file was made for findings that are not there any more: the code, or what is said of it, has "
    "changed. It is applied to nothing else. Decide again in the new report, or take the entry out of the file.",
)
REFUSED_DECISION = FileFinding(
    "NPU012",
    "decision not carried out",
    "What a person decided cannot be done at this place without breaking the file, so the place is left as work. The message "
    "says why: do it by hand, or decide in another way.",
)
LAUNCH_SETTINGS = FileFinding(
    "NPT601",
    "launchers and settings for CUDA",
    "Shell scripts, and settings in YAML, JSON and TOML, hold names of devices and backends that the converted scripts know by "
    "others. They are named and stay as they are: only a person knows which scripts read them.",
    "No launcher and no settings file names cuda or nccl where a converted script reads it, and the script starts by them.",
)

FILE_FINDINGS = (
    UNREADABLE, SPECIAL, LARGE_DATA, CONFLICT, GONE, INTERNAL, LINK, LARGE_SOURCE, EXCLUDED, PYTHON2, STALE_DECISION,
    REFUSED_DECISION, LAUNCH_SETTINGS,
)  # fmt: skip
