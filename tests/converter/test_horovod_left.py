"""Uses of Horovod that no collective of the NPU stands for: each is told where it stands, and the import stays for them."""

from __future__ import annotations

import ast

import pytest

from tf2npu.config import Config, Target
from tf2npu.engine.convert_file import ProjectFacts, convert_file, convert_source, gather_facts
from tf2npu.findings import FileResult, Level, Status

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


SETTINGS = (
    ("def f(): return hvd.Average\ng = lambda: hvd.Sum", "def f(): return None\ng = lambda: None", "op=f()"),
    ("c = (hvd.Compression.fp16  # why\n     if small else hvd.Compression.none)", "c = (None  # why\n)", "compression=c"),
    ("c = hvd.Compression.fp16 if small else hvd.Compression.none", "c = None", "compression=c"),
    ("c = hvd.Compression.fp16 if small else None", "c = None", "compression=c"),
    ("if small: c = hvd.Compression.fp16\nelse: c = hvd.Compression.none", "if small: c = None\nelse: c = None", "compression=c"),
    ("c = getattr(hvd.Compression, kind)", "c = None", "compression=c"),
    (
        "c = {'fp16': hvd.Compression.fp16, 'none': hvd.Compression.none}[kind]",
        "c = {'fp16': None, 'none': None}[kind]",
        "compression=c",
    ),
    ("self.op = hvd.Adasum if adasum else hvd.Average", "self.op = None", "op=self.op"),
    ("def f(op=hvd.Sum): return op\nx = f(hvd.Average)", "def f(op=None): return op\nx = f(None)", "op=x"),
    ("c = hvd.Compression.fp16\nlog(c)", "c = None\nlog(c)", "compression=c"),
)


@pytest.mark.parametrize(("before", "wanted", "argument"), SETTINGS)
def test_a_setting_that_is_kept_in_a_name_goes_and_the_result_needs_no_horovod(before: str, wanted: str, argument: str) -> None:
    """The argument went, and the line that made it kept an import on which the script stopped."""
    source = PROGRAM.format(before).replace("AdamOptimizer(0.1))", f"AdamOptimizer(0.1), {argument})")
    result = convert_source(source, "train.py", HVD)
    text = result.after.decode()
    assert wanted in text and "hvd" not in text and "horovod" not in text
    assert any(f.rule == "NPU404" and f.message.startswith(f"{argument} was removed") for f in result.findings)
    compile(text, "train.py", "exec")
    assert convert_source(text, "train.py", HVD).after == result.after


@pytest.mark.parametrize(
    "line",
    [
        "c = hvd.Compression.fp16\ng, context = c.compress(g)",
        "op = hvd.Average\nif op == hvd.Average: lr = 1",
        "op = hvd.Adasum\ng = hvd.allreduce(g, op=op)",
        "class Mine(hvd.Compression): pass",
        "g = hvd.alltoall(g, hvd.Compression.none)",
        "import functools\nf = functools.partial(hvd.DistributedOptimizer, compression=hvd.Compression.none)",
    ],
)
def test_a_setting_that_something_else_needs_stays_with_its_import(line: str) -> None:
    result = convert_source(PROGRAM.format(line), "train.py", HVD)
    text = result.after.decode()
    assert line in text and "import horovod.tensorflow as hvd\n" in text
    assert any(f.rule == "NPU408" and f.level is Level.UNSUPPORTED for f in result.findings)
    (told,) = [f for f in result.findings if f.rule == "NPU401"]
    assert told.level is Level.MANUAL and "On a host without Horovod it fails" in told.message


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ("g, op=hvd.Average", "npu_allreduce(g)"),
        ("g, op=hvd.Sum, name='g'", "npu_allreduce(g, reduction='sum')"),
        ("g, average=False, compression=hvd.Compression.none", "npu_allreduce(g, reduction='sum')"),
        ("tensor=g, compression=hvd.Compression.fp16, device_dense='/cpu:0'", "npu_allreduce(values=g)"),
    ],
)
def test_an_allreduce_with_a_reduction_or_compression(arguments: str, wanted: str) -> None:
    result = convert_source(PROGRAM.format(f"g = hvd.allreduce({arguments})"), "train.py", HVD)
    assert f"g = {wanted}\n" in result.after.decode() and "horovod" not in result.after.decode()
    levels = {f.level for f in result.findings if f.rule == "NPU405"}
    assert (Level.UNSUPPORTED in levels) == ("fp16" in arguments)


@pytest.mark.parametrize("arguments", ["g, True, op=hvd.Sum", "g, op=hvd.Adasum", "g, op=op", "g, True, '/cpu:0'"])
def test_an_allreduce_of_another_kind_stays(arguments: str) -> None:
    result = convert_source(PROGRAM.format(f"g = hvd.allreduce({arguments})"), "train.py", HVD)
    assert f"g = hvd.allreduce({arguments})\n" in result.after.decode()
    assert any(f.rule == "NPU405" and f.level is Level.UNSUPPORTED for f in result.findings)


@pytest.mark.parametrize(("used", "stays"), [("print(size(), abs(1))", False), ("print(size(), join())", True)])
def test_a_star_import_goes_with_the_last_name_that_comes_from_it(used: str, stays: bool) -> None:
    source = f"import tensorflow as tf\nfrom horovod.tensorflow import *\ninit()\n{used}\n"
    result = convert_source(source, "train.py", HVD)
    assert ("from horovod.tensorflow import *" in result.after.decode()) == stays
    (told,) = [f for f in result.findings if f.rule == "NPU401"]
    assert (": join." in told.message) == stays


def project_of(files: dict[str, str]) -> dict[str, FileResult]:
    project = ProjectFacts.merge([gather_facts(path, text.encode()) for path, text in files.items()])
    return {path: convert_file(path, text.encode(), HVD, project) for path, text in files.items()}


LENDER = "import horovod.tensorflow as hvd\n"
START = "hvd.init()\nprint(hvd.size())\n"


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("horovod.tensorflow", "allgather(x)"),
        ("horovod.tensorflow.mpi_ops", "allgather(x)"),
        ("horovod.tensorflow", "broadcast(x, 0)"),
        ("horovod.tensorflow", "broadcast_global_variables(0)"),
    ],
)
def test_a_function_whose_name_the_npu_has_too_is_no_longer_used(module: str, call: str) -> None:
    """`allgather(x)` becomes `hccl_ops.allgather(x, ...)`: that is another one, which no import of Horovod gives."""
    name = call.partition("(")[0]
    source = f"import tensorflow as tf\nfrom {module} import {name}\ny = {call}\n"
    result = convert_source(source, "train.py", HVD)
    text = result.after.decode()
    assert "horovod" not in text and f".{name}(" in text
    assert [f.level for f in result.findings if f.rule == "NPU401"] == [Level.FIXED]
    assert convert_source(text, "train.py", HVD).after.decode() == text


def test_a_function_that_is_called_and_handed_on_keeps_its_import() -> None:
    source = "import tensorflow as tf\nfrom horovod.tensorflow import allgather\ny = allgather(x)\nkeep(allgather)\n"
    result = convert_source(source, "train.py", HVD)
    assert "from horovod.tensorflow import allgather" in result.after.decode()
    assert [f.level for f in result.findings if f.rule == "NPU401"] == [Level.MANUAL]


@pytest.mark.parametrize("taken", ["from dist import hvd", "from dist import *"])
def test_a_name_that_another_file_takes_stays_in_the_place_of_the_import(taken: str) -> None:
    """The import went, and the other file stopped at its own."""
    files = {
        "dist.py": LENDER,
        "train.py": f"import tensorflow as tf\n{taken}\n{START}",
        "model.py": f"import tensorflow as tf\n{LENDER}{START}",
    }
    results = project_of(files)
    assert results["dist.py"].after.decode().startswith("hvd = True")
    (told,) = results["dist.py"].findings
    assert told.level is Level.FIXED and "train.py" in told.message
    assert taken in results["train.py"].after.decode() and "NPU401" not in {f.rule for f in results["train.py"].findings}
    assert "hvd" not in results["model.py"].after.decode()
    again = project_of({path: result.after.decode() for path, result in results.items()})
    assert all(again[path].after == result.after for path, result in results.items())


@pytest.mark.parametrize(
    ("taken", "use"), [("from dist import hvd", "hvd.join"), ("from dist import *", "hvd.join"), ("import dist", "dist.hvd.join")]
)
def test_a_use_that_stays_is_told_in_the_file_that_takes_the_name(taken: str, use: str) -> None:
    results = project_of({"dist.py": LENDER, "train.py": f"import tensorflow as tf\n{taken}\n{use}()\n"})
    (told,) = [f for f in results["train.py"].findings if f.rule == "NPU401"]
    assert told.level is Level.MANUAL and f": {use}." in told.message and told.span.line == 2


def test_a_tried_import_that_another_file_takes_stays_a_flag() -> None:
    lender = "try:\n    import horovod.tensorflow as hvd\nexcept ImportError:\n    hvd = None\n"
    train = f"import tensorflow as tf\nfrom dist import hvd\nif hvd is not None:\n    {START.splitlines()[0]}\n"
    results = project_of({"dist.py": lender, "train.py": train})
    assert "    hvd = True  # the collectives" in results["dist.py"].after.decode()
    assert "NPU401" not in {f.rule for f in results["train.py"].findings}
    stays = project_of({"dist.py": f"{lender}def f():\n    hvd.join()\n", "train.py": train})["dist.py"]
    (told,) = [f for f in stays.findings if f.rule == "NPU401"]
    assert "each rank trains alone" in told.message and b"import horovod.tensorflow as hvd" in stays.after


@pytest.mark.parametrize("mode", ["none", "horovod"])
def test_horovod_for_native_keras_goes_with_keras(mode: str) -> None:
    source = "import keras\nimport horovod.keras as hvd\nopt = hvd.DistributedOptimizer(keras.optimizers.Adam(1))\n"
    result = convert_source(source, "m.py", Config(distributed=mode))
    assert ("npu_distributed_optimizer_wrapper(keras" in result.after.decode()) == (mode == "horovod")
    assert "horovod.keras" not in result.after.decode()
    assert {f.level for f in result.findings if f.rule == "NPU303"} == {Level.FIXED}
    kept = convert_source(f"{source}keras.engine.no\n", "m.py", Config(distributed=mode))
    assert kept.after.decode() == f"{source}keras.engine.no\n"
    told = [f for f in kept.findings if f.rule == "NPU303" and f.span.line == 2]
    assert [f.level for f in told] == [Level.UNSUPPORTED] and "import horovod.tensorflow.keras" in told[0].message


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("score = hvd.allreduce(score, 'score')", "npu_allreduce(tf.constant(value, tf.float32))"),
        ("scores = hvd.allgather(score)", "hccl_ops.allgather(tf.constant(value)"),
        ("score = hvd.broadcast(score, 0)", "hccl_ops.broadcast([tf.constant(value)], root_rank)[0]"),
        ("f = hvd.broadcast_global_variables", "npu_hook.broadcast_global_variables(root_rank)"),
        ("hvd.broadcast_global_variables(0)  # in a file without a model", "npu_hook.broadcast_global_variables(root_rank)"),
    ],
)
def test_functions_for_keras_that_give_a_value_are_not_taken_for_ops(line: str, wanted: str) -> None:
    """They were made into ops that nobody runs; a name for the value was taken for the question whether to average."""
    source = f"import tensorflow as tf\nimport horovod.tensorflow.keras as hvd\n{line}\n"
    result = convert_source(source, "train.py", HVD)
    assert result.after.decode() == source
    told = [f.message for f in result.findings if f.rule in ("NPU405", "NPU407")]
    assert len(told) == 1 and wanted in told[0] and "get_session().run(" in told[0]


def test_a_broadcast_for_keras_is_run_as_it_was() -> None:
    source = (
        "import tensorflow.compat.v1 as tf1\nimport horovod.tensorflow.keras as hvd\nm = tf1.keras.Model()\n"
        "hvd.broadcast_global_variables(0)\n"
    )
    text = convert_source(source, "train.py", HVD).after.decode()
    assert text.endswith("tf1.keras.backend.get_session().run(npu_hook.broadcast_global_variables(0))\n")
    assert convert_source(text, "train.py", HVD).after.decode() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if use:\n    import horovod.tensorflow as hvd\nn = hvd.size() if use else 1", "n = get_npu_rank_size() if use else 1"),
        ("if use:\n    from horovod.tensorflow import rank, size as n_ranks\nn = rank()", "n = get_npu_rank_id()"),
    ],
)
def test_an_import_under_a_condition_that_nobody_asks_for_goes(before: str, after: str) -> None:
    """It became a flag, which says nothing where no code asks whether it is there."""
    text = convert_source(f"import tensorflow as tf\n{before}\n", "m.py", HVD).after.decode()
    assert text.endswith(f"if use:\n    pass\n{after}\n")


def test_several_names_of_a_tried_import_become_flags() -> None:
    source = "try:\n    from horovod.tensorflow import rank, size\nexcept ImportError:\n    rank = None\nif rank:\n    pass\n"
    text = convert_source(source, "m.py", HVD).after.decode()
    assert "    rank = size = True  # the collectives" in text


HANDED_ON = {
    "run.py": """import tensorflow as tf
import optimization
def main(use):
    if use:
        import horovod.tensorflow as hvd
        hvd.init()
    return optimization.create(0.1, hvd if use else None)
""",
    "optimization.py": """import tensorflow as tf
def create(lr, hvd=None, small=False):
    opt = tf.train.AdamOptimizer(lr)
    if hvd is not None and hvd.size() > 1:
        from horovod.tensorflow.compression import Compression
        opt = hvd.DistributedOptimizer(opt, compression=Compression.fp16 if small else Compression.none)
    return opt
""",
}


def test_horovod_that_is_handed_to_a_function_is_known_by_its_name_and_uses() -> None:
    results = project_of(HANDED_ON)
    text = results["optimization.py"].after.decode()
    assert "if hvd is not None and get_npu_rank_size() > 1:\n        opt = npu_distributed_optimizer_wrapper(opt)\n" in text
    assert "horovod" not in text
    (told,) = [f for f in results["run.py"].findings if f.rule == "NPU401"]
    assert told.level is Level.MANUAL and "hvd = True" in told.message
    assert "import horovod.tensorflow as hvd" in results["run.py"].after.decode()


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\ndef f(lib, opt):\n    return lib.DistributedOptimizer(opt)\n",
        "import tensorflow as tf\nimport byteps.tensorflow as hvd\nopt = hvd.DistributedOptimizer(opt)\n",
    ],
)
def test_what_may_be_something_else_is_not_taken_for_horovod(source: str) -> None:
    assert convert_source(source, "m.py", HVD).after.decode() == source


@pytest.mark.parametrize("function", ["allreduce(x)", "broadcast(x, 0)", "broadcast_global_variables(0)"])
def test_a_collective_of_horovod_that_is_handed_in_may_be_that_for_keras(function: str) -> None:
    source = f"import tensorflow as tf\ndef f(hvd, x):\n    n = hvd.size()\n    return hvd.{function}\n"
    result = convert_source(source, "m.py", HVD)
    assert f"    n = get_npu_rank_size()\n    return hvd.{function}\n" in result.after.decode()
    assert [f.level for f in result.findings if f.rule in ("NPU405", "NPU407")] == [Level.MANUAL]


def test_names_from_the_modules_in_which_horovod_defines_them() -> None:
    source = (
        "import tensorflow as tf\nfrom horovod.tensorflow.mpi_ops import rank, size as n\n"
        "from horovod.tensorflow import mpi_ops\nprint(rank(), n(), mpi_ops.local_rank())\n"
    )
    text = convert_source(source, "m.py", HVD).after.decode()
    assert "horovod" not in text and "print(get_npu_rank_id(), get_npu_rank_size(), get_npu_local_rank_id())" in text


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("def f():\n    hvd.init(#one\n        (#two\n        ))\n", "#one\n    #two\n"),
        ("def f():\n    x = 1; hvd.init(# why\n    )\n", "    x = 1; hvd.init(# why\n    )\n"),
    ],
)
@pytest.mark.parametrize("adapter", ["current", "2021"])
def test_comments_of_a_start_that_stands_for_itself(before: str, wanted: str, adapter: str) -> None:
    """Found by fuzzing: statements in the place of the call stood in the parentheses of its comments."""
    config = Config(distributed="horovod", target=Target(adapter=adapter))
    result = convert_source(f"import tensorflow as tf\nimport horovod.tensorflow as hvd\n{before}", "m.py", config)
    assert wanted in result.after.decode() and result.status is not Status.FAILED
    compile(result.after, "m.py", "exec")


def test_a_removed_argument_is_told_on_one_line() -> None:
    source = PROGRAM.format("x = 1").replace("(0.1))", "(0.1), compression=(hvd.Compression.fp16\n    if x else y))")
    told = [f.message for f in convert_source(source, "m.py", HVD).findings if f.rule == "NPU404"]
    assert any(message.startswith("compression=(hvd.Compression.fp16 if x else y) was removed") for message in told)


def test_a_name_for_the_optimizer_or_a_hook_goes_with_its_calls() -> None:
    """The calls were converted, and the line that gave the name kept the import."""
    before = "Hook = hvd.BroadcastGlobalVariablesHook\nh = Hook(0)\nwrap = hvd.DistributedOptimizer\nopt = wrap(opt, name='o')"
    result = convert_source(PROGRAM.format(before), "train.py", HVD)
    text = result.after.decode()
    assert "Hook = NPUBroadcastGlobalVariablesHook\nh = NPUBroadcastGlobalVariablesHook(0, " in text and "hvd" not in text
    assert "wrap = npu_distributed_optimizer_wrapper\nopt = npu_distributed_optimizer_wrapper(opt)\n" in text
    assert convert_source(text, "train.py", HVD).after == result.after


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("wrap = hvd.DistributedOptimizer\nopt = wrap(opt, **kw)", "npu_distributed_optimizer_wrapper"),
        ("wrap = hvd.DistributedOptimizer\nf(wrap)", "npu_distributed_optimizer_wrapper"),
        ("f(hvd.DistributedOptimizer)", "npu_distributed_optimizer_wrapper"),
        ("class H(hvd.BroadcastGlobalVariablesHook): pass", "NPUBroadcastGlobalVariablesHook"),
        ("H = hvd.BroadcastGlobalVariablesHook if x else Mine", "NPUBroadcastGlobalVariablesHook"),
    ],
)
def test_an_optimizer_or_hook_that_is_called_elsewhere_is_told(line: str, symbol: str) -> None:
    result = convert_source(PROGRAM.format(line), "train.py", HVD)
    assert line in result.after.decode() and "import horovod.tensorflow as hvd" in result.after.decode()
    told = [f for f in result.findings if f.rule == "NPU404" and f.level is Level.MANUAL and symbol in f.message]
    assert told


def test_whoever_only_asks_for_the_hook_is_left_alone() -> None:
    source = PROGRAM.format("ok = isinstance(h, hvd.BroadcastGlobalVariablesHook)")
    result = convert_source(source, "train.py", HVD)
    assert [f for f in result.findings if f.rule == "NPU404" and f.span.line == 4] == []
    assert "import horovod.tensorflow as hvd" in result.after.decode()


def test_what_an_object_keeps_of_horovod_is_that_of_the_import_of_its_file() -> None:
    source = (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\nclass T:\n    def __init__(self):\n        self.hvd = hvd\n"
        "    def f(self, hvd, g):\n        return self.hvd.allreduce(g), hvd.allreduce(g), hvd.size()\n"
    )
    text = convert_source(source, "m.py", HVD).after.decode()
    assert "return npu_allreduce(g), npu_allreduce(g), get_npu_rank_size()" in text


UNSAFE = Config(distributed="horovod", unsafe_fixes=True)


def test_with_unsafe_fixes_a_question_about_libraries_gets_its_answer() -> None:
    line = "scale = hvd.local_size() if hvd.nccl_built() or not hvd.mpi_enabled() else 1"
    text = convert_source(PROGRAM.format(line), "train.py", UNSAFE).after.decode()
    assert "scale = get_npu_local_rank_size() if False or not False else 1\n" in text and "horovod" not in text


@pytest.mark.parametrize("line", ["assert hvd.mpi_built()", "ok = hvd.mpi_threads_supported()", "ask = hvd.nccl_built"])
def test_no_answer_makes_a_program_stop(line: str) -> None:
    result = convert_source(PROGRAM.format(line), "train.py", UNSAFE)
    assert line in result.after.decode()
    assert [f.level for f in result.findings if f.rule == "NPU406"] == [Level.MANUAL]


def test_a_star_import_that_the_conversion_adds_says_nothing_about_horovod() -> None:
    """Found by fuzzing: what was left alone the first time was converted the second time."""
    config = Config(distributed="horovod", import_style="star")
    source = (
        "import tensorflow as tf\ndef f(hvd, opt):\n    hvd.DistributedOptimizer(opt)\n"
        "    return hvd.broadcast_global_variables(0)\n"
    )
    text = convert_source(source, "m.py", config).after
    assert b"from npu_bridge.npu_init import *" in text and b"return hvd.broadcast_global_variables(0)" in text
    assert convert_source(text, "m.py", config).after == text


def test_a_name_that_nothing_binds_is_not_taken_for_horovod() -> None:
    source = "import tensorflow as tf\nopt = hvd.DistributedOptimizer(opt)\nprint(hvd.rank())\n"
    assert convert_source(source, "m.py", HVD).after.decode() == source


def test_a_start_and_an_end_in_a_guard_leave_nothing_behind() -> None:
    source = (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\nif __name__ == '__main__':\n    hvd.init()\n"
        "    print(hvd.rank())\n    hvd.shutdown()\n    print(1)\n"
    )
    text = convert_source(source, "m.py", HVD).after.decode()
    assert "    try:\n        print(get_npu_rank_id())\n        print(1)\n    finally:\n" in text
    assert convert_source(text, "m.py", HVD).after.decode() == text


def test_a_generator_beside_the_index_gets_parentheses() -> None:
    """Found by a property test: the result did not parse, and the file stayed as it was."""
    source = "import tensorflow as tf\nimport horovod.tensorflow as hvd\nh = hvd.BroadcastGlobalVariablesHook(x for x in r)\n"
    text = convert_source(source, "m.py", HVD).after.decode()
    assert "h = NPUBroadcastGlobalVariablesHook((x for x in r), index=get_npu_rank_id())\n" in text


def test_a_module_that_is_handed_on_without_a_name_of_its_own_is_told_as_that() -> None:
    text = "import tensorflow as tf\nimport horovod.tensorflow\nclass X(object):\n    pass\nX.hvd = horovod.tensorflow\n"
    (finding,) = [f for f in convert_source(text, "train.py", HVD).findings if f.rule == "NPU401"]
    assert finding.message.startswith("The import stays, because horovod.tensorflow is handed on.")
    assert "write None where the module is handed on" in finding.message and "= True" not in finding.message


def test_a_use_of_such_a_module_is_told_as_a_use() -> None:
    text = "import tensorflow as tf\nimport horovod.tensorflow\nprint(horovod.tensorflow.nccl_built())\n"
    (finding,) = [f for f in convert_source(text, "train.py", HVD).findings if f.rule == "NPU401"]
    assert "because this still needs it: horovod.tensorflow.nccl_built" in finding.message
