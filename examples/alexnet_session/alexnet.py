"""AlexNet (Krizhevsky et al., 2012) scaled down to 16x16 grey images.

The layer functions have the form that AlexNet fine-tuning code uses everywhere: plain tf.nn ops over variables
made with tf.get_variable, two groups in the second and the fourth convolution.
"""
import tensorflow as tf


class AlexNet(object):
    """Implementation of the small AlexNet."""

    def __init__(self, x, keep_prob, num_classes, seed=None):
        """Create the graph of the network.

        Args:
            x: Placeholder or iterator output, images of shape (N, 16, 16, 1).
            keep_prob: Tensor, the probability that a unit is kept by dropout.
            num_classes: Number of classes in the dataset.
            seed: Seed of the weights.
        """
        self.X = x
        self.NUM_CLASSES = num_classes
        self.KEEP_PROB = keep_prob
        self.SEED = seed
        self.create()

    def create(self):
        """Create the network graph."""
        # 1st Layer: Conv (w ReLu) -> Lrn -> Pool
        conv1 = conv(self.X, 3, 3, 32, 1, 1, padding='SAME', name='conv1', seed=self.SEED)
        norm1 = lrn(conv1, 2, 2e-05, 0.75, name='norm1')
        pool1 = max_pool(norm1, 3, 3, 2, 2, padding='SAME', name='pool1')

        # 2nd Layer: Conv (w ReLu) -> Lrn -> Pool with 2 groups
        conv2 = conv(pool1, 3, 3, 64, 1, 1, groups=2, name='conv2', seed=self.SEED)
        norm2 = lrn(conv2, 2, 2e-05, 0.75, name='norm2')
        pool2 = max_pool(norm2, 3, 3, 2, 2, padding='SAME', name='pool2')

        # 3rd Layer: Conv (w ReLu)
        conv3 = conv(pool2, 3, 3, 96, 1, 1, name='conv3', seed=self.SEED)

        # 4th Layer: Conv (w ReLu) -> Pool splitted into two groups
        conv4 = conv(conv3, 3, 3, 64, 1, 1, groups=2, name='conv4', seed=self.SEED)
        pool4 = max_pool(conv4, 2, 2, 2, 2, padding='VALID', name='pool4')

        # 5th Layer: Flatten -> FC (w ReLu) -> Dropout
        flattened = tf.reshape(pool4, [-1, 2*2*64])
        fc5 = fc(flattened, 2*2*64, 128, name='fc5', seed=self.SEED)
        dropout5 = dropout(fc5, self.KEEP_PROB, seed=self.SEED)

        # 6th Layer: FC (w ReLu) -> Dropout
        fc6 = fc(dropout5, 128, 128, name='fc6', seed=self.SEED)
        dropout6 = dropout(fc6, self.KEEP_PROB, seed=self.SEED + 1)

        # 7th Layer: FC and return unscaled activations
        self.fc7 = fc(dropout6, 128, self.NUM_CLASSES, relu=False, name='fc7', seed=self.SEED)


def conv(x, filter_height, filter_width, num_filters, stride_y, stride_x, name,
         padding='SAME', groups=1, seed=None):
    """Create a convolution layer."""
    # Get number of input channels
    input_channels = int(x.get_shape()[-1])

    # Create lambda function for the convolution
    convolve = lambda i, k: tf.nn.conv2d(i, k, strides=[1, stride_y, stride_x, 1], padding=padding)

    with tf.variable_scope(name) as scope:
        # Create tf variables for the weights and biases of the conv layer
        weights = tf.get_variable('weights', shape=[filter_height, filter_width,
                                                    input_channels // groups, num_filters],
                                  initializer=tf.variance_scaling_initializer(2.0, seed=seed))
        biases = tf.get_variable('biases', shape=[num_filters], initializer=tf.zeros_initializer())

    if groups == 1:
        conv = convolve(x, weights)
    # In the cases of multiple groups, split inputs & weights and convolve them separately
    else:
        input_groups = tf.split(axis=3, num_or_size_splits=groups, value=x)
        weight_groups = tf.split(axis=3, num_or_size_splits=groups, value=weights)
        output_groups = [convolve(i, k) for i, k in zip(input_groups, weight_groups)]
        # Concat the convolved output together again
        conv = tf.concat(axis=3, values=output_groups)

    # Add biases and apply relu function
    bias = tf.reshape(tf.nn.bias_add(conv, biases), tf.shape(conv))
    return tf.nn.relu(bias, name=scope.name)


def fc(x, num_in, num_out, name, relu=True, seed=None):
    """Create a fully connected layer."""
    with tf.variable_scope(name) as scope:
        weights = tf.get_variable('weights', shape=[num_in, num_out], trainable=True,
                                  initializer=tf.variance_scaling_initializer(2.0, seed=seed))
        biases = tf.get_variable('biases', [num_out], trainable=True, initializer=tf.zeros_initializer())

        # Matrix multiply weights and inputs and add bias
        act = tf.nn.xw_plus_b(x, weights, biases, name=scope.name)

    if relu:
        return tf.nn.relu(act)
    return act


def max_pool(x, filter_height, filter_width, stride_y, stride_x, name, padding='SAME'):
    """Create a max pooling layer."""
    return tf.nn.max_pool(x, ksize=[1, filter_height, filter_width, 1],
                          strides=[1, stride_y, stride_x, 1], padding=padding, name=name)


def lrn(x, radius, alpha, beta, name, bias=1.0):
    """Create a local response normalization layer."""
    return tf.nn.local_response_normalization(x, depth_radius=radius, alpha=alpha, beta=beta,
                                              bias=bias, name=name)


def dropout(x, keep_prob, seed=None):
    """Create a dropout layer."""
    return tf.nn.dropout(x, keep_prob, seed=seed)
