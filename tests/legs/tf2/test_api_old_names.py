"""Modules that scripts for TensorFlow 2.4 to 2.6 import, which 2.15 has elsewhere."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.legs.tf2.api_programs import refusal, run

TABLES = Path(__file__).parents[3] / "tf2npu" / "npu_device" / "_old_names"
IMPORTED = """
from keras.utils import control_flow_util
from keras.engine import base_layer, keras_tensor
from keras.engine.training import Model
from keras.layers.core import Dropout, Dense
from keras.layers.recurrent import LSTMCell
from keras.layers.merge import Concatenate
from keras.optimizer_v2 import adam, optimizer_v2
from keras.optimizer_v2.learning_rate_schedule import CosineDecay
from keras.utils.np_utils import to_categorical
from keras.utils.generic_utils import Progbar
from tensorflow.python.training.tracking import base, data_structures, tracking, util
from tensorflow.python.training.tracking.util import Checkpoint
from tensorflow.python.keras.applications.resnet import ResNet50
import tensorflow.python.distribute.distribution_strategy_context
"""


def table(name: str) -> dict[str, str]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        return {row["old"]: row["new"] for row in csv.DictReader(file)}


def test_scripts_find_what_they_import_and_it_is_what_is_there_today():
    done = run(
        IMPORTED
        + """
import keras.src.engine.base_layer
from tensorflow.python.trackable import base as moved
L = tf.keras.layers
assert base_layer is keras.src.engine.base_layer and base is moved
assert Model is tf.keras.Model and Dropout is L.Dropout and Dense is L.Dense
assert LSTMCell is L.LSTMCell and Concatenate is L.Concatenate
assert adam.Adam is tf.keras.optimizers.legacy.Adam and CosineDecay is tf.keras.optimizers.schedules.CosineDecay
assert to_categorical is tf.keras.utils.to_categorical and Checkpoint is tf.train.Checkpoint
assert control_flow_util.smart_cond(True, lambda: 1, lambda: 2) == 1 and ResNet50 is tf.keras.applications.ResNet50
from tensorflow import keras as k
print(tf.keras.__version__, k.__version__, base_layer.__name__, base_layer.__spec__.name)
"""
    )
    assert done.stdout == "2.15.0 2.15.0 keras.src.engine.base_layer keras.src.engine.base_layer\n"
    said = "keras.utils.control_flow_util is gone since this script was written; here it works, today it is keras.src.utils."
    assert said in done.stderr


def test_every_row_leads_to_a_module_and_names_what_2_15_lacks():
    rows = {old: new.split() for old, new in table("modules.csv").items()}
    assert list(rows) == sorted(rows) and len(rows) == 24
    places = sorted({one for new in rows.values() for one in new})
    run(f"import importlib\nfor place in {places}: importlib.import_module(place)")
    source = f"""
        import importlib.util
        def is_there(name):
            try: return importlib.util.find_spec(name) is not None
            except ImportError: return False
        print([name for name in {list(rows)} if is_there(name)])
    """
    done = run(source, before="import tensorflow\n")
    assert done.stdout == "['keras', 'tensorflow.python.keras']\n"


def test_a_module_that_no_release_had_is_still_missing():
    for name in (
        "keras.nothing",
        "keras.src.nothing",
        "keras.layers.core.nothing",
        "tensorflow.python.training.tracking.nothing",
    ):
        assert refusal(f"import {name}") == f"ModuleNotFoundError: No module named '{name}'"


def test_modules_of_2_15_are_loaded_as_before():
    done = run("""
        import keras.layers, keras.src.engine.training
        from tensorflow.python.keras.engine import base_layer
        print(base_layer.__spec__.loader.__class__.__name__, base_layer.__name__)
    """)
    assert done.stdout == "SourceFileLoader tensorflow.python.keras.engine.base_layer\n" and "is gone" not in done.stderr


def test_names_are_back_in_modules_that_are_still_there():
    done = run("""
        import tensorflow.keras as again
        from keras import backend, optimizers
        from keras.backend import get_session
        import keras.src.backend, keras.src.optimizers
        assert backend.set_session is keras.src.backend.set_session and get_session is keras.src.backend.get_session
        assert optimizers.adam is keras.src.optimizers.adam and tf.keras is again
        print(again.__version__, hasattr(backend, "nothing"))
    """)
    assert done.stdout == "2.15.0 False\n"
    said = "keras.backend.set_session is gone since this script was written; here it works, today it is keras.src.backend."
    assert said in done.stderr


def test_every_row_of_names_leads_to_what_is_there_today_and_2_15_lacks_the_old_one():
    rows = table("names.csv")
    assert list(rows) == sorted(rows) and len(rows) == 21
    source = f"""
        import importlib
        def at(path):
            module, _, name = path.rpartition(".")
            return vars(importlib.import_module(module)).get(name)
        print([old for old, new in {rows}.items() if at(old) is not None or at(new) is None])
    """
    assert run(source, before="import tensorflow\n").stdout == "[]\n"
    done = run("""
        from tensorflow.python.framework import ops
        from tensorflow.python.ops import array_ops, control_flow_ops
        from tensorflow.python.util.nest import is_sequence
        assert isinstance(tf.constant(1), ops.Tensor) and array_ops.stack is tf.stack and is_sequence([1])
        print(ops.convert_to_tensor_v2_with_dispatch([1, 2]).shape, control_flow_ops.cond(True, lambda: 3, lambda: 4))
    """)
    assert done.stdout == "(2,) 3\n"


def test_a_graph_tells_the_number_of_its_last_operation():
    """TensorFlow 2.6 numbers operations from 1 on, in functions as well."""
    done = run("""
        seen = []
        @tf.function
        def f(x):
            seen.append(tf.compat.v1.get_default_graph()._last_id)
            y = tf.abs(x) + 1.0
            seen.append(tf.compat.v1.get_default_graph()._last_id)
            return y
        f(tf.ones([2]))
        print(seen)
    """)
    assert done.stdout == "[1, 4]\n"


def test_a_name_that_no_release_had_in_a_module_is_still_missing():
    said = refusal("import keras.backend\nkeras.backend.nothing")
    assert said == "AttributeError: module 'keras.backend' has no attribute 'nothing'"
