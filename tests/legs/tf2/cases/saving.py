"""Variables in files: checkpoints, SavedModels, h5 and .keras, and copies of models in memory."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, TRAINED, case
from tests.legs.tf2.cases.small_networks import X, fit, network, weights

keras = tf.keras
OTHER_PROCESS = """
import json, sys
import numpy as np
import tensorflow as tf
assert "npu_device" not in sys.modules
loaded = tf.saved_model.load(sys.argv[1])
x = tf.constant(np.load(sys.argv[2]))
values = [tf.convert_to_tensor(value) for value in loaded.signatures["serving_default"](x).values()]
print(json.dumps([np.ravel(values[0]).tolist(), [float(np.sum(v)) for v in loaded.variables]]))
"""


def _folder() -> Path:
    return Path(tempfile.mkdtemp(dir="."))


@case(TRAINED)
def checkpoint_saved_and_restored() -> Any:
    model, folder = network(), _folder()
    fit(model)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    path = checkpoint.save(str(folder / "one"))
    saved, losses = weights(model), fit(model)
    later = weights(model)
    checkpoint.restore(path).assert_consumed()
    return saved, losses, later, weights(model), fit(model), weights(model), model.optimizer.iterations


@case(EXACT)
def checkpoint_read_as_arrays() -> Any:
    v, w, folder = tf.Variable([1.0, 2.0]), tf.Variable(3, dtype=tf.int64), _folder()
    tf.function(lambda: (v.assign_add([1.0, 1.0]), w.assign_add(1)))()
    path = tf.train.Checkpoint(v=v, w=w).write(str(folder / "one"))
    tf.function(lambda: v.assign_add([1.0, 1.0]))()
    reader = tf.train.load_checkpoint(path)
    names = sorted(name for name in reader.get_variable_to_shape_map() if "VALUE" in name)
    return names, [reader.get_tensor(name) for name in names], v


@case(TRAINED)
def checkpoints_kept_by_a_manager() -> Any:
    model, folder = network(), _folder()
    checkpoint = tf.train.Checkpoint(model=model, step=tf.Variable(0))
    manager = tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=2)
    sums = []
    for _ in range(4):
        fit(model)
        checkpoint.step.assign_add(1)
        manager.save()
        sums.append(np.sum(model.layers[0].kernel.numpy()))
    checkpoint.restore(manager.checkpoints[0])
    return sums, len(manager.checkpoints), checkpoint.step, weights(model)


@case(TRAINED)
def restored_before_variables_exist() -> Any:
    model, folder = network(), _folder()
    fit(model)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(folder / "one"))
    other = network()
    status = tf.train.Checkpoint(model=other, optimizer=other.optimizer).restore(path)
    losses = fit(other)
    status.assert_existing_objects_matched()
    return losses, weights(other), fit(model), weights(model)


@case(TRAINED)
def saved_by_a_callback() -> Any:
    model, folder = network(), _folder()
    every = keras.callbacks.ModelCheckpoint(str(folder / "{epoch}.weights.h5"), save_weights_only=True)
    backup = keras.callbacks.BackupAndRestore(str(folder / "backup"))
    losses = fit(model, epochs=3, callbacks=[every, backup])
    other = network()
    seen = []
    for epoch in (1, 3):
        other.load_weights(str(folder / f"{epoch}.weights.h5"))
        seen.append(other.evaluate(X, np.zeros([32, 2]), verbose=0))
    return losses, seen, weights(other), weights(model)


@case(TRAINED)
def weights_by_h5_and_by_checkpoint() -> Any:
    model, folder, seen = network(), _folder(), []
    fit(model)
    for name in ("weights.h5", "weights.ckpt"):
        model.save_weights(str(folder / name))
        other = network()
        other.load_weights(str(folder / name))
        seen += [other.predict(X[:3], verbose=0), fit(other)]
    return seen, weights(model)


@case(TRAINED)
def models_by_keras_and_by_h5() -> Any:
    model, folder, seen = network(keras.optimizers.Adam(0.01)), _folder(), []
    fit(model)
    for name in ("model.keras", "model.h5"):
        model.save(str(folder / name))
        other = keras.models.load_model(str(folder / name))
        seen += [fit(other), weights(other), other.optimizer.iterations]
    return seen, fit(model), weights(model)


@case(TRAINED)
def saved_model_in_this_process() -> Any:
    model, folder = network(), _folder()
    fit(model)
    model.save(str(folder / "saved"))
    other, raw = keras.models.load_model(str(folder / "saved")), tf.saved_model.load(str(folder / "saved"))
    before = raw.signatures["serving_default"](tf.constant(X[:2])).popitem()[1]
    raw.variables[0].assign(raw.variables[0] * 2)
    after = raw.signatures["serving_default"](tf.constant(X[:2])).popitem()[1]
    return before, after, fit(other), weights(other), weights(model), raw(X[:2])


@case(TRAINED)
def saved_model_in_another_process() -> Any:
    model, folder = network(), _folder()
    fit(model, epochs=2)
    model.save(str(folder / "saved"))
    np.save(folder / "x.npy", X[:3])
    words = [sys.executable, "-c", OTHER_PROCESS, str(folder / "saved"), str(folder / "x.npy")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stderr[-500:] if done.returncode else json.loads(done.stdout.splitlines()[-1]), model.predict(X[:3], verbose=0)


@case(EXACT)
def module_with_functions_saved_and_loaded() -> Any:
    class Counter(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.total = tf.Variable([0.0, 0.0])
            keys = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1.0, 2.0])
            self.table = tf.lookup.StaticHashTable(keys, 10.0)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def add(self, words: tf.Tensor) -> tf.Tensor:
            self.total.assign_add([1.0, tf.reduce_sum(self.table.lookup(words))])
            return self.total.read_value()

    counter, folder = Counter(), _folder()
    seen = [counter.add(tf.constant(["a", "b", "c"]))]
    tf.saved_model.save(counter, str(folder))
    seen.append(counter.add(tf.constant(["a"])))
    loaded = tf.saved_model.load(str(folder))
    seen += [loaded.add(tf.constant(["b"])), loaded.total.numpy()]
    loaded.total.assign([100.0, 100.0])
    return [*seen, loaded.add(tf.constant(["x"])), counter.total]


@case(TRAINED)
def model_copied_deep() -> Any:
    model = network()
    fit(model)
    other = copy.deepcopy(model)
    other.compile(keras.optimizers.legacy.SGD(0.1, momentum=0.9), "mse")
    return fit(other), weights(other), weights(model), fit(model), weights(model)


@case(TRAINED)
def model_cloned() -> Any:
    model = network()
    fit(model)
    other = keras.models.clone_model(model)
    other.set_weights(model.get_weights())
    other.compile(keras.optimizers.legacy.SGD(0.1, momentum=0.9), "mse")
    kernel = copy.deepcopy(model.layers[0].kernel)
    return fit(other), weights(other), fit(model), weights(model), tf.reduce_sum(kernel)


@case(TRAINED)
def model_pickled() -> Any:
    model = network()
    fit(model)
    other = pickle.loads(pickle.dumps(model))
    return fit(other), weights(other), weights(model)


@case(TRAINED)
def weights_set_and_got() -> Any:
    model, seen = network(), []
    begin = model.get_weights()
    for factor in (1.0, 2.0):
        model.set_weights([array * factor for array in begin])
        seen += [fit(model), weights(model)]
    model.layers[0].set_weights(begin[:2])
    return seen, model.layers[0].get_weights(), model.optimizer.variables[0], fit(model)


@case(TRAINED)
def exported_for_serving() -> Any:
    model, folder = network(), _folder()
    fit(model)
    model.export(str(folder / "exported"))
    served = tf.saved_model.load(str(folder / "exported"))
    before = served.serve(tf.constant(X[:2]))
    fit(model)
    return before, served.serve(tf.constant(X[:2])), model.predict(X[:2], verbose=0)


@case(TRAINED)
def frozen_to_constants() -> Any:
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    model = network()
    fit(model)
    concrete = tf.function(lambda x: model(x)).get_concrete_function(tf.TensorSpec([None, 6], tf.float32))
    frozen = convert_variables_to_constants_v2(concrete)
    fit(model)
    return frozen(tf.constant(X[:2])), concrete(tf.constant(X[:2]))
