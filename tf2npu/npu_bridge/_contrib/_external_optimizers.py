"""``tf.contrib.opt``: optimizers outside the graph, which ask a session for the loss and its gradient.

Source: tensorflow/contrib/opt/python/training/external_optimizer.py of TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

_Function = Callable[[np.ndarray], list[Any]]


class ExternalOptimizerInterface:
    """Minimizes a scalar loss over variables, all packed into one vector; a subclass says how in ``_minimize``."""

    def __init__(
        self,
        loss: tf.Tensor,
        var_list: Sequence[tf.Variable] | None = None,
        equalities: Sequence[tf.Tensor] | None = None,
        inequalities: Sequence[tf.Tensor] | None = None,
        var_to_bounds: Mapping[tf.Variable, tuple[Any, Any]] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self._vars = tf.trainable_variables() if var_list is None else list(var_list)
        self._shapes = [tuple(variable.shape.as_list()) for variable in self._vars]
        self._cuts = np.cumsum([int(np.prod(shape)) for shape in self._shapes])[:-1]
        self._packed_bounds = None if var_to_bounds is None else self._pack_bounds(var_to_bounds)
        self._update_placeholders = [tf.placeholder(variable.dtype.base_dtype) for variable in self._vars]
        self._var_updates = [
            variable.assign(tf.reshape(placeholder, shape))
            for variable, placeholder, shape in zip(self._vars, self._update_placeholders, self._shapes, strict=True)
        ]
        self._packed_var = _pack(self._vars)
        self._packed_loss_grad = self._gradient(loss)
        self._packed_equality_grads = [self._gradient(value) for value in self._equalities]
        self._packed_inequality_grads = [self._gradient(value) for value in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs

    def _pack_bounds(self, bounds: Mapping[tf.Variable, tuple[Any, Any]]) -> list[tuple[float, float]]:
        by_name = {variable.name: limits for variable, limits in bounds.items()}
        packed: list[tuple[float, float]] = []
        for variable, shape in zip(self._vars, self._shapes, strict=True):
            low, high = by_name.get(variable.name, (-np.inf, np.inf))
            packed += zip(np.broadcast_to(low, shape).flat, np.broadcast_to(high, shape).flat, strict=True)
        return packed

    def _gradient(self, value: tf.Tensor) -> tf.Tensor:
        gradients = zip(tf.gradients(value, self._vars), self._vars, strict=True)
        return _pack([tf.zeros_like(variable) if gradient is None else gradient for gradient, variable in gradients])

    def _unpack(self, vector: np.ndarray) -> list[np.ndarray]:
        parts = np.split(vector, self._cuts)
        return [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]

    def minimize(
        self,
        session: tf.Session | None = None,
        feed_dict: Mapping[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[[np.ndarray], Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Minimize the loss and leave the best values in the variables.

        fetches: values handed to loss_callback at each evaluation.  step_callback: called with all variables as one vector.
        """
        run = session or tf.get_default_session()
        evaluate = self._evaluator(run, dict(feed_dict or {}), list(fetches or []))

        def functions(tensors: Sequence[tf.Tensor]) -> list[_Function]:
            return [evaluate([tensor]) for tensor in tensors]

        best = self._minimize(
            initial_val=run.run(self._packed_var),
            loss_grad_func=evaluate([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=functions(self._equalities),
            equality_grad_funcs=functions(self._packed_equality_grads),
            inequality_funcs=functions(self._inequalities),
            inequality_grad_funcs=functions(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback or (lambda vector: None),
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = dict(zip(self._update_placeholders, self._unpack(best), strict=True))
        run.run(self._var_updates, feed_dict=values, **run_kwargs)

    def _evaluator(self, session: tf.Session, feed: dict[Any, Any], fetches: list[Any]) -> Callable[..., _Function]:
        def evaluate(tensors: list[tf.Tensor], callback: Callable[..., Any] | None = None) -> _Function:
            def function(vector: np.ndarray) -> list[Any]:
                values = dict(zip(self._vars, self._unpack(vector), strict=True))
                found = session.run(tensors + fetches, feed_dict={**values, **feed})
                if callback is not None:
                    callback(*found[len(tensors) :])
                return found[: len(tensors)]

            return function

        return evaluate

    def _minimize(self, initial_val: np.ndarray, **arguments: Any) -> np.ndarray:
        """The best vector. Raises: TypeError here, as only a subclass knows an algorithm."""
        raise TypeError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """``scipy.optimize.minimize``, by default with L-BFGS-B; "SLSQP" takes equalities and inequalities."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: np.ndarray,
        loss_grad_func: _Function,
        equality_funcs: Sequence[_Function],
        equality_grad_funcs: Sequence[_Function],
        inequality_funcs: Sequence[_Function],
        inequality_grad_funcs: Sequence[_Function],
        packed_bounds: Any,
        step_callback: Callable[[np.ndarray], Any],
        optimizer_kwargs: Mapping[str, Any],
    ) -> np.ndarray:
        import scipy.optimize

        double = np.float64  # SciPy's algorithms take no other type

        def loss_and_gradient(vector: np.ndarray) -> tuple[Any, np.ndarray]:
            loss, gradient = loss_grad_func(vector)
            return double(loss), double(gradient)

        constraints = [
            {"type": kind, "fun": lambda x, f=value: double(f(x)[0]), "jac": lambda x, f=gradient: double(f(x)[0])}
            for kind, values, gradients in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for value, gradient in zip(values, gradients, strict=True)
        ]
        ours = {"jac": True, "callback": step_callback, "constraints": constraints, "bounds": packed_bounds}
        for name in ours:
            if name in optimizer_kwargs:
                raise ValueError(
                    "Bounds must be set using the var_to_bounds argument" if name == "bounds"
                    else f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually"
                )  # fmt: skip
        arguments = {"method": self._DEFAULT_METHOD, **ours, **optimizer_kwargs}
        result = scipy.optimize.minimize(loss_and_gradient, double(initial_val), **arguments)
        tf.logging.info(
            "Optimization terminated with:\n  Message: %s\n  Objective function value: %f", result.message, result.fun
        )
        return result.x


def _pack(tensors: Sequence[Any]) -> tf.Tensor:
    flat = [tf.reshape(tensor, [-1]) for tensor in tensors]
    return flat[0] if len(flat) == 1 else tf.concat(flat, 0)
