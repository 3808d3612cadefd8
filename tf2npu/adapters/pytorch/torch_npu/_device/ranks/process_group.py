"""The backend hccl: collective operations of tensors of the device npu, over Gloo and the hosts' memory.

Operations of a group are carried out one after another in a thread of their own, as on the device's stream of communication, and
the script goes on until it waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .. import dispatch, numbering, shapes_only
from ..tensor import NpuTensor
from .agreement import Agreement
from .exchanges import Exchanges, Received
from .lane import Lane
from .memory_views import bytes_of_row, form_of, host_of, listed, row_of, sent_bytes
from .messages import Messages
from .reduction import Reduction
from .work import FinishedWork, HcclWork

NAME = "hccl"
_Tensors = Sequence[torch.Tensor]


class HcclGroup(dist.ProcessGroup):
    """A group of ranks.  ranks: their numbers in the job, in the group's order."""

    def __init__(self, store: Any, rank: int, size: int, timeout: timedelta, ranks: Sequence[int]) -> None:
        super().__init__(rank, size)
        self._store = store
        gloo = dist.ProcessGroupGloo(store, rank, size, timeout)
        self._register_backend(torch.device("npu"), dist.ProcessGroup.BackendType.CUSTOM, gloo)
        ranks = list(ranks) or list(range(size))
        self._agreement = Agreement(gloo, store, ranks, timeout)
        self._exchanges = Exchanges(gloo, self._agreement)
        self._messages = Messages(gloo, self._agreement, ranks)
        self._lane = Lane(NAME)
        self._gathered: list[HcclWork] | None = None

    def getBackendName(self) -> str:
        return NAME

    def name(self) -> str:
        return NAME

    def get_group_store(self) -> Any:
        return self._store

    def shutdown(self) -> None:
        self._lane.close()

    abort = shutdown

    def allreduce(self, tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        tensors = listed(tensors)
        rows = [row_of(tensor) for tensor in tensors]
        reductions = [self._reduction("allreduce", opts, tensor) for tensor in tensors]

        def carry() -> None:
            for row, reduction in zip(rows, reductions, strict=True):
                reduction.carry_out(row, self._exchanges.all_reduce)

        return self._issue("allreduce", f"{reductions[0].name} {form_of(*tensors)}", tensors, tensors, carry)

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Any, opts: Any = None, op: Any = None, timeout: Any = None) -> HcclWork:
        tensors = listed(tensors)
        root = opts if isinstance(opts, int) else opts.rootRank
        reduction = self._reduction("reduce", opts if op is None and not isinstance(opts, int) else op, tensors[0])
        row = row_of(tensors[0])

        def carry() -> None:
            summed = row.clone()  # others than the root keep theirs
            reduction.carry_out(summed, self._exchanges.all_reduce)
            if root == self.rank():
                row.copy_(summed)

        return self._issue("reduce", f"{reduction.name} to {root} {form_of(*tensors)}", tensors, tensors, carry)

    def broadcast(self, tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        tensors = listed(tensors)
        root = opts if isinstance(opts, int) else opts.rootRank if opts is not None else 0
        rows = [bytes_of_row(row_of(tensor)) for tensor in tensors]

        def carry() -> None:
            for row in rows:
                self._exchanges.broadcast(row, root)

        return self._issue("broadcast", f"from {root} {form_of(*tensors)}", tensors, tensors, carry)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        outputs = output_tensors if isinstance(output_tensors[0], torch.Tensor) else output_tensors[0]
        given = listed(input_tensors)[0]
        row, received = sent_bytes(given), [Received(host_of(output)) for output in outputs]
        _check_own_part("allgather", outputs, given, self.rank(), self.size())
        text = form_of(*outputs)
        return self._issue("allgather", text, [given], outputs, lambda: self._exchanges.all_gather(received, row))

    def all_gather_single(self, output: Any, input: Any, opts: Any = None) -> HcclWork:
        return self.all_gather_single_coalesced([output], [input], opts)

    def all_gather_single_coalesced(self, outputs: _Tensors, inputs: _Tensors, opts: Any = None) -> HcclWork:
        for output, given in zip(outputs, inputs, strict=True):
            _check_whole("all_gather_into_tensor", output, given, self.size(), "output", "input")
        pairs = [
            (bytes_of_row(row_of(output)).chunk(self.size()), sent_bytes(given))
            for output, given in zip(outputs, inputs, strict=True)
        ]

        def carry() -> None:
            for parts, row in pairs:
                if row.numel():
                    self._exchanges.all_gather([Received(part) for part in parts], row)

        return self._issue("allgather", form_of(*inputs), inputs, outputs, carry)

    def allgather_coalesced(self, output_lists: Any, input_list: _Tensors, opts: Any = None) -> HcclWork:
        works = [self.allgather([[parts[place] for parts in output_lists]], [given]) for place, given in enumerate(input_list)]
        return _together(works)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        """An all-gather, as the vendor's has it."""
        root, given = opts if isinstance(opts, int) else opts.rootRank, listed(input_tensors)[0]
        outputs = [] if root != self.rank() else listed(output_tensors)
        outputs = outputs[0] if outputs and not isinstance(outputs[0], torch.Tensor) else outputs
        row = sent_bytes(given)
        places = [host_of(output) for output in outputs] or [torch.empty_like(host_of(given)) for _ in range(self.size())]
        received = [Received(place) for place in places]
        return self._issue("allgather", form_of(given), [given], outputs, lambda: self._exchanges.all_gather(received, row))

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        root, output = opts if isinstance(opts, int) else opts.rootRank, listed(output_tensors)[0]
        inputs = [] if root != self.rank() else list(input_tensors)
        inputs = inputs[0] if inputs and not isinstance(inputs[0], torch.Tensor) else inputs
        received, rows = Received(host_of(output)), [sent_bytes(given) for given in inputs]
        if any(part.numel() != received.bytes.numel() for part in rows):
            raise RuntimeError(f"hccl: scatter: every part has to be as large as the output, {form_of(output)}")
        text = f"from {root} {form_of(output)}"
        return self._issue("scatter", text, inputs or [output], [output], lambda: self._exchanges.scatter(received, rows, root))

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: Any = None) -> HcclWork:
        output = listed(output_tensors)[0]
        inputs = list(input_tensors) if isinstance(input_tensors[0], torch.Tensor) else list(input_tensors[0])
        _check_own_part("reduce_scatter", inputs, output, self.rank(), self.size())
        begin = sum(given.numel() for given in inputs[: self.rank()])
        rows = [row_of(given) for given in inputs]
        return self._reduce_scatter([(row_of(output), rows, begin)], inputs, [output], opts)

    def reduce_scatter_single(self, output: Any, input: Any, opts: Any = None) -> HcclWork:
        return self.reduce_scatter_single_coalesced([output], [input], opts)

    def reduce_scatter_single_coalesced(self, outputs: _Tensors, inputs: _Tensors, opts: Any = None) -> HcclWork:
        for output, given in zip(outputs, inputs, strict=True):
            _check_whole("reduce_scatter_tensor", given, output, self.size(), "input", "output")
        parts = [
            (row_of(output), [row_of(given)], output.numel() * self.rank()) for output, given in zip(outputs, inputs, strict=True)
        ]
        return self._reduce_scatter(parts, inputs, outputs, opts)

    def _reduce_scatter(self, parts: Any, inputs: _Tensors, outputs: _Tensors, opts: Any) -> HcclWork:
        """parts: of each output its row, the rows of its inputs, and where its own part begins in these."""
        reduction = self._reduction("reduce_scatter", opts, outputs[0])

        def carry() -> None:
            for row, rows, begin in parts:
                summed = torch.cat(rows)
                reduction.carry_out(summed, self._exchanges.all_reduce)
                row.copy_(summed[begin : begin + row.numel()])

        return self._issue("reduce_scatter", f"{reduction.name} {form_of(*inputs)}", inputs, outputs, carry)

    def alltoall(self, output_tensors: _Tensors, input_tensors: _Tensors, opts: Any = None, timeout: Any = None) -> HcclWork:
        outputs, inputs = list(output_tensors), list(input_tensors)
        if len(outputs) != self.size() or len(inputs) != self.size():
            raise RuntimeError(f"hccl: all_to_all takes a tensor for each of the {self.size()} ranks, in and out")
        received, rows = [Received(host_of(output)) for output in outputs], [sent_bytes(given) for given in inputs]
        return self._issue("alltoall", _type_of(inputs[0]), inputs, outputs, lambda: self._exchanges.all_to_all(received, rows))

    def all_to_all_single(
        self, output: Any, input: Any, output_split_sizes: Sequence[int], input_split_sizes: Sequence[int], opts: Any = None,
        timeout: Any = None,
    ) -> HcclWork:  # fmt: skip
        parts = [
            _split(bytes_of_row(row_of(tensor)), tensor.shape[0] if tensor.dim() else 1, sizes, self.size())
            for tensor, sizes in ((output, output_split_sizes), (input, input_split_sizes))
        ]
        received = [Received(part) for part in parts[0]]
        return self._issue("alltoall", _type_of(input), [input], [output], lambda: self._exchanges.all_to_all(received, parts[1]))

    def barrier(self, opts: Any = None, timeout: Any = None) -> HcclWork:
        """An all-reduce of one number, as the vendor's has it."""
        with torch.no_grad():
            token = torch.ones(1, device="npu")
        return self._issue("barrier", "", [token], [token], lambda: None)

    def send(self, tensors: Any, dst: int, tag: int = 0) -> HcclWork:
        tensor = listed(tensors)[0]
        outcome = self._messages.send(sent_bytes(tensor), form_of(tensor), dst, tag)
        return self._begun("send", [tensor], [tensor], HcclWork([outcome], [tensor]))

    def recv(self, tensors: Any, src: int, tag: int = 0) -> HcclWork:
        tensor = listed(tensors)[0]
        outcome = self._messages.receive(bytes_of_row(row_of(tensor)), form_of(tensor), src, tag)
        return self._begun("recv", [tensor], [tensor], HcclWork([outcome], [tensor]))

    def recv_anysource(self, tensors: Any, tag: int = 0) -> HcclWork:
        raise RuntimeError("hccl: recv takes no tensor from any rank, as ProcessGroupHCCL has no such operation: name the rank")

    def _start_coalescing(self, device: Any) -> None:
        self._gathered = []

    def _end_coalescing(self, device: Any) -> HcclWork:
        works, self._gathered = self._gathered or [], None
        return _together(works)

    def _reduction(self, operation: str, wanted: Any, tensor: torch.Tensor) -> Reduction:
        return Reduction(operation, wanted, tensor.dtype, self.size())

    def _issue(self, name: str, text: str, inputs: _Tensors, outputs: _Tensors, carry: Callable[[], None]) -> HcclWork:
        """Have an operation carried out once all ranks are about to do the same."""
        text = f"{name} {text}".rstrip()

        def call() -> None:
            self._agreement.reach(text)
            with torch.no_grad():
                carry()

        work = FinishedWork(outputs) if shapes_only.IS_ON else HcclWork([self._lane.submit(call)], outputs)
        return self._begun(name, inputs, outputs, work)

    def _begun(self, name: str, inputs: _Tensors, outputs: _Tensors, work: HcclWork) -> HcclWork:
        """Tell the observers of an operation, with the bytes that this rank gives."""
        if self._gathered is not None:
            self._gathered.append(work)
        if dispatch.OBSERVERS:
            size = sum(tensor.numel() * tensor.element_size() for tensor in inputs)
            index = next((one.index for one in inputs if isinstance(one, NpuTensor)), numbering.current_device())
            facts = {"bytes": size, "ranks": self.size()}
            dispatch.tell(f"{NAME}::{name}", (list(inputs),), facts, list(outputs), index)
        return work

    _allgather_base = all_gather_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced
    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced
    alltoall_base = all_to_all_single


def make_group(options: Any, backend_options: Any) -> HcclGroup:
    """The group that PyTorch asks for.  backend_options: ProcessGroupHCCL.Options or None; buffers of HCCL are not simulated."""
    return HcclGroup(options.store, options.group_rank, options.group_size, options.timeout, options.global_ranks_in_group)


def _together(works: Sequence[HcclWork]) -> HcclWork:
    return HcclWork([outcome for work in works for outcome in work.outcomes], [part for work in works for part in work.results])


def _type_of(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _check_own_part(operation: str, parts: _Tensors, own: torch.Tensor, rank: int, size: int) -> None:
    if len(parts) != size:
        raise RuntimeError(f"hccl: {operation} takes a list of {size} tensors, one for each rank, and got {len(parts)}")
    if parts[rank].numel() != own.numel() or parts[rank].dtype is not own.dtype:
        raise RuntimeError(
            f"hccl: {operation}: the tensor of this rank is {form_of(own)}, and its place in the list is {form_of(parts[rank])}"
        )


def _check_whole(operation: str, whole: torch.Tensor, part: torch.Tensor, size: int, name: str, of: str) -> None:
    """Raises: RuntimeError where a tensor has not the size of all ranks' parts."""
    if whole.dtype is not part.dtype:
        raise RuntimeError(f"hccl: {operation}: {name} is {form_of(whole)} and {of} {form_of(part)}: they have to be of one type")
    if whole.numel() != part.numel() * size:
        raise RuntimeError(
            f"hccl: {operation}: {name} has {whole.numel()} elements and has to have {size} times those of {of}, {part.numel()}"
        )


def _split(row: torch.Tensor, length: int, sizes: Sequence[int], size: int) -> list[torch.Tensor]:
    """The parts of a row of bytes for each rank.  sizes: along the first dimension, empty for equal ones."""
    if not sizes:
        if length % size:
            raise RuntimeError(f"hccl: all_to_all_single: the first dimension, {length}, cannot be divided among {size} ranks")
        sizes = [length // size] * size
    if len(sizes) != size or sum(sizes) != length:
        raise RuntimeError(
            f"hccl: all_to_all_single: split sizes {list(sizes)} are not {size} parts of the first dimension, {length}"
        )
    each = row.numel() // length if length else 0
    return list(row.split([part * each for part in sizes]))
