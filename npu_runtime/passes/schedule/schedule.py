"""The result of compilation that the executor builds a program from: order, overlap, memory and streams of the steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from npu_runtime.graph.ops import HostCall, Item
from npu_runtime.passes.place.partition import Partition
from npu_runtime.passes.schedule.assign_streams import StreamPlan
from npu_runtime.passes.schedule.plan_memory import MemoryPlan


@dataclass
class Schedule:
    """parts: segments and liveness of every node.  order: the steps.  ends: by name of a step that runs beside others, the
    position before which it has ended.  memory: the places of values in the arena.  streams: what the device would launch where.
    bodies: the schedules of the loops among the steps, by node name; their values are not planned, as a stack or the next
    iteration may keep them.
    """

    parts: Partition = field(default_factory=Partition)
    order: list[Item] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    memory: MemoryPlan = field(default_factory=MemoryPlan)
    streams: StreamPlan = field(default_factory=StreamPlan)
    bodies: dict[str, Schedule] = field(default_factory=dict)

    def text(self) -> str:
        """The schedule for people to read: a step a line, with what it runs beside, then places in the arena."""
        lines = [f"{position}: {_name(item)}{self._beside(item)}" for position, item in enumerate(self.order)]
        for name, body in self.bodies.items():
            lines += ["", f"iteration of {name}", *("    " + line for line in body.text().splitlines())]
        lines += ["", *(f"{value} at byte {offset}" for value, offset in self.memory.offsets_bytes.items())]
        return "\n".join([*lines, f"arena: {self.memory.arena_bytes} bytes"]) + "\n"

    def _beside(self, item: Item) -> str:
        end = None if isinstance(item, HostCall) else self.ends.get(item.name)
        return "" if end is None else f"  # runs beside the next steps, ends before {end}"


def _name(item: Item) -> str:
    return f"host call of {', '.join(item.nodes)}" if isinstance(item, HostCall) else item.name
