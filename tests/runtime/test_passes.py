"""Each pass: what it does to a graph, and that the graph stays sound and its values stay the same."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_runtime import dtypes as dt
from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, FEED
from npu_runtime.graph.order import strongly_connected, topological
from npu_runtime.graph.spec import Spec
from npu_runtime.graph.verify import verify
from npu_runtime.importer.graphdef import GraphImporter
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.base import Pass, check_order, graph_pass, run_passes
from npu_runtime.passes.drop_unread import drop_unread
from npu_runtime.passes.fold_constants import fold_constants
from npu_runtime.passes.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.fuse_normalization import fuse_normalization
from npu_runtime.passes.fuse_normalization_gradients import fuse_normalization_gradients
from npu_runtime.passes.fuse_pool_gradients import fuse_pool_gradients
from npu_runtime.passes.fuse_product_sums import fuse_product_sums
from npu_runtime.passes.partition import partition, split_prologue
from npu_runtime.passes.pipeline import pipeline
from npu_runtime.passes.placement import place
from npu_runtime.passes.plan_memory import FOREVER, plan_memory
from npu_runtime.passes.prune import feed_name, prune
from npu_runtime.passes.read_activated import read_activated
from npu_runtime.passes.remove_unused import remove_unused
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def imported(fetch: Any, feeds: dict[Any, tuple[int, ...]] | None = None) -> Graph:
    """The default graph, placed and pruned to one fetch or some, its feeds with these shapes."""
    importer = GraphImporter(tf.get_default_graph())
    importer.update()
    reasons = place(importer.graph).reasons
    for node in importer.graph:
        node.host_reason = reasons.get(node.name)
    shapes = {Value(t.op.name): Spec(shape, t.dtype.name) for t, shape in (feeds or {}).items()}
    fetches = fetch if isinstance(fetch, list) else [fetch]
    return prune(importer.graph, [Value(one.op.name, one.value_index) for one in fetches], [], shapes)


def ops(graph: Graph) -> list[str]:
    return sorted(node.op for node in graph)


def test_prune_keeps_ancestors_and_cuts_at_feeds() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.exp(x, name="y")
    tf.sin(y)
    z = tf.log(y)
    graph = imported(z, {y: (3,)})
    verify(graph)
    assert ops(graph) == ["Log", FEED]
    assert graph["Log"].inputs == [Value(feed_name(Value("y")))]


def test_shapes_of_the_feeds_make_reshape_static() -> None:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    flat = tf.reshape(x, [tf.shape(x)[0] * 2, -1])
    graph = imported(flat, {x: (6, 4)})
    assert fold_constants.run(graph) >= 3
    remove_unused.run(graph)
    verify(graph)
    assert ops(graph) == ["Reshape", CONSTANT, FEED]
    assert graph.spec(graph.fetches[0]).shape == (12, 2)


def test_constants_of_a_branch_not_taken_stay_dead() -> None:
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.constant(1.0) + tf.constant(2.0), lambda: tf.constant(5.0) * 2.0)
    with device_session() as session:
        assert [session.run(y, {p: taken}) for taken in (True, False)] == [3.0, 10.0]


@pytest.mark.parametrize("through", ["value", "shape"])
def test_what_a_folded_value_waited_for_still_happens(through: str) -> None:
    """As in batch norm over a constant: the result is known beforehand, the update of the moving average is not."""
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        one = tf.identity(tf.constant([1.0, 2.0]))
    y = one * 3.0 if through == "value" else tf.raw_ops.Shape(input=one) * 2
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(v.initializer)
            session.run([y])
            assert session.run(v) == 1.0


def test_random_numbers_are_not_folded() -> None:
    y = tf.random_uniform([2], seed=1) * 0.0
    graph = imported(y)
    fold_constants.run(graph)
    assert "RandomUniform" in ops(graph)


@pytest.mark.parametrize("kept", ["nothing", "bias", "head"])
def test_bias_and_activation_are_fused_when_nobody_looks_between(kept: str) -> None:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    head = tf.matmul(x, tf.constant(np.arange(12, dtype=np.float32).reshape(3, 4)))
    bias = tf.nn.bias_add(head, tf.constant([1.0, -50.0, 2.0, 3.0]))
    y = tf.nn.relu(bias)
    if kept != "nothing":
        y = tf.add_n([y, {"bias": bias, "head": head}[kept]])
    graph = imported(y, {x: (2, 3)})
    fold_constants.run(graph)
    n_fused = fuse_bias_activation.run(graph)
    verify(graph)
    assert n_fused == {"nothing": 1, "bias": 1, "head": 0}[kept]
    assert ("Relu" in ops(graph)) == (kept != "nothing")
    value = np.ones((2, 3), np.float32)
    with tf.Session() as plain, device_session() as device:
        np.testing.assert_allclose(device.run(y, {x: value}), plain.run(y, {x: value}), rtol=1e-6)


def test_every_pass_keeps_the_graph_sound_and_the_values() -> None:
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    hidden = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())
    logits = tf.layers.dense(
        tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2)), 3, kernel_initializer=tf.ones_initializer()
    )
    loss = tf.losses.sparse_softmax_cross_entropy(tf.zeros([tf.shape(x)[0]], tf.int32), logits)
    gradients = tf.gradients(loss, tf.trainable_variables())
    graph = imported(gradients[0], {x: (5, 8, 8, 1)})
    run_passes(graph, pipeline(fusion=True), check=True)
    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        expected = plain.run([loss, gradients], {x: np.ones((5, 8, 8, 1), np.float32)})
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            actual = session.run([loss, gradients], {x: np.ones((5, 8, 8, 1), np.float32)})
            tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), actual, expected)


def test_what_is_only_waited_for_is_not_computed() -> None:
    """The gradient of the image goes, that of the filter stays; random numbers and checks keep their effects."""
    x = tf.placeholder(tf.float32, [2, 6, 6, 1], name="x")
    w = tf.get_variable("w", [3, 3, 1, 2], initializer=tf.ones_initializer(), use_resource=True)
    by_image, by_filter = tf.gradients(tf.nn.conv2d(x, w, padding="VALID"), [x, w])
    drawn, checked = tf.random_uniform([2], seed=1), tf.check_numerics(x, "x")
    with tf.control_dependencies([tf.exp(by_image), drawn, checked]):
        step = tf.convert_to_tensor(w.assign_sub(by_filter))
    graph = imported(step, {x: (2, 6, 6, 1)})
    fold_constants.run(graph)
    assert drop_unread.run(graph) == 2
    remove_unused.run(graph)
    verify(graph)
    assert {"Exp", "Conv2DBackpropInput"}.isdisjoint(ops(graph))
    assert {"Conv2DBackpropFilter", "RandomUniform", "CheckNumerics"} <= set(ops(graph))
    value = np.arange(72, dtype=np.float32).reshape(2, 6, 6, 1)
    with tf.Session() as plain, device_session() as device:
        after = [(s.run(w.initializer), s.run(step, {x: value}))[1] for s in (plain, device)]
        np.testing.assert_allclose(after[1], after[0], rtol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
            device.run(step, {x: value * np.nan})


@pytest.mark.parametrize("taken", [True, False])
def test_waiting_for_a_branch_not_taken_stays_dead(taken: bool) -> None:
    p = tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)

    def branch() -> tf.Tensor:
        with tf.control_dependencies([tf.exp(w + 1.0)]):
            return w.assign_add(1.0)

    y = tf.cond(p, branch, lambda: tf.identity(w))
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(w.initializer)
            session.run(y, {p: taken})
            assert session.run(w) == float(taken)


def test_order_that_lacks_a_fact_is_refused() -> None:
    @graph_pass(requires=("layout",))
    def needs_layout(graph: Graph) -> int:
        return 0

    @graph_pass(provides=("layout",))
    def makes_layout(graph: Graph) -> int:
        return 0

    @graph_pass(breaks=("layout",))
    def breaks_layout(graph: Graph) -> int:
        return 0

    check_order([makes_layout, needs_layout])
    orders: list[list[Pass]] = [[needs_layout, makes_layout], [makes_layout, breaks_layout, needs_layout]]
    for order in orders:
        with pytest.raises(ValueError, match="needs_layout needs"):
            check_order(order)


def test_verify_names_what_is_wrong() -> None:
    graph = Graph()
    graph.add(Node("a", "Relu", [Value("b")], outputs=[Spec(())]))
    with pytest.raises(ValueError, match="input of a: node b"):
        verify(graph)


def test_host_calls_and_device_segments_alternate() -> None:
    data = tf.data.Dataset.from_tensors(np.ones((2, 2), np.float32)).make_one_shot_iterator().get_next()
    summary = tf.summary.scalar("mean", tf.reduce_mean(tf.exp(data)))
    graph = imported(summary)
    parts = partition(graph, place(graph).groups)
    assert [call.time for call in parts.calls] == [0, 2]
    assert all(parts.times[node.name] % 2 == (node.host_reason is None) for node in graph)
    for node in graph:
        for value in node.inputs:
            assert parts.times[value.node] <= parts.times[node.name] or graph[value.node].op == "Const"


def test_unknown_batch_makes_a_prologue() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.ones((5, 2), np.float32)).batch(2).make_one_shot_iterator().get_next()
    graph = imported(tf.exp(data))
    split = split_prologue(graph, partition(graph, place(graph).groups))
    assert split is not None
    prologue, main = split
    verify(prologue)
    verify(main)
    assert [node.op for node in main if node.host_reason is None] == ["Exp", FEED]


def test_components_and_orders() -> None:
    assert strongly_connected({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["c", "b", "a"]]
    late, early = Node("late", "X", [Value("early")]), Node("early", "X")
    assert topological([late, early]) == [early, late]
    with pytest.raises(InvalidArgument, match=r"cycle .*: b -> a -> b"):
        topological([Node("c", "X", [Value("b")]), Node("a", "X", [Value("b")]), Node("b", "X", [Value("a")])])


ELEMENTWISE = ["Relu", "Tanh", "Add", "Mul", "Reshape"]


@st.composite
def programs(draw: Any) -> tuple[Graph, list[Node]]:
    """Random straight-line programs over a few shapes, with views among them."""
    graph = Graph()
    graph.add(Node("x0", FEED, outputs=[Spec((4, 8))]))
    for i in range(1, draw(st.integers(2, 25))):
        op = draw(st.sampled_from(ELEMENTWISE))
        n_inputs = 2 if op in ("Add", "Mul") else 1
        inputs = [Value(f"x{draw(st.integers(max(0, i - 6), i - 1))}") for _ in range(n_inputs)]
        graph.add(Node(f"x{i}", op, inputs, outputs=[Spec((4, 8))]))
    graph.fetches = [Value(name) for name in draw(st.sets(st.sampled_from(sorted(graph.nodes)), min_size=1, max_size=3))]
    return graph, [node for node in graph if node.op != FEED]


@given(programs())
@settings(max_examples=150, deadline=None)
def test_buffers_alive_at_one_time_never_overlap(program: tuple[Graph, list[Node]]) -> None:
    """Executes the plan symbolically: every read must find the bytes that its writer left there."""
    graph, order = program
    plan = plan_memory(graph, order, dict.fromkeys(graph.fetches, FOREVER))
    owner: dict[int, Value] = {}
    shows: dict[Value, list[Value]] = {}

    def bytes_of(value: Value) -> range:
        offset = plan.offsets_bytes[value]
        return range(offset, offset + 4 * 8 * dt.itemsize_bytes("float32"), 64)

    def check(value: Value) -> None:
        for origin in shows.get(value, []):
            assert all(owner[block] == origin for block in bytes_of(origin)), f"{value} lost {origin}"

    for node in order:
        for value in node.inputs:
            check(value)
        result = Value(node.name)
        if may_alias(node):
            shows[result] = shows.get(node.inputs[0], [])
        else:
            shows[result] = [result]
            owner.update(dict.fromkeys(bytes_of(result), result))
    for value in graph.fetches:
        check(value)
    assert plan.live_bytes <= plan.arena_bytes
    assert all(kernel in all_kernels() for kernel in ELEMENTWISE)


def _residual_network(activation: Any, sees_inside: bool) -> tuple[Any, list[Any], Any]:
    """(images, what is fetched, the loss) of two normalisations, a sum and activations, with gradients."""
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    first = tf.layers.batch_normalization(x * 2.0, training=True, name="first")
    inner = activation(first)
    second = tf.layers.batch_normalization(inner + 0.5, training=True, name="second")
    summed = inner + second
    y = activation(summed)
    loss = tf.reduce_sum(tf.square(y))
    fetched = [y, loss, *tf.gradients(loss, [x, *tf.trainable_variables()]), *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    return x, [*fetched, first, summed] if sees_inside else fetched, loss


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.leaky_relu, partial(tf.nn.leaky_relu, alpha=1.5)])
@pytest.mark.parametrize("sees_inside", [False, True])
def test_a_normalisation_with_what_follows_it_changes_no_bit(activation: Any, sees_inside: bool) -> None:
    x, fetched, _ = _residual_network(activation, sees_inside)
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    results = []
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: value}))
    for fused, single in zip(*results, strict=True):
        np.testing.assert_array_equal(fused, single)


def test_sum_and_activation_join_their_normalisation() -> None:
    x, _, loss = _residual_network(tf.nn.relu, sees_inside=False)
    graph = imported(loss, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization.run(graph) == 2
    verify(graph)
    assert "Relu" not in ops(graph)
    assert ops(graph).count("AddV2") == 1


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.leaky_relu])
def test_the_gradient_of_an_activation_joins_that_of_its_normalisation(activation: Any) -> None:
    """The first normalisation's: behind the second comes a sum, whose gradient goes to both sides."""
    x, fetched, _ = _residual_network(activation, sees_inside=False)
    graph = imported(fetched[2], {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    read_activated.run(graph)
    assert fuse_normalization_gradients.run(graph) == 1
    verify(graph)
    assert ops(graph).count("FusedBatchNormGradV3") == 1


@pytest.mark.parametrize("alpha", [0.2, 1.5, 0.0, -0.5])
def test_a_leaky_relu_joins_its_convolution_where_its_gradient_can_do_with_the_result(alpha: float) -> None:
    """Its gradient reads the input, whose sign the result has only where the slope is positive."""
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    y = tf.nn.leaky_relu(tf.layers.conv2d(x, 7, 3, bias_initializer=tf.zeros_initializer()), alpha)
    gradients = tf.gradients(tf.square(y), [x, *tf.trainable_variables()])
    graph = imported(gradients, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    is_positive = alpha > 0
    assert read_activated.run(graph) == is_positive
    assert fuse_bias_activation.run(graph) == 1
    verify(graph)
    assert ("LeakyRelu" in ops(graph)) != is_positive
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    value[0] = 0
    for one in (y, *gradients):
        assert_as_on_tensorflow(one, {x: value})


def test_a_leaky_relu_of_a_variable_that_changes_keeps_its_own_input() -> None:
    v = tf.Variable([1.0, -1.0, 2.0], use_resource=False)
    y = tf.nn.leaky_relu(v._ref())
    with tf.control_dependencies([v.assign([-1.0, 1.0, -2.0])]):
        graph = imported(tf.raw_ops.LeakyReluGrad(gradients=tf.identity(y), features=v._ref()))
    assert read_activated.run(graph) == 0


def test_a_gradient_that_is_seen_stays_beside_that_of_the_normalisation() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    normalised = tf.layers.batch_normalization(x, training=True)
    by_x, by_normalised = tf.gradients(tf.nn.relu(normalised) * 2.0, [x, normalised])
    graph = imported(by_x + by_normalised, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization_gradients.run(graph) == 0


def test_an_activation_whose_shape_a_gradient_asks_for_joins_its_normalisation() -> None:
    """The shape is folded and waits for the activation; the gradient of the convolution uses it."""
    x = tf.placeholder(tf.float32, [4, 6, 5, 3], name="x")
    y = tf.nn.relu(tf.layers.batch_normalization(x * 2.0, training=True))
    w = tf.get_variable("w", [3, 3, 3, 2], use_resource=True)
    (gradient,) = tf.gradients(tf.nn.conv2d(y, w, 1, "SAME"), x)
    graph = imported(gradient, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert "Relu" in graph.waited_for()
    assert fuse_normalization.run(graph) == 1
    verify(graph)
    assert "Relu" not in ops(graph)
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    results = []
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            session.run(w.initializer, {w.initializer.inputs[1]: np.ones((3, 3, 3, 2))})
            results.append(session.run(gradient, {x: value}))
    np.testing.assert_array_equal(*results)


def test_a_sum_with_what_comes_from_the_normalisation_itself_stays() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    scale = tf.ones([3])
    y, mean, _ = tf.nn.fused_batch_norm(x, scale, scale)
    graph = imported(tf.nn.relu(y + tf.ones([4, 6, 5, 3]) * mean), {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization.run(graph) == 0


def assert_as_on_tensorflow(tensor: tf.Tensor, feeds: dict[tf.Tensor, np.ndarray]) -> None:
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(tensor, feeds))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-5)


def test_a_normalised_value_that_is_added_again_may_lie_where_the_result_goes() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    doubled = x * 2.0
    y = tf.nn.relu(tf.layers.batch_normalization(doubled, training=False) + doubled) * 3.0
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    assert_as_on_tensorflow(y, {x: value})


def _shared_weight(other_term: bool) -> tuple[Any, Any]:
    """(rows, the gradient of a matrix that four products share), which may also be decayed."""
    x = tf.placeholder(tf.float32, [4, 3, 20], name="x")
    w = tf.get_variable("w", [20, 30], initializer=tf.random_normal_initializer(seed=1), use_resource=True)
    rows = tf.unstack(x)
    loss = tf.add_n([tf.reduce_sum(tf.tanh(tf.matmul(row, w))) for row in rows])
    return x, tf.gradients(loss + tf.nn.l2_loss(w) if other_term else loss, w)[0]


@pytest.mark.parametrize("other_term", [False, True])
def test_the_gradient_of_a_matrix_used_again_and_again_is_one_product(other_term: bool) -> None:
    x, gradient = _shared_weight(other_term)
    graph = imported(gradient, {x: (4, 3, 20)})
    fold_constants.run(graph)
    assert fuse_product_sums.run(graph) == 1
    verify(graph)
    assert ops(graph).count("_ProductSum") == 1
    assert ops(graph).count("AddN") == int(other_term)
    assert not any(node.op == "MatMul" and node.attrs["transpose_a"] for node in graph)
    value = np.random.default_rng(1).standard_normal((4, 3, 20)).astype(np.float32)
    assert_as_on_tensorflow(gradient, {x: value})


def test_products_larger_in_their_factors_or_seen_by_others_are_added() -> None:
    x = tf.placeholder(tf.float32, [60, 5])
    products = [tf.matmul(tf.sin(x * i), tf.cos(x * i), transpose_a=True) for i in (1.0, 2.0)]
    graph = imported(tf.add_n(products), {x: (60, 5)})
    assert fuse_product_sums.run(graph) == 0
    x = tf.placeholder(tf.float32, [2, 50])
    products = [tf.matmul(tf.sin(x * i), tf.cos(x * i), transpose_a=True) for i in (1.0, 2.0)]
    graph = imported(tf.add_n(products) * products[0], {x: (2, 50)})
    assert fuse_product_sums.run(graph) == 0


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, 2, "VALID"), (2, 2, "SAME"), (3, 2, "SAME"), (2, 3, "VALID")])
def test_the_gradient_of_a_relu_before_a_pool_is_taken_of_what_is_pooled(size: int, stride: int, padding: str) -> None:
    x, bias = tf.placeholder(tf.float32, [3, 8, 6, 4]), tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
    active = tf.nn.relu(tf.nn.bias_add(x, bias))
    loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(active, size, stride, padding)) * 0.3)
    fetched = tf.gradients(loss, [x, bias.value()])
    graph = imported(fetched[0], {x: (3, 8, 6, 4)})
    fold_constants.run(graph)
    assert fuse_pool_gradients.run(graph) == 1
    verify(graph)
    assert {"ReluGrad", "MaxPoolGrad"}.isdisjoint(ops(graph))
    value = np.rint(np.random.default_rng(1).standard_normal((3, 8, 6, 4)) * 2).astype(np.float32)  # ties
    value[0, 1, 2, 3] = np.nan
    value[1, :4, :4, 2] = np.inf, 1, 2, -np.inf
    results = []
    for make in (tf.Session, device_session, lambda: device_session(fusion="off")):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: value}))
    np.testing.assert_array_equal(results[1][0], results[2][0])
    for mine, theirs in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_pooled_gradient_that_others_see_or_over_other_features_stays() -> None:
    x = tf.placeholder(tf.float32, [1, 4, 4, 2])
    active = tf.nn.relu(x)
    (by_pool,) = tf.gradients(tf.nn.max_pool2d(active, 2, 2, "VALID"), active)
    for relu_gradient in (tf.raw_ops.ReluGrad(gradients=by_pool, features=active) + by_pool,
                          tf.raw_ops.ReluGrad(gradients=by_pool, features=x)):  # fmt: skip
        graph = imported(relu_gradient, {x: (1, 4, 4, 2)})
        assert fuse_pool_gradients.run(graph) == 0
