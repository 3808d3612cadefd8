"""DistributedDataParallel's reducer for tensors of the simulated device.

PyTorch's is in C++, which takes these tensors for `meta`, so that its buckets would have no numbers. This one is asked and told
the same things, and reduces the same gradients in the same buckets: the first step's as the parameters were made, those behind it
in the order in which rank 0 had its gradients. Source: PyTorch's documentation of DistributedDataParallel, what its
nn/parallel/distributed.py calls, and what its reducer.cpp does in which order.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch.autograd import Variable
from torch.autograd.graph import get_gradient_edge

from .gradient_bucket import Bucket, GradBucket, is_same_memory
from .unused_parameters import UsedMap, unused_places

_MIB = 1 << 20


class Reducer:
    """Arguments, and names of methods, are those of torch.distributed.Reducer."""

    def __init__(
        self, params: Sequence[torch.Tensor], bucket_indices: Sequence[Sequence[int]], per_bucket_size_limits: Sequence[int],
        process_group: Any, expect_sparse_gradients: Sequence[bool] = (), bucket_bytes_cap: int = 25 * _MIB,
        find_unused_parameters: bool = False, gradient_as_bucket_view: bool = False,
        param_to_name_mapping: dict[int, str] | None = None, first_bucket_bytes_cap: int = _MIB,
        skip_all_reduce_unused_params: bool = False, use_python_reducer: bool = False,
        bucket_bytes_cap_list: Sequence[int] = (), batched_grad_copy: bool = False,
    ) -> None:  # fmt: skip
        if any(expect_sparse_gradients):
            raise RuntimeError(
                "DistributedDataParallel on the NPU reduces no sparse gradients, as HCCL takes dense tensors: make the embedding "
                "with sparse=False"
            )
        self._parameters = list(params)
        self.group = process_group
        self._finds_unused, self._is_view = find_unused_parameters, gradient_as_bucket_view
        self._names = param_to_name_mapping or {}
        self._limits = list(bucket_bytes_cap_list) or [first_bucket_bytes_cap, bucket_bytes_cap]
        self._is_static = False
        self._hook: tuple[Any, Callable[..., Any]] | None = None
        self._steps_in_backward = False
        self._n_forwards = 0
        self._used = UsedMap(len(self._parameters), self._parameters[0].device)
        self._static_calls: Counter[int] = Counter()
        self._calls_left: Counter[int] = Counter()
        self._order: list[int] = []
        self._has_rebuilt = False
        self._forward_work: Any = None
        self._futures: list[Any] = []
        self._make_buckets(bucket_indices)
        self._begin_step()
        self._expects, self._is_unfinished = False, False
        self._unused: list[int] = []
        self._accumulators = [get_gradient_edge(parameter).node for parameter in self._parameters]
        me = weakref.ref(self)
        self._handles = [node.register_hook(partial(_call, me, place)) for place, node in enumerate(self._accumulators)]

    def _make_buckets(self, indices: Sequence[Sequence[int]]) -> None:
        with torch.no_grad():
            self._buckets = [
                Bucket([self._parameters[place] for place in places], places)
                for together in indices
                for places in self._by_device(together)
            ]
        self._locations = {place: (bucket, at) for bucket in self._buckets for at, place in enumerate(bucket.places)}

    def _by_device(self, places: Sequence[int]) -> list[list[int]]:
        """C++ takes all devices for one; a bucket has one."""
        found: dict[torch.device, list[int]] = {}
        for place in places:
            found.setdefault(self._parameters[place].device, []).append(place)
        return list(found.values())

    def _begin_step(self) -> None:
        for bucket in self._buckets:
            bucket.begin()
        self._next = 0
        self._ready: set[int] = set()
        self._has_marked_unused = False
        self._divisor: int | None = None
        self._calls_left = Counter(self._static_calls)

    @property
    def _is_first_static(self) -> bool:
        return self._is_static and self._n_forwards == 1

    @property
    def _looks_for_unused(self) -> bool:
        return self._finds_unused and not self._is_static

    def prepare_for_forward(self) -> None:
        """A forward pass begins whose gradients are to be reduced."""
        self._n_forwards += 1

    def prepare_for_backward(self, outputs: Sequence[torch.Tensor]) -> None:
        """A forward pass has ended; outputs are looked at for parameters that they do not depend on."""
        self._begin_step()
        self._expects = True
        if self._looks_for_unused:
            self._unused = unused_places(outputs, self._accumulators)

    def _autograd_hook(self, place: int) -> None:
        """The gradient of a parameter has been added to its .grad."""
        if not self._expects:
            return
        if (self._looks_for_unused or self._is_first_static) and self._parameters[place].grad is not None:
            self._used.note(place)
        if self._is_first_static:
            self._static_calls[place] += 1
            return
        if not self._has_marked_unused:
            self._has_marked_unused = True
            for unused in self._unused:
                self._mark_ready(unused)
        if self._is_static:
            self._calls_left[place] -= 1
            if self._calls_left[place] < 0:
                raise RuntimeError(
                    f"{self._named(place)} has a gradient that it had not in the first step, and static_graph=True says that the "
                    "graph stays the same: make the model without it"
                )
            if self._calls_left[place]:
                return
        self._mark_ready(place)

    def _mark_ready(self, place: int) -> None:
        if place in self._ready:
            raise RuntimeError(
                f"Expected to mark a variable ready only once: {self._named(place)} has got a second gradient in one backward "
                "pass. A checkpoint that is used twice, or a parameter used outside of forward, does that: try static_graph=True"
            )
        if self._should_rebuild:
            self._order.append(place)
        self._ready.add(place)
        self._is_unfinished = True
        bucket, at = self._locations[place]
        self._copy_in(bucket, at)
        bucket.pending -= 1
        while self._next < len(self._buckets) and not self._buckets[self._next].pending:
            self._reduce(self._next)
            self._next += 1
        if self._next == len(self._buckets):
            if self._looks_for_unused:
                self._used.share(self.group)
            Variable._execution_engine.queue_callback(self._finish)

    def _copy_in(self, bucket: Bucket, at: int) -> None:
        """Bring a gradient to its place in the bucket, divided by the number of ranks unless a hook does that."""
        parameter, view = bucket.parameters[at], bucket.views[at]
        gradient = parameter.grad
        factor = None if self._hook is not None else 1.0 / self._divide_by()
        with torch.no_grad():
            if gradient is None:
                view.zero_()
            elif gradient.layout is not torch.strided:
                raise RuntimeError(f"{self._named(bucket.places[at])} has a sparse gradient, which HCCL does not reduce")
            elif is_same_memory(gradient, view):
                if factor is not None:
                    view.mul_(factor)
            else:
                if factor is None:
                    view.copy_(gradient)
                else:
                    torch.mul(gradient, factor, out=view)
                if self._is_view:
                    parameter.grad = view

    def _divide_by(self) -> int:
        """The number of ranks; below `join`, if it is so asked, of those that have not run out of input."""
        if self._divisor is None:
            self._divisor = self.group.size()
            if self._forward_work is not None:
                self._divisor = int(self._forward_work.result()[0].item())
        return self._divisor

    def _reduce(self, number: int) -> None:
        bucket = self._buckets[number]
        bucket.reduced = self._run_comm_hook(self._grad_bucket(number, bucket.buffer))

    def _grad_bucket(self, number: int, row: torch.Tensor) -> GradBucket:
        return GradBucket(number, row, self._buckets[number], number == len(self._buckets) - 1)

    def _run_comm_hook(self, bucket: GradBucket) -> Any:
        """Reduce a bucket, by the user's hook if there is one; what is returned has `wait`."""
        if self._hook is None:
            return self.group.allreduce([bucket.buffer()])
        state, hook = self._hook
        return hook(state, bucket)

    def _run_allreduce_hook(self, bucket: GradBucket) -> Any:
        """Reduce a bucket, and average it; a future."""
        bucket.buffer().div_(self._divide_by())
        return self.group.allreduce([bucket.buffer()]).get_future()

    def _delay_all_reduce(self) -> None:
        """The first step of a static graph: all is reduced when the backward pass has ended."""
        self._used.share(self.group)
        self._unused = [place for place in range(len(self._parameters)) if not self._static_calls[place]]
        self._is_unfinished = True
        for bucket in self._buckets:
            for at in range(len(bucket.places)):
                self._copy_in(bucket, at)
        for number in range(len(self._buckets)):
            self._reduce(number)
        self._finish()

    def _finish(self) -> None:
        """Wait for the sums, and give each parameter its own."""
        self._expects = False
        with torch.no_grad():
            for bucket in self._buckets:
                self._copy_out(bucket)
        for future in self._futures:
            future.wait()
        self._futures = []
        self._used.forget()
        self._forward_work = None
        self._is_unfinished = False

    def _copy_out(self, bucket: Bucket) -> None:
        views = bucket.views
        result = _tensor_of(bucket.reduced.wait(), bucket.buffer)
        if not is_same_memory(result, bucket.buffer):
            if self._is_view:
                bucket.buffer.copy_(result)
            else:
                views = bucket.views_of(result.reshape(-1))
        if self._steps_in_backward:
            return
        counts = self._looks_for_unused or self._is_first_static
        for place, parameter, view in zip(bucket.places, bucket.parameters, views, strict=True):
            if counts and not self._used.is_used(place):
                continue  # no rank has one: it stays as it is
            if self._is_view:
                parameter.grad = view
            elif parameter.grad is None:
                parameter.grad = torch.empty_like(parameter).copy_(view)
            else:
                parameter.grad.copy_(view)

    @property
    def _should_rebuild(self) -> bool:
        return (self._is_static or not self._finds_unused) and not self._has_rebuilt

    def _push_all_rebuilt_params(self) -> None:
        """A rank without input has no order of its own; rank 0's counts."""
        if self._should_rebuild and not self._order:
            self._order = list(range(len(self._parameters)))

    def _rebuild_buckets(self) -> bool:
        """Once, before the second step: group gradients in the order in which they come.  Raises: RuntimeError where the step
        before has not been finished."""
        self._check_reducer_finalized()
        if not self._should_rebuild or not self._order:
            return False
        order = self._order + [place for place in range(len(self._parameters)) if place not in set(self._order)]
        ordered = [self._parameters[place] for place in order]
        indices, _ = dist._compute_bucket_assignment_by_size(ordered, self._limits, [False] * len(order), order)
        self._make_buckets(self._of_rank_0(indices))
        self._has_rebuilt, self._order = True, []
        for place, parameter in enumerate(self._parameters):
            if self._is_view and parameter.grad is not None:
                bucket, at = self._locations[place]
                with torch.no_grad():
                    parameter.grad = bucket.views[at].copy_(parameter.grad)
        return True

    def _of_rank_0(self, indices: Sequence[Sequence[int]]) -> list[list[int]]:
        """The buckets as rank 0 has them: each rank may have had its gradients in another order."""
        rows = [[place for places in indices for place in places], [at for at, places in enumerate(indices) for _ in places]]
        told = torch.tensor(rows).to(self._parameters[0].device)
        self.group.broadcast([told], 0).wait()
        found: dict[int, list[int]] = {}
        for place, at in zip(*told.tolist(), strict=True):
            found.setdefault(at, []).append(place)
        return list(found.values())

    def _check_reducer_finalized(self) -> None:
        """Raises: RuntimeError where a step has begun to reduce gradients and has not ended."""
        if not self._is_unfinished:
            return
        missing = [self._named(place) for place in range(len(self._parameters)) if place not in self._ready]
        raise RuntimeError(
            "Expected to have finished reduction in the prior iteration before starting a new one. The backward pass has given "
            f"no gradient to {', '.join(missing[:4]) or 'some parameters'}{' and others' if len(missing) > 4 else ''}: make "
            "DistributedDataParallel with find_unused_parameters=True, or let the loss depend on all outputs"
        )

    def _named(self, place: int) -> str:
        name = self._names.get(place)
        return f"parameter {place} ({name or 'of shape ' + str(list(self._parameters[place].shape))})"

    def _get_zeros_like_grad_buckets(self) -> list[GradBucket]:
        """The buckets that a rank without input has to reduce."""
        return [self._grad_bucket(number, torch.zeros_like(bucket.buffer)) for number, bucket in enumerate(self._buckets)]

    def _get_local_used_map(self) -> torch.Tensor:
        return torch.zeros_like(self._used.everywhere)

    def _set_forward_pass_work_handle(self, work: Any, use_static_world_size: bool) -> None:
        self._forward_work = None if use_static_world_size else work

    def _install_post_backward_futures(self, futures: Sequence[Any]) -> None:
        self._futures.extend(futures)

    def _set_static_graph(self) -> None:
        self._is_static = True

    def _set_optimizer_in_backward(self) -> None:
        self._steps_in_backward = True

    def set_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Reduce by a hook from here on.  Raises: RuntimeError where there is one."""
        if self._hook is not None:
            raise RuntimeError("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self._hook = (state, hook)

    def set_logger(self, logger: Any) -> None:
        """Nothing is logged."""

    def _set_ddp_runtime_logging_sample_rate(self, sample_rate: int) -> None:
        """Nothing is logged."""

    def get_backward_stats(self) -> list[int]:
        """Nanoseconds of each parameter: not measured, 0."""
        return [0] * len(self._parameters)

    def _remove_autograd_hooks(self) -> None:
        for handle in self._handles:
            handle.remove()

    def _reset_state(self) -> None:
        """Forget a step that has not ended, and the order of the buckets."""
        self._begin_step()
        self._expects, self._is_unfinished, self._has_rebuilt, self._order, self._n_forwards = False, False, False, [], 0

    def _update_process_group(self, new_process_group: Any) -> None:
        self.group = new_process_group

    def _set_mixed_precision_param_dtype(self, dtype: torch.dtype) -> None:
        raise RuntimeError(
            "DistributedDataParallel's mixed_precision is not simulated on the NPU: use torch.autocast('npu') and a GradScaler"
        )

    def _set_sparse_metadata(self, metadata: Any) -> None:
        raise RuntimeError("DistributedDataParallel on the NPU reduces no sparse gradients, as HCCL takes dense tensors")


def _call(reducer: Any, place: int, *gradients: Any) -> None:
    """reducer: a weak reference, so that a parameter does not keep the reducer that keeps it."""
    found = reducer()
    if found is not None:
        found._autograd_hook(place)


def _tensor_of(waited: Any, buffer: torch.Tensor) -> torch.Tensor:
    """The tensor that waiting gave: a work says only that it is done, a hook's future has a tensor, or a list of one."""
    if isinstance(waited, (list, tuple)):
        waited = waited[0]
    return waited if isinstance(waited, torch.Tensor) else buffer
