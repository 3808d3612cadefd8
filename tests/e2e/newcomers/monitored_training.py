"""A regression in a MonitoredTrainingSession, with hooks of TensorFlow's and one of our own."""
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string('model_dir', 'monitored_model', 'where checkpoints go')
flags.DEFINE_integer('steps', 100, 'number of steps')
flags.DEFINE_float('lr', 0.05, 'start of the learning rate')
FLAGS = flags.FLAGS


class BestLossHook(tf.train.SessionRunHook):
    """Remembers the lowest loss."""

    def __init__(self, loss):
        self.loss = loss
        self.best = None

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({'loss': self.loss})

    def after_run(self, run_context, run_values):
        value = run_values.results['loss']
        if self.best is None or value < self.best:
            self.best = value

    def end(self, session):
        print('best loss %.5f at step %d' % (self.best, session.run(tf.train.get_global_step())))


def batches():
    rng = np.random.RandomState(7)
    features = rng.randn(640, 6).astype(np.float32)
    targets = np.sin(features[:, :1]) + 0.5 * features[:, 1:2] * features[:, 2:3]
    dataset = tf.data.Dataset.from_tensor_slices((features, targets.astype(np.float32)))
    return dataset.shuffle(640, seed=3).repeat().batch(32).make_one_shot_iterator().get_next()


def main(_):
    features, targets = batches()
    global_step = tf.train.get_or_create_global_step()
    hidden = tf.layers.dense(features, 32, activation=tf.nn.tanh,
                             kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    hidden = tf.layers.batch_normalization(hidden, training=True)
    outputs = tf.layers.dense(hidden, 1, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    loss = tf.losses.huber_loss(targets, outputs)
    rate = tf.train.exponential_decay(FLAGS.lr, global_step, 50, 0.7, staircase=True)
    optimizer = tf.train.RMSPropOptimizer(rate, momentum=0.5)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        grads = optimizer.compute_gradients(loss)
        capped = [(tf.clip_by_value(g, -1., 1.), v) for g, v in grads]
        train_op = optimizer.apply_gradients(capped, global_step=global_step)
    tf.summary.scalar('loss', loss)
    tf.summary.scalar('rate', rate)

    hooks = [
        tf.train.StopAtStepHook(last_step=FLAGS.steps),
        tf.train.NanTensorHook(loss),
        tf.train.LoggingTensorHook({'loss': loss, 'step': global_step}, every_n_iter=25),
        BestLossHook(loss),
    ]
    with tf.train.MonitoredTrainingSession(checkpoint_dir=FLAGS.model_dir, hooks=hooks,
                                           save_checkpoint_steps=50, save_summaries_steps=25) as sess:
        while not sess.should_stop():
            sess.run(train_op)


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
