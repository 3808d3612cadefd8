"""The support table: one API a row, found by any of its names."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from tf2npu.findings import Verdict
from tf2npu.scanner.names import canonical

DATA = Path(__file__).parent / "data"
_SPECIAL = re.compile(r"__\w+__$")
# Where names live that `canonical` merged into another module which has not all of them.
_MERGED = (
    ("tensorflow.estimator.tpu.", "tensorflow.contrib.tpu."),
    ("tensorflow.data.experimental.", "tensorflow.contrib.data."),
    ("tensorflow.keras.", "tensorflow.contrib.keras."),
)


@dataclass(frozen=True)
class ChipSupport:
    """The answer of a list about an API on a chip.

    chip: a short name, as a heading.  family: the chips, as people call them.  word: the support, in a word.  note: the limits.
    """

    chip: str
    family: str
    word: str
    note: str = ""


@dataclass(frozen=True)
class Api:
    """One row.

    name: as its framework exports it first, e.g. "tensorflow.math.reduce_mean".  kind: module, class, function, member or
    constant.  rule: the id of the rule that handles it, or "".  source: where the verdict comes from.  note: what to know.
    aliases: other public names of the same object.  write: the name to write in its place, where no rule tells more.
    chips: the support on each chip, where chips differ.
    """

    name: str
    kind: str
    verdict: Verdict
    rule: str = ""
    source: str = ""
    note: str = ""
    aliases: tuple[str, ...] = ()
    write: str = ""
    chips: tuple[ChipSupport, ...] = ()


class ApiTable:
    """Rows with an index of every name. A row: name, kind, verdict, rule, source, note, aliases, bases, members.

    About names as people write them it knows what is alike in all frameworks; a framework with other ways has a class of its own.
    """

    def __init__(self, rows: Iterable[list[str]]) -> None:
        self._rows = {row[0]: row for row in rows}
        self._names = {alias: row[0] for row in self._rows.values() for alias in row[6].split()}
        self._names |= {name: name for name in self._rows}
        self.modules = frozenset(name for name, target in self._names.items() if self._rows[target][1] == "module")

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Api]:
        return (self._api(name) for name in self._rows)

    def find(self, name: str) -> Api | None:
        """The API that a qualified name means, or None where the table has none."""
        return self.reach(name)[0]

    def reach(self, name: str) -> tuple[Api | None, str]:
        """The API, and how much of the name it covers: what hangs on a function, constant or member belongs to that.

        "tensorflow.flags.FLAGS.x" is a use of tensorflow.flags.FLAGS.
        """
        plain = name.replace("()", "")
        row = self._named(plain)
        if row is not None:
            return row, plain
        head, _, last = plain.rpartition(".")
        owner, covered = self.reach(head) if head else (None, "")
        if owner is None or _SPECIAL.match(last):
            return owner, plain
        if owner.kind in ("function", "constant", "member"):
            return owner, covered
        return (self._member(owner, last), plain) if owner.kind == "class" else (None, plain)

    def holds(self, name: str) -> bool:
        """Whether there are names below a name, which may have no row itself."""
        return any(known.startswith(f"{name}.") for known in self._names)

    def names(self) -> list[str]:
        """Every name, private spellings too."""
        return sorted(self._names)

    @property
    def judged_for(self) -> str:
        """The chips that verdicts are about, where the table tells chips apart; else ""."""
        return ""

    def qualified(self, name: str) -> str:
        """The qualified name of what people write."""
        return name

    def shown(self, name: str) -> str:
        """A qualified name as people write it."""
        return name

    def public(self, aliases: Iterable[str]) -> list[str]:
        """The other names of an API that are worth showing."""
        return list(aliases)

    def is_dated(self, name: str) -> bool:
        """Whether a name is a further spelling, which only those mean who write its beginning."""
        return False

    def fitting(self, pattern: str) -> dict[str, str]:
        """The rows that a pattern fits by one of their names, each with the first such name, in the order of these.

        An object may have names in several modules, as in tf.nn and in tf.linalg.
        """
        takes_dated = self.is_dated(pattern)
        found = {}
        for name, row in self._rows.items():
            names = (name, *self.public(row[6].split())) if takes_dated or not self.is_dated(name) else ()
            if fit := next((each for each in names if fnmatchcase(each, pattern)), ""):
                found[name] = fit
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def signature(self, name: str) -> str:
        """The signature of a function, class or method, or ""."""
        return ""

    def not_simulated(self, name: str) -> tuple[str, str] | None:
        """The part of a name that a simulated run does not have, with what to use there or ""; None where it has all."""
        return None

    def _named(self, plain: str) -> Api | None:
        found = self._names.get(plain) or self._names.get(canonical(plain))
        if found is None:
            other = next((new + plain[len(old) :] for old, new in _MERGED if plain.startswith(old)), "")
            found = self._names.get(other)
        return None if found is None else self._api(found)

    def _member(self, owner: Api, member: str) -> Api | None:
        """A member with a row of its own, or one that the class or a base of it is known to have."""
        for name in (owner.name, *self._bases(owner.name)):
            if f"{name}.{member}" in self._rows:
                return self._api(f"{name}.{member}")
            if member in self.members(name):
                return _inherited(f"{owner.name}.{member}", owner)
        return None

    def _bases(self, owner: str) -> list[str]:
        return [base for base in self._rows[owner][7].split() if base in self._rows]

    def members(self, owner: str) -> list[str]:
        """Names of the attributes of a class, without those of its bases."""
        return self._rows[owner][8].split()

    def _api(self, name: str) -> Api:
        _, kind, verdict, rule, source, note, aliases = self._rows[name][:7]
        return Api(name, kind, Verdict(verdict), rule, source, note, tuple(aliases.split()))


def _inherited(name: str, owner: Api) -> Api:
    """A member has its class's verdict; one of a class that is converted runs, once its class is."""
    verdict = Verdict.RUNS if owner.verdict is Verdict.CONVERTED else owner.verdict
    return Api(name, "member", verdict, "", f"as {owner.name}", owner.note if verdict is owner.verdict else "")


class TensorFlowTable(ApiTable):
    """The table of TensorFlow and Horovod, whose names people write shorter, and of which a simulated run lacks parts."""

    def qualified(self, name: str) -> str:
        return qualified(name)

    def shown(self, name: str) -> str:
        return shown(name)

    def public(self, aliases: Iterable[str]) -> list[str]:
        return [name for name in aliases if ".python." not in name and not name.startswith("tensorflow.compat.v2.")]

    def is_dated(self, name: str) -> bool:
        return name.startswith("tensorflow.compat.")

    def signature(self, name: str) -> str:
        return signatures().get(name, "")

    def not_simulated(self, name: str) -> tuple[str, str] | None:
        part = not_simulated_part(name)
        return None if part is None else (part, not_simulated()[part])


@lru_cache(maxsize=1)
def table() -> TensorFlowTable:
    """The table of TensorFlow and Horovod."""
    return TensorFlowTable(rows())


def rows() -> list[list[str]]:
    """The rows of the table of TensorFlow and Horovod."""
    return _read("apis.csv")


@lru_cache(maxsize=1)
def signatures() -> dict[str, str]:
    """Signature of each function, class and method of TensorFlow 1.15 and Horovod, by the name of its row."""
    return {row[0]: row[1] for row in _read("signatures.csv")}


@lru_cache(maxsize=1)
def not_simulated() -> dict[str, str]:
    """APIs that TensorFlow 1.15 has and a simulated run has not, with what to use there, or "".

    A name stands for all that is below it.
    """
    return {row[0]: row[1] for row in _read("not_simulated.csv")}


def not_simulated_part(name: str) -> str | None:
    """The module, class or function of a qualified name that a simulated run does not have, or None where it has all."""
    parts = name.split(".")
    heads = (".".join(parts[:n]) for n in range(2, len(parts) + 1)) if parts[0] == "tensorflow" else ()
    return next((head for head in heads if head in not_simulated()), None)


def _read(name: str) -> list[list[str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def qualified(name: str) -> str:
    """The qualified name of what people write: `tf.nn.relu` is tensorflow.nn.relu, `hvd.rank` is horovod.tensorflow.rank."""
    root, dot, rest = name.partition(".")
    return {"tf": "tensorflow", "hvd": "horovod.tensorflow"}.get(root, root) + dot + rest


def shown(name: str) -> str:
    """A qualified name as people write it."""
    for full, short in (("tensorflow", "tf"), ("horovod.tensorflow", "hvd")):
        if name == full or (name.startswith(f"{full}.") and not name.startswith("horovod.tensorflow.keras")):
            return short + name[len(full) :]
    return name
