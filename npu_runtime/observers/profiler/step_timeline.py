"""Iterations on a timeline: each with its forward and backward pass and its update, taking of batches and all-reduces."""

from __future__ import annotations

from collections.abc import Iterator

from npu_formats.intervals import lanes
from npu_runtime.observers.profiler.device_log import DeviceLog, LoggedStep
from npu_runtime.observers.profiler.step_trace import duration
from npu_runtime.observers.profiler.trace_events import Process, at_tick, document, flow_event, slice_event, tick_duration

FIRST_THREAD = 70000
"""Number of the first track of steps, behind all streams. Source: the vendor's exported timelines."""
_TRACKS_A_MODEL = 1000
"""Numbers set aside for the tracks of a model: one of steps, one of batches, the others of all-reduces that overlap."""
BOUND = "Data_aug Bound"
"""Name of the arrow from the end of an iteration to the forward pass of the next."""


class StepTracks:
    """The tracks of a device's steps. Batches and all-reduces have tracks of their own, since they overlap iterations."""

    def __init__(self, log: DeviceLog, process: Process) -> None:
        self._process = process
        self._steps = log.steps
        self._first_flow = len(log.tasks)
        ids = sorted({step.model_id for step in log.steps})
        self._first = {model_id: FIRST_THREAD + at * _TRACKS_A_MODEL for at, model_id in enumerate(ids)}
        self._reduce_lanes = _reduce_lanes(log.steps)

    def threads(self) -> dict[int, str]:
        """Names of tracks by number."""
        named = {}
        for model_id, first in self._first.items():
            named[first] = f"Step Trace(Model ID:{model_id})"
            steps = [step for step in self._steps if step.model_id == model_id]
            if any(step.get_next for step in steps):
                named[first + 1] = f"GetNext(Model ID:{model_id})"
            for lane in sorted({lane for (model, _, _), lane in self._reduce_lanes.items() if model == model_id}):
                named[first + 2 + lane] = f"Reduce(Model ID:{model_id})" + (f" {lane + 1}" if lane else "")
        return named

    def events(self) -> Iterator[str]:
        """All events, step by step."""
        ends = {step.end: step for step in self._steps}
        for at, step in enumerate(self._steps):
            yield from self._step(step)
            if step.bound is not None and step.fp is not None:
                yield from self._bound(ends[step.fp - step.bound], step, self._first_flow + at)

    def _step(self, step: LoggedStep) -> Iterator[str]:
        tid, number = self._first[step.model_id], step.number
        fp, bp, end = _text(step.fp), _text(step.bp), at_tick(step.end)
        args = {"Iteration ID": number, "FP Start": fp, "BP End": bp, "Iteration End": end}
        whole = args | {"Iteration Time(us)": duration(step.end - step.start)}
        yield self._slice(tid, f"Iteration {number}", step.start, step.end, whole, "Iteration Time")
        if step.fp is not None and step.bp is not None:
            through = {"Iteration ID": number, "FP Start": fp, "BP End": bp, "FP_BP Time(us)": duration(step.bp - step.fp)}
            yield self._slice(tid, f"FP_BP Time {number}", step.fp, step.bp, through, "FP_BP Time")
        if step.bp is not None:
            refresh = {
                "Iteration ID": number,
                "BP End": bp,
                "Iteration End": end,
                "Iteration Refresh(us)": duration(step.end - step.bp),
            }
            yield self._slice(tid, f"Iteration Refresh {number}", step.bp, step.end, refresh, "Iteration Refresh")
        yield from self._beside(step)

    def _beside(self, step: LoggedStep) -> Iterator[str]:
        first = self._first[step.model_id]
        if step.get_next:
            start, end = step.get_next
            args = {"GetNext Start": at_tick(start), "GetNext End": at_tick(end), "GetNext Time(us)": duration(end - start)}
            yield self._slice(first + 1, "GetNext", start, end, args, "GetNext Time")
        for at, (start, end) in enumerate(step.reduces):
            reduced = {"Iteration ID": step.number, f"Reduce Start {at}": at_tick(start), f"Reduce End {at}": at_tick(end)}
            tid = first + 2 + self._reduce_lanes[step.model_id, step.number, at]
            yield self._slice(tid, f"Reduce_{step.number}_{at}", start, end, reduced, "Reduce")

    def _bound(self, before: LoggedStep, step: LoggedStep, number: int) -> Iterator[str]:
        """An arrow out of the middle of what ends an iteration, to where the forward pass of the next begins.

        number: of the arrow, behind those of the arrows from launches to tasks.
        """
        assert step.fp is not None
        inside = (before.end + (before.start if before.bp is None else before.bp)) // 2
        for model_id, tick, begins in ((before.model_id, inside, True), (step.model_id, step.fp, False)):
            tid = self._first[model_id]
            yield flow_event(self._process, tid, f"{BOUND} {step.number}", at_tick(tick), str(number), BOUND, begins=begins)

    def _slice(self, tid: int, name: str, start: int, end: int, args: dict, category: str) -> str:
        return slice_event(self._process, tid, name, at_tick(start), tick_duration(end - start), args, category)


def _reduce_lanes(steps: tuple[LoggedStep, ...]) -> dict[tuple[int, int, int], int]:
    """A lane for each all-reduce by model, iteration and place."""
    found: dict[tuple[int, int, int], int] = {}
    for model_id in {step.model_id for step in steps}:
        reduces = sorted(
            (interval, step.number, at) for step in steps if step.model_id == model_id for at, interval in enumerate(step.reduces)
        )
        chosen = lanes(interval for interval, _, _ in reduces)
        found |= {(model_id, number, at): lane for (_, number, at), lane in zip(reduces, chosen, strict=True)}
    return found


def _text(tick: int | None) -> str:
    return "N/A" if tick is None else at_tick(tick)


def step_trace_json(log: DeviceLog) -> Iterator[str]:
    """The steps alone as a timeline."""
    process = Process("Step Trace", 0, f"NPU {log.run.device_id}", log.run.device_id)
    tracks = StepTracks(log, process)
    return document([*process.head(tracks.threads()), *tracks.events()])
