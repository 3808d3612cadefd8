"""``tf.contrib.rnn``: the cells of ``tf.nn.rnn_cell`` and those that TensorFlow 2 left behind."""

from npu_bridge._contrib._rnn_blocks import GRUBlockCell, GRUBlockCellV2, LSTMBlockCell, LSTMBlockFusedCell, LSTMBlockWrapper
from npu_bridge._contrib._rnn_cells import LayerNormBasicLSTMCell, NASCell, UGRNNCell
from npu_bridge._contrib._rnn_convolutional import Conv1DLSTMCell, Conv2DLSTMCell, Conv3DLSTMCell, ConvLSTMCell
from npu_bridge._contrib._rnn_fused import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from npu_bridge._contrib._rnn_gates import CoupledInputForgetGateLSTMCell, GLSTMCell, IntersectionRNNCell, PhasedLSTMCell
from npu_bridge._contrib._rnn_independent import IndRNNCell, IndyGRUCell, IndyLSTMCell, SRUCell
from npu_bridge._contrib._rnn_stacks import stack_bidirectional_dynamic_rnn, stack_bidirectional_rnn
from npu_bridge._contrib._rnn_wrappers import (
    AttentionCellWrapper,
    CompiledWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from tensorflow.nn import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
from tensorflow.nn.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from tensorflow.python.ops.rnn import _best_effort_input_batch_size as best_effort_input_batch_size
from tensorflow.python.ops.rnn import _transpose_batch_time as transpose_batch_time
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

__all__ = [
    "AttentionCellWrapper", "BasicLSTMCell", "BasicRNNCell", "CompiledWrapper", "Conv1DLSTMCell", "Conv2DLSTMCell",
    "Conv3DLSTMCell", "ConvLSTMCell", "CoupledInputForgetGateLSTMCell", "DeviceWrapper", "DropoutWrapper", "EmbeddingWrapper",
    "FusedRNNCell", "FusedRNNCellAdaptor", "GLSTMCell", "GRUBlockCell", "GRUBlockCellV2", "GRUCell", "HighwayWrapper",
    "IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "InputProjectionWrapper", "IntersectionRNNCell", "LSTMBlockCell",
    "LSTMBlockFusedCell", "LSTMBlockWrapper", "LSTMCell", "LSTMStateTuple", "LayerNormBasicLSTMCell", "LayerRNNCell",
    "MultiRNNCell", "NASCell", "OutputProjectionWrapper", "PhasedLSTMCell", "RNNCell", "ResidualWrapper", "SRUCell",
    "TimeReversedFusedRNN", "UGRNNCell", "best_effort_input_batch_size", "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn", "static_bidirectional_rnn", "static_rnn", "static_state_saving_rnn", "transpose_batch_time",
]  # fmt: skip
