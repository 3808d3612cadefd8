"""Questions about where variables are, for tests and benchmarks."""

from __future__ import annotations

from npu_device._execution.install import session

from npu_runtime.session.function_program import FunctionProgram


def counters() -> dict[str, int]:
    """Copies of variables so far, "up" to the device and "down" to TensorFlow."""
    opened = session()
    copies = opened.residency.copies if opened is not None else {}
    return {name: copies.get(name, 0) for name in ("up", "down")}


def poison_copies() -> None:
    """Fill TensorFlow's copies of what a program has written with NaN behind each program, so that a read of one shows."""
    behind = FunctionProgram._behind

    def poisoned(program: FunctionProgram) -> None:
        behind(program)
        for variable in program._written:
            variable.poison()

    setattr(FunctionProgram, "_behind", poisoned)  # noqa: B010  mypy knows the method
