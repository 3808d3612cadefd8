"""Keras beside its own steps: callbacks, optimizers, strategies, what stops a fit, and the fit behind it."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, TRAINED, case
from tests.legs.tf2.cases.small_networks import X, Y, fit, network, weights

keras = tf.keras
callbacks = tf.keras.callbacks


@case(TRAINED)
def weights_assigned_by_a_callback() -> Any:
    class Halve(callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            kernel = self.model.layers[0].kernel
            kernel.assign(kernel * 0.9)
            self.model.optimizer.learning_rate.assign(0.01 * (batch + 1))

    model = network()
    return fit(model, epochs=2, callbacks=[Halve()]), weights(model), tf.matmul(X, model.layers[0].kernel)


@case(TRAINED)
def learning_rates_by_callbacks() -> Any:
    model = network()
    schedule = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)
    plateau = callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=10.0)
    history = model.fit(X, Y, batch_size=8, epochs=4, shuffle=False, verbose=0, callbacks=[schedule, plateau]).history
    return history["loss"], history["lr"], weights(model), model.optimizer.learning_rate


@case(TRAINED)
def best_weights_restored() -> Any:
    model = network(keras.optimizers.SGD(1.2))
    stop = callbacks.EarlyStopping("loss", patience=2, restore_best_weights=True)
    return len(fit(model, epochs=8, callbacks=[stop])), weights(model), model.evaluate(X, Y, verbose=0)


@case(TRAINED)
def weights_seen_by_a_callback() -> Any:
    seen = []

    class Look(callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(float(tf.reduce_sum(self.model.layers[1].kernel)))
            seen.append(int(self.model.optimizer.iterations))

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.extend(np.ravel(self.model.predict(X[:2], verbose=0)).tolist())
            seen.append(self.model.evaluate(X, Y, verbose=0))

    fit(network(), epochs=2, callbacks=[Look()])
    return seen


@case(TRAINED)
def evaluated_and_predicted_between_fits() -> Any:
    model, seen = network(metrics=["mae", keras.metrics.RootMeanSquaredError()]), []
    for _ in range(3):
        fit(model)
        seen += [model.evaluate(X, Y, batch_size=12, verbose=0), model.predict(X[:5], batch_size=2, verbose=0)]
        model.layers[0].bias.assign_add(tf.fill([8], 0.1))
    return seen


@case(TRAINED)
def one_batch_at_a_time() -> Any:
    model = network(metrics=["mae"])
    seen = [model.train_on_batch(X[i : i + 8], Y[i : i + 8], reset_metrics=False) for i in (0, 8, 16)]
    return seen, model.test_on_batch(X, Y), model.predict_on_batch(X[:3]), model(X[:3]), model(X[:3], training=True)


@case(TRAINED)
def steps_at_once_that_do_not_divide_the_epoch() -> Any:
    model = network(steps_per_execution=3)
    return fit(model, epochs=2), weights(model), model.optimizer.iterations


@case(TRAINED)
def last_batch_smaller() -> Any:
    model = network()
    return fit(model, batch_size=12, epochs=2), weights(model), model.evaluate(X, Y, batch_size=10, verbose=0)


@case(TRAINED)
def validation_and_weights_of_samples_and_classes() -> Any:
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    labels = np.arange(32) % 3
    settings = {"batch_size": 8, "shuffle": False, "verbose": 0, "epochs": 2}
    first = model.fit(X, labels, validation_split=0.25, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, **settings).history
    second = model.fit(X, labels, validation_data=(X[:10], labels[:10]), sample_weight=np.linspace(0, 1, 32), **settings).history
    return list(first.values()), list(second.values()), weights(model)


NEW = ("Adadelta", "Adafactor", "Adagrad", "Adam", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam", "RMSprop", "SGD")
LEGACY = ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")


@case(TRAINED)
def new_optimizers() -> Any:
    seen = []
    for name in NEW:
        optimizer = getattr(keras.optimizers, name)(learning_rate=0.01)
        model = network(optimizer)
        seen += [fit(model), weights(model), [variable.numpy() for variable in optimizer.variables if "rate" in variable.name]]
    return seen


@case(TRAINED)
def legacy_optimizers() -> Any:
    seen = []
    for name in LEGACY:
        optimizer = getattr(keras.optimizers.legacy, name)(learning_rate=0.01)
        model = network(optimizer)
        seen += [fit(model), weights(model), optimizer.iterations, len(optimizer.get_weights())]
    return seen


@case(TRAINED)
def settings_of_optimizers() -> Any:
    settings = (
        {"clipnorm": 0.1},
        {"global_clipnorm": 0.1},
        {"clipvalue": 0.01},
        {"weight_decay": 0.1},
        {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": 3},
        {"amsgrad": True, "epsilon": 0.1},
        {"learning_rate": keras.optimizers.schedules.CosineDecayRestarts(0.01, 3)},
    )
    seen = []
    for given in settings:
        model = network(keras.optimizers.Adam(**{"learning_rate": 0.01, **given}))
        seen += [fit(model, epochs=2), weights(model)]
    return seen


@case(TRAINED)
def optimizer_called_eagerly() -> Any:
    model = network()
    forward = tf.function(lambda x: model(x, training=True))
    for optimizer in (keras.optimizers.Adam(0.01), keras.optimizers.legacy.RMSprop(0.01)):
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((forward(X) - Y) ** 2)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss, weights(model)


@case(TRAINED)
def layers_frozen_between_fits() -> Any:
    model = network()
    seen = [fit(model), weights(model)]
    model.layers[0].trainable = False
    model.compile(keras.optimizers.SGD(0.1), "mse")
    return [*seen, fit(model), weights(model)]


@case(TRAINED)
def statistics_of_batches() -> Any:
    layers = [keras.layers.Dense(8), keras.layers.BatchNormalization(momentum=0.5), keras.layers.Dense(2)]
    model = keras.Sequential([keras.Input((6,)), *layers])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    seen = [fit(model, epochs=2), layers[1].moving_mean.numpy().copy(), layers[1].moving_variance.numpy().copy()]
    layers[1].moving_mean.assign(tf.zeros([8]))
    return [*seen, model.predict(X[:4], verbose=0), fit(model), layers[1].moving_mean, model(X[:4], training=False)]


@case(TRAINED)
def metrics_outside_of_functions() -> Any:
    labels = (Y[:, :1] > 0.5).astype(np.float32)
    metrics = [keras.metrics.AUC(num_thresholds=20), keras.metrics.Precision(), keras.metrics.Recall(), keras.metrics.Mean()]
    seen = []

    @tf.function
    def update(metric: keras.metrics.Metric, *values: tf.Tensor) -> None:
        metric.update_state(*values)

    for metric in metrics[:3]:
        update(metric, tf.constant(labels[:16]), tf.constant(X[:16, :1]))
        seen.append(metric.result())
        metric.update_state(labels[16:], X[16:, :1])
        seen.append(metric.result())
        metric.reset_state()
        update(metric, tf.constant(labels[16:]), tf.constant(X[16:, :1]))
        seen.append(metric.result())
    metrics[3].update_state(X)
    update(metrics[3], tf.constant(X[:16]))
    return [*seen, metrics[3].result(), [variable.numpy().sum() for metric in metrics for variable in metric.variables]]


@case(TRAINED)
def losses_added_by_layers() -> Any:
    class Penalty(keras.layers.Layer):
        def call(self, x: tf.Tensor) -> tf.Tensor:
            self.add_loss(0.1 * tf.reduce_mean(tf.abs(x)))
            return x

    dense = keras.layers.Dense(8, kernel_regularizer="l1_l2", activity_regularizer=keras.regularizers.l2(0.01))
    model = keras.Sequential([keras.Input((6,)), dense, Penalty(), keras.layers.Dense(2, kernel_constraint="max_norm")])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return fit(model, epochs=2), weights(model), model.evaluate(X, Y, verbose=0)


@case(TRAINED)
def subclass_that_is_built_by_its_first_call() -> Any:
    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.hidden, self.out = keras.layers.Dense(8, "tanh"), keras.layers.Dense(2)

        def call(self, x: tf.Tensor, training: bool = False) -> tf.Tensor:
            return self.out(self.hidden(x) * (2.0 if training else 1.0))

    model = Net()
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return fit(model, epochs=2), weights(model), model.predict(X[:3], verbose=0)


@case(TRAINED)
def training_step_of_its_own() -> Any:
    class Accumulating(keras.Model):
        def train_step(self, data: Any) -> dict[str, tf.Tensor]:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x, y, self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip([g * 0.5 for g in gradients], self.trainable_variables, strict=True))
            norm = tf.linalg.global_norm(gradients)
            tf.cond(norm > 0.3, lambda: self.large.assign_add(1), lambda: self.large)
            return {"loss": loss, "norm": norm}

    inputs = keras.Input((6,))
    model = Accumulating(inputs, keras.layers.Dense(2)(inputs))
    model.large = tf.Variable(0, trainable=False)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    history = model.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0).history
    return history["loss"], history["norm"], weights(model), model.large


@case(TRAINED)
def states_of_recurrent_layers() -> Any:
    model = keras.Sequential([keras.layers.LSTM(4, stateful=True, batch_input_shape=(8, 3, 2)), keras.layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    x = X.reshape(32, 3, 2)
    seen = [model.fit(x, Y, batch_size=8, shuffle=False, verbose=0).history["loss"], *[s.numpy() for s in model.layers[0].states]]
    model.reset_states()
    return [*seen, model.predict(x[:8], verbose=0), model.predict(x[:8], verbose=0), *model.layers[0].states]


@case(TRAINED)
def run_eagerly() -> Any:
    model = network(run_eagerly=True)
    seen = [fit(model), weights(model)]
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return [*seen, fit(model), weights(model)]


@case(1e-2)
def in_sixteen_bits() -> Any:
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        model = network()
        seen = [fit(model, epochs=2), weights(model), model.optimizer.loss_scale, type(model.optimizer).__name__]
        return [*seen, model.predict(X[:2], verbose=0).dtype.name]
    finally:
        keras.mixed_precision.set_global_policy("float32")


@case(TRAINED)
def scaled_losses_that_overflow() -> Any:
    optimizer = keras.mixed_precision.LossScaleOptimizer(
        keras.optimizers.SGD(0.05), initial_scale=2.0**10, dynamic_growth_steps=3
    )
    variable, seen = tf.Variable([1.0, 2.0]), []

    @tf.function
    def step(factor: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable * factor)
            scaled = optimizer.get_scaled_loss(loss)
        gradients = optimizer.get_unscaled_gradients(tape.gradient(scaled, [variable]))
        optimizer.apply_gradients(zip(gradients, [variable], strict=True))
        return loss

    for factor in (1.0, 1.0, float("inf"), 1.0, 1.0, 1.0, 1.0, float("nan"), 1.0):
        step(tf.constant(factor))
        seen += [variable.numpy().copy(), float(optimizer.loss_scale), int(optimizer.iterations)]
    return seen


@case(TRAINED)
def strategies() -> Any:
    seen = []
    for strategy in (
        tf.distribute.OneDeviceStrategy("cpu:0"),
        tf.distribute.MirroredStrategy(["cpu:0"]),
        tf.distribute.get_strategy(),
    ):
        keras.utils.set_random_seed(5)
        with strategy.scope():
            model = network()
        seen += [fit(model, epochs=2), weights(model), model.evaluate(X, Y, verbose=0)]
    return seen


@case(TRAINED)
def own_loop_under_a_strategy() -> Any:
    strategy = tf.distribute.MirroredStrategy(["cpu:0"])
    with strategy.scope():
        model, optimizer = network(), keras.optimizers.SGD(0.05)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(8))

    @tf.function
    def step(inputs: Any) -> tf.Tensor:
        def replica(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
            return loss

        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica, inputs), axis=None)

    return [step(inputs) for inputs in data], weights(model)


@case(TRAINED)
def session_cleared_between_fits() -> Any:
    seen = []
    for _ in range(3):
        keras.utils.set_random_seed(5)
        model = network(keras.optimizers.Adam(0.01))
        seen += [fit(model), weights(model)]
        keras.backend.clear_session()
    return seen


@case(TRAINED)
def many_models_made_and_dropped() -> Any:
    seen = []
    for _ in range(5):
        model = network()
        seen.append(fit(model))
        del model
    return seen


@case(TRAINED)
def loss_that_is_nan() -> Any:
    model, other = network(), network()
    history = model.fit(X * np.nan, Y, verbose=0, batch_size=8, callbacks=[callbacks.TerminateOnNaN()]).history["loss"]
    return history, fit(other), weights(other)


@case(TRAINED)
def interrupted_and_fitted_again() -> Any:
    class Interrupt(callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1:
                signal.raise_signal(signal.SIGINT)

    model, seen = network(), []
    try:
        fit(model, callbacks=[Interrupt()])
    except KeyboardInterrupt:
        seen.append("interrupted")
    return seen, weights(model), fit(model), weights(model)


@case(TRAINED)
def interrupted_anywhere_and_fitted_again() -> Any:
    """A second signal follows where the first one came into a finalizer: Python drops what a handler raises there."""
    is_over = threading.Event()

    def press(thread: int = threading.get_ident()) -> None:
        while not is_over.wait(1.5):
            signal.pthread_kill(thread, signal.SIGINT)

    model, was_interrupted, begin = network(), False, None
    begin = model.get_weights()
    threading.Thread(target=press, daemon=True).start()
    try:
        fit(model, epochs=100_000)
    except KeyboardInterrupt:
        is_over.set()
        was_interrupted = True
    model.set_weights(begin)
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return was_interrupted, fit(model), weights(model)


@case(TRAINED)
def callback_that_raises() -> Any:
    class Fail(callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 2:
                raise ValueError("enough")

    model, said = network(), ""
    try:
        fit(model, callbacks=[Fail()])
    except ValueError as error:
        said = str(error)
    return said, weights(model), fit(model), weights(model)


@case()
def generator_that_raises() -> Any:
    def batches() -> Any:
        yield X[:8], Y[:8]
        raise RuntimeError("the generator fails")

    kinds = (tf.TensorSpec([8, 6]), tf.TensorSpec([8, 2]))
    return network().fit(tf.data.Dataset.from_generator(batches, output_signature=kinds), verbose=0).history["loss"]


@case(TRAINED)
def fit_behind_a_generator_that_raised() -> Any:
    def batches() -> Any:
        yield X[:8], Y[:8]
        raise RuntimeError("the generator fails")

    model, said = network(), ""
    kinds = (tf.TensorSpec([8, 6]), tf.TensorSpec([8, 2]))
    try:
        model.fit(tf.data.Dataset.from_generator(batches, output_signature=kinds), verbose=0)
    except tf.errors.OpError as error:
        said = type(error).__name__
    return said, weights(model), fit(model), weights(model)


@case()
def labels_that_the_loss_refuses() -> Any:
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model.fit(X[:8], np.full([8], 7), verbose=0).history["loss"], weights(model)


@case()
def indices_that_no_row_has() -> Any:
    model = keras.Sequential(
        [keras.Input((2,), dtype="int32"), keras.layers.Embedding(4, 3), keras.layers.Flatten(), keras.layers.Dense(1)]
    )
    model.compile("sgd", "mse")
    return model.predict(np.array([[1, 9]]), verbose=0)


@case(EXACT)
def inputs_of_a_wrong_shape() -> Any:
    return network().fit(X[:, :5], Y, verbose=0).history["loss"]


@case(TRAINED)
def counts_of_steps() -> Any:
    model = network()
    fit(model, epochs=3)
    again = network(keras.optimizers.legacy.SGD(0.05))
    fit(again, epochs=2)
    return (
        model.optimizer.iterations,
        again.optimizer.iterations,
        model.count_params(),
        model._train_counter,
        model.optimizer.get_config()["momentum"],
    )
