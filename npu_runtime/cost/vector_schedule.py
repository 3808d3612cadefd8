from dataclasses import dataclass
@dataclass(frozen=True)
class VectorSchedule:
    axis: int = 0
