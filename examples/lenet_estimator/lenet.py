"""LeNet-5 (LeCun et al., 1998) as a tf.estimator model_fn."""
import tensorflow as tf


def lenet5(images, is_training, dropout_rate, seed):
    """Returns the logits for a batch of 28x28x1 images."""

    def weights(offset):
        return tf.glorot_uniform_initializer(seed=seed + offset)

    net = tf.layers.conv2d(images, 6, 5, padding='same', activation=tf.nn.relu,
                           kernel_initializer=weights(1), name='conv1')
    net = tf.layers.max_pooling2d(net, 2, 2, name='pool1')
    net = tf.layers.conv2d(net, 16, 5, padding='same', activation=tf.nn.relu,
                           kernel_initializer=weights(2), name='conv2')
    net = tf.layers.max_pooling2d(net, 2, 2, name='pool2')
    net = tf.layers.flatten(net)
    net = tf.layers.dense(net, 120, activation=tf.nn.relu,
                          kernel_initializer=weights(3), name='fc3')
    net = tf.layers.dropout(net, rate=dropout_rate, training=is_training, seed=seed + 10)
    net = tf.layers.dense(net, 84, activation=tf.nn.relu,
                          kernel_initializer=weights(4), name='fc4')
    return tf.layers.dense(net, 10, kernel_initializer=weights(5), name='logits')


def model_fn(features, labels, mode, params):
    """The model_fn argument for creating an Estimator."""
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    logits = lenet5(features['image'], is_training, params['dropout_rate'], params['seed'])
    predictions = {
        'classes': tf.argmax(logits, axis=1),
        'probabilities': tf.nn.softmax(logits, name='softmax_tensor'),
    }
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)

    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.metrics.accuracy(labels=labels, predictions=predictions['classes'])

    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(learning_rate=params['learning_rate'])
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        # Name tensors to be logged with LoggingTensorHook.
        tf.identity(accuracy[1], name='train_accuracy')
        tf.summary.scalar('train_accuracy', accuracy[1])
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)

    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops={'accuracy': accuracy})
