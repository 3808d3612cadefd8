"""APIs of TensorFlow 1 that the grammar builds calls from: their parameters, their arguments, and methods of objects.

Source: the public signatures of TensorFlow 1.15 and Horovod 0.19.
"""

from __future__ import annotations

_TABLE = """
Session: target graph config
InteractiveSession: target graph config
ConfigProto: allow_soft_placement log_device_placement gpu_options graph_options device_count
GPUOptions: allow_growth per_process_gpu_memory_fraction
GraphOptions: optimizer_options rewrite_options enable_bfloat16_sendrecv
OptimizerOptions: opt_level global_jit_level do_function_inlining
device: device_name_or_function
global_variables_initializer:
gradients: ys xs grad_ys name colocate_gradients_with_ops
cast: x dtype name
placeholder: dtype shape name
Variable: initial_value trainable name
nn.dropout: x keep_prob noise_shape seed name rate
nn.relu: features name
nn.max_pool: value ksize strides padding data_format name
nn.max_pool_with_argmax: input ksize strides padding
nn.dynamic_rnn: cell inputs sequence_length initial_state dtype
nn.bidirectional_dynamic_rnn: cell_fw cell_bw inputs sequence_length
layers.dropout: inputs rate noise_shape seed training name
layers.max_pooling2d: inputs pool_size strides padding data_format
contrib.layers.dropout: inputs keep_prob noise_shape is_training outputs_collections scope seed
contrib.layers.optimize_loss: loss global_step learning_rate optimizer
contrib.slim.learning.train: train_op logdir train_step_fn graph master session_config
contrib.training.train: train_op logdir master config hooks
contrib.compiler.jit.experimental_jit_scope: compile_ops separate_compiled_gradients
contrib.distribute.MirroredStrategy: devices num_gpus
contrib.mixed_precision.LossScaleOptimizer: opt loss_scale_manager
contrib.tpu.TPUEstimator: model_fn model_dir config params use_tpu train_batch_size
distribute.MirroredStrategy: devices cross_device_ops
distribute.experimental.ParameterServerStrategy: cluster_resolver
estimator.Estimator: model_fn model_dir config params warm_start_from
estimator.DNNClassifier: hidden_units feature_columns model_dir n_classes optimizer config
estimator.EstimatorSpec: mode predictions loss train_op eval_metric_ops export_outputs
estimator.RunConfig: model_dir tf_random_seed save_checkpoints_steps session_config protocol train_distribute
estimator.TrainSpec: input_fn max_steps hooks
estimator.EvalSpec: input_fn steps name hooks
estimator.train_and_evaluate: estimator train_spec eval_spec
train.MonitoredTrainingSession: master is_chief checkpoint_dir scaffold hooks config
train.SingularMonitoredSession: hooks scaffold master config
train.ChiefSessionCreator: scaffold master config checkpoint_dir
train.Supervisor: graph ready_op is_chief logdir
train.Saver: var_list reshape sharded
train.AdamOptimizer: learning_rate beta1 beta2 epsilon use_locking name
train.MomentumOptimizer: learning_rate momentum use_locking name
train.SyncReplicasOptimizer: opt replicas_to_aggregate total_num_replicas
train.experimental.MixedPrecisionLossScaleOptimizer: opt loss_scale
train.experimental.enable_mixed_precision_graph_rewrite: opt loss_scale
train.experimental.DynamicLossScale: initial_loss_scale increment_period multiplier
data.TFRecordDataset: filenames compression_type buffer_size num_parallel_reads
data.Dataset.from_tensor_slices: tensors
data.experimental.map_and_batch: map_func batch_size num_parallel_batches drop_remainder
data.make_one_shot_iterator: dataset
keras.Sequential: layers name
keras.Model: inputs outputs name
keras.layers.Dropout: rate noise_shape seed
keras.layers.MaxPooling2D: pool_size strides padding data_format
keras.optimizers.Adam: lr beta_1 beta_2 epsilon decay
keras.backend.set_session: session
keras.backend.clear_session:
keras.estimator.model_to_estimator: keras_model keras_model_path custom_objects model_dir config
metrics.accuracy: labels predictions weights metrics_collections updates_collections name
metrics.mean: values weights
config.experimental.set_memory_growth: device enable
config.optimizer.set_experimental_options: options
config.optimizer.set_jit: enabled
app.run: main argv
summary.FileWriter: logdir graph
py_func: func inp Tout
while_loop: cond body loop_vars
"""
APIS = {name: tuple(rest.split()) for name, _, rest in (line.partition(":") for line in _TABLE.strip().splitlines())}

_HOROVOD = """
init: comm
shutdown:
rank:
size:
local_rank:
local_size:
DistributedOptimizer: optimizer name use_locking device_dense device_sparse compression sparse_as_dense
BroadcastGlobalVariablesHook: root_rank device
broadcast_global_variables: root_rank
broadcast_variables: variables root_rank
allreduce: tensor average device_dense device_sparse compression op
allgather: tensor name
broadcast: tensor root_rank name
"""
HOROVOD = {name: tuple(rest.split()) for name, _, rest in (line.partition(":") for line in _HOROVOD.strip().splitlines())}

# What a parameter is given; `{tf}` becomes the local name of TensorFlow.
VALUES = {
    "config": (
        "cfg",
        "None",
        "{tf}.ConfigProto()",
        "{tf}.ConfigProto(allow_soft_placement=True)",
        "get_config(1)",
        "run_config",
        "{tf}.estimator.RunConfig(model_dir='m', session_config=cfg)",
        "a or b",
        "lambda: cfg",
    ),
    "session_config": ("cfg", "{tf}.ConfigProto(gpu_options={tf}.GPUOptions(allow_growth=True))", "None"),
    "rate": ("0.5", "1 - keep", "a if b else c", "1. - keep_prob", "self.rate", "not x"),
    "keep_prob": ("0.5", "1 - rate", "keep if train else 1.0", "lambda: 0.5", "-x"),
    "device_name_or_function": (
        "'/gpu:0'",
        "'/cpu:0'",
        "'/gpu:%d' % i",
        "fn",
        "None",
        "f'/gpu:{i}'",
        "{tf}.train.replica_device_setter(1)",
    ),
    "hooks": ("[h]", "None", "[]", "hooks", "[{tf}.train.StopAtStepHook(5), # one\n h]", "[*a, b]"),
    "optimizer": ("opt", "{tf}.train.AdamOptimizer(0.1)", "'Adam'", "lambda lr: {tf}.train.AdamOptimizer(lr)"),
    "opt": ("opt", "{tf}.train.MomentumOptimizer(0.1, 0.9)", "hvd.DistributedOptimizer(opt)"),
    "optimizer_options": ("{tf}.OptimizerOptions(opt_level={tf}.OptimizerOptions.L0)", "o"),
    "global_jit_level": ("{tf}.OptimizerOptions.ON_1", "1", "{tf}.OptimizerOptions.OFF"),
    "loss_scale": ("'dynamic'", "128", "{tf}.train.experimental.FixedLossScale(128)"),
    "dtype": ("{tf}.float32", "{tf}.float64", "{tf}.int32", "'float32'"),
    "data_format": ("'NHWC'", "'NCHW'", "fmt", "'channels_last'"),
    "compression": ("hvd.Compression.fp16", "hvd.Compression.none", "c"),
    "drop_remainder": ("True", "False", "is_training"),
    "batch_size": ("32", "FLAGS.batch_size", "n // 2"),
    "train_distribute": ("{tf}.distribute.MirroredStrategy()", "None", "strategy"),
    "input_fn": ("lambda: input_fn(True)", "input_fn", "functools.partial(input_fn, 3)"),
}

DATASETS = (
    "{tf}.data.TFRecordDataset(files)",
    "{tf}.data.Dataset.range(10)",
    "{tf}.data.Dataset.from_tensor_slices((x, y))",
    "{tf}.data.TextLineDataset('f.txt')",
    "make_dataset()",
    "{tf}.data.Dataset.from_generator(g, {tf}.int32)",
    "{tf}.data.FixedLengthRecordDataset(f, 3)",
    "{tf}.data.experimental.make_csv_dataset(p, 4)",
)
DATASET_METHODS = (
    "batch(32)",
    "batch(batch_size=n)",
    "batch(4, drop_remainder=False)",
    "batch(4, True)",
    "padded_batch(4, ([None], []))",
    "repeat()",
    "shuffle(100)",
    "map(parse)",
    "map(lambda a, b: (a, b))",
    "prefetch(1)",
    "shard(hvd.size(), hvd.rank())",
    "shard(4, 0)",
    "apply({tf}.data.experimental.map_and_batch(f, 8))",
    "make_one_shot_iterator()",
    "make_initializable_iterator()",
    "batch(*a)",
    "filter(lambda t: {tf}.equal(t, 1))",
    "take(3)",
    "batch(n, drop_remainder=True if n else False)",
    "batch(\n  8  # eight\n)",
)
OBJECTS = (
    "opt = {tf}.train.AdamOptimizer(lr)",
    "sess = {tf}.Session()",
    "est = {tf}.estimator.Estimator(fn, config=rc)",
    "cfg = {tf}.ConfigProto()",
    "model = {tf}.keras.Sequential()",
    "sv = {tf}.train.Supervisor(logdir='x')",
    "rc = {tf}.estimator.RunConfig()",
    "strategy = {tf}.distribute.MirroredStrategy()",
    "it = ds.make_one_shot_iterator()",
    "model = {tf}.keras.models.Model(a, b)",
    "session_config = {tf}.ConfigProto(allow_soft_placement=True)",
    "opt = hvd.DistributedOptimizer(opt)",
    "config = {tf}.ConfigProto(device_count={'GPU': 1})",
    "hooks = [hvd.BroadcastGlobalVariablesHook(0)]",
    "self.sess = {tf}.Session(config=c)",
    "kw = dict(config=cfg, model_dir='m')",
    "kw = {'config': cfg}",
    "gpu_options = {tf}.GPUOptions(allow_growth=True)",
)
USES = (
    "opt.minimize(loss)",
    "opt.minimize(loss, global_step=gs)",
    "sess.run(op)",
    "est.train(fn)",
    "est.train(input_fn=fn, hooks=[h])",
    "est.train(fn, [h], steps=3)",
    "est.evaluate(fn)",
    "model.compile(opt, 'mse')",
    "model.compile(loss='mse', optimizer={tf}.keras.optimizers.Adam(0.1))",
    "model.fit(x, y, callbacks=[c])",
    "model.fit(x, y)",
    "model.fit_generator(g, callbacks=cb)",
    "opt.compute_gradients(loss)",
    "opt.apply_gradients(gv)",
    "strategy.scope()",
    "sv.managed_session(config=cfg)",
    "sv.prepare_or_wait_for_session('')",
    "sess.close()",
    "{tf}.estimator.Estimator(fn, **kw)",
    "{tf}.Session(**kw)",
    "{tf}.Session(*args)",
    "{tf}.estimator.RunConfig(**{'model_dir': d})",
    "x * 0.5 * (1.0 + {tf}.erf(x / {tf}.sqrt(2.0)))",
    "hvd.allreduce(x, average=True)",
    "hvd.rank() == 0",
    "'d' if hvd.rank() == 0 else None",
    "getattr({tf}, name)",
    "{tf}.nn.dropout",
    "functools.partial({tf}.nn.dropout, keep_prob=0.5)",
    "map({tf}.nn.dropout, xs)",
    "np.int(3)",
)
OPTION_LINES = (
    "{c}.gpu_options.allow_growth = True",
    "{c}.allow_soft_placement = True",
    "{c}.graph_options.optimizer_options.global_jit_level = {tf}.OptimizerOptions.ON_1",
    "{c}.graph_options.rewrite_options.remapping = RewriterConfig.OFF",
    "{c}.graph_options.rewrite_options.memory_optimization = 1",
    "{c}.gpu_options.visible_device_list = str(hvd.local_rank())",
    "{c}.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimzer'",
    "c = {c}.graph_options.rewrite_options.custom_optimizers.add()",
    "{c}.gpu_options.per_process_gpu_memory_fraction = 0.4",
    "{c}.graph_options.rewrite_options.auto_mixed_precision = 1",
)
