"""Trains the Transformer encoder on film reviews.

    python run_classifier.py --steps=400 --model_dir=reviews_model
"""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import os

import tensorflow as tf

import modeling
import optimization
import tokenization

HERE = os.path.dirname(os.path.abspath(__file__))

flags = tf.flags
FLAGS = flags.FLAGS

flags.DEFINE_string("data_dir", os.path.join(HERE, "..", "data"), "Directory with reviews.tsv.")
flags.DEFINE_string("model_dir", os.path.join(HERE, "model"), "Where the checkpoints will be written.")
flags.DEFINE_integer("steps", 400, "Number of training steps.")
flags.DEFINE_integer("warmup_steps", 40, "Steps of linear learning rate warm-up.")
flags.DEFINE_integer("batch_size", 32, "Batch size.")
flags.DEFINE_float("learning_rate", 1e-3, "The peak learning rate of Adam.")
flags.DEFINE_float("dropout", 0.1, "Dropout probability.")
flags.DEFINE_integer("max_len", 16, "Length of a review in words; longer ones are cut, shorter ones padded.")
flags.DEFINE_integer("seed", 11, "Random seed.")
flags.DEFINE_bool("do_train", True, "Whether to run training.")
flags.DEFINE_bool("do_eval", True, "Whether to run eval on the held out reviews.")


def model_fn_builder(config, learning_rate, num_train_steps, num_warmup_steps):
    """Returns `model_fn` closure for Estimator."""

    def model_fn(features, labels, mode, params):  # pylint: disable=unused-argument
        """The `model_fn` for Estimator."""
        is_training = (mode == tf.estimator.ModeKeys.TRAIN)
        model = modeling.TransformerModel(config, is_training, features["input_ids"])

        log_probs = tf.nn.log_softmax(model.logits, axis=-1)
        one_hot_labels = tf.one_hot(labels, depth=config.num_labels, dtype=tf.float32)
        per_example_loss = -tf.reduce_sum(one_hot_labels * log_probs, axis=-1)
        loss = tf.reduce_mean(per_example_loss)

        if mode == tf.estimator.ModeKeys.TRAIN:
            tf.logging.info("**** Trainable Variables ****")
            for var in tf.trainable_variables():
                tf.logging.info("  name = %s, shape = %s", var.name, var.shape)
            train_op = optimization.create_optimizer(loss, learning_rate, num_train_steps, num_warmup_steps)
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        predictions = tf.argmax(model.logits, axis=-1, output_type=tf.int32)
        accuracy = tf.metrics.accuracy(labels=labels, predictions=predictions)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"eval_accuracy": accuracy})

    return model_fn


def input_fn_builder(ids, labels, batch_size, is_training, seed):
    """Creates an `input_fn` closure to be passed to Estimator."""

    def input_fn():
        d = tf.data.Dataset.from_tensor_slices(({"input_ids": ids}, labels))
        if is_training:
            d = d.repeat()
            d = d.shuffle(buffer_size=1000, seed=seed)
        d = d.batch(batch_size=batch_size)
        return d

    return input_fn


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.gfile.MakeDirs(FLAGS.model_dir)

    examples = tokenization.read_reviews(os.path.join(FLAGS.data_dir, "reviews.tsv"))
    train, heldout = examples[:2400], examples[2400:]
    vocab = tokenization.build_vocab(train)
    tf.logging.info("vocabulary of %d words", len(vocab))

    config = modeling.TransformerConfig(
        vocab_size=len(vocab) + 3, max_len=FLAGS.max_len, dropout_prob=FLAGS.dropout, seed=FLAGS.seed)
    run_config = tf.estimator.RunConfig(
        model_dir=FLAGS.model_dir,
        tf_random_seed=FLAGS.seed,
        save_checkpoints_steps=200)
    estimator = tf.estimator.Estimator(
        model_fn=model_fn_builder(config, FLAGS.learning_rate, FLAGS.steps, FLAGS.warmup_steps),
        config=run_config,
        params={"batch_size": FLAGS.batch_size})

    if FLAGS.do_train:
        ids, labels = tokenization.encode(train, vocab, FLAGS.max_len)
        tf.logging.info("***** Running training *****")
        tf.logging.info("  Num examples = %d", len(labels))
        tf.logging.info("  Batch size = %d", FLAGS.batch_size)
        estimator.train(
            input_fn=input_fn_builder(ids, labels, FLAGS.batch_size, is_training=True, seed=FLAGS.seed),
            max_steps=FLAGS.steps)

    if FLAGS.do_eval:
        ids, labels = tokenization.encode(heldout, vocab, FLAGS.max_len)
        result = estimator.evaluate(
            input_fn=input_fn_builder(ids, labels, 100, is_training=False, seed=FLAGS.seed))
        tf.logging.info("***** Eval results *****")
        for key in sorted(result.keys()):
            tf.logging.info("  %s = %s", key, str(result[key]))
        print("Test accuracy: %.4f" % result["eval_accuracy"])


if __name__ == "__main__":
    tf.app.run()
