"""Native Keras: what a source that imports `keras` has to be to run with tf.keras, and what of it tf.keras does not have."""
