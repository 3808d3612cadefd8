"""A small Transformer encoder that classifies a sentence by its first position."""
import math

import numpy as np
import tensorflow as tf


class TransformerConfig(object):
    """Sizes of the model."""

    def __init__(self, vocab_size, max_len=16, hidden_size=64, num_layers=2, num_heads=4,
                 intermediate_size=128, dropout_prob=0.1, num_labels=2, seed=None):
        self.vocab_size = vocab_size
        self.max_len = max_len
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.num_heads = num_heads
        self.intermediate_size = intermediate_size
        self.dropout_prob = dropout_prob
        self.num_labels = num_labels
        self.seed = seed


def gelu(x):
    """Gaussian Error Linear Unit.

    This is a smoother version of the RELU.
    Original paper: https://arxiv.org/abs/1606.08415

    Args:
      x: float Tensor to perform activation.

    Returns:
      `x` with the GELU activation applied.
    """
    cdf = 0.5 * (1.0 + tf.tanh(
        (np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3)))))
    return x * cdf


def layer_norm(input_tensor, epsilon=1e-6, scope='layer_norm'):
    """Run layer normalization on the last dimension of the tensor."""
    with tf.variable_scope(scope):
        size = input_tensor.get_shape()[-1:]
        mean, variance = tf.nn.moments(input_tensor, [-1], keep_dims=True)
        beta = tf.get_variable('beta', size, initializer=tf.zeros_initializer())
        gamma = tf.get_variable('gamma', size, initializer=tf.ones_initializer())
        normalized = (input_tensor - mean) / ((variance + epsilon) ** .5)
        return gamma * normalized + beta


def dropout(input_tensor, dropout_prob, seed=None):
    """Perform dropout.

    Args:
      input_tensor: float Tensor.
      dropout_prob: Python float. The probability of dropping out a value (NOT of
        *keeping* a dimension as in `tf.nn.dropout`).

    Returns:
      A version of `input_tensor` with dropout applied.
    """
    if dropout_prob is None or dropout_prob == 0.0:
        return input_tensor
    return tf.nn.dropout(input_tensor, 1.0 - dropout_prob, seed=seed)


class TransformerModel(object):
    """Embeddings, a stack of encoder layers, and a classifier over the first position."""

    def __init__(self, config, is_training, input_ids):
        self.config = config
        self.dropout_prob = config.dropout_prob if is_training else 0.0
        self._seed = config.seed

        mask = tf.cast(tf.not_equal(input_ids, 0), tf.float32)
        # 0.0 for the positions we want to attend and -10000.0 for the padding
        adder = (1.0 - mask[:, tf.newaxis, tf.newaxis, :]) * -10000.0

        with tf.variable_scope('transformer', reuse=tf.AUTO_REUSE):
            hidden = self.embed(input_ids)
            for layer in range(config.num_layers):
                with tf.variable_scope('layer_%d' % layer):
                    attention = self.self_attention(hidden, adder)
                    hidden = layer_norm(hidden + self.drop(attention), scope='attention_norm')
                    inner = self.dense(hidden, config.intermediate_size, 'intermediate', activation=gelu)
                    output = self.dense(inner, config.hidden_size, 'output')
                    hidden = layer_norm(hidden + self.drop(output), scope='output_norm')
            pooled = self.dense(hidden[:, 0], config.hidden_size, 'pooler', activation=tf.tanh)
            self.logits = self.dense(self.drop(pooled), config.num_labels, 'classifier')

    def next_seed(self):
        """Every random op has a seed of its own, so that runs can be repeated."""
        self._seed += 1
        return self._seed

    def drop(self, tensor):
        return dropout(tensor, self.dropout_prob, seed=self.next_seed())

    def initializer(self, stddev=0.05):
        return tf.truncated_normal_initializer(stddev=stddev, seed=self.next_seed())

    def dense(self, tensor, units, name, activation=None):
        return tf.layers.dense(tensor, units, activation=activation, name=name,
                               kernel_initializer=self.initializer())

    def embed(self, input_ids):
        """Word embeddings plus learned positions."""
        config = self.config
        with tf.variable_scope('embeddings'):
            table = tf.get_variable('word_embeddings', [config.vocab_size, config.hidden_size],
                                    initializer=self.initializer())
            positions = tf.get_variable('position_embeddings', [config.max_len, config.hidden_size],
                                        initializer=self.initializer())
            embedded = tf.nn.embedding_lookup(table, input_ids)
            embedded += tf.expand_dims(positions, 0)
            return self.drop(layer_norm(embedded))

    def self_attention(self, hidden, adder):
        """Multi-head self-attention with its output projection."""
        config = self.config
        head_size = config.hidden_size // config.num_heads

        def heads(tensor):
            # (N, T, H) -> (N, heads, T, H / heads)
            tensor = tf.reshape(tensor, [-1, config.max_len, config.num_heads, head_size])
            return tf.transpose(tensor, [0, 2, 1, 3])

        with tf.variable_scope('attention'):
            query = heads(self.dense(hidden, config.hidden_size, 'query'))
            key = heads(self.dense(hidden, config.hidden_size, 'key'))
            value = heads(self.dense(hidden, config.hidden_size, 'value'))

            scores = tf.matmul(query, key, transpose_b=True)
            scores = tf.multiply(scores, 1.0 / math.sqrt(float(head_size)))
            probs = self.drop(tf.nn.softmax(scores + adder))

            context = tf.transpose(tf.matmul(probs, value), [0, 2, 1, 3])
            context = tf.reshape(context, [-1, config.max_len, config.hidden_size])
            return self.dense(context, config.hidden_size, 'projection')
