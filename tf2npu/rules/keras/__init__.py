"""Rules about tf.keras."""
