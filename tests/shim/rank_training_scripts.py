"""Scripts that train a small network on many devices, as people wrote them, and each as it is written for one device.

Words in capitals are filled in. A script for many devices reads BATCH rows on each, the one for one device as many rows
as all of them together. Rows come in one order, so that both see the same rows in each step. Weights are printed when training
ends, as the script's own rank has them, and not as a checkpoint has them, which one rank writes for all.
"""

STEPS = 6
"""Steps of each training: as many as batches of eight ranks fit into ROWS."""
BATCH = 4
"""Rows of a rank's batch."""
ROWS = 8 * BATCH * STEPS
"""Rows of digits.npz that are read, which 2 and 8 ranks divide."""

NETWORK = f"""
import json
import numpy as np
import tensorflow as tf

with np.load("digits.npz") as data:
    images = data["images"][:{ROWS}, :, :, np.newaxis].astype(np.float32) / 16.0
    labels = data["labels"][:{ROWS}].astype(np.int32)

def network(images):
    def start(seed):
        return tf.random_uniform_initializer(-0.2, 0.2, seed=seed)
    net = tf.layers.conv2d(images, 4, 3, padding="same", activation=tf.nn.relu, kernel_initializer=start(1))
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), 16, activation=tf.nn.tanh, kernel_initializer=start(2))
    return tf.layers.dense(net, 10, kernel_initializer=start(3))

def loss_of(features, labels):
    return tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=network(features))
"""

MODEL_FN = (
    NETWORK
    + """
def model_fn(features, labels, mode):
    loss = loss_of(features, labels)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))

class PrintWeights(tf.train.SessionRunHook):
    def begin(self):
        self.weights = tf.trainable_variables()
    def end(self, session):
        print(json.dumps([value.tolist() for value in session.run(self.weights)]))
"""
)

ESTIMATOR = (
    MODEL_FN
    + f"""
def input_fn():
    return tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH)

strategy = STRATEGY
config = tf.estimator.RunConfig(model_dir="model", train_distribute=strategy)
classifier = tf.estimator.Estimator(model_fn, config=config)
classifier.train(input_fn, steps={STEPS}, hooks=[PrintWeights()])
"""
)

WITH_CONTEXT = (
    MODEL_FN
    + f"""
def input_fn(input_context=None):
    rows = tf.data.Dataset.from_tensor_slices((images, labels))
    if input_context:
        rows = rows.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return rows.repeat().batch(BATCH)

strategy = STRATEGY
config = tf.estimator.RunConfig(model_dir="model", train_distribute=strategy)
classifier = tf.estimator.Estimator(model_fn, config=config)
train_spec = tf.estimator.TrainSpec(input_fn, max_steps={STEPS}, hooks=[PrintWeights()])
eval_spec = tf.estimator.EvalSpec(input_fn, steps=1, start_delay_secs=0, throttle_secs=0)
tf.estimator.train_and_evaluate(classifier, train_spec, eval_spec)
"""
)

LOOP = (
    NETWORK
    + f"""
rows = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH)
optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
train = optimizer.minimize(loss_of(*rows.make_one_shot_iterator().get_next()), tf.train.get_or_create_global_step())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range({STEPS}):
        session.run(train)
    print(json.dumps([value.tolist() for value in session.run(tf.trainable_variables())]))
"""
)

STRATEGY_LOOP = (
    NETWORK
    + f"""
strategy = STRATEGY
with strategy.scope():
    rows = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH)
    iterator = strategy.experimental_distribute_dataset(rows).make_initializable_iterator()
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    step_count = tf.train.get_or_create_global_step()

    def train_step(inputs):
        features, targets = inputs
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=network(features))
        loss = LOSS_OF_ROWS
        with tf.control_dependencies([optimizer.minimize(loss, step_count)]):
            return tf.identity(loss)

    losses = strategy.experimental_run_v2(train_step, args=(next(iterator),))
    loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(tf.global_variables_initializer())
        for step in range({STEPS}):
            session.run(loss)
        print(json.dumps([value.tolist() for value in session.run(tf.trainable_variables())]))
"""
)

KERAS = (
    NETWORK
    + f"""
from tensorflow import keras

def start(seed):
    return keras.initializers.RandomUniform(-0.2, 0.2, seed=seed)
model = keras.Sequential([
    keras.layers.Conv2D(4, 3, padding="same", activation="relu", input_shape=(8, 8, 1), kernel_initializer=start(1)),
    keras.layers.MaxPooling2D(2), keras.layers.Flatten(),
    keras.layers.Dense(16, activation="tanh", kernel_initializer=start(2)),
    keras.layers.Dense(10, activation="softmax", kernel_initializer=start(3)),
])
model.compile(keras.optimizers.SGD(0.05, 0.9), "sparse_categorical_crossentropy")
rows = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(BATCH)
model.fit(rows, epochs=2, steps_per_epoch={STEPS // 2}, verbose=0)
print(json.dumps([value.tolist() for value in model.get_weights()]))
"""
)

HOROVOD = (
    MODEL_FN
    + f"""
import horovod.tensorflow as hvd

def batches(images, labels, batch_size):
    while True:
        for first in range(0, len(images) - batch_size + 1, batch_size):
            yield images[first:first + batch_size], labels[first:first + batch_size]

def main(_):
    hvd.init()
    image = tf.placeholder(tf.float32, [None, 64], name="image")
    label = tf.placeholder(tf.float32, [None], name="label")
    loss = loss_of(tf.reshape(image, [-1, 8, 8, 1]), tf.cast(label, tf.int32))
    opt = OPTIMIZER
    opt = hvd.DistributedOptimizer(opt)
    global_step = tf.train.get_or_create_global_step()
    train_op = opt.minimize(loss, global_step=global_step)
    hooks = [
        hvd.BroadcastGlobalVariablesHook(0),
        tf.train.StopAtStepHook(last_step={STEPS * 8} // hvd.size()),
        tf.train.LoggingTensorHook(tensors={{"step": global_step, "loss": loss}}, every_n_iter=10),
        PrintWeights(),
    ]
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    checkpoint_dir = "./checkpoints" if hvd.rank() == 0 else None
    mine = slice(hvd.rank(), None, hvd.size())
    training_batches = batches(images[mine].reshape(-1, 64), labels[mine], BATCH)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=checkpoint_dir, hooks=hooks, config=config) as mon_sess:
        while not mon_sess.should_stop():
            image_, label_ = next(training_batches)
            mon_sess.run(train_op, feed_dict={{image: image_, label: label_}})

if __name__ == "__main__":
    tf.app.run()
"""
)

ON_ONE_DEVICE = (
    ("import horovod.tensorflow as hvd\n", ""),
    ("    hvd.init()\n", ""),
    ("    opt = hvd.DistributedOptimizer(opt)\n", ""),
    ("        hvd.BroadcastGlobalVariablesHook(0),\n", ""),
    ("    config.gpu_options.visible_device_list = str(hvd.local_rank())\n", ""),
    ("hvd.rank()", "0"),
    ("slice(0, None, hvd.size())", "slice(None)"),
    ("hvd.size()", "RANKS"),
)
"""Replacements that make a script for one device of one with Horovod's calls."""

MOMENTUM = "tf.train.MomentumOptimizer(0.005 * hvd.size(), 0.9)"
ADAM = "tf.train.AdamOptimizer(0.001 * hvd.size())"

AVERAGE_LOSS = "tf.nn.compute_average_loss(losses)"
MIRRORED = "tf.distribute.MirroredStrategy()"
KINDS = {
    "mirrored": (ESTIMATOR, {"STRATEGY": MIRRORED}),
    "multi_worker": (WITH_CONTEXT, {"STRATEGY": "tf.distribute.experimental.MultiWorkerMirroredStrategy()"}),
    "contrib_mirrored": (ESTIMATOR, {"STRATEGY": "tf.contrib.distribute.MirroredStrategy(num_gpus=2)"}),
    "parameter_server": (WITH_CONTEXT, {"STRATEGY": "tf.contrib.distribute.ParameterServerStrategy(num_gpus_per_worker=1)"}),
    "custom_loop": (STRATEGY_LOOP, {"STRATEGY": MIRRORED, "LOSS_OF_ROWS": "tf.reduce_sum(losses) / BATCH"}),
    "average_loss": (STRATEGY_LOOP, {"STRATEGY": MIRRORED, "LOSS_OF_ROWS": AVERAGE_LOSS}),
    "keras": (KERAS, {}),
    "horovod": (HOROVOD, {"OPTIMIZER": MOMENTUM}),
    "horovod_adam": (HOROVOD, {"OPTIMIZER": ADAM}),
}
"""Kind -> its script, and what stands in it for the words in capitals."""

BY_HAND = {"average_loss": ("Divide by the batch of one rank, as tf.reduce_mean does.", AVERAGE_LOSS, "tf.reduce_mean(losses)")}
"""Kind -> what a finding says is to be done by hand, the converted text, and what a person writes in its place."""


def for_many(kind: str) -> str:
    """The script of a kind for many devices, as it is converted."""
    script, words = KINDS[kind]
    return filled(script, {**words, "BATCH": BATCH})


def for_one(kind: str, ranks: int) -> str:
    """The same script written for one device and the batch of all ranks; a loop without a strategy has no replicas to run."""
    script, words = KINDS[kind]
    alone = {**words, "STRATEGY": "None"}
    script = filled(LOOP if script is STRATEGY_LOOP else script, alone)
    for many, one in ON_ONE_DEVICE:
        script = script.replace(many, one)
    return filled(script, {"BATCH": BATCH * ranks, "RANKS": ranks})


def filled(script: str, words: dict[str, object]) -> str:
    for word, value in words.items():
        script = script.replace(word, str(value))
    return script
