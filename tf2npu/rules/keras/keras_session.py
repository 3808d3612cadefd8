"""tf.keras: a session on the NPU for the whole run, and what concerns native Keras."""

from __future__ import annotations

import libcst as cst

from tf2npu.api_support.table import table
from tf2npu.frameworks.tensorflow1.estimator_names import MODEL_TO_ESTIMATOR, WRAPPED
from tf2npu.frameworks.tensorflow1.native_keras.names import DATA
from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.sessions.wrapped_run_config import wrap_run_config
from tf2npu.rules.facts.start.entry_block import entry_guard
from tf2npu.rules.facts.start.npu_start import bracket_entry, wants_keras_session, wants_resources
from tf2npu.scanner.names import root_of
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.tree_walk import dotted_name

_MOST_NAMED = 3
"""The most places that one message names."""


@rule(
    id="NPU301",
    title="Keras session",
    on="module",
    why="Keras makes its session behind the scenes; the one it shall use is made on the NPU and closed when the run is over.",
    source="npu_bridge.npu_init.set_keras_session_npu_config, close_session",
    examples=(
        Example(
            "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    m.fit(x, y)",
            "m = tf.keras.Sequential()\nif __name__ == '__main__':\n"
            "    npu_keras_sess = set_keras_session_npu_config()\n    try:\n        m.fit(x, y)\n"
            "    finally:\n        close_session(npu_keras_sess)",
        ),
        Example(
            "tf.keras.Sequential().fit(x, y)",
            "import atexit\nnpu_keras_sess = set_keras_session_npu_config()\n"
            "atexit.register(close_session, npu_keras_sess)\ntf.keras.Sequential().fit(x, y)",
        ),
        Example.same("m = tf.keras.Sequential()\nif __name__ != '__main__':\n    register(m)", note="not an entry script"),
        Example.same("layer = tf.keras.layers.Dense(4)\nif __name__ == '__main__':\n    pass", note="layers only"),
        Example.same(
            "m = tf.keras.Sequential()\nif __name__ == '__main__':\n    tf.test.main()", note="tests make sessions of their own"
        ),
    ),
)
def keras_session(site: Site) -> None:
    """Makes the Keras session of an entry script on the NPU and closes it at the end."""
    script = site.script
    if not wants_keras_session(script) or wants_resources(script):
        return  # done already, the user's own session (which the session rule puts on the NPU), or started with the resources
    guards = [node for node, scope in script.walked.ifs if scope is script.module_scope and _is_main(node)]
    if entry_guard(script) is None and guards:
        return
    bracket_entry(site, False, True)
    if not site.fix.changes:
        return
    site.fixed(
        "The added lines give Keras a session on the NPU, and close the session at the end of the run. Nothing is left to do."
    )


def _is_main(node: cst.If) -> bool:
    return "__main__" in cst.Module([]).code_for_node(node.test)


@rule(
    id="NPU302",
    title="Keras clear_session",
    matches=("tensorflow.keras.backend.clear_session",),
    why="After clear_session Keras would make a plain session of its own; npu_clear_session makes one on the NPU.",
    done_when="Behind the call the summary of `tf2npu run` still counts runs on the device, and names no session on TensorFlow.",
    source="npu_bridge.npu_init.npu_clear_session",
    examples=(
        Example(
            "from tensorflow.keras.backend import clear_session\nclear_session()",
            "from npu_bridge.npu_init import npu_clear_session\n"
            "from tensorflow.keras.backend import clear_session\nnpu_clear_session()",
        ),
        Example.same("ctx.cache.clear_session()", note="another object's method"),
        Example.same(
            "from npu_bridge.npu_init import npu_clear_session\nimport tensorflow as tf\nnpu_clear_session()",
            note="done already",
        ),
    ),
)
def clear_session(call: Call) -> None:
    """Calls npu_clear_session."""
    if call.args:
        call.manual("clear_session takes no argument; use npu_clear_session() by hand.")
        return
    call.replace_callee(call.need("npu_clear_session"))
    call.fixed(
        "npu_clear_session() took the place of clear_session(), so that the next Keras session runs on the NPU too. "
        "Nothing is left to do."
    )


@rule(
    id="NPU303",
    title="Native Keras",
    once=True,
    on="import",
    why="The keras package brings its own backend and optimizers, which the NPU adapter does not know; tf.keras it does.",
    done_when="No script imports keras itself any more, and the summary of `tf2npu run` counts the training on the device.",
    source="TensorFlow adapter porting guide: only tf.keras is supported",
    examples=(
        Example(
            "from keras.models import Sequential\nimport tensorflow as tf",
            "from tensorflow.keras.models import Sequential\nimport tensorflow as tf",
        ),
        Example(
            "from keras.layers.core import Dense\nlayer = Dense(output_dim=4, init='uniform', name='a')",
            "from tensorflow.keras.layers import Dense\nlayer = Dense(units=4, kernel_initializer='uniform', name='a')",
        ),
        Example(
            "import keras\nopt = keras.optimizers.Adadelta()\nact = keras.layers.advanced_activations.LeakyReLU()",
            "from tensorflow import keras\nopt = keras.optimizers.Adadelta(learning_rate=1.0)\nact = keras.layers.LeakyReLU()",
        ),
        Example.same(
            "from keras.models import Sequential\nfrom keras.legacy.layers import MaxoutDense",
            note="tf.keras has no MaxoutDense",
            level="unsupported",
            write="from tensorflow.keras.models import Sequential\nfrom my_layers import MaxoutDense",
        ),
        Example.same(
            "import horovod.keras as hvd\nfrom keras.engine.topology import Node",
            note="goes with native Keras",
            level="unsupported",
            write="import horovod.tensorflow.keras as hvd",
        ),
        Example.same("from tensorflow.keras.models import load_model", note="tf.keras"),
        Example(
            "from keras.datasets import mnist\nimport tensorflow as tf",
            "from tensorflow.keras.datasets import mnist\nimport tensorflow as tf",
        ),
        Example(
            "from keras.preprocessing.sequence import pad_sequences\nimport tensorflow as tf",
            "from tensorflow.keras.preprocessing.sequence import pad_sequences\nimport tensorflow as tf",
        ),
        Example.same("from keras.datasets import mnist", note="not TensorFlow's"),
    ),
)
def native_keras(site: Site) -> None:
    """Imports tf.keras in the place of native Keras in all files of a program, or in none; writes out what differs."""
    node = site.node
    if isinstance(node, cst.Import):
        modules = [dotted_name(alias.name) for alias in node.names]
    else:
        modules = [dotted_name(node.module)] if node.module is not None and not node.relative else []
    site.name = next(iter(modules), "")
    if isinstance(node, cst.ImportFrom) and node.module is not None and _is_for_data(node, site.name):
        return _take_from_tensorflow(site, node.module)
    if any(root_of(m) == "keras" for m in modules):
        return site.unsupported(_why_kept(site), _from_tensorflow(site))
    elif any(f"{m}.".startswith("horovod.keras.") for m in modules):
        site.unsupported(
            "horovod.keras is for native Keras, which does not run on the NPU: import horovod.tensorflow.keras and "
            "tensorflow.keras, and convert again."
        )


def _why_kept(site: Site) -> str:
    """The message on what keeps native Keras in a program, which is converted as a whole or not."""
    places = site.script.project.kept.get(site.script.path, ())
    if not places:
        return "Native Keras does not run on the NPU; import the same names from tensorflow.keras."
    first = list({place.api: place for place in reversed(places)}.values())[::-1]
    named = ", ".join(f"{place.api} ({place.path}:{place.line})" for place in first[:_MOST_NAMED])
    named += f" and {len(first) - _MOST_NAMED} more" if len(first) > _MOST_NAMED else ""
    return (
        f"Native Keras does not run on the NPU, and the converter knows nothing of tf.keras for {named}. Write these in another "
        "way, then convert again; no file of the program was moved to tf.keras."
    )


def _take_from_tensorflow(site: Site, module: cst.BaseExpression) -> None:
    """Read data by tf.keras, where that makes no file a script for TensorFlow that was none."""
    script, project = site.script, site.script.project
    is_read = script.path in project.reached and not script.is_entry and not project.files[script.path].trains
    if uses_tensorflow(script) or (is_read and not project.has_importer(script.path, lambda f: f.path not in project.reaching)):
        site.insert(script.tree.span(module)[0], "tensorflow.")
        site.fixed("Data for training are read by tf.keras, which the host has with TensorFlow.")
    elif script.path in project.reached:
        site.manual(
            "Data are read by the keras package here, which a host may not have beside TensorFlow, and a script without "
            "TensorFlow loads this file, too: import the same names from tensorflow.keras, if TensorFlow is there always.",
            _from_tensorflow(site),
        )


def _from_tensorflow(site: Site) -> str:
    """The import with the same names of tf.keras; "" where TensorFlow 1.15 does not have all of them."""
    node = site.node
    if isinstance(node, cst.Import):
        is_keras = len(node.names) == 1 and dotted_name(node.names[0].name) == "keras"
        local = node.names[0].asname.name if is_keras and node.names[0].asname is not None else None
        return f"from tensorflow import keras{f' as {site.source(local)}' if local is not None else ''}" if is_keras else ""
    if isinstance(node.names, cst.ImportStar) or node.module is None:
        return ""
    names = [f"tensorflow.{site.name}.{dotted_name(alias.name)}" for alias in node.names]
    known = table().names()
    has_all = all(any(one == name or one.startswith(f"{name}.") for one in known) for name in names)
    first, last = site.source(node), site.source(node.module)
    return first.replace(f" {last} ", f" tensorflow.{last} ", 1) if has_all else ""


@rule(
    id="NPU304",
    title="Keras model as Estimator",
    matches=(MODEL_TO_ESTIMATOR,),
    why="The Estimator it gives is TensorFlow's; the NPU's brings its loop of several steps and its checkpoint hooks.",
    done_when="The summary of `tf2npu run` counts the Estimator's runs on the device, and names no session on TensorFlow.",
    source="npu_bridge.estimator.npu.keras_to_npu.model_to_npu_estimator(keras_model, ..., model_dir, checkpoint_format, config)",
    examples=(
        Example(
            "e = tf.keras.estimator.model_to_estimator(model, model_dir='d')",
            "e = tf.keras.estimator.model_to_estimator(model, model_dir='d', config=npu_run_config_init())",
        ),
        Example(
            "c = tf.estimator.RunConfig()\ne = tf.keras.estimator.model_to_estimator(model, config=c)",
            "c = tf.estimator.RunConfig()\n"
            "e = tf.keras.estimator.model_to_estimator(model, config=npu_run_config_init(run_config=c))",
        ),
        Example.same(
            "e = tf.keras.estimator.model_to_estimator(model, **kw)",
            note="the config may be in kw",
            level="manual",
            write="e = keras_to_npu.model_to_npu_estimator(model, model_dir='d', config=NPURunConfig())",
        ),
        Example.same("e = my.model_to_estimator(model)", note="not TensorFlow's"),
    ),
)
def model_to_estimator(call: Call) -> None:
    """Wraps the config of a Keras model that becomes an Estimator, and says what the NPU has for it."""
    wrap_run_config(call, WRAPPED[MODEL_TO_ESTIMATOR])
    call.info(
        "Faster on the NPU: keras_to_npu.model_to_npu_estimator(keras_model=model, model_dir=..., config=NPURunConfig()), both "
        "from npu_bridge.npu_init. Without it this Estimator's sessions run on the NPU by their config, step by step."
    )
    return None


def _is_for_data(node: cst.ImportFrom, module: str) -> bool:
    """Whether all that is imported works on arrays alone, and is in tf.keras under the same name."""
    if isinstance(node.names, cst.ImportStar):
        return False
    names = {dotted_name(alias.name) for alias in node.names}
    return names <= DATA.get(module, frozenset())
