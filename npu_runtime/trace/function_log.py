"""The functions of eager code in the run log: what ran on the device, what was traced too often, what stayed on TensorFlow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

MANY_SIGNATURES = 5
"""The fewest signatures of one function that are worth a line: two or three are a full batch, the last one, an evaluation."""
MOST_ROWS = 10
"""Rows of each table that the log shows; a report has all."""


@dataclass
class FunctionLog:
    """signatures: compiled, by function.  on_tensorflow: functions that TensorFlow runs as a whole, with the reason.
    calls, calls_on_tensorflow: by function.
    """

    signatures: Counter[str] = field(default_factory=Counter)
    on_tensorflow: dict[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    calls_on_tensorflow: Counter[str] = field(default_factory=Counter)

    def met(self, function: str, reason: str) -> None:
        """Note a signature that is new.  reason: why TensorFlow runs it, "" for a program of the device."""
        if reason:
            self.on_tensorflow[function] = reason
        else:
            self.signatures[function] += 1

    def lines(self, copies: Counter[str], operations: Counter[str]) -> list[str]:
        """Lines of the run log.  copies: of variables, "up" and "down".  operations: of eager code, by type."""
        if not self.calls and not self.calls_on_tensorflow:
            return []
        shown = [f"{name} {_calls(count)}" for name, count in self.calls.most_common(MOST_ROWS)]
        lines = [f"functions: {', '.join(shown) or 'none on the device'}" + _more(self.calls)]
        lines += [
            f"signatures: {name} was traced for {count}, and an NPU compiles for each: give it tensors instead of Python "
            "numbers, of few shapes, or an input_signature"
            for name, count in self.signatures.most_common() if count >= MANY_SIGNATURES
        ]  # fmt: skip
        lines += [
            f"on TensorFlow as a whole: {name} ({_calls(count)}): {self.on_tensorflow.get(name, '')}"
            for name, count in self.calls_on_tensorflow.most_common(MOST_ROWS)
        ]
        lines.append(f"variables: copied to the device {_times(copies['up'])}, and back for eager code {_times(copies['down'])}")
        if operations:
            told = ", ".join(f"{name} {count}" for name, count in operations.most_common(MOST_ROWS))
            lines.append(f"eager operations on the CPU: {sum(operations.values())}: {told}{_more(operations)}")
        return lines

    def document(self, copies: Counter[str], operations: Counter[str]) -> dict[str, Any]:
        """The same as data."""
        return {
            "functions": [
                {"name": name, "calls": count, "signatures": self.signatures[name]} for name, count in self.calls.most_common()
            ],
            "functions_on_tensorflow": [
                {"name": name, "calls": count, "reason": self.on_tensorflow.get(name, "")}
                for name, count in self.calls_on_tensorflow.most_common()
            ],
            "variable_copies": {"up": copies["up"], "down": copies["down"]},
            "eager_operations": dict(operations.most_common()),
        }


def _calls(n: int) -> str:
    return f"{n} call{'s' * (n != 1)}"


def _times(n: int) -> str:
    return f"{n} time{'s' * (n != 1)}"


def _more(table: Counter[str]) -> str:
    return f" and {len(table) - MOST_ROWS} more" if len(table) > MOST_ROWS else ""
