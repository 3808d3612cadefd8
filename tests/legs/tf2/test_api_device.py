"""Opening the device, and what changes in TensorFlow when it is the default."""

from __future__ import annotations

import pytest

from tests.legs.tf2.api_programs import refusal, run


def test_importing_it_leaves_tensorflow_2_as_it_is():
    done = run("""
        import sys
        print(tf.executing_eagerly(), tf.__version__.startswith("2.15"), "npu_bridge" in sys.modules, handed)
    """)
    assert done.stdout == "True True False []\n"


def test_the_handle_is_one_and_is_made_the_default_once():
    done = run("""
        device = npu.open()
        assert npu.open() is device and npu.open(0) is device and npu.open().as_default() is device
        assert npu.npu_device.global_npu_ctx() is device
        device.as_default()
        with device.scope():
            x = tf.constant(2.0) * 3.0
        print(device.name(), device.workers_num, device.worker_id, device.is_cluster_worker(), len(handed), float(x))
    """)
    assert done.stdout == "/job:localhost/replica:0/task:0/device:NPU:0 1 0 False 1 6.0\n"


def test_the_number_is_that_of_the_environment_or_of_the_call():
    assert run("print(npu.open().name()[-5:])", ASCEND_DEVICE_ID="3").stdout == "NPU:3\n"
    assert run("import os; print(npu.open(2).name()[-5:], os.environ['ASCEND_DEVICE_ID'])").stdout == "NPU:2 2\n"
    assert refusal("npu.open('first')") == "ValueError: invalid literal for int() with base 10: 'first'"


def test_a_second_device_is_refused():
    said = refusal("npu.open().as_default(); npu.open(1)")
    assert said == "RuntimeError: Failed create npu instance on device 1 as existed instance on [0]"
    done = run("""
        npu.open(4)
        try: npu.open()
        except RuntimeError as error: print(error)
    """)
    assert done.stdout == ""  # the number of the open device is the process' own from then on


JOBS = [
    ({"RANK_SIZE": "2"}, "RuntimeError: CM_CHIEF_IP and RANK_TABLE_FILE are all not be configured."),
    (
        {"RANK_SIZE": "2", "CM_CHIEF_IP": "127.0.0.1", "RANK_TABLE_FILE": "t.json"},
        "RuntimeError: CM_CHIEF_IP and RANK_TABLE_FILE cannot be configured at the same time.",
    ),
    (
        {"RANK_SIZE": "2", "RANK_TABLE_FILE": "t.json"},
        "RuntimeError: You must specify rank id by set env RANK_ID in distribution mode",
    ),
    (
        {"CM_WORKER_SIZE": "2", "CM_CHIEF_IP": "127.0.0.1"},
        "RuntimeError: You must specify cm chief port by set env CM_CHIEF_PORT in distribution mode",
    ),
    (
        {"CM_WORKER_SIZE": "2", "CM_CHIEF_IP": "127.0.0.1", "CM_CHIEF_PORT": "6000"},
        "RuntimeError: You must specify cm chief device by set env CM_CHIEF_DEVICE in distribution mode",
    ),
    (
        {"CM_WORKER_SIZE": "2", "CM_CHIEF_IP": "", "CM_CHIEF_PORT": "6000", "CM_CHIEF_DEVICE": "0"},
        "RuntimeError: You must specify cm chief ip by set env CM_CHIEF_IP in distribution mode",
    ),
    (
        {"RANK_SIZE": "2", "CM_WORKER_SIZE": "2"},
        "ValueError: RANK_SIZE and CM_WORK_SIZE cannot be configured at the same time",
    ),
    ({"RANK_SIZE": "many"}, "ValueError: invalid literal for int() with base 10: 'many'"),
]  # fmt: skip


def test_an_incomplete_job_is_refused():
    for variables, message in JOBS:
        assert refusal("npu.open()", **variables) == message


@pytest.mark.parametrize("version", ["2.13.0", "2.16.1", "2.6.5"])
def test_another_version_of_tensorflow_is_refused_in_one_line(version):
    pretend = f"""
        from tensorflow.python.framework import versions
        versions.VERSION = "{version}"
        npu.open()
    """
    expected = f"RuntimeError: npu_device needs TensorFlow 2.15, this is {version}: pip install 'tensorflow-cpu==2.15.1'"
    assert refusal(pretend) == expected


def test_devices_of_tensorflow_choose_nothing():
    done = run("""
        npu.open().as_default()
        with tf.device("/NPU:0"), tf.device("/job:worker/task:7"), tf.device("/GPU:3"):
            v = tf.Variable(2.0)
            print(v.device[-5:], float(v * 2))
        @tf.function
        def f(x):
            with tf.device("/GPU:9"):
                return x * v
        print(float(f(tf.constant(3.0))), {op.device for op in f.get_concrete_function(tf.constant(3.0)).graph.get_operations()})
        try: tf.device(lambda op: "/CPU:0")
        except RuntimeError as error: print(error)
    """)
    assert done.stdout.splitlines() == ["CPU:0 4.0", "6.0 {''}", "tf.device does not support functions."]
    assert done.stderr.count("tf.device does nothing") == 1


def test_keras_own_use_of_devices_says_nothing():
    done = run("""
        npu.open().as_default()
        layers = tf.keras.layers
        model = tf.keras.Sequential([layers.Embedding(5, 2, input_length=3), layers.Flatten(), layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(tf.ones([4, 3], tf.int32), tf.ones([4, 1]), verbose=0)
    """)
    assert "tf.device" not in done.stderr and "jit_compile" not in done.stderr


def test_functions_ignore_compilers_also_those_made_before():
    source = """
        @tf.function(jit_compile=True)
        def early(x): return x + 1.0
        npu.open().as_default()
        @tf.function(jit_compile=True)
        def late(x): return early(x) * 2.0
        keyword = tf.function(lambda x: x, experimental_compile=True)
        for f in (early, late, keyword, npu.npu_compat_function(late.python_function, jit_compile=True)):
            made = f.get_concrete_function(tf.constant(1.0))
            print(made.function_def.attr["_XlaMustCompile"].b, float(f(tf.constant(1.0))))
    """
    done = run(source)
    assert done.stdout.splitlines() == ["False 2.0", "False 4.0", "False 1.0", "False 4.0"]
    assert "jit_compile of early is ignored" in done.stderr and "jit_compile of late is ignored" in done.stderr


def test_a_function_that_asks_for_no_compiler_stays_as_it_is():
    done = run("""
        npu.open().as_default()
        for asked in (None, False):
            f = tf.function(lambda x: x, jit_compile=asked)
            print("_XlaMustCompile" in f.get_concrete_function(1.0).function_def.attr, f._jit_compile)
    """)
    assert done.stdout.splitlines() == ["False None", "True False"]


def test_nested_functions_and_python_functions_give_tensorflows_numbers_and_errors():
    """A nested function is not traced as plain Python, as the vendor's is: its random numbers and failed traces would differ."""
    program = """
        tf.random.set_seed(3)
        v = tf.Variable(0.0)
        @tf.function
        def inner(x):
            v.assign_add(1.0)
            x = tf.cond(x > 0.0, lambda: x * 2.0, lambda: x)
            return x + tf.random.uniform([])
        @tf.function
        def outer(x): return inner(x) + tf.py_function(lambda t: t * 10.0, [inner(x)], tf.float32)
        print(float(outer(tf.constant(1.5))), float(outer(tf.constant(-1.5))), float(v))
        @tf.function
        def wrong(x):
            return tf.function(lambda y: tf.matmul(y, y))(x)
        try: wrong(tf.ones([2, 3]))
        except ValueError as error: print(str(error).splitlines()[-1])
    """
    plain = run(program, before="import tensorflow as tf\n")
    assert len(plain.stdout.splitlines()) == 2
    assert run("\n        npu.open().as_default()\n" + program).stdout == plain.stdout


def test_the_size_of_loops_is_kept_and_said():
    done = run(
        """
        from npu_device._device import loop_size
        print(loop_size.size)
        npu.open()
        npu.set_npu_loop_size(100)
        print(loop_size.size)
    """,
        NPU_LOOP_SIZE="8",
    )
    assert done.stdout == "8\n100\n"
    assert "NPU_LOOP_SIZE is 8: recorded; here a loop makes the turns that the script asks for" in done.stderr
    assert "NPU_LOOP_SIZE is 100" in done.stderr
    assert "NPU_LOOP_SIZE='all' is no number from 1 on: 1 is taken" in run("npu.open()", NPU_LOOP_SIZE="all").stderr
    assert "NPU_LOOP_SIZE" not in run("npu.open(); npu.set_npu_loop_size(1)").stderr
    assert refusal("npu.set_npu_loop_size(0)") == "ValueError: loop_size must be 1 or more, got 0"
    assert refusal("npu.set_npu_loop_size('4')") == "TypeError: loop_size must be an int, got '4'"


def test_the_overflow_mode_is_that_of_the_process():
    done = run("""
        from npu_runtime.device import float_status
        print(npu.is_inf_nan_enabled(), float_status.asked)
        npu.set_device_sat_mode(1); print(npu.is_inf_nan_enabled(), float_status.asked)
        npu.npu_device.set_device_sat_mode(0); print(npu.npu_device.is_inf_nan_enabled(), float_status.asked)
    """)
    assert done.stdout.splitlines() == ["False None", "True False", "False True"]
    assert refusal("npu.set_device_sat_mode(2)") == "ValueError: mode must be 0 (saturation) or 1 (infinities and NaN), got 2"


def test_scopes_put_attributes_on_the_nodes_of_functions():
    done = run("""
        from npu_device.utils import scope
        @tf.function
        def f(x):
            with npu.keep_dtype_scope(): a = tf.sin(x)
            with npu.npu_recompute_scope(): b = tf.cos(a)
            with scope.npu_optimizer_scope(), scope.npu_gradients_scope(): c = tf.tan(b)
            return tf.exp(c)
        for op in f.get_concrete_function(tf.constant(1.0)).graph.get_operations():
            if op.type in ("Sin", "Cos", "Tan", "Exp"):
                print(op.type, sorted(name for name in op.node_def.attr if name.startswith("_")))
        with npu.keep_dtype_scope(), npu.npu_recompute_scope():
            print(float(tf.sin(0.0)))
    """)
    assert done.stdout.splitlines() == [
        "Sin ['_keep_dtype']",
        "Cos ['_recompute']",
        "Tan ['_backward', '_optimizer']",
        "Exp []",
        "0.0",
    ]


def test_options_of_a_call_are_recorded_and_others_refused():
    done = run("""
        options = npu.configs.run_context_options()
        options.experimental.graph_memory_optimize_config.recompute = "auto"
        with npu.npu_run_context(options), npu.npu_run_context():
            print(float(tf.function(lambda: tf.constant(1.0))()))
    """)
    assert done.stdout == "1.0\n" and "npu_run_context: recompute is recorded" in done.stderr
    assert refusal("with npu.npu_run_context({}): pass") == "ValueError: options type must be NpuRunContextOptions"


def test_scripts_of_tensorflow_1_find_npu_bridge_below_compat():
    done = run("""
        from npu_device.compat.v1.npu_init import *
        npu.compat.enable_v1()
        import npu_bridge.npu_init, npu_device.compat.v1.npu_init as init
        from npu_device.compat.v1.estimator import npu_ops as ops
        import npu_bridge.estimator.npu_ops
        assert init is npu_bridge.npu_init and ops is npu_bridge.estimator.npu_ops and init.__name__ == "npu_bridge.npu_init"
        builder = npu.compat.v1.SessionConfigBuilder()
        builder.parameter_map["precision_mode"].s = b"must_keep_origin_dtype"
        x = tf.compat.v1.placeholder(tf.float32, [2])
        with tf.compat.v1.Session(config=builder.session_config) as session:
            print(session.run(x * 2.0, {x: [1.0, 2.0]}), tf.executing_eagerly())
    """)
    assert done.stdout == "[2. 4.] False\n"
    assert "simulated Ascend" in done.stderr and "1 session, 1 run" in done.stderr
    with pytest.raises(AssertionError, match=r"No module named 'npu_device\.compat\.v1\.no_such_module'"):
        run("import npu_device.compat.v1.no_such_module")


def test_tensorflow_keeps_its_names_below_compat():
    """`tf.image.resize` of TensorFlow 1 is another function; `from npu_init import *` binds tf to compat.v1, as the vendor's."""
    done = run("""
        from npu_device.compat.v1 import npu_init
        from npu_device.compat.v1.npu_init import *
        assert tf is npu_init.tf and tf.Session is tf.compat.v1.Session
        import tensorflow as tf
        print(tf.executing_eagerly())
        npu.compat.enable_v1(); npu.compat.enable_v1()
        x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        with tf.compat.v1.Session(config=npu_config_proto()) as session:
            print(session.run(tf.image.resize(x, [1, 3])).ravel().tolist(), tf.__version__, hasattr(tf, "Session"))
            print(session.run(tf.compat.v1.image.resize(x, [1, 3])).ravel().tolist())
            optimizer = NPUDistributedOptimizer(tf.compat.v1.train.GradientDescentOptimizer(0.5))
            v = tf.compat.v1.get_variable("v", [], initializer=tf.compat.v1.zeros_initializer())
            train = optimizer.minimize((v - 1.0) ** 2)
            session.run(tf.compat.v1.global_variables_initializer()); session.run(train)
            print(session.run(v))
    """)
    plain = run("""
        x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        print(tf.image.resize(x, [1, 3]).numpy().ravel().tolist(), tf.compat.v1.image.resize(x, [1, 3]).numpy().ravel().tolist())
    """)
    eager, first, second, trained = done.stdout.splitlines()
    assert (eager, trained) == ("True", "1.0")
    assert first.endswith(" 2.15.1 False") and plain.stdout == f"{first.removesuffix(' 2.15.1 False')} {second}\n"


def test_enabling_version_1_alone_does_it_too():
    done = run("""
        npu.open(5)
        npu.compat.enable_v1()
        import os
        print(tf.executing_eagerly(), os.environ["ASCEND_DEVICE_ID"])
    """)
    assert done.stdout == "False 5\n"
