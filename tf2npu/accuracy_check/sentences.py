"""A check's sentences on a difference: where, what is off, why, the least change, what to do. Terminal and page say the same."""

from __future__ import annotations

import math

from npu_formats.documents.check_record import FirstDifference, LeastChange, Record, Run
from tf2npu.accuracy_check.number_format import amount_text, cosine_text, loss_text, share_text, special
from tf2npu.accuracy_check.verdicts import AGREES, DIFFERS, FAILED, cause_of, names_causes, verdict_of
from tf2npu.comparison.texts import Texts

MODES = {
    "must_keep_origin_dtype": "fp32", "allow_mix_precision": "mix precision", "allow_mix_precision_fp16": "mix precision fp16",
    "allow_mix_precision_bf16": "mix precision bf16", "allow_fp32_to_fp16": "fp32 to fp16",
    "allow_fp32_to_bf16": "fp32 to bf16",
}  # fmt: skip
"""Modes in fewer words; the others go by their names."""
CAUSES = {
    "conversion": "conversion", "kernel": "a kernel", "folding": "folding", "fusion": "fusion", "precision": "low precision",
    "overflow": "overflow mode", "randomness": "randomness",
}  # fmt: skip
"""Causes in the fewest words."""
ADVICE = {
    "conversion": "What the conversion changed makes the difference. Look at the line in the migration report, and keep "
    "the original's code there with a comment `# tf2npu: ignore[...]`.",
    "kernel": "An operator of the device computes something else than TensorFlow's. Report it with the node's inputs, which "
    "`tf2npu dump reference` writes; until then keep the operator on the host.",
    "folding": "What the device computes once, before the first step, differs. Switch constant folding off.",
    "fusion": "Operators that are fused compute something else than one by one. Switch the least change's passes off.",
    "precision": "16 bits are too few for these results. Keep them in float32, as the least change says, or use a loss scale "
    "where gradients become 0.",
    "overflow": "Results leave the range of 16 bits, and the chip cuts them at its largest number. Keep them in float32, lower "
    "the loss scale, or use the chip's mode in which they become infinite, so that the loss scale sees them.",
    "randomness": "Runs of the original are not the same among themselves. Give each source of randomness a seed, then "
    "check again.",
}  # fmt: skip
"""Advice by cause of a difference."""
ADVICE_PYTORCH = {
    "kernel": "An operator of the simulated device computes something else than PyTorch's on the CPU. Report it with the script.",
    "precision": "16 bits are too few for these results, or the device takes other operators into them than the CPU. Compare "
    "without torch.autocast, and keep in float32 what differs only with it.",
}  # fmt: skip
"""Advice for scripts of PyTorch, where it is another."""
ADVICE_MINDSPORE = {
    "kernel": "An operator of the simulated device computes something else than TensorFlow's on the CPU. Report it "
    "with the program.",
    "precision": "16 bits are too few for these results, or the chip cuts at its largest number what is infinite on the CPU. "
    'Compare with amp_level="O0", and keep in float32 what differs only in 16 bits.',
}
"""The same for programs of MindSpore."""
_ADVICE = {
    "TensorFlow": ADVICE, "PyTorch": {**ADVICE, **ADVICE_PYTORCH}, "MindSpore": {**ADVICE, **ADVICE_MINDSPORE},
}  # fmt: skip
OF_NODES = ("overflow", "nan", "absorbed", "underflow", "own", "amplifies", "data")
"""Kinds of a difference that begins in a node of a graph; the others begin in a training step."""
CHANGES = {
    "nodes": "{} in float32", "types": "operators {} in float32", "passes": "without {}", "rules": "without what {} changes",
}  # fmt: skip
"""A least change by the kind of its names."""
_SHOWN_NAMES = 2
"""Names of a least change in a sentence; check.json has all."""


def has_steps(record: Record) -> bool:
    """Whether training steps were compared, whose nodes are parameters, and not the nodes of a graph."""
    return record.framework != "TensorFlow"


def kernels(record: Record) -> str:
    """The framework on whose kernels the original ran."""
    return "PyTorch" if record.framework == "PyTorch" else "TensorFlow"


def label(record: Record, runs: list[Run], t: Texts) -> str:
    """The name of a run, or of several that stand in one row."""
    letters = ", ".join(run.run for run in runs)
    if record.framework == "MindSpore":
        return {"A": t("{} TensorFlow's CPU", letters), "A'": t("{} CPU again", letters), "C": t("{} device", letters)}[letters]
    mode = mode_name(runs[0].mode, t)
    names = {
        "A": t("{} original", letters), "A'": t("{} original again", letters), "B": t("{} migrated, CPU", letters),
        "C": t("{} device, unfused", letters), "D": t("{} device, fused", letters),
        "C, D": t("{} device fp32", letters), "E": f"{letters} {mode}",
        "F": t("{} {}, saturating", letters, mode),
    }  # fmt: skip
    return names.get(letters) or names[runs[0].run]


def mode_name(mode: str, t: Texts) -> str:
    """A precision mode in few words."""
    return t(MODES[mode]) if mode in MODES else mode or t("fp32")


def verdict(record: Record, run: Run, t: Texts) -> str:
    """The verdict on a run: its failure, its agreement, or its difference and the cause."""
    kind = verdict_of(run)
    if kind == FAILED:
        return t("failed: {}", run.failure.type if run.failure else "")
    if kind == AGREES:
        return _agrees(record, run, t)
    cause = cause_of(record, run)
    return t("{}: {}", _off(run, t), t(CAUSES[cause])) if cause in CAUSES else _off(run, t)


def _agrees(record: Record, run: Run, t: Texts) -> str:
    if not run.compared:
        return t("agrees")
    if has_steps(record):
        return t("agrees, {} of {} parameters", run.agreeing, run.compared)
    return t("agrees, {} of {} nodes", run.agreeing, run.compared)


def advice(record: Record, run: Run, t: Texts) -> str:
    """The advice on a run's difference; "" where no cause is known."""
    cause = cause_of(record, run)
    return t(_ADVICE[record.framework][cause]) if cause else ""


def _off(run: Run, t: Texts) -> str:
    wrong = [(step, value) for step, value in enumerate(run.loss) if value is not None and not math.isfinite(value)]
    if wrong:
        return t("loss is {} in step {}", special(wrong[0][1]), wrong[0][0])
    limit = run.tolerance or 0.0
    update_limit = limit if run.update_tolerance is None else run.update_tolerance
    if run.loss_error is not None and not run.loss_error <= limit:
        return t("differs by {}", share_text(run.loss_error))
    if run.update_error is not None and not run.update_error <= update_limit:
        return t("updates differ by {}", share_text(run.update_error))
    return t("differs")


def place(file: str, line: int) -> str:
    """`model.py:88`; "" where no line is known."""
    return f"{file}:{line}" if file and line else file


def operator(op: str, dtype: str = "") -> str:
    """`(MatMul, float16)`; "" where the operator is not known."""
    known = ", ".join(filter(None, (op, dtype)))
    return f"({known})" if known else ""


def what(first: FirstDifference, t: Texts) -> str:
    """The sentence on the kind of a difference."""
    if first.what not in OF_NODES:
        return t("step {}: {}", first.step, _of_step(first, t))
    dtype = _short(first.dtype) or t("16 bits")
    return {
        "overflow": lambda: _overflow(first, dtype, t),
        "nan": lambda: t("results are NaN, which no input is"),
        "absorbed": lambda: t("a sum in {} loses its smaller terms: {} off", dtype, share_text(first.own_error)),
        "underflow": lambda: t("results that are not 0 become 0 in {}", dtype),
        "own": lambda: t("makes something else of the same inputs: {} off", share_text(first.own_error)),
        "amplifies": lambda: t(
            "makes a small error large: {} becomes {}", share_text(first.input_error), share_text(first.error)
        ),
        "data": lambda: t("the script feeds other data than the original"),
    }[first.what]()


def _of_step(first: FirstDifference, t: Texts) -> str:
    """The sentence on a difference of a training step."""
    apart = share_text(first.error)
    return {
        "parameters": lambda: (
            t("the original trains it, and this run does not") if first.original
            else t("this run trains it, and the original does not")
        ),
        "start": lambda: t("begins with other values than in the original: {} off", apart),
        "mode": lambda: t("is in {} in the original, and in {} here", first.original, first.here),
        "forward": lambda: t("the loss is {} off, though all parameters are the same", apart),
        "gradient": lambda: t("its gradient is {} off, though the loss agrees", apart),
        "setting": lambda: t("is {} in the original, and {} here", first.original, first.here),
        "update": lambda: t("its update is {} off, though its gradient agrees", apart),
        "host": lambda: t("is trained on the CPU, as all others are: nothing is moved to the device"),
    }[first.what]()  # fmt: skip


def _overflow(first: FirstDifference, dtype: str, t: Texts) -> str:
    if first.largest is None:
        return t("results do not fit {}", dtype)
    largest = amount_text(first.largest)
    if first.limit is None:
        return t("results up to {} do not fit {}", largest, dtype)
    if math.isfinite(first.limit):
        return t("results up to {} do not fit {} and are cut at {}", largest, dtype, f"{first.limit:g}")
    return t("results up to {} do not fit {} and become infinite", largest, dtype)


def _short(dtype: str) -> str:
    return {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32"}.get(dtype, dtype)


def inputs(first: FirstDifference, run: Run, t: Texts) -> list[str]:
    """The sentences on the inputs, the longest first; empty where nothing is known of them, or `what` has said it."""
    if first.what in ("amplifies", "data") or first.what not in OF_NODES or (first.input_error is None and first.cosine is None):
        return []
    if first.input_error is not None and not first.input_error <= (run.tolerance or 0.0):
        return [t("inputs are {} off", share_text(first.input_error))]
    short = t("inputs agree")
    if first.cosine is not None:
        return [t("inputs agree (cosine {})", cosine_text(first.cosine)), short]
    return [t("inputs agree ({} off)", share_text(first.input_error)), short]


def names_of(change: LeastChange, t: Texts) -> str:
    """The first names, and how many more there are."""
    first = ", ".join(change.names[:_SHOWN_NAMES])
    more = len(change.names) - _SHOWN_NAMES
    return t("{} and {} more", first, more) if more > 0 else first


def change_head(change: LeastChange, names: str, t: Texts) -> str:
    """The change to make, by its names."""
    return t(CHANGES[change.kind], names)


def change_result(change: LeastChange, t: Texts) -> str:
    """The loss of the run with the change, and its error."""
    if not change.is_proven:
        return t("not run again yet")
    last = change.loss[-1] if change.loss else None
    if last is None:
        return t("{} off", share_text(change.loss_error))
    return t("loss {}, {} off", loss_text(last), share_text(change.loss_error))


def no_change(record: Record, run: Run, t: Texts) -> str:
    """The reason that there is no least change; "" where nobody expects one."""
    if verdict_of(run) != DIFFERS or run.least_change is not None or not names_causes(record):
        return ""
    return "" if record.is_complete else t("not found before the check was stopped")


def stopped(record: Record, t: Texts) -> str:
    """The reason that a check is not complete; "" where it is."""
    if record.is_complete:
        return ""
    if record.stopped == "budget":
        return t("The check was stopped by its budget: --budget gives it more time.")
    if record.stopped == "interrupted":
        return t("The check was interrupted: this is the verdict so far.")
    return t("The check is not complete: {}", record.stopped)
