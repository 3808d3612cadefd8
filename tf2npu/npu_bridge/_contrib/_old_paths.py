"""Module paths below the packages of ``tf.contrib`` that TF 1.15 had. Source: the files of tensorflow 1.15.0's wheel."""

from __future__ import annotations

_BELOW = {
    "cluster_resolver": """
        python python.training python.training.cluster_resolver python.training.gce_cluster_resolver
        python.training.kubernetes_cluster_resolver python.training.slurm_cluster_resolver
        python.training.tfconfig_cluster_resolver python.training.tpu_cluster_resolver
    """,
    "crf": """
        python python.ops python.ops.crf
    """,
    "cudnn_rnn": """
        python python.layers python.layers.cudnn_rnn python.ops python.ops.cudnn_rnn_ops
    """,
    "data": """
        python python.ops python.ops.batching python.ops.counter python.ops.enumerate_ops python.ops.error_ops
        python.ops.get_single_element python.ops.grouping python.ops.interleave_ops python.ops.iterator_ops
        python.ops.parsing_ops python.ops.prefetching_ops python.ops.random_ops python.ops.readers python.ops.resampling
        python.ops.scan_ops python.ops.shuffle_ops python.ops.sliding python.ops.threadpool python.ops.unique
        python.ops.writers
    """,
    "distribute": """
        python python.collective_all_reduce_strategy python.keras_multi_worker_test_base python.mirrored_strategy
        python.monitor python.one_device_strategy python.parameter_server_strategy python.tpu_strategy
    """,
    "estimator": """
        python python.estimator python.estimator.boosted_trees python.estimator.dnn_with_layer_annotations
        python.estimator.early_stopping python.estimator.export python.estimator.exporter python.estimator.extenders
        python.estimator.head python.estimator.hooks python.estimator.logit_fns python.estimator.multi_head
        python.estimator.replicate_model_fn python.estimator.rnn python.estimator.saved_model_estimator
    """,
    "framework": """
        python python.framework python.framework.checkpoint_utils python.framework.experimental
        python.framework.graph_util python.framework.tensor_util python.ops python.ops.arg_scope python.ops.audio_ops
        python.ops.checkpoint_ops python.ops.ops python.ops.prettyprint_ops python.ops.script_ops python.ops.sort_ops
        python.ops.variables
    """,
    "graph_editor": """
        edit reroute select subgraph transform util
    """,
    "image": """
        python python.ops python.ops.dense_image_warp python.ops.distort_image_ops python.ops.image_ops
        python.ops.interpolate_spline python.ops.single_image_random_dot_stereograms python.ops.sparse_image_warp
    """,
    "layers": """
        python python.layers python.layers.embedding_ops python.layers.encoders python.layers.feature_column
        python.layers.feature_column_ops python.layers.initializers python.layers.layers python.layers.normalization
        python.layers.optimizers python.layers.regularizers python.layers.rev_block_lib python.layers.summaries
        python.layers.target_column python.layers.utils python.ops python.ops.bucketization_op
        python.ops.sparse_feature_cross_op python.ops.sparse_ops
    """,
    "learn": """
        python python.learn python.learn.basic_session_run_hooks python.learn.datasets python.learn.datasets.base
        python.learn.datasets.data python.learn.datasets.mnist python.learn.datasets.produce_small_datasets
        python.learn.datasets.synthetic python.learn.datasets.text_datasets python.learn.estimators
        python.learn.estimators._sklearn python.learn.estimators.composable_model python.learn.estimators.constants
        python.learn.estimators.debug python.learn.estimators.dnn python.learn.estimators.dnn_linear_combined
        python.learn.estimators.dynamic_rnn_estimator python.learn.estimators.estimator
        python.learn.estimators.estimator_test_utils python.learn.estimators.head python.learn.estimators.kmeans
        python.learn.estimators.linear python.learn.estimators.logistic_regressor python.learn.estimators.metric_key
        python.learn.estimators.model_fn python.learn.estimators.prediction_key python.learn.estimators.rnn_common
        python.learn.estimators.run_config python.learn.estimators.state_saving_rnn_estimator
        python.learn.estimators.svm python.learn.estimators.tensor_signature python.learn.estimators.test_data
        python.learn.evaluable python.learn.experiment python.learn.export_strategy python.learn.graph_actions
        python.learn.learn_io python.learn.learn_io.dask_io python.learn.learn_io.data_feeder
        python.learn.learn_io.generator_io python.learn.learn_io.graph_io python.learn.learn_io.numpy_io
        python.learn.learn_io.pandas_io python.learn.learn_runner python.learn.learn_runner_lib python.learn.metric_spec
        python.learn.models python.learn.monitored_session python.learn.monitors python.learn.ops
        python.learn.ops.embeddings_ops python.learn.ops.losses_ops python.learn.ops.seq2seq_ops
        python.learn.preprocessing python.learn.preprocessing.categorical
        python.learn.preprocessing.categorical_vocabulary python.learn.preprocessing.tests
        python.learn.preprocessing.text python.learn.session_run_hook python.learn.summary_writer_cache
        python.learn.trainable python.learn.utils python.learn.utils.export python.learn.utils.gc
        python.learn.utils.input_fn_utils python.learn.utils.inspect_checkpoint
        python.learn.utils.saved_model_export_utils
    """,
    "legacy_seq2seq": """
        python python.ops python.ops.seq2seq
    """,
    "losses": """
        python python.losses python.losses.loss_ops python.metric_learning python.metric_learning.metric_loss_ops
    """,
    "metrics": """
        python python.metrics python.metrics.classification python.ops python.ops.confusion_matrix_ops
        python.ops.histogram_ops python.ops.metric_ops python.ops.set_ops
    """,
    "mixed_precision": """
        python python.loss_scale_manager python.loss_scale_optimizer
    """,
    "nn": """
        python python.ops python.ops.alpha_dropout python.ops.cross_entropy python.ops.fwd_gradients
        python.ops.sampling_ops python.ops.scaled_softplus
    """,
    "opt": """
        python python.training python.training.adam_gs_optimizer python.training.adamax python.training.addsign
        python.training.agn_optimizer python.training.drop_stale_gradient_optimizer
        python.training.elastic_average_optimizer python.training.external_optimizer python.training.ggt
        python.training.lars_optimizer python.training.lazy_adam_gs_optimizer python.training.lazy_adam_optimizer
        python.training.matrix_functions python.training.model_average_optimizer
        python.training.moving_average_optimizer python.training.multitask_optimizer_wrapper
        python.training.nadam_optimizer python.training.powersign python.training.reg_adagrad_optimizer
        python.training.shampoo python.training.sign_decay python.training.variable_clipping_optimizer
        python.training.weight_decay_optimizers
    """,
    "quantize": """
        python python.common python.fold_batch_norms python.graph_matcher python.input_to_ops python.quant_ops
        python.quantize python.quantize_graph
    """,
    "resampler": """
        ops ops.gen_resampler_ops python python.ops python.ops.resampler_ops
    """,
    "rnn": """
        python python.kernel_tests python.kernel_tests.benchmarking python.ops python.ops.core_rnn_cell
        python.ops.fused_rnn_cell python.ops.gru_ops python.ops.lstm_ops python.ops.rnn python.ops.rnn_cell python.tools
        python.tools.checkpoint_convert
    """,
    "seq2seq": """
        python python.ops python.ops.attention_wrapper python.ops.basic_decoder python.ops.beam_search_decoder
        python.ops.beam_search_ops python.ops.decoder python.ops.helper python.ops.loss python.ops.sampler
    """,
    "slim": """
        python python.slim python.slim.data python.slim.data.data_decoder python.slim.data.data_provider
        python.slim.data.dataset python.slim.data.dataset_data_provider python.slim.data.parallel_reader
        python.slim.data.prefetch_queue python.slim.data.test_utils python.slim.data.tfexample_decoder
        python.slim.evaluation python.slim.learning python.slim.model_analyzer python.slim.nets python.slim.nets.alexnet
        python.slim.nets.inception python.slim.nets.inception_v1 python.slim.nets.inception_v2
        python.slim.nets.inception_v3 python.slim.nets.overfeat python.slim.nets.resnet_utils python.slim.nets.resnet_v1
        python.slim.nets.resnet_v2 python.slim.nets.vgg python.slim.queues python.slim.summaries
    """,
    "sparsemax": """
        python python.ops python.ops.sparsemax python.ops.sparsemax_loss
    """,
    "tpu": """
        python python.ops python.ops.tpu_ops python.profiler python.tpu python.tpu._tpu_estimator_embedding
        python.tpu.async_checkpoint python.tpu.bfloat16 python.tpu.datasets python.tpu.device_assignment
        python.tpu.error_handling python.tpu.feature_column python.tpu.functional python.tpu.keras_support
        python.tpu.keras_tpu_variables python.tpu.session_support python.tpu.tensor_tracer python.tpu.topology
        python.tpu.tpu python.tpu.tpu_config python.tpu.tpu_context python.tpu.tpu_embedding
        python.tpu.tpu_embedding_gradient python.tpu.tpu_estimator python.tpu.tpu_feed python.tpu.tpu_function
        python.tpu.tpu_optimizer python.tpu.tpu_sharding python.tpu.tpu_system_metadata python.tpu.training_loop
        python.tpu.util
    """,
    "training": """
        python python.training python.training.bucket_ops python.training.device_setter python.training.evaluation
        python.training.feeding_queue_runner python.training.hparam python.training.hparam_pb2 python.training.resample
        python.training.sampling_ops python.training.sequence_queueing_state_saver python.training.training
        python.training.tuner
    """,
}
PRIVATE_MODULES = frozenset(f"{package}.{path}" for package, paths in _BELOW.items() for path in paths.split())
"""Full paths, for example "layers.python.layers.initializers"."""
