"""Trains LeNet-5 on the handwritten digits with tf.estimator.

    python train.py --model_dir=lenet_model --steps=300
"""
import os

import tensorflow as tf

import dataset
import lenet

HERE = os.path.dirname(os.path.abspath(__file__))

tf.app.flags.DEFINE_string('data_dir', os.path.join(HERE, '..', 'data'), 'Directory with digits.npz')
tf.app.flags.DEFINE_string('model_dir', os.path.join(HERE, 'model'), 'Where checkpoints and summaries go')
tf.app.flags.DEFINE_integer('steps', 300, 'Number of training steps')
tf.app.flags.DEFINE_integer('batch_size', 50, 'Images in a batch')
tf.app.flags.DEFINE_float('learning_rate', 2e-3, 'Learning rate of Adam')
tf.app.flags.DEFINE_float('dropout_rate', 0.4, 'Share of the units dropped after the first dense layer')
tf.app.flags.DEFINE_integer('seed', 2018, 'Random seed')
tf.app.flags.DEFINE_boolean('clean', False, 'Remove model_dir first')
FLAGS = tf.app.flags.FLAGS


def main(_):
    if FLAGS.clean and tf.gfile.Exists(FLAGS.model_dir):
        tf.gfile.DeleteRecursively(FLAGS.model_dir)

    train_data, test_data = dataset.load_digits(FLAGS.data_dir)

    session_config = tf.ConfigProto(allow_soft_placement=True)
    session_config.gpu_options.allow_growth = True
    run_config = tf.estimator.RunConfig(
        model_dir=FLAGS.model_dir,
        tf_random_seed=FLAGS.seed,
        save_summary_steps=50,
        save_checkpoints_steps=100,
        keep_checkpoint_max=3,
        log_step_count_steps=100,
        session_config=session_config)

    classifier = tf.estimator.Estimator(
        model_fn=lenet.model_fn,
        config=run_config,
        params={
            'learning_rate': FLAGS.learning_rate,
            'dropout_rate': FLAGS.dropout_rate,
            'seed': FLAGS.seed,
        })

    # Set up logging for training accuracy.
    logging_hook = tf.train.LoggingTensorHook(tensors={'train_accuracy': 'train_accuracy'}, every_n_iter=100)

    classifier.train(
        input_fn=lambda: dataset.train_input_fn(train_data[0], train_data[1], FLAGS.batch_size, FLAGS.seed),
        steps=FLAGS.steps,
        hooks=[logging_hook])

    # Evaluate on the held out images and print the results.
    result = classifier.evaluate(
        input_fn=lambda: dataset.eval_input_fn(test_data[0], test_data[1], 99))
    print('Test accuracy: %.4f  loss: %.6f  at step %d'
          % (result['accuracy'], result['loss'], result['global_step']))

    # What does it say about the first five of them?
    predictions = classifier.predict(
        input_fn=lambda: dataset.predict_input_fn(test_data[0][:5], 5))
    for image, prediction in enumerate(predictions):
        label = prediction['classes']
        print('image %d: predicted %d with p=%.3f, is %d'
              % (image, label, prediction['probabilities'][label], test_data[1][image]))


if __name__ == '__main__':
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
