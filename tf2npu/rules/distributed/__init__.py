"""Rules about training on several devices: tf.distribute, Horovod, clusters and ranks."""
