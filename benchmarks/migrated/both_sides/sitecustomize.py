"""Makes a script's run comparable with its run elsewhere, without touching the script: a folder for PYTHONPATH.

Python imports this module before a script; it patches TensorFlow's modules as they are imported. It runs under genuine
TensorFlow 1.15 on Python 3.7 and under the simulated device on a newer one, so it keeps to what both have.

What is made equal: seeds; order of data (no shuffling, no parallel readers); keep probability of dropout (1.0); and the variables
that training starts from. Environment: AGREEMENT_RECORD names the file that gets one JSON line a training step,
AGREEMENT_CHECKPOINT a checkpoint; the run with AGREEMENT_WRITES=1 writes it ahead of its first step, others read it by name.
AGREEMENT_THREADS: threads inside an op of TensorFlow.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import json
import os
import random
import sys

import agreement_inputs as inputs

RECORD = os.environ.get("AGREEMENT_RECORD")
CHECKPOINT = os.environ.get("AGREEMENT_CHECKPOINT")


# ------------------------------------------------------------------------------------------------------- races of TensorFlow


def fix_step_race(module):
    """A global step is assigned when all that computes with it has read it.

    BERT's scripts assign the step beside the update, so within one run of TensorFlow 1.15 the decay of the learning rate saw the
    old step and its warm-up the new one.
    """
    for kind in (getattr(module, name, None) for name in ("RefVariable", "BaseResourceVariable")):
        if kind is not None:
            kind.assign = after_reads(kind.assign)


def after_reads(assign):
    """A variable's assign that waits for reads when it is the global step."""

    @functools.wraps(assign)
    def called(self, value, *args, **kwargs):
        is_step = any(each is self for each in self.graph.get_collection("global_step"))
        with self.graph.control_dependencies(step_reads(self) if is_step else []):
            return assign(self, value, *args, **kwargs)

    return called


def step_reads(variable):
    """Reads of a variable, and what is computed of it and constants alone: a read of a reference is an alias."""
    source = variable.handle.op if hasattr(variable, "handle") else variable.op
    reads, known = [source], {source}
    for op in reads:
        same = [user for user in users(op) if user.type in ("Identity", "ReadVariableOp") and user not in known]
        reads.extend(same)
        known.update(same)
    computing = [user for op in reads for user in users(op) if user.type in ("Cast", "Add", "AddV2")]
    simple = [user for user in computing if all(tensor.op in known or tensor.op.type == "Const" for tensor in user.inputs)]
    return [op for op in [*reads[1:], *simple] if op._get_control_flow_context() is None]


def users(op):
    """Operations that take an output of ``op``."""
    return [user for tensor in op.outputs for user in tensor.consumers()]


# ------------------------------------------------------------------------------------------------------- losses and variables


class Watched:
    """A loss of one graph and the gradients that were made of it."""

    def __init__(self, losses, gradients):
        self.losses = [loss for loss in losses if hasattr(loss, "op")]
        self.ops = {getattr(g, "values", g).op for g in gradients if g is not None}


def watch_gradients(module):
    """tf.gradients, which optimizers use too, notes what it is asked for and, called by a script, gives all gradients at once."""
    gradients = module.gradients

    @functools.wraps(gradients)
    def called(ys, xs, *args, **kwargs):
        result = gradients(ys, xs, *args, **kwargs)
        if not ASKED and any(gradient is not None for gradient in result):
            from tensorflow.python.ops import control_flow_ops

            result = control_flow_ops.tuple(result)  # the gate that fix_optimizer sets for optimizers
        asked = ASKED[0] if ASKED else ys
        losses = list(asked) if isinstance(asked, (list, tuple)) else [asked]
        graph = losses[0].graph
        if not getattr(graph, "building_function", False):
            graph._agreement = [*getattr(graph, "_agreement", ()), Watched(losses, result)]
        return result

    module.gradients = called


ASKED = []
"""Losses that optimizers are at work on, the script's own first: one that wraps another scales it."""


def watch_optimizer(kind):
    """An optimizer notes the loss that it was given."""
    for name in {"minimize", "compute_gradients"} & set(vars(kind)):
        setattr(kind, name, noting(getattr(kind, name)))


def fix_optimizer(module):
    """TensorFlow's optimizer notes its loss and has all gradients before it changes a variable.

    Without a gate TensorFlow itself is racy: a weight may change between its own gradient and the gradient of its input.
    """
    compute = module.Optimizer.compute_gradients

    @functools.wraps(compute)
    def compute_gradients(self, loss, var_list=None, gate_gradients=None, *args, **kwargs):
        return compute(self, loss, var_list, self.GATE_GRAPH, *args, **kwargs)

    module.Optimizer.compute_gradients = compute_gradients
    watch_optimizer(module.Optimizer)


def noting(method):
    """A method of an optimizer whose loss is on ASKED while it runs."""

    @functools.wraps(method)
    def called(self, loss, *args, **kwargs):
        ASKED.append(loss)
        try:
            return method(self, loss, *args, **kwargs)
        finally:
            ASKED.pop()

    return called


class Steps:
    """Follows the training steps of one process."""

    def __init__(self):
        self.needs = {}
        self.has_begun = False
        self.is_busy = False

    def wanted(self, session, fetches, feeds):
        """The watched loss whose gradients a run computes, or None."""
        from tensorflow.python.client.session import _FetchHandler

        watched = getattr(session.graph, "_agreement", ())
        if self.is_busy or not watched:
            return None
        handler = _FetchHandler(session.graph, fetches, {})
        ops = tuple(sorted({getattr(x, "op", x) for x in (*handler.fetches(), *handler.targets())}, key=lambda op: op.name))
        if ops not in self.needs:
            above = ancestors(ops)
            self.needs[ops] = next((each for each in watched if each.ops & above), None)
        return self.needs[ops]

    def run(self, plain, session, fetches, feeds, *rest):
        """A session's run; its loss is fetched with it when it is a training step."""
        try:
            watched = self.wanted(session, fetches, feeds)
        except (TypeError, ValueError):  # not a fetch: the session says so itself
            watched = None
        if watched is None:
            return plain(session, fetches, feeds, *rest)
        self.is_busy = True
        try:
            if not self.has_begun:
                self.has_begun = True
                start_equal(plain, session)
            for _ in range(repetitions(session.graph, fetches)):
                result, losses = plain(session, (fetches, watched.losses), feeds, *rest)
        finally:
            self.is_busy = False
        note({"loss": [float(loss.mean(dtype="float64")) for loss in losses]})
        return result


def ancestors(ops):
    """All operations that ``ops`` need, and they themselves."""
    found, todo = set(ops), list(ops)
    while todo:
        op = todo.pop()
        for needed in [*(tensor.op for tensor in op.inputs), *op.control_inputs]:
            if needed not in found:
                found.add(needed)
                todo.append(needed)
    return found


def repetitions(graph, fetches):
    """The number of times that the stand-in's iteration loop wants a step to run; the device loops itself."""
    loops = getattr(graph, "_stand_in_iterations", {})
    fetched = fetches if isinstance(fetches, (list, tuple)) else [fetches]
    return max([1, *(loops[fetch.name] for fetch in fetched if getattr(fetch, "name", None) in loops)])


def note(record):
    """Add a line to the record."""
    with open(RECORD, "a") as out:
        out.write(json.dumps(record) + "\n")


def start_equal(plain, session):
    """Write the variables to the checkpoint, or set those that it holds."""
    variables = {variable.op.name: variable for variable in session.graph.get_collection("variables")}
    if os.environ.get("AGREEMENT_WRITES"):
        values = plain(session, variables)
        write_checkpoint(values)
        note({"written": sorted(values)})
        return
    from tensorflow.python.training import checkpoint_utils

    reader = checkpoint_utils.load_checkpoint(CHECKPOINT)
    held = reader.get_variable_to_shape_map()
    common = sorted(set(held) & set(variables))
    for name in common:  # one by one, as variables may share an initial value
        initializer = variables[name].initializer
        plain(session, initializer, {initializer.inputs[1]: reader.get_tensor(name)})
    trainable = {variable.op.name for variable in session.graph.get_collection("trainable_variables")}
    note({"read": common, "lacking": sorted(trainable - set(held)), "left": sorted(set(held) - set(variables))})


def write_checkpoint(values):
    """A checkpoint of named arrays, made in a graph of its own."""
    from tensorflow.python.client import session
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import io_ops

    names = sorted(values)
    with ops.Graph().as_default(), session.Session() as own:
        own.run(io_ops.save_v2(CHECKPOINT, names, [""] * len(names), [values[name] for name in names]))


def watch_sessions(module):
    """Sessions get the wished number of threads, and tell of their training steps."""
    steps = Steps()
    base = module.BaseSession
    plain, make = base.run, base.__init__

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        return steps.run(plain, self, fetches, feed_dict, options, run_metadata)

    def init(self, target="", graph=None, config=None):
        from tensorflow.core.protobuf import config_pb2

        threads = os.environ.get("AGREEMENT_THREADS")
        if threads:  # only given to genuine TensorFlow, which does not know the device either
            config = config_pb2.ConfigProto.FromString(config.SerializeToString()) if config else config_pb2.ConfigProto()
            config.intra_op_parallelism_threads = config.inter_op_parallelism_threads = int(threads)
            del config.graph_options.rewrite_options.custom_optimizers[:]
        make(self, target, graph, config)

    base.run, base.__init__ = run, init


# -------------------------------------------------------------------------------------------------------------------- imports

PATCHES = {
    "tensorflow": inputs.seed_generators,
    "tensorflow.python.client.session": watch_sessions,
    "tensorflow.python.data.experimental.ops.batching": inputs.fix_map_and_batch,
    "tensorflow.python.data.experimental.ops.interleave_ops": inputs.fix_parallel_interleave,
    "tensorflow.python.data.experimental.ops.shuffle_ops": inputs.fix_shuffle_and_repeat,
    "tensorflow.python.data.ops.dataset_ops": inputs.fix_order,
    "tensorflow.python.framework.random_seed": inputs.fix_seeds,
    "tensorflow.python.ops.gen_image_ops": inputs.fix_distorted_boxes,
    "tensorflow.python.ops.gradients_impl": watch_gradients,
    "tensorflow.python.ops.nn_ops": inputs.fix_dropout,
    "tensorflow.python.ops.ref_variable": fix_step_race,
    "tensorflow.python.ops.resource_variable_ops": fix_step_race,
    "tensorflow.python.ops.variables": fix_step_race,
    "tensorflow.python.training.optimizer": fix_optimizer,
    "npu_bridge": inputs.seed_generators,
    "npu_bridge.estimator.npu.npu_loss_scale_optimizer": lambda module: watch_optimizer(module.NPULossScaleOptimizer),
    "npu_bridge.estimator.npu_ops": inputs.fix_npu_dropout,
}


class Finder(importlib.abc.MetaPathFinder):
    """Finds modules as the others do and patches those it knows once they are there."""

    def find_spec(self, name, path=None, target=None):
        """The module's own spec with a loader that patches behind it."""
        if name not in PATCHES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                PATCHES[name](module)

            spec.loader.exec_module = exec_module
        return spec


if RECORD:
    random.seed(inputs.SEED)
    sys.meta_path.insert(0, Finder())
