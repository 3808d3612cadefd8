"""The record of a framework that the converter needs. The framework fills it in, and registers it by being a folder here.

The scanner reads Python text and the engine shows it to rules; both know frameworks by these records alone. What a record calls
`script` is a `scanner.script.Script`, and `project` is `scanner.project_facts.ProjectFacts`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tf2npu.findings import Finding, Seen
from tf2npu.frameworks.config_flow import ConfigFlow

if TYPE_CHECKING:
    from tf2npu.config import Config


N = TypeVar("N", bound=ast.AST)


@dataclass(frozen=True, eq=False)
class Adapter:
    """The package by which scripts of a framework use an NPU, and how the converter imports it.

    module: the module that has its symbols.  names: what `from module import *` binds.  shared: of these, names that other
    packages export as well.  rule, message: the id of the rule that adds the import, and what it says.
    side_effect: the line by which a script that is run imports the adapter, whatever it uses of it; empty where it need not.
    same: names that mean the same before and after a star import.  reasons: why a symbol is imported that nothing names.
    comes_behind: the import comes behind the first import of the framework, not before it.
    alias: the name by which the module is imported as a whole, where scripts take no names from it.
    is_wanted: whether a script needs the import though it is not run.  first_need: the first place of a script that fails
    where the adapter has not been imported above it.  package_in: the package that has the adapter's modules under some
    settings, and is imported in its place; empty where that is the adapter itself.  for_entries: whether a script that is run
    imports the adapter though nothing in it asks for that.
    """

    module: str
    names: frozenset[str]
    rule: str
    message: str
    side_effect: Callable[[Config], str] = lambda config: ""
    shared: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()
    reasons: Mapping[str, str] = field(default_factory=dict)
    comes_behind: bool = False
    alias: str = ""
    is_wanted: Callable[[Any], bool] = lambda script: False
    first_need: Callable[[Any], Any] = lambda script: None
    package_in: Callable[[Config], str] = lambda config: ""
    for_entries: bool = True

    @property
    def root(self) -> str:
        """The top-level module of the adapter."""
        return self.module.partition(".")[0]

    def spelled(self, module: str, config: Config) -> str:
        """A module of the adapter as it is imported under these settings."""
        package = self.package_in(config)
        is_own = f"{module}.".startswith(f"{self.root}.")
        return f"{package}{module.removeprefix(self.root)}" if package and is_own else module


class ParsedNodes(Protocol):
    """All nodes of a module but contexts, level by level."""

    def __iter__(self) -> Iterator[ast.AST]:
        """Go through all of them."""

    def of(self, kind: type[N]) -> list[N]:
        """The nodes of one kind."""

    @property
    def chains(self) -> Sequence[tuple[ast.Name | ast.Attribute, str, str]]:
        """The names and the chains of attributes from a name: the node, the name, and the attributes with a dot before each."""


@dataclass(frozen=True)
class ParsedFile:
    """A file as the scanner read it, for a framework to find its own facts in.

    nodes: of `tree`.  imports: dotted modules and names, with the level of a relative
    import.  imported: (local name, canonical name, line) of names of frameworks.  references: (canonical name, line) of each
    use of one.  assigned: canonical names that module-level names get.  targets: other imported names and where they come from.
    has_stars: names that it does not bind may come from star imports of the project; has_any_stars: or of a framework.
    """

    path: str
    text: str
    tree: ast.Module
    nodes: ParsedNodes
    calls: list[ast.Call]
    import_statements: list[ast.Import | ast.ImportFrom]
    imports: list[tuple[int, str]]
    imported: list[tuple[str, str, int]]
    references: list[tuple[str, int]]
    assigned: list[str]
    targets: dict[str, tuple[int, str]]
    has_stars: bool
    has_any_stars: bool


@dataclass(frozen=True)
class FoundFacts:
    """The facts that a framework found in a file.

    flags: names of what holds for the file; each framework has names of its own.  trains: whether it changes variables.
    distribution: kinds of distribution, and where.  config_flow: how configs go through the file, where that is followed.
    evidence: the first place that only another release of the framework can run, where the framework looks for such places.
    running: functions that do what a script is run for in the release that the file tells.  runs: whether the file does that
    when it is loaded, told by something else.
    """

    flags: frozenset[str] = frozenset()
    trains: bool = False
    distribution: tuple[tuple[str, Seen], ...] = ()
    config_flow: ConfigFlow | None = None
    evidence: Seen | None = None
    running: frozenset[str] = frozenset()
    runs: bool = False


@dataclass(frozen=True)
class SourceFix:
    """A place of a source that is written for a sister of a framework, as it is with the framework itself.

    start, end: the place, in characters.  changes: ranges, and what comes in their place; none for a remark.
    level: of the finding, as `findings.Level` names them.
    """

    start: int
    end: int
    message: str
    changes: tuple[tuple[int, int, str], ...] = ()
    level: str = "fixed"


@dataclass(frozen=True)
class Rewriting:
    """A source that is written for a sister of a framework, brought to the framework itself.

    rule: the one that says so.  fixes: the places, in the order of the text.  obstacles: places for which the framework has
    nothing; where there is one, no file of the program is rewritten.  foreign: imports that are obstacles where the tree does not
    have what they import.  is_wanted: whether the file by itself is a reason to rewrite the program.
    is_older: whether the file has what went before the next release of the framework came.
    modules: top-level modules of the sister, which are the project's own where the tree has them.
    """

    rule: str
    fixes: tuple[SourceFix, ...]
    obstacles: tuple[Seen, ...]
    foreign: tuple[Seen, ...]
    is_wanted: bool
    is_older: bool
    modules: frozenset[str]


Edges = Mapping[str, frozenset[str]]
"""For each file of a tree the files that it imports."""


@dataclass
class ProjectPart:
    """The facts of a framework about all files of a tree together; picklable, so each field of a subclass is data."""

    def begin(self, project: Any, edges: Edges) -> None:
        """Find what depends on imports alone."""

    def finish(self, project: Any, edges: Edges) -> None:
        """Find what depends on which files are run."""

    def including(self, project: Any, facts: Any, targets: frozenset[str]) -> ProjectPart:
        """The part of a project with one more file that no other imports.  targets: the files that this one imports."""
        return self

    def works(self, path: str | None) -> bool:
        """Whether something that is called in a file does what a script is run for."""
        return False

    def takes_in(self, path: str) -> bool:
        """Whether a file is converted though it does not import the framework."""
        return False


def instance_of(name: str) -> str | None:
    """The object that a call gives when its name is a class's, told by the capital letter; or None."""
    last = name.rpartition(".")[2]
    return f"{name}()" if last[:1].isupper() and not name.endswith(")") else None


@dataclass(frozen=True, eq=False)
class Framework:
    """A framework whose scripts are converted.

    name: of its folder.  title: as people write it.  family: what `--framework` calls it and its other releases; none where
    its files are converted whatever is asked.
    roots: top-level modules whose names the resolver follows.  bound_by: top-level modules whose import makes a script one of
    this framework; a release shares them with the release before it.  is_for: whether a script that imports one is written for
    this release.  mention: regular expression of what a file holds that may concern the framework; `mention_in_notebooks` of
    what a notebook may hold besides.  mention_where_reached: of what a file may hold that a script of the framework imports.
    monorepo: packages below which the framework may be imported, too.
    canonical: the one spelling of a name.  rule_ids: how the ids of the rules begin that look at its scripts; none for a
    framework without rules.

    returned: the object that a call gives.  followed: whether it is told to other files that a function gives this object.
    objects_by_use: objects by (scope, name), told by what is done with them: of a walked file, and its facts or None.

    running: functions that do what a script is run for.  work_methods: methods that do, of objects that are told by their
    names.  training_methods: ends of the qualified names of methods that do.  starts: functions by which a process joins its
    job.  added_names, added_arguments: what a conversion calls objects that it makes itself, and arguments that it adds.
    fed_inputs: the expressions that feed a model in a call of something with this last name, each as "train" or "eval".
    api_roots: top-level modules whose names stand in its API table, first the one under which the table has them.
    apis: the table, an `api_support.table.ApiTable`.  no_api: what is said of a name that the table does not have.
    is_fully_known: whether the table has all names of a module, so that another one is in no release.
    facts: what it finds in a file.  part: what it finds in a tree.  settings: the settings for a file of a project.
    place_of_next: the place of a file, by its facts, that tells of the next release of the framework.
    rewriting: a source, by its path, text and tree, that is written for a sister of the framework, or None.
    said_of_settings: what there is to say of a launcher or a settings file, by its path and its text.
    """

    name: str
    title: str
    roots: frozenset[str]
    family: str = ""
    rule_ids: tuple[str, ...] = ()
    adapter: Adapter | None = None
    bound_by: frozenset[str] = frozenset()
    is_for: Callable[[Any], bool] = lambda script: True
    mention: str = ""
    mention_in_notebooks: str = ""
    mention_where_reached: str = ""
    monorepo: tuple[str, ...] = ()
    canonical: Callable[[str], str] = str
    returned: Callable[[str], str | None] = instance_of
    followed: Callable[[str], bool] = lambda name: False
    objects_by_use: Callable[[Any, Any], dict[tuple[int, str], str]] = lambda walked, facts: {}
    running: frozenset[str] = frozenset()
    work_methods: frozenset[str] = frozenset()
    training_methods: tuple[str, ...] = ()
    starts: frozenset[str] = frozenset()
    added_names: frozenset[str] = frozenset()
    added_arguments: frozenset[str] = frozenset()
    fed_inputs: Callable[[ast.Call, str], list[tuple[str, ast.expr]]] | None = None
    api_roots: tuple[str, ...] = ()
    apis: Callable[[], Any] = lambda: None
    no_api: str = "no name that is known"
    is_fully_known: Callable[[str], bool] = lambda module: False
    facts: Callable[[ParsedFile], FoundFacts] = lambda file: FoundFacts()
    part: Callable[[], ProjectPart] = ProjectPart
    settings: Callable[[Config, str, Any], Config] = lambda config, path, project: config
    rewriting: Callable[[str, str, ast.Module], Rewriting | None] = lambda path, text, tree: None
    place_of_next: Callable[[Any], Seen | None] = lambda facts: None
    said_of_settings: Callable[[str, str], Iterable[Finding]] = lambda path, text: ()

    def owns(self, rule: str) -> bool:
        """Whether a rule looks at this framework's scripts, by its id."""
        return rule.startswith(self.rule_ids)

    def is_bound_by(self, imports: Any) -> bool:
        """Whether one of these imports, with their levels, is of the framework itself."""
        return any(level == 0 and module.partition(".")[0] in self.bound_by for level, module in imports)
