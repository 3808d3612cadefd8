"""A prediction or profile as lines for a terminal: the step, where its time goes, what would make it faster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npu_formats.documents.prediction import SHARES, Advice, Alternative, ChipStep, Document
from npu_formats.escape import visible
from tf2npu.prediction import figures
from tf2npu.prediction.operators import by_operator
from tf2npu.prediction.texts import Texts
from tf2npu.report.formats.as_text import Line

_MOST_OPERATORS = 10
"""Operators that are listed; the page has all."""
_MOST_NAME = 48
"""Characters of a name in a table: TensorFlow's names are long, and their ends tell them apart."""
_WIDE = ("\u1100", "\uffe6")  # from and to: characters in between take two columns of a terminal, such as Chinese ones
SHARE_NAMES = {
    "cube": "cube", "vector": "vector", "memory": "memory", "ai_cpu": "AI CPU", "launch": "launch", "host": "host",
    "waiting": "waiting",
}  # fmt: skip
"""Names of the parts of a step's time; each is a template of the catalogue."""
LIMIT_NAMES = {
    "compute": "computing", "calls": "starts of calls", "hccs": "links within a server", "roce": "links between servers",
}  # fmt: skip
"""Names of the limits of scaling; each is a template of the catalogue."""


def full(document: Document, t: Texts) -> Iterator[Line]:
    """All that is said of each chip, chip by chip."""
    explained: set[str] = set()
    for number, step in enumerate(document.steps):
        if number:
            yield Line("")
        yield from _of_chip(step, document, explained, t)


def _of_chip(step: ChipStep, document: Document, explained: set[str], t: Texts) -> Iterator[Line]:
    yield Line(headline(step, document, t), "bold")
    yield from map(Line, summary(step, document, t))
    if step.tasks:
        yield from _section(t("Operators that take most of the time:"), _operators(step, t))
    if step.advice:
        yield from _section(t("What would make it faster:"), _advice(step.advice, explained, t))
    if step.scaling:
        yield from _section(scaling_head(step, t), _scaling(step, t))
    if step.alternatives:
        yield from _section(t("Elsewhere:"), _alternatives(step, t))
    if step.notes:
        yield from _section(t("Notes:"), (f"  {visible(t.note(note))}" for note in step.notes))


def _section(head: str, lines: Iterator[str]) -> Iterator[Line]:
    yield from (Line(""), Line(head, "bold"))
    yield from map(Line, lines)


def headline(step: ChipStep, document: Document, t: Texts) -> str:
    """The headline of a step: its subject and its chip."""
    chip = visible(step.soc) if step.soc else t("an unknown chip")
    subject = visible(document.subject or "-")
    if document.origin == "profile":
        return t("{}: one step as it was measured on {}", subject, chip)
    return t("{}: one training step as predicted for {}", subject, chip)


def summary(step: ChipStep, document: Document, t: Texts) -> Iterator[str]:
    """Time, parts of the time, arithmetic and memory: a sentence each, of what is known."""
    if step.step_ms is not None:
        yield _time(step, document, t)
    if step.bounds_ms is not None:
        yield _bounds(step, t)
    if step.precision:
        yield t("Precision: {}.", visible(step.precision))
    shares = [(name, getattr(step.shares, name)) for name in SHARES]
    known = [t("{} {}", t(SHARE_NAMES[name]), figures.percent(share)) for name, share in shares if share is not None]
    if known:
        yield t("Where the time goes: {}.", ", ".join(known))
    if step.tflops is not None:
        yield _arithmetic(step, t)
    if step.memory_peak_bytes is not None:
        yield _memory(step, t)


def _time(step: ChipStep, document: Document, t: Texts) -> str:
    said = t("Step: {}", figures.ms(step.step_ms))
    if step.step_ms_range is not None:
        low, high = map(figures.ms, step.step_ms_range)
        of_steps = document.origin == "profile"
        said += t("; the steps take {} to {}", low, high) if of_steps else t(", by the model's own error {} to {}", low, high)
    if step.examples_per_s is not None:
        said += t("; {} examples a second", figures.number(step.examples_per_s))
    if step.batch is not None:
        said += t(" with a batch of {}", step.batch)
    return said + t(".")


def _bounds(step: ChipStep, t: Texts) -> str:
    """The two bounds of a step whose operators are called one by one, and the examples a second of both."""
    low, high = step.bounds_ms or (0.0, 0.0)
    said = t("Step: from {}, fused as a graph, to {}, each operator a task", figures.ms(low), figures.ms(high))
    if step.batch is not None and low:
        slow, fast = _rates(step.batch, low, high)
        said += t("; {} to {} examples a second with a batch of {}", slow, fast, step.batch)
    return said + t(". The host's part is not known: Python calls each operator, and a device that is faster waits for it.")


def _rates(batch: int, low: float, high: float) -> tuple[str, str]:
    """Examples a second of the slower and of the faster bound, both in milliseconds."""
    return figures.number(batch / high * 1e3), figures.number(batch / low * 1e3)


def time_of(other: Alternative) -> str:
    """The time of an alternative, or both bounds of it."""
    return " - ".join(map(figures.ms, other.bounds_ms)) if other.bounds_ms else figures.ms(other.step_ms)


def rate_of(other: Alternative) -> str:
    """The examples a second of an alternative, or those of both bounds."""
    if other.bounds_ms and other.batch is not None and other.bounds_ms[0]:
        return " - ".join(_rates(other.batch, *other.bounds_ms))
    return figures.number(other.examples_per_s)


def _arithmetic(step: ChipStep, t: Texts) -> str:
    said = t("Arithmetic: {} a step, {} TFLOPS", figures.flops(step.flops), figures.number(step.tflops))
    if step.utilisation is not None and step.chip.peak_tflops is not None:
        used, peak = figures.percent(step.utilisation), figures.number(step.chip.peak_tflops)
        said += t(", which is {} of the chip's {} TFLOPS", used, peak)
    return said + t(".")


def _memory(step: ChipStep, t: Texts) -> str:
    said = t("Memory: {} at its peak", figures.n_bytes(step.memory_peak_bytes))
    if step.hbm_bytes is not None:
        said += t(" of {}", figures.n_bytes(step.hbm_bytes))
    if step.largest_batch is not None:
        said += t("; the largest batch that fits is {}", step.largest_batch)
    return said + t(".")


def _operators(step: ChipStep, t: Texts) -> Iterator[str]:
    groups = by_operator(step.tasks)
    total = sum(group.exposed_us for group in groups) or 1.0
    head = (t("Time"), t("Share"), t("Tasks"), t("Operator"), t("Type"), t("Engine"), t("Bound by"), t("Source"))
    rows = [
        (
            figures.us(group.us), figures.percent(group.exposed_us / total), str(group.n_tasks), _short(group.first.name),
            visible(group.first.op_type), visible(group.first.engine), visible(group.first.bound), visible(group.first.source),
        )
        for group in groups[:_MOST_OPERATORS]
    ]  # fmt: skip
    return aligned([head, *rows], n_right=3)


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _MOST_NAME else f"...{shown[3 - _MOST_NAME :]}"


def _advice(advice: Sequence[Advice], explained: set[str], t: Texts) -> Iterator[str]:
    """Each advice; what a kind is about is said once."""
    for number, item in enumerate(advice, 1):
        saved = t(" (saves {})", figures.ms(item.saves_ms)) if item.saves_ms is not None else ""
        yield f"  {number}. {visible(t.title(item))}{saved}"
        yield from (f"     {line}" for line in advice_lines(item, t, with_reason=item.kind not in explained))
        explained.add(item.kind)


def advice_lines(item: Advice, t: Texts, *, with_reason: bool = True) -> Iterator[str]:
    """The lines of an advice: operators and source line, details, the reason and what to do."""
    where = [t.operators(item), t("at {}", visible(item.source)) if item.source else ""]
    if any(where):
        yield " ".join(filter(None, where))
    if details := t.details(item):
        yield "; ".join(details)
    if with_reason and (why := t.why(item)):
        yield why


def _alternatives(step: ChipStep, t: Texts) -> Iterator[str]:
    has_memory = any(other.memory_peak_bytes is not None for other in step.alternatives)
    head = (t("Step"), t("Examples a second"), t("Batch"), *([t("Memory")] if has_memory else []))
    rows = [
        (
            time_of(other), rate_of(other), figures.number(other.batch),
            *([figures.n_bytes(other.memory_peak_bytes)] if has_memory else []), visible(other.soc),
            visible(other.precision) or figures.UNKNOWN, loop(other.is_sunk, t),
        )
        for other in step.alternatives
    ]  # fmt: skip
    return aligned([(*head, t("Chip"), t("Precision"), t("Loop")), *rows], n_right=len(head))


def scaling_head(step: ChipStep, t: Texts) -> str:
    """The heading of the scaling: that of the script's collectives, or of such as a data-parallel script would have."""
    if step.scaling_is_projected:
        return t("On several devices, as if data-parallel (it has no collectives; each gradient is reduced where it is applied):")
    return t("On several devices:")


def limit(name: str, t: Texts) -> str:
    """The limit of the scaling; a word of a later version as it is."""
    return t(LIMIT_NAMES[name]) if name in LIMIT_NAMES else visible(name)


def _scaling(step: ChipStep, t: Texts) -> Iterator[str]:
    head = (
        t("Devices"), t("Servers"), t("Step"), t("Examples a second"), t("Efficiency"), t("Communication"), t("not hidden"),
        t("Limited by"),
    )  # fmt: skip
    rows = [
        (
            str(one.devices), figures.number(one.servers), figures.ms(one.step_ms), figures.number(one.examples_per_s),
            figures.percent(one.efficiency), figures.ms(one.communication_ms), figures.ms(one.exposed_ms), limit(one.limit, t),
        )
        for one in step.scaling
    ]  # fmt: skip
    return aligned([head, *rows], n_right=7)


def loop(is_sunk: bool, t: Texts) -> str:
    """The side on which the loop over steps runs: the device or the host."""
    return t("on the device") if is_sunk else t("on the host")


def aligned(rows: Sequence[Sequence[str]], n_right: int) -> Iterator[str]:
    """Rows of a table as lines; the first columns are numbers, which stand to the right."""
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        blanks = [" " * (most - width(cell)) for cell, most in zip(row, widths, strict=True)]
        pairs = zip(row, blanks, strict=True)
        cells = [blank + cell if n < n_right else cell + blank for n, (cell, blank) in enumerate(pairs)]
        yield f"  {'  '.join(cells)}".rstrip()


def width(text: str) -> int:
    """Columns of a terminal that a text takes."""
    return sum(2 if _WIDE[0] <= character <= _WIDE[1] else 1 for character in text)
