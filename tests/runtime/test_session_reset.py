"""Session.reset closes every session of the process, with the device's values, as TensorFlow's direct sessions are closed."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tests.kernels.oracle import plain_session
from tests.runtime.device import device_session


@pytest.mark.parametrize("containers", [None, ["elsewhere"]])
@pytest.mark.parametrize("make", [plain_session, device_session], ids=["tensorflow", "device"])
def test_what_was_made_before_is_closed(make: Any, containers: Any) -> None:
    with tf.Graph().as_default():
        one, v = tf.constant(1.0), tf.get_variable("v", initializer=1.0, use_resource=False)
        initializer = tf.global_variables_initializer()
        used, idle = make(), make()
        called = used.make_callable(one)
        assert (called(), used.run(initializer)) == (1.0, None)
        tf.Session.reset("", containers)
        for call in (called, lambda: used.run(v), lambda: used.run(initializer), lambda: idle.run(one)):
            with pytest.raises(tf.errors.CancelledError, match=r"Session has been closed\."):
                call()
        with make() as later:
            with pytest.raises(tf.errors.FailedPreconditionError):
                later.run(v)
            later.run(initializer)
            assert later.run([one, v]) == [1.0, 1.0]
        used.close()
        idle.close()
