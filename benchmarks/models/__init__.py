"""Training graphs of full size whose step time is compared with TensorFlow's."""
