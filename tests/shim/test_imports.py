"""Every path of the package is importable, the star export is exact, and importing tells the user what it set."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

NPU = "npu_bridge.estimator.npu"
MODULES = {
    "npu_bridge": "",
    "npu_bridge.npu_init": "npu_config_proto",
    "npu_bridge.helper.helper": "get_gen_ops version",
    "npu_bridge.estimator.npu_ops": "dropout initialize_system shutdown_system NPUInit NPUShutdown LARS LARSV2 "
    "outfeed_enqueue_op outfeed_dequeue_op stop_outfeed_dequeue_op "
    "basic_lstm_cell adam_apply_one_assign adam_apply_one_with_decay_assign "
    "scatter_elements k_means_centroids npu_onnx_graph_op channel_get_next npu_test get_seed",
    "npu_bridge.estimator.npu_aicore_ops": "dropout_v3 dropout_v4 fast_gelu_v2 centralization prelu nonzero nonzerowithvalue "
    "layer_norm lru_cache_v2 prod_env_mat_a prodvirialsea prodforcesea tabulatefusion tabulatefusionsea npu_aicore_ops",
    "npu_bridge.estimator.npu_unary_ops": "npu_unary_ops",
    f"{NPU}.keras_to_npu": "model_to_npu_estimator",
    f"{NPU}.npu_callbacks": "NPUBroadcastGlobalVariablesCallback BroadcastGlobalVariablesCallbackImpl broadcast_global_variables",
    f"{NPU}.npu_common": "NPUBasics JobInfo JobConfig DeviceInfo",
    f"{NPU}.npu_config": "NPURunConfig ProfilingConfig DumpConfig MemoryConfig DynamicInputConfig ExperimentalConfig "
    "GraphMemoryOptimizeConfig NpuExecutePlacement set_npu_default_config decorator_tf_session",
    f"{NPU}.npu_dynamic_rnn": "DynamicRNN DynamicGRUV2 DynamicAUGRU DYNAMIC_RNN_UNIDIRECTION DYNAMIC_RNN_BIDIRECTION "
    "DYNAMIC_RNN_REDIRECTIONAL",
    f"{NPU}.npu_estimator": "NPUEstimator NPUEstimatorSpec",
    f"{NPU}.npu_hook": "NPUBroadcastGlobalVariablesHook NPUCheckpointSaverHook NPUOutputTensorHook SetIterationsVarHook "
    "TellMeStepOrLossHook NPUShutDownHook NPULogOutfeedSessionHook NPUInfeedOutfeedSessionHook broadcast_global_variables",
    f"{NPU}.npu_loss_scale_manager": "FixedLossScaleManager ExponentialUpdateLossScaleManager",
    f"{NPU}.npu_loss_scale_optimizer": "NPULossScaleOptimizer FixedLossScaleManager",
    f"{NPU}.npu_optimizer": "NPUDistributedOptimizer NPUOptimizer KerasDistributeOptimizer npu_distributed_optimizer_wrapper "
    "npu_allreduce allreduce reduce",
    f"{NPU}.npu_plugin": "npu_resource_init npu_resource_shutdown npu_close set_device_sat_mode is_inf_nan_enabled "
    "init_rdma_pool rdma_remote_register rdma_remote_init get_var_addr_and_size malloc_shared_memory "
    "get_rdma_cache check_graph_run_mode",
    f"{NPU}.npu_rnn": "npu_dynamic_rnn",
    f"{NPU}.npu_saver": "NPUSaver NPUBulkSaverBuilder",
    f"{NPU}.npu_scope": "without_npu_compile_scope npu_variable_scope keep_dtype_scope npu_stage_scope npu_mem_type_scope "
    "npu_weight_prefetch_scope op_specified_engine_scope npu_qos_label_scope subgraph_multi_dims_scope npu_optimizer_scope "
    "disable_autofuse limit_core_num_scope npu_recompute_scope npu_graph_slice_scope",
    f"{NPU}.npu_strategy": "NPUStrategy NPUExtended",
    f"{NPU}.util": "set_iteration_per_loop IterationPerLoop set_graph_exec_config variable_initializer_in_host npu_compile "
    "keep_tensors_dtypes get_ranksize global_dict_init set_value get_value check_not_none fair_division GradDivisionItem",
    f"{NPU}.npu_convert_dropout": "",
    "npu_bridge.hccl.hccl_ops": "allreduce allgather broadcast reduce reduce_scatter send receive all_to_all_v all_to_all_v_c "
    "gather_all_to_all_v remote_read remote_ref_read remote_write remote_scatter_write",
    "npu_bridge.tbe.npu_cube_ops": "deformable_conv2d",
    "npu_bridge.tbe.npu_vector_ops": "lamb_apply_optimizer_assign lamb_apply_weight_assign PReLU",
    "npu_bridge.image.image_ops": "decode_and_resize_jpeg decode_and_crop_and_resize_jpeg",
    "npu_bridge.npu_cpu.npu_cpu_ops": "embeddingrankid randomchoicewithmask dense_image_warp stateless_dropout dequeue",
    "npu_bridge.npu_cpu.lru_cache": "LruCache",
    "npu_bridge.profiler.profiler": "Profiler",
    "npu_bridge.scoped_graph_manager.scoped_graph_manager": "ScopedGraphManager",
    "npu_bridge.experimental.file_constant": "file_constant",
    "npu_bridge.experimental.get_shape": "getshape",
    "npu_bridge.experimental.hccl": "get_actual_rank_size get_user_rank_size get_user_rank_id",
    "npu_bridge.experimental.image": "decode_image",
    "npu_bridge._api.experimental": "",
    "npu_bridge.tf_adapter": "PluginInit PluginFinalize NpuClose map_string_string DT_FLOAT",
    "hccl.manage.api": "create_group destroy_group get_rank_size get_rank_id get_local_rank_size get_local_rank_id "
    "get_world_rank_from_group_rank get_group_rank_from_world_rank",
    "hccl.split.api": "set_split_strategy_by_idx set_split_strategy_by_size",
}
STAR = set(
    """os tf npu_ops npu_rnn npu_scope keras_to_npu npu_strategy util npu_plugin npu_cpu_ops hccl_ops profiler
    scoped_graph_manager config_pb2 rewriter_config_pb2 session session_run_hook backend npu_unary_ops NPURunConfig
    ProfilingConfig MemoryConfig DumpConfig DynamicInputConfig NPUEstimator NPUEstimatorSpec NPUCheckpointSaverHook
    NPUOutputTensorHook NPUBroadcastGlobalVariablesHook SetIterationsVarHook TellMeStepOrLossHook NPUDistributedOptimizer
    KerasDistributeOptimizer NPUOptimizer NPULossScaleOptimizer FixedLossScaleManager ExponentialUpdateLossScaleManager
    NPUBroadcastGlobalVariablesCallback NpuEmptyHook RewriterConfig decorator_tf_session npu_distributed_optimizer_wrapper
    npu_allreduce create_group destroy_group get_rank_size get_local_rank_size get_rank_id get_local_rank_id
    get_world_rank_from_group_rank get_group_rank_from_world_rank set_split_strategy_by_idx set_split_strategy_by_size
    npu_config_proto npu_graph_options npu_optimizer_options npu_run_config_init npu_hooks_append npu_callbacks_append
    set_keras_session_npu_config init_resource shutdown_resource close_session get_npu_rank_id get_npu_local_rank_id
    get_npu_rank_size get_npu_local_rank_size npu_keras_optimizer npu_tf_optimizer npu_clear_session
    experimental_options""".split()  # noqa: SIM905
)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_has_its_names(name):
    module = importlib.import_module(name)
    assert [wanted for wanted in MODULES[name].split() if not hasattr(module, wanted)] == []


def test_no_path_of_ours_that_upstream_has_not():
    """Converted code may use upstream's names only, so what is ours starts with an underscore."""
    import npu_bridge

    packages = {"npu_bridge.estimator", NPU, "npu_bridge.experimental"} | {m.rpartition(".")[0] for m in MODULES}
    found = {info.name for info in pkgutil.walk_packages(npu_bridge.__path__, "npu_bridge.")}
    public = {name for name in found if not any(part.startswith("_") for part in name.split("."))}
    assert public - set(MODULES) - packages == set()


def test_star_import_binds_exactly_what_scripts_expect():
    names: dict[str, object] = {}
    exec("from npu_bridge.npu_init import *", names)
    assert set(names) - {"__builtins__"} == STAR and len(STAR) == 71


GUIDE = """
from npu_bridge.npu_init import *
from npu_bridge.estimator import npu_ops
from npu_bridge.estimator.npu_ops import dropout as ops_dropout
from npu_bridge.estimator.npu_unary_ops import npu_unary_ops
from npu_bridge.estimator import npu_unary_ops as unary_module
from npu_bridge.estimator.npu.npu_config import NPURunConfig, ProfilingConfig, DumpConfig
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_estimator import NPUEstimator, NPUEstimatorSpec
from npu_bridge.estimator.npu.npu_optimizer import NPUDistributedOptimizer, NPUOptimizer, allreduce
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import NPULossScaleOptimizer
from npu_bridge.estimator.npu.npu_loss_scale_manager import FixedLossScaleManager, ExponentialUpdateLossScaleManager
from npu_bridge.estimator.npu.npu_hook import NPUBroadcastGlobalVariablesHook
from npu_bridge.estimator.npu import npu_convert_dropout, npu_scope, util
from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN
from npu_bridge.hccl import hccl_ops
from hccl.manage.api import get_rank_size, get_rank_id
from hccl.manage.api import create_group
from hccl.split.api import set_split_strategy_by_idx
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
from tensorflow.python.keras import backend as K
import npu_bridge
assert unary_module.npu_unary_ops.gelu is npu_unary_ops.gelu is npu_bridge.helper.get_gen_ops().gelu
assert ops_dropout is npu_ops.dropout
"""


@pytest.mark.whole
def test_import_statements_of_the_guides(fresh_python):
    fresh_python(GUIDE)


@pytest.mark.parametrize("statement", [line for line in GUIDE.splitlines() if "import" in line])
def test_each_import_statement_of_the_guides(statement):
    exec(statement, {})


LINE = r"^npu_bridge: set (.*); a real Ascend host needs them exported$"


def test_absent_environment_is_set_and_named_in_one_line(fresh_python):
    done = fresh_python(
        "import npu_bridge.npu_init, os; print(sorted(k for k in os.environ if k.endswith(('_ID', '_SIZE', '_INDEX'))))"
    )
    assert done.stdout == "['ASCEND_DEVICE_ID', 'DEVICE_ID', 'DEVICE_INDEX', 'JOB_ID', 'RANK_ID', 'RANK_SIZE']\n"
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("npu_bridge")]
    values = re.fullmatch(LINE, line).group(1)
    assert values == "JOB_ID=1 RANK_ID=0 RANK_SIZE=1 DEVICE_ID=0 ASCEND_DEVICE_ID=0 DEVICE_INDEX=0"


@pytest.mark.whole
def test_what_is_exported_stays(fresh_python):
    done = fresh_python(
        "import npu_bridge, os; print(os.environ['JOB_ID'], os.environ.get('RANK_SIZE'))", JOB_ID="77", CM_WORKER_SIZE="1"
    )
    assert done.stdout == "77 None\n"
    assert re.search(LINE, done.stderr, re.M).group(1) == "RANK_ID=0 DEVICE_ID=0 ASCEND_DEVICE_ID=0 DEVICE_INDEX=0"


@pytest.mark.whole
def test_nothing_is_said_when_nothing_is_set(fresh_python):
    names = ("JOB_ID", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "ASCEND_DEVICE_ID", "DEVICE_INDEX")
    done = fresh_python("import npu_bridge.npu_init", **dict.fromkeys(names, "0"))
    assert (done.stdout, done.stderr) == ("", "")


QUIET = """
import npu_bridge.npu_init
import tensorflow as tf
net = tf.layers.dropout(tf.layers.dense(tf.ones([2, 3]), 4))
net, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(3)]), net[None], dtype=tf.float32)
best = tf.argmax(net, dimension=1)
loss = tf.losses.mean_squared_error(tf.zeros_like(net), net)
step = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
with tf.train.MonitoredTrainingSession() as session:
    session.run(step)
"""


def test_no_noise_about_old_names(fresh_python):
    names = ("JOB_ID", "RANK_ID", "RANK_SIZE", "DEVICE_ID", "ASCEND_DEVICE_ID", "DEVICE_INDEX")
    done = fresh_python(QUIET, **{**dict.fromkeys(names, "0"), "RANK_SIZE": "1"})
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines() if "deprecat" in line.lower() or "WARNING" in line] == []


COST = """
import time
start = time.perf_counter()
import tensorflow
middle = time.perf_counter()
import npu_bridge.npu_init
print(f"{time.perf_counter() - middle:.2f} s over TensorFlow's own {middle - start:.2f} s")
"""


@pytest.mark.whole
def test_import_cost_is_recorded(fresh_python, record_property):
    record_property("figure", f"import npu_bridge.npu_init: {fresh_python(COST).stdout.strip()}")


def test_the_documentation_says_what_every_symbol_does():
    text = (Path(__file__).parents[2] / "docs" / "shim.md").read_text()
    wanted = {name for names in MODULES.values() for name in names.split()} | STAR
    modules = {name for name in STAR if not isinstance(vars(importlib.import_module("npu_bridge.npu_init"))[name], type)}
    modules = {name for name in modules if not callable(vars(importlib.import_module("npu_bridge.npu_init"))[name])}
    assert sorted(name for name in wanted - modules - {"RewriterConfig"} if not re.search(rf"\b{name}\b", text)) == []
