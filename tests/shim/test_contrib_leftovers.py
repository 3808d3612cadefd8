"""Parts of tf.contrib that have no successor with the same name; expected values are those TensorFlow 1.15 printed."""

from __future__ import annotations

import numpy as np
import pytest

TEXTS = ["The NPUTrains a net's weights, the net learns", "a net a net in-depth THE end", "café über alles the"]
# Lowest count of a word that is kept : numbers of the texts, size of the vocabulary, two numbers read back.
NUMBERED = {
    0: ([[1, 2, 3, 4, 5, 6], [4, 8, 4, 8, 10, 11], [13, 14, 15, 7, 0, 0]], 16, "The NPU <UNK>"),
    1: ([[0, 0, 0, 1, 0, 0], [1, 2, 1, 2, 0, 0], [0, 0, 0, 3, 0, 0]], 4, "a net <UNK>"),
}


@pytest.mark.parametrize("min_frequency", sorted(NUMBERED))
def test_words_are_numbered_as_in_1_15(min_frequency, tmp_path):
    from tensorflow.contrib import learn

    numbers, size, words = NUMBERED[min_frequency]
    processor = learn.preprocessing.VocabularyProcessor(6, min_frequency=min_frequency)
    assert [list(row) for row in processor.fit_transform(TEXTS)] == numbers
    assert len(processor.vocabulary_) == size and list(processor.reverse([[1, 2, 0]])) == [words]
    processor.save(str(tmp_path / "words"))
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))
    assert [list(row) for row in again.transform(["net of the unseen"])] == [list(x) for x in processor.transform(
        ["net of the unseen"])]  # fmt: skip


def test_bytes_of_texts():
    from tensorflow.contrib.learn.python.learn.preprocessing.text import ByteProcessor

    rows = list(ByteProcessor(5).transform(["aé", "longer text"]))
    assert [list(row) for row in rows] == [[97, 195, 169, 0, 0], [108, 111, 110, 103, 101]]
    assert list(ByteProcessor(5).reverse(rows)) == ["aé", "longe"]


def test_modes_of_the_first_estimators():
    import tensorflow as tf

    modes = tf.contrib.learn.ModeKeys
    assert (modes.TRAIN, modes.EVAL, modes.INFER) == ("train", "eval", tf.estimator.ModeKeys.PREDICT)
    with pytest.raises(ValueError, match="Invalid mode predict"):
        modes.validate("predict")


def test_rows_of_csv_files(tmp_path):
    import tensorflow as tf

    base = tf.contrib.learn.python.learn.datasets.base
    (tmp_path / "with").write_text("2,3,a,b\n1.5,2,3,0\n4,5,6,1\n")
    (tmp_path / "without").write_text("1.5,2,3,0\n4,5,6,1\n")
    for load, name in ((base.load_csv_with_header, "with"), (base.load_csv_without_header, "without")):
        data, target = load(str(tmp_path / name), np.int32, np.float32)
        assert data.dtype == np.float32 and data.tolist() == [[1.5, 2, 3], [4, 5, 6]]
        assert target.dtype == np.int32 and target.tolist() == [0, 1]


def test_gradients_are_clipped_to_a_common_norm(graph):
    import tensorflow as tf

    v, w = tf.Variable([3.0, 4.0]), tf.Variable([0.1, 0.0])
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(1.0), 1.0)
    step = optimizer.minimize(tf.nn.l2_loss(v) + tf.nn.l2_loss(w))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        after = np.concatenate(session.run([v, w]))
    np.testing.assert_allclose(after, [2.40012, 3.20016, 0.080004, 0.0], rtol=2e-6)
    assert optimizer.get_name() == "ClipByNormGradientDescent"


def test_model_analysis_counts_operations(graph, capfd):
    import tensorflow as tf
    from tensorflow.contrib.tfprof import model_analyzer

    tf.matmul(tf.ones([2, 3]), tf.Variable(tf.ones([3, 4])))
    options = model_analyzer.FLOAT_OPS_OPTIONS
    assert options["min_float_ops"] == 1 and options["order_by"] == "float_ops" and options["select"] == ["float_ops"]
    found = tf.contrib.tfprof.model_analyzer.print_model_analysis(graph, tfprof_options=options)
    assert found.total_float_ops == 2 * 2 * 3 * 4
    parameters = model_analyzer.print_model_analysis(graph, tfprof_options=model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert parameters.total_parameters == 12


def test_a_compiled_model_function_is_itself():
    from tensorflow.contrib.compiler import xla

    def model_fn(features):
        return features

    assert xla.estimator_model_fn(model_fn) is model_fn and xla.estimator_model_fn()(model_fn) is model_fn


def test_summaries_of_layers(graph):
    """Tags are those that TensorFlow 1.15 gave."""
    import tensorflow as tf

    wave = tf.sin(tf.ones([2, 3]), name="wave")
    with tf.Session() as session:
        values = session.run(tf.contrib.layers.summaries.summarize_activation(tf.nn.relu(wave, name="fold")))
    assert [value.tag for value in tf.Summary.FromString(values).value] == ["fold/activation"]
    assert tf.contrib.layers.summaries.summarize_tensors([wave]) and not hasattr(tf.contrib.layers.summaries, "scalar")


def test_summaries_of_version_2(graph):
    import tensorflow as tf

    v2 = tf.compat.v2.summary
    assert "step" in v2.scalar.__code__.co_varnames and callable(v2.create_file_writer) and callable(v2.record_if)
    assert tf.summary.scalar is not v2.scalar


def test_cudnn_is_imported_and_refused_when_it_is_made(graph):
    import tensorflow as tf
    from tensorflow.contrib.cudnn_rnn.python.layers import cudnn_rnn

    assert cudnn_rnn.CUDNN_RNN_BIDIRECTION == "bidirectional"
    with pytest.raises(RuntimeError, match="CudnnLSTM: cuDNN runs on another kind of device; use "):
        tf.contrib.cudnn_rnn.CudnnLSTM(1, 4)
    x = tf.constant(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
    cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
    out, _ = cell(x, cell.zero_state(2, tf.float32))
    kernel, bias = tf.global_variables()
    assert (kernel.name, bias.name) == ("cudnn_compatible_lstm_cell/kernel:0", "cudnn_compatible_lstm_cell/bias:0")
    i, j, _f, o = tf.split(tf.matmul(x, kernel[:3]) + bias, 4, axis=1)
    expected = tf.sigmoid(o) * tf.tanh(tf.sigmoid(i) * tf.tanh(j))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run([out, expected]), rtol=1e-5, atol=1e-7)


def test_functional_recurrence_runs_both_ways(graph):
    import tensorflow as tf

    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
    lengths = [4, 2]
    with tf.variable_scope("net", initializer=tf.ones_initializer()):
        ahead, _ = tf.contrib.recurrent.functional_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32)
        back, _ = tf.contrib.recurrent.functional_rnn(
            tf.nn.rnn_cell.BasicRNNCell(2), x, sequence_length=lengths, dtype=tf.float32, reverse=True, scope="back"
        )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        ahead, back = session.run([ahead, back])

    def by_hand(steps):
        state, found = np.zeros(2), []
        for step in steps:
            state = np.tanh(step.sum() + state.sum()) * np.ones(2)
            found.append(state)
        return np.array(found)

    np.testing.assert_allclose(ahead[0], by_hand(x[0]), rtol=1e-5)
    np.testing.assert_allclose(back[0], by_hand(x[0][::-1])[::-1], rtol=1e-5)
    np.testing.assert_allclose(back[1, :2], by_hand(x[1, 1::-1])[::-1], rtol=1e-5)


def test_sums_over_towers(plain_session):
    import tensorflow as tf
    from tensorflow.contrib.all_reduce.python import all_reduce

    with tf.device("/cpu:0"):
        towers = [tf.constant([1.0, 2.0, 3.0]) * factor for factor in (1, 2)]
    sums = all_reduce.build_shuffle_all_reduce(towers, ["/cpu:0"], tf.add_n)
    assert [list(value) for value in plain_session.run(sums)] == [[3, 6, 9], [3, 6, 9]]


def test_scipy_minimizes_within_bounds_and_constraints(graph):
    import tensorflow as tf
    from npu_bridge.npu_init import npu_config_proto

    v = tf.get_variable("v", initializer=[7.0, 7.0])
    scale = tf.placeholder(tf.float32, [])
    loss = tf.reduce_sum(tf.square(v)) * scale
    interface = tf.contrib.opt.ScipyOptimizerInterface
    cases = (  # the three examples of TF 1.15's documentation of the class
        (interface(loss, options={"maxiter": 100}), [0, 0]),
        (interface(loss, var_to_bounds={v: ([1, 2], np.inf)}), [1, 2]),
        (interface(loss, equalities=[v[1] - 1.0], inequalities=[v[0] - 1.0], method="SLSQP"), [1, 1]),
    )
    with tf.Session(config=npu_config_proto()) as session:
        session.run(tf.global_variables_initializer())
        for optimizer, expected in cases:
            losses: list[float] = []
            optimizer.minimize(session, feed_dict={scale: 2.0}, fetches=[loss], loss_callback=losses.append)
            np.testing.assert_allclose(session.run(v), expected, atol=1e-5)
            assert losses[-1] <= losses[0]
    with pytest.raises(ValueError, match="'jac' is set automatically"):
        interface(loss, jac=True)._minimize(np.zeros(2), None, [], [], [], [], None, None, {"jac": True})


@pytest.mark.parametrize(("interpolation", "method"), [("lower", "lower"), ("higher", "higher"), (None, "nearest")])
@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
def test_percentiles_are_numpys(plain_session, axis, interpolation, method):
    import tensorflow as tf
    from tensorflow.contrib import distributions

    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    for q in (0, 10, 33, 70, 100):
        found = distributions.percentile(tf.constant(x), q, axis, interpolation, keep_dims=True)
        expected = np.percentile(x, q, axis=axis, method=method, keepdims=True)
        np.testing.assert_array_equal(plain_session.run(found), expected)
    assert distributions.Normal is tf.distributions.Normal
    with pytest.raises(ValueError, match="Argument 'interpolation' must be in"):
        distributions.percentile(x, 50, interpolation="linear")
    with pytest.raises(AttributeError, match=r"VectorDiffeomixture is not available"):
        _ = distributions.VectorDiffeomixture


def test_slim_lets_the_scopes_through(graph):
    import tensorflow as tf
    import tensorflow.contrib.slim as slim

    with slim.variable_scope.variable_scope("ball"):
        assert tf.get_variable("v", []).name == "ball/v:0"


def test_contrib_eager_differentiates_and_runs_tests_in_both_modes(fresh):
    """Source: names of tensorflow/contrib/eager/python/tfe.py of TF 1.15."""
    source = """
    import npu_bridge
    import tensorflow as tf
    from tensorflow.contrib.eager.python import tfe
    assert tf.contrib.eager is not None and tf.contrib.eager.Variable is tfe.Variable

    class Case(tf.test.TestCase):
        @tfe.run_test_in_graph_and_eager_modes
        def test_both(self):
            modes.append(tfe.executing_eagerly())
            self.assertAllEqual(self.evaluate(tf.constant([1, 2]) * 2), [2, 4])

    modes = []
    Case("test_both").debug()
    print(sorted(modes))
    with tf.Graph().as_default(), tf.Session() as session:
        print(session.run(tfe.gradients_function(lambda x: x * x)(tf.constant(3.0))))
    try:
        tf.contrib.eager.Network
    except AttributeError as error:
        print(error)
    """
    printed = fresh(source).stdout.splitlines()
    assert printed[0] == "[False, True]"
    assert printed[1] == "[6.0]"
    assert printed[2].startswith("tf.contrib.eager.Network is not available") and "tf.keras" in printed[2]


WITHOUT_THE_PACKAGE = """
import sys
sys.modules["tensorflow_probability"] = None
import npu_bridge
import tensorflow as tf
try:
    tf.contrib.distributions.MultivariateNormalDiag
except AttributeError as error:
    print(error)
try:
    from tensorflow.contrib.distributions import bijectors
except ImportError as error:
    print(error)
print(hasattr(tf.contrib.distributions, "Mixture"), tf.contrib.distributions.Normal is tf.distributions.Normal)
"""


def test_without_probability_the_error_names_the_package(fresh):
    printed = fresh(WITHOUT_THE_PACKAGE).stdout.splitlines()
    assert printed[0].startswith("tf.contrib.distributions.MultivariateNormalDiag is not available")
    assert printed[1].startswith("tf.contrib.distributions.bijectors is not available")
    assert all('pip install "tf2npu[probability]"' in line for line in printed[:2])
    assert printed[2:] == ["False True"]
