"""Random turns that hold a loop to the kernel that is to take its place, forward and backward.

TensorFlow writes the gradient of one cell in many ways. So the loop of gradients is not compared node by node: a turn of it is
computed of random numbers, and its results have to be those of the kernel. All its ops must be analytic functions, or the
comparisons of the hard sigmoid and of lengths, of which the numbers reach every side: such functions that agree at a random point
agree everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.analysis.loop_turn import Values, try_turn
from npu_runtime.analysis.sequence_loops import SequenceLoop, origin
from npu_runtime.graph.ir import Graph, Value
from npu_runtime.graph.ops import CONSTANT, HANDLES, LOOP_INPUT, Turns
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.fuse.recurrent_cells import Found

TURNS_TRIED = (3, 4)
"""The numbers of the turns that are tried, one after the other, between the lengths that are drawn."""
LONGEST = 6
"""The length of a row that goes on behind each turn that is tried, in turns."""
SCALES = (1.0, 1e3, 1e-2, 1.0)
"""Factors on the gradients of each trial: a change of large or of small ones alone is seen too. The steps are far apart for any
change of use, and stay where fp32 loses nothing."""
SPREAD = np.float32(3.0)
"""The standard deviation of sums is about so large that the hard sigmoid, which bends at -2.5 and 2.5, is tried on all sides."""
TOLERANCE = 2e-4
"""The largest difference, as a share of the largest result. In fp32 a sum of a thousand products is off by less than 1e-5 of it,
and a change of the cell that means anything by more than 1e-3."""
ROUNDING = float(np.finfo(np.float32).eps)
"""Largest error of a sum, as a share of it, where a small growth is told from a large sum: one unit of fp32's last place."""
FEWEST_ELEMENTS, FEWEST_TRIALS, MOST_TRIALS = 256, 3, 4
"""Elements of a state of which fewer trials are enough, one of each scale, and the number of trials where there are fewer."""
ANALYTIC = frozenset({
    LOOP_INPUT, "Add", "AddN", "AddV2", "BiasAdd", "BiasAddGrad", "BroadcastTo", "ConcatV2", "ExpandDims", "Fill",
    "Identity", "MatMul", "Mul", "Neg", "Pack", "Pad", "ReadVariableOp", "Reshape", "Sigmoid", "SigmoidGrad", "Slice",
    "Split", "SplitV", "Squeeze", "StackPopV2", "StackPushV2", "StridedSlice", "StridedSliceGrad", "Sub", "Sum", "Tanh",
    "TanhGrad", "TensorArrayGradV3", "TensorArrayReadV3", "TensorArrayWriteV3", "Tile", "Transpose", "Unpack", "ZerosLike",
})  # fmt: skip
"""Ops of floating-point results that the loop of a known cell may have."""
SIDED = frozenset({"Maximum", "Minimum", "Select", "SelectV2", "OnesLike"})
"""Ops that have sides: of the hard sigmoid and of lengths."""
PLAIN_NUMBERS = frozenset({0.0, 0.2, 0.5, 1.0})
"""Numbers that the gradient of a known cell has: others would be a change of it."""


class Draw:
    """Random numbers for the values outside of loops, the same for one value in both loops.

    seed: the number of the trial.  lengths: values outside that are drawn even where they are known: rows of known lengths may
    all have ended in the turn that is tried, and would tell nothing.
    """

    def __init__(self, seed: int, lengths: frozenset[Value] = frozenset()) -> None:
        self.random, self.known, self.lengths = np.random.default_rng(seed), dict[Value, Any](), lengths
        self.turn, self.scale = TURNS_TRIED[seed % len(TURNS_TRIED)], np.float32(SCALES[seed])
        self.first_length = 1 if seed == MOST_TRIALS - 1 else LONGEST

    def floats(self, shape: tuple[int, ...]) -> np.ndarray:
        """Random elements of a state, an input or a gradient."""
        return self.random.uniform(-1.0, 1.0, shape).astype(np.float32)

    def weight(self, shape: tuple[int, ...]) -> np.ndarray:
        fan_in = shape[0] if len(shape) == 2 else 1
        return self.floats(shape) * (SPREAD / np.float32(np.sqrt(max(fan_in, 1))))

    def whole(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """Whole numbers as lengths are: the first row goes on in all trials but the last, the last of several has ended."""
        made = self.random.integers(1, LONGEST, shape)
        if made.ndim == 1 and made.size:
            made[-1], made[0] = 1, self.first_length
        return made.astype(dt.to_numpy(dtype))

    def outside(self, loop: SequenceLoop, value: Value) -> Any:
        """A value outside of loops: itself where known and neither weight nor lengths, else random numbers; None for others."""
        spec = loop.outer.spec(value)
        if value not in self.known and spec.is_complete and spec.dtype != "variant":
            shape = spec.known_shape()
            is_weight = spec.value is not None and spec.dtype == "float32" and varies(spec.value)
            if spec.value is not None and value not in self.lengths and not is_weight:
                self.known[value] = spec.value
            elif spec.dtype in ("float32", "resource"):
                self.known[value] = self.weight(shape)
            elif spec.dtype in ("int32", "int64"):
                self.known[value] = self.whole(shape, spec.dtype)
        return self.known.get(value)


def varies(values: np.ndarray) -> bool:
    """Whether known numbers differ: a weight that is known is drawn too, as its own zeros would hide what it multiplies."""
    return bool(values.size and np.ptp(values))


def lengths_of(loop: SequenceLoop) -> frozenset[Value]:
    """Vectors outside that the forward loop compares its counters with."""
    found = set()
    for node in loop.body:
        if node.op == "GreaterEqual" and origin(loop.body, node.inputs[0]).node in loop.counters:
            outside = loop.outside(node.inputs[1])
            if outside is not None and loop.outer.spec(outside).rank == 1:
                found.add(outside)
    return frozenset(found)


def given(loop: SequenceLoop, draw: Draw, counter: int, scale: np.float32) -> Values | None:
    """The values that a turn of a loop begins with, except those from stacks and arrays; None where one cannot be drawn.

    A handle that is read must come from outside, and a carried variable must be of known shape and fp32.
    scale: what the variables of the loop are multiplied by.
    """
    body, made = loop.body, Values()
    for position, name in loop.loop.constants.items():
        value = draw.outside(loop, loop.node.inputs[position])
        if value is not None and body[name].outputs[0].dtype not in HANDLES:
            made[Value(name)] = value
    for node in body:
        if node.op == "ReadVariableOp":
            outside = loop.outside(node.inputs[0])
            if outside is None:
                return None
            made[Value(node.name)] = draw.outside(loop, outside)
    for name in loop.carried:
        spec = body[name].outputs[0]
        if not spec.is_complete or spec.dtype != "float32":
            return None
        made[Value(name)] = draw.floats(spec.known_shape()) * scale
    made |= {Value(name): np.float32(0.0) for name in loop.flows}
    return made | {Value(name): np.int32(counter) for name in loop.counters}


def is_smooth(loop: SequenceLoop, numbers: frozenset[float] | None = None) -> bool:
    """Whether all ops of floating-point results are known, in fp32.  numbers: the only ones that may be constants; None: any."""
    for node in loop.body:
        types = {spec.dtype for spec in node.outputs} & {*dt.FLOATS, "float64"}
        if types - {"float32"}:
            return False
        if node.op in ("Const", CONSTANT):
            if types and numbers is not None and not has_only(node.outputs[0].value, numbers):
                return False
        elif types and node.op not in ANALYTIC | SIDED:
            return False
    return True


def has_only(values: np.ndarray | None, numbers: frozenset[float]) -> bool:
    """Whether known values are all among these numbers, of either sign."""
    allowed = np.array(sorted(numbers), np.float32)
    return values is not None and bool(np.isin(np.abs(values), allowed).all())


def agree(found: Any, wanted: Any, rounding: float = 0.0) -> bool:
    """Whether two arrays are the same but for rounding.  rounding: by how much either may be off for another reason."""
    a, b = np.asarray(found), np.asarray(wanted)
    if a.shape != b.shape or not np.isfinite(b).all():
        return False
    return not a.size or float(np.abs(a - b).max()) <= TOLERANCE * float(np.abs(b).max()) + rounding


def try_forward(loop: SequenceLoop, draw: Draw, x_shape: tuple[int, ...]) -> Values | None:
    """All values of a random turn of the forward loop.  x_shape: of what it reads, (B, I)."""
    start = given(loop, draw, draw.turn, np.float32(1.0))
    return None if start is None else try_turn(loop.body, {**start, Value(loop.reads[0].name): draw.floats(x_shape)})


@dataclass
class OneTurn:
    """A cell's kernel on the values of one turn.  loop, values: the forward loop and the turn that was tried."""

    loop: SequenceLoop
    found: Found
    values: Values
    draw: Draw
    ops: tuple[str, str]

    def __post_init__(self) -> None:
        self.cell = replace(self.found.cell, is_kept=True, n_limits=0)
        self.x = self.values[Value(self.loop.reads[0].name)][np.newaxis]
        self.states = [self.values[Value(name)] for name in self.found.states]
        lengths = self.found.lengths
        masks = [] if lengths is None else [(self.draw.known[lengths] > self.draw.turn).astype(np.int32)]
        self.tail = [*masks, *(self.draw.known[weight] for weight in self.found.weights)]
        self.results = self._run(self.ops[0], [self.x, *self.states, *self.tail])

    def _run(self, op: str, operands: list[Any], **attrs: Any) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            results: tuple[np.ndarray, ...] = all_kernels()[op].function(*operands, cell=self.cell, turns=Turns(), **attrs)
        return results

    def is_forward(self) -> bool:
        """Whether the loop's own results are those of the kernel."""
        written = [self.values[node.inputs[2]] for node in self.loop.writes]
        after = [self.values[self.loop.loop.next_values[name]] for name in self.found.states]
        outputs = [self.results[0][0] for _ in written]
        return all(map(agree, [*written, *after], [*outputs, *self.results[1 : 1 + len(after)]]))

    def backward(self, last: list[np.ndarray], dy: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """The gradients of x, the states and the weights.  last: those of the states behind the turn.  dy: of the output."""
        kept = [self.results[0], *self.results[1 + len(self.states) :]]
        operands = [self.x, *self.states, *kept, *last, *([] if dy is None else [dy[np.newaxis]]), *self.tail]
        wanted = (True,) * len(self.found.weights)
        return self._run(self.ops[1], operands, wanted=wanted, has_dy=dy is not None, wants_dx=True)


@dataclass
class Gradients:
    """The variables of the loop of gradients that hold the gradients of a cell.

    states: its variables for the gradients of the cell's states, in their order.  weights: for each weight the variable that adds
    up its gradient, None where none does.
    """

    states: list[str]
    weights: list[str | None]


def try_backward(
    loop: SequenceLoop, one: OneTurn, pushed: Mapping[Value, Value], known: Gradients | None
) -> Gradients | None:  # fmt: skip
    """The variables of a loop of gradients by what they hold, told by a random turn; None where it computes anything else.

    pushed: what the forward loop puts on each stack, in its body.  known: what another turn has told, which is all that is tried.
    """
    start = given(loop, one.draw, one.draw.turn + 1, one.draw.scale)
    if start is None:
        return None
    for node in loop.pops:
        stack = loop.outside(node.inputs[0])
        if stack is None or stack not in pushed:
            return None
        start[Value(node.name)] = one.values[origin(one.loop.body, pushed[stack])]
    dy = one.draw.floats(one.results[0][0].shape) * one.draw.scale if loop.reads else None
    values = try_turn(loop.body, {**start, **({Value(loop.reads[0].name): dy} if dy is not None else {})})
    if values is None:
        return None
    if known is not None:
        return known if _has(loop, one, values, known, dy) else None
    candidates = [name for name in loop.carried if values[Value(name)].shape == one.states[0].shape]
    tried = [_gradients(loop, one, values, list(states), dy) for states in permutations(candidates, len(one.states))]
    fitting = [found for found in tried if found is not None and _has(loop, one, values, found, dy, is_first=True)]
    return fitting[0] if len(fitting) == 1 else None


def _gradients(loop: SequenceLoop, one: OneTurn, values: Values, states: list[str], dy: np.ndarray | None) -> Gradients | None:
    """The variable of each weight's gradient, where those of the states are told; None where one is no weight's."""
    gradients = one.backward([values[Value(name)] for name in states], dy)[1 + len(states) :]
    found: list[str | None] = [None] * len(gradients)
    for name in [name for name in loop.carried if name not in states]:
        place = next((i for i, wanted in enumerate(gradients) if found[i] is None and _grows(loop, values, name, wanted)), None)
        if place is None:
            return None
        found[place] = name
    return Gradients(states, found)


def _grows(loop: SequenceLoop, values: Values, name: str, wanted: np.ndarray) -> bool:
    """Whether a turn adds this to a variable."""
    before, after = values[Value(name)], values[loop.loop.next_values[name]]
    if before.shape != wanted.shape or np.shape(after) != before.shape:
        return False
    return agree(after - before, wanted, ROUNDING * float(np.abs(after).max(initial=0.0)))


def _has(
    loop: SequenceLoop, one: OneTurn, values: Values, known: Gradients, dy: np.ndarray | None, is_first: bool = False
) -> bool:  # fmt: skip
    """Whether all results of a turn of the loop are those of the kernel.  is_first: nothing is told by results of zeros yet."""
    dx, *rest = one.backward([values[Value(name)] for name in known.states], dy)
    pairs = [(values[loop.loop.next_values[name]], wanted) for name, wanted in zip(known.states, rest, strict=False)]
    pairs += [(values[node.inputs[2]], dx[0]) for node in loop.writes]
    weights = [(name, wanted) for name, wanted in zip(known.weights, rest[len(known.states) :], strict=True) if name is not None]
    if is_first and not all(np.any(wanted) for _, wanted in [*pairs, *weights]):
        return False
    grow = all(_grows(loop, values, name, wanted) for name, wanted in weights)
    return grow and all(agree(found, wanted) for found, wanted in pairs)


def n_trials(body: Graph, state: str) -> int:
    """The number of random turns that reach every side of the ops that have sides: fewer for states of many elements."""
    batch, units = body[state].outputs[0].known_shape()
    return FEWEST_TRIALS if batch > 1 and batch * units >= FEWEST_ELEMENTS else MOST_TRIALS
