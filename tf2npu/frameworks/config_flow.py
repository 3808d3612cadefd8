"""The flow of RunConfigs through one file to Estimators: small facts, which `config_pairs` joins over a project.

The facts are the edges of a value-flow graph. A node is a text:

    var:SCOPE:NAME     a variable of a function or of the module (SCOPE is ""); `@LINE` behind it: as it is from that line on
    attr:CLASS:NAME    an attribute of a class of this file and its instances; CLASS is * where the object is not known
    result:FUNCTION    what a function gives
    method:CLASS:NAME  what a method gives that is called on `self`
    import:LEVEL:NAME  something imported; LEVEL -1: by a star import.  call:LEVEL:NAME  what it gives when it is called
    dict:PLACE         a dictionary that is written out
    made:PLACE         a RunConfig that can become an NPURunConfig
    some:NODE          what a node holds but for None
    none, ?            None; something that is not followed

`[key]` behind a node is the value of that key, `[*]` that of every key; a variable has them without `@LINE`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

Place = tuple[int, int]
"""Line from 1, and column from 0 in bytes of UTF-8, of the first name of the callee."""
UNKNOWN = "?"
NOTHING = "none"


@dataclass(frozen=True)
class FlowCall:
    """A call that may give a config to a function of the project.

    target: function:PATH, class:PATH, base:CLASS:METHOD (called by the class), super:CLASS:METHOD, self:CLASS:METHOD, method:NAME
    of an object that is not known, or import:LEVEL:NAME.  arguments: by position or name,
    with `**` for a dictionary whose entries are arguments.  is_open: more arguments may come out of `*args`.
    """

    target: str
    arguments: tuple[tuple[str, str], ...] = ()
    is_open: bool = False


@dataclass(frozen=True)
class FlowFunction:
    """Parameters in order, the nodes of their defaults, and whether a decorator may change arguments and result.

    kind: function, method, classmethod or staticmethod.
    """

    parameters: tuple[str, ...]
    defaults: dict[str, str]
    kind: str
    is_decorated: bool


@dataclass(frozen=True)
class ConfigFlow:
    """Value flow of one file.  edges: what gets a value and what gives it.  estimators: place, node of the config, and whether
    the class is one that can become an NPUEstimator.  used: functions and classes that are not only called.
    """

    edges: tuple[tuple[str, str], ...] = ()
    calls: tuple[FlowCall, ...] = ()
    functions: dict[str, FlowFunction] = field(default_factory=dict)
    classes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    estimators: tuple[tuple[Place, str, bool], ...] = ()
    used: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()  # names of attributes that are read and not called
    is_whole: bool = True  # False: nested too deeply to be followed


def pruned(flow: ConfigFlow) -> ConfigFlow:
    """The same flow without variables and results of which nothing is known: what no edge leads to is unknown anyway."""
    parameters = {f"var:{path}:{name}" for path, function in flow.functions.items() for name in function.parameters}
    sources: dict[str, set[str]] = {}
    for target, source in flow.edges:
        sources.setdefault(_base(target), set()).add(_base(source))
    blank = {node for node in sources if node.startswith(("var:", "result:")) and node not in parameters} | {UNKNOWN, NOTHING}
    n_before = 0
    while len(blank) != n_before:
        n_before = len(blank)
        blank = {node for node in blank if sources.get(node, set()) <= blank}

    def known(source: str) -> str:
        return UNKNOWN if source != NOTHING and _base(source) in blank else source

    edges = dict.fromkeys((target, known(source)) for target, source in flow.edges if _base(target) not in blank)
    calls = [replace(c, arguments=tuple((name, known(node)) for name, node in c.arguments)) for c in flow.calls]
    return replace(flow, edges=tuple(edges), calls=tuple(dict.fromkeys(calls)))


def _base(node: str) -> str:
    """A node without its key, its line and the marks before it."""
    return node.rpartition("some:")[2].partition("[")[0].partition("@")[0]
