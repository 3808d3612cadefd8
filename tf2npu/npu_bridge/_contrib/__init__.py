"""What ``tf.contrib`` was: one module for each of its packages; ``__all__`` says what is offered."""
