"""Public names of TensorFlow 2 that TensorFlow 1.15 does not have, by module; instances are marked as in rules.

Recorded from the public API of 1.15.0 and 2.15.1 (the names in `dir` of each public module).
"""

from __future__ import annotations

_BY_MODULE = {
    "": (
        "approx_top_k conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 eig eigvals fftnd get_current_name_scope "
        "ifftnd inside_function irfftnd is_symbolic_tensor ragged_fill_empty_rows ragged_fill_empty_rows_grad "
        "random_index_shuffle rfftnd tensor_scatter_nd_max tensor_scatter_nd_min"
    ),
    "config": (
        "LogicalDevice LogicalDeviceConfiguration PhysicalDevice experimental_functions_run_eagerly functions_run_eagerly "
        "get_logical_device_configuration get_visible_devices list_logical_devices list_physical_devices "
        "run_functions_eagerly set_visible_devices"
    ),
    "config.experimental": (
        "ClusterDeviceFilters disable_mlir_bridge enable_mlir_bridge enable_op_determinism "
        "enable_tensor_float_32_execution get_device_details get_memory_info get_memory_usage reset_memory_stats "
        "tensor_float_32_execution_enabled"
    ),
    "data": "AUTOTUNE INFINITE_CARDINALITY IteratorSpec NumpyIterator ThreadingOptions UNKNOWN_CARDINALITY",
    "data.Dataset()": (
        "as_numpy_iterator bucket_by_sequence_length cardinality choose_from_datasets counter get_single_element "
        "group_by_window ignore_errors load ragged_batch random rebatch rejection_resample sample_from_datasets save scan "
        "snapshot sparse_batch take_while unique"
    ),
    "data.experimental": (
        "AutoShardPolicy AutotuneAlgorithm AutotuneOptions DatasetInitializer ExternalStatePolicy SHARD_HINT "
        "assert_cardinality at dense_to_ragged_batch enable_debug_mode from_list index_table_from_dataset load "
        "pad_to_cardinality save snapshot table_from_dataset"
    ),
    "data.experimental.service": (
        "CrossTrainerCache DispatchServer DispatcherConfig ShardingPolicy WorkerConfig WorkerServer distribute "
        "from_dataset_id register_dataset"
    ),
    "debugging": (
        "disable_check_numerics disable_traceback_filtering enable_check_numerics enable_traceback_filtering "
        "is_traceback_filtering_enabled"
    ),
    "debugging.experimental": "disable_dump_debug_info enable_dump_debug_info",
    "distribute": (
        "DistributedDataset DistributedIterator DistributedValues InputOptions MultiWorkerMirroredStrategy "
        "ParameterServerStrategy RunOptions TPUStrategy"
    ),
    "distribute.experimental": (
        "CollectiveHints CommunicationImplementation CommunicationOptions PreemptionCheckpointHandler PreemptionWatcher "
        "TerminationConfig ValueContext"
    ),
    "distribute.experimental.coordinator": "ClusterCoordinator PerWorkerValues RemoteValue",
    "distribute.experimental.partitioners": "FixedShardsPartitioner MaxSizePartitioner MinSizePartitioner Partitioner",
    "distribute.experimental.rpc": "Client Server",
    "dtypes.experimental": "float8_e4m3fn float8_e5m2 int4 uint4",
    "errors": "OperatorNotAllowedInGraphError",
    "estimator.experimental": "RNNClassifier RNNEstimator",
    "estimator.export": "EvalOutput",
    "experimental": (
        "BatchableExtensionType DynamicRaggedShape ExtensionType ExtensionTypeBatchEncoder ExtensionTypeSpec Optional "
        "RowPartition StructuredTensor async_clear_error async_scope dispatch_for_api "
        "dispatch_for_binary_elementwise_apis dispatch_for_binary_elementwise_assert_apis "
        "dispatch_for_unary_elementwise_apis enable_strict_mode float8_e4m3fn float8_e5m2 int4 register_filesystem_plugin "
        "uint4 unregister_dispatch_for"
    ),
    "experimental.dlpack": "from_dlpack to_dlpack",
    "experimental.extension_type": "as_dict",
    "experimental.tensorrt": "ConversionParams Converter",
    "feature_column": "shared_embeddings",
    "image": (
        "generate_bounding_box_proposals resize_with_pad stateless_random_brightness stateless_random_contrast "
        "stateless_random_crop stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue "
        "stateless_random_jpeg_quality stateless_random_saturation stateless_sample_distorted_bounding_box"
    ),
    "initializers": (
        "Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity Initializer LecunNormal LecunUniform Ones "
        "Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling Zeros deserialize get serialize"
    ),
    "io": "RaggedFeature encode_png",
    "keras.activations": "gelu mish swish",
    "keras.applications": (
        "ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge EfficientNetB0 EfficientNetB1 "
        "EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 EfficientNetB7 EfficientNetV2B0 "
        "EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M EfficientNetV2S "
        "MobileNetV3Large MobileNetV3Small RegNetX002 RegNetX004 RegNetX006 RegNetX008 RegNetX016 RegNetX032 RegNetX040 "
        "RegNetX064 RegNetX080 RegNetX120 RegNetX160 RegNetX320 RegNetY002 RegNetY004 RegNetY006 RegNetY008 RegNetY016 "
        "RegNetY032 RegNetY040 RegNetY064 RegNetY080 RegNetY120 RegNetY160 RegNetY320 ResNetRS101 ResNetRS152 ResNetRS200 "
        "ResNetRS270 ResNetRS350 ResNetRS420 ResNetRS50"
    ),
    "keras.applications.convnext": (
        "ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge decode_predictions preprocess_input"
    ),
    "keras.applications.efficientnet": (
        "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 "
        "EfficientNetB7 decode_predictions preprocess_input"
    ),
    "keras.applications.efficientnet_v2": (
        "EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M "
        "EfficientNetV2S decode_predictions preprocess_input"
    ),
    "keras.applications.mobilenet_v3": "decode_predictions preprocess_input",
    "keras.applications.regnet": (
        "RegNetX002 RegNetX004 RegNetX006 RegNetX008 RegNetX016 RegNetX032 RegNetX040 RegNetX064 RegNetX080 RegNetX120 "
        "RegNetX160 RegNetX320 RegNetY002 RegNetY004 RegNetY006 RegNetY008 RegNetY016 RegNetY032 RegNetY040 RegNetY064 "
        "RegNetY080 RegNetY120 RegNetY160 RegNetY320 decode_predictions preprocess_input"
    ),
    "keras.applications.resnet_rs": (
        "ResNetRS101 ResNetRS152 ResNetRS200 ResNetRS270 ResNetRS350 ResNetRS420 ResNetRS50 decode_predictions preprocess_input"
    ),
    "keras.backend": (
        "binary_focal_crossentropy categorical_focal_crossentropy depthwise_conv2d is_keras_tensor random_bernoulli"
    ),
    "keras.backend.experimental": "disable_tf_random_generator enable_tf_random_generator is_tf_random_generator_enabled",
    "keras.callbacks": "BackupAndRestore CallbackList SidecarEvaluatorModelExport",
    "keras.callbacks.experimental": "BackupAndRestore",
    "keras.datasets.reuters": "get_label_names",
    "keras.experimental": "SidecarEvaluator",
    "keras.export": "ExportArchive",
    "keras.initializers": "GlorotNormal GlorotUniform HeNormal HeUniform LecunNormal LecunUniform variance_scaling",
    "keras.layers": (
        "CategoryEncoding CenterCrop Conv1DTranspose ConvLSTM1D ConvLSTM3D Convolution1DTranspose DepthwiseConv1D "
        "Discretization EinsumDense GroupNormalization HashedCrossing Hashing Identity IntegerLookup MultiHeadAttention "
        "Normalization RandomBrightness RandomContrast RandomCrop RandomFlip RandomHeight RandomRotation "
        "RandomTranslation RandomWidth RandomZoom Rescaling Resizing SpectralNormalization StringLookup TextVectorization "
        "UnitNormalization"
    ),
    "keras.layers.experimental": "EinsumDense RandomFourierFeatures SyncBatchNormalization",
    "keras.layers.experimental.preprocessing": (
        "CategoryEncoding CenterCrop Discretization HashedCrossing Hashing IntegerLookup Normalization PreprocessingLayer "
        "RandomContrast RandomCrop RandomFlip RandomHeight RandomRotation RandomTranslation RandomWidth RandomZoom "
        "Rescaling Resizing StringLookup TextVectorization"
    ),
    "keras.losses": (
        "BinaryFocalCrossentropy CategoricalFocalCrossentropy Reduction binary_focal_crossentropy "
        "categorical_focal_crossentropy huber kl_divergence log_cosh"
    ),
    "keras.metrics": (
        "BinaryIoU F1Score FBetaScore IoU MeanMetricWrapper OneHotIoU OneHotMeanIoU PrecisionAtRecall R2Score "
        "RecallAtPrecision binary_focal_crossentropy categorical_focal_crossentropy kl_divergence log_cosh logcosh"
    ),
    "keras.metrics.experimental": "PyMetric",
    "keras.mixed_precision": "Policy global_policy set_global_policy",
    "keras.models.experimental": "SharpnessAwareMinimization",
    "keras.optimizers": "Adafactor AdamW Lion",
    "keras.optimizers.experimental": "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Nadam Optimizer RMSprop SGD",
    "keras.optimizers.legacy": "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD",
    "keras.optimizers.schedules": "CosineDecay CosineDecayRestarts",
    "keras.preprocessing": "image_dataset_from_directory text_dataset_from_directory timeseries_dataset_from_array",
    "keras.preprocessing.image": "smart_resize",
    "keras.preprocessing.text": "tokenizer_from_json",
    "keras.regularizers": "L1 L2 OrthogonalRegularizer orthogonal_regularizer",
    "keras.saving": (
        "custom_object_scope deserialize_keras_object get_custom_objects get_registered_name get_registered_object "
        "load_model register_keras_serializable save_model serialize_keras_object"
    ),
    "keras.utils": (
        "FeatureSpace SidecarEvaluator StepsPerExecutionTuner TimedThread array_to_img audio_dataset_from_directory "
        "disable_interactive_logging enable_interactive_logging get_registered_name get_registered_object "
        "image_dataset_from_directory img_to_array is_interactive_logging_enabled load_img pack_x_y_sample_weight "
        "pad_sequences register_keras_serializable save_img set_random_seed split_dataset text_dataset_from_directory "
        "timeseries_dataset_from_array to_ordinal unpack_x_y_sample_weight warmstart_embedding_matrix"
    ),
    "keras.utils.experimental": "DatasetCreator",
    "keras.utils.legacy": "deserialize_keras_object serialize_keras_object",
    "linalg": (
        "LinearOperatorBlockLowerTriangular LinearOperatorPermutation LinearOperatorTridiag banded_triangular_solve eig "
        "eigh_tridiagonal eigvals lu_matrix_inverse lu_reconstruct lu_solve"
    ),
    "linalg.experimental": "conjugate_gradient",
    "lookup.experimental": "MutableHashTable",
    "losses": (
        "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge "
        "CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError "
        "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy "
        "SquaredHinge binary_crossentropy binary_focal_crossentropy categorical_crossentropy "
        "categorical_focal_crossentropy categorical_hinge cosine_similarity deserialize get hinge huber kl_divergence kld "
        "kullback_leibler_divergence log_cosh logcosh mae mape mean_absolute_error mean_absolute_percentage_error "
        "mean_squared_logarithmic_error mse msle poisson serialize sparse_categorical_crossentropy squared_hinge"
    ),
    "math": "approx_max_k approx_min_k erfcinv erfinv ndtri sobol_sample xlog1py",
    "math.special": (
        "bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 bessel_k0 bessel_k0e bessel_k1 bessel_k1e "
        "bessel_y0 bessel_y1 dawsn expint fresnel_cos fresnel_sin spence"
    ),
    "metrics": (
        "AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy "
        "CategoricalHinge CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge IoU KLD KLDivergence "
        "LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanMetricWrapper "
        "MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric OneHotIoU OneHotMeanIoU Poisson "
        "Precision PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity "
        "SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity "
        "SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy binary_crossentropy "
        "binary_focal_crossentropy categorical_accuracy categorical_crossentropy categorical_focal_crossentropy "
        "deserialize get hinge kl_divergence kld kullback_leibler_divergence log_cosh logcosh mae mape "
        "mean_absolute_percentage_error mean_squared_logarithmic_error mse msle poisson serialize "
        "sparse_categorical_accuracy sparse_categorical_crossentropy sparse_top_k_categorical_accuracy squared_hinge "
        "top_k_categorical_accuracy"
    ),
    "metrics.experimental": "PyMetric",
    "nn": (
        "RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper approx_max_k approx_min_k gelu "
        "isotonic_regression silu"
    ),
    "nn.experimental": "general_dropout stateless_dropout",
    "optimizers": (
        "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lion Nadam Optimizer RMSprop SGD deserialize get serialize"
    ),
    "optimizers.experimental": "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Nadam Optimizer RMSprop SGD",
    "optimizers.legacy": "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD",
    "optimizers.schedules": (
        "CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay "
        "PolynomialDecay deserialize serialize"
    ),
    "ragged": "cross cross_hashed",
    "random": (
        "Algorithm Generator create_rng_state fold_in get_global_generator set_global_generator set_seed split "
        "stateless_binomial stateless_gamma stateless_parameterized_truncated_normal stateless_poisson"
    ),
    "random.experimental": "Algorithm index_shuffle stateless_fold_in stateless_shuffle stateless_split",
    "saved_model": "Asset DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB LoadOptions SaveOptions",
    "saved_model.experimental": "Fingerprint TrackableResource VariablePolicy read_fingerprint",
    "signal": "fftnd ifftnd inverse_mdct irfftnd kaiser_bessel_derived_window kaiser_window mdct rfftnd vorbis_window",
    "sparse": "bincount map_values",
    "summary": (
        "SummaryWriter create_file_writer create_noop_writer flush graph record_if should_record_summaries trace_export "
        "trace_off trace_on write"
    ),
    "summary.experimental": "get_step set_step summary_scope write_raw_pb",
    "sysconfig": "CXX_VERSION get_build_info",
    "test": "disable_with_predicate is_built_with_xla with_eager_op_as_function",
    "test.experimental": "sync_devices",
    "train": "CheckpointOptions CheckpointView TrackableView",
}
TENSORFLOW_2_NAMES = tuple(
    ".".join(part for part in ("tensorflow", module, name) if part)
    for module, names in _BY_MODULE.items()
    for name in names.split()
)
