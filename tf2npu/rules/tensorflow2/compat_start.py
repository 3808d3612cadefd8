"""The start of scripts of TensorFlow 1 on TensorFlow 2, with its version 1 behaviour."""

from __future__ import annotations

from tf2npu.config import TF2_COMPAT, Config
from tf2npu.frameworks.tensorflow1.framework import FRAMEWORK
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.start.start_of_script import put_before_use
from tf2npu.scanner.sites import Site

_COMPAT = Config(dialect=TF2_COMPAT)
_MODULE, _NAME = "npu_device.compat", "enable_v1"
_SESSION = "with tf.Session({}) as s:\n    s.run(y)"


@rule(
    id="NPU814",
    title="Version 1 behaviour",
    on="module",
    why="Sessions run graphs on TensorFlow 2 only where its eager behaviour is off, and on the NPU only with npu_device.",
    done_when="The log of a run names sessions on the device.",
    source="npu_device of TensorFlow 2: compat.enable_v1()",
    examples=(
        Example(
            "import tensorflow.compat.v1 as tf\n" + _SESSION.format(""),
            "from npu_device.compat.v1.npu_init import npu_config_proto\nfrom npu_device.compat import enable_v1\n"
            "import tensorflow.compat.v1 as tf\nenable_v1()\n" + _SESSION.format("config=npu_config_proto()"),
            config=_COMPAT,
        ),
        Example.same(
            "from npu_device.compat.v1.npu_init import npu_config_proto\nfrom npu_device.compat import enable_v1\n"
            "import tensorflow.compat.v1 as tf\nenable_v1()\n" + _SESSION.format("config=npu_config_proto()"),
            note="done",
            config=_COMPAT,
        ),
        Example.same(
            "import tensorflow.compat.v1 as tf\ndef net(x):\n    return tf.nn.relu(x)", note="imported, not run", config=_COMPAT
        ),
    ),
)
def compat_start(site: Site) -> None:
    """Switches the version 1 behaviour of npu_device on before a script that is run uses TensorFlow."""
    script = site.script
    is_run = script.is_entry and script.project.is_reaching(script.path, FRAMEWORK.name)
    if script.config.dialect != TF2_COMPAT or not is_run or _is_started(site):
        return
    unknown = put_before_use(site, FRAMEWORK, f"{_MODULE}:{_NAME}", f"{_NAME}()")
    if unknown is not None:
        site.fix.site = script.tree.span(unknown)
        site.manual("Several functions import TensorFlow: call enable_v1() of npu_device.compat before the first of them runs.")
    elif site.fix.changes:
        site.fixed("TensorFlow 2 behaves as version 1 from here on, and its sessions run on the NPU.")


def _is_started(site: Site) -> bool:
    """Whether the file calls enable_v1 already."""
    return any(site.script.name_of(call.func, scope) == f"{_MODULE}.{_NAME}" for call, scope in site.script.walked.calls)
