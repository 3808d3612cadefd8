"""The compiler: every step from the import of a graph to the schedule of a program, in order, each with the reason for its place.

    ON_IMPORT    when the user's graph has grown: which side each node runs on
    ON_REQUEST   for each combination of fetches, targets and feeds: what is needed, and in which segments of a step it runs
    ON_SHAPES    for each combination of feed shapes: a program is made; LOWER, SIMPLIFY, FUSE and SCHEDULE

To see what a step does: `--option dump_graph=DIR` writes a text behind each that changed something.  To find the step that breaks
a graph: `--option verify=on`.  What a step requires, provides and breaks are facts, plain words; `check_order` holds the order to
them.  A step that only has to stand before or behind another one for speed says so and claims no fact.
"""

from __future__ import annotations

from npu_runtime.analysis.compute_types import count_types, stores_float16
from npu_runtime.compiler.compilation import Compilation, check_order, run_steps, schedule_text, step, streams_text
from npu_runtime.device import float_status
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Node
from npu_runtime.graph.ops import WHILE
from npu_runtime.passes.fuse import fuse_all_reduces as all_reduces
from npu_runtime.passes.fuse.fold_normalization import fold_normalization
from npu_runtime.passes.fuse.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.fuse.fuse_elementwise import fuse_elementwise
from npu_runtime.passes.fuse.fuse_moment_updates import fuse_moment_updates
from npu_runtime.passes.fuse.fuse_normalization import fuse_normalization
from npu_runtime.passes.fuse.fuse_normalization_gradients import fuse_normalization_gradients
from npu_runtime.passes.fuse.fuse_optimizer_gradients import fuse_optimizer_gradients
from npu_runtime.passes.fuse.fuse_optimizer_products import fuse_optimizer_products
from npu_runtime.passes.fuse.fuse_pool_gradients import fuse_pool_gradients
from npu_runtime.passes.fuse.fuse_product_sums import fuse_product_sums
from npu_runtime.passes.fuse.fuse_random_masks import fuse_random_masks
from npu_runtime.passes.fuse.fuse_recurrent import fuse_recurrent
from npu_runtime.passes.fuse.group_updates import group_updates
from npu_runtime.passes.fuse.lay_out_weights import lay_out_weights
from npu_runtime.passes.place import host_reads_first as host_order
from npu_runtime.passes.place import partition as segments
from npu_runtime.passes.place import placement as sides
from npu_runtime.passes.place import prune as pruning
from npu_runtime.passes.place.copy_for_host import copy_for_host
from npu_runtime.passes.place.cut_loop_waits import cut_loop_waits
from npu_runtime.passes.place.lift_loops import lift_loops
from npu_runtime.passes.place.thread_variables_into_loops import thread_variables_into_loops
from npu_runtime.passes.precision import assign_precision as precision
from npu_runtime.passes.schedule import assign_streams as streams
from npu_runtime.passes.schedule import order_steps as ordering
from npu_runtime.passes.schedule import plan_memory as memory
from npu_runtime.passes.schedule import plan_overlap as overlap
from npu_runtime.passes.schedule import reads_first as reading
from npu_runtime.passes.simplify.drop_unread import drop_unread
from npu_runtime.passes.simplify.eliminate_noops import eliminate_noops
from npu_runtime.passes.simplify.fold_constants import find_constants, fold_constants
from npu_runtime.passes.simplify.forward_identities import forward_identities
from npu_runtime.passes.simplify.leaky_relu_grad_from_output import leaky_relu_grad_from_output
from npu_runtime.passes.simplify.merge_duplicates import merge_duplicates
from npu_runtime.passes.simplify.merge_reads import merge_reads
from npu_runtime.passes.simplify.prune_control_edges import prune_control_edges
from npu_runtime.passes.simplify.remove_unused import remove_unused

# What steps do that are more than a pass over the graph.


def place(made: Compilation) -> None:
    made.placement = sides.place(made.graph, made.placement.reasons)
    sides.mark_sides(made.graph, made.placement)


def prune(made: Compilation) -> None:
    wanted = made.wanted
    made.graph = pruning.prune(made.graph, wanted.fetches, wanted.targets, wanted.feeds, wanted.connections, wanted.ran)


def refuse_host_nodes(made: Compilation) -> None:
    sides.refuse_host_nodes(made.graph)


def host_reads_first(made: Compilation) -> None:
    host_order.host_reads_first(made.graph, made.placement.groups)


def partition(made: Compilation) -> None:
    made.schedule.parts = segments.partition(made.graph, made.placement.groups if made.loop is None else DisjointSets())


def fetch_last_state(made: Compilation) -> None:
    host_order.fetch_last_state(made.graph, made.schedule.parts)


def split_prologue(made: Compilation) -> None:
    split = segments.split_prologue(made.graph, made.schedule.parts)
    if split is not None:
        made.prologue, made.graph = split


def with_feed_shapes(made: Compilation) -> None:
    made.graph = pruning.with_feed_shapes(made.graph, made.extents)


def assign_precision(made: Compilation) -> None:
    precision.assign_precision(made.graph, made.settings.policy)


def count_device_types(made: Compilation) -> None:
    made.types = count_types(made.graph)


def set_overflow_mode(made: Compilation) -> None:
    float_status.begin(made.is_saturating)


def decide_on_fusion(made: Compilation) -> None:
    """Sets `is_fused` by the options. It is off, too, where fp16 results are cut: each result is, and a fused kernel would hand
    larger numbers on inside.
    """
    config = made.settings.config
    hands_on_more = made.is_saturating and stores_float16(made.graph)
    made.is_fused = config.fusion and config.track_nan == "off" and not hands_on_more


def fuse_all_reduces(made: Compilation) -> None:
    config = made.settings.config
    all_reduces.fuse_all_reduces(made.graph, made.schedule.parts, config.splits, is_parallel=config.is_hcom_parallel)


def optimise_bodies(made: Compilation) -> None:
    for node in _loops(made):
        run_steps(OPTIMISE, made.body(node))


def place_added(made: Compilation) -> None:
    segments.place_added(made.graph, made.schedule.parts)


def bind_host_calls(made: Compilation) -> None:
    made.calls = made.bind(made.graph, made.schedule.parts.calls, made.placement)


def order_steps(made: Compilation) -> None:
    made.schedule.order = ordering.order_steps(made.graph, made.schedule.parts)


def reads_first(made: Compilation) -> None:
    made.schedule.order = reading.reads_first(made.graph, made.schedule.order)


def leave_out_sources(made: Compilation) -> None:
    made.schedule.order = ordering.leave_out_sources(made.schedule.order, made.schedule.parts)


def condition_before_body(made: Compilation) -> None:
    if made.loop is not None:
        made.schedule.order = ordering.condition_before_body(made.schedule.order, made.loop)


def plan_overlap(made: Compilation) -> None:
    found = overlap.plan_overlap(made.graph, made.schedule.order)
    made.schedule.order, made.schedule.ends = found.order, found.ends


def plan_memory(made: Compilation) -> None:
    reads = {call: [*binding.feeds, *binding.waits] for call, binding in made.calls.items()}
    made.schedule.memory = memory.plan_program(made.graph, made.schedule.order, reads, made.schedule.ends)


def assign_streams(made: Compilation) -> None:
    nodes = [item for item in made.schedule.order if isinstance(item, Node)]
    made.schedule.streams = streams.assign_streams(made.graph, nodes, made.settings.chip, made.settings.stream_limits)


def schedule_bodies(made: Compilation) -> None:
    made.schedule.bodies = {node.name: run_steps(SCHEDULE, made.body(node)).schedule for node in _loops(made)}


def _loops(made: Compilation) -> list[Node]:
    return [node for node in made.graph if node.op == WHILE]


# When steps are done.


def _may_not_fall_back(made: Compilation) -> bool:
    return made.settings.config.host_fallback == "error"


def _is_typed(made: Compilation) -> bool:
    return not made.settings.policy.is_origin


def _is_fused(made: Compilation) -> bool:
    return made.is_fused


def _is_simplified(made: Compilation) -> bool:
    config = made.settings.config
    return config.fusion and fold_constants.name not in config.switched_off


def _keeps_each_node(made: Compilation) -> bool:
    return not _is_simplified(made)


def _is_outside(made: Compilation) -> bool:
    return made.loop is None


def _is_inside(made: Compilation) -> bool:
    return made.loop is not None


def _may_be_reordered(made: Compilation) -> bool:
    return made.loop is None and not ordering.is_order_meant(made.graph)


def _may_overlap(made: Compilation) -> bool:
    """Not where a step may be dead."""
    return _may_be_reordered(made) and not made.schedule.parts.has_branches


ON_IMPORT = (
    step(cut_loop_waits, "Placement joins to a loop what is on a path from it to itself; these waits would be such paths.",
         requires="imported", provides="loops_end"),
    step(place, "Everything behind asks of a node on which side it runs.",
         requires="imported loops_end", provides="sides"),
    step(thread_variables_into_loops, "Only loops of the host are handed variables this way, so sides must be known.",
         requires="sides"),
)  # fmt: skip
"""The steps for the user's whole graph, each time it has grown."""

SELECT = (
    step(prune, "All that follows costs time for each node, and most runs need a part of the graph.",
         requires="sides", provides="wanted"),
    step(refuse_host_nodes, "Only nodes that the run needs are refused, before anything is made for them.",
         requires="sides wanted", when=_may_not_fall_back),
)  # fmt: skip
"""The steps for a request, up to where it is sure that it can run."""

SEGMENT = (
    step(host_reads_first, "The order that it makes parts calls of the host, so it comes before segments are made.",
         requires="sides wanted", provides="host_order"),
    step(partition, "The prologue is the first call of the host, and the last state that of the latest.",
         requires="sides host_order", provides="segments"),
    step(fetch_last_state, "It asks in which segment an update runs; the prologue has to know what is fetched.",
         requires="segments"),
    step(split_prologue, "What follows is done for shapes, which the prologue tells.",
         requires="segments", provides="one_start", breaks="segments"),
)  # fmt: skip
"""The steps for a request that tell what runs before shapes are known."""

ON_SHAPES = (
    step(with_feed_shapes, "It copies the graph, which serves other shapes too.",
         requires="wanted one_start", provides="feed_shapes"),
)  # fmt: skip
"""The step for a combination of feed shapes; a prologue, whose feeds have none, goes on without it."""

ASSIGN_TYPES = (
    step(lift_loops, "Every later step sees a straight graph, in which a loop is one node.",
         requires="sides wanted", provides="straight"),
    step(copy_for_host, "A copy has a type and a segment as other nodes have, and what a loop writes counts as one writer.",
         requires="straight"),
    step(assign_precision, "It rounds what copies and loops hand on; fusion joins roundings with their neighbours.",
         requires="straight", provides="types"),
)  # fmt: skip
"""One straight graph with types."""

LOWER = (
    *ASSIGN_TYPES,
    step(set_overflow_mode, "Constants are folded as a step computes."),
    step(count_device_types, "Later steps fold and fuse nodes, which the run log counts as the graph has them.",
         requires="types", when=_is_typed),
    step(partition, "Loops are one node, copies and roundings are there; place_added does what comes later.",
         requires="straight", provides="segments liveness"),
    step(decide_on_fusion, "It asks what the graph stores in fp16, before steps drop nodes.",
         requires="types", provides="fusion_decided"),
    step(all_reduces.order_all_reduces, "Before folding, which depends on sizes of batches and so on the rank.",
         requires="straight", provides="ordered_gradients"),
)  # fmt: skip
"""One straight graph with types and segments."""

SIMPLIFY = (
    step(fold_constants, "First of all: with shapes and constants known, more can be dropped, merged and fused.",
         requires="straight", provides="shapes constants", when=_is_simplified),
    step(find_constants, "In its place where each node is to run: shapes and constants are known, and numbers are computed.",
         requires="straight", provides="shapes constants", when=_keeps_each_node),
    step(eliminate_noops, "It asks for constant axes and equal shapes.",
         requires="shapes constants"),
    step(drop_unread, "Folding has left nodes that are only waited for; remove_unused takes what only they read.",
         requires="shapes", when=_is_simplified),
    step(remove_unused, "Passes behind count the readers of a value, so there must be none without a use.",
         provides="all_needed"),
)  # fmt: skip
"""The steps that make a graph smaller, with fusion or without."""

SHARE_CALLS = (
    step(fuse_all_reduces, "Shapes are known, which the split asks for; Identities that it leaves are forwarded behind it.",
         requires="shapes ordered_gradients segments", when=_is_fused),
)  # fmt: skip
"""The step that joins calls of all ranks, which the chip's own graph has as well."""

FUSE = (
    step(prune_control_edges, "What is waited for cannot be fused: gradients are freed before anything else is tried.",
         requires="all_needed", when=_is_fused),
    step(forward_identities, "Fewer Identities wait now that control edges are pruned, and patterns are matched by values.",
         when=_is_fused),
    step(merge_reads, "What is computed of one value that was read twice is merged by the step behind it.",
         requires="shapes", when=_is_fused),
    step(merge_duplicates, "Identities have hidden that inputs are the same; fused nodes would be compared in vain.",
         requires="shapes", breaks="all_needed", when=_is_fused),
    step(remove_unused, "Merging leaves nodes without readers, which would look like readers of a pattern's values.",
         provides="all_needed", when=_is_fused),
    step(fuse_recurrent, "Before the bodies of loops are optimised, which would hide the cells.",
         requires="shapes constants all_needed", when=_is_fused),
    step(fuse_moment_updates, "It matches the nodes of an update one by one, before regions take them.",
         requires="shapes all_needed", when=_is_fused),
    step(fuse_random_masks, "The comparison must still be a node of its own and not part of a region.",
         requires="shapes", when=_is_fused),
    step(leaky_relu_grad_from_output, "A LeakyRelu whose input its gradient reads could not be fused into what makes the input.",
         requires="shapes", provides="gradients_read_results", when=_is_fused),
    step(fuse_normalization, "It matches the sum and the activation as nodes, before regions take them.",
         requires="shapes gradients_read_results all_needed", when=_is_fused),
    step(fuse_bias_activation, "It matches bias and activation as nodes, before regions take them.",
         requires="shapes gradients_read_results all_needed", when=_is_fused),
    step(fuse_pool_gradients, "Before the gradients of normalisations, which would take the Relu's gradient.",
         requires="shapes gradients_read_results", when=_is_fused),
    step(fuse_normalization_gradients, "Behind the pools, whose gradients have taken those of the Relus before them.",
         requires="shapes gradients_read_results", provides="joined_normalizations", when=_is_fused),
    step(fold_normalization, "It matches normalisations with their activations, forward and backward.",
         requires="shapes joined_normalizations", when=_is_fused),
    step(fuse_product_sums, "Before regions, which would take the AddN.",
         requires="shapes", when=_is_fused),
    step(fuse_elementwise, "Behind all that match single element-wise nodes: a region takes what they have left.",
         requires="shapes", provides="regions", when=_is_fused),
    step(fuse_optimizer_gradients, "It takes whole regions into the optimizer.",
         requires="shapes regions", when=_is_fused),
    step(fuse_optimizer_products, "Behind sums and regions, which have taken the products that alone are no gradient.",
         requires="shapes regions", when=_is_fused),
    step(group_updates, "Behind those that make a gradient inside of its update; small variables are left alone.",
         requires="shapes", when=_is_fused),
)  # fmt: skip
"""The steps that make one node of several."""

OPTIMISE = (
    *SIMPLIFY,
    *SHARE_CALLS,
    *FUSE,
    step(optimise_bodies, "Shapes and constants that enter a loop are known by now.",
         requires="shapes"),
    step(lay_out_weights, "It counts the products of a weight here and in bodies, as the fusions have left them.",
         requires="shapes", when=_is_fused),
)  # fmt: skip
"""The steps that are done for a graph and, by `optimise_bodies`, for the body of each loop in it."""

BIND = (
    step(place_added, "Passes have added device nodes; calls of the host are those of the partition.",
         requires="segments liveness"),
    step(bind_host_calls, "What a call is fed must be known before memory is planned: a call is a reader.",
         requires="segments", provides="calls"),
)  # fmt: skip
"""The steps between the last change of the graph and its schedule."""

SCHEDULE = (
    step(partition, "An iteration has no calls of the host and needs only to know what may be dead.",
         provides="liveness", when=_is_inside),
    step(order_steps, "Segments come one after another, and edges order the nodes of each.",
         requires="liveness", provides="order", shows=schedule_text),
    step(reads_first, "It moves sources too, for which steps wait, so they are left out behind it.",
         requires="order", when=_may_be_reordered, shows=schedule_text),
    step(leave_out_sources, "Positions count from here on, and what is no step has none.",
         requires="order", provides="positions", shows=schedule_text),
    step(condition_before_body, "It keeps the order inside either half.",
         requires="order positions", when=_is_inside, shows=schedule_text),
    step(plan_overlap, "It moves steps that may be begun early, so the order is final only behind it.",
         requires="positions", when=_may_overlap, shows=schedule_text),
    step(plan_memory, "Lifetimes are positions in the final order, and last as long as a step runs beside others.",
         requires="positions calls", when=_is_outside, shows=schedule_text),
    step(assign_streams, "It cuts the order of execution.",
         requires="positions", when=_is_outside, shows=streams_text),
    step(schedule_bodies, "A body's schedule asks for nothing outside of it.",
         requires="positions", shows=schedule_text),
)  # fmt: skip
"""The steps that choose an order, memory and streams, for a graph and, by `schedule_bodies`, for the body of each loop."""

MAKE_PROGRAM = (*LOWER, *OPTIMISE, *BIND, *SCHEDULE)
"""Steps from a graph that a request needs to the schedule of its program."""
STEPS = (*ON_IMPORT, *SELECT, *SEGMENT, *ON_SHAPES, *MAKE_PROGRAM)
check_order(STEPS, given=("imported",))
