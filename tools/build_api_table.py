"""Writes tf2npu/api_support/data and docs/api_contradictions.md from the raw tables beside it: `python tools/build_api_table.py`.

Raw: the public names of TensorFlow 1.15 and Horovod 0.19.5 (`api_inventory.py` wrote them), names that came with later
TensorFlow, the levels that the vendor of the NPU publishes, decisions by hand with their reasons, and the rules of the
converter, which are tried on every name that they match. The same input gives the same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import spellings

from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import Level
from tf2npu.frameworks.tensorflow1.framework import FRAMEWORK
from tf2npu.frameworks.tensorflow1.names import by_pattern, with_public_prefix
from tf2npu.rules import rule_parts
from tf2npu.scanner.names import canonical

HERE = Path(__file__).parent
RAW = HERE / "api_table"
DATA = HERE.parent / "tf2npu" / "api_support" / "data"
SPELLINGS = HERE.parent / "tf2npu" / "frameworks" / "tensorflow1" / "spellings.csv"
PAGE = HERE.parent / "docs" / "api_contradictions.md"
COLUMNS = ("name", "kind", "verdict", "rule", "source", "note", "aliases", "bases", "members")

NOT_SIMULATED = "NPU968"  # what a simulated run has not: a verdict is about an NPU host, which has it
# What a published level means for a name that no rule and no decision speaks of; the worst first.
LEVELS = {
    "unsupported": ("unsupported", ""),
    "deprecated": ("manual", "the list calls it deprecated: use the official API in its place"),
    "under_analysis": ("unknown", "the list promises nothing yet"),
    "unsupported_harmless": ("host", "has no effect on the NPU, and does not stop the run"),
    "supported_after_conversion": ("runs", "the list counts on a conversion; none is needed"),
    "runs_after_conversion": ("runs", "the list counts on a conversion; none is needed"),
    "supported": ("runs", ""),
}
MODES = {"none": "", "horovod": "with --distributed horovod", "tf": "with --distributed tf"}
"""Ways to convert what trains on several ranks, in the order in which a rule is asked, and the note of what is converted so."""
AFTER_CONVERSION = ("supported_after_conversion", "runs_after_conversion")


@dataclass
class Entry:
    """A public object: its first name, all its names, and what is known of it."""

    name: str
    kind: str
    signature: str = ""
    bases: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    members: dict[str, tuple[str, str]] = field(default_factory=dict)  # name -> kind, signature


@dataclass(frozen=True)
class Judgement:
    """A verdict with the rule behind it, where it comes from, and what to know."""

    verdict: str
    rule: str = ""
    source: str = ""
    note: str = ""


def read_inventory(path: Path) -> list[Entry]:
    """The objects of one table that `api_inventory.py` wrote."""
    entries: dict[str, Entry] = {}
    owner = Entry("", "")
    for line in path.read_text(encoding="utf-8").splitlines():
        name, kind, signature, bases, _, others = (line.split("\t") + [""] * 5)[:6]
        head, _, member = name.rpartition(".")
        if name.startswith(".") or (head in entries and entries[head].kind == "class" and kind != "class"):
            (owner if name.startswith(".") else entries[head]).members.setdefault(member, (kind, signature))
            continue
        names = [name] + [n for n in others.split() if ".python." not in n]
        private = sorted({_one_keras(n) for n in others.split() if ".python." in n} - {*names})
        entry = Entry(name, kind, signature, bases.split(), names, private)
        entries[name] = entry
        owner = entry if kind == "class" else owner
    return list(entries.values())


def _one_keras(name: str) -> str:
    """Keras under its private path is looked up under the public one."""
    return by_pattern(with_public_prefix(name)) if name.startswith("tensorflow.python.keras.") else name


def qualified(name: str) -> str:
    """The vendor's spelling as a qualified name: `tf.x` and `hvd.x`."""
    root, _, rest = name.partition(".")
    full = {"tf": "tensorflow", "hvd": "horovod.tensorflow"}[root]
    return f"{full}.{rest}" if rest else full


def read_levels() -> dict[str, tuple[str, str]]:
    """Published level of each name, the newer and the older one."""
    with (RAW / "vendor_levels.csv").open(encoding="utf-8", newline="") as file:
        return {qualified(row["name"]): (row["level"], row["level_2021"]) for row in csv.DictReader(file)}


def read_decisions() -> list[tuple[str, Judgement]]:
    """Patterns of names with verdict and reason; the first that matches counts."""
    with (RAW / "decisions.csv").open(encoding="utf-8", newline="") as file:
        return [(row["name"], Judgement(row["verdict"], row["rule"], "decision", row["reason"])) for row in csv.DictReader(file)]


def rule_verdicts() -> dict[str, Judgement]:
    """Verdicts of the rules on a plain use of each name that they match, tried on a line of code."""
    found: dict[str, Judgement] = {}
    for part in rule_parts():
        is_asked = part.on in ("call", "reference", "module") and part.id != NOT_SIMULATED
        for name in (n for n in part.matches if is_asked and ".__dict__" not in n):
            if name.startswith(("tensorflow.", "horovod.")) and name.replace("()", "") not in found:
                verdict, note = _tried(part.id, name, part.on)
                if verdict:
                    found[name.replace("()", "")] = Judgement(verdict, part.id, f"rule {part.id}", note or part.title)
    return found


def _tried(rule: str, name: str, on: str) -> tuple[str, str]:
    owner, _, method = name.partition("().")
    made = "tensorflow.data.Dataset.range(9)" if owner == "tensorflow.data.Dataset" else f"{owner}()"
    use = f"made = {made}\nmade.{method}(8)" if method else (f"{name}(a, b)" if on == "call" else f"x = {name}")
    is_horovod = name.startswith("horovod.")
    imports = (
        "import tensorflow\n" + "import horovod.tensorflow\nimport horovod.tensorflow.keras\nimport horovod.keras\n" * is_horovod
    )
    levels: dict[str, set[Level]] = {}
    for mode, note in MODES.items():
        result = convert_source(f"{imports}{use}\n", config=Config(distributed=mode, dialect="tf1"))  # also names of 2
        levels[mode] = {finding.level for finding in result.findings if finding.rule == rule}
        if Level.FIXED in levels[mode]:
            return "converted", note
        if not levels["none"] and not is_horovod:
            return "", ""
    own_mode = levels["horovod" if is_horovod else "none"]
    return next((level.value for level in (Level.UNSUPPORTED, Level.MANUAL) if level in own_mode), ""), ""


class Judge:
    """Decides about one object after the other, and notes where its sources contradict each other."""

    def __init__(self) -> None:
        self.levels = read_levels()
        self.decisions = read_decisions()
        self.rules = rule_verdicts()
        self.first_names: set[str] = set()
        self.contradictions: list[tuple[str, str, str]] = []  # kind, name, what was decided

    def judge(self, entry: Entry) -> Judgement:
        """The verdict on an object: by hand, by rule, by the published list, in this order."""
        judged = self._by_hand(entry.names) or self._by_rule(entry.names) or self._by_list(entry) or self._unlisted(entry)
        self._compare(entry, judged)
        return judged

    def judge_member(self, entry: Entry, member: str) -> Judgement | None:
        """A verdict on a method of its own, where somebody speaks of it."""
        names = [f"{name}.{member}" for name in entry.names]
        listed = next((self.levels[name] for name in names if name in self.levels), None)
        judged = self._by_hand(names) or self._by_rule(names)
        if judged is None and listed is not None and listed[0] not in AFTER_CONVERSION:
            return Judgement(*_with_source(listed[0]))
        return judged

    def _by_hand(self, names: list[str]) -> Judgement | None:
        for pattern, judged in self.decisions:
            if fnmatchcase(names[0], pattern) or pattern in names:  # a wildcard speaks of first names only
                return judged
        return None

    def _by_rule(self, names: list[str]) -> Judgement | None:
        for name in [*names, *map(canonical, names)]:
            if name in self.rules:
                return self.rules[name]
        return None

    def _by_list(self, entry: Entry) -> Judgement | None:
        listed = {name: self.levels[name][0] for name in entry.names if name in self.levels}
        official = {level for name, level in listed.items() if not name.startswith("tensorflow.contrib.")}
        for level in LEVELS if official else reversed(LEVELS):
            if level == "deprecated" and entry.kind == "module":
                return None  # what is used of it counts
            if level in (official or set(listed.values())):
                return _hosted(entry, Judgement(*_with_source(level)))
        return None

    def _unlisted(self, entry: Entry) -> Judgement:
        if entry.kind == "module":
            return Judgement("runs", source="TensorFlow 1.15", note="a module: what is used of it counts")
        if entry.kind == "constant":
            return Judgement("runs", source="TensorFlow 1.15", note="a constant")
        return Judgement("unknown", source="TensorFlow 1.15", note="not in the published list")

    def _compare(self, entry: Entry, judged: Judgement) -> None:
        listed = {name: self.levels[name][0] for name in entry.names if name in self.levels}
        official = {n: level for n, level in listed.items() if not n.startswith("tensorflow.contrib.")}
        names = official or listed
        if len(set(names.values())) > 1:
            said = ", ".join(f"{name} {level}" for name, level in sorted(names.items()))
            self.contradictions.append(("spellings", entry.name, f"{said}: {_said(judged)}"))
        levels = set(names.values())
        if levels & set(AFTER_CONVERSION) and judged.verdict != "converted":
            self.contradictions.append(("conversion", entry.name, f"{'/'.join(sorted(levels))}: {_said(judged)}"))
        elif levels == {"supported"} and judged.verdict in ("manual", "unsupported", "unknown"):
            self.contradictions.append(("support", entry.name, _said(judged)))


def _with_source(level: str) -> tuple[str, str, str, str]:
    verdict, note = LEVELS[level]
    return verdict, "", f"published list: {level.replace('_', ' ')}", note


def _said(judged: Judgement) -> str:
    why = judged.note or judged.source
    return f"{judged.verdict} ({judged.rule + ': ' if judged.rule else ''}{why})" if why else judged.verdict


def _hosted(entry: Entry, judged: Judgement) -> Judgement:
    names = [name for name in entry.names if not name.startswith("tensorflow.compat.v2.")]
    if judged.verdict == "runs" and any(fnmatchcase(name, pattern) for name in names for pattern in HOST):
        return Judgement("host", judged.rule, judged.source, judged.note)
    return judged


def _host_patterns() -> list[str]:
    lines = (RAW / "host_names.txt").read_text(encoding="utf-8").splitlines()
    return [f"tensorflow.{line}" for line in lines if line and not line.startswith("#")]


HOST = _host_patterns()


def rows(judge: Judge) -> Iterator[tuple[str, ...]]:
    """The rows of apis.csv, sorted by name."""
    tensorflow = read_inventory(RAW / "tensorflow_1_15.tsv")
    horovod = [_with_vendor_spelling(entry) for entry in read_inventory(RAW / "horovod_0_19_5.tsv")]
    entries = _with_dated(tensorflow) + horovod
    public = {name for entry in entries for name in entry.names}
    for entry in entries:
        entry.private = [name for name in entry.private if name not in public]
    known = {name for entry in entries for name in entry.names + entry.private}
    judge.first_names = {entry.name for entry in entries}
    made: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        judged = _of_namesake(entry, made) or judge.judge(entry)
        for row in _rows_of(judge, entry, judged):
            made[row[0]] = row
    made = {name: _with_official_verdict(row, made) for name, row in made.items()}
    for row in [*_private_modules(entries, known), *_newer(judge, known), *_only_listed(judge, known, made)]:
        made.setdefault(row[0], row)
    yield from sorted(made.values())


def _with_official_verdict(row: tuple[str, ...], made: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """A deprecated spelling that the converter reads as an official name has the verdict of that."""
    official = made.get(canonical(row[0]), row)
    if official is row or not row[4].endswith(": deprecated"):
        return row
    return (*row[:2], *official[2:4], f"as {official[0]}", official[5], *row[6:])


def _with_dated(entries: list[Entry]) -> list[Entry]:
    """Objects that only tf.compat.v2 has come last, so that their namesakes are known."""
    return sorted(entries, key=lambda e: (e.name.startswith("tensorflow.compat.v2."), e.name))


def _of_namesake(entry: Entry, made: dict[str, tuple[str, ...]]) -> Judgement | None:
    """The v2 form of an API builds the same ops as its TF1 namesake; what a rule does to that one, nobody does to this."""
    head = "tensorflow.compat.v2."
    if not entry.name.startswith(head):
        return None
    plain = "tensorflow." + entry.name[len(head) :]
    row = made.get(plain) or next((r for r in made.values() if plain in r[6].split()), None)
    if row is None or row[2] == "converted":
        return None
    return Judgement(row[2], row[3], f"as {row[0]}", row[5])


def _with_vendor_spelling(entry: Entry) -> Entry:
    """Names of horovod.tensorflow.keras are judged as those of horovod.tensorflow, too: the list knows one `hvd` only."""
    rest = entry.name.replace("horovod.tensorflow.keras", "horovod.tensorflow")
    entry.names = [entry.name, *([rest] if rest != entry.name else [])]
    return entry


def _rows_of(judge: Judge, entry: Entry, judged: Judgement) -> Iterator[tuple[str, ...]]:
    aliases = " ".join(n for n in [*entry.names[1:], *entry.private] if n not in judge.first_names)
    members = " ".join(sorted(entry.members))
    yield (entry.name, entry.kind, *_cells(judged), aliases, " ".join(entry.bases), members)
    for member in entry.members:
        own = judge.judge_member(entry, member)
        if own is not None:
            yield (f"{entry.name}.{member}", "member", *_cells(own), "", "", "")


def _cells(judged: Judgement) -> tuple[str, str, str, str]:
    return judged.verdict, judged.rule, judged.source, judged.note


def _private_modules(entries: list[Entry], known: set[str]) -> Iterator[tuple[str, ...]]:
    """Modules that TensorFlow is written in: old code imports them whole."""
    modules = {name.rpartition(".")[0] for entry in entries for name in entry.private if name.startswith("tensorflow")}
    judged = Judgement("runs", source="TensorFlow 1.15", note="a private module: what is used of it counts")
    for name in sorted(modules.union(spellings.UNLISTED_MODULES) - known):
        yield (name, "module", *_cells(judged), "", "", "")


def _newer(judge: Judge, known: set[str]) -> Iterator[tuple[str, ...]]:
    for name in (RAW / "tensorflow_2_15_only.txt").read_text(encoding="utf-8").split():
        if name not in known:
            judged = judge.rules.get(name) or Judgement("unsupported", "", "TensorFlow 2.15", "not in TensorFlow 1.15")
            yield (name, "function", *_cells(judged), "", "", "")


def _only_listed(judge: Judge, known: set[str], made: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Names that the published list or a rule has and no inventory."""
    for name in sorted({*judge.levels, *judge.rules} - known - made.keys()):
        if "(" in name:
            judge.contradictions.append(("name", name, "a call, not a name: no reference can match it"))
            continue
        owner, _, member = name.rpartition(".")
        is_member = owner in made and (member in made[owner][8].split() or made[owner][1] == "class")
        judged = judge._by_hand([name]) or judge.rules.get(name)
        if judged is None and is_member:
            continue
        judged = judged or Judgement(*_with_source(judge.levels[name][0]))
        yield (name, "member" if is_member else "function", *_cells(judged), "", "", "")


def signatures() -> Iterator[tuple[str, str]]:
    """Name and signature of every function, class and method."""
    for path in ("horovod_0_19_5.tsv", "tensorflow_1_15.tsv"):
        for entry in read_inventory(RAW / path):
            if entry.signature.startswith("("):
                yield entry.name, entry.signature
            for member, (_, signature) in sorted(entry.members.items()):
                if signature:
                    yield f"{entry.name}.{member}", signature


def as_csv(columns: Iterable[str], table: Iterable[Iterable[str]]) -> str:
    """The table as CSV text."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(table)
    return file.getvalue()


_HEADINGS = {
    "spellings": "One object, several names, several levels. The strictest level of an official name counts; where all names "
    "are of `tf.contrib`, the mildest.",
    "conversion": "Listed as working after a conversion, where this converter changes nothing.",
    "support": "Listed as supported, where this table says otherwise.",
    "name": "Listed under something that is no name.",
}


def contradictions_page(judge: Judge) -> str:
    """docs/api_contradictions.md."""
    lines = [
        "# Contradictions in the published support levels",
        "",
        "Written by `tools/build_api_table.py`. Each line: the name, what was found, and the verdict with its reason.",
    ]
    for kind, heading in _HEADINGS.items():
        found = sorted({(name, said) for k, name, said in judge.contradictions if k == kind})
        lines += ["", f"## {kind.capitalize()}: {len(found)}", "", heading, ""]
        lines += [f"- `{name}`: {said}" for name, said in found]
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    """Text of everything that is written."""
    judge = Judge()
    parts = [part for part in rule_parts() if FRAMEWORK.owns(part.id) and part.on in ("call", "reference")]
    names = spellings.rows(read_inventory(RAW / "tensorflow_1_15.tsv"), {name for part in parts for name in part.matches})
    return {
        SPELLINGS: as_csv(spellings.COLUMNS, names),
        DATA / "apis.csv": as_csv(COLUMNS, rows(judge)),
        DATA / "signatures.csv": as_csv(("name", "signature"), sorted(dict(signatures()).items())),
        PAGE: contradictions_page(judge),
    }


def main() -> None:
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
