"""Generated training networks with operators whose numbers fp16 cannot hold, and the fewest nodes that must stay in fp32.

Each is a chain of dense layers or convolutions, forward and backward, of which more than a hundred nodes run in 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

BATCH, WIDTH, CLASSES = 16, 24, 5
MIXED, FORCED = "allow_mix_precision", "force_fp16"


@dataclass(frozen=True)
class Fault:
    """build(x, name): of numbers about as large as 1 some others; exact for fp32.  mixed, forced: last parts of the names of the
    fewest nodes that must stay in fp32, by the mode: in mixed precision gray operators follow what they read.
    """

    build: Callable[[Any, str], Any]
    mixed: tuple[str, ...]
    forced: tuple[str, ...]


def product(x: Any, name: str) -> Any:
    """A product up to some 260,000, scaled back."""
    wide = tf.multiply(x, 512.0, name=f"{name}/scaled")
    return tf.multiply(tf.multiply(wide, wide, name=f"{name}/product"), 2.0**-18, name=f"{name}/back")


def two_products(x: Any, name: str) -> Any:
    wide = tf.multiply(x, 512.0, name=f"{name}/scaled")
    large = tf.multiply(tf.multiply(wide, wide, name=f"{name}/product"), 3.0, name=f"{name}/larger")
    return tf.multiply(large, 2.0**-20, name=f"{name}/back")


def absorbing(x: Any, name: str) -> Any:
    """A sum that loses its smaller term: fp16 numbers beyond 4096 are 4 apart."""
    return tf.subtract(tf.add(x, 4096.0, name=f"{name}/sum"), 4096.0, name=f"{name}/back")


def exponential(x: Any, name: str) -> Any:
    """exp of numbers about 14, and its logarithm."""
    large = tf.exp(tf.add(x, 14.0, name=f"{name}/shifted"), name=f"{name}/exp")
    return tf.subtract(tf.log(large, name=f"{name}/log"), 14.0, name=f"{name}/back")


def variance(x: Any, name: str) -> Any:
    """The variance of numbers about 300, by their squares: only as a whole it may stay in fp32."""
    shifted = tf.add(x, 300.0, name=f"{name}/shifted")
    squares = tf.reduce_mean(tf.square(shifted, name=f"{name}/square"), 1, keepdims=True, name=f"{name}/squares")
    square = tf.square(tf.reduce_mean(shifted, 1, keepdims=True, name=f"{name}/mean"), name=f"{name}/of_mean")
    return x * tf.subtract(squares, square, name=f"{name}/variance")


def epsilon(x: Any, name: str) -> Any:
    """Numbers over the root of their mean square, of which some are 0 / sqrt(0 + 1e-8)."""
    masked = x * tf.constant(np.repeat([0.0, 1.0], BATCH // 2)[:, None].astype(np.float32))
    mean = tf.reduce_mean(masked * masked, 1, keepdims=True, name=f"{name}/mean")
    return tf.divide(masked, tf.sqrt(tf.add(mean, 1e-8, name=f"{name}/sum"), name=f"{name}/root"), name=f"{name}/normed")


def small_gradient(x: Any, name: str) -> Any:
    """Forward exact; gradients on the way are 2**15 times smaller, below fp16's smallest number."""
    return tf.multiply(tf.multiply(x, 2.0**15, name=f"{name}/scaled"), 2.0**-15, name=f"{name}/back")


_GRADIENTS = ("back_grad/Mul", "back_grad/tuple/control_dependency", "scaled_grad/Mul")

FAULTS = {
    "product": Fault(product, ("product",), ("product", "back")),
    "two_products": Fault(two_products, ("product",), ("product", "larger", "back")),
    "absorbing": Fault(absorbing, ("sum",), ("sum", "back")),
    "exponential": Fault(exponential, ("exp",), ("exp", "log")),
    "variance": Fault(variance, ("shifted",), ()),
    "epsilon": Fault(epsilon, ("sum",), ("sum", "root")),
    "small_gradient": Fault(
        small_gradient, ("back_grad/Mul",), ("back_grad/Mul", "back_grad/tuple/control_dependency", "scaled_grad/Mul")
    ),
}


@dataclass(frozen=True)
class Network:
    """faults: one behind each layer from `behind` on.  convolves: whether layers are convolutions.  n_losses: of as many steps,
    one after the other, that a run is judged by: gradients change the second.
    """

    name: str
    mode: str
    faults: tuple[str, ...]
    convolves: bool = False
    behind: int = 0
    n_losses: int = 1
    loss_scale: float = 1.0

    @property
    def planted(self) -> tuple[str, ...]:
        """Names of the fewest nodes."""
        found = [(f"fault_{i}", FAULTS[fault]) for i, fault in enumerate(self.faults)]
        names = [f"{name}/{part}" for name, one in found for part in (one.mixed if self.mode == MIXED else one.forced)]
        return tuple(f"gradients/{name}" if "_grad" in name else name for name in names)

    def build(self) -> tuple[Any, Any]:
        """The loss and the training step, in the current graph; fed are x:0 and y:0."""
        draw = np.random.RandomState(sum(map(ord, self.name)))
        x, y = tf.placeholder(tf.float32, [BATCH, WIDTH], "x"), tf.placeholder(tf.int32, [BATCH], "y")
        hidden = x
        for i in range(11 if self.mode == MIXED and not self.convolves else 7):
            hidden = self._layer(hidden, draw, f"layer_{i}")
            if 0 <= (number := i - self.behind) < len(self.faults):
                hidden = tf.tanh(FAULTS[self.faults[number]].build(hidden, f"fault_{number}"))
        logits = _dense(hidden, CLASSES, draw, "logits")
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.multiply(tf.reduce_mean(losses), self.loss_scale, name="loss")
        return loss, tf.train.MomentumOptimizer(0.1 / self.loss_scale, 0.9).minimize(loss)

    def _layer(self, x: Any, draw: np.random.RandomState, name: str) -> Any:
        if self.convolves:
            filters = _variable(draw, (3, 1, 1), 1.0, f"{name}/filters")
            x = tf.squeeze(tf.nn.conv1d(x[:, :, None], filters, 1, "SAME", name=f"{name}/conv"), 2) + x
        return tf.tanh(_dense(x, WIDTH, draw, name), name=f"{name}/tanh")

    def feeds(self) -> dict[str, np.ndarray]:
        draw = np.random.RandomState(7)
        return {"x:0": draw.randn(BATCH, WIDTH).astype(np.float32), "y:0": draw.randint(0, CLASSES, BATCH).astype(np.int32)}


def _dense(x: Any, width: int, draw: np.random.RandomState, name: str) -> Any:
    weights = _variable(draw, (int(x.shape[1]), width), 2.0 / float(x.shape[1]) ** 0.5, f"{name}/weights")
    bias = _variable(draw, (width,), 0.5, f"{name}/bias")
    return tf.nn.bias_add(tf.matmul(x, weights, name=f"{name}/product"), bias, name=f"{name}/sum")


def _variable(draw: np.random.RandomState, shape: tuple[int, ...], scale: float, name: str) -> Any:
    return tf.get_variable(name, initializer=(draw.randn(*shape) * scale).astype(np.float32), use_resource=True)


NETWORKS = (
    Network("product_mixed", MIXED, ("product",)),
    Network("absorbing_mixed", MIXED, ("absorbing",), convolves=True),
    Network("exponential_mixed", MIXED, ("exponential",)),
    Network("variance_mixed", MIXED, ("variance",), convolves=True),
    Network("epsilon_and_exponential_mixed", MIXED, ("epsilon", "exponential")),
    Network("three_mixed", MIXED, ("absorbing", "two_products", "exponential"), convolves=True),
    Network("product_forced", FORCED, ("product",), convolves=True),
    Network("epsilon_forced", FORCED, ("epsilon",)),
    Network("small_gradient_forced", FORCED, ("small_gradient",), behind=6, n_losses=2, loss_scale=2.0**-6),
    Network("two_products_forced", FORCED, ("two_products",)),
)
