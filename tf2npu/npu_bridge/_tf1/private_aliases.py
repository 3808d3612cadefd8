"""Names that TF 1.15's own modules had and old code imports from there, with the place they moved to."""

from __future__ import annotations

from importlib import import_module

from npu_bridge._tf1.journal import Journal

# module : names : where they are in TensorFlow 2.15
MOVED_NAMES = (
    ("framework.common_shapes", "unknown_shape", "framework.tensor_shape"),
    ("framework.graph_util", "convert_variables_to_constants", "framework.convert_to_constants"),
    ("framework.graph_util_impl", "convert_variables_to_constants", "framework.convert_to_constants"),
    ("framework.ops", "enable_tensor_equality disable_tensor_equality", "framework.tensor"),
    ("framework.ops", "convert_to_tensor_v2", "framework.tensor_conversion"),
    ("framework.ops", "register_tensor_conversion_function", "framework.tensor_conversion_registry"),
    ("framework.ops", "default_session", "framework.stack"),
    (
        "framework.ops",
        "IndexedSlices IndexedSlicesValue convert_to_tensor_or_indexed_slices convert_n_to_tensor_or_indexed_slices"
        " internal_convert_to_tensor_or_indexed_slices internal_convert_n_to_tensor_or_indexed_slices",
        "framework.indexed_slices",
    ),
    ("framework.tensor_util", "shape_tensor maybe_set_static_shape", "ops.shape_util"),
    ("ops.array_ops", "stack unstack", "ops.array_ops_stack"),
    ("ops.control_flow_ops", "Assert", "ops.control_flow_assert"),
    ("ops.control_flow_ops", "cond cond_for_tf_v2", "ops.cond"),
    ("ops.control_flow_ops", "while_loop while_loop_v2", "ops.while_loop"),
    ("ops.control_flow_ops", "case case_v2", "ops.control_flow_case"),
    ("ops.control_flow_ops", "switch_case", "ops.control_flow_switch_case"),
    ("ops.math_ops", "bessel_i0e bessel_i1e", "ops.special_math_ops"),
    ("ops.math_ops", "bincount_v1", "ops.bincount_ops"),
    ("ops.random_ops", "random_crop", "ops.random_crop_ops"),
    ("ops.variables", "default_variable_creator RefVariable", "ops.ref_variable"),
    ("ops.variables", "VariableV1 is_variable_initialized", "ops.variable_v1"),
    ("pywrap_tensorflow", "NewCheckpointReader", "training.py_checkpoint_reader"),
    (
        "saved_model.utils_impl",
        "get_assets_dir get_or_create_assets_dir get_or_create_variables_dir get_variables_dir get_variables_path",
        "saved_model.path_helpers",
    ),
    (
        "summary",
        "FileWriter FileWriterCache Summary SummaryDescription audio get_summary_description histogram"
        " image merge merge_all scalar tensor_summary text",
        "summary.summary",
    ),
)
# module : name in TF 1.15 : module and name in TensorFlow 2.15
RENAMED = (
    ("util.nest", "is_sequence", "util.nest", "is_nested"),
    ("data.util.nest", "is_sequence", "data.util.nest", "is_nested"),
    ("ops.variable_scope", "variable", "ops.variable_v1", "VariableV1"),
)
FROM_OTHER_PACKAGES = (
    ("util.tf_export", "estimator_export", "tensorflow_estimator.python.estimator.estimator_export"),
    ("framework.tensor_shape", "scalar vector matrix", "npu_bridge._tf1.shape_functions"),
)
"""Names as in MOVED_NAMES, with the whole name of the module that has them now."""
# Whole modules that moved.
MOVED_MODULES = {
    "tensorflow.python.context": "tensorflow.python.eager.context",  # tensorflow/python/__init__.py of 1.15 imports it
    "tensorflow.python.training.tracking": "tensorflow.python.trackable",
    "tensorflow.python.trackable.graph_view": "tensorflow.python.checkpoint.graph_view",  # of that package in 1.15
    "tensorflow.python.trackable.util": "tensorflow.python.checkpoint.checkpoint",
    "tensorflow.python.distribute.distribution_strategy_context": "tensorflow.python.distribute.distribute_lib",
    "tensorflow.python.data.experimental.ops.threadpool": "npu_bridge._tf1.threadpool",
    "tensorflow.python.graph_util": "tensorflow.python.framework.graph_util",
    "tensorflow.python.ops.losses.loss_reduction": "tensorflow.python.ops.losses.losses_impl",
    "tensorflow.python.training.distribution_strategy_context": "tensorflow.python.distribute.distribute_lib",
}


def add(journal: Journal) -> None:
    """Offer the moved names at their TF 1.15 places as well."""
    within = [(place, names, f"tensorflow.python.{source}") for place, names, source in MOVED_NAMES]
    for place, names, source in (*within, *FROM_OTHER_PACKAGES):
        module = import_module(f"tensorflow.python.{place}")
        for name in names.split():
            if name not in vars(module):
                journal.set(vars(module), name, getattr(import_module(source), name))
    for place, name, source, new_name in RENAMED:
        module = import_module(f"tensorflow.python.{place}")
        if name not in vars(module):
            journal.set(vars(module), name, getattr(import_module(f"tensorflow.python.{source}"), new_name))
