"""The packages of ``tf.contrib``, one module for each; its ``__all__`` says what is offered."""
