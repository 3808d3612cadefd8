"""Scripts before and after an advice is followed, for each kind of advice."""

from __future__ import annotations

from typing import NamedTuple

_BEGIN = "x, y = tf.placeholder(tf.float32, {}), tf.placeholder(tf.int32, [None])\n"
_LOSS = """
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(net, 16))
train = tf.train.MomentumOptimizer(1e-3, 0.9).minimize(loss, tf.train.get_or_create_global_step())
with tf.Session(config=device_config({})) as session:
    session.run(tf.global_variables_initializer())
    for step in range(20):
        session.run([loss, train]{})
"""
_FEED = ", {{x: np.ones([{0}, *x.shape[1:].as_list()], np.float32), y: np.zeros([{0}], np.int32)}}"
_DATA = """
data = tf.data.Dataset.from_tensors((np.ones([{0}, {1}], np.float32), np.zeros([{0}], np.int32))).repeat()
x, y = tf.data.make_one_shot_iterator(data).get_next()
"""


class Advised(NamedTuple):
    """before, after: bodies of scripts.  marked: the comment at the line that the advice names, "" where it names none.
    more: how many times as many examples a step has afterwards.  precision: asked for before.
    takes_mode: whether the precision mode that the advice names is what changes.
    """

    before: str
    after: str
    marked: str = "# here"
    more: int = 1
    precision: str = ""
    takes_mode: bool = False


def _fed(network: str, examples: int, shape: str = "[None, 1024]") -> str:
    return _BEGIN.format(shape) + network + _LOSS.format("", _FEED.format(examples))


def _queued(network: str, examples: int, shape: str) -> str:
    return _DATA.format(examples, shape) + network + _LOSS.format("enable_data_pre_proc=True", "")


_SQUARE = "net = tf.reshape(tf.layers.dense(x, 64 * 64), [-1, 64, 64])\nnet = {}  # here\nnet = tf.layers.flatten(net)\n"
_BAND, _MASK = "tf.linalg.band_part(net, -1, 0)", "net * tf.constant(np.tri(64, dtype=np.float32))"
_WIDTH = "net = x\nfor _ in range(4):\n    net = tf.layers.dense(net, {}, tf.nn.relu)  # here\n"
_CHANNELS = """
net = x
for _ in range(3):
    net = tf.layers.conv2d(net, {}, 3, padding="same", activation=tf.nn.relu)  # here
net = tf.reduce_mean(net, [1, 2])
"""
_UNEVEN = "net = tf.layers.dense(x, 992)  # here\n"
_THIN = "net = x\nfor _ in range(30):\n    net = tf.layers.dense(net, 32, tf.nn.tanh)  # here\n"
_TURNED = """
net = x
for _ in range(3):
    net = tf.layers.conv2d(net, 64, 3, padding="same")  # turned
    {}
    net = tf.nn.relu(net)
net = tf.reduce_mean(net, [1, 2])
"""
_FLAT = "net = tf.layers.flatten(tf.layers.average_pooling2d(x, 16, 16))\n"
_CHOSEN = """
net = tf.layers.dense(x, 64)
{}
for _ in range(10):
    net = tf.layers.dense(net, 64, tf.nn.relu)  # here
"""
_WHERE = "kept = tf.where(y >= 0)[:, 0]  # chosen\nnet, y = tf.gather(net, kept), tf.gather(y, kept)"
_IMAGES = "[None, 32, 32, 64]"
_BACK_AND_FORTH = "net = tf.transpose(tf.transpose(net, [0, 2, 1, 3]), [0, 2, 1, 3])"
ADVISED = {
    "ai_cpu": Advised(_fed(_SQUARE.format(_BAND), 64), _fed(_SQUARE.format(_MASK), 64)),
    "unaligned_shapes": Advised(_fed(_CHANNELS.format(72), 256, _IMAGES), _fed(_CHANNELS.format(64), 256, _IMAGES)),
    "small_kernels": Advised(_fed(_THIN, 32), _fed(_THIN, 64), more=2),
    "format_conversions": Advised(
        _fed(_TURNED.format(_BACK_AND_FORTH), 64, _IMAGES), _fed(_TURNED.format(""), 64, _IMAGES), "# turned"
    ),
    "fp32_cube": Advised(
        _fed(_WIDTH.format(2048), 4096), _fed(_WIDTH.format(2048), 4096), precision="must_keep_origin_dtype", takes_mode=True
    ),
    "input_pipeline": Advised(_fed(_FLAT, 64, "[None, 256, 256, 3]"), _queued(_FLAT, 64, "256, 256, 3"), ""),
    "dynamic_shapes": Advised(_fed(_CHOSEN.format(_WHERE), 16), _fed(_CHOSEN.format(""), 16), "# chosen"),
    "few_blocks": Advised(_fed(_UNEVEN, 632, "[None, 6528]"), _fed(_UNEVEN, 1264, "[None, 6528]"), more=2),
}
