"""The code that findings carry for a person: Python, made of what stands there, and a fix only where it replaces the place."""

from __future__ import annotations

import ast
from functools import lru_cache

import pytest

from tests.converter.test_rule_examples import CASES, converted
from tf2npu.config import Config
from tf2npu.engine.convert_file import convert_source
from tf2npu.findings import FileResult, Finding, Level
from tf2npu.report.formats import as_json, as_sarif
from tf2npu.report.formats.fixes import Fixes
from tf2npu.report.model.build import build
from tf2npu.report.model.report import Lines

WORK = (Level.MANUAL, Level.UNSUPPORTED)
TF = "import tensorflow as tf\n"
INTEGER = "tf.flags.DEFINE_integer('pool_size', 50, 'n')"
KEEP = (
    "keep = tf.reshape({mask}, tf.concat([tf.shape({mask}), tf.ones_like(tf.shape(x)[tf.rank({mask}):])], 0))  # x's rank\n"
    "kept = tf.where(tf.broadcast_to(keep, tf.shape(x)), x, tf.zeros_like(x))"
)
# Source below the import, the rule, and the code that a person writes.
WRITTEN = [
    ("y = tf.boolean_mask(x, m)", "NPU921", KEEP.format(mask="m")),
    ("y = tf.boolean_mask(x, n > 3)", "NPU921", f"keep = n > 3\n{KEEP.format(mask='keep')}"),
    ("y = tf.boolean_mask(f(z), m)", "NPU921", f"values = f(z)\n{KEEP.format(mask='m').replace('x', 'values')}"),
    ("from tensorflow.python.ops import array_ops\ni = array_ops.where(a > b)", "NPU921",
     "tf.where(a > b, x, tf.zeros_like(x))  # x: what is taken from these places"),
    ("y = tf.contrib.tpu.cross_replica_sum(x + 1)", "NPU943",
     "hccl_ops.allreduce(x + 1, 'sum')  # from npu_bridge.npu_init import hccl_ops"),
    ("c = tf.contrib.tpu.RunConfig(save_checkpoints_steps=9 if get_rank_id() == 0 else None)", "NPU929",
     "save_checkpoints_steps=9 if get_rank_id() == 0 else 0"),
    ("n = None if get_rank_id() > 0 else 9\nc = tf.contrib.tpu.RunConfig(save_checkpoints_steps=n)", "NPU929",
     "n = 0 if get_rank_id() > 0 else 9"),
    ("from tensorflow.core.protobuf import rewriter_config_pb2 as pb\nc = tf.ConfigProto()\n"
     "c.graph_options.rewrite_options.remapping = pb.RewriterConfig.ON", "NPU712",
     "c.graph_options.rewrite_options.remapping = pb.RewriterConfig.OFF"),
    ("if names.has_key('a'):\n    tf.ones(1)", "NPU962", "'a' in names"),
    ("q = tf.contrib.slim.prefetch_queue.prefetch_queue(batch, capacity=2 * n)", "NPU924", "dataset = dataset.prefetch(2 * n)"),
    ("p = tf.contrib.slim.dataset_data_provider.DatasetDataProvider(dataset=d, shuffle=True, **kw)", "NPU924",
     "dataset = tf.data.TFRecordDataset(d.data_sources).map(parse)"),
    ("n, b = tf.contrib.training.bucket_by_sequence_length(n, t, 8, bounds)", "NPU924",
     "dataset = dataset.apply(tf.data.experimental.bucket_by_sequence_length(length, bounds, [8] * (len(bounds) + 1), "
     "drop_remainder=True))  # length: gives that of an example"),
    ("r = tf.train.QueueRunner(q, [op])", "NPU911", "dataset = dataset.prefetch(tf.data.experimental.AUTOTUNE)"),
    ("i = tf.image.non_max_suppression(b, s, 9,)", "NPU921",
     "selected, n_selected = tf.image.non_max_suppression_padded(b, s, 9, pad_to_max_output_size=True)"),
    ("o = tf.train.experimental.enable_mixed_precision_graph_rewrite(opt, 128)", "NPU507",
     "NPULossScaleOptimizer(opt, FixedLossScaleManager(loss_scale=128))"),
    ("for i in xrange(3):\n    print(tf.ones(i))", "NPU962", "range"),
    ("x = tf.placeholder(tf.float64)", "NPU920", "tf.float32"),
    ("tf.flags.DEFINE_float('pool_size', 50, 'n')", "NPU969", INTEGER),
    ("from keras.layers import Dense as D\nfrom keras.engine import no", "NPU303",
     "from tensorflow.keras.layers import Dense as D"),
    ("import horovod.tensorflow as hvd\nprint(hvd.size(), hvd.rank())", "NPU401",
     "from npu_bridge.npu_init import get_npu_rank_id, get_npu_rank_size"),
]  # fmt: skip
# Source for which no code can be told: what stands there would be made twice, or is not seen.
NOT_TOLD = [
    ("y = tf.boolean_mask(keep, m)", "NPU921"),
    ("y = tf.tpu.cross_replica_sum(x, groups)", "NPU943"),
    ("q = tf.PriorityQueue(9, [tf.int32], [[]])", "NPU924"),
    ("c = tf.ConfigProto()\nc.graph_options.rewrite_options.remapping = flag", "NPU712"),
    ("y = tf.boolean_mask(x, m, axis=1)", "NPU921"),
    ("y = tf.boolean_mask(*args)", "NPU921"),
    ("i = tf.image.non_max_suppression(b, s, 9, 0.5, 0.1, 'name')", "NPU921"),
    ("from keras.backend.tensorflow_backend import not_there", "NPU303"),
    ("from tensorflow import boolean_mask\ny = boolean_mask(x, m)", "NPU921"),
    ("range = my_range\nfor i in xrange(3):\n    print(tf.ones(i))", "NPU962"),
]


def work(source: str, rule: str = "", config: Config | None = None) -> list[Finding]:
    found = convert_source(source, "m.py", config or Config()).findings
    return [f for f in found if (f.level in WORK or f.after) and f.level is not Level.FIXED and rule in ("", f.rule)]


@lru_cache(maxsize=1)
def of_examples() -> list[tuple[FileResult, Finding]]:
    """Each finding with code that an example of a rule gives, with the result it is part of."""
    found = []
    for case in CASES:
        _, example = case.values
        result = converted(example)
        found += [(result, finding) for finding in result.findings if finding.level is not Level.FIXED and finding.after]
    return found


@pytest.mark.parametrize(("source", "rule", "code"), WRITTEN, ids=[f"{rule}-{n}" for n, (_, rule, _) in enumerate(WRITTEN)])
def test_the_code_is_made_of_what_stands_there(source: str, rule: str, code: str) -> None:
    assert [finding.after for finding in work(TF + source, rule)] == [code]


@pytest.mark.parametrize(("source", "rule"), NOT_TOLD)
def test_no_code_is_told_where_it_might_be_wrong(source: str, rule: str) -> None:
    source = TF + source if not source.startswith("from tensorflow") else source
    found = [f for f in convert_source(source, "m.py").findings if f.rule == rule and f.level is not Level.FIXED]
    assert found and {finding.after for finding in found} == {""}


def test_all_code_is_python() -> None:
    assert len(of_examples()) > 30
    for _, finding in of_examples():
        ast.parse(finding.after)
        assert finding.after != finding.before


def test_code_that_replaces_its_place_leaves_the_rule_nothing_to_say_there() -> None:
    replacing = [(result, finding) for result, finding in of_examples() if finding.replaces]
    assert {finding.rule for _, finding in replacing} >= {"NPU962", "NPU969"}
    for result, finding in replacing:
        text = Lines(result.before.decode())
        span = finding.span
        start, end = text.offset(span.line, span.column), text.offset(span.end_line, span.end_column)
        after = f"{text.text[:start]}{finding.after}{text.text[end:]}"
        assert finding.span not in {again.span for again in work(after, finding.rule)}, after


def test_only_code_that_replaces_its_place_is_a_fix_for_editors() -> None:
    source = TF + "tf.flags.DEFINE_float('pool_size', 50, 'n')\ny = tf.boolean_mask(x, m)\n"
    report = build([convert_source(source, "m.py")])
    (file,) = report.files
    fixes = {f.rule: Fixes(file).of(f) for f in file.findings if f.level is not Level.FIXED}
    assert fixes["NPU921"] == [] and [change.new for change in fixes["NPU969"]] == [INTEGER]
    assert "tf.broadcast_to" not in as_sarif.render(report), "an editor would put it in the place"
    again = as_json.load(as_json.render(report))
    assert [f for _, f in again.findings()] == [f for _, f in report.findings()]
