"""Uses of Horovod that no collective of the NPU stands for: each is told where it stands, and the import stays for them."""

from __future__ import annotations

import ast

import pytest

from tf2npu.config import Config
from tf2npu.convert import convert_source
from tf2npu.findings import Level

HVD = Config(distributed="horovod")
PROGRAM = """import tensorflow as tf
import horovod.tensorflow as hvd
hvd.init()
{}
opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.1))
"""
QUESTIONS = (
    "assert hvd.mpi_threads_supported()",
    "if hvd.nccl_built() and not hvd.mpi_built(): device = '/gpu:0'",
    "scale = hvd.local_size() if hvd.nccl_built() else 1",
    "is_built = hvd.gloo_built",
    "print(hvd.mpi_enabled(verbose=True))",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_about_libraries_is_told_and_keeps_the_import(question: str) -> None:
    result = convert_source(PROGRAM.format(question), "train.py", HVD)
    text = result.after.decode()
    asks = [
        name for name in ("mpi_threads_supported", "nccl_built", "mpi_built", "gloo_built", "mpi_enabled") if name in question
    ]
    assert all(f"hvd.{name}" in text for name in asks) and "import horovod.tensorflow as hvd" in text
    told = [f for f in result.findings if f.rule == "NPU406" and f.level is Level.MANUAL]
    assert [f.span.line for f in told] == [4] * len(asks) and all("write False" in f.message for f in told)
    kept = [f for f in result.findings if f.rule == "NPU401"]
    assert [f.level for f in kept] == [Level.MANUAL] and all(f"hvd.{name}" in kept[0].message for name in asks)
    compile(text, "train.py", "exec")
    assert convert_source(text, "train.py", HVD).after == result.after


def test_with_the_answer_written_in_its_place_nothing_of_horovod_is_left() -> None:
    first = convert_source(PROGRAM.format("scale = hvd.local_size() if hvd.nccl_built() else 1"), "train.py", HVD).after.decode()
    text = convert_source(first.replace("hvd.nccl_built()", "False"), "train.py", HVD).after.decode()
    assert "hvd" not in text and "horovod" not in text


def test_without_the_option_the_question_is_left_alone() -> None:
    text = PROGRAM.format("print(hvd.nccl_built())")
    result = convert_source(text, "train.py")
    assert "NPU406" not in {f.rule for f in result.findings}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("import horovod as h", "h = True  # the collectives of the NPU are always there"),
        ("import horovod as h#", "h = True#"),
        ("import horovod as h  # why", "h = True  # why"),
        ("import horovod as h; x = 1", "h = True; x = 1"),
        ("import horovod as h; x = 1  # why", "h = True; x = 1  # why"),
        ("from horovod import (tensorflow as h  # why\n    )", "h = True  # why"),
        ("from horovod import (tensorflow as h  # why\n    ); x = 1", "h = (True  # why\n); x = 1"),
    ],
)
def test_what_follows_a_guarded_import_on_its_line_stays(line: str, wanted: str) -> None:
    """Found by fuzzing: the comment of ours ran into what stood behind the import."""
    source = "try:\n    {}\nexcept ImportError:\n    h = None\n"
    result = convert_source(source.format(line), "m.py", Config(distributed="horovod"))
    assert result.after.decode() == source.format(wanted)


def test_comments_of_a_removed_import_hide_nothing() -> None:
    source = "import tensorflow as tf\ndef f():\n    from horovod import (tensorflow as h  # why\n    ); return 1\n"
    after = convert_source(source, "m.py", Config(distributed="horovod")).after.decode()
    assert ast.unparse(ast.parse(after).body[-1]) == "def f():\n    None\n    return 1"
    assert "# why" in after
