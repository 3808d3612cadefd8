"""Training by several workers: beside one process, and two that compute together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.legs.tf2.api_programs import ranks, refusal, run


def test_one_worker_gets_its_own_values_back():
    done = run("""
        npu.open().as_default()
        values = [tf.ones([2]), None]
        assert npu.distribute.all_reduce(values) is values
        v = tf.Variable(3.0)
        print(npu.distribute.broadcast([v]), float(v))
        data = tf.data.Dataset.range(8)
        print(npu.distribute.shard_and_rebatch_dataset(data, 5) == (data, 5))
        print(npu.distribute.grouping_broadcast([v]) == [v])
        print(npu.distribute.grouping_gradients_apply(lambda pairs: list(pairs), zip([1.0], [v])) == [(1.0, v)])
        before = npu.distribute.npu_distributed_keras_optimizer_wrapper("adam")
        before.apply_gradients([(tf.constant(1.0), v)])
        plain, w = tf.keras.optimizers.Adam(), tf.Variable(3.0)
        plain.apply_gradients([(tf.constant(1.0), w)])
        print(type(before).__name__, float(v) == float(w))
    """)
    assert done.stdout.splitlines() == ["None 3.0", "True", "True", "True", "Adam True"]


def test_two_workers_reduce_in_eager_code():
    said = ranks("""
        device = npu.open().as_default()
        rank = device.worker_id
        assert device.workers_num == 2 and device.is_cluster_worker()
        a = tf.constant([1.0 + rank, 10.0 * rank])
        mean, nothing, whole = npu.distribute.all_reduce([a, None, tf.constant([3 + 4 * rank])])
        print(mean.numpy(), nothing, whole.numpy(), whole.dtype.name)
        print(npu.distribute.all_reduce(a, "sum").numpy(), npu.distribute.all_reduce((a,), "max")[0].numpy())
        print(npu.distribute.all_reduce(tf.cast(a, tf.float16), "mean").numpy().dtype)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = npu.distribute.all_reduce(a, "sum") * (rank + 1.0)
        print(tape.gradient(y, a).numpy())
        v, w = tf.Variable([1.0 + rank]), tf.Variable(7 * rank)
        npu.distribute.broadcast([v, w], root_rank=1)
        print(v.numpy(), w.numpy())
        data, size = npu.distribute.shard_and_rebatch_dataset(tf.data.Dataset.range(6), 4)
        print(list(data.batch(size).as_numpy_iterator())[0].tolist(), size)
        try: npu.distribute.shard_and_rebatch_dataset(data, 3)
        except ValueError as error: print(error)
    """)
    common = ["[1.5 5. ] None [5.] float64", "[ 3. 10.] [ 2. 10.]", "float16", "[3. 3.]", "[2.] 7"]
    for rank, lines in enumerate(said):
        own = [[0, 2], [1, 3]][rank]
        assert lines.splitlines() == [*common, f"{own} 2", "Batch size must be divisible by num npus: 2"]


def test_functions_have_nodes_of_the_device():
    said = ranks("""
        npu.open().as_default()
        v = tf.Variable([1.0, 2.0])
        @tf.function
        def f(x):
            npu.distribute.broadcast(v, 1)
            return npu.distribute.all_reduce([x, None, v], "mean", fusion=2, fusion_id=3)
        made = f.get_concrete_function(tf.TensorSpec([None, 2]))
        for op in made.graph.get_operations():
            if op.type == "PartitionedCall":
                print(*(op.get_attr(name) for name in ("_npu_op", "ranks", "group")), op.outputs[0].shape)
        @tf.function
        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = npu.distribute.all_reduce(x, "sum")
            return tape.gradient(y, x)
        nodes = slope.get_concrete_function(tf.TensorSpec([2])).graph.get_operations()
        print([op.get_attr("_npu_op") for op in nodes if op.type == "PartitionedCall"])
        try: f(tf.ones([1, 2]))
        except tf.errors.InvalidArgumentError as error: print("run on the device only" in str(error))
    """)
    node = "b'{}' b'0,1' b'hccl_world_group' {}".format
    lines = [node("HcomBroadcast", "(2,)"), node("HcomAllReduce", "(None, 2)"), node("HcomAllReduce", "(2,)")]
    assert said[0] == said[1] == "\n".join([*lines, "[b'HcomAllReduce', b'HcomAllReduce']", "True\n"])


TRAINING = """
import json
import numpy as np
device = npu.open().as_default()
n, rank = device.workers_num, device.worker_id
x = np.arange(32, dtype=np.float32).reshape(16, 2) / 16
y = (x @ [[1.0], [-2.0]]).astype(np.float32) + 0.5
def trained(make, scale):
    tf.keras.utils.set_random_seed(7 + rank)
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1)])
    npu.distribute.broadcast(model.trainable_variables, 0)
    optimizer = npu.distribute.npu_distributed_keras_optimizer_wrapper(make())
    if scale: optimizer = npu.train.optimizer.NpuLossScaleOptimizer(optimizer)
    for step in range(4):
        rows = slice(4 * step, 4 * step + 4)
        a, b = x[rows][rank::n], y[rows][rank::n]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(a) - b) ** 2)
            if scale: loss = optimizer.get_scaled_loss(loss)
        gradients = tape.gradient(loss, model.trainable_variables)
        if scale: gradients = optimizer.get_unscaled_gradients(gradients)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return [w.tolist() for w in model.get_weights()]
K = tf.keras.optimizers
makes = [lambda: K.Adam(0.1, clipnorm=0.1), lambda: K.legacy.SGD(0.1, momentum=0.9), lambda: "rmsprop"]
print(json.dumps([trained(make, scale) for make in makes for scale in (False, True)]))
"""


def test_both_kinds_of_optimizers_train_as_one_process_with_the_whole_batch():
    whole = json.loads(run(TRAINING).stdout)
    first, second = (json.loads(said) for said in ranks(TRAINING))
    assert first == second
    for one, other in zip(whole, first, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)


def test_keras_own_options_about_adding_up_change_nothing():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        K, wrap = tf.keras.optimizers, npu.distribute.npu_distributed_keras_optimizer_wrapper
        calls = [(K.SGD, {}), (K.SGD, {"skip_gradients_aggregation": True}), (K.SGD, {"experimental_aggregate_gradients": False}),
                 (K.legacy.SGD, {}), (K.legacy.SGD, {"experimental_aggregate_gradients": False})]
        for make, options in calls:
            v = tf.Variable(0.0)
            wrap(make(1.0)).apply_gradients([(tf.constant(1.0 + rank), v)], **options)
            print(float(v), end=" ")
        for make, third in ((K.SGD, True), (K.legacy.SGD, False)):
            v = tf.Variable(0.0)
            wrap(make(1.0)).apply_gradients([(tf.constant(1.0 + rank), v)], None, third)
            print(float(v), end=" ")
    """)
    assert said[0] == said[1] == " ".join(["-1.5"] * 7) + " "


def test_all_workers_skip_a_step_that_overflows_on_one():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        wrap, K = npu.distribute.npu_distributed_keras_optimizer_wrapper, tf.keras.optimizers
        scaled = npu.train.optimizer.NpuLossScaleOptimizer
        for make in (K.SGD, K.legacy.SGD):
            for optimizer in (scaled(wrap(make(1.0))), wrap(scaled(make(1.0)))):
                v = tf.Variable(1.0)
                optimizer.apply_gradients([(tf.constant(float("inf") if rank else 1.0), v)])
                optimizer.apply_gradients([(tf.constant(1.0 + rank), v)])
                print(float(v), float(optimizer.loss_scale), bool(optimizer.last_step_finite), end="; ")
    """)
    assert said[0] == said[1] == "-0.5 16384.0 True; " * 4


def test_a_wrapped_legacy_optimizer_is_copied_with_its_average():
    said = ranks("""
        import copy
        rank = npu.open().as_default().worker_id
        made = npu.distribute.npu_distributed_keras_optimizer_wrapper(tf.keras.optimizers.legacy.SGD(1.0))
        for one in (copy.deepcopy(made), made):
            v = tf.Variable(0.0)
            one.apply_gradients([(tf.constant(1.0 + rank), v)])
            print(float(v), int(one.iterations))
        print(made.get_config() == tf.keras.optimizers.legacy.SGD(1.0).get_config())
    """)
    assert said[0] == said[1] == "-1.5 1\n-1.5 1\nTrue\n"


def test_variables_are_shared_out_and_come_together():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        variables = [tf.Variable(tf.zeros([n])) for n in (4, 1, 2, 1)]
        optimizer = tf.keras.optimizers.legacy.SGD(1.0)
        applied = []
        def apply(pairs):
            applied.extend(v.shape[0] for _, v in pairs)
            return optimizer.apply_gradients(pairs)
        npu.distribute.grouping_gradients_apply(apply, [(tf.ones_like(v) * (1.0 + rank), v) for v in variables])
        print(applied, [v.numpy().tolist() for v in variables])
        mine = [tf.Variable(float(rank)) for _ in range(2)]
        print(npu.distribute.grouping_broadcast(mine), [float(v) for v in mine])
        try: npu.distribute.grouping_broadcast(mine[:1])
        except ValueError as error: print(error)
    """)
    values = "[[-1.0, -1.0, -1.0, -1.0], [-2.0], [-2.0, -2.0], [-2.0]]"
    for rank, lines in enumerate(said):
        applied, together, refused = lines.splitlines()
        assert applied == f"{[[4], [1, 2, 1]][rank]} {values}"
        assert together == "None [0.0, 1.0]"
        assert refused == "there are 2 workers and 1 variables: each worker needs a variable of its own"


def test_owners_are_in_order_and_nobody_is_left_out():
    from npu_device.distribute.weight_update_grouping import owners

    random = np.random.RandomState(3)
    for _ in range(300):
        n_workers = random.randint(1, 9)
        sizes = random.randint(0, 1000, random.randint(n_workers, 30)).tolist()
        found = owners(sizes, n_workers)
        assert found == sorted(found) and set(found) == set(range(n_workers)) and len(found) == len(sizes)
    assert owners([4, 4, 4, 4, 4, 4], 3) == [0, 0, 1, 1, 2, 2]


def test_the_callback_broadcasts_before_the_first_batch():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        from npu_device.distribute import hccl
        layer = tf.keras.layers.Dense(1, use_bias=False, input_shape=(1,))
        model = tf.keras.Sequential([layer])
        layer.kernel.assign([[1.0 + rank]])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse", run_eagerly=True)
        model.fit(tf.ones([2, 1]), tf.ones([2, 1]), verbose=0, callbacks=hccl.npu_callbacks_append())
        print(model.get_weights()[0].tolist())
    """)
    assert said == ["[[1.0]]\n", "[[1.0]]\n"]


def test_hccl_ops_and_the_callback_are_under_the_vendors_paths():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        from npu_device.distribute import hccl_ops, npu_callbacks
        print(hccl_ops.allreduce(tf.constant(2.0 + rank), "prod").numpy(), hccl_ops.broadcast([tf.constant(rank)], 1)[0].numpy())
        made = npu_callbacks.NPUBroadcastGlobalVariablesCallback(1)
        print(made.root_rank, isinstance(made, tf.keras.callbacks.Callback))
    """)
    assert said[0] == said[1] == "6.0 1\n1 True\n"


def test_what_hccl_cannot_do_is_refused():
    said = ranks("""
        rank = npu.open().as_default().worker_id
        d = npu.distribute
        for wrong in (lambda: d.all_reduce(tf.ones([2]), "median"), lambda: d.all_reduce(tf.ones([2], tf.float64)),
                      lambda: d.broadcast(tf.Variable(1.0), 2), lambda: d.all_reduce(tf.ones([2]), group="mine")):
            try: wrong()
            except (TypeError, ValueError) as error: print(type(error).__name__, error)
        try: npu.distribute.all_reduce(tf.ones([2 + rank]), "sum")
        except tf.errors.FailedPreconditionError as error: print("FailedPrecondition")
    """)
    assert said[0] == said[1]
    lines = said[0].splitlines()
    assert lines[0] == "ValueError reduction must be one of min, max, prod, sum, got 'median'"
    assert lines[1].startswith("TypeError HcomAllReduce: dtype float64 is not one of int8,") and lines[1].endswith(
        "cast it to float32"
    )
    assert lines[2] == "ValueError root_rank is 2, but the ranks of the group 'hccl_world_group' are 0 to 1"
    assert lines[3].startswith("ValueError there is no group 'mine'") and lines[4] == "FailedPrecondition"


def test_a_rank_that_nobody_has_started_with_others_is_told():
    with pytest.raises(AssertionError):
        run("npu.open()", RANK_SIZE="2", RANK_ID="0", RANK_TABLE_FILE="/nowhere/table.json")
    said = refusal("""
        npu.open().as_default()
        npu.npu_device.global_npu_ctx().workers_num = 2
        npu.distribute.all_reduce(tf.ones([2]))
    """)
    assert said.startswith("RuntimeError: all_reduce: RANK_SIZE=") and "tf2npu run --devices" in said
