"""The op vocabulary: the sets of op types that every layer agrees on, and the data of the ops that only the compiler makes.

An op whose name begins with "_" is never in a user's graph, but for `_Npu...`, the ops of the shim.  What passes put into a graph
in the place of several ops has its name beside its kernel, in `kernels/fused`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_runtime.graph.ir import Graph, Node, Value

# Sources: nodes without inputs.
VARIABLES = frozenset({"VarHandleOp", "VariableV2", "Variable"})
"""Makers of variables: the first gives a handle of a resource, the others give a reference."""
SOURCES = frozenset({"Const", "Placeholder", "PlaceholderV2", "NoOp"})
"""Needed by both sides or by none: they never decide where a neighbour goes."""
FEED = "_Feed"
"""Source node for a fed value; attribute `value` is the Value of the user's graph it stands for."""
CONSTANT = "_Constant"
"""A node whose results are known when the program is made; they stand in the specs of its outputs."""
HOST_RESOURCE = "_HostResource"
"""Source node for a handle that eager code gives a function: of an iterator, a table, a dataset, a writer of summaries."""
LOOP_INPUT = "_LoopInput"
"""Source inside the body of a loop: a value that comes in, or the state of a loop variable."""

# Control flow of TensorFlow 1.
SWITCHES = frozenset({"Switch", "RefSwitch"})
MERGES = frozenset({"Merge", "RefMerge"})
ENTERS = frozenset({"Enter", "RefEnter"})
EXITS = frozenset({"Exit", "RefExit"})
NEXT_ITERATIONS = frozenset({"NextIteration", "RefNextIteration"})
LOOP_OPS = ENTERS | EXITS | NEXT_ITERATIONS | {"LoopCond", "ControlTrigger"}
STRUCTURAL = SWITCHES | MERGES | LOOP_OPS | {"PlaceholderWithDefault", "RefIdentity"}
"""Done by the executor for every element type."""
DRIVEN_LOOP = "_DrivenLoop"
"""A loop of eager code with host nodes inside, which its session runs turn by turn; what goes in and out is fetched and fed."""
WHILE = "_While"
"""A whole loop as one node; attribute `loop` is its Loop."""

# Handles and variables.
HANDLES = frozenset({"resource", "variant"})
"""Element types of values that cannot cross between device and host."""
STEP_RESOURCES = ("Stack", "TensorArray")
"""Beginnings of the names of ops whose resource lives for one host call. Source: an executor keeps them in its step container."""
HANDED_ON = frozenset({"Identity", "RefIdentity"})
"""Ops whose result is the memory of their input, element by element."""
PASSING = SWITCHES | MERGES | HANDED_ON
"""Ops that hand a variable on."""
READING = frozenset(
    {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp", "IsVariableInitialized"}
    | {"DisableCopyOnRead"}
)
"""Ops that are handed a variable and leave it as it is."""

# Attributes that the importer and the shim set.
NOT_COMPILED = "_without_npu_compile"
"""Attribute of operations that the script wants on the host."""
NOT_LOWERED = "_not_lowered"
"""Attribute of a functional conditional or loop that stays one node: why it cannot run on the device."""

TURNS = "turns"
"""Attribute of a node that stands for a whole loop: its Turns."""

Key = tuple[str, str]
"""(kind, name) of a variable: kind is "ref" or "resource"."""
Branch = tuple[Value, int]
"""A Switch's predicate and the output taken; or a Merge of which only the run tells whether an input is alive, and ANY_INPUT."""
ANY_INPUT = -1
Liveness = frozenset[Branch]
"""The branches that must all be taken for a node to run."""


def variable_key(node: Node) -> Key:
    """The key of a node's variable: two nodes may name the same one, and ref and resource variables have separate names.

    Source: shared_name, else the node's name, within a container.
    """
    kind, container = "resource" if node.op == "VarHandleOp" else "ref", node.attrs.get("container")
    name = node.attrs.get("shared_name") or node.name
    return kind, f"{container}:{name}" if container else name


@dataclass(frozen=True)
class HostCall:
    """Host nodes that TensorFlow runs in one call. time is even, device segments have the odd times between."""

    time: int
    nodes: tuple[str, ...]
    liveness: Liveness


Item = HostCall | Node
"""An item of a program, which runs its items one after another."""


@dataclass
class Loop:
    """The inside of a `_While` node.

    graph: one iteration; its sources are `_LoopInput` nodes.  constants: source by position of the node's inputs, for
    values that stay.  variables: source by position of the input it starts from.  condition: whether to run the body.
    body: nodes that only run when it holds; all others run once more for the last test.  next_values: of each variable,
    by its source.  results: source of the variable behind each output.  switched: the user's node that gave the body a variable,
    by its source.
    """

    graph: Graph
    constants: dict[int, str] = field(default_factory=dict)
    variables: dict[int, str] = field(default_factory=dict)
    condition: Value = field(default_factory=lambda: Value(""))
    body: frozenset[str] = frozenset()
    next_values: dict[str, Value] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)
    switched: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Turns:
    """The iterations and operations of the last call of a node that stands for a whole loop.

    flops_each: floating-point operations of one turn.  flops_test: of one test whether there is another.  count: turns.
    """

    flops_each: float = 0.0
    flops_test: float = 0.0
    count: int = 0

    @property
    def flops(self) -> float:
        """Floating-point operations of the last call."""
        return self.flops_each * self.count + self.flops_test * (self.count + 1)
